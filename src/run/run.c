/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_DIRECTORY, AT_FDCWD */
#include "run/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/natural.h"
#include "base/shard_name.h"
#include "read/folder.h"
#include "read/ranks/ranks.h"
#include "shapeproof/config.h"
#include "shapeproof/shapeproof.h"

/* ---- steps ---- */

static bool has_weights(enum shapeproof_run_kind kind)
{
    return kind == SHAPEPROOF_RUN_MODEL || kind == SHAPEPROOF_RUN_ADAPTER || kind == SHAPEPROOF_RUN_AVERAGE;
}

/* The index of the step of that name, which is added if it is not there. */
static size_t add_step(struct shapeproof_run *run, const char *name, const struct sp_step_name *said)
{
    const size_t known = sp_map_get(&run->step_names, name);
    if (known != SIZE_MAX) return known;
    sp_map_add(&run->step_names, name, run->steps.count);
    *SP_PUSH(&run->steps) = (struct sp_run_step_entry){.step = {.name = name,
                                                                .path = sp_run_join(&run->arena, run->path, name),
                                                                .framework = said->framework,
                                                                .number = said->number,
                                                                .is_file = said->is_file},
                                                       .updates = said->updates,
                                                       .is_best = said->is_best,
                                                       .is_last = said->is_last};
    return run->steps.count - 1;
}

/* The step that a file is in: the first folder of its path that is called like one; or the file itself, if it has
 * weights. SHAPEPROOF_NONE if it is in none. */
static size_t step_of_file(struct shapeproof_run *run, const struct shapeproof_run_file *file)
{
    struct sp_step_name said;
    for (const char *begin = file->name, *slash; (slash = strchr(begin, '/')); begin = slash + 1) {
        const char *folder = sp_arena_copy(&run->arena, begin, (size_t)(slash - begin));
        if (sp_step_name_read(folder, false, &said))
            return add_step(run, sp_arena_copy(&run->arena, file->name, (size_t)(slash - file->name)), &said);
    }
    struct sp_shard_name shard; /* those of one checkpoint are numbered, too */
    const char *base = sp_base_name(file->name);
    if (!has_weights(file->kind)) return SHAPEPROOF_NONE;
    if (sp_shard_name_read(base, &shard) || strstr(base, "rank_")) return SHAPEPROOF_NONE;
    return sp_step_name_read(base, true, &said) ? add_step(run, file->name, &said) : SHAPEPROOF_NONE;
}

/* checkpoint_2_500.pt of fairseq was saved before the end of epoch 2, checkpoint2.pt. */
static int compare_steps(const void *left, const void *right)
{
    const struct sp_run_step_entry *a = left, *b = right;
    if (a->step.number != b->step.number) return a->step.number < b->step.number ? -1 : 1;
    if (a->updates != b->updates) return a->updates < b->updates ? -1 : 1;
    return sp_compare_natural(a->step.name, b->step.name);
}

static void find_steps(struct shapeproof_run *run)
{
    for (size_t i = 0; i < run->files.count; i++) {
        struct shapeproof_run_file *file = &run->files.items[i];
        file->kind = shapeproof_run_kind_of(file->name, &file->framework);
        if (strcmp(sp_base_name(file->name), "modules.json") == 0 ||
            strcmp(sp_base_name(file->name), "model_index.json") == 0)
            sp_map_add(&run->lists, file->name, i);
        step_of_file(run, file);
    }
    if (run->steps.count) qsort(run->steps.items, run->steps.count, sizeof *run->steps.items, compare_steps);
    for (size_t i = 0; i < run->steps.count; i++) sp_map_set(&run->step_names, run->steps.items[i].step.name, i);
    for (size_t i = 0; i < run->files.count; i++)
        run->files.items[i].step = step_of_file(run, &run->files.items[i]); /* the steps are in their places now */
}

/* Whether the folder is a run: it has a folder for a step, or two files. One step of DeepSpeed or Megatron alone is
 * read as the checkpoint that the folder holds. */
