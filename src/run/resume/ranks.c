/* SPDX-License-Identifier: MIT
 * Checkpoints of which each rank has saved files of its own, by torch.save:
 *
 *   verl        model_world_size_2_rank_0.pt, optim_world_size_2_rank_0.pt, extra_state_world_size_2_rank_0.pt
 *   Megatron    mp_rank_00/model_optim_rng.pt, and with the distributed optimizer mp_rank_00/distrib_optim.pt
 *   any other   model_rank0.pt and optim_rank0.pt, or both in one file, checkpoint_rank0.pt
 *
 * There must be a file of each rank, and what one rank says, the others must say: the step, the kinds of moments, how
 * many parameters the optimizer has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/names.h"
#include "read/ranks/ranks.h"
#include "run/resume/resume.h"

/* The files of one kind. */
struct rank_files {
    const char *subject; /* "optimizer" */
    const char *pattern; /* all of them: "optim_world_size_2_rank_*.pt" */
    const char **names;  /* of each rank; NULL: missing */
    uint32_t world, found;
};

/* ---- what is the same in all ranks ---- */

/* Removes the statements from `first` on that something is right: what is right of one rank is said once for all. */
static void drop_right_statements(struct shapeproof_resume *resume, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < resume->statements.count; i++)
        if (resume->statements.items[i].answer != SHAPEPROOF_RESUME_RIGHT)
            resume->statements.items[kept++] = resume->statements.items[i];
    resume->statements.count = kept;
}

static size_t count_wrong(const struct shapeproof_resume *resume)
{
    size_t wrong = 0;
    for (size_t i = 0; i < resume->statements.count; i++)
        wrong += resume->statements.items[i].answer == SHAPEPROOF_RESUME_WRONG;
    return wrong;
}

/* Compares a number of one rank with that of the first. `what`: "its groups of parameters". */
static bool equals_first(struct shapeproof_resume *resume, const char *subject, const char *file, const char *first,
                         int64_t number, int64_t expected, const char *what)
{
    struct sp_arena *arena = &resume->arena;
    if (number == expected) return true;
    sp_resume_wrong(resume, subject, file, sp_arena_printf(arena, "%" PRId64 ", as in %s", expected, first),
                    sp_arena_printf(arena, "%" PRId64, number), "%s", what);
    return false;
}

/* How the ranks have divided the model. */
enum division {
    BY_TENSOR,  /* each has a piece of every parameter, which says so: FSDP 2 */
    END_TO_END, /* the parameters lie end to end, and each has a part of that: FSDP 1 */
    BY_MODEL    /* each has a model of its own, which is its part of the whole: Megatron */
};

/* Compares how many moments are pieces. Of a tensor with fewer rows than ranks one may have the whole, and others empty
 * pieces. */
static bool equals_pieces(struct shapeproof_resume *resume, const char *file, const char *first,
                          const struct sp_optimizer_facts *facts, const struct sp_optimizer_facts *expected)
{
    if (facts->pieces <= expected->pieces + facts->empty && expected->pieces <= facts->pieces + expected->empty)
        return true;
    return equals_first(resume, "optimizer", file, first, (int64_t)facts->pieces, (int64_t)expected->pieces,
                        "its parameters whose moments are a piece of the whole, as a DTensor is");
}

/* Compares what the optimizers of two ranks say. */
static void compare_with_first(struct shapeproof_resume *resume, const char *file, const char *first,
                               const struct sp_optimizer_facts *expected, enum division division)
{
    const struct sp_optimizer_facts *facts = &resume->facts;
    static const char subject[] = "optimizer";
    const bool alike =
        division == BY_MODEL ||
        (equals_first(resume, subject, file, first, (int64_t)facts->groups, (int64_t)expected->groups,
                      "its groups of parameters") &&
         equals_first(resume, subject, file, first, (int64_t)facts->parameters, (int64_t)expected->parameters,
                      "the parameters in its groups") &&
         (division == END_TO_END || (equals_first(resume, subject, file, first, (int64_t)facts->with,
                                                  (int64_t)expected->with, "its parameters that have moments") &&
                                     equals_pieces(resume, file, first, facts, expected))));
    if (!alike || !facts->with || !expected->with) return;
    if (strcmp(facts->kinds, expected->kinds) != 0)
        sp_resume_wrong(resume, subject, file, sp_arena_printf(&resume->arena, "%s, as in %s", expected->kinds, first),
                        facts->kinds, "the kinds of its moments");
    else equals_first(resume, subject, file, first, facts->step, expected->step, "the last step of its moments");
}

/* ---- scheduler, random state and step ---- */

/* What ranks have beside model and optimizer, as the first of them says it. */
struct rank_extras {
    struct shapeproof_resume *resume;
    const char *first; /* its file; NULL: none was read yet */
    int64_t scheduler, step;
    const char *step_key; /* of the step: "global_step" */
    bool has_scheduler;
};

/* The step that a training loop has saved, or SP_RESUME_NO_STEP; *used: its key. */
static int64_t read_saved_step(struct sp_contents *contents, const char **used)
{
    static const char *const keys[] = {"global_step", "step", "iteration", "iter_num", "epoch"};
    double number;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_contents_number(contents, sp_contents_get(sp_contents_root(contents), keys[i]), &number)) {
            *used = keys[i];
            return sp_resume_steps(number);
        }
    return SP_RESUME_NO_STEP;
}

