# SPDX-License-Identifier: MIT
"""What the calls return: the JSON documents of docs/json.md as classes.

Every result keeps the whole document, `to_dict()`, and the report of the command, `str()`. The attributes are its keys.
A key of a later version of the library is in `to_dict()` and has no attribute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Iterable, Iterator, TypeVar

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from ._library import Report


_MOST_ROWS = 200  # of a table in a notebook: what a browser shows without delay


class _Part:
    """An attribute that is made of its JSON when it is first asked for: there may be thousands of findings, and often
    the verdict is enough. Then it is in the `__dict__` of the document, where Python looks first."""

    def __init__(self, name: str, key: str, part: type[_Document], default: Any) -> None:
        self.name, self.key, self.part, self.default = name, key, part, default

    def __get__(self, document: _Document | None, owner: type[_Document]) -> Any:
        value = None if document is None else document._document.get(self.key)
        if document is None or value is None:
            return self.default
        is_list = isinstance(value, list)
        made = tuple(self.part(item) for item in value) if is_list else self.part(value)
        document.__dict__[self.name] = made
        return made


class _Document:
    """A JSON object whose keys are attributes: those that the class annotates, with its values as defaults. It does not
    change. (Dataclasses do the same; making so many of them takes longer than the whole import may.)"""

    _fields: ClassVar[tuple[str, ...]] = ()
    _parts: ClassVar[dict[str, type[_Document]]] = {}  # attributes that are documents or lists of them
    _keys: ClassVar[dict[str, str]] = {}  # the keys of attributes that cannot be called like them
    _document: dict[str, Any]

    def __init_subclass__(cls) -> None:
        own = [name for name in cls.__annotations__ if not name.startswith("_")]
        cls._fields = tuple(dict.fromkeys([*cls._fields, *own]))
        for name, part in cls._parts.items():
            setattr(cls, name, _Part(name, cls._keys.get(name, name), part, getattr(cls, name)))

    def __init__(self, document: dict[str, Any], **more: Any) -> None:
        values = dict(more)
        for name in self._fields:
            value = document.get(self._keys.get(name, name))
            if value is not None and name not in self._parts:
                values[name] = tuple(value) if isinstance(value, list) else value
        self.__dict__.update(values, _document=document)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object with its own keys; a new one at each call."""
        document: dict[str, Any] = json.loads(json.dumps(self._document))
        return document

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} does not change")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._given() == other._given()

    def _given(self) -> dict[str, Any]:
        """What the document was made of."""
        return {name: value for name, value in self.__dict__.items() if name not in self._parts}

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = [name for name in self._fields if self._document.get(self._keys.get(name, name)) is not None]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in given)})"


class Result(_Document):
    """A document with its report."""

    _json: str
    _text: str
    _rows: ClassVar[str] = ""  # the attribute whose items are the rows of to_frame()

    def to_json(self) -> str:
        """The document that the command writes with --json."""
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """The same, parsed; a new one at each call."""
        document: dict[str, Any] = json.loads(self._json)
        return document

    def to_frame(self) -> pandas.DataFrame:
        """The tensors, findings, ... of the result as a DataFrame, with a column for each attribute. Needs pandas."""
        return _frame({name: [getattr(item, name) for item in getattr(self, self._rows)] for name in self._columns()})

    def _columns(self) -> tuple[str, ...]:
        return self._parts[self._rows]._fields

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._brief()}>"

    def _brief(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        return _html(self._brief(), (), ())


R = TypeVar("R", bound=Result)


def from_report(result: type[R], report: Report, **more: Any) -> R:
    """The result that a report is about."""
    return result(json.loads(report.json), _json=report.json, _text=report.text, **more)


# ---- tables in notebooks ----


def _frame(columns: dict[str, list[Any]]) -> pandas.DataFrame:
    """A missing value is NA, and makes no floating-point number of the others."""
    import pandas

    return pandas.DataFrame(columns).convert_dtypes()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, bool):
        return f"<td>{str(value).lower()}</td>"
    if isinstance(value, int):
        return f'<td style="text-align:right">{value:,}</td>'
    if isinstance(value, tuple):
        value = "({})".format(", ".join(str(item) for item in value))
    return f'<td style="text-align:left">{_escape(str(value))}</td>'


