# SPDX-License-Identifier: MIT
"""The plugin for pytest: which blocks it finds, and what becomes of their claims."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

from test_package import ROOT, needs

MODEL = '''\
import sys


class Array:
    dtype = "float32"

    def __init__(self, *shape):
        self.shape = shape


class Stack:
    """A stack of layers.

    claims:
        table stack.shapes
        model Stack(5, 2)
        model Stack(7, 3), {"width": 7, "depth": 3}
        total = D*(3*W^2 +
            3*W)
        total = 180
        total = = 3

    More text: not a claim.
    """

    def __init__(self, width, depth):
        self.config = {"width": width, "depth": depth}

    def state_dict(self):
        width, made = self.config["width"], {}
        for i in range(self.config["depth"]):
            made[f"blocks.{i}.weight"] = Array(3 * width, width)
            made[f"blocks.{i}.bias"] = Array(3 * width)
        return made


class Proved(Stack):
    """For all hyper-parameters.

    claims:
        table stack.shapes
        total = D*3*W*(W + 1)
        total = D*3*W*W
    """


class Inherits(Proved):
    pass


class WithoutSubject:
    """
    claims:
        total = 3
    """
'''
TABLE = """\
table stack
W = width
D = depth

[blocks] for i in 0..D-1
blocks.{i}.*  linear(3*W, W)
"""
OUTCOMES = {
    "Stack::total = D*(3*W^2 + 3*W)": "PASSED",
    "Stack::total = 180": "FAILED",
    "Stack::total = = 3": "FAILED",
    "Proved::total = D*3*W*(W + 1)": "PASSED",
    "Proved::total = D*3*W*W": "FAILED",
    "WithoutSubject::total = 3": "FAILED",
}


@needs("pytest")
class Plugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("pkg/stack.py", MODEL)
        self.write("pkg/stack.shapes", TABLE)
        self.write("pkg/harmful.py", "raise SystemExit('imported without a block')\n")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def pytest(self, *options):
        """Status and output of pytest in the folder."""
        command = [sys.executable, "-m", "pytest", "-p", "shapeproof.pytest_plugin", "-p", "no:cacheprovider"]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}/src/python", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment.pop("PYTEST_ADDOPTS", None)
        command += ["--rootdir", self.folder, *options]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout

    def test_claims_are_tests(self):
        status, output = self.pytest("--shapeproof-claims", "-v")
        self.assertEqual(status, 1, output)
        for name, outcome in OUTCOMES.items():
            self.assertIn(f"pkg/stack.py::{name} {outcome}", output)
        self.assertIn("4 failed, 2 passed", output)
        self.assertIn("fails: claim total = 180\n\nStack: table stack\n  W = 7, D = 3 (config)", output)
        self.assertIn("FAILED pkg/stack.py::Stack::total = 180 - fails: claim total = 180", output)
        self.assertIn("claim total = D*3*W*W", output)
        self.assertIn("expected an expression", output)
        self.assertIn("needs a line 'table FILE' or 'model EXPRESSION'", output)
        self.assertNotIn("runtest", output)

    def test_nothing_without_the_option(self):
        status, output = self.pytest()
        self.assertEqual(status, 5, output)
        self.assertIn("no tests ran", output)

    def test_one_claim(self):
        status, output = self.pytest("--shapeproof-claims", "pkg/stack.py::Proved::total = D*3*W*(W + 1)")
        self.assertEqual(status, 0, output)
        self.assertIn("1 passed", output)

    def test_errors_of_the_model(self):
        block = "claims:\n        model Broken(1)\n        total = 3\n    "
        self.write("other/broken.py", f'class Broken:\n    """{block}"""\n')
        self.write("other/empty.py", 'class Empty:\n    """claims:\n    """\n')
        status, output = self.pytest("--shapeproof-claims", "other")
        self.assertEqual(status, 2, output)
        self.assertIn("there is no claim below 'claims:'", output)
        _, output = self.pytest("--shapeproof-claims", "other/broken.py")
        self.assertIn("TypeError: Broken() takes no arguments", output)

    def test_blocks(self):
        from shapeproof.pytest_plugin import read_block

        block = read_block(
            textwrap.dedent("""\
            Title.

                claims:
                  table a.shapes
                  table a
                  total = V*E
                    + 3
                  model = 3
                  [head] = 0
                Other:
                  total = 5
            """)
        )
        self.assertEqual(block.tables, ["a.shapes", "a"])
        self.assertEqual((block.models, block.claims), ([], ["total = V*E + 3", "model = 3", "[head] = 0"]))
        self.assertIsNone(read_block("It claims: nothing.\n"))
        self.assertEqual(read_block("claims:\n\n    total = 3\n").claims, [])


if __name__ == "__main__":
    unittest.main()
