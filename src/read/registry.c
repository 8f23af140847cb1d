/* SPDX-License-Identifier: MIT
 * The list of readers, and the choice among them by content. */
#define _GNU_SOURCE /* memmem */
#include "read/reader.h"

#include <string.h>
#include <strings.h>

#include "base/chars.h"
#include "base/names.h"
#include "base/utf8.h"
#include "read/tar/archive.h"

/* ---- files that are something else ---- */

/* Files that people pass for checkpoints, told by bytes at a certain place, by their name, by being text. */

/* ---- by name ---- */

static const struct {
    const char *suffix, *what, *hint;
} names[] = {
    {".incomplete", "a download that was not completed", "start it again"},
    {".part", "a download that was not completed", "start it again"},
    {".crdownload", "a download that was not completed", "start it again"},
    {".meta", "the graph of a TensorFlow checkpoint, which is not read", "read the *.index beside it"},
    {".pb", "a graph of TensorFlow, which is not read", "of a SavedModel: read 'variables/variables.index' beside it"},
    {".mlmodel", "a model of CoreML, which is not read", "read the checkpoint that it was converted from"},
    {".caffemodel", "a model of Caffe, which is not read", "convert it to ONNX"},
    {".engine", "an engine of TensorRT, which is not read", "read the model that it was built from"},
    {".joblib", "a file of joblib, compressed, which is not read", "save what joblib.load returns with pickle.dump"},
    {".mar", "an archive of TorchServe", "unpack it and read the checkpoint inside"},
};

static bool has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), size = strlen(suffix);
    return length > size && strcasecmp(path + length - size, suffix) == 0;
}

/* "model.ckpt.data-00000-of-00001" */
static bool is_tensorflow_data(const char *path)
{
    const char *data = strstr(sp_base_name(path), ".data-");
    return data && strstr(data, "-of-");
}

/* ---- by bytes ---- */

static const struct {
    size_t at;
    const char *magic;
    size_t length;
    const char *what, *hint;
} magics[] = {
    {0, "version https://git-lfs", 23, "a git-lfs pointer, not the file itself (run 'git lfs pull')", NULL},
    {0, "\x1f\x8b", 2, "compressed in a way that gzip has no name for", NULL},
    {0, "\x28\xb5\x2f\xfd", 4, "zstd-compressed: unpack it first", NULL},
    {0, "PYTORCH1", 8, "a PyTorch container from before 1.0, which this version does not read", NULL},
    {0, "PK\5\6", 4, "an empty zip archive", NULL},
    {0, "\x89PNG", 4, "a PNG picture", NULL},
    {257, "ustar", 5, "a tar archive whose first header is broken", NULL},
    {4, "TFL3", 4, "a model of TensorFlow Lite, which is not read", "read the model that it was converted from"},
    {4, "PTMF", 4, "a TorchScript model as a flatbuffer, for mobile devices, which is not read",
     "read the archive that it was made from"},
    {4, "ET12", 4, "a program of ExecuTorch (.pte), which is not read", "read the checkpoint that it was made from"},
    {0,
     "\xfd"
     "7zXZ",
     5, "compressed (xz)", "unpack it first: xz -d"},
    {0, "BZh", 3, "compressed (bzip2)", "unpack it first: bzip2 -d"},
    {0, "7z\xbc\xaf\x27\x1c", 6, "a 7-Zip archive", "unpack it first"},
    {0, "Rar!", 4, "a RAR archive", "unpack it first"},
    {0, "%PDF", 4, "a PDF document", NULL},
    {0, "\xff\xd8\xff", 3, "a JPEG picture", NULL},
    {0,
     "\x7f"
     "ELF",
     4, "a program or a library", NULL},
    {0, "/annex/objects/", 15, "a pointer of git-annex, not the file itself", "run 'git annex get' on it"},
    {0, "PAR1", 4, "a Parquet file: data, no model", NULL},
};

/* ---- by being text ---- */

/* All that was looked at is text for people; the last character may be cut. */
static bool is_text(const struct sp_probe *probe)
{
    const char *head = (const char *)probe->head;
    const size_t valid = sp_utf8_check(head, probe->head_length);
    if (!valid || probe->head_length - valid > 3 || (valid < probe->head_length && probe->file->size == valid))
        return false;
    for (size_t i = 0; i < valid; i++)
        if ((unsigned char)head[i] < ' ' && !strchr("\t\n\r\f", head[i])) return false;
    return !memchr(head, '\0', valid);
}

static bool has_word(const struct sp_probe *probe, const char *word)
{
    return memmem(probe->head, probe->head_length, word, strlen(word)) != NULL;
}

/* Where what is no blank begins. */
static size_t text_begin(const struct sp_probe *probe)
{
    size_t begin = 0;
    while (begin < probe->head_length && strchr(" \t\r\n", probe->head[begin])) begin++;
    return begin;
}

/* The first line that is not empty, cut. */
static struct sp_quoted first_line(const struct sp_probe *probe)
{
    char line[61];
    size_t begin = text_begin(probe), length = 0;
    while (begin + length < probe->head_length && length < sizeof line - 1 &&
           !strchr("\r\n", probe->head[begin + length]))
        length++;
    memcpy(line, probe->head + begin, length);
    length = sp_utf8_check(line, length); /* no half of a character */
    line[length] = '\0';
    return sp_quote(line);
}

