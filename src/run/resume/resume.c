/* SPDX-License-Identifier: MIT
 * Which layout a checkpoint has, which files that needs, and how the facts of the files go together. */
#define _POSIX_C_SOURCE 200809L /* AT_FDCWD */
#include "run/resume/resume.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/chars.h"
#include "base/checked.h"
#include "base/fault.h"
#include "base/map.h"
#include "base/names.h"
#include "base/order.h"
#include "base/step_name.h"

/* Looks at values: some seconds, and more of large files. A parameter takes some 600 looks, and some 400 bytes. */
enum { MAX_FILES = 100 * 1000, MAX_LOOKS = 1 << 30, LOOKS_OF_BYTE = 16 };

/* ---- statements ---- */

static const char *copy_optional(struct sp_arena *arena, const char *text)
{
    return text ? sp_arena_string(arena, text) : NULL;
}

static void add_statement(struct shapeproof_resume *resume, struct shapeproof_resume_statement statement,
                          const char *format, va_list args)
{
    statement.file = copy_optional(&resume->arena, statement.file && *statement.file ? statement.file : NULL);
    statement.expected = copy_optional(&resume->arena, statement.expected);
    statement.found = copy_optional(&resume->arena, statement.found);
    statement.text = sp_arena_vprintf(&resume->arena, format, args);
    *SP_PUSH(&resume->statements) = statement;
}

void sp_resume_right(struct shapeproof_resume *resume, const char *subject, const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_statement(resume, (struct shapeproof_resume_statement){.subject = subject, .file = file}, format, args);
    va_end(args);
}

void sp_resume_wrong(struct shapeproof_resume *resume, const char *subject, const char *file, const char *expected,
                     const char *found, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_statement(
        resume,
        (struct shapeproof_resume_statement){
            .answer = SHAPEPROOF_RESUME_WRONG, .subject = subject, .file = file, .expected = expected, .found = found},
        format, args);
    va_end(args);
}

void sp_resume_untold(struct shapeproof_resume *resume, bool is_essential, const char *subject, const char *file,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_statement(
        resume,
        (struct shapeproof_resume_statement){
            .answer = SHAPEPROOF_RESUME_UNTOLD, .subject = subject, .file = file, .is_essential = is_essential},
        format, args);
    va_end(args);
}

bool sp_resume_spend(struct shapeproof_resume *resume, const char *subject, const char *file, uint64_t looks)
{
    uint64_t most;
    if (!sp_mul_u64(LOOKS_OF_BYTE, sp_budget_input(), &most) || !sp_add_u64(most, MAX_LOOKS, &most)) most = UINT64_MAX;
    if (resume->looks > most) return false;
    if (!sp_add_u64(resume->looks, looks, &resume->looks)) resume->looks = UINT64_MAX;
    if (resume->looks <= most) return true;
    sp_resume_untold(resume, true, subject, file, "not read to the end: its values lead to each other too often");
    return false;
}

uint64_t sp_resume_elements(const struct sp_contents_tensor *tensor)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (!sp_mul_u64(elements, tensor->shape[i], &elements)) return UINT64_MAX;
    return elements;
}

uint64_t sp_resume_length(const struct sp_pickle_value *value)
{
    const struct sp_pickle_value *pairs = sp_contents_pairs(value);
    return pairs ? pairs->length : 0;
}

/* ---- one statement for several ranks ---- */

/* The ranks of whose files a statement is. */
struct stated_ranks {
    size_t statement; /* its place among those that are kept */
    SP_ARRAY(uint32_t) ranks;
};

/* The file with '*' in place of its rank: "optim_rank3.pt" -> "optim_rank*.pt". NULL for a name without a rank. */
static const char *pattern_of_ranks(struct sp_arena *arena, const char *file, uint32_t *rank)
{
    enum { MOST_DIGITS = 9 };
    for (const char *at = file; at && (at = strstr(at, "rank")); at++) {
        const char *digits = at + strlen("rank");
        digits += strspn(digits, "_-");
        const size_t count = strspn(digits, "0123456789");
        if (!count || count > MOST_DIGITS) continue;
        *rank = (uint32_t)strtoul(digits, NULL, 10);
        return sp_arena_printf(arena, "%.*s*%s", (int)(digits - file), file, digits + count);
    }
    return NULL;
}

/* What two statements have alike that are joined. */
static const char *key_of_statement(struct sp_arena *arena, const struct shapeproof_resume_statement *one,
                                    const char *pattern)
{
    return sp_arena_printf(arena, "%d%d\n%s\n%s\n%s\n%s\n%s", (int)one->answer, one->is_essential, one->subject,
                           pattern, one->text, one->expected ? one->expected : "", one->found ? one->found : "");
}

static int compare_ranks(const void *left, const void *right)
{
    return sp_order(*(const uint32_t *)left, *(const uint32_t *)right);
}

