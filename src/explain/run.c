/* SPDX-License-Identifier: MIT
 * The flow of a check: predict, name, match, findings, causes, groups, verdict. */
#include "explain/causes.h"

/* An explainer has a row for each of its causes, one below the other. */
static const struct explainer {
    enum sp_stage stage;
    void (*explain)(struct sp_check *check);
} explainers[] = {
#define CAUSE(stage, explainer, name, severity, id, meaning) {SP_STAGE_##stage, sp_explain_##explainer},
#define ALSO(stage, explainer) {SP_STAGE_##stage, sp_explain_##explainer},
#include "explain/causes.def"
#undef CAUSE
#undef ALSO
};

static void run_stage(struct sp_check *check, enum sp_stage stage)
{
    for (size_t i = 0; i < sizeof explainers / sizeof *explainers; i++)
        if (explainers[i].stage == stage && (!i || explainers[i].explain != explainers[i - 1].explain))
            explainers[i].explain(check);
}

static void explain(struct sp_check *check)
{
    sp_find_differences(check);
    for (enum sp_stage stage = 0; stage < SP_STAGE_COUNT; stage++) {
        if (stage == SP_STAGE_MEASURES) sp_count(check);
        run_stage(check, stage);
    }
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
