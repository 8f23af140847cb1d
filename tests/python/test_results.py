# SPDX-License-Identifier: MIT
"""The parts of results, and results as data frames."""

import argparse
import unittest
from collections import namedtuple
from types import SimpleNamespace

import shapeproof
from test_package import GPT2, WithFixtures, needs


class Configurations(WithFixtures):
    def test_nested(self):
        """A configuration may have others in it, of any kind that is read."""
        text = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
                "intermediate_size": 96, "vocab_size": 100}  # fmt: skip
        vision = {"model_type": "clip_vision_model", "hidden_size": 32, "num_hidden_layers": 2,
                  "num_attention_heads": 2, "intermediate_size": 64, "image_size": 28, "patch_size": 14}  # fmt: skip
        outer = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"]}
        made = shapeproof.predict(config={**outer, "text_config": text, "vision_config": vision})
        for kind in (SimpleNamespace, argparse.Namespace, lambda **given: namedtuple("Inner", given)(**given)):
            config = SimpleNamespace(**outer, text_config=kind(**text), vision_config=kind(**vision))
            self.assertEqual(shapeproof.predict(config=config).totals, made.totals)

    def test_in_itself(self):
        """A namespace that is in itself is no value of the model, and does no harm."""
        config = SimpleNamespace(model_type="gpt2", n_layer=1, items=[SimpleNamespace(width=5), SimpleNamespace])
        parameters = shapeproof.predict(config=config).totals
        config.this = [config]
        self.assertEqual(shapeproof.predict(config=config).totals, parameters)


class Parts(WithFixtures):
    def test_to_dict(self):
        made = shapeproof.check("fixtures/models/odd-gpt2")
        self.assertEqual([finding.to_dict() for finding in made.findings], made.to_dict()["findings"])
        made.causes[0].to_dict()["id"] = "other"
        self.assertNotEqual(made.causes[0].to_dict()["id"], "other")
        self.assertIn("from", made.hyperparameters[0].to_dict())

    def test_parts(self):
        """Findings and causes are made when they are asked for, once, which changes nothing."""
        made, same = shapeproof.check(GPT2, set={"vocab_size": 65}), shapeproof.check(GPT2, set={"vocab_size": 65})
        self.assertNotIn("findings", vars(made))
        self.assertIs(made.findings, made.findings)
        self.assertEqual(made, same)
        self.assertEqual(made.findings[0].cause, "hyperparameter")
        self.assertEqual((made.claims, shapeproof.results.Check.claims, made.predicted.tensors), ((), (), 29))
        self.assertRegex(repr(made.causes[0]), r"^Cause\(id='hyperparameter', message='vocab_size is 65 .*found=64")

    @needs("pandas")
    def test_to_frame(self):
        frame = shapeproof.inspect(f"{GPT2}/pytorch_model.bin").to_frame()
        self.assertEqual(len(frame), 29)
        self.assertEqual(frame.set_index("name").at["transformer.wte.weight", "shape"], (64, 16))
        self.assertEqual(int(frame["parameters"].sum()), 8896)
        findings = shapeproof.check(GPT2, set={"vocab_size": 65}).to_frame()
        self.assertEqual(list(findings["cause"])[0], "hyperparameter")
        self.assertIn("group", shapeproof.predict("gpt2").to_frame().columns)
        self.assertIn("stored", shapeproof.prove(checkpoint=GPT2, claim="total = 3").to_frame().columns)
        values = shapeproof.eval(["total", "total / 2", "[nix]"], "gpt2", vary={"n_layer": [1, 2]}).to_frame()
        self.assertEqual(list(values["n_layer"]), [1, 2])
        self.assertEqual(list(values["total"]), [46473216, 53561088])
        self.assertTrue(values["[nix]"].isna().all())
        for made in (
            shapeproof.infer(GPT2),
            shapeproof.diff(GPT2, GPT2),
            shapeproof.derive("gpt2"),
            shapeproof.prove("gpt2"),
            shapeproof.learn(["fixtures/learn/small", "fixtures/learn/wide", "fixtures/learn/gated"]),
        ):
            self.assertGreater(len(made.to_frame().columns), 3)


if __name__ == "__main__":
    unittest.main()
