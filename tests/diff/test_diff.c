/* SPDX-License-Identifier: MIT
 * Two checkpoints side by side: what is claimed to be the same, and what is not. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff/lines.h"
#include "formats.h"

/* ---- names that are the same ---- */

static void equal(void **state)
{
    (void)state;
    expect("a F32 4x3\nb I64 -", "b I64 -\na F32 4x3", "same: all 2 tensors, 13 elements");
    expect("", "", "same: all 0 tensors, 0 elements");
}

static void changed(void **state)
{
    (void)state;
    expect("a F32 4x3", "a F32 4x5", "differs: a (4, 3) in A, (4, 5) in B");
    expect("a F32 4x3", "a F32 3x4", "differs: a (4, 3) in A, transposed (3, 4) in B");
    expect("k F32 3x3x8x16", "k F32 16x8x3x3", "differs: k (3, 3, 8, 16) in A, transposed (16, 8, 3, 3) in B");
    expect("a F32 4", "a F32 4x1", "differs: a (4) in A, (4, 1) in B, which is the same except for dimensions of 1");
    expect("a F32 4", "a BF16 4", "differs: a F32 in A, BF16 in B");
    expect("a.0 F32 4\na.1 F32 5", "a.0 F16 4\na.1 F16 5", "differs: 2 tensors of another dtype: F32 in A, F16 in B");
    expect("a F32 4\nb F32 1", "a F16 5", "differs: 1 tensor removed (b), 1 of another shape (a), 1 of another dtype");
    expect("h.0.w F32 2\nh.1.w F32 2\nh.2.w F32 2", "h.1.w F32 2", "differs: 2 tensors removed: h.{0,2}.w");
    expect("a F32 4", "a F32 4\nb.x F32 2\nc.y F32 3", "differs: 2 tensors added: b.x, c.y");
}

/* ---- renamed ---- */

static void beginnings(void **state)
{
    (void)state;
    expect("module.h.0.w F32 2\nmodule.h.1.w F32 2\nmodule.v F32 3", "h.0.w F32 2\nh.1.w F32 2\nv F32 3",
           "differs: in names alone: 3 tensors renamed, module.* -> *\nmodule.* -> * (3)");
    expect("h.0.w F32 2\nv F32 3", "base.model.h.0.w F32 2\nbase.model.v F32 3",
           "differs: in names alone: 2 tensors renamed, * -> base.model.*\n* -> base.model.* (2)");
    expect("t.h.0.a.w F32 2\nt.h.0.b.w F32 2\nt.e.w F32 8", "m.layers.0.a.w F32 2\nm.layers.0.b.w F32 2\nm.e.w F32 8",
           "differs: in names alone: 3 tensors renamed\nt.h.* -> m.layers.* (2)\nt.* -> m.* (1)");
    expect("h_0.a.w F32 2\nh_0.b.w F32 3\nh_1.a.w F32 2\nh_1.b.w F32 3",
           "h.0.a.w F32 2\nh.0.b.w F32 3\nh.1.a.w F32 2\nh.1.b.w F32 3",
           "differs: in names alone: 4 tensors renamed, h_{}.* -> h.{}.*\nh_{}.* -> h.{}.* (4)");
}

/* A translation that many tensors agree on holds for one that was reshaped as well. */
static void renamed_and_changed(void **state)
{
    (void)state;
    expect("module.e F32 8x2\nmodule.v F32 3\nmodule.w F32 4", "e F32 9x2\nv F32 3\nw BF16 4",
           "differs: 1 tensor of another shape (module.e), 1 of another dtype, 3 renamed\nmodule.* -> * (3)");
}

