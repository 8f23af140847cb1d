/* SPDX-License-Identifier: MIT
 * The bytes as a file of expected differences, put before a finding that no line need know. */
#include "fuzz.h"

#include "expect/expect.h"

static void count(void *context, struct sp_left_over left)
{
    fuzz_must(left.name[0] && left.message[0]);
    ++*(size_t *)context;
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    struct shapeproof_expectations *expectations =
        shapeproof_expectations_load(fuzz_path(data, size), "2026-01-31", &error);
    fuzz_must_have(expectations, &error);
    if (!expectations) return;
    struct sp_expecting use = {.expectations = expectations};
    struct sp_arena arena = {0};
    size_t left = 0;
    sp_expected(&use, "missing", "tied", "model.layers.0.self_attn.q_proj.weight", "h.0.attn.c_attn.weight");
    sp_expecting_end(&use, &arena, count, &left);
    fuzz_must(left <= expectations->count);
    sp_arena_free(&arena);
    shapeproof_expectations_free(expectations);
}
