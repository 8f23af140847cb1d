/* SPDX-License-Identifier: MIT
 * TorchScript is source code in the archive, P/code/NAME.py. Nothing in it runs code of the machine but through
 * operators: "torch.add(x, y)" and "ops.quantized.linear(x)". Loading runs __setstate__ of the classes, and running the
 * model runs the rest. Operators are found by their tokens, so that comments and strings do not count. */
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "read/torch/zip.h"

enum {
    MAX_SOURCE = 16 << 20,      /* bytes of a member */
    MAX_ALL_SOURCES = 64 << 20, /* bytes of all members that are read */
    MOST_REMOTE = 64            /* members of a remote archive that are read, each a request */
};

/* What is found in all sources of an archive; the first of each kind is kept. */
struct script {
    struct shapeproof_inventory *inventory;
    bool sets_state; /* a class has a __setstate__ */
    /* The member, and the operator: one that opens a file, one of another library, one that is not named. */
    struct call {
        const char *member, *name;
    } opens, foreign, hidden;
};

/* Passes over spaces, line breaks that are escaped, and comments. */
static const char *pass_blanks(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n\\");
        if (*at != '#') return at;
        at += strcspn(at, "\n");
    }
}

/* Passes over a string, from its first quotation mark on: one mark or three. A string with one mark ends at a line
 * break, too, which torch refuses. */
static const char *pass_literal(const char *at)
{
    const char quote = *at;
    const bool is_long = at[1] == quote && at[2] == quote;
    for (at += is_long ? 3 : 1; *at; at++) {
        if (*at == '\\' && at[1]) at++;
        else if (*at == '\n' && !is_long) return at;
        else if (*at == quote && (!is_long || (at[1] == quote && at[2] == quote))) return at + (is_long ? 3 : 1);
    }
    return at;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (sp_is_word(at[length])) length++;
    return length;
}

/* Reads ".NAME" behind `at` into `name`, with blanks between; NULL if there is none. */
static const char *read_member(const char *at, const char **name, size_t *length)
{
    at = pass_blanks(at);
    if (*at != '.') return NULL;
    *name = at = pass_blanks(at + 1);
    *length = word_length(at);
    return *length ? at + *length : NULL;
}

static void note(struct call *kept, const char *member, const char *name)
{
    if (!kept->name) *kept = (struct call){member, name};
}

/* Whether the operator opens a file whose name it is given. */
static bool opens_file(const char *name)
{
    static const char *const names[] = {"aten.save",
                                        "aten.from_file",
                                        "image.write_file",
                                        "image.read_file",
                                        "video_reader.read_video_from_file",
                                        "debugprims.load_tensor"};
    return SP_IS_AMONG(name, names);
}

/* Whether the operator is of PyTorch or torchvision. */
static bool is_of_torch(const char *name)
{
    static const char *const spaces[] = {"aten.",
                                         "prim.",
                                         "prims.",
                                         "quantized.",
                                         "_quantized.",
                                         "mkldnn.",
                                         "onednn.",
                                         "prepacked.",
                                         "mkldnn_prepacked.",
                                         "sparse.",
                                         "torchvision.",
                                         "profiler.",
                                         "quantized_decomposed."};
    return SP_BEGINS_WITH_ANY(name, spaces);
}

/* Reads what is behind the word "torch" (or "aten") or "ops". Returns where to go on. */
static const char *read_operator(struct script *script, const char *member, const char *word, size_t word_size,
                                 const char *at)
{
    struct sp_arena *arena = &script->inventory->arena;
    const char *name, *inner;
    size_t length, size;
    const bool is_ops = SP_IS(word, word_size, "ops");
    const char *next = read_member(at, &name, &length);
    if (next && !is_ops && SP_IS(name, length, "ops")) return read_operator(script, member, name, length, next);
    const char *behind = next && is_ops ? read_member(next, &inner, &size) : next;
    if (!behind) {
        note(&script->hidden, member, is_ops ? "ops" : "torch");
        return at;
    }
    if (!is_ops && !SP_IS(name, length, "save") && !SP_IS(name, length, "from_file")) return behind;
    const char *full = is_ops ? sp_arena_printf(arena, "%.*s.%.*s", (int)length, name, (int)size, inner)
                              : sp_arena_printf(arena, "aten.%.*s", (int)length, name);
    if (opens_file(full)) note(&script->opens, member, full);
    else if (!is_of_torch(full)) note(&script->foreign, member, full);
    return behind;
}

