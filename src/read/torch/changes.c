/* SPDX-License-Identifier: MIT
 * What a pickle changes after it was made. A list of harmless functions says what each does with its arguments, and
 * nothing about what the pickle does with the result: BUILD sets attributes, SETITEMS and APPENDS set items. That is
 * harmless for a new object, and for dicts and lists. It is not for
 *   what shares its memory with bytes that were judged before:  numpy._core.numeric._frombuffer(b)[3] = 7
 *   what a function returns as it got it, such as a function:   torch.jit._pickle.restore_type_tag(relu, '').a = 1
 *   a dtype of NumPy, whose state says which bytes are pointers
 * Nor is a call that changes its argument, or shares memory with it.
 * Only functions and classes that are on the list are looked at here: the others are reported for their names. */
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/chars.h"
#include "base/checked.h"
#include "read/torch/torch.h"

/* The flags of a dtype, as numpy/ndarraytypes.h numbers them. */
enum {
    REFCOUNTED = 1,
    LIST_PICKLE = 2,
    POINTER = 4,
    NEEDS_INIT = 8,
    NEEDS_PYTHON = 16,
    GET_ITEM = 32,
    SET_ITEM = 64,
    ALIGNED_STRUCT = 128,
    OF_OBJECTS = REFCOUNTED | LIST_PICKLE | POINTER | NEEDS_INIT | NEEDS_PYTHON | GET_ITEM,
    INHERITED = REFCOUNTED | LIST_PICKLE | NEEDS_INIT, /* by a struct, from its fields */
    OF_STRUCTS = NEEDS_PYTHON | ALIGNED_STRUCT         /* a struct may have these, too */
};

enum { MAX_DIGITS = 9, MAX_ALIGNMENT = 64, LONG_STATE = 9 /* items, with metadata */ };

/* ---- what a call makes ---- */

/* The function or class that is called: a GLOBAL, or the class of a persistent id ('module', class, file, source), in
 * tar files (class, file, source), which torch returns. NULL for everything else. */
static const struct sp_pickle_value *named_callable(const struct sp_pickle_value *callable)
{
    if (sp_pickle_is(callable, SP_PICKLE_PERSID)) {
        const struct sp_pickle_value *id = callable->as.id;
        callable = sp_pickle_item(id, sp_pickle_is_text(sp_pickle_item(id, 0), "module"));
    }
    return sp_pickle_is(callable, SP_PICKLE_GLOBAL) ? callable : NULL;
}

/* Whether the name is reported by itself. */
static bool is_reported(const struct sp_pickle_value *global) { return global && !sp_torch_is_harmless(global); }

static bool is_named(const struct sp_pickle_value *global, const char *name)
{
    return global && !strcmp(global->as.global->name, name);
}

static bool makes_tensor(const struct sp_pickle_value *global)
{
    if (is_named(global, "torch.nested._internal.nested_tensor._rebuild_njt")) return true;
    switch (sp_torch_role(global)) {
    case SP_TORCH_TENSOR:
    case SP_TORCH_TENSOR_V3:
    case SP_TORCH_OLD_TENSOR:
    case SP_TORCH_PARAMETER:
    case SP_TORCH_META:
    case SP_TORCH_WRAPPER:
    case SP_TORCH_SPARSE:
    case SP_TORCH_FROM_NUMPY:
        return true;
    default:
        return false;
    }
}

/* Whether what it makes is a dict, list or set of its own. */
static bool makes_container(const struct sp_pickle_value *global)
{
    static const char *const kinds[] = {"dict", "list", "set"};
    static const char *const others[] = {"collections.OrderedDict", "collections.defaultdict", "collections.Counter",
                                         "collections.deque"};
    const char *name = global->as.global->name, *own = sp_torch_python_name(name);
    return SP_IS_AMONG(name, others) || (own && SP_IS_AMONG(own, kinds));
}