/* Compares the step and the scheduler of one rank with those of the first, as far as both have them: a program may save
 * them in one rank alone. */
static void compare_extras(struct rank_extras *all, struct sp_contents *contents, const char *file)
{
    struct shapeproof_resume *resume = all->resume;
    const struct sp_pickle_value *scheduler = sp_contents_get(sp_contents_root(contents), "lr_scheduler");
    const bool has_scheduler = sp_contents_pairs(scheduler) != NULL;
    const char *step_key = NULL;
    const int64_t step = read_saved_step(contents, &step_key);
    const size_t statements = resume->statements.count;
    if (has_scheduler) sp_resume_scheduler(resume, contents, scheduler, file);
    const int64_t scheduler_step = has_scheduler ? resume->scheduler_step : SP_RESUME_NO_STEP;
    if (!all->first) {
        *all = (struct rank_extras){resume, file, scheduler_step, step, step_key, has_scheduler};
        return;
    }
    drop_right_statements(resume, statements);
    if (has_scheduler != all->has_scheduler)
        sp_resume_untold(resume, true, "scheduler", file, "it has %s scheduler, and %s has %s",
                         has_scheduler ? "a" : "no", all->first, all->has_scheduler ? "one" : "none");
    else if (scheduler_step != SP_RESUME_NO_STEP && all->scheduler != SP_RESUME_NO_STEP)
        equals_first(resume, "scheduler", file, all->first, scheduler_step, all->scheduler, "its last_epoch");
    if (step != SP_RESUME_NO_STEP && all->step != SP_RESUME_NO_STEP)
        equals_first(resume, "step", file, all->first, step, all->step, "its step");
}

/* Compares what files of two kinds have, as far as both have it: the model's with the optimizer's. */
static void compare_kinds_of_files(const struct rank_extras *model, const struct rank_extras *other)
{
    struct shapeproof_resume *resume = model->resume;
    if (!model->first || !other->first) return;
    if (model->step_key && other->step_key && strcmp(model->step_key, other->step_key) == 0)
        equals_first(resume, "step", other->first, model->first, other->step, model->step, "its step");
    if (model->scheduler != SP_RESUME_NO_STEP && other->scheduler != SP_RESUME_NO_STEP)
        equals_first(resume, "scheduler", other->first, model->first, other->scheduler, model->scheduler,
                     "its last_epoch");
}

/* ---- the optimizers ---- */

/* The state of the optimizer in a file: all of it, or a value in a dictionary, as "optimizer" of a training loop and of
 * Megatron, which wraps it once more. NULL when there is none. */
static struct sp_pickle_value *find_optimizer(struct sp_pickle_value *root)
{
    struct sp_pickle_value *inner = sp_contents_get(root, "optimizer");
    if (sp_resume_is_optimizer(root)) return root;
    if (sp_resume_is_optimizer(inner)) return inner;
    if (sp_resume_is_optimizer(sp_contents_get(inner, "optimizer"))) return sp_contents_get(inner, "optimizer");
    const struct sp_pickle_value *pairs = sp_contents_pairs(root);
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2)
        if (sp_resume_is_optimizer(pairs->as.items[i + 1])) return pairs->as.items[i + 1];
    return NULL;
}

/* What the moments of the first rank that has any look like: those of the others must look so, too. */
static enum sp_moment_form first_moment_form(struct shapeproof_resume *resume, const struct rank_files *files)
{
    enum sp_moment_form form = SP_MOMENTS_NONE;
    for (uint32_t rank = 0; rank < files->world && form == SP_MOMENTS_NONE; rank++) {
        struct shapeproof_error ignored = {0};
        struct sp_contents *contents =
            files->names[rank] ? sp_contents_open(&resume->folder, files->names[rank], &ignored) : NULL;
        struct sp_pickle_value *optimizer = contents ? find_optimizer(sp_contents_root(contents)) : NULL;
        if (optimizer) form = sp_resume_moment_form(resume, contents, optimizer, files->names[rank]);
        sp_contents_close(contents);
    }
    return form;
}

/* The optimizers of all ranks, which are read one after the other. */
struct rank_optimizers {
    struct shapeproof_resume *resume;
    enum division division;
    struct sp_flat_moments flat;     /* END_TO_END */
    const char *first;               /* the file that the others are compared with; NULL: none was read yet */
    struct sp_optimizer_facts facts; /* of it */
    struct rank_extras *extras;      /* beside the optimizers; NULL: there are none, or they are read elsewhere */
};

/* Judges the optimizer of one rank. */
static void judge_rank_optimizer(struct rank_optimizers *all, struct sp_contents *contents, const char *file)
{
    struct shapeproof_resume *resume = all->resume;
    const struct sp_pickle_value *optimizer = find_optimizer(sp_contents_root(contents));
    const size_t statements = resume->statements.count, optimizers = resume->optimizers, wrong = count_wrong(resume);
    if (!optimizer) {
        sp_resume_wrong(resume, "optimizer", file, NULL, NULL, "it has no state of an optimizer of torch");
        return;
    }
    if (all->division == END_TO_END) sp_resume_flat_optimizer(resume, contents, optimizer, file, &all->flat);
    else sp_resume_optimizer(resume, contents, optimizer, file);
    if (!resume->facts.is_read) return; /* as a statement says */
    if (!all->first) {
        all->first = file;
        all->facts = resume->facts;
        return;
    }
    resume->optimizers = optimizers; /* parts of one */
    if (count_wrong(resume) == wrong) compare_with_first(resume, file, all->first, &all->facts, all->division);
    drop_right_statements(resume, statements);
}

