/* SPDX-License-Identifier: MIT
 * As gguf-py's quants.py and ggml-quants.c have it. A value is `step` times a code, plus an offset. The quantisers of
 * Q8_0, Q4_K, Q5_K and Q6_K take the nearest code at the end, so that what was stored lies within half a step. The
 * others may fit the step to the importance of the elements after they have chosen the codes: the intervals are as wide
 * as ggml-quants.c needs for importances and data of many kinds. What lies outside of all codes gets the first or the
 * last one, so beyond these the interval is wider. */
#include "stored/ggml_blocks.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model/values.h"

/* In steps, how far a quantiser may be from what it stores. */
#define NEAREST 0.5F /* it takes the nearest code */
#define WHOLE 1.0F
#define FITTED 3.5F /* it fits the step later */
/* In ranges of all codes, how far outside of them an outlier may be that the quantiser gives up. */
#define CLIPPED 6.0F
/* How much larger than the codes of the smallest scale what it loses may be: that scale is rounded itself. */
#define LOST 1.25F

/* Where a code is among the codes of its type. */
enum end { LAST_BELOW = -1, BETWEEN = 0, LAST_ABOVE = 1 };

static float half_at(const unsigned char *bytes) { return (float)sp_value_of(SHAPEPROOF_DTYPE_F16, bytes); }

/* Of a number that was rounded to F16: 11 bits, or a multiple of 2^-24. */
static float rounding_of(float half) { return fmaxf(fabsf(half) * 0x1p-11F, 0x1p-25F); }

/* `error` is how far the element may have been from the value; `beyond` how much farther, in the direction in which
 * there is no further code. */
static void put(struct sp_restored *into, float value, float error, float beyond, int end)
{
    *into = (struct sp_restored){value, value - error, value + error};
    if (end < 0) into->low -= beyond;
    if (end > 0) into->high += beyond;
}

/* Of codes that are multiplied by a step: `least` to `most`, those at the ends included. */
static void put_code(struct sp_restored *into, float step, float offset, int code, int least, int most, float error)
{
    const int end = code == least ? LAST_BELOW : code == most ? LAST_ABOVE : BETWEEN;
    put(into, step * (float)code + offset, error, fabsf(step) * CLIPPED * (float)(most - least), step < 0 ? -end : end);
}

/* ---- 32 elements with one scale, or a scale and a minimum ---- */

static void restore_q8_0(const unsigned char *block, struct sp_restored *into)
{
    const float step = half_at(block);
    for (size_t i = 0; i < 32; i++) {
        const int code = (signed char)block[2 + i];
        const float error = fabsf(step) * NEAREST + (float)(code < 0 ? -code : code) * rounding_of(step);
        put(&into[i], step * (float)code, error, 0, BETWEEN);
    }
}

/* The low four bits of 16 bytes are the first elements, the high ones the others. */
static int nibble(const unsigned char *bytes, size_t i) { return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4; }

static int bit(const unsigned char *bytes, size_t i) { return bytes[i / 8] >> (i % 8) & 1; }

static void restore_q4_0(const unsigned char *block, struct sp_restored *into)
{
    const float step = half_at(block), error = fabsf(step) * FITTED + 8 * rounding_of(step);
    for (size_t i = 0; i < 32; i++) put_code(&into[i], step, 0, nibble(block + 2, i) - 8, -8, 7, error);
}

static void restore_q4_1(const unsigned char *block, struct sp_restored *into)
{
    const float step = half_at(block), offset = half_at(block + 2);
    const float error = fabsf(step) * FITTED + 15 * rounding_of(step) + rounding_of(offset);
    for (size_t i = 0; i < 32; i++) put_code(&into[i], step, offset, nibble(block + 4, i), 0, 15, error);
}

static void restore_q5_0(const unsigned char *block, struct sp_restored *into)
{
    const float step = half_at(block), error = fabsf(step) * FITTED + 16 * rounding_of(step);
    for (size_t i = 0; i < 32; i++)
        put_code(&into[i], step, 0, (nibble(block + 6, i) | bit(block + 2, i) << 4) - 16, -16, 15, error);
}

static void restore_q5_1(const unsigned char *block, struct sp_restored *into)
{
    const float step = half_at(block), offset = half_at(block + 2);
    const float error = fabsf(step) * FITTED + 31 * rounding_of(step) + rounding_of(offset);
    for (size_t i = 0; i < 32; i++)
        put_code(&into[i], step, offset, nibble(block + 8, i) | bit(block + 4, i) << 4, 0, 31, error);
}

