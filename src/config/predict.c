/* SPDX-License-Identifier: MIT
 * Predictions from a configuration: of the model, or of what is stored where it is quantised. */
#include <string.h>

#include "base/call.h"
#include "base/checked.h"
#include "config/choose.h"
#include "config/quantised.h"
#include "config/variables.h"
#include "lang/prediction.h"
#include "lang/tables.h"

/* ---- settings that no table has to look at ---- */

static bool is_about_storage(const struct sp_quantised *quantised, const char *setting)
{
    const size_t length = quantised->method ? strlen(quantised->path) : 0;
    if (strcmp(setting, "dtype") == 0 || strcmp(setting, "torch_dtype") == 0) return true;
    if (strcmp(setting, "quantization") == 0) return true;
    return length && strncmp(setting, quantised->path, length) == 0 &&
           (!setting[length] || sp_quantised_reads(setting + length + 1));
}

static void forget_unused(struct shapeproof_prediction *prediction, const struct sp_quantised *quantised)
{
    size_t kept = 0;
    for (size_t i = 0; i < prediction->unused_count; i++)
        if (!is_about_storage(quantised, prediction->unused[i])) prediction->unused[kept++] = prediction->unused[i];
    prediction->unused_count = kept;
}

/* ---- dtypes and bytes ---- */

enum shapeproof_dtype sp_configured_dtype(const struct sp_hyper *hyper, const char **key)
{
    static const struct {
        const char *name;
        enum shapeproof_dtype dtype;
    } names[] = {
        {"bfloat16", SHAPEPROOF_DTYPE_BF16}, {"float16", SHAPEPROOF_DTYPE_F16}, {"float32", SHAPEPROOF_DTYPE_F32}};
    *key = sp_value_member(hyper->root, "dtype").type == SHAPEPROOF_VALUE_STRING ? "dtype" : "torch_dtype";
    const struct shapeproof_value said = sp_value_member(hyper->root, *key);
    const char *name = said.type == SHAPEPROOF_VALUE_STRING ? said.string : "";
    if (strncmp(name, "torch.", 6) == 0) name += 6;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0) return names[i].dtype;
    return SHAPEPROOF_DTYPE_UNKNOWN;
}

/* What the table leaves open has the dtype of the model. Of scales a dtype is known only where the part says it. */
static void fill_dtypes(struct shapeproof_prediction *prediction, enum shapeproof_dtype dtype,
                        const struct sp_quantised *quantised)
{
    const enum shapeproof_dtype scales = !quantised->typed                               ? SHAPEPROOF_DTYPE_UNKNOWN
                                         : quantised->scales != SHAPEPROOF_DTYPE_UNKNOWN ? quantised->scales
                                                                                         : dtype;
    for (size_t i = 0; i < prediction->count; i++) {
        struct shapeproof_predicted *tensor = &prediction->tensors[i];
        if (tensor->dtype == SHAPEPROOF_DTYPE_UNKNOWN) tensor->dtype = tensor->stands_for ? scales : dtype;
    }
}

/* The bytes of the data in a file, each tie once; a tensor without a dtype has `dtype`. 0 when that is UNKNOWN or the
 * sum does not fit in 64 bits. */
static uint64_t count_bytes(const struct shapeproof_prediction *prediction, enum shapeproof_dtype dtype)
{
    uint64_t bytes = 0, bits;
    for (size_t i = 0; i < prediction->count; i++) {
        const struct shapeproof_predicted *tensor = &prediction->tensors[i];
        const enum shapeproof_dtype own = tensor->dtype == SHAPEPROOF_DTYPE_UNKNOWN ? dtype : tensor->dtype;
        if (tensor->optional || tensor->same_as != SHAPEPROOF_NONE) continue;
        if (own == SHAPEPROOF_DTYPE_UNKNOWN || !sp_mul_u64(tensor->parameters, shapeproof_dtype_bits(own), &bits) ||
            !sp_add_u64(bytes, bits / 8 + (bits % 8 > 0), &bytes))
            return 0;
    }
    return bytes;
}

/* Whether the dtype of every tensor that counts is known; with `scales`, of every one that a quantiser adds. */
static bool has_all_dtypes(const struct shapeproof_prediction *prediction, bool scales)
{
    for (size_t i = 0; i < prediction->count; i++) {
        const struct shapeproof_predicted *tensor = &prediction->tensors[i];
        const bool counts = !tensor->optional && tensor->same_as == SHAPEPROOF_NONE && (tensor->stands_for || !scales);
        if (counts && tensor->dtype == SHAPEPROOF_DTYPE_UNKNOWN) return false;
    }
    return true;
}

