/* SPDX-License-Identifier: MIT
 * The pickle machine: a stack, a stack of marks, a memo. One table of opcodes gives each its name and the form of its
 * operand; one dispatch, the only long function, does what each of them says.
 * Refused: extension codes and out-of-band buffers, whose meaning is not in the file. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "base/real.h"
#include "base/utf8.h"
#include "base/word.h"
#include "read/pickle/escapes.h"
#include "read/pickle/pickle.h"

enum opcode {
#define SP_OPCODE(byte, name, operand) OP_##name = byte,
#include "read/pickle/opcodes.def"
#undef SP_OPCODE
};

/* The operand that follows an opcode. Numbers are little-endian but for F8. */
enum form {
    FORM_UNKNOWN, /* there is no such opcode */
    NONE,
    U1, /* an unsigned integer of so many bytes */
    U2,
    U4,
    U8,
    I4,    /* a signed one */
    F8,    /* a big-endian double */
    LINE,  /* text up to a line break */
    LINES, /* two such lines */
    S1,    /* bytes behind their length, which has so many bytes */
    S4,
    S8,
    T4 /* the same with a signed length */
};

static const struct {
    const char *name;
    enum form form;
} opcodes[256] = {
#define SP_OPCODE(byte, name, operand) [byte] = {#name, operand},
#include "read/pickle/opcodes.def"
#undef SP_OPCODE
};

typedef struct sp_pickle_value value; /* too long a name for a file that speaks of little else */

enum { HIGHEST_PROTOCOL = 5, RECENT_INTEGERS = 1024 /* a power of two */, MAX_TEXT_NUMBER = 32, MAX_GLOBAL = 4096 };

struct operand {
    uint64_t number;
    const char *text, *second; /* of S*, T4, LINE; of LINES also the second line */
    size_t length, second_length;
};

struct machine {
    struct sp_pickle *pickle;
    struct sp_arena *arena;
    const char *name;
    struct sp_cursor in;
    size_t at; /* offset of the current opcode */
    unsigned char code;
    struct shapeproof_error *error;
    value **stack;
    size_t count, capacity;
    size_t *marks; /* stack heights */
    size_t mark_count, mark_capacity;
    value **memo; /* holes are NULL */
    size_t memo_used, memo_capacity;
    struct sp_map global_names; /* -> index in pickle->globals */
    size_t global_capacity, persid_capacity, call_capacity;
    value *none, *truth, *falsehood, *empty; /* made once, shared */
    value *recent[RECENT_INTEGERS];          /* integers by their last bits: shapes and sizes come again and again */
};

/* ---- failing ---- */

/* Reports an error at the current opcode: "data.pkl: BINGET at byte 12: ...". */
static bool fail_as(struct machine *m, enum shapeproof_kind kind, const char *format, va_list args)
{
    char what[512], where[96];
    vsnprintf(what, sizeof what, format, args);
    if (opcodes[m->code].name) snprintf(where, sizeof where, "%s at byte %zu", opcodes[m->code].name, m->at);
    else snprintf(where, sizeof where, "byte %zu", m->at);
    return sp_fail(m->error, SHAPEPROOF_ERR_FILE, kind, "%s: %s: %s", m->name, where, what);
}

__attribute__((format(printf, 2, 3))) static bool bad_pickle(struct machine *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_as(m, SHAPEPROOF_KIND_MALFORMED, format, args);
    va_end(args);
    return false;
}

__attribute__((format(printf, 2, 3))) static bool over_limit(struct machine *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_as(m, SHAPEPROOF_KIND_LIMIT, format, args);
    va_end(args);
    return false;
}

static bool ends_early(struct machine *m, uint64_t wanted)
{
    m->pickle->truncated = true;
    return bad_pickle(m, "the pickle ends early: %" PRIu64 " bytes wanted, %zu left", wanted, sp_cursor_left(&m->in));
}

/* ---- operands ---- */

