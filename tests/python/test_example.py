# SPDX-License-Identifier: MIT
"""The project in docs/examples/my_model: its table is learnt anew, its tests pass, and they notice a change."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import shapeproof
from test_package import FakeArray, ROOT, needs

EXAMPLE = os.path.join(ROOT, "docs/examples/my_model")


class Table(unittest.TestCase):
    SIZES = [(50, 12, 31, 1, 17), (91, 20, 27, 3, 9), (70, 14, 53, 2, 37)]  # those of learn_table.py

    def test_is_what_learn_writes(self):
        """Without torch: from instances that have the tensors which the table predicts."""
        path = f"{EXAMPLE}/my_model.shapes"
        examples = []
        for sizes in self.SIZES:
            config = dict(zip(("vocabulary", "width", "inner", "depth", "context"), sizes))
            arrays = {}
            for tensor in shapeproof.predict("my_model", table=path, set=config).tensors:
                arrays[tensor.name] = arrays[tensor.same_as] if tensor.same_as else FakeArray(tensor.shape)
            examples.append((arrays, {**config, "architectures": ["MyModel"]}))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(shapeproof.learn(examples, name="my_model").text, file.read())


@needs("torch", "pytest")
class MyModel(unittest.TestCase):
    def run_python(self, folder, *arguments):
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}/src/python", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment.pop("PYTEST_ADDOPTS", None)
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )  # fmt: skip
        return done.returncode, done.stdout

    def test_all(self):
        pytest = ["-m", "pytest", "-p", "shapeproof.pytest_plugin", "-p", "no:cacheprovider", "-v"]
        with tempfile.TemporaryDirectory() as folder:
            mine = f"{folder}/my_model"
            shutil.copytree(EXAMPLE, mine)
            os.remove(f"{mine}/my_model.shapes")
            status, output = self.run_python(mine, "learn_table.py")
            self.assertEqual(status, 0, output)
            with open(f"{mine}/my_model.shapes", encoding="utf-8") as learnt, open(
                f"{EXAMPLE}/my_model.shapes", encoding="utf-8"
            ) as stored:
                self.assertEqual(learnt.read(), stored.read())
            status, output = self.run_python(mine, *pytest)
            self.assertEqual(status, 0, output)
            with open(f"{EXAMPLE}/README.md", encoding="utf-8") as page:
                shown = page.read().split("```text\n")
            for line in shown[1].split("```")[0].splitlines():
                if line != "...":
                    self.assertIn(line, output)
            with open(f"{mine}/my_model.py", encoding="utf-8") as file:
                text = file.read()
            layer = "nn.Linear(config.width, config.inner"
            changed = text.replace(layer, layer + ", bias=False")
            self.assertNotEqual(text, changed)
            with open(f"{mine}/my_model.py", "w", encoding="utf-8") as file:
                file.write(changed)
            status, output = self.run_python(mine, *pytest)
            self.assertEqual(status, 1, output)
            self.assertIn(shown[2].split("```")[0].strip(), output)


if __name__ == "__main__":
    unittest.main()
