/* SPDX-License-Identifier: MIT
 * What redacting leaves of names, values and messages; and that distinct names stay distinct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "redact/redact.h"
#include "shapeproof/shapeproof.h"

struct example {
    const char *text, *redacted;
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void names_keep_known_words(void **state)
{
    static const struct example examples[] = {
        {"model.layers.3.mlp.experts.7.up_proj.weight", "model.layers.3.mlp.experts.7.up_proj.weight"},
        {"model.acme_head.3.weight", "model.name1_head.3.weight"},
        {"acme.acme2.ACME", "name1.name2.name3"}, /* a case of its own is another word */
        {"layer12/conv2d_1/kernel:0", "layer12/conv2d_1/kernel:0"},
        {"h123456.h1234567", "name4.name5"}, /* one letter with a number may be a part of a hash */
        {"layers.123456.1234567", "layers.123456.name6"},
        {"model weight", "name7"}, /* what is no separator is part of a word */
        {"p@ss.w\xc3\xb6rd", "name8.name9"},
        {"name1.text2.name", "name10.name11.name"},
        {"", ""},
        {"..", ".."},
    };
    struct shapeproof_redaction *redaction = shapeproof_redaction_new();
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        struct sp_text text = {0};
        sp_text_puts(&text, "");
        const bool known = sp_redact_name(redaction, &text, examples[i].text, strlen(examples[i].text));
        assert_string_equal(text.data, examples[i].redacted);
        assert_int_equal(known, strcmp(examples[i].text, examples[i].redacted) == 0);
        sp_text_free(&text);
    }
    shapeproof_redaction_free(redaction);
}

static void values_keep_numbers_and_known_words(void **state)
{
    static const struct {
        const char *value;
        bool key_is_known;
        const char *redacted;
    } examples[] = {
        {"pt", true, "pt"},
        {"llama", false, "llama"},
        {"a llama", true, "text1"},
        {"12", true, "12"},
        {"-1.5e-3", true, "-1.5e-3"},
        {"12", false, "text2"},
        {"true", true, "true"},
        {"", true, ""},
        {"{\"n_layer\": 12, \"author\": \"Jane\", \"jane\": 12}", true,
         "{\"n_layer\":12,\"name1\":\"text3\",\"name2\":\"text2\"}"},
        {"[1, [\"pt\", null], {}, []]", true, "[1,[\"pt\",null],{},[]]"},
        {"[1, \"quote \\\" in it\"]", false, "[\"text4\",\"text5\"]"},
        {"{\"open\": ", true, "text6"},
        {"{} {}", true, "text7"},
        {"\"Jane\"", true, "text8"},
        {"2024-11-28", true, "text9"},
        {"192.168.0.1", true, "text10"},
        {"torch.float16", false, "torch.float16"},
    };
    struct shapeproof_redaction *redaction = shapeproof_redaction_new();
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        struct sp_text text = {0};
        sp_text_puts(&text, "");
        sp_redact_value(redaction, &text, examples[i].value, examples[i].key_is_known);
        assert_string_equal(text.data, examples[i].redacted);
        sp_text_free(&text);
    }
    shapeproof_redaction_free(redaction);
}

static void messages_keep_their_words(void **state)
{
    static const struct example examples[] = {
        {"tensor 'acme.weight' has 4294967296 bytes, not 3", "tensor 'name1.weight' has 4294967296 bytes, not 3"},
        {"tensor 'it's' is not read: 'acme' is ambiguous", "tensor 'name2' is not read: 'name1' is ambiguous"},
        {"/home/jane/acme/model.pt: truncated", "model.pt: truncated"},
        {"/home/jane/acme/model.pt/acme: /home/jane/acme/other", "model.pt/name1: name1/other"},
        {"acme: cannot read 'jane", "name1: cannot read 'name3"},
        {"", ""},
    };
    struct shapeproof_redaction *redaction = shapeproof_redaction_new();
    (void)state;
    static const char *const paths[] = {"/home/jane/acme", "/home/jane/acme/model.pt", "/"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        char *path = shapeproof_redact_path(redaction, paths[i]);
        shapeproof_free(path);
    }
    for (size_t i = 0; i < COUNT(examples); i++) {
        char *message = shapeproof_redact_message(redaction, examples[i].text);
        assert_string_equal(message, examples[i].redacted);
        shapeproof_free(message);
    }
    shapeproof_redaction_free(redaction);
}

static void paths_lose_their_folders(void **state)
{
    static const struct example examples[] = {{"/home/jane/model.safetensors", "model.safetensors"},
                                              {"/home/jane/", "name1"},
                                              {"jane", "name1"},
                                              {"hf://jane/acme", "name2"},
                                              {"/", ""},
                                              {"-", "-"},
                                              {"", ""}};
    struct shapeproof_redaction *redaction = shapeproof_redaction_new();
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        char *path = shapeproof_redact_path(redaction, examples[i].text);
        assert_string_equal(path, examples[i].redacted);
        shapeproof_free(path);
    }
    shapeproof_redaction_free(redaction);
}

/* Names are found by their redacted form, numbers and ties stay. */
static void inventories_keep_all_but_texts(void **state)
{
    static const uint64_t shape[] = {2, 3};
    static const struct shapeproof_tensor_description tensors[] = {
        {.name = "acme.weight", .shape = shape, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32, .storage = "jane"},
        {.name = "acme.tied", .shape = shape, .rank = 2, .dtype = SHAPEPROOF_DTYPE_F32, .storage = "jane"},
        {.name = "odd", .shape = shape, .rank = 2, .dtype_name = "jane32"}};
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_describe("acme", tensors, 3, &error);
    struct shapeproof_redaction *redaction = shapeproof_redaction_new();
    (void)state;
    assert_non_null(inventory);
    assert_false(shapeproof_inventory_is_redacted(inventory));
    shapeproof_redact_inventory(redaction, inventory);
    shapeproof_redaction_free(redaction); /* the inventory owns its texts */
    assert_true(shapeproof_inventory_is_redacted(inventory));
    assert_string_equal(shapeproof_inventory_path(inventory), "name1");
    assert_string_equal(shapeproof_inventory_file(inventory, 0), "name1");
    assert_int_equal(shapeproof_inventory_find(inventory, "acme.weight"), SHAPEPROOF_NONE);
    const size_t tied = shapeproof_inventory_find(inventory, "name1.tied");
    assert_int_equal(tied, 1);
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, tied);
    assert_int_equal(tensor->same_as, 0);
    assert_int_equal(tensor->parameters, 6);
    assert_string_equal(tensor->storage, "name2");
    assert_string_equal(shapeproof_inventory_tensor(inventory, 2)->dtype_name, "name3");
    assert_int_equal(shapeproof_inventory_totals(inventory)->unique_parameters, 12);
    shapeproof_inventory_close(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_known_words),         cmocka_unit_test(values_keep_numbers_and_known_words),
        cmocka_unit_test(messages_keep_their_words),      cmocka_unit_test(paths_lose_their_folders),
        cmocka_unit_test(inventories_keep_all_but_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