static bool take_line(struct machine *m, const char **text, size_t *length)
{
    const char *start = (const char *)m->in.data + m->in.offset;
    const size_t left = sp_cursor_left(&m->in);
    const char *end = left ? memchr(start, '\n', left) : NULL;
    if (!end) {
        m->pickle->truncated = true;
        return bad_pickle(m, "the pickle ends early: no end of line");
    }
    *text = start;
    *length = (size_t)(end - start);
    sp_cursor_take(&m->in, *length + 1);
    return true;
}

static bool take_pickle_number(struct machine *m, unsigned bytes, uint64_t *number)
{
    if (sp_cursor_left(&m->in) < bytes) return ends_early(m, bytes);
    *number = sp_cursor_le(&m->in, bytes);
    return true;
}

enum signedness { UNSIGNED, SIGNED };

/* Takes bytes behind their length, which has `prefix` bytes. A signed length must not be negative. */
static bool take_pickle_bytes(struct machine *m, unsigned prefix, enum signedness signedness, struct operand *operand)
{
    uint64_t length;
    if (!take_pickle_number(m, prefix, &length)) return false;
    if (signedness == SIGNED && length > INT32_MAX) return bad_pickle(m, "negative length");
    if (length > sp_cursor_left(&m->in)) return ends_early(m, length);
    operand->text = (const char *)sp_cursor_take(&m->in, length);
    operand->length = (size_t)length;
    return true;
}

/* Reads the operand of the opcode, in the form that the table of opcodes gives: a number of 1 to 8 bytes, one or
 * two lines, or a string behind its length. False, with the error set, where the pickle ends early. */
static bool take_operand(struct machine *m, enum form form, struct operand *operand)
{
    switch (form) {
    case FORM_UNKNOWN:
        return bad_pickle(m, "no opcode 0x%02x", m->code);
    case NONE:
        return true;
    case U1:
        return take_pickle_number(m, 1, &operand->number);
    case U2:
        return take_pickle_number(m, 2, &operand->number);
    case I4:
    case U4:
        return take_pickle_number(m, 4, &operand->number);
    case F8:
    case U8:
        return take_pickle_number(m, 8, &operand->number);
    case LINE:
        return take_line(m, &operand->text, &operand->length);
    case LINES:
        return take_line(m, &operand->text, &operand->length) &&
               take_line(m, &operand->second, &operand->second_length);
    case S1:
        return take_pickle_bytes(m, 1, UNSIGNED, operand);
    case S4:
        return take_pickle_bytes(m, 4, UNSIGNED, operand);
    case S8:
        return take_pickle_bytes(m, 8, UNSIGNED, operand);
    case T4:
        return take_pickle_bytes(m, 4, SIGNED, operand);
    }
    return false;
}

/* ---- the stack: what lies below the last mark is out of reach ---- */

static size_t fence(const struct machine *m) { return m->mark_count ? m->marks[m->mark_count - 1] : 0; }

static bool push_value(struct machine *m, value *item)
{
    if (!item) return false; /* its maker has said why */
    if (m->count >= SP_PICKLE_MAX_STACK) return over_limit(m, "more than %d values on the stack", SP_PICKLE_MAX_STACK);
    SP_GROW(m->stack, m->count, m->capacity);
    m->stack[m->count++] = item;
    return true;
}

static value *pop(struct machine *m)
{
    if (m->count > fence(m)) return m->stack[--m->count];
    bad_pickle(m, "the stack is empty");
    return NULL;
}

static value *top(struct machine *m)
{
    if (m->count > fence(m)) return m->stack[m->count - 1];
    bad_pickle(m, "the stack is empty");
    return NULL;
}

static bool push_mark(struct machine *m)
{
    if (m->mark_count >= SP_PICKLE_MAX_STACK)
        return over_limit(m, "more than %d marks on the stack", SP_PICKLE_MAX_STACK);
    SP_GROW(m->marks, m->mark_count, m->mark_capacity);
    m->marks[m->mark_count++] = m->count;
    return true;
}

/* Takes the values above the last mark off the stack; they stay readable until the next push. */
static bool pop_mark(struct machine *m, value ***items, size_t *count)
{
    if (!m->mark_count) return bad_pickle(m, "no mark on the stack");
    const size_t base = m->marks[--m->mark_count];
    *items = m->stack ? m->stack + base : NULL;
    *count = m->count - base;
    m->count = base;
    return true;
}

