# SPDX-License-Identifier: MIT
"""The same question asked of the frameworks: every name, dtype and shape, with as little loaded as each allows.

    peer.py list FILE      by the suffix: safetensors, torch (weights_only, mmap), h5py
    peer.py has MODULE     exit 0 when it can be imported
    peer.py make FILE      148 tensors named as GPT-2's, 1/12 as wide, for the formats that need a framework to write
"""
import importlib.util
import sys


def gpt2_shapes(width=64, vocab=50257, layers=12):
    yield "wte.weight", (vocab // 12, width)
    yield "wpe.weight", (1024, width)
    for i in range(layers):
        yield f"h.{i}.attn.c_attn.weight", (width, 3 * width)
        yield f"h.{i}.attn.c_attn.bias", (3 * width,)
        yield f"h.{i}.attn.c_proj.weight", (width, width)
        yield f"h.{i}.attn.c_proj.bias", (width,)
        yield f"h.{i}.mlp.c_fc.weight", (width, 4 * width)
        yield f"h.{i}.mlp.c_fc.bias", (4 * width,)
        yield f"h.{i}.mlp.c_proj.weight", (4 * width, width)
        yield f"h.{i}.mlp.c_proj.bias", (width,)
        for norm in "ln_1", "ln_2":
            yield f"h.{i}.{norm}.weight", (width,)
            yield f"h.{i}.{norm}.bias", (width,)
    yield "ln_f.weight", (width,)
    yield "ln_f.bias", (width,)


def list_safetensors(path):
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        for name in file.keys():
            part = file.get_slice(name)
            print(name, part.get_dtype(), part.get_shape())


def list_torch(path):
    import torch

    for name, tensor in torch.load(path, map_location="meta", weights_only=True, mmap=True).items():
        print(name, tensor.dtype, tuple(tensor.shape))


def list_hdf5(path):
    import h5py

    def visit(name, node):
        if isinstance(node, h5py.Dataset):
            print(name, node.dtype, node.shape)

    with h5py.File(path, "r") as file:
        file.visititems(visit)


def make(path):
    if path.endswith(".pt"):
        import torch

        torch.save({name: torch.zeros(shape) for name, shape in gpt2_shapes()}, path)
    else:
        import h5py

        with h5py.File(path, "w") as file:
            for name, shape in gpt2_shapes():
                file.create_dataset(name.replace(".", "/"), shape, "f4")


def main():
    verb, what = sys.argv[1:]
    if verb == "has":
        sys.exit(importlib.util.find_spec(what) is None)
    if verb == "make":
        make(what)
    else:
        {"safetensors": list_safetensors, "pt": list_torch, "h5": list_hdf5}[what.rsplit(".", 1)[1]](what)


main()