static void free_rank_optimizers(struct rank_optimizers *all)
{
    sp_map_free(&all->flat.ids);
    sp_free(all->flat.list.items);
}

/* ---- files of one kind ---- */

/* {"a", NULL, "b", NULL} -> "1, 3"; of many the first. */
static const char *list_missing_ranks(struct sp_arena *arena, const struct rank_files *files)
{
    enum { LISTED = 8 }; /* ranks: they fit into a line */
    const char *list = "";
    uint32_t listed = 0;
    for (uint32_t rank = 0; rank < files->world && listed < LISTED; rank++)
        if (!files->names[rank]) list = sp_arena_printf(arena, "%s%s%" PRIu32, list, listed++ ? ", " : "", rank);
    const uint32_t missing = files->world - files->found;
    return missing > listed ? sp_arena_printf(arena, "%s and %" PRIu32 " more", list, missing - listed) : list;
}

/* Says of which ranks files are missing. True when none are. */
static bool say_missing_ranks(struct shapeproof_resume *resume, const struct rank_files *files)
{
    if (files->found == files->world) return true;
    sp_resume_wrong(resume, files->subject, files->pattern,
                    sp_arena_printf(&resume->arena, "%" PRIu32 " files", files->world),
                    sp_arena_printf(&resume->arena, "%" PRIu32, files->found),
                    "the files of these ranks are missing: %s", list_missing_ranks(&resume->arena, files));
    return false;
}

/* Opens the file of each rank, and hands what is in it to `judge`, which may be NULL. False after a statement that a
 * file cannot be read. */
static bool judge_files(struct shapeproof_resume *resume, const struct rank_files *files, void *judge_data,
                        void (*judge)(void *judge_data, struct sp_contents *contents, const char *file))
{
    bool are_readable = true;
    for (uint32_t rank = 0; rank < files->world; rank++) {
        if (!files->names[rank]) continue;
        struct sp_contents *contents = sp_resume_open(resume, files->subject, files->names[rank]);
        if (contents && judge) judge(judge_data, contents, files->names[rank]);
        are_readable = are_readable && contents;
        sp_contents_close(contents);
    }
    return are_readable;
}

static void judge_optimizer(void *data, struct sp_contents *contents, const char *file)
{
    const struct rank_optimizers *all = data;
    judge_rank_optimizer(data, contents, file);
    if (all->extras) compare_extras(all->extras, contents, file);
}

/* Judges the optimizers of all ranks, and what is beside them unless `extras` is NULL. True when all files can be
 * read. */
static bool judge_optimizer_files(struct shapeproof_resume *resume, const struct rank_files *files,
                                  struct rank_extras *extras)
{
    struct rank_optimizers all = {.resume = resume,
                                  .extras = extras,
                                  .division =
                                      first_moment_form(resume, files) == SP_MOMENTS_SHAPED ? BY_TENSOR : END_TO_END};
    const bool are_readable = judge_files(resume, files, &all, judge_optimizer);
    if (all.division == END_TO_END && are_readable && files->found == files->world)
        sp_resume_judge_flat(resume, &all.flat, files->world, files->pattern);
    free_rank_optimizers(&all);
    return are_readable;
}

/* ---- replicas ---- */

/* How many elements of each tensor of the model the files of all ranks have together. */
struct held_elements {
    struct shapeproof_resume *resume;
    uint64_t *of; /* each tensor of the model; NULL: there is no model */
};

static struct held_elements new_held_elements(struct shapeproof_resume *resume)
{
    struct held_elements held = {.resume = resume};
    const size_t count = resume->model ? resume->model->count : 0;
    if (!count) return held;
    held.of = sp_arena_array(&resume->arena, count, sizeof *held.of);
    memset(held.of, 0, count * sizeof *held.of);
    return held;
}

/* Adds what the file of one rank has. */
static void add_held_elements(void *data, struct sp_contents *contents, const char *file)
{
    enum { LOOKS = 32, LONGEST = 1024 }; /* at a tensor, and at its name; bytes of a name */
    const struct held_elements *held = data;
    struct shapeproof_resume *resume = held->resume;
    const struct sp_pickle_value *root = sp_contents_root(contents), *model = sp_contents_get(root, "model");
    const struct sp_pickle_value *pairs = sp_contents_pairs(model ? model : root);
    struct sp_contents_tensor tensor;
    if (!held->of || !sp_resume_spend(resume, "model", file, LOOKS * (1 + sp_resume_length(pairs)))) return;
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2) {
        const struct sp_pickle_value *key = pairs->as.items[i];
        if (!sp_pickle_is(key, SP_PICKLE_STR) || key->length > LONGEST) continue;
        char name[LONGEST + 1];
        memcpy(name, key->as.text, key->length);
        name[key->length] = '\0';
        const size_t found = shapeproof_inventory_find(resume->model, name);
        if (found != SHAPEPROOF_NONE && sp_contents_tensor(contents, pairs->as.items[i + 1], &tensor) &&
            !sp_add_u64(held->of[found], tensor.held, &held->of[found]))
            held->of[found] = UINT64_MAX;
    }
}