/* Looks for operators and __setstate__ in one source. A word behind a point is a member of something else. */
static void scan_source(struct script *script, const char *member, const char *text)
{
    bool is_member = false;
    for (const char *at = pass_blanks(text); *at; at = pass_blanks(at)) {
        const size_t length = word_length(at);
        const char *word = at;
        if (*at == '\'' || *at == '"') at = pass_literal(at);
        else at += length ? length : 1;
        if (SP_IS(word, length, "__setstate__")) script->sets_state = true;
        if (!is_member && (SP_IS(word, length, "torch") || SP_IS(word, length, "ops") || SP_IS(word, length, "aten")))
            at = read_operator(script, member, word, length, at);
        is_member = *word == '.';
    }
}

/* Operators in the code of a mobile model, P/bytecode.pkl: ("aten::save", ""). */
static void scan_bytecode(struct script *script, const char *member, const char *bytes, size_t length)
{
    static const char *const names[] = {"aten::save", "aten::from_file", "image::write_file", "image::read_file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t size = strlen(names[i]);
        for (const char *at = bytes; (at = memchr(at, *names[i], length - (size_t)(at - bytes))); at++) {
            if (length - (size_t)(at - bytes) < size) break;
            if (memcmp(at, names[i], size) == 0) note(&script->opens, member, names[i]);
        }
    }
}

static void scan_member(struct script *script, struct sp_zip *zip, size_t record)
{
    const char *name = sp_zip_entry(zip, record)->name;
    const char *member = sp_arena_string(&script->inventory->arena, sp_quote(name).text);
    struct shapeproof_error why = {0};
    size_t length = 0;
    char *text = sp_zip_read(zip, record, MAX_SOURCE, &length, &why);
    if (text && memchr(text, 0, length) && !sp_ends_with(name, ".pkl")) sp_malformed(&why, "its text has a NUL");
    if (why.status)
        sp_inventory_warn(script->inventory, "%s is not read, so that it is not known what running it would call: %s",
                          member, why.message);
    else if (sp_ends_with(name, ".pkl")) scan_bytecode(script, member, text, length);
    else scan_source(script, member, text);
    sp_free(text);
}

static void warn_of_operators(const struct script *script)
{
    const char *when = script->sets_state ? "loading or running the model" : "running the model";
    if (script->opens.name)
        sp_inventory_warn(script->inventory, "%s calls %s: %s would open a file that the model names",
                          script->opens.member, sp_quote(script->opens.name).text, when);
    if (script->hidden.name)
        sp_inventory_warn(script->inventory, "%s has %s without an operator: what %s would call is not known",
                          script->hidden.member, sp_quote(script->hidden.name).text, when);
    if (script->foreign.name && script->sets_state)
        sp_inventory_warn(script->inventory, "%s calls %s of another library, which loading the model may run",
                          script->foreign.member, sp_quote(script->foreign.name).text);
}

/* "P/code/__torch__.py", "P/.data/ts_code/code/0/__torch__.py" of torch.package, "P/bytecode.pkl". */
static bool is_source(const char *name, bool is_package)
{
    const char *slash = strchr(name, '/'), *path = slash ? slash + 1 : "";
    if (is_package) return sp_begins_with(path, ".data/ts_code/") && sp_ends_with(name, ".py");
    return !strcmp(path, "bytecode.pkl") || (sp_begins_with(path, "code/") && sp_ends_with(name, ".py"));
}

void sp_torch_judge_scripts(struct sp_zip *zip, struct shapeproof_inventory *inventory)
{
    struct script script = {.inventory = inventory};
    const char *path;
    const bool is_package = sp_torch_package_prefix(zip, &path) > 0;
    uint64_t bytes = 0;
    size_t read = 0, left = 0;
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const struct sp_zip_entry *entry = sp_zip_entry(zip, i);
        if (!is_source(entry->name, is_package)) continue;
        const bool fits = entry->size <= MAX_ALL_SOURCES - bytes && (!sp_zip_is_far(zip) || read < MOST_REMOTE);
        if (fits) {
            bytes += entry->size;
            read++;
            scan_member(&script, zip, i);
        } else left++;
    }
    if (left)
        sp_inventory_warn(inventory, "%zu members of its code are not read: what running them would call is not known",
                          left);
    warn_of_operators(&script);
}
