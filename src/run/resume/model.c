/* SPDX-License-Identifier: MIT
 * The weights that training would go on with, and the tokenizer beside them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "config/tokenizer.h"
#include "model/embedding.h"
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
