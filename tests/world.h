/* SPDX-License-Identifier: MIT
 * The published models and the tables that predict them, opened once for a group of tests. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include <stdlib.h>

#include "shapeproof/models.h"
#include "shapeproof/table.h"

struct world {
    struct shapeproof_models *models;
    struct shapeproof_tables *tables;
};

static inline int open_world(void **state)
{
    struct shapeproof_error error = {0};
    struct world *world = calloc(1, sizeof *world);
    world->models = shapeproof_models_new(&error);
    world->tables = shapeproof_tables_new(&error);
    *state = world;
    return !world->models || !world->tables;
}

static inline int close_world(void **state)
{
    struct world *world = *state;
    shapeproof_models_free(world->models);
    shapeproof_tables_free(world->tables);
    free(world);
    return 0;
}

#endif