static void components(void **state)
{
    (void)state;
    expect("h.0.ln.gamma F32 2\nh.0.ln.beta F32 2", "h.0.ln.weight F32 2\nh.0.ln.bias F32 2",
           "differs: in names alone: 2 tensors renamed\n*gamma -> *weight (1)\n*beta -> *bias (1)");
    expect("h.0.mlp.c_fc.w F32 2x8\nh.1.mlp.c_fc.w F32 2x8", "h.0.mlp.fc_in.w F32 2x8\nh.1.mlp.fc_in.w F32 2x8",
           "differs: in names alone: 2 tensors renamed, *.c_fc.* -> *.fc_in.*\n"
           "*.c_fc.* -> *.fc_in.* (2)");
    expect("h.0.attn.q.w F32 2\nh.0.attn.k.w F32 3", "h.0.self.q.w F32 2\nh.0.self.k.w F32 3",
           "differs: in names alone: 2 tensors renamed, *.attn.* -> *.self.*\n*.attn.* -> *.self.* (2)");
    expect("a.h.0.q_proj.w F32 2\na.h.0.k_proj.w F32 2", "a.h.0.q_lin.w F32 2\na.h.0.k_lin.w F32 2",
           "differs: in names alone: 2 tensors renamed\n*.q_proj.* -> *.q_lin.* (1)\n*.k_proj.* -> *.k_lin.* (1)");
    expect("h.0.ln_1.w F32 2\nh.1.ln_1.w F32 2", "h.0.norm1.w F32 2\nh.1.norm1.w F32 2",
           "differs: in names alone: 2 tensors renamed, *.ln_1.* -> *.norm1.*\n*.ln_1.* -> *.norm1.* (2)");
}

/* What is one on one side and several on the other; what only looks like it is not. */
static void joined(void **state)
{
    (void)state;
    expect("h.0.a.q.weight F32 4x4\nh.0.a.k.weight F32 2x4\nh.0.a.v.weight F32 2x4\nn F32 4",
           "h.0.a.qkv.weight F32 8x4\nn F32 4",
           "differs: h.0.a.qkv.weight is one in B and 3 in A: a.qkv = q + k + v (order not known from shapes)");
    expect("h.0.in_proj_weight F32 12x4\nh.1.in_proj_weight F32 12x4",
           "h.0.q.weight F32 4x4\nh.0.k.weight F32 4x4\nh.0.v.weight F32 4x4\n"
           "h.1.q.weight F32 4x4\nh.1.k.weight F32 4x4\nh.1.v.weight F32 4x4",
           "differs: 2 tensors split in B: in_proj = q + k + v (order not known from shapes)");
    expect("e.0.up.weight F32 8x4\ne.1.up.weight F32 8x4\ne.2.up.weight F32 8x4", "e.up F32 3x8x4",
           "differs: e.up is one in B and 3 in A: e.up = 3 x up");
    expect("h.0.q.weight F32 4x4\nh.0.k.weight F32 4x4\nh.0.v.weight F32 4x4", "h.0.qkv.weight F32 11x4",
           "differs: 3 tensors removed (h.0.{q,k,v}.weight), 1 added (h.0.qkv.weight)");
    expect("h.0.q.weight F32 4x4\nh.0.k.weight F32 4x4\nh.0.v.weight F32 4x4", "g.0.qkv.weight F32 12x4",
           "differs: 3 tensors removed (h.0.{q,k,v}.weight), 1 added (g.0.qkv.weight)");
    expect("one.bias F32 4\ntwo.bias F32 6", "three.bias F32 10",
           "differs: 2 tensors removed ({one,two}.bias), 1 added (three.bias)");
    expect("m.one.bias F32 4\nm.two.bias F32 6", "m.three.bias F32 10",
           "differs: 2 tensors removed (m.{one,two}.bias), 1 added (m.three.bias)");
    expect("m.one.bias F32 4\nm.two.bias F32 6\nm.one.weight F32 4x2\nm.two.weight F32 6x2",
           "m.three.bias F32 10\nm.three.weight F32 10x2",
           "differs: 2 tensors fused in B: m.three = one + two (order not known from shapes)");
    expect("e.0.up.weight F32 8x4\ne.2.up.weight F32 8x4", "e.up F32 2x8x4",
           "differs: 2 tensors removed (e.{0,2}.up.weight), 1 added (e.up)");
}

/* Weights that one side stores under a parametrisation; the older form of weight norm against the newer one, which are
 * names alone; names that only look so. */
