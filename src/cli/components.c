/* SPDX-License-Identifier: MIT */
#include "cli/components.h"

#include <stdlib.h>
#include <string.h>

#include "fleet/results.h"

/* All that the check of a component leaves open for the report. */
struct component_run {
    struct shapeproof_inventory *inventory;
    struct shapeproof_config *config;
    struct shapeproof_check *check;
    struct shapeproof_loadings *loadings;
    struct shapeproof_verification *groups; /* of a page */
    struct shapeproof_error error;
};

static void *allocate_zeroed(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) cli_out_of_memory();
    return memory;
}

/* ---- check ---- */

/* The option that is about one model and cannot be about several; NULL when none was given. */
static const char *option_of_one(const struct cli_args *args)
{
    static const char *const options[] = {"config", "set", "table", "claims", "expect", "vocabulary"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (cli_value(args, options[i], NULL)) return options[i];
    return NULL;
}

/* The first that has weights, or just the first. */
static const struct shapeproof_component *first_model(const struct shapeproof_components *components)
{
    for (size_t i = 0; i < shapeproof_component_count(components); i++)
        if (shapeproof_component(components, i)->state == SHAPEPROOF_COMPONENT_MODEL)
            return shapeproof_component(components, i);
    return shapeproof_component(components, 0);
}

bool cli_is_about_one(const struct cli_args *args, const struct shapeproof_components *components)
{
    if (!shapeproof_component_count(components)) return true;
    return option_of_one(args) && strcmp(first_model(components)->name, ".") == 0;
}

static bool options_fit_several(const struct cli_args *args, const struct shapeproof_components *components)
{
    const char *option = option_of_one(args);
    char hint[512];
    if (!option) return true;
    snprintf(hint, sizeof hint, "check each by itself, such as %s", first_model(components)->path);
    cli_usage_error(hint, "--%s is about one model, and %s has several", option,
                    shapeproof_components_path(components));
    return false;
}

/* The configuration that lies beside the weights; the class that the list says where it names none itself. */
static bool load_config(struct component_run *run, const struct shapeproof_component *component)
{
    run->config = shapeproof_config_new();
    if (!component->config) {
        run->error = (struct shapeproof_error){0};
        cli_fail(&run->error, CLI_UNKNOWN, "%s: there is no configuration beside it", component->path);
        return false;
    }
    if (shapeproof_config_load(run->config, component->config, &run->error) != SHAPEPROOF_OK) return false;
    shapeproof_config_name_class(run->config, component->model_class, "the list of components");
    return true;
}

/* False when the error says why there is no check. */
static bool check_component(struct component_run *run, const struct cli_args *args,
                            const struct shapeproof_tables *tables, const struct shapeproof_component *component)
{
    const struct shapeproof_check_options what = {.data = cli_flag(args, "data"), .watch = cli_watch(args)};
    const char *loaders = cli_value(args, "for", NULL);
    cli_begin_step("checking %s", component->path);
    run->inventory = shapeproof_inventory_open(component->path, &run->error);
    if (!run->inventory || !load_config(run, component)) return false;
    run->check = shapeproof_check_new(run->inventory, tables, run->config, &what, &run->error);
    if (!run->check) return false;
    if (cli_writes(args, SHAPEPROOF_REPORT_HTML)) run->groups = cli_count_groups(tables, run->check);
    run->loadings = shapeproof_loadings_new(run->check, loaders, &run->error);
    return run->loadings != NULL;
}

static void close_run(struct component_run *run)
{
    shapeproof_verification_free(run->groups);
    shapeproof_loadings_free(run->loadings);
    shapeproof_check_free(run->check);
    shapeproof_config_free(run->config);
    shapeproof_inventory_close(run->inventory);
}

/* The exit status that a component stands for: one that is missing differs from the list, one without weights is fine.
 */
static int judge_run(const struct cli_args *args, const struct shapeproof_component *component,
                     const struct component_run *run)
{
    if (component->state != SHAPEPROOF_COMPONENT_MODEL)
        return component->state == SHAPEPROOF_COMPONENT_MISSING ? CLI_DIFFERS : CLI_OK;
    return run->error.status ? cli_exit_of(run->error.status) : cli_judge_check(args, run->check, run->loadings);
}

/* Keeps, for documents, the part of each component that has weights or should have: none for a missing one that an
 * adapter is checked without. */
static void keep_parts(const struct cli_args *args, const struct shapeproof_components *components,
                       const struct component_run *runs)
{
    for (size_t i = 0; i < shapeproof_component_count(components); i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        struct shapeproof_error missing = {.kind = SHAPEPROOF_KIND_IO};
        const bool is_missing = component->state == SHAPEPROOF_COMPONENT_MISSING && !runs[i].check;
        if (!runs[i].check && !runs[i].error.status && !is_missing) continue;
        if (is_missing) cli_fail(&missing, CLI_FILE, "%s: %s", component->class_name, component->note);
        const struct shapeproof_checked checked = {.path = component->path,
                                                   .status = judge_run(args, component, &runs[i]),
                                                   .check = runs[i].check,
                                                   .loadings = runs[i].loadings,
                                                   .error = is_missing             ? &missing
                                                            : runs[i].error.status ? &runs[i].error
                                                                                   : NULL};
        cli_keep_parts(&checked, runs[i].groups);
    }
}

/* Writes the report of all components. */
static void put_report(const struct cli_args *args, const struct shapeproof_components *components,
                       const struct component_run *runs)
{
    const size_t count = shapeproof_component_count(components);
    struct shapeproof_component_result *results = allocate_zeroed(count, sizeof *results);
    cli_begin_several();
    keep_parts(args, components, runs);
    for (size_t i = 0; i < count; i++)
        results[i] = (struct shapeproof_component_result){runs[i].check, runs[i].loadings,
                                                          runs[i].error.status ? &runs[i].error : NULL};
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(args, to);
        if (!cli_is_document(how.format) && how.format != SHAPEPROOF_REPORT_HTML_PART)
            cli_put_report(to, shapeproof_report_components(components, results, &how, NULL));
    }
    free(results);
}

