# SPDX-License-Identifier: MIT
"""Writes my_model.shapes: the tensors of the model, as a function of its configuration.

Three instances are enough if every size differs in them, and no size is the sum or the product of others."""

import shapeproof
import torch
from my_model import Config, MyModel

SIZES = [
    Config(vocabulary=50, width=12, inner=31, depth=1, context=17),
    Config(vocabulary=91, width=20, inner=27, depth=3, context=9),
    Config(vocabulary=70, width=14, inner=53, depth=2, context=37),
]

with torch.device("meta"):  # names and shapes are enough
    learnt = shapeproof.learn([MyModel(config) for config in SIZES], name="my_model")
print(learnt)
if not learnt:
    raise SystemExit(1)
learnt.save("my_model.shapes")
