# SPDX-License-Identifier: MIT
"""The calls, compared with the command."""

import ctypes
import gc
import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from fractions import Fraction

import shapeproof
from shapeproof import testing

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.environ.get("SHAPEPROOF", os.path.join(ROOT, "build/shapeproof"))
GPT2 = "fixtures/models/tiny-gpt2"
LSTM = {"source": "fixtures/docs/lstm", "table": "docs/lstm.shapes"}
CHECKED = [
    "fixtures/models/tiny-gpt2",
    "fixtures/models/tiny-gpt2/pytorch_model.bin",
    "fixtures/models/tiny-gpt2-sharded",
    "fixtures/models/tiny-llama",
    "fixtures/models/tiny-bert",
    "fixtures/models/odd-gpt2",
    "fixtures/gguf/models/llama.gguf",
]


def run(*arguments):
    """Status, output and messages of the command."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def checked_alike(case, path, options=(), **given):
    """The check through Python, after it was compared with the command."""
    status, document, _ = run("check", "--json", path, *options)
    text = run("check", path, *options)[1]
    made = shapeproof.check(path, **given)
    case.assertEqual(made.to_json(), document)
    case.assertEqual(str(made), text.rstrip("\n"))
    case.assertEqual(made.status, status)
    case.assertEqual(bool(made), status == 0)
    return made


def needs(*modules):
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    return unittest.skipIf(missing, f"the Python package with {', '.join(modules)}: not installed")


class WithFixtures(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)


class Check(WithFixtures):
    def test_like_the_command(self):
        for path in CHECKED:
            with self.subTest(path):
                checked_alike(self, path)

    def test_settings(self):
        made = checked_alike(self, GPT2, ["-S", "vocab_size=65"], set={"vocab_size": 65})
        self.assertEqual(made.verdict, "differs")
        cause = made.causes[0]
        self.assertEqual((cause.id, cause.configured, cause.found), ("hyperparameter", 65, 64))
        self.assertEqual(made.findings[0].cause, "hyperparameter")

    def test_configuration(self):
        config = "fixtures/models/tiny-gpt2/config.json"
        checked_alike(self, "fixtures/models/tiny-llama", ["-c", config], config=config)

    def test_configuration_in_memory(self):
        with open(f"{GPT2}/config.json", encoding="utf-8") as file:
            config = json.load(file)
        self.assertEqual(shapeproof.check(GPT2, config).verdict, "match")
        config["n_layer"] = 3
        made = shapeproof.check(GPT2, config)
        self.assertEqual(made.verdict, "differs")
        self.assertIn("n_layer is 3 in config", made.summary)

    def test_model(self):
        checked_alike(self, GPT2, ["-m", "gpt2-xl"], model="gpt2-xl")

    def test_tables(self):
        checked_alike(self, LSTM["source"], ["-T", LSTM["table"]], table=LSTM["table"])
        folder = ["-T", "docs", "-T", "word_lstm"]
        checked_alike(self, LSTM["source"], folder, table=["docs", "word_lstm"])

    def test_loaders(self):
        asked = ["--for", "transformers,torch"]
        made = checked_alike(self, GPT2, asked, loaders=["transformers", "torch"])
        self.assertEqual([load.answer for load in made.loads], ["whole", "refused"])
        checked_alike(self, "fixtures/models/odd-gpt2", asked, loaders=["transformers", "torch"])
        checked_alike(self, "fixtures/models/odd-gpt2", ["--for", "none"], loaders="none")

    def test_data(self):
        checked_alike(self, "fixtures/models/odd-gpt2", ["--data"], data=True)

    def test_claims(self):
        with tempfile.NamedTemporaryFile("w", suffix=".shapes") as file:
            file.write("claims for gpt2\nclaim [attention] = N*(4*E^2 + 6*E)\n")
            file.flush()
            options = ["--for", "none", "--claims", file.name]
            made = checked_alike(self, "fixtures/models/odd-gpt2", options, claims=file.name, loaders="none")
        self.assertEqual([claim.answer for claim in made.claims], ["fails"])

    def test_expectations(self):
        changed = {"vocab_size": 66, "n_layer": 3}
        options = ["-S", "vocab_size=66", "-S", "n_layer=3", "--for", "none", "--expect"]
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("shape transformer.wte.weight # cut off\nmissing transformer.h.{2}.* # pruned\n")
            file.flush()
            made = checked_alike(self, GPT2, [*options, file.name], set=changed, loaders="none", expect=file.name)
            self.assertEqual(made.verdict, "match")
            file.write("nonsense\n")
            file.flush()
            with self.assertRaises(shapeproof.TableError) as raised:
                shapeproof.check(GPT2, expect=file.name)
            self.assertIn(raised.exception.message, run("check", GPT2, "--expect", file.name)[2])

    def test_unused_setting_is_a_warning(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            shapeproof.check(GPT2, set={"no_such_key": 1})
        self.assertEqual(len(caught), 1)
        self.assertEqual(str(caught[0].message), "the table 'gpt2' ignores the setting 'no_such_key'")
        self.assertEqual(caught[0].filename, __file__)


class Others(WithFixtures):
    def same(self, result, *arguments):
        document = run(*arguments, "--json")[1].replace('"file": "--claim"', '"file": "claim"')
        self.assertEqual(result.to_json(), document)
        return result

    def test_inspect(self):
        for path in [*CHECKED, "fixtures/quantised", "fixtures/cross/pair.h5"]:
            if os.path.isdir(path) and not glob.glob(path + "/*.safetensors"):
                continue
            with self.subTest(path):
                self.same(shapeproof.inspect(path), "inspect", path)
        inventory = shapeproof.inspect(f"{GPT2}/pytorch_model.bin")
        self.assertEqual(len(inventory), 29)
        self.assertEqual(inventory["lm_head.weight"].same_as, "transformer.wte.weight")
        self.assertEqual(inventory[0].shape, (64, 16))
        self.assertIn("lm_head.weight", inventory)
        self.assertEqual(sum(tensor.parameters for tensor in inventory), inventory.totals.parameters)
        with self.assertRaises(KeyError):
            inventory["nothing"]

    def test_predict(self):
        self.same(shapeproof.predict("gpt2-xl"), "predict", "gpt2-xl")
        self.same(shapeproof.predict("gpt2", set={"n_layer": 2}), "predict", "gpt2", "-S", "n_layer=2")
        self.same(shapeproof.predict(config=f"{GPT2}/config.json"), "predict", "-c", f"{GPT2}/config.json")
        made = shapeproof.predict("gpt2")
        self.assertEqual(made.totals.unique_parameters, 124439808)
        self.assertRegex(made.hyperparameters[0].source, r"^default \(gpt2\.shapes:\d+\)$")

    def test_infer(self):
        made = self.same(shapeproof.infer(GPT2), "infer", GPT2)
        self.assertTrue(made)
        self.assertEqual(made.config["n_embd"], 16)
        self.assertEqual(shapeproof.check(GPT2, made.config).verdict, "match")
        self.assertFalse(shapeproof.infer("fixtures/models/odd-gpt2", table="gpt2").unexplained)

    def test_diff(self):
        pair = ("fixtures/cross/pair.h5", "fixtures/cross/pair.pt")
        self.assertFalse(self.same(shapeproof.diff(*pair), "diff", *pair))
        alike = (f"{GPT2}/pytorch_model.bin", GPT2)
        self.assertTrue(self.same(shapeproof.diff(*alike, data=True), "diff", *alike, "--data"))

    def test_derive(self):
        made = self.same(shapeproof.derive("gpt2"), "derive", "gpt2")
        self.assertEqual(made.formulas[0].formula, "E*(V + P)")
        self.same(shapeproof.derive("gpt2", latex=True), "derive", "gpt2", "--latex")
        self.same(shapeproof.derive("llama", measure="flops"), "derive", "llama", "--measure", "flops")

    def test_prove(self):
        claim = "total = V*E + 12*N*E^2"
        self.assertTrue(self.same(shapeproof.prove("gpt2"), "prove", "gpt2"))
        self.assertFalse(self.same(shapeproof.prove("gpt2", claim=claim), "prove", "gpt2", "--claim", claim))
        self.assertEqual(shapeproof.prove("gpt2", claim=claim, explain=True).claims[0].verdict, "refuted")
        odd = "fixtures/models/odd-gpt2"
        made = shapeproof.prove(checkpoint=odd, claim="[attention] = N*(4*E^2 + 6*E)")
        self.assertFalse(made)
        self.assertEqual((made.claims[0].formula, made.claims[0].stored), (2240, 2144))
        self.assertEqual(str(made), run("prove", "-k", odd, "--claim", "[attention] = N*(4*E^2 + 6*E)")[1].rstrip("\n"))
        self.assertEqual(str(shapeproof.prove("gpt2-xl")), run("prove", "gpt2-xl")[1].rstrip("\n"))
        point = "E = 1, N = 1, the others 1"
        given = shapeproof.prove("gpt2", claim=claim, at=point)
        self.assertEqual(str(given), run("prove", "gpt2", "--claim", claim, "--at", point)[1].rstrip("\n"))

    def test_learn(self):
        examples = ["fixtures/learn/small", "fixtures/learn/wide", "fixtures/learn/gated"]
        made = self.same(shapeproof.learn(examples), "learn", *examples)
        with tempfile.TemporaryDirectory() as folder:
            made.save(f"{folder}/learnt.shapes")
            self.assertTrue(shapeproof.check(examples[0], table=f"{folder}/learnt.shapes"))

    def test_eval(self):
        expressions = ["total", "[embedding] / total", "[nix]"]
        made = self.same(shapeproof.eval(expressions, "gpt2-xl"), "eval", "gpt2-xl", *expressions)
        values = made.points[0].values
        self.assertEqual((values[0].value, values[1].value), (1557611200, Fraction(51281, 973507)))
        with self.assertRaisesRegex(ValueError, "no group"):
            values[2].value
        varied = shapeproof.eval("total", "gpt2", vary={"n_layer": range(1, 4)})
        self.same(varied, "eval", "gpt2", "total", "--for", "n_layer=1..3")
        stored = shapeproof.eval("stored(total) - total", checkpoint="fixtures/models/odd-gpt2")
        self.assertEqual(stored.value, 928)

    def test_tables_and_models(self):
        listed = [table["name"] for table in json.loads(run("tables", "qwen", "--json")[1])["tables"]]
        self.assertEqual([table.name for table in shapeproof.tables("qwen")], listed)
        self.assertEqual(shapeproof.tables("word_lstm", table=LSTM["table"])[0].kind, "own")
        self.assertEqual([model.published for model in shapeproof.models("gpt2-xl")], ["1558M"])
        self.assertEqual(shapeproof.tables("nix nix"), [])

    def test_version(self):
        self.assertIn(shapeproof.__version__, run("--version")[1])

    def test_names(self):
        """What a notebook completes are the functions and classes, not what the package imports."""
        public = {name for name in dir(shapeproof) if not name.startswith("__")}
        self.assertEqual(public, {*shapeproof.__all__, "eval"})
        self.assertIn("__version__", dir(shapeproof))


class Results(WithFixtures):
    def test_repr(self):
        self.assertEqual(repr(shapeproof.check(GPT2)), "<Check match: all 28 tensors, 7,872 elements>")
        self.assertIn("Tensor(name='transformer.", repr(shapeproof.inspect(GPT2)[0]))

    def test_do_not_change(self):
        made = shapeproof.check(GPT2)
        with self.assertRaises(AttributeError):
            made.verdict = "differs"
        made.to_dict()["verdict"] = "differs"
        self.assertEqual(made.to_dict()["verdict"], "match")
        self.assertEqual(made, shapeproof.check(GPT2))

    def test_html(self):
        for made in (
            shapeproof.check("fixtures/models/odd-gpt2"),
            shapeproof.inspect(GPT2),
            shapeproof.predict("gpt2"),
            shapeproof.infer(GPT2),
            shapeproof.diff("fixtures/cross/pair.h5", "fixtures/cross/pair.pt"),
            shapeproof.derive("gpt2"),
            shapeproof.prove("gpt2"),
            shapeproof.prove("gpt2-xl"),
            shapeproof.eval("total", "gpt2", vary={"n_layer": [1, 2]}),
        ):
            with self.subTest(type(made).__name__):
                shown = made._repr_html_()
                self.assertEqual(shown.count("<tr>"), shown.count("</tr>"))
                self.assertEqual(shown.count("<table>"), 1)
        hostile = shapeproof.inspect({"<script>&": FakeArray((1,))})._repr_html_()
        self.assertNotIn("<script>", hostile)

    def test_attributes_are_the_keys(self):
        """Each key of a document is an attribute, or is known to have none."""
        without = {"schema", "from"}
        for made in (shapeproof.check("fixtures/models/odd-gpt2"), shapeproof.infer(GPT2), shapeproof.derive("gpt2")):
            for key in set(made.to_dict()) - without:
                self.assertTrue(hasattr(made, key), key)


class Errors(WithFixtures):
    def fails(self, kind, call, *arguments):
        """With the text of the command."""
        with self.assertRaises(kind) as raised:
            call()
        error = raised.exception
        if arguments:
            message = run(*arguments)[2]
            self.assertIn(error.message, message)
            self.assertIn(error.hint, message)
        return error

    def test_texts(self):
        error = self.fails(shapeproof.CheckpointError, lambda: shapeproof.inspect("nowhere"), "inspect", "nowhere")
        self.assertEqual(error.kind, "io")
        self.fails(shapeproof.UsageError, lambda: shapeproof.predict(table="gtp2"), "predict", "-T", "gtp2")
        self.fails(shapeproof.CheckpointError, lambda: shapeproof.check("docs"), "check", "docs")
        bad = "total = = V"
        error = self.fails(shapeproof.TableError, lambda: shapeproof.prove("gpt2", claim=bad))
        self.assertIn("expected an expression", str(error))
        self.fails(shapeproof.TableError, lambda: shapeproof.check(GPT2, "nowhere"), "check", GPT2, "-c", "nowhere")
        self.fails(shapeproof.UsageError, lambda: shapeproof.check(GPT2, loaders="nix"), "check", GPT2, "--for", "nix")

    def test_usage(self):
        for call in (
            lambda: shapeproof.check(3),
            lambda: shapeproof.check("hf://gpt2"),
            lambda: shapeproof.check("a\0b"),
            lambda: shapeproof.check(GPT2, "config.json", model="gpt2"),
            lambda: shapeproof.check(GPT2, model="no such model"),
            lambda: shapeproof.check({}, {}, data=True),
            lambda: shapeproof.prove(claim="total = V"),
            lambda: shapeproof.eval("total", "gpt2", vary={}),
        ):
            self.fails(shapeproof.UsageError, call)
        self.fails(shapeproof.UnknownArchitectureError, lambda: shapeproof.check({"a": FakeArray((1,))}))

    def test_hint_is_in_the_text(self):
        error = self.fails(shapeproof.UsageError, lambda: shapeproof.predict("gtp2"))
        self.assertEqual(str(error), "there is no table 'gtp2'\nhint: did you mean 'gpt2'?")


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of glibc; `uordblks` is the number of bytes that are allocated."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


class FakeArray:
    """An array of a framework that has no storages."""

    def __init__(self, shape, dtype="float32"):
        self.shape, self.dtype = shape, dtype


def arrays_of(path):
    """The tensors of a checkpoint as arrays, of which tied ones are one object."""
    arrays = {}
    for tensor in shapeproof.inspect(path):
        arrays[tensor.name] = arrays[tensor.same_as] if tensor.same_as else FakeArray(tensor.shape)
    return arrays


class Memory(WithFixtures):
    def test_dictionary(self):
        arrays = arrays_of(f"{GPT2}/pytorch_model.bin")
        made = shapeproof.check(arrays, f"{GPT2}/config.json")
        self.assertEqual(made.verdict, "match")
        self.assertEqual(made.file, "state_dict")
        self.assertEqual(shapeproof.inspect(arrays)["lm_head.weight"].same_as, "transformer.wte.weight")
        self.assertTrue(shapeproof.diff(arrays, GPT2))
        arrays["lm_head.weight"] = FakeArray((64, 16))
        self.assertIsNone(shapeproof.inspect(arrays)["lm_head.weight"].same_as)

    def test_storages(self):
        """Tensors of torch 1 and 2: they are tied if they have the same place in the same storage."""
        for method in ("storage", "untyped_storage"):
            class Tensor(FakeArray):
                def __init__(self, storage, offset):
                    super().__init__((2, 3))
                    self.place = offset
                    setattr(self, method, lambda: storage)

                def storage_offset(self):
                    return self.place

                def is_contiguous(self):
                    return True

            class Storage:
                _cdata = 4096

            tensors = {"a": Tensor(Storage, 0), "b": Tensor(Storage, 6), "c": Tensor(Storage, 0)}
            with self.subTest(method):
                self.assertEqual([tensor.same_as for tensor in shapeproof.inspect(tensors)], [None, None, "a"])

    def test_nested(self):
        inventory = shapeproof.inspect({"params": {"dense": {"kernel": FakeArray((2, 3), "bfloat16"), "step": 3}}})
        self.assertEqual([(t.name, t.dtype) for t in inventory], [("params.dense.kernel", "BF16")])
        self.assertEqual(shapeproof.inspect({"a": FakeArray((), "mine.odd")})["a"].dtype, "odd")

    def test_module(self):
        class GPT2LMHeadModel:
            config = None

            def state_dict(self):
                return arrays_of(GPT2)

        module = GPT2LMHeadModel()
        with open(f"{GPT2}/config.json", encoding="utf-8") as file:
            module.config = {**json.load(file), "architectures": None}
        made = shapeproof.check(module)
        self.assertEqual((made.verdict, made.file), ("match", "GPT2LMHeadModel"))
        module.config["n_layer"] = 3
        self.assertEqual(shapeproof.check(module).causes[0].found, 2)
        self.assertTrue(shapeproof.learn([(arrays_of(GPT2), module.config)]))
        self.assertTrue(shapeproof.learn([module]))


class Assertions(WithFixtures):
    def test_good(self):
        self.assertEqual(testing.assert_matches(GPT2).verdict, "match")
        testing.assert_claims("gpt2", claim="[embedding] = E*(V + P)")
        testing.assert_loads(GPT2)
        testing.assert_loads("fixtures/models/tiny-llama", "transformers", "torch")

    def test_failures_show_the_report(self):
        for text, call in (
            ("^differs: vocab_size is 65", lambda: testing.assert_matches(GPT2, set={"vocab_size": 65})),
            ("^refuted: claim total = 1\n\ngpt2\n  REFUTED", lambda: testing.assert_claims("gpt2", claim="total = 1")),
            ("^fails: claim total = 3\n\n.*FAILS", lambda: testing.assert_claims(checkpoint=GPT2, claim="total = 3")),
            ("^transformers 5 refuses it", lambda: testing.assert_loads(GPT2, set={"vocab_size": 65})),
            ("^it is not known whether mlx-lm loads", lambda: testing.assert_loads(GPT2, "mlx")),
            ("there is no claim", lambda: testing.assert_claims("word_lstm", table=LSTM["table"])),
            ("name one", lambda: testing.assert_loads("fixtures/gguf/models/llama.gguf")),
        ):
            with self.assertRaisesRegex(AssertionError, f"(?s){text}"):
                call()
        with tempfile.NamedTemporaryFile("w", suffix=".shapes") as file:
            file.write("claims for gpt2\n\nclaim total = 3\n")
            file.flush()
            with self.assertRaisesRegex(AssertionError, "^fails: claim total = 3\n\nmatch: all 28"):
                testing.assert_matches(GPT2, claims=file.name)
        self.assertEqual(shapeproof.check("fixtures/gguf/models/llama.gguf").verdict, "match")


class Resources(WithFixtures):
    def test_threads(self):
        """200 checks in 8 threads say what the command says."""
        expected = {path: run("check", "--json", path)[1] for path in CHECKED}
        work = (CHECKED * 29)[:200]
        wrong, lock = [], threading.Lock()

        def check_all():
            while True:
                with lock:
                    path = work.pop() if work else None
                if path is None:
                    return
                if shapeproof.check(path).to_json() != expected[path]:
                    wrong.append(path)

        threads = [threading.Thread(target=check_all) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((work, wrong), ([], []))

    def test_memory(self):
        """Everything that the library gives away is freed: 60 times five calls leave less on the heap than 60 copies of
        the shortest report, of which each is some 500 bytes."""
        try:
            mallinfo = ctypes.CDLL(None).mallinfo2
        except AttributeError:
            self.skipTest("the memory of the Python package: mallinfo2 is not there (glibc 2.33)")
        mallinfo.restype = Mallinfo

        def call_all():
            shapeproof.inspect(f"{GPT2}/pytorch_model.bin")
            shapeproof.check("fixtures/models/odd-gpt2")
            shapeproof.prove("gpt2", claim="total = V*d")
            shapeproof.check(arrays_of(GPT2), f"{GPT2}/config.json")
            with self.assertRaises(shapeproof.Error):
                shapeproof.check("nowhere")

        def heap():
            gc.collect()
            return mallinfo().uordblks

        for _ in range(10):
            call_all()
        before = heap()
        for _ in range(60):
            call_all()
        self.assertLess(heap() - before, 60 * 500)


if __name__ == "__main__":
    unittest.main()
