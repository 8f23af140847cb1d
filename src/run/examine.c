/* SPDX-License-Identifier: MIT
 * Whether the files beside the models are whole: their headers, and of archives the directory at the end, are read by
 * the readers of checkpoints. */
#define _POSIX_C_SOURCE 200809L /* AT_FDCWD */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/map.h"
#include "read/ranks/ranks.h"
#include "read/reader.h"
#include "run/run.h"

static void break_file(struct shapeproof_run *run, struct shapeproof_run_file *file, const char *why)
{
    const size_t length = strlen(file->path); /* which the message begins with, and the report has beside it */
    file->state = SHAPEPROOF_RUN_BROKEN;
    if (strncmp(why, file->path, length) == 0 && strncmp(why + length, ": ", 2) == 0) why += length + 2;
    file->note = sp_arena_string(&run->arena, why);
}

/* How many tensors are there by name alone. */
static size_t count_without_data(const struct shapeproof_inventory *inventory)
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        count += (shapeproof_inventory_tensor(inventory, i)->flags & SHAPEPROOF_TENSOR_NO_DATA) != 0;
    return count;
}

/* A file that a reader knows is whole if it can be indexed, and has the data of all its tensors. Of one that no reader
 * knows nothing is said: pickles of trainers hold any objects. */
static void examine_tensors(struct shapeproof_run *run, struct shapeproof_run_file *file, const char *path)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    const size_t lacking = inventory ? count_without_data(inventory) : 0;
    if (lacking)
        break_file(run, file,
                   sp_arena_printf(&run->arena, "the data of %zu of %zu tensors are missing", lacking,
                                   shapeproof_inventory_count(inventory)));
    else if (inventory) file->state = SHAPEPROOF_RUN_WHOLE;
    else if (error.kind == SHAPEPROOF_KIND_MALFORMED || error.kind == SHAPEPROOF_KIND_IO)
        break_file(run, file, error.message);
    shapeproof_inventory_close(inventory);
}

/* Of a file that is too large to be parsed nothing is said. */
static void examine_json(struct shapeproof_run *run, struct shapeproof_run_file *file)
{
    struct sp_arena scratch = {0};
    struct shapeproof_error error = {0};
    struct shapeproof_value value;
    if (sp_run_json(&scratch, file->path, &value, &error)) file->state = SHAPEPROOF_RUN_WHOLE;
    else if (error.kind == SHAPEPROOF_KIND_MALFORMED) break_file(run, file, "no JSON");
    else if (error.kind == SHAPEPROOF_KIND_IO) break_file(run, file, error.message);
    sp_arena_free(&scratch);
}

/* Whether a file is of a checkpoint of torch.distributed.checkpoint, which is opened as a folder. */
static bool is_distributed(const char *name)
{
    return sp_ends_with(name, ".distcp") || strcmp(sp_base_name(name), ".metadata") == 0;
}

/* Whether two files are of one such checkpoint. */
static bool are_of_one(const struct shapeproof_run_file *a, const struct shapeproof_run_file *b)
{
    const size_t folder = (size_t)(sp_base_name(a->path) - a->path);
    return is_distributed(a->name) && is_distributed(b->name) && folder == (size_t)(sp_base_name(b->path) - b->path) &&
           strncmp(a->path, b->path, folder) == 0;
}

static void examine_file(struct shapeproof_run *run, struct shapeproof_run_file *file)
{
    const char *base = sp_base_name(file->name);
    if (sp_ends_with(base, ".json")) {
        examine_json(run, file);
    } else if (is_distributed(base)) {
        const size_t folder = strlen(file->path) - strlen(base) - 1;
        examine_tensors(run, file, sp_arena_copy(&run->arena, file->path, folder));
    } else if (sp_file_ending_says(base) || sp_ends_with(base, ".pkl")) {
        if (file->bytes) examine_tensors(run, file, file->path);
        else break_file(run, file, "empty");
    }
}