struct shapeproof_predicted_size shapeproof_prediction_size(const struct shapeproof_prediction *prediction,
                                                            const struct shapeproof_config *config,
                                                            enum shapeproof_dtype dtype)
{
    struct shapeproof_predicted_size size = {.dtype = dtype};
    if (has_all_dtypes(prediction, false)) {
        size.dtype = SHAPEPROOF_DTYPE_UNKNOWN;
    } else if (dtype == SHAPEPROOF_DTYPE_UNKNOWN) {
        size.dtype = sp_configured_dtype(sp_config_hyper(config), &size.key);
        size.assumed = size.dtype == SHAPEPROOF_DTYPE_UNKNOWN;
        if (size.assumed) size.key = NULL;
        if (size.assumed) size.dtype = SHAPEPROOF_DTYPE_F32; /* in which most frameworks train and save by default */
    }
    size.scales_alone = !size.assumed && size.dtype != SHAPEPROOF_DTYPE_UNKNOWN && !has_all_dtypes(prediction, true);
    size.assumed |= size.scales_alone;
    size.bytes = count_bytes(prediction, size.dtype);
    return size;
}

/* ---- the predictions ---- */

/* False, with the error, for a method that no part of the table language describes. */
static bool is_described(const struct sp_quantised *quantised, struct shapeproof_error *error)
{
    return !quantised->method || quantised->part ||
           sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE,
                   "%s says %s: how that stores a matrix is not known", quantised->path, quantised->method);
}

enum shapeproof_status shapeproof_config_quantisation_is_known(const struct shapeproof_config *config,
                                                               const struct shapeproof_tables *tables,
                                                               struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("predicting the tensors");
    static const struct sp_storage no_file = {0};
    struct sp_quantised quantised;
    sp_error_reset(error);
    const bool known =
        !sp_quantised_open(&quantised, tables, sp_config_hyper(config), &no_file) || is_described(&quantised, error);
    sp_quantised_close(&quantised);
    return known ? SHAPEPROOF_OK : SHAPEPROOF_ERR_UNKNOWN;
}

/* The prediction of what is stored where the configuration quantises weights. Without a file that is asked it also has
 * the dtypes and the size in bytes; NULL with an error when the method is not described. */
static struct shapeproof_prediction *predict_stored(const struct sp_unit *table, const struct shapeproof_tables *tables,
                                                    struct sp_hyper hyper, const struct sp_storage *storage,
                                                    struct shapeproof_error *error)
{
    struct sp_quantised quantised;
    if (sp_quantised_open(&quantised, tables, &hyper, storage) && quantised.part) hyper.overlay = &quantised.overlay;
    const bool known = storage->ask || is_described(&quantised, error); /* a file says more than its configuration */
    struct shapeproof_prediction *prediction = known ? sp_expand(table, &hyper, error) : NULL;
    if (prediction) forget_unused(prediction, &quantised);
    const char *key;
    if (prediction && !storage->ask) {
        fill_dtypes(prediction, sp_configured_dtype(&hyper, &key), &quantised);
        prediction->totals.bytes = count_bytes(prediction, SHAPEPROOF_DTYPE_UNKNOWN);
    }
    sp_quantised_close(&quantised);
    return prediction;
}

struct shapeproof_prediction *shapeproof_predict(const struct shapeproof_tables *tables,
                                                 const struct shapeproof_config *config,
                                                 const struct shapeproof_predict_options *options,
                                                 struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("predicting the tensors");
    sp_tables_reuse(tables);
    sp_config_reuse(config);
    sp_error_reset(error);
    static const struct shapeproof_predict_options none = {0};
    static const struct sp_storage no_file = {0};
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    struct sp_hyper hyper = *sp_config_hyper(config);
    hyper.most = options->most_tensors;
    /* NULL: the tensors of the model; otherwise what is stored for them, about which `no_file` tells nothing */
    const struct sp_storage *storage = options->stored ? &no_file : config->storage;
    const struct sp_unit *table = sp_choose_table(tables, options->table, &hyper, error);
    if (!table && *config->place) sp_error_prefix(error, config->label);
    if (!table) return NULL;
    struct shapeproof_prediction *prediction =
        storage ? predict_stored(table, tables, hyper, storage, error) : sp_expand(table, &hyper, error);
    if (prediction && config->variables) sp_variables_rename(config->variables, prediction);
    if (prediction && config->remark_count) {
        const char **remarks = sp_arena_array(&prediction->arena, config->remark_count, sizeof *remarks);
        for (size_t i = 0; i < config->remark_count; i++)
            remarks[i] = sp_arena_string(&prediction->arena, config->remarks[i]);
        prediction->remarks = remarks;
        prediction->remark_count = config->remark_count;
    }
    return prediction;
}