/* How many replicas of the model the files have; 0: not known, as they do not have all parameters equally often. */
static uint32_t count_model_replicas(const struct held_elements *held, uint32_t world)
{
    const struct shapeproof_inventory *model = held->resume->model;
    uint64_t replicas = 0;
    for (size_t i = 0; held->of && i < model->count; i++) {
        const uint64_t elements = model->tensors[i].parameters;
        if (!sp_resume_is_parameter(&model->tensors[i]) || !elements) continue;
        if (!replicas) replicas = held->of[i] / elements;
        if (!replicas || replicas > world || held->of[i] != replicas * elements) return 0;
    }
    return (uint32_t)replicas;
}

/* ---- verl ---- */

/* The number of ranks that the names of files "FRONT_world_size_N_rank_R.pt" say, as sp_choose_world chooses it. */
static uint32_t count_world(const struct shapeproof_resume *resume, const char *front)
{
    const size_t most = resume->names.count;
    struct sp_rank_of *ranks = sp_realloc(NULL, most, sizeof *ranks);
    size_t count = 0;
    for (size_t i = 0; i < most; i++)
        count += sp_sharded_name_read(resume->names.items[i], front, &ranks[count].of, &ranks[count].rank);
    const uint32_t world = sp_choose_world(ranks, count);
    sp_free(ranks);
    return world;
}

/* The files "FRONT_world_size_N_rank_R.pt" of a training of `world` ranks. */
static struct rank_files list_sharded_files(struct shapeproof_resume *resume, const char *subject, const char *front,
                                            uint32_t world)
{
    struct sp_arena *arena = &resume->arena;
    struct rank_files files = {.subject = subject, .world = world};
    uint32_t own, rank;
    files.names = sp_arena_array(arena, world, sizeof *files.names);
    memset(files.names, 0, world * sizeof *files.names);
    files.pattern = sp_arena_printf(arena, "%s_world_size_%" PRIu32 "_rank_*.pt", front, world);
    for (size_t i = 0; i < resume->names.count; i++) {
        const char *name = resume->names.items[i];
        if (!sp_sharded_name_read(name, front, &own, &rank) || own != world || files.names[rank]) continue;
        files.names[rank] = name;
        files.found++;
    }
    return files;
}

/* Mentions a file of another number of ranks, which a run left that shared the folder. */
static void mention_unused(struct shapeproof_resume *resume, const char *subject, const char *front, uint32_t world)
{
    uint32_t own, rank;
    for (size_t i = 0; i < resume->names.count; i++) {
        if (!sp_sharded_name_read(resume->names.items[i], front, &own, &rank) || own == world) continue;
        sp_resume_right(resume, subject, resume->names.items[i], "not used: of another number of ranks");
        return;
    }
}

/* Of the scheduler and the random state of one rank, {"lr_scheduler": ..., "rng": ...}. */
static void judge_extra_state(void *data, struct sp_contents *contents, const char *file)
{
    struct rank_extras *all = data;
    compare_extras(all, contents, file);
    sp_resume_random_value(all->resume, contents, sp_contents_get(sp_contents_root(contents), "rng"), file);
}

/* Judges the files of one kind of all ranks. */
static void check_sharded_files(struct shapeproof_resume *resume, const char *subject, const char *front,
                                uint32_t world)
{
    struct sp_arena *arena = &resume->arena;
    const struct rank_files files = list_sharded_files(resume, subject, front, world);
    const uint32_t other = count_world(resume, front);
    const size_t wrong = count_wrong(resume);
    if (!files.found && !other) sp_resume_wrong(resume, subject, NULL, files.pattern, "no such file", "there is none");
    else if (!files.found)
        sp_resume_wrong(resume, subject, NULL, sp_arena_printf(arena, "%" PRIu32 " ranks", world),
                        sp_arena_printf(arena, "%" PRIu32, other), "saved by another number of ranks");
    if (!files.found) return;
    struct rank_extras extras = {.resume = resume};
    bool are_readable;
    if (strcmp(front, "optim") == 0) are_readable = judge_optimizer_files(resume, &files, NULL);
    else if (strcmp(front, "model") == 0) {
        struct held_elements held = new_held_elements(resume);
        are_readable = judge_files(resume, &files, &held, add_held_elements);
        resume->replicas = count_model_replicas(&held, world);
    } else are_readable = judge_files(resume, &files, &extras, judge_extra_state);
    if (say_missing_ranks(resume, &files) && are_readable && count_wrong(resume) == wrong)
        sp_resume_right(resume, subject, files.pattern, "readable, whole");
    mention_unused(resume, subject, front, world);
}

/* The number of ranks of the model; without files of the model that of the optimizer, or of the extra states. */
static uint32_t world_of_verl(const struct shapeproof_resume *resume)
{
    static const char *const fronts[] = {"model", "optim", "extra_state"};
    uint32_t world = 0;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts && !world; i++) world = count_world(resume, fronts[i]);
    return world;
}