/* ---- making values ---- */

static value *make(struct machine *m, enum sp_pickle_type type)
{
    value *made = sp_arena_array(m->arena, 1, sizeof *made);
    made->type = (uint8_t)type;
    return made;
}

static value *make_integer(struct machine *m, int64_t number)
{
    value **known = &m->recent[(uint64_t)number % RECENT_INTEGERS], *made = *known;
    if (made && made->as.integer == number) return made;
    *known = made = make(m, SP_PICKLE_INT);
    made->as.integer = number;
    return made;
}

static value *make_text(struct machine *m, enum sp_pickle_type type, const char *text, size_t length)
{
    if (length > UINT32_MAX) {
        over_limit(m, "%zu bytes in one value", length);
        return NULL;
    }
    value *made = make(m, type);
    made->as.text = text;
    made->length = (uint32_t)length;
    return made;
}

/* Text in UTF-8, in which Python also has lone surrogates. Python refuses other bytes, and TorchScript's reader in C++
 * does not. */
static value *make_unicode(struct machine *m, const char *text, size_t length)
{
    size_t at = sp_utf8_check(text, length);
    while (at < length && !m->pickle->odd_text) {
        uint32_t code;
        const size_t taken = sp_utf8_decode_odd(text + at, length - at, &code);
        const bool is_long_nul = taken == 2 && !code; /* which other programs write, and Python does not read */
        m->pickle->odd_text = !taken || is_long_nul;
        at += taken;
        at += sp_utf8_check(text + at, length - at);
    }
    return make_text(m, SP_PICKLE_STR, text, length);
}

/* Two's complement, little-endian, any length. */
static value *make_long(struct machine *m, const struct operand *operand)
{
    if (operand->length > SP_WORD) return make_text(m, SP_PICKLE_BIG, operand->text, operand->length);
    uint64_t bits = sp_word_of_bytes(operand->text, operand->length);
    if (operand->length && operand->length < SP_WORD && (operand->text[operand->length - 1] & 0x80))
        bits |= UINT64_MAX << 8 * operand->length;
    return make_integer(m, (int64_t)bits);
}

static bool parse_decimal(const char *text, size_t length, int64_t *number)
{
    const bool negative = length && *text == '-';
    size_t i = length && (*text == '-' || *text == '+');
    int64_t sum = 0;
    for (; i < length; i++)
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_sub_overflow(sum, text[i] - '0', &sum)) return false;
    if (negative) *number = sum;
    else if (__builtin_sub_overflow((int64_t)0, sum, number)) return false;
    return true;
}

static bool is_decimal(const char *text, size_t length)
{
    size_t i = length && (*text == '-' || *text == '+');
    if (i == length) return false;
    for (; i < length; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return true;
}

static value *make_decimal(struct machine *m, const char *text, size_t length)
{
    int64_t number;
    if (!is_decimal(text, length)) {
        bad_pickle(m, "not a decimal integer");
        return NULL;
    }
    if (parse_decimal(text, length, &number)) return make_integer(m, number);
    value *made = make_text(m, SP_PICKLE_BIG, text, length);
    if (made) made->capacity = 1;
    return made;
}

static value *make_real(struct machine *m, double real)
{
    value *made = make(m, SP_PICKLE_FLOAT);
    made->as.real = real;
    return made;
}

static value *make_real_text(struct machine *m, const struct operand *operand)
{
    char text[MAX_TEXT_NUMBER + 1] = "", *end = text;
    if (operand->length <= MAX_TEXT_NUMBER) memcpy(text, operand->text, operand->length);
    const double real = sp_real_read(text, &end);
    if (end != text && !*end) return make_real(m, real);
    bad_pickle(m, "not a number");
    return NULL;
}

static value *make_real_bits(struct machine *m, uint64_t little_endian)
{
    const uint64_t bits = __builtin_bswap64(little_endian);
    double real;
    memcpy(&real, &bits, sizeof real);
    return make_real(m, real);
}

/* Notes that values become parts of another one. */
static void note_uses(value **items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i]->uses < 2) items[i]->uses++;
        if (items[i]->type == SP_PICKLE_GLOBAL) items[i]->as.global->held = true;
    }
}

