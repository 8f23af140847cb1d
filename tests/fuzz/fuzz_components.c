/* SPDX-License-Identifier: MIT
 * A folder of several models (folder.h): its components, and the whole as a checkpoint. */
#include "folder.h"

#include "mutate_folder.h"

enum { MAX_SIZE = 16384 };

static void must_be_below(const struct shapeproof_component *component)
{
    fuzz_must(component->name[0] && component->path[0] && component->class_name && component->library);
    fuzz_must(strncmp(component->path, folder_path, strlen(folder_path) - 1) == 0);
    fuzz_must(!strstr(component->path, "/../") && !folder_has_ending(component->path, strlen(component->path), "/.."));
    fuzz_must((component->state == SHAPEPROOF_COMPONENT_MODEL) == !component->note);
    if (component->config) fuzz_must(strncmp(component->config, folder_path, strlen(folder_path) - 1) == 0);
}

static void open_model(const char *path)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    fuzz_must_have(inventory, &error);
    shapeproof_inventory_close(inventory);
}

/* Opens what has weights, as `inspect` and `check` do. */
static void read_components(const struct shapeproof_components *components)
{
    static struct shapeproof_totals totals[128];
    static struct shapeproof_component_result results[128];
    const size_t count = shapeproof_component_count(components);
    fuzz_must(count <= sizeof totals / sizeof *totals);
    for (size_t i = 0; i < count; i++) {
        const struct shapeproof_component *component = shapeproof_component(components, i);
        must_be_below(component);
        if (component->state == SHAPEPROOF_COMPONENT_MODEL) open_model(component->path);
    }
    shapeproof_free(shapeproof_report_components(components, results, NULL, NULL));
    shapeproof_free(shapeproof_report_component_totals(components, totals, NULL, NULL));
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    if (size > MAX_SIZE || fuzz_is_hdf5(data, size)) return;
    folder_fill(data, size);
    struct shapeproof_components *components = shapeproof_components_open(folder_path, &error);
    fuzz_must_have(components, &error);
    if (components) read_components(components);
    shapeproof_components_free(components);
    open_model(folder_path);
    folder_empty();
}

FOLDER_MUTATOR