/* Whether what it makes is a new object, or one without attributes: classes, and functions that rebuild one. */
static bool makes_object(const struct sp_pickle_value *global)
{
    static const char *const prefixes[] = {"collections.", "__torch__.", "numpy.random._pickle."};
    static const char *const others[] = {"numpy.dtype", "numpy.ndarray",
                                         "numpy.random.bit_generator.__pyx_unpickle_SeedSequence"};
    const char *name = global->as.global->name, *last = strrchr(name, '.') + 1;
    last += strspn(last, "_");
    return SP_BEGINS_WITH_ANY(name, prefixes) || SP_IS_AMONG(name, others) || sp_torch_python_name(name) ||
           (*last >= 'A' && *last <= 'Z') || makes_tensor(global) || sp_torch_role(global) == SP_TORCH_ARRAY;
}

/* ---- the state of a dtype ---- */

/* The kind and size of a dtype that its arguments name: 'f4', '<U5', 'O8' or a class of ml_dtypes. */
struct element {
    char kind; /* 'x' for a class of ml_dtypes */
    uint64_t size;
};

static bool read_element(const struct sp_pickle_value *dtype, struct element *element)
{
    const struct sp_pickle_value *word = sp_pickle_arg(dtype, 0);
    const char *name = sp_pickle_is(word, SP_PICKLE_GLOBAL) ? sp_pickle_name(word) : NULL;
    *element = (struct element){.kind = 'x', .size = 1};
    if (!sp_pickle_is(dtype, SP_PICKLE_OBJECT) || !is_named(named_callable(dtype->as.object->callable), "numpy.dtype"))
        return false;
    if (name && sp_begins_with(name, "ml_dtypes.")) {
        element->size = 1 + !strcmp(name, "ml_dtypes.bfloat16");
        return true;
    }
    if (!sp_pickle_is(word, SP_PICKLE_STR)) return false;
    size_t i = word->length && memchr("<>=|", word->as.text[0], 4);
    if (word->length < i + 2 || word->length - i - 1 > MAX_DIGITS || !memchr("biufcmMSaUVO", word->as.text[i], 12))
        return false;
    element->kind = word->as.text[i];
    for (element->size = 0; ++i < word->length; element->size = element->size * 10 + (uint64_t)(word->as.text[i] - '0'))
        if (word->as.text[i] < '0' || word->as.text[i] > '9') return false;
    return true;
}

static bool is_none(const struct sp_pickle_value *value) { return sp_pickle_is(value, SP_PICKLE_NONE); }

/* An item of a state that is an integer; -1 for any other. */
static int64_t state_number(const struct sp_pickle_value *state, size_t index)
{
    const struct sp_pickle_value *value = sp_pickle_item(state, index);
    return sp_pickle_is(value, SP_PICKLE_INT) ? value->as.integer : -1;
}

/* The size of a dtype in bytes, and the flags that its kind or its state gives it; a state is judged by itself. */
static bool measure_dtype(const struct sp_pickle_value *dtype, uint64_t *size, int64_t *flags)
{
    struct element element;
    if (!read_element(dtype, &element) || element.kind == 'x') return false;
    const struct sp_pickle_value *state = dtype->as.object->state;
    *size = element.kind == 'U' ? element.size * 4 : element.size;
    *flags = element.kind == 'O' ? OF_OBJECTS : 0;
    if (!state) return true;
    *flags = state_number(state, 7);
    if (state_number(state, 5) >= 0) *size = (uint64_t)state_number(state, 5);
    return *flags >= 0;
}

/* A field {name: (dtype, offset[, title])}: its bytes in the struct, and the flags of its dtype. */
struct field {
    uint64_t begin, end;
    int64_t flags;
};

static bool read_field(const struct sp_pickle_value *value, uint64_t size, struct field *field)
{
    const int64_t offset = state_number(value, 1);
    uint64_t own = 0;
    if (!sp_pickle_is(value, SP_PICKLE_TUPLE) || offset < 0) return false;
    field->begin = (uint64_t)offset;
    return measure_dtype(sp_pickle_item(value, 0), &own, &field->flags) && sp_add_u64(field->begin, own, &field->end) &&
           field->end <= size;
}

