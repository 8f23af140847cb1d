# SPDX-License-Identifier: MIT
"""The structs and functions that the package declares are those of the headers."""

import ctypes
import glob
import os
import re
import unittest

from shapeproof import _library

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

STRUCTS = {
    "shapeproof_error": _library.ErrorStruct,
    "shapeproof_tensor_description": _library.TensorDescription,
    "shapeproof_predict_options": _library.PredictOptions,
    "shapeproof_check_options": _library.CheckOptions,
    "shapeproof_diff_options": _library.DiffOptions,
    "shapeproof_infer_options": _library.InferOptions,
    "shapeproof_learn_example": _library.LearnExample,
    "shapeproof_learn_options": _library.LearnOptions,
    "shapeproof_derive_options": _library.DeriveOptions,
    "shapeproof_prove_options": _library.ProveOptions,
    "shapeproof_claim_lines": _library.ClaimLines,
    "shapeproof_verify_options": _library.VerifyOptions,
    "shapeproof_evaluate_options": _library.EvaluateOptions,
    "shapeproof_evaluated_point": _library.EvaluatedPoint,
    "shapeproof_tables_filter": _library.TablesFilter,
    "shapeproof_report_options": _library.ReportOptions,
    "shapeproof_report_inspect_options": _library.ReportInspectOptions,
    "shapeproof_predicted_size": _library.PredictedSize,
    "shapeproof_report_predict_options": _library.ReportPredictOptions,
    "shapeproof_report_verify_options": _library.ReportVerifyOptions,
    "shapeproof_report_derive_options": _library.ReportDeriveOptions,
    "shapeproof_report_evaluate_options": _library.ReportEvaluateOptions,
}

# The size of each C type that a member has; everything else is a pointer, an enumeration or a struct.
SIZES = {"bool": 1, "char": 1, "unsigned": 4, "uint32_t": 4, "uint64_t": 8, "size_t": ctypes.sizeof(ctypes.c_size_t)}


def headers():
    text = ""
    for path in sorted(glob.glob(os.path.join(ROOT, "include/shapeproof/*.h"))):
        with open(path, encoding="utf-8") as file:
            text += re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    return text


def size_of(kind, declarator):
    if "*" in declarator or "(" in declarator:
        return ctypes.sizeof(ctypes.c_void_p)
    words = kind.replace("const ", "").split()
    if words[0] == "enum":
        return ctypes.sizeof(ctypes.c_int)
    if words[0] == "struct":
        return ctypes.sizeof(STRUCTS[words[1]])
    return SIZES[words[0]]


def members(text, name):
    """(name, size) of each member of a struct; an array counts as one member of the whole size."""
    body = re.search(r"struct %s \{(.*?)\n\};" % name, text, re.S).group(1)
    found = []
    for line in (line.strip() for line in body.split(";")):
        if not line:
            continue
        if "(" in line:  # a pointer to a function
            found.append((re.search(r"\(\*(\w+)\)", line).group(1), size_of("", "*")))
            continue
        kind = re.match(r"(?:const )?(?:(?:enum|struct) \w+|\w+)", line).group(0)
        for declarator in line[len(kind) :].split(","):
            array = re.search(r"\[(\d+)\]", declarator)
            name = re.search(r"(\w+)(?:\[\d+\])?\s*$", declarator).group(1)
            found.append((name, size_of(kind, declarator) * (int(array.group(1)) if array else 1)))
    return found


class Layout(unittest.TestCase):
    def test_structs(self):
        text = headers()
        for name, struct in STRUCTS.items():
            with self.subTest(name):
                ours = [(field, ctypes.sizeof(kind)) for field, kind in struct._fields_]
                self.assertEqual(members(text, name), ours)

    def test_all_structs_are_compared(self):
        ours = {kind for kind in vars(_library).values() if isinstance(kind, type(ctypes.Structure))}
        self.assertEqual({kind for kind in ours if kind is not ctypes.Structure}, set(STRUCTS.values()))

    def test_functions(self):
        """Each function is declared, with as many parameters."""
        text = " ".join(headers().split())
        for name, (_, *arguments) in _library._FUNCTIONS.items():
            with self.subTest(name):
                found = re.search(r"SHAPEPROOF_API [^;(]*\bshapeproof_%s\(([^;]*)\);" % name, text)
                self.assertIsNotNone(found)
                parameters = [] if found.group(1) == "void" else found.group(1).split(",")
                self.assertEqual(len(parameters), len(arguments))


if __name__ == "__main__":
    unittest.main()