/* {3, 4, 5, 9} -> "3 to 5, 9"; of many runs the first. */
static const char *spell_ranks(struct sp_arena *arena, const uint32_t *ranks, size_t count)
{
    enum { LISTED = 8 }; /* runs: they fit into a line */
    const char *list = "";
    size_t runs = 0, i = 0;
    while (i < count && runs < LISTED) {
        size_t last = i;
        while (last + 1 < count && ranks[last + 1] == ranks[last] + 1) last++;
        list = sp_arena_printf(arena, "%s%s%" PRIu32, list, runs++ ? ", " : "", ranks[i]);
        if (last > i) list = sp_arena_printf(arena, "%s%s%" PRIu32, list, last == i + 1 ? ", " : " to ", ranks[last]);
        i = last + 1;
    }
    return i < count ? sp_arena_printf(arena, "%s and %zu more", list, count - i) : list;
}

/* Joins statements that say the same of the files of several ranks: of 125 of them, one is left, whose file is
 * "optim_rank*.pt", and that ends with "(ranks 3 to 127)". */
static void join_statements_of_ranks(struct shapeproof_resume *resume)
{
    struct sp_map known = {0}; /* -> index in `joined` */
    SP_ARRAY(struct stated_ranks) joined = {0};
    struct sp_arena *arena = &resume->arena;
    size_t kept = 0;
    for (size_t i = 0; i < resume->statements.count; i++) {
        const struct shapeproof_resume_statement one = resume->statements.items[i];
        uint32_t rank = 0;
        const char *pattern = pattern_of_ranks(arena, one.file, &rank);
        const char *key = pattern ? key_of_statement(arena, &one, pattern) : NULL;
        size_t at = key ? sp_map_get(&known, key) : SIZE_MAX;
        if (key && at == SIZE_MAX) {
            at = joined.count;
            sp_map_add(&known, key, at);
            *SP_PUSH(&joined) = (struct stated_ranks){.statement = kept};
        }
        if (key) *SP_PUSH(&joined.items[at].ranks) = rank;
        if (!key || joined.items[at].ranks.count == 1) resume->statements.items[kept++] = one;
        else resume->statements.items[joined.items[at].statement].file = pattern;
    }
    resume->statements.count = kept;
    for (size_t i = 0; i < joined.count; i++) {
        const struct stated_ranks *one = &joined.items[i];
        struct shapeproof_resume_statement *statement = &resume->statements.items[one->statement];
        qsort(one->ranks.items, one->ranks.count, sizeof *one->ranks.items, compare_ranks);
        if (one->ranks.count > 1)
            statement->text = sp_arena_printf(arena, "%s (ranks %s)", statement->text,
                                              spell_ranks(arena, one->ranks.items, one->ranks.count));
        sp_free(one->ranks.items);
    }
    sp_free(joined.items);
    sp_map_free(&known);
}

void sp_resume_put_folder_before(struct shapeproof_resume *resume, size_t first, const char *folder)
{
    for (size_t i = first; i < resume->statements.count; i++) {
        const char **file = &resume->statements.items[i].file;
        *file = *file ? sp_arena_printf(&resume->arena, "%s/%s", folder, *file) : folder;
    }
}

/* ---- files ---- */

void sp_resume_list_folder(struct shapeproof_resume *resume)
{
    resume->names.count = 0;
    DIR *stream = sp_folder_stream(AT_FDCWD, *resume->path ? resume->path : ".");
    const struct dirent *entry;
    while (stream && resume->names.count < MAX_FILES && (entry = sp_folder_next(stream, resume->path)))
        *SP_PUSH(&resume->names) = sp_arena_string(&resume->arena, entry->d_name);
    sp_folder_end(stream);
    if (resume->names.count)
        qsort(resume->names.items, resume->names.count, sizeof *resume->names.items, sp_compare_strings);
}

bool sp_resume_has(const struct shapeproof_resume *resume, const char *name)
{
    return resume->names.count &&
           bsearch(&name, resume->names.items, resume->names.count, sizeof *resume->names.items, sp_compare_strings);
}

/* The first file or folder whose name begins so; NULL for none. */
static const char *first_beginning(const struct shapeproof_resume *resume, const char *beginning)
{
    for (size_t i = 0; i < resume->names.count; i++)
        if (strncmp(resume->names.items[i], beginning, strlen(beginning)) == 0) return resume->names.items[i];
    return NULL;
}

struct sp_contents *sp_resume_open(struct shapeproof_resume *resume, const char *subject, const char *name)
{
    struct shapeproof_error error = {0};
    struct sp_contents *contents = sp_contents_open(&resume->folder, name, &error);
    if (!contents) sp_resume_wrong(resume, subject, name, NULL, NULL, "it cannot be read: %s", error.message);
    else if (sp_contents_damaged(contents)) {
        sp_resume_wrong(resume, subject, name, NULL, NULL, "%s in it does not match its CRC",
                        sp_quote(sp_contents_damaged(contents)).text);
        sp_contents_close(contents);
        return NULL;
    }
    return contents;
}