/* Notes that a call got the items as arguments. */
static void give(const value *items)
{
    for (uint32_t i = 0; i < items->length; i++) items->as.items[i]->given = true;
}

static value *make_sequence(struct machine *m, enum sp_pickle_type type, value **items, size_t count)
{
    note_uses(items, count);
    value *made = make(m, type);
    made->as.items = count ? sp_arena_array(m->arena, count, sizeof *items) : NULL;
    made->length = made->capacity = (uint32_t)count; /* at most the stack */
    if (count) memcpy(made->as.items, items, count * sizeof *items);
    return made;
}

static value *make_persid(struct machine *m, value *id)
{
    if (!id) return NULL;
    note_uses(&id, 1);
    value *made = make(m, SP_PICKLE_PERSID);
    made->as.id = id;
    SP_GROW(m->pickle->persids, m->pickle->persid_count, m->persid_capacity);
    return m->pickle->persids[m->pickle->persid_count++] = made;
}

/* One node per name, so that interpreting it once is enough. */
static value *make_global(struct machine *m, const char *module, size_t module_length, const char *name, size_t length)
{
    if (module_length + length > MAX_GLOBAL || memchr(module, 0, module_length) || memchr(name, 0, length)) {
        bad_pickle(m, "a global of %zu bytes, or with NUL in its name", module_length + length);
        return NULL;
    }
    char *full = sp_arena_alloc(m->arena, module_length + length + 2);
    memcpy(full, module, module_length);
    full[module_length] = '.';
    memcpy(full + module_length + 1, name, length);
    const bool dotted = memchr(name, '.', length) != NULL;
    const size_t known = sp_map_get(&m->global_names, full);
    if (known != SIZE_MAX) {
        m->pickle->globals[known]->as.global->dotted |= dotted;
        return m->pickle->globals[known];
    }
    value *made = make(m, SP_PICKLE_GLOBAL);
    made->as.global = sp_arena_alloc(m->arena, sizeof *made->as.global);
    *made->as.global = (struct sp_pickle_global){.name = full, .dotted = dotted};
    sp_map_add(&m->global_names, full, m->pickle->global_count);
    SP_GROW(m->pickle->globals, m->pickle->global_count, m->global_capacity);
    return m->pickle->globals[m->pickle->global_count++] = made;
}

static value *make_stack_global(struct machine *m)
{
    value *name = pop(m), *module = name ? pop(m) : NULL;
    if (!module) return NULL;
    if (name->type == SP_PICKLE_STR && module->type == SP_PICKLE_STR)
        return make_global(m, module->as.text, module->length, name->as.text, name->length);
    bad_pickle(m, "module and name are not both strings");
    return NULL;
}

static value *make_object(struct machine *m, value *callable, value *args, value *kwargs)
{
    if (!callable || !args) return NULL;
    if (args->type != SP_PICKLE_TUPLE) {
        bad_pickle(m, "the arguments are not a tuple");
        return NULL;
    }
    if (callable->type < SP_PICKLE_GLOBAL) { /* what a call returns, or a persistent id stands for, may be called */
        bad_pickle(m, "what is called is no function or class");
        return NULL;
    }
    value *made = make(m, SP_PICKLE_OBJECT);
    made->as.object = sp_arena_alloc(m->arena, sizeof *made->as.object);
    *made->as.object = (struct sp_pickle_object){.callable = callable, .args = args, .kwargs = kwargs};
    made->as.object->is_new = m->code == OP_NEWOBJ || m->code == OP_NEWOBJ_EX;
    note_uses(&args, 1);
    give(args);
    if (kwargs && kwargs->type == SP_PICKLE_DICT) give(kwargs);
    if (callable->type == SP_PICKLE_GLOBAL) callable->as.global->called = true;
    SP_GROW(m->pickle->calls, m->pickle->call_count, m->call_capacity);
    return m->pickle->calls[m->pickle->call_count++] = made;
}

