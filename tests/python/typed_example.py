# SPDX-License-Identifier: MIT
"""What users write, for a type checker: test_frameworks.py gives it to mypy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import shapeproof
from shapeproof.testing import assert_claims, assert_loads, assert_matches


@dataclass
class Config:
    width: int
    depth: int


class Model:
    def __init__(self, config: Config) -> None:
        self.config = config

    def state_dict(self) -> dict[str, object]:
        return {}


def describe(path: Path) -> str:
    check = shapeproof.check(path, loaders=["transformers"], set={"n_layer": 2})
    causes: list[str] = [cause.message for cause in check.causes]
    sizes: list[int] = [tensor.parameters for tensor in shapeproof.inspect(path)]
    total: str = shapeproof.derive("gpt2").total
    return f"{check.verdict}: {check.status}, {causes}, {sum(sizes)}, {total}, {len(check.to_frame())}"


def learn(path: Path) -> bool:
    learnt = shapeproof.learn([Model(Config(7, 2)), (Model(Config(9, 3)), {"width": 9, "depth": 3})])
    learnt.save(path)
    undecided: list[str] = [place.experiment for place in learnt.undecided]
    return bool(learnt) and not undecided


def hold(path: Path) -> None:
    check: shapeproof.Check = assert_matches(Model(Config(7, 2)), table=path, strict=True)
    assert_claims("gpt2", claim="[embedding] = E*(V + P)")
    assert_loads(check.file, "torch")
    try:
        shapeproof.diff(path, {"weight": 3})
    except shapeproof.CheckpointError as error:
        print(error.message, error.hint, error.kind)


def is_refused() -> None:
    version: str = shapeproof.__version__
    print(version)
    shapeproof.chekc("checkpoint")  # type: ignore[attr-defined]
    shapeproof.check("checkpoint", tables="gpt2")  # type: ignore[call-arg]
