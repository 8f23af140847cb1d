# SPDX-License-Identifier: MIT
"""Models of frameworks in memory, and types. What is not installed is skipped."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from argparse import Namespace
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import shapeproof
from test_package import GPT2, ROOT, FakeArray, WithFixtures, needs


@dataclass
class Config:
    width: int
    blocks: int


class Stack:
    """A model class of one's own, with a configuration that is a dataclass."""

    def __init__(self, width, blocks):
        self.config = Config(width, blocks)

    def state_dict(self):
        width = self.config.width
        weights = {"embedding.weight": FakeArray((20, width))}
        for i in range(self.config.blocks):
            weights[f"blocks.{i}.weight"] = FakeArray((3 * width, width))
            weights[f"blocks.{i}.bias"] = FakeArray((3 * width,))
        return weights


class OwnClass(WithFixtures):
    def test_learn_from_instances(self):
        learnt = shapeproof.learn([Stack(5, 1), Stack(7, 3), Stack(16, 2)], name="stack")
        self.assertTrue(learnt)
        self.assertTrue(all(place.experiment for place in learnt.undecided))
        with tempfile.TemporaryDirectory() as folder:
            learnt.save(f"{folder}/stack.shapes")
            made = shapeproof.check(Stack(12, 4), table=f"{folder}/stack.shapes")
            self.assertEqual((made.verdict, made.file), ("match", "Stack"))
            wrong = shapeproof.check(Stack(12, 4), Config(12, 5), table=f"{folder}/stack.shapes")
            self.assertEqual((wrong.causes[0].hyperparameter, wrong.causes[0].found), ("blocks", 4))

    def test_configurations(self):
        class Pydantic:
            def model_dump(self):
                return Stack(7, 3).config.__dict__

        examples = [(Stack(5, 1), Config(5, 1)), (Stack(7, 3), Pydantic()), (Stack(16, 2), {"width": 16, "blocks": 2})]
        self.assertTrue(shapeproof.learn(examples))
        with self.assertRaisesRegex(shapeproof.UsageError, "a dataclass, and no int$"):
            shapeproof.check(Stack(5, 1), 3)
        Tuple = namedtuple("Tuple", "width blocks")
        examples = [(Stack(5, 1), Tuple(5, 1)), (Stack(7, 3), SimpleNamespace(width=7, blocks=3)),
                    (Stack(16, 2), Namespace(width=16, blocks=2))]  # fmt: skip
        self.assertTrue(shapeproof.learn(examples))

    def test_configuration_that_is_not_read(self):
        class Node:
            width, blocks = 5, 1

        stack = Stack(5, 1)
        stack.config = Node()
        for call in (lambda: shapeproof.check(stack), lambda: shapeproof.learn([stack, Stack(7, 3)])):
            with self.assertRaisesRegex(shapeproof.UsageError, r"Stack.config is of the class Node, .*\n.*vars\("):
                call()
        with self.assertRaisesRegex(shapeproof.UsageError, r"and no Node\nhint: vars\(config\)"):
            shapeproof.check(Stack(5, 1), Node())

    def test_classes_are_no_models(self):
        class Lazy:
            dtype = "float32"

            @property
            def shape(self):
                raise RuntimeError("not initialised")

        for wrong, text in (
            (Stack, "Stack is a class, and no model\nhint: give an instance of it"),
            (dict, "dict is a class"),
            (3, "neither a path, nor a module, nor a dictionary of arrays$"),
            ([("weight", FakeArray((3,)))], r"list is neither .*\nhint: .*: dict\("),
            ({"weight": Lazy()}, "weight: its shape is not known yet"),
            ({"weight": FakeArray((None, 3))}, "weight: its shape is not known yet\nhint: run the model once"),
        ):
            with self.assertRaisesRegex(shapeproof.UsageError, text):
                shapeproof.inspect(wrong)

    def test_sharded_class(self):
        """As fully_shard of torch makes it: the architecture is that of the class below."""
        sharded = type("FSDPStack", (type("FSDPModule", (), {}), Stack), {})
        self.assertEqual(shapeproof.inspect(sharded(5, 1)).file, "Stack")

    def test_wrapped(self):
        """DataParallel has no configuration, and a prefix before each name."""

        class Parallel:
            def __init__(self, module):
                self.module = module

            def state_dict(self):
                return {f"module.{name}": array for name, array in self.module.state_dict().items()}

        with tempfile.TemporaryDirectory() as folder:
            shapeproof.learn([Stack(5, 1), Stack(7, 3), Stack(16, 2)]).save(f"{folder}/stack.shapes")
            made = shapeproof.check(Parallel(Stack(12, 4)), table=f"{folder}/stack.shapes")
            self.assertEqual((made.verdict, made.table), ("explained", "learnt"))
            self.assertIn("begins with 'module.'", made.summary)

    def test_what_is_undecided_is_shown(self):
        learnt = shapeproof.learn([Stack(5, 1)], name="stack")
        self.assertRegex(repr(learnt), r"^<Learning table stack: explains 3 of 3 tensors, \d+ undecided>$")


