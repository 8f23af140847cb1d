/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* openat, fdopendir */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chars.h"
#include "base/fault.h"
#include "base/natural.h"
#include "base/order.h"
#include "base/step_name.h"
#include "read/directory.h"
#include "read/ranks/ranks.h"

const struct sp_format sp_format_deepspeed = {"deepspeed", 0};
const struct sp_format sp_format_megatron = {"megatron", 0};
const struct sp_format sp_format_fsdp = {"fsdp", 0};

enum { MOST_RANK_FILES = 20 * 1000 };

/* ---- names ---- */

/* Passes `text`; false when something else stands there. */
static bool pass_text(const char **p, const char *text)
{
    const size_t length = strlen(text);
    if (strncmp(*p, text, length) != 0) return false;
    *p += length;
    return true;
}

/* "mp_rank_00", "mp_rank_00_001", "mp_rank_00_001_002": a folder of Megatron. */
static bool read_megatron_name(const char *name, struct sp_rank_file *file)
{
    *file = (struct sp_rank_file){.layer = SP_NO_LAYER};
    if (!pass_text(&name, "mp_rank_") || !sp_rank_number_pass(&name, &file->tensor)) return false;
    if (*name && (!pass_text(&name, "_") || !sp_rank_number_pass(&name, &file->stage))) return false;
    if (*name && (!pass_text(&name, "_") || !sp_rank_number_pass(&name, &file->expert))) return false;
    return !*name;
}

/* "mp_rank_00_model_states.pt" */
static bool read_model_name(const char *name, struct sp_rank_file *file)
{
    *file = (struct sp_rank_file){.layer = SP_NO_LAYER};
    return pass_text(&name, "mp_rank_") && sp_rank_number_pass(&name, &file->tensor) &&
           strcmp(name, "_model_states.pt") == 0;
}

/* "layer_03-model_00-model_states.pt" */
static bool read_layer_name(const char *name, struct sp_rank_file *file)
{
    *file = (struct sp_rank_file){.layer = SP_NO_LAYER};
    return pass_text(&name, "layer_") && sp_rank_number_pass(&name, &file->layer) && pass_text(&name, "-model_") &&
           sp_rank_number_pass(&name, &file->tensor) && strcmp(name, "-model_states.pt") == 0;
}

/* "expert_1_mp_rank_00_model_states.pt", "layer_0_expert_1_mp_rank_00_model_states.pt": they are numbered over all. */
static bool read_expert_name(const char *name, struct sp_rank_file *file)
{
    uint32_t ignored;
    if (pass_text(&name, "layer_") && (!sp_rank_number_pass(&name, &ignored) || !pass_text(&name, "_"))) return false;
    return pass_text(&name, "expert_") && sp_rank_number_pass(&name, &ignored) && pass_text(&name, "_") &&
           read_model_name(name, file) && (file->plain = true);
}

bool sp_sharded_name_read(const char *name, const char *front, uint32_t *of, uint32_t *rank)
{
    return pass_text(&name, front) && pass_text(&name, "_world_size_") && sp_rank_number_pass(&name, of) &&
           pass_text(&name, "_rank_") && sp_rank_number_pass(&name, rank) && strcmp(name, ".pt") == 0 && *rank < *of;
}

/* "model_world_size_2_rank_0.pt" */
static bool read_sharded_name(const char *name, struct sp_rank_file *file)
{
    *file = (struct sp_rank_file){.layer = SP_NO_LAYER};
    return sp_sharded_name_read(name, "model", &file->of, &file->tensor);
}

/* "optim_world_size_2_rank_0.pt", "extra_state_world_size_2_rank_0.pt": what is beside these, by its `front`. */
static bool read_beside_sharded(const char *name, const char *front, uint32_t *of)
{
    uint32_t rank;
    return sp_sharded_name_read(name, front, of, &rank);
}

/* A file of one rank under a name of a program's own. Files with the same `set` belong together: it is the name with
 * "*" in place of the number. */
struct numbered_file {
    struct sp_rank_file file;
    const char *name, *set;
};

/* What begins the names of files that hold no part of the model. */
static const char *const beside_model[] = {"rng",     "random",     "extra_state", "scheduler",
                                           "sampler", "dataloader", "loss"};

