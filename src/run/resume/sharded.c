/* SPDX-License-Identifier: MIT
 * What the ranks of DeepSpeed have saved, in the folder that the file `latest` names:
 *
 *     mp_rank_00_model_states.pt                           the model, and under stage 3 of ZeRO one for each rank
 *     [bf16_]zero_pp_rank_0_mp_rank_00_optim_states.pt     moments and master weights of the part of rank 0
 *
 * ZeRO lays all parameters of a group end to end and divides the result among the ranks: what the ranks hold together
 * is as long as all parameters, and some padding. */
#define _POSIX_C_SOURCE 200809L /* AT_FDCWD */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/chars.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/names.h"
#include "base/order.h"
#include "run/resume/resume.h"

enum {
    MAX_LATEST = 4096, /* bytes of the file `latest`, which has one name */
    GROUP_PADDING = 2, /* elements for each rank and group: nccl_start_alignment_factor */
    PARAMETER_PADDING =
        16 /* elements for each parameter, at most: parameter_alignment; stage 3 adds one for each rank */
};

/* What the part of one rank says, to compare it with those of the others. */
struct partition {
    const char *name;
    const char *kinds; /* of moments: "exp_avg, exp_avg_sq" */
    uint64_t stage;    /* of ZeRO; 0: not known */
    uint64_t groups;   /* of master weights */
    int64_t step;
};

struct sharded {
    struct shapeproof_resume *resume;
    struct sp_folder folder; /* of the step */
    const char *below;       /* its name and '/', in front of names of files; or "" */
    SP_ARRAY(const char *) optimizers;
    SP_ARRAY(const char *) models; /* of stage 3 of ZeRO one for each rank */
    const char *model_file;        /* the first of them */
    bool is_partitioned;           /* by stage 3 */
    uint64_t world; /* ranks among which parameters are divided, times those of tensor parallelism; 0: not known */
    uint64_t model_ranks; /* of tensor parallelism; 0: not known */
    uint64_t elements;    /* of all parameters; 0: not known */
    uint64_t held;        /* elements of master weights, of all ranks */
    uint64_t parameters;  /* how many they are */
    size_t groups;
    size_t wrong;
    int64_t global_steps;   /* of the first model file */
    struct partition first; /* of the first file of the optimizer; its name is NULL before that is read */
};

static const char *below(struct sharded *s, const char *name)
{
    return sp_arena_printf(&s->resume->arena, "%s%s", s->below, name);
}

/* The numbers of a torch.Size or tuple multiplied; false when it is none. */
static bool multiply_size(const struct sp_pickle_value *size, uint64_t *elements)
{
    if (sp_pickle_is(size, SP_PICKLE_OBJECT)) size = sp_pickle_arg(size, 0);
    if (!sp_pickle_is(size, SP_PICKLE_TUPLE) && !sp_pickle_is(size, SP_PICKLE_LIST)) return false;
    if (size->length > SP_MAX_RANK) return false;
    *elements = 1;
    for (uint32_t i = 0; i < size->length; i++) {
        const struct sp_pickle_value *item = size->as.items[i];
        if (!sp_pickle_is(item, SP_PICKLE_INT) || item->as.integer < 0 ||
            !sp_mul_u64(*elements, (uint64_t)item->as.integer, elements))
            return false;
    }
    return true;
}

/* Adds up param_shapes: [{name: shape}, ...], a dictionary for each group. */
static void count_elements(struct sharded *s, const struct sp_pickle_value *shapes)
{
    const char *file = below(s, s->model_file);
    uint64_t elements;
    for (uint32_t g = 0; sp_pickle_is(shapes, SP_PICKLE_LIST) && g < shapes->length; g++) {
        const struct sp_pickle_value *pairs = sp_contents_pairs(shapes->as.items[g]);
        if (!sp_resume_spend(s->resume, "model", file, 1 + sp_resume_length(pairs))) {
            s->elements = 0;
            return;
        }
        for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2)
            if (!multiply_size(pairs->as.items[i + 1], &elements) || !sp_add_u64(s->elements, elements, &s->elements)) {
                s->elements = 0;
                return;
            } else s->parameters++;
    }
}

