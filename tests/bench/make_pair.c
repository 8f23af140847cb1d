/* SPDX-License-Identifier: MIT
 * Writes two checkpoints with the same weights, without holes, for the speed of `diff --data`:
 *
 *   make_pair same|widened|rounded|transposed|rotary MIB A B
 *
 * The larger of the two has about MIB mebibytes. A is always safetensors with BF16, but "rounded" and "transposed" have
 * F32. B is safetensors too: the same bytes, F32 widened from BF16, BF16 rounded from F32, or matrices transposed.
 * "rotary" has queries and keys only, and B is GGUF with the rows of each head in pairs, as llama.cpp has them. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2048, COLUMNS = 8192, HEADS = 16, ALIGNMENT = 32 /* of GGUF */ };

enum order { PLAIN, TRANSPOSED, PAIRED };

struct kind {
    const char *name;
    bool wide_a, wide_b; /* F32, otherwise BF16 */
    enum order order;    /* of B */
};

static const struct kind kinds[] = {{"same", false, false, PLAIN},
                                    {"widened", false, true, PLAIN},
                                    {"rounded", true, false, PLAIN},
                                    {"transposed", true, true, TRANSPOSED},
                                    {"rotary", false, false, PAIRED}};

/* The bits of an F32 between 2^-17 and 1 of either sign, by its place: a mixing function (Murmur3's finalizer). */
static uint32_t bits_of(uint64_t place)
{
    uint64_t x = place + 1;
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    x ^= x >> 33;
    return (uint32_t)(x & 0x807fffff) | (uint32_t)(110 + (x >> 40 & 15)) << 23;
}

static uint16_t rounded(uint32_t bits) { return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); }

/* The place in A of an element of B. */
static uint64_t place_in_a(enum order order, uint64_t row, uint64_t column)
{
    const uint64_t head = ROWS / HEADS, own = row % head;
    if (order == TRANSPOSED) return column * ROWS + row;
    if (order == PAIRED) row = row - own + own % 2 * (head / 2) + own / 2;
    return row * COLUMNS + column;
}

static void write_matrix(FILE *file, uint64_t tensor, enum order order, bool wide, bool wide_source)
{
    static uint32_t wide_row[COLUMNS];
    static uint16_t narrow_row[COLUMNS];
    for (uint64_t row = 0; row < ROWS; row++) {
        for (uint64_t k = 0; k < COLUMNS; k++) {
            const uint32_t bits = bits_of(tensor * ROWS * COLUMNS + place_in_a(order, row, k));
            narrow_row[k] = rounded(bits);
            wide_row[k] = wide_source ? bits : (uint32_t)narrow_row[k] << 16;
        }
        if (wide) fwrite(wide_row, sizeof *wide_row, COLUMNS, file);
        else fwrite(narrow_row, sizeof *narrow_row, COLUMNS, file);
    }
}

static void write_safetensors(const char *path, const struct kind *kind, uint64_t tensors, bool is_b)
{
    FILE *file = fopen(path, "wb");
    const bool wide = is_b ? kind->wide_b : kind->wide_a, is_tall = !is_b && kind->order == TRANSPOSED;
    const uint64_t size = (uint64_t)ROWS * COLUMNS * (wide ? 4 : 2);
    char *header = malloc(tensors * 200 + 200);
    size_t length = 1;
    if (!file || !header) exit(1);
    header[0] = '{';
    for (uint64_t i = 0; i < tensors; i++)
        length += (size_t)sprintf(header + length,
                                  "%s\"model.layers.%" PRIu64 ".self_attn.%c_proj.weight\":{\"dtype\":\"%s\",\"shape\":"
                                  "[%d,%d],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
                                  i ? "," : "", i / 2, i % 2 ? 'k' : 'q', wide ? "F32" : "BF16",
                                  is_tall ? COLUMNS : ROWS, is_tall ? ROWS : COLUMNS, i * size, (i + 1) * size);
    header[length++] = '}';
    const uint64_t prefix = length; /* little-endian, as all that this writes */
    fwrite(&prefix, sizeof prefix, 1, file);
    fwrite(header, 1, length, file);
    /* Of A the elements are in the order of their numbers, whatever its rows are. */
    for (uint64_t i = 0; i < tensors; i++) write_matrix(file, i, is_b ? kind->order : PLAIN, wide, kind->wide_a);
    free(header);
    if (fclose(file) != 0) exit(1);
}

/* ---- GGUF ---- */

static void put_u32(FILE *file, uint32_t value) { fwrite(&value, sizeof value, 1, file); }
static void put_u64(FILE *file, uint64_t value) { fwrite(&value, sizeof value, 1, file); }

static void put_string(FILE *file, const char *text)
{
    put_u64(file, strlen(text));
    fwrite(text, 1, strlen(text), file);
}

static void write_gguf(const char *path, uint64_t tensors)
{
    enum { TYPE_U32 = 4, TYPE_STRING = 8, GGML_BF16 = 30 };
    static const char *const counts[] = {"llama.attention.head_count", "llama.attention.head_count_kv"};
    FILE *file = fopen(path, "wb");
    if (!file) exit(1);
    fwrite("GGUF", 1, 4, file);
    put_u32(file, 3);
    put_u64(file, tensors);
    put_u64(file, 3);
    put_string(file, "general.architecture");
    put_u32(file, TYPE_STRING);
    put_string(file, "llama");
    for (size_t i = 0; i < 2; i++) {
        put_string(file, counts[i]);
        put_u32(file, TYPE_U32);
        put_u32(file, HEADS);
    }
    for (uint64_t i = 0; i < tensors; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%" PRIu64 ".attn_%c.weight", i / 2, i % 2 ? 'k' : 'q');
        put_string(file, name);
        put_u32(file, 2);
        put_u64(file, COLUMNS);
        put_u64(file, ROWS);
        put_u32(file, GGML_BF16);
        put_u64(file, i * ROWS * COLUMNS * 2);
    }
    while (ftell(file) % ALIGNMENT) fputc(0, file);
    for (uint64_t i = 0; i < tensors; i++) write_matrix(file, i, PAIRED, false, false);
    if (fclose(file) != 0) exit(1);
}

int main(int argc, char **argv)
{
    const struct kind *kind = NULL;
    for (size_t i = 0; argc == 5 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0) kind = &kinds[i];
    const uint64_t mib = kind ? strtoull(argv[2], NULL, 10) : 0;
    if (!mib || mib > 1 << 20) {
        fprintf(stderr, "usage: make_pair same|widened|rounded|transposed|rotary MIB A B\n");
        return 2;
    }
    const uint64_t each = (uint64_t)ROWS * COLUMNS * (kind->wide_a || kind->wide_b ? 4 : 2);
    const uint64_t tensors = (mib << 20) / each ? (mib << 20) / each : 1;
    write_safetensors(argv[3], kind, tensors, false);
    if (kind->order == PAIRED) write_gguf(argv[4], tensors);
    else write_safetensors(argv[4], kind, tensors, true);
    return 0;
}