static bool is_beside_model(const char *name)
{
    for (size_t i = 0; i < sizeof beside_model / sizeof *beside_model; i++)
        if (strncmp(name, beside_model[i], strlen(beside_model[i])) == 0) return true;
    return false;
}

/* Where the word "rank" stands in a name as a word of its own; NULL when it does not. */
static const char *find_rank_word(const char *name)
{
    for (const char *at = name; (at = strstr(at, "rank")); at++)
        if (at == name || !sp_is_word(at[-1]) || at[-1] == '_') return at;
    return NULL;
}

/* Passes all up to the number behind the word "rank", and that number. False when there is none. */
static bool pass_rank(const char **name, uint32_t *rank)
{
    const char *word = find_rank_word(*name), *p = word ? word + strlen("rank") : NULL;
    if (!p) return false;
    p += *p == '_' || *p == '-';
    *name = p;
    return sp_rank_number_pass(name, rank);
}

bool sp_rank_in_name(const char *name, uint32_t *rank) { return pass_rank(&name, rank); }

/* Whether a file with that name may hold a part of the model. */
static bool may_be_of_model(const char *name)
{
    static const char *const endings[] = {".pt", ".pth", ".bin", ".ckpt"};
    bool is_pickle = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        is_pickle = is_pickle || sp_ends_with(name, endings[i]);
    return is_pickle && !is_beside_model(name);
}

/* "model_rank0.pt", "ckpt-rank-3.pt", "weights_rank_0_of_2.pth": the rank, and how many there are if the name says so.
 */
static bool read_numbered_name(struct sp_arena *arena, const char *name, struct numbered_file *numbered)
{
    const char *word = find_rank_word(name), *p = name;
    *numbered = (struct numbered_file){.file.layer = SP_NO_LAYER};
    if (!may_be_of_model(name) || !pass_rank(&p, &numbered->file.tensor)) return false;
    numbered->set = sp_arena_printf(arena, "%.*s*%s", (int)(word - name), name, p);
    if (pass_text(&p, "_of_") || pass_text(&p, "-of-")) {
        if (!sp_rank_number_pass(&p, &numbered->file.of) || numbered->file.tensor >= numbered->file.of) return false;
    }
    numbered->name = sp_arena_string(arena, name);
    return *p == '.' || *p == '_' || *p == '-';
}

/* "zero_pp_rank_3_mp_rank_00_model_states.pt": the number of the data-parallel rank. */
static bool read_zero_name(const char *name, struct sp_rank_file *file, uint32_t *rank)
{
    return pass_text(&name, "zero_pp_rank_") && sp_rank_number_pass(&name, rank) && pass_text(&name, "_") &&
           read_model_name(name, file);
}

/* ---- the folder ---- */

static void add_rank_file(struct sp_ranks *ranks, const struct sp_rank_file *file, const char *path)
{
    struct sp_rank_file *added = SP_PUSH(&ranks->files);
    *added = *file;
    added->path = sp_arena_string(&ranks->arena, path);
}

/* The file in a folder of Megatron, whichever of its names it has. */
static void add_megatron(struct sp_ranks *ranks, const struct sp_folder *folder, const struct sp_rank_file *file,
                         const char *name)
{
    static const char *const names[] = {"model_optim_rng.pt", "model_rng.pt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = sp_arena_printf(&ranks->arena, "%s/%s", name, names[i]);
        if (!sp_path_exists(folder->fd, path)) continue;
        add_rank_file(ranks, file, path);
        ranks->format = &sp_format_megatron;
        return;
    }
}

/* Of the data-parallel ranks, whose files say the same, that with the lowest number is taken. */
static void add_zero(struct sp_ranks *ranks, const struct sp_rank_file *file, uint32_t rank, const char *name)
{
    ranks->zero_files++;
    ranks->format = &sp_format_deepspeed;
    for (size_t i = 0; i < ranks->files.count; i++) {
        struct sp_rank_file *known = &ranks->files.items[i];
        if (known->tensor != file->tensor || known->layer != SP_NO_LAYER) continue;
        if (rank < known->stage) {
            known->stage = rank; /* kept there until all are listed */
            known->path = sp_arena_string(&ranks->arena, name);
        }
        return;
    }
    add_rank_file(ranks, file, name);
    ranks->files.items[ranks->files.count - 1].stage = rank;
}

