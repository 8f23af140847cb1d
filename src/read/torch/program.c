/* SPDX-License-Identifier: MIT
 * What torch.export.load takes out of the JSON of a program and hands to Python:
 *
 *     {"expr_str": "FloorDiv(Symbol('s77', integer=True), Integer(2))"}   a size: sympify evaluates it
 *     {"guards_code": ["L['x'].size()[0] % 2 == 0"]}                      a condition: ExportedProgram.module runs it
 *     {"target": "torch.ops.aten.add.Tensor"}                             a function: the program calls it
 *     {"name": "x"}                                                       a parameter of the function that is compiled
 *     {"in_spec": "[1, {\"type\": ..., \"context\": \"...\"}]"}           JSON that may name a module to import
 *
 * Each of them is compared with what torch.export writes. */
#include <string.h>

#include "base/chars.h"
#include "base/json_scan.h"
#include "base/names.h"
#include "read/torch/zip.h"

enum { MAX_PROGRAM = 64 << 20 /* bytes of its JSON */ };

/* What is reported, each once in a program. */
enum finding { SIZE, GUARD, NAME, CALL, IMPORT, FINDINGS };

static const char *const sentences[FINDINGS] = {
    [SIZE] = "%s: loading it would evaluate %s as Python, which is more than a size",
    [GUARD] = "%s: running it would evaluate %s as Python, which is more than a condition on sizes",
    [NAME] = "%s: loading it would make Python code of the name %s",
    [CALL] = "%s: running it would call %s",
    [IMPORT] = "%s: loading it would import %s",
};

struct program {
    struct sp_json json;
    const char *member; /* quoted */
    struct shapeproof_inventory *inventory;
    bool found[FINDINGS];
};

static void report_finding(struct program *program, enum finding finding, const char *text)
{
    if (program->found[finding]) return;
    program->found[finding] = true;
    sp_inventory_warn(program->inventory, sentences[finding], program->member, sp_quote(text).text);
}

/* ---- expressions ---- */

/* SIZES: what SymPy prints of a size. GUARDS: what torch prints of a condition on the sizes of the inputs. */
enum grammar { SIZES, GUARDS };

/* Functions of numbers: of torch/utils/_sympy/functions.py and of SymPy. */
static const char *const functions[] = {
    "Symbol", "Dummy", "Integer", "Rational", "Float", "Add", "Mul", "Pow", "Abs", "Max", "Min", "Mod", "PythonMod",
    "FloorDiv", "CleanDiv", "CeilDiv", "ModularIndexing", "Where", "LShift", "RShift", "PowByNatural", "FloatPow",
    "FloatTrueDiv", "IntTrueDiv", "CeilToInt", "FloorToInt", "TruncToInt", "TruncToFloat", "RoundToInt", "RoundDecimal",
    "ToFloat", "Identity", "IsNonOverlappingAndDenseIndicator", "OpaqueUnaryFn_sqrt", "OpaqueUnaryFn_cos",
    "OpaqueUnaryFn_cosh", "OpaqueUnaryFn_sin", "OpaqueUnaryFn_sinh", "OpaqueUnaryFn_tan", "OpaqueUnaryFn_tanh",
    "OpaqueUnaryFn_asin", "OpaqueUnaryFn_acos", "OpaqueUnaryFn_atan", "OpaqueUnaryFn_exp", "OpaqueUnaryFn_log",
    "OpaqueUnaryFn_asinh", "OpaqueUnaryFn_log2", "BitwiseFn_bitwise_and", "BitwiseFn_bitwise_or",
    "BitwiseFn_bitwise_xor", "floor", "ceiling", "sqrt", "exp", "log", "sign", "Eq", "Ne", "Lt", "Le", "Gt", "Ge",
    "Equality", "Unequality", "StrictLessThan", "LessThan", "StrictGreaterThan", "GreaterThan", "And", "Or", "Not",
    "Xor", "ITE", "Piecewise", "ExprCondPair", "Tuple",
    /* of Python */
    "abs", "min", "max", "int", "float", "bool", "round"};

