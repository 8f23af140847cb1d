/* SPDX-License-Identifier: MIT
 * A model to alter: the tensors that a configuration predicts, changed at will, then written as a sparse safetensors
 * file (or kept in memory, when storages and flags matter) and checked against the same configuration. */
#ifndef TESTS_COMPARE_MODEL_H
#define TESTS_COMPARE_MODEL_H

#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "check/check.h"
#include "check/reading.h"
#include "explain/run.h"
#include "formats.h"
#include "lang/prediction.h"
#include "model/inventory.h"
#include "read/scratch.h"
#include "shapeproof/report.h"

/* Each check is made again with the explainers of every stage in that many other orders, and must come to the same:
 * other orders for each check of a program, or hundreds in all. */
#ifndef ORDERS
#define ORDERS 4
#endif

struct part {
    char *name;
    enum shapeproof_dtype dtype;
    uint32_t rank;
    uint64_t shape[9];
    const char *storage; /* in memory alone */
    uint32_t flags;      /* likewise */
    uint64_t offset;     /* likewise: in the storage */
    unsigned char fill;  /* on disk: the bytes at the beginning of its data */
};

struct model {
    struct scratch scratch;
    struct shapeproof_tables *tables;
    struct shapeproof_config *config;
    struct part *parts;
    size_t count, capacity;
    struct shapeproof_inventory *inventory;
    struct shapeproof_check *check;
    char *first_line;     /* of the last check */
    const char *metadata; /* of the file to write: "\"format\":\"pt\"" */
    struct shapeproof_check_options options;
};

static inline void model_close_check(struct model *model)
{
    shapeproof_check_free(model->check);
    shapeproof_inventory_close(model->inventory);
    free(model->first_line);
    model->check = NULL;
    model->inventory = NULL;
    model->first_line = NULL;
}

static inline void model_empty(struct model *model)
{
    for (size_t i = 0; i < model->count; i++) free(model->parts[i].name);
    model->count = 0;
}

static inline void model_close(struct model *model)
{
    model_close_check(model);
    model_empty(model);
    free(model->parts);
    shapeproof_config_free(model->config);
    shapeproof_tables_free(model->tables);
    scratch_remove(&model->scratch);
}

static inline void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

/* The configuration of everything that follows. */
static inline void model_open(struct model *model, const char *config)
{
    struct shapeproof_error error = {0};
    *model = (struct model){0};
    scratch_make(&model->scratch);
    model->tables = shapeproof_tables_new(&error);
    if (!model->tables) die("tables", error.message);
    model->config = shapeproof_config_new();
    if (shapeproof_config_load(model->config, scratch_write(&model->scratch, "config.json", config, strlen(config)),
                               &error))
        die("config", error.message);
}

static inline void model_set(struct model *model, const char *setting)
{
    struct shapeproof_error error = {0};
    if (shapeproof_config_set(model->config, setting, &error)) die(setting, error.message);
}

static inline struct part *model_add_shape(struct model *model, const char *name, uint32_t rank, const uint64_t *shape)
{
    SP_GROW(model->parts, model->count, model->capacity);
    struct part *part = &model->parts[model->count++];
    *part = (struct part){.name = strdup(name), .dtype = SHAPEPROOF_DTYPE_F32, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) part->shape[i] = shape[i];
    return part;
}

#define SHAPE(...)                                                                                                     \
    (uint32_t)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), (uint64_t[]) { __VA_ARGS__ }

/* The tensors that a file must have; the optional ones, those of `also`, and every tied one too, if it is to be; and
 * quantised weights as they are stored. */
enum { WITH_OPTIONAL = 1, WITH_TIED = 2, AS_STORED = 4 };

static inline void model_predict(struct model *model, int also)
{
    struct shapeproof_error error = {0};
    const struct shapeproof_predict_options options = {.stored = (also & AS_STORED) != 0};
    struct shapeproof_prediction *prediction = shapeproof_predict(model->tables, model->config, &options, &error);
    if (!prediction) die("predict", error.message);
    model_empty(model);
    for (size_t i = 0; i < shapeproof_prediction_count(prediction); i++) {
        const struct shapeproof_predicted *tensor = shapeproof_prediction_tensor(prediction, i);
        if (tensor->optional && !(also & WITH_OPTIONAL)) continue;
        if (tensor->same_as != SHAPEPROOF_NONE && !(also & WITH_TIED)) continue;
        struct part *part = model_add_shape(model, tensor->name, tensor->rank, tensor->shape);
        if (tensor->dtype != SHAPEPROOF_DTYPE_UNKNOWN) part->dtype = tensor->dtype;
        for (int dtype = 1; !sp_prediction_allows_dtype(prediction, i, part->dtype); dtype++)
            part->dtype = (enum shapeproof_dtype)dtype;
    }
    shapeproof_prediction_free(prediction);
}

/* ---- changing it; names are shell patterns ---- */

static inline bool fits(const struct part *part, const char *names) { return fnmatch(names, part->name, 0) == 0; }

