# SPDX-License-Identifier: MIT
"""shapeproof: whether a model checkpoint holds what its configuration promises.

    >>> import shapeproof
    >>> check = shapeproof.check("checkpoint/")
    >>> check
    <Check match: all 28 tensors, 7,872 elements>

A *source* is the path of a checkpoint, a module of torch, Keras or flax.nnx, or a dictionary of arrays. A *config* is
the path of a configuration, a dictionary, a dataclass, or an object with `to_dict()`; without one it is found as the
command finds it. See docs/python.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from ctypes import byref, c_void_p, cast, pointer
from typing import TYPE_CHECKING, Any

from . import _library as _c
from . import _memory, _subject
from ._library import (
    CheckpointError,
    Error,
    Session,
    TableError,
    UnknownArchitectureError,
    UsageError,
    call,
    encode,
    report,
    take_text,
)
from ._subject import Config, Names, Path, Settings, Source
from .results import (
    Check,
    Derivation,
    Diff,
    Evaluation,
    Inference,
    Inventory,
    Learning,
    Model,
    Prediction,
    Proofs,
    Table,
    Verification,
    from_report,
)

# `eval`, which is a builtin as well, is left to those who ask for it by name.
__all__ = [
    "Check",
    "CheckpointError",
    "Derivation",
    "Diff",
    "Error",
    "Evaluation",
    "Inference",
    "Inventory",
    "Learning",
    "Model",
    "Prediction",
    "Proofs",
    "Table",
    "TableError",
    "UnknownArchitectureError",
    "UsageError",
    "Verification",
    "check",
    "derive",
    "diff",
    "infer",
    "inspect",
    "learn",
    "models",
    "predict",
    "prove",
    "tables",
]

_GIVEN_CLAIMS = "claim"  # stands for a file, in messages about claims and expressions that are given as texts
_NO_FILES = [""]  # verifies no claim: only what is stored is counted


__version__: str  # asked of the library

if not TYPE_CHECKING:  # a type checker would take every name for an attribute

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            return _c.decode(call("version"))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        """What a notebook completes: not what this module imports for itself."""
        return [*__all__, "eval", *(name for name in globals() if name.startswith("__")), "__version__"]


# ---- checkpoints ----


def inspect(source: Source) -> Inventory:
    """What a checkpoint holds. Only headers are read."""
    with Session() as session:
        inventory, _ = _subject.open_inventory(session, source)
        options = _c.ReportInspectOptions()
        if not _memory.is_model(source):
            quantised = _c.find("quantised_model_new", inventory)
            if quantised:
                options.quantised = session.own(quantised, "quantised_model_free")
        return from_report(Inventory, report("inspect", inventory, options=options))


def check(
    source: Source,
    config: Config = None,
    *,
    model: str | None = None,
    table: Names = None,
    set: Settings = None,
    loaders: Names = None,
    claims: Names = None,
    expect: Path | None = None,
    data: bool = False,
) -> Check:
    """Compares a checkpoint with the tensors that its configuration implies.

    `loaders` are asked whether they load the file, such as "transformers" or ["torch", "mlx"]; `claims` are files of
    claims that are evaluated too; `expect` is a file of expected differences; with `data`, tied tensors are read."""
    asked = ",".join(_subject.listed(loaders)) if loaders is not None else None
    in_memory = _memory.is_model(source)
    if in_memory and (data or asked):
        raise UsageError("a model in memory has no file for loaders, nor for data")
    with Session() as session:
        inventory, path = _subject.open_inventory(session, source)
        subject = _subject.for_checkpoint(session, source, inventory, path, config, model, table, set)
        claim_files = subject.add_files(claims)
        checked = _make_check(session, subject, inventory, _subject.load_expectations(session, expect), data)
        options = _c.ReportOptions()
        options.loadings = session.make(
            "loadings_new", "loadings_free", checked, encode("none" if in_memory else asked)
        )
        if claims is not None:
            what, _keep = _verify_options(claim_files)
            options.claims = session.make("verify", "verification_free", checked, subject.tables, byref(what))
        return from_report(Check, report("check", checked, options=options), loaders=asked)


def _make_check(
    session: Session, subject: _subject.Subject, inventory: int, expectations: int | None = None, data: bool = False
) -> int:
    options = _c.CheckOptions(table=encode(subject.table), expectations=expectations, data=data)
    checked = session.make(
        "check_new", "check_free", inventory, subject.tables, subject.config, byref(options)
    )
    subject.warn_of_unused(call("check_prediction", checked))
    return checked


def _verify_options(files: list[str]) -> tuple[_c.VerifyOptions, Any]:
    """The options, and what they point to, which has to live as long."""
    names = _c.strings(files)
    return _c.VerifyOptions(files=names, file_count=len(files)), names


def infer(source: Source, *, table: Names = None) -> Inference:
    """The table and the hyper-parameters that explain a checkpoint."""
    with Session() as session:
        inventory, _ = _subject.open_inventory(session, source)
        subject = _subject.Subject(session, table)
        options = _c.InferOptions(table=encode(subject.table))
        found = session.make("infer", "inference_free", inventory, subject.tables, byref(options))
        return from_report(
            Inference,
            report("infer", found),
            config=json.loads(call("inference_config", found)),
            explains_all=call("inference_explains_all", found),
        )


def diff(a: Source, b: Source, *, data: bool = False, expect: Path | None = None) -> Diff:
    """Compares two checkpoints, in any formats."""
    if data and (_memory.is_model(a) or _memory.is_model(b)):
        raise UsageError("the data of a model in memory are not compared")
    with Session() as session:
        options = _c.DiffOptions(expectations=_subject.load_expectations(session, expect), data=data)
        inventory_a, _ = _subject.open_inventory(session, a)
        inventory_b, _ = _subject.open_inventory(session, b)
        names_a = _keras_names(session, a, inventory_a, inventory_b)
        names_b = _keras_names(session, b, inventory_b, inventory_a) if names_a else None
        if names_b:
            options.names_a, options.names_b = cast(names_a, c_void_p), cast(names_b, c_void_p)
        compared = session.make("diff_new", "diff_free", inventory_a, inventory_b, byref(options))
        return from_report(Diff, report("diff", compared))


def _keras_names(session: Session, source: Source, inventory: int, other: int) -> Any:
    """What Keras calls the tensors of a checkpoint, one of which holds the configuration; else None. A model in memory
    has these names itself."""
    if _memory.is_keras(source):
        return _c.strings(_memory.keras_names(source))
    names = call("keras_names_new", inventory, other)
    return call("keras_names_list", session.own(names, "keras_names_free")) if names else None


def learn(
    examples: Iterable[Source | tuple[Source, Config]],
    *,
    name: str | None = None,
    like: str | None = None,
    table: Names = None,
) -> Learning:
    """A table that explains the examples: checkpoints with their config.json, modules with a configuration, or pairs of
    either with a configuration."""
    with Session() as session:
        subject = _subject.Subject(session, table)
        pairs = [_open_example(session, example) for example in examples]
        array = (_c.LearnExample * max(len(pairs), 1))(*[_c.LearnExample(*pair) for pair in pairs])
        options = _c.LearnOptions(name=encode(name), like=encode(like))
        learnt = session.make("learn", "learning_free", array, len(pairs), subject.tables, byref(options))
        return from_report(Learning, report("learn", learnt))


def _open_example(session: Session, example: Any) -> tuple[int, int]:
    """The inventory and the configuration of an example."""
    source, config = example if isinstance(example, tuple) else (example, None)
    inventory, path = _subject.open_inventory(session, source)
    if config is None and _memory.is_model(source):
        config = _memory.config_of(source)
        unreadable = _memory.unreadable_config(source)
        if unreadable:
            raise unreadable
    elif config is None:
        config = _subject.find_config("config_beside", encode(path))
    subject = _subject.Subject(session)
    subject.load(config, None, None)
    return inventory, subject.config


# ---- hyper-parameters alone ----


def predict(
    what: str | None = None,
    *,
    config: Config = None,
    model: str | None = None,
    table: Names = None,
    set: Settings = None,
    stored: bool = False,
) -> Prediction:
    """What a checkpoint should hold. `what` is the name of a table or of a published model. With `stored`, what a
    quantised checkpoint stores in place of its weights."""
    with Session() as session:
        subject = _subject.for_values(session, what, config, model, table, set)
        made = subject.predict(stored)
        subject.warn_of_unused(made)
        size = _c.call("prediction_size", made, subject.config, 0)
        options = _c.ReportPredictOptions(size=pointer(size))
        return from_report(Prediction, report("predict", made, options=options))


def derive(
    what: str | None = None,
    *,
    config: Config = None,
    model: str | None = None,
    table: Names = None,
    set: Settings = None,
    latex: bool = False,
    measure: str | None = None,
) -> Derivation:
    """The number of parameters of a table as a formula. `what` is the name of a table or of a published model.
    `measure` is another number of the table: "active", "cache" or "flops"."""
    with Session() as session:
        subject = _subject.for_values(session, what, config, model, table, set)
        options = _c.DeriveOptions(table=encode(subject.table), notation=int(latex), measure=encode(measure))
        derived = session.make("derive", "derivation_free", subject.tables, subject.config, byref(options))
        return from_report(Derivation, report("derive", derived, options=_c.ReportDeriveOptions(latex=latex)))


def _lines(items: list[str]) -> tuple[_c.ClaimLines, Any]:
    """The lines, and what they point to, which has to live as long."""
    texts = _c.strings(items)
    return _c.ClaimLines(name=encode(_GIVEN_CLAIMS), items=texts, count=len(items)), texts


def _add_claims(session: Session, subject: _subject.Subject, table: str, claim: Names) -> str | None:
    """Adds claims about a table that are given as texts; what was taken for their letters, or None."""
    lines, _keep = _lines(_subject.listed(claim))
    letters = c_void_p()
    try:
        session.must(
            "tables_add_claims", subject.tables, encode(table), byref(lines), byref(letters), explain=subject.messages
        )
    finally:
        taken = take_text(letters.value)
    return taken


def prove(
    *names: str,
    claim: Names = None,
    claims: Names = None,
    table: Names = None,
    checkpoint: Source = None,
    config: Config = None,
    model: str | None = None,
    set: Settings = None,
    at: str | None = None,
    allow_tested: bool = False,
    explain: bool = False,
) -> Proofs | Verification:
    """Judges claims, given as texts (`claim`) or in files (`claims`), else those that tables have themselves.

    With names of tables alone the claims are judged for all hyper-parameters. With a checkpoint, a configuration, a
    published model, settings or a point (`at`) they are evaluated there."""
    with Session() as session:
        if checkpoint is not None:
            return _prove_checkpoint(session, checkpoint, names, claim, claims, table, config, model, set)
        is_model = len(names) == 1 and claims is None and _subject.Subject(session, table).is_model(names[0])
        if config is not None or model or set or at or is_model:
            return _prove_values(session, names, claim, claims, table, config, model, set, at)
        return _prove_tables(session, names, claim, claims, table, allow_tested, explain)


def _prove_tables(
    session: Session,
    names: tuple[str, ...],
    claim: Names,
    claims: Names,
    table: Names,
    allow_tested: bool,
    explain: bool,
) -> Proofs:
    subject = _subject.Subject(session, table)
    files = subject.add_files(claims)
    wanted = list(names) or ([subject.table] if subject.table else [])
    if claim is not None:
        if len(wanted) != 1:
            raise UsageError("claim needs the name of one table", "shapeproof.prove('gpt2', claim='total = V*E')")
        _add_claims(session, subject, wanted[0], claim)
        files.append(_GIVEN_CLAIMS)
    elif wanted:
        files = []
    tables, places = _c.strings(wanted), _c.strings(files)
    options = _c.ProveOptions(
        tables=tables,
        table_count=len(wanted),
        files=places,
        file_count=len(files),
        allow_tested=allow_tested,
        explain=explain,
    )
    proofs = session.make("prove", "proofs_free", subject.tables, byref(options))
    return from_report(Proofs, report("prove", proofs, options=_c.ReportOptions(all=True)))


def _one_name(names: tuple[str, ...]) -> str | None:
    if len(names) > 1:
        raise UsageError(f"hyper-parameters are those of one table: '{names[1]}' is too much")
    return names[0] if names else None


def _prove_values(
    session: Session,
    names: tuple[str, ...],
    claim: Names,
    claims: Names,
    table: Names,
    config: Config,
    model: str | None,
    settings: Settings,
    at: str | None,
) -> Verification:
    subject = _subject.for_values(session, _one_name(names), config, model, table, settings)
    files = subject.add_files(claims)
    if at is not None:
        if subject.table is None:
            raise UsageError("at needs the name of a table", "shapeproof.prove('gpt2', at='E = 1, the others 1')")
        session.must("config_set_point", subject.config, subject.tables, encode(subject.table), encode(at))
    predicted = subject.predict()
    table_name = _c.decode(call("prediction_table", predicted))
    letters = None
    if claim is not None:
        letters = _add_claims(session, subject, table_name, claim)
        files.append(_GIVEN_CLAIMS)
    if not files and subject.published:
        _add_claims(session, subject, table_name, f"claim total rounds to {subject.published}")
    options, _keep = _verify_options(files)
    verified = session.make(
        "verify_values", "verification_free", predicted, subject.config, subject.tables, byref(options)
    )
    how = _c.ReportVerifyOptions(path=call("config_model", subject.config) or None, letters=encode(letters))
    return from_report(Verification, report("verify", verified, options=how))


def _prove_checkpoint(
    session: Session,
    source: Source,
    names: tuple[str, ...],
    claim: Names,
    claims: Names,
    table: Names,
    config: Config,
    model: str | None,
    settings: Settings,
) -> Verification:
    inventory, path = _subject.open_inventory(session, source)
    chosen = [*_subject.listed(table), *names]
    subject = _subject.for_checkpoint(session, source, inventory, path, config, model, chosen, settings)
    files = subject.add_files(claims)
    checked = _make_check(session, subject, inventory)
    letters = None
    if claim is not None:
        predicted = call("check_prediction", checked)
        letters = _add_claims(session, subject, _c.decode(call("prediction_table", predicted)), claim)
        files.append(_GIVEN_CLAIMS)
    options, _keep = _verify_options(files)
    verified = session.make("verify", "verification_free", checked, subject.tables, byref(options))
    how = _c.ReportVerifyOptions(path=encode(path), letters=encode(letters))
    return from_report(Verification, report("verify", verified, options=how))


def eval(
    expressions: Names,
    what: str | None = None,
    *,
    config: Config = None,
    model: str | None = None,
    table: Names = None,
    set: Settings = None,
    checkpoint: Source = None,
    vary: Mapping[str, Iterable[Any]] | None = None,
) -> Evaluation:
    """The values of expressions such as "[embedding] / total" for a table or a published model (`what`), or for a
    checkpoint. `vary` gives values of one hyper-parameter, {"n_layer": range(8, 65, 8)}: a point for each."""
    with Session() as session:
        stored = None
        if checkpoint is not None:
            inventory, path = _subject.open_inventory(session, checkpoint)
            chosen = [*_subject.listed(table), *_subject.listed(what)]
            subject = _subject.for_checkpoint(session, checkpoint, inventory, path, config, model, chosen, set)
            checked = _make_check(session, subject, inventory)
            options, _keep = _verify_options(_NO_FILES)
            stored = session.make("verify", "verification_free", checked, subject.tables, byref(options))
            predicted = call("check_prediction", checked)
        else:
            subject = _subject.for_values(session, what, config, model, table, set)
            predicted = subject.predict()
        return _evaluate(session, subject, call("prediction_table", predicted), expressions, stored, vary)


def _evaluate(
    session: Session,
    subject: _subject.Subject,
    table: bytes,
    expressions: Names,
    stored: int | None,
    vary: Mapping[str, Iterable[Any]] | None,
) -> Evaluation:
    lines, _keep = _lines(_subject.listed(expressions))
    letters = c_void_p()
    try:
        read = session.make(
            "expressions_new", "expressions_free", subject.tables, table, byref(lines), byref(letters)
        )
    finally:
        taken = take_text(letters.value)
    if vary is not None and len(vary) != 1:
        raise UsageError("vary takes the values of one hyper-parameter", "vary={'n_layer': range(8, 65, 8)}")
    key = next(iter(vary)) if vary else None
    at = [json.dumps(value) for value in vary[key]] if vary and key is not None else [None]
    points = (_c.EvaluatedPoint * max(len(at), 1))()
    for point, value in zip(points, at):
        _evaluate_at(session, subject, read, stored, point, key, value)
    how = _c.ReportEvaluateOptions(table=table, letters=encode(taken), varied=encode(key))
    document = report("evaluate", points, len(at), options=how)
    return from_report(Evaluation, document)


def _evaluate_at(
    session: Session,
    subject: _subject.Subject,
    expressions: int,
    stored: int | None,
    point: _c.EvaluatedPoint,
    key: str | None,
    value: str | None,
) -> None:
    """Evaluates at one value of the hyper-parameter. A point where the table cannot be predicted says why."""
    if key is not None:
        point.value = encode(value)
        session.must("config_set", subject.config, encode(f"{key}={value}"))
    options = _c.EvaluateOptions(checkpoint=stored)
    try:
        point.evaluation = session.make(
            "evaluate", "evaluation_free", expressions, subject.config, byref(options)
        )
    except Error as error:
        if key is None:
            raise
        point.why = encode(error.message)


# ---- what is known ----


def tables(
    text: str | None = None, *, kind: str | None = None, measure: str | None = None, table: Names = None
) -> list[Table]:
    """The tables whose name, kind or model_type has the text, or matches it as a pattern; `measure` is one that they
    must have: "active", "cache", "flops", "shard" or "activations"."""
    with Session() as session:
        return [Table(each) for each in _subject.Subject(session, table).list_tables(text, kind, measure)]


def models(text: str | None = None) -> list[Model]:
    """The published models whose name or type has the text; the one model that is called exactly so."""
    with Session() as session:
        known = session.make("models_new", "models_free")
        one = call("models_find", known, encode(text)) if text else None
        document = json.loads(report("models", known, encode(text), one).json)
        return [Model(each) for each in document["models"]]
