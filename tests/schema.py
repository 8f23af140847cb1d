# SPDX-License-Identifier: MIT
"""Holds documents of JSON against docs/schema. Called by tests/schema.sh:

    python3 tests/schema.py [--sarif SCHEMA] FILE...      files with what a command wrote, which need not be JSON

Four things are tested: (1) the schemas themselves: they are closed, each key has a description of one sentence, and
what several of them define is the same; (2) every document is valid, and an error stands beside no report but those of
inspect; (3) a document that was changed is not valid; (4) no key of a schema is left that no document has. With
--sarif, documents of SARIF are valid as well under SCHEMA, which OASIS publishes. Ends with "N passed, M failed".
"""
import copy
import json
import pathlib
import sys

import jsonschema

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "schema"
# Keys that no document here has: of a process that crashed, of unused storages in several files, of an index of shards
# whose size counts something else, and of a component of a pipeline with a doubtful file.
RARE = {
    "check-1: signal",
    "inspect-1/$defs/unused_storage: shard",
    "check-1/$defs/declared: note",
    "components-1/$defs/declared: note",
    "components-1/properties/components/items: unread",
    "components-1/properties/components/items: suspicious",
}
ERROR = "shapeproof.error/1"
MUTATED_DOCUMENTS = 12  # of each schema; enough for each form, few enough for a test of seconds

passed = failed = 0


