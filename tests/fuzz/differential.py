#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutates fixtures, reads each mutant with a library of its format and with `shapeproof inspect --json`, and lists
silent differences: both read it and see other names, shapes or dtypes, or shapeproof reads it without a warning and the
library refuses it. Weights are left alone: `inspect` does not read them.

    python3 -m venv venv && venv/bin/pip install numpy safetensors gguf h5py torch
    venv/bin/python tests/fuzz/differential.py build/shapeproof [COUNT [SEED [LIBRARY...]]]

COUNT is the number of mutants for each library (5000). A silent difference is written to differential-LIBRARY-N, and
the status is then 1. The last lines are a table of outcomes. A library runs in a process of its own, since it may
crash."""
import collections
import ctypes
import ctypes.util
import glob
import io
import json
import os
import pickle
import pickletools
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile

SECONDS = 10  # for one file
MEMORY = 4 << 30  # of the process of a library
H5_DEPTH = 16  # of groups in groups, more than a fixture has; a mutant may have a group in itself

# ---- what the libraries see: name -> (dtype, shape); dtype None where the library has no name for it ----

DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
          "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8",
          "bool": "BOOL", "complex64": "C64", "complex128": "C128"}


def of_dtype(dtype):
    return DTYPES.get(str(dtype).removeprefix("torch."))


def read_safetensors(path):
    from safetensors import safe_open
    with safe_open(path, "np") as file:
        found = {}
        for name in file.keys():
            part = file.get_slice(name)
            found[name] = (part.get_dtype(), tuple(part.get_shape()))
        return found


def flatten(value, prefix, found):
    import torch
    if isinstance(value, torch.Tensor):
        found[prefix] = (of_dtype(value.dtype), tuple(value.shape))
    elif isinstance(value, dict):
        for key, item in value.items():
            flatten(item, f"{prefix}.{key}" if prefix else str(key), found)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            flatten(item, f"{prefix}.{index}" if prefix else str(index), found)
    return found


def read_torch(path):
    import torch
    return flatten(torch.load(path, map_location="cpu", weights_only=True), "", {})


class Inert:
    """Stands for what unpickling would import: it takes any call, item or state, and does nothing."""

    def __init__(self, *arguments):
        pass

    def __call__(self, *arguments):
        return self

    append = extend = add = update = __setitem__ = __setstate__ = __init__


class InertUnpickler(pickle._Unpickler):
    """Python's stack machine, which imports nothing."""

    def find_class(self, module, name):
        return Inert

    def persistent_load(self, key):
        return Inert()


def read_pickletools(path):
    """Only whether it is a pickle: the stack machine of pickletools knows no tensors. It refuses two things that the
    unpicklers of Python and torch read: an entry of the memo that is replaced, and values left on the stack."""
    with zipfile.ZipFile(path) as archive:
        data = archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))
    try:
        pickletools.dis(data, out=io.StringIO())
    except ValueError as error:
        if not str(error).endswith("already defined") and not str(error).startswith("stack not empty after STOP"):
            raise
        InertUnpickler(io.BytesIO(data)).load()
    return None


def npy_header(file):
    from numpy.lib import _format_impl as npy
    version = npy.read_magic(file)
    shape, _, dtype = npy._read_array_header(file, version)
    return of_dtype(dtype.newbyteorder("=") if not dtype.hasobject else dtype), tuple(shape)


def read_numpy(path):
    if zipfile.is_zipfile(path):
        found = {}
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    found[name.removesuffix(".npy")] = npy_header(member)
        return found
    with open(path, "rb") as file:
        return {"": npy_header(file)}


class LibzipMember(io.RawIOBase):
    """A member that libzip inflates."""

    def __init__(self, libzip, archive, index):
        self.libzip, self.file = libzip, libzip.zip_fopen_index(archive, index, 0)
        if not self.file:
            raise ValueError("zip_fopen_index")

    def readable(self):
        return True

    def readinto(self, buffer):
        space = (ctypes.c_char * len(buffer))()
        count = self.libzip.zip_fread(self.file, space, len(buffer))
        if count < 0:
            raise ValueError("zip_fread")
        buffer[:count] = space[:count]
        return count

    def close(self):
        self.libzip.zip_fclose(self.file)
        super().close()


