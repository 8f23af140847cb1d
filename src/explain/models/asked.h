/* SPDX-License-Identifier: MIT
 * What a check finds out about its file alone: what the file is by inference, under one table or all, and which of
 * its weights are parametrised. Each is asked once, however often an explainer, or the same check with its explainers
 * in other orders, comes back to it. */
#ifndef SP_EXPLAIN_MODELS_ASKED_H
#define SP_EXPLAIN_MODELS_ASKED_H

#include "base/arena.h"
#include "infer/infer.h"
#include "model/parametrised.h"

struct sp_file_answer {
    const char *table;                      /* NULL: under all */
    bool as_named;                          /* of these only those that have every name of the file */
    struct shapeproof_inference *inference; /* NULL: there is none */
    bool is_cut_short;                      /* there was more to attempt */
};

/* Of one file and one set of tables. Zero-initialise. */
struct sp_answer_cache {
    const struct shapeproof_watch *watch; /* of who asks; or NULL */
    struct sp_arena arena;                /* of the names and of the parametrised weights */
    SP_ARRAY(struct sp_file_answer) answers;
    const struct sp_parametrised *parametrised; /* NULL: not asked yet */
    size_t parametrised_count;
};

/* The answer is good until the next question; `table` and `as_named` as in struct sp_file_answer. */
const struct sp_file_answer *sp_ask_file(struct sp_answer_cache *asked, const struct shapeproof_inventory *inventory,
                                         const struct shapeproof_tables *tables, const char *table, bool as_named);
/* The weights of the file that are stored under a parametrisation (sp_parametrised_find). */
const struct sp_parametrised *sp_ask_parametrised(struct sp_answer_cache *asked,
                                                  const struct shapeproof_inventory *inventory, size_t *count);
void sp_asked_free(struct sp_answer_cache *asked);

#endif
