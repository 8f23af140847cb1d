/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* openat, fdopendir */
#include "read/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chars.h"
#include "base/fault.h"
#include "base/map.h"
#include "base/names.h"
#include "base/natural.h"
#include "base/shard_name.h"
#include "base/step_name.h"
#include "read/dcp/folder.h"
#include "read/index.h"
#include "read/local_code.h"
#include "read/ranks/folder.h"
#include "read/reader.h"
#include "read/subfolders.h"
#include "read/torch/judge.h"
#include "read/unlisted.h"
#include "shapeproof/run.h"

/* What is read, the first that exists; "*" stands for exactly one file with that ending. */
static const char *const candidates[] = {
    "model.safetensors.index.json",
    "model.safetensors",
    "*.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "pytorch_model.bin",
    "diffusion_pytorch_model.safetensors.index.json",
    "diffusion_pytorch_model.safetensors",
    "diffusion_pytorch_model.bin.index.json",
    "diffusion_pytorch_model.bin",
    "model.fp16.safetensors",
    "pytorch_model.fp16.bin",
    "diffusion_pytorch_model.fp16.safetensors",
    "diffusion_pytorch_model.fp16.bin",
    "model.weights.json",
    "model.weights.h5",
    "*.weights.json",
    "tf_model.h5",
    "params.best",
    "flax_model.msgpack",
    "model.onnx",
    "adapters.safetensors",
};

/* Beginnings of files that trainers leave beside a checkpoint. */
static const char *const companions[] = {
    "training_args.",     "optimizer.",     "optimizer_",   "scheduler.",   "scheduler_",
    "rng_state",          "scaler.",        "sampler.",     "sampler_",     "random_states_",
    "custom_checkpoint_", "distrib_optim.", "extra_state_", "optim_world_", "dl_state_dict",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool sp_is_index_name(const char *name)
{
    return sp_ends_with(name, ".index.json") || sp_ends_with(name, ".weights.json");
}

/* "params.best", "params.00012" */
static bool is_sockeye_name(const char *name)
{
    if (strncmp(name, "params.", 7) != 0) return false;
    return strcmp(name + 7, "best") == 0 || (name[7] && !name[7 + strspn(name + 7, "0123456789")]);
}

/* Whether a trainer leaves it beside a checkpoint. */
static bool is_companion(const char *name) { return SP_BEGINS_WITH_ANY(name, companions); }

bool sp_may_be_checkpoint(const char *name)
{
    if (is_companion(name)) return false;
    return sp_file_ending_says(name) & (SP_IN_DIRECTORIES | SP_IF_ALONE) || sp_is_index_name(name) ||
           is_sockeye_name(name);
}

/* ---- the names in the directory ---- */

struct listing {
    struct sp_arena arena;
    const char **names; /* that may be a checkpoint, sorted */
    size_t count, capacity;
    bool distributed;                     /* files of torch.distributed.checkpoint lie there */
    bool has_metadata;                    /* and what their names are: .metadata */
    SP_ARRAY(const char *) rank_metadata; /* or __0.metadata, __1.metadata; sorted */
    SP_ARRAY(const char *) files;         /* all entries of the folder; sorted */
    bool judged;                          /* those that may be a checkpoint and are not read */
    bool resumed;                         /* so are the optimizer and states of Trainer */
};

/* Whether the name is one that programs give to files of torch.save and pickles. */
static bool is_pickle_name(const char *name)
{
    static const char *const endings[] = {".pt",      ".pth",    ".bin",  ".ckpt",        ".pkl", ".pickle", ".th",
                                          ".pth.tar", ".joblib", ".dill", ".cloudpickle", ".sav", ".model"};
    for (size_t i = 0; i < COUNT(endings); i++)
        if (sp_ends_with(name, endings[i])) return true;
    return false;
}

static int compare_shard_names(const void *left, const void *right)
{
    return sp_compare_natural(*(const char *const *)left, *(const char *const *)right);
}

static void note_metadata(struct listing *listing, const char *name)
{
    if (*name == '.') listing->has_metadata = true;
    else *SP_PUSH(&listing->rank_metadata) = sp_arena_string(&listing->arena, name);
}

/* Lists the files of the folder that may be checkpoints, in the order of their shard numbers, and notes signs of
 * distributed checkpoints. */
static bool list_folder(const struct sp_folder *folder, struct listing *listing, struct shapeproof_error *error)
{
    DIR *stream = sp_folder_stream(folder->fd, ".");
    if (!stream) return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "open: %s", strerror(errno));
    for (const struct dirent *entry; (entry = sp_folder_next(stream, folder->path));) {
        listing->distributed = listing->distributed || sp_ends_with(entry->d_name, ".distcp");
        if (sp_is_dcp_name(entry->d_name)) note_metadata(listing, entry->d_name);
        *SP_PUSH(&listing->files) = sp_arena_string(&listing->arena, entry->d_name);
        if (!sp_may_be_checkpoint(entry->d_name)) continue;
        SP_GROW(listing->names, listing->count, listing->capacity);
        listing->names[listing->count++] = sp_arena_string(&listing->arena, entry->d_name);
    }
    sp_folder_end(stream);
    if (listing->count) qsort(listing->names, listing->count, sizeof *listing->names, compare_shard_names);
    if (listing->files.count)
        qsort(listing->files.items, listing->files.count, sizeof *listing->files.items, compare_shard_names);
    if (listing->rank_metadata.count)
        qsort(listing->rank_metadata.items, listing->rank_metadata.count, sizeof *listing->rank_metadata.items,
              compare_shard_names);
    return true;
}

