/* SPDX-License-Identifier: MIT
 * The pickle machine: what it builds, and the exact words with which it refuses. */
#include "torch_helper.h"

#include <stdlib.h>

#include "base/text.h"
#include "read/pickle/pickle.h"

/* A pickle as a string literal, which may hold NUL bytes. */
#define PICKLE(text) text, sizeof(text) - 1

struct fixture {
    struct sp_arena arena;
    struct sp_pickle pickle;
    struct shapeproof_error error;
    bool ok;
};

static struct fixture read_pickle(const char *bytes, size_t length)
{
    struct fixture f = {0};
    f.ok = sp_pickle_read(&f.pickle, &f.arena, "data.pkl", bytes, length, &f.error);
    return f;
}

/* ---- one value, spelt out ---- */

static void spell(struct sp_text *text, const struct sp_pickle_value *v);

static void spell_items(struct sp_text *text, const char *open, const struct sp_pickle_value *v, const char *close)
{
    sp_text_puts(text, open);
    for (uint32_t i = 0; i < v->length; i++) {
        if (i) sp_text_puts(text, " ");
        spell(text, v->as.items[i]);
    }
    sp_text_puts(text, close);
}

static void spell_object(struct sp_text *text, const struct sp_pickle_object *object)
{
    spell(text, object->callable);
    spell(text, object->args);
    if (object->kwargs) spell(text, object->kwargs);
    if (object->items) spell(text, object->items);
    if (object->pairs) spell(text, object->pairs);
    if (object->state) sp_text_puts(text, "<");
    if (object->state) spell(text, object->state);
    if (object->state) sp_text_puts(text, ">");
}

static void spell(struct sp_text *text, const struct sp_pickle_value *v)
{
    switch ((enum sp_pickle_type)v->type) {
    case SP_PICKLE_NONE:
        sp_text_puts(text, "None");
        break;
    case SP_PICKLE_BOOL:
        sp_text_puts(text, v->as.integer ? "True" : "False");
        break;
    case SP_PICKLE_INT:
        sp_text_printf(text, "%lld", (long long)v->as.integer);
        break;
    case SP_PICKLE_BIG:
        sp_text_printf(text, "big:%u", v->length);
        break;
    case SP_PICKLE_FLOAT:
        sp_text_printf(text, "%g", v->as.real);
        break;
    case SP_PICKLE_STR:
        sp_text_printf(text, "'%.*s'", (int)v->length, v->as.text);
        break;
    case SP_PICKLE_BYTES:
        sp_text_printf(text, "b'%.*s'", (int)v->length, v->as.text);
        break;
    case SP_PICKLE_TUPLE:
        spell_items(text, "(", v, ")");
        break;
    case SP_PICKLE_LIST:
        spell_items(text, "[", v, "]");
        break;
    case SP_PICKLE_SET:
        spell_items(text, "set(", v, ")");
        break;
    case SP_PICKLE_DICT:
        spell_items(text, "{", v, "}");
        break;
    case SP_PICKLE_GLOBAL:
        sp_text_puts(text, v->as.global->name);
        break;
    case SP_PICKLE_PERSID:
        sp_text_puts(text, "@");
        spell(text, v->as.id);
        break;
    case SP_PICKLE_OBJECT:
        spell_object(text, v->as.object);
        break;
    }
}