/* Whether the first `count` fields leave the bytes of this one alone, as far as one of both has pointers. Under its
 * title a field comes a second time: the same tuple. */
static bool is_apart(const struct sp_pickle_value *fields, uint32_t count, const struct field *field,
                     const struct sp_pickle_value *value, uint64_t size)
{
    sp_budget_spend(count);
    for (uint32_t i = 0; i < count; i++) {
        const struct sp_pickle_value *other = fields->as.items[2 * i + 1];
        struct field its = {0};
        if (other == value || !read_field(other, size, &its)) continue;
        if ((its.flags | field->flags) & (REFCOUNTED | POINTER) && its.begin < field->end && field->begin < its.end)
            return false;
    }
    return true;
}

static bool is_text(const struct sp_pickle_value *a, const struct sp_pickle_value *b)
{
    return sp_pickle_is(a, SP_PICKLE_STR) && sp_pickle_is(b, SP_PICKLE_STR) && a->length == b->length &&
           memcmp(a->as.text, b->as.text, a->length) == 0;
}

/* Whether each name comes once, and is that of one field: NumPy looks up the fields by the names. */
static bool names_fit(const struct sp_pickle_value *names, const struct sp_pickle_value *fields)
{
    for (uint32_t i = 0; i < names->length; i++) {
        size_t same = 0, found = 0;
        sp_budget_spend(names->length + fields->length);
        for (uint32_t k = 0; k < names->length; k++) same += is_text(names->as.items[k], names->as.items[i]);
        for (uint32_t k = 0; k < fields->length; k += 2) found += is_text(fields->as.items[k], names->as.items[i]);
        if (same != 1 || found != 1) return false;
    }
    return true;
}

/* Fields that lie within the struct, and apart from those that are pointers. Their flags, together. */
static bool fields_fit(const struct sp_pickle_value *state, uint64_t size, int64_t *flags)
{
    const struct sp_pickle_value *names = sp_pickle_item(state, 3), *fields = sp_pickle_item(state, 4);
    if (!sp_pickle_is(names, SP_PICKLE_TUPLE) || !sp_pickle_is(fields, SP_PICKLE_DICT)) return false;
    for (uint32_t i = 0; i < fields->length / 2; i++) {
        const struct sp_pickle_value *value = fields->as.items[2 * i + 1];
        struct field field = {0};
        if (!read_field(value, size, &field) || !is_apart(fields, i, &field, value, size)) return false;
        *flags |= field.flags & INHERITED;
    }
    return names_fit(names, fields);
}

/* A subarray (dtype, shape) of exactly that size. Its flags. */
static bool subarray_fits(const struct sp_pickle_value *subarray, uint64_t size, int64_t *flags)
{
    const struct sp_pickle_value *shape = sp_pickle_item(subarray, 1);
    const bool many = sp_pickle_is(shape, SP_PICKLE_TUPLE);
    uint64_t product = 0;
    if (!sp_pickle_is(subarray, SP_PICKLE_TUPLE) || !measure_dtype(sp_pickle_item(subarray, 0), &product, flags))
        return false;
    for (uint32_t i = 0; i < (many ? shape->length : 1); i++) {
        const struct sp_pickle_value *length = many ? shape->as.items[i] : shape;
        if (!sp_pickle_is(length, SP_PICKLE_INT) || length->as.integer < 0 ||
            !sp_mul_u64(product, (uint64_t)length->as.integer, &product))
            return false;
    }
    return product == size;
}