static uint64_t read_count(struct sp_contents *contents, const char *key)
{
    const struct sp_pickle_value *value = sp_contents_get(sp_contents_root(contents), key);
    return sp_pickle_is(value, SP_PICKLE_INT) && value->as.integer > 0 ? (uint64_t)value->as.integer : 0;
}

/* Opens a file of the step, which is wrong when that fails. */
static struct sp_contents *open_shard(struct sharded *s, const char *subject, const char *name)
{
    struct shapeproof_error error = {0};
    struct sp_contents *contents = sp_contents_open(&s->folder, name, &error);
    if (contents) return contents;
    s->wrong++;
    sp_resume_wrong(s->resume, subject, below(s, name), NULL, NULL, "it cannot be read: %s", error.message);
    return NULL;
}

/* The name of the file of the first rank that is not there, by the sorted names of the others; NULL where these do not
 * tell. A name has the rank among those that divide parameters, and the rank of the model:
 *
 *     zero_pp_rank_0_mp_rank_00_optim_states.pt, ..._0_mp_rank_01_..., ..._1_mp_rank_00_...     ..._1_mp_rank_01_... */
static const char *first_missing(const struct sharded *s, const char *const *names, size_t count)
{
    static const char data[] = "pp_rank_", model[] = "_mp_rank_";
    const char *one = names[0], *at = strstr(one, data);
    if (!at || count >= s->world) return NULL;
    at += strlen(data);
    const char *behind = at + strspn(at, "0123456789");
    const uint64_t parts = s->model_ranks ? s->model_ranks : 1; /* of the model */
    if (strncmp(behind, model, strlen(model)) != 0 || s->world % parts) return NULL;
    const char *ending = behind + strlen(model) + strspn(behind + strlen(model), "0123456789");
    for (uint64_t i = 0; i <= count; i++) { /* of that many, at least one is not there */
        const char *name = sp_arena_printf(&s->resume->arena, "%.*s%" PRIu64 "%s%02" PRIu64 "%s", (int)(at - one), one,
                                           i / parts, model, i % parts, ending);
        if (!bsearch(&name, names, count, sizeof name, sp_compare_strings))
            return sp_arena_printf(&s->resume->arena, "%s%s", s->below, name);
    }
    return NULL;
}

static void say_rank_count(const struct sharded *s, const char *subject, const char *const *names, size_t count,
                           const char *what)
{
    struct sp_arena *arena = &s->resume->arena;
    const char *missing = first_missing(s, names, count);
    sp_resume_wrong(s->resume, subject, missing ? missing : s->below,
                    sp_arena_printf(arena, "%" PRIu64 " %s", s->world, what), sp_arena_printf(arena, "%zu", count),
                    missing ? "it is missing" : "not as many parts as ranks");
}

static const char *spell_steps(const struct sharded *s, int64_t step)
{
    return step == SP_RESUME_NO_STEP ? "none" : sp_arena_printf(&s->resume->arena, "%" PRId64, step);
}

/* Judges the optimizer in the file of the model, where ZeRO does not divide it: {"optimizer_state_dict": ...,
 * "fp32_groups": ...} in mixed precision, or the state itself. */
static void judge_whole_optimizer(struct sharded *s, struct sp_contents *contents, const char *name)
{
    const char *file = below(s, name);
    const struct sp_pickle_value *outer = sp_contents_get(sp_contents_root(contents), "optimizer");
    const struct sp_pickle_value *inner = sp_contents_get(outer, "optimizer_state_dict");
    if (!inner) inner = outer;
    if (!sp_resume_is_optimizer(inner))
        sp_resume_wrong(s->resume, "optimizer", *s->below ? s->below : NULL, "*_optim_states.pt", "no such file",
                        "the parts of the ranks");
    else if (sp_resume_length(sp_contents_get(inner, "state")) &&
             sp_resume_moment_form(s->resume, contents, inner, file) == SP_MOMENTS_FLAT)
        sp_resume_untold(s->resume, true, "optimizer", file,
                         "its moments are those of parameters end to end: their shapes are not compared");
    else {
        sp_resume_optimizer(s->resume, contents, inner, file);
        sp_resume_masters(s->resume, contents, sp_contents_get(outer, "fp32_groups"), file);
        /* In BF16 the optimizer makes a step of its own before the first one. */
        const int64_t step = s->resume->facts.step;
        if (step != SP_RESUME_NO_STEP && s->global_steps != SP_RESUME_NO_STEP && step - 1 > s->global_steps)
            sp_resume_wrong(s->resume, "optimizer", file, spell_steps(s, s->global_steps), spell_steps(s, step),
                            "the last step of its moments, compared with its global_steps");
    }
}

