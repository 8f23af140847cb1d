# SPDX-License-Identifier: MIT
"""What must stay true of the model: its tensors, its saved files, its formulas. The claims in the docstring of MyModel
are tests as well, by the option in pytest.ini."""

from pathlib import Path

import pytest
import torch
from my_model import Config, MyModel

from shapeproof.testing import assert_claims, assert_matches

TABLE = Path(__file__).with_name("my_model.shapes")


@pytest.mark.parametrize("config", [Config(), Config(width=96, depth=6), Config(inner=384, context=256)], ids=str)
def test_table(config):
    """Sizes that the table was not learnt from."""
    with torch.device("meta"):
        assert_matches(MyModel(config), table=TABLE, strict=True)


def test_saved_checkpoint(tmp_path):
    MyModel(Config(width=16, depth=2)).save(tmp_path)
    assert_matches(tmp_path, table=TABLE, strict=True)
    assert_claims(checkpoint=tmp_path, table=TABLE, claim="stored([blocks]) = 2*(C^2 + C + 2*W*I + I + 3*W)")


def test_published_size():
    """The number in the paper."""
    with torch.device("meta"):
        assert_claims(checkpoint=MyModel(Config()), table=TABLE, claim="total rounds to 263K")