/* A file that is there, or should be, and of which it is enough that it can be read. */
static void check_readable(struct shapeproof_resume *resume, const char *subject, const char *name)
{
    struct sp_contents *contents = sp_resume_open(resume, subject, name);
    if (contents) sp_resume_right(resume, subject, name, "readable, whole");
    sp_contents_close(contents);
}

static void say_missing(struct shapeproof_resume *resume, const char *subject, const char *name, const char *what)
{
    sp_resume_wrong(resume, subject, NULL, name, "no such file", "%s", what);
}

static void check_optimizer_file(struct shapeproof_resume *resume, const char *name)
{
    struct sp_contents *contents = sp_resume_open(resume, "optimizer", name);
    if (contents) sp_resume_optimizer(resume, contents, sp_contents_root(contents), name);
    sp_contents_close(contents);
}

static void check_scheduler_file(struct shapeproof_resume *resume, const char *name)
{
    struct sp_contents *contents = sp_resume_open(resume, "scheduler", name);
    if (contents) sp_resume_scheduler(resume, contents, sp_contents_root(contents), name);
    sp_contents_close(contents);
}

/* Whether the folder has a file or folder whose name ends so. */
static bool has_ending(const struct shapeproof_resume *resume, const char *ending)
{
    for (size_t i = 0; i < resume->names.count; i++)
        if (sp_ends_with(resume->names.items[i], ending)) return true;
    return false;
}

static bool has_zero_parts(const struct shapeproof_resume *resume)
{
    return has_ending(resume, "_optim_states.pt") || has_ending(resume, "_model_states.pt");
}

bool sp_resume_has_steps(const struct shapeproof_resume *resume)
{
    return !has_zero_parts(resume) && first_beginning(resume, "global_step");
}

static bool has_zero_files(const struct shapeproof_resume *resume)
{
    return has_zero_parts(resume) || sp_resume_has(resume, "latest") || first_beginning(resume, "global_step");
}

/* ---- steps ---- */

int64_t sp_resume_steps(double number)
{
    if (!(number >= 0)) return SP_RESUME_NO_STEP;
    return number < 0x1p63 ? (int64_t)number : INT64_MAX;
}

int64_t sp_resume_number_in_name(const char *path, const char *marker)
{
    const char *at = NULL, *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '/' && c[1] && c[1] != '/') name = c + 1;
    for (const char *found = name; (found = strstr(found, marker)); found++) at = found + strlen(marker);
    if (!at || !sp_is_digit(*at)) return SP_RESUME_NO_STEP;
    const size_t digits = strspn(at, "0123456789");
    return digits > 18 ? SP_RESUME_NO_STEP : (int64_t)strtoll(at, NULL, 10);
}

static const char *spell_step(struct shapeproof_resume *resume, int64_t step)
{
    return sp_arena_printf(&resume->arena, "%" PRId64, step);
}

/* One fact about the step against that of the trainer. Steps of the optimizer that overflowed in float16 are skipped,
 * and are not counted by optimizer and scheduler. */
static void compare_step(struct shapeproof_resume *resume, const char *subject, const char *file, int64_t step,
                         const char *what)
{
    if (step == SP_RESUME_NO_STEP || resume->step == SP_RESUME_NO_STEP || step == resume->step) return;
    if (step < resume->step && resume->has_scaler)
        sp_resume_right(resume, subject, file, "%s is %" PRId64 ", %" PRId64 " behind: steps that overflowed", what,
                        step, resume->step - step);
    else
        sp_resume_wrong(resume, subject, file,
                        sp_arena_printf(&resume->arena, "%" PRId64 ", the global_step", resume->step),
                        spell_step(resume, step), "%s", what);
}

void sp_resume_compare_optimizer(struct shapeproof_resume *resume, const char *file, int64_t step, int64_t optimizer)
{
    if (step == SP_RESUME_NO_STEP || optimizer == SP_RESUME_NO_STEP) return;
    if (optimizer > step)
        sp_resume_wrong(resume, "optimizer", file, spell_step(resume, step), spell_step(resume, optimizer),
                        "the last step of its moments, compared with the step of the trainer");
    else if (optimizer < step && resume->has_scaler)
        sp_resume_right(resume, "optimizer", file,
                        "the last step of its moments is %" PRId64 ", %" PRId64 " behind: steps that overflowed",
                        optimizer, step - optimizer);
    else if (optimizer < step)
        sp_resume_untold(resume, true, "step", file,
                         "the optimizer has made %" PRId64 " steps, the trainer %" PRId64
                         ": it is of another checkpoint, or was new when the run was continued before",
                         optimizer, step);
}

