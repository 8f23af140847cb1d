/* SPDX-License-Identifier: MIT */
#include "base/budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

static _Thread_local struct shapeproof_limits limits; /* of this thread; zero: the defaults */

static _Thread_local struct sp_budget *current; /* of the call that is under way, or NULL */

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

void sp_budget_reuse(const void *inventory, const char *path, uint64_t input)
{
    if (!current) return;
    for (size_t i = 0; i < current->inventory_count; i++)
        if (current->inventories[i] == inventory) return;
    if (current->inventory_count < SP_BUDGET_INVENTORIES) current->inventories[current->inventory_count++] = inventory;
    note_file(path);
    current->reused = sp_add_saturated(current->reused, input);
}

uint64_t sp_budget_input(void)
{
    if (!current) return 0;
    return sp_add_saturated(current->read < current->opened ? current->read : current->opened, current->reused);
}

uint64_t sp_budget_memory(void)
{
    uint64_t grown;
    if (limits.memory) return limits.memory;
    return __builtin_mul_overflow(sp_budget_input(), (uint64_t)SP_BUDGET_FACTOR, &grown)
               ? UINT64_MAX
               : sp_add_saturated(grown, SP_BUDGET_MEMORY);
}

uint64_t sp_budget_steps(void) { return limits.steps ? limits.steps : SP_BUDGET_STEPS; }

uint64_t sp_budget_tensors(void) { return limits.tensors; }

bool sp_budget_is_short(void)
{
    const uint64_t most = sp_budget_memory();
    const bool is_short = current && current->used > most - most / 8;
    if (is_short) current->memory_refusals++;
    return is_short;
}

bool sp_budget_lacks_steps(uint64_t steps)
{
    const bool lacks = steps > sp_budget_steps();
    if (lacks && current) current->step_refusals++;
    return lacks;
}

size_t sp_budget_memory_refusals(void) { return current ? current->memory_refusals : 0; }
size_t sp_budget_step_refusals(void) { return current ? current->step_refusals : 0; }

struct sp_budget_text sp_budget_memory_text(void)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    struct sp_budget_text text;
    uint64_t size = sp_budget_memory();
    size_t unit = 0;
    while (unit < 3 && (size >= 10240 || (size && size % 1024 == 0))) size >>= 10, unit++;
    snprintf(text.text, sizeof text.text, "%" PRIu64 " %s", size, units[unit]);
    return text;
}

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
    const bool surely_fits = !limits.memory && size <= SP_BUDGET_MEMORY && used <= SP_BUDGET_MEMORY - size;
    if (!surely_fits && (size > SIZE_MAX - used || used + size > sp_budget_memory())) return false;
    current->used = used + size;
    return true;
}

void sp_budget_give(size_t size)
{
    if (current) current->used -= size;
}

void sp_budget_describe(struct shapeproof_error *error)
{
    const char *what = current && current->spender ? current->spender : "this";
    const char *file = current ? current->file : "", *colon = *file ? ": " : "";
    sp_error_reset(error);
    if (limits.memory)
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                "%s%s%s takes more than %s of memory; a larger --limit memory=SIZE allows more", file, colon, what,
                sp_budget_memory_text().text);
    else
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT,
                "%s%s%s takes more than %s of memory, the limit for %" PRIu64
                " bytes of input; --limit memory=SIZE allows more",
                file, colon, what, sp_budget_memory_text().text, sp_budget_input());
}
