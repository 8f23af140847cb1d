# SPDX-License-Identifier: MIT
"""Models in memory: the names, shapes, dtypes and ties of a module or of a dictionary of arrays. No framework is
imported, and no data is read; an array is what has a shape and a dtype."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Mapping
from ctypes import c_uint64
from typing import Any, Iterator

from ._library import Session, TensorDescription, UsageError, encode

# The dtypes of torch, NumPy and JAX by their names, as the numbers of SHAPEPROOF_DTYPES in dtype.h.
_DTYPES = {
    "bool": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "uint32": 6, "int32": 7, "uint64": 8, "int64": 9,
    "float16": 10, "bfloat16": 11, "float32": 12, "float64": 13, "complex32": 14, "complex64": 15, "complex128": 16,
    "float8_e4m3fn": 17, "float8_e5m2": 18, "float8_e8m0fnu": 19, "float8_e4m3fnuz": 20, "float8_e5m2fnuz": 21,
    "qint8": 25, "quint8": 26, "qint32": 27,
}  # fmt: skip


def _is_array(value: Any) -> bool:
    try:
        return hasattr(value, "shape") and hasattr(value, "dtype")
    except RuntimeError:  # a parameter of a lazy module of torch, which has no shape yet
        return True


def _has(value: Any, *methods: str) -> bool:
    return not isinstance(value, type) and all(callable(getattr(value, method, None)) for method in methods)


def is_keras(source: Any) -> bool:
    """Whether it is a model of Keras."""
    return _has(source, "get_config", "to_json") and hasattr(source, "weights")


def _is_nnx(source: Any) -> bool:
    """Whether it is a module of flax.nnx. If it is one, the package has been imported."""
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(source, nnx.Module)


def keras_names(source: Any) -> list[str]:
    """The names of the weights of a model of Keras, in the order of `weights`: "dense/kernel". No two are equal."""
    by_weight: dict[int, str] = {}
    _name_weights(source, "", not _keras_layers(source), by_weight)
    names: dict[str, None] = {}
    for weight in source.weights:
        name = by_weight.get(id(weight), getattr(weight, "path", weight.name))
        while name in names:
            name += "_again"
        names[name] = None
    return list(names)


def _name_weights(layer: Any, prefix: str, by_attributes: bool, names: dict[int, str]) -> None:
    """Names the weights of a layer below a prefix, which ends with "/", and those of the layers in it, depth first. A
    weight of several layers has the name of the first. The `path` of a weight does not always serve: Sequential writes
    its own name into it, and a model that was loaded has no names of nested models there."""
    inner = _layers_in(layer)
    inside = {id(weight) for each in inner for weight in each.weights}
    for weight in layer.weights:
        if id(weight) not in inside:
            path = getattr(weight, "path", weight.name).split("/")
            below = path[len(path) - path[::-1].index(layer.name) :] if layer.name in path[:-1] else []
            names.setdefault(id(weight), prefix + ("/".join(below) or weight.name))
    attributes = _attributes_of(layer) if by_attributes else {}
    for each in inner:
        _name_weights(each, f"{prefix}{attributes.get(id(each), each.name)}/", by_attributes, names)


def _layers_in(layer: Any) -> list[Any]:
    """The layers that a layer of Keras consists of."""
    try:
        return list(layer._flatten_layers(include_self=False, recursive=False))
    except (AttributeError, TypeError):
        return []


def _attributes_of(layer: Any) -> dict[int, str]:
    """How the code of a class calls the layers in it, by their identities: "dense", "blocks/0". Keras counts the names
    that it makes itself through all models of a process ("dense_7"), so that only these are the same in each instance.
    A Sequential numbers its layers."""
    found: dict[int, str] = {}
    own = vars(layer)
    for key, value in {**own, **own.get("_modules", {})}.items():  # a layer on torch is a module, too
        if key.startswith("_"):
            continue
        if isinstance(value, (list, tuple)):
            found.update({id(each): f"{key}/{i}" for i, each in enumerate(value)})
        else:
            found[id(value)] = key
    if type(layer).__name__ == "Sequential":
        found.update({id(each): str(i) for i, each in enumerate(layer.layers)})
    return found


def _keras_layers(source: Any) -> dict[str, Any] | None:
    """The configuration of a model of Keras: its list of layers. None for a subclassed model, which has no list."""
    try:
        layers: dict[str, Any] = json.loads(source.to_json())
    except (NotImplementedError, TypeError):  # a class whose arguments Keras cannot write
        return None
    return layers if "layers" in layers.get("config", {}) else None


def is_model(source: Any) -> bool:
    """Whether the source is a model in memory and not a path."""
    return isinstance(source, Mapping) or _has(source, "state_dict") or is_keras(source) or _is_nnx(source)


def _entries(source: Any) -> Any:
    """The names and arrays of a model. The states of random generators, such as those of dropout, are none of its
    weights: Keras leaves them out of `weights`, and they are taken out of a module of flax.nnx."""
    if isinstance(source, Mapping):
        return source
    if is_keras(source):
        weights = dict(zip(keras_names(source), source.weights))
        if not weights:
            raise UsageError(f"{name_of(source)}: the model has no weights yet", "build it first: model.build(shape)")
        return weights
    if _is_nnx(source):
        nnx = sys.modules["flax.nnx"]
        return nnx.state(source, nnx.Not(nnx.RngState))
    return source.state_dict()


def _flatten(entries: Mapping[Any, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """The arrays of nested dictionaries, such as the parameters of Flax, with dots between the keys. What is neither an
    array nor a dictionary, such as a number or the extra state of a module, is no tensor."""
    for key, value in entries.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        elif _is_array(value):
            yield f"{prefix}{key}", value


def _place(array: Any) -> tuple[str, int, tuple[int, ...] | None]:
    """The storage of an array, its offset in it, and its strides if it is not dense, the last two in elements. A tensor
    of torch knows its storage, also on the meta device, where it has no address. Any other array is one of its own: it
    is tied if it stands there twice."""
    try:
        storage_of = getattr(array, "untyped_storage", None) or array.storage  # torch 1 has the latter alone
        storage, offset = storage_of()._cdata, array.storage_offset()
        stride = None if array.is_contiguous() else tuple(array.stride())
    except (AttributeError, RuntimeError, NotImplementedError):  # no tensor of torch, or one without a storage
        return f"object {id(array)}", 0, None
    return f"storage {storage}", offset, stride


def _dimensions(values: tuple[int, ...]) -> Any:
    return (c_uint64 * max(len(values), 1))(*values)


def _describe(name: str, array: Any, storages: dict[str, bytes]) -> TensorDescription:
    try:
        shape = tuple(int(dimension) for dimension in array.shape)
    except (RuntimeError, TypeError):  # a parameter of a lazy module of torch, a dimension of None
        raise UsageError(f"{name}: its shape is not known yet", "run the model once: its layers infer shapes") from None
    storage, offset, stride = _place(array)
    dtype = str(array.dtype).rpartition(".")[2]  # "torch.float32", "float32"
    return TensorDescription(
        name=encode(name),
        shape=_dimensions(shape),
        stride=None if stride is None else _dimensions(stride),
        rank=len(shape),
        dtype=_DTYPES.get(dtype, 0),
        dtype_name=encode(dtype),
        storage=storages.setdefault(storage, str(len(storages)).encode()),
        offset=offset,
    )


def name_of(source: Any) -> str:
    """What reports call a model in memory: its class, or "state_dict". `fully_shard` of torch gives a module a class of
    another name, FSDPMyModel for MyModel, which is the base class."""
    if isinstance(source, Mapping):
        return "state_dict"
    kind = type(getattr(source, "_orig_mod", source))  # torch.compile wraps the module
    return next((base.__name__ for base in kind.__mro__ if kind.__name__ == f"FSDP{base.__name__}"), kind.__name__)


def _own_values(config: Any) -> dict[str, Any] | None:
    if isinstance(config, Mapping):
        return dict(config)
    for method in ("to_dict", "model_dump", "_asdict"):
        if _has(config, method):
            return dict(getattr(config, method)())
    if type(config).__name__ in ("Namespace", "SimpleNamespace"):  # of argparse, of types
        return dict(vars(config))
    if hasattr(config, "__dataclass_fields__") and not isinstance(config, type):
        from dataclasses import asdict  # has been imported, if there is a dataclass

        return asdict(config)
    return None


def _plain(value: Any, around: tuple[int, ...]) -> Any:
    """The value with dictionaries in place of the configurations in it; `around`: the identities of those that it is
    in. One that is in itself stays as it is."""
    if isinstance(value, type) or id(value) in around:
        return value
    inside = (*around, id(value))
    if type(value) in (list, tuple):
        return [_plain(item, inside) for item in value]
    values = _own_values(value)
    return value if values is None else {key: _plain(item, inside) for key, item in values.items()}


def values_of(config: Any) -> dict[str, Any] | None:
    """The hyper-parameters of a configuration: a dictionary, a dataclass, a named tuple, a namespace, or an object of
    transformers or pydantic, and those in it: Namespace(vision=Namespace(width=5)) is {"vision": {"width": 5}}. None:
    it is nothing of that."""
    values = _own_values(config)
    return None if values is None else {key: _plain(item, (id(config),)) for key, item in values.items()}


def _configured(source: Any) -> Any:
    """The module that has the configuration: that in DataParallel and other wrappers of torch, or the module itself."""
    inside = getattr(source, "module", None)
    return source if getattr(source, "config", None) is not None or inside is None else inside


def config_of(source: Any) -> dict[str, Any] | None:
    """The configuration that a module carries, or None. The class of the module stands in it as the architecture, where
    none does: that of a model of transformers that was not loaded. A model of Keras has its layers for one."""
    if isinstance(source, Mapping):
        return None
    if is_keras(source):
        return _keras_layers(source)
    configured = _configured(source)
    values = values_of(getattr(configured, "config", None))
    if values is not None and not values.get("architectures"):
        values["architectures"] = [name_of(configured)]
    return values


def unreadable_config(source: Any) -> UsageError | None:
    """The error if a module has a configuration that `config_of` cannot read."""
    config = None if isinstance(source, Mapping) or is_keras(source) else getattr(_configured(source), "config", None)
    if config is None or values_of(config) is not None:
        return None
    what = f"{name_of(source)}.config is of the class {type(config).__name__}, which is not read"
    return UsageError(what, "give its values as a dictionary, such as vars(model.config)")


def describe(session: Session, source: Any) -> int:
    """The inventory of a model in memory."""
    entries = _entries(source)
    if not isinstance(entries, Mapping):
        raise UsageError(f"{name_of(source)}: state_dict() is no dictionary of arrays")
    arrays = list(_flatten(entries, ""))  # kept until the end: the identity of an array is that of its object
    storages: dict[str, bytes] = {}
    described = (TensorDescription * max(len(arrays), 1))(
        *[_describe(name, array, storages) for name, array in arrays]
    )
    return session.make(
        "inventory_describe", "inventory_close", encode(name_of(source)), described, ctypes.c_size_t(len(arrays))
    )
