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

#include "base/chars.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/names.h"
#include "run/resume/resume.h"

enum {
    MAX_LATEST = 4096, /* bytes of the file `latest`, which has one name */
    PADDING = 4096     /* elements for each rank and group, at most: DeepSpeed aligns to a few */
};

struct sharded {
    struct shapeproof_resume *resume;
    struct sp_folder folder; /* of the step */
    const char *below;       /* its name and '/', in front of names of files; or "" */
    SP_ARRAY(const char *) optimizers;
    const char *model_file;
    uint64_t world;    /* ranks among which parameters are divided, times those of tensor parallelism; 0: not known */
    uint64_t elements; /* of all parameters; 0: not known */
    uint64_t held;     /* elements of master weights, of all ranks */
    size_t groups;
    size_t wrong;
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
            }
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

/* Reads the facts that are the same in the files of all ranks. */
static void read_model_states(struct sharded *s)
{
    struct sp_contents *contents = open_shard(s, "model", s->model_file);
    if (!contents) return;
    const uint64_t data = read_count(contents, "dp_world_size"), model = read_count(contents, "mp_world_size");
    const uint64_t step = read_count(contents, "global_steps");
    if (read_count(contents, "skipped_steps")) s->resume->has_scaler = true; /* it scales by itself */
    if (!sp_mul_u64(data, model ? model : 1, &s->world)) s->world = 0;
    if (model <= 1) count_elements(s, sp_contents_get(sp_contents_root(contents), "param_shapes"));
    if (step && step < INT64_MAX) {
        s->resume->step = s->resume->step == SP_RESUME_NO_STEP ? (int64_t)step : s->resume->step;
        const char *folder = *s->below ? s->below : sp_base_name(s->resume->path);
        const char *digits = strpbrk(folder, "0123456789");
        const uint64_t named = digits ? strtoull(digits, NULL, 10) : step;
        if (strncmp(folder, "global_step", strlen("global_step")) == 0 && named != step)
            sp_resume_wrong(s->resume, "step", below(s, s->model_file),
                            sp_arena_printf(&s->resume->arena, "%" PRIu64 ", as the folder says", named),
                            sp_arena_printf(&s->resume->arena, "%" PRIu64, step), "its global_steps");
    }
    sp_contents_close(contents);
}

/* ---- the part of one rank ---- */

/* Compares the moments of one group with the master weights that they belong to. */
static void compare_partition(struct sharded *s, struct sp_contents *contents, const char *name, uint32_t group,
                              const struct sp_pickle_value *states, uint64_t elements)
{
    const struct sp_pickle_value *pairs = sp_contents_pairs(states), *moments = NULL;
    struct sp_contents_tensor moment;
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2)
        if (sp_pickle_is(pairs->as.items[i], SP_PICKLE_INT) && pairs->as.items[i]->as.integer == group)
            moments = pairs->as.items[i + 1];
    double step;
    if (sp_contents_number(contents, sp_contents_get(moments, "step"), &step)) {
        s->resume->optimizer_step = sp_resume_steps(step);
        s->resume->optimizer_file = below(s, name);
    }
    if (!sp_contents_tensor(contents, sp_contents_get(moments, "exp_avg"), &moment)) return;
    uint64_t length = 1;
    for (uint32_t i = 0; i < moment.rank; i++)
        if (!sp_mul_u64(length, moment.shape[i], &length)) return;
    if (length == elements) return;
    s->wrong++;
    sp_resume_wrong(s->resume, "optimizer", below(s, name),
                    sp_arena_printf(&s->resume->arena, "%" PRIu64 " elements, as its master weights", elements),
                    sp_arena_printf(&s->resume->arena, "%" PRIu64, length), "exp_avg of group %u", group);
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
    struct sp_contents_tensor master;
    bool ok = sp_pickle_is(masters, SP_PICKLE_LIST);
    for (uint32_t i = 0; ok && i < masters->length; i++) {
        uint64_t length = 1;
        ok = sp_contents_tensor(contents, masters->as.items[i], &master);
        for (uint32_t k = 0; ok && k < master.rank; k++) ok = sp_mul_u64(length, master.shape[k], &length);
        ok = ok && sp_add_u64(s->held, length, &s->held);
        if (!ok) break;
        s->groups = i + 1 > s->groups ? i + 1 : s->groups;
        if (strcmp(master.dtype, "F32") != 0) {
            s->wrong++;
            sp_resume_wrong(s->resume, "master weights", below(s, name), "F32", master.dtype, "group %u", i);
        }
        const struct sp_pickle_value *states = sp_contents_get(base, "state");
        if (!sp_resume_spend(s->resume, "optimizer", below(s, name), SP_STATEMENT_LOOKS + sp_resume_length(states)))
            break;
        compare_partition(s, contents, name, i, states, length);
    }
    if (!ok) {
        s->wrong++;
        sp_resume_wrong(s->resume, "master weights", below(s, name), NULL, NULL, "it has no master weights");
    }
    sp_contents_close(contents);
}

/* ---- all ranks ---- */

