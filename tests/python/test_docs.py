# SPDX-License-Identifier: MIT
"""The examples of docs/python.md give what stands there."""

import doctest
import os
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Docs(unittest.TestCase):
    def test_examples(self):
        result = doctest.testfile(os.path.join(ROOT, "docs/python.md"), module_relative=False)
        self.assertGreater(result.attempted, 10)
        self.assertEqual(result.failed, 0)


if __name__ == "__main__":
    unittest.main()