static bool is_run(const struct shapeproof_run *run)
{
    size_t folders = 0;
    for (size_t i = 0; i < run->steps.count; i++) folders += !run->steps.items[i].step.is_file;
    if (run->steps.count != 1) return run->steps.count > 1;
    const char *framework = run->steps.items[0].step.framework;
    return folders == 1 && strcmp(framework, "DeepSpeed") != 0 && strcmp(framework, "Megatron") != 0;
}

static void leave_steps(struct shapeproof_run *run)
{
    run->steps.count = 0;
    for (size_t i = 0; i < run->files.count; i++) run->files.items[i].step = SHAPEPROOF_NONE;
}

static int compare_by_step(const void *left, const void *right)
{
    const struct shapeproof_run_file *a = left, *b = right;
    const size_t one = a->step + 1, other = b->step + 1; /* those of no step, whose index is SIZE_MAX, come first */
    if (one != other) return one < other ? -1 : 1;
    if (a->kind != b->kind) return (unsigned)(a->kind - 1) < (unsigned)(b->kind - 1) ? -1 : 1; /* OTHER comes last */
    return sp_compare_natural(a->name, b->name);
}

/* ---- models ---- */

static const char *folder_above(struct sp_arena *arena, const char *name)
{
    const char *base = sp_base_name(name);
    return base == name ? "." : sp_arena_copy(arena, name, (size_t)(base - name) - 1);
}

/* Whether the files in the folders of ranks, of which `folder` is one, are read as one checkpoint. */
static bool are_joined(struct shapeproof_run *run, const char *folder)
{
    const char *above = folder_above(&run->arena, folder);
    const size_t known = sp_map_get(&run->of_ranks, above);
    if (known != SIZE_MAX) return known;
    struct sp_folder opened;
    const char *path = strcmp(above, ".") == 0 ? run->path : sp_run_join(&run->arena, run->path, above);
    const bool joined = sp_folder_open(&opened, path) && sp_ranks_join_folders(&opened);
    sp_folder_close(&opened);
    sp_map_add(&run->of_ranks, above, joined);
    return joined;
}

/* The folder that a file is read with: its own, or the one above that of a rank whose file is a part of the checkpoint.
 * "." for the run's. */
static const char *folder_of(struct shapeproof_run *run, const char *name)
{
    const char *folder = folder_above(&run->arena, name), *base = sp_base_name(folder);
    uint32_t rank;
    const bool is_of_rank = strncmp(base, "mp_rank_", strlen("mp_rank_")) == 0 ||
                            (sp_rank_folder_read(base, &rank) && are_joined(run, folder));
    return is_of_rank ? folder_of(run, folder) : folder;
}

/* The folder above that lists `folder` as one of its components, with modules.json of Sentence Transformers or
 * model_index.json of diffusers; `folder` itself where there is none. A folder above that of the step is another model.
 */
static const char *folder_of_components(struct shapeproof_run *run, const char *folder, size_t step)
{
    static const char *const lists[] = {"modules.json", "model_index.json"};
    const char *found = folder, *last = step == SHAPEPROOF_NONE ? "." : run->steps.items[step].step.name;
    for (const char *above = folder; strcmp(above, last) != 0 && strcmp(above, ".") != 0;) {
        above = folder_above(&run->arena, above);
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            if (sp_map_get(&run->lists, sp_run_join(&run->arena, above, lists[i])) != SIZE_MAX) found = above;
    }
    return found;
}

/* What the map of models has for the model of a step. */
static const char *key_of_model(struct shapeproof_run *run, size_t step, const char *name)
{
    return sp_arena_printf(&run->arena, "%zu %s", step, name);
}

static bool has_model_in(struct shapeproof_run *run, size_t step, const char *folder)
{
    return sp_map_get(&run->model_names, key_of_model(run, step, folder)) != SIZE_MAX;
}

/* Adds what is opened to read a file with weights: the file of a step that is a file, and what lies beside a model
 * (an adapter, averaged weights); otherwise its folder, once. */