/* REDUCE and NEWOBJ. */
static value *make_call(struct machine *m)
{
    value *args = pop(m), *callable = args ? pop(m) : NULL;
    return make_object(m, callable, args, NULL);
}

static value *make_call_with_keywords(struct machine *m)
{
    value *kwargs = pop(m), *args = kwargs ? pop(m) : NULL, *callable = args ? pop(m) : NULL;
    return make_object(m, callable, args, kwargs);
}

/* INST (the class is in the operand) and OBJ (the class is the first value after the mark). */
static value *make_instance(struct machine *m, const struct operand *operand)
{
    value **items = NULL, *callable = NULL;
    size_t count = 0;
    if (!pop_mark(m, &items, &count)) return NULL;
    if (m->code == OP_INST)
        callable = make_global(m, operand->text, operand->length, operand->second, operand->second_length);
    else if (count) {
        callable = *items++;
        count--;
    } else bad_pickle(m, "no class after the mark");
    return callable ? make_object(m, callable, make_sequence(m, SP_PICKLE_TUPLE, items, count), NULL) : NULL;
}

/* ---- filling containers ---- */

/* Room for so many more. */
static bool reserve(struct machine *m, value *to, size_t count)
{
    const uint64_t needed = (uint64_t)to->length + count, twice = (uint64_t)to->capacity * 2;
    if (needed <= to->capacity) return true;
    const uint64_t capacity = needed > twice ? needed : twice;
    if (capacity > UINT32_MAX / 4) return over_limit(m, "%u items in one container", to->length);
    value **items = sp_arena_array(m->arena, (size_t)capacity, sizeof *items);
    if (to->length) memcpy(items, to->as.items, to->length * sizeof *items);
    to->as.items = items;
    to->capacity = (uint32_t)capacity;
    return true;
}

/* The part of `to` that takes items of `type`: itself, or for an object one made on demand. */
static value *receiver(struct machine *m, value *to, enum sp_pickle_type type)
{
    if (to->type == type) return to;
    if (to->type == SP_PICKLE_OBJECT && type == SP_PICKLE_DICT) {
        if (!to->as.object->pairs) to->as.object->pairs = make(m, SP_PICKLE_DICT);
        return to->as.object->pairs;
    }
    if (to->type == SP_PICKLE_OBJECT) {
        if (!to->as.object->items) to->as.object->items = make(m, SP_PICKLE_LIST);
        return to->as.object->items;
    }
    bad_pickle(m, "what is below is not a %s",
               type == SP_PICKLE_DICT  ? "dict"
               : type == SP_PICKLE_SET ? "set"
                                       : "list");
    return NULL;
}

/* Appends to the container below. What a call or BUILD has been given may not change any more: list(L) and
 * torch.Size(L) have copied what was in L until then, and the graph has only what is in it at the end. Python's own
 * pickles fill a container first, unless an object holds itself. */
static bool append_all(struct machine *m, value **items, size_t count, enum sp_pickle_type type)
{
    value *below = top(m), *to = below ? receiver(m, below, type) : NULL;
    if (!to) return false;
    if (type == SP_PICKLE_DICT && count % 2) return bad_pickle(m, "a key without a value");
    if (!count) return true;
    if (below->given) return bad_pickle(m, "it adds to what a call was given before, which may have copied it");
    if (!reserve(m, to, count)) return false;
    note_uses(items, count);
    memcpy(to->as.items + to->length, items, count * sizeof *items);
    to->length += (uint32_t)count;
    return true;
}

static bool append_marked(struct machine *m, enum sp_pickle_type type)
{
    value **items = NULL;
    size_t count = 0;
    return pop_mark(m, &items, &count) && append_all(m, items, count, type);
}

static bool append_top(struct machine *m, size_t count, enum sp_pickle_type type)
{
    if (m->count - fence(m) < count) return bad_pickle(m, "the stack is empty");
    m->count -= count;
    return append_all(m, m->stack + m->count, count, type);
}

