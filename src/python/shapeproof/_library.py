# SPDX-License-Identifier: MIT
"""The shared library, as include/shapeproof/*.h declares it, and its errors as exceptions.

The structs below repeat those of the headers field by field; tests/python/test_layout.py compares the two. ctypes
releases the GIL during every call, so threads work at the same time as long as they share no object of the library.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, NamedTuple

SONAME = "libshapeproof.so.0"


class Error(Exception):
    """A call that failed. `str()` is the message of the library, with its hint."""

    __module__ = "shapeproof"  # where users import it from; also of the classes below

    def __init__(self, message: str, hint: str = "", kind: str = "") -> None:
        super().__init__(message + (f"\nhint: {hint}" if hint else ""))
        self.message = message  # what the command prints behind "shapeproof: "
        self.hint = hint  # the next thing to do, or ""
        self.kind = kind  # why a checkpoint cannot be read: "io", "malformed", "limit", ...; or ""


class UsageError(Error):
    """The caller asked for something that does not exist."""

    __module__ = "shapeproof"


class TableError(Error):
    """A table, a claim or a configuration is wrong."""

    __module__ = "shapeproof"


class CheckpointError(Error):
    """A checkpoint is unreadable or malformed."""

    __module__ = "shapeproof"


class UnknownArchitectureError(Error):
    """There is no table for the architecture, no configuration, or no answer."""

    __module__ = "shapeproof"


# enum shapeproof_status
STATUS_UNKNOWN = 5
_ERRORS: dict[int, type[Error]] = {2: UsageError, 3: TableError, 4: CheckpointError, 5: UnknownArchitectureError}

# ---- structs ----


class ErrorStruct(ctypes.Structure):
    _fields_ = [("status", c_int), ("kind", c_int), ("message", c_char * 1024), ("hint", c_char * 512)]


def _reserved(words: int) -> tuple[str, Any]:
    return ("reserved", c_uint64 * words)


class TensorDescription(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("shape", POINTER(c_uint64)),
        ("stride", POINTER(c_uint64)),
        ("rank", c_uint32),
        ("dtype", c_int),
        ("dtype_name", c_char_p),
        ("storage", c_char_p),
        ("offset", c_uint64),
        _reserved(2),
    ]


class PredictOptions(ctypes.Structure):
    _fields_ = [("table", c_char_p), ("stored", c_bool), ("most_tensors", c_uint64), _reserved(3)]


class CheckOptions(ctypes.Structure):
    _fields_ = [("table", c_char_p), ("expectations", c_void_p), ("data", c_bool), ("watch", c_void_p), _reserved(3)]


class DiffOptions(ctypes.Structure):
    _fields_ = [
        ("expectations", c_void_p),
        ("data", c_bool),
        ("names_a", c_void_p),
        ("names_b", c_void_p),
        ("watch", c_void_p),
        _reserved(1),
    ]


class InferOptions(ctypes.Structure):
    _fields_ = [("table", c_char_p), ("watch", c_void_p), _reserved(3)]


class LearnExample(ctypes.Structure):
    _fields_ = [("inventory", c_void_p), ("config", c_void_p)]


class LearnOptions(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("like", c_char_p),
        ("most_values", c_uint64),
        ("watch", c_void_p),
        _reserved(3),
    ]


class DeriveOptions(ctypes.Structure):
    _fields_ = [("table", c_char_p), ("notation", c_int), ("measure", c_char_p), _reserved(3)]


class ProveOptions(ctypes.Structure):
    _fields_ = [
        ("tables", POINTER(c_char_p)),
        ("table_count", c_size_t),
        ("files", POINTER(c_char_p)),
        ("file_count", c_size_t),
        ("allow_tested", c_uint64),
        ("explain", c_uint64),
        ("watch", c_void_p),
        _reserved(1),
    ]


class ClaimLines(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("items", POINTER(c_char_p)), ("count", c_size_t)]


class VerifyOptions(ctypes.Structure):
    _fields_ = [("files", POINTER(c_char_p)), ("file_count", c_size_t), _reserved(4)]


class EvaluateOptions(ctypes.Structure):
    _fields_ = [("checkpoint", c_void_p), ("prediction", c_void_p), _reserved(3)]


class EvaluatedPoint(ctypes.Structure):
    _fields_ = [("value", c_char_p), ("evaluation", c_void_p), ("why", c_char_p)]


class TablesFilter(ctypes.Structure):
    _fields_ = [("text", c_char_p), ("kind", c_char_p), ("measure", c_char_p), _reserved(3)]


class ReportOptions(ctypes.Structure):
    _fields_ = [
        ("format", c_int),
        ("width", c_uint),
        ("color", c_bool),
        ("all", c_bool),
        ("loadings", c_void_p),
        ("filter", POINTER(TablesFilter)),
        ("claims", c_void_p),
        ("fit", c_void_p),
    ]


class ReportInspectOptions(ctypes.Structure):
    _fields_ = [
        ("report", ReportOptions),
        ("view", c_int),
        ("sort", c_int),
        ("filter", c_char_p),
        ("depth", c_uint),
        ("sink", c_void_p),
        ("to", c_void_p),
        ("quantised", c_void_p),
        ("no_heading", c_bool),
    ]


class PredictedSize(ctypes.Structure):
    _fields_ = [("bytes", c_uint64), ("dtype", c_int), ("key", c_char_p), ("assumed", c_bool),
                ("scales_alone", c_bool)]


class ReportPredictOptions(ctypes.Structure):
    _fields_ = [("report", ReportOptions), ("forms", c_void_p), ("size", POINTER(PredictedSize)), _reserved(3)]


class ReportVerifyOptions(ctypes.Structure):
    _fields_ = [
        ("report", ReportOptions),
        ("path", c_char_p),
        ("letters", c_char_p),
        ("inference", c_void_p),
        ("groups", c_bool),
        _reserved(4),
    ]


class ReportDeriveOptions(ctypes.Structure):
    _fields_ = [("report", ReportOptions), ("expanded", c_bool), ("latex", c_bool), _reserved(4)]


class ReportEvaluateOptions(ctypes.Structure):
    _fields_ = [
        ("report", ReportOptions),
        ("table", c_char_p),
        ("letters", c_char_p),
        ("varied", c_char_p),
        ("side_by_side", c_bool),
        _reserved(4),
    ]


REPORT_TEXT, REPORT_JSON = 0, 1

# ---- functions ----

# What each function returns and takes, without the "shapeproof_" of its name. A text that is the caller's own has the
# type of an address, `_OWN`, because ctypes would otherwise convert it and lose what has to be freed.
_OWN = _OBJECT = _POINTER = c_void_p
_TEXT = c_char_p
_ERROR = POINTER(ErrorStruct)
_OUT = POINTER(c_void_p)
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "version": (_TEXT,),
    "free": (None, _POINTER),
    "kind_name": (_TEXT, c_int),
    "ran_out_of_memory": (c_bool,),
    "is_remote": (c_bool, _TEXT),
    "checkpoint_path": (_OWN, _TEXT),
    "inventory_open": (_OBJECT, _TEXT, _ERROR),
    "inventory_describe": (_OBJECT, _TEXT, POINTER(TensorDescription), c_size_t, _ERROR),
    "inventory_close": (None, _OBJECT),
    "quantised_model_new": (_OBJECT, _OBJECT, _ERROR),
    "quantised_model_free": (None, _OBJECT),
    "components_open": (_OBJECT, _TEXT, _ERROR),
    "components_free": (None, _OBJECT),
    "component_count": (c_size_t, _OBJECT),
    "tables_new": (_OBJECT, _ERROR),
    "tables_free": (None, _OBJECT),
    "tables_add_file": (c_int, _OBJECT, _TEXT, _ERROR),
    "tables_add_claims": (c_int, _OBJECT, _TEXT, POINTER(ClaimLines), _OUT, _ERROR),
    "tables_messages": (_TEXT, _OBJECT),
    "tables_fits": (c_bool, _OBJECT, c_size_t, POINTER(TablesFilter)),
    "models_new": (_OBJECT, _ERROR),
    "models_free": (None, _OBJECT),
    "models_find": (_OBJECT, _OBJECT, _TEXT),
    "models_fits": (c_bool, _OBJECT, c_size_t, _TEXT),
    "models_count": (c_size_t, _OBJECT),
    "config_new": (_OBJECT,),
    "config_free": (None, _OBJECT),
    "config_load": (c_int, _OBJECT, _TEXT, _ERROR),
    "config_load_text": (c_int, _OBJECT, _TEXT, _TEXT, c_size_t, _ERROR),
    "config_set": (c_int, _OBJECT, _TEXT, _ERROR),
    "config_set_point": (c_int, _OBJECT, _OBJECT, _TEXT, _TEXT, _ERROR),
    "config_fit": (c_int, _OBJECT, _OBJECT, _TEXT, _OBJECT, _ERROR),
    "config_count_vocabulary": (c_int, _OBJECT, c_int, c_bool, _ERROR),
    "config_take_model": (None, _OBJECT, _OBJECT),
    "config_model": (_TEXT, _OBJECT),
    "config_remark_count": (c_size_t, _OBJECT),
    "config_remark": (_TEXT, _OBJECT, c_size_t),
    "config_beside": (_OWN, _TEXT, _ERROR),
    "config_search": (_OWN, _OBJECT, _TEXT, _TEXT, _TEXT, POINTER(c_bool), _ERROR),
    "expectations_load": (_OBJECT, _TEXT, _TEXT, _ERROR),
    "expectations_free": (None, _OBJECT),
    "predict": (_OBJECT, _OBJECT, _OBJECT, POINTER(PredictOptions), _ERROR),
    "prediction_free": (None, _OBJECT),
    "prediction_size": (PredictedSize, _OBJECT, _OBJECT, c_int),
    "prediction_table": (_TEXT, _OBJECT),
    "prediction_unused_count": (c_size_t, _OBJECT),
    "prediction_unused": (_TEXT, _OBJECT, c_size_t),
    "check_new": (_OBJECT, _OBJECT, _OBJECT, _OBJECT, POINTER(CheckOptions), _ERROR),
    "check_free": (None, _OBJECT),
    "check_prediction": (_OBJECT, _OBJECT),
    "loadings_new": (_OBJECT, _OBJECT, _TEXT, _ERROR),
    "loadings_free": (None, _OBJECT),
    "diff_new": (_OBJECT, _OBJECT, _OBJECT, POINTER(DiffOptions), _ERROR),
    "diff_free": (None, _OBJECT),
    "keras_names_new": (_OBJECT, _OBJECT, _OBJECT),
    "keras_names_list": (_POINTER, _OBJECT),
    "keras_names_free": (None, _OBJECT),
    "infer": (_OBJECT, _OBJECT, _OBJECT, POINTER(InferOptions), _ERROR),
    "inference_free": (None, _OBJECT),
    "inference_config": (_TEXT, _OBJECT),
    "inference_explains_all": (c_bool, _OBJECT),
    "learn": (_OBJECT, POINTER(LearnExample), c_size_t, _OBJECT, POINTER(LearnOptions), _ERROR),
    "learning_free": (None, _OBJECT),
    "learning_text": (_TEXT, _OBJECT),
    "derive": (_OBJECT, _OBJECT, _OBJECT, POINTER(DeriveOptions), _ERROR),
    "derivation_free": (None, _OBJECT),
    "prove": (_OBJECT, _OBJECT, POINTER(ProveOptions), _ERROR),
    "proofs_free": (None, _OBJECT),
    "proofs_count": (c_size_t, _OBJECT),
    "verify": (_OBJECT, _OBJECT, _OBJECT, POINTER(VerifyOptions), _ERROR),
    "verify_values": (_OBJECT, _OBJECT, _OBJECT, _OBJECT, POINTER(VerifyOptions), _ERROR),
    "verification_free": (None, _OBJECT),
    "expressions_new": (_OBJECT, _OBJECT, _TEXT, POINTER(ClaimLines), _OUT, _ERROR),
    "expressions_free": (None, _OBJECT),
    "evaluate": (_OBJECT, _OBJECT, _OBJECT, POINTER(EvaluateOptions), _ERROR),
    "evaluation_free": (None, _OBJECT),
    "report_inspect": (_OWN, _OBJECT, POINTER(ReportInspectOptions), POINTER(c_size_t)),
    "report_predict": (_OWN, _OBJECT, POINTER(ReportPredictOptions), POINTER(c_size_t)),
    "report_check": (_OWN, _OBJECT, POINTER(ReportOptions), POINTER(c_size_t)),
    "report_diff": (_OWN, _OBJECT, POINTER(ReportOptions), POINTER(c_size_t)),
    "report_infer": (_OWN, _OBJECT, POINTER(ReportOptions), POINTER(c_size_t)),
    "report_learn": (_OWN, _OBJECT, POINTER(ReportOptions), POINTER(c_size_t)),
    "report_derive": (_OWN, _OBJECT, POINTER(ReportDeriveOptions), POINTER(c_size_t)),
    "report_prove": (_OWN, _OBJECT, POINTER(ReportOptions), POINTER(c_size_t)),
    "report_verify": (_OWN, _OBJECT, POINTER(ReportVerifyOptions), POINTER(c_size_t)),
    "report_evaluate": (_OWN, POINTER(EvaluatedPoint), c_size_t, POINTER(ReportEvaluateOptions), POINTER(c_size_t)),
    "report_tables": (_OWN, _OBJECT, POINTER(ReportOptions), POINTER(c_size_t)),
    "report_models": (_OWN, _OBJECT, _TEXT, _OBJECT, POINTER(ReportOptions), POINTER(c_size_t)),
}

_loaded: ctypes.CDLL | None = None
_loading = threading.Lock()


def _find() -> str:
    """$SHAPEPROOF_LIBRARY, else the library of the wheel, else the one that is installed on the system."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), SONAME)
    return os.environ.get("SHAPEPROOF_LIBRARY") or (beside if os.path.exists(beside) else SONAME)