def _html(title: str, heading: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    """A table below a title; without rows the title alone."""
    rows = list(rows)
    shown = [f"<p><b>{_escape(title)}</b></p>"]
    if rows:
        shown.append("<table><thead><tr>" + "".join(f"<th>{_escape(word)}</th>" for word in heading) + "</tr></thead>")
        shown += ["<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in rows[:_MOST_ROWS]]
        shown.append("</table>")
    if len(rows) > _MOST_ROWS:
        shown.append(f"<p>and {len(rows) - _MOST_ROWS:,} more</p>")
    return "".join(shown)


# ---- inspect ----


class Tensor(_Document):
    """A tensor of a checkpoint."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None = None  # None: the file gives none
    parameters: int = 0
    bytes: int | None = None
    storage: str | None = None
    same_as: str | None = None  # the first tensor with the same storage, offset, shape and order of elements
    offset: int = 0
    stride: tuple[int, ...] | None = None
    shard: str | None = None
    flags: tuple[str, ...] = ()
    data_begin: int | None = None  # bytes from the start of the file; None: the format does not tell
    data_end: int | None = None


class Totals(_Document):
    """Sums over tensors. `unique_parameters` and `bytes` count ties once."""

    tensors: int = 0
    parameters: int = 0
    unique_parameters: int = 0
    bytes: int = 0
    buffers: int = 0  # of a prediction
    dtype: str | None = None  # of a prediction: that `bytes` are counted in where the table says none
    dtype_from: str | None = None  # who says so: "torch_dtype", "assumed"


class Inventory(Result):
    """What a checkpoint holds. It is a sequence of its tensors, and finds them by name."""

    file: str = ""
    format: str = ""
    tensors: tuple[Tensor, ...] = ()
    totals: Totals = Totals({})
    file_bytes: dict[str, Any] = {}
    metadata: dict[str, str] = {}
    warnings: tuple[str, ...] = ()

    _rows = "tensors"
    _parts = {"tensors": Tensor, "totals": Totals}

    def __len__(self) -> int:
        return len(self.tensors)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.tensors)

    def __contains__(self, name: object) -> bool:
        return any(tensor.name == name for tensor in self.tensors)

    def __getitem__(self, which: str | int) -> Tensor:
        if isinstance(which, int):
            return self.tensors[which]
        for tensor in self.tensors:
            if tensor.name == which:
                return tensor
        raise KeyError(which)

    def _brief(self) -> str:
        return f"{self.file}: {self.format}, {len(self):,} tensors, {self.totals.unique_parameters:,} parameters"

    def _repr_html_(self) -> str:
        rows = ((t.name, t.dtype, t.shape, t.parameters, t.bytes, t.same_as) for t in self.tensors)
        return _html(self._brief(), ("name", "dtype", "shape", "parameters", "bytes", "same as"), rows)


# ---- predict ----


class Hyperparameter(_Document):
    """A hyper-parameter and where its value is from."""

    name: str
    value: Any = None
    source: str = ""  # "config.json", "command line" for a setting, "default (gpt2.shapes:9)"
    determined: bool = True  # of an inference: with any other value the table would not explain the file
    because: str = ""  # of an inference: what told it

    _keys = {"source": "from"}


class PredictedTensor(_Document):
    """A tensor that a checkpoint should hold."""

    name: str
    shape: tuple[int, ...] = ()
    parameters: int = 0
    group: str = ""
    buffer: bool = False
    optional: bool = False
    dtype: str | None = None
    same_as: str | None = None
    stands_for: str | None = None


class Group(_Document):
    """The parameters of a group of a table."""

    name: str
    parameters: int = 0


class Prediction(Result):
    """What a checkpoint should hold."""

    table: str = ""
    hyperparameters: tuple[Hyperparameter, ...] = ()
    tensors: tuple[PredictedTensor, ...] = ()
    groups: tuple[Group, ...] = ()
    totals: Totals = Totals({})

    _rows = "tensors"
    _parts = {"hyperparameters": Hyperparameter, "tensors": PredictedTensor, "groups": Group, "totals": Totals}

    def _brief(self) -> str:
        return f"{self.table}: {self.totals.tensors:,} tensors, {self.totals.unique_parameters:,} parameters"

    def _repr_html_(self) -> str:
        return _html(self._brief(), ("group", "parameters"), ((g.name, g.parameters) for g in self.groups))


# ---- check ----


class Cause(_Document):
    """The reason for one or more findings."""

    id: str
    message: str = ""
    severity: str = ""
    explains: int = 0
    hint: str | None = None
    hyperparameter: str | None = None
    configured: Any = None
    found: Any = None
    patch: dict[str, Any] | None = None


class Finding(_Document):
    """A difference between a checkpoint and its prediction, or between two checkpoints, about one tensor."""

    id: str
    severity: str = ""
    name: str = ""
    message: str = ""
    expected: str | None = None
    found: str | None = None
    cause: str | None = None
    other: str | None = None  # of a diff: the name in B
    detail: str | None = None
    reason: str | None = None


class Load(_Document):
    """What a loader makes of a checkpoint."""

    loader: str
    answer: str = ""  # "whole", "in part", "refused", "unknown"
    message: str = ""
    expected: int = 0
    new: int = 0
    ignored: int = 0
    lost: int = 0
    reshaped: int = 0
    remedy: str | None = None
    decides: bool = False


class Claim(_Document):
    """A claim, and what became of it: `verdict` for a table in general, `answer` for one model."""

    claim: str
    verdict: str = ""  # "proved", "refuted", "tested", "undecided"
    answer: str = ""  # "holds", "fails", "other", "unknown"
    table: str = ""
    given: str = ""
    why: str | None = None
    formula: Any = None
    predicted: Any = None
    stored: Any = None
    difference: str | None = None
    counterexample: str | None = None
    letters: str | None = None  # what the names in `difference` and `counterexample` mean: "E = n_embd"
    erratum: bool = False
    as_expected: bool = False
    correction: str | None = None
    source: str = ""
    file: str = ""
    line: int = 0
    steps: tuple[str, ...] = ()


class Check(Result):
    """A checkpoint compared with what its configuration implies. It is true if `status` is 0."""

    verdict: str = ""  # "match", "explained", "differs", "unknown"
    summary: str = ""
    file: str = ""
    table: str = ""
    hyperparameters: tuple[Hyperparameter, ...] = ()
    predicted: Totals = Totals({})
    found: Totals = Totals({})
    counts: dict[str, Any] = {}
    causes: tuple[Cause, ...] = ()
    findings: tuple[Finding, ...] = ()
    loads: tuple[Load, ...] = ()
    claims: tuple[Claim, ...] = ()
    warnings: tuple[str, ...] = ()
    advice: str | None = None
    loaders: str | None = None  # that were asked for

    _rows = "findings"
    _parts = {
        "hyperparameters": Hyperparameter,
        "predicted": Totals,
        "found": Totals,
        "causes": Cause,
        "findings": Finding,
        "loads": Load,
        "claims": Claim,
    }

    @property
    def status(self) -> int:
        """The exit status of the command: 0, 1 if something differs, 5 if it cannot be told."""
        status = {"differs": 1, "unknown": 5}.get(self.verdict, 0)
        if self.loaders not in (None, "none"):
            answers = {load.answer for load in self.loads}
            status = 1 if answers - {"whole", "unknown"} else 5 if "unknown" in answers else 0
        elif any(load.decides and load.answer != "whole" for load in self.loads):
            status = 1
        answers = {claim.answer for claim in self.claims if not claim.erratum}
        return 1 if "fails" in answers else 5 if "unknown" in answers and not status else status

    def __bool__(self) -> bool:
        return self.status == 0

    def _brief(self) -> str:
        return f"{self.verdict}: {self.summary}"

    def _repr_html_(self) -> str:
        rows: list[tuple[Any, ...]] = []
        rows += [(cause.severity, cause.message, cause.explains, cause.hint) for cause in self.causes]
        rows += [(f.severity, f"{f.name}: {f.message}", None, None) for f in self.findings if not f.cause]
        rows += [(None, load.message, None, load.remedy) for load in self.loads]
        return _html(f"{self.file}: {self._brief()}", ("severity", "what", "findings", "what to do"), rows)


# ---- infer, diff, learn ----


class Candidate(_Document):
    """A table that was compared with a checkpoint."""

    table: str
    explained: int = 0
    missing: int = 0
    same: bool = False


class Inference(Result):
    """The table and hyper-parameters that explain a checkpoint. It is true if they explain all of it."""

    file: str = ""
    table: str = ""
    hyperparameters: tuple[Hyperparameter, ...] = ()
    explained: int = 0
    unexplained: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[dict[str, str], ...] = ()
    candidates: tuple[Candidate, ...] = ()
    config: dict[str, Any] = {}  # a config.json that predicts the same
    explains_all: bool = False

    _rows = "hyperparameters"
    _parts = {"hyperparameters": Hyperparameter, "candidates": Candidate}

    def __bool__(self) -> bool:
        return self.explains_all

    def _brief(self) -> str:
        total = self.explained + len(self.unexplained)
        return f"{self.file}: {self.table}, explains {self.explained:,} of {total:,} tensors"

    def _repr_html_(self) -> str:
        rows = ((h.name, json.dumps(h.value), h.determined, h.because) for h in self.hyperparameters)
        return _html(self._brief(), ("hyper-parameter", "value", "determined", "because"), rows)


class Diff(Result):
    """Two checkpoints compared. It is true if they are the same."""

    verdict: str = ""  # "same", "differs"
    summary: str = ""
    added: tuple[dict[str, Any], ...] = ()
    removed: tuple[dict[str, Any], ...] = ()
    changed: tuple[dict[str, Any], ...] = ()
    renamed: tuple[dict[str, Any], ...] = ()
    mappings: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()
    a: dict[str, Any] = {}
    b: dict[str, Any] = {}
    data: dict[str, Any] | None = None

    _rows = "findings"
    _parts = {"findings": Finding}

    def __bool__(self) -> bool:
        return self.verdict == "same"

    def _brief(self) -> str:
        return f"{self.verdict}: {self.summary}"

    def _repr_html_(self) -> str:
        rows = ((f.severity, f.name, f.other, f.message) for f in self.findings)
        return _html(self._brief(), ("severity", "name", "in B", "what"), rows)


class Undecided(_Document):
    """A place of a learnt table where the examples allow several expressions."""

    chosen: str
    alternatives: str = ""
    experiment: str = ""  # the example that would decide
    places: tuple[dict[str, Any], ...] = ()


class Learning(Result):
    """A table that was learnt from examples. It is true if the table explains every tensor."""

    table: str = ""
    proved: bool = False
    checkpoints: int = 0
    tensors: int = 0
    explained: int = 0
    rest: tuple[str, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    unvaried: Any = None
    extends: str | None = None
    known: str | None = None
    text: str = ""  # of the table

    _parts = {"undecided": Undecided}
    _rows = "undecided"

    def __bool__(self) -> bool:
        return self.proved

    def save(self, path: Any) -> None:
        """Writes the table to a file, for `table=`."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def _brief(self) -> str:
        brief = f"table {self.table}: explains {self.explained:,} of {self.tensors:,} tensors"
        return f"{brief}, {len(self.undecided):,} undecided" if self.undecided else brief

    def _repr_html_(self) -> str:
        return _html(self._brief(), (), ()) + f"<pre>{_escape(self.text)}</pre>"


# ---- derive, prove, eval ----


class Formula(_Document):
    """The number of parameters of a group, or what a condition changes in it."""

    group: str
    formula: str = ""
    expanded: str = ""
    measure: bool = False  # `group` is no group but the name of a measure: "active"
    when: str = ""


class Symbol(_Document):
    """A letter of the formulas."""

    name: str
    key: str = ""
    default: str = ""
    formula: str = ""


class Derivation(Result):
    """The closed forms of a table."""

    table: str = ""
    formulas: tuple[Formula, ...] = ()
    where: tuple[dict[str, str], ...] = ()
    symbols: tuple[Symbol, ...] = ()
    assuming: tuple[str, ...] = ()

    _rows = "formulas"
    _parts = {"formulas": Formula, "symbols": Symbol}

    @property
    def total(self) -> str:
        """The number of parameters of the whole, in the case of the defaults."""
        return next((f.formula for f in self.formulas if f.group == "total" and not f.when), "0")

    def _brief(self) -> str:
        return f"{self.table}: total = {self.total}"

    def _repr_html_(self) -> str:
        return _html(self.table, ("group", "when", "formula"), ((f.group, f.when, f.formula) for f in self.formulas))


class Proofs(Result):
    """The verdicts on claims about tables. It is true if each is as expected."""

    claims: tuple[Claim, ...] = ()

    _rows = "claims"
    _parts = {"claims": Claim}

    def __bool__(self) -> bool:
        return all(claim.as_expected for claim in self.claims)

    def _brief(self) -> str:
        good = sum(claim.as_expected for claim in self.claims)
        return f"{good:,} of {len(self.claims):,} claims as expected"

    def _repr_html_(self) -> str:
        rows = ((c.table, c.claim, c.verdict, c.difference) for c in self.claims)
        return _html(self._brief(), ("table", "claim", "verdict", "difference"), rows)


class Verification(Result):
    """Claims held against a checkpoint, or against hyper-parameters. It is true if they hold."""

    verdict: str = ""  # "holds", "fails", "unknown"
    checkpoint: str = ""
    table: str = ""
    values: tuple[dict[str, Any], ...] = ()
    groups: tuple[dict[str, Any], ...] = ()
    claims: tuple[Claim, ...] = ()

    _rows = "claims"
    _parts = {"claims": Claim}

    def __bool__(self) -> bool:
        return self.verdict == "holds"

    def _brief(self) -> str:
        holding = sum(claim.answer == "holds" for claim in self.claims)
        return f"{self.verdict}: {holding:,} of {len(self.claims):,} claims hold"

    def _repr_html_(self) -> str:
        rows = ((c.claim, c.answer, c.formula, c.predicted, c.stored, c.difference or c.why) for c in self.claims)
        return _html(self._brief(), ("claim", "answer", "formula", "predicted", "stored", "difference"), rows)


class Value(_Document):
    """The value of an expression."""

    expression: str
    text: str | None = None  # exact: "124439808", "3/7", "true"; None: it has none
    number: float | None = None  # the nearest to it
    unit: str | None = None  # of a measure such as active: "parameters", "bytes" or "operations"
    whole: int | None = None  # of a measure: the number that it is a part of
    convention: str | None = None  # of a measure: what is counted
    why: str | None = None  # it has none: why

    _keys = {"text": "value"}

    @property
    def value(self) -> Any:
        """The exact value: an int, a Fraction, a bool, a str or a list. Raises ValueError if there is none."""
        if self.text is None:
            raise ValueError(self.why)
        if self.number is None:
            return json.loads(self.text)
        from fractions import Fraction  # takes as long to import as all of this package

        exact = Fraction(self.text)
        return exact.numerator if exact.denominator == 1 else exact


class Point(_Document):
    """The values of all expressions at one value of the hyper-parameter that varies."""

    at: str | None = None
    values: tuple[Value, ...] = ()
    why: str | None = None  # the table cannot be predicted there: why

    _parts = {"values": Value}


class Evaluation(Result):
    """The values of expressions. Without a hyper-parameter that varies there is one point, and the evaluation is the
    sequence of its values."""

    table: str = ""
    varied: str | None = None
    points: tuple[Point, ...] = ()

    _parts = {"points": Point}
    _rows = "points"
    _keys = {"varied": "for"}

    @property
    def value(self) -> Any:
        """The exact value of the first expression at the first point."""
        return self.points[0].values[0].value

    def to_frame(self) -> pandas.DataFrame:
        """A row for each point: the value of the hyper-parameter that varies, and that of each expression. A fraction
        is the nearest number, and a value that cannot be computed is missing."""
        columns: dict[str, list[Any]] = {}
        if self.varied:
            columns[self.varied] = [json.loads(point.at or "null") for point in self.points]
        for point in self.points:
            for value in point.values:
                columns.setdefault(value.expression, [])
        for expression, cells in columns.items():
            if expression != self.varied:
                cells += [self._number(point, expression) for point in self.points]
        return _frame(columns)

    @staticmethod
    def _number(point: Point, expression: str) -> Any:
        for value in point.values:
            if value.expression == expression and value.text is not None:
                is_whole = value.number is None or "/" not in value.text
                return value.value if is_whole else value.number
        return None

    def _brief(self) -> str:
        return self._text.strip() if len(self.points) == 1 else f"{self.table}: {len(self.points):,} points"

    def _repr_html_(self) -> str:
        heading = [value.expression for point in self.points[:1] for value in point.values]
        rows = ((point.at, *[v.text if v.text is not None else v.why for v in point.values]) for point in self.points)
        return _html(self.table, (self.varied or "", *heading), rows)


# ---- tables and models ----


class Table(_Document):
    """A table."""

    name: str
    kind: str = ""
    title: str = ""
    file: str = ""
    line: int = 0
    model_types: tuple[str, ...] = ()


class Model(_Document):
    """A published model."""

    name: str
    type: str = ""
    hub: str | None = None
    published: str | None = None
    parameters: int | None = None
    source: str = ""
    config: dict[str, Any] = {}