/* The only name that matches a candidate, or NULL. */
static const char *match(const struct listing *listing, const char *candidate)
{
    const char *found = NULL;
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        if (*candidate == '*' ? !sp_ends_with(name, candidate + 1) : strcmp(name, candidate) != 0) continue;
        if (found) return NULL;
        found = name;
    }
    return found;
}

/* ---- shards without an index: model-00001-of-00003.safetensors ---- */

static bool same_set(const char *a, const struct sp_shard_name *x, const char *b, const struct sp_shard_name *y)
{
    return x->stem == y->stem && x->of == y->of && strncmp(a, b, x->stem) == 0 && strcmp(x->suffix, y->suffix) == 0;
}

/* The shards in the listing when they are all of one set: how many. 0 when there are none, or several sets. */
static size_t find_shards(const struct listing *listing, struct sp_shard *shards)
{
    struct sp_shard_name first = {0}, next;
    size_t count = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        if (!sp_shard_name_read(name, &next)) continue;
        if (!count) first = next;
        else if (!same_set(shards[0].name, &first, name, &next)) return 0;
        shards[count++] = (struct sp_shard){.name = name, .file = SP_NO_FILE};
    }
    return count;
}

/* The names of the shards numbered [from, to), made from that of another one; only the first few are shown. */
static void add_absent(struct sp_names *absent, const char *name, const struct sp_shard_name *shard, uint32_t from,
                       uint32_t to)
{
    for (; from < to && absent->count < SP_NAMES_SHOWN; from++) {
        struct sp_text text = {0};
        sp_text_append(&text, name, shard->stem);
        sp_text_printf(&text, "%0*u%s", (int)shard->digits, from, name + shard->stem + shard->digits);
        sp_names_add(absent, text.data);
        sp_text_free(&text);
    }
    if (from < to) absent->count += to - from;
}

/* The shards are sorted, so that one sweep finds the numbers that are not there. */
static void warn_absent_shards(const struct sp_shard *shards, size_t count, struct shapeproof_inventory *inventory)
{
    struct sp_names absent = {0};
    struct sp_shard_name first, shard;
    sp_shard_name_read(shards[0].name, &first);
    uint32_t next = first.number ? 1 : 0; /* some writers count from 0 */
    const uint32_t end = next + first.of;
    for (size_t i = 0; i < count; i++) {
        sp_shard_name_read(shards[i].name, &shard);
        if (shard.number < next || shard.number >= end) continue;
        add_absent(&absent, shards[0].name, &first, next, shard.number);
        next = shard.number + 1;
    }
    add_absent(&absent, shards[0].name, &first, next, end);
    if (absent.count) {
        const char *names = sp_names_text(&absent);
        sp_inventory_warn(inventory, "%zu of %u shards are absent: %s", absent.count, first.of, names);
        sp_inventory_promise_shard(inventory, names);
    }
    sp_names_free(&absent);
}

/* Loaders of Hugging Face's formats find shards only by their index, whose name is made of theirs: "model" of
 * "model-00001-of-00002.safetensors". After an underscore the number is of another program's files. */