/* ---- files of ranks ---- */

/* A file of one rank by its name, "extra_state_world_size_2_rank_1.pt". */
struct rank_name {
    struct sp_rank_of rank;
    size_t front; /* the length of the path in front of "_world_size_" */
};

/* False for any other name. A rank may have several files, "..._rank_0.pt" and "..._rank_0_old.pt". */
static bool read_rank_name(const char *path, struct rank_name *name)
{
    static const char size[] = "_world_size_", rank[] = "_rank_";
    const char *at = strstr(sp_base_name(path), size);
    if (!at || !sp_is_digit(at[strlen(size)])) return false;
    char *end;
    name->front = (size_t)(at - path);
    const unsigned long world = strtoul(at + strlen(size), &end, 10);
    if (strncmp(end, rank, strlen(rank)) != 0 || !sp_is_digit(end[strlen(rank)])) return false;
    const unsigned long number = strtoul(end + strlen(rank), NULL, 10);
    name->rank = (struct sp_rank_of){(uint32_t)world, (uint32_t)number};
    return number < world && world <= UINT32_MAX;
}

/* Whether it is a file of a rank of a kind that is compared: others, such as logs, may lack any. Of the models only
 * those with the name that their reader knows are. */
static bool is_counted(const struct shapeproof_run_file *file, struct rank_name *name)
{
    uint32_t of, rank;
    if (file->kind == SHAPEPROOF_RUN_OTHER || !read_rank_name(file->path, name)) return false;
    return file->kind != SHAPEPROOF_RUN_MODEL || sp_sharded_name_read(sp_base_name(file->path), "model", &of, &rank);
}

/* The files [begin, end) of the run, whose paths have the same text in front of "_world_size_". */
struct rank_files {
    size_t begin, end;
    uint32_t world; /* of the ranks that are checked */
};

/* The number of ranks of which the files are checked: that of the model in the same folder, if one of the files is of
 * it; otherwise what sp_choose_world chooses. */
static uint32_t choose_world(const struct shapeproof_run *run, size_t begin, size_t end, uint32_t of_model)
{
    struct sp_rank_of *ranks = sp_realloc(NULL, end - begin, sizeof *ranks);
    struct rank_name name;
    size_t count = 0;
    bool has_own = false;
    for (size_t i = begin; i < end; i++) {
        if (!is_counted(&run->files.items[i], &name)) continue;
        has_own = has_own || name.rank.of == of_model;
        ranks[count++] = name.rank;
    }
    const uint32_t chosen = sp_choose_world(ranks, count);
    sp_free(ranks);
    return has_own ? of_model : chosen;
}

/* Marks files of other numbers of ranks as not used. If a file of the rest is missing, and none is broken, the first
 * one says so; that of a model is left to its reader. */
static void judge_ranks(struct shapeproof_run *run, const struct rank_files *files)
{
    struct shapeproof_run_file *first = NULL;
    struct rank_name name;
    struct sp_map ranks = {0};
    bool is_broken = false;
    for (size_t i = files->begin; i < files->end; i++) {
        struct shapeproof_run_file *file = &run->files.items[i];
        if (!is_counted(file, &name)) continue;
        if (name.rank.of != files->world) {
            file->state = SHAPEPROOF_RUN_UNUSED;
            file->note = sp_arena_printf(&run->arena, "of %" PRIu32 " ranks, not %" PRIu32, name.rank.of, files->world);
            continue;
        }
        if (!first) first = file;
        sp_map_add(&ranks, sp_arena_printf(&run->arena, "%" PRIu32, name.rank.rank), 0);
        is_broken = is_broken || file->state == SHAPEPROOF_RUN_BROKEN;
    }
    if (first && first->kind != SHAPEPROOF_RUN_MODEL && ranks.count < files->world && !is_broken)
        break_file(
            run, first,
            sp_arena_printf(&run->arena, "files of %zu of %" PRIu32 " ranks are there", ranks.count, files->world));
    sp_map_free(&ranks);
}