/* Whether the flags of a state are those of its kind: which bytes are pointers to objects depends on them. */
static bool flags_fit(const struct sp_pickle_value *state, const struct element *element, uint64_t size)
{
    const bool parts = !is_none(sp_pickle_item(state, 3)) || !is_none(sp_pickle_item(state, 4));
    const bool subarray = !is_none(sp_pickle_item(state, 2));
    const int64_t flags = state_number(state, 7);
    int64_t expected = 0;
    if (element->kind == 'O') return flags == OF_OBJECTS && !parts && !subarray;
    if (element->kind == 'x') return flags == (flags & (NEEDS_PYTHON | GET_ITEM | SET_ITEM)) && !parts && !subarray;
    if (!parts && !subarray) return flags == (flags & (NEEDS_INIT | NEEDS_PYTHON));
    if (element->kind != 'V' || (parts && subarray)) return false;
    if (subarray) return subarray_fits(sp_pickle_item(state, 2), size, &expected) && flags == expected;
    return fields_fit(state, size, &expected) && flags >= 0 &&
           (flags & ~(int64_t)OF_STRUCTS) == (expected & ~(int64_t)OF_STRUCTS);
}

/* Whether numpy.dtype gave an object this state: (version, byte order, subarray, names, fields, size, alignment,
 * flags[, metadata]). NumPy believes what it says. */
static bool dtype_state_fits(const struct sp_pickle_value *dtype)
{
    const struct sp_pickle_value *state = dtype->as.object->state, *metadata = sp_pickle_item(state, LONG_STATE - 1);
    const int64_t size = state_number(state, 5), alignment = state_number(state, 6);
    struct element element;
    if (!sp_pickle_is(state, SP_PICKLE_TUPLE) || !read_element(dtype, &element)) return false;
    if (state->length != LONG_STATE - 1 && state->length != LONG_STATE) return false;
    const bool dated = element.kind == 'm' || element.kind == 'M';
    if (metadata && !is_none(metadata) && !sp_pickle_is(metadata, SP_PICKLE_DICT) && !dated) return false;
    if (alignment != -1 && (alignment < 1 || alignment > MAX_ALIGNMENT)) return false;
    if (element.kind == 'x' && size >= 0 && (uint64_t)size != element.size) return false;
    if (element.kind == 'U' && size >= 0 && size % 4 != 0) return false;
    return flags_fit(state, &element, size >= 0 ? (uint64_t)size : element.size);
}

/* ---- judging ---- */

/* What is reported, each once in a pickle. */
enum finding { ITEMS, ATTRIBUTES, DTYPE, FROM_TYPE, RECONSTRUCTOR, BUFFER, SHARED, IN_PLACE, SOURCES, FINDINGS };

static const char *const sentences[FINDINGS] = {
    [ITEMS] = "unpickling it would set items of what %s returns, which may change bytes that were judged before",
    [ATTRIBUTES] = "unpickling it would set attributes of what %s returns, which may be a function or class",
    [DTYPE] = "unpickling it would give what %s returns a state that does not fit its type: NumPy may crash",
    [FROM_TYPE] = "unpickling it would let %s set attributes of what may be no tensor",
    [RECONSTRUCTOR] = "unpickling it would let %s return something other than a new object of a class",
    [BUFFER] = "unpickling it would call %s with a buffer, whose bytes it would share: NumPy may crash",
    [SHARED] =
        "unpickling it would call %s with what is no bytes of its own, whose memory it would share: NumPy may crash",
    [IN_PLACE] = "unpickling it would call %s, which may change bytes that were judged before",
    [SOURCES] = "unpickling it would look for the source of %s, which is no module: torch may write a file",
};

static void report_finding(struct sp_torch *torch, bool *found, enum finding finding,
                           const struct sp_pickle_value *global)
{
    if (found[finding]) return;
    found[finding] = true;
    sp_inventory_warn(torch->inventory, sentences[finding], global ? global->as.global->name : "another object");
}

/* _reconstructor(class, base, state) is base.__new__(class, state): a new object if both are classes. */
static bool reconstructs(const struct sp_pickle_value *call)
{
    const struct sp_pickle_value *class = named_callable(sp_pickle_arg(call, 0));
    const struct sp_pickle_value *base = named_callable(sp_pickle_arg(call, 1));
    return class && base && (is_reported(class) || (makes_object(class) && !is_named(class, "numpy.dtype"))) &&
           (is_reported(base) || sp_torch_python_name(base->as.global->name));
}