/* The step in the name of the folder, or of the one above it: global_step_20, global_step_20/actor. */
static int64_t read_step_of_verl(struct shapeproof_resume *resume)
{
    static const char marker[] = "global_step_";
    const char *path = resume->path;
    const int64_t own = sp_resume_number_in_name(path, marker);
    const size_t above = (size_t)(sp_base_name(path) - path);
    return own != SP_RESUME_NO_STEP ? own
                                    : sp_resume_number_in_name(sp_arena_copy(&resume->arena, path, above), marker);
}

/* In one step of the trainer, the scheduler makes at most one step, and the optimizer one for each batch. */
static void compare_steps_of_verl(struct shapeproof_resume *resume)
{
    const int64_t folder = read_step_of_verl(resume), scheduler = resume->scheduler_step;
    if (scheduler == SP_RESUME_NO_STEP) return;
    if (folder > 0 && scheduler > folder)
        sp_resume_untold(resume, scheduler % folder != 0, "step", resume->scheduler_file,
                         "its last_epoch is %" PRId64 ", and the folder says %" PRId64
                         ": it is of another checkpoint, or makes several steps in one of the trainer",
                         scheduler, folder);
    if (resume->optimizer_step != SP_RESUME_NO_STEP && resume->optimizer_step < scheduler)
        sp_resume_untold(resume, true, "step", resume->optimizer_file,
                         "the optimizer has made %" PRId64 " steps, the scheduler %" PRId64
                         ": one is of another checkpoint, or steps with a gradient that is not finite were skipped",
                         resume->optimizer_step, scheduler);
}

/* verl saves the model, the optimizer, and scheduler and random states of each rank in a file of its own. */
static void check_verl(struct shapeproof_resume *resume)
{
    const uint32_t world = world_of_verl(resume);
    resume->layout = "verl";
    resume->optimizer_step = resume->scheduler_step = SP_RESUME_NO_STEP;
    sp_resume_model(resume, "");
    check_sharded_files(resume, "model", "model", world);
    check_sharded_files(resume, "optimizer", "optim", world);
    check_sharded_files(resume, "random state", "extra_state", world);
    compare_steps_of_verl(resume);
    sp_resume_right(resume, "ranks", NULL, "only %" PRIu32 " rank%s can load it", world, world == 1 ? "" : "s");
}

/* Judges the folder as one model of a step of verl, if it has files of ranks. */
static bool check_model_of_verl(struct shapeproof_resume *resume, const char *folder)
{
    const size_t before = resume->statements.count;
    sp_resume_list_folder(resume);
    if (!world_of_verl(resume)) return false;
    shapeproof_inventory_close(resume->model);
    resume->model = NULL;
    check_verl(resume);
    sp_resume_put_folder_before(resume, before, folder);
    return true;
}

/* A step of verl has a folder for each model that is trained, actor and critic, and training goes on with all of them:
 * each is judged. Of a folder without files of ranks nothing is known. False, without a statement, when no folder has
 * such files. */
static bool check_step_of_verl(struct shapeproof_resume *resume)
{
    const struct sp_folder step = resume->folder;
    const char *const path = resume->path;
    const size_t count = resume->names.count;
    const char **names = sp_arena_array(&resume->arena, count, sizeof *names);
    size_t models = 0;
    if (!sp_resume_has(resume, "actor") && !sp_resume_has(resume, "critic")) return false;
    memcpy(names, resume->names.items, count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        if (*names[i] == '.' || !sp_path_stat(step.fd, names[i], &status) || !S_ISDIR(status.st_mode)) continue;
        resume->path = sp_folder_join(&step, names[i], &resume->arena);
        if (sp_folder_open(&resume->folder, resume->path) && check_model_of_verl(resume, names[i])) models++;
        else
            sp_resume_untold(resume, true, "model", names[i],
                             "it is not looked at: it has no files such as optim_world_size_8_rank_0.pt");
        sp_folder_close(&resume->folder);
    }
    resume->folder = step;
    resume->path = path;
    resume->names.count = 0;
    for (size_t i = 0; i < count; i++) *SP_PUSH(&resume->names) = names[i];
    if (!models) resume->statements.count = 0;
    return models > 0;
}

bool sp_resume_verl(struct shapeproof_resume *resume)
{
    if (!count_world(resume, "optim") && !count_world(resume, "extra_state")) return check_step_of_verl(resume);
    check_verl(resume);
    return true;
}

/* ---- files of ranks under any other name ---- */

/* A file in a folder, and the number of its rank. */
struct listed_file {
    const char *name;
    uint32_t rank;
};

/* The list of files of ranks below `world`; of two of one rank the first. */
static struct rank_files collect_rank_files(struct shapeproof_resume *resume, const char *subject,
                                            const struct listed_file *list, size_t count, uint32_t world)
{
    struct rank_files files = {.subject = subject, .pattern = subject, .world = world};
    files.names = sp_arena_array(&resume->arena, world, sizeof *files.names);
    memset(files.names, 0, world * sizeof *files.names);
    for (size_t i = 0; i < count; i++) {
        if (list[i].rank >= world || files.names[list[i].rank]) continue;
        files.names[list[i].rank] = sp_arena_string(&resume->arena, list[i].name);
        files.found++;
        if (files.found > 1) continue;
        const char *digits = strstr(list[i].name, "rank");
        const size_t before = digits ? (size_t)(digits - list[i].name) + strlen("rank") : 0;
        const char *behind = list[i].name + before + strspn(list[i].name + before, "_-0123456789");
        files.pattern = sp_arena_printf(&resume->arena, "%.*s*%s", (int)before, list[i].name, behind);
    }
    return files;
}

