/* SPDX-License-Identifier: MIT
 * Which quantisation a file has: each that its names allow is predicted for a few modules, then, of those that fit
 * best, for the whole. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "check/check.h"

enum { MAX_INDICES = 24, MAX_SHOWING = 8, MAX_FORMS = 512, FINALISTS = 3 };

/* quantization_config of methods; BITS and GROUP stand for numbers to be tried. */
static const char *const forms[] = {
    "{\"quant_method\":\"gptq\",\"bits\":BITS,\"group_size\":GROUP}",
    "{\"quant_method\":\"awq\",\"bits\":BITS,\"group_size\":GROUP}",
    "{\"quant_method\":\"mlx\",\"bits\":BITS,\"group_size\":GROUP}",
    "{\"quant_method\":\"mlx\",\"mode\":\"mxfp4\"}",
    "{\"quant_method\":\"mlx\",\"mode\":\"nvfp4\"}",
    "{\"quant_method\":\"mxfp4\"}",
    "{\"quant_method\":\"fp8\",\"weight_block_size\":[128,128]}",
    "{\"quant_method\":\"fp8\"}",
    "{\"quant_method\":\"fp8\",\"activation_scheme\":\"static\"}",
    "{\"quant_method\":\"fbgemm_fp8\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\"}",
    "{\"quant_method\":\"modelopt\",\"quant_algo\":\"FP8\"}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":BITS,\"strategy\":\"group\",\"group_size\":GROUP}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":BITS,\"strategy\":\"group\",\"group_size\":GROUP,\"symmetric\":false}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":BITS,\"strategy\":\"channel\"}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":8,\"strategy\":\"channel\"}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"float-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":8,\"strategy\":\"tensor\"},\"input_activations\":{\"dynamic\":false}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"int-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":8,\"strategy\":\"channel\"}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"nvfp4-pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":4,\"strategy\":\"tensor_group\",\"group_size\":16}}}}",
    "{\"quant_method\":\"compressed-tensors\",\"format\":\"mxfp4-pack-quantized\",\"config_groups\":{\"group_0\":"
    "{\"weights\":{\"num_bits\":4,\"strategy\":\"group\",\"group_size\":32}}}}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"nf4\","
    "\"bnb_4bit_use_double_quant\":false}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"nf4\","
    "\"bnb_4bit_use_double_quant\":true}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"fp4\","
    "\"bnb_4bit_use_double_quant\":false}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,\"bnb_4bit_quant_type\":\"fp4\","
    "\"bnb_4bit_use_double_quant\":true}",
    "{\"quant_method\":\"bitsandbytes\",\"load_in_8bit\":true}",
    "{\"quant_method\":\"quanto\",\"weights\":\"int8\"}",
    "{\"quant_method\":\"quanto\",\"weights\":\"float8\"}",
    "{\"quant_method\":\"bitnet\"}",
};

struct recogniser {
    struct sp_check *check;
    struct sp_map names; /* of the tensors of the file, as predictions have them */
    struct sp_map tails; /* their last components */
    struct sp_arena arena;
    int64_t indices[MAX_INDICES];
    size_t index_count;
    const struct sp_unit *part; /* whose tensors `storage` has found in the file */
    struct sp_file_storage storage;
    struct sp_value tried[MAX_FORMS];
    size_t errors[MAX_FORMS];
    size_t count;
};

/* ---- the names of the file ---- */

static void read_names(struct recogniser *recogniser)
{
    const struct sp_inventory *inventory = recogniser->check->inventory;
    struct sp_name_keeper keeper = {.arena = &recogniser->arena, .names = &recogniser->names};
    struct sp_finder finder = {.naming = &recogniser->check->naming, .find = sp_keep_name, .context = &keeper};
    for (size_t i = 0; i < sp_inventory_count(inventory); i++) {
        unsigned renaming;
        const char *name = sp_inventory_tensor(inventory, i)->name, *dot = strrchr(name, '.');
        sp_map_add(&recogniser->tails, dot ? dot + 1 : name, i);
        keeper.tensor = i;
        sp_finder_find(&finder, name, &renaming);
    }
    sp_finder_free(&finder);
}