static void warn_absent_index(const char *name, struct shapeproof_inventory *inventory)
{
    static const char *const stems[] = {"model", "pytorch_model", "diffusion_pytorch_model"};
    static const char *const suffixes[] = {".safetensors", ".bin"};
    struct sp_shard_name shard;
    if (!sp_shard_name_read(name, &shard) || !shard.stem || name[shard.stem - 1] != '-') return;
    const char *stem = sp_arena_copy(&inventory->arena, name, shard.stem - 1); /* without the hyphen */
    if (!SP_IS_AMONG(stem, stems) || !SP_IS_AMONG(shard.suffix, suffixes)) return;
    sp_inventory_warn(inventory, "%s%s.index.json is not there: transformers and diffusers find the shards only by it",
                      stem, shard.suffix);
}

/* ---- the choice ---- */

static bool is_file_read(const struct shapeproof_inventory *inventory, const char *name)
{
    for (size_t f = 0; f < inventory->file_count; f++)
        if (strcmp(inventory->files[f], name) == 0) return true;
    return false;
}

static void warn_stray(const char *index, const struct listing *listing, struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        const size_t length = strlen(name);
        if (strncmp(index, name, length) != 0 || strcmp(index + length, ".index.json") != 0) continue;
        if (is_file_read(inventory, name)) return;
        inventory->stray = sp_arena_string(&inventory->arena, name);
        sp_inventory_warn(inventory, "%s beside its index is not read", sp_quote(name).text);
    }
}

/* Whether the name is that of a shard whose index is there, too: "pytorch_model.bin.index.json". */
static bool has_own_index(const struct listing *listing, const char *name)
{
    struct sp_shard_name shard;
    struct sp_text index = {0};
    if (!sp_shard_name_read(name, &shard)) return false;
    sp_text_printf(&index, "%.*s%s.index.json", (int)shard.stem - 1, name, shard.suffix);
    const bool found = match(listing, index.data) != NULL;
    sp_text_free(&index);
    return found;
}

/* Other loaders may take another one; and people another folder. */
static void note_others(const struct sp_folder *folder, const char *chosen, const struct listing *listing,
                        struct shapeproof_inventory *inventory)
{
    struct sp_names others = {0};
    const char *below = sp_folder_checkpoints_below(folder, &inventory->arena);
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        if (strcmp(name, chosen) == 0 || is_file_read(inventory, name) || has_own_index(listing, name)) continue;
        if (!inventory->stray || strcmp(inventory->stray, name) != 0) sp_names_add(&others, name);
    }
    if (others.count) inventory->beside = sp_arena_string(&inventory->arena, sp_names_text(&others));
    if (below)
        inventory->beside = others.count
                                ? sp_arena_printf(&inventory->arena, "%s, nor what is in %s", inventory->beside, below)
                                : sp_arena_printf(&inventory->arena, "what is in %s", below);
    sp_names_free(&others);
}

/* ---- the optimizer beside the model ---- */

/* Whether a tensor of the model has that shape. */
static bool has_shape(const struct shapeproof_inventory *inventory, const struct shapeproof_tensor *like)
{
    for (size_t i = 0; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (tensor->rank == like->rank && memcmp(tensor->shape, like->shape, like->rank * sizeof *like->shape) == 0)
            return true;
    }
    return false;
}

/* Warns if the optimizer `name`, which lies beside the model, cannot be read or is of another model. Of the latter a
 * moment (".exp_avg") has a shape that no tensor has. The first few matrices are compared; vectors may be pieces of
 * flattened parameters. */
static void check_optimizer(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory)
{
    enum { MOST = 16 };
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *own = sp_inventory_new(name);
    if (!sp_folder_read(folder, name, own, &error))
        sp_inventory_warn(inventory, "%s: training cannot be resumed from this checkpoint", error.message);
    else sp_torch_judge_named(folder, name, inventory);
    for (size_t i = 0, compared = 0; !error.status && i < own->count && compared < MOST; i++) {
        const struct shapeproof_tensor *moment = &own->tensors[i];
        if (!sp_ends_with(moment->name, ".exp_avg") || moment->rank < 2) continue;
        compared++;
        if (has_shape(inventory, moment)) continue;
        sp_inventory_warn(inventory, "%s is of another model: no tensor has the shape of %s", name,
                          sp_quote(moment->name).text);
        break;
    }
    shapeproof_inventory_close(own);
}

