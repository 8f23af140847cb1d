/* SPDX-License-Identifier: MIT
 * The flow of a check: predict, name, match, findings, causes, groups, verdict. */
#include "check/check.h"

static void (*const explainers[])(struct sp_check *) = {
    sp_explain_quantised,       /* weights in packed form */
    sp_explain_naming,          /* wrapper and base prefixes */
    sp_explain_kernels,         /* (in, out) by their name */
    sp_explain_old_names,       /* gamma for weight */
    sp_explain_ties,            /* tied and stored all the same */
    sp_explain_sharing,         /* not tied and one storage all the same */
    sp_explain_buffers,         /* stored and not trained */
    sp_explain_computed,        /* causal masks, rotary frequencies: with or without */
    sp_explain_state,           /* optimizer and trainer state */
    sp_explain_counters,        /* layers of Keras with other numbers */
    sp_explain_adapter,         /* low-rank matrices for a base */
    sp_explain_shards,          /* shards that are not there, or not as the index says */
    sp_explain_stray,           /* another checkpoint beside the shards */
    sp_explain_flags,           /* tied in one part of the configuration, not tied in another */
    sp_explain_untied,          /* not tied, and only one of them stored */
    sp_explain_aliases,         /* absent, and the file's metadata says which other tensor it is */
    sp_explain_placeholders,    /* empty: saved by one rank of several */
    sp_explain_slices,          /* equal parts of matrices */
    sp_explain_multi_token,     /* layers for multi-token prediction */
    sp_explain_copies,          /* most of the model twice */
    sp_explain_layout,          /* fused, split, packed */
    sp_explain_added_biases,    /* a bias for each quantised weight */
    sp_explain_ones,            /* (768, 1) for (768) */
    sp_explain_hyperparameters, /* one hyper-parameter set otherwise */
    sp_explain_vocabulary,      /* embeddings and heads that disagree */
    sp_explain_tokenizer,       /* tokens without a row */
    sp_explain_renamed,         /* missing under one name, there under another */
    sp_explain_embeddings,      /* the embedding twice */
    sp_explain_unrelated,       /* a file of something else */
    sp_explain_layers,          /* whole layers missing */
    sp_explain_biases,          /* biases too many or too few */
    sp_explain_transposed,      /* matrices the other way round */
    sp_explain_dtypes,          /* dtypes that stand out */
};

static void explain(struct sp_check *check)
{
    sp_find_differences(check);
    for (size_t i = 0; i < sizeof explainers / sizeof *explainers; i++) explainers[i](check);
    sp_count(check);
    sp_explain_declared(check);
    sp_decide(check);
    sp_group_findings(check);
}

/* `data` is borrowed, and needed no longer afterwards; NULL when no data are read. */
static struct sp_check *compare(const struct sp_inventory *inventory, const struct sp_tables *tables,
                                const struct sp_config *config, const struct sp_check_options *options,
                                struct sp_data *data, struct sp_error *error)
{
    const struct sp_predict_options chosen = {.table = options->table};
    struct sp_prediction *prediction = sp_predict(tables, config, &chosen, error);
    if (!prediction) return NULL;
    struct sp_check *check = sp_realloc(NULL, 1, sizeof *check);
    *check = (struct sp_check){.inventory = inventory, .tables = tables, .config = config, .prediction = prediction};
    check->table_name = options->table;
    check->data = data;
    check->data_error = error;
    sp_match_begin(&check->match, inventory, prediction);
    check->naming = sp_naming_infer(&check->arena, &check->match);
    sp_check_quantisation(check);
    sp_match_rest(&check->match, &check->naming);
    explain(check);
    if (options->expectations) sp_check_expect(check, options->expectations);
    check->data = NULL;
    check->data_error = NULL;
    return check;
}

static struct sp_check *compare_with_data(const struct sp_inventory *inventory, const struct sp_tables *tables,
                                          const struct sp_config *config, const struct sp_check_options *options,
                                          struct sp_error *error)
{
    struct sp_data *data = sp_data_open(inventory, error);
    struct sp_check *check = data ? compare(inventory, tables, config, options, data, error) : NULL;
    sp_data_close(data);
    if (!check || error->status == SP_OK) return check;
    sp_check_free(check);
    return NULL;
}

struct sp_check *sp_check_new(const struct sp_inventory *inventory, const struct sp_tables *tables,
                              const struct sp_config *config, const struct sp_check_options *options,
                              struct sp_error *error)
{
    sp_error_reset(error);
    static const struct sp_check_options none = {0};
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    if (options->data) return compare_with_data(inventory, tables, config, options, error);
    return compare(inventory, tables, config, options, NULL, error);
}