/* Judges the files of ranks. Those of one kind follow each other, and those of a model come first in their step. */
static void judge_all_ranks(struct shapeproof_run *run)
{
    struct sp_map models = {0}; /* the folder of a model -> the number of its ranks */
    for (size_t begin = 0, end; begin < run->files.count; begin = end) {
        const struct shapeproof_run_file *first = &run->files.items[begin];
        struct rank_name name;
        end = begin + 1;
        if (!is_counted(first, &name)) continue;
        while (end < run->files.count && run->files.items[end].kind == first->kind &&
               strncmp(first->path, run->files.items[end].path, name.front + strlen("_world_size_")) == 0)
            end++;
        const char *folder = sp_arena_copy(&run->arena, first->path, (size_t)(sp_base_name(first->path) - first->path));
        const size_t of_model = sp_map_get(&models, folder);
        const uint32_t world = choose_world(run, begin, end, of_model == SIZE_MAX ? 0 : (uint32_t)of_model);
        if (first->kind == SHAPEPROOF_RUN_MODEL) sp_map_add(&models, folder, world);
        judge_ranks(run, &(struct rank_files){begin, end, world});
    }
    sp_map_free(&models);
}

/* ---- parts of the optimizer of DeepSpeed ---- */

/* A number that a checkpoint says of itself, or 0. */
static uint64_t said_number(const struct shapeproof_inventory *inventory, const char *key)
{
    const char *value = sp_inventory_metadata_value(inventory, key);
    return value ? strtoull(value, NULL, 10) : 0;
}

/* The first file of the step that is a part of the optimizer, "zero_pp_rank_0_mp_rank_00_optim_states.pt"; NULL for
 * none. *count of them; *is_broken: one of them is already. Files are in the order of their steps, those of no step
 * first: *next is a file that is not behind those of the step, and becomes the first of them. */
static struct shapeproof_run_file *find_parts(struct shapeproof_run *run, size_t step, size_t *next, size_t *count,
                                              bool *is_broken)
{
    struct shapeproof_run_file *first = NULL, *files = run->files.items;
    *count = 0;
    *is_broken = false;
    while (*next < run->files.count && (files[*next].step == SHAPEPROOF_NONE || files[*next].step < step)) ++*next;
    for (size_t i = *next; i < run->files.count && files[i].step == step; i++) {
        if (!strstr(files[i].name, "zero_pp_rank_") || !sp_ends_with(files[i].name, "_optim_states.pt")) continue;
        if (!first) first = &files[i];
        ++*count;
        *is_broken = *is_broken || files[i].state == SHAPEPROOF_RUN_BROKEN;
    }
    return first;
}

/* Compares the parts of each step with the number of ranks that the files of its model say. If there are fewer, the
 * first part says so. */
static void judge_deepspeed(struct shapeproof_run *run)
{
    size_t next = 0;
    for (size_t i = 0; i < run->models.count; i++) {
        struct shapeproof_error ignored = {0};
        size_t count;
        bool is_broken;
        const struct shapeproof_run_model *model = &run->models.items[i];
        if (model->step == SHAPEPROOF_NONE || run->steps.items[model->step].step.is_file) continue;
        struct shapeproof_run_file *first = find_parts(run, model->step, &next, &count, &is_broken);
        struct shapeproof_inventory *inventory =
            first && !is_broken ? shapeproof_inventory_open(model->path, &ignored) : NULL;
        if (!inventory) continue;
        uint64_t ranks = said_number(inventory, "dp_world_size");
        const uint64_t parts_of_model = said_number(inventory, "mp_world_size");
        if (!sp_mul_u64(ranks, parts_of_model ? parts_of_model : 1, &ranks)) ranks = 0;
        if (count < ranks)
            break_file(run, first,
                       sp_arena_printf(&run->arena, "files of %zu of %" PRIu64 " ranks are there", count, ranks));
        shapeproof_inventory_close(inventory);
    }
}

