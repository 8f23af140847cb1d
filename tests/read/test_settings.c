/* SPDX-License-Identifier: MIT
 * What a pickle says besides its tensors: dictionaries, namespaces, objects, and those that are made to be large. */
#include "torch_helper.h"

#include <stdlib.h>

#include "read/torch/torch.h"

/* Reads a pickle that ends with the bytes given, behind a dictionary that has no tensor; NULL without settings. The
 * text is to be freed. */
static char *settings_of(const char *bytes, size_t length)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("x.pkl");
    struct sp_torch torch = {.inventory = inventory, .key_prefix = ""};
    struct sp_pickle pickle;
    assert_true(sp_pickle_read(&pickle, &torch.arena, "x", bytes, length, &error));
    sp_torch_note_settings(&torch, pickle.root);
    char *text = inventory->settings ? strdup(inventory->settings) : NULL;
    sp_torch_free(&torch);
    shapeproof_inventory_close(inventory);
    return text;
}

static void assert_settings(const char *bytes, size_t length, const char *expected)
{
    char *text = settings_of(bytes, length);
    if (expected) assert_string_equal(text, expected);
    else assert_null(text);
    free(text);
}

#define SETTINGS(bytes, expected) assert_settings(bytes, sizeof bytes - 1, expected)

static void test_values(void **state)
{
    (void)state;
    SETTINGS("(dS'a'\n(lI1\naF0.5\naNaI01\nasS'b'\nS'\\xc3\\xa9'\ns.",
             "{\"a\": [1, 0.5, null, true], \"b\": \"\xc3\xa9\"}");
    SETTINGS("(dS'a'\n(I0\nS'x'\ntsI7\nI8\nsF1.0\nI9\ns.",
             "{\"a\": [0, \"x\"]}"); /* keys that are no text: not at the top */
    SETTINGS("(dS'd'\nctorch\nbfloat16\nsS'f'\ncos\nsystem\ns.", "{\"d\": \"bfloat16\"}");
    SETTINGS("(dS'm'\n(dI0\nS'a'\nsF1.0\nI2\nss.", "{\"m\": {\"0\": \"a\"}}");
    SETTINGS("(dS'a'\nS'\\x00'\nsS'b'\nS'\\xff'\ns.", NULL); /* no text of JSON */
    SETTINGS("(d.", NULL);
    SETTINGS("I1\n.", NULL);
}

/* An object is its state with its class, or what was set; a call without either, such as os.system("x"), is nothing. */
static void test_objects(void **state)
{
    (void)state;
    SETTINGS("\x80\x02}U\x01"
             "acargparse\nNamespace\n)\x81}U\x01"
             "bK\x05sbs.",
             "{\"a\": {\"__class__\": \"argparse.Namespace\", \"b\": 5}}");
    SETTINGS("(dS'a'\ncos\nsystem\n(S'x'\ntRsS'b'\nI1\ns.", "{\"b\": 1}");
    SETTINGS("(dS'a'\nccollections\nOrderedDict\n(tRS'b'\nI1\nss.", "{\"a\": {\"b\": 1}}");
    SETTINGS("(dS'optimizer'\n(dS'lr'\nF0.5\nssS'hyper_parameters'\n(dS'lr'\nF0.5\nss.",
             "{\"hyper_parameters\": {\"lr\": 0.5}}");
}

/* A dictionary that holds itself, lists that double what they hold, text that is too long: all end, and soon. */
static void test_hostile(void **state)
{
    (void)state;
    struct sp_text doubled = {0}, long_text = {0}, floats = {0};
    static const char own[] = "(dp0\nS'a'\ng0\nsS'b'\nI1\ns.";
    char *text = settings_of(own, sizeof own - 1);
    assert_true(text && strlen(text) < 1000);
    free(text);
    sp_text_puts(&doubled, "(dS'a'\n(lp0\ns");
    for (int i = 1; i <= 60; i++) sp_text_printf(&doubled, "S'a'\n(lp%d\ng%d\nag%d\nas", i, i - 1, i - 1);
    sp_text_puts(&doubled, ".");
    text = settings_of(doubled.data, doubled.length);
    assert_true(!text || strlen(text) <= 1 << 20);
    free(text);
    sp_text_puts(&long_text, "(dS'a'\nS'");
    for (int i = 0; i < 5000; i++) sp_text_puts(&long_text, "x");
    sp_text_puts(&long_text, "'\nsS'b'\nI1\ns.");
    assert_settings(long_text.data, long_text.length, "{\"b\": 1}");
    /* Members with keys that are left out count too: a dictionary of them, referred to as many times. */
    sp_text_puts(&floats, "(dS'before'\nI1\nsS'a'\n(l(d");
    for (int i = 0; i < 20000; i++) sp_text_printf(&floats, "F%d.5\nI1\ns", i);
    sp_text_puts(&floats, "p0\na");
    for (int i = 0; i < 20000; i++) sp_text_puts(&floats, "g0\na");
    sp_text_puts(&floats, "sS'c'\nI1\ns.");
    assert_settings(floats.data, floats.length, "{\"before\": 1, \"c\": 1}"); /* what is too much is left out alone */
    sp_text_free(&floats);
    sp_text_free(&doubled);
    sp_text_free(&long_text);
}

/* The fixtures that programs have written. */
static void test_files(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = index_path("fixtures/configured/nanogpt.pt", &error);
    assert_non_null(inventory);
    assert_string_equal(shapeproof_inventory_settings(inventory),
                        "{\"model_args\": {\"n_layer\": 1, \"n_head\": 1, \"n_embd\": 4, \"block_size\": 8, "
                        "\"bias\": false, \"vocab_size\": 10, \"dropout\": 0.0}, \"iter_num\": 5, "
                        "\"best_val_loss\": 1.5, \"config\": {\"out_dir\": \"out\", \"n_layer\": 1}}");
    shapeproof_inventory_close(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_objects),
                                       cmocka_unit_test(test_hostile), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
