/* SPDX-License-Identifier: MIT
 * What a trainer keeps besides weights and moments: the scheduler of the learning rate, random states, its own state.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "base/value.h"
#include "run/resume/resume.h"

/* ---- the scheduler ---- */

enum { LOOKUPS = 5 }; /* keys of a scheduler that are looked for */

bool sp_resume_is_scheduler(const struct sp_pickle_value *value)
{
    return sp_pickle_is(sp_contents_get(value, "last_epoch"), SP_PICKLE_INT);
}

/* How many learning rates a list of the scheduler has; `groups` when it has no such list. */
static size_t count_rates(const struct sp_pickle_value *value, const char *key, size_t groups)
{
    const struct sp_pickle_value *rates = sp_contents_get(value, key);
    return sp_pickle_is(rates, SP_PICKLE_LIST) ? rates->length : groups;
}

/* How many learning rates the scheduler has, in the first of its lists that has not one for each group. */
static size_t count_odd_rates(const struct sp_pickle_value *value, size_t groups)
{
    const size_t base = count_rates(value, "base_lrs", groups);
    return base != groups ? base : count_rates(value, "_last_lr", groups);
}

void sp_resume_scheduler(struct shapeproof_resume *resume, struct sp_contents *contents,
                         const struct sp_pickle_value *value, const char *file)
{
    struct sp_arena *arena = &resume->arena;
    double epoch = 0, count = 0;
    if (!sp_resume_spend(resume, "scheduler", file, SP_STATEMENT_LOOKS + LOOKUPS * sp_resume_length(value))) return;
    if (sp_resume_is_optimizer(value)) {
        sp_resume_wrong(resume, "scheduler", file, "the state of a scheduler", "that of an optimizer", "its content");
        return;
    }
    if (!sp_contents_number(contents, sp_contents_get(value, "last_epoch"), &epoch)) {
        sp_resume_untold(resume, false, "scheduler", file,
                         "readable, but it has no last_epoch: a scheduler of its own");
        return;
    }
    /* ReduceLROnPlateau counts evaluations, and has no _step_count of steps. */
    const bool has_count = sp_contents_number(contents, sp_contents_get(value, "_step_count"), &count);
    const bool on_plateau = sp_contents_get(value, "patience") != NULL;
    const size_t groups = resume->groups;
    const size_t rates = count_odd_rates(value, groups);
    /* Whoever unfreezes layers later adds groups, which the scheduler of Trainer never gets. */
    if (resume->optimizers == 1 && rates != groups && strcmp(resume->layout, "Trainer") == 0)
        sp_resume_wrong(resume, "scheduler", file, sp_arena_printf(arena, "%zu, the groups of the optimizer", groups),
                        sp_arena_printf(arena, "%zu", rates), "it has learning rates of another number of groups");
    /* The constructor makes the first step: the count is one ahead of last_epoch. */
    else if (has_count && !on_plateau && count != epoch + 1 && count != epoch)
        sp_resume_wrong(resume, "scheduler", file, sp_arena_printf(arena, "_step_count %.0f", epoch + 1),
                        sp_arena_printf(arena, "%.0f", count), "its last_epoch is %.0f", epoch);
    else sp_resume_right(resume, "scheduler", file, "last_epoch %.0f", epoch);
    if (on_plateau || !has_count) return;
    resume->scheduler_step = sp_resume_steps(epoch);
    resume->scheduler_file = file;
}

/* ---- random states ---- */

/* The state of torch's generator on the CPU is a Mersenne twister of 5,056 bytes. */
enum { CPU_STATE_BYTES = 5056, MAX_RANK_DIGITS = 9 };

/* The value under the first of the keys that the dictionary has. */
static struct sp_pickle_value *first_of(const struct sp_pickle_value *root, const char *const *keys, size_t count)
{
    struct sp_pickle_value *value = NULL;
    for (size_t i = 0; i < count && !value; i++) value = sp_contents_get(root, keys[i]);
    return value;
}

/* What random.setstate of Python takes: (3, (625 integers), number or None). */
static bool is_state_of_python(const struct sp_pickle_value *value)
{
    enum { ITEMS = 3, WORDS = 625 }; /* of a Mersenne twister, and the index of the next of them */
    const struct sp_pickle_value *words = sp_pickle_item(value, 1);
    return sp_pickle_is(value, SP_PICKLE_TUPLE) && value->length == ITEMS &&
           sp_pickle_is(value->as.items[0], SP_PICKLE_INT) && sp_pickle_is(words, SP_PICKLE_TUPLE) &&
           words->length == WORDS;
}

/* What numpy.random.set_state takes: ("MT19937", an array, an integer, ...), also as a list, or a dictionary. */
static bool is_state_of_numpy(const struct sp_pickle_value *value)
{
    enum { LEAST = 3 };
    if (sp_contents_pairs(value)) return sp_contents_get(value, "bit_generator") != NULL;
    return (sp_pickle_is(value, SP_PICKLE_TUPLE) || sp_pickle_is(value, SP_PICKLE_LIST)) && value->length >= LEAST &&
           sp_pickle_is(value->as.items[0], SP_PICKLE_STR);
}

