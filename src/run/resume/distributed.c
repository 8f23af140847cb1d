/* SPDX-License-Identifier: MIT
 * Distributed checkpoints of torch, whose tensors have names:
 *
 *     model.layers.0.weight                            the model
 *     optimizer.state.layers.0.weight.exp_avg          moments, by the name of the parameter
 *     optimizer.state.exp_avg.layers.0.weight          the same, of Megatron
 *     optimizer.state.layers.0.weight.step             a number
 *     train_state.step                                 of torchtitan */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/map.h"
#include "base/names.h"
#include "base/order.h"
#include "model/layouts.h"
#include "model/values.h"
#include "run/resume/resume.h"
#include "shapeproof/data.h"

/* The part of a name behind "state."; NULL when it has none. */
static const char *behind_state(const char *whole)
{
    static const char middle[] = "state.";
    const char *at = strstr(whole, middle);
    return at && (at == whole || at[-1] == '.') ? at + strlen(middle) : NULL;
}

/* Takes "optimizer.state.NAME.exp_avg", or "optimizer.state.exp_avg.NAME", apart; false for every other name. */
static bool split_moment_name(struct sp_arena *arena, const char *whole, const char **name, const char **kind)
{
    const char *at = behind_state(whole), *last = strrchr(whole, '.');
    if (!at || last <= at) return false;
    *name = sp_arena_copy(arena, at, (size_t)(last - at));
    *kind = last + 1;
    if (sp_resume_is_moment(*kind)) return true;
    const char *first_end = strchr(at, '.');
    *kind = sp_arena_copy(arena, at, (size_t)(first_end - at));
    *name = first_end + 1;
    return sp_resume_is_moment(*kind);
}

/* The number of the tensor of the model that has the name, with or without "model." in front; SHAPEPROOF_NONE. */
static size_t find_parameter(struct sp_arena *arena, const struct shapeproof_inventory *model, const char *name)
{
    static const char *const fronts[] = {"model.", "", "app.model.", "state_dict.", "module."};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        const size_t found = shapeproof_inventory_find(model, sp_arena_printf(arena, "%s%s", fronts[i], name));
        if (found != SHAPEPROOF_NONE) return found;
    }
    return SHAPEPROOF_NONE;
}

/* ---- steps ---- */

/* Whether it is a single number in eight bytes or less, as a step is. */
static bool is_step(const struct shapeproof_tensor *tensor)
{
    return strcmp(sp_behind_last(tensor->name, '.'), "step") == 0 && tensor->parameters == 1 && tensor->bytes &&
           tensor->bytes <= sizeof(double);
}

static bool read_step(const struct shapeproof_data *data, const struct shapeproof_inventory *inventory, size_t index,
                      int64_t *step)
{
    const struct shapeproof_tensor *tensor = &inventory->tensors[index];
    struct shapeproof_error ignored = {0};
    unsigned char bytes[sizeof(double)];
    int64_t whole;
    int32_t half;
    if (shapeproof_data_obstacle(data, index) ||
        !shapeproof_data_read(data, index, 0, bytes, (size_t)tensor->bytes, &ignored))
        return false;
    if (tensor->dtype == SHAPEPROOF_DTYPE_I64) {
        memcpy(&whole, bytes, sizeof whole);
        *step = whole;
    } else if (tensor->dtype == SHAPEPROOF_DTYPE_I32) {
        memcpy(&half, bytes, sizeof half);
        *step = half;
    } else if (sp_is_float(tensor->dtype)) *step = sp_resume_steps(sp_value_of(tensor->dtype, bytes));
    else return false;
    return *step >= 0;
}

/* Reads the step of the trainer, and the largest of the optimizer's parameters. */
static void read_steps(struct shapeproof_resume *resume, const struct shapeproof_inventory *moments)
{
    enum { MOST = 256 }; /* parameters whose step is read: as a rule, all have the same */
    struct shapeproof_error ignored = {0};
    struct shapeproof_data *data = NULL;
    size_t read = 0;
    int64_t step;
    for (size_t i = 0; i < moments->count && read < MOST; i++) {
        const struct shapeproof_tensor *tensor = &moments->tensors[i];
        if (!is_step(tensor)) continue;
        if (!data) data = shapeproof_data_open(moments, &ignored);
        if (!data) return;
        if (!read_step(data, moments, i, &step)) continue;
        read++;
        const bool of_trainer = sp_ends_with(tensor->name, "train_state.step");
        if (of_trainer) resume->step = step;
        else if (behind_state(tensor->name) && step > resume->optimizer_step) resume->optimizer_step = step;
    }
    shapeproof_data_close(data);
}

static const char *spell_step(struct shapeproof_resume *resume, int64_t step)
{
    return sp_arena_printf(&resume->arena, "%" PRId64, step);
}

