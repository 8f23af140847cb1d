/* SPDX-License-Identifier: MIT
 * One arena per opened checkpoint, table or comparison: everything lives until sp_arena_free.
 * Allocation never returns NULL: without memory the public function fails (base/call.h). Memory is zeroed.
 * Under AddressSanitizer the bytes between two allocations are poisoned, so that it sees an overrun. */
#ifndef SP_BASE_ARENA_H
#define SP_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/call.h"

struct sp_arena {
    struct sp_arena_block *blocks;
    size_t used; /* bytes handed out, for limits and benchmarks */
};

void *sp_arena_alloc(struct sp_arena *arena, size_t size);
/* count x size, checked. */
void *sp_arena_array(struct sp_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of `length` bytes. */
char *sp_arena_copy(struct sp_arena *arena, const char *text, size_t length);
char *sp_arena_string(struct sp_arena *arena, const char *text);
char *sp_arena_printf(struct sp_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *sp_arena_vprintf(struct sp_arena *arena, const char *format, va_list args);
/* "3 tensors" / "1 tensor". */
const char *sp_count_of(struct sp_arena *arena, size_t count, const char *noun);
void sp_arena_free(struct sp_arena *arena);

/* Heap memory with the same promise (never NULL), for growing arrays; sp_free it. `memory` is NULL or of this call. */
void *sp_realloc(void *memory, size_t count, size_t size);
/* The same where `memory`, of `old_count` items, may have been there before the call. */
void *sp_grow(void *memory, size_t old_count, size_t count, size_t size);

/* Make room for one more element in a growing array of `count` elements: GROW(items, count, capacity). */
#define SP_GROW(items, count, capacity)                                                                                \
    ((count) < (capacity) ? (void)0 : (void)((items) = sp_room((items), &(capacity), sizeof *(items))))

/* A growing array. Zero-initialise; sp_free the items. Each SP_ARRAY is a type of its own to the compiler: what is
 * handed about is the struct that holds it. */
#define SP_ARRAY(type)                                                                                                 \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t count, capacity;                                                                                        \
    }

/* Where one more item of a growing array goes, not initialised: *SP_PUSH(&list) = item. What is put there must not
 * depend on list.count. Any struct with items, count and capacity will do. */
#define SP_PUSH(array) (SP_GROW((array)->items, (array)->count, (array)->capacity), &(array)->items[(array)->count++])

/* The items, with room for twice as many. */
void *sp_room(void *items, size_t *capacity, size_t size);

#endif