static void add_model(struct shapeproof_run *run, const struct shapeproof_run_file *file)
{
    const char *folder = folder_of_components(run, folder_of(run, file->name), file->step);
    const bool is_file = (file->step != SHAPEPROOF_NONE && run->steps.items[file->step].step.is_file) ||
                         file->kind == SHAPEPROOF_RUN_AVERAGE;
    const bool has_model = has_model_in(run, file->step, folder);
    if (has_model && file->kind == SHAPEPROOF_RUN_MODEL && !is_file) return;
    const char *name = is_file || has_model ? file->name : folder;
    const char *path = strcmp(name, ".") == 0 ? run->path : sp_run_join(&run->arena, run->path, name);
    sp_map_add(&run->model_names, key_of_model(run, file->step, name), run->models.count);
    *SP_PUSH(&run->models) =
        (struct shapeproof_run_model){.name = name, .path = path, .kind = file->kind, .step = file->step};
}

/* Whether the step has a file with an optimizer and none with weights. The files are sorted by their steps: `next` is
 * the first file that is not of an earlier step, and becomes the first of a later one. */
static bool has_lost_model(const struct shapeproof_run *run, size_t step, size_t *next)
{
    bool has_optimizer = false, has_model = false;
    for (; *next < run->files.count && run->files.items[*next].step == step; ++*next) {
        const enum shapeproof_run_kind kind = run->files.items[*next].kind;
        has_optimizer = has_optimizer || kind == SHAPEPROOF_RUN_OPTIMIZER;
        has_model = has_model || has_weights(kind);
    }
    return has_optimizer && !has_model;
}

/* A step with an optimizer and without weights has lost its model, where another step has one. Its folder is added as a
 * model, whose check then says that there is none. */
static void add_lost_models(struct shapeproof_run *run)
{
    size_t place = 0; /* models are in the order of their steps, those of no step first */
    while (place < run->models.count && run->models.items[place].step == SHAPEPROOF_NONE) place++;
    if (place == run->models.count) return;
    size_t next = 0;
    while (next < run->files.count && run->files.items[next].step == SHAPEPROOF_NONE) next++;
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct shapeproof_run_step *step = &run->steps.items[i].step;
        while (place < run->models.count && run->models.items[place].step < i) place++;
        if (!has_lost_model(run, i, &next)) continue;
        SP_PUSH(&run->models);
        struct shapeproof_run_model *models = run->models.items;
        memmove(models + place + 1, models + place, (run->models.count - 1 - place) * sizeof *models);
        models[place] = (struct shapeproof_run_model){
            .name = step->name, .path = step->path, .kind = SHAPEPROOF_RUN_MODEL, .step = i};
    }
}

/* The config.json of the nearest folder of the run above the weights of a step, whatever the folders are called; NULL
 * where the search by their names finds one, and for files that may have a configuration in themselves. */
static const char *config_above(struct shapeproof_run *run, const struct shapeproof_run_model *model)
{
    static const char *const plain[] = {".ckpt", ".pt", ".pth", ".bin", ".safetensors"};
    bool is_plain = sp_path_may_be_file(AT_FDCWD, sp_run_join(&run->arena, model->path, ".metadata"));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) is_plain |= sp_ends_with(model->path, plain[i]);
    if (!is_plain || model->step == SHAPEPROOF_NONE || model->kind != SHAPEPROOF_RUN_MODEL) return NULL;
    struct shapeproof_error ignored; /* a fault is noted for the run (base/fault.h) */
    char *beside = shapeproof_config_beside(model->path, &ignored);
    const bool is_found = beside;
    sp_free(beside);
    for (const char *folder = model->name; !is_found && strcmp(folder, ".") != 0;) {
        folder = folder_above(&run->arena, folder);
        const char *path = sp_run_join(&run->arena, run->path, sp_run_join(&run->arena, folder, "config.json"));
        if (sp_path_may_be_file(AT_FDCWD, path)) return path;
    }
    return NULL;
}