class Frameworks(WithFixtures):
    @needs("torch")
    def test_torch(self):
        import torch

        with torch.device("meta"):
            module = torch.nn.Sequential(torch.nn.Embedding(10, 4), torch.nn.Linear(4, 10, bias=False))
        self.assertIsNone(shapeproof.inspect(module)["1.weight"].same_as)
        module[1].weight = module[0].weight
        self.assertEqual(shapeproof.inspect(module)["1.weight"].same_as, "0.weight")
        whole = torch.zeros(8, 4, dtype=torch.float16)
        views = {"a": whole[:4], "b": whole[4:], "c": whole[:4].t(), "d": whole[:4]}
        inventory = shapeproof.inspect(views)
        self.assertEqual([tensor.same_as for tensor in inventory], [None, None, None, "a"])
        self.assertEqual(inventory["b"].offset, 16)
        with self.assertRaisesRegex(shapeproof.UsageError, "weight: its shape is not known yet"):
            shapeproof.inspect(torch.nn.LazyLinear(3))

    @needs("torch")
    def test_torch_module(self):
        """A module in memory against a configuration: it has the tensors of a checkpoint."""
        import torch

        class GPT2LMHeadModel(torch.nn.Module):
            pass

        module, parameters = GPT2LMHeadModel(), {}
        for tensor in shapeproof.inspect(f"{GPT2}/pytorch_model.bin"):
            *path, last = tensor.name.split(".")
            place = module
            for part in path:
                if part not in place._modules:
                    place.add_module(part, torch.nn.Module())
                place = place._modules[part]
            tied = parameters.get(tensor.same_as)
            parameters[tensor.name] = torch.nn.Parameter(torch.zeros(tensor.shape)) if tied is None else tied
            place.register_parameter(last, parameters[tensor.name])
        with open(f"{GPT2}/config.json", encoding="utf-8") as file:
            module.config = json.load(file)
        made = shapeproof.check(module)
        self.assertEqual((made.verdict, made.file), ("match", "GPT2LMHeadModel"))
        module.config["n_layer"] = 3
        self.assertEqual(shapeproof.check(module).causes[0].patch, {"n_layer": 2})

    @needs("torch", "transformers")
    def test_transformers(self):
        import torch
        import transformers

        with torch.device("meta"):
            module = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=2, n_embd=8, n_head=2))
        self.assertEqual(shapeproof.check(module).verdict, "match")
        module.config.n_layer = 3
        self.assertEqual(shapeproof.check(module).causes[0].patch, {"n_layer": 2})

    @needs("keras")
    def test_keras(self):
        import keras
        from keras import layers

        inputs = keras.Input((12, 8))
        outputs = layers.Bidirectional(layers.LSTM(4, return_sequences=True, dropout=0.1))(inputs)
        outputs = layers.MultiHeadAttention(2, 3, dropout=0.1)(outputs, outputs)
        outputs = keras.Sequential([keras.Input((12, 8)), layers.Dense(5), layers.Dropout(0.3)])(outputs)
        model = keras.Model(inputs, outputs, name="reader")
        made = shapeproof.check(model)
        self.assertEqual((made.verdict, made.found.tensors), ("match", 16))
        with tempfile.TemporaryDirectory() as folder:
            model.save(f"{folder}/model.keras")
            self.assertTrue(shapeproof.diff(model, f"{folder}/model.keras"))
            self.assertTrue(shapeproof.diff(f"{folder}/model.keras", model))
        with self.assertRaisesRegex(shapeproof.UsageError, "no weights yet"):
            shapeproof.inspect(keras.Sequential([layers.Dense(5)]))

    @needs("keras")
    def test_keras_names(self):
        """Models whose weights have paths of their own, also when they are loaded: each has its tensors."""
        import keras
        from keras import layers

        def sequential(*inside, **options):
            return keras.Sequential([keras.Input((8,)), *inside], **options)

        inner = keras.Input((8,))
        nested = keras.Model(inner, layers.Dense(2)(inner))
        built = layers.Dense(4)
        built.build((None, 8))
        models = [
            sequential(layers.Dense(4), layers.Dense(2)),
            sequential(keras.Sequential([layers.Dense(3)], name="mine"), name="mine"),
            sequential(layers.Dense(3, name="mine"), name="mine"),
            sequential(nested, layers.Dense(2)),
            sequential(built),
            keras.Sequential([keras.Input((4, 8)), layers.Bidirectional(layers.LSTM(3)), layers.BatchNormalization()]),
            keras.Sequential([keras.Input((4, 8)), layers.TimeDistributed(layers.Dense(3))]),
        ]
        with tempfile.TemporaryDirectory() as folder:
            for model in models:
                model.save(f"{folder}/model.keras")
                for each in (model, keras.models.load_model(f"{folder}/model.keras")):
                    with self.subTest([weight.path for weight in each.weights]):
                        self.assertEqual(shapeproof.check(each).verdict, "match")
                        self.assertTrue(shapeproof.diff(each, f"{folder}/model.keras"))

    @needs("keras")
    def test_learn_from_keras(self):
        """A subclassed model has the names of its attributes, which are the same in each instance."""
        import keras
        from keras import layers

        class Mine(keras.Model):
            def __init__(self, width, depth):
                super().__init__()
                self.first = layers.Dense(width)
                self.blocks = [keras.Sequential([layers.Dense(width)]) for _ in range(depth)]
                self.build((None, 4))

            def build(self, shape):
                self.first.build(shape)
                for block in self.blocks:
                    block.build((None, self.first.units))

        sizes = [{"width": 5, "depth": 1}, {"width": 7, "depth": 3}, {"width": 12, "depth": 2}]
        learnt = shapeproof.learn([(Mine(**size), size) for size in sizes])
        self.assertIn("blocks/{i}/0/kernel", learnt.text)
        with tempfile.TemporaryDirectory() as folder:
            learnt.save(f"{folder}/mine.shapes")
            config = {"width": 9, "depth": 4}
            self.assertTrue(shapeproof.check(Mine(**config), config, table=f"{folder}/mine.shapes"))

    def test_names_of_keras(self):
        """Those of the layers, whatever the weights say; in a subclassed model those of the attributes."""

        class Weight(FakeArray):
            def __init__(self, path):
                super().__init__((3, 4))
                self.path, self.name = path, path.rpartition("/")[2]

        class Layer:
            def __init__(self, name, *inside, weights=()):
                self.name, self._layers, self._own = name, list(inside), [Weight(path) for path in weights]

            @property
            def layers(self):
                return self._layers

            @property
            def weights(self):
                return self._own + [weight for layer in self._layers for weight in layer.weights]

            def _flatten_layers(self, include_self, recursive):
                return self._layers

            def get_config(self):
                return {"layers": []}

            def to_json(self):
                return json.dumps({"config": self.get_config()})

        class Subclassed(Layer):
            def __init__(self, name, first, *blocks):
                super().__init__(name, first, *blocks)
                self.first, self.blocks = first, blocks

            def get_config(self):
                raise NotImplementedError

        def names(model):
            return [tensor.name for tensor in shapeproof.inspect(model)]

        dense = Layer("dense_7", weights=["sequential/dense_7/kernel", "sequential/dense_7/scope/bias"])
        wrapper = Layer("wrapper", Layer("cell", weights=["cell/kernel", "cell/kernel"]))
        written = ["dense_7/kernel", "dense_7/scope/bias", "wrapper/cell/kernel", "wrapper/cell/kernel_again"]
        self.assertEqual(names(Layer("sequential", dense, wrapper)), written)
        Sequential = type("Sequential", (Layer,), {})
        subclassed = Subclassed("mine", dense, Sequential("sequential_3", wrapper))
        self.assertEqual(names(subclassed)[1:3], ["first/scope/bias", "blocks/0/0/cell/kernel"])

    def test_subclassed_keras(self):
        """Its names and shapes are known, and its layers are not."""

        class Weight(FakeArray):
            def __init__(self, path, shape):
                super().__init__(shape)
                self.path, self.name = path, "kernel"

        class Subclassed:
            name, weights = "mine", [Weight("mine/dense/kernel", (3, 4))]

            def get_config(self):
                raise NotImplementedError

            def to_json(self):
                self.get_config()

        self.assertEqual(shapeproof.inspect(Subclassed())[0].name, "dense/kernel")
        with self.assertRaisesRegex(shapeproof.UnknownArchitectureError, "there is no configuration"):
            shapeproof.check(Subclassed())

    @needs("flax", "jax")
    def test_flax(self):
        import jax
        from flax import linen, nnx

        class Linen(linen.Module):
            width: int

            @linen.compact
            def __call__(self, inputs):
                return linen.Dense(self.width)(linen.Dropout(0.1, deterministic=True)(inputs))

        with self.assertRaisesRegex(shapeproof.UsageError, r"module.init\("):
            shapeproof.inspect(Linen(4))
        shapes = jax.eval_shape(Linen(4).init, jax.random.key(0), jax.numpy.zeros((1, 3)))
        inventory = shapeproof.inspect(shapes)
        self.assertEqual([(t.name, t.shape) for t in inventory], [
            ("params.Dense_0.bias", (4,)), ("params.Dense_0.kernel", (3, 4)),
        ])  # fmt: skip

        class Nnx(nnx.Module):
            def __init__(self, width, rngs):
                self.layers = nnx.List([nnx.Linear(width, width, rngs=rngs) for _ in range(2)])
                self.norm = nnx.BatchNorm(width, rngs=rngs)
                self.dropout = nnx.Dropout(0.1, rngs=rngs)

        inventory = shapeproof.inspect(Nnx(4, nnx.Rngs(0)))
        self.assertEqual((inventory.file, len(inventory)), ("Nnx", 8))
        self.assertEqual(inventory["layers.1.kernel"].shape, (4, 4))


class Types(unittest.TestCase):
    @needs("mypy")
    def test_mypy(self):
        """The package, and what users write with it, under the strictest rules."""
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache]
            files = [f"{ROOT}/src/python/shapeproof", f"{ROOT}/tests/python/typed_example.py"]
            environment = {**os.environ, "MYPYPATH": f"{ROOT}/src/python"}
            done = subprocess.run([*command, *files], env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