/* ---- 256 elements, whose parts have scales that are codes themselves ---- */

/* How far an element may be from its value. `codes` and `parts` are the largest codes of an element and of the scale of
 * a part. Where that scale is rounded to 0, the elements are lost: they were within the codes of the smallest one. What
 * the common scale loses when it is rounded to F16 below its normal numbers, as it is for most weights, is lost for all
 * codes. */
static float error_of(float step, float scale, float steps, int codes, int parts)
{
    const float rounding = fabsf(scale) < 0x1p-14F ? 0x1p-25F * (float)(codes * parts) : 0;
    return rounding + ((step < 0 || step > 0) ? fabsf(step) * steps : fabsf(scale) * steps * LOST * (float)codes);
}

static void restore_q2_k(const unsigned char *block, struct sp_restored *into)
{
    const unsigned char *scales = block, *codes = block + 16;
    const float scale = half_at(block + 80), minimum = half_at(block + 82);
    for (size_t i = 0; i < 256; i++) {
        const unsigned part = scales[i / 16];
        const float step = scale * (float)(part & 15), offset = -minimum * (float)(part >> 4);
        const int code = codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
        const float error = error_of(step, scale, FITTED, 3, 15) + fabsf(scale) + fabsf(minimum);
        put_code(&into[i], step, offset, code, 0, 3, error);
    }
}

/* Six bits: the low four in the first eight bytes, the high two in the last four. */
static int scale_of_q3_k(const unsigned char *scales, size_t part)
{
    const int low = part < 8 ? scales[part] & 15 : scales[part - 8] >> 4;
    const int high = scales[8 + part % 4] >> (part / 4 * 2) & 3;
    return (low | high << 4) - 32;
}

static void restore_q3_k(const unsigned char *block, struct sp_restored *into)
{
    const unsigned char *high = block, *codes = block + 32, *scales = block + 96;
    const float scale = half_at(block + 108);
    for (size_t i = 0; i < 256; i++) {
        const float step = scale * (float)scale_of_q3_k(scales, i / 16);
        const int low = codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
        const int code = low - (high[i % 32] >> (i / 32) & 1 ? 0 : 4);
        put_code(&into[i], step, 0, code, -4, 3, error_of(step, scale, WHOLE, 4, 32));
    }
}

/* Of Q4_K and Q5_K, eight scales and minima of six bits: of the first four in the first bytes, of the others four bits
 * in the last bytes, and two in the first. */
static void scales_of_k(const unsigned char *packed, size_t part, int *scale, int *minimum)
{
    if (part < 4) {
        *scale = packed[part] & 63;
        *minimum = packed[part + 4] & 63;
        return;
    }
    *scale = (packed[part + 4] & 15) | (packed[part - 4] >> 6) << 4;
    *minimum = packed[part + 4] >> 4 | (packed[part] >> 6) << 4;
}

/* Q4_K, and Q5_K with a fifth bit of each code in `high`. */
static void restore_with_minima(const unsigned char *block, const unsigned char *high, const unsigned char *codes,
                                struct sp_restored *into)
{
    const float scale = half_at(block), minimum = half_at(block + 2);
    const int most = high ? 31 : 15;
    for (size_t i = 0; i < 256; i++) {
        int part_scale, part_minimum;
        scales_of_k(block + 4, i / 32, &part_scale, &part_minimum);
        const float step = scale * (float)part_scale, offset = -minimum * (float)part_minimum;
        const int low = i / 32 % 2 ? codes[i / 64 * 32 + i % 32] >> 4 : codes[i / 64 * 32 + i % 32] & 15;
        const int code = low | (high ? (high[i % 32] >> (i / 32) & 1) << 4 : 0);
        const float error =
            error_of(step, scale, NEAREST, most, 63) + error_of(0, minimum, step > 0 ? 0 : NEAREST, 1, 63);
        put_code(&into[i], step, offset, code, 0, most, error);
    }
}

static void restore_q4_k(const unsigned char *block, struct sp_restored *into)
{
    restore_with_minima(block, NULL, block + 16, into);
}

static void restore_q5_k(const unsigned char *block, struct sp_restored *into)
{
    restore_with_minima(block, block + 16, block + 48, into);
}