static struct rank_files collect_model_files(struct shapeproof_resume *resume, const struct sp_ranks *ranks,
                                             const char *subject, uint32_t world)
{
    struct listed_file *list = sp_arena_array(&resume->arena, ranks->files.count, sizeof *list);
    for (size_t i = 0; i < ranks->files.count; i++)
        list[i] = (struct listed_file){ranks->files.items[i].path, ranks->files.items[i].tensor};
    return collect_rank_files(resume, subject, list, ranks->files.count, world);
}

static struct rank_files collect_optimizer_files(struct shapeproof_resume *resume, const struct sp_ranks *ranks,
                                                 uint32_t world)
{
    struct listed_file *list = sp_arena_array(&resume->arena, ranks->optimizers.count, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < ranks->optimizers.count; i++) {
        list[count].name = ranks->optimizers.items[i];
        count += sp_rank_in_name(list[count].name, &list[count].rank);
    }
    return collect_rank_files(resume, "optimizer", list, count, world);
}

/* Whether a file has an optimizer beside the model. */
static bool has_any_optimizer(struct shapeproof_resume *resume, const struct sp_ranks *ranks)
{
    bool has = false;
    for (size_t i = 0; i < ranks->files.count && !has; i++) {
        struct shapeproof_error ignored = {0};
        struct sp_contents *contents = sp_contents_open(&resume->folder, ranks->files.items[i].path, &ignored);
        has = contents && find_optimizer(sp_contents_root(contents));
        sp_contents_close(contents);
    }
    return has;
}

/* One more than the highest rank of a file, or the number of ranks that a name says. */
static uint32_t count_named_ranks(const struct sp_ranks *ranks)
{
    uint32_t world = ranks->world, rank;
    for (size_t i = 0; i < ranks->files.count; i++)
        if (ranks->files.items[i].tensor >= world) world = ranks->files.items[i].tensor + 1;
    for (size_t i = 0; i < ranks->optimizers.count; i++)
        if (sp_rank_in_name(ranks->optimizers.items[i], &rank) && rank >= world) world = rank + 1;
    return world;
}

/* What is read of the model's file of each rank. */
struct numbered_models {
    struct rank_extras extras;
    struct held_elements held;
};

static void judge_numbered_model(void *data, struct sp_contents *contents, const char *file)
{
    struct numbered_models *all = data;
    compare_extras(&all->extras, contents, file);
    add_held_elements(&all->held, contents, file);
}

/* Files such as model_rank0.pt, in which tensors say that they are pieces. */
static void check_numbered(struct shapeproof_resume *resume, const struct sp_ranks *ranks)
{
    const uint32_t world = count_named_ranks(ranks);
    const size_t wrong = count_wrong(resume);
    sp_resume_model(resume, "");
    struct numbered_models all = {.extras = {.resume = resume}, .held = new_held_elements(resume)};
    const struct rank_files models = collect_model_files(resume, ranks, "model", world);
    const struct rank_files optimizers = collect_optimizer_files(resume, ranks, world);
    judge_files(resume, &models, &all, judge_numbered_model);
    resume->replicas = count_model_replicas(&all.held, world);
    if (ranks->optimizers.count) {
        struct rank_extras extras = {.resume = resume};
        judge_optimizer_files(resume, &optimizers, &extras);
        compare_kinds_of_files(&all.extras, &extras);
        say_missing_ranks(resume, &optimizers);
    } else judge_optimizer_files(resume, &models, NULL);
    if (count_wrong(resume) == wrong)
        sp_resume_right(resume, "ranks", NULL, "the files of %" PRIu32 " ranks: only as many can load them", world);
}

/* ---- Megatron ---- */

/* What is read of the ranks of Megatron. */
struct megatron {
    struct rank_optimizers optimizers;
    struct rank_extras extras;
    int64_t folder_step; /* "iter_0000010": 10 */
    int64_t moment_step; /* of the optimizer of the first rank, or SP_RESUME_NO_STEP */
};

static const char *spell_number(struct shapeproof_resume *resume, uint64_t number)
{
    return sp_arena_printf(&resume->arena, "%" PRIu64, number);
}

/* The elements of all parameters in the file of a rank. */
static uint64_t count_model_elements(const struct shapeproof_inventory *model, size_t *parameters)
{
    uint64_t elements = 0;
    *parameters = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (!sp_resume_is_parameter(&model->tensors[i])) continue;
        ++*parameters;
        if (!sp_add_u64(elements, model->tensors[i].parameters, &elements)) elements = UINT64_MAX;
    }
    return elements;
}

/* The master weights and moments of the distributed optimizer, {0: {dtype: {"param": ..., "exp_avg": ...}}}: those of
 * all data-parallel ranks, the parameters of this rank of the model end to end. Adds their lengths to *held. */