/* Operators that are words. A parenthesis behind one is no call. */
static const char *const operators[] = {"and", "or", "not", "if", "else"};

/* Names that stand alone. Symbols, such as s77 and zuf3, end with a digit. */
static const char *const constants[] = {"True", "False",    "None",     "true",    "false", "oo",
                                        "zoo",  "nan",      "pi",       "E",       "I",     "inf",
                                        "L",    "math.inf", "math.nan", "math.pi", "math.e"};

/* What a condition asks an input for. */
static const char *const methods[] = {".size", ".stride", ".storage_offset", ".dim"};

static bool is_function(const char *name, enum grammar grammar)
{
    if (SP_IS_AMONG(name, functions)) return true;
    if (grammar == SIZES) return false;
    if (sp_begins_with(name, "torch.sym_") || sp_begins_with(name, "torch._sym_"))
        return !strchr(name + strlen("torch."), '.');
    return SP_IS_AMONG(name, methods) || (sp_begins_with(name, "math.") && !strchr(name + strlen("math."), '.'));
}

/* Whether a name may stand where it is not called. `keyword`: a single = follows. */
static bool is_value(const char *name, enum grammar grammar, bool keyword)
{
    const size_t length = strlen(name);
    if (SP_IS_AMONG(name, constants) || SP_IS_AMONG(name, operators)) return true;
    if (grammar == SIZES) return !strchr(name, '.') && (keyword || sp_is_digit(name[length - 1]));
    return name[0] == '.' && name[1] != '_' && !strchr(name + 1, '.') && !keyword; /* a field of an input */
}

static const char *skip_spaces(const char *at) { return at + strspn(at, " "); }

/* Passes over a number; NULL if a letter or another point follows. */
static const char *pass_number(const char *at)
{
    static const char digits[] = "0123456789";
    at += strspn(at, digits);
    if (*at == '.') at += 1 + strspn(at + 1, digits);
    if ((*at == 'e' || *at == 'E') && at[1]) at += 2 + strspn(at + 2, digits);
    return sp_is_word(*at) || *at == '.' ? NULL : at;
}

/* Passes over a string. SymPy may evaluate it, so that it has nothing but letters, digits and the like. */
static const char *pass_string(const char *at)
{
    const char quote = *at++, *begin = at;
    while (sp_is_word(*at) || (*at && strchr(".-+/: ", *at))) at++;
    return *at == quote && at > begin ? at + 1 : NULL;
}

/* Passes over a name, with points in it or in front of it. `is_called` is whether a parenthesis follows. */
static const char *pass_name(const char *at, enum grammar grammar, bool *is_called)
{
    enum { MAX_NAME = 256 };
    char name[MAX_NAME];
    size_t length = *at == '.';
    while (sp_is_word(at[length]) || (at[0] != '.' && at[length] == '.')) length++;
    if (length >= sizeof name) return NULL;
    memcpy(name, at, length);
    name[length] = '\0';
    at = skip_spaces(at + length);
    *is_called = *at == '(';
    if (*is_called ? is_function(name, grammar) || SP_IS_AMONG(name, operators)
                   : is_value(name, grammar, *at == '=' && at[1] != '='))
        return at;
    return NULL;
}

/* Whether the text calls nothing but functions of numbers, so that evaluating it does nothing else. */
static bool is_expression(const char *text, enum grammar grammar)
{
    bool may_open = true; /* whether a parenthesis here is one around an expression, or of a call that is known */
    for (const char *at = skip_spaces(text); *at; at = skip_spaces(at)) {
        if (sp_is_digit(*at)) {
            may_open = false;
            at = pass_number(at);
        } else if (sp_is_word(*at) || (grammar == GUARDS && *at == '.')) at = pass_name(at, grammar, &may_open);
        else if (*at == '\'' || *at == '"') {
            may_open = false;
            at = pass_string(at);
        } else if (*at == '(' ? !may_open : !strchr(grammar == GUARDS ? ")+-*/%,=<>!&|^~[]" : ")+-*/%,=<>!&|^~", *at))
            return false;
        else {
            may_open = *at != ')' && *at != ']';
            at++;
        }
        if (!at) return false;
    }
    return true;
}