static void parametrised(void **state)
{
    (void)state;
    expect("m.h.0.c.weight_g F32 4x1\nm.h.0.c.weight_v F32 4x3\nm.h.1.c.weight_g F32 4x1\nm.h.1.c.weight_v F32 4x3\n"
           "m.n F32 3",
           "h.0.c.weight F32 4x3\nh.1.c.weight F32 4x3\nn F32 3",
           "differs: 2 weights stored under weight norm in A; 1 tensor renamed\nm.* -> * (1)");
    expect("a.weight_g F32 4x1\na.weight_v F32 4x3",
           "a.parametrizations.weight.original0 F32 4x1\n"
           "a.parametrizations.weight.original1 F32 4x3",
           "differs: in names alone: 2 tensors renamed");
    expect("a.weight F32 4x3\nb.weight F32 4x3", "a.weight_orig F32 4x3\na.weight_mask F32 4x3\nb.weight_orig F32 4x3",
           "differs: a.weight is stored under a mask of pruning in B; "
           "b.weight is stored under a mask of pruning in B, where a part is missing: b.weight_mask");
    expect("a.weight_orig F32 5x3\na.weight_mask F32 5x3", "a.weight F32 4x3",
           "differs: 1 tensor of another shape (a.weight_orig), 1 weight stored under a mask of pruning in A");
    expect("m.a.weight_g F32 5x1\nm.a.weight_v F32 5x5\nm.l.0.lora_v F32 5x7\nm.l.1.lora_v F32 5x7\nm.n F32 3",
           "a.weight F32 5x5\nl.0.lora_v F32 5x7\nl.1.lora_v F32 5x7\nn F32 3",
           "differs: 1 weight stored under weight norm in A; 3 tensors renamed\nm.* -> * (3)");
    expect("a.weight_g F32 4x1\na.weight_v F32 4x3", "a.weight BF16 4x3",
           "differs: 1 weight stored under weight norm in A; 1 tensor of another dtype");
    expect("a.weight_v F32 4x3\nb F32 2", "b F32 2", "differs: a.weight_v is in A alone: F32 (4, 3)");
}

static void spellings(void **state)
{
    (void)state;
    expect("a/b/w F32 2", "a.b.w F32 2", "differs: in names alone: 1 tensor renamed, */* -> *.*\n*/* -> *.* (1)");
    expect("d/d/kernel:0 F32 4x3\nd/d/bias:0 F32 3", "d.weight F32 3x4\nd.bias F32 3",
           "differs: in names alone: 2 tensors renamed\n*/* -> *.* (2)\nx/x/* -> x/* (2)\n*:0 -> * (2)\n"
           "*kernel -> *weight, transposed (1)");
    expect("layers/d/vars/0 F32 4x3\nlayers/d/vars/1 F32 3", "d.weight F32 3x4\nd.bias F32 3",
           "differs: in names alone: 2 tensors renamed\nlayers.* -> * (2)\n*/* -> *.* (2)\n"
           "*vars/0 -> *weight, transposed (1)\n*vars/1 -> *bias (1)");
    expect("conv.kernel F32 3x3x8x16", "conv.weight F32 16x8x3x3",
           "differs: in names alone: 1 tensor renamed, *kernel -> *weight, transposed\n"
           "*kernel -> *weight, transposed (1)");
    expect("_orig_mod.a.w F32 2", "a.w F32 2",
           "differs: in names alone: 1 tensor renamed, _orig_mod.* -> *\n_orig_mod.* -> * (1)");
    expect("q_proj.base_layer.weight F32 2", "q_proj.weight F32 2",
           "differs: in names alone: 1 tensor renamed, base_layer.* -> *\nbase_layer.* -> * (1)");
}

/* Where two would fit, or nothing but the shape speaks for it, nothing is claimed. */
static void not_claimed(void **state)
{
    (void)state;
    expect("a.gamma F32 2\na.kernel F32 2", "a.weight F32 2",
           "differs: 2 tensors removed (a.{gamma,kernel}), 1 added (a.weight)");
    expect("x.q F32 2x2", "y.completely.different F32 2x2",
           "differs: 1 tensor removed (x.q), 1 added (y.completely.different)");
    expect("t.a.q F32 4x4\nt.a.r F32 4x4", "t.a.s F32 4x4", "differs: 2 tensors removed (t.a.{q,r}), 1 added (t.a.s)");
    expect("a.kernel F32 4x3", "a.weight F32 5x3", "differs: 1 tensor removed (a.kernel), 1 added (a.weight)");
    expect("c/vars/0 F32 3x8\nc/vars/1 F32 2x8", "c.weight F32 8x3\nc.bias F32 8",
           "differs: 1 tensor removed (c/vars/1), 1 added (c.bias), 1 renamed\n*/* -> *.* (1)\n*vars/0 -> *weight, "
           "transposed (1)");
}