static void add_beside(struct sp_ranks *ranks, struct sp_ranks_beside *beside, const char *name, uint32_t world)
{
    if (beside->count < MOST_RANK_FILES) *SP_PUSH(beside) = sp_arena_string(&ranks->arena, name);
    if (world > beside->world) beside->world = world;
}

static void add_optimizer(struct sp_ranks *ranks, const char *name, uint32_t world)
{
    ranks->optimizer_files++;
    add_beside(ranks, &ranks->optimizers, name, world);
}

/* The files with names of a program's own. */
struct numbered_list {
    SP_ARRAY(struct numbered_file) list;
};

struct numbered_files {
    struct numbered_list here;       /* in the folder itself */
    struct numbered_list in_folders; /* in those of ranks */
    bool has_own;                    /* the folder itself has files that may be a checkpoint */
};

/* Notes the files in the folder of one rank: "rank_0/ckpt.pt", of rank 0, and "rank_1/ckpt.pt" are one set. */
static void note_rank_folder(struct sp_ranks *ranks, const struct sp_folder *folder, struct numbered_list *numbered,
                             const char *name, uint32_t rank)
{
    DIR *stream = sp_folder_stream(folder->fd, name);
    for (const struct dirent *entry;
         stream && numbered->list.count <= MOST_RANK_FILES && (entry = sp_folder_next(stream, folder->path));) {
        struct numbered_file own;
        if (!may_be_of_model(entry->d_name)) continue;
        if (!read_numbered_name(&ranks->arena, entry->d_name, &own) || own.file.tensor != rank)
            own = (struct numbered_file){.file = {.tensor = rank, .layer = SP_NO_LAYER}, .set = entry->d_name};
        own.name = sp_arena_printf(&ranks->arena, "%s/%s", name, entry->d_name);
        own.set = sp_arena_printf(&ranks->arena, "rank*/%s", own.set);
        *SP_PUSH(&numbered->list) = own;
    }
    sp_folder_end(stream);
}

/* Notes a file of the folder by its name: of DeepSpeed (mp_rank_*, layer_*, zero_pp_rank_*, *_optim_states.pt),
 * Megatron (folders mp_rank_NN) or FSDP (model_world_size_*, or any other name or folder with a rank). Any other is
 * passed over. */
static void note_entry(struct sp_ranks *ranks, const struct sp_folder *folder, struct numbered_files *numbered,
                       const char *name)
{
    struct sp_rank_file file;
    struct numbered_file own;
    uint32_t rank;
    numbered->has_own = numbered->has_own || sp_may_be_checkpoint(name) || sp_ends_with(name, ".distcp");
    if (sp_ends_with(name, "_optim_states.pt")) add_optimizer(ranks, name, 0);
    else if (read_beside_sharded(name, "optim", &rank)) add_optimizer(ranks, name, rank);
    else if (read_beside_sharded(name, "extra_state", &rank)) add_beside(ranks, &ranks->extra_states, name, rank);
    else if (strcmp(name, "zero") == 0) ranks->universal = true;
    else if (read_megatron_name(name, &file)) add_megatron(ranks, folder, &file, name);
    else if (read_model_name(name, &file) || read_layer_name(name, &file) || read_expert_name(name, &file)) {
        add_rank_file(ranks, &file, name);
        ranks->layers = ranks->layers || file.layer != SP_NO_LAYER;
        ranks->format = &sp_format_deepspeed;
    } else if (read_zero_name(name, &file, &rank)) add_zero(ranks, &file, rank, name);
    else if (read_sharded_name(name, &file)) {
        add_rank_file(ranks, &file, name);
        if (file.of > ranks->world) ranks->world = file.of;
        ranks->format = &sp_format_fsdp;
    } else if (sp_rank_folder_read(name, &rank)) note_rank_folder(ranks, folder, &numbered->in_folders, name, rank);
    else if (numbered->here.list.count <= MOST_RANK_FILES && read_numbered_name(&ranks->arena, name, &own))
        *SP_PUSH(&numbered->here.list) = own;
}