static void add_index(struct recogniser *recogniser, int64_t index)
{
    for (size_t i = 0; i < recogniser->index_count; i++)
        if (recogniser->indices[i] == index) return;
    if (recogniser->index_count < MAX_INDICES) recogniser->indices[recogniser->index_count++] = index;
}

/* The indices in the names of a few tensors that show how the file is quantised. */
static void choose_few_indices(struct recogniser *recogniser)
{
    const struct sp_inventory *inventory = recogniser->check->inventory;
    struct sp_patterns patterns = {0};
    size_t showing = 0, seen = 0, last_pattern = SP_NONE;
    for (size_t i = 0; i < sp_inventory_count(inventory) && showing < MAX_SHOWING; i++) {
        const struct sp_tensor *tensor = sp_inventory_tensor(inventory, i);
        struct sp_indices indices;
        if (!sp_looks_packed(tensor)) continue;
        const size_t pattern = sp_pattern_of(&patterns, tensor->name, &indices);
        if (pattern == last_pattern && seen++ > 2) continue;
        last_pattern = pattern;
        showing++;
        for (size_t p = 0; p < indices.count; p++) add_index(recogniser, (int64_t)indices.value[p]);
    }
    qsort(recogniser->indices, recogniser->index_count, sizeof *recogniser->indices, sp_compare_integers);
    sp_patterns_free(&patterns);
}

/* ---- trying ---- */

static struct sp_prediction *predict_quantised(const struct recogniser *recogniser, struct sp_value form,
                                               const struct sp_storage *storage, const struct sp_scope *scope)
{
    const struct sp_check *check = recogniser->check;
    struct sp_config *config = sp_config_variant(check->config);
    struct sp_error error = {0};
    sp_config_set_value(config, "quantization", (struct sp_value){.type = SP_NULL}, "the file");
    sp_config_set_value(config, "quantization_config", form, "the file");
    sp_config_store(config, storage);
    sp_config_limit(config, scope);
    struct sp_prediction *prediction =
        sp_predict(check->tables, config, &(struct sp_predict_options){.table = check->table_name}, &error);
    sp_config_free(config); /* nobody asks what the dimensions mean */
    return prediction;
}

static bool is_other_dtype(const struct sp_tensor *tensor, const struct sp_predicted *expected)
{
    return expected->dtype != SP_DTYPE_UNKNOWN && expected->dtype != tensor->dtype;
}

/* Of the packed modules that the sample has; SIZE_MAX without a prediction. */
static size_t sample_errors(const struct recogniser *recogniser, struct sp_value form, const struct sp_storage *storage)
{
    const struct sp_scope scope = {recogniser->indices, recogniser->index_count, 20000};
    struct sp_prediction *prediction = predict_quantised(recogniser, form, storage, &scope);
    size_t errors = 0, packed = 0;
    for (size_t i = 0; prediction && i < sp_prediction_count(prediction); i++) {
        const struct sp_predicted *expected = sp_prediction_tensor(prediction, i);
        const size_t found = sp_map_get(&recogniser->names, expected->name);
        if (!expected->stands_for || (found == SP_NONE && expected->optional)) continue;
        const struct sp_tensor *tensor =
            found == SP_NONE ? NULL : sp_inventory_tensor(recogniser->check->inventory, found);
        packed++;
        errors += !tensor || !sp_same_shape(tensor, expected) || is_other_dtype(tensor, expected);
    }
    sp_prediction_free(prediction);
    return packed ? errors : SIZE_MAX;
}

static size_t whole_errors(const struct recogniser *recogniser, struct sp_value form, const struct sp_storage *storage)
{
    struct sp_prediction *prediction = predict_quantised(recogniser, form, storage, NULL);
    const size_t errors = prediction ? sp_stored_errors(recogniser->check, prediction) : SIZE_MAX;
    sp_prediction_free(prediction);
    return errors;
}

static void put_form(struct sp_text *json, const char *form, int bits, int group)
{
    json->length = 0;
    for (const char *c = form; *c;) {
        if (strncmp(c, "BITS", 4) == 0) sp_text_printf(json, "%d", bits), c += 4;
        else if (strncmp(c, "GROUP", 5) == 0) sp_text_printf(json, "%d", group), c += 5;
        else sp_text_append(json, c++, 1);
    }
}