/* ---- ties ---- */

static void ties(void **state)
{
    static const char tied[] = "e F32 8x2 s0\nhead F32 8x2 s0\nn F32 2 s1";
    (void)state;
    expect(tied, "e F32 8x2\nn F32 2", "same: all 2 tensors, 18 elements; head is tied to e in A, stored once in B");
    expect("e F32 8x2\nn F32 2", tied, "same: all 2 tensors, 18 elements; head is tied to e in B, stored once in A");
    expect(tied, "head F32 8x2\nn F32 2", "same: all 2 tensors, 2 elements; e is tied to head in A, stored once in B");
    expect(tied, "e F32 8x2\nhead F32 8x2\nn F32 2", "differs: head is tied to e in A, a tensor of its own in B");
    expect("e F32 8x2\nhead F32 8x2\nn F32 2", tied, "differs: head is tied to e in B, a tensor of its own in A");
    expect(tied, tied, "same: all 3 tensors, 18 elements");
    expect(tied, "m.e F32 8x2\nm.n F32 2", "differs: in names alone: 2 tensors renamed, * -> m.*\n* -> m.* (2)");
}

static void state_is_no_difference(void **state)
{
    (void)state;
    expect("w F32 2\noptimizer.m F32 2\noptimizer.v F32 2", "w F32 2",
           "same: all 1 tensor, 2 elements; 2 tensors of the state of an optimizer or trainer in one alone");
    expect("w F32 2\noptimizer.m F32 2", "w F32 2\noptimizer.m F32 3", "differs: optimizer.m (2) in A, (3) in B");
}

/* ---- tensor by tensor ---- */

/* For each tensor of that side: "other" its counterpart, "alone", or "-" when the other side has it under another tie.
 */
static void assert_side(const struct both *both, enum shapeproof_diff_side side, const char *expected)
{
    const struct shapeproof_inventory *here = shapeproof_diff_inventory(both->diff, side);
    const struct shapeproof_inventory *there =
        shapeproof_diff_inventory(both->diff, side == SHAPEPROOF_DIFF_A ? SHAPEPROOF_DIFF_B : SHAPEPROOF_DIFF_A);
    struct sp_text text = {0};
    for (size_t i = 0; i < shapeproof_inventory_count(here); i++) {
        const size_t other = shapeproof_diff_counterpart(both->diff, side, i);
        const bool alone = shapeproof_diff_is_alone(both->diff, side, i);
        assert_false(alone && other != SHAPEPROOF_NONE);
        sp_text_printf(&text, "%s%s=%s", i ? " " : "", shapeproof_inventory_tensor(here, i)->name,
                       other != SHAPEPROOF_NONE ? shapeproof_inventory_tensor(there, other)->name
                       : alone                  ? "alone"
                                                : "-");
    }
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
}

static void counterparts(void **state)
{
    struct both both = compare("e F32 8x2 s\nhead F32 8x2 s\nd.kernel F32 4x3\nq.q.weight F32 4x4\ngone F32 5",
                               "new F32 7x2\nd.weight F32 3x4\ne F32 8x2");
    (void)state;
    assert_ptr_equal(shapeproof_diff_inventory(both.diff, SHAPEPROOF_DIFF_A), both.a);
    assert_ptr_equal(shapeproof_diff_inventory(both.diff, SHAPEPROOF_DIFF_B), both.b);
    assert_side(&both, SHAPEPROOF_DIFF_A, "e=e head=- d.kernel=d.weight q.q.weight=alone gone=alone");
    assert_side(&both, SHAPEPROOF_DIFF_B, "new=alone d.weight=d.kernel e=e");
    assert_false(shapeproof_diff_is_converted(both.diff, 0));
    assert_true(shapeproof_diff_is_converted(both.diff, 2));
    assert_false(shapeproof_diff_is_converted(both.diff, 4));
    assert_false(shapeproof_diff_totals(both.diff)->data);
    done(&both);
    both =
        compare("h.0.a.q.weight F32 4x4\nh.0.a.k.weight F32 2x4\nh.0.a.v.weight F32 2x4", "h.0.a.qkv.weight F32 8x4");
    assert_side(&both, SHAPEPROOF_DIFF_A, "h.0.a.q.weight=alone h.0.a.k.weight=alone h.0.a.v.weight=alone");
    assert_side(&both, SHAPEPROOF_DIFF_B, "h.0.a.qkv.weight=alone");
    done(&both);
}