/* Warns if the file, which lies beside the model, is cut short. Judges it otherwise. Of a pickle that no reader knows
 * nothing is said. */
static void check_state(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *own = sp_inventory_new(name);
    if (!sp_folder_read(folder, name, own, &error) &&
        (error.kind == SHAPEPROOF_KIND_MALFORMED || error.kind == SHAPEPROOF_KIND_IO))
        sp_inventory_warn(inventory, "%s: training cannot be resumed from this checkpoint", error.message);
    else sp_torch_judge_named(folder, name, inventory);
    shapeproof_inventory_close(own);
}

/* Judges the files of the folder that may be checkpoints and are not read: the parts of the optimizer, those of other
 * ranks, the settings of the trainer. Who loads a checkpoint of several ranks unpickles these, too. */
static void judge_others(const struct sp_folder *folder, struct listing *listing,
                         struct shapeproof_inventory *inventory)
{
    enum { MOST = 10 * 1000, MOST_REMOTE = 64 };
    const size_t most = folder->far ? MOST_REMOTE : MOST;
    size_t judged = 0;
    listing->judged = true;
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        if (is_file_read(inventory, name) || !is_pickle_name(name)) continue;
        if (judged++ < most) sp_torch_judge_named(folder, name, inventory);
    }
    if (judged > most)
        sp_inventory_warn(inventory, "%zu of its files are not read: what unpickling them would run is not known",
                          judged - most);
}

/* What Trainer and accelerate save once beside the model. Of the random states, schedulers, samplers and objects there
 * may be more, which are numbered. */
static const char *const optimizers[] = {"optimizer.pt", "optimizer.bin"};
static const char *const states[] = {"scheduler.pt", "scheduler.bin", "scaler.pt", "rng_state.pth",
                                     "random_states_0.pkl"};

/* Judges a file that has the name of a pickle. */
static void judge_pickle(const struct sp_folder *folder, const char *name, struct shapeproof_inventory *inventory)
{
    const bool is_settings = sp_begins_with(name, "training_args.");
    if (is_companion(name) && !is_settings) sp_torch_judge_named(folder, name, inventory);
    else if (!sp_torch_judge_beside(folder, name, is_settings, inventory))
        sp_unlisted_judge_named(folder, name, inventory);
}

enum { MOST_JUDGED = 10 * 1000 }; /* files with the names of pickles, and as many others */

/* Judges the files of the folder that are not read and were not judged, either those with the name of a pickle or all
 * others: other states of a training, which it loads, and any other file that is a pickle or has one in it, which a
 * program may load instead of the model. A .distcp file is several files of torch.save, one behind the other, and so no
 * archive. */
static void judge_files(const struct sp_folder *folder, const struct listing *listing, bool named,
                        const struct sp_map *read, struct shapeproof_inventory *inventory)
{
    size_t judged = 0;
    for (size_t i = 0; i < listing->files.count; i++) {
        const char *name = listing->files.items[i];
        if (is_pickle_name(name) != named) continue;
        if (named && listing->resumed && (SP_IS_AMONG(name, optimizers) || SP_IS_AMONG(name, states))) continue;
        if (sp_map_get(read, name) != SIZE_MAX || (named && listing->judged && !is_companion(name))) continue;
        if (judged++ >= MOST_JUDGED) continue;
        if (named) judge_pickle(folder, name, inventory);
        else if (sp_ends_with(name, ".distcp")) sp_torch_judge_beside(folder, name, false, inventory);
        else sp_unlisted_judge_named(folder, name, inventory);
    }
    if (judged > MOST_JUDGED)
        sp_inventory_warn(inventory, "%zu of its files are not read: what unpickling them would run is not known",
                          judged - MOST_JUDGED);
}

static void judge_all_files(const struct sp_folder *folder, const struct listing *listing,
                            struct shapeproof_inventory *inventory)
{
    struct sp_map read = {0};
    for (size_t f = 0; f < inventory->file_count; f++) sp_map_add(&read, inventory->files[f], f);
    judge_files(folder, listing, true, &read, inventory);
    judge_files(folder, listing, false, &read, inventory);
    sp_map_free(&read);
}