/* Whether the set has two files of the same rank: those in the folders "rank_0" and "rank00" are both of rank 0. */
static bool has_rank_twice(const struct numbered_list *numbered, const char *set)
{
    int64_t *numbers = sp_realloc(NULL, numbered->list.count, sizeof *numbers);
    size_t count = 0;
    bool twice = false;
    for (size_t i = 0; i < numbered->list.count; i++)
        if (strcmp(set, numbered->list.items[i].set) == 0) numbers[count++] = numbered->list.items[i].file.tensor;
    qsort(numbers, count, sizeof *numbers, sp_compare_integers);
    for (size_t i = 1; i < count; i++) twice = twice || numbers[i] == numbers[i - 1];
    sp_free(numbers);
    return twice;
}

static bool is_optimizer_name(const char *path) { return strncmp(sp_base_name(path), "optim", strlen("optim")) == 0; }

/* Takes the files with names of a program's own, where there are no others and those of the model are one set, with one
 * file for each rank. It has at least two files, or folders for ranks, or the optimizer of several ranks is beside it:
 * a file beside which there is no other is read by itself. A set whose name begins with "optim" is the optimizer. */
static void choose_numbered(struct sp_ranks *ranks, const struct numbered_list *numbered)
{
    const char *set = NULL;
    size_t count = 0;
    for (size_t i = 0; i < numbered->list.count; i++) {
        const struct numbered_file *own = &numbered->list.items[i];
        if (is_optimizer_name(own->name)) continue;
        if (set && strcmp(set, own->set) != 0) return;
        set = own->set;
        count++;
    }
    const size_t others = numbered->list.count - count;
    if (!set || (count < 2 && others < 2 && !strchr(set, '/')) || has_rank_twice(numbered, set)) return;
    for (size_t i = 0; i < numbered->list.count; i++) {
        const struct numbered_file *own = &numbered->list.items[i];
        if (strcmp(set, own->set) != 0) add_optimizer(ranks, own->name, 0);
        else {
            add_rank_file(ranks, &own->file, own->name);
            if (own->file.of > ranks->world) ranks->world = own->file.of;
        }
    }
    ranks->format = &sp_format_fsdp;
    ranks->numbered = true;
}

static int compare_ranks_of(const void *left, const void *right)
{
    const struct sp_rank_of *a = left, *b = right;
    return a->of != b->of ? sp_order(a->of, b->of) : sp_order(a->rank, b->rank);
}

uint32_t sp_choose_world(struct sp_rank_of *ranks, size_t count)
{
    uint32_t whole = 0;
    if (!count) return 0;
    qsort(ranks, count, sizeof *ranks, compare_ranks_of);
    for (size_t begin = 0, end; begin < count; begin = end) {
        uint32_t different = 1;
        for (end = begin + 1; end < count && ranks[end].of == ranks[begin].of; end++)
            different += ranks[end].rank != ranks[end - 1].rank;
        if (different == ranks[begin].of) whole = ranks[begin].of;
    }
    return whole ? whole : ranks[count - 1].of;
}

/* Keeps the files of one training, and notes the others as not used. */
static void keep_one_world(struct sp_ranks *ranks)
{
    const size_t count = ranks->files.count;
    struct sp_rank_of *all = sp_realloc(NULL, count, sizeof *all);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        all[i] = (struct sp_rank_of){ranks->files.items[i].of, ranks->files.items[i].tensor};
    ranks->world = sp_choose_world(all, count);
    sp_free(all);
    for (size_t i = 0; i < count; i++) {
        const struct sp_rank_file *file = &ranks->files.items[i];
        if (file->of == ranks->world) ranks->files.items[kept++] = *file;
        else *SP_PUSH(&ranks->unused) = file->path;
    }
    ranks->files.count = kept;
}

/* Of which number of ranks files beside the model are kept: its own, if one of them is; otherwise what sp_choose_world
 * chooses. 0 when no name says a number. */
