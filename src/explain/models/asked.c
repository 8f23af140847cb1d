/* SPDX-License-Identifier: MIT */
#include "explain/models/asked.h"

#include <stdlib.h>
#include <string.h>

/* Inference makes attempts as long as they have gone through no more tensors of the file. */
enum { MAX_ATTEMPTED = 300000 };

static bool is_answer_under(const struct sp_file_answer *answer, const char *table, bool as_named)
{
    if (answer->as_named != as_named) return false;
    if (!answer->table || !table) return answer->table == table;
    return strcmp(answer->table, table) == 0;
}

const struct sp_file_answer *sp_ask_file(struct sp_answer_cache *asked, const struct shapeproof_inventory *inventory,
                                         const struct shapeproof_tables *tables, const char *table, bool as_named)
{
    struct shapeproof_error error = {0};
    struct sp_infer_budget budget = {.most = MAX_ATTEMPTED, .as_named = as_named};
    for (size_t i = 0; i < asked->answers.count; i++)
        if (is_answer_under(&asked->answers.items[i], table, as_named)) return &asked->answers.items[i];
    const struct shapeproof_infer_options options = {.table = table, .watch = asked->watch};
    struct shapeproof_inference *inference = sp_infer_within(inventory, tables, &options, &budget, &error);
    struct sp_file_answer *answer = SP_PUSH(&asked->answers);
    *answer = (struct sp_file_answer){
        .table = table ? sp_arena_string(&asked->arena, table) : NULL,
        .as_named = as_named,
        .inference = inference,
        .is_cut_short = budget.spent,
    };
    return answer;
}

const struct sp_parametrised *sp_ask_parametrised(struct sp_answer_cache *asked,
                                                  const struct shapeproof_inventory *inventory, size_t *count)
{
    if (!asked->parametrised) {
        struct sp_parametrised *found;
        asked->parametrised_count = sp_parametrised_find(&asked->arena, inventory, &found);
        asked->parametrised = found;
    }
    *count = asked->parametrised_count;
    return asked->parametrised;
}

void sp_asked_free(struct sp_answer_cache *asked)
{
    for (size_t i = 0; i < asked->answers.count; i++) shapeproof_inference_free(asked->answers.items[i].inference);
    sp_free(asked->answers.items);
    sp_arena_free(&asked->arena);
    *asked = (struct sp_answer_cache){0};
}