static bool has_parameters(const struct shapeproof_inventory *model)
{
    for (size_t i = 0; model && i < model->count; i++)
        if (sp_resume_is_parameter(&model->tensors[i])) return true;
    return false;
}

/* Judges the optimizer in a file of the model. Of several tensor-parallel ranks, each is compared with the part of the
 * model in its own file. */
static void judge_own_optimizer(struct sharded *s, struct sp_contents *contents, const char *name)
{
    struct shapeproof_resume *resume = s->resume;
    struct shapeproof_inventory *whole = resume->model;
    struct shapeproof_error ignored = {0};
    if (s->models.count < 2 || s->is_partitioned || s->model_ranks < 2) {
        if (strcmp(name, s->model_file) == 0) judge_whole_optimizer(s, contents, name);
        return;
    }
    const size_t optimizers = resume->optimizers;
    resume->model = shapeproof_inventory_open(sp_folder_join(&s->folder, name, &resume->arena), &ignored);
    if (has_parameters(resume->model)) judge_whole_optimizer(s, contents, name);
    else
        sp_resume_untold(resume, true, "optimizer", below(s, name),
                         "it is not compared: the parameters of this rank are in other files");
    shapeproof_inventory_close(resume->model);
    resume->model = whole;
    if (strcmp(name, s->model_file) != 0) resume->optimizers = optimizers; /* parts of one */
}

static void compare_folder_step(struct sharded *s, int64_t step)
{
    const char *folder = *s->below ? s->below : sp_base_name(s->resume->path);
    const char *digits = strpbrk(folder, "0123456789");
    const uint64_t named = digits ? strtoull(digits, NULL, 10) : (uint64_t)step;
    if (strncmp(folder, "global_step", strlen("global_step")) == 0 && named != (uint64_t)step)
        sp_resume_wrong(s->resume, "step", below(s, s->model_file),
                        sp_arena_printf(&s->resume->arena, "%" PRIu64 ", as the folder says", named),
                        spell_steps(s, step), "its global_steps");
}

/* Reads the facts that are the same in the files of all ranks. */
static void read_model_states(struct sharded *s)
{
    struct sp_contents *contents = open_shard(s, "model", s->model_file);
    if (!contents) return;
    const uint64_t data = read_count(contents, "dp_world_size"), model = read_count(contents, "mp_world_size");
    const uint64_t step = read_count(contents, "global_steps");
    if (read_count(contents, "skipped_steps")) s->resume->has_scaler = true; /* it scales by itself */
    s->model_ranks = model;
    if (!sp_mul_u64(data, model ? model : 1, &s->world)) s->world = 0;
    if (model <= 1) count_elements(s, sp_contents_get(sp_contents_root(contents), "param_shapes"));
    if (step && step < INT64_MAX) {
        s->global_steps = (int64_t)step;
        s->resume->step = s->resume->step == SP_RESUME_NO_STEP ? (int64_t)step : s->resume->step;
        compare_folder_step(s, (int64_t)step);
    }
    if (!s->optimizers.count) judge_own_optimizer(s, contents, s->model_file);
    sp_contents_close(contents);
}

