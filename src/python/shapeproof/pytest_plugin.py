# SPDX-License-Identifier: MIT
"""The plugin for pytest: `pytest --shapeproof-claims` holds the claims in the docstrings of classes.

    class MyModel(nn.Module):
        \"\"\"A stack of layers.

        claims:
            table my_model.shapes
            model MyModel(width=7, depth=2)
            total = V*W + L*(3*W^2 + 3*W)
        \"\"\"

Each claim is a test. docs/python.md says what the lines mean. As with doctests, a file is imported only if it has such
a block, and expressions are evaluated with the names of the module."""

from __future__ import annotations

import inspect
import re
from itertools import takewhile
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import pytest

from . import Error
from .testing import assert_claims

_HEADING = re.compile(r"(^|[\"'])[ \t]*claims:[ \t]*$", re.MULTILINE)  # in a file that is not imported yet
_SETTING = re.compile(r"(table|model)\s+(?![=<>])(.+)")  # "model = 3" is a claim


class Block(NamedTuple):
    """The lines below `claims:` in a docstring."""

    tables: list[str]  # files, beside that of the class, and names
    models: list[str]  # expressions
    claims: list[str]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def read_block(docstring: str) -> Block | None:
    """The block of a docstring, or None. It ends at an empty line, or at one that is not indented below `claims:`. A
    line that is indented deeper than the first one continues the line above."""
    lines = inspect.cleandoc(docstring).splitlines()
    start = next((i for i, line in enumerate(lines) if line.strip() == "claims:"), None)
    if start is None:
        return None
    outside = _indent(lines[start]) if start else -1  # the first line of a docstring has lost its indentation
    inside = list(takewhile(lambda line: line.strip() and _indent(line) > outside, lines[start + 1 :]))
    joined: list[str] = []
    for line in inside:
        if _indent(line) > _indent(inside[0]):
            joined[-1] += " " + line.strip()
        else:
            joined.append(line.strip())
    block = Block([], [], [])
    for line in joined:
        setting = _SETTING.match(line)
        if setting is None:
            block.claims.append(line)
        else:
            (block.tables if setting.group(1) == "table" else block.models).append(setting.group(2))
    return block


class _Crash(NamedTuple):
    """Where a claim failed and why, for the summary of pytest."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


class _Failure:
    """What pytest prints about a claim that fails: the report of the command, without the frames that lead to it."""

    def __init__(self, report: str, path: Path, line: int) -> None:
        self.report = report
        self.reprcrash = _Crash(str(path), line, report.partition("\n")[0])

    def toterminal(self, terminal: Any) -> None:
        terminal.line(self.report)

    def __str__(self) -> str:
        return self.report


class ClaimItem(pytest.Item):
    """A claim of a class: about each of its models, or about all hyper-parameters of its table if it names none."""

    parent: ClaimsOfClass

    def runtest(self) -> None:
        block = self.parent.block
        tables = self.parent.tables()
        if not block.models and not tables:
            raise AssertionError("the block needs a line 'table FILE' or 'model EXPRESSION'")
        if not block.models:
            assert_claims(*tables[1:], table=tables[0], claim=self.name)
        for source, config in self.parent.models():
            assert_claims(checkpoint=source, config=config, table=tables or None, claim=self.name)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (AssertionError, Error)):
            return _Failure(str(excinfo.value), self.path, (self.parent.line or 0) + 1)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, self.parent.line, f"{self.parent.name}: {self.name}"


class ClaimsOfClass(pytest.Collector):
    """The block of one class."""

    block: Block
    module: Any
    line: int | None = None
    _models: list[tuple[Any, Any]] | None = None

    def collect(self) -> Iterator[ClaimItem]:
        if not self.block.claims:
            raise self.CollectError(f"{self.name}: there is no claim below 'claims:'")
        for claim in self.block.claims:
            yield ClaimItem.from_parent(self, name=claim)

    def tables(self) -> list[str]:
        """The tables, of which a file is found beside that of the class."""
        beside = [self.path.parent / table for table in self.block.tables]
        return [str(file) if file.exists() else table for file, table in zip(beside, self.block.tables)]

    def models(self) -> list[tuple[Any, Any]]:
        """The models with their configurations; made once for all claims. An expression gives a model that has a
        configuration, or both: `MyModel(7, 2), {"width": 7, "depth": 2}`."""
        if self._models is None:
            made = [eval(expression, vars(self.module)) for expression in self.block.models]
            self._models = [each if isinstance(each, tuple) else (each, None) for each in made]
        return self._models


class ClaimsFile(pytest.Module):
    """A file of Python in which a docstring has claims."""

    def collect(self) -> Iterator[ClaimsOfClass]:
        for kind in vars(self.obj).values():
            if not isinstance(kind, type) or kind.__module__ != self.obj.__name__:
                continue
            block = read_block(vars(kind).get("__doc__") or "")
            if block is not None:
                found: ClaimsOfClass = ClaimsOfClass.from_parent(self, name=kind.__qualname__)
                found.block, found.module = block, self.obj
                found.line = inspect.getsourcelines(kind)[1] - 1  # pytest counts from 0
                yield found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("shapeproof").addoption(
        "--shapeproof-claims",
        action="store_true",
        help="hold the claims that stand below 'claims:' in the docstrings of classes",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ClaimsFile | None:
    if not parent.config.getoption("shapeproof_claims") or file_path.suffix != ".py":
        return None
    if not _HEADING.search(file_path.read_text(encoding="utf-8", errors="replace")):
        return None
    claims: ClaimsFile = ClaimsFile.from_parent(parent, path=file_path)
    return claims