static void restore_q6_k(const unsigned char *block, struct sp_restored *into)
{
    const unsigned char *low = block, *high = block + 128, *scales = block + 192;
    const float scale = half_at(block + 208);
    for (size_t i = 0; i < 256; i++) {
        const size_t half = i / 128, own = i % 128;
        const float step = scale * (float)(signed char)scales[i / 16];
        const unsigned nibbles = low[half * 64 + own % 64];
        const unsigned top = high[half * 32 + own % 32] >> (own / 32 * 2) & 3;
        const int code = (int)((own < 64 ? nibbles & 15 : nibbles >> 4) | top << 4) - 32;
        put_code(&into[i], step, 0, code, -32, 31, error_of(step, scale, NEAREST, 32, 127));
    }
}

/* ---- codes of a list of values ---- */

/* Of a value in an ascending list: half way to its neighbours, or all the way. */
static void put_listed(struct sp_restored *into, const float *list, size_t count, size_t code, float step, float way)
{
    const float value = list[code] * step;
    const float below = code ? list[code - 1] * step : value - fabsf(list[count - 1] - list[0]) * step;
    const float above = code + 1 < count ? list[code + 1] * step : value + fabsf(list[count - 1] - list[0]) * step;
    const float one = value + (below - value) * (code ? way : 1),
                other = value + (above - value) * (code + 1 < count ? way : 1);
    *into = (struct sp_restored){value, fminf(one, other), fmaxf(one, other)};
}

static void widen(struct sp_restored *into, float error)
{
    into->low -= error;
    into->high += error;
}

static const float iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static void restore_iq4_nl(const unsigned char *block, struct sp_restored *into)
{
    const float step = half_at(block);
    for (size_t i = 0; i < 32; i++) {
        put_listed(&into[i], iq4_values, 16, (size_t)nibble(block + 2, i), step, WHOLE);
        widen(&into[i], rounding_of(step) * 127);
    }
}

static void restore_iq4_xs(const unsigned char *block, struct sp_restored *into)
{
    const unsigned char *low = block + 4, *codes = block + 8;
    const unsigned high = (unsigned)(block[2] | block[3] << 8);
    const float scale = half_at(block);
    for (size_t i = 0; i < 256; i++) {
        const size_t part = i / 32;
        const int own = (low[part / 2] >> (part % 2 * 4) & 15) | (int)(high >> (2 * part) & 3) << 4;
        const float step = scale * (float)(own - 32);
        put_listed(&into[i], iq4_values, 16, (size_t)nibble(codes + part * 16, i % 32), step, WHOLE);
        widen(&into[i], error_of(step, scale, own == 32 ? WHOLE : 0, 127, 32));
    }
}

/* Twice the values of E2M1, in ascending order, and the place of each code among them; -0 is 0. */
static const float e2m1_values[15] = {-12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12};
static const unsigned char e2m1_places[16] = {7, 8, 9, 10, 11, 12, 13, 14, 7, 6, 5, 4, 3, 2, 1, 0};

static void restore_mxfp4(const unsigned char *block, struct sp_restored *into)
{
    const float step = ldexpf(1, block[0] - 128); /* half of what E8M0 has, for the values are doubled */
    for (size_t i = 0; i < 32; i++)
        put_listed(&into[i], e2m1_values, 15, e2m1_places[nibble(block + 1, i)], step, NEAREST);
}

/* ---- all of them ---- */

const struct sp_ggml_block *sp_ggml_block(const char *dtype_name)
{
    static const struct sp_ggml_block blocks[] = {
        {"Q4_0", 32, 18, restore_q4_0},   {"Q4_1", 32, 20, restore_q4_1},     {"Q5_0", 32, 22, restore_q5_0},
        {"Q5_1", 32, 24, restore_q5_1},   {"Q8_0", 32, 34, restore_q8_0},     {"Q2_K", 256, 84, restore_q2_k},
        {"Q3_K", 256, 110, restore_q3_k}, {"Q4_K", 256, 144, restore_q4_k},   {"Q5_K", 256, 176, restore_q5_k},
        {"Q6_K", 256, 210, restore_q6_k}, {"IQ4_NL", 32, 18, restore_iq4_nl}, {"IQ4_XS", 256, 136, restore_iq4_xs},
        {"MXFP4", 32, 17, restore_mxfp4},
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (dtype_name && strcmp(blocks[i].name, dtype_name) == 0) return &blocks[i];
    return NULL;
}