static void try_form(struct recogniser *recogniser, const char *form, int bits, int group,
                     const struct sp_storage *storage)
{
    struct sp_value value;
    struct sp_error error = {0};
    struct sp_text json = {0};
    put_form(&json, form, bits, group);
    if (recogniser->count < MAX_FORMS &&
        sp_value_parse_json(&recogniser->check->arena, json.data, json.length, &value, &error)) {
        recogniser->tried[recogniser->count] = value;
        recogniser->errors[recogniser->count++] = sample_errors(recogniser, value, storage);
    }
    sp_text_free(&json);
}

static void try_numbers(struct recogniser *recogniser, const char *form, const struct sp_storage *storage)
{
    static const int bits[] = {4, 8, 3, 2, 5, 6}, groups[] = {128, 64, 32, 16, 256, 512, 1024, -1};
    const size_t bit_count = strstr(form, "BITS") ? sizeof bits / sizeof *bits : 1;
    const size_t group_count = strstr(form, "GROUP") ? sizeof groups / sizeof *groups : 1;
    for (size_t b = 0; b < bit_count; b++)
        for (size_t g = 0; g < group_count; g++) try_form(recogniser, form, bits[b], groups[g], storage);
}

/* Of those that leave the fewest errors in the sample the one that leaves the fewest in the whole, and fewer than
 * `errors`. */
static struct sp_value best_form(struct recogniser *recogniser, const struct sp_storage *storage, size_t *errors)
{
    struct sp_value best = sp_value_absent("quantization_config");
    size_t least = SIZE_MAX, finalists = 0;
    for (size_t i = 0; i < recogniser->count; i++)
        if (recogniser->errors[i] < least) least = recogniser->errors[i];
    for (size_t i = 0; i < recogniser->count && finalists < FINALISTS && least < SIZE_MAX; i++) {
        if (recogniser->errors[i] != least) continue;
        const size_t left = whole_errors(recogniser, recogniser->tried[i], storage);
        finalists++;
        if (left >= *errors) continue;
        *errors = left;
        best = recogniser->tried[i];
    }
    return best;
}

static const struct sp_unit *part_of_method(struct recogniser *recogniser, const char *form)
{
    struct sp_quantised quantised;
    struct sp_value value;
    struct sp_error error = {0};
    struct sp_text json = {0};
    put_form(&json, form, 4, 128);
    const bool good = sp_value_parse_json(&recogniser->arena, json.data, json.length, &value, &error);
    sp_text_free(&json);
    assert(good);
    const struct sp_member member = {"quantization_config", value};
    const struct sp_hyper hyper = {.root = {.type = SP_OBJECT, .count = good, .members = &member}};
    sp_quantised_open(&quantised, recogniser->check->tables, &hyper, NULL);
    sp_quantised_close(&quantised);
    return quantised.part;
}

/* What the file says of the modules of a method is read once for all of its forms. */
static void try_method(struct recogniser *recogniser, const char *form, struct sp_value *best, size_t *errors)
{
    const struct sp_check *check = recogniser->check;
    const struct sp_unit *part = part_of_method(recogniser, form);
    if (!part || !sp_part_shows(part, &recogniser->tails)) return;
    if (part != recogniser->part) {
        sp_file_storage_free(&recogniser->storage);
        sp_file_storage_read(&recogniser->storage, part, check->inventory, &check->naming);
        recogniser->part = part;
    }
    if (!recogniser->storage.packed) return;
    recogniser->count = 0;
    try_numbers(recogniser, form, &recogniser->storage.storage);
    const struct sp_value value = best_form(recogniser, &recogniser->storage.storage, errors);
    if (sp_value_is_set(value)) *best = value;
}

struct sp_value sp_recognise_quantisation(struct sp_check *check, size_t *errors)
{
    struct recogniser recogniser = {.check = check};
    struct sp_value best = sp_value_absent("quantization_config");
    choose_few_indices(&recogniser);
    read_names(&recogniser);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && *errors; i++)
        try_method(&recogniser, forms[i], &best, errors);
    sp_file_storage_free(&recogniser.storage);
    sp_map_free(&recogniser.names);
    sp_map_free(&recogniser.tails);
    sp_arena_free(&recogniser.arena);
    return best;
}
