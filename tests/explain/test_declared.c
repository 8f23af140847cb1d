/* SPDX-License-Identifier: MIT
 * Sizes in names: what is one, and what only looks like one. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

#include "explain/consistency/name_sizes.h"

static const struct {
    const char *name;
    uint64_t millions[3];
} names[] = {
    {"Llama-2-7b-hf", {7000}},
    {"stories42M.pt", {42}},
    {"Qwen2.5-0.5B-Instruct", {500}},
    {"TinyLlama-1.1B-intermediate-step-1431k-3T", {1100}},
    {"opt-125m", {125}},
    {"bloom-7b1", {7100}},
    {"rwkv-4-1b5-pile", {1500}},
    {"gpt-neo-1300M", {1300}},
    {"Mixtral-8x7B-v0.1", {56000}},
    {"Qwen3-30B-A3B", {30000}},
    {"granite-3.1-1b-a400m-instruct", {1000}},
    {"OLMoE-1B-7B-0924", {1000, 7000}},
    {"stablelm-2-1_6b", {1600, 6000}},
    {"Llama_2_7b", {2700, 7000}},
    {"M2M100-418M", {418}},
    {"Qwen3-14B-MLX-4bit", {14000}},
    {"llama-7b-4bit-128g", {7000}},
    {"7B", {7000}},
    /* the other meanings of numbers with these letters */
    {"Llama-4-Scout-17B-16E", {0}},
    {"gemma-3n-E2B-it", {0}},
    {"CLIP-ViT-B-32-laion2B-s34B-b79K", {0}},
    {"stories260K", {0}},
    {"Phi-3-mini-128k-instruct", {0}},
    {"gpt2-10B-tokens", {0}},
    {"wav2vec2-large-960h", {0}},
    {"shapeproof-test-abcd5B", {0}},
    {"shapeproof-test-589m13", {0}},
    {"model-123b4", {0}},
    {"model-7b12", {0}},
    {"20241123b", {0}},
    {"1.5.7B", {0}},
    {"12345678B", {0}},
    {"0B", {0}},
    {"B", {0}},
    {"", {0}},
};

static void every_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sp_name_size sizes[SP_NAME_SIZES];
        size_t wanted = 0;
        while (wanted < 3 && names[i].millions[wanted]) wanted++;
        const size_t count = sp_sizes_in_name(names[i].name, strlen(names[i].name), sizes);
        if (count != wanted) print_error("%s\n", names[i].name);
        assert_int_equal(count, wanted);
        for (size_t k = 0; k < count; k++) assert_int_equal(sizes[k].parameters, names[i].millions[k] * 1000000);
    }
}

/* No more than there is room for, and the largest ones fit. */
static void many_sizes(void **state)
{
    struct sp_name_size sizes[SP_NAME_SIZES];
    const char many[] = "1B-2B-3B-4B-5B-6B-7B-8B-9B-10B";
    (void)state;
    assert_int_equal(sp_sizes_in_name(many, strlen(many), sizes), SP_NAME_SIZES);
    assert_int_equal(sp_sizes_in_name("1024x9999.999B", 14, sizes), 1);
    assert_true(sizes[0].parameters == UINT64_C(10239998976000000));
    assert_int_equal(sp_sizes_in_name("1025x7B", 7, sizes), 0);
    assert_int_equal(sp_sizes_in_name("7Bx", 2, sizes), 1); /* a name need not end where its text does */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_name), cmocka_unit_test(many_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