static inline struct part *model_part(struct model *model, const char *names)
{
    for (size_t i = 0; i < model->count; i++)
        if (fits(&model->parts[i], names)) return &model->parts[i];
    die(names, "no such tensor");
    return NULL;
}

static inline void model_drop(struct model *model, const char *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (fits(&model->parts[i], names)) free(model->parts[i].name);
        else model->parts[kept++] = model->parts[i];
    }
    if (kept == model->count) die(names, "no such tensor");
    model->count = kept;
}

static inline void replace_in(struct part *part, const char *from, const char *to)
{
    const char *place = strstr(part->name, from);
    if (!place) return;
    const size_t size = strlen(part->name) + strlen(to) + 1;
    char *name = malloc(size);
    if (!name) abort();
    snprintf(name, size, "%.*s%s%s", (int)(place - part->name), part->name, to, place + strlen(from));
    free(part->name);
    part->name = name;
}

/* Replaces the first `from` in each of those names by `to`. */
static inline void model_rename(struct model *model, const char *names, const char *from, const char *to)
{
    for (size_t i = 0; i < model->count; i++)
        if (fits(&model->parts[i], names)) replace_in(&model->parts[i], from, to);
}

/* A copy of each of those tensors, with the first `from` in its name replaced by `to`. */
static inline void model_copy(struct model *model, const char *names, const char *from, const char *to)
{
    const size_t count = model->count;
    for (size_t i = 0; i < count; i++) {
        const struct part part = model->parts[i];
        if (!fits(&part, names)) continue;
        model_add_shape(model, part.name, part.rank, part.shape);
        replace_in(&model->parts[model->count - 1], from, to);
    }
}

static inline void model_prefix(struct model *model, const char *prefix) { model_rename(model, "*", "", prefix); }

static inline void model_transpose(struct model *model, const char *names)
{
    for (size_t i = 0; i < model->count; i++) {
        struct part *part = &model->parts[i];
        if (!fits(part, names) || part->rank != 2) continue;
        const uint64_t rows = part->shape[0];
        part->shape[0] = part->shape[1];
        part->shape[1] = rows;
    }
}

static inline void model_retype(struct model *model, const char *names, enum shapeproof_dtype dtype)
{
    for (size_t i = 0; i < model->count; i++)
        if (fits(&model->parts[i], names)) model->parts[i].dtype = dtype;
}

/* Every dimension of that size gets the other one. */
static inline void model_resize(struct model *model, const char *names, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < model->count; i++)
        for (uint32_t d = 0; d < model->parts[i].rank; d++)
            if (fits(&model->parts[i], names) && model->parts[i].shape[d] == from) model->parts[i].shape[d] = to;
}

/* A bias beside each of those weights. */
static inline void model_add_biases(struct model *model, const char *weights)
{
    const size_t count = model->count;
    for (size_t i = 0; i < count; i++) {
        char name[512];
        if (!fits(&model->parts[i], weights)) continue;
        snprintf(name, sizeof name, "%s", model->parts[i].name);
        strcpy(strrchr(name, '.'), ".bias");
        const uint64_t rows = model->parts[i].shape[0];
        model_add_shape(model, name, 1, &rows);
    }
}

static inline void model_share(struct model *model, const char *names, const char *storage)
{
    for (size_t i = 0; i < model->count; i++)
        if (fits(&model->parts[i], names)) model->parts[i].storage = storage;
}

/* ---- checking it ---- */

static inline uint64_t bytes_of(const struct part *part)
{
    uint64_t bytes = shapeproof_dtype_bits(part->dtype) / 8;
    for (uint32_t d = 0; d < part->rank; d++) bytes *= part->shape[d];
    return bytes;
}

static inline void model_fill(struct model *model, const char *names, unsigned char byte)
{
    for (size_t i = 0; i < model->count; i++)
        if (fits(&model->parts[i], names)) model->parts[i].fill = byte;
}

/* The data of those parts that are filled; the rest stays a hole. */
static inline void write_data(const struct model *model, const char *path, uint64_t offset)
{
    FILE *file = fopen(path, "r+b");
    if (!file) die(path, "open");
    for (size_t i = 0; i < model->count; i++) {
        const struct part *part = &model->parts[i];
        if (part->fill && fseek(file, (long)offset, SEEK_SET)) die(path, "seek");
        for (uint64_t k = 0; part->fill && k < bytes_of(part) && k < 4096; k++) fputc(part->fill, file);
        offset += bytes_of(part);
    }
    if (fclose(file)) die(path, "write");
}

