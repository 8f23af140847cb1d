/* SPDX-License-Identifier: MIT
 * A check in one call: the checkpoint, its configuration and its table are found, and belong to the check. */
#include "base/call.h"
#include "base/error.h"
#include "base/fault.h"
#include "check/check.h"
#include "shapeproof/config.h"
#include "shapeproof/report.h"

/* What the check will own. */
struct opened {
    struct shapeproof_inventory *inventory;
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
};

static bool add_tables(struct opened *opened, const char *const *files, struct shapeproof_error *error)
{
    opened->tables = shapeproof_tables_new(error);
    for (; opened->tables && files && *files; files++)
        if (shapeproof_tables_add_file(opened->tables, *files, error) != SHAPEPROOF_OK) return false;
    return opened->tables != NULL;
}

/* The configuration that is given, or the one that the search finds. Without any, the settings must suffice; then it is
 * no error if a place could not be searched for want of permission. */
static bool load_config(struct opened *opened, const char *path, const struct shapeproof_check_path_options *options,
                        struct shapeproof_error *error)
{
    if (options->config) return shapeproof_config_load(opened->config, options->config, error) == SHAPEPROOF_OK;
    const bool is_told = options->check.table || (options->settings && *options->settings);
    bool inside;
    char *beside = shapeproof_config_search(opened->inventory, path, options->check.table, NULL, &inside, error);
    if (is_told && error->status == SHAPEPROOF_ERR_UNKNOWN) sp_error_reset(error);
    if (beside) shapeproof_config_load(opened->config, beside, error);
    else if (!inside && !is_told) {
        char *embedding = shapeproof_embedding_describe(opened->inventory);
        sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE, "%s: %s%sthere is no config.json beside it", path,
                embedding ? embedding : "", embedding ? "; " : "");
        shapeproof_free(embedding);
    }
    shapeproof_free(beside);
    return error->status == SHAPEPROOF_OK;
}

static bool set_values(struct opened *opened, const char *const *settings, struct shapeproof_error *error)
{
    for (; settings && *settings; settings++)
        if (shapeproof_config_set(opened->config, *settings, error) != SHAPEPROOF_OK) return false;
    return true;
}

static bool open_all(struct opened *opened, const char *path, const struct shapeproof_check_path_options *options,
                     struct shapeproof_error *error)
{
    opened->config = shapeproof_config_new();
    return (opened->inventory = shapeproof_inventory_open(path, error)) != NULL &&
           add_tables(opened, options->table_files, error) && load_config(opened, path, options, error) &&
           set_values(opened, options->settings, error) &&
           shapeproof_config_fit(opened->config, opened->tables, options->check.table, opened->inventory, error) ==
               SHAPEPROOF_OK;
}

struct shapeproof_check *shapeproof_check_path(const char *path, const struct shapeproof_check_path_options *options,
                                               struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("checking it");
    static const struct shapeproof_check_path_options defaults;
    struct opened opened = {NULL, NULL, NULL};
    struct shapeproof_check *check = NULL;
    if (!options) options = &defaults;
    sp_error_reset(error);
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    sp_fault_begin(error);
    if (open_all(&opened, path, options, error))
        check = shapeproof_check_new(opened.inventory, opened.tables, opened.config, &options->check, error);
    if (!sp_fault_end(error)) {
        shapeproof_check_free(check);
        check = NULL;
    }
    if (check) {
        check->opened.inventory = opened.inventory;
        check->opened.tables = opened.tables;
        check->opened.config = opened.config;
        return check;
    }
    shapeproof_inventory_close(opened.inventory);
    shapeproof_config_free(opened.config);
    shapeproof_tables_free(opened.tables);
    return NULL;
}
