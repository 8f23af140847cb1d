/* SPDX-License-Identifier: MIT */
#include "base/budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/call.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"

static _Thread_local struct shapeproof_limits limits; /* of this thread; zero: the defaults */

static _Thread_local struct sp_budget *current; /* of the call that is under way, or NULL */

struct sp_budget sp_budget_new(void)
{
    return (struct sp_budget){.limits = limits, .begin = limits.time ? sp_clock_ms() : 0};
}

/* Of the call that is under way: those that the thread had when it began. */
static const struct shapeproof_limits *limits_now(void) { return current ? &current->limits : &limits; }

void sp_budget_use(struct sp_budget *budget) { current = budget; }

bool shapeproof_set_limits(const struct shapeproof_limits *wanted, struct shapeproof_error *error)
{
    static const struct shapeproof_limits none;
    sp_error_reset(error);
    if (wanted && !sp_options_are_known(wanted->reserved, error)) return false;
    limits = wanted ? *wanted : none;
    return true;
}

static void note_file(const char *path)
{
    if (!*current->file) snprintf(current->file, sizeof current->file, "%s", path);
}

void sp_budget_open(const char *path, uint64_t size)
{
    if (!current) return;
    note_file(path);
    current->opened = sp_add_saturated(current->opened, size);
}

void sp_budget_read(uint64_t length)
{
    if (current) current->read = sp_add_saturated(current->read, length);
}

void sp_budget_given(uint64_t length)
{
    if (current) current->reused = sp_add_saturated(current->reused, length);
}

void sp_budget_reuse(const void *object, const char *path, uint64_t input)
{
    if (!current) return;
    for (size_t i = 0; i < current->object_count; i++)
        if (current->objects[i] == object) return;
    if (current->object_count < SP_BUDGET_OBJECTS) current->objects[current->object_count++] = object;
    note_file(path);
    current->reused = sp_add_saturated(current->reused, input);
}

uint64_t sp_budget_input(void)
{
    if (!current) return 0;
    return sp_add_saturated(current->read < current->opened ? current->read : current->opened, current->reused);
}

/* floor + factor x input, or the largest number. */
static uint64_t grow_with_input(uint64_t floor, uint64_t factor)
{
    uint64_t grown;
    return __builtin_mul_overflow(sp_budget_input(), factor, &grown) ? UINT64_MAX : sp_add_saturated(grown, floor);
}

uint64_t sp_budget_memory(void)
{
    const uint64_t given = limits_now()->memory;
    return given ? given : grow_with_input(SP_BUDGET_MEMORY, SP_BUDGET_FACTOR);
}

static uint64_t most_output(void)
{
    const uint64_t given = limits_now()->output;
    return given ? given : grow_with_input(SP_BUDGET_OUTPUT, SP_BUDGET_FACTOR);
}

uint64_t sp_budget_steps(void)
{
    const uint64_t given = limits_now()->steps;
    return given ? given : SP_BUDGET_STEPS;
}

/* The steps that all of a call may take: as many predictions as by default, and never less than by default. */
static uint64_t most_steps(void)
{
    uint64_t floor;
    if (__builtin_mul_overflow(sp_budget_steps(), SP_BUDGET_PREDICTIONS, &floor)) return UINT64_MAX;
    return grow_with_input(floor < SP_BUDGET_ALL_STEPS ? SP_BUDGET_ALL_STEPS : floor, SP_BUDGET_STEPS_FACTOR);
}

/* The steps that are left to the call. */
static uint64_t steps_left(void)
{
    const uint64_t most = most_steps();
    return current->steps < most ? most - current->steps : 0;
}

void sp_budget_begin_part(uint64_t shares)
{
    if (!current) return;
    current->part_steps = steps_left() / shares;
    current->part_end = sp_add_saturated(current->steps, current->part_steps);
}

void sp_budget_end_part(void)
{
    if (!current) return;
    current->part_end = 0;
    if (current->steps > most_steps()) current->steps = most_steps(); /* it was looked at a little late */
}

bool sp_budget_lacks_trial(void)
{
    const bool lacks = current && steps_left() / 2 < sp_budget_steps();
    if (lacks) current->step_refusals++;
    return lacks;
}

bool sp_budget_is_past(uint64_t steps)
{
    const bool is_past = current && current->steps > steps;
    if (is_past) current->step_refusals++;
    return is_past;
}

uint64_t sp_budget_steps_taken(void) { return current ? current->steps : 0; }

void sp_budget_pause(struct sp_budget *budget)
{
    if (budget->begin) budget->paused = sp_clock_ms();
}

void sp_budget_resume(struct sp_budget *budget)
{
    if (budget->begin) budget->begin += sp_clock_ms() - budget->paused;
}

bool sp_budget_is_late(void)
{
    if (!current || !current->begin || (uint64_t)(sp_clock_ms() - current->begin) <= current->limits.time) return false;
    current->exceeded = SP_BUDGET_OF_TIME;
    return true;
}

void sp_budget_check_time(void)
{
    if (sp_budget_is_late()) sp_call_exceed();
}

void sp_budget_spend(uint64_t steps)
{
    enum { LOOK_EVERY = 4096 }; /* steps: some 50 us */
    if (!current) return;
    const uint64_t before = current->steps;
    current->steps = sp_add_saturated(before, steps);
    if (before / LOOK_EVERY == current->steps / LOOK_EVERY) return;
    if (current->steps > (current->part_end ? current->part_end : most_steps())) current->exceeded = SP_BUDGET_OF_STEPS;
    else if (!sp_budget_is_late()) return;
    sp_call_exceed();
}