static bool add_buffers(struct shapeproof_resume *resume, struct sp_contents *contents,
                        const struct sp_pickle_value *value, unsigned depth, const char *file, uint64_t *held)
{
    enum { DEEPEST = 4 }; /* optimizers of a chain, buffers, dtypes, tensors */
    static const char *const kinds[] = {"exp_avg", "exp_avg_sq"};
    struct sp_contents_tensor master, moment;
    const struct sp_pickle_value *pairs = sp_contents_pairs(value);
    const bool is_list = sp_pickle_is(value, SP_PICKLE_LIST);
    const uint32_t length = pairs ? pairs->length : is_list ? value->length : 0;
    if (!sp_resume_spend(resume, "optimizer", file, 1 + length)) return false;
    if (sp_contents_tensor(contents, sp_contents_get(value, "param"), &master)) {
        const uint64_t elements = sp_resume_elements(&master);
        if (!sp_add_u64(*held, elements, held)) *held = UINT64_MAX;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const bool has = sp_contents_tensor(contents, sp_contents_get(value, kinds[i]), &moment);
            if (has && sp_resume_elements(&moment) == elements) continue;
            sp_resume_wrong(resume, "optimizer", file, spell_number(resume, elements),
                            has ? spell_number(resume, sp_resume_elements(&moment)) : "none",
                            "the elements of %s beside those of its master weights", kinds[i]);
            return false;
        }
        return true;
    }
    for (uint32_t i = 0; depth < DEEPEST && i < length; i++) {
        const struct sp_pickle_value *item = pairs ? pairs->as.items[i] : value->as.items[i];
        if (pairs && i % 2 == 0) continue; /* a key */
        if (!add_buffers(resume, contents, item, depth + 1, file, held)) return false;
    }
    return true;
}

/* Judges distrib_optim.pt in the folder of a rank. False, without a statement, when there is none. */
static bool judge_distributed_optimizer(struct shapeproof_resume *resume, const char *file,
                                        const struct shapeproof_inventory *own)
{
    enum { ALIGNMENT = 64 }; /* elements: where each parameter begins in a buffer */
    const char *path = sp_arena_printf(&resume->arena, "%.*sdistrib_optim.pt", (int)(sp_base_name(file) - file), file);
    uint64_t held = 0, most;
    size_t parameters;
    if (!sp_path_exists(resume->folder.fd, path)) return false;
    struct sp_contents *contents = sp_resume_open(resume, "optimizer", path);
    const bool ok = contents && add_buffers(resume, contents, sp_contents_root(contents), 0, path, &held);
    sp_contents_close(contents);
    if (!ok || !own) return true;
    const uint64_t elements = count_model_elements(own, &parameters);
    if (!sp_mul_u64(ALIGNMENT, parameters, &most) || !sp_add_u64(most, elements, &most)) most = UINT64_MAX;
    if (held > most)
        sp_resume_wrong(resume, "master weights", path, spell_number(resume, elements), spell_number(resume, held),
                        "their elements, against those of the parameters of this rank");
    else if (held < elements)
        sp_resume_untold(resume, true, "master weights", path,
                         "%" PRIu64 " elements for %" PRIu64 " of the parameters of this rank: the others are frozen, "
                         "or it is of another model",
                         held, elements);
    else
        sp_resume_right(resume, "optimizer", path,
                        "moments and master weights, %" PRIu64 " elements for %" PRIu64 " of the parameters", held,
                        elements);
    return true;
}

/* Master weights of a rank. Ranks whose optimizers have as many parameters have as many of them. */
static void judge_megatron_masters(struct megatron *all, struct sp_contents *contents,
                                   const struct sp_pickle_value *masters, const char *file)
{
    struct shapeproof_resume *resume = all->optimizers.resume;
    struct sp_optimizer_facts *first = &all->optimizers.facts;
    const size_t wrong = count_wrong(resume);
    sp_resume_masters(resume, contents, masters, file);
    if (strcmp(file, all->optimizers.first) == 0) first->masters = resume->facts.masters;
    else if (count_wrong(resume) == wrong && resume->facts.parameters == first->parameters)
        equals_first(resume, "master weights", file, all->optimizers.first, (int64_t)resume->facts.masters,
                     (int64_t)first->masters, "their number");
}

