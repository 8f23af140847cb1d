/* SPDX-License-Identifier: MIT
 * Writes safetensors files with the tensors of published models and no data: the header is real, the rest a hole.
 *
 *   make_safetensors gpt2|moe|lossy|million|unlike FILE */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct header {
    FILE *file;
    uint64_t end; /* of the data so far */
    const char *dtype;
    uint64_t dtype_bytes;
};

/* One matrix, or one vector when `columns` is 0. */
static void tensor(struct header *header, const char *name, uint64_t rows, uint64_t columns)
{
    const uint64_t begin = header->end;
    char shape[64];
    header->end += rows * (columns ? columns : 1) * header->dtype_bytes;
    snprintf(shape, sizeof shape, columns ? "%" PRIu64 ",%" PRIu64 : "%" PRIu64, rows, columns);
    fprintf(header->file, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
            begin ? "," : "", name, header->dtype, shape, begin, header->end);
}

/* "h.3.attn.c_attn.weight": a layer's tensor. */
static void layer(struct header *header, const char *format, unsigned i, unsigned j, uint64_t rows, uint64_t columns)
{
    char name[128];
    snprintf(name, sizeof name, format, i, j);
    tensor(header, name, rows, columns);
}

/* GPT-2 small: 148 tensors. */
static void gpt2(struct header *header)
{
    static const struct {
        const char *name;
        uint64_t rows, columns;
    } block[] = {
        {"h.%u.ln_1.weight", 768, 0},           {"h.%u.ln_1.bias", 768, 0},
        {"h.%u.attn.c_attn.weight", 768, 2304}, {"h.%u.attn.c_attn.bias", 2304, 0},
        {"h.%u.attn.c_proj.weight", 768, 768},  {"h.%u.attn.c_proj.bias", 768, 0},
        {"h.%u.ln_2.weight", 768, 0},           {"h.%u.ln_2.bias", 768, 0},
        {"h.%u.mlp.c_fc.weight", 768, 3072},    {"h.%u.mlp.c_fc.bias", 3072, 0},
        {"h.%u.mlp.c_proj.weight", 3072, 768},  {"h.%u.mlp.c_proj.bias", 768, 0},
    };
    *header = (struct header){.file = header->file, .dtype = "F32", .dtype_bytes = 4};
    tensor(header, "wte.weight", 50257, 768);
    tensor(header, "wpe.weight", 1024, 768);
    for (unsigned i = 0; i < 12; i++)
        for (size_t k = 0; k < sizeof block / sizeof *block; k++)
            layer(header, block[k].name, i, 0, block[k].rows, block[k].columns);
    tensor(header, "ln_f.weight", 768, 0);
    tensor(header, "ln_f.bias", 768, 0);
}

/* The experts of a large mixture: 60 layers x 256 experts x 3 = 46,080 tensors. */
static void moe(struct header *header)
{
    *header = (struct header){.file = header->file, .dtype = "BF16", .dtype_bytes = 2};
    for (unsigned i = 0; i < 60; i++)
        for (unsigned j = 0; j < 256; j++) {
            layer(header, "model.layers.%u.mlp.experts.%u.gate_proj.weight", i, j, 1536, 2048);
            layer(header, "model.layers.%u.mlp.experts.%u.up_proj.weight", i, j, 1536, 2048);
            layer(header, "model.layers.%u.mlp.experts.%u.down_proj.weight", i, j, 2048, 1536);
        }
}

/* 60 layers x 512 experts x 3, of which the first 20 layers lack one: 81,920 of 92,160 tensors, and no others. */
static void lossy(struct header *header)
{
    *header = (struct header){.file = header->file, .dtype = "BF16", .dtype_bytes = 2};
    for (unsigned i = 0; i < 60; i++)
        for (unsigned j = 0; j < 512; j++) {
            layer(header, "model.layers.%u.mlp.experts.%u.gate_proj.weight", i, j, 768, 2048);
            if (i >= 20) layer(header, "model.layers.%u.mlp.experts.%u.up_proj.weight", i, j, 768, 2048);
            layer(header, "model.layers.%u.mlp.experts.%u.down_proj.weight", i, j, 2048, 768);
        }
}

/* As many tensors as fit into a header of 96 MB, which is nearly the limit: 1,085,000. */
static void million(struct header *header)
{
    *header = (struct header){.file = header->file, .dtype = "F32", .dtype_bytes = 4};
    for (unsigned i = 0; i < 1085; i++)
        for (unsigned j = 0; j < 1000; j++) layer(header, "h.%u.mlp.%u.weight", i, j, 2, 2);
}

/* 100,000 tensors whose names have nothing in common: three words of 12 letters each. */
static void unlike(struct header *header)
{
    uint32_t state = 1;
    char name[40];
    *header = (struct header){.file = header->file, .dtype = "U8", .dtype_bytes = 1};
    for (unsigned i = 0; i < 100000; i++) {
        for (unsigned k = 0; k < 38; k++) {
            state = state * 1664525 + 1013904223; /* a linear congruential generator (Numerical Recipes) */
            name[k] = k % 13 == 12 ? '.' : (char)('a' + (state >> 16) % 26);
        }
        name[38] = '\0';
        tensor(header, name, 1 + i % 7, 0);
    }
}

/* The header's length stands in front of it as 8 little-endian bytes, and is known last. */
static int write_file(const char *path, void (*fill)(struct header *header))
{
    struct header header = {.file = fopen(path, "wb")};
    unsigned char length[8] = {0};
    if (!header.file) return 1;
    fwrite(length, 1, sizeof length, header.file);
    fputc('{', header.file);
    fill(&header);
    fputc('}', header.file);
    const long size = ftell(header.file) - (long)sizeof length;
    for (unsigned i = 0; i < sizeof length; i++) length[i] = (unsigned char)((uint64_t)size >> (8 * i));
    rewind(header.file);
    fwrite(length, 1, sizeof length, header.file);
    const int failed = fflush(header.file) || ftruncate(fileno(header.file), (off_t)header.end + size + 8);
    return fclose(header.file) || failed;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*fill)(struct header *);
    } models[] = {{"gpt2", gpt2}, {"moe", moe}, {"lossy", lossy}, {"million", million}, {"unlike", unlike}};
    for (size_t i = 0; argc == 3 && i < sizeof models / sizeof *models; i++) {
        if (strcmp(argv[1], models[i].name) != 0) continue;
        if (!write_file(argv[2], models[i].fill)) return 0;
        perror(argv[2]);
        return 1;
    }
    fprintf(stderr, "usage: make_safetensors gpt2|moe|lossy|million|unlike FILE\n");
    return 2;
}
