# SPDX-License-Identifier: MIT
"""The wheel: the same bytes each time, a RECORD that fits, and a package and a command that work once unpacked."""

import base64
import csv
import glob
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GPT2 = os.path.join(ROOT, "fixtures/models/tiny-gpt2")
VERSION = "1.2.3"


def build(folder):
    """The path of a wheel that is made of the library and the command under test."""
    script = os.path.join(ROOT, "src/python/make_wheel.py")
    library = os.environ["SHAPEPROOF_LIBRARY"]
    command = os.environ.get("SHAPEPROOF", os.path.join(ROOT, "build/shapeproof"))
    subprocess.check_output([sys.executable, script, VERSION, library, command, folder], cwd=folder)
    return glob.glob(os.path.join(folder, "*.whl"))[0]


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = build(self.folder)

    def test_same_bytes(self):
        with open(self.path, "rb") as file:
            first = file.read()
        with open(build(self.folder), "rb") as file:
            self.assertEqual(first, file.read())

    def test_record(self):
        with zipfile.ZipFile(self.path) as archive:
            record = archive.read(f"shapeproof-{VERSION}.dist-info/RECORD").decode()
            rows = list(csv.reader(io.StringIO(record)))
            self.assertEqual(sorted(name for name, _, _ in rows), sorted(archive.namelist()))
            for name, digest, size in rows[:-1]:
                data = archive.read(name)
                sha = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), (f"sha256={sha}", len(data)), name)
            self.assertEqual(rows[-1][1:], ["", ""])
            tag = archive.read(f"shapeproof-{VERSION}.dist-info/WHEEL").decode().split("Tag: ")[1].strip()
        self.assertEqual(os.path.basename(self.path), f"shapeproof-{VERSION}-{tag}.whl")

    def test_entry_points(self):
        with zipfile.ZipFile(self.path) as archive:
            points = archive.read(f"shapeproof-{VERSION}.dist-info/entry_points.txt").decode()
            module = points.split("[pytest11]\nshapeproof = ")[1].strip()
            self.assertIn(module.replace(".", "/") + ".py", archive.namelist())

    def test_unpacked(self):
        target = os.path.join(self.folder, "site")
        with zipfile.ZipFile(self.path) as archive:
            archive.extractall(target)
            command = os.path.join(target, f"shapeproof-{VERSION}.data/scripts/shapeproof")
            self.assertEqual(archive.getinfo(os.path.relpath(command, target)).external_attr >> 16, 0o100755)
        code = "import shapeproof, sys; print(shapeproof.__file__); print(shapeproof.check(sys.argv[1]).verdict)"
        environment = {key: value for key, value in os.environ.items() if key != "SHAPEPROOF_LIBRARY"}
        environment["PYTHONPATH"] = target
        python = [sys.executable, "-c", code, GPT2]
        output = subprocess.check_output(python, env=environment, cwd=self.folder, text=True)
        self.assertEqual(output, f"{os.path.join(target, 'shapeproof/__init__.py')}\nmatch\n")
        os.chmod(command, 0o755)
        self.assertIn("match", subprocess.check_output([command, "check", GPT2], text=True))


if __name__ == "__main__":
    unittest.main()