/* Looks at what Trainer and accelerate save beside the model to continue a training. */
static void check_training(const struct sp_folder *folder, struct shapeproof_inventory *inventory)
{
    for (size_t i = 0; i < COUNT(optimizers); i++)
        if (sp_path_exists(folder->fd, optimizers[i])) check_optimizer(folder, optimizers[i], inventory);
    for (size_t i = 0; i < COUNT(states) && !folder->far; i++)
        if (sp_path_exists(folder->fd, states[i])) check_state(folder, states[i], inventory);
}

static bool read_chosen(const struct sp_folder *folder, const char *name, struct listing *listing,
                        struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    if (!sp_is_index_name(name)) {
        if (!sp_folder_read(folder, name, inventory, error)) return false;
    } else {
        if (!sp_index_read(folder, name, inventory, error)) return false;
        warn_stray(name, listing, inventory);
    }
    note_others(folder, name, listing, inventory);
    check_training(folder, inventory);
    listing->resumed = true;
    return true;
}

/* Names of what the ranks of a training save each for itself, and what makes one checkpoint of them. */
static const struct {
    const char *part, *hint;
} ranks[] = {
    {"zero_pp_rank_", "these are files of DeepSpeed ranks: run zero_to_fp32.py, which is in this folder or the one "
                      "above, and read what it writes"},
    {"mp_rank_", "these are files of the ranks among which a model was divided: gather them into one checkpoint"},
    {"_world_size_", "these are files of FSDP ranks: merge them into one checkpoint, or name one of them to read it "
                     "alone"},
    {"consolidated.", "these are files of tensor-parallel ranks: gather them into one checkpoint, or name one of "
                      "them to read it alone"},
};

/* The hint for a listing of such files, NULL for any other. The names are sorted, so that the first and the last one
 * tell for all. */
static const char *hint_for_ranks(const struct listing *listing)
{
    for (size_t i = 0; i < COUNT(ranks); i++)
        if (listing->count && strstr(listing->names[0], ranks[i].part) &&
            strstr(listing->names[listing->count - 1], ranks[i].part))
            return ranks[i].hint;
    return NULL;
}

static bool refuse_distributed(const struct sp_folder *folder, struct shapeproof_error *error)
{
    sp_fail(
        error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
        "this is a distributed checkpoint of PyTorch (*.distcp) without its '.metadata', which has the names of the "
        "tensors");
    sp_hint(error, "this file is written last: saving was not finished, or hidden files were not copied");
    sp_error_prefix(error, folder->path);
    return false;
}

/* ---- shards of several checkpoints ---- */

/* The shards of one save: model-00001-of-00004.safetensors to model-00004-of-00004.safetensors. */
struct shard_set {
    const char *first;
    struct sp_shard_name name; /* of that */
    size_t count;
};

enum { MOST_SETS = 8 };

/* The sets of which the listing has shards, and nothing else but these; 0 when there are other files, too, or more
 * sets. */
static size_t list_shard_sets(const struct listing *listing, struct shard_set sets[MOST_SETS])
{
    size_t count = 0;
    for (size_t i = 0; i < listing->count; i++) {
        struct sp_shard_name name;
        size_t k = 0;
        if (!sp_shard_name_read(listing->names[i], &name)) return 0;
        while (k < count && !same_set(sets[k].first, &sets[k].name, listing->names[i], &name)) k++;
        if (k == MOST_SETS) return 0;
        if (k == count) sets[count++] = (struct shard_set){listing->names[i], name, 0};
        sets[k].count++;
    }
    return count;
}

/* "4 of 4 such as 'model-00001-of-00004.safetensors'; 1 of 5, 'model-00005-of-00005.safetensors'". What to do follows
 * where one set is there as a whole, and of the others a part. */
static void refuse_shard_sets(const struct shard_set *sets, size_t count, struct shapeproof_error *error)
{
    struct sp_text text = {0};
    struct sp_names strays = {0};
    size_t whole = 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_whole = sets[i].count == sets[i].name.of;
        sp_text_printf(&text, "%s%zu of %u%s %s", i ? "; " : "", sets[i].count, sets[i].name.of,
                       sets[i].count > 1 ? " such as" : ",", sp_quote(sets[i].first).text);
        if (is_whole) whole++;
        else sp_names_add(&strays, sets[i].first);
    }
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
            "shards of several checkpoints in this directory: %s", text.data);
    if (whole == 1)
        sp_hint(error, "remove the shards that are left over from another save, such as %s", sp_names_text(&strays));
    else sp_hint(error, "keep only the shards of one save");
    sp_names_free(&strays);
    sp_text_free(&text);
}