/* ---- functions that a program calls ---- */

/* "aten.add.Tensor" behind "torch.ops.": an operator in a namespace, with or without an overload, but not one that
 * opens a file that the program names. torch.ops has functions beside the namespaces, such as load_library. */
static bool is_operator(const char *name)
{
    static const char *const others[] = {"load_library.", "import_module.", "loaded_libraries.", "_dir.", "__",
                                         "aten.save",     "aten.from_file", "debugprims."};
    const char *dot = strchr(name, '.'), *overload = dot ? strchr(dot + 1, '.') : NULL;
    return !SP_BEGINS_WITH_ANY(name, others) && dot && !(overload && strchr(overload + 1, '.'));
}

/* Whether the program may call what torch looks up by this name. Like torch, it takes "torch", "math" and "_operator"
 * for these modules whatever is between them and the first point. Other names are not looked up. */
static bool is_callable(const char *name)
{
    static const char *const harmless[] = {"torch.autograd.grad_mode.",
                                           "torch.sym_",
                                           "torch._sym_",
                                           "torch.amp.autocast_mode._",
                                           "torch._functorch.predispatch.",
                                           "torch.fx.experimental.symbolic_shapes.cast_symbool_to_symint_guardless",
                                           "torch._C._set_grad_enabled"};
    static const char *const reaching[] = {"call", "methodcaller", "attrgetter"};
    const char *dot = strchr(name, '.');
    if (sp_begins_with(name, "torch.ops.")) return is_operator(name + strlen("torch.ops."));
    if (sp_begins_with(name, "_operator") || sp_begins_with(name, "math"))
        return dot && dot[1] != '_' && !strchr(dot + 1, '.') && !SP_IS_AMONG(dot + 1, reaching);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (sp_begins_with(name, harmless[i])) return !strchr(name + strlen(harmless[i]), '.');
    return !sp_begins_with(name, "torch");
}

/* ---- names and modules ---- */

/* Whether the text stays one name in a line of Python: torch.fx writes it there as it is, or between quotes. */
static bool is_name(const char *text) { return !strpbrk(text, "()'\"\\\r\n"); }

/* Modules that importing does nothing in. */
static bool is_imported(const char *module)
{
    static const char *const modules[] = {"builtins", "collections", "torch", "enum"};
    char name[32];
    const size_t length = strcspn(module, ".:");
    if (length >= sizeof name) return false;
    memcpy(name, module, length);
    name[length] = '\0';
    return SP_IS_AMONG(name, modules);
}

static void scan_spec(struct program *program, char *text, size_t length, unsigned depth);

/* Reads JSON of a tree of inputs or outputs. An object of its contexts may name a module: {"__enum__": true, "fqn":
 * "m:Class", "name": "A"}, {"default_factory_module": "m", "default_factory_name": "f"}. */
static void walk_spec(struct program *program, struct sp_json *json, unsigned depth)
{
    const char *key;
    const char next = sp_json_peek(json);
    if (depth >= SP_JSON_DEPTH) {
        sp_malformed(json->error, "nested too deeply");
    } else if (next == '[') {
        sp_json_open(json, '[');
        for (bool first = true; sp_json_item(json, &first);) walk_spec(program, json, depth + 1);
    } else if (next == '"') {
        const char *text = sp_json_string(json);
        if (text && !is_name(text)) report_finding(program, NAME, text);
    } else if (next != '{') {
        sp_json_skip(json, &(size_t){0});
    } else {
        sp_json_open(json, '{');
        for (bool first = true; (key = sp_json_member(json, &first));) {
            const bool is_text = sp_json_peek(json) == '"';
            const bool is_module = !strcmp(key, "fqn") || !strcmp(key, "default_factory_module");
            const bool is_context = !strcmp(key, "context");
            char *text = is_text && (is_module || is_context) ? sp_json_string(json) : NULL;
            if (text && is_module && !is_imported(text)) report_finding(program, IMPORT, text);
            if (text && is_context) scan_spec(program, text, json->string_length, depth + 1);
            if (!is_text || !(is_module || is_context)) walk_spec(program, json, depth + 1);
        }
    }
}

