/* SPDX-License-Identifier: MIT
 * Archives whose tensors are described in JSON, with a record of bytes for each storage:
 *   torch.export (.pt2)      P/data/weights/model_weights_config.json, P/data/constants/model_constants_config.json:
 *                            {"config": {"fc.weight": {"path_name": "weight_0", "tensor_meta": {"dtype": 7,
 *                            "sizes": [{"as_int": 3}], "strides": [...], "storage_offset": {"as_int": 0}}}}}
 *   TorchScript before 1.2   P/model.json: {"mainModule": {"parameters": [{"tensorId": "0", "name": "weight"}],
 *                            "submodules": [...]}, "tensors": [{"dims": ["3"], "dataType": "FLOAT",
 *                            "data": {"key": "tensors/0"}, ...}]}
 * A storage is known by the path of its record below P. torch.export.load unpickles some records, too: those are
 * judged. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/json_scan.h"
#include "base/names.h"
#include "read/torch/judge.h"
#include "read/torch/torch.h"
#include "read/torch/zip.h"

static const struct sp_format torchscript_format = {"torchscript", SP_BY_TORCH | SP_IN_ORDER | SP_WITH_CODE};
static const struct sp_format pt2_format = {"pt2", 0};

enum { MAX_DESCRIPTION = 64 << 20, MAX_SCRIPT_TENSORS = 100 * 1000 };

static const char WEIGHTS[] = "_weights_config.json", CONSTANTS[] = "_constants_config.json", MODEL[] = "/model.json";

/* A tensor as JSON has it. */
struct described {
    const char *path; /* of its record; NULL when it has none */
    uint64_t dtype;   /* of torch.export: its number in that schema */
    const char *word; /* of TorchScript: its word; or NULL */
    struct sp_torch_tensor tensor;
    bool bad; /* a size that is no number, or too many of them */
};

struct description {
    struct sp_torch *torch;
    const struct sp_file *file;
    struct sp_json json;
    const char *folder;  /* P/ */
    const char *program; /* of torch.export, where there are several; or NULL */
    /* of TorchScript: */
    struct sp_text path; /* of the module */
    SP_ARRAY(struct described) tensors;
    struct {
        struct parameter {
            const char *name;
            uint64_t id;
            bool attribute; /* the number of a value in attributes.pkl */
        } * items;
        size_t count, capacity;
    } parameters;
};

/* ---- numbers and lists of them ---- */

/* 3, "3" or {"as_int": 3}. False for anything else, which is passed over. */
static bool take_described_number(struct sp_json *json, uint64_t *value)
{
    const char *key;
    bool found = false;
    if (sp_json_peek(json) == '"') {
        const char *text = sp_json_string(json);
        char *end = NULL;
        if (text && sp_is_digit(*text)) *value = strtoull(text, &end, 10);
        return end && !*end && *value < UINT64_MAX;
    }
    if (sp_json_peek(json) != '{')
        return sp_is_digit(sp_json_peek(json)) ? sp_json_u64(json, value) : (sp_json_skip(json, &(size_t){0}), false);
    sp_json_open(json, '{');
    for (bool first = true; (key = sp_json_member(json, &first));) {
        if (!strcmp(key, "as_int")) found = take_described_number(json, value);
        else sp_json_skip(json, &(size_t){0});
    }
    return found;
}

static void take_numbers(struct sp_json *json, struct described *described, uint64_t *values, uint32_t *count)
{
    *count = 0;
    if (!sp_json_open(json, '[')) return;
    for (bool first = true; sp_json_item(json, &first);) {
        uint64_t value = 0;
        if (!take_described_number(json, &value) || *count >= SP_MAX_RANK) described->bad = true;
        else values[(*count)++] = value;
    }
}

/* ---- what a tensor is ---- */

/* The members that both formats have, by either of their names. */
static void take_geometry_member(struct sp_json *json, const char *key, struct described *into, uint32_t *strides)
{
    struct sp_torch_tensor *tensor = &into->tensor;
    if (!strcmp(key, "sizes") || !strcmp(key, "dims")) take_numbers(json, into, tensor->shape, &tensor->rank);
    else if (!strcmp(key, "strides")) take_numbers(json, into, tensor->stride, strides);
    else if (!strcmp(key, "storage_offset") || !strcmp(key, "offset")) {
        if (!take_described_number(json, &tensor->offset)) into->bad = true;
    } else if (!strcmp(key, "dtype")) {
        if (!take_described_number(json, &into->dtype)) into->bad = true;
    } else if (!strcmp(key, "dataType")) into->word = sp_json_string(json);
    else sp_json_skip(json, &(size_t){0});
}

