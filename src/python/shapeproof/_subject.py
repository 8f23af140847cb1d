# SPDX-License-Identifier: MIT
"""What the calls have in common: a checkpoint or a model in memory, a set of tables, a configuration with settings.
They are found as the command finds them."""

from __future__ import annotations

import ctypes
import json
import os
import time
import warnings
from collections.abc import Mapping
from typing import Any, Iterable, Union

from . import _memory
from ._library import (
    PredictOptions,
    ReportOptions,
    Session,
    TablesFilter,
    UnknownArchitectureError,
    UsageError,
    call,
    decode,
    encode,
    find,
    report,
    take_text,
)

Path = Union[str, "os.PathLike[str]"]
Source = Any  # a path, a module with state_dict(), or a mapping of names to arrays
Config = Any  # a path, a mapping, a dataclass, or an object with to_dict() or model_dump()
Settings = Union[Mapping[str, Any], None]
Names = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]], None]

_COUNT_LIKE_SOCKEYE = 1  # SHAPEPROOF_VOCABULARY_SOCKEYE


def listed(names: Names) -> list[str]:
    """One name, several, or none, as a list."""
    if names is None:
        return []
    return [os.fspath(names)] if isinstance(names, (str, os.PathLike)) else [os.fspath(name) for name in names]


# ---- checkpoints ----


def checkpoint_path(path: Path) -> str:
    """The checkpoint that a path means: of a model in the cache of the hub the snapshot."""
    path = os.fspath(path)
    if call("is_remote", encode(path)):
        raise UsageError(f"{path}: remote checkpoints are not read from Python", "'shapeproof check' fetches headers")
    return take_text(call("checkpoint_path", encode(path))) or path


def open_inventory(session: Session, source: Source) -> tuple[int, str]:
    """The inventory of a checkpoint or of a model in memory, and its path or name."""
    if _memory.is_model(source):
        return _memory.describe(session, source), _memory.name_of(source)
    if not isinstance(source, (str, os.PathLike)):
        raise _not_a_checkpoint(source)
    path = checkpoint_path(source)
    if os.path.isdir(path):
        components = session.make("components_open", "components_free", encode(path))
        if call("component_count", components) and not find_config("config_beside", encode(path)):
            raise UsageError(f"{path}: holds several models", "give the folder of one of them")
    return session.make("inventory_open", "inventory_close", encode(path)), path


def _not_a_checkpoint(source: Any) -> UsageError:
    if isinstance(source, type):
        return UsageError(f"{source.__name__} is a class, and no model", "give an instance of it")
    hint = ""
    if hasattr(source, "apply"):
        hint = "give its parameters: those of module.init(...)"
    elif hasattr(source, "__iter__") and not hasattr(source, "shape"):
        hint = "a dictionary has the names: dict(module.named_parameters())"
    return UsageError(f"{type(source).__name__} is neither a path, nor a module, nor a dictionary of arrays", hint)


# ---- tables and configurations ----


def find_config(name: str, *arguments: Any) -> str | None:
    """The path that a search for a configuration finds. Places that it is not permitted to look at have none."""
    try:
        return take_text(find(name, *arguments))
    except UnknownArchitectureError as denied:
        warnings.warn(f"the search for a configuration is incomplete: {denied}", stacklevel=4)
        return None