/* Reads a string that has JSON in it. */
static void scan_spec(struct program *program, char *text, size_t length, unsigned depth)
{
    struct shapeproof_error why = {0};
    struct sp_json json = {.what = program->member, .text = text, .length = length, .error = &why};
    walk_spec(program, &json, depth);
    if (!sp_json_end(&json))
        sp_inventory_warn(program->inventory, "%s: a tree of its inputs or outputs is not read: %s", program->member,
                          why.message);
}

/* ---- the program ---- */

/* "name", "as_name", "parameter_name", "forward_arg_names" and the like. */
static bool is_key_of_name(const char *key)
{
    return !strcmp(key, "name") || !strcmp(key, "fqn") || sp_ends_with(key, "_name") || sp_ends_with(key, "_names");
}

static void judge_text(struct program *program, const char *key, char *text)
{
    if (!strcmp(key, "expr_str")) {
        if (!is_expression(text, SIZES)) report_finding(program, SIZE, text);
    } else if (!strcmp(key, "guards_code")) {
        if (!is_expression(text, GUARDS)) report_finding(program, GUARD, text);
    } else if (!strcmp(key, "target") || !strcmp(key, "as_operator")) {
        if (!is_callable(text)) report_finding(program, CALL, text);
    } else if (is_key_of_name(key)) {
        if (!is_name(text)) report_finding(program, NAME, text);
    } else if (!strcmp(key, "in_spec") || !strcmp(key, "out_spec"))
        scan_spec(program, text, program->json.string_length, 0);
}

/* Reads a value, which is at this key or in a list at it. */
static void walk_program(struct program *program, const char *key, unsigned depth)
{
    struct sp_json *json = &program->json;
    const char *inner, next = sp_json_peek(json);
    char *text;
    if (depth >= SP_JSON_DEPTH) {
        sp_malformed(json->error, "nested too deeply");
    } else if (next == '{') {
        sp_json_open(json, '{');
        for (bool first = true; (inner = sp_json_member(json, &first));) walk_program(program, inner, depth + 1);
    } else if (next == '[') {
        sp_json_open(json, '[');
        for (bool first = true; sp_json_item(json, &first);) walk_program(program, key, depth + 1);
    } else if (next != '"') {
        sp_json_skip(json, &(size_t){0});
    } else if ((text = sp_json_string(json))) judge_text(program, key, text);
}

static void judge_program(struct sp_zip *zip, size_t record, struct shapeproof_inventory *inventory)
{
    const char *member = sp_arena_string(&inventory->arena, sp_quote(sp_zip_entry(zip, record)->name).text);
    struct shapeproof_error why = {0};
    struct program program = {.json = {.what = "program", .error = &why}, .member = member, .inventory = inventory};
    char *text = sp_zip_read(zip, record, MAX_PROGRAM, &program.json.length, &why);
    program.json.text = text;
    if (text && sp_json_check(&program.json)) {
        walk_program(&program, "", 0);
        sp_json_end(&program.json);
    }
    sp_free(text);
    if (why.status)
        sp_inventory_warn(inventory, "%s is not read, so that it is not known what loading it would run: %s", member,
                          why.message);
}

/* "P/models/model.json" of an archive of torch.export: the part behind the folder P begins with that of `path`. */
static bool is_below(const char *name, const char *path)
{
    const char *slash = strchr(name, '/');
    return slash && sp_begins_with(slash + 1, path);
}

void sp_torch_judge_programs(struct sp_zip *zip, struct shapeproof_inventory *inventory)
{
    bool is_export = sp_torch_described_is(zip);
    for (size_t i = 0; i < sp_zip_count(zip); i++)
        is_export = is_export || is_below(sp_zip_entry(zip, i)->name, "archive_format");
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const struct sp_zip_entry *entry = sp_zip_entry(zip, i);
        if (!entry->size) continue;
        if ((is_export && is_below(entry->name, "models/")) || !strcmp(entry->name, "serialized_exported_program.json"))
            judge_program(zip, i, inventory);
    }
}