/* Groups stand for all findings, and each for as many as it says. */
static void groups(void **state)
{
    struct both both = compare("h.0.w F32 2\nh.1.w F32 2\nh.2.w F32 3\nx F32 4", "x F32 5");
    size_t sum = 0;
    (void)state;
    assert_int_equal(shapeproof_diff_group_count(both.diff), 3);
    for (size_t i = 0; i < shapeproof_diff_group_count(both.diff); i++)
        sum += shapeproof_diff_group(both.diff, i)->count;
    assert_int_equal(sum, shapeproof_diff_finding_count(both.diff));
    const struct shapeproof_diff_group *group = shapeproof_diff_group(both.diff, 0);
    assert_string_equal(group->name, "h.{0,1}.w");
    assert_string_equal(group->first->message, "is in A alone: F32 (2)");
    done(&both);
}

/* ---- data, on files ---- */

static char *diff_files(const char *a, const char *b)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *in_a = shapeproof_inventory_open(a, &error),
                                *in_b = shapeproof_inventory_open(b, &error);
    if (!in_a || !in_b) fail_msg("%s", error.message);
    struct shapeproof_diff *diff =
        shapeproof_diff_new(in_a, in_b, &(struct shapeproof_diff_options){.data = true}, &error);
    if (!diff) fail_msg("%s", error.message);
    char *summary = strdup(shapeproof_diff_summary(diff));
    assert_int_equal(shapeproof_diff_is_same(diff), strncmp(summary, "all ", 4) == 0);
    assert_true(shapeproof_diff_totals(diff)->data);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(in_a);
    shapeproof_inventory_close(in_b);
    return summary;
}

