/* SPDX-License-Identifier: MIT */
#include "base/call.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"

/* A thing that is not heap memory, or old memory to free: what `release` is called with. */
struct sp_held {
    struct sp_held *next;
    void *thing;
    void (*release)(void *thing);
};

/* Bytes as they were. */
struct sp_kept {
    struct sp_kept *next;
    const void *owner;
    void *at;
    size_t size;
    unsigned char bytes[];
};

static _Thread_local struct sp_call *under_way; /* NULL: none, or a callback of the host runs */
static _Thread_local bool has_failed;           /* since shapeproof_ran_out_of_memory */

/* ---- the set of blocks ---- */

enum { LEAST_SLOTS = 256 };

/* The slot of the block, or the free one where it would be. The high bits of the product are the best mixed ones. */
static size_t slot_of(const struct sp_call *call, const void *block)
{
    const size_t mask = call->slot_count - 1;
    size_t i = (size_t)(((uint64_t)(uintptr_t)block * 0x9e3779b97f4a7c15U) >> 32) & mask;
    while (call->blocks[i].at && call->blocks[i].at != block) i = (i + 1) & mask;
    return i;
}

/* Makes room for so many more blocks, so that adding them cannot fail; at most half of the slots are in use. False
 * without memory. */
static bool reserve_blocks(struct sp_call *call, size_t more)
{
    const size_t needed = 2 * (call->block_count + more);
    if (needed <= call->slot_count) return true;
    struct sp_call larger = {.slot_count = call->slot_count ? call->slot_count : LEAST_SLOTS};
    while (larger.slot_count < needed) larger.slot_count *= 2;
    larger.blocks = calloc(larger.slot_count, sizeof *larger.blocks);
    if (!larger.blocks) return false;
    for (size_t i = 0; i < call->slot_count; i++)
        if (call->blocks[i].at) larger.blocks[slot_of(&larger, call->blocks[i].at)] = call->blocks[i];
    free(call->blocks);
    call->blocks = larger.blocks;
    call->slot_count = larger.slot_count;
    return true;
}

/* There is room for it. */
static void add_block(struct sp_call *call, struct sp_block block)
{
    call->blocks[slot_of(call, block.at)] = block;
    call->block_count++;
}

static bool has_block(const struct sp_call *call, const void *block)
{
    return call->block_count && call->blocks[slot_of(call, block)].at;
}

/* Removes the block from its slot, and moves those behind it that would not be found any more. */
static void remove_block(struct sp_call *call, size_t hole)
{
    const size_t mask = call->slot_count - 1;
    call->block_count--;
    call->blocks[hole].at = NULL;
    for (size_t i = (hole + 1) & mask; call->blocks[i].at; i = (i + 1) & mask) {
        const struct sp_block block = call->blocks[i];
        call->blocks[i].at = NULL;
        call->blocks[slot_of(call, block.at)] = block;
    }
}

/* ---- the begin and the end ---- */

/* From now on the thread works for that call; NULL: for none. */
static void begin_work(struct sp_call *call)
{
    under_way = call;
    sp_budget_use(call ? call->budget : NULL);
}

bool sp_call_begin_inner(struct sp_call *call, struct shapeproof_error *error)
{
    call->is_open = true;
    call->outer = under_way;
    call->error = error;
    call->fault_depth = sp_fault_depth();
    call->blocks = NULL;
    call->block_count = call->slot_count = 0;
    call->held = call->spare = call->retired = NULL;
    call->kept = NULL;
    if (!under_way) call->own = sp_budget_new();
    call->budget = under_way ? under_way->budget : &call->own;
    call->spender = call->budget->spender;
    begin_work(call);
    return true;
}

bool sp_call_begin(struct sp_call *call, struct shapeproof_error *error)
{
    call->is_open = false;
    return !under_way && sp_call_begin_inner(call, error);
}

static void free_list(struct sp_held *list)
{
    for (struct sp_held *next; list; list = next) {
        next = list->next;
        free(list);
    }
}

/* In the order in which that was put off: what an object uses comes after it. */
static void release_retired(struct sp_held *newest)
{
    struct sp_held *oldest = NULL;
    for (struct sp_held *next; newest; newest = next) {
        next = newest->next;
        newest->next = oldest;
        oldest = newest;
    }
    for (const struct sp_held *old = oldest; old; old = old->next) old->release(old->thing);
    free_list(oldest);
}

static void free_kept(struct sp_kept *list)
{
    for (struct sp_kept *next; list; list = next) {
        next = list->next;
        free(list);
    }
}

/* Whether the bytes have to be restored when the call fails. Those of a new block have not: it is freed then, and may
 * be freed before. */
static bool is_kept_for(const struct sp_call *call, const void *owner, const void *bytes)
{
    return !has_block(call, owner) && !has_block(call, bytes);
}