/* _rebuild_from_type_v2(function, class, arguments, state) sets attributes of what the function returns. */
static bool rebuilds_tensor(const struct sp_pickle_value *call)
{
    const struct sp_pickle_value *function = sp_pickle_arg(call, 0);
    return sp_pickle_is(function, SP_PICKLE_GLOBAL) && (is_reported(function) || makes_tensor(function));
}

static void judge_call(struct sp_torch *torch, bool *found, const struct sp_pickle_value *call)
{
    const struct sp_pickle_object *object = call->as.object;
    const struct sp_pickle_value *global = named_callable(object->callable), *made = global;
    if (sp_pickle_is(object->callable, SP_PICKLE_OBJECT)) made = named_callable(object->callable->as.object->callable);
    if (is_reported(made)) return; /* itself, or what returns the class that is called: getattr */
    made = global;
    if (sp_torch_role(global) == SP_TORCH_FROM_TYPE && !rebuilds_tensor(call))
        report_finding(torch, found, FROM_TYPE, global);
    if (sp_torch_role(global) == SP_TORCH_RECONSTRUCTOR) {
        if (!reconstructs(call)) report_finding(torch, found, RECONSTRUCTOR, global);
        made = named_callable(sp_pickle_arg(call, 0));
        if (is_reported(made)) return;
    }
    if (sp_torch_role(global) == SP_TORCH_FUNCTION) report_finding(torch, found, IN_PLACE, global);
    const struct sp_pickle_value *buffer = sp_pickle_arg(call, 0);
    if (sp_torch_role(global) == SP_TORCH_ARRAY_BUFFER && !sp_pickle_is(buffer, SP_PICKLE_BYTES) &&
        !sp_pickle_is(buffer, SP_PICKLE_STR))
        report_finding(torch, found, SHARED, global);
    if (is_named(global, "numpy.ndarray") && (object->kwargs || object->args->length > 2))
        report_finding(torch, found, BUFFER, global);
    if ((object->items || object->pairs) && (!made || !makes_container(made)))
        report_finding(torch, found, ITEMS, global);
    if (!object->state) return;
    if (!made || !makes_object(made)) report_finding(torch, found, ATTRIBUTES, global);
    else if (is_named(made, "numpy.dtype") && !dtype_state_fits(call)) report_finding(torch, found, DTYPE, global);
}

/* A persistent id ('module', class, file, source), in tar files (class, file, source). torch compares the source with
 * that of the class, and writes the difference to a file if the class says so. torch.save writes such ids for classes
 * of modules alone, which are reported for their names. */
static void judge_id(struct sp_torch *torch, bool *found, const struct sp_pickle_value *persid)
{
    const struct sp_pickle_value *id = persid->as.id;
    const bool module = sp_pickle_is_text(sp_pickle_item(id, 0), "module");
    const struct sp_pickle_value *container = sp_pickle_item(id, module), *source = sp_pickle_item(id, module + 2U);
    const struct sp_pickle_value *global = named_callable(container);
    if ((!module && !sp_pickle_is(container, SP_PICKLE_GLOBAL)) || !source || is_none(source) || is_reported(global))
        return;
    report_finding(torch, found, SOURCES, global);
}

void sp_torch_judge_changes(struct sp_torch *torch, const struct sp_pickle *pickle)
{
    bool found[FINDINGS] = {false};
    for (size_t i = 0; i < pickle->global_count; i++) {
        const struct sp_pickle_value *global = pickle->globals[i];
        if (!global->as.global->held || is_reported(global)) continue;
        if (sp_torch_role(global) == SP_TORCH_FROM_TYPE) report_finding(torch, found, FROM_TYPE, global);
        if (sp_torch_role(global) == SP_TORCH_RECONSTRUCTOR) report_finding(torch, found, RECONSTRUCTOR, global);
    }
    for (size_t i = 0; i < pickle->call_count; i++) judge_call(torch, found, pickle->calls[i]);
    for (size_t i = 0; i < pickle->persid_count; i++) judge_id(torch, found, pickle->persids[i]);
}
