/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sp_arena_block {
    struct sp_arena_block *next;
    size_t size, used;
    max_align_t data[];
};

static size_t round_up(size_t size)
{
    const size_t unit = sizeof(max_align_t);
    if (size > SIZE_MAX / 2) abort();
    return (size + unit - 1) / unit * unit;
}

static struct sp_arena_block *new_block(struct sp_arena *arena, size_t size)
{
    struct sp_arena_block *block = malloc(sizeof *block + size);
    if (!block) abort();
    block->next = arena->blocks;
    block->size = size;
    block->used = 0;
    arena->blocks = block;
    return block;
}

void *sp_arena_alloc(struct sp_arena *arena, size_t size)
{
    struct sp_arena_block *block = arena->blocks;
    const size_t rounded = round_up(size ? size : 1);
    arena->used += rounded;
#ifdef SP_ARENA_MALLOC
    block = new_block(arena, size ? size : 1);
    block->used = block->size;
    return memset(block->data, 0, size ? size : 1);
#else
    if (!block || block->size - block->used < rounded) {
        size_t grow = block ? block->size * 2 : 4096;
        if (grow > (size_t)1 << 20) grow = (size_t)1 << 20;
        block = new_block(arena, rounded > grow ? rounded : grow);
    }
    void *memory = (char *)block->data + block->used;
    block->used += rounded;
    return memset(memory, 0, rounded);
#endif
}

void *sp_arena_array(struct sp_arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) abort();
    return sp_arena_alloc(arena, total);
}

char *sp_arena_copy(struct sp_arena *arena, const char *text, size_t length)
{
    char *copy = sp_arena_alloc(arena, length + 1);
    if (length) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *sp_arena_string(struct sp_arena *arena, const char *text) { return sp_arena_copy(arena, text, strlen(text)); }

char *sp_arena_vprintf(struct sp_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) abort();
    char *text = sp_arena_alloc(arena, (size_t)length + 1);
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

void sp_arena_free(struct sp_arena *arena)
{
    struct sp_arena_block *block = arena->blocks;
    while (block) {
        struct sp_arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
    arena->used = 0;
}

void *sp_realloc(void *memory, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) abort();
    void *moved = realloc(memory, total ? total : 1);
    if (!moved) abort();
    return moved;
}