bool sp_resume_random_value(struct shapeproof_resume *resume, struct sp_contents *contents,
                            const struct sp_pickle_value *value, const char *file)
{
    static const char *const of_python[] = {"python", "random_state", "random", "random_rng_state"};
    static const char *const of_torch[] = {"cpu", "torch_manual_seed", "torch_rng_state"};
    static const char *const of_numpy[] = {"numpy", "numpy_random_seed", "np_rng_state"};
    struct sp_contents_tensor cpu;
    const struct sp_pickle_value *python = first_of(value, of_python, sizeof of_python / sizeof *of_python);
    const struct sp_pickle_value *numpy = first_of(value, of_numpy, sizeof of_numpy / sizeof *of_numpy);
    struct sp_pickle_value *torch = first_of(value, of_torch, sizeof of_torch / sizeof *of_torch);
    if (!torch) sp_resume_wrong(resume, "random state", file, NULL, NULL, "it has no state of the generator of torch");
    else if (!sp_contents_tensor(contents, torch, &cpu))
        sp_resume_wrong(resume, "random state", file, "a tensor", "something else", "the generator of torch");
    else if (cpu.bytes != CPU_STATE_BYTES || strcmp(cpu.dtype, "U8") != 0)
        sp_resume_wrong(resume, "random state", file, sp_arena_printf(&resume->arena, "%d bytes", CPU_STATE_BYTES),
                        sp_arena_printf(&resume->arena, "%" PRIu64 " bytes of %s", cpu.bytes, cpu.dtype),
                        "the generator of torch on the CPU");
    else if (!python)
        sp_resume_wrong(resume, "random state", file, NULL, NULL, "it has no state of the generator of Python");
    else if (!is_state_of_python(python))
        sp_resume_wrong(resume, "random state", file, "(3, 625 integers, ...)", "something else",
                        "the state of the generator of Python");
    else if (numpy && !is_state_of_numpy(numpy))
        sp_resume_wrong(resume, "random state", file, "(\"MT19937\", ...)", "something else",
                        "the state of the generator of NumPy");
    else return true;
    return false;
}

/* Says that a file of random states is wrong; true when it is right. */
static bool check_random_file(struct shapeproof_resume *resume, const char *name)
{
    struct sp_contents *contents = sp_resume_open(resume, "random state", name);
    const bool ok = contents && sp_resume_random_value(resume, contents, sp_contents_root(contents), name);
    sp_contents_close(contents);
    return ok;
}

/* The R of PREFIX R SUFFIX; false for other names. */
static bool read_rank(const char *name, const char *prefix, const char *suffix, size_t *rank)
{
    const size_t before = strlen(prefix);
    if (strncmp(name, prefix, before) != 0 || !sp_ends_with(name, suffix)) return false;
    const size_t digits = strspn(name + before, "0123456789");
    if (!digits || digits > MAX_RANK_DIGITS || strcmp(name + before + digits, suffix) != 0) return false;
    *rank = (size_t)strtoul(name + before, NULL, 10);
    return true;
}

void sp_resume_random(struct shapeproof_resume *resume, const char *alone, const char *prefix, const char *suffix)
{
    size_t count = 0, ranks = 0, wrong = 0, rank;
    for (size_t i = 0; i < resume->names.count; i++) {
        if (!read_rank(resume->names.items[i], prefix, suffix, &rank)) continue;
        count++;
        ranks = rank + 1 > ranks ? rank + 1 : ranks;
        wrong += !check_random_file(resume, resume->names.items[i]);
    }
    if (!count && alone && sp_resume_has(resume, alone)) {
        resume->ranks = 1;
        if (check_random_file(resume, alone))
            sp_resume_right(resume, "random state", alone, "of one rank: Python, NumPy and torch");
        return;
    }
    resume->ranks = ranks;
    if (!count) {
        sp_resume_wrong(resume, "random state", NULL,
                        alone ? alone : sp_arena_printf(&resume->arena, "%s0%s", prefix, suffix), "no such file",
                        "there is none: data and dropout would differ from those of an uninterrupted run");
        return;
    }
    if (count < ranks) {
        const char *missing = "";
        for (rank = 0; rank <= count; rank++) { /* of that many, at least one is not there */
            missing = sp_arena_printf(&resume->arena, "%s%zu%s", prefix, rank, suffix);
            if (!sp_resume_has(resume, missing)) break;
        }
        sp_resume_wrong(resume, "random state", missing,
                        sp_arena_printf(&resume->arena, "%zu, one of each rank", ranks),
                        sp_arena_printf(&resume->arena, "%zu", count), "it is missing");
    } else if (!wrong)
        sp_resume_right(resume, "random state", NULL, "of %zu rank%s: Python, NumPy and torch", ranks,
                        ranks == 1 ? "" : "s");
}

/* ---- trainer_state.json ---- */

enum { MAX_TRAINER_STATE = 256 << 20 }; /* it has a line for each logged step */