def load_libzip():
    libzip = ctypes.CDLL(ctypes.util.find_library("zip"))
    for name, result, *arguments in (
            ("zip_open", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_int)),
            ("zip_get_num_entries", ctypes.c_int64, ctypes.c_void_p, ctypes.c_int),
            ("zip_get_name", ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int),
            ("zip_fopen_index", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int),
            ("zip_fread", ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64),
            ("zip_fclose", ctypes.c_int, ctypes.c_void_p),
            ("zip_discard", None, ctypes.c_void_p)):
        function = getattr(libzip, name)
        function.restype, function.argtypes = result, arguments
    return libzip


def read_libzip(path):
    libzip, error, found = load_libzip(), ctypes.c_int(), {}
    archive = libzip.zip_open(path.encode(), 16, ctypes.byref(error))  # ZIP_RDONLY
    if not archive:
        raise ValueError(f"zip_open: {error.value}")
    for index in range(libzip.zip_get_num_entries(archive, 0)):
        name = libzip.zip_get_name(archive, index, 64)  # ZIP_FL_ENC_RAW
        if not name.isascii():  # UTF-8, or code page 437, in which libzip has pictures for control characters as well
            name = libzip.zip_get_name(archive, index, 0)
        name = name.decode(errors="replace")
        with io.BufferedReader(LibzipMember(libzip, archive, index)) as member:
            found[name.removesuffix(".npy")] = npy_header(member)
    libzip.zip_discard(archive)
    return found


def read_gguf(path):
    from gguf import GGUFReader
    return {t.name: (None, tuple(reversed([int(n) for n in t.shape]))) for t in GGUFReader(path).tensors}


def read_h5py(path):
    """Goes from link to link: visititems also asks for the sizes of heaps, and fails where a group is read well."""
    import h5py
    found = {}

    def visit(group, prefix, depth):
        for name in group if depth else ():
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                continue
            item = group[name]
            if isinstance(item, h5py.Dataset):
                found[prefix + name] = (of_dtype(item.dtype.newbyteorder("=")), tuple(item.shape or ()))
            elif isinstance(item, h5py.Group):
                visit(item, prefix + name + "/", depth - 1)
    with h5py.File(path, "r") as file:
        visit(file, "", H5_DEPTH)
    return found


# ---- mutants ----

def flip(random_, data, begin=0, end=None):
    data = bytearray(data)
    end = min(len(data), end if end is not None else len(data))
    for _ in range(random_.randint(1, 3)):
        at = random_.randrange(begin, max(end, begin + 1))
        if at < len(data):
            how = random_.randrange(3)
            if how == 0:
                data[at] ^= 1 << random_.randrange(8)
            elif how == 1:
                data[at] = random_.choice(b"\x00\x01\x7f\x80\xff09\"{}[],:.")
            elif random_.random() < .5:
                del data[at]
            else:
                data.insert(at, random_.randrange(256))
    return bytes(data)


def mutate_safetensors(random_, data):
    length = struct.unpack("<Q", data[:8])[0]
    header = data[8:8 + length]
    how = random_.randrange(3)
    if how == 0:  # bytes of the header, whose length follows
        header = flip(random_, header)
    elif how == 1:  # an entry is doubled or removed
        parts = header.split(b'},"')
        at = random_.randrange(len(parts))
        parts[at:at + 1] = random_.choice([[], [parts[at], parts[at]]])
        header = b'},"'.join(parts)
    else:
        return flip(random_, data, 0, 8 + length)
    return struct.pack("<Q", len(header)) + header + data[8 + length:]