/* Steps of Trainer: the optimizer and the scheduler make one each. */
static void compare_steps(struct shapeproof_resume *resume)
{
    static const char of_optimizer[] = "the last step of its moments", of_scheduler[] = "its last_epoch";
    const int64_t optimizer = resume->optimizer_step, scheduler = resume->scheduler_step;
    if (resume->folder_step != SP_RESUME_NO_STEP && resume->step != SP_RESUME_NO_STEP &&
        resume->folder_step != resume->step)
        sp_resume_wrong(resume, "step", "trainer_state.json",
                        sp_arena_printf(&resume->arena, "%" PRId64 ", as the folder says", resume->folder_step),
                        spell_step(resume, resume->step), "its global_step");
    if (optimizer != SP_RESUME_NO_STEP && optimizer == scheduler && resume->step != SP_RESUME_NO_STEP &&
        optimizer < resume->step && !resume->has_scaler) {
        sp_resume_untold(resume, true, "step", NULL,
                         "optimizer and scheduler have made %" PRId64 " steps, the trainer %" PRId64
                         ": they are of another checkpoint, or were new when the run was continued before",
                         optimizer, resume->step);
        return;
    }
    compare_step(resume, "optimizer", resume->optimizer_file, optimizer, of_optimizer);
    compare_step(resume, "scheduler", resume->scheduler_file, scheduler, of_scheduler);
}

/* ---- layouts ---- */

/* The moments of FSDP, as a distributed checkpoint in a folder of its own. */
static void check_moments_folder(struct shapeproof_resume *resume, const char *name)
{
    struct shapeproof_error error = {0};
    resume->moments = shapeproof_inventory_open(sp_folder_join(&resume->folder, name, &resume->arena), &error);
    if (!resume->moments) sp_resume_wrong(resume, "optimizer", name, NULL, NULL, "%s", error.message);
    else if (resume->moments->lacking || resume->moments->promise_count)
        sp_resume_wrong(resume, "optimizer", name, NULL, NULL, "the data of %zu tensors are not there, or in part",
                        resume->moments->lacking + resume->moments->promise_count);
    else sp_resume_named_optimizer(resume, resume->moments);
}

static void check_trainer(struct shapeproof_resume *resume)
{
    const bool by_deepspeed = has_zero_files(resume);
    resume->has_scaler = sp_resume_has(resume, "scaler.pt");
    resume->folder_step = sp_resume_number_in_name(resume->path, "checkpoint-");
    sp_resume_note_partial(resume);
    sp_resume_model(resume, sp_resume_has(resume, "pytorch_model_fsdp_0") ? "pytorch_model_fsdp_0" : "");
    if (sp_resume_has(resume, "optimizer.pt")) check_optimizer_file(resume, "optimizer.pt");
    else if (sp_resume_has(resume, "optimizer.bin")) check_optimizer_file(resume, "optimizer.bin");
    else if (sp_resume_has(resume, "optimizer_0")) check_moments_folder(resume, "optimizer_0");
    else if (!by_deepspeed)
        say_missing(resume, "optimizer", "optimizer.pt", "there is none: the moments would begin anew");
    if (sp_resume_has(resume, "scheduler.pt")) check_scheduler_file(resume, "scheduler.pt");
    else if (!by_deepspeed)
        say_missing(resume, "scheduler", "scheduler.pt", "there is none: the learning rate would begin anew");
    sp_resume_random(resume, "rng_state.pth", "rng_state_", ".pth");
    sp_resume_trainer_state(resume);
    if (by_deepspeed) sp_resume_deepspeed(resume, false);
    if (resume->has_scaler) check_readable(resume, "scaler", "scaler.pt");
    if (sp_resume_has(resume, "training_args.bin")) check_readable(resume, "arguments", "training_args.bin");
    sp_resume_tokenizer(resume);
    compare_steps(resume);
}

/* Several models of one state have numbers in their names. */
static bool has_several_models(const struct shapeproof_resume *resume)
{
    return sp_resume_has(resume, "model_1.safetensors") || sp_resume_has(resume, "pytorch_model_1.bin");
}

static void check_accelerate(struct shapeproof_resume *resume)
{
    const char *const fsdp = first_beginning(resume, "pytorch_model_fsdp_");
    size_t optimizers = 0, schedulers = 0;
    resume->has_scaler = sp_resume_has(resume, "scaler.pt");
    if (has_several_models(resume))
        sp_resume_untold(resume, true, "model", NULL, "several models: which optimizer belongs to which is not known");
    else sp_resume_model(resume, fsdp ? fsdp : "");
    for (size_t i = 0; i < resume->names.count; i++) {
        const char *name = resume->names.items[i];
        if (strncmp(name, "optimizer", strlen("optimizer")) == 0 && sp_ends_with(name, ".bin")) {
            check_optimizer_file(resume, name);
            optimizers++;
        }
    }
    if (sp_resume_has(resume, "optimizer_0")) check_moments_folder(resume, "optimizer_0");
    else if (!optimizers && !has_zero_files(resume))
        say_missing(resume, "optimizer", "optimizer.bin", "there is none: the moments would begin anew");
    for (size_t i = 0; i < resume->names.count; i++)
        if (strncmp(resume->names.items[i], "scheduler", strlen("scheduler")) == 0 &&
            sp_ends_with(resume->names.items[i], ".bin")) {
            check_scheduler_file(resume, resume->names.items[i]);
            schedulers++;
        }
    if (!schedulers) sp_resume_untold(resume, false, "scheduler", NULL, "there is none: it need not have one");
    sp_resume_random(resume, NULL, "random_states_", ".pkl");
    if (has_zero_files(resume)) sp_resume_deepspeed(resume, false);
    if (resume->has_scaler) check_readable(resume, "scaler", "scaler.pt");
    for (size_t i = 0; i < resume->names.count; i++)
        if (strncmp(resume->names.items[i], "custom_checkpoint_", strlen("custom_checkpoint_")) == 0 ||
            strncmp(resume->names.items[i], "sampler", strlen("sampler")) == 0)
            check_readable(resume, "arguments", resume->names.items[i]);
}