static int compare_shard_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void list_shards(struct sharded *s)
{
    DIR *stream = sp_folder_stream(AT_FDCWD, s->folder.path);
    const struct dirent *entry;
    while (stream && (entry = sp_folder_next(stream, s->folder.path))) {
        if (sp_ends_with(entry->d_name, "_optim_states.pt"))
            *SP_PUSH(&s->optimizers) = sp_arena_string(&s->resume->arena, entry->d_name);
        else if (sp_ends_with(entry->d_name, "_model_states.pt") && strstr(entry->d_name, "mp_rank_") &&
                 (!s->model_file || strcmp(entry->d_name, s->model_file) < 0))
            s->model_file = sp_arena_string(&s->resume->arena, entry->d_name);
    }
    sp_folder_end(stream);
    if (s->optimizers.count)
        qsort(s->optimizers.items, s->optimizers.count, sizeof *s->optimizers.items, compare_shard_names);
}

/* The elements of all ranks together are those of the parameters, with padding. */
static void judge_partitions(struct sharded *s)
{
    struct sp_arena *arena = &s->resume->arena;
    const uint64_t most = s->elements + PADDING * (s->groups + 1) * (s->world + 1);
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

/* The name of the part of the first rank that is not there, by the names of the others; NULL where these do not tell.
 */
static const char *first_missing(const struct sharded *s)
{
    static const char marker[] = "pp_rank_";
    const char *one = s->optimizers.items[0], *at = strstr(one, marker);
    if (!at || s->optimizers.count >= s->world) return NULL;
    at += strlen(marker);
    const char *behind = at + strspn(at, "0123456789");
    for (size_t rank = 0; rank <= s->optimizers.count; rank++) { /* of that many, at least one is not there */
        const char *name = sp_arena_printf(&s->resume->arena, "%.*s%zu%s", (int)(at - one), one, rank, behind);
        if (!bsearch(&name, s->optimizers.items, s->optimizers.count, sizeof name, compare_shard_names))
            return sp_arena_printf(&s->resume->arena, "%s%s", s->below, name);
    }
    return NULL;
}

static void say_rank_count(const struct sharded *s)
{
    struct sp_arena *arena = &s->resume->arena;
    const char *missing = first_missing(s);
    sp_resume_wrong(s->resume, "ranks", missing ? missing : s->below,
                    sp_arena_printf(arena, "%" PRIu64 " parts of the optimizer, one of each rank", s->world),
                    sp_arena_printf(arena, "%zu", s->optimizers.count),
                    missing ? "it is missing" : "not as many parts as ranks");
}

static void check_shards(struct sharded *s)
{
    struct sp_arena *arena = &s->resume->arena;
    const size_t count = s->optimizers.count;
    if (!s->model_file) sp_resume_wrong(s->resume, "model", s->below, "*_model_states.pt", "no such file", "the model");
    else read_model_states(s);
    for (size_t i = 0; i < count; i++) read_partition(s, s->optimizers.items[i]);
    if (!count)
        sp_resume_wrong(s->resume, "optimizer", *s->below ? s->below : NULL, "*_optim_states.pt", "no such file",
                        "the parts of the ranks");
    else if (!s->world)
        sp_resume_untold(s->resume, false, "ranks", NULL, "%zu parts of the optimizer; of how many is not known",
                         count);
    else if (count != s->world) say_rank_count(s);
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

/* The name in the file `latest`, NULL after a statement that it is wrong. */
static const char *read_latest(struct shapeproof_resume *resume)
{
    struct shapeproof_error error = {0};
    struct sp_file file;
    char *text = NULL;
    if (sp_folder_open_file(&resume->folder, "latest", &file, &error)) {
        text = sp_file_slurp(&file, MAX_LATEST, &error);
        sp_file_close(&file);
    }
    const char *name = text ? sp_arena_copy(&resume->arena, text, strcspn(text, "\r\n")) : NULL;
    sp_free(text);
    if (name && *name && !strchr(name, '/') && sp_resume_has(resume, name)) return name;
    if (!name) sp_resume_wrong(resume, "step", "latest", NULL, NULL, "it cannot be read: %s", error.message);
    else sp_resume_wrong(resume, "step", "latest", sp_quote(name).text, "no such folder", "the step that it names");
    return NULL;
}

bool sp_resume_deepspeed(struct shapeproof_resume *resume)
{
    struct sharded s = {.resume = resume, .below = ""};
    const char *path = resume->path;
    if (sp_resume_has(resume, "latest")) {
        const char *name = read_latest(resume);
        if (!name) return false;
        s.below = sp_arena_printf(&resume->arena, "%s/", name);
        path = sp_folder_join(&resume->folder, name, &resume->arena);
    }
    if (!sp_folder_open(&s.folder, path)) {
        sp_resume_wrong(resume, "step", "latest", "a folder", "a file", "what it names");
        return false;
    }
    list_shards(&s);
    check_shards(&s);
    sp_folder_close(&s.folder);
    sp_free(s.optimizers.items);
    return true;
}