/* A header, and a hole for the data but for what is filled. */
static inline void model_write(struct model *model, const char *file)
{
    struct sp_text header = {0};
    uint64_t offset = 0;
    sp_text_puts(&header, "{");
    if (model->metadata) sp_text_printf(&header, "\"__metadata__\":{%s}", model->metadata);
    for (size_t i = 0; i < model->count; i++) {
        const struct part *part = &model->parts[i];
        if (i || model->metadata) sp_text_puts(&header, ",");
        sp_text_json(&header, part->name);
        sp_text_printf(&header, ":{\"dtype\":\"%s\",\"shape\":[", shapeproof_dtype_name(part->dtype));
        for (uint32_t d = 0; d < part->rank; d++) sp_text_printf(&header, d ? ",%" PRIu64 : "%" PRIu64, part->shape[d]);
        sp_text_printf(&header, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", offset, offset + bytes_of(part));
        offset += bytes_of(part);
    }
    sp_text_puts(&header, "}");
    scratch_safetensors(&model->scratch, file, header.data, header.length, 0);
    if (truncate(scratch_path(&model->scratch, file), (off_t)(8 + header.length + offset))) die(file, "truncate");
    write_data(model, scratch_path(&model->scratch, file), 8 + header.length);
    sp_text_free(&header);
}

static inline struct shapeproof_inventory *model_in_memory(const struct model *model)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("memory");
    sp_inventory_add_file(inventory, "memory");
    inventory->format = &format_torch_zip;
    for (size_t i = 0; i < model->count; i++) {
        const struct part *part = &model->parts[i];
        struct shapeproof_tensor *tensor = sp_inventory_add(inventory, &error);
        uint64_t *shape = sp_arena_array(&inventory->arena, part->rank, sizeof *shape);
        if (part->rank) memcpy(shape, part->shape, part->rank * sizeof *shape);
        tensor->name = sp_arena_string(&inventory->arena, part->name);
        tensor->dtype = part->dtype;
        tensor->dtype_name = shapeproof_dtype_name(part->dtype);
        tensor->shape = shape;
        tensor->rank = part->rank;
        tensor->flags = part->flags;
        tensor->storage = part->storage ? part->storage : tensor->name;
        tensor->offset = part->offset;
        if (!sp_tensor_measure(tensor)) die(part->name, "too large");
    }
    if (!sp_inventory_finish(inventory, &error)) die("inventory", error.message);
    return inventory;
}

/* Fails when there is none. */
static inline struct shapeproof_check *run_check(const struct model *model, uint64_t seed,
                                                 struct sp_answer_cache *asked)
{
    struct shapeproof_error error = {0};
    struct shapeproof_check *check =
        sp_check_new_shuffled(model->inventory, model->tables, model->config, &model->options, seed, asked, &error);
    if (!check) die("check", error.message);
    return check;
}

static inline char *report_check(const struct shapeproof_check *check)
{
    return shapeproof_report_check(check, &(struct shapeproof_report_options){.format = SHAPEPROOF_REPORT_JSON}, NULL);
}

/* The reports in other orders, against that of the usual one. */
static inline void model_check_orders(struct model *model, struct sp_answer_cache *asked)
{
    static uint64_t seed;
    char *usual = report_check(model->check);
    for (int i = 0; i < ORDERS; i++) {
        struct shapeproof_check *check = run_check(model, ++seed, asked);
        char *report = report_check(check);
        if (strcmp(report, usual) != 0) {
            fprintf(stderr, "with seed %" PRIu64 ":\n%s\nin place of\n%s\n", seed, report, usual);
            die("the order of explainers", "makes a difference");
        }
        shapeproof_free(report);
        shapeproof_check_free(check);
    }
    shapeproof_free(usual);
}

/* The first line that `shapeproof check` prints of that inventory, which the model takes over. */
static inline const char *model_judge(struct model *model, struct shapeproof_inventory *inventory)
{
    struct sp_text line = {0};
    struct sp_answer_cache asked = {0};
    model_close_check(model);
    if (!inventory) die("inventory", "none");
    model->inventory = inventory;
    model->check = run_check(model, 0, &asked);
    model_check_orders(model, &asked);
    sp_asked_free(&asked);
    assert_report_reads_well(model->check);
    sp_text_printf(&line, "%s: %s", shapeproof_verdict_name(shapeproof_check_verdict(model->check)),
                   shapeproof_check_summary(model->check));
    return model->first_line = line.data;
}

static inline const char *model_check_path(struct model *model, const char *path)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) die(path, error.message);
    return model_judge(model, inventory);
}

static inline const char *model_check(struct model *model)
{
    model_write(model, "model.safetensors");
    return model_check_path(model, scratch_path(&model->scratch, "model.safetensors"));
}

static inline const char *model_check_memory(struct model *model) { return model_judge(model, model_in_memory(model)); }

/* The first cause of that id, or NULL. */
static inline const struct shapeproof_cause *model_cause(const struct model *model, const char *id)
{
    for (size_t i = 0; i < shapeproof_check_cause_count(model->check); i++)
        if (strcmp(shapeproof_check_cause(model->check, i)->id, id) == 0)
            return shapeproof_check_cause(model->check, i);
    return NULL;
}

/* How many findings there are of that id. */
static inline size_t model_findings(const struct model *model, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < shapeproof_check_finding_count(model->check); i++)
        count += strcmp(shapeproof_check_finding(model->check, i)->id, id) == 0;
    return count;
}

#endif
