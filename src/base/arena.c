/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/fault.h"

#ifdef __SANITIZE_ADDRESS__ /* gcc */
#define WITH_ADDRESS_SANITIZER
#elif defined __has_feature
#if __has_feature(address_sanitizer) /* clang */
#define WITH_ADDRESS_SANITIZER
#endif
#endif
#ifdef WITH_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

struct sp_arena_block {
    struct sp_arena_block *next;
    size_t size, used;
    max_align_t data[];
};

/* `unit` is a power of two. */
static size_t round_up(size_t size, size_t unit)
{
    if (size > SIZE_MAX / 2) sp_out_of_memory();
    return (size + unit - 1) & ~(unit - 1);
}

/* In a build with AddressSanitizer what lies between two allocations must not be touched: REDZONE bytes at least, as
 * between two of its own malloc. */
#ifdef WITH_ADDRESS_SANITIZER
enum { REDZONE = 16 };
#define LEAST_ALIGNMENT sizeof(max_align_t)
#define FORBID(memory, size) __asan_poison_memory_region((memory), (size))
#define ALLOW(memory, size) __asan_unpoison_memory_region((memory), (size))
#else
enum { REDZONE = 0 };
#define LEAST_ALIGNMENT ((size_t)1)
#define FORBID(memory, size) ((void)0)
#define ALLOW(memory, size) ((void)0)
#endif

/* An arena that was there before the call gets its block back when the call fails: one with an old block is old. */
static struct sp_arena_block *larger_block(struct sp_arena *arena, size_t size)
{
    const size_t most = (size_t)1 << 20, twice = arena->blocks ? arena->blocks->size * 2 : 4096;
    const size_t usual = twice < most ? twice : most, room = size > usual ? size : usual;
    if (arena->blocks) sp_keep(arena->blocks, arena, sizeof *arena);
    struct sp_arena_block *block = sp_zeroed(sizeof *block + room);
    block->next = arena->blocks;
    block->size = room;
    arena->blocks = block;
    FORBID(block->data, room);
    return block;
}

/* What is used counts whole units, so that a limit does not depend on how closely strings are packed. */
static void *take_bytes(struct sp_arena *arena, size_t size, size_t alignment)
{
    struct sp_arena_block *block = arena->blocks;
    if (alignment < LEAST_ALIGNMENT) alignment = LEAST_ALIGNMENT;
    size_t start = block ? round_up(block->used + REDZONE, alignment) : 0;
    arena->used += round_up(size, sizeof(max_align_t));
    if (!block || start > block->size || block->size - start < size) {
        block = larger_block(arena, size);
        start = 0;
    }
    block->used = start + size;
    ALLOW((char *)block->data + start, size);
    return (char *)block->data + start;
}

void *sp_arena_alloc(struct sp_arena *arena, size_t size)
{
    return take_bytes(arena, size ? size : 1, sizeof(max_align_t));
}

void *sp_arena_array(struct sp_arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) sp_out_of_memory();
    const size_t whole = size & (0 - size); /* a type's alignment divides its size, and so this */
    const size_t alignment = whole && whole < sizeof(max_align_t) ? whole : sizeof(max_align_t);
    return take_bytes(arena, total ? total : 1, alignment);
}

char *sp_arena_copy(struct sp_arena *arena, const char *text, size_t length)
{
    char *copy = take_bytes(arena, length + 1, 1);
    if (length) memcpy(copy, text, length);
    return copy; /* the NUL is there already */
}

char *sp_arena_string(struct sp_arena *arena, const char *text) { return sp_arena_copy(arena, text, strlen(text)); }

char *sp_arena_vprintf(struct sp_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) sp_out_of_memory(); /* longer than INT_MAX */
    char *text = take_bytes(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *sp_arena_printf(struct sp_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = sp_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

const char *sp_count_of(struct sp_arena *arena, size_t count, const char *noun)
{
    return sp_arena_printf(arena, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

void sp_arena_free(struct sp_arena *arena)
{
    struct sp_arena_block *block = arena->blocks;
    while (block) {
        struct sp_arena_block *next = block->next;
        sp_free(block);
        block = next;
    }
    arena->blocks = NULL;
    arena->used = 0;
}

void *sp_realloc(void *memory, size_t count, size_t size) { return sp_grow(memory, 0, count, size); }

void *sp_grow(void *memory, size_t old_count, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) sp_out_of_memory();
    return sp_resize(memory, old_count * size, total);
}

void *sp_room(void *items, size_t *capacity, size_t size)
{
    const size_t old = *capacity;
    void *larger = sp_grow(items, old, old ? old * 2 : 16, size);
    *capacity = old ? old * 2 : 16;
    return larger;
}