/* Weights that Keras saves alone are of the model that it saves whole beside them. */
static void find_configs(struct shapeproof_run *run)
{
    const char *whole = NULL;
    for (size_t i = 0; i < run->models.count; i++)
        run->models.items[i].config = config_above(run, &run->models.items[i]);
    for (size_t i = 0; i < run->models.count; i++)
        if (sp_ends_with(run->models.items[i].path, ".keras")) whole = run->models.items[i].path;
    for (size_t i = 0; i < run->models.count; i++)
        if (sp_ends_with(run->models.items[i].path, ".weights.h5")) run->models.items[i].config = whole;
}

/* ---- the last and the best ---- */

size_t sp_run_step_called(const struct shapeproof_run *run, const char *path)
{
    size_t length = strlen(path);
    while (length && path[length - 1] == '/') length--;
    size_t begin = length;
    while (begin && path[begin - 1] != '/' && path[begin - 1] != '\\') begin--;
    for (size_t i = 0; i < run->steps.count; i++) {
        const char *name = sp_base_name(run->steps.items[i].step.name);
        if (strlen(name) == length - begin && strncmp(name, path + begin, length - begin) == 0) return i;
    }
    return SHAPEPROOF_NONE;
}

/* The step with that number, of Megatron and verl; SHAPEPROOF_NONE if there is none. */
static size_t step_numbered(const struct shapeproof_run *run, const char *word)
{
    const bool is_number = *word && !word[strspn(word, "0123456789")];
    for (size_t i = 0; is_number && i < run->steps.count; i++)
        if (run->steps.items[i].step.number == strtoull(word, NULL, 10)) return i;
    return SHAPEPROOF_NONE;
}

static void find_last(struct shapeproof_run *run)
{
    static const char *const notes[] = {"latest", "latest_checkpointed_iteration.txt", "last_checkpoint"};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        const char *word = sp_run_word(run, sp_run_join(&run->arena, run->path, notes[i]));
        if (!word) continue;
        const size_t named = sp_run_step_called(run, word);
        run->last = named != SHAPEPROOF_NONE ? named : step_numbered(run, word);
        run->last_reason = run->last == SHAPEPROOF_NONE
                               ? sp_arena_printf(&run->arena, "%s names %s, which is not there", notes[i], word)
                               : sp_arena_printf(&run->arena, "by %s", notes[i]);
        return;
    }
    for (size_t i = 0; i < run->steps.count; i++)
        if (run->steps.items[i].is_last) run->last = i, run->last_reason = "by its name";
    for (size_t i = run->steps.count; i-- && run->last == SHAPEPROOF_NONE;)
        if (run->steps.items[i].step.number != SHAPEPROOF_NONE) run->last = i, run->last_reason = "by its number";
}

/* Takes the best step from a trainer_state.json, which may name none. */
static void take_best(struct shapeproof_run *run, struct shapeproof_value state)
{
    struct sp_text reason = {0};
    const struct shapeproof_value best = sp_value_member(state, "best_model_checkpoint");
    const struct shapeproof_value metric = sp_value_member(state, "best_metric");
    if (best.type != SHAPEPROOF_VALUE_STRING) return; /* it was not looked for */
    run->best = sp_run_step_called(run, best.string);
    if (run->best == SHAPEPROOF_NONE)
        sp_text_printf(&reason, "trainer_state.json names %s, which is not there", sp_base_name(best.string));
    else sp_text_puts(&reason, "by trainer_state.json");
    if (run->best != SHAPEPROOF_NONE && sp_value_is_set(metric)) {
        sp_text_puts(&reason, ": best_metric ");
        sp_value_json(&reason, metric);
    }
    run->best_reason = sp_text_keep(&reason, &run->arena);
}

/* What the trainer_state.json of the last step says, which has seen all others; otherwise a step that is called best.
 */
static void find_best(struct shapeproof_run *run)
{
    bool is_told = false;
    for (size_t i = run->steps.count; i-- && !is_told;) {
        struct sp_arena scratch = {0};
        struct shapeproof_error ignored = {0};
        struct shapeproof_value state;
        const char *path = sp_run_join(&run->arena, run->steps.items[i].step.path, "trainer_state.json");
        is_told = !run->steps.items[i].step.is_file && sp_run_json(&scratch, path, &state, &ignored);
        if (is_told) take_best(run, state);
        sp_arena_free(&scratch);
    }
    for (size_t i = 0; i < run->steps.count && run->best == SHAPEPROOF_NONE && !*run->best_reason; i++)
        if (run->steps.items[i].is_best) run->best = i, run->best_reason = "by its name";
}