/* The folder, the trainer and the optimizer against each other. */
static void judge_steps(struct shapeproof_resume *resume, const char *file)
{
    const int64_t folder = resume->folder_step, step = resume->step, optimizer = resume->optimizer_step;
    if (step != SP_RESUME_NO_STEP && folder != SP_RESUME_NO_STEP && step != folder)
        sp_resume_wrong(resume, "step", file,
                        sp_arena_printf(&resume->arena, "%" PRId64 ", as the folder says", folder),
                        spell_step(resume, step), "its step");
    else if (step != SP_RESUME_NO_STEP && optimizer != SP_RESUME_NO_STEP && optimizer != step)
        sp_resume_compare_optimizer(resume, file, step, optimizer);
    else if (step != SP_RESUME_NO_STEP) sp_resume_right(resume, "step", file, "%" PRId64, step);
    else if (optimizer != SP_RESUME_NO_STEP && folder != SP_RESUME_NO_STEP && optimizer != folder)
        sp_resume_untold(resume, false, "step", file,
                         "the folder says %" PRId64 ", and the optimizer has made %" PRId64
                         " steps: another checkpoint, or another way to count",
                         folder, optimizer);
}

/* ---- moments ---- */

/* The moments of one parameter: which kinds it has, as indices into struct named_moments.kinds. */
struct named_moments {
    struct shapeproof_resume *resume;
    struct sp_map kinds; /* -> index */
    size_t kind_count;
    uint64_t *of; /* of each tensor of the model: the set of its kinds */
    const char **kind_names;
};

enum { MOST_KINDS = 64 };

static void note_moment(struct named_moments *all, size_t parameter, const char *kind)
{
    size_t known = sp_map_get(&all->kinds, kind);
    if (known == SIZE_MAX) {
        if (all->kind_count == MOST_KINDS) return;
        known = all->kind_count++;
        all->kind_names[known] = kind;
        sp_map_add(&all->kinds, kind, known);
    }
    all->of[parameter] |= (uint64_t)1 << known;
}

/* Says that a parameter lacks a kind of moments that others of as many dimensions have. True when one does. */
static bool say_lacking_kind(struct named_moments *all)
{
    const struct shapeproof_inventory *model = all->resume->model;
    uint64_t every[2] = {0, 0}; /* the kinds that vectors have, and matrices */
    for (size_t i = 0; i < model->count; i++) every[model->tensors[i].rank >= 2] |= all->of[i];
    for (size_t i = 0; i < model->count; i++) {
        const uint64_t lacks = every[model->tensors[i].rank >= 2] & ~all->of[i];
        if (!all->of[i] || !lacks) continue;
        size_t kind = 0;
        while (!(lacks >> kind & 1)) kind++;
        sp_resume_wrong(all->resume, "optimizer", NULL, sp_quote(all->kind_names[kind]).text, "none",
                        "%s has no such moment, and other parameters have", sp_quote(model->tensors[i].name).text);
        return true;
    }
    return false;
}

/* Names the parameters that have no moments at all. */
static void say_without_any(struct named_moments *all)
{
    const struct shapeproof_inventory *model = all->resume->model;
    struct sp_names names = {0};
    size_t parameters = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (!sp_resume_is_parameter(&model->tensors[i])) continue;
        parameters++;
        if (!all->of[i]) sp_names_add(&names, model->tensors[i].name);
    }
    if (names.count)
        sp_resume_untold(all->resume, false, "optimizer", NULL,
                         "%zu of %zu tensors of the model have no moments, %s: frozen, or lost", names.count,
                         parameters, sp_names_text(&names));
    sp_names_free(&names);
}

/* Says that there are no moments, and whether there is anything else of an optimizer. */
static void say_no_moments(struct shapeproof_resume *resume, const struct shapeproof_inventory *moments)
{
    size_t steps = 0, others = 0;
    for (size_t i = 0; i < moments->count; i++) {
        if (!(moments->tensors[i].flags & SHAPEPROOF_TENSOR_STATE)) continue;
        if (behind_state(moments->tensors[i].name) && is_step(&moments->tensors[i])) steps++;
        else if (strstr(moments->tensors[i].name, "optim")) others++;
    }
    if (others) sp_resume_untold(resume, true, "optimizer", NULL, "it has no moments under names that are known here");
    else
        sp_resume_wrong(resume, "optimizer", NULL, "moments of each parameter", steps ? "steps alone" : "none",
                        "no parameter has moments: they would begin anew");
}

