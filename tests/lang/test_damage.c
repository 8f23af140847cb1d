/* SPDX-License-Identifier: MIT
 * The built-in tables with random damage: each either is a table file still, and then predicts something or says why
 * not, or is refused with a place. Nothing crashes or hangs. The seed makes a failure repeatable. */
#define _POSIX_C_SOURCE 200809L
#include "lang/harness.h"

#include "lang/builtin.h"
#include "lang/eval.h"

enum { ROUNDS = 250, MAX_EDITS = 6 };

static uint64_t random_state = 0x5eed;

static size_t random_below(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % limit);
}

/* Bytes that mean something to the language, more often than others. */
static char random_byte(void)
{
    static const char telling[] = "()[]{}<>=+-*/%^?:,.\"#\n \t09azAZ_\\\x01\xff";
    return random_below(4) ? telling[random_below(sizeof telling)] : (char)random_below(256);
}

static void insert(struct sp_text *text, size_t at, const char *bytes, size_t length)
{
    struct sp_text tail = {0};
    sp_text_append(&tail, text->data + at, text->length - at);
    text->length = at;
    sp_text_append(text, bytes, length);
    sp_text_append(text, tail.data, tail.length);
    sp_text_free(&tail);
}

static void damage(struct sp_text *text)
{
    static const char *const words[] = {
        " if ",    " for i in ", "0..10^9",    " default ", " same as ", "extends llama", "table t",
        "part p(", " from ",     " with a = ", "10^18",     "10^9",      " when ",        " always"};
    const size_t at = random_below(text->length), length = 1 + random_below(60);
    const size_t rest = text->length - at, part = length < rest ? length : rest;
    char *copy = strndup(text->data + at, part);
    switch (random_below(5)) {
    case 0: /* flip */
        text->data[at] = random_byte();
        break;
    case 1: /* delete */
        memmove(text->data + at, text->data + at + part, rest - part + 1);
        text->length -= part;
        break;
    case 2: /* duplicate */
        insert(text, at, copy, strlen(copy));
        break;
    case 3: /* move */
        insert(text, random_below(text->length), copy, strlen(copy));
        break;
    default: {
        const char *word = words[random_below(sizeof words / sizeof *words)];
        insert(text, at, word, strlen(word));
    }
    }
    free(copy);
}

static struct shapeproof_config *small_config(void)
{
    struct shapeproof_config *config = shapeproof_config_new();
    apply_settings(config, "vocab_size=11 hidden_size=8 n_embd=8 d_model=8 num_hidden_layers=2 n_layer=2 num_layers=2 "
                           "num_attention_heads=2 n_head=2 intermediate_size=6 d_ff=6 d_kv=4 num_heads=2 "
                           "depths=[2,1] text_config={} vision_config={} encoder_layers=2 decoder_layers=2");
    return config;
}

static void check_status(enum shapeproof_status status, const struct shapeproof_error *error)
{
    if (status != SHAPEPROOF_OK && status != SHAPEPROOF_ERR_TABLE && status != SHAPEPROOF_ERR_UNKNOWN)
        fail_msg("status %d: %s", (int)status, error->message);
    assert_int_equal(status != SHAPEPROOF_OK, error->message[0] != '\0');
}

/* Asks for a table of the damaged file and for each of its dimensions. */
static void try_table(const struct shapeproof_tables *tables, const char *name, const struct shapeproof_config *config)
{
    struct shapeproof_error error = {0};
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = name}, &error);
    check_status(error.status, &error);
    for (size_t i = 0; prediction && i < shapeproof_prediction_count(prediction) && i < 50; i++)
        for (uint32_t k = 0; k < shapeproof_prediction_tensor(prediction, i)->rank; k++)
            free(shapeproof_prediction_dimension(prediction, i, k));
    shapeproof_prediction_free(prediction);
}

static void one_round(const struct sp_builtin_file *file, struct shapeproof_tables *tables,
                      const struct shapeproof_config *config, size_t *accepted)
{
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    sp_text_append(&text, sp_builtin_text + file->text, file->length);
    for (size_t edits = 1 + random_below(MAX_EDITS); edits > 0 && text.length; edits--) damage(&text);
    const size_t before = tables->own.count;
    check_status(shapeproof_tables_add_text(tables, sp_builtin_word(file->words), text.data, text.length, &error),
                 &error);
    *accepted += tables->own.count > before;
    for (size_t i = before; i < tables->own.count; i++)
        if (tables->own.items[i]->is_table) try_table(tables, tables->own.items[i]->name, config);
    sp_text_free(&text);
}

static void damaged_tables(void **state)
{
    (void)state;
    struct shapeproof_config *config = small_config();
    struct shapeproof_tables *tables = NULL;
    size_t accepted = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct shapeproof_error error = {0};
        if (round % 20 == 0) {
            shapeproof_tables_free(tables);
            tables = shapeproof_tables_new(&error);
        }
        one_round(&sp_builtin_files[random_below(sp_builtin_file_count)], tables, config, &accepted);
    }
    print_message("%zu of %d damaged files are tables still\n", accepted, ROUNDS);
    assert_in_range(accepted, ROUNDS / 50, ROUNDS / 2); /* neither harmless nor always fatal */
    shapeproof_tables_free(tables);
    shapeproof_config_free(config);
}

/* Every beginning of a file, as an interrupted download leaves it. */
static void cut_tables(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    const struct sp_builtin_file *file = &sp_builtin_files[random_below(sp_builtin_file_count)];
    for (size_t length = 0; length < file->length; length += 1 + random_below(7)) {
        error = (struct shapeproof_error){0};
        check_status(shapeproof_tables_add_text(tables, "file", sp_builtin_text + file->text, length, &error), &error);
    }
    shapeproof_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_tables),
        cmocka_unit_test(cut_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