static bool push_marked(struct machine *m, enum sp_pickle_type type)
{
    value **items = NULL;
    size_t count = 0;
    if (!pop_mark(m, &items, &count)) return false;
    if (type == SP_PICKLE_DICT && count % 2) return bad_pickle(m, "a key without a value");
    return push_value(m, make_sequence(m, type, items, count));
}

static bool push_tuple(struct machine *m, size_t count)
{
    if (m->count - fence(m) < count) return bad_pickle(m, "the stack is empty");
    m->count -= count;
    return push_value(m, make_sequence(m, SP_PICKLE_TUPLE, m->stack + m->count, count));
}

static bool build_object(struct machine *m)
{
    value *state = pop(m), *target = state ? top(m) : NULL;
    if (!target) return false;
    if (target->type != SP_PICKLE_OBJECT) return bad_pickle(m, "what is below is not an object");
    struct sp_pickle_object *object = target->as.object;
    value *both[] = {object->state, state};
    note_uses(&state, 1);
    state->given = true;
    if (state->type == SP_PICKLE_TUPLE) give(state);
    object->state = object->state ? make_sequence(m, SP_PICKLE_TUPLE, both, 2) : state;
    return true;
}

/* ---- the memo ---- */

/* An honest memo is dense, and each entry takes two bytes of the pickle: that bounds it. */
static bool memo_put(struct machine *m, uint64_t index)
{
    value *item = top(m);
    if (!item) return false;
    if (index > m->in.length)
        return bad_pickle(m, "memo entry %" PRIu64 " in a pickle of %zu bytes", index, m->in.length);
    if (index >= SP_PICKLE_MAX_MEMO)
        return over_limit(m, "memo entry %" PRIu64 ", at most %d", index, SP_PICKLE_MAX_MEMO);
    if (index >= m->memo_capacity) {
        const size_t capacity = index >= m->memo_capacity * 2 ? (size_t)index + 16 : m->memo_capacity * 2;
        m->memo = sp_realloc(m->memo, capacity, sizeof *m->memo);
        memset(m->memo + m->memo_capacity, 0, (capacity - m->memo_capacity) * sizeof *m->memo);
        m->memo_capacity = capacity;
    }
    m->memo_used += !m->memo[index];
    m->memo[index] = item;
    return true;
}

static bool memo_get(struct machine *m, uint64_t index)
{
    if (index >= m->memo_capacity || !m->memo[index]) return bad_pickle(m, "no memo entry %" PRIu64, index);
    return push_value(m, m->memo[index]);
}

static bool memo_index(struct machine *m, const struct operand *operand, uint64_t *index)
{
    int64_t number;
    if (!is_decimal(operand->text, operand->length) || !parse_decimal(operand->text, operand->length, &number) ||
        number < 0)
        return bad_pickle(m, "not an index of the memo");
    *index = (uint64_t)number;
    return true;
}

/* ---- single opcodes with something to check ---- */

static bool push_int_line(struct machine *m, const struct operand *operand)
{
    const bool flag = operand->length == 2 && operand->text[0] == '0';
    if (m->code == OP_INT && flag && operand->text[1] == '1') return push_value(m, m->truth);
    if (m->code == OP_INT && flag && operand->text[1] == '0') return push_value(m, m->falsehood);
    const bool suffix = m->code == OP_LONG && operand->length && operand->text[operand->length - 1] == 'L';
    return push_value(m, make_decimal(m, operand->text, operand->length - suffix));
}

typedef bool unescape(const char *text, size_t length, char *out, size_t *count);

/* The text of a line without its escapes; most lines have none, and are used where they lie. */
static bool push_unescaped(struct machine *m, unescape *plain, const char *text, size_t length)
{
    bool as_it_is = true;
    for (size_t i = 0; i < length && as_it_is; i++) as_it_is = text[i] != '\\' && (unsigned char)text[i] < 0x80;
    if (as_it_is) return push_value(m, make_text(m, SP_PICKLE_STR, text, length));
    if (length > UINT32_MAX / 2) return over_limit(m, "%zu bytes in one value", length);
    char *out = sp_arena_alloc(m->arena, 2 * length);
    if (!plain(text, length, out, &length)) return bad_pickle(m, "a string with a broken escape");
    return push_value(m, make_text(m, SP_PICKLE_STR, out, length));
}