/* Compares each moment with the parameter of its name. False after a statement that one is wrong. */
static bool compare_moments(struct named_moments *all, const struct shapeproof_inventory *moments, size_t *count,
                            struct sp_names *unknown)
{
    struct shapeproof_resume *resume = all->resume;
    struct sp_arena *arena = &resume->arena;
    const char *name, *kind;
    for (size_t i = 0; i < moments->count; i++) {
        const struct shapeproof_tensor *tensor = &moments->tensors[i];
        if (!split_moment_name(arena, tensor->name, &name, &kind)) continue;
        ++*count;
        const size_t found = resume->model ? find_parameter(arena, resume->model, name) : SHAPEPROOF_NONE;
        if (found == SHAPEPROOF_NONE) {
            sp_names_add(unknown, name);
            continue;
        }
        const struct shapeproof_tensor *parameter = &resume->model->tensors[found];
        note_moment(all, found, kind);
        if (sp_same_dims(parameter->shape, parameter->rank, tensor->shape, tensor->rank)) continue;
        sp_resume_wrong(resume, "optimizer", NULL, sp_shape_text(arena, parameter->shape, parameter->rank),
                        sp_shape_text(arena, tensor->shape, tensor->rank), "%s of %s has another shape", kind,
                        sp_quote(name).text);
        return false;
    }
    return true;
}

static void judge_named_moments(struct named_moments *all, const struct shapeproof_inventory *moments)
{
    struct shapeproof_resume *resume = all->resume;
    struct sp_names unknown = {0};
    size_t count = 0;
    if (!compare_moments(all, moments, &count, &unknown)) {
        sp_names_free(&unknown);
        return;
    }
    if (!count) say_no_moments(resume, moments);
    else if (unknown.count == count)
        sp_resume_untold(resume, true, "optimizer", NULL,
                         "none of its %zu moments has the name of a tensor of the model", count);
    else if (unknown.count)
        sp_resume_wrong(resume, "optimizer", NULL, "the name of a tensor of the model", sp_names_text(&unknown),
                        "%zu of %zu moments are of another model", unknown.count, count);
    else if (!say_lacking_kind(all)) {
        sp_resume_right(resume, "optimizer", NULL, "%zu moments, each with name and shape of a parameter", count);
        say_without_any(all);
    }
    sp_names_free(&unknown);
}

void sp_resume_named_optimizer(struct shapeproof_resume *resume, const struct shapeproof_inventory *moments)
{
    struct named_moments all = {.resume = resume};
    const size_t count = resume->model ? resume->model->count : 0;
    all.of = sp_arena_array(&resume->arena, count, sizeof *all.of);
    memset(all.of, 0, count * sizeof *all.of);
    all.kind_names = sp_arena_array(&resume->arena, MOST_KINDS, sizeof *all.kind_names);
    judge_named_moments(&all, moments);
    sp_map_free(&all.kinds);
}

/* ---- the folder ---- */

/* The steps of trainer and optimizer in common.pt, which Megatron saves beside the tensors. */
static void read_common(struct shapeproof_resume *resume)
{
    struct sp_contents *contents = sp_resume_open(resume, "step", "common.pt");
    double number;
    if (!contents) return;
    const struct sp_pickle_value *root = sp_contents_root(contents), *outer = sp_contents_get(root, "optimizer");
    if (sp_contents_number(contents, sp_contents_get(root, "iteration"), &number))
        resume->step = sp_resume_steps(number);
    resume->has_scaler = sp_contents_pairs(sp_contents_get(outer, "grad_scaler")) != NULL;
    const struct sp_pickle_value *inner = sp_contents_get(outer, "optimizer");
    resume->optimizer_step = sp_resume_step_of_groups(contents, sp_contents_get(inner, "param_groups"));
    sp_contents_close(contents);
}

/* The step in the name of the folder: "step-10", "iter_0000010". */
static int64_t read_folder_step(const char *path)
{
    static const char *const markers[] = {"step-", "step_", "iter_", "checkpoint-"};
    int64_t step = SP_RESUME_NO_STEP;
    for (size_t i = 0; i < sizeof markers / sizeof *markers && step == SP_RESUME_NO_STEP; i++)
        step = sp_resume_number_in_name(path, markers[i]);
    return step;
}

void sp_resume_distributed(struct shapeproof_resume *resume)
{
    const bool megatron = sp_resume_has(resume, "metadata.json");
    if (!sp_resume_has(resume, ".metadata")) {
        sp_resume_wrong(resume, "model", NULL, ".metadata", "no such file",
                        "the list of the tensors in its files: without it, none of them can be read");
        return;
    }
    sp_resume_model(resume, "");
    resume->folder_step = read_folder_step(resume->path);
    if (megatron) read_common(resume);
    if (!resume->model) return;
    sp_resume_named_optimizer(resume, resume->model);
    read_steps(resume, resume->model);
    judge_steps(resume, megatron ? "common.pt" : NULL);
    sp_resume_right(resume, "ranks", ".metadata", "any number of ranks can load it: torch divides the tensors anew");
}
