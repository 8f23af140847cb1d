/* SPDX-License-Identifier: MIT
 * What llama.cpp's converter made of small models: fixtures/gguf/converted.txt. A file must match by its own metadata
 * and by the configuration of the original, and a comparison of the two must leave nothing over but what it says. */
#define _GNU_SOURCE /* getline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/recorded.h"
#include "formats.h"

/* Configurations of models whose code is their own, that no table is about. */
enum { UNKNOWN = 1 };

/* Of so many conversions with a fault one is inferred: a file that its metadata do not explain takes 50 ms. */
enum { INFERRED = 8 };

struct conversion {
    char *name;            /* of the model that is read, or NULL */
    struct model original; /* its configuration is that of the original */
    struct model file;     /* without a configuration */
    struct shapeproof_value metadata;
    struct sp_arena arena;
    size_t count, unknown, wrong;
};

static void complain(struct conversion *conversion, const char *what, const char *found)
{
    conversion->wrong++;
    print_message("%s: %s: %s\n", conversion->name, what, found);
}

static void add_metadata(const struct conversion *conversion, struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < conversion->metadata.count; i++) {
        const struct shapeproof_member *member = &conversion->metadata.members[i];
        struct sp_text text = {0};
        if (strcmp(member->key, "tokenizer.ggml.tokens") == 0)
            sp_text_printf(&text, "%" PRId64 " strings", member->value.integer);
        else if (member->value.type == SHAPEPROOF_VALUE_STRING) sp_text_puts(&text, member->value.string);
        else sp_value_json(&text, member->value);
        sp_inventory_add_metadata(inventory, member->key, text.data);
        sp_text_free(&text);
    }
}

static struct shapeproof_inventory *converted_file(struct conversion *conversion)
{
    struct shapeproof_inventory *inventory = model_in_memory(&conversion->file);
    inventory->format = &format_gguf;
    add_metadata(conversion, inventory);
    return inventory;
}

/* Whether all errors come of how the record was made: keys with real numbers are left out, and the small models have
 * fewer experts than their classes use by default. */
static bool is_as_recorded(const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++) {
        const struct shapeproof_cause *cause = shapeproof_check_cause(check, i);
        if (cause->severity != SHAPEPROOF_SEVERITY_ERROR) continue;
        const bool lacks = strcmp(cause->id, "metadata") == 0 && strstr(cause->message, " is absent");
        if (!lacks && !strstr(cause->message, ".expert_used_count is ")) return false;
    }
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        if (finding->cause == SHAPEPROOF_NONE && finding->severity == SHAPEPROOF_SEVERITY_ERROR) return false;
    }
    return true;
}

static void hold_against(struct conversion *conversion, struct shapeproof_config *config, const char *what)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = converted_file(conversion);
    struct shapeproof_check *check = NULL;
    if (shapeproof_config_fit(config, conversion->original.tables, NULL, inventory, &error) == SHAPEPROOF_OK)
        check = shapeproof_check_new(inventory, conversion->original.tables, config, NULL, &error);
    if (!check && error.status == SHAPEPROOF_ERR_UNKNOWN && config == conversion->original.config)
        conversion->unknown++;
    else if (!check || (shapeproof_check_verdict(check) == SHAPEPROOF_VERDICT_DIFFERS && !is_as_recorded(check)))
        complain(conversion, what, check ? shapeproof_check_summary(check) : error.message);
    shapeproof_check_free(check);
    shapeproof_inventory_close(inventory);
}

/* The first note of `infer` that the metadata contradict the tensors, in the arena; NULL without one. */
static const char *contradiction(struct conversion *conversion)
{
    struct shapeproof_error error = {0};
    const char *said = NULL;
    struct shapeproof_inventory *inventory = converted_file(conversion);
    struct shapeproof_inference *inference = shapeproof_infer(inventory, conversion->original.tables, NULL, &error);
    for (size_t i = 0; inference && !said && i < shapeproof_inference_note_count(inference); i++) {
        const struct shapeproof_inference_note *note = shapeproof_inference_note(inference, i);
        if (strcmp(note->id, "metadata") == 0) said = sp_arena_string(&conversion->arena, note->message);
    }
    shapeproof_inference_free(inference);
    shapeproof_inventory_close(inventory);
    return said;
}

/* Whether a check by the metadata alone finds tensors that are not as predicted. */
static bool differs_alone(struct conversion *conversion)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *alone = shapeproof_config_new();
    struct shapeproof_inventory *inventory = converted_file(conversion);
    struct shapeproof_check *check = NULL;
    if (shapeproof_config_fit(alone, conversion->original.tables, NULL, inventory, &error) == SHAPEPROOF_OK)
        check = shapeproof_check_new(inventory, conversion->original.tables, alone, NULL, &error);
    const bool differs = check && shapeproof_check_finding_count(check) > 0 &&
                         shapeproof_check_verdict(check) == SHAPEPROOF_VERDICT_DIFFERS;
    shapeproof_check_free(check);
    shapeproof_inventory_close(inventory);
    shapeproof_config_free(alone);
    return differs;
}