static bool push_quoted(struct machine *m, const struct operand *operand)
{
    const char *text = operand->text;
    const size_t length = operand->length;
    if (length < 2 || (*text != '\'' && *text != '"') || text[length - 1] != *text)
        return bad_pickle(m, "no quoted string");
    return push_unescaped(m, sp_pickle_plain_bytes, text + 1, length - 2);
}

static bool pop_value_or_mark(struct machine *m)
{
    if (m->count > fence(m)) m->count--;
    else if (m->mark_count) m->mark_count--;
    else return bad_pickle(m, "the stack is empty");
    return true;
}

static bool stop_machine(struct machine *m)
{
    m->pickle->root = pop(m);
    m->pickle->end = m->in.offset;
    return m->pickle->root != NULL;
}

static bool refuse_opcode(struct machine *m)
{
    return sp_fail(m->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_REFUSED, "%s: %s at byte %zu: unsupported opcode",
                   m->name, opcodes[m->code].name, m->at);
}

/* The dispatch: the only long function, one line per opcode. */
/* clang-format off */
static bool execute(struct machine *m, const struct operand *arg)
{
    value **items = NULL;
    size_t count = 0;
    uint64_t number = 0;
    switch (m->code) {
    case OP_MARK: return push_mark(m);
    case OP_STOP: return stop_machine(m);
    case OP_POP: return pop_value_or_mark(m);
    case OP_POP_MARK: return pop_mark(m, &items, &count);
    case OP_DUP: return push_value(m, top(m));
    case OP_PROTO: return arg->number <= HIGHEST_PROTOCOL || bad_pickle(m, "protocol %" PRIu64, arg->number);
    case OP_FRAME: return arg->number <= sp_cursor_left(&m->in) || ends_early(m, arg->number);
    case OP_NONE: return push_value(m, m->none);
    case OP_NEWTRUE: return push_value(m, m->truth);
    case OP_NEWFALSE: return push_value(m, m->falsehood);
    case OP_INT:
    case OP_LONG: return push_int_line(m, arg);
    case OP_BININT: return push_value(m, make_integer(m, (int32_t)(uint32_t)arg->number));
    case OP_BININT1:
    case OP_BININT2: return push_value(m, make_integer(m, (int64_t)arg->number));
    case OP_LONG1:
    case OP_LONG4: return push_value(m, make_long(m, arg));
    case OP_FLOAT: return push_value(m, make_real_text(m, arg));
    case OP_BINFLOAT: return push_value(m, make_real_bits(m, arg->number));
    case OP_STRING: return push_quoted(m, arg);
    case OP_UNICODE: return push_unescaped(m, sp_pickle_plain_text, arg->text, arg->length);
    case OP_BINSTRING:
    case OP_SHORT_BINSTRING: return push_value(m, make_text(m, SP_PICKLE_STR, arg->text, arg->length));
    case OP_BINUNICODE:
    case OP_SHORT_BINUNICODE:
    case OP_BINUNICODE8: return push_value(m, make_unicode(m, arg->text, arg->length));
    case OP_BINBYTES:
    case OP_SHORT_BINBYTES:
    case OP_BINBYTES8:
    case OP_BYTEARRAY8: return push_value(m, make_text(m, SP_PICKLE_BYTES, arg->text, arg->length));
    case OP_EMPTY_TUPLE: return push_value(m, m->empty);
    case OP_EMPTY_LIST: return push_value(m, make(m, SP_PICKLE_LIST));
    case OP_EMPTY_DICT: return push_value(m, make(m, SP_PICKLE_DICT));
    case OP_EMPTY_SET: return push_value(m, make(m, SP_PICKLE_SET));
    case OP_TUPLE: return push_marked(m, SP_PICKLE_TUPLE);
    case OP_LIST: return push_marked(m, SP_PICKLE_LIST);
    case OP_DICT: return push_marked(m, SP_PICKLE_DICT);
    case OP_FROZENSET: return push_marked(m, SP_PICKLE_SET);
    case OP_TUPLE1: return push_tuple(m, 1);
    case OP_TUPLE2: return push_tuple(m, 2);
    case OP_TUPLE3: return push_tuple(m, 3);
    case OP_APPEND: return append_top(m, 1, SP_PICKLE_LIST);
    case OP_APPENDS: return append_marked(m, SP_PICKLE_LIST);
    case OP_SETITEM: return append_top(m, 2, SP_PICKLE_DICT);
    case OP_SETITEMS: return append_marked(m, SP_PICKLE_DICT);
    case OP_ADDITEMS: return append_marked(m, SP_PICKLE_SET);
    case OP_PUT: return memo_index(m, arg, &number) && memo_put(m, number);
    case OP_BINPUT:
    case OP_LONG_BINPUT: return memo_put(m, arg->number);
    case OP_MEMOIZE: return memo_put(m, m->memo_used);
    case OP_GET: return memo_index(m, arg, &number) && memo_get(m, number);
    case OP_BINGET:
    case OP_LONG_BINGET: return memo_get(m, arg->number);
    case OP_GLOBAL: return push_value(m, make_global(m, arg->text, arg->length, arg->second, arg->second_length));
    case OP_STACK_GLOBAL: return push_value(m, make_stack_global(m));
    case OP_REDUCE:
    case OP_NEWOBJ: return push_value(m, make_call(m));
    case OP_NEWOBJ_EX: return push_value(m, make_call_with_keywords(m));
    case OP_INST:
    case OP_OBJ: return push_value(m, make_instance(m, arg));
    case OP_BUILD: return build_object(m);
    case OP_PERSID: return push_value(m, make_persid(m, make_text(m, SP_PICKLE_STR, arg->text, arg->length)));
    case OP_BINPERSID: return push_value(m, make_persid(m, pop(m)));
    default: return refuse_opcode(m); /* EXT*, NEXT_BUFFER, READONLY_BUFFER */
    }
}
/* clang-format on */