def mutate_pickle(random_, data):
    """An opcode is removed, doubled, or exchanged with another; or bytes are changed."""
    if random_.random() < .5:
        return flip(random_, data)
    try:
        places = [at for _, _, at in pickletools.genops(data)] + [len(data)]
    except Exception:
        return flip(random_, data)
    ops = [data[a:b] for a, b in zip(places, places[1:])]
    at, other = random_.randrange(len(ops)), random_.randrange(len(ops))
    how = random_.randrange(4)
    if how == 0:
        del ops[at]
    elif how == 1:
        ops.insert(at, ops[at])
    elif how == 2:
        ops[at], ops[other] = ops[other], ops[at]
    else:
        ops[at] = ops[other]
    return b"".join(ops)


def mutate_zip(random_, data):
    """One header or directory entry is changed as bytes; or a member, other than weights, with the right checksum."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    try:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except zipfile.BadZipFile:  # a fixture without checksums
        return flip(random_, data, archive.start_dir)
    if random_.random() < .3:
        begin = archive.start_dir if random_.random() < .7 else random_.choice(archive.infolist()).header_offset
        return flip(random_, data, begin, None if begin == archive.start_dir else begin + 30)
    chosen = [i for i, (name, bytes_) in enumerate(members) if "/data/" not in name] or [0]
    at = random_.choice(chosen)
    name, content = members[at]
    how = random_.randrange(6)
    if how == 0:
        members.append((name, content))
    elif how == 1:
        members.append((name, flip(random_, content)))
    elif how == 2:
        name = flip(random_, name.encode()).decode("latin-1").split("\0")[0]  # where zipfile ends it
        members[at] = (name or "a", content)
    elif name.endswith(".pkl"):
        members[at] = (name, mutate_pickle(random_, content))
    else:
        members[at] = (name, flip(random_, content, 0, 128))
    out = io.BytesIO()
    import warnings
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as written:
        warnings.simplefilter("ignore")
        for name, content in members:
            written.writestr(name, content)
    return out.getvalue()


def mutate_torch(random_, data):
    return mutate_zip(random_, data) if data[:2] == b"PK" else mutate_pickle(random_, data)


def mutate_numpy(random_, data):
    return mutate_zip(random_, data) if data[:2] == b"PK" else flip(random_, data, 0, 128)


LIBRARIES = {
    "safetensors": (read_safetensors, mutate_safetensors, "**/*.safetensors"),
    "torch": (read_torch, mutate_torch, "torch/ok/*.pt"),
    "pickletools": (read_pickletools, mutate_zip, "torch/ok/*.pt"),
    "libzip": (read_libzip, mutate_zip, "numpy/ok/*.npz"),
    "numpy": (read_numpy, mutate_numpy, "numpy/ok/*.np[yz]"),
    "gguf": (read_gguf, flip, "gguf/**/*.gguf"),
    "h5py": (read_h5py, flip, "hdf5/ok/*.h5"),
}

# ---- the comparison ----


class Worker:
    """A process that reads files with a library, one after the other, until it crashes."""

    def __init__(self, read):
        self.read, self.child = read, 0

    def start(self):
        (take, self.give), (self.take, give) = os.pipe(), os.pipe()
        self.child = os.fork()
        if self.child:
            os.close(take), os.close(give)
            return
        os.close(self.give), os.close(self.take)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        while path := os.read(take, 4096):
            signal.alarm(SECONDS)
            try:
                answer = ("read", self.read(path.decode()))
            except BaseException as error:
                answer = ("refused", f"{type(error).__name__}: {str(error)[:200]}")
            answer = pickle.dumps(answer)
            with os.fdopen(os.dup(give), "wb") as stream:
                stream.write(struct.pack("<Q", len(answer)) + answer)
        os._exit(0)

    def ask(self, path):
        """What the library sees, or a text that says how it refused."""
        if not self.child:
            self.start()
        try:
            os.write(self.give, path.encode())
        except BrokenPipeError:  # it crashed when it released what it had read before
            self.end()
            self.start()
            os.write(self.give, path.encode())
        with os.fdopen(os.dup(self.take), "rb") as stream:
            length = stream.read(8)
            answer = stream.read(struct.unpack("<Q", length)[0]) if len(length) == 8 else b""
        if answer:
            return pickle.loads(answer)
        return "crashed", f"signal {self.end() & 127}"

    def end(self):
        """The status of the process, which has ended."""
        _, status = os.waitpid(self.child, 0)
        os.close(self.give), os.close(self.take)
        self.child = 0
        return status


def by_shapeproof(command, path):
    done = subprocess.run([command, "inspect", "--json", path], capture_output=True, timeout=SECONDS * 6)
    if done.returncode not in (0, 4):
        return "crashed", f"status {done.returncode}", 0
    if done.returncode:
        return "refused", done.stderr.decode(errors="replace").strip(), 0
    document = json.loads(done.stdout)
    seen = {t["name"]: (t["dtype"], tuple(t["shape"] or ())) for t in document["tensors"]}
    return "read", seen, len(document.get("warnings") or [])


def differ(ours, theirs):
    """The first difference, or None. What has no name of a dtype in the library is compared by its shape."""
    if theirs is None:
        return None
    if ours.keys() != theirs.keys():
        return f"names: only ours {sorted(ours.keys() - theirs.keys())[:3]}, only theirs " \
               f"{sorted(theirs.keys() - ours.keys())[:3]}"
    for name, (dtype, shape) in theirs.items():
        if ours[name][1] != shape:
            return f"{name!r}: shape {ours[name][1]}, {shape}"
        if dtype is not None and ours[name][0] != dtype:
            return f"{name!r}: dtype {ours[name][0]}, {dtype}"
    return None


def judge(ours, theirs):
    """The outcome, and whether it is a silent difference."""
    if ours[0] == "crashed":
        return "we crashed", True
    if ours[0] == "refused":
        return ("we refuse alone" if theirs[0] == "read" else "both refuse"), False
    warned = ours[2] > 0
    if theirs[0] == "read":
        difference = differ(ours[1], theirs[1])
        if not difference:
            return "same", False
        return ("differ, with a warning", False) if warned else ("DIFFER SILENTLY: " + difference, True)
    if warned:
        return "we read with a warning", False
    return f"WE READ ALONE: {theirs[0]}: {theirs[1]}", True


def import_libraries():
    """Once, and not in each process that is forked."""
    import gguf, h5py, numpy, safetensors, torch  # noqa: F401,E401
    torch.set_num_threads(1)


def main(command, count=5000, seed=1, *names):
    import_libraries()
    fixtures = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures")
    table, found = [], 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for name, (read, mutate, pattern) in LIBRARIES.items():
            if names and name not in names:
                continue
            bases, worker = [], Worker(read)
            for path in sorted(glob.glob(os.path.join(fixtures, pattern), recursive=True)):
                if "/bad/" in path or os.path.getsize(path) > 65536:
                    continue
                ours, theirs = by_shapeproof(command, path), worker.ask(path)
                if judge(ours, theirs)[0] == "same":  # others differ on purpose, and say nothing about mutants
                    with open(path, "rb") as file:
                        bases.append((path, file.read()))
            random_ = random.Random(f"{seed} {name}")
            outcomes, silent = collections.Counter(), collections.Counter()
            for number in range(int(count)):
                source, data = random_.choice(bases)
                mutant = os.path.join(folder, "mutant" + os.path.splitext(source)[1])
                with open(mutant, "wb") as file:
                    file.write(mutate(random_, data))
                ours, theirs = by_shapeproof(command, mutant), worker.ask(mutant)
                outcome, is_silent = judge(ours, theirs)
                outcomes["silent" if is_silent else outcome] += 1
                if is_silent:
                    kind = outcome[:60]
                    silent[kind] += 1
                    if silent[kind] <= 3:  # the first ones of a kind
                        kept = f"differential-{name}-{number}{os.path.splitext(source)[1]}"
                        with open(mutant, "rb") as file, open(kept, "wb") as copy:
                            copy.write(file.read())
                        print(f"{kept} ({os.path.relpath(source, fixtures)}): {outcome}", flush=True)
            found += outcomes["silent"]
            table.append(f"{name:12} {len(bases):3} files, " + ", ".join(f"{k} {n}" for k, n in outcomes.most_common()))
            print(table[-1], flush=True)
    print("\n" + "\n".join(table))
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
