/* SPDX-License-Identifier: MIT
 * What the public header promises of a prediction. */
#include "lang/prediction.h"
#include "base/call.h"

#include <stdlib.h>

void shapeproof_prediction_free(struct shapeproof_prediction *prediction)
{
    if (!prediction) return;
    sp_free(prediction->tensors);
    sp_free(prediction->origins);
    sp_free(prediction->groups);
    sp_free(prediction->conditions);
    sp_free(prediction->odd_ties);
    sp_map_free(&prediction->names);
    sp_map_free(&prediction->hyper_names);
    sp_map_free(&prediction->condition_words);
    sp_arena_free(&prediction->arena);
    sp_free(prediction);
}

char *shapeproof_provenance_text(struct shapeproof_provenance from)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    struct sp_text text = {0};
    switch (from.source) {
    case SHAPEPROOF_SOURCE_NONE:
        sp_text_puts(&text, "nobody");
        break;
    case SHAPEPROOF_SOURCE_SETTING:
        sp_text_puts(&text, "command line");
        break;
    case SHAPEPROOF_SOURCE_DEFAULT:
        sp_text_printf(&text, "default (%s:%zu)", from.name, from.line);
        break;
    case SHAPEPROOF_SOURCE_TABLE:
        sp_text_printf(&text, "table %s", from.name);
        break;
    case SHAPEPROOF_SOURCE_CONFIG:
    case SHAPEPROOF_SOURCE_OTHER:
        sp_text_puts(&text, from.name);
        break;
    }
    return text.data;
}

/* Those in which programs compute, and thus keep scales, shifts and codebooks. */
#define FLOATING_DTYPES                                                                                                \
    (UINT64_C(1) << SHAPEPROOF_DTYPE_F64 | UINT64_C(1) << SHAPEPROOF_DTYPE_F32 | UINT64_C(1) << SHAPEPROOF_DTYPE_F16 | \
     UINT64_C(1) << SHAPEPROOF_DTYPE_BF16)

uint64_t sp_prediction_dtypes(const struct shapeproof_prediction *prediction, size_t tensor)
{
    const uint64_t given = prediction->origins[tensor].row->dtypes;
    return given || !prediction->tensors[tensor].stands_for ? given : FLOATING_DTYPES;
}

bool sp_prediction_allows_dtype(const struct shapeproof_prediction *prediction, size_t tensor,
                                enum shapeproof_dtype dtype)
{
    const uint64_t dtypes = sp_prediction_dtypes(prediction, tensor);
    return !dtypes || dtypes >> dtype & 1;
}

const char *shapeproof_prediction_table(const struct shapeproof_prediction *prediction)
{
    return prediction->table->name;
}

const char *shapeproof_prediction_table_file(const struct shapeproof_prediction *prediction)
{
    const struct sp_source_text *source = prediction->table->span.source;
    return source->own ? source->name : NULL;
}

size_t shapeproof_prediction_count(const struct shapeproof_prediction *prediction) { return prediction->count; }

const struct shapeproof_predicted *shapeproof_prediction_tensor(const struct shapeproof_prediction *prediction,
                                                                size_t index)
{
    return &prediction->tensors[index];
}

size_t shapeproof_prediction_find(const struct shapeproof_prediction *prediction, const char *name)
{
    return sp_map_get(&prediction->names, name);
}

size_t shapeproof_prediction_group_count(const struct shapeproof_prediction *prediction)
{
    return prediction->group_count;
}

const struct shapeproof_group *shapeproof_prediction_group(const struct shapeproof_prediction *prediction, size_t index)
{
    return &prediction->groups[index];
}

size_t shapeproof_prediction_hyperparameter_count(const struct shapeproof_prediction *prediction)
{
    return prediction->hyper_count;
}

const struct shapeproof_hyperparameter *
shapeproof_prediction_hyperparameter(const struct shapeproof_prediction *prediction, size_t index)
{
    return &prediction->hypers[index];
}

const struct shapeproof_predicted_totals *shapeproof_prediction_totals(const struct shapeproof_prediction *prediction)
{
    return &prediction->totals;
}
size_t shapeproof_prediction_remark_count(const struct shapeproof_prediction *prediction)
{
    return prediction->remark_count;
}
const char *shapeproof_prediction_remark(const struct shapeproof_prediction *prediction, size_t index)
{
    return prediction->remarks[index];
}
void sp_prediction_remark(struct shapeproof_prediction *prediction, const char *remark)
{
    const char **remarks = sp_arena_array(&prediction->arena, prediction->remark_count + 1, sizeof *remarks);
    for (size_t i = 0; i < prediction->remark_count; i++) remarks[i] = prediction->remarks[i];
    remarks[prediction->remark_count++] = sp_arena_string(&prediction->arena, remark);
    prediction->remarks = remarks;
}
size_t shapeproof_prediction_unused_count(const struct shapeproof_prediction *prediction)
{
    return prediction->unused_count;
}
const char *shapeproof_prediction_unused(const struct shapeproof_prediction *prediction, size_t index)
{
    return prediction->unused[index];
}

bool sp_prediction_is_chosen(const struct shapeproof_prediction *prediction)
{
    return sp_unit_chooses(prediction->table);
}
