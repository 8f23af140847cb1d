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


class Action(unittest.TestCase):
    """The steps of the GitHub Action, run as the service runs them."""

    def setUp(self):
        if shutil.which("bash") is None:
            self.skipTest("the steps of the GitHub Action: there is no bash")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(f"{ROOT}/.github/actions/check/action.yml", encoding="utf-8") as file:
            blocks = re.findall(r"^      run: \|\n((?: {8}.*\n|\n)+)", file.read(), re.M)
        self.build, self.check = (re.sub(r"^ {8}", "", block, flags=re.M) for block in blocks)

    def run_step(self, script, path=None, **variables):
        """Status, standard output and errors of a step."""
        variables["GITHUB_STEP_SUMMARY"] = f"{self.folder}/summary"
        environment = {**os.environ, **variables, "PATH": f"{path or self.folder}:{os.environ['PATH']}"}
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_check(self):
        os.symlink(os.path.abspath(COMMAND), f"{self.folder}/shapeproof")
        good, bad = (f"{ROOT}/fixtures/models/{name}" for name in ("tiny-gpt2", "odd-gpt2"))
        self.assertEqual(self.run_step(self.build)[0], 0)
        for paths, options, expected in (
            (f"{good}\n", "", 0),
            (f"{good}\n{bad}\n", "--strict --for=transformers", 1),
            (f"{self.folder}/nowhere", "", 4),
            (good, "--bogus", 2),
        ):
            with self.subTest(paths):
                status, _, errors = self.run_step(self.check, PATHS=paths, OPTIONS=options, SARIF="out.sarif")
                self.assertEqual(status, expected, errors)
        with open(f"{self.folder}/summary", encoding="utf-8") as summary:
            self.assertIn("**differs**: the file lacks biases", summary.read())
        with open(f"{self.folder}/out.sarif", encoding="utf-8") as sarif:
            self.assertIn('"ruleId": "io"', sarif.read())  # of the last run that had a list

    def test_build(self):
        """It builds and installs below the folder of the runner, which is added to the path of later steps."""
        tools = f"{self.folder}/tools"
        os.mkdir(tools)
        for name in ("make", "nproc"):
            with open(f"{tools}/{name}", "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\necho {name} "$@" >>{self.folder}/called\necho 2\n')
            os.chmod(f"{tools}/{name}", 0o755)
        script = "command() { return 1; }\n" + self.build
        variables = {"RUNNER_TEMP": "/runner", "GITHUB_PATH": f"{self.folder}/path", "GITHUB_ACTION_PATH": "/a/b/c"}
        status, _, errors = self.run_step(script, path=tools, **variables)
        self.assertEqual(status, 0, errors)
        with open(f"{self.folder}/called", encoding="utf-8") as file:
            self.assertIn("install PREFIX=/runner/shapeproof\n", file.read())
        with open(f"{self.folder}/path", encoding="utf-8") as file:
            self.assertEqual(file.read(), "/runner/shapeproof/bin\n")


class Hook(unittest.TestCase):
    def test_command_is_missing(self):
        environment = {"PATH": "/nowhere"}
        script = ["/bin/sh", f"{ROOT}/src/hooks/check.sh", "model.gguf"]
        done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout[:27], done.stderr), (1, "shapeproof is not installed", ""))


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