static void check_deepspeed(struct shapeproof_resume *resume)
{
    if (!sp_resume_deepspeed(resume, true)) return;
    if (resume->step != SP_RESUME_NO_STEP) sp_resume_right(resume, "step", NULL, "%" PRId64, resume->step);
}

/* ---- one file ---- */

/* Whether the value is one of those, or a list of *count of them. */
static bool is_any(const struct sp_pickle_value *value, bool (*is)(const struct sp_pickle_value *), size_t *count)
{
    if (is(value)) *count = 1;
    else *count = sp_pickle_is(value, SP_PICKLE_LIST) && is(sp_pickle_item(value, 0)) ? value->length : 0;
    return *count > 0;
}

/* Spends the looks of is_any at all values of a dictionary. */
static bool spend_looks(struct shapeproof_resume *resume, const struct sp_pickle_value *pairs, const char *file)
{
    enum { LOOKUPS = 8 }; /* keys of optimizers, twice, and of schedulers; in a value itself, or in its first item */
    bool ok = true;
    for (uint32_t i = 0; ok && pairs && i + 1 < pairs->length; i += 2) {
        const struct sp_pickle_value *value = pairs->as.items[i + 1], *first = sp_pickle_item(value, 0);
        ok = sp_resume_spend(resume, "optimizer", file,
                             LOOKUPS * (1 + sp_resume_length(value) + sp_resume_length(first)));
    }
    return ok;
}

/* ---- the loops of Lightning ---- */

/* The whole number at the end of a path of keys; SP_RESUME_NO_STEP where there is none. */
static int64_t number_at(const struct sp_pickle_value *value, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) value = sp_contents_get(value, keys[i]);
    return sp_pickle_is(value, SP_PICKLE_INT) && value->as.integer >= 0 ? value->as.integer : SP_RESUME_NO_STEP;
}

/* Says that a number of Lightning's file is not that of its loops, from which training really goes on; true when it is
 * not. Numbers that are not there are not compared. */
static bool say_other_count(struct shapeproof_resume *resume, const char *file, const char *key, int64_t number,
                            int64_t counted)
{
    if (number == SP_RESUME_NO_STEP || counted == SP_RESUME_NO_STEP || number == counted) return false;
    sp_resume_wrong(resume, "step", file, sp_arena_printf(&resume->arena, "%" PRId64 ", as its loops count", counted),
                    spell_step(resume, number), "its %s", key);
    return true;
}

/* Compares global_step and epoch with the loops. The steps of optimizers are counted in one of two loops, and the other
 * one has 0. False after a statement that they differ. */
static bool compare_loops(struct shapeproof_resume *resume, const struct sp_pickle_value *root, const char *file)
{
    static const char *const automatic[] = {"epoch_loop.automatic_optimization.optim_progress", "optimizer", "step",
                                            "total", "completed"};
    static const char *const manual[] = {"epoch_loop.manual_optimization.optim_step_progress", "total", "completed"};
    static const char *const epochs[] = {"epoch_progress", "current", "completed"}, *const epoch[] = {"epoch"};
    const struct sp_pickle_value *loop = sp_contents_get(sp_contents_get(root, "loops"), "fit_loop");
    const int64_t by_loop = number_at(loop, automatic, sizeof automatic / sizeof *automatic);
    const int64_t by_hand = number_at(loop, manual, sizeof manual / sizeof *manual);
    const bool other_step =
        say_other_count(resume, file, "global_step", resume->step, by_hand > by_loop ? by_hand : by_loop);
    const bool other_epoch = say_other_count(resume, file, "epoch", number_at(root, epoch, 1),
                                             number_at(loop, epochs, sizeof epochs / sizeof *epochs));
    return !other_step && !other_epoch;
}

/* ---- one dictionary ---- */

/* How a program keeps the state of a training in one dictionary with the model. */
struct dictionary {
    const char *layout;                                    /* of the report */
    const struct sp_pickle_value *optimizers, *schedulers; /* pairs of the dictionaries that have them, or NULL */
    const char *step_key;                                  /* in the dictionary: the step */
    const struct sp_pickle_value *step;                    /* that training goes on from, or NULL */
    int64_t named;                                         /* by the name of the file, or SP_RESUME_NO_STEP */
    int64_t ahead; /* 1 if steps are counted from 0: after step 3, the optimizer has made 4 */
};

