/* SPDX-License-Identifier: MIT
 * Models that a framework saved, to try things on: the record fixtures/catalogue/series.txt, and where
 * SHAPEPROOF_CORPUS names a folder, more of them from there:
 *
 *     data/saved/configs/NAME.json              a configuration
 *     data/saved/truth/NAME.tsv                 its tensors, one a line: name, dimensions, kind ("tied": not stored)
 *     data/architectures/real/NAME.json         configurations that were published
 *     data/architectures/synthetic/NAME.json    configurations of small models
 *
 * A NAME ends with the class and a word for the model: "gpt2--GPT2LMHeadModel--s1". */
#ifndef TESTS_CORPUS_H
#define TESTS_CORPUS_H

#include <glob.h>

#include "check/recorded.h"
#include "formats.h"
#include "sample.h"

#define SERIES "fixtures/catalogue/series.txt"

/* Takes a model of the corpus, and owns its configuration and its inventory from then on. The inventory is NULL where
 * only the configuration is known. */
typedef void corpus_take(void *context, const char *name, struct shapeproof_config *config,
                         struct shapeproof_inventory *inventory);

/* ---- records ---- */

struct corpus_record {
    char *name; /* of the model that is read, or NULL */
    struct model model;
    corpus_take *take;
    void *context;
};

static inline struct shapeproof_config *corpus_config(const char *path)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    if (shapeproof_config_load(config, path, &error)) die(path, error.message);
    return config;
}

static inline void corpus_end_model(struct corpus_record *record)
{
    if (!record->name) return;
    struct shapeproof_inventory *inventory = model_in_memory(&record->model);
    inventory->format = &format_safetensors;
    record->take(record->context, record->name, record->model.config, inventory);
    record->model.config = NULL;
    model_close(&record->model);
    free(record->name);
    record->name = NULL;
}

static inline void corpus_take_line(void *context, const char *word, char *rest)
{
    struct corpus_record *record = context;
    struct scratch *scratch = &record->model.scratch;
    if (strcmp(word, "base") == 0) {
        corpus_end_model(record);
        record->name = strdup(rest);
        record->model = (struct model){0};
        scratch_make(scratch);
    } else if (strcmp(word, "config") == 0)
        record->model.config = corpus_config(scratch_write(scratch, "config.json", rest, strlen(rest)));
    else model_add_recorded(&record->model, word, rest);
}

/* Every model of a record, in its order. */
static inline void corpus_read_record(const char *path, corpus_take *take, void *context)
{
    struct corpus_record record = {.take = take, .context = context};
    read_record(path, corpus_take_line, &record);
    corpus_end_model(&record);
}

/* ---- a folder ---- */

/* One line of a list of tensors. */
static inline void corpus_add_line(struct model *model, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *dims = strchr(line, '\t'), *kind = dims ? strchr(dims + 1, '\t') : NULL;
    if (!kind || strcmp(kind, "\ttied") == 0) return;
    *dims++ = *kind = '\0';
    model_add_recorded_one(model, line, dims);
    if (strstr(line, "num_batches_tracked") || strstr(line, "position_ids"))
        model->parts[model->count - 1].dtype = SHAPEPROOF_DTYPE_I64;
}

/* What the list says; NULL where there is none. */
static inline struct shapeproof_inventory *corpus_read_list(const char *path)
{
    struct model model = {0};
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    while (getline(&line, &size, file) > 0) corpus_add_line(&model, line);
    free(line);
    fclose(file);
    struct shapeproof_inventory *inventory = model_in_memory(&model);
    inventory->format = &format_safetensors;
    model_empty(&model);
    free(model.parts);
    return inventory;
}

static inline void corpus_take_file(const char *path, corpus_take *take, void *context)
{
    char name[512], list[1024];
    const char *base = strrchr(path, '/') + 1, *folder = strstr(path, "/configs/");
    snprintf(name, sizeof name, "%.*s", (int)(strrchr(base, '.') - base), base);
    if (folder) snprintf(list, sizeof list, "%.*s/truth/%s.tsv", (int)(folder - path), path, name);
    take(context, name, corpus_config(path), folder ? corpus_read_list(list) : NULL);
}

/* The configurations in that folder of the corpus, by name; none where there is no such folder. */
static inline void corpus_read_folder(const char *folder, corpus_take *take, void *context)
{
    char pattern[CORPUS_PATH], files[200];
    glob_t found;
    snprintf(files, sizeof files, "%s/*.json", folder);
    if (!corpus_path(pattern, files) || glob(pattern, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) corpus_take_file(found.gl_pathv[i], take, context);
    globfree(&found);
}

#endif
