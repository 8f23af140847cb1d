/* SPDX-License-Identifier: MIT
 * Tensors as lines, a line "====", and a text: what is left of names, values, paths and messages is redacted already,
 * and no two names become one. */
#include "described.h"

#include "mutate_json.h"

#include "redact/redact.h"

enum { MAX_SIZE = 4096 };

/* Whether the text has only words of a placeholder's or a well-known word's letters: no blanks, no bytes of UTF-8. */
static bool is_plain(const char *name)
{
    for (; *name; name++)
        if (*name <= ' ' || *name == 0x7f) return false;
    return true;
}

static void redact_tensors(struct shapeproof_redaction *redaction, const char *lines)
{
    struct shapeproof_inventory *inventory = describe_lines(lines);
    if (!inventory) return;
    const size_t count = shapeproof_inventory_count(inventory);
    const uint64_t elements = shapeproof_inventory_totals(inventory)->unique_parameters;
    shapeproof_redact_inventory(redaction, inventory);
    fuzz_must(shapeproof_inventory_is_redacted(inventory) && shapeproof_inventory_count(inventory) == count);
    fuzz_must(shapeproof_inventory_totals(inventory)->unique_parameters == elements);
    for (size_t i = 0; i < count; i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        fuzz_must(is_plain(name) && shapeproof_inventory_find(inventory, name) == i);
    }
    shapeproof_inventory_close(inventory);
}

static void redact_value(struct shapeproof_redaction *redaction, const char *value, bool key_is_known)
{
    struct sp_text text = {0};
    sp_redact_value(redaction, &text, value, key_is_known);
    sp_text_free(&text);
}

/* Made once, since its list of words takes longer to make than an input takes. */
static struct shapeproof_redaction *made;

static void redact_input(const unsigned char *data, size_t size)
{
    const char *texts[2];
    size_t lengths[2];
    char *copy = fuzz_split(data, size, texts, lengths, 2);
    char *path = shapeproof_redact_path(made, texts[1]);
    fuzz_must(is_plain(path) && !strchr(path, '/'));
    redact_tensors(made, texts[0]);
    for (int known = 0; known < 2; known++) redact_value(made, texts[1], known);
    shapeproof_free(shapeproof_redact_message(made, texts[1]));
    shapeproof_free(path);
    free(copy);
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    if (!made) made = shapeproof_redaction_new();
    if (size <= MAX_SIZE) fuzz_undone(redact_input, data, size);
}

JSON_MUTATOR(JSON_TEXT(1))
