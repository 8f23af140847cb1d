# SPDX-License-Identifier: MIT
"""Assertions for tests, with pytest, unittest or alone. The message of a failure says on its first line what is wrong,
for the summary of pytest; then comes the report of the command.

    from shapeproof.testing import assert_matches

    def test_my_model():
        assert_matches(MyModel(config), config)
"""

from __future__ import annotations

from typing import Any

from . import Check, Proofs, Verification, check, prove
from ._subject import Config, Source
from .results import Claim

__all__ = ["assert_claims", "assert_loads", "assert_matches"]


def assert_matches(source: Source, config: Config = None, *, strict: bool = False, **options: Any) -> Check:
    """Fails unless the checkpoint or model holds what its configuration implies. With `strict`, every difference fails,
    also one that has a harmless cause. The options are those of `shapeproof.check`."""
    __tracebackhide__ = True  # pytest shows the caller
    made = check(source, config, **options)
    if not made or (strict and made.verdict != "match"):
        failing = [claim for claim in made.claims if not claim.erratum and claim.answer in ("fails", "unknown")]
        raise AssertionError(f"{_of_claims(failing)}\n\n{made}" if failing and made.verdict == "match" else str(made))
    return made


def _of_claims(failing: list[Claim]) -> str:
    return "; ".join(f"{claim.answer or claim.verdict}: {claim.claim}" for claim in failing)


def assert_claims(*names: str, **options: Any) -> Proofs | Verification:
    """Fails unless every claim is proved for the named table, or holds for the checkpoint, the model or the
    hyper-parameters that are given. The arguments are those of `shapeproof.prove`."""
    __tracebackhide__ = True
    made = prove(*names, **options)
    if not made.claims:
        raise AssertionError("there is no claim")
    if not made:
        failing = [claim for claim in made.claims if not (claim.as_expected or claim.answer == "holds")]
        raise AssertionError(f"{_of_claims(failing)}\n\n{made}")
    return made


def assert_loads(path: Source, *loaders: str, config: Config = None, **options: Any) -> Check:
    """Fails unless each loader takes the whole file: "transformers", "diffusers", "torch", ... Without loaders, the one
    that the file is meant for is asked. The options are those of `shapeproof.check`."""
    __tracebackhide__ = True
    made = check(path, config, loaders=loaders or None, **options)
    if not made.loads:
        raise AssertionError(f"it is not known which loader the file is meant for: name one\n\n{made}")
    failing = [load.message for load in made.loads if load.answer != "whole"]
    if failing:
        raise AssertionError(f"{'; '.join(failing)}\n\n{made}")
    return made