/* ---- the run ---- */

/* The framework of the first step that tells one, or else of the first file; "" when none does. */
static const char *framework_of(const struct shapeproof_run *run)
{
    const char *found = "";
    for (size_t i = 0; i < run->steps.count && !*found; i++) found = run->steps.items[i].step.framework;
    for (size_t i = 0; i < run->files.count; i++) {
        const char *own = run->files.items[i].framework;
        if (strcmp(own, "transformers") == 0) return own; /* its trainer runs on accelerate and DeepSpeed */
        if (!*found) found = own;
    }
    return found;
}

/* Finds steps and models among the files, and what is said about them. */
static void understand_files(struct shapeproof_run *run)
{
    find_steps(run);
    if (!is_run(run)) leave_steps(run);
    if (run->files.count) qsort(run->files.items, run->files.count, sizeof *run->files.items, compare_by_step);
    for (size_t i = 0; i < run->files.count; i++)
        if (has_weights(run->files.items[i].kind)) add_model(run, &run->files.items[i]);
    add_lost_models(run);
    find_configs(run);
    run->framework = framework_of(run);
    find_last(run);
    find_best(run);
}

struct shapeproof_run *shapeproof_run_open(const char *path, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("reading the run");
    struct sp_folder folder;
    sp_fault_begin(error);
    struct shapeproof_run *run = sp_realloc(NULL, 1, sizeof *run);
    *run = (struct shapeproof_run){
        .framework = "", .last = SHAPEPROOF_NONE, .best = SHAPEPROOF_NONE, .last_reason = "", .best_reason = ""};
    run->path = sp_arena_string(&run->arena, path);
    const bool is_folder = sp_folder_open(&folder, run->path);
    const bool ok = !is_folder || sp_run_list(run, folder.fd, error);
    sp_folder_close(&folder);
    if (ok && is_folder) understand_files(run);
    if (sp_fault_end(error) && ok) return run;
    shapeproof_run_close(run);
    return NULL;
}

void shapeproof_run_close(struct shapeproof_run *run)
{
    if (!run) return;
    sp_free(run->steps.items);
    sp_free(run->files.items);
    sp_free(run->models.items);
    sp_map_free(&run->step_names);
    sp_map_free(&run->model_names);
    sp_map_free(&run->of_ranks);
    sp_map_free(&run->lists);
    sp_arena_free(&run->arena);
    sp_free(run);
}

const char *shapeproof_run_path(const struct shapeproof_run *run) { return run->path; }
const char *shapeproof_run_framework(const struct shapeproof_run *run) { return run->framework; }
size_t shapeproof_run_step_count(const struct shapeproof_run *run) { return run->steps.count; }
size_t shapeproof_run_last(const struct shapeproof_run *run) { return run->last; }
size_t shapeproof_run_best(const struct shapeproof_run *run) { return run->best; }
const char *shapeproof_run_last_reason(const struct shapeproof_run *run) { return run->last_reason; }
const char *shapeproof_run_best_reason(const struct shapeproof_run *run) { return run->best_reason; }
size_t shapeproof_run_file_count(const struct shapeproof_run *run) { return run->files.count; }
size_t shapeproof_run_model_count(const struct shapeproof_run *run) { return run->models.count; }

const struct shapeproof_run_step *shapeproof_run_step(const struct shapeproof_run *run, size_t index)
{
    return &run->steps.items[index].step;
}

const struct shapeproof_run_file *shapeproof_run_file(const struct shapeproof_run *run, size_t index)
{
    return &run->files.items[index];
}

const struct shapeproof_run_model *shapeproof_run_model(const struct shapeproof_run *run, size_t index)
{
    return &run->models.items[index];
}
