# SPDX-License-Identifier: MIT
"""Writes the wheel, without setuptools: a wheel is a zip archive whose RECORD has the hash of each of its files.

    python3 make_wheel.py VERSION LIBRARY COMMAND FOLDER [PLATFORM LICENSES]

The same inputs give the same bytes: files are sorted, times are SOURCE_DATE_EPOCH or that of the format, 1980. The
platform of the tag is that of the machine that runs this, because the library needs the libraries of this machine. A
library that contains them has a PLATFORM, such as manylinux2014_x86_64, and the folder LICENSES of what it contains."""

import base64
import hashlib
import os
import sys
import sysconfig
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FIRST_TIME = 315532800  # 1980-01-01, before which a zip archive has no times

METADATA = """\
Metadata-Version: 2.1
Name: shapeproof
Version: {version}
Summary: Checks whether a model checkpoint holds what its configuration promises, without loading it
License: MIT
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""

WHEEL = """\
Wheel-Version: 1.0
Generator: shapeproof ({version})
Root-Is-Purelib: false
Tag: {tag}
"""

# pytest loads the plugin in every run; it does nothing without its option.
ENTRY_POINTS = """\
[pytest11]
shapeproof = shapeproof.pytest_plugin
"""


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def contents(version, tag, library, command, licenses):
    """The files of the wheel but RECORD: their names in the archive, with their bytes."""
    package = os.path.join(HERE, "shapeproof")
    names = [name for name in os.listdir(package) if name.endswith(".py") or name == "py.typed"]
    files = {f"shapeproof/{name}": read(package, name) for name in names}
    info = f"shapeproof-{version}.dist-info"
    files["shapeproof/libshapeproof.so.0"] = read(library)
    files[f"shapeproof-{version}.data/scripts/shapeproof"] = read(command)
    files[f"shapeproof-{version}.data/data/share/man/man1/shapeproof.1"] = read(ROOT, "docs/man/shapeproof.1")
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    files[f"{info}/LICENSE"] = read(ROOT, "LICENSE")
    for name in os.listdir(licenses) if licenses else []:
        files[f"{info}/libraries/{name}"] = read(licenses, name)
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode() + read(ROOT, "docs/python.md")
    files[f"{info}/WHEEL"] = WHEEL.format(version=version, tag=tag).encode()
    return files


def record(files, name):
    """The lines of RECORD: name, hash and size of each file; its own line has neither."""
    lines = []
    for path, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{name},,\n"


def write(path, files, when):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, when)
            is_program = "/scripts/" in name or ".so" in name
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def main(version, library, command, folder, platform=None, licenses=None):
    tag = "py3-none-" + (platform or sysconfig.get_platform().replace("-", "_").replace(".", "_"))
    files = contents(version, tag, library, command, licenses)
    own = f"shapeproof-{version}.dist-info/RECORD"
    listed = sorted(files.items()) + [(own, record(files, own).encode())]  # RECORD is last, as the format asks
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", FIRST_TIME)), FIRST_TIME))[:6]
    path = os.path.join(folder, f"shapeproof-{version}-{tag}.whl")
    write(path, listed, when)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