/* Compares the files of the model of the other ranks with the first. */
static void compare_model_states(struct sharded *s)
{
    for (size_t i = 1; i < s->models.count; i++) {
        struct sp_contents *contents = open_shard(s, "model", s->models.items[i]);
        if (!contents) continue;
        const uint64_t step = read_count(contents, "global_steps"), data = read_count(contents, "dp_world_size"),
                       model = read_count(contents, "mp_world_size");
        uint64_t world;
        if (s->global_steps != SP_RESUME_NO_STEP && step != (uint64_t)s->global_steps)
            sp_resume_wrong(s->resume, "step", below(s, s->models.items[i]), spell_steps(s, s->global_steps),
                            spell_steps(s, (int64_t)(step < INT64_MAX ? step : INT64_MAX)),
                            "its global_steps, compared with %s", s->model_file);
        if (s->world && sp_mul_u64(data, model ? model : 1, &world) && world && world != s->world)
            sp_resume_wrong(s->resume, "ranks", below(s, s->models.items[i]),
                            sp_arena_printf(&s->resume->arena, "%" PRIu64 ", as in %s", s->world, s->model_file),
                            sp_arena_printf(&s->resume->arena, "%" PRIu64, world), "its number of ranks");
        if (!s->optimizers.count) judge_own_optimizer(s, contents, s->models.items[i]);
        sp_contents_close(contents);
    }
    if (s->is_partitioned && s->world && s->models.count != s->world) {
        s->wrong++;
        say_rank_count(s, "model", s->models.items, s->models.count, "files of the model, one of each rank");
    }
}

/* ---- the part of one rank ---- */

/* Compares the moments of one group with the master weights that they belong to, and notes their kinds and step. */
static void compare_partition(struct sharded *s, struct sp_contents *contents, struct partition *own, uint32_t group,
                              const struct sp_pickle_value *states, uint64_t elements)
{
    struct sp_arena *arena = &s->resume->arena;
    const struct sp_pickle_value *pairs = sp_contents_pairs(states), *moments = NULL;
    struct sp_contents_tensor moment;
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2)
        if (sp_pickle_is(pairs->as.items[i], SP_PICKLE_INT) && pairs->as.items[i]->as.integer == group)
            moments = pairs->as.items[i + 1];
    double step;
    if (sp_contents_number(contents, sp_contents_get(moments, "step"), &step)) {
        own->step = s->resume->optimizer_step = sp_resume_steps(step);
        s->resume->optimizer_file = below(s, own->name);
    }
    pairs = sp_contents_pairs(moments);
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2) {
        const struct sp_pickle_value *key = pairs->as.items[i];
        if (!sp_pickle_is(key, SP_PICKLE_STR)) continue;
        const char *kind = sp_arena_copy(arena, key->as.text, key->length);
        if (!sp_resume_is_moment(kind) || !sp_contents_tensor(contents, pairs->as.items[i + 1], &moment)) continue;
        if (group == 0) own->kinds = sp_arena_printf(arena, "%s%s%s", own->kinds, *own->kinds ? ", " : "", kind);
        const uint64_t length = sp_resume_elements(&moment);
        if (length == elements) continue;
        s->wrong++;
        sp_resume_wrong(s->resume, "optimizer", below(s, own->name),
                        sp_arena_printf(arena, "%" PRIu64 " elements, as its master weights", elements),
                        sp_arena_printf(arena, "%" PRIu64, length), "%s of group %u", kind, group);
        return;
    }
}

/* The master weights of a group; false after nothing could be read. */
static bool read_masters(struct sharded *s, struct sp_contents *contents, struct partition *own, uint32_t group,
                         struct sp_pickle_value *value, const struct sp_pickle_value *base)
{
    struct sp_contents_tensor master;
    if (!sp_contents_tensor(contents, value, &master)) return false;
    const uint64_t length = sp_resume_elements(&master);
    if (!sp_add_u64(s->held, length, &s->held)) return false;
    if (strcmp(master.dtype, "F32") != 0) {
        s->wrong++;
        sp_resume_wrong(s->resume, "master weights", below(s, own->name), "F32", master.dtype, "group %u", group);
    }
    const struct sp_pickle_value *states = sp_contents_get(base, "state");
    if (sp_resume_spend(s->resume, "optimizer", below(s, own->name), SP_STATEMENT_LOOKS + sp_resume_length(states)))
        compare_partition(s, contents, own, group, states, length);
    return true;
}