static bool run_opcodes(struct machine *m)
{
    do {
        struct operand operand = {0};
        m->at = m->in.offset;
        if (!sp_cursor_left(&m->in)) {
            m->pickle->truncated = true;
            return sp_malformed(m->error, "%s: the pickle ends early at byte %zu, without STOP", m->name, m->at);
        }
        m->code = (unsigned char)sp_cursor_le(&m->in, 1);
        if (m->arena->used > SP_PICKLE_MAX_MEMORY)
            return over_limit(m, "more than %d bytes of values", SP_PICKLE_MAX_MEMORY);
        if (!take_operand(m, opcodes[m->code].form, &operand) || !execute(m, &operand)) return false;
    } while (m->code != OP_STOP);
    return true;
}

/* The lists of globals, persistent ids and calls grow on the heap and end up in the arena, with everything else. */
static value **settle(struct machine *m, value **list, size_t count)
{
    value **kept = sp_arena_array(m->arena, count, sizeof *kept);
    if (count) memcpy(kept, list, count * sizeof *kept);
    sp_free(list);
    return kept;
}

bool sp_pickle_read(struct sp_pickle *pickle, struct sp_arena *arena, const char *name, const void *data, size_t length,
                    struct shapeproof_error *error)
{
    struct machine m = {.pickle = pickle, .arena = arena, .name = name, .error = error};
    *pickle = (struct sp_pickle){0};
    m.in = sp_cursor_of(data, length);
    m.none = make(&m, SP_PICKLE_NONE);
    m.falsehood = make(&m, SP_PICKLE_BOOL);
    m.truth = make(&m, SP_PICKLE_BOOL);
    m.truth->as.integer = 1;
    m.empty = make(&m, SP_PICKLE_TUPLE);
    const bool ok = run_opcodes(&m);
    pickle->globals = settle(&m, pickle->globals, pickle->global_count);
    pickle->persids = settle(&m, pickle->persids, pickle->persid_count);
    pickle->calls = settle(&m, pickle->calls, pickle->call_count);
    sp_map_free(&m.global_names);
    sp_free(m.stack);
    sp_free(m.marks);
    sp_free(m.memo);
    return ok;
}