static bool is_web_page(const struct sp_probe *probe)
{
    const size_t begin = text_begin(probe);
    if (probe->head_length - begin < 9 || probe->head[begin] != '<') return false;
    const char *tag = (const char *)probe->head + begin + 1;
    return !strncasecmp(tag, "!doctype", 8) || !strncasecmp(tag, "html", 4) || !strncasecmp(tag, "?xml", 4);
}

static bool describe_text(const struct sp_probe *probe, struct shapeproof_error *error)
{
    const size_t begin = text_begin(probe);
    const char first = begin < probe->head_length ? (char)probe->head[begin] : '\0';
    const struct sp_quoted line = first_line(probe);
    if ((first == '{' || first == '[') && (has_word(probe, "\"error") || has_word(probe, "\"message")))
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                "this is the answer of a server in JSON, %s: the download failed", line.text);
    else if (first == '{' || first == '[')
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED, "this is JSON text, not a checkpoint: %s",
                line.text);
    else
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED, "this is text, not a checkpoint: %s",
                line.text);
    return true;
}

/* ---- all together ---- */

/* Fills the error. `hint` may be NULL. Returns true, the result of is_lookalike. */
static bool refuse_as(struct shapeproof_error *error, const char *what, const char *hint)
{
    sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED, "this is %s", what);
    if (hint) sp_hint(error, "%s", hint);
    return true;
}

/* True, with an error that says what it is and what to do about it, for a file that its bytes or its name show to be
 * something else than a checkpoint that is read. */
static bool is_lookalike(const struct sp_probe *probe, struct shapeproof_error *error)
{
    const char *path = probe->file->path;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (probe->head_length >= magics[i].at + magics[i].length &&
            !memcmp(probe->head + magics[i].at, magics[i].magic, magics[i].length))
            return refuse_as(error, magics[i].what, magics[i].hint);
    if (is_web_page(probe)) return refuse_as(error, "a web page: the download failed", NULL);
    if (is_tensorflow_data(path))
        return refuse_as(error, "the data of a TensorFlow checkpoint, which has no names",
                         "read the *.index beside it");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_suffix(path, names[i].suffix)) return refuse_as(error, names[i].what, names[i].hint);
    return is_text(probe) && describe_text(probe, error);
}

/* ---- registry ---- */

static const struct sp_reader *const readers[] = {
#define READER(name) &sp_reader_##name,
#include "read/readers.def"
#undef READER
};

unsigned sp_file_ending_says(const char *name)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        for (const struct sp_file_ending *ending = readers[i]->endings; ending && ending->text; ending++)
            if (sp_ends_with(name, ending->text)) return ending->says;
    return 0;
}

static bool unrecognised_file(const struct sp_probe *probe, struct shapeproof_error *error)
{
    if (!probe->file->size) return sp_malformed(error, "empty file");
    if (is_lookalike(probe, error)) return false;
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                   "not a checkpoint in any format that is read here");
}

/* The reader that is surest of the file, or NULL, and how sure it is. */
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

/* The readers look at the head of the file. When none knows it, or one does by the name alone, they may look further
 * into the file. A reader that knows the name alone does not get a file that its bytes show to be something else. */
const struct sp_reader *sp_reader_for(const struct sp_file *file, struct shapeproof_error *error)
{
    enum { BY_NAME = 1 }; /* bits: see struct sp_reader */
    unsigned char head[SP_PROBE_BYTES];
    const size_t length = file->size < sizeof head ? (size_t)file->size : sizeof head;
    unsigned bits;
    if (!sp_file_read(file, 0, head, length, error)) return NULL;
    struct sp_probe probe = {.file = file, .head = head, .head_length = length};
    const struct sp_reader *best = surest(&probe, &bits);
    if (bits <= BY_NAME) {
        probe.deep = true;
        best = surest(&probe, &bits);
    }
    struct shapeproof_error ignored = {0};
    if (bits == BY_NAME && is_lookalike(&probe, &ignored)) best = NULL; /* git-lfs pointers keep the name */
    if (!best) unrecognised_file(&probe, error);
    return best;
}

/* ---- two readings ---- */

/* torch.load tries to read a file that is no zip archive as a tar archive before it reads a stream of pickles, whatever
 * the beginning of the file is for another program. */
static bool begins_as_tar(const struct sp_file *file)
{
    unsigned char block[SP_TAR_BLOCK];
    struct shapeproof_error ignored = {0};
    return file->size >= sizeof block && sp_file_read(file, 0, block, sizeof block, &ignored) &&
           sp_tar_python_reads(block);
}

bool sp_reader_index(const struct sp_reader *reader, const struct sp_file *file, uint32_t file_index,
                     struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    if (!reader->index(file, file_index, inventory, error)) return false;
    if (reader != &sp_reader_torch_tar && reader != &sp_reader_tar && begins_as_tar(file))
        sp_inventory_warn(inventory, "its first 512 bytes are also the header of a tar archive, which torch.load would "
                                     "read instead: what it would unpickle is not read");
    return true;
}
