# SPDX-License-Identifier: MIT
"""Runs all tests in this folder, or the modules that are named, and ends with the line that tests/run.sh reads."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
loader = unittest.TestLoader()
suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(HERE)
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
for _, why in result.skipped:
    print(f"[  SKIPPED ] {why}")
failed = len(result.failures) + len(result.errors)
print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
sys.exit(failed > 0)