class Subject:
    """Tables, a configuration, and the name of the table if one was named."""

    def __init__(self, session: Session, table: Names = None) -> None:
        self.session = session
        self.tables = session.make("tables_new", "tables_free")
        self.config = session.own(call("config_new"), "config_free")
        self.table: str | None = None
        self.published: str | None = None  # the size that the authors of the published model give, such as "1558M"
        for name in listed(table):
            self._add_table(name)

    def _has_table(self, name: str) -> bool:
        return any(table["name"] == name for table in self.list_tables(name))

    def list_tables(
        self, text: str | None = None, kind: str | None = None, measure: str | None = None
    ) -> list[dict[str, Any]]:
        """The tables that fit, as `shapeproof tables --json` lists them."""
        options = ReportOptions(filter=ctypes.pointer(TablesFilter(encode(text), encode(kind), encode(measure))))
        found: list[dict[str, Any]] = json.loads(report("tables", self.tables, options=options).json)["tables"]
        return found

    def add_file(self, path: str) -> None:
        """Adds the tables or claims of a file."""
        self.session.must("tables_add_file", self.tables, encode(path), explain=self.messages)

    def add_files(self, paths: Names) -> list[str]:
        """Adds the tables or claims of files; returns their paths."""
        files = listed(paths)
        for path in files:
            self.add_file(path)
        return files

    def predict(self, stored: bool = False) -> int:
        """What the configuration implies, for its table or the one that was named."""
        options = PredictOptions(table=encode(self.table), stored=stored)
        return self.session.make("predict", "prediction_free", self.tables, self.config, ctypes.byref(options))

    def messages(self) -> str:
        """All mistakes in the tables and claims that were added."""
        return decode(call("tables_messages", self.tables))

    def _add_table(self, name: str) -> None:
        """A file or a folder to add, or the name of the table to use. The table of a file that has just one is used."""
        if "/" not in name and (self._has_table(name) or not os.path.exists(name)):
            self.table = name
        elif os.path.isdir(name):
            files = sorted(file for file in os.listdir(name) if file.endswith(".shapes") and file[0] != ".")
            if not files:
                raise UsageError(f"{name}: there is no .shapes file in this folder")
            for file in files:
                self.add_file(os.path.join(name, file))
        else:
            self.add_file(name)
            own = [table["name"] for table in self.list_tables(kind="own") if table["file"] == name]
            self.table = own[0] if len(own) == 1 else self.table

    def take_model(self, name: str) -> bool:
        """Loads the hyper-parameters of a published model; False if there is none of that name."""
        with Session() as models_only:
            models = models_only.make("models_new", "models_free")
            model = call("models_find", models, encode(name))
            if model:
                call("config_take_model", self.config, model)
                known = json.loads(report("models", models, None, model).json)["models"]
                self.published = known[0].get("published")
        return bool(model)

    def is_model(self, name: str) -> bool:
        """Whether a published model is called so, and no table."""
        with Session() as models_only:
            models = models_only.make("models_new", "models_free")
            return bool(call("models_find", models, encode(name))) and not self._has_table(name)

    def load(self, config: Config, model: str | None, settings: Settings) -> None:
        """Loads a configuration or the hyper-parameters of a published model, then makes the settings."""
        if config is not None and model:
            raise UsageError("model takes the place of config: give one of them")
        if model and not self.take_model(model):
            raise UsageError(f"there is no published model '{model}'", "shapeproof.models() lists them")
        if isinstance(config, (str, os.PathLike)):
            self.session.must("config_load", self.config, encode(config))
        elif config is not None:
            self._load_values(config)
        for i in range(call("config_remark_count", self.config)):
            warnings.warn(decode(call("config_remark", self.config, i)), stacklevel=4)
        for key, value in (settings or {}).items():
            self.session.must("config_set", self.config, encode(f"{key}={json.dumps(value)}"))

    def _load_values(self, config: Config) -> None:
        values = _memory.values_of(config)
        if values is None:
            what = f"a configuration is a path, a dictionary or a dataclass, and no {type(config).__name__}"
            hint = "vars(config) is a dictionary of its attributes" if hasattr(config, "__dict__") else ""
            raise UsageError(what, hint)
        text = json.dumps(values, default=str).encode()
        self.session.must("config_load_text", self.config, encode("config"), text, len(text))

    def take(self, what: str | None, has_values: bool) -> None:
        """What `predict NAME` names: a table, or a published model, whose hyper-parameters are loaded."""
        if what is None or (not has_values and not self._has_table(what) and self.take_model(what)):
            return
        self.table = what

    def fit(self, inventory: int | None) -> None:
        """Makes the configuration what the table for the checkpoint reads; counts vocabularies that it leaves out."""
        self.session.must("config_fit", self.config, self.tables, encode(self.table), inventory)
        self.count_vocabulary()

    def count_vocabulary(self) -> None:
        self.session.must("config_count_vocabulary", self.config, _COUNT_LIKE_SOCKEYE, False)

    def warn_of_unused(self, prediction: int) -> None:
        """Warns of settings that the table does not read."""
        for i in range(call("prediction_unused_count", prediction)):
            table, key = call("prediction_table", prediction), call("prediction_unused", prediction, i)
            warnings.warn(f"the table '{decode(table)}' ignores the setting '{decode(key)}'", stacklevel=4)


def for_values(
    session: Session, what: str | None, config: Config, model: str | None, table: Names, settings: Settings
) -> Subject:
    """The subject of a call without a checkpoint."""
    subject = Subject(session, table)
    subject.load(config, model, settings)
    subject.take(what, config is not None or model is not None)
    if subject.table is None or subject.table != what:
        subject.fit(None)
    else:
        subject.count_vocabulary()
    return subject


def for_checkpoint(
    session: Session,
    source: Source,
    inventory: int,
    path: str,
    config: Config,
    model: str | None,
    table: Names,
    settings: Settings,
) -> Subject:
    """The subject of a call about a checkpoint: with the configuration that is given, or the one that the search finds.
    A module in memory has its own."""
    subject = Subject(session, table)
    is_given = config is not None or bool(model)
    inside = ctypes.c_bool()
    if not is_given and _memory.is_model(source):
        config = _memory.config_of(source)
    elif not is_given:
        hub = encode(_hub_cache())
        config = find_config(
            "config_search", inventory, encode(path), encode(subject.table), hub, ctypes.byref(inside)
        )
    if config is None and not (is_given or table or settings or inside.value):
        unreadable = _memory.unreadable_config(source)
        if unreadable:
            raise unreadable
        raise UnknownArchitectureError(
            f"{path}: there is no configuration", "give config=, or table= with set=; shapeproof.infer() looks for them"
        )
    subject.load(config, model, settings)
    subject.fit(inventory)
    return subject


def _hub_cache() -> str:
    """Where the Hugging Face hub's own programs keep what they download, as the command looks for it."""
    cache, home = os.environ.get("HF_HUB_CACHE"), os.environ.get("HF_HOME")
    if cache or home:
        return cache or os.path.join(home or "", "hub")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "huggingface", "hub")


def load_expectations(session: Session, path: Path | None) -> int | None:
    if path is None:
        return None
    today = time.strftime("%Y-%m-%d")
    return session.make("expectations_load", "expectations_free", encode(path), encode(today))