/* The ranks among which a file says that parameters are divided: a number, or a list of them for each group. */
static uint64_t read_partition_count(const struct sp_pickle_value *whole)
{
    const struct sp_pickle_value *count = sp_contents_get(whole, "partition_count");
    if (sp_pickle_is(count, SP_PICKLE_LIST)) count = sp_pickle_item(count, 0);
    return sp_pickle_is(count, SP_PICKLE_INT) && count->as.integer > 0 ? (uint64_t)count->as.integer : 0;
}

/* The stage of ZeRO, which is saved as an enumerator: ZeroStageEnum(2). 0 when the file does not say it. */
static uint64_t read_stage(const struct sp_pickle_value *whole)
{
    const struct sp_pickle_value *stage = sp_contents_get(whole, "zero_stage");
    if (sp_pickle_is(stage, SP_PICKLE_OBJECT)) stage = sp_pickle_arg(stage, 0);
    return sp_pickle_is(stage, SP_PICKLE_INT) && stage->as.integer > 0 ? (uint64_t)stage->as.integer : 0;
}

/* Says the first thing in which the part of a rank differs from that of the first. */
static void compare_partitions(struct sharded *s, const struct partition *own)
{
    struct sp_arena *arena = &s->resume->arena;
    const struct partition *first = &s->first;
    const char *what = NULL, *expected = NULL, *found = NULL;
    if (own->stage != first->stage) {
        what = "the stage of ZeRO";
        expected = sp_arena_printf(arena, "%" PRIu64, first->stage);
        found = sp_arena_printf(arena, "%" PRIu64, own->stage);
    } else if (own->groups != first->groups) {
        what = "its groups of master weights";
        expected = sp_arena_printf(arena, "%" PRIu64, first->groups);
        found = sp_arena_printf(arena, "%" PRIu64, own->groups);
    } else if (strcmp(own->kinds, first->kinds) != 0) {
        what = "the kinds of its moments";
        expected = *first->kinds ? first->kinds : "none";
        found = *own->kinds ? own->kinds : "none";
    } else if (own->step != first->step) {
        what = "the last step of its moments";
        expected = spell_steps(s, first->step);
        found = spell_steps(s, own->step);
    }
    if (!what) return;
    s->wrong++;
    sp_resume_wrong(s->resume, "optimizer", below(s, own->name),
                    sp_arena_printf(arena, "%s, as in %s", expected, first->name), found, "%s", what);
}

/* Whether the optimizer keeps moments of each parameter, as Adam does. */
static bool has_betas(const struct sp_pickle_value *base)
{
    return sp_contents_get(sp_pickle_item(sp_contents_get(base, "param_groups"), 0), "betas") != NULL;
}

static void read_partition(struct sharded *s, const char *name)
{
    struct sp_contents *contents = open_shard(s, "optimizer", name);
    if (!contents) return;
    const struct sp_pickle_value *whole = sp_contents_get(sp_contents_root(contents), "optimizer_state_dict");
    const struct sp_pickle_value *masters = sp_contents_get(whole, "single_partition_of_fp32_groups"); /* 1 and 2 */
    if (!masters) masters = sp_contents_get(whole, "fp32_flat_groups");                                /* stage 3 */
    const struct sp_pickle_value *base = sp_contents_get(whole, "base_optimizer_state");
    if (!base) base = sp_contents_get(whole, "optimizer_state_dict");
    struct partition own = {.name = name, .kinds = "", .stage = read_stage(whole), .step = SP_RESUME_NO_STEP};
    bool ok = sp_pickle_is(masters, SP_PICKLE_LIST);
    for (uint32_t i = 0; ok && i < masters->length; i++) {
        ok = read_masters(s, contents, &own, i, masters->as.items[i], base);
        if (ok) own.groups = i + 1;
    }
    s->groups = own.groups > s->groups ? (size_t)own.groups : s->groups;
    const uint64_t count = read_partition_count(whole);
    if (!ok) {
        s->wrong++;
        sp_resume_wrong(s->resume, "master weights", below(s, name), NULL, NULL, "it has no master weights");
    } else if (s->world && count && s->optimizers.count && s->world % count) {
        s->wrong++;
        sp_resume_wrong(s->resume, "ranks", below(s, name), spell_steps(s, (int64_t)s->world),
                        sp_arena_printf(&s->resume->arena, "%" PRIu64, count), "its partition_count");
    } else if (s->first.name) compare_partitions(s, &own);
    else {
        s->first = own;
        if (!*own.kinds && has_betas(base)) {
            s->wrong++;
            sp_resume_wrong(s->resume, "optimizer", below(s, name), "moments", "none",
                            "its master weights have no moments: they would begin anew");
        }
    }
    sp_contents_close(contents);
}