/* "model_0000003.pth" -> 3. SP_RESUME_NO_STEP if the whole name is not of this form. */
static int64_t read_detectron2_name(const char *path)
{
    struct sp_step_name step;
    const char *name = sp_base_name(path);
    const bool is_one = sp_step_name_read(name, true, &step) && strcmp(step.framework, "detectron2") == 0 &&
                        strlen(name) == strlen("model_0000003.pth") && step.number != SP_NO_STEP;
    return is_one ? (int64_t)step.number : SP_RESUME_NO_STEP;
}

/* detectron2's DefaultTrainer has {"model", "trainer": {"iteration", "hooks": {"LRScheduler"},
 * "_trainer": {"optimizer"}}, "iteration"}, and goes on from the iteration of "trainer". Lightning and most training
 * loops have all states at the top. */
static struct dictionary read_dictionary(struct sp_contents *contents, const char *path)
{
    const struct sp_pickle_value *root = sp_contents_root(contents), *trainer = sp_contents_get(root, "trainer");
    const struct sp_pickle_value *inner = sp_contents_get(trainer, "_trainer");
    const bool is_lightning = sp_contents_get(root, "pytorch-lightning_version");
    const struct sp_pickle_value *own_step = sp_contents_get(trainer, "iteration");
    if (sp_resume_is_optimizer(sp_contents_get(inner, "optimizer")))
        return (struct dictionary){.layout = "detectron2",
                                   .optimizers = sp_contents_pairs(inner),
                                   .schedulers = sp_contents_pairs(sp_contents_get(trainer, "hooks")),
                                   .step_key = "iteration",
                                   .step = own_step ? own_step : sp_contents_get(root, "iteration"),
                                   .named = read_detectron2_name(path),
                                   .ahead = 1};
    return (struct dictionary){.layout = is_lightning ? "Lightning" : "torch",
                               .optimizers = sp_contents_pairs(root),
                               .schedulers = sp_contents_pairs(root),
                               .step_key = "global_step",
                               .step = sp_contents_get(root, "global_step"),
                               .named = sp_resume_number_in_name(path, "step=")};
}

/* How many of the values are optimizers. */
static size_t count_optimizers(const struct sp_pickle_value *pairs)
{
    size_t count, optimizers = 0;
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2)
        if (is_any(pairs->as.items[i + 1], sp_resume_is_optimizer, &count)) optimizers += count;
    return optimizers;
}

/* Judges each state of that kind among the values and the items of their lists. */
static void judge_states(struct shapeproof_resume *resume, struct sp_contents *contents,
                         const struct sp_pickle_value *pairs, bool (*is)(const struct sp_pickle_value *),
                         void (*judge)(struct shapeproof_resume *, struct sp_contents *, const struct sp_pickle_value *,
                                       const char *),
                         const char *file)
{
    size_t count;
    for (uint32_t i = 0; pairs && i + 1 < pairs->length; i += 2) {
        const struct sp_pickle_value *value = pairs->as.items[i + 1];
        if (!is_any(value, is, &count)) continue;
        for (size_t k = 0; k < count; k++) judge(resume, contents, is(value) ? value : sp_pickle_item(value, k), file);
    }
}

/* Whether Lightning keeps the state of a scaler for float16, under the name that its release gives to it. */
static bool has_scaler(const struct sp_pickle_value *root)
{
    static const char *const names[] = {"MixedPrecision", "MixedPrecisionPlugin", "NativeMixedPrecisionPlugin",
                                        "native_amp_scaling_state"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sp_contents_get(root, names[i])) return true;
    return false;
}

/* What else the file says of the step, against the step that training goes on from. */
static void judge_step(struct shapeproof_resume *resume, struct sp_contents *contents,
                       const struct dictionary *dictionary, const char *file)
{
    struct sp_arena *arena = &resume->arena;
    const struct sp_pickle_value *top = sp_contents_get(sp_contents_root(contents), dictionary->step_key);
    const int64_t step = dictionary->step->as.integer, ahead = dictionary->ahead;
    resume->step = step;
    resume->has_scaler = has_scaler(sp_contents_root(contents));
    if (dictionary->named != SP_RESUME_NO_STEP && dictionary->named != step)
        sp_resume_wrong(resume, "step", file,
                        sp_arena_printf(arena, "%" PRId64 ", as the name says", dictionary->named),
                        spell_step(resume, step), "its %s", dictionary->step_key);
    else if (sp_pickle_is(top, SP_PICKLE_INT) && top->as.integer != step)
        sp_resume_wrong(resume, "step", file, sp_arena_printf(arena, "%" PRId64 ", as its trainer says", step),
                        spell_step(resume, top->as.integer), "its %s", dictionary->step_key);
    else if (resume->optimizers == 1 && resume->optimizer_step != SP_RESUME_NO_STEP &&
             resume->optimizer_step - ahead > step)
        sp_resume_wrong(resume, "optimizer", file,
                        sp_arena_printf(arena, ahead ? "%" PRId64 ", one more than the %s" : "%" PRId64 ", the %s",
                                        step + ahead, dictionary->step_key),
                        spell_step(resume, resume->optimizer_step), "the last step of its moments");
    else if (ahead && resume->scheduler_step != SP_RESUME_NO_STEP && resume->scheduler_step - ahead != step)
        sp_resume_untold(resume, true, "step", file,
                         "its %s is %" PRId64 ", the last_epoch of its scheduler %" PRId64
                         ": detectron2's own is one more than the iteration",
                         dictionary->step_key, step, resume->scheduler_step);
    else if (compare_loops(resume, sp_contents_root(contents), file)) {
        sp_resume_right(resume, "step", file, "%s %" PRId64, dictionary->step_key, step);
        /* Other training loops may count batches, of which several make one step of the optimizer. */
        if (strcmp(resume->layout, "Lightning") == 0 && resume->optimizers == 1)
            sp_resume_compare_optimizer(resume, file, step, resume->optimizer_step);
    }
}