def library() -> ctypes.CDLL:
    """The library, loaded at the first call: that takes longer than importing this package."""
    global _loaded
    with _loading:
        if _loaded is None:
            path = _find()
            try:
                found = ctypes.CDLL(path)
                for name, (result, *arguments) in _FUNCTIONS.items():
                    function = getattr(found, "shapeproof_" + name)
                    function.restype, function.argtypes = result, arguments
            except (OSError, AttributeError) as why:
                raise ImportError(f"the shared library of shapeproof cannot be loaded: {why}") from None
            _loaded = found
        return _loaded


def call(name: str, *arguments: Any) -> Any:
    """The result of a function. One that takes no error can still run out of memory; what it returns is false then."""
    result = getattr(library(), "shapeproof_" + name)(*arguments)
    if not result:
        raise_memory_error()
    return result


def raise_memory_error() -> None:
    """Raises what the library cannot tell in its result."""
    if library().shapeproof_ran_out_of_memory():
        raise MemoryError("shapeproof: out of memory")


def encode(text: str | os.PathLike[str] | None) -> bytes | None:
    """A text as the library takes it. Paths that are no UTF-8 pass through as they are in the file system."""
    if text is None:
        return None
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise UsageError(f"{os.fspath(text)!r}: a name or path has no NUL")
    return encoded


def decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def take_text(address: int | None) -> str | None:
    """A text that the library gave away: it is freed."""
    if not address:
        return None
    try:
        return decode(ctypes.string_at(address))
    finally:
        call("free", address)


def strings(items: list[str]) -> Any:
    """An array of texts. It keeps them alive."""
    return (c_char_p * max(len(items), 1))(*[encode(item) for item in items])


def raise_error(error: ErrorStruct, whole: str = "") -> None:
    """Raises what the library reports. `whole` replaces a message that the library had to cut."""
    raise_memory_error()
    made = _ERRORS.get(error.status, Error)
    raise made(whole or decode(error.message), decode(error.hint), decode(call("kind_name", error.kind)))


def find(name: str, *arguments: Any) -> int | None:
    """Calls a function that returns an object or a text, or nothing if there is none, or fills an error."""
    error = ErrorStruct()
    found: int | None = call(name, *arguments, byref(error))
    if not found and error.status:
        raise_error(error)
    return found


class Report(NamedTuple):
    """What the library says of an object: for programs and for people."""

    json: str
    text: str


def report(name: str, *objects: Any, options: Any = None) -> Report:
    """The report of that name about objects of the library. `options` is the struct that the function takes."""
    options = ReportOptions() if options is None else options
    shared = options if isinstance(options, ReportOptions) else options.report
    texts = []
    for shared.format in (REPORT_JSON, REPORT_TEXT):
        texts.append(take_text(call("report_" + name, *objects, byref(options), None)) or "")
    return Report(*texts)


class Session(contextlib.ExitStack):
    """The objects of the library that one call makes; they are freed in reverse order when it ends."""

    def make(self, name: str, free: str, *arguments: Any) -> int:
        """Calls a function that returns an object or fills an error."""
        error = ErrorStruct()
        made = call(name, *arguments, byref(error))
        if not made:
            raise_error(error)
        return self.own(made, free)

    def own(self, made: int, free: str) -> int:
        self.callback(call, free, made)
        return made

    def must(self, name: str, *arguments: Any, explain: Callable[[], str] | None = None) -> None:
        """Calls a function that returns a status. `explain` gives the whole message of a wrong table."""
        error = ErrorStruct()
        if call(name, *arguments, byref(error)):
            raise_error(error, explain() if explain and error.status == 3 else "")
