/* SPDX-License-Identifier: MIT
 * The list of readers, and the choice among them by content. */
#include "read/reader.h"

#include <string.h>

#include "read/lookalike.h"

/* clang-format off */
static const struct sp_reader *const readers[] = {
    &sp_reader_archive,
    &sp_reader_torch_legacy,
    &sp_reader_hdf5,
    &sp_reader_mxnet,
    &sp_reader_npy,
    &sp_reader_onnx,
    &sp_reader_flax,
    &sp_reader_tensorflow,
    &sp_reader_safetensors,
    &sp_reader_gguf,
};
/* clang-format on */

/* Files that people mistake for checkpoints, named so that the message helps. */
static const struct {
    const char *magic;
    size_t length;
    const char *what;
} lookalikes[] = {
    {"version https://git-lfs", 23, "a git-lfs pointer, not the file itself (run 'git lfs pull')"},
    {"<!DOCTYPE", 9, "an HTML page: the download failed"},
    {"<html", 5, "an HTML page: the download failed"},
    {"\x1f\x8b", 2, "gzip-compressed: unpack it first"},
    {"\x28\xb5\x2f\xfd", 4, "zstd-compressed: unpack it first"},
    {"PYTORCH1", 8, "a PyTorch container from before 1.0, which this version does not read"},
    {"PK\5\6", 4, "an empty zip archive"},
    {"\x89PNG", 4, "a PNG picture"},
    {"\x80\2", 2, "a bare pickle, not a file of torch.save"},
    {"\x80\3", 2, "a bare pickle, not a file of torch.save"},
    {"\x80\4", 2, "a bare pickle, not a file of torch.save"},
    {"\x80\5", 2, "a bare pickle, not a file of torch.save"},
};

enum { TAR_MAGIC_OFFSET = 257 };

static const char *lookalike(const struct sp_probe *probe)
{
    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
        if (probe->head_length >= lookalikes[i].length &&
            !memcmp(probe->head, lookalikes[i].magic, lookalikes[i].length))
            return lookalikes[i].what;
    if (probe->head_length >= TAR_MAGIC_OFFSET + 5 && !memcmp(probe->head + TAR_MAGIC_OFFSET, "ustar", 5))
        return "a tar archive: PyTorch wrote such files before 0.2, which this version does not read";
    return NULL;
}

static bool unrecognised_file(const struct sp_probe *probe, struct sp_error *error)
{
    const char *what = lookalike(probe);
    if (!probe->file->size) return sp_malformed(error, "empty file");
    if (what) return sp_fail(error, SP_ERR_FILE, SP_KIND_UNRECOGNISED, "this is %s", what);
    if (sp_is_lookalike(probe, error)) return false;
    return sp_fail(error, SP_ERR_FILE, SP_KIND_UNRECOGNISED, "not a checkpoint in any format that is read here");
}

static const struct sp_reader *surest(const struct sp_probe *probe, unsigned *bits)
{
    const struct sp_reader *best = NULL;
    *bits = 0;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        const unsigned here = readers[i]->probe(probe);
        if (here <= *bits) continue;
        best = readers[i];
        *bits = here;
    }
    return best;
}

const struct sp_reader *sp_reader_for(const struct sp_file *file, struct sp_error *error)
{
    unsigned char head[SP_PROBE_BYTES];
    const size_t length = file->size < sizeof head ? (size_t)file->size : sizeof head;
    unsigned bits;
    if (!sp_file_read(file, 0, head, length, error)) return NULL;
    struct sp_probe probe = {file, head, length, false};
    const struct sp_reader *best = surest(&probe, &bits);
    if (bits <= 1) {
        probe.deep = true;
        best = surest(&probe, &bits);
    }
    struct sp_error ignored = {0};
    if (bits == 1 && (lookalike(&probe) || sp_is_lookalike(&probe, &ignored)))
        best = NULL; /* a name is no proof: git-lfs pointers keep it */
    if (!best) unrecognised_file(&probe, error);
    return best;
}