/* The optimizer in the file of a rank, {"optimizer": ..., "fp32_from_fp16_params": ...}, against the model in it. */
static void judge_megatron_optimizer(struct megatron *all, struct sp_contents *contents, const char *file)
{
    struct shapeproof_resume *resume = all->optimizers.resume;
    struct shapeproof_inventory *whole = resume->model;
    struct shapeproof_error ignored = {0};
    const size_t statements = resume->statements.count;
    const struct sp_pickle_value *outer = sp_contents_get(sp_contents_root(contents), "optimizer");
    const struct sp_pickle_value *inner = sp_contents_get(outer, "optimizer");
    resume->has_scaler = sp_contents_pairs(sp_contents_get(outer, "grad_scaler")) != NULL;
    all->moment_step = sp_resume_step_of_groups(contents, sp_contents_get(inner ? inner : outer, "param_groups"));
    resume->model = shapeproof_inventory_open(sp_folder_join(&resume->folder, file, &resume->arena), &ignored);
    if (find_optimizer(sp_contents_root(contents))) {
        judge_rank_optimizer(&all->optimizers, contents, file);
        if (resume->facts.is_read) {
            all->moment_step = resume->facts.step;
            judge_megatron_masters(all, contents, sp_contents_get(outer, "fp32_from_fp16_params"), file);
        }
    } else if (!judge_distributed_optimizer(resume, file, resume->model)) {
        if (sp_pickle_is(outer, SP_PICKLE_LIST))
            sp_resume_untold(resume, true, "optimizer", file, "a chain of several optimizers, which is not compared");
        else
            sp_resume_wrong(resume, "optimizer", file,
                            outer ? "distrib_optim.pt beside it" : "the state of an optimizer",
                            outer ? "no such file" : "none",
                            "the moments: without them, Megatron goes on only with --no-load-optim");
    }
    shapeproof_inventory_close(resume->model);
    resume->model = whole;
    if (all->extras.first) drop_right_statements(resume, statements);
}

/* The step, scheduler and random states in the file of a rank. */
static void judge_megatron_extras(struct megatron *all, struct sp_contents *contents, const char *file)
{
    struct shapeproof_resume *resume = all->optimizers.resume;
    struct sp_pickle_value *root = sp_contents_root(contents), *random = sp_contents_get(root, "rng_state");
    const bool is_first = !all->extras.first;
    const size_t wrong = count_wrong(resume);
    compare_extras(&all->extras, contents, file);
    const int64_t step = all->extras.step;
    if (is_first && step != SP_RESUME_NO_STEP && all->folder_step != SP_RESUME_NO_STEP && step != all->folder_step)
        sp_resume_wrong(resume, "step", file,
                        sp_arena_printf(&resume->arena, "%" PRId64 ", as the folder says", all->folder_step),
                        sp_arena_printf(&resume->arena, "%" PRId64, step), "its iteration");
    else if (is_first && step != SP_RESUME_NO_STEP) sp_resume_right(resume, "step", file, "iteration %" PRId64, step);
    if (is_first) sp_resume_compare_optimizer(resume, file, step, all->moment_step);
    if (!sp_contents_pairs(sp_contents_get(root, "opt_param_scheduler")) &&
        !sp_contents_pairs(sp_contents_get(root, "lr_scheduler")))
        sp_resume_wrong(resume, "scheduler", file, "opt_param_scheduler", "none",
                        "the scheduler: without it, Megatron goes on only with --no-load-optim");
    if (!random)
        sp_resume_wrong(resume, "random state", file, "rng_state", "none",
                        "the random state: without it, Megatron goes on only with --no-load-rng");
    const uint32_t states = sp_pickle_is(random, SP_PICKLE_LIST) ? random->length : 0;
    for (uint32_t i = 0; i < states; i++)
        if (!sp_resume_random_value(resume, contents, random->as.items[i], file)) break;
    if (random && !states)
        sp_resume_untold(resume, true, "random state", file, "rng_state is no list of random states, or an empty one");
    else if (is_first && count_wrong(resume) == wrong)
        sp_resume_right(resume, "random state", file, "Python, NumPy and torch");
}

static void judge_megatron(void *data, struct sp_contents *contents, const char *file)
{
    judge_megatron_optimizer(data, contents, file);
    judge_megatron_extras(data, contents, file);
}

static void check_megatron(struct shapeproof_resume *resume, const struct sp_ranks *ranks)
{
    struct megatron all = {.optimizers = {.resume = resume, .division = BY_MODEL},
                           .extras = {.resume = resume},
                           .folder_step = sp_resume_number_in_name(resume->path, "iter_"),
                           .moment_step = SP_RESUME_NO_STEP};
    struct rank_files files = {.subject = "model", .world = (uint32_t)ranks->files.count};
    files.names = sp_arena_array(&resume->arena, files.world, sizeof *files.names);
    for (uint32_t i = 0; i < files.world; i++)
        files.names[i] = sp_arena_string(&resume->arena, ranks->files.items[i].path);
    const size_t wrong = count_wrong(resume);
    sp_resume_model(resume, "");
    judge_files(resume, &files, &all, judge_megatron);
    if (count_wrong(resume) == wrong)
        sp_resume_right(resume, "ranks", NULL, "all %" PRIu32 " of the model; only as many can load it", files.world);
    free_rank_optimizers(&all.optimizers);
}

bool sp_resume_ranks(struct shapeproof_resume *resume)
{
    struct sp_ranks ranks = {0};
    struct shapeproof_error ignored = {0};
    const bool listed = sp_ranks_list(&ranks, &resume->folder, &ignored) && ranks.files.count;
    bool known = listed;
    if (listed && ranks.format == &sp_format_megatron) {
        resume->layout = "Megatron";
        check_megatron(resume, &ranks);
    } else if (listed && ranks.numbered && sp_ranks_are_pieces(&ranks, &resume->folder) &&
               (ranks.optimizers.count || has_any_optimizer(resume, &ranks))) {
        resume->layout = "torch";
        check_numbered(resume, &ranks);
    } else known = false;
    sp_ranks_free(&ranks);
    return known;
}