/* Whether it is the key of the width of a feed-forward network that is no expert's, with one value for all layers. */
static bool is_width(const struct shapeproof_member *member)
{
    const char *dot = strchr(member->key, '.');
    return dot && strcmp(dot, ".feed_forward_length") == 0 && member->value.type == SHAPEPROOF_VALUE_INT;
}

/* With another width in the metadata, a check by the configuration must name the key, and so must `infer` if a table
 * reads it: then a check by the metadata alone finds tensors that differ. */
static void plant_width(struct conversion *conversion)
{
    const struct shapeproof_value right = conversion->metadata;
    struct shapeproof_member *members = sp_arena_array(&conversion->arena, right.count, sizeof *members);
    struct shapeproof_error error = {0};
    bool planted = false;
    for (size_t i = 0; i < right.count; i++) {
        members[i] = right.members[i];
        if (!is_width(&members[i])) continue;
        members[i].value.integer++;
        planted = true;
    }
    if (!planted) return;
    conversion->metadata.members = members;
    struct shapeproof_inventory *inventory = converted_file(conversion);
    struct shapeproof_check *check =
        shapeproof_check_new(inventory, conversion->original.tables, conversion->original.config, NULL, &error);
    if (check && !strstr(shapeproof_check_summary(check), ".feed_forward_length"))
        complain(conversion, "another feed_forward_length", shapeproof_check_summary(check));
    shapeproof_check_free(check);
    shapeproof_inventory_close(inventory);
    if (conversion->count % INFERRED == 0) {
        const char *said = contradiction(conversion);
        if (differs_alone(conversion) != (said && strstr(said, ".feed_forward_length")))
            complain(conversion, "infer of another feed_forward_length", said ? said : "nothing is said");
    }
    conversion->metadata = right;
}

static void compare_conversion(struct conversion *conversion, const char *expected)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *a = model_in_memory(&conversion->original), *b = converted_file(conversion);
    a->format = &format_safetensors;
    struct shapeproof_diff *diff = shapeproof_diff_new(a, b, NULL, &error);
    if (!diff || strcmp(shapeproof_diff_summary(diff), expected) != 0)
        complain(conversion, "diff", diff ? shapeproof_diff_summary(diff) : error.message);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(a);
    shapeproof_inventory_close(b);
}

/* The last line of each: all of it is known. */
static void close_conversion(struct conversion *conversion, const char *expected)
{
    struct shapeproof_config *alone = shapeproof_config_new();
    conversion->count++;
    hold_against(conversion, alone, "check");
    const char *said = contradiction(conversion);
    if (said) complain(conversion, "infer", said);
    if (strncmp(conversion->name, "mmproj-", 7) != 0) {
        hold_against(conversion, conversion->original.config, "check --config");
        plant_width(conversion);
    }
    compare_conversion(conversion, expected);
    shapeproof_config_free(alone);
    model_close(&conversion->original);
    model_close(&conversion->file);
    sp_arena_free(&conversion->arena);
    free(conversion->name);
    conversion->name = NULL;
}

static void add_tensor_line(struct model *model, char *rest)
{
    char *tab = strchr(rest, '\t');
    if (!tab) die(rest, "has no shape");
    *tab = '\0';
    model_add_recorded(model, rest, tab + 1);
}

static void read_conversion_line(void *context, const char *word, char *rest)
{
    struct conversion *conversion = context;
    struct shapeproof_error error = {0};
    if (strcmp(word, "base") == 0) conversion->name = strdup(rest);
    else if (strcmp(word, "config") == 0) {
        model_open(&conversion->original, rest);
        conversion->file = (struct model){0};
        scratch_make(&conversion->file.scratch);
    } else if (strcmp(word, "metadata") == 0) {
        if (!sp_value_parse_json(&conversion->arena, rest, strlen(rest), &conversion->metadata, &error))
            die(rest, error.message);
    } else if (strcmp(word, "original") == 0) add_tensor_line(&conversion->original, rest);
    else if (strcmp(word, "file") == 0) add_tensor_line(&conversion->file, rest);
    else if (strcmp(word, "diff") == 0) close_conversion(conversion, rest);
}

static void knows_conversions(void **state)
{
    struct conversion conversion = {0};
    read_record(*state, read_conversion_line, &conversion);
    print_message("%zu conversions, %zu of unknown configurations, %zu wrong\n", conversion.count, conversion.unknown,
                  conversion.wrong);
    assert_true(conversion.count > 0);
    assert_true(conversion.unknown <= UNKNOWN);
    assert_int_equal(conversion.wrong, 0);
}

/* With files, those are held against instead: test_converted FILE... */
int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {{"knows_conversions", knows_conversions, NULL, NULL, "fixtures/gguf/converted.txt"}};
    if (argc > 1) tests[0].initial_state = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