/* The name that a hint offers: of those with weights the last step, else the first. */
static const char *likeliest_name(const struct listing *listing)
{
    const char *first = NULL, *last = NULL;
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        const enum shapeproof_run_kind kind = shapeproof_run_kind_of(name, NULL);
        struct sp_step_name step;
        if (kind != SHAPEPROOF_RUN_MODEL && kind != SHAPEPROOF_RUN_ADAPTER) continue;
        if (!first) first = name;
        if (sp_step_name_read(name, true, &step)) last = name; /* they are sorted by their numbers */
    }
    return last ? last : first ? first : listing->names[0];
}

/* The error for a folder from which no checkpoint can be chosen: distributed files, no file, several sets of
 * shards, or several files; the hint names one to read. */
static bool refuse_choice(const struct sp_folder *folder, const struct listing *listing, struct shapeproof_error *error)
{
    struct sp_names names = {0};
    const char *gather = hint_for_ranks(listing);
    if (listing->distributed) return refuse_distributed(folder, error);
    if (!listing->count) return sp_folder_refuse_empty(folder, error);
    struct shard_set sets[MOST_SETS];
    const size_t set_count = gather ? 0 : list_shard_sets(listing, sets); /* ranks are numbered like shards */
    if (set_count > 1) {
        refuse_shard_sets(sets, set_count, error);
        sp_error_prefix(error, folder->path);
        return false;
    }
    for (size_t i = 0; i < listing->count; i++) sp_names_add(&names, listing->names[i]);
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED, "several checkpoints in this directory: %s",
            sp_names_text(&names));
    if (gather) sp_hint(error, "%s", gather);
    else if (sp_are_steps(listing->names, listing->count))
        sp_hint(error, "name the file to read, such as the last, %s",
                sp_quote(listing->names[listing->count - 1]).text);
    else sp_hint(error, "name the file to read, such as %s", sp_quote(likeliest_name(listing)).text);
    sp_names_free(&names);
    sp_error_prefix(error, folder->path);
    return false;
}

/* The only file of the listing, or the only one besides those that count SP_IF_ALONE; NULL when there are several. */
static const char *only_name(const struct listing *listing)
{
    const char *only = NULL;
    size_t strong = 0;
    for (size_t i = 0; i < listing->count; i++)
        if (!(sp_file_ending_says(listing->names[i]) & SP_IF_ALONE) && !strong++) only = listing->names[i];
    if (strong) return strong == 1 ? only : NULL;
    return listing->count == 1 ? listing->names[0] : NULL;
}

/* Warns of the optimizer that accelerate saves beside the model, "optimizer_0" beside "pytorch_model_fsdp_0", if its
 * data are not complete: training cannot go on from it. */
