/* SPDX-License-Identifier: MIT
 * NeMo restores a model with hydra.utils.instantiate: each map of the configuration with the key "_target_" is a call
 * of the callable that the key names, with the other members as its arguments. "target" and "cls" are older keys for
 * it, and of the class of the model. Releases from 2.4 refuse most callables that are not NeMo's own.
 *
 * The YAML text is not parsed, since a parser that differs from PyYAML would miss a key. Each occurrence of the words
 * is looked at, wherever it is: what follows it must be a colon and the path of a class that is known to be harmless. A
 * key may also be written with escapes, so that those of letters are reported. */
#include "read/nemo.h"

#include <string.h>

#include "base/chars.h"
#include "base/names.h"

enum { MAX_SETTINGS = 16 << 20 /* bytes; those of known models have 100 KiB */ };

static const char *const blanks = " \t\r\n";

/* Whether the path is that of a class in NeMo or in what it is built on. A path may lead through a module to what that
 * module has imported, as in "nemo.core.config.os.system"; so no component may be the name of another package. */
static bool is_harmless(const char *path, size_t length)
{
    static const char *const packages[] = {
        "nemo.collections.",     "nemo.core.",         "nemo.lightning.", "torch.nn.",     "torch.optim.",
        "nemo_text_processing.", "pytorch_lightning.", "lightning.",      "torchmetrics.", "megatron.core.",
    };
    static const char *const modules = " os sys subprocess builtins importlib shutil pickle ctypes torch numpy hydra "
                                       "runpy pathlib tempfile tarfile io socket code types functools operator "
                                       "multiprocessing joblib dill cloudpickle requests urllib ";
    size_t last = 0;
    if (!SP_BEGINS_WITH_ANY(path, packages)) return false;
    for (size_t at = 0; at < length;) {
        char component[32] = " ";
        size_t end = at;
        while (end < length && sp_is_word(path[end])) end++;
        if (end == at || (end < length && path[end] != '.')) return false;
        if (at && end - at < sizeof component - 3) {
            memcpy(component + 1, path + at, end - at);
            component[end - at + 1] = ' ';
            if (strstr(modules, component)) return false;
        }
        last = at;
        at = end + 1;
    }
    return path[last] >= 'A' && path[last] <= 'Z' && strncmp(path + last, "Popen", 5) != 0;
}

struct scan {
    const char *text;
    struct shapeproof_inventory *inventory;
    const char *first; /* that is reported */
    size_t count;
};

static void report(struct scan *scan, const char *name, size_t length)
{
    struct sp_text shown = {0};
    if (scan->count++) return;
    sp_text_visible(&shown, name, length);
    scan->first = sp_text_keep(&shown, &scan->inventory->arena);
}

/* Whether an anchor stands before the word, as in "&name target": a reference may make it a key elsewhere. */
static bool is_anchored(const struct scan *scan, const char *word)
{
    const char *at = word;
    while (at > scan->text && strchr(" \t\r\n\"'", at[-1])) at--;
    while (at > scan->text && !strchr(" \t\r\n", at[-1])) at--;
    return at < word && *at == '&';
}

/* The word at `key`: what follows it is judged if the word is a key. `always`: it is reported if it is none, and its
 * value even if that is no path. */
static void judge_value(struct scan *scan, const char *key, size_t length, bool always)
{
    const char *at = key + length;
    at += *at == '"' || *at == '\'';
    at += strspn(at, blanks);
    if (*at != ':') {
        if (always || is_anchored(scan, key)) report(scan, key, length);
        return;
    }
    at += 1 + strspn(at + 1, blanks);
    const bool quoted = *at == '"' || *at == '\'';
    at += quoted;
    const size_t value = strcspn(at, quoted ? "\"'" : " \t\r\n,}#");
    /* a value that is a reference, a tag or a block may be any text */
    if ((always || memchr(at, '.', value) || (value && strchr("*&$!|>", *at))) && !is_harmless(at, value))
        report(scan, at, value);
}

/* Each word "_target_", "target" and "cls". */
static void judge_words(struct scan *scan)
{
    static const char *const words[] = {"_target_", "target", "cls"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        for (const char *at = scan->text; (at = strstr(at, words[i])); at += length)
            if ((at == scan->text || !sp_is_word(at[-1])) && !sp_is_word(at[length])) judge_value(scan, at, length, !i);
    }
}

/* Escapes of letters, digits, '_' and '.', and of the end of a line: \x5f, \u005f, \U0000005f. */
static void judge_escapes(struct scan *scan)
{
    for (const char *at = scan->text; (at = strchr(at, '\\')); at += at[1] ? 2 : 1) {
        const size_t digits = at[1] == 'x' ? 2 : at[1] == 'u' ? 4 : at[1] == 'U' ? 8 : 0;
        unsigned long code = 0;
        size_t i = 0;
        for (; i < digits && at[2 + i] && strchr("0123456789abcdefABCDEF", at[2 + i]); i++)
            code = code * 16 + (unsigned long)(sp_is_digit(at[2 + i]) ? at[2 + i] - '0' : (at[2 + i] | 32) - 'a' + 10);
        if (at[1] == '\n' || at[1] == '\r') report(scan, at, 1);
        else if (digits && i == digits && code < 128 && (sp_is_word((char)code) || code == '.'))
            report(scan, at, 2 + i);
    }
}

void sp_nemo_judge(const struct sp_file *file, const char *what, struct shapeproof_inventory *inventory)
{
    struct shapeproof_error why = {0};
    struct scan scan = {.inventory = inventory};
    if (file->size > MAX_SETTINGS) {
        sp_inventory_warn(inventory, "%s has more than %d bytes, so that it is not known what it would call", what,
                          MAX_SETTINGS);
        return;
    }
    const size_t size = (size_t)file->size;
    char *text = sp_realloc(NULL, size + 1, 1);
    text[size] = '\0';
    scan.text = text;
    if (!sp_file_read(file, 0, text, size, &why)) {
        sp_inventory_warn(inventory, "%s is not read, so that it is not known what it would call: %s", what,
                          why.message);
    } else {
        judge_words(&scan);
        judge_escapes(&scan);
    }
    sp_free(text);
    if (scan.count)
        sp_inventory_warn(inventory, "restoring the model would import or call what %s names: %zu, the first %s", what,
                          scan.count, sp_quote(scan.first).text);
}