static char *read_whole(struct shapeproof_resume *resume, const char *name, size_t *length,
                        struct shapeproof_error *error)
{
    struct sp_file file;
    if (!sp_folder_open_file(&resume->folder, name, &file, error)) return NULL;
    *length = (size_t)file.size;
    char *text = sp_file_slurp(&file, MAX_TRAINER_STATE, error);
    sp_file_close(&file);
    return text;
}

/* The largest "step" of the list of logs. */
static int64_t last_logged(struct shapeproof_value history)
{
    int64_t last = SP_RESUME_NO_STEP;
    for (size_t i = 0; history.type == SHAPEPROOF_VALUE_LIST && i < history.count; i++) {
        const struct shapeproof_value step = sp_value_member(history.items[i], "step");
        if (step.type == SHAPEPROOF_VALUE_INT && step.integer > last) last = step.integer;
    }
    return last;
}

static void check_trainer_state(struct shapeproof_resume *resume, const char *name, struct shapeproof_value state)
{
    struct sp_arena *arena = &resume->arena;
    const struct shapeproof_value step = sp_value_member(state, "global_step");
    const struct shapeproof_value most = sp_value_member(state, "max_steps");
    const int64_t logged = last_logged(sp_value_member(state, "log_history"));
    if (step.type != SHAPEPROOF_VALUE_INT || step.integer < 0) {
        sp_resume_wrong(resume, "step", name, NULL, NULL, "it has no global_step");
        return;
    }
    resume->step = step.integer;
    if (most.type == SHAPEPROOF_VALUE_INT && most.integer > 0 && step.integer > most.integer)
        sp_resume_wrong(resume, "step", name,
                        sp_arena_printf(arena, "at most %" PRId64 ", its max_steps", most.integer),
                        sp_arena_printf(arena, "%" PRId64, step.integer), "its global_step");
    else if (logged > step.integer)
        sp_resume_wrong(resume, "step", name,
                        sp_arena_printf(arena, "at most %" PRId64 ", its global_step", step.integer),
                        sp_arena_printf(arena, "%" PRId64, logged), "the last step of its log_history");
    else if (most.type == SHAPEPROOF_VALUE_INT && most.integer == step.integer && most.integer > 0)
        sp_resume_right(resume, "step", name,
                        "global_step %" PRId64 ", which is max_steps: to go on, set a larger max_steps", step.integer);
    else if (most.type == SHAPEPROOF_VALUE_INT && most.integer > 0)
        sp_resume_right(resume, "step", name, "global_step %" PRId64 " of %" PRId64, step.integer, most.integer);
    else sp_resume_right(resume, "step", name, "global_step %" PRId64, step.integer);
}

/* peft_type of the adapter in the folder; "" where there is none. */
static const char *read_adapter_type(struct shapeproof_resume *resume)
{
    struct shapeproof_error ignored = {0};
    struct shapeproof_value config;
    size_t length = 0;
    char *text = read_whole(resume, "adapter_config.json", &length, &ignored);
    bool has = text && sp_value_parse_json(&resume->arena, text, length, &config, &ignored);
    sp_free(text);
    const struct shapeproof_value type = has ? sp_value_member(config, "peft_type") : sp_value_absent("peft_type");
    return type.type == SHAPEPROOF_VALUE_STRING ? type.string : "";
}

void sp_resume_note_partial(struct shapeproof_resume *resume)
{
    /* Their tensors are what an encoder gives, which has parameters of its own that are not saved. */
    static const char *const encoded[] = {"P_TUNING", "PREFIX_TUNING", "MULTITASK_PROMPT_TUNING", "CPT"};
    /* All their matrices are trained. */
    static const char *const trained[] = {"LORA", "ADALORA", "IA3", "LOHA", "LOKR"};
    const char *type = read_adapter_type(resume);
    resume->trains_adapter = SP_IS_AMONG(type, trained);
    if (sp_resume_has(resume, "modules.json")) resume->partial = "the model has modules in other folders";
    else if (SP_IS_AMONG(type, encoded)) resume->partial = "the encoder of its prompts is not saved";
}

void sp_resume_trainer_state(struct shapeproof_resume *resume)
{
    static const char name[] = "trainer_state.json";
    struct shapeproof_error error = {0};
    struct shapeproof_value state;
    size_t length = 0;
    if (!sp_resume_has(resume, name)) {
        sp_resume_wrong(resume, "step", NULL, name, "no such file", "there is none: Trainer refuses to go on");
        return;
    }
    char *text = read_whole(resume, name, &length, &error);
    if (!text || !sp_value_parse_json(&resume->arena, text, length, &state, &error))
        sp_resume_wrong(resume, "step", name, NULL, NULL, "it cannot be read: %s", error.message);
    else if (state.type != SHAPEPROOF_VALUE_OBJECT)
        sp_resume_wrong(resume, "step", name, NULL, NULL, "it is no JSON object");
    else check_trainer_state(resume, name, state);
    sp_free(text);
}