static void check_distributed_optimizer(const struct sp_folder *folder, struct shapeproof_inventory *inventory)
{
    static const char model[] = "pytorch_model_fsdp_0", optimizer[] = "optimizer_0", whole[] = ".metadata";
    const char *names[] = {whole};
    struct sp_folder beside = {.path = optimizer};
    struct shapeproof_error error = {0};
    if (folder->far || !sp_ends_with(folder->path, model)) return;
    beside.fd = sp_hold_fd(openat(folder->fd, "../optimizer_0", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (beside.fd < 0) return;
    struct shapeproof_inventory *own = sp_inventory_new(optimizer);
    if (!sp_dcp_read(&beside, names, 1, own, &error))
        sp_inventory_warn(inventory, "%s: training cannot be resumed from this checkpoint", error.message);
    else if (own->lacking)
        sp_inventory_warn(inventory, "%s: %s: training cannot be resumed from this checkpoint", optimizer, own->lack);
    shapeproof_inventory_close(own);
    sp_close(beside.fd);
}

static bool read_distributed(const struct sp_folder *folder, const struct listing *listing,
                             struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    const char *const whole = ".metadata";
    const char *backend = sp_megatron_backend(folder, &inventory->arena);
    if (backend) sp_inventory_add_metadata(inventory, "sharded_backend", backend);
    if (listing->has_metadata) {
        if (!sp_dcp_read(folder, &whole, 1, inventory, error)) return false;
        check_distributed_optimizer(folder, inventory);
        return true;
    }
    return sp_dcp_read(folder, listing->rank_metadata.items, listing->rank_metadata.count, inventory, error);
}

/* Whether all that could be a checkpoint is one that is distributed over files of safetensors. */
static bool are_dcp_shards(const struct listing *listing)
{
    uint32_t rank;
    for (size_t i = 0; i < listing->count; i++)
        if (!sp_is_dcp_shard(listing->names[i], &rank)) return false;
    return listing->count > 0;
}

/* Chooses what to read in a folder, in this order: a file with a usual name (the list `candidates`), a distributed
 * checkpoint with metadata, shards of DCP, files of ranks (DeepSpeed, Megatron, FSDP), numbered shards without an
 * index, the only file. Otherwise the choice is refused. `shards` has room for as many as there are names. */
static bool choose_checkpoint(const struct sp_folder *folder, struct listing *listing, struct sp_shard *shards,
                              struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    for (size_t i = 0; i < COUNT(candidates); i++) {
        const char *name = match(listing, candidates[i]);
        if (name) return read_chosen(folder, name, listing, inventory, error);
    }
    if (listing->has_metadata || listing->rank_metadata.count) {
        if (!read_distributed(folder, listing, inventory, error)) return false;
        judge_others(folder, listing, inventory);
        return true;
    }
    const char *backend = sp_megatron_backend(folder, &inventory->arena);
    if (backend && !listing->distributed) return sp_megatron_refuse(folder, backend, error);
    if (are_dcp_shards(listing)) return sp_dcp_read_shards(folder, listing->names, listing->count, inventory, error);
    bool are_ranks = false;
    const bool ok = sp_ranks_read(folder, &are_ranks, inventory, error);
    if (are_ranks && ok) judge_others(folder, listing, inventory);
    if (are_ranks) return ok;
    const size_t count = find_shards(listing, shards);
    if (count) {
        warn_absent_shards(shards, count, inventory);
        warn_absent_index(shards[0].name, inventory);
        return sp_folder_read_shards(folder, NULL, shards, count, inventory, error);
    }
    const char *only = listing->distributed ? NULL : only_name(listing);
    if (!only) return refuse_choice(folder, listing, error);
    return read_chosen(folder, only, listing, inventory, error);
}

bool sp_directory_read_pieces(const struct sp_folder *folder, const char *first, struct shapeproof_inventory *inventory,
                              struct shapeproof_error *error)
{
    struct listing listing = {0};
    struct sp_shard_name set, other;
    size_t count = 0;
    bool ok = sp_shard_name_read(first, &set) && list_folder(folder, &listing, error);
    struct sp_shard *shards = sp_realloc(NULL, listing.count, sizeof *shards);
    for (size_t i = 0; ok && i < listing.count; i++)
        if (sp_shard_name_read(listing.names[i], &other) && same_set(first, &set, listing.names[i], &other))
            shards[count++] = (struct sp_shard){.name = listing.names[i], .file = SP_NO_FILE};
    if (count) warn_absent_shards(shards, count, inventory);
    if (count) ok = sp_folder_read_shards(folder, NULL, shards, count, inventory, error);
    else ok = ok && sp_folder_read(folder, first, inventory, error); /* which fails, as `first` is not there */
    sp_free(shards);
    sp_free(listing.names);
    sp_free(listing.files.items);
    sp_free(listing.rank_metadata.items);
    sp_arena_free(&listing.arena);
    return ok;
}

bool sp_directory_read(const struct sp_folder *folder, struct shapeproof_inventory *inventory,
                       struct shapeproof_error *error)
{
    struct listing listing = {0};
    if (!list_folder(folder, &listing, error)) {
        sp_error_prefix(error, folder->path);
        return false;
    }
    struct sp_shard *shards = sp_realloc(NULL, listing.count, sizeof *shards);
    const bool ok = choose_checkpoint(folder, &listing, shards, inventory, error);
    if (ok && !folder->far) judge_all_files(folder, &listing, inventory);
    if (ok) sp_local_code_judge(folder, inventory);
    sp_free(shards);
    sp_free(listing.names);
    sp_free(listing.files.items);
    sp_free(listing.rank_metadata.items);
    sp_arena_free(&listing.arena);
    return ok;
}