def judge(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED ", what)


# ---- the schemas ----


def subschemas(schema, where=""):
    """The schema and all schemas within it, each with its place."""
    if not isinstance(schema, dict):
        return
    yield schema, where
    for word in ("properties", "$defs"):
        for name, inner in schema.get(word, {}).items():
            yield from subschemas(inner, f"{where}/{word}/{name}")
    for word in ("items", "additionalProperties"):
        yield from subschemas(schema.get(word), f"{where}/{word}")


def description(schema, root):
    if "description" in schema or "$ref" not in schema:
        return schema.get("description", "")
    return description(root["$defs"][schema["$ref"].split("/")[-1]], root)


def is_sentence(text):
    return text[:1].isupper() and text.endswith(".") and ". " not in text


def check_schema(name, schema, definitions):
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        judge(True, name)
    except jsonschema.SchemaError as error:
        judge(False, f"{name}: {error.message}")
    document, version = name.rsplit("-", 1)
    said = f"shapeproof.{document}/{version}"
    judge(schema["title"] == said == schema["properties"]["schema"]["const"], f"{name}: it is not called {said}")
    for inner, where in subschemas(schema):
        for key, value in inner.get("properties", {}).items():
            judge(is_sentence(description(value, schema)), f"{name}{where}: no sentence describes {key}")
        if "properties" in inner:
            judge("additionalProperties" in inner, f"{name}{where}: it is not closed")
    for key, value in schema.get("$defs", {}).items():
        judge(definitions.setdefault(key, value) == value, f"{name}: another schema defines {key} in another way")


# ---- the documents ----


def documents(text):
    decoder = json.JSONDecoder()
    at = 0
    while (at := next((i for i in range(at, len(text)) if not text[i].isspace()), len(text))) < len(text):
        document, at = decoder.raw_decode(text, at)
        yield document


def read(path):
    """The documents of JSON that are in a file, or None: what a command writes need not be one."""
    text = pathlib.Path(path).read_bytes().decode(errors="replace")
    if not text.startswith(("{\n", '{"')):
        return None
    try:
        return list(documents(text))
    except ValueError as error:
        judge(False, f"{path}: {error}: {text[:200]}")
        return None


# ---- SARIF ----


def check_sarif(path, validator, document):
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    judge(error is None, error and f"{path}: SARIF, {error.json_path}: {error.message[:300]}")
    for result in document["runs"][0]["results"][:1]:
        result["level"] = "fatal"
        judge(not validator.is_valid(document), f"{path}: SARIF with a level that there is not is valid")


# ---- changed documents ----


def closed_places(schema, value, root, place=()):
    """The places of the objects in a document that may not have a key more, with their keys that must be there."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].split("/")[-1]]
    if isinstance(value, dict) and "properties" in schema:
        if schema["additionalProperties"] is False:
            yield place, schema.get("required", [])
        for key, inner in value.items():
            yield from closed_places(schema["properties"].get(key, {}), inner, root, place + (key,))
    elif isinstance(value, list) and value and "items" in schema:
        yield from closed_places(schema["items"], value[0], root, place + (0,))


def changed(document, place, change):
    document = copy.deepcopy(document)
    inner = document
    for step in place:
        inner = inner[step]
    change(inner)
    return document


def check_changes(name, validator, document):
    for place, required in closed_places(validator.schema, document, validator.schema):
        where = "/".join(map(str, place))
        more = changed(document, place, lambda inner: inner.update(unexpected=1))
        judge(not validator.is_valid(more), f"{name}: a document with one key more in /{where} is valid")
        for key in required:
            less = changed(document, place, lambda inner: inner.pop(key))
            judge(not validator.is_valid(less), f"{name}: a document without {key} in /{where} is valid")


# ---- which keys documents have ----


def note_keys(schema, where, value, root, seen):
    """Adds the places of all keys of a document to `seen`; a definition is one place for all schemas that have it."""
    while "$ref" in schema:
        where = schema["$ref"]
        schema = root["$defs"][where.split("/")[-1]]
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in schema.get("properties", {}):
                seen.add((where, key))
                note_keys(schema["properties"][key], f"{where}/properties/{key}", inner, root, seen)
    elif isinstance(value, list) and "items" in schema:
        for inner in value:
            note_keys(schema["items"], where + "/items", inner, root, seen)


def check_seen(name, schema, seen):
    for inner, where in subschemas(schema):
        place = "#" + where if where.startswith("/$defs/") else name + where
        for key in inner.get("properties", {}):
            said = f"{name}{where}: {key}"
            judge((place, key) in seen or said in RARE, f"no document has {said}")


def main():
    sarif = None
    if sys.argv[1:2] == ["--sarif"]:
        sarif = jsonschema.Draft4Validator(json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
        del sys.argv[1:3]
    schemas = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    definitions = {}
    for name, schema in schemas.items():
        check_schema(name, schema, definitions)
    validators = {schema["title"]: jsonschema.Draft202012Validator(schema) for schema in schemas.values()}
    names = {schema["title"]: name for name, schema in schemas.items()}
    seen, counts = set(), {}
    # In the order of their contents: their names are random, and the first documents of each schema are changed.
    for path in sorted(sys.argv[1:], key=lambda path: pathlib.Path(path).read_bytes()):
        found = read(path) or []
        titles = {document.get("schema") for document in found}
        if ERROR in titles:
            judge(titles <= {ERROR, "shapeproof.inspect/1"}, f"{path}: an error beside a report: {titles}")
        for document in found:
            if sarif and "runs" in document:
                check_sarif(path, sarif, document)
                counts["SARIF"] = counts.get("SARIF", 0) + 1
            if "schema" not in document:  # such as a config.json
                continue
            title = document["schema"]
            validator = validators.get(title)
            if not validator:
                judge(False, f"{path}: there is no schema for {title!r}")
                continue
            error = jsonschema.exceptions.best_match(validator.iter_errors(document))
            judge(error is None, error and f"{path}: {title}, {error.json_path}: {error.message[:300]}")
            note_keys(validator.schema, names[title], document, validator.schema, seen)
            counts[title] = counts.get(title, 0) + 1
            if counts[title] <= MUTATED_DOCUMENTS:
                check_changes(names[title], validator, document)
    for name, schema in schemas.items():
        check_seen(name, schema, seen)
    print(", ".join(f"{names.get(title, title)} {count}" for title, count in sorted(counts.items())))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
