/* SPDX-License-Identifier: MIT
 * Tables that are generated for a test, and a search among them with all of its attempts. */
#ifndef TESTS_INFER_SEARCHING_H
#define TESTS_INFER_SEARCHING_H

#include "base/text.h"
#include "infer/finding.h"
#include "infer/search.h"

/* A model of no tensors, and tables of one's own; frees the text. */
static inline void begin_text(struct model *model, struct sp_text *text)
{
    begin_with(model, text->data);
    sp_text_free(text);
}

/* Tables that differ in their names alone: front000, front001, ... */
static inline void put_tables(struct sp_text *text, const char *front, unsigned count, const char *rows)
{
    for (unsigned i = 0; i < count; i++) sp_text_printf(text, "table %s%03u\n%s", front, i, rows);
}

/* ---- a search ---- */

struct searching {
    struct model model;
    struct sp_arena arena;
    struct shapeproof_inventory *inventory;
    struct sp_infer_search search;
};

/* The model is made; `watch` may be NULL. */
static inline void search_file_under(struct searching *searching, const struct shapeproof_watch *watch)
{
    searching->arena = (struct sp_arena){0};
    searching->inventory = model_in_memory(&searching->model);
    searching->search = (struct sp_infer_search){.file = searching->inventory,
                                                 .arena = &searching->arena,
                                                 .searched = {.tables = searching->model.tables},
                                                 .watch = watch};
    sp_infer_search_file(&searching->search);
}

static inline void search_file(struct searching *searching) { search_file_under(searching, NULL); }

static inline void searching_close(struct searching *searching)
{
    struct sp_infer_search *search = &searching->search;
    for (size_t i = 0; i < search->attempts.count; i++) sp_attempt_free(search->attempts.items[i]);
    for (size_t i = 0; i < search->views.count; i++) sp_infer_view_free(search->views.items[i]);
    free(search->attempts.items);
    free(search->views.items);
    sp_arena_free(&searching->arena);
    shapeproof_inventory_close(searching->inventory);
    model_close(&searching->model);
}

/* Searches, and closes: whether the best attempt explains the whole file. */
static inline bool search_explains(struct searching *searching)
{
    search_file(searching);
    const bool explains = searching->search.best && sp_attempt_explains_all(searching->search.best);
    searching_close(searching);
    return explains;
}

#endif