/* ---- all ranks ---- */

static void list_shards(struct sharded *s)
{
    DIR *stream = sp_folder_stream(AT_FDCWD, s->folder.path);
    const struct dirent *entry;
    while (stream && (entry = sp_folder_next(stream, s->folder.path))) {
        if (sp_ends_with(entry->d_name, "_optim_states.pt"))
            *SP_PUSH(&s->optimizers) = sp_arena_string(&s->resume->arena, entry->d_name);
        else if (sp_ends_with(entry->d_name, "_model_states.pt") && strstr(entry->d_name, "mp_rank_") &&
                 !strstr(entry->d_name, "expert_"))
            *SP_PUSH(&s->models) = sp_arena_string(&s->resume->arena, entry->d_name);
    }
    sp_folder_end(stream);
    if (s->models.count) {
        qsort(s->models.items, s->models.count, sizeof *s->models.items, sp_compare_strings);
        s->model_file = s->models.items[0];
        s->is_partitioned = strstr(s->model_file, "zero_pp_rank_") != NULL;
    }
    if (s->optimizers.count)
        qsort(s->optimizers.items, s->optimizers.count, sizeof *s->optimizers.items, sp_compare_strings);
}

/* The most elements of all ranks together: those of the parameters, with padding. */
static uint64_t count_most_elements(const struct sharded *s)
{
    uint64_t of_groups, of_parameters, most;
    if (sp_mul_u64(s->world, GROUP_PADDING, &of_groups) && sp_mul_u64(of_groups, s->groups, &of_groups) &&
        sp_add_u64(s->world, PARAMETER_PADDING, &of_parameters) &&
        sp_mul_u64(of_parameters, s->parameters, &of_parameters) && sp_add_u64(s->elements, of_groups, &most) &&
        sp_add_u64(most, of_parameters, &most))
        return most;
    return UINT64_MAX;
}

/* The elements of all ranks together are those of the parameters, with padding. */
static void judge_partitions(struct sharded *s)
{
    struct sp_arena *arena = &s->resume->arena;
    const uint64_t most = count_most_elements(s);
    if (!s->elements)
        sp_resume_untold(s->resume, false, "master weights", NULL,
                         "%" PRIu64 " elements, but the shapes of the parameters are not known here", s->held);
    else if (s->held < s->elements || s->held > most)
        sp_resume_wrong(s->resume, "master weights", NULL,
                        sp_arena_printf(arena, "%" PRIu64 " elements of the parameters, and padding", s->elements),
                        sp_arena_printf(arena, "%" PRIu64, s->held), "of all ranks together");
    else
        sp_resume_right(s->resume, "master weights", NULL,
                        "F32, %" PRIu64 " elements for %" PRIu64 " of the parameters", s->held, s->elements);
}

