# SPDX-License-Identifier: MIT
"""A small language model: blocks of a token mixer and a feed-forward network, with a head that is tied to the
embedding."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn


@dataclass
class Config:
    vocabulary: int = 1000
    width: int = 64
    inner: int = 256
    depth: int = 4
    context: int = 128


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = nn.LayerNorm(config.width)
        self.mix = nn.Linear(config.context, config.context)
        self.up = nn.Linear(config.width, config.inner)
        self.down = nn.Linear(config.inner, config.width)

    def forward(self, hidden):
        mixed = self.mix(self.norm(hidden).transpose(1, 2)).transpose(1, 2)
        return hidden + self.down(torch.relu(self.up(mixed)))


class MyModel(nn.Module):
    """A language model.

    claims:
        table my_model.shapes
        total = V*W + L*(C^2 + C + 2*W*I + I + 3*W) + 2*W
        [blocks] = L*(C^2 + C + 2*W*I + I + 3*W)
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.depth))
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        hidden = self.embedding(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(self.norm(hidden))

    def save(self, folder):
        """Writes the weights and the configuration."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(self.state_dict(), folder / "pytorch_model.bin")
        (folder / "config.json").write_text(json.dumps(asdict(self.config)))