static const struct {
    const char *bytes;
    size_t length;
    const char *spelt;
} values[] = {
    {PICKLE("\x80\2N."), "None"},
    {PICKLE("\x88."), "True"},
    {PICKLE("\x89."), "False"},
    {PICKLE("I01\n."), "True"},
    {PICKLE("I00\n."), "False"},
    {PICKLE("I1\n."), "1"},
    {PICKLE("I-12\n."), "-12"},
    {PICKLE("L12L\n."), "12"},
    {PICKLE("L-9223372036854775808L\n."), "-9223372036854775808"},
    {PICKLE("L9223372036854775808L\n."), "big:19"},
    {PICKLE("K\xff."), "255"},
    {PICKLE("M\xff\xff."), "65535"},
    {PICKLE("J\xff\xff\xff\xff."), "-1"},
    {PICKLE("\x8a\0."), "0"},
    {PICKLE("\x8a\1\xff."), "-1"},
    {PICKLE("\x8a\2\xff\0."), "255"},
    {PICKLE("\x8a\10\0\0\0\0\0\0\0\x80."), "-9223372036854775808"},
    {PICKLE("\x8a\11\0\0\0\0\0\0\0\0\1."), "big:9"},
    {PICKLE("\x8b\1\0\0\0\7."), "7"},
    {PICKLE("F1.5\n."), "1.5"},
    {PICKLE("G\x3f\xf8\0\0\0\0\0\0."), "1.5"},
    {PICKLE("S'ab'\n."), "'ab'"},
    {PICKLE("T\2\0\0\0ab."), "'ab'"},
    {PICKLE("U\2ab."), "'ab'"},
    {PICKLE("Vab\n."), "'ab'"},
    {PICKLE("X\2\0\0\0ab."), "'ab'"},
    {PICKLE("\x8c\2ab."), "'ab'"},
    {PICKLE("\x8d\2\0\0\0\0\0\0\0ab."), "'ab'"},
    {PICKLE("C\2ab."), "b'ab'"},
    {PICKLE("B\2\0\0\0ab."), "b'ab'"},
    {PICKLE("\x8e\2\0\0\0\0\0\0\0ab."), "b'ab'"},
    {PICKLE("\x96\2\0\0\0\0\0\0\0ab."), "b'ab'"},
    {PICKLE("\x80\4\x95\1\0\0\0\0\0\0\0)."), "()"},
    {PICKLE("K\1\x85."), "(1)"},
    {PICKLE("K\1K\2\x86."), "(1 2)"},
    {PICKLE("K\1K\2K\3\x87."), "(1 2 3)"},
    {PICKLE("(K\1K\2K\3K\4t."), "(1 2 3 4)"},
    {PICKLE("(K\1K\2l."), "[1 2]"},
    {PICKLE("(K\1K\2d."), "{1 2}"},
    {PICKLE("](K\1K\2e."), "[1 2]"},
    {PICKLE("]K\1a."), "[1]"},
    {PICKLE("}K\1K\2s."), "{1 2}"},
    {PICKLE("}(K\1K\2K\3K\4u."), "{1 2 3 4}"},
    {PICKLE("\x8f(K\1K\2\x90."), "set(1 2)"},
    {PICKLE("(K\1\x91."), "set(1)"},
    {PICKLE("K\1"
            "0K\2."),
     "2"},
    {PICKLE("K\2(K\1K\3"
            "1."),
     "2"},
    {PICKLE("K\2(0."), "2"}, /* POP takes the mark when nothing lies above it */
    {PICKLE("K\2"
            "2\x86."),
     "(2 2)"},
    {PICKLE("K\7q\0"
            "0h\0."),
     "7"},
    {PICKLE("K\7r\2\0\0\0"
            "0j\2\0\0\0."),
     "7"},
    {PICKLE("K\7p1\n0g1\n."), "7"},
    {PICKLE("K\7\x94"
            "0K\10\x94"
            "0h\0h\1\x86."),
     "(7 8)"},
    {PICKLE("K\7q\0"
            "0K\10q\0"
            "0h\0."),
     "8"}, /* an entry may be overwritten */
    {PICKLE("cos\nsystem\n."), "os.system"},
    {PICKLE("X\2\0\0\0osX\6\0\0\0system\x93."), "os.system"},
    {PICKLE("cos\nsystem\nX\2\0\0\0ls\x85R."), "os.system('ls')"},
    {PICKLE("cm\nC\n)\x81."), "m.C()"},
    {PICKLE("cm\nC\n)}K\1K\2s\x92."), "m.C(){1 2}"},
    {PICKLE("(K\1im\nC\n."), "m.C(1)"},
    {PICKLE("(cm\nC\nK\1o."), "m.C(1)"},
    {PICKLE("cm\nC\n)\x81}b."), "m.C()<{}>"},
    {PICKLE("cm\nC\n)\x81K\1bK\2b."), "m.C()<(1 2)>"},
    {PICKLE("cm\nC\n)RK\1K\2s."), "m.C(){1 2}"},
    {PICKLE("cm\nC\n)RK\1a."), "m.C()[1]"},
    {PICKLE("cb\ngetattr\ncos\nsystem\nU\1x\x86R)R."), "b.getattr(os.system 'x')()"},
    {PICKLE("Pkey\n."), "@'key'"},
    {PICKLE("K\1Q."), "@1"},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct fixture f = read_pickle(values[i].bytes, values[i].length);
        struct sp_text text = {0};
        assert_string_equal(f.error.message, "");
        spell(&text, f.pickle.root);
        assert_string_equal(text.data, values[i].spelt);
        assert_int_equal(f.pickle.end, values[i].length);
        sp_text_free(&text);
        sp_arena_free(&f.arena);
    }
}