static void check_shards(struct sharded *s)
{
    struct sp_arena *arena = &s->resume->arena;
    const size_t count = s->optimizers.count;
    if (!s->model_file) sp_resume_wrong(s->resume, "model", s->below, "*_model_states.pt", "no such file", "the model");
    else {
        read_model_states(s);
        compare_model_states(s);
    }
    for (size_t i = 0; i < count; i++) read_partition(s, s->optimizers.items[i]);
    if (!count) return; /* the file of the model may have the optimizer */
    if (!s->world)
        sp_resume_untold(s->resume, false, "ranks", NULL, "%zu parts of the optimizer; of how many is not known",
                         count);
    else if (count != s->world)
        say_rank_count(s, "ranks", s->optimizers.items, count, "parts of the optimizer, one of each rank");
    else if (!s->wrong) {
        sp_resume_right(s->resume, "optimizer", NULL, "moments of all %zu parts, as long as their master weights",
                        count);
        sp_resume_right(s->resume, "ranks", NULL,
                        "%zu parts of %" PRIu64 "; with another number of ranks only as a "
                        "universal checkpoint",
                        count, s->world);
        judge_partitions(s);
    }
    if (s->resume->ranks && s->world && s->resume->ranks != s->world)
        sp_resume_wrong(s->resume, "ranks", NULL, sp_arena_printf(arena, "%" PRIu64 ", as of DeepSpeed", s->world),
                        sp_arena_printf(arena, "%zu", s->resume->ranks), "random states of another number of ranks");
}

/* The first line of a file in the folder; NULL with an error. */
static const char *first_line(struct sp_arena *arena, const struct sp_folder *folder, const char *file_name,
                              struct shapeproof_error *error)
{
    struct sp_file file;
    char *text = NULL;
    if (sp_folder_open_file(folder, file_name, &file, error)) {
        text = sp_file_slurp(&file, MAX_LATEST, error);
        sp_file_close(&file);
    }
    const char *line = text ? sp_arena_copy(arena, text, strcspn(text, "\r\n")) : NULL;
    sp_free(text);
    return line;
}

/* The first line of a file with the name of a step; NULL after a statement that it cannot be read. */
static const char *read_line(struct shapeproof_resume *resume, const char *file_name)
{
    struct shapeproof_error error = {0};
    const char *line = first_line(&resume->arena, &resume->folder, file_name, &error);
    if (!line) sp_resume_wrong(resume, "step", file_name, NULL, NULL, "it cannot be read: %s", error.message);
    return line;
}

/* The name in the file `latest`, NULL after a statement that it is wrong. */
static const char *read_latest(struct shapeproof_resume *resume)
{
    const char *name = read_line(resume, "latest");
    if (!name || (*name && !strchr(name, '/') && sp_resume_has(resume, name))) return name;
    sp_resume_wrong(resume, "step", "latest", sp_quote(name).text, "no such folder", "the step that it names");
    return NULL;
}

static const char iteration_file[] = "latest_checkpointed_iteration.txt";

/* The folders that the line in that file may mean: "20" -> "iter_0000020" of Megatron and "global_step_20" of verl. A
 * line that is no number, as "release" of Megatron, is the name itself, and the second is NULL. */
struct iteration_names {
    const char *items[2];
};

static struct iteration_names names_of_iteration(struct sp_arena *arena, const char *line)
{
    const bool is_number = *line && strspn(line, "0123456789") == strlen(line) && strlen(line) < 10;
    const unsigned long number = is_number ? strtoul(line, NULL, 10) : 0;
    return (struct iteration_names){{is_number ? sp_arena_printf(arena, "iter_%07lu", number) : line,
                                     is_number ? sp_arena_printf(arena, "global_step_%lu", number) : NULL}};
}

/* Whether it may be the name of a folder in the same folder. */
static bool is_plain_name(const char *name) { return name && *name && *name != '.' && !strchr(name, '/'); }

const char *sp_resume_latest_iteration(struct shapeproof_resume *resume)
{
    const char *line = read_line(resume, iteration_file);
    if (!line) return NULL;
    const struct iteration_names names = names_of_iteration(&resume->arena, line);
    for (size_t i = 0; i < sizeof names.items / sizeof *names.items; i++)
        if (is_plain_name(names.items[i]) && sp_resume_has(resume, names.items[i])) return names.items[i];
    sp_resume_wrong(resume, "step", iteration_file, sp_quote(names.items[0]).text, "no such folder",
                    "the step that it names");
    return NULL;
}

/* Whether the folder has one of that name, and whether this is the one that is judged. */
enum named_step { STEP_ABSENT, STEP_OTHER, STEP_OWN };