void sp_budget_exceed_part(const char *what)
{
    if (!current) return;
    current->exceeded = SP_BUDGET_OF_STEPS;
    current->exceeding_part = what;
    sp_call_exceed();
}

void sp_budget_write(uint64_t length)
{
    if (!current) return;
    current->output = sp_add_saturated(current->output, length);
    if (current->output <= most_output()) return;
    current->exceeded = SP_BUDGET_OF_OUTPUT;
    sp_call_exceed();
}

uint64_t sp_budget_tensors(void) { return limits_now()->tensors; }

bool sp_budget_is_short(void)
{
    const uint64_t most = sp_budget_memory();
    const bool is_short = current && current->used > most - most / 8;
    if (is_short) current->memory_refusals++;
    return is_short;
}

bool sp_budget_lacks_memory(uint64_t size)
{
    const bool lacks = current && sp_add_saturated(current->used, size) > sp_budget_memory();
    if (lacks) current->memory_refusals++;
    return lacks;
}

bool sp_budget_lacks_steps(uint64_t steps)
{
    const bool lacks = steps > sp_budget_steps();
    if (lacks && current) current->step_refusals++;
    return lacks;
}

size_t sp_budget_memory_refusals(void) { return current ? current->memory_refusals : 0; }
size_t sp_budget_step_refusals(void) { return current ? current->step_refusals : 0; }

enum sp_budget_kind sp_budget_exceeded(void) { return current ? current->exceeded : SP_BUDGET_OF_MEMORY; }

/* "256 MiB" */
static struct sp_budget_text size_text(uint64_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    struct sp_budget_text text;
    size_t unit = 0;
    while (unit < 3 && (size >= 10240 || (size && size % 1024 == 0))) size >>= 10, unit++;
    snprintf(text.text, sizeof text.text, "%" PRIu64 " %s", size, units[unit]);
    return text;
}

struct sp_budget_text sp_budget_memory_text(void) { return size_text(sp_budget_memory()); }

const char *sp_budget_enter(const char *what)
{
    const char *outer = current ? current->spender : NULL;
    if (current) current->spender = what;
    return outer;
}

void sp_budget_leave(const char *const *outer)
{
    if (current) current->spender = *outer;
}

bool sp_budget_take(size_t size)
{
    if (!current) return true;
    const size_t used = current->used;
    const bool surely_fits = !current->limits.memory && size <= SP_BUDGET_MEMORY && used <= SP_BUDGET_MEMORY - size;
    if (!surely_fits && (size > SIZE_MAX - used || used + size > sp_budget_memory())) {
        current->exceeded = SP_BUDGET_OF_MEMORY;
        return false;
    }
    current->used = used + size;
    return true;
}

void sp_budget_give(size_t size)
{
    if (current) current->used -= size;
}

/* What the call may use of the kind: "256 MiB of memory". */
static struct sp_budget_text most_text(enum sp_budget_kind kind)
{
    struct sp_budget_text text;
    const uint64_t time = limits_now()->time, part = current && current->part_end ? current->part_steps : 0;
    const bool is_seconds = time % 1000 == 0;
    if (kind == SP_BUDGET_OF_STEPS)
        snprintf(text.text, sizeof text.text, "%" PRIu64 " steps", part ? part : most_steps());
    else if (kind == SP_BUDGET_OF_TIME)
        snprintf(text.text, sizeof text.text, "%" PRIu64 " %s", is_seconds ? time / 1000 : time,
                 is_seconds ? "s" : "ms");
    else
        snprintf(text.text, sizeof text.text, "%.20s of %s",
                 size_text(kind == SP_BUDGET_OF_MEMORY ? sp_budget_memory() : most_output()).text,
                 kind == SP_BUDGET_OF_MEMORY ? "memory" : "output");
    return text;
}

void sp_budget_describe(struct shapeproof_error *error)
{
    static const char *const options[] = {
        [SP_BUDGET_OF_MEMORY] = "memory=SIZE",
        [SP_BUDGET_OF_STEPS] = "steps=N",
        [SP_BUDGET_OF_OUTPUT] = "output=SIZE",
        [SP_BUDGET_OF_TIME] = "time=SECONDS",
    };
    const uint64_t given[] = {
        [SP_BUDGET_OF_MEMORY] = limits_now()->memory,
        [SP_BUDGET_OF_STEPS] = limits_now()->steps,
        [SP_BUDGET_OF_OUTPUT] = limits_now()->output,
        [SP_BUDGET_OF_TIME] = limits_now()->time,
    };
    const enum sp_budget_kind kind = sp_budget_exceeded();
    const char *part = current ? current->exceeding_part : NULL;
    const char *what = current && current->spender ? current->spender : "this";
    const char *file = current ? current->file : "", *colon = *file ? ": " : "";
    sp_error_reset(error);
    if (current) current->exceeding_part = NULL;
    if (part)
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                "%s%s%s takes too many steps; --limit steps=N allows more", file, colon, part);
    else if (current && current->part_end && kind == SP_BUDGET_OF_STEPS)
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                "%s%s%s takes more than %s, its part of the limit; --limit steps=N allows more", file, colon, what,
                most_text(kind).text);
    else if (given[kind])
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                "%s%s%s takes more than %s; a larger --limit %s allows more", file, colon, what, most_text(kind).text,
                options[kind]);
    else
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                "%s%s%s takes more than %s, the limit for %" PRIu64 " bytes of input; --limit %s allows more", file,
                colon, what, most_text(kind).text, sp_budget_input(), options[kind]);
}