static void take_tensor_meta(struct sp_json *json, struct described *into)
{
    uint32_t strides = 0;
    const char *key;
    if (sp_json_null(json) || !sp_json_open(json, '{')) {
        into->bad = true;
        return;
    }
    for (bool first = true; (key = sp_json_member(json, &first));) take_geometry_member(json, key, into, &strides);
    into->tensor.strided = strides == into->tensor.rank;
    if (strides && !into->tensor.strided) into->bad = true;
}

/* The dtype by its word, or by its number in the serialisation schema of torch.export. */
static enum shapeproof_dtype described_dtype(const struct described *described)
{
    static const struct {
        uint64_t number;
        const char *word;
        enum shapeproof_dtype dtype;
    } rows[] = {
        {1, "UINT8", SHAPEPROOF_DTYPE_U8},       {2, "INT8", SHAPEPROOF_DTYPE_I8},
        {3, "INT16", SHAPEPROOF_DTYPE_I16},      {4, "INT32", SHAPEPROOF_DTYPE_I32},
        {5, "INT64", SHAPEPROOF_DTYPE_I64},      {6, "FLOAT16", SHAPEPROOF_DTYPE_F16},
        {7, "FLOAT", SHAPEPROOF_DTYPE_F32},      {8, "DOUBLE", SHAPEPROOF_DTYPE_F64},
        {9, "", SHAPEPROOF_DTYPE_C32},           {10, "", SHAPEPROOF_DTYPE_C64},
        {11, "", SHAPEPROOF_DTYPE_C128},         {12, "BOOL", SHAPEPROOF_DTYPE_BOOL},
        {13, "BFLOAT16", SHAPEPROOF_DTYPE_BF16}, {28, "UINT16", SHAPEPROOF_DTYPE_U16},
        {29, "", SHAPEPROOF_DTYPE_F8_E4M3},      {30, "", SHAPEPROOF_DTYPE_F8_E5M2},
        {31, "", SHAPEPROOF_DTYPE_F8_E4M3FNUZ},  {32, "", SHAPEPROOF_DTYPE_F8_E5M2FNUZ},
        {33, "", SHAPEPROOF_DTYPE_F8_E8M0},      {34, "", SHAPEPROOF_DTYPE_U32},
        {35, "", SHAPEPROOF_DTYPE_U64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (described->word ? !strcmp(described->word, rows[i].word) : described->dtype == rows[i].number)
            return rows[i].dtype;
    return SHAPEPROOF_DTYPE_UNKNOWN;
}

/* The storage of a record, which is all of it. */
static struct sp_torch_storage *storage_of_record(struct description *d, const char *path,
                                                  const struct sp_torch_tensor *of, struct shapeproof_error *error)
{
    struct sp_torch *torch = d->torch;
    const size_t known = sp_map_get(&torch->storage_keys, path);
    if (known != SIZE_MAX) return torch->storages[known];
    const size_t record = sp_zip_find(torch->zip, sp_arena_printf(&torch->arena, "%s%s", d->folder, path));
    if (record == SIZE_MAX) {
        sp_malformed(error, "its record '%s%s' is not in the archive", d->folder, path);
        return NULL;
    }
    if (!sp_zip_check_method(sp_zip_entry(torch->zip, record), error)) return NULL;
    struct sp_torch_storage storage = {
        .key = path, .dtype = of->dtype, .dtype_name = of->dtype_name, .element_size = 1};
    storage.bytes = storage.count = sp_zip_entry(torch->zip, record)->size;
    storage.record = record + 1;
    return sp_torch_add_root(torch, &storage, error);
}

/* Lists the tensor, or counts it as one that cannot be read. */
static bool list_described(struct description *d, const char *name, const struct described *described, uint32_t flags,
                           struct shapeproof_error *error)
{
    struct sp_torch_tensor tensor = described->tensor;
    struct shapeproof_error why = {0};
    tensor.dtype = described_dtype(described);
    tensor.dtype_name = tensor.dtype ? shapeproof_dtype_name(tensor.dtype) : described->word ? described->word : "?";
    tensor.flags = flags;
    bool ok = !described->bad || sp_malformed(&why, "its sizes, strides or offset are no numbers");
    ok = ok && (described->path || sp_malformed(&why, "it has no record"));
    ok = ok && (tensor.storage = storage_of_record(d, described->path, &tensor, &why)) &&
         sp_torch_measure(&tensor, &why) && sp_torch_check_extent(&tensor, &why);
    if (ok) return sp_torch_list(d->torch, sp_arena_string(&d->torch->inventory->arena, name), &tensor, error);
    return sp_inventory_unread(d->torch->inventory, name, &why, error);
}

static bool open_description(struct description *d, size_t record, char **text, struct shapeproof_error *error)
{
    const char *name = sp_zip_entry(d->torch->zip, record)->name;
    size_t length;
    *text = sp_zip_read(d->torch->zip, record, MAX_DESCRIPTION, &length, error);
    d->json = (struct sp_json){.what = name, .text = *text, .length = length, .error = error};
    return *text && sp_json_check(&d->json);
}

/* ---- torch.export ---- */

/* Judges the record at a path below P, if there is one. */
static void judge_record(struct description *d, const char *path)
{
    const size_t record = sp_zip_find(d->torch->zip, sp_arena_printf(&d->torch->arena, "%s%s", d->folder, path));
    if (record != SIZE_MAX) sp_torch_judge_member(d->torch->zip, record, d->file, d->torch->inventory);
}

/* Reads one entry of weights_config: the record and the shape of a tensor. An entry whose tensor_meta is null is
 * another kind of object, and is passed over. The record of an entry with a true use_pickle is unpickled. A path with a
 * slash in front is not one in the subfolder, as in os.path.join. False with an error. */
static bool take_export_entry(struct description *d, const char *name, const char *subfolder, uint32_t flags)
{
    struct sp_json *json = &d->json;
    struct described described = {0};
    const char *key, *file = NULL;
    bool is_tensor = true, is_pickled = false;
    if (!sp_json_open(json, '{')) return false;
    for (bool first = true; (key = sp_json_member(json, &first));) {
        if (!strcmp(key, "use_pickle")) is_pickled = is_pickled || !strchr("fn", sp_json_peek(json));
        if (!strcmp(key, "path_name") && sp_json_peek(json) == '"') file = sp_json_string(json);
        else if (!strcmp(key, "tensor_meta")) {
            is_tensor = sp_json_peek(json) != 'n'; /* null */
            take_tensor_meta(json, &described);
        } else sp_json_skip(json, &(size_t){0});
    }
    if (!sp_json_ok(json)) return false;
    if (file) described.path = sp_arena_printf(&d->torch->arena, "%s%s", *file == '/' ? "" : subfolder, file);
    if (file && is_pickled) judge_record(d, described.path);
    if (!is_tensor) return true;
    const size_t program = d->program ? strlen(d->program) + 1 : 0;
    if (!sp_inventory_spend_names(d->torch->inventory, program + strlen(name), json->error)) return false;
    if (d->program) name = sp_arena_printf(&d->torch->arena, "%s:%s", d->program, name);
    return list_described(d, name, &described, flags, json->error);
}

/* Reads weights_config.json of an exported program (torch.export) and lists its tensors. */
static bool index_export_config(struct description *d, size_t record, const char *subfolder, uint32_t flags,
                                struct shapeproof_error *error)
{
    struct sp_json *json = &d->json;
    const char *key, *name;
    char *text;
    bool ok = open_description(d, record, &text, error) && sp_json_open(json, '{');
    for (bool first = true; ok && (key = sp_json_member(json, &first));) {
        if (strcmp(key, "config") != 0) {
            sp_json_skip(json, &(size_t){0});
            continue;
        }
        ok = sp_json_open(json, '{');
        for (bool begin = true; ok && (name = sp_json_member(json, &begin));)
            ok = take_export_entry(d, name, subfolder, flags);
    }
    ok = ok && sp_json_end(json);
    sp_free(text);
    return ok;
}

/* Whether a constant with this path is an object, which torch.export.load unpickles. */
static bool is_object(const char *path)
{
    return sp_begins_with(path, "opaque_obj_") || sp_begins_with(path, "custom_obj_");
}

/* Whether torch.export.load unpickles the record by its name: the inputs of an example, weights as older releases wrote
 * them, objects among the constants. */
static bool is_unpickled(const char *path)
{
    static const char constants[] = "/data/constants/";
    const char *constant = strstr(path, constants);
    return strstr(path, "/data/sample_inputs/") || sp_ends_with(path, ".pt") ||
           (constant && is_object(constant + strlen(constants)));
}

/* Judges what torch.export.load would unpickle, and warns of machine code, which it would load. */
static void judge_export(struct description *d)
{
    struct shapeproof_inventory *inventory = d->torch->inventory;
    size_t compiled = 0;
    for (size_t i = 0; i < sp_zip_count(d->torch->zip); i++) {
        const struct sp_zip_entry *entry = sp_zip_entry(d->torch->zip, i);
        if (entry->size && is_unpickled(entry->name)) sp_torch_judge_member(d->torch->zip, i, d->file, inventory);
        if (strstr(entry->name, "/data/aotinductor/") && !compiled++)
            sp_inventory_warn(inventory, "%s is of a compiled model: loading it would run machine code",
                              sp_quote(entry->name).text);
    }
}

/* An archive may have several programs, each with a list of its own: NAME_weights_config.json. */
static bool index_export(struct description *d, struct shapeproof_error *error)
{
    const struct sp_zip *zip = d->torch->zip;
    size_t programs = 0;
    d->torch->inventory->format = &pt2_format;
    sp_torch_zip_warn_outside(zip, d->folder, d->torch->inventory);
    judge_export(d);
    for (size_t i = 0; i < sp_zip_count(zip); i++) programs += sp_ends_with(sp_zip_entry(zip, i)->name, WEIGHTS);
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const char *path = sp_zip_entry(zip, i)->name, *name = sp_base_name(path);
        const bool weights = sp_ends_with(name, WEIGHTS);
        if (!weights && !sp_ends_with(name, CONSTANTS)) continue;
        const size_t length = strlen(name) - strlen(weights ? WEIGHTS : CONSTANTS);
        d->program = programs > 1 ? sp_arena_copy(&d->torch->arena, name, length) : NULL;
        if (!index_export_config(d, i, weights ? "data/weights/" : "data/constants/",
                                 weights ? 0 : SHAPEPROOF_TENSOR_STATE, error))
            return false;
    }
    return true;
}

/* ---- TorchScript before 1.2 ---- */

static bool take_module(struct description *d, unsigned depth);

/* {"tensorId": "0", "name": "weight"} or, of an attribute, {"type": "Tensor", "name": "value", "id": "0"}: adds it to
 * the parameters, under its name below that of the module. Attributes of other types are passed over. */
static bool take_parameter(struct description *d)
{
    struct sp_json *json = &d->json;
    struct parameter parameter = {NULL, UINT64_MAX, false};
    const char *key, *name = NULL, *type = "Tensor";
    if (!sp_json_open(json, '{')) return false;
    for (bool first = true; (key = sp_json_member(json, &first));) {
        parameter.attribute = parameter.attribute || !strcmp(key, "id");
        if (!strcmp(key, "name") && sp_json_peek(json) == '"') name = sp_json_string(json);
        else if (!strcmp(key, "type") && sp_json_peek(json) == '"') type = sp_json_string(json);
        else if (!strcmp(key, "tensorId") || !strcmp(key, "id")) take_described_number(json, &parameter.id);
        else sp_json_skip(json, &(size_t){0});
    }
    if (!sp_json_ok(json) || !name || !type) return false;
    if (strcmp(type, "Tensor") != 0) return true;
    if (!sp_inventory_spend_names(d->torch->inventory, d->path.length + strlen(name) + 1, json->error)) return false;
    parameter.name = sp_arena_printf(&d->torch->inventory->arena, "%s%s", d->path.length ? d->path.data : "", name);
    *SP_PUSH(&d->parameters) = parameter;
    return true;
}

/* A list in a module: of parameters or attributes, or of the modules in it. */
enum module_list { OF_PARAMETERS, OF_MODULES };

static bool take_list(struct description *d, unsigned depth, enum module_list kind)
{
    if (!sp_json_open(&d->json, '[')) return false;
    for (bool first = true; sp_json_item(&d->json, &first);)
        if (kind == OF_MODULES ? !take_module(d, depth + 1) : !take_parameter(d)) return false;
    return sp_json_ok(&d->json);
}

/* Reads a module of model.json: its tensors, then its submodules. The name of a module may come after them in the JSON,
 * so that the first pass only notes where the lists are; the second one reads them below the name. */
static bool take_module(struct description *d, unsigned depth)
{
    struct sp_json *json = &d->json;
    const size_t outer = d->path.length;
    struct {
        struct sp_json json; /* at the list */
        enum module_list kind;
    } lists[3]; /* parameters, attributes, submodules */
    size_t count = 0, length;
    const char *key, *name = NULL;
    if (!sp_json_open(json, '{')) return false;
    for (bool first = true; (key = sp_json_member(json, &first));) {
        const enum module_list kind = !strcmp(key, "submodules") ? OF_MODULES : OF_PARAMETERS;
        const bool is_list = kind == OF_MODULES || !strcmp(key, "parameters") || !strcmp(key, "attributes");
        if (!strcmp(key, "name") && sp_json_peek(json) == '"') name = sp_json_string(json);
        else if (is_list && count < 3) {
            const char *text = sp_json_skip(json, &length);
            if (!text) return false;
            struct sp_json list = *json;
            list.text = (char *)text;
            list.origin = json->origin + (uint64_t)(text - json->text);
            list.offset = 0;
            list.length = length;
            lists[count].json = list;
            lists[count++].kind = kind;
        } else sp_json_skip(json, &length);
    }
    if (!sp_json_ok(json)) return false;
    if (depth) sp_text_printf(&d->path, "%.1000s.", name ? name : "");
    const struct sp_json after = *json;
    bool ok = true;
    for (int kind = OF_PARAMETERS; kind <= OF_MODULES; kind++)
        for (size_t i = 0; i < count && ok; i++) {
            if ((int)lists[i].kind != kind) continue;
            d->json = lists[i].json;
            ok = take_list(d, depth, lists[i].kind);
        }
    d->json = after;
    d->path.length = outer;
    if (d->path.data) d->path.data[outer] = '\0';
    return ok;
}

/* Reads one tensor of model.json, as early TorchScript wrote it: dims, strides, and the record of its data. */
static bool take_script_tensor(struct description *d)
{
    struct sp_json *json = &d->json;
    struct described described = {0};
    uint32_t strides = 0;
    const char *key, *inner;
    if (!sp_json_open(json, '{')) return false;
    for (bool first = true; (key = sp_json_member(json, &first));) {
        if (strcmp(key, "data") != 0) {
            take_geometry_member(json, key, &described, &strides);
            continue;
        }
        if (!sp_json_open(json, '{')) return false;
        for (bool begin = true; (inner = sp_json_member(json, &begin));) {
            const char *record = NULL;
            if (strcmp(inner, "key") != 0 || sp_json_peek(json) != '"') sp_json_skip(json, &(size_t){0});
            else record = sp_json_string(json);
            if (record) described.path = sp_arena_string(&d->torch->arena, record);
        }
    }
    described.tensor.strided = strides == described.tensor.rank;
    described.bad = described.bad || (strides && !described.tensor.strided);
    if (!sp_json_ok(json)) return false;
    if (d->tensors.count == MAX_SCRIPT_TENSORS)
        return sp_fail(json->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "model.json: more than %d tensors",
                       MAX_SCRIPT_TENSORS);
    *SP_PUSH(&d->tensors) = described;
    return true;
}

/* The tensors that the values in attributes.pkl are: calls with a tensor's number. */
static bool find_attributes(struct description *d, struct shapeproof_error *error)
{
    struct sp_zip *zip = d->torch->zip;
    const size_t record = sp_zip_find(zip, sp_arena_printf(&d->torch->arena, "%sattributes.pkl", d->folder));
    struct sp_pickle pickle;
    size_t length;
    if (record == SIZE_MAX) return true;
    char *bytes = sp_zip_read(zip, record, MAX_DESCRIPTION, &length, error);
    const bool ok = bytes && sp_torch_read_pickle(d->torch, &pickle, "attributes.pkl", bytes, length, error);
    for (size_t i = 0; ok && i < d->parameters.count; i++) {
        struct parameter *parameter = &d->parameters.items[i];
        const size_t index = parameter->id < SIZE_MAX ? (size_t)parameter->id : SIZE_MAX;
        const struct sp_pickle_value *number = sp_pickle_arg(sp_pickle_item(pickle.root, index), 0);
        if (!parameter->attribute) continue;
        const bool known = sp_pickle_is(number, SP_PICKLE_INT) && number->as.integer >= 0;
        parameter->id = known ? (uint64_t)number->as.integer : UINT64_MAX;
    }
    sp_free(bytes);
    return ok;
}

static bool read_script(struct description *d, struct shapeproof_error *error)
{
    const char *key;
    if (!sp_json_open(&d->json, '{')) return false;
    for (bool first = true; (key = sp_json_member(&d->json, &first));) {
        if (!strcmp(key, "mainModule")) {
            if (!take_module(d, 0))
                return error->status ? false : sp_malformed(error, "model.json: its module is broken");
        } else if (!strcmp(key, "tensors")) {
            if (!sp_json_open(&d->json, '[')) return false;
            for (bool begin = true; sp_json_item(&d->json, &begin);)
                if (!take_script_tensor(d)) return false;
        } else sp_json_skip(&d->json, &(size_t){0});
    }
    return sp_json_end(&d->json) && find_attributes(d, error);
}

static bool index_script(struct description *d, size_t record, struct shapeproof_error *error)
{
    char *text;
    d->torch->inventory->format = &torchscript_format;
    bool ok = open_description(d, record, &text, error) && read_script(d, error);
    for (size_t i = 0; ok && i < d->parameters.count; i++) {
        const struct parameter *parameter = &d->parameters.items[i];
        struct shapeproof_error why = {0};
        if (parameter->id < d->tensors.count)
            ok = list_described(d, parameter->name, &d->tensors.items[parameter->id], 0, error);
        else {
            sp_malformed(&why, "there is no tensor with its number");
            ok = sp_inventory_unread(d->torch->inventory, parameter->name, &why, error);
        }
    }
    sp_free(text);
    return ok;
}

/* ---- the archives ---- */

/* The record that tells which archive it is, and where its folder ends; SIZE_MAX for none. */
static size_t find_description(const struct sp_zip *zip, bool *script, size_t *folder)
{
    for (size_t i = 0; i < sp_zip_count(zip); i++) {
        const char *name = sp_zip_entry(zip, i)->name, *weights = strstr(name, "/data/weights/");
        *script = sp_ends_with(name, MODEL) && strchr(name, '/') == strrchr(name, '/');
        *folder = *script ? strlen(name) - strlen(MODEL) + 1 : weights ? (size_t)(weights + 1 - name) : 0;
        if (*script || (weights && sp_ends_with(name, WEIGHTS))) return i;
    }
    return SIZE_MAX;
}

bool sp_torch_described_is(const struct sp_zip *zip)
{
    bool script;
    size_t folder;
    return find_description(zip, &script, &folder) != SIZE_MAX;
}

const char *sp_torch_described_folder(const struct sp_zip *zip, struct sp_arena *arena)
{
    bool script;
    size_t folder;
    const size_t record = find_description(zip, &script, &folder);
    return sp_arena_copy(arena, sp_zip_entry(zip, record)->name, folder);
}

bool sp_torch_described_index(struct sp_zip *zip, const struct sp_file *file, uint32_t file_index,
                              struct shapeproof_inventory *inventory, struct shapeproof_error *error)
{
    struct sp_torch torch = {.inventory = inventory, .file = file_index, .key_prefix = "", .zip = zip};
    struct description d = {.torch = &torch, .file = file};
    bool script;
    size_t folder;
    const size_t record = find_description(zip, &script, &folder);
    d.folder = sp_torch_described_folder(zip, &torch.arena);
    const bool ok = script ? index_script(&d, record, error) : index_export(&d, error);
    torch.folder = sp_arena_printf(&torch.arena, script ? "%stensors/" : "%sdata/weights/weight_", d.folder);
    if (ok) sp_torch_zip_claim(&torch);
    sp_torch_free(&torch);
    sp_text_free(&d.path);
    sp_free(d.tensors.items);
    sp_free(d.parameters.items);
    return ok;
}