static uint32_t choose_world_beside(const struct sp_ranks *ranks, const struct sp_ranks_beside *beside,
                                    const char *front)
{
    struct sp_rank_of *all = sp_realloc(NULL, beside->count + 1, sizeof *all);
    bool has_own = false;
    size_t count = 0;
    for (size_t i = 0; i < beside->count; i++) {
        if (!sp_sharded_name_read(beside->items[i], front, &all[count].of, &all[count].rank)) continue;
        has_own = has_own || all[count].of == ranks->world;
        count++;
    }
    const uint32_t chosen = sp_choose_world(all, count);
    sp_free(all);
    return has_own ? ranks->world : chosen;
}

/* Keeps, of the files beside the model, those of one training. */
static void keep_world_beside(struct sp_ranks *ranks, struct sp_ranks_beside *beside, const char *front)
{
    const uint32_t world = choose_world_beside(ranks, beside, front);
    uint32_t of, rank;
    size_t kept = 0;
    if (!world) return;
    for (size_t i = 0; i < beside->count; i++) {
        if (!sp_sharded_name_read(beside->items[i], front, &of, &rank) || of == world)
            beside->items[kept++] = beside->items[i];
        else *SP_PUSH(&ranks->unused) = beside->items[i];
    }
    beside->count = kept;
    beside->world = world;
}

/* Where layers have files of their own, those of ranks hold the settings of the trainer. */
static void drop_settings(struct sp_ranks *ranks)
{
    size_t kept = 0;
    for (size_t i = 0; i < ranks->files.count; i++) {
        const struct sp_rank_file *file = &ranks->files.items[i];
        if (!ranks->layers || file->layer != SP_NO_LAYER || file->plain) ranks->files.items[kept++] = *file;
    }
    ranks->files.count = kept;
}

static int compare_rank_files(const void *left, const void *right)
{
    const struct sp_rank_file *a = left, *b = right;
    if (a->layer != b->layer) return a->layer < b->layer ? -1 : 1;
    if (a->stage != b->stage) return a->stage < b->stage ? -1 : 1;
    if (a->expert != b->expert) return a->expert < b->expert ? -1 : 1;
    if (a->tensor != b->tensor) return a->tensor < b->tensor ? -1 : 1;
    return sp_compare_natural(a->path, b->path);
}

static int compare_names(const void *left, const void *right)
{
    return sp_compare_natural(*(const char *const *)left, *(const char *const *)right);
}

static void sort_beside(struct sp_ranks_beside *beside)
{
    if (beside->count) qsort(beside->items, beside->count, sizeof *beside->items, compare_names);
}

bool sp_ranks_list(struct sp_ranks *ranks, const struct sp_folder *folder, struct shapeproof_error *error)
{
    DIR *stream = sp_folder_stream(folder->fd, ".");
    if (!stream) return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "open: %s", strerror(errno));
    struct numbered_files numbered = {0};
    for (const struct dirent *entry;
         ranks->files.count <= MOST_RANK_FILES && (entry = sp_folder_next(stream, folder->path));)
        note_entry(ranks, folder, &numbered, entry->d_name);
    sp_folder_end(stream);
    const bool of_folders = numbered.in_folders.list.count && !numbered.has_own;
    if (!ranks->files.count) choose_numbered(ranks, of_folders ? &numbered.in_folders : &numbered.here);
    sp_free(numbered.here.list.items);
    sp_free(numbered.in_folders.list.items);
    if (ranks->files.count > MOST_RANK_FILES)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "files of more than %d ranks",
                       MOST_RANK_FILES);
    for (size_t i = 0; i < ranks->files.count && ranks->zero_files; i++)
        ranks->files.items[i].stage = 0; /* add_zero has kept the number of the data-parallel rank there */
    drop_settings(ranks);
    sort_beside(&ranks->optimizers);
    sort_beside(&ranks->extra_states);
    if (ranks->format != &sp_format_fsdp) ranks->world = 0;
    else if (!ranks->numbered) {
        keep_one_world(ranks);
        keep_world_beside(ranks, &ranks->optimizers, "optim");
        keep_world_beside(ranks, &ranks->extra_states, "extra_state");
        ranks->optimizer_files = ranks->optimizers.count;
        if (ranks->unused.count)
            qsort(ranks->unused.items, ranks->unused.count, sizeof *ranks->unused.items, compare_names);
    }
    if (ranks->files.count)
        qsort(ranks->files.items, ranks->files.count, sizeof *ranks->files.items, compare_rank_files);
    return true;
}
