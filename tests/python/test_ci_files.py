# SPDX-License-Identifier: MIT
"""The files for CI systems: the hooks run by pre-commit itself, and everything else held against the schemas that
check-jsonschema brings. What is not installed is skipped."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from test_package import COMMAND, ROOT, needs

AUTHOR = ["-c", "user.name=test", "-c", "user.email=test@example.org"]


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, *AUTHOR, *arguments], check=True, stdout=subprocess.DEVNULL)


@needs("pre_commit")
class PreCommit(unittest.TestCase):
    def setUp(self):
        if shutil.which("git") is None:
            self.skipTest("the hooks of pre-commit: there is no git")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.hooks, self.mine = folder.name, f"{folder.name}/hooks", f"{folder.name}/mine"
        os.makedirs(f"{self.hooks}/src")
        shutil.copytree(f"{ROOT}/src/hooks", f"{self.hooks}/src/hooks")
        shutil.copy(f"{ROOT}/.pre-commit-hooks.yaml", self.hooks)
        for name in ("tiny-gpt2", "odd-gpt2"):
            shutil.copytree(f"{ROOT}/fixtures/models/{name}", f"{self.mine}/{name}")
        shutil.copytree(f"{ROOT}/docs/examples/my_model", f"{self.mine}/my_model")
        os.mkdir(f"{self.folder}/bin")
        os.symlink(os.path.abspath(COMMAND), f"{self.folder}/bin/shapeproof")
        for repository in (self.hooks, self.mine):
            git(repository, "init", "-q")
            git(repository, "add", "-A")
            git(repository, "commit", "-qm", "first")

    def run_hooks(self, config, *arguments):
        """Status and output of `pre-commit run`; `config` are the lines of the hooks."""
        revision = subprocess.check_output(["git", "-C", self.hooks, "rev-parse", "HEAD"], text=True).strip()
        with open(f"{self.mine}/.pre-commit-config.yaml", "w", encoding="utf-8") as file:
            file.write(f"repos:\n- repo: {self.hooks}\n  rev: {revision}\n  hooks:\n{config}")
        environment = {
            **os.environ,
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "PRE_COMMIT_HOME": f"{self.folder}/cache",
        }
        git(self.mine, "add", "-A")
        command = [sys.executable, "-m", "pre_commit", "run", "--verbose", "--color", "never", *arguments]
        done = subprocess.run(
            command, cwd=self.mine, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout

    def test_check(self):
        status, output = self.run_hooks("  - id: shapeproof-check\n", "--all-files")
        self.assertEqual(status, 1, output)
        self.assertIn("odd-gpt2: differs: the file lacks biases", output)
        self.assertNotIn("tiny-gpt2:", output)
        status, output = self.run_hooks(
            "  - id: shapeproof-check\n    args: [--strict]\n", "--files", "tiny-gpt2/config.json"
        )
        self.assertEqual(status, 0, output)
        self.assertIn("check checkpoints against their configurations", output)
        self.assertNotIn("[WARNING]", output)

    def test_tables(self):
        config = (
            "  - id: shapeproof-fmt\n"
            "  - id: shapeproof-prove\n"
            "    args: [--table, my_model/my_model.shapes, --claims, claims.shapes]\n"
        )
        claims = f"{self.mine}/claims.shapes"
        with open(claims, "w", encoding="utf-8") as file:
            file.write("claims for my_model\n\nclaim [blocks] = L*(C^2 + C + 2*W*I + I + 3*W)\n")
        status, output = self.run_hooks(config, "--all-files")
        self.assertEqual(status, 0, output)
        with open(claims, "a", encoding="utf-8") as file:
            file.write("claim   total = 3\n")
        status, output = self.run_hooks(config, "--all-files")
        self.assertEqual(status, 1, output)
        self.assertIn("files were modified by this hook", output)
        self.assertIn("REFUTED", output)


@needs("check_jsonschema")
class Schemas(unittest.TestCase):
    def holds(self, schema, *files):
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_action(self):
        self.holds("github-actions", f"{ROOT}/.github/actions/check/action.yml")

    def test_workflow(self):
        self.holds("github-workflows", f"{ROOT}/docs/examples/my_model/.github/workflows/test.yml")

    def test_snippets(self):
        """The blocks of docs/ci.md that are a whole file."""
        with open(f"{ROOT}/docs/ci.md", encoding="utf-8") as file:
            blocks = re.findall(r"```yaml\n# (\S+)\n(.*?)```", file.read(), re.S)
        schemas = {".gitlab-ci.yml": "gitlab-ci", ".github/workflows/checkpoints.yml": "github-workflows"}
        self.assertEqual({name for name, _ in blocks}, {*schemas, ".pre-commit-config.yaml"})
        for name, text in blocks:
            if name not in schemas:
                continue
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
                file.write(text)
                file.flush()
                self.holds(schemas[name], file.name)


if __name__ == "__main__":
    unittest.main()