/* Makes what the inner call has acquired, kept and put off that of the outer one. What is old to the inner call may be
 * new to the outer one. */
static void join_outer(struct sp_call *call, struct sp_call *outer)
{
    if (!reserve_blocks(outer, call->block_count)) sp_out_of_memory(); /* the inner call is still whole, and fails */
    for (size_t i = 0; i < call->slot_count; i++)
        if (call->blocks[i].at) add_block(outer, call->blocks[i]);
    begin_work(outer);
    struct sp_held **end = &call->held;
    while (*end) end = &(*end)->next;
    *end = outer->held;
    outer->held = call->held;
    struct sp_kept **last = &call->kept;
    while (*last) {
        struct sp_kept *kept = *last;
        if (is_kept_for(outer, kept->owner, kept->at)) last = &kept->next;
        else {
            *last = kept->next;
            free(kept);
        }
    }
    *last = outer->kept;
    outer->kept = call->kept;
    for (end = &call->retired; *end;) end = &(*end)->next;
    *end = outer->retired;
    outer->retired = call->retired;
}

void sp_call_end(struct sp_call *call)
{
    if (!call->is_open) return;
    if (call->outer) join_outer(call, call->outer);
    else {
        begin_work(NULL);
        release_retired(call->retired);
        free_list(call->held);
        free_kept(call->kept);
    }
    call->is_open = false;
    free_list(call->spare);
    free(call->blocks);
}

/* ---- the failure ---- */

#ifdef __wasi__
static void unwind_with(const struct shapeproof_error *error) { (void)error; }
static void undo_all(void) {}
void sp_call_unwind(void) {} /* WASI has no longjmp: its program ends without memory, as sp_out_of_memory says */
#else
/* First what other libraries hold, since they may look at our memory; then the old bytes; then the memory. */
static void undo(struct sp_call *call)
{
    begin_work(NULL); /* what is released here is not listed any more */
    for (const struct sp_held *held = call->held; held; held = held->next) held->release(held->thing);
    for (const struct sp_kept *kept = call->kept; kept; kept = kept->next) memcpy(kept->at, kept->bytes, kept->size);
    for (size_t i = 0; i < call->slot_count; i++) {
        if (!call->blocks[i].at) continue;
        call->budget->used -= call->blocks[i].size;
        free(call->blocks[i].at);
    }
    free(call->blocks);
    free_list(call->held);
    free_list(call->spare);
    free_list(call->retired);
    free_kept(call->kept);
    call->budget->spender = call->spender;
    begin_work(call->outer);
    call->is_open = false;
}

/* Undoes the call that is under way, and those that it is in. */
static void undo_all(void)
{
    while (under_way) undo(under_way);
}

/* Undoes the call, which fails with the error. */
static void unwind_with(const struct shapeproof_error *error)
{
    struct sp_call *call = under_way;
    undo(call);
    has_failed = true;
    sp_fault_return_to(call->fault_depth);
    if (call->error) *call->error = *error;
    longjmp(call->entry, 1);
}

void sp_call_unwind(void)
{
    static const struct shapeproof_error out_of_memory = {
        .status = SHAPEPROOF_ERR_FILE, .kind = SHAPEPROOF_KIND_IO, .message = "out of memory"};
    if (under_way) unwind_with(&out_of_memory);
}
#endif

void sp_call_exceed(void)
{
    struct shapeproof_error error;
    if (!under_way) return;
    sp_budget_describe(&error);
    if (sp_budget_handler && (!under_way->error || !SP_CALL_CAN_UNWIND)) {
        undo_all(); /* the handler may use the objects of the call */
        sp_budget_handler(&error);
    }
    unwind_with(&error);
    sp_out_of_memory();
}

/* Takes memory from the budget of the call, or lets the call fail. */
static void spend_memory(size_t size)
{
    if (sp_budget_is_late() || !sp_budget_take(size)) sp_call_exceed(); /* nothing is taken when the call fails */
}

bool shapeproof_ran_out_of_memory(void)
{
    const bool failed = has_failed;
    has_failed = false;
    return failed;
}

void sp_call_forget(void) { begin_work(NULL); }

struct sp_call *sp_call_pause(void)
{
    struct sp_call *call = under_way;
    if (call) sp_budget_pause(call->budget);
    begin_work(NULL);
    return call;
}

void sp_call_resume(struct sp_call *call)
{
    if (call) sp_budget_resume(call->budget);
    begin_work(call);
}

/* ---- memory ---- */

bool sp_is_old(const void *memory) { return under_way && memory && !has_block(under_way, memory); }

/* The system has no memory for what was taken from the budget. */
__attribute__((noreturn)) static void give_up(size_t size)
{
    sp_budget_give(size);
    sp_out_of_memory();
}

