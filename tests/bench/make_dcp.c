/* SPDX-License-Identifier: MIT
 * Writes a distributed checkpoint of PyTorch as many ranks would: its .metadata, and files that are holes.
 *
 *   make_dcp FOLDER FILES TENSORS CHUNKS      (CHUNKS for each tensor, in turn in one file after the other) */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 64, COLUMNS = 128, BYTES = ROWS * COLUMNS * 2 + 1000 };

#define MODULE "torch.distributed.checkpoint.metadata\n"

static void put_text(FILE *out, const char *text)
{
    const uint32_t length = (uint32_t)strlen(text);
    fputc('X', out);
    for (int i = 0; i < 4; i++) fputc((int)(length >> 8 * i & 0xff), out);
    fputs(text, out);
}

static void put_number(FILE *out, uint64_t number)
{
    fputs("\x8a\x08", out);
    for (int i = 0; i < 8; i++) fputc((int)(number >> 8 * i & 0xff), out);
}

static void put_size(FILE *out, const char *key, uint64_t rows, uint64_t columns)
{
    if (key) put_text(out, key);
    fputs("ctorch\nSize\n", out);
    put_number(out, rows);
    put_number(out, columns);
    fputs("\x86\x85R", out);
}

static void put_tensor(FILE *out, const char *name, unsigned chunks)
{
    put_text(out, name);
    fputs("c" MODULE "TensorStorageMetadata\n)\x81}(", out);
    put_text(out, "properties");
    fputs("c" MODULE "TensorProperties\n)\x81(ctorch\nbfloat16\ntb", out);
    put_size(out, "size", (uint64_t)ROWS * chunks, COLUMNS);
    put_text(out, "chunks");
    fputs("](", out);
    for (unsigned i = 0; i < chunks; i++) {
        fputs("c" MODULE "ChunkStorageMetadata\n)\x81}(", out);
        put_size(out, "offsets", (uint64_t)ROWS * i, 0);
        put_size(out, "sizes", ROWS, COLUMNS);
        fputs("ub", out);
    }
    fputs("eub", out);
}

static void put_place(FILE *out, const char *name, unsigned chunk, unsigned file, uint64_t offset)
{
    char path[64];
    snprintf(path, sizeof path, "__%u_0.distcp", file);
    fputs("c" MODULE "MetadataIndex\n)\x81}(", out);
    put_text(out, "fqn");
    put_text(out, name);
    put_size(out, "offset", (uint64_t)ROWS * chunk, 0);
    put_text(out, "index");
    put_number(out, chunk);
    fputs("ubctorch.distributed.checkpoint.filesystem\n_StorageInfo\n)\x81}(", out);
    put_text(out, "relative_path");
    put_text(out, path);
    put_text(out, "offset");
    put_number(out, offset);
    put_text(out, "length");
    put_number(out, BYTES);
    fputs("ub", out);
}

static void name_of(char name[64], unsigned tensor)
{
    snprintf(name, 64, "model.layers.%u.part_%u.weight", tensor / 9, tensor % 9);
}

int main(int argc, char **argv)
{
    char name[64], path[4096];
    if (argc != 5) return 2;
    const unsigned files = (unsigned)atoi(argv[2]), tensors = (unsigned)atoi(argv[3]), chunks = (unsigned)atoi(argv[4]);
    uint64_t *ends = calloc(files, sizeof *ends);
    mkdir(argv[1], 0777);
    snprintf(path, sizeof path, "%s/.metadata", argv[1]);
    FILE *out = fopen(path, "wb");
    if (!out || !ends) return 1;
    fputs("\x80\x02"
          "c" MODULE "Metadata\n)\x81}(",
          out);
    put_text(out, "state_dict_metadata");
    fputs("}(", out);
    for (unsigned t = 0; t < tensors; t++) {
        name_of(name, t);
        put_tensor(out, name, chunks);
    }
    fputs("u", out);
    put_text(out, "storage_data");
    fputs("}(", out);
    for (unsigned t = 0, next = 0; t < tensors; t++) {
        name_of(name, t);
        for (unsigned c = 0; c < chunks; c++, next++) {
            put_place(out, name, c, next % files, ends[next % files]);
            ends[next % files] += BYTES;
        }
    }
    fputs("uub.", out);
    if (fclose(out)) return 1;
    for (unsigned f = 0; f < files; f++) {
        snprintf(path, sizeof path, "%s/__%u_0.distcp", argv[1], f);
        FILE *file = fopen(path, "wb");
        if (!file || ftruncate(fileno(file), (off_t)ends[f]) || fclose(file)) return 1;
    }
    free(ends);
    return 0;
}