static enum named_step find_named(const struct shapeproof_resume *resume, const struct sp_folder *above,
                                  const char *name)
{
    struct stat own, named;
    if (!is_plain_name(name) || !sp_path_stat(above->fd, name, &named)) return STEP_ABSENT;
    const bool is_own =
        sp_path_stat(AT_FDCWD, resume->path, &own) && own.st_dev == named.st_dev && own.st_ino == named.st_ino;
    return is_own ? STEP_OWN : STEP_OTHER;
}

/* Says that a file above the step names another one. */
static void say_other_step(struct shapeproof_resume *resume, const char *file, const char *name, enum named_step found)
{
    const char *how = file != iteration_file                ? "load_checkpoint(tag=...) of DeepSpeed"
                      : strcmp(resume->layout, "verl") == 0 ? "trainer.resume_from_path of verl"
                                                            : "--ckpt-step of Megatron";
    sp_resume_right(resume, "step", sp_arena_printf(&resume->arena, "../%s", file),
                    "names %s%s; to go on from this step, give it with %s", sp_quote(name).text,
                    found == STEP_ABSENT ? ", which is not there" : "", how);
}

/* Whether a program that writes that file has saved the checkpoint; Megatron also saves in torch's distributed format,
 * with a metadata.json. */
static bool is_saved_by_iteration(const struct shapeproof_resume *resume)
{
    const char *layout = resume->layout;
    return strcmp(layout, "Megatron") == 0 || strcmp(layout, "verl") == 0 ||
           (strcmp(layout, "torch.distributed.checkpoint") == 0 && sp_resume_has(resume, "metadata.json"));
}

void sp_resume_compare_latest(struct shapeproof_resume *resume)
{
    struct shapeproof_error ignored = {0};
    struct sp_arena *arena = &resume->arena;
    struct sp_folder above;
    const bool by_latest = strcmp(resume->layout, "DeepSpeed") == 0, by_iteration = is_saved_by_iteration(resume);
    if (!by_latest && !by_iteration) return;
    if (!sp_folder_open(&above, sp_arena_printf(arena, "%s/..", resume->path))) return;
    const char *latest = by_latest ? first_line(arena, &above, "latest", &ignored) : NULL;
    const char *iteration = by_iteration ? first_line(arena, &above, iteration_file, &ignored) : NULL;
    if (latest && is_plain_name(latest)) {
        const enum named_step found = find_named(resume, &above, latest);
        if (found != STEP_OWN) say_other_step(resume, "latest", latest, found);
    } else if (iteration && is_plain_name(iteration)) {
        const struct iteration_names names = names_of_iteration(arena, iteration);
        const enum named_step first = find_named(resume, &above, names.items[0]),
                              second = find_named(resume, &above, names.items[1]);
        const bool is_second =
            names.items[1] && first == STEP_ABSENT && (second != STEP_ABSENT || strcmp(resume->layout, "verl") == 0);
        const enum named_step found = is_second ? second : first;
        if (found != STEP_OWN) say_other_step(resume, iteration_file, names.items[is_second], found);
    }
    sp_folder_close(&above);
}

bool sp_resume_deepspeed(struct shapeproof_resume *resume, bool with_model)
{
    struct sharded s = {.resume = resume, .below = "", .global_steps = SP_RESUME_NO_STEP};
    const char *path = resume->path;
    if (sp_resume_has(resume, "latest")) {
        const char *name = read_latest(resume);
        if (!name) return false;
        s.below = sp_arena_printf(&resume->arena, "%s/", name);
        path = sp_folder_join(&resume->folder, name, &resume->arena);
    } else if (sp_resume_has_steps(resume)) {
        sp_resume_wrong(resume, "step", NULL, "latest", "no such file",
                        "DeepSpeed does not know which step to go on from: name the folder of one");
        return false;
    }
    if (!sp_folder_open(&s.folder, path)) {
        sp_resume_wrong(resume, "step", "latest", "a folder", "a file", "what it names");
        return false;
    }
    if (with_model) sp_resume_model(resume, "");
    list_shards(&s);
    check_shards(&s);
    sp_folder_close(&s.folder);
    sp_free(s.optimizers.items);
    sp_free(s.models.items);
    return true;
}