void *sp_zeroed(size_t size)
{
    struct sp_call *call = under_way;
    if (call && !reserve_blocks(call, 1)) sp_out_of_memory();
    if (call) spend_memory(size);
    void *memory = calloc(1, size ? size : 1); /* what comes fresh from the system is zero, and is not touched */
    if (!memory) give_up(size);
    if (call) add_block(call, (struct sp_block){memory, size});
    return memory;
}

void *sp_resize(void *memory, size_t old_size, size_t size)
{
    struct sp_call *call = under_way;
    const bool is_old = sp_is_old(memory);
    if (call && !reserve_blocks(call, 1)) sp_out_of_memory();
    const size_t slot = call && memory && !is_old ? slot_of(call, memory) : SIZE_MAX;
    const size_t before = call && slot != SIZE_MAX ? call->blocks[slot].size : 0;
    if (call && size > before) spend_memory(size - before);
    void *moved = realloc(is_old ? NULL : memory, size ? size : 1);
    if (!moved) give_up(size > before ? size - before : 0);
    if (call && size < before) sp_budget_give(before - size);
    if (slot != SIZE_MAX && call->blocks[slot].at == moved) {
        call->blocks[slot].size = size;
        return moved;
    }
    if (slot != SIZE_MAX) remove_block(call, slot);
    if (call) add_block(call, (struct sp_block){moved, size});
    if (!is_old) return moved;
    memcpy(moved, memory, old_size < size ? old_size : size);
    sp_free(memory);
    return moved;
}

void sp_free(void *memory)
{
    struct sp_call *call = under_way;
    if (sp_is_old(memory)) {
        sp_let_go(memory, free);
        return;
    }
    if (call && memory) {
        const size_t slot = slot_of(call, memory);
        sp_budget_give(call->blocks[slot].size);
        remove_block(call, slot);
    }
    free(memory);
}

void sp_count_as(const void *memory, size_t size)
{
    struct sp_call *call = under_way;
    if (!call || !has_block(call, memory)) return;
    struct sp_block *block = &call->blocks[slot_of(call, memory)];
    if (size > block->size) spend_memory(size - block->size);
    else sp_budget_give(block->size - size);
    block->size = size;
}

void sp_keep(const void *owner, void *bytes, size_t size)
{
    if (!under_way || !size || !is_kept_for(under_way, owner, bytes)) return;
    struct sp_kept *kept = malloc(sizeof *kept + size);
    if (!kept) sp_out_of_memory();
    *kept = (struct sp_kept){under_way->kept, owner, bytes, size};
    memcpy(kept->bytes, bytes, size);
    under_way->kept = kept;
}

/* ---- other things ---- */

static struct sp_held *new_held(void *thing, void (*release)(void *thing), struct sp_held *next)
{
    struct sp_held *held = malloc(sizeof *held);
    if (held) *held = (struct sp_held){next, thing, release};
    return held;
}

void sp_hold(void *thing, void (*release)(void *thing))
{
    if (!under_way) return;
    struct sp_held *held = under_way->spare;
    if (held) {
        under_way->spare = held->next;
        *held = (struct sp_held){under_way->held, thing, release};
    } else held = new_held(thing, release, under_way->held);
    if (!held) {
        release(thing);
        sp_out_of_memory();
    }
    under_way->held = held;
}

void sp_prepare_to_hold(size_t count)
{
    while (under_way && count--) {
        struct sp_held *spare = new_held(NULL, NULL, under_way->spare);
        if (!spare) sp_out_of_memory();
        under_way->spare = spare;
    }
}

/* Takes the thing from the list of those that are held; false if it is old. */
static bool forget_held(struct sp_call *call, const void *thing, void (*release)(void *thing))
{
    struct sp_held **place = &call->held;
    while (*place && ((*place)->thing != thing || (*place)->release != release)) place = &(*place)->next;
    struct sp_held *held = *place;
    if (!held) return false;
    *place = held->next;
    free(held);
    return true;
}

void sp_let_go(void *thing, void (*release)(void *thing))
{
    struct sp_call *call = under_way;
    if (!call || forget_held(call, thing, release)) {
        release(thing);
        return;
    }
    struct sp_held *old = new_held(thing, release, call->retired);
    if (!old) sp_out_of_memory();
    call->retired = old;
}

void sp_let_be(const void *thing, void (*release)(void *thing))
{
    if (under_way) forget_held(under_way, thing, release);
}

static void close_fd(void *fd) { close((int)(intptr_t)fd); }

int sp_hold_fd(int fd)
{
    const int why = errno;
    if (fd >= 0) sp_hold((void *)(intptr_t)fd, close_fd);
    errno = why;
    return fd;
}

bool sp_close(int fd)
{
    void *thing = (void *)(intptr_t)fd;
    if (!under_way || forget_held(under_way, thing, close_fd)) return close(fd) == 0;
    sp_let_go(thing, close_fd);
    return true;
}