static void data_across_formats(void **state)
{
    static const struct {
        const char *a, *b, *summary;
    } cases[] = {
        {"cross/five.pt", "cross/five.h5", "all 5 tensors, 14 elements, byte for byte"},
        {"cross/five.h5", "cross/five.safetensors", "all 5 tensors, 14 elements, byte for byte"},
        {"cross/five.pt", "cross/five.gguf", "all 5 tensors, 14 elements, byte for byte"},
        {"models/tiny-gpt2", "models/tiny-gpt2-sharded", "all 28 tensors, 7,872 elements, byte for byte"},
        {"torch/ok/module.pt", "torch/ok/legacy_module.pt", "all 17 tensors, 48 elements, byte for byte"},
        {"torch/ok/deflated.pt", "torch/ok/flat.pt", "3 tensors not compared: a.{weight,bias}, n"},
        {"hdf5/ok/plain.h5", "hdf5/ok/plain.h5", "all 2 tensors, 6 elements, byte for byte"},
        {"torch/ok/shapes.pt", "torch/ok/shapes.pt", "2 tensors not compared: expanded, slice"},
        {"keras/ok/fitted.keras", "keras/ok/deflated.keras",
         "22 tensors not compared: layers/batch_normalization/vars/{0-3}, layers/dense/vars/{0,1}, "
         "layers/dense_1/vars/{0,1} and 14 more"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char a[128], b[128];
        snprintf(a, sizeof a, "fixtures/%s", cases[i].a);
        snprintf(b, sizeof b, "fixtures/%s", cases[i].b);
        char *summary = diff_files(a, b);
        assert_string_equal(summary, cases[i].summary);
        free(summary);
    }
}

/* One bit in the last tensor of a copy. */
static void one_bit(void **state)
{
    char path[] = "/tmp/shapeproof-diff-XXXXXX", bytes[512];
    const int in = open("fixtures/cross/five.safetensors", O_RDONLY), out = mkstemp(path);
    (void)state;
    const ssize_t length = read(in, bytes, sizeof bytes);
    assert_true(length > 0 && out >= 0);
    bytes[length - 1] ^= 1; /* of "half", which is the last */
    assert_int_equal(write(out, bytes, (size_t)length), length);
    close(in);
    close(out);
    char *summary = diff_files("fixtures/cross/five.pt", path);
    assert_string_equal(
        summary,
        "half has other data, 1 of 4 elements differs by at most 0.25 (relative error 0.12), first at element 3");
    free(summary);
    unlink(path);
}

/* A file of one vector of two elements. */
static void write_pair(char *path, const char *dtype, const void *data, size_t bytes)
{
    char header[128];
    const int file = mkstemp(path);
    const uint64_t length =
        (uint64_t)snprintf(header, sizeof header,
                           "{\"w\": {\"dtype\": \"%s\", \"shape\": [2], \"data_offsets\": [0, %zu]}}", dtype, bytes);
    assert_int_equal(write(file, &length, sizeof length), sizeof length);
    assert_int_equal(write(file, header, length), length);
    assert_int_equal(write(file, data, bytes), bytes);
    close(file);
}

/* The greatest number of F16 is 65504: 65519 is rounded to it, while 65520 and all above become infinite, which is no
 * rounding. A number that was infinite before is the same. */
static void overflow(void **state)
{
    static const struct {
        float wide;
        uint16_t half;
        const char *summary;
    } cases[] = {{65519, 0x7bff, "w F32 in A, F16 in B"},
                 {65520, 0x7c00,
                  "1 tensor with other data (w: 1 of 2 elements differs, first at element 1; 1 NaN or infinite in B "
                  "alone), 1 of another dtype"},
                 {-70000, 0xfc00,
                  "1 tensor with other data (w: 1 of 2 elements differs, first at element 1; 1 NaN or infinite in B "
                  "alone), 1 of another dtype"},
                 {(float)INFINITY, 0x7c00, "w F32 in A, F16 in B"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char a[] = "/tmp/shapeproof-diff-XXXXXX", b[] = "/tmp/shapeproof-diff-XXXXXX";
        const float wide[] = {0.1F, cases[i].wide}; /* the first is rounded in any case */
        const uint16_t half[] = {0x2e66, cases[i].half};
        write_pair(a, "F32", wide, sizeof wide);
        write_pair(b, "F16", half, sizeof half);
        char *summary = diff_files(a, b);
        assert_string_equal(summary, cases[i].summary);
        free(summary);
        unlink(a);
        unlink(b);
    }
}

/* A matrix of F16, zero but for its last element, in a sparse file of safetensors. */
static void write_matrix(const char *path, unsigned rows, unsigned columns, uint16_t last)
{
    const uint64_t bytes = (uint64_t)rows * columns * 2;
    char header[256];
    const int length = snprintf(
        header, sizeof header, "{\"w\": {\"dtype\": \"F16\", \"shape\": [%u, %u], \"data_offsets\": [0, %" PRIu64 "]}}",
        rows, columns, bytes);
    const uint64_t size = (uint64_t)length;
    const int file = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(pwrite(file, &size, sizeof size, 0), sizeof size);
    assert_int_equal(pwrite(file, header, size, sizeof size), length);
    assert_int_equal(pwrite(file, &last, sizeof last, (off_t)(sizeof size + size + bytes - sizeof last)), sizeof last);
    close(file);
}

/* Of 70 MB: more than is in memory at once. Its last element is in the last band. */
static void large_transposed_matrix(void **state)
{
    char a[] = "/tmp/shapeproof-diff-XXXXXX", b[] = "/tmp/shapeproof-diff-XXXXXX";
    (void)state;
    close(mkstemp(a));
    close(mkstemp(b));
    write_matrix(a, 5000, 7000, 0x3c00);
    write_matrix(b, 7000, 5000, 0x3c00);
    char *summary = diff_files(a, b);
    assert_string_equal(summary, "w (5000, 7000) in A, transposed (7000, 5000) in B");
    free(summary);
    write_matrix(b, 7000, 5000, 0);
    summary = diff_files(a, b);
    assert_string_equal(summary,
                        "1 tensor transposed (w), 1 with other data (w: 1 of 35,000,000 elements differs by at "
                        "most 1 (relative error 1), first at element 34999999)");
    free(summary);
    unlink(a);
    unlink(b);
}

/* Two elements to a byte: their order cannot be undone byte by byte. */
static void transposed_matrix_of_half_bytes(void **state)
{
    static const char header[] = "{\"w\": {\"dtype\": \"F4\", \"shape\": [%u, %u], \"data_offsets\": [0, 12]}}%.12s";
    char paths[2][28] = {"/tmp/shapeproof-diff-XXXXXX", "/tmp/shapeproof-diff-XXXXXX"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char text[128];
        const int file = mkstemp(paths[i]);
        const int length =
            snprintf(text, sizeof text, header, i ? 6 : 4, i ? 4 : 6, i ? "abcdefghijkl" : "mnopqrstuvwx");
        const uint64_t size = (uint64_t)length - 12;
        assert_int_equal(write(file, &size, sizeof size), sizeof size);
        assert_int_equal(write(file, text, (size_t)length), length);
        close(file);
    }
    char *summary = diff_files(paths[0], paths[1]);
    assert_string_equal(summary, "w (4, 6) in A, transposed (6, 4) in B");
    free(summary);
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *a = shapeproof_inventory_open(paths[0], &error),
                                *b = shapeproof_inventory_open(paths[1], &error);
    struct shapeproof_diff *diff = shapeproof_diff_new(a, b, &(struct shapeproof_diff_options){.data = true}, &error);
    assert_int_equal(shapeproof_diff_totals(diff)->data_compared, 0);
    shapeproof_diff_free(diff);
    shapeproof_inventory_close(a);
    shapeproof_inventory_close(b);
    unlink(paths[0]);
    unlink(paths[1]);
}

/* ---- size ---- */

static struct shapeproof_inventory *large(const char *format, unsigned layers, unsigned experts)
{
    struct shapeproof_inventory *inventory = sp_inventory_new("memory");
    struct shapeproof_error error = {0};
    static const uint64_t shape[] = {4, 4};
    sp_inventory_add_file(inventory, "memory");
    inventory->format = &format_safetensors;
    for (unsigned i = 0; i < layers * experts * 3; i++) {
        struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
        tensor->name = sp_arena_printf(&inventory->arena, format, i / 3 / experts, i / 3 % experts, "udg"[i % 3]);
        tensor->dtype = SHAPEPROOF_DTYPE_F32;
        tensor->dtype_name = "F32";
        tensor->shape = shape;
        tensor->rank = 2;
        sp_tensor_measure(tensor);
    }
    if (!sp_inventory_finish(inventory, &error)) fail_msg("%s", error.message);
    return inventory;
}

/* 46,080 tensors against as many, under the same names, others, and names that have nothing in common: were any
 * way through quadratic, this would take minutes. */
static void many_tensors(void **state)
{
    static const char *const formats[] = {"m.layers.%u.mlp.experts.%u.%c.w", "x.m.layers.%u.mlp.experts.%u.%c.w",
                                          "m.l%u.e%u.%c", "m.blocks.%u.ff.%u.%c_proj.w"};
    struct shapeproof_inventory *a = large(formats[0], 60, 256);
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct shapeproof_error error;
        struct shapeproof_inventory *b = large(formats[i], 60, 256);
        struct shapeproof_diff *diff = shapeproof_diff_new(a, b, NULL, &error);
        assert_int_equal(shapeproof_diff_totals(diff)->both, i < 2 ? 46080 : 0);
        shapeproof_diff_free(diff);
        shapeproof_inventory_close(b);
    }
    shapeproof_inventory_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal),
        cmocka_unit_test(changed),
        cmocka_unit_test(beginnings),
        cmocka_unit_test(renamed_and_changed),
        cmocka_unit_test(components),
        cmocka_unit_test(parametrised),
        cmocka_unit_test(spellings),
        cmocka_unit_test(joined),
        cmocka_unit_test(not_claimed),
        cmocka_unit_test(ties),
        cmocka_unit_test(state_is_no_difference),
        cmocka_unit_test(counterparts),
        cmocka_unit_test(groups),
        cmocka_unit_test(data_across_formats),
        cmocka_unit_test(one_bit),
        cmocka_unit_test(large_transposed_matrix),
        cmocka_unit_test(transposed_matrix_of_half_bytes),
        cmocka_unit_test(overflow),
        cmocka_unit_test(many_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