/* Model, optimizers and schedulers in one dictionary. False, without a statement, when there is no optimizer in it. */
static bool check_dictionary(struct shapeproof_resume *resume, struct sp_contents *contents, const char *file)
{
    const struct dictionary dictionary = read_dictionary(contents, resume->path);
    const bool is_one = dictionary.schedulers == dictionary.optimizers;
    resume->layout = dictionary.layout;
    if (!spend_looks(resume, dictionary.optimizers, file)) return true;
    if (!is_one && !spend_looks(resume, dictionary.schedulers, file)) return true;
    if (!count_optimizers(dictionary.optimizers)) return false;
    sp_resume_model(resume, "");
    judge_states(resume, contents, dictionary.optimizers, sp_resume_is_optimizer, sp_resume_optimizer, file);
    judge_states(resume, contents, dictionary.schedulers, sp_resume_is_scheduler, sp_resume_scheduler, file);
    if (sp_pickle_is(dictionary.step, SP_PICKLE_INT)) judge_step(resume, contents, &dictionary, file);
    return true;
}

static bool check_file(struct shapeproof_resume *resume, struct shapeproof_error *error)
{
    const char *name = sp_base_name(resume->path);
    resume->folder = (struct sp_folder){0};
    const char *directory =
        name > resume->path ? sp_arena_copy(&resume->arena, resume->path, (size_t)(name - resume->path)) : ".";
    if (!sp_folder_open(&resume->folder, directory))
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: cannot be opened", directory);
    struct sp_contents *contents = sp_contents_open(&resume->folder, name, error);
    bool ok = contents != NULL;
    if (!ok) sp_error_prefix(error, resume->path);
    else
        ok = check_dictionary(resume, contents, name) || sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE,
                                                                 "%s: there is no optimizer in it", resume->path);
    sp_contents_close(contents);
    sp_folder_close(&resume->folder);
    return ok;
}

/* ---- all of it ---- */

static bool is_saved_by_torch(const char *name)
{
    static const char *const endings[] = {".pt", ".pth", ".bin", ".ckpt", ".tar"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (sp_ends_with(name, endings[i])) return true;
    return false;
}

/* A folder in a layout that is not known: its only file of torch.save is judged; of several, and of the steps of a
 * run, one must be named. */
static bool check_other_folder(struct shapeproof_resume *resume, struct shapeproof_error *error)
{
    const char *step = first_beginning(resume, "checkpoint-"), *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i < resume->names.count; i++)
        if (is_saved_by_torch(resume->names.items[i])) {
            last = resume->names.items[i];
            count++;
        }
    if (count == 1 && !step) {
        resume->path = sp_folder_join(&resume->folder, last, &resume->arena);
        sp_folder_close(&resume->folder);
        return check_file(resume, error);
    }
    sp_fail(error, SHAPEPROOF_ERR_UNKNOWN, SHAPEPROOF_KIND_NONE,
            count > 1 && !step ? "%s: which of its %zu files training shall go on from is not known"
                               : "%s: no checkpoint to go on from: there is no optimizer in it",
            resume->path, count);
    if (step) sp_hint(error, "name one of its checkpoints, such as %s/%s", resume->path, step);
    else if (count) sp_hint(error, "name one of them, such as %s/%s", resume->path, last);
    return false;
}

static bool check_folder(struct shapeproof_resume *resume, struct shapeproof_error *error);

/* Judges the step of Megatron or verl that is named as the last one. */
static bool check_latest_iteration(struct shapeproof_resume *resume, struct shapeproof_error *error)
{
    const size_t before = resume->statements.count;
    const char *name = sp_resume_latest_iteration(resume);
    resume->layout = "Megatron";
    if (!name) return true;
    struct sp_folder step;
    resume->path = sp_folder_join(&resume->folder, name, &resume->arena);
    if (!sp_folder_open(&step, resume->path)) {
        sp_resume_wrong(resume, "step", name, "a folder", "a file", "the last step");
        return true;
    }
    sp_folder_close(&resume->folder);
    resume->folder = step;
    if (!check_folder(resume, error)) return false;
    sp_resume_put_folder_before(resume, before, name);
    return true;
}