/* ---- a file that holds the whole state of a training ---- */

/* What the tensors below a key at the top of such a file are; the others are of the model. */
static const struct {
    const char *pattern;
    enum shapeproof_run_kind kind;
} keys[] = {
    {"optim*", SHAPEPROOF_RUN_OPTIMIZER},
    {"*_optimizer", SHAPEPROOF_RUN_OPTIMIZER},
    {"ema*", SHAPEPROOF_RUN_AVERAGE},
    {"*_ema", SHAPEPROOF_RUN_AVERAGE},
    {"current_model_state", SHAPEPROOF_RUN_AVERAGE}, /* of Lightning's WeightAveraging, beside the average */
    {"*rng*", SHAPEPROOF_RUN_RANDOM_STATE},
    {"random_state*", SHAPEPROOF_RUN_RANDOM_STATE},
    {"*scheduler*", SHAPEPROOF_RUN_SCHEDULER},
    {"*scaler*", SHAPEPROOF_RUN_SCALER},
    {"callbacks", SHAPEPROOF_RUN_TRAINER_STATE},
    {"loops", SHAPEPROOF_RUN_TRAINER_STATE},
    {"train_state", SHAPEPROOF_RUN_TRAINER_STATE},
};

/* The kind that the key at the beginning of a name says; MODEL for any other. detectron2 has the state of its trainer,
 * and the optimizer in it, below two keys: "trainer._trainer.optimizer.state.0.momentum_buffer". */
static enum shapeproof_run_kind kind_of_tensor(const char *name)
{
    static const char trainer[] = "trainer._trainer.";
    char key[64] = "";
    if (strncmp(name, trainer, sizeof trainer - 1) == 0) name += sizeof trainer - 1;
    const size_t length = strcspn(name, ".");
    if (!name[length] || length >= sizeof key) return SHAPEPROOF_RUN_MODEL;
    memcpy(key, name, length);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_file_pattern_matches(keys[i].pattern, key)) return keys[i].kind;
    return SHAPEPROOF_RUN_MODEL;
}

static void examine_model(struct shapeproof_run_model *model)
{
    struct shapeproof_error ignored = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(model->path, &ignored);
    for (size_t i = 0; inventory && i < shapeproof_inventory_count(inventory); i++)
        model->holds |= 1u << kind_of_tensor(shapeproof_inventory_tensor(inventory, i)->name);
    model->holds &= ~(1u << SHAPEPROOF_RUN_MODEL);
    shapeproof_inventory_close(inventory);
}

/* ---- the best checkpoint by Lightning's ModelCheckpoint ---- */

/* The first of those tensors that are the same. */
static size_t same_tensor(const struct shapeproof_inventory *inventory, size_t index)
{
    const size_t first = shapeproof_inventory_tensor(inventory, index)->same_as;
    return first == SHAPEPROOF_NONE ? index : first;
}

/* The callback has the scores of the checkpoints that it keeps, and the best of these scores once more. The best
 * checkpoint is the one whose score is the same tensor:
 *
 *     callbacks.ModelCheckpoint{...}.best_model_score                              storage 12
 *     callbacks.ModelCheckpoint{...}.best_k_models./path/epoch=0-step=2.ckpt       storage 13
 *     callbacks.ModelCheckpoint{...}.best_k_models./path/epoch=1-step=4.ckpt       storage 12
 *
 * Returns the path, borrowed from the inventory; NULL when it is not known, or several callbacks keep checkpoints. */
