/* SPDX-License-Identifier: MIT
 * The weights that training would go on with, and the tokenizer beside them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "base/names.h"
#include "config/tokenizer.h"
#include "model/embedding.h"
#include "model/layouts.h"
#include "names/components.h"
#include "names/wrappers.h"
#include "run/resume/resume.h"
#include "shapeproof/report.h"

/* Integers and the means of batch normalisation are buffers: an optimizer never has them. */
bool sp_resume_is_parameter(const struct shapeproof_tensor *tensor)
{
    static const char *const buffers[] = {"running_mean", "running_var", "num_batches_tracked"};
    if (tensor->flags & SHAPEPROOF_TENSOR_STATE || tensor->same_as != SHAPEPROOF_NONE) return false;
    switch (tensor->dtype) {
    case SHAPEPROOF_DTYPE_BOOL:
    case SHAPEPROOF_DTYPE_U8:
    case SHAPEPROOF_DTYPE_I8:
    case SHAPEPROOF_DTYPE_I16:
    case SHAPEPROOF_DTYPE_I32:
    case SHAPEPROOF_DTYPE_I64:
        return false;
    default:
        return !SP_IS_AMONG(sp_behind_last(tensor->name, '.'), buffers);
    }
}

/* ---- a moving average beside the model ---- */

/* Where the rest of a name begins that is in an average: "module.layers.0.weight" of "ema.module.layers.0.weight". Only
 * the first components count, up to a number: further in, "ema" and "swa" are names of modules. NULL for others. */
static const char *behind_average(const char *name)
{
    enum { FIRST = 3 }; /* components: "checkpoint.state.model_ema." */
    struct sp_component_walk part = {.rest = name};
    for (int i = 0; i < FIRST && sp_component_next(&part, ".") && !sp_is_digit(*part.text); i++)
        if (sp_is_average(part.text, part.length)) return *part.rest ? part.rest : NULL;
    return NULL;
}

enum { OUTER = 3 }; /* components at most before the name that a tensor has in the model: "state_dict.model.module." */

/* The names of the model's own tensors, each also without its first components. */
static struct sp_map list_own_names(const struct shapeproof_inventory *model)
{
    struct sp_map names = {0};
    for (size_t i = 0; i < model->count; i++) {
        const struct shapeproof_tensor *tensor = &model->tensors[i];
        if (tensor->flags & SHAPEPROOF_TENSOR_STATE || behind_average(tensor->name)) continue;
        struct sp_component_walk part = {.rest = tensor->name};
        sp_map_add(&names, tensor->name, i);
        for (int k = 0; k < OUTER && sp_component_next(&part, ".") && *part.rest; k++) sp_map_add(&names, part.rest, i);
    }
    return names;
}

/* Whether the model has a tensor of that name and shape; the name may have further components in front. */
static bool has_own(const struct shapeproof_inventory *model, const struct sp_map *names, const char *name,
                    const struct shapeproof_tensor *average)
{
    struct sp_component_walk part = {.rest = name};
    for (int k = 0; k <= OUTER; k++) {
        const size_t own = sp_map_get(names, part.rest);
        if (own != SIZE_MAX && sp_tensor_same_shape(&model->tensors[own], average)) return true;
        if (!sp_component_next(&part, ".") || !*part.rest) return false;
    }
    return false;
}

/* Marks the tensors of a moving average as state of the training: the optimizer has no moments of them. It is one if
 * the model itself has at least half of its parameters. */
static void set_average_apart(struct shapeproof_inventory *model)
{
    struct sp_map names = list_own_names(model);
    size_t averaged = 0, copies = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct shapeproof_tensor *tensor = &model->tensors[i];
        const char *rest = sp_resume_is_parameter(tensor) ? behind_average(tensor->name) : NULL;
        if (!rest) continue;
        averaged++;
        copies += has_own(model, &names, rest, tensor);
    }
    sp_map_free(&names);
    if (!averaged || copies < averaged - copies) return;
    for (size_t i = 0; i < model->count; i++)
        if (behind_average(model->tensors[i].name)) model->tensors[i].flags |= SHAPEPROOF_TENSOR_STATE;
}

/* ---- the weights ---- */

/* The tensors of which the files have a part: one rank's piece. */
static size_t count_pieces(const struct shapeproof_inventory *model, const struct shapeproof_tensor **first)
{
    size_t count = 0;
    for (size_t i = 0; i < model->count; i++)
        if (model->tensors[i].piece && !(model->tensors[i].flags & SHAPEPROOF_TENSOR_STATE) && !count++)
            *first = &model->tensors[i];
    return count;
}