/* Checks each component that has weights, and writes one report of all; the worst exit status. When the command line is
 * wrong, which the first component shows, the rest is not checked and nothing is reported. */
static int check_all(const struct cli_args *args, const struct shapeproof_components *components,
                     const struct shapeproof_tables *tables)
{
    const size_t count = shapeproof_component_count(components);
    struct component_run *runs = allocate_zeroed(count, sizeof *runs);
    int status = CLI_OK;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        if (component->state == SHAPEPROOF_COMPONENT_MODEL) check_component(&runs[i], args, tables, component);
        status = sp_worse_status(status, judge_run(args, component, &runs[i]));
        if (runs[i].error.status == SHAPEPROOF_ERR_USAGE) {
            cli_error(&runs[i].error);
            break;
        }
    }
    if (status != CLI_USAGE) put_report(args, components, runs);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].inventory && status != CLI_USAGE && cli_format(args) != SHAPEPROOF_REPORT_JSON)
            cli_warn_of_file(shapeproof_component(components, i)->path, runs[i].inventory);
        close_run(&runs[i]);
    }
    free(runs);
    return status;
}

int cli_check_components(const struct cli_args *args, const struct shapeproof_components *components)
{
    struct shapeproof_error error = {0};
    if (!options_fit_several(args, components)) return CLI_USAGE;
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (!tables) return cli_error(&error);
    const int status = check_all(args, components, tables);
    shapeproof_tables_free(tables);
    return status;
}

/* ---- an adapter and a pipeline ---- */

/* Checks the adapter against each component of the pipeline that it has weights for. Returns the worst of the exit
 * statuses, and CLI_DIFFERS if there is no such component. */
int cli_check_adapter(const struct cli_args *args, const struct shapeproof_inventory *inventory,
                      struct shapeproof_components *components)
{
    struct shapeproof_error error = {0};
    const size_t count = shapeproof_component_count(components);
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (!tables) return cli_error(&error);
    struct component_run *runs = allocate_zeroed(count, sizeof *runs);
    int status = CLI_OK;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        const bool has_weights_for_it = component->config && shapeproof_adapter_is_for(inventory, component->name);
        if (!has_weights_for_it) {
            if (component->state != SHAPEPROOF_COMPONENT_PLAIN)
                shapeproof_component_leave_out(components, i, "the adapter has nothing for it");
            continue;
        }
        any = true;
        cli_begin_step("checking %s", component->name);
        if (load_config(&runs[i], component))
            runs[i].check = shapeproof_check_new(inventory, tables, runs[i].config, NULL, &runs[i].error);
        status = sp_worse_status(status, runs[i].error.status ? cli_exit_of(runs[i].error.status)
                                                              : cli_judge_check(args, runs[i].check, NULL));
    }
    if (any) put_report(args, components, runs);
    for (size_t i = 0; i < count; i++) close_run(&runs[i]);
    free(runs);
    shapeproof_tables_free(tables);
    if (any) return status;
    return cli_complain(CLI_DIFFERS, "give --config FILE of the model that it was made for",
                        "%s: the adapter has nothing for any component of %s", args->operands[0],
                        shapeproof_components_path(components));
}

/* ---- inspect ---- */

int cli_inspect_components(const struct shapeproof_components *components, const struct cli_inspection *inspection)
{
    const size_t count = shapeproof_component_count(components);
    struct shapeproof_totals *totals = allocate_zeroed(count, sizeof *totals);
    int status = CLI_OK;
    bool shown = false;
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        if (component->state == SHAPEPROOF_COMPONENT_MISSING) cli_warning(component->path, component->note);
        if (component->state != SHAPEPROOF_COMPONENT_MODEL) continue;
        if (shown && !inspection->query) cli_put_blank_line(SHAPEPROOF_REPORT_TEXT);
        cli_begin_step("reading %s", component->path);
        const int now = cli_inspect_one(component->path, inspection, &totals[i]);
        shown = now == CLI_OK || now == CLI_DIFFERS;
        /* an error wins over CLI_DIFFERS, of --strict, and the last error over those before */
        if (now != CLI_OK && (status == CLI_OK || !shown)) status = now;
    }
    const bool has_totals = !inspection->list.filter && !inspection->query && !cli_redaction();
    if (shown && has_totals) cli_put_blank_line(SHAPEPROOF_REPORT_TEXT);
    for (struct cli_output *to = NULL; (to = cli_next_output(to));) {
        const struct shapeproof_report_options how = cli_report_options(inspection->args, to);
        if (how.format == SHAPEPROOF_REPORT_TEXT && has_totals)
            cli_put_report(to, shapeproof_report_component_totals(components, totals, &how, NULL));
    }
    free(totals);
    return status;
}