/* Python 2 wrote byte strings, and TorchScript writes any std::string as if it were text: both are read, and it is
 * noted where Python 3 would refuse the text. */
static void test_texts_that_are_not_utf8(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        bool odd;
    } texts[] = {
        {PICKLE("T\2\0\0\0a\xff."), false},
        {PICKLE("U\2a\xff."), false},
        {PICKLE("X\2\0\0\0\xc3\xa9."), false},
        {PICKLE("X\3\0\0\0\xed\xa0\x80."), false},
        {PICKLE("X\2\0\0\0a\xff."), true},
        {PICKLE("X\2\0\0\0\xc0\x80."), true},
        {PICKLE("\x8c\1\xff."), true},
        {PICKLE("]X\1\0\0\0\xff"
                "aX\1\0\0\0ba."),
         true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f = read_pickle(texts[i].bytes, texts[i].length);
        assert_string_equal(f.error.message, "");
        assert_int_equal(f.pickle.odd_text, texts[i].odd);
        sp_arena_free(&f.arena);
    }
}

/* ---- refusals ---- */

static const struct {
    const char *bytes;
    size_t length;
    enum shapeproof_kind kind;
    const char *message;
} refusals[] = {
    {PICKLE(""), SHAPEPROOF_KIND_MALFORMED, "data.pkl: the pickle ends early at byte 0, without STOP"},
    {PICKLE("\x80\2K\1"), SHAPEPROOF_KIND_MALFORMED, "data.pkl: the pickle ends early at byte 4, without STOP"},
    {PICKLE("\x80\2M\1"), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: BININT2 at byte 2: the pickle ends early: 2 bytes wanted, 1 left"},
    {PICKLE("X\5\0\0\0abc"), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: BINUNICODE at byte 0: the pickle ends early: 5 bytes wanted, 3 left"},
    {PICKLE("cos\nsys"), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: GLOBAL at byte 0: the pickle ends early: no end of line"},
    {PICKLE("\x8b\xff\xff\xff\xff."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: LONG4 at byte 0: negative length"},
    {PICKLE("\x8b\xff\xff\xff\x7f."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: LONG4 at byte 0: the pickle ends early: 2147483647 bytes wanted, 1 left"},
    {PICKLE("T\xff\xff\xff\xff."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: BINSTRING at byte 0: negative length"},
    {PICKLE("\x8a\xff."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: LONG1 at byte 0: the pickle ends early: 255 bytes wanted, 1 left"},
    {PICKLE("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: BINUNICODE8 at byte 0: the pickle ends early: 18446744073709551615 bytes wanted, 1 left"},
    {PICKLE("\x8e\xff\xff\xff\xff\xff\xff\xff\xff."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: BINBYTES8 at byte 0: the pickle ends early: 18446744073709551615 bytes wanted, 1 left"},
    {PICKLE("\x96\xff\xff\xff\xff\xff\xff\xff\xff."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: BYTEARRAY8 at byte 0: the pickle ends early: 18446744073709551615 bytes wanted, 1 left"},
    {PICKLE("\x95\xff\xff\xff\xff\xff\xff\xff\xff."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: FRAME at byte 0: the pickle ends early: 18446744073709551615 bytes wanted, 1 left"},
    {PICKLE("\x80\6N."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: PROTO at byte 0: protocol 6"},
    {PICKLE("\xff."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: byte 0: no opcode 0xff"},
    {PICKLE("Nr\xff\xff\xff\xff."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: LONG_BINPUT at byte 1: memo entry 4294967295 in a pickle of 7 bytes"},
    {PICKLE("Np1000000000000000000\n."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: PUT at byte 1: memo entry 1000000000000000000 in a pickle of 23 bytes"},
    {PICKLE("Np-1\n."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: PUT at byte 1: not an index of the memo"},
    {PICKLE("Npx\n."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: PUT at byte 1: not an index of the memo"},
    {PICKLE("h\5."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: BINGET at byte 0: no memo entry 5"},
    {PICKLE("Nq\0j\1\0\0\0."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: LONG_BINGET at byte 3: no memo entry 1"},
    {PICKLE("\x94."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: MEMOIZE at byte 0: the stack is empty"},
    {PICKLE("N(\x94."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: MEMOIZE at byte 2: the stack is empty"},
    {PICKLE("."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: STOP at byte 0: the stack is empty"},
    {PICKLE("N(."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: STOP at byte 2: the stack is empty"},
    {PICKLE("0."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: POP at byte 0: the stack is empty"},
    {PICKLE("1."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: POP_MARK at byte 0: no mark on the stack"},
    {PICKLE("2."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: DUP at byte 0: the stack is empty"},
    {PICKLE("Nt."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: TUPLE at byte 1: no mark on the stack"},
    {PICKLE("N\x86."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: TUPLE2 at byte 1: the stack is empty"},
    {PICKLE("}(Nu."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: SETITEMS at byte 3: a key without a value"},
    {PICKLE("(Nd."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: DICT at byte 2: a key without a value"},
    {PICKLE("}Na."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: APPEND at byte 2: what is below is not a list"},
    {PICKLE("]NNs."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: SETITEM at byte 3: what is below is not a dict"},
    {PICKLE("](N\x90."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: ADDITEMS at byte 3: what is below is not a set"},
    {PICKLE("(Ne."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: APPENDS at byte 2: the stack is empty"},
    {PICKLE("]}b."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: BUILD at byte 2: what is below is not an object"},
    {PICKLE("cm\nC\nNR."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: REDUCE at byte 6: the arguments are not a tuple"},
    {PICKLE("\x89)R."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: REDUCE at byte 2: what is called is no function or class"},
    {PICKLE("(I1\no."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: OBJ at byte 4: what is called is no function or class"},
    {PICKLE("cm\nC\n]\x81."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: NEWOBJ at byte 6: the arguments are not a tuple"},
    {PICKLE("(o."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: OBJ at byte 1: no class after the mark"},
    {PICKLE("K\1U\1x\x93."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: STACK_GLOBAL at byte 5: module and name are not both strings"},
    {PICKLE("c\0\nC\n."), SHAPEPROOF_KIND_MALFORMED,
     "data.pkl: GLOBAL at byte 0: a global of 2 bytes, or with NUL in its name"},
    {PICKLE("S'x\n."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: STRING at byte 0: no quoted string"},
    {PICKLE("S'\n."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: STRING at byte 0: no quoted string"},
    {PICKLE("I1x\n."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: INT at byte 0: not a decimal integer"},
    {PICKLE("L\n."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: LONG at byte 0: not a decimal integer"},
    {PICKLE("Fx\n."), SHAPEPROOF_KIND_MALFORMED, "data.pkl: FLOAT at byte 0: not a number"},
    {PICKLE("\x82\1."), SHAPEPROOF_KIND_REFUSED, "data.pkl: EXT1 at byte 0: unsupported opcode"},
    {PICKLE("\x83\1\0."), SHAPEPROOF_KIND_REFUSED, "data.pkl: EXT2 at byte 0: unsupported opcode"},
    {PICKLE("\x84\1\0\0\0."), SHAPEPROOF_KIND_REFUSED, "data.pkl: EXT4 at byte 0: unsupported opcode"},
    {PICKLE("\x97."), SHAPEPROOF_KIND_REFUSED, "data.pkl: NEXT_BUFFER at byte 0: unsupported opcode"},
    {PICKLE("\x98."), SHAPEPROOF_KIND_REFUSED, "data.pkl: READONLY_BUFFER at byte 0: unsupported opcode"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct fixture f = read_pickle(refusals[i].bytes, refusals[i].length);
        assert_string_equal(f.error.message, refusals[i].message);
        assert_false(f.ok);
        assert_int_equal(f.error.kind, refusals[i].kind);
        assert_int_equal(f.error.status, SHAPEPROOF_ERR_FILE);
        sp_arena_free(&f.arena);
    }
}

static void test_end_and_truncation(void **state)
{
    (void)state;
    struct fixture f = read_pickle(PICKLE("K\1.K\2."));
    assert_true(f.ok);
    assert_int_equal(f.pickle.end, 3);
    sp_arena_free(&f.arena);
    f = read_pickle(PICKLE("X\5\0\0\0ab"));
    assert_true(f.pickle.truncated);
    sp_arena_free(&f.arena);
    f = read_pickle(PICKLE("t"));
    assert_false(f.pickle.truncated);
    sp_arena_free(&f.arena);
}

static void test_globals_are_collected(void **state)
{
    (void)state;
    struct fixture f = read_pickle(PICKLE("cos\nsystem\n)R0cm\nC\n0cos\nsystem\nQ."));
    assert_true(f.ok);
    assert_int_equal(f.pickle.global_count, 2);
    assert_string_equal(f.pickle.globals[0]->as.global->name, "os.system");
    assert_true(f.pickle.globals[0]->as.global->called);
    assert_string_equal(f.pickle.globals[1]->as.global->name, "m.C");
    assert_false(f.pickle.globals[1]->as.global->called);
    assert_int_equal(f.pickle.persid_count, 1);
    assert_ptr_equal(f.pickle.root, f.pickle.persids[0]);
    sp_arena_free(&f.arena);
}

static void test_cycles(void **state)
{
    (void)state;
    struct fixture f = read_pickle(PICKLE("]q\0h\0a."));
    assert_true(f.ok);
    assert_ptr_equal(sp_pickle_item(f.pickle.root, 0), f.pickle.root);
    sp_arena_free(&f.arena);
    f = read_pickle(PICKLE("}q\0h\0h\0s."));
    assert_true(f.ok);
    assert_ptr_equal(f.pickle.root->as.items[0], f.pickle.root);
    sp_arena_free(&f.arena);
    f = read_pickle(PICKLE("]q\0h\0\x85q\1a0h\1.")); /* a tuple that holds a list that holds the tuple */
    assert_true(f.ok);
    assert_ptr_equal(sp_pickle_item(sp_pickle_item(f.pickle.root, 0), 0), f.pickle.root);
    sp_arena_free(&f.arena);
}

/* ---- size and depth ---- */

/* `count` times `first`, `count` times `second`, then STOP. */
static struct fixture repeated(char first, char second, size_t count, const char *tail)
{
    const size_t extra = strlen(tail);
    char *bytes = malloc(2 * count + extra);
    assert_non_null(bytes);
    memset(bytes, first, count);
    memset(bytes + count, second, count);
    memcpy(bytes + 2 * count, tail, extra);
    struct fixture f = read_pickle(bytes, 2 * count + extra);
    free(bytes);
    return f;
}

static void test_nesting_takes_no_stack(void **state)
{
    (void)state;
    struct fixture f = repeated('(', 't', 900 * 1000, ".");
    assert_true(f.ok);
    sp_arena_free(&f.arena);
    f = repeated('(', 't', 1000 * 1000 + 1, ".");
    assert_string_equal(f.error.message, "data.pkl: MARK at byte 1000000: more than 1000000 marks on the stack");
    assert_int_equal(f.error.kind, SHAPEPROOF_KIND_LIMIT);
    sp_arena_free(&f.arena);
    f = repeated('N', 'N', 600 * 1000, ".");
    assert_string_equal(f.error.message, "data.pkl: NONE at byte 1000000: more than 1000000 values on the stack");
    sp_arena_free(&f.arena);
}

static void test_random_damage(void **state)
{
    (void)state;
    static const char good[] =
        "\x80\2ccollections\nOrderedDict\nq\0)Rq\1(X\1\0\0\0aq\2ctorch._utils\n_rebuild_tensor_v2\nq\3"
        "((X\7\0\0\0storageq\4ctorch\nFloatStorage\nq\5X\1\0\0\0000q\6X\3\0\0\0cpuq\7K\6tq\10QK\0"
        "K\2K\3\x86q\tK\3K\1\x86q\n\x89h\0)Rq\13tq\14Rq\15X\1\0\0\0bq\16h\15u}b.";
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        unsigned char bytes[sizeof good - 1];
        memcpy(bytes, good, sizeof bytes);
        const size_t length = damage(bytes, sizeof bytes, &seed);
        char *exact = malloc(length); /* so that a sanitizer sees the first byte too many */
        assert_non_null(exact);
        memcpy(exact, bytes, length);
        struct fixture f = read_pickle(exact, length);
        assert_true(f.ok ? f.pickle.root != NULL : f.error.message[0] != '\0');
        sp_arena_free(&f.arena);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_texts_that_are_not_utf8),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_end_and_truncation),
        cmocka_unit_test(test_globals_are_collected),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_nesting_takes_no_stack),
        cmocka_unit_test(test_random_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