static const char *best_of_callback(const struct shapeproof_inventory *inventory)
{
    static const char score[] = ".best_model_score", kept[] = ".best_k_models.";
    const size_t count = shapeproof_inventory_count(inventory);
    size_t best = SHAPEPROOF_NONE, callback = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        if (strncmp(name, "callbacks.", strlen("callbacks.")) != 0 || !sp_ends_with(name, score)) continue;
        if (best != SHAPEPROOF_NONE) return NULL;
        best = i;
        callback = strlen(name) - strlen(score);
    }
    for (size_t i = 0; best != SHAPEPROOF_NONE && i < count; i++) {
        const char *name = shapeproof_inventory_tensor(inventory, i)->name;
        if (strncmp(name, shapeproof_inventory_tensor(inventory, best)->name, callback) != 0) continue;
        if (strncmp(name + callback, kept, strlen(kept)) != 0) continue;
        if (same_tensor(inventory, i) == same_tensor(inventory, best)) return name + callback + strlen(kept);
    }
    return NULL;
}

/* Finds the best step in the last file that has such a callback. */
static void find_best_by_callback(struct shapeproof_run *run)
{
    for (size_t i = run->models.count; i-- && run->best == SHAPEPROOF_NONE && !*run->best_reason;) {
        struct shapeproof_error ignored = {0};
        if (!(run->models.items[i].holds & 1u << SHAPEPROOF_RUN_TRAINER_STATE)) continue;
        struct shapeproof_inventory *inventory = shapeproof_inventory_open(run->models.items[i].path, &ignored);
        const char *path = inventory ? best_of_callback(inventory) : NULL;
        if (path) {
            const char *name = sp_base_name(path);
            run->best = sp_run_step_called(run, path);
            run->best_reason = run->best == SHAPEPROOF_NONE
                                   ? sp_arena_printf(&run->arena, "ModelCheckpoint names %s, which is not there", name)
                                   : "by ModelCheckpoint";
        }
        shapeproof_inventory_close(inventory);
    }
}

/* Whether a step may have the whole state of the training in one checkpoint: a file, or a distributed one. */
static bool is_whole_step(struct shapeproof_run *run, const struct shapeproof_run_model *model)
{
    if (model->step == SHAPEPROOF_NONE) return false;
    return run->steps.items[model->step].step.is_file ||
           sp_path_may_be_file(AT_FDCWD, sp_run_join(&run->arena, model->path, ".metadata"));
}

bool shapeproof_run_examine(struct shapeproof_run *run, struct shapeproof_error *error)
{
    SP_CALL(error, false);
    SP_SPENDS("reading the run");
    sp_fault_begin(error);
    sp_keep(run, run, sizeof *run);
    sp_keep(run, run->steps.items, run->steps.count * sizeof *run->steps.items);
    sp_keep(run, run->files.items, run->files.count * sizeof *run->files.items);
    sp_keep(run, run->models.items, run->models.count * sizeof *run->models.items);
    for (size_t i = 0; i < run->models.count; i++)
        if (is_whole_step(run, &run->models.items[i])) examine_model(&run->models.items[i]);
    find_best_by_callback(run);
    const struct shapeproof_run_file *first = NULL;
    for (size_t i = 0; i < run->files.count; i++) {
        struct shapeproof_run_file *file = &run->files.items[i];
        /* Files of one checkpoint follow each other. What the first is, `.metadata`, holds for all that it names; when
         * that is broken, nothing is known of the others. */
        if (first && first->kind == file->kind && are_of_one(first, file)) {
            if (first->state == SHAPEPROOF_RUN_WHOLE) file->state = SHAPEPROOF_RUN_WHOLE;
            continue;
        }
        first = file;
        switch (file->kind) {
        case SHAPEPROOF_RUN_OPTIMIZER:
        case SHAPEPROOF_RUN_SCHEDULER:
        case SHAPEPROOF_RUN_SCALER:
        case SHAPEPROOF_RUN_RANDOM_STATE:
        case SHAPEPROOF_RUN_TRAINER_STATE:
        case SHAPEPROOF_RUN_CONFIGURATION:
            examine_file(run, file);
            break;
        default:
            break;
        }
    }
    judge_all_ranks(run);
    judge_deepspeed(run);
    return sp_fault_end(error);
}