/* Judges the folder by the layout that its files have. */
static bool check_folder(struct shapeproof_resume *resume, struct shapeproof_error *error)
{
    static const struct {
        const char *file, *layout;
        void (*check)(struct shapeproof_resume *resume);
    } layouts[] = {
        {"trainer_state.json", "Trainer", check_trainer},
        {"optimizer.pt", "Trainer", check_trainer},
        {"scheduler.pt", "Trainer", check_trainer},
        {"optimizer.bin", "accelerate", check_accelerate},
        {"random_states_0.pkl", "accelerate", check_accelerate},
        {"scheduler.bin", "accelerate", check_accelerate},
        {".metadata", "torch.distributed.checkpoint", sp_resume_distributed},
    };
    sp_resume_list_folder(resume);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (sp_resume_has(resume, layouts[i].file)) {
            resume->layout = layouts[i].layout;
            layouts[i].check(resume);
            return true;
        }
    if (has_ending(resume, ".distcp")) { /* without .metadata */
        resume->layout = "torch.distributed.checkpoint";
        sp_resume_distributed(resume);
        return true;
    }
    if (sp_resume_has(resume, "latest_checkpointed_iteration.txt") && resume->path == resume->given)
        return check_latest_iteration(resume, error);
    if (sp_resume_verl(resume) || sp_resume_ranks(resume)) return true;
    if (!has_zero_files(resume)) return check_other_folder(resume, error);
    resume->layout = "DeepSpeed";
    check_deepspeed(resume);
    return true;
}

struct shapeproof_resume *shapeproof_resume_new(const char *path, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("checking it");
    sp_fault_begin(error);
    struct shapeproof_resume *resume = sp_realloc(NULL, 1, sizeof *resume);
    *resume = (struct shapeproof_resume){.folder_step = SP_RESUME_NO_STEP,
                                         .step = SP_RESUME_NO_STEP,
                                         .optimizer_step = SP_RESUME_NO_STEP,
                                         .scheduler_step = SP_RESUME_NO_STEP};
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    resume->path = resume->given = sp_arena_copy(&resume->arena, path, length);
    bool ok;
    struct stat status;
    if (!sp_path_stat(AT_FDCWD, resume->path, &status))
        ok = errno == ENOENT
                 ? sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: there is no such file or directory",
                           path)
                 : sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: stat: %s", path, strerror(errno));
    else if (!S_ISDIR(status.st_mode)) ok = check_file(resume, error);
    else if (!sp_folder_open(&resume->folder, resume->path))
        ok = sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: open: %s", path, strerror(errno));
    else if (!sp_path_stat(resume->folder.fd, ".", &status)) {
        /* Its files can be listed, and none of them opened. */
        ok = sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_IO, "%s: stat: %s", path, strerror(errno));
        sp_folder_close(&resume->folder);
    } else {
        ok = check_folder(resume, error);
        if (ok && resume->path == resume->given) sp_resume_compare_latest(resume);
        sp_folder_close(&resume->folder);
    }
    if (ok) join_statements_of_ranks(resume);
    if (sp_fault_end(error) && ok) return resume;
    shapeproof_resume_free(resume);
    return NULL;
}

void shapeproof_resume_free(struct shapeproof_resume *resume)
{
    if (!resume) return;
    shapeproof_inventory_close(resume->model);
    shapeproof_inventory_close(resume->moments);
    sp_free(resume->statements.items);
    sp_free(resume->names.items);
    sp_arena_free(&resume->arena);
    sp_free(resume);
}

const char *shapeproof_resume_path(const struct shapeproof_resume *resume) { return resume->given; }
const char *shapeproof_resume_layout(const struct shapeproof_resume *resume) { return resume->layout; }
size_t shapeproof_resume_count(const struct shapeproof_resume *resume) { return resume->statements.count; }

const struct shapeproof_resume_statement *shapeproof_resume_statement(const struct shapeproof_resume *resume,
                                                                      size_t index)
{
    return &resume->statements.items[index];
}

enum shapeproof_resume_answer shapeproof_resume_answer(const struct shapeproof_resume *resume)
{
    enum shapeproof_resume_answer worst = SHAPEPROOF_RESUME_RIGHT;
    for (size_t i = 0; i < resume->statements.count; i++) {
        const struct shapeproof_resume_statement *one = &resume->statements.items[i];
        if (one->answer == SHAPEPROOF_RESUME_WRONG) return SHAPEPROOF_RESUME_WRONG;
        if (one->answer == SHAPEPROOF_RESUME_UNTOLD && one->is_essential) worst = SHAPEPROOF_RESUME_UNTOLD;
    }
    return worst;
}