/* What is missing of the weights, in a few words; NULL for nothing. */
static const char *name_model_gap(struct sp_arena *arena, const struct shapeproof_inventory *model)
{
    const struct shapeproof_tensor *first = NULL;
    const char *misnamed = sp_inventory_misnamed(model, arena);
    if (misnamed) return sp_arena_printf(arena, "the loader refuses it: %s", misnamed);
    if (model->unread)
        return sp_arena_printf(arena, "%zu tensors cannot be read: %s", model->unread, model->first_unread.message);
    if (model->promise_count) {
        const struct sp_promise *promise = &model->promises[0];
        return promise->tensor ? sp_arena_printf(arena, "%s of %s is not there", sp_quote(promise->tensor).text,
                                                 sp_quote(promise->shard).text)
                               : sp_arena_printf(arena, "%s is not there", sp_quote(promise->shard).text);
    }
    if (model->lacking)
        return sp_arena_printf(arena, "the data of %zu tensors are not there, or in part: %s", model->lacking,
                               model->lack ? model->lack : "cut short");
    const size_t pieces = count_pieces(model, &first);
    if (pieces)
        return sp_arena_printf(arena,
                               "of %zu tensors a part is not there, the first %s: those of other ranks are missing",
                               pieces, sp_quote(first->name).text);
    if (model->damaged) return sp_arena_printf(arena, "%s does not match its CRC", sp_quote(model->damaged).text);
    return NULL;
}

void sp_resume_model(struct shapeproof_resume *resume, const char *path)
{
    struct shapeproof_error error = {0};
    const char *whole = *path ? sp_folder_join(&resume->folder, path, &resume->arena) : resume->path;
    char *step = shapeproof_checkpoint_path(whole); /* that `latest` names */
    resume->model = shapeproof_inventory_open(step ? step : whole, &error);
    shapeproof_free(step);
    if (!resume->model) {
        sp_resume_wrong(resume, "model", *path ? path : NULL, NULL, NULL, "%s", error.message);
        return;
    }
    set_average_apart(resume->model);
    const char *gap = name_model_gap(&resume->arena, resume->model);
    const char *file = shapeproof_inventory_file_count(resume->model) == 1
                           ? sp_base_name(shapeproof_inventory_file(resume->model, 0))
                       : *path ? path
                               : NULL;
    size_t count = 0;
    for (size_t i = 0; i < resume->model->count; i++)
        count += !(resume->model->tensors[i].flags & SHAPEPROOF_TENSOR_STATE);
    if (gap) sp_resume_wrong(resume, "model", file, NULL, NULL, "%s", gap);
    else if (!count) sp_resume_wrong(resume, "model", file, NULL, NULL, "it has no weights");
    else if (resume->model->misfits)
        sp_resume_untold(resume, true, "model", file, "the pieces of %s do not fit together",
                         sp_count_of(&resume->arena, resume->model->misfits, "tensor"));
    else sp_resume_right(resume, "model", file, "%s, whole", sp_count_of(&resume->arena, count, "tensor"));
}

/* ---- the tokenizer ---- */

void sp_resume_tokenizer(struct shapeproof_resume *resume)
{
    const char *folder = *resume->path ? sp_arena_printf(&resume->arena, "%s/", resume->path) : "";
    const struct sp_tokenizer tokenizer = sp_tokenizer_in(&resume->arena, folder);
    const struct shapeproof_tensor *rows = NULL;
    if (tokenizer.unread)
        sp_resume_untold(resume, false, "tokenizer", NULL, "its tokens were not counted: %s", tokenizer.unread);
    if (!tokenizer.size || !resume->model) return;
    for (size_t i = 0; i < resume->model->count && !rows; i++)
        if (resume->model->tensors[i].rank == 2 && sp_is_token_embedding(resume->model->tensors[i].name))
            rows = &resume->model->tensors[i];
    const char *file = sp_base_name(tokenizer.file);
    if (!rows)
        sp_resume_untold(resume, false, "tokenizer", file, "no embedding of tokens is known by its name in the model");
    else if (tokenizer.size > rows->shape[0])
        sp_resume_wrong(resume, "tokenizer", file,
                        sp_arena_printf(&resume->arena, "at most %" PRIu64 " tokens, the rows of %s", rows->shape[0],
                                        sp_quote(rows->name).text),
                        sp_arena_printf(&resume->arena, "%" PRIu64 ", the last of them %s", tokenizer.size,
                                        sp_quote(tokenizer.last).text),
                        "tokens without a row in the embedding");
    else
        sp_resume_right(resume, "tokenizer", file, "%" PRIu64 " tokens, %" PRIu64 " rows in the embedding",
                        tokenizer.size, rows->shape[0]);
}
