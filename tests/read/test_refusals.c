/* SPDX-License-Identifier: MIT
 * Refusals that no fixture causes: each file is made here, and each message is compared as a whole. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "read/build.h"
#include "read/listing.h"
#include "read/torch/contents.h"
#include "sample.h"
#include "shapeproof/data.h"

/* Opens the file of the scratch directory, or the directory itself if `name` is "". `kind` and `expected` are the kind
 * and the message of the error; SHAPEPROOF_KIND_NONE: the file is read, and `expected` is a part of the listing. */
static void expect(const char *name, enum shapeproof_kind kind, const char *expected)
{
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    char path[600];
    snprintf(path, sizeof path, "%s%s%s", scratch.path, *name ? "/" : "", name);
    listing_of(&text, path);
    if (kind == SHAPEPROOF_KIND_NONE) {
        if (!strstr(text.data, expected)) fail_msg("expected %s\nfound %.2000s", expected, text.data);
    } else {
        struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
        if (inventory) fail_msg("expected %s\nread as %.2000s", expected, text.data);
        const char *message = error.message;
        if (strncmp(message, path, strlen(path)) == 0) message += strlen(path);
        message += strspn(message, "/: ");
        if (strcmp(message, expected) != 0) fail_msg("\nexpected %s\nfound    %s", expected, message);
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
        assert_int_equal(error.kind, kind);
        assert_null(strpbrk(error.message, "\n\r\033"));
    }
    sp_text_free(&text);
    scratch_empty(&scratch);
}

static void write_text(const char *name, struct sp_text *text)
{
    scratch_write(&scratch, name, text->data, text->length);
    sp_text_free(text);
}

/* A file that is a C string. */
static void expect_of(const char *file, const char *bytes, const char *open, enum shapeproof_kind kind,
                      const char *expected)
{
    scratch_write(&scratch, file, bytes, strlen(bytes));
    expect(open, kind, expected);
}

/* `count` times the text. */
static void put_times(struct sp_text *text, const char *what, size_t count)
{
    for (size_t i = 0; i < count; i++) sp_text_puts(text, what);
}

/* ---- distributed checkpoints ---- */

#define DCP_MODULE "torch.distributed.checkpoint.metadata"
#define DCP_BEGIN "\x80\x02" P_GLOBAL(DCP_MODULE, "Metadata") ")\x81"
#define DCP_STATE(items, more) DCP_BEGIN P_DICT(P_STR("state_dict_metadata") P_DICT(items) more) "b."
#define DCP_TENSOR(size, chunks)                                                                                       \
    P_OBJECT(DCP_MODULE, "TensorStorageMetadata",                                                                      \
             P_DICT(P_STR("properties")                                                                                \
                        P_OBJECT(DCP_MODULE, "TensorProperties", P_TUPLE(P_GLOBAL("torch", "float32"))) P_STR("size")  \
                            size P_STR("chunks") chunks))
#define DCP_CHUNK(offsets, sizes)                                                                                      \
    P_OBJECT(DCP_MODULE, "ChunkStorageMetadata", P_DICT(P_STR("offsets") offsets P_STR("sizes") sizes))
#define TWO P_TUPLE(P_INT("2"))
#define ZERO P_TUPLE(P_INT("0"))
#define EIGHT_ONES P_INT("1") P_INT("1") P_INT("1") P_INT("1") P_INT("1") P_INT("1") P_INT("1") P_INT("1")
#define SIXTY_FIVE                                                                                                     \
    P_TUPLE(EIGHT_ONES EIGHT_ONES EIGHT_ONES EIGHT_ONES EIGHT_ONES EIGHT_ONES EIGHT_ONES EIGHT_ONES P_INT("1"))

static void metadata_of_pytorch(void **state)
{
    (void)state;
    expect_of(".metadata", DCP_STATE(P_STR("w") DCP_TENSOR(SIXTY_FIVE, P_LIST("")), ""), "", SHAPEPROOF_KIND_LIMIT,
              ".metadata: no tensor can be read (1 broken; the first: 65 dimensions, at most 64)");
    /* 2^62 elements can be counted, but not their bytes */
    expect_of(".metadata",
              DCP_STATE(P_STR("w") DCP_TENSOR(P_TUPLE(P_INT("4611686018427387904")), P_LIST("")) P_STR("v")
                            DCP_TENSOR(TWO, P_LIST(DCP_CHUNK(ZERO, TWO))),
                        ""),
              "", SHAPEPROOF_KIND_NONE, "! tensor 'w' is not read: its size overflows 64 bits\n");
    expect_of(".metadata", DCP_STATE(P_STR("1") DCP_TENSOR(TWO, P_LIST("")) P_INT("1") DCP_TENSOR(TWO, P_LIST("")), ""),
              "", SHAPEPROOF_KIND_MALFORMED, ".metadata: tensor name '1' appears twice");
}

#define ONE_BROKEN(message) ".metadata: no tensor can be read (1 broken; the first: " message ")"

static void parts_of_metadata(void **state)
{
    struct sp_text text = {0};
    (void)state;
    expect_of(".metadata", DCP_STATE(P_STR("w") DCP_TENSOR(P_INT("2"), P_LIST("")), ""), "", SHAPEPROOF_KIND_MALFORMED,
              ONE_BROKEN("a size that is no tuple"));
    expect_of(".metadata", DCP_STATE(P_STR("w") DCP_TENSOR(TWO, P_INT("2")), ""), "", SHAPEPROOF_KIND_MALFORMED,
              ONE_BROKEN("it has no list of chunks"));
    sp_text_puts(&text, DCP_BEGIN "}(" P_STR("state_dict_metadata") "}(V");
    put_times(&text, "k", 65537);
    sp_text_puts(&text, "\n" DCP_TENSOR(TWO, P_LIST("")) "uub.");
    write_text(".metadata", &text);
    expect("", SHAPEPROOF_KIND_LIMIT, ".metadata: a name is longer than 65536 bytes");
}

#define PLACE(path, offset)                                                                                            \
    P_STR("storage_data")                                                                                              \
    P_DICT(P_INT("0") P_OBJECT(                                                                                        \
        "m", "I", P_DICT(P_STR("relative_path") path P_STR("offset") P_INT(offset) P_STR("length") P_INT("0"))))

static void places_in_metadata(void **state)
{
    (void)state;
    expect_of(".metadata", DCP_STATE("", PLACE(P_INT("1"), "0")), "", SHAPEPROOF_KIND_MALFORMED,
              ".metadata: storage_data: a file name that is not a short string");
    expect_of(".metadata", DCP_STATE("", PLACE(P_STR("a"), "-1")), "", SHAPEPROOF_KIND_MALFORMED,
              ".metadata: storage_data: an offset or a length that is no non-negative integer");
}

/* 200,001 places of chunks, each in a file of its own. */
static void files_of_a_distributed_checkpoint(void **state)
{
    struct sp_text text = {0};
    (void)state;
    if (sample() > 1) skip();
    sp_text_puts(&text, DCP_BEGIN "}(" P_STR("state_dict_metadata") "}");
    sp_text_puts(&text, P_STR("storage_data") "}(");
    for (int i = 0; i <= 200 * 1000; i++)
        sp_text_printf(&text,
                       P_INT("%d") P_OBJECT("m", "I",
                                            P_DICT(P_STR("relative_path") P_STR("%d") P_STR("offset") P_INT("0")
                                                       P_STR("length") P_INT("0"))),
                       i, i);
    sp_text_puts(&text, "uub.");
    write_text(".metadata", &text);
    expect("", SHAPEPROOF_KIND_LIMIT, ".metadata: more than 200000 files");
}

static void write_shard(const char *name, const char *header, size_t data)
{
    scratch_safetensors(&scratch, name, header, strlen(header), data);
}

#define SHARD(n) "shard-0000" n "-model-00001-of-00001.safetensors"

static void shards_of_a_distributed_checkpoint(void **state)
{
    (void)state;
    write_shard(SHARD("1"), "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4);
    write_shard(SHARD("2"), "{\"w\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2);
    expect("", SHAPEPROOF_KIND_MALFORMED, SHARD("2") ": tensor 'w': its chunks are of different types or dimensions");
    write_shard(SHARD("1"),
                "{\"__metadata__\":{\"DCP_SHARDING_INFO\":\"{\\\"w\\\":{\\\"saved_offsets\\\":"
                "[9223372036854775807]}}\"},\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                4);
    expect("", SHAPEPROOF_KIND_MALFORMED, SHARD("1") ": tensor 'w': a chunk ends beyond 64 bits");
    write_shard(SHARD("1"),
                "{\"__metadata__\":{\"DCP_SHARDING_INFO\":\"{\\\"w\\\":{\\\"saved_offsets\\\":"
                "[4611686018427387904,4611686018427387904]}}\"},\"w\":{\"dtype\":\"F32\",\"shape\":[1,1],"
                "\"data_offsets\":[0,4]}}",
                4);
    expect("", SHAPEPROOF_KIND_MALFORMED, "tensor 'w': its size overflows 64 bits");
    struct sp_text text = {0};
    sp_text_puts(&text, "{\"__metadata__\":{\"DCP_SHARDING_INFO\":\"{\\\"w\\\":{\\\"saved_offsets\\\":[0");
    put_times(&text, ",0", 64);
    sp_text_puts(&text, "]}}\"},\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}");
    write_shard(SHARD("1"), text.data, 4);
    sp_text_free(&text);
    expect("", SHAPEPROOF_KIND_LIMIT, SHARD("1") ": DCP_SHARDING_INFO: more than 64 saved_offsets");
}

/* ---- PyTorch: files of torch.save ---- */

#define SMALL(member, text)                                                                                            \
    {                                                                                                                  \
        .name = (member), .bytes = (text), .length = sizeof(text) - 1                                                  \
    }

static void write_torch_as(const char *name, const char *pickle, const char *record)
{
    struct sp_text text = {0};
    const struct zipped members[] = {{.name = "a/data.pkl", .bytes = pickle, .length = strlen(pickle)},
                                     {.name = "a/version", .bytes = "3\n", .length = 2},
                                     {.name = "a/data/0", .bytes = record, .length = strlen(record)}};
    put_zip(&text, members, sizeof members / sizeof *members);
    write_text(name, &text);
}

static void write_torch(const char *pickle, const char *record) { write_torch_as("a.pt", pickle, record); }

static void expect_torch(const char *pickle, enum shapeproof_kind kind, const char *expected)
{
    write_torch(pickle, "eightbyt");
    expect("a.pt", kind, expected);
}

#define FLOATS P_STORAGE("FloatStorage", "0", "2")
#define GOOD P_REBUILD(FLOATS, "0", TWO, P_TUPLE(P_INT("1")))
#define ONLY_ONE(message) "tensor 'w': " message

/* An id of a storage with a view, as only streams have it; this view is none. */
#define VIEWED                                                                                                         \
    P_PERSISTENT(                                                                                                      \
        P_TUPLE(P_STR("storage") P_GLOBAL("torch", "FloatStorage") P_STR("0") P_STR("cpu") P_INT("2") P_INT("7")))

static void tensors_of_pytorch(void **state)
{
    (void)state;
    expect_torch(P_PICKLE(P_DICT(P_STR("w") GOOD)), SHAPEPROOF_KIND_NONE, "w F32 (2) ");
    expect_torch(
        P_PICKLE(P_DICT(P_STR("w") P_REBUILD(P_PERSISTENT(P_LIST(P_STR("storage"))), "0", TWO, P_TUPLE(P_INT("1"))))),
        SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("a persistent id that does not name a storage"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_REBUILD(VIEWED, "0", TWO, P_TUPLE(P_INT("1"))))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("a storage id of 6 items, expected 5"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") GOOD P_STR("x") VIEWED)), SHAPEPROOF_KIND_NONE,
                 "! torch refuses it: a storage id of 6 items, expected 5\n");
    expect_torch(P_PICKLE(P_DICT(P_STR("w") GOOD P_STR("x") GOOD P_TUPLE("") "R")), SHAPEPROOF_KIND_NONE,
                 "! tensor 'x' is not read: it is a call of a tensor, which is no function\n");
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_OBJECT("torch", "FloatTensor", P_LIST(FLOATS)))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("torch.FloatTensor without a tuple of arguments"));
    expect_torch(
        P_PICKLE(P_DICT(P_STR("w") P_CALL("torch._utils", "_rebuild_parameter",
                                          P_TUPLE(GOOD P_INT("1") P_CALL("collections", "OrderedDict", ")"))))),
        SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("its requires_grad is not a boolean"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_CALL("torch._utils", "_rebuild_tensor_v2",
                                                   P_TUPLE(FLOATS P_INT("0") TWO P_TUPLE(P_INT("1")) P_INT("1")
                                                               P_CALL("collections", "OrderedDict", ")"))))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("its requires_grad is not a boolean"));
    /* Integers have no gradient; a real tensor may require one. */
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_CALL("torch._utils", "_rebuild_tensor_v2",
                                                   P_TUPLE(FLOATS P_INT("0") TWO P_TUPLE(P_INT("1"))
                                                               P_TRUE P_CALL("collections", "OrderedDict", ")"))))),
                 SHAPEPROOF_KIND_NONE, "w F32 (2) ");
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_CALL("torch._utils", "_rebuild_tensor_v2",
                                                   P_TUPLE(P_STORAGE("IntStorage", "0", "2") P_INT("0") TWO P_TUPLE(
                                                       P_INT("1")) P_TRUE P_CALL("collections", "OrderedDict", ")"))))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("its requires_grad is True, which torch refuses for I32"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_CALL(
                     "torch._utils", "_rebuild_parameter",
                     P_TUPLE(P_REBUILD(P_STORAGE("IntStorage", "0", "2"), "0", TWO, P_TUPLE(P_INT("1")))
                                 P_TRUE P_CALL("collections", "OrderedDict", ")"))))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("its requires_grad is True, which torch refuses for I32"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_REBUILD(P_PERSISTENT(P_TUPLE(P_STR("storage") P_GLOBAL(
                                                          "torch", "FloatStorage") P_NONE P_STR("cpu") P_INT("2"))),
                                                      "0", TWO, P_TUPLE(P_INT("1"))))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("a storage whose key is not a short string"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_CALL(
                     "torch._utils", "_rebuild_sparse_tensor",
                     P_TUPLE(P_GLOBAL("torch", "sparse_coo") P_TUPLE(
                         GOOD P_CALL("torch._utils", "_rebuild_meta_tensor_no_storage",
                                     P_TUPLE(P_GLOBAL("torch", "float32") TWO P_TUPLE(P_INT("1")) P_FALSE)) TWO))))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("a part of a sparse tensor is not a dense tensor"));
    expect_torch(P_PICKLE(P_DICT(
                     P_STR("w") P_CALL("torch._utils", "_rebuild_tensor_v2",
                                       P_TUPLE(FLOATS P_INT("0") TWO P_TUPLE(P_INT("1")) P_FALSE P_NONE P_INT("1"))))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("its metadata are no dict"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_CALL("torch._utils", "_rebuild_meta_tensor_no_storage",
                                                   P_TUPLE(P_INT("1") TWO P_TUPLE(P_INT("1")) P_FALSE)))),
                 SHAPEPROOF_KIND_MALFORMED,
                 ONLY_ONE("argument 0 of torch._utils._rebuild_meta_tensor_no_storage is not a dtype"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_CALL("torch._utils", "_rebuild_meta_tensor_no_storage",
                                                   P_TUPLE(P_GLOBAL("torch", "float32") TWO P_TUPLE(P_INT("1")))))),
                 SHAPEPROOF_KIND_MALFORMED,
                 ONLY_ONE("torch._utils._rebuild_meta_tensor_no_storage with 3 arguments, at least 4 expected"));
}

#define HOOKS P_CALL("collections", "OrderedDict", ")")
#define THREE P_REBUILD(P_STORAGE("FloatStorage", "0", "2"), "0", P_TUPLE(P_INT("2") P_INT("1")), ONES)
#define ONES P_TUPLE(P_INT("1") P_INT("1"))
#define OF_W(value) P_PICKLE(P_DICT(P_STR("w") value))
#define PARAMETER(arguments) P_CALL("torch.nn.parameter", "Parameter", arguments)
#define STATED(state) OF_W(P_CALL("torch._utils", "_rebuild_parameter_with_state", P_TUPLE(GOOD P_FALSE HOOKS state)))
#define OF_CLASS(name, state)                                                                                          \
    OF_W(P_CALL("torch._tensor", "_rebuild_from_type_v2",                                                              \
                P_TUPLE(P_GLOBAL("torch._utils", "_rebuild_tensor_v2")                                                 \
                            name P_TUPLE(FLOATS P_INT("0") TWO P_TUPLE(P_INT("1")) P_FALSE HOOKS) state)))
#define CHANGED(how) ONLY_ONE(how " after it was rebuilt: torch refuses that, or has another tensor")
#define ALONE(class) ONLY_ONE(class " makes a tensor without a storage of the file")

/* What a file does to a tensor that it has made. torch.load was asked about each. */
static void states_of_tensors(void **state)
{
    static const char read[] = "w F32 (2) ";
    static const struct {
        const char *pickle, *expected;
    } cases[] = {
        {OF_W(GOOD P_TUPLE(FLOATS P_INT("0") P_TUPLE(P_INT("1")) P_TUPLE(P_INT("1"))) "b"),
         CHANGED("a state is set on it")},
        {OF_W(GOOD P_DICT("") "b"), CHANGED("a state is set on it")},
        {OF_W(GOOD P_TUPLE(P_FALSE P_FALSE HOOKS) "b"), CHANGED("a state is set on it")},
        {OF_W(PARAMETER(P_TUPLE(GOOD)) P_TUPLE(P_FALSE P_FALSE HOOKS) "b"), read},
        {OF_W(PARAMETER(P_TUPLE(GOOD)) P_TUPLE(THREE P_NONE HOOKS P_FALSE P_FALSE) "b"),
         CHANGED("a state is set on it")},
        {OF_W(PARAMETER(")") P_TUPLE(GOOD P_NONE HOOKS P_FALSE P_FALSE) "b"), read},
        {OF_W(GOOD P_STR("a") P_INT("1") "s"), CHANGED("items are set in it")},
        {OF_W(P_GLOBAL("torch._utils", "_rebuild_tensor_v2")
                  P_TUPLE(FLOATS P_INT("0") TWO P_TUPLE(P_INT("1")) P_FALSE HOOKS) "\x81"),
         CHANGED("it is made by NEWOBJ of a function, which is no class")},
        {STATED(P_DICT(P_STR("x") THREE)), read},
        {STATED(P_DICT(P_STR("data") THREE)), CHANGED("its state sets `data`")},
        {STATED(P_TUPLE(P_NONE P_DICT(P_STR("data") P_INT("1")))), CHANGED("its state sets `data`")},
        {STATED(P_TUPLE(P_NONE P_DICT(P_STR("x") P_INT("1")))), read},
        {STATED(P_DICT(P_STR("__class__") P_INT("1"))), CHANGED("its state sets an attribute of all tensors")},
        {STATED(P_DICT(P_STR("is_leaf") P_INT("1"))), CHANGED("its state sets an attribute of all tensors")},
        {STATED(P_DICT(P_CALL("builtins", "str", P_TUPLE(P_STR("data"))) THREE)),
         CHANGED("a state is set on it whose keys are no texts")},
        {STATED(P_CALL("collections", "OrderedDict", P_TUPLE(P_LIST(P_TUPLE(P_STR("data") THREE))))),
         CHANGED("a state without attributes is set on it")},
        {OF_CLASS(P_GLOBAL("torch", "Tensor"), P_DICT(P_STR("x") P_INT("1"))), read},
        {OF_CLASS(P_GLOBAL("torch", "Tensor"), P_TUPLE(P_INT("1"))),
         CHANGED("a state without attributes is set on it")},
        {OF_CLASS(P_GLOBAL("m", "Own"), P_TUPLE(P_INT("1"))), read},
        {OF_CLASS(P_GLOBAL("m", "Own"), P_DICT(P_STR("data") P_INT("1"))), read},
        {OF_W(PARAMETER(")")), ALONE("torch.nn.parameter.Parameter")},
        {OF_W(P_CALL("torch", "Tensor", P_TUPLE(P_INT("2")))), ALONE("torch.Tensor")},
        {OF_W(P_CALL("torch", "FloatTensor", P_TUPLE(P_INT("2")))), ALONE("torch.FloatTensor")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool is_read = !strncmp(cases[i].expected, read, sizeof read - 1);
        expect_torch(cases[i].pickle, is_read ? SHAPEPROOF_KIND_NONE : SHAPEPROOF_KIND_MALFORMED, cases[i].expected);
    }
}

#define UNKNOWN(class, how) "object 'w': it is made by a call of " class ", " how ": its content is not known"
#define SHARED_LIST P_LIST("") "q\1"

/* Calls of Python's own classes whose result has other tensors than their arguments, or none; torch.load was asked. */
static void calls_that_python_does_not_write(void **state)
{
    static const struct {
        const char *pickle, *expected; /* NULL: it is read */
    } cases[] = {
        {OF_W(P_CALL("builtins", "list", P_TUPLE(P_LIST(GOOD)))), NULL},
        {OF_W(P_CALL("collections", "deque", P_TUPLE(P_LIST(GOOD) P_INT("1")))), NULL},
        {OF_W(P_CALL("collections", "deque", P_TUPLE(P_TUPLE("") P_INT("1"))) "(" GOOD "e"), NULL},
        {OF_W(P_CALL("collections", "deque", P_TUPLE(P_LIST(GOOD GOOD) P_INT("1")))),
         UNKNOWN("collections.deque", "with a number of items to keep")},
        {OF_W(P_CALL("builtins", "list", P_TUPLE(P_DICT(P_STR("a") GOOD)))),
         UNKNOWN("builtins.list", "of what is no sequence")},
        {OF_W(P_CALL("builtins", "tuple", P_TUPLE(GOOD))), UNKNOWN("builtins.tuple", "of what is no sequence")},
        {OF_W(P_GLOBAL("builtins", "list") P_TUPLE(P_LIST(GOOD)) "\x81"),
         UNKNOWN("builtins.list", "by NEWOBJ, which ignores its arguments")},
        {OF_W(P_CALL("builtins", "list", P_TUPLE(P_LIST(GOOD))) "(" GOOD "e"),
         UNKNOWN("builtins.list", "which is filled afterwards")},
        {OF_W(P_CALL("builtins", "list", P_TUPLE(P_LIST(GOOD) P_INT("1")))),
         UNKNOWN("builtins.list", "with more than a sequence")},
        {OF_W(P_CALL("builtins", "dict", P_TUPLE(P_STR("ab")))), UNKNOWN("builtins.dict", "of what is no dict")},
        {OF_W(P_GLOBAL("types", "SimpleNamespace") ")" P_DICT(P_STR("a") GOOD) "\x92"),
         UNKNOWN("types.SimpleNamespace", "by NEWOBJ, which ignores its arguments")},
        {OF_W(P_CALL("copyreg", "_reconstructor",
                     P_TUPLE(P_GLOBAL("builtins", "dict") P_GLOBAL("builtins", "dict") P_DICT(P_STR("a") GOOD)))),
         UNKNOWN("copyreg._reconstructor", "which is for classes of other packages")},
        {OF_W(P_CALL("torch.nn.functional", "relu", P_TUPLE(GOOD))),
         UNKNOWN("torch.nn.functional.relu", "which computes another tensor")},
        {P_PICKLE(P_DICT(P_STR("w") GOOD P_CALL("builtins", "str", P_TUPLE(P_STR("w"))) P_NONE)),
         "a key is made by a call of builtins.str, and may equal another key of its dictionary"},
        {OF_W(SHARED_LIST P_CALL("builtins", "list", P_TUPLE("h\1")) "0(" GOOD "e"),
         "data.pkl: APPENDS at byte 157: it adds to what a call was given before, which may have copied it"},
        {OF_W(P_OBJECT("m", "C", P_DICT("") "q\1") "0h\1" P_STR("a") GOOD "s"),
         "data.pkl: SETITEM at byte 149: it adds to what a call was given before, which may have copied it"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_torch(cases[i].pickle, cases[i].expected ? SHAPEPROOF_KIND_MALFORMED : SHAPEPROOF_KIND_NONE,
                     cases[i].expected ? cases[i].expected : "w.0 F32 (2) ");
}

/* Two keys that Python takes for one, and two that it does not. */
#define KEYS(one, other) P_PICKLE(P_DICT(one GOOD other THREE))
#define SCALAR(type, order, bytes)                                                                                     \
    P_CALL("numpy.core.multiarray", "scalar",                                                                          \
           P_TUPLE(P_CALL("numpy", "dtype", P_TUPLE(P_STR(type))) P_TUPLE(P_INT("3") P_STR(order)) "b" bytes))
#define BYTES(length, bytes) "C" length bytes

static void keys_that_are_equal(void **state)
{
    static const struct {
        const char *pickle;
        size_t length;
        bool are_equal;
    } cases[] = {
#define CASE(one, other, equal) {KEYS(one, other), sizeof KEYS(one, other) - 1, equal}
        CASE(P_CALL("torch", "Size", P_TUPLE(P_TUPLE(P_INT("1")))), P_TUPLE(P_INT("1")), true),
        CASE(P_CALL("torch", "Size", P_TUPLE(P_TUPLE(P_INT("1")))), P_TUPLE(P_INT("2")), false),
        CASE(P_CALL("builtins", "complex", P_TUPLE(P_INT("1") P_INT("0"))), P_INT("1"), true),
        CASE(P_CALL("builtins", "complex", P_TUPLE(P_INT("1") P_INT("2"))), P_INT("1"), false),
        CASE(P_GLOBAL("torch", "float32"), P_GLOBAL("torch", "float32"), true),
        CASE(P_GLOBAL("torch", "float32"), P_GLOBAL("torch", "float64"), false),
        CASE(P_CALL("torch", "device", P_TUPLE(P_STR("cpu"))), P_CALL("torch", "device", P_TUPLE(P_STR("cpu"))), true),
        CASE("Fnan\nq\1", "h\1", true),
        CASE("Fnan\n", "Fnan\n", false),
        CASE(SCALAR("i8", "<", BYTES("\10", "\1\0\0\0\0\0\0\0")), P_INT("1"), true),
        CASE(SCALAR("i2", ">", BYTES("\2", "\377\376")), P_INT("-2"), true),
        CASE(SCALAR("u1", "|", BYTES("\1", "\377")), P_INT("255"), true),
        CASE(SCALAR("f2", "<", BYTES("\2", "\0\300")), P_INT("-2"), true),
        CASE(SCALAR("f4", "<", BYTES("\4", "\0\0\0\77")), "F0.5\n", true),
        CASE(SCALAR("c8", "<", BYTES("\10", "\0\0\200\77\0\0\0\0")), P_INT("1"), true),
        CASE(SCALAR("U2", "<", BYTES("\10", "\351\0\0\0\0\0\0\0")), P_STR("\351"), true),
        CASE(SCALAR("S2", "|", BYTES("\2", "a\0")), BYTES("\1", "a"), true),
        CASE(SCALAR("i4", "<", BYTES("\4", "\1\0\0\0")), P_INT("2"), false),
#undef CASE
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_text text = {0};
        const struct zipped members[] = {{.name = "a/data.pkl", .bytes = cases[i].pickle, .length = cases[i].length},
                                         SMALL("a/data/0", "eightbyt")};
        put_zip(&text, members, sizeof members / sizeof *members);
        write_text("a.pt", &text);
        expect("a.pt", SHAPEPROOF_KIND_NONE, cases[i].are_equal ? "the last value counts" : " F32 (2) ");
    }
}

/* Classes that behave as a dict, made of one and then filled. */
static void dictionaries_that_are_made_of_others(void **state)
{
    static const char twice[] = "\n! a dictionary has the key 'a' twice, the second time as 'a': the last value counts";
#define FILLED(module, class, arguments) P_PICKLE(P_CALL(module, class, arguments) P_STR("a") THREE "s")
    (void)state;
    expect_torch(FILLED("collections", "Counter", P_TUPLE(P_DICT(P_STR("a") GOOD))), SHAPEPROOF_KIND_NONE, twice);
    expect_torch(FILLED("collections", "defaultdict", P_TUPLE(P_NONE P_DICT(P_STR("a") GOOD))), SHAPEPROOF_KIND_NONE,
                 twice);
    expect_torch(FILLED("collections", "OrderedDict", P_TUPLE(P_TUPLE(P_TUPLE(P_STR("a") GOOD)))), SHAPEPROOF_KIND_NONE,
                 twice);
    expect_torch(
        FILLED("__builtin__", "dict", P_TUPLE(P_CALL("collections", "Counter", P_TUPLE(P_DICT(P_STR("a") GOOD))))),
        SHAPEPROOF_KIND_NONE, twice);
    /* dict.__new__ ignores what it is given */
    expect_torch(
        P_PICKLE(P_GLOBAL("collections", "OrderedDict") P_TUPLE(P_DICT(P_STR("b") GOOD)) "\x81" P_STR("a") THREE "s"),
        SHAPEPROOF_KIND_NONE, "a F32 (2,1) ");
}

#define QUANTISED(quantizer)                                                                                           \
    P_PICKLE(P_DICT(P_STR("w") P_CALL(                                                                                 \
        "torch._utils", "_rebuild_qtensor",                                                                            \
        P_TUPLE(P_STORAGE("QInt8Storage", "0", "8") P_INT("0") TWO P_TUPLE(P_INT("1")) quantizer P_FALSE P_NONE))))

static void quantised_tensors_of_pytorch(void **state)
{
    (void)state;
    expect_torch(QUANTISED(P_TUPLE(P_GLOBAL("torch", "per_tensor_affine") P_INT("1") P_INT("0"))), SHAPEPROOF_KIND_NONE,
                 "w QI8 (2) ");
    expect_torch(QUANTISED(P_TUPLE(P_GLOBAL("torch", "per_tensor_affine") P_INT("1"))), SHAPEPROOF_KIND_MALFORMED,
                 ONLY_ONE("its quantizer, of the scheme torch.per_tensor_affine, has 2 items, not 3"));
    expect_torch(QUANTISED(P_TUPLE(P_GLOBAL("torch", "per_channel_affine") P_NONE P_NONE)), SHAPEPROOF_KIND_MALFORMED,
                 ONLY_ONE("its quantizer, of the scheme torch.per_channel_affine, has 3 items, not 4"));
    expect_torch(QUANTISED(P_TUPLE(P_GLOBAL("torch", "per_channel_affine_float_qparams") P_NONE P_NONE P_INT("0"))),
                 SHAPEPROOF_KIND_NONE, "w QI8 (2) ");
    expect_torch(QUANTISED(P_TUPLE(P_GLOBAL("torch", "per_channel_symmetric") P_NONE P_NONE P_INT("0"))),
                 SHAPEPROOF_KIND_MALFORMED,
                 ONLY_ONE("its quantizer names the unknown scheme torch.per_channel_symmetric"));
    expect_torch(QUANTISED(P_TUPLE(P_GLOBAL("torch", "per_channel_affine")
                                       GOOD P_CALL("torch._utils", "_rebuild_tensor_v2", P_TUPLE(FLOATS)) P_INT("0"))),
                 SHAPEPROOF_KIND_MALFORMED,
                 ONLY_ONE("its quantizer: torch._utils._rebuild_tensor_v2 with 1 arguments, at least 6 expected"));
    expect_torch(QUANTISED(P_TUPLE(P_INT("1"))), SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("its quantizer names no scheme"));
}

/* What PyTorch wrote before 0.4, writes for devices without storages, and reads though it does not write it. */
static void tensors_in_rarer_forms(void **state)
{
    (void)state;
    expect_torch(P_PICKLE(P_DICT(
                     P_STR("w") P_OBJECT("torch", "FloatTensor", P_TUPLE(FLOATS P_INT("0") TWO P_TUPLE(P_INT("1")))))),
                 SHAPEPROOF_KIND_NONE, "w F32 (2) ");
    expect_torch(P_PICKLE(P_CALL("collections", "OrderedDict", P_TUPLE(P_LIST(P_TUPLE(P_STR("w") GOOD))))),
                 SHAPEPROOF_KIND_NONE, "w F32 (2) ");
    expect_torch(P_PICKLE(P_CALL("collections", "OrderedDict", P_TUPLE(P_DICT(P_STR("w") GOOD)))), SHAPEPROOF_KIND_NONE,
                 "w F32 (2) ");
    expect_torch(P_PICKLE(P_DICT(P_STR("w") P_CALL(
                     "torch._utils", "_rebuild_device_tensor_from_numpy",
                     P_TUPLE(P_OBJECT("numpy", "ndarray", P_TUPLE(P_INT("1") TWO P_NONE P_FALSE P_NONE))
                                 P_GLOBAL("torch", "float32") P_STR("xla") P_FALSE)))),
                 SHAPEPROOF_KIND_NONE, "w F32 (2)");
}

/* A tensor of a subclass: (class, dtype, shape, strides, ...) and its state. */
#define WRAPPED(module, name, state)                                                                                   \
    P_CALL("torch._tensor", "_rebuild_from_type_v2",                                                                   \
           P_TUPLE(P_GLOBAL("torch._utils", "_rebuild_wrapper_subclass") P_GLOBAL(module, name)                        \
                       P_TUPLE(P_GLOBAL(module, name) P_GLOBAL("torch", "float32") TWO P_TUPLE(P_INT("1")) P_INT("0")  \
                                   P_GLOBAL("torch", "strided") P_STR("cpu") P_FALSE) state))
#define LOCAL(tensor) WRAPPED("torch.distributed.tensor", "DTensor", P_DICT(P_STR("_local_tensor") tensor))
#define META_STORAGE                                                                                                   \
    P_PERSISTENT(P_TUPLE(P_STR("storage") P_GLOBAL("torch", "ByteStorage") P_STR("1") P_STR("meta")                    \
                             P_INT("9223372036854775807")))
#define HUGE_SHARD                                                                                                     \
    P_OBJECT("torch", "Shard",                                                                                         \
             P_DICT(P_STR("tensor")                                                                                    \
                        P_REBUILD(META_STORAGE, "0", P_TUPLE(P_INT("9223372036854775807")), P_TUPLE(P_INT("1")))))

static void subclasses_of_tensors(void **state)
{
    (void)state;
    expect_torch(P_PICKLE(P_DICT(P_STR("w") LOCAL(LOCAL(LOCAL(LOCAL(GOOD)))))), SHAPEPROOF_KIND_NONE, "w F32 (2)");
    expect_torch(P_PICKLE(P_DICT(P_STR("w") LOCAL(P_INT("1")))), SHAPEPROOF_KIND_MALFORMED,
                 ONLY_ONE("what it wraps is not a tensor"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") LOCAL(LOCAL(LOCAL(LOCAL(LOCAL(GOOD))))))), SHAPEPROOF_KIND_LIMIT,
                 ONLY_ONE("more than 4 tensors that wrap each other"));
    expect_torch(P_PICKLE(P_DICT(P_STR("w") WRAPPED(
                     "torch.distributed._shard.sharded_tensor", "ShardedTensor",
                     P_TUPLE(P_LIST(HUGE_SHARD HUGE_SHARD HUGE_SHARD) P_OBJECT(
                         "torch", "ShardedTensorMetadata", P_DICT(P_STR("shards_metadata") P_LIST(""))))))),
                 SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("the size of its shards overflows 64 bits"));
}

#define K50 "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"

/* 511 levels of a dictionary, each with a key of 128 bytes: together they are longer than a name may be. */
static void names_of_tensors(void **state)
{
    struct sp_text text = {0}, key = {0};
    (void)state;
    put_times(&key, "k", 128);
    put_times(&text, "\x80\x02", 1);
    for (int i = 0; i < 511; i++) sp_text_printf(&text, "}(V%s%s\n", key.data, i ? "" : key.data);
    sp_text_puts(&text, GOOD);
    put_times(&text, "u", 511);
    sp_text_puts(&text, ".");
    write_torch(text.data, "eightbyt");
    sp_text_free(&text);
    sp_text_free(&key);
    expect("a.pt", SHAPEPROOF_KIND_LIMIT, "the name '" K50 K50 K50 K50 "...' is longer than 65536 bytes");
}

/* Many tensors that share one state of 1,000 values: 1 + 20,000 of them are 20 million values to look at. */
static void states_of_subclasses(void **state)
{
    struct sp_text text = {0};
    (void)state;
    if (sample() > 1) skip();
    sp_text_puts(&text, "\x80\x02](");
    put_times(&text, P_INT("1"), 1001);
    sp_text_puts(&text, "eq\x01"
                        "0}(");
    for (int i = 0; i < 21 * 1000; i++)
        sp_text_printf(&text, P_STR("%d") WRAPPED("m", "Quantised", P_DICT(P_STR("a") "h\x01")), i);
    sp_text_puts(&text, "u.");
    write_torch(text.data, "");
    sp_text_free(&text);
    expect("a.pt", SHAPEPROOF_KIND_NONE,
           "' is not read: tensors of subclasses whose states have more than 20000000 values\n");
}

/* ---- PyTorch: TorchScript of 1.0, whose tensors are in model.json ---- */

static void expect_script(const char *json, const char *expected)
{
    const struct zipped members[] = {{.name = "s/model.json", .bytes = json, .length = strlen(json)},
                                     SMALL("s/version", "1\n")};
    struct sp_text text = {0};
    put_zip(&text, members, 2);
    write_text("a.pt", &text);
    expect("a.pt", SHAPEPROOF_KIND_MALFORMED, expected);
}

static void scripts_of_pytorch(void **state)
{
    (void)state;
    expect_script("{\"mainModule\": {\"parameters\": [{\"type\": \"Tensor\"}]}}", "model.json: its module is broken");
    expect_script("{\"mainModule\": {\"parameters\": [{\"name\": \"w\", \"tensorId\": \"0\"}]},"
                  " \"tensors\": [{\"dims\": [\"2\"], \"strides\": [\"1\"], \"offset\": \"0\","
                  " \"dataType\": \"FLOAT\"}]}",
                  "no tensor can be read (1 broken; the first: it has no record)");
}

/* ---- PyTorch: streams, before 1.6 ---- */

#define STREAM(system, object, keys)                                                                                   \
    "L119547037146038801333356L\n." P_PICKLE(P_INT("1001")) P_PICKLE(system) P_PICKLE(object) P_PICKLE(keys)
#define LEGACY(object, keys) STREAM(P_DICT(""), object, keys)

/* An id of a storage of two elements in a stream, without a view. */
#define STREAMED(class)                                                                                                \
    P_PERSISTENT(P_TUPLE(P_STR("storage") P_GLOBAL("torch", class) P_STR("0") P_STR("cpu") P_INT("2") P_NONE))

static void streams_of_pytorch(void **state)
{
    (void)state;
    expect_of("a.pt", STREAM(P_DICT("\x8c\1\xff" P_NONE), P_DICT(""), P_LIST("")), "a.pt", SHAPEPROOF_KIND_NONE,
              "! Python refuses it: system information has a text that is not UTF-8\n");
    expect_of("a.pt", LEGACY(P_DICT(P_STR("w") P_REBUILD(VIEWED, "0", TWO, P_TUPLE(P_INT("1")))), P_LIST(P_STR("0"))),
              "a.pt", SHAPEPROOF_KIND_MALFORMED, "storage '0': its view is not (key, offset, size)");
    expect_of("a.pt", LEGACY(P_DICT(P_STR("w") GOOD), P_LIST(P_STR("0"))), "a.pt", SHAPEPROOF_KIND_MALFORMED,
              "a storage id of 5 items, expected 6");
    expect_of("a.pt",
              LEGACY(P_DICT(P_STR("w") P_REBUILD(STREAMED("FloatStorage"), "0", TWO, P_TUPLE(P_INT("1")))),
                     P_LIST(P_INT("0"))),
              "a.pt", SHAPEPROOF_KIND_MALFORMED, "a storage key is not a short string");
    expect_of(
        "a.pt",
        LEGACY(P_DICT(P_STR("w") P_REBUILD(STREAMED("NewStorage"), "0", TWO, P_TUPLE(P_INT("1")))), P_LIST(P_STR("0"))),
        "a.pt", SHAPEPROOF_KIND_MALFORMED, "storage '0' is of unknown class NewStorage: what follows cannot be found");
}

/* ---- PyTorch: tar files, before 0.2 ---- */

struct torch_tar {
    struct sp_text storages, tensors;
};

/* One storage of two floats, whose data is there. */
static void begin_torch_tar(struct torch_tar *tar)
{
    *tar = (struct torch_tar){.storages = {0}};
    sp_text_puts(&tar->storages,
                 P_PICKLE(P_INT("1")) P_PICKLE(P_TUPLE(P_INT("0") P_STR("cpu") P_GLOBAL("torch", "FloatStorage"))));
    put_le(&tar->storages, 8, 2);
    put_le(&tar->storages, 8, 0);
    sp_text_puts(&tar->tensors, P_PICKLE(P_INT("1")));
}

static void put_saved(struct torch_tar *tar, const char *head, uint64_t offset)
{
    sp_text_puts(&tar->tensors, head);
    put_le(&tar->tensors, 4, 1); /* dimensions */
    put_le(&tar->tensors, 4, 0);
    put_le(&tar->tensors, 8, 1); /* size, stride */
    put_le(&tar->tensors, 8, 1);
    put_le(&tar->tensors, 8, offset);
}

static void expect_torch_tar(struct torch_tar *tar, enum shapeproof_kind kind, const char *expected)
{
    static const char pickle[] = P_PICKLE(P_DICT(P_STR("w") P_PERSISTENT(P_INT("5"))));
    struct sp_text text = {0};
    put_tar_member(&text, "storages", tar->storages.data, tar->storages.length);
    put_tar_member(&text, "tensors", tar->tensors.data, tar->tensors.length);
    put_tar_member(&text, "pickle", pickle, sizeof pickle - 1);
    put_le(&text, 2 * TAR_BLOCK, 0);
    sp_text_free(&tar->storages);
    sp_text_free(&tar->tensors);
    write_text("a.pt", &text);
    expect("a.pt", kind, expected);
}

#define SAVED(key, storage) P_PICKLE(P_TUPLE(key storage P_GLOBAL("torch", "FloatTensor")))

static void tar_files_of_pytorch(void **state)
{
    struct torch_tar tar;
    (void)state;
    begin_torch_tar(&tar);
    put_saved(&tar, SAVED(P_INT("5"), P_INT("0")), 0);
    expect_torch_tar(&tar, SHAPEPROOF_KIND_NONE, "w F32 (1) ");
    begin_torch_tar(&tar);
    sp_text_puts(&tar.tensors, SAVED(P_INT("5"), P_INT("0")));
    put_le(&tar.tensors, 8, 1); /* one dimension, whose size is not there */
    expect_torch_tar(&tar, SHAPEPROOF_KIND_MALFORMED, "it ends early");
    begin_torch_tar(&tar);
    tar.tensors.length = 0;
    sp_text_puts(&tar.tensors, P_PICKLE(P_NONE));
    expect_torch_tar(&tar, SHAPEPROOF_KIND_MALFORMED, "no number of tensors");
    begin_torch_tar(&tar);
    tar.storages.length = 0;
    sp_text_puts(&tar.storages, P_PICKLE(P_NONE));
    expect_torch_tar(&tar, SHAPEPROOF_KIND_MALFORMED, "no number of storages");
    begin_torch_tar(&tar);
    put_saved(&tar, SAVED(P_NONE, P_INT("0")), 0);
    expect_torch_tar(&tar, SHAPEPROOF_KIND_MALFORMED, "a tensor without a key, or without that of its storage");
    begin_torch_tar(&tar);
    tar.storages.length -= 12; /* four bytes of the count are left */
    put_saved(&tar, SAVED(P_INT("5"), P_INT("0")), 0);
    expect_torch_tar(&tar, SHAPEPROOF_KIND_MALFORMED, "storage '0' ends early");
    begin_torch_tar(&tar);
    sp_text_puts(&tar.storages, P_PICKLE(P_LIST(P_TUPLE(P_INT("1") P_INT("0") P_INT("0") P_NONE))));
    put_saved(&tar, SAVED(P_INT("5"), P_INT("0")), 0);
    expect_torch_tar(&tar, SHAPEPROOF_KIND_MALFORMED, "a view of a storage is not (key, root, offset, size)");
    begin_torch_tar(&tar);
    sp_text_puts(&tar.storages, P_PICKLE(P_LIST(P_TUPLE(P_INT("0") P_INT("0") P_INT("0") P_INT("1")))));
    put_saved(&tar, SAVED(P_INT("5"), P_INT("0")), 0);
    expect_torch_tar(&tar, SHAPEPROOF_KIND_MALFORMED, "two storages '0'");
    begin_torch_tar(&tar);
    sp_text_puts(&tar.storages, P_PICKLE(P_LIST(P_TUPLE(P_INT("1") P_INT("0") P_INT("1") P_INT("1")))));
    put_saved(&tar, SAVED(P_INT("5"), P_INT("1")), UINT64_MAX);
    expect_torch_tar(&tar, SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("its storage offset overflows 64 bits"));
}

/* A file with a hole of more than 256 MiB. */
static void members_of_tar_files(void **state)
{
    struct sp_text text = {0};
    (void)state;
    put_tar_member(&text, "storages", P_PICKLE(P_INT("0")), strlen(P_PICKLE(P_INT("0"))));
    put_tar_member(&text, "pickle", P_PICKLE(P_NONE), strlen(P_PICKLE(P_NONE)));
    put_tar_header(&text, "tensors", (256 << 20) + 1);
    write_text("a.pt", &text);
    assert_int_equal(truncate(scratch_path(&scratch, "a.pt"), (257 << 20)), 0);
    expect("a.pt", SHAPEPROOF_KIND_LIMIT, "member 'tensors' of 268435457 bytes, at most 268435456");
}

/* A member with data that fill less than a block. */
static void put_typed(struct sp_text *text, char type, const char *name, const char *bytes)
{
    put_tar_typed(text, type, name, strlen(bytes));
    sp_text_puts(text, bytes);
    if (*bytes) put_le(text, TAR_BLOCK - strlen(bytes), 0);
}

/* What Python's tarfile would read in another way. */
static void tar_files_that_programs_read_differently(void **state)
{
    static const struct {
        char type;
        const char *name, *bytes, *refusal;
    } rows[] = {
        {'Z', "pickle", "N.", "tar member at byte 512: its type is not known"},
        {'S', "pickle", "N.", "tar member at byte 512: its type is not known"},
        {'0', "", "N.", "tar member at byte 512: its name is empty"},
        {'0', "a/", "N.", "tar member at byte 512: its name is that of a folder, and it has data"},
        {'1', "a", "", "ambiguous archive: two members named 'a'"},
        {'5', "a/", "", "ambiguous archive: two members named 'a'"},
        {'x', "x", "21 GNU.sparse.name=a\n", "tar header at byte 0: a sparse file is not read"},
        {'g', "x", "10 path=a\n", "tar header at byte 0: a name for all members is not read"},
        {'g', "x", "10 size=1\n", "tar header at byte 0: a size for all members is not read"},
        {'x', "x", "10 size= \n", "tar header at byte 0: its pax records are broken"},
        {'x', "x", "10 path=b\n10 path=c\n", "tar member at byte 512: two headers give it a name"},
        {'L', "x", "b", "the tar archive ends with a header about a member that is not there"},
    };
    struct sp_text text = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_typed(&text, rows[i].type, rows[i].name, rows[i].bytes);
        if (rows[i].type != 'L') put_typed(&text, '0', "a", "x");
        write_text("a.tar", &text);
        expect("a.tar", SHAPEPROOF_KIND_MALFORMED, rows[i].refusal);
    }
    put_tar_typed(&text, 'x', "x", 3);
    put_le(&text, 3, 0);
    sp_text_puts(&text, "10 path=b\n");
    put_le(&text, TAR_BLOCK - 13, 0);
    write_text("a.tar", &text);
    expect("a.tar", SHAPEPROOF_KIND_MALFORMED, "tar header at byte 0: its last block has more than its size says");
    put_tar_header(&text, "a", 0);
    memcpy(text.data + 257, "ustar  ", 7);
    memcpy(text.data + 345, "7", 1);
    memcpy(text.data + 148, "003725", 6);
    write_text("a.tar", &text);
    expect("a.tar", SHAPEPROOF_KIND_MALFORMED, "tar member at byte 512: its header has times in place of a name");
    put_tar_header(&text, "a", 1);
    sp_text_puts(&text, "x");
    write_text("a.tar", &text);
    expect("a.tar", SHAPEPROOF_KIND_MALFORMED, "the tar member at byte 512 has 1 bytes, and the file ends at 513");
}

/* A tar archive of one file, which is a checkpoint, and of another member. */
static void expect_in_bundle(char type, const char *name, const char *bytes, const char *after, const char *expected)
{
    static const char data[] = "\x38\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}   x";
    struct sp_text text = {0};
    put_tar_member(&text, "a.safetensors", data, sizeof data - 1);
    put_typed(&text, type, name, bytes);
    put_le(&text, 2 * TAR_BLOCK, 0);
    sp_text_puts(&text, after);
    write_text("a.tar", &text);
    expect("a.tar", SHAPEPROOF_KIND_NONE, expected);
}

static void members_of_tar_files_that_are_not_read(void **state)
{
    (void)state;
    expect_in_bundle('5', "folder/", "", "", "w U8 (1) @576+1\nformat of a.safetensors = safetensors\n");
    expect_in_bundle('2', "a.ckpt", "", "",
                     "! members that are links, devices or pipes are not read: 1, the first is 'a.ckpt'\n");
    expect_in_bundle('1', "storages/", "", "",
                     "! members that are links, devices or pipes are not read: 1, the first is 'storages'\n");
    expect_in_bundle('0', "./storages", "N.", "",
                     "! torch.load reads this tar archive in another way: it would unpickle the member 'storages', "
                     "which is not read\n");
    expect_in_bundle('0', "b", "", "more", "! 4 bytes after the end of the tar archive\n");
}

/* A safetensors file in which a text has the checksum of a tar header. */
static void a_tar_archive_besides(void **state)
{
    char file[TAR_BLOCK + 1] = "\xf8\1\0\0\0\0\0\0{\"__metadata__\":{\"k\":\"";
    static const char rest[] = "\"},\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    unsigned sum = 0;
    (void)state;
    memset(file + 30, ' ', sizeof file - 30);
    memcpy(file + 160, rest, sizeof rest - 1);
    for (size_t i = 0; i < TAR_BLOCK; i++) sum += (unsigned char)file[i];
    memcpy(file + 148,
           (char[]){'0', (char)('0' + (sum >> 12 & 7)), (char)('0' + (sum >> 9 & 7)), (char)('0' + (sum >> 6 & 7)),
                    (char)('0' + (sum >> 3 & 7)), (char)('0' + (sum & 7))},
           6);
    scratch_write(&scratch, "a.safetensors", file, sizeof file);
    expect("a.safetensors", SHAPEPROOF_KIND_NONE,
           "! its first 512 bytes are also the header of a tar archive, which torch.load would read instead: what it "
           "would unpickle is not read\n");
}

static void many_members_of_a_tar_file(void **state)
{
    struct sp_text text = {0};
    (void)state;
    if (sample() > 1) skip();
    for (int i = 0; i <= 100 * 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        put_tar_header(&text, name, 0);
    }
    write_text("a.tar", &text);
    expect("a.tar", SHAPEPROOF_KIND_LIMIT, "more than 100000 tar members");
}

/* ---- torch.package ---- */

/* An archive with a pickle in the folder m, which names a global of the module, and a file of source code. */
static void expect_package(const char *name, const char *module, const char *source, const char *expected)
{
    static const struct zipped none[1];
    struct zipped members[] = {{.name = "a/.data/extern_modules", .bytes = "torch\n", .length = 6}, none[0], none[0]};
    struct sp_text text = {0}, pickle = {0};
    sp_text_printf(&pickle, "\x80\x02(X\1%c%c%cwc%s\nobject\nl.", 0, 0, 0, module);
    members[1] = (struct zipped){.name = name, .bytes = pickle.data, .length = pickle.length};
    members[2] = (struct zipped){.name = source, .bytes = "pass", .length = 4};
    put_zip(&text, members, sizeof members / sizeof *members);
    sp_text_free(&pickle);
    write_text("a.pt", &text);
    expect("a.pt", SHAPEPROOF_KIND_NONE, expected);
}

static void source_code_of_packages(void **state)
{
    (void)state;
    expect_package("a/m/s.pkl", "builtins", "a/builtins.py",
                   "! unpickling it would run source code of the archive: 'builtins.py'\n");
    expect_package("a/m/s.pkl", "__builtin__", "a/builtins.py",
                   "! unpickling it would run source code of the archive: 'builtins.py'\n");
    expect_package("a/m/s.pkl", "builtins", "a/m/__init__.py",
                   "! unpickling it would run source code of the archive: 'm/__init__.py'\n");
    expect_package("a/m/s.pkl", "builtins", "a/other.py", "torch-package\n");
    expect_package("a/data.pkl", "builtins", "a/data/0",
                   "! it is also an archive of torch.package, whose pickles are not read\n");
    expect_package("a/m/state", "posix", "a/other.py", "posix.object");
}

/* ---- zip archives ---- */

/* The records at the end of an archive of zip64 with `entries` in a directory of `size` bytes at byte 4. */
static void put_zip64_end(struct sp_text *text, uint64_t at, uint64_t entries, uint64_t size)
{
    sp_text_append(text, "PK\6\6", 4);
    put_le(text, 8, 44);
    put_le(text, 2, 45);
    put_le(text, 2, 45);
    put_le(text, 8, 0); /* disks */
    put_le(text, 8, entries);
    put_le(text, 8, entries);
    put_le(text, 8, size);
    put_le(text, 8, 4);
    sp_text_append(text, "PK\6\7", 4);
    put_le(text, 4, 0);
    put_le(text, 8, at);
    put_le(text, 4, 1);
    sp_text_append(text, "PK\5\6\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0", 22);
}

static void directories_of_zip_archives(void **state)
{
    static const char short_zip64[] = "\1\0\4\0\0\0\0";
    const struct zipped members[] = {
        {.name = "a", .bytes = "b", .length = 1, .claimed_size = UINT32_MAX, .extra = short_zip64, .extra_length = 8}};
    struct sp_text text = {0};
    (void)state;
    put_zip(&text, members, 1);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "zip entry 'a': short zip64 field");
    sp_text_append(&text, "PK\3\4", 4);
    put_zip64_end(&text, 4, 1000 * 1000 + 1, 0);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_LIMIT, "1000001 zip entries, at most 1000000");
    scratch_write(&scratch, "a.zip", "PK\3\4", 4);
    assert_int_equal(truncate(scratch_path(&scratch, "a.zip"), (257 << 20)), 0);
    put_zip64_end(&text, 257 << 20, 1, (256 << 20) + 1);
    FILE *file = fopen(scratch_path(&scratch, "a.zip"), "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.length, file), text.length);
    fclose(file);
    sp_text_free(&text);
    expect("a.zip", SHAPEPROOF_KIND_LIMIT, "zip directory of 268435457 bytes, at most 268435456");
}

/* An archive with one member, of which `count` bytes are changed. */
static void write_changed_zip(const struct zipped *member, long from_end, const char *bytes, size_t count)
{
    struct sp_text text = {0};
    put_zip(&text, member, 1);
    memcpy(text.data + (long)text.length - from_end, bytes, count);
    write_text("a.zip", &text);
}

enum { END = 22, ENTRY = 46 }; /* bytes of the end record, and of an entry of the directory without its name */

static void entries_of_zip_archives(void **state)
{
    const struct zipped member = {.name = "a.pt", .bytes = "b", .length = 1};
    struct sp_text text = {0};
    (void)state;
    write_changed_zip(&member, END + ENTRY + 4, "QK", 2);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "zip directory: no entry 0 at byte 35");
    write_changed_zip(&member, END + ENTRY + 4 - 28, "\0\0", 2); /* the length of its name */
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "zip entry 0 has no name");
    write_changed_zip(&member, END + ENTRY + 4 - 32, "\xff\0", 2); /* that of its comment */
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "zip directory ends inside entry 0");
    sp_text_append(&text, "PK\3\4", 4);
    put_zip64_end(&text, 4, 1, 46);
    memcpy(text.data + text.length - END - 4, "\2", 1);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "zip archive in several volumes");
    sp_text_append(&text, "PK\3\4", 4);
    put_zip64_end(&text, 4, 1, 46);
    memcpy(text.data + 4, "QK", 2);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "no zip64 end record at byte 4");
    sp_text_append(&text, "PK\3\4", 4);
    put_zip64_end(&text, 4, 1, 46);
    memcpy(text.data + text.length - END + 8, "\2\0\2\0", 4);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "ambiguous archive: the zip and zip64 end records disagree");
    sp_text_append(&text, "PK\3\4", 4);
    put_zip64_end(&text, 4, 1, 46);
    text.data[4 + 4] = 45; /* the size that the record states */
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "zip64 end record at byte 4: it states a size of 45 bytes, not 44");
    sp_text_append(&text, "PK\3\4", 4);
    put_zip64_end(&text, 4, 1, 46);
    char locator[1 + 20 + END] = {0};
    memcpy(locator + 1, text.data + 4 + 56, 20 + END);
    text.length = 4 + 56;
    sp_text_append(&text, locator, sizeof locator);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED,
           "ambiguous archive: 1 bytes between the zip64 end record and its locator");
    write_changed_zip(&member, END + ENTRY + 4 - 6, "\177", 1); /* the version that is needed */
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED,
           "ambiguous archive: member 'a.pt' needs version 12.7 of the format, the latest is 6.3");
    write_changed_zip(&member, END + ENTRY + 4 - 6, "\077", 1);
    expect("a.zip", SHAPEPROOF_KIND_UNRECOGNISED, "'a.pt': this is text, not a checkpoint: 'b'");
    put_zip(&text, &member, 1);
    char gap[END + 1] = {0};
    memcpy(gap + 1, text.data + text.length - END, END);
    text.length -= END;
    sp_text_append(&text, gap, sizeof gap);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED,
           "ambiguous archive: 1 bytes between the zip directory and its end record");
}

/* Which of two zip64 fields counts differs from reader to reader. */
static void two_wide_fields_of_a_zip_member(void **state)
{
    static const char fields[] = "\1\0\10\0\1\0\0\0\0\0\0\0\1\0\10\0\3\0\0\0\0\0\0\0";
    const struct zipped member = {
        .name = "a.pt", .bytes = "b", .length = 1, .extra = fields, .extra_length = sizeof fields - 1};
    struct sp_text text = {0};
    (void)state;
    put_zip(&text, &member, 1);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_MALFORMED, "ambiguous archive: member 'a.pt' has more than one zip64 field");
}

/* Data descriptors, which are to repeat the directory, and a member that the directory does not list. The CRC of "b" is
 * 71beeff9. */
static void bytes_behind_zip_members(void **state)
{
#define CRC "\xf9\xef\xbe\x71"
#define ONE "\1\0\0\0"
#define NONE "\0\0\0\0"
#define WRONG                                                                                                          \
    "'a.pt': ambiguous archive: member 'a.pt' has no data descriptor with the sizes and the CRC of the directory"
#define HIDDEN(at) "'a.pt': ambiguous archive: a zip member begins at byte " at " that its directory does not list"
#define BEHIND(text) .behind = (text), .behind_length = sizeof(text) - 1
    static const struct {
        struct zipped member;
        const char *expected; /* NULL: it is read */
    } cases[] = {
        {{.flags = 8, .local_flags = 8, BEHIND("PK\7\10" CRC ONE ONE)}, NULL},
        {{.flags = 8, .local_flags = 8, BEHIND(CRC ONE ONE)}, NULL},
        {{.flags = 8, .local_flags = 8, BEHIND("PK\7\10" CRC ONE NONE ONE NONE)}, NULL},
        {{.flags = 8, .local_flags = 8, BEHIND(CRC ONE NONE ONE NONE)}, NULL},
        {{BEHIND("other bytes")}, NULL},
        {{.local_flags = 8, BEHIND("PK\7\10" CRC ONE ONE)},
         "'a.pt': ambiguous archive: member 'a.pt' has a data descriptor by its own header alone"},
        {{.flags = 8, BEHIND("PK\7\10" CRC ONE ONE)},
         "'a.pt': ambiguous archive: member 'a.pt' has a data descriptor by the directory alone"},
        {{.flags = 8, .local_flags = 8}, WRONG},
        {{.flags = 8, .local_flags = 8, BEHIND("PK\7\10" ONE ONE ONE)}, WRONG},
        {{.flags = 8, .local_flags = 8, BEHIND("PK\7\10" CRC NONE ONE)}, WRONG},
        {{.flags = 8, .local_flags = 8, BEHIND("PK\7\10" CRC ONE NONE)}, WRONG},
        {{BEHIND("PK\3\4")}, HIDDEN("35")},
        {{.flags = 8, .local_flags = 8, BEHIND("PK\7\10" CRC ONE ONE "PK\3\4")}, HIDDEN("51")},
        {{.flags = 8, .local_flags = 8, BEHIND("PK\7\10" CRC ONE NONE ONE NONE "PK\3\4")}, HIDDEN("59")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct zipped member = cases[i].member;
        struct sp_text text = {0};
        member.name = "a.pt";
        member.bytes = "b";
        member.length = 1;
        put_zip(&text, &member, 1);
        write_text("a.zip", &text);
        if (cases[i].expected) expect("a.zip", SHAPEPROOF_KIND_MALFORMED, cases[i].expected);
        else expect("a.zip", SHAPEPROOF_KIND_UNRECOGNISED, "'a.pt': this is text, not a checkpoint: 'b'");
    }
}

/* An array whose header is as long as it may be: 1 MiB, most of it blanks. */
static void long_headers(void **state)
{
    struct sp_text array = {0}, text = {0};
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
    (void)state;
    sp_text_append(&array, "\x93NUMPY\2\0\xf4\xff\x0f\0", 12);
    sp_text_puts(&array, header);
    put_times(&array, " ", (1 << 20) - 12 - strlen(header));
    sp_text_puts(&array, "eightbyt");
    const struct zipped members[] = {
        {.name = "a.npy", .bytes = array.data, .length = array.length, .method = ZIP_DEFLATED}};
    put_zip(&text, members, 1);
    sp_text_free(&array);
    write_text("a.npz", &text);
    expect("a.npz", SHAPEPROOF_KIND_NONE, "a F32 (2)\n");
    const struct zipped cut[] = {{.name = "a.npy", .bytes = "\x93NUMPY\1\0\x76\0{'descr': ", .length = 20}};
    put_zip(&text, cut, 1);
    write_text("a.npz", &text);
    expect("a.npz", SHAPEPROOF_KIND_MALFORMED, "no tensor can be read (1 broken; the first: ends within its header)");
}

/* An array without elements: its member is the header alone, of which numpy compares the CRC. */
static void damaged_headers(void **state)
{
    static const char array[] = "\x93NUMPY\1\0\x3a\0{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}  \n";
    const struct zipped member = {.name = "a.npy", .bytes = array, .length = sizeof array - 1};
    struct sp_text text = {0};
    (void)state;
    put_zip(&text, &member, 1);
    enum { CRC_IN_HEADER = 14, CRC_IN_ENTRY = 16 };
    memcpy(text.data + CRC_IN_HEADER, "\1\2\3\4", 4);
    memcpy(text.data + text.length - END - ENTRY - strlen(member.name) + CRC_IN_ENTRY, "\1\2\3\4", 4);
    write_text("a.npz", &text);
    expect("a.npz", SHAPEPROOF_KIND_NONE, "! numpy refuses it: a.npy does not match its CRC\n");
}

/* numpy.load calls an array as its member without ".npy", unless a member is called so. */
static void members_with_the_name_of_an_array(void **state)
{
    static const char array[] = "\x93NUMPY\1\0\x3a\0{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}  \n";
    const struct zipped members[] = {{.name = "a.npy", .bytes = array, .length = sizeof array - 1},
                                     {.name = "a.npy.npy", .bytes = array, .length = sizeof array - 1}};
    struct sp_text text = {0};
    (void)state;
    put_zip(&text, members, 2);
    write_text("a.npz", &text);
    expect("a.npz", SHAPEPROOF_KIND_NONE,
           "! numpy.load takes the member of exactly this name, not the array listed: 'a.npy'\n");
}

/* Records of storages that no listed tensor has: torch reads them, too. */
static void records_without_a_tensor(void **state)
{
    (void)state;
    expect_torch(P_PICKLE(P_DICT(P_STR("w") GOOD P_STR("x") P_PERSISTENT(P_TUPLE(P_STR("module"))))),
                 SHAPEPROOF_KIND_NONE, "! torch refuses it: a persistent id does not name a storage\n");
    expect_torch(P_PICKLE(P_DICT(P_STR("w") GOOD P_STR("x") P_STORAGE("FloatStorage", "7", "2"))), SHAPEPROOF_KIND_NONE,
                 "! torch refuses it: storage record missing: no 'a/data/7' in the archive\n");
}

/* The flags of a record of a storage, in both of its headers, say that its bytes are not those of the storage. */
static void flags_of_records(void **state)
{
    static const struct {
        unsigned char low, high;
        const char *message;
    } cases[] = {
        {1, 0, "zip member 'a/data/0' is encrypted"},
        {1 << 6, 0, "zip member 'a/data/0' is encrypted"},
        {0, 1 << 5, "zip member 'a/data/0' is encrypted"},
        {1 << 5, 0, "zip member 'a/data/0' is a patch of another"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_text text = {0}, expected = {0};
        static const char pickle[] = P_PICKLE(P_DICT(P_STR("w") GOOD));
        const struct zipped members[] = {SMALL("a/data/0", "eightbyt"), SMALL("a/data.pkl", pickle)};
        put_zip(&text, members, 2);
        char *const entry = memmem(text.data, text.length, "PK\1\2", 4);
        text.data[6] = entry[8] = (char)cases[i].low;
        text.data[7] = entry[9] = (char)cases[i].high;
        write_text("a.pt", &text);
        sp_text_printf(&expected, "tensor 'w': %s", cases[i].message);
        expect("a.pt", SHAPEPROOF_KIND_REFUSED, expected.data);
        sp_text_free(&expected);
    }
}

/* The record of a storage that no listed tensor has is encrypted. */
static void encrypted_record_without_a_tensor(void **state)
{
    static const char pickle[] = P_PICKLE(P_DICT(P_STR("w") GOOD P_STR("x") P_STORAGE("FloatStorage", "7", "2")));
    const struct zipped members[] = {SMALL("a/data/7", "eightbyt"), SMALL("a/data/0", "eightbyt"),
                                     SMALL("a/data.pkl", pickle)};
    struct sp_text text = {0};
    (void)state;
    put_zip(&text, members, 3);
    char *const entry = memmem(text.data, text.length, "PK\1\2", 4);
    text.data[6] = entry[8] = 1;
    write_text("a.pt", &text);
    expect("a.pt", SHAPEPROOF_KIND_NONE, "! torch refuses it: zip member 'a/data/7' is encrypted\n");
}

/* An encrypted member is refused by each reader that would read it where it lies. */
static void encrypted_members(void **state)
{
    static const struct {
        const char *file, *member, *message;
    } cases[] = {
        {"a.keras", "model.weights.h5", "zip member 'model.weights.h5' is encrypted"},
        {"a.npz", "w.npy", "no tensor can be read (1 broken; the first: zip member 'w.npy' is encrypted)"},
        {"a.zip", "w.safetensors", "'w.safetensors': zip member 'w.safetensors' is encrypted"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_text text = {0};
        /* the member has 4 bytes and declares 9, which is possible only if it is encrypted */
        const struct zipped members[] = {{.name = cases[i].member, .bytes = "\x89HDF", .length = 4, .claimed_size = 9}};
        put_zip(&text, members, 1);
        char *const entry = memmem(text.data, text.length, "PK\1\2", 4);
        text.data[6] = entry[8] = 1;
        write_text(cases[i].file, &text);
        expect(cases[i].file, SHAPEPROOF_KIND_REFUSED, cases[i].message);
    }
}

/* The first member of a model of torch.export, which is the data of a weight, is said to be encrypted. */
static void encrypted_weight_of_a_program(void **state)
{
    static char bytes[32 << 10];
    struct sp_text text = {0};
    (void)state;
    FILE *file = fopen("fixtures/containers/ok/program.pt2", "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    char *const name = memmem(bytes + 60, length - 60, "program/data/weights/weight_0", 29); /* in the directory */
    assert_non_null(name);
    bytes[6] = name[-46 + 8] = 1;
    sp_text_append(&text, bytes, length);
    write_text("a.pt2", &text);
    expect("a.pt2", SHAPEPROOF_KIND_NONE,
           "! tensor 'linear.weight' is not read: zip member 'program/data/weights/weight_0' is encrypted\n");
}

/* What is wrong with the compressed bytes of the pickle. */
static void members_of_zip_archives(void **state)
{
    struct sp_text text = {0};
    (void)state;
    const struct zipped longer[] = {
        {.name = "a/data.pkl", .bytes = ".", .length = 1, .method = ZIP_DEFLATED, .claimed_size = 9}};
    put_zip(&text, longer, 1);
    write_text("a.pt", &text);
    expect("a.pt", SHAPEPROOF_KIND_MALFORMED, "zip member 'a/data.pkl' holds 1 of 9 bytes");
    put_zip(&text, longer, 1);
    memcpy(text.data + 30 + 10, "\xff", 1); /* no block of deflate begins so */
    write_text("a.pt", &text);
    expect("a.pt", SHAPEPROOF_KIND_MALFORMED, "zip member 'a/data.pkl' at byte 0: Zlib error: data error");
    const struct zipped shorter[] = {{.name = "a.npy", .bytes = "\x93NUMPY", .length = 6}};
    put_zip(&text, shorter, 1);
    write_text("a.npz", &text);
    expect("a.npz", SHAPEPROOF_KIND_MALFORMED,
           "no tensor can be read (1 broken; the first: no header of a NumPy array)");
    const struct zipped cut[] = {
        {.name = "a.npy", .bytes = "\x93NUMPY", .length = 6, .method = ZIP_DEFLATED, .claimed_size = 99}};
    put_zip(&text, cut, 1);
    write_text("a.npz", &text);
    expect("a.npz", SHAPEPROOF_KIND_MALFORMED,
           "no tensor can be read (1 broken; the first: zip member 'a.npy' at byte 6: it ends)");
}

/* ---- archives of Keras ---- */

static void write_keras(const struct zipped *members, size_t count)
{
    struct sp_text text = {0};
    put_zip(&text, members, count);
    write_text("a.keras", &text);
}

static void archives_of_keras(void **state)
{
    struct sp_text index = {0};
    (void)state;
    const struct zipped lying[] = {{.name = "model.weights.h5", .bytes = "\x89HDF", .length = 4, .claimed_size = 9}};
    write_keras(lying, 1);
    expect("a.keras", SHAPEPROOF_KIND_MALFORMED, "zip member 'model.weights.h5' is stored in 4 bytes and declares 9");
    sp_text_puts(&index, "{\"weight_map\": {\"w\": [\"0\"");
    for (int i = 1; i <= 10 * 1000; i++) sp_text_printf(&index, ", \"%d\"", i);
    sp_text_puts(&index, "]}}");
    const struct zipped sharded[] = {{.name = "config.json", .bytes = "{}", .length = 2},
                                     {.name = "metadata.json", .bytes = "{}", .length = 2},
                                     {.name = "model.weights.json", .bytes = index.data, .length = index.length}};
    write_keras(sharded, 3);
    sp_text_free(&index);
    expect("a.keras", SHAPEPROOF_KIND_LIMIT, "model.weights.json: more than 10000 shards");
}

static void indexes_of_keras(void **state)
{
    static const struct {
        const char *index, *message;
    } cases[] = {
        {"[]", "model.weights.json is no JSON object"},
        {"{\"weight_map\": {\"w\": 1}}", "model.weights.json: a shard that is not a string"},
        {"{\"weight_map\": {\"w\": \"a.h5\"}}", "none of the shards that model.weights.json names is in the archive"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct zipped members[] = {
            SMALL("config.json", "{}"),
            SMALL("metadata.json", "{}"),
            {.name = "model.weights.json", .bytes = cases[i].index, .length = strlen(cases[i].index)}};
        write_keras(members, 3);
        expect("a.keras", SHAPEPROOF_KIND_MALFORMED, cases[i].message);
    }
    const struct zipped other[] = {{.name = "model.weights.h5", .bytes = "", .length = 0, .method = 12 /* bzip2 */}};
    write_keras(other, 1);
    expect("a.keras", SHAPEPROOF_KIND_REFUSED, "zip member 'model.weights.h5' is compressed with method 12");
}

/* A layer is an array of objects in a .npz file; its pickle is read where it lies. */
static void layers_of_keras_in_pickles(void **state)
{
    struct sp_text array = {0}, npz = {0};
    static const char header[] = "{'descr': '|O', 'fortran_order': False, 'shape': (), }\n";
    (void)state;
    sp_text_append(&array, "\x93NUMPY\1\0", 8);
    put_le(&array, 2, strlen(header));
    sp_text_puts(&array, header);
    sp_text_puts(&array, P_PICKLE(P_NONE));
    const struct zipped layers[] = {
        {.name = "layers/dense.npy", .bytes = array.data, .length = array.length, .method = ZIP_DEFLATED}};
    put_zip(&npz, layers, 1);
    const struct zipped members[] = {{.name = "config.json", .bytes = "{}", .length = 2},
                                     {.name = "metadata.json", .bytes = "{}", .length = 2},
                                     {.name = "model.weights.npz", .bytes = npz.data, .length = npz.length}};
    write_keras(members, 3);
    sp_text_free(&array);
    sp_text_free(&npz);
    expect("a.keras", SHAPEPROOF_KIND_REFUSED,
           "no tensor can be read (1 broken; the first: the weights of a layer in a pickle that is deflated)");
}

/* ---- archives of several checkpoints, and what is inflated ---- */

#define TENSOR "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}"

static void put_safetensors(struct sp_text *text)
{
    put_le(text, 8, strlen(TENSOR));
    sp_text_puts(text, TENSOR);
    put_le(text, 4, 0);
}

/* Members that say that they inflate to a gigabyte each. */
static void members_that_inflate(void **state)
{
    struct sp_text text = {0}, inner = {0};
    (void)state;
    put_safetensors(&inner);
    struct zipped members[6];
    static const char *const names[] = {"0.safetensors", "1.safetensors", "2.safetensors",
                                        "3.safetensors", "4.safetensors", "5.safetensors"};
    for (size_t i = 0; i < 6; i++)
        members[i] = (struct zipped){.name = names[i],
                                     .bytes = inner.data,
                                     .length = inner.length,
                                     .method = i < 5 ? ZIP_DEFLATED : ZIP_STORED,
                                     .claimed_size = i < 5 ? 1U << 30 : 0};
    put_zip(&text, members, 6);
    sp_text_free(&inner);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_NONE,
           "! member '4.safetensors' is not read: the members before it inflate to 2048 MiB and more\n");
}

#define ONE_ELEMENT P_REBUILD(P_STORAGE("FloatStorage", "0", "1"), "0", P_TUPLE(""), P_TUPLE(""))

/* A dictionary of 35 tensors below a key of 20,000 bytes. */
static void put_long_names(struct sp_text *text)
{
    sp_text_puts(text, "\x80\x02}V");
    put_times(text, "k", 20000);
    sp_text_puts(text, "\n}(");
    for (int i = 0; i < 35; i++) sp_text_printf(text, "V%d\n%s", i, ONE_ELEMENT);
    sp_text_puts(text, "us.");
}

/* A gzip file of 4 MiB that are no zeros: they count as memory, and not for longer than the file is open. */
static void memory_of_what_is_inflated(void **state)
{
    enum { SIZE = 4 << 20, ROOM = 16 << 10 };
    struct shapeproof_error error = {0};
    struct sp_text inner = {0};
    unsigned char *packed = malloc(ROOM);
    (void)state;
    put_le(&inner, 8, 72);
    sp_text_printf(&inner, "%-72s", "{\"w\":{\"dtype\":\"U8\",\"shape\":[4194304],\"data_offsets\":[0,4194304]}}");
    put_times(&inner, "x", SIZE);
    z_stream stream = {.next_in = (unsigned char *)inner.data, .avail_in = (uInt)inner.length, .next_out = packed};
    stream.avail_out = ROOM;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK); /* 31: as gzip */
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    scratch_write(&scratch, "a.gz", packed, ROOM - stream.avail_out);
    deflateEnd(&stream);
    sp_text_free(&inner);
    free(packed);
    const char *path = scratch_path(&scratch, "a.gz");
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.memory = 1 << 20}, &error));
    assert_null(shapeproof_inventory_open(path, &error));
    assert_string_equal(strstr(error.message, "a.gz"), "a.gz: reading it takes more than 1 MiB of memory; a larger "
                                                       "--limit memory=SIZE allows more");
    assert_true(shapeproof_set_limits(&(struct shapeproof_limits){.memory = 5 << 20}, &error));
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    assert_true(shapeproof_set_limits(NULL, &error));
    assert_non_null(inventory);
    shapeproof_inventory_close(inventory);
    scratch_empty(&scratch);
}

/* The names of two pickles have 1.4 MB, in files that allow 1.05 MB and 64 times their size: all pickles of a file
 * share that. */
static void names_of_several_pickles(void **state)
{
    struct sp_text pickle = {0}, inner = {0}, text = {0};
    (void)state;
    put_long_names(&pickle);
    const struct zipped packaged[] = {
        {.name = "p/.data/extern_modules", .bytes = "", .length = 0},
        {.name = "p/.data/0.storage", .bytes = "four", .length = 4},
        {.name = "p/a.pkl", .bytes = pickle.data, .length = pickle.length, .method = ZIP_DEFLATED},
        {.name = "p/b.pkl", .bytes = pickle.data, .length = pickle.length, .method = ZIP_DEFLATED}};
    put_zip(&text, packaged, 4);
    write_text("a.pt", &text);
    expect("a.pt", SHAPEPROOF_KIND_NONE,
           "! 'b.pkl' is not read: names of more than 64 bytes for each byte of the file, and 1 MiB besides, in all\n");
    const struct zipped saved[] = {
        {.name = "a/data.pkl", .bytes = pickle.data, .length = pickle.length, .method = ZIP_DEFLATED},
        {.name = "a/version", .bytes = "3\n", .length = 2},
        {.name = "a/data/0", .bytes = "four", .length = 4}};
    put_zip(&inner, saved, 3);
    sp_text_free(&pickle);
    const struct zipped several[] = {{.name = "a.pth", .bytes = inner.data, .length = inner.length},
                                     {.name = "b.pth", .bytes = inner.data, .length = inner.length}};
    put_zip(&text, several, 2);
    sp_text_free(&inner);
    write_text("a.zip", &text);
    expect("a.zip", SHAPEPROOF_KIND_NONE,
           "! member 'b.pth' is not read: names of more than 64 bytes for each byte of the file, and 1 MiB besides, in "
           "all\n");
}

/* A file may not grow: as on a full disk. */
static void no_room_for_what_is_inflated(void **state)
{
    struct sp_text text = {0}, inner = {0};
    unsigned char packed[512];
    uLong length = sizeof packed;
    struct rlimit old, none;
    (void)state;
    put_safetensors(&inner);
    const struct zipped members[] = {
        {.name = "a.safetensors", .bytes = inner.data, .length = inner.length, .method = ZIP_DEFLATED}};
    put_zip(&text, members, 1);
    scratch_write(&scratch, "a.zip", text.data, text.length);
    sp_text_free(&text);
    z_stream stream = {.next_in = (unsigned char *)inner.data, .avail_in = (uInt)inner.length, .next_out = packed};
    stream.avail_out = (uInt)length;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK); /* 31: as gzip */
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    length -= stream.avail_out;
    deflateEnd(&stream);
    sp_text_free(&inner);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    none = (struct rlimit){0, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    char *const archive = strdup(scratch_path(&scratch, "a.zip"));
    scratch_write(&scratch, "a.gz", packed, length);
    struct shapeproof_error error = {0};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    struct shapeproof_inventory *zip = shapeproof_inventory_open(archive, &error);
    const struct shapeproof_error of_zip = error;
    struct shapeproof_inventory *gzip = shapeproof_inventory_open(scratch_path(&scratch, "a.gz"), &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_null(zip);
    assert_null(gzip);
    assert_string_equal(strstr(of_zip.message, "a.zip"),
                        "a.zip: 'a.safetensors': no room for what is inflated: write: File too large");
    assert_int_equal(of_zip.kind, SHAPEPROOF_KIND_IO);
    assert_string_equal(strstr(error.message, "a.gz"), "a.gz: no room for what is inflated: pwrite: File too large");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
    free(archive);
    scratch_empty(&scratch);
}

/* The array is as long as the archive says, but more follows it. */
static void arrays_that_inflate_to_more(void **state)
{
    static const char array[] =
        "\x93NUMPY\1\0\x37\0{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}eightbytmore";
    const struct zipped member = {
        .name = "a.npy", .bytes = array, .length = sizeof array - 1, .method = ZIP_DEFLATED, .claimed_size = 73};
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    unsigned char bytes[8];
    (void)state;
    put_zip(&text, &member, 1);
    write_text("a.npz", &text);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(scratch_path(&scratch, "a.npz"), &error);
    if (!inventory) fail_msg("%s", error.message);
    struct shapeproof_data *data = shapeproof_data_open(inventory, &error);
    assert_non_null(data);
    assert_false(shapeproof_data_read(data, 0, 0, bytes, sizeof bytes, &error));
    assert_string_equal(strstr(error.message, "'a'"), "'a': zip member 'a.npy': it expands beyond its declared size");
    shapeproof_data_close(data);
    shapeproof_inventory_close(inventory);
    scratch_empty(&scratch);
}

/* ---- what changes between two looks ---- */

/* Neither the folder nor that which contains it is there any more. */
static void folders_that_vanish(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    assert_int_equal(mkdir(scratch_path(&scratch, "one"), 0700), 0);
    assert_int_equal(mkdir(scratch_path(&scratch, "one/two"), 0700), 0);
    scratch_safetensors(&scratch, "one/two/a.safetensors", TENSOR, strlen(TENSOR), 4);
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(scratch_path(&scratch, "one/two"), &error);
    assert_non_null(inventory);
    assert_int_equal(unlink(scratch_path(&scratch, "one/two/a.safetensors")), 0);
    assert_int_equal(rmdir(scratch_path(&scratch, "one/two")), 0);
    assert_int_equal(rmdir(scratch_path(&scratch, "one")), 0);
    assert_null(shapeproof_data_open(inventory, &error));
    assert_string_equal(strstr(error.message, "one"), "one/two: cannot be opened again");
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    shapeproof_inventory_close(inventory);
}

static void expect_contents(const char *expected)
{
    struct shapeproof_error error = {0};
    struct sp_folder folder;
    assert_true(sp_folder_open(&folder, scratch.path));
    assert_null(sp_contents_open(&folder, "optimizer.pt", &error));
    assert_string_equal(error.message, expected);
    assert_int_equal(error.kind, SHAPEPROOF_KIND_MALFORMED);
    sp_folder_close(&folder);
    scratch_empty(&scratch);
}

/* What a trainer leaves beside a checkpoint, such as the state of an optimizer. */
static void contents_that_torch_did_not_save(void **state)
{
    const struct zipped member = {.name = "a.txt", .bytes = "b", .length = 1};
    struct sp_text text = {0};
    (void)state;
    scratch_write(&scratch, "optimizer.pt", "some text", 9);
    expect_contents("not a file of torch.save");
    scratch_write(&scratch, "optimizer.pt", "", 0);
    expect_contents("the file is empty");
    put_zip(&text, &member, 1);
    write_text("optimizer.pt", &text);
    expect_contents("a zip archive, but not of torch.save: it has no data.pkl");
}

/* ---- pickles of arrays ---- */

static void arrays_in_pickles(void **state)
{
    struct sp_text text = {0};
    (void)state;
    sp_text_puts(&text,
                 "\x80\x03}(" P_STR("w") P_CALL("numpy.core.multiarray", "_reconstruct",
                                                P_TUPLE(P_GLOBAL("numpy", "ndarray") P_TUPLE(P_INT("0")) P_STR("b"))));
    sp_text_puts(&text,
                 "(" P_INT("1") TWO P_CALL("numpy", "dtype", P_TUPLE(P_STR("f4") P_FALSE P_FALSE)) P_FALSE "C\4four"
                                                                                                           "tbu.");
    write_text("a.pkl", &text);
    expect("a.pkl", SHAPEPROOF_KIND_MALFORMED, ONLY_ONE("its shape needs 8 bytes, and it has 4"));
}

/* ---- TensorFlow ---- */

static void put_varint(struct sp_text *text, uint64_t number)
{
    for (; number > 127; number >>= 7) put_le(text, 1, (number & 127) | 128);
    put_le(text, 1, number);
}

static void put_entry(struct sp_text *text, const char *key, const struct sp_text *value)
{
    put_varint(text, 0);
    put_varint(text, strlen(key));
    put_varint(text, value->length);
    sp_text_puts(text, key);
    sp_text_append(text, value->data, value->length);
}

/* The end of a block: its restart points, of which the first entry is one, `places` as their number, how it is
 * compressed, and a sum. */
static void end_block(struct sp_text *text, unsigned places)
{
    put_le(text, 4, 0);
    put_le(text, 4, places);
    put_le(text, 1 + 4, 0);
}

static void expect_tensorflow(const struct sp_text *entry, unsigned places, enum shapeproof_kind kind,
                              const char *expected)
{
    static char one_shard[] = "\x08\1";
    const struct sp_text header = {.data = one_shard, .length = 2};
    struct sp_text text = {0}, place = {0};
    put_entry(&text, "", &header);
    put_entry(&text, "w", entry);
    end_block(&text, places);
    const size_t size = text.length - 5;
    put_varint(&place, 0);
    put_varint(&place, size);
    const size_t index = text.length;
    put_entry(&text, "w", &place);
    end_block(&text, 1);
    const size_t index_size = text.length - 5 - index, footer = text.length;
    put_varint(&text, 0);
    put_varint(&text, size);
    put_varint(&text, index);
    put_varint(&text, index_size);
    put_le(&text, footer + 40 - text.length, 0);
    sp_text_append(&text, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    sp_text_free(&place);
    write_text("a.index", &text);
    expect("a.index", kind, expected);
}

static void tensorflow(void **state)
{
    struct sp_text entry = {0};
    (void)state;
    sp_text_append(&entry, "\x08\1\x12", 3); /* F32, and a shape: */
    put_varint(&entry, 65 * 4);
    put_times(&entry, "\x12\2\x08\1", 65);
    expect_tensorflow(&entry, 1, SHAPEPROOF_KIND_LIMIT,
                      "no tensor can be read (1 broken; the first: more than 64 dimensions)");
    expect_tensorflow(&entry, 99, SHAPEPROOF_KIND_MALFORMED, "a block of 283 bytes with 99 places");
    entry.length = 0;
    sp_text_append(&entry, "\x08\1\x12\2\x18\1", 6);
    expect_tensorflow(&entry, 1, SHAPEPROOF_KIND_MALFORMED,
                      "no tensor can be read (1 broken; the first: its shape is not known)");
    sp_text_free(&entry);
}

/* ---- Flax: MessagePack ---- */

/* {"w": array}, an array being an extension that is a list of shape, type and bytes. */
static void arrays_of_flax(void **state)
{
    static const struct {
        const char *key, *array;
        size_t key_length, length;
        const char *message;
    } cases[] = {
        {"w",
         "\x93\x91\xa1x\xa7"
         "float32\xc4\4four",
         1, 18, "a dimension is no number"},
        {"w", "\x93\x91\1\1\xc4\4four", 1, 10, "the type of an array is no word"},
        {"w",
         "\x93\x91\1\xa7"
         "float32\xc4\4fourmore",
         1, 21, "the bytes of an array do not end with it"},
        {"w\x80\xa1\0",
         "\x93\x91\1\xa7"
         "float32\xc4\4four",
         4, 17, "a NUL in its name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_text text = {0}, expected = {0};
        sp_text_append(&text, cases[i].key_length > 1 ? "\x82\xa1" : "\x81\xa1", 2);
        sp_text_append(&text, cases[i].key, cases[i].key_length);
        put_le(&text, 1, 0xc7);
        put_le(&text, 1, cases[i].length);
        put_le(&text, 1, 1);
        sp_text_append(&text, cases[i].array, cases[i].length);
        write_text("a.msgpack", &text);
        sp_text_printf(&expected, "no tensor can be read (1 broken; the first: %s)", cases[i].message);
        expect("a.msgpack", SHAPEPROOF_KIND_MALFORMED, expected.data);
        sp_text_free(&expected);
    }
}

static void flax(void **state)
{
    struct sp_text text = {0}, array = {0};
    (void)state;
    sp_text_append(&array, "\x93\xdc\0\x41", 4); /* a list of three, the first a list of 65 */
    put_times(&array, "\1", 65);
    sp_text_append(&array,
                   "\xa7"
                   "float32\xc4\4"
                   "fourbyte",
                   8 + 2 + 4);
    sp_text_append(&text, "\x81\xa1w\xc7", 4);
    put_le(&text, 1, array.length);
    put_le(&text, 1, 1);
    sp_text_append(&text, array.data, array.length);
    sp_text_free(&array);
    write_text("a.msgpack", &text);
    expect("a.msgpack", SHAPEPROOF_KIND_LIMIT,
           "no tensor can be read (1 broken; the first: 65 dimensions, at most 64)");
    sp_text_append(&text, "\x82\xa1w\x80\xdb\0\1\0\1", 9); /* an empty map, and a key of 65,537 bytes */
    put_times(&text, "k", 65537);
    sp_text_append(&text, "\x80", 1);
    write_text("a.msgpack", &text);
    expect("a.msgpack", SHAPEPROOF_KIND_LIMIT, "a name of more than 65536 bytes");
}

/* ---- GGUF ---- */

static void put_gguf(struct sp_text *text, uint64_t tensors, uint64_t pairs)
{
    sp_text_puts(text, "GGUF");
    put_le(text, 4, 3);
    put_le(text, 8, tensors);
    put_le(text, 8, pairs);
}

static void gguf(void **state)
{
    struct sp_text text = {0};
    (void)state;
    put_gguf(&text, 1, 0);
    put_le(&text, 8, 1);
    sp_text_puts(&text, "w");
    put_le(&text, 4, 1);
    put_le(&text, 8, 2);
    put_le(&text, 4, 0);          /* F32 */
    put_le(&text, 8, UINT64_MAX); /* offset */
    write_text("a.gguf", &text);
    expect("a.gguf", SHAPEPROOF_KIND_MALFORMED, "tensor 'w': its data would end beyond 64 bits");
    scratch_write(&scratch, "a.gguf", "\1\2\3\4\5\6\7\x8\0\0", 10);
    expect("a.gguf", SHAPEPROOF_KIND_UNRECOGNISED,
           "does not begin with 'GGUF', although its name says that it is a GGUF file");
    put_gguf(&text, 0, 1);
    put_le(&text, 8, 1);
    sp_text_puts(&text, "\xff");
    put_le(&text, 16, 0);
    write_text("a.gguf", &text);
    expect("a.gguf", SHAPEPROOF_KIND_MALFORMED, "metadata at byte 24: the key is not UTF-8 without NUL");
    put_gguf(&text, 1, 0);
    put_le(&text, 8, 65537);
    put_le(&text, 65537 + 16, 0);
    write_text("a.gguf", &text);
    expect("a.gguf", SHAPEPROOF_KIND_MALFORMED, "tensor at byte 24: a name of 65537 bytes");
}

/* ---- MXNet ---- */

static void mxnet(void **state)
{
    struct sp_text text = {0};
    (void)state;
    put_le(&text, 8, 0x112);
    put_le(&text, 8, 0);
    put_le(&text, 8, 1);
    put_le(&text, 4, 0xf993fac9); /* version 2 */
    put_le(&text, 4, 1);          /* sparse, by rows */
    put_le(&text, 4, 1);          /* the shape of the data */
    put_le(&text, 8, 2);
    put_le(&text, 4, 1); /* the shape */
    put_le(&text, 8, 2);
    put_le(&text, 8, 1); /* device */
    put_le(&text, 4, 0); /* F32 */
    put_le(&text, 4, 6); /* I64 */
    put_le(&text, 4, 2); /* the shape of the indices */
    put_le(&text, 8, INT64_MAX);
    put_le(&text, 8, INT64_MAX);
    put_le(&text, 64, 0);
    write_text("a.params", &text);
    expect("a.params", SHAPEPROOF_KIND_MALFORMED, "array 1 of 1: the size of its indices overflows 64 bits");
}

static void names_of_mxnet(void **state)
{
    struct sp_text text = {0};
    (void)state;
    put_le(&text, 8, 0x112);
    put_le(&text, 8, 0);
    put_le(&text, 8, 1); /* an array: */
    put_le(&text, 4, 0xf993fac9);
    put_le(&text, 4, 0); /* dense */
    put_le(&text, 4, 1);
    put_le(&text, 8, 2);
    put_le(&text, 8, 1);
    put_le(&text, 4, 0);
    put_le(&text, 8, 0);
    put_le(&text, 8, 1); /* names */
    put_le(&text, 8, 65537);
    put_times(&text, "n", 65537);
    write_text("a.params", &text);
    expect("a.params", SHAPEPROOF_KIND_LIMIT,
           "the names of the arrays: a name of 65537 bytes at byte 80, at most 65536");
}

/* ---- ONNX ---- */

static void onnx(void **state)
{
    struct sp_text text = {0};
    (void)state;
    sp_text_append(&text, "\x08\x08\x3a\x0d\x2a\x0b", 6);         /* version 8, a graph, an initializer: */
    sp_text_append(&text, "\x08\1\x10\1\x1a\2\x08\0\x42\1w", 11); /* (1), F32, a segment, named w */
    write_text("a.onnx", &text);
    expect("a.onnx", SHAPEPROOF_KIND_REFUSED, "no tensor can be read (1 broken; the first: a tensor in segments)");
}

/* ---- NumPy ---- */

static void expect_numpy(const char *header, const char *expected)
{
    struct sp_text text = {0};
    sp_text_append(&text, "\x93NUMPY\1\0", 8);
    put_le(&text, 2, strlen(header));
    sp_text_puts(&text, header);
    write_text("a.npy", &text);
    expect("a.npy", SHAPEPROOF_KIND_MALFORMED, expected);
}

#define NUMPY(type) "{'descr': " type ", 'fortran_order': False, 'shape': (1,)}"
#define LARGE "4611686018427387904" /* 2^62 */

static void numpy(void **state)
{
    (void)state;
    expect_numpy(NUMPY("[('a', '<f4', (" LARGE ", " LARGE "))]"),
                 "the product of the shape of a field overflows 64 bits");
    expect_numpy(NUMPY("[('a', '<f4', (" LARGE ",))]"), "the size of its type overflows 64 bits");
    expect_numpy(NUMPY("('<f4', (" LARGE ",))"), "the size of its type overflows 64 bits");
}

/* ---- directories ---- */

static void make_folder(const char *name) { assert_int_equal(mkdir(scratch_path(&scratch, name), 0700), 0); }
static void remove_folder(const char *name) { assert_int_equal(rmdir(scratch_path(&scratch, name)), 0); }

static void directories(void **state)
{
    (void)state;
    scratch_write(&scratch, "model_index.json", "{}", 2);
    expect("", SHAPEPROOF_KIND_UNRECOGNISED,
           "a diffusers pipeline (model_index.json), but no component is in this directory");
    make_folder("step");
    scratch_write(&scratch, "latest", "step", 4);
    expect("", SHAPEPROOF_KIND_UNRECOGNISED, "a training, whose last checkpoint is 'step'");
    remove_folder("step");
    make_folder("snapshots");
    make_folder("snapshots/abc");
    make_folder("refs");
    scratch_write(&scratch, "refs/main", "abc", 3);
    expect("", SHAPEPROOF_KIND_UNRECOGNISED,
           "a model in the cache of the Hugging Face hub, which is in 'snapshots/abc'");
    assert_int_equal(unlink(scratch_path(&scratch, "refs/main")), 0);
    remove_folder("refs");
    remove_folder("snapshots/abc");
    remove_folder("snapshots");
}

/* ---- files of ranks ---- */

/* Three ranks of which each has 2^63 - 1 rows, all in the same bytes. */
#define RANK                                                                                                           \
    P_PICKLE(P_DICT(P_STR("module") P_DICT(P_STR("word_embeddings.weight") P_REBUILD(                                  \
        FLOATS, "0", P_TUPLE(P_INT("9223372036854775807") P_INT("1")), P_TUPLE(P_INT("0") P_INT("1"))))                \
                        P_STR("mp_world_size") P_INT("3") P_STR("dp_world_size") P_INT("1")))

static void ranks(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "mp_rank_0%d_model_states.pt", i);
        write_torch_as(name, RANK, "eightbyt");
    }
    expect("", SHAPEPROOF_KIND_MALFORMED, "tensor 'module.word_embeddings.weight': its size overflows 64 bits");
    if (sample() > 1) skip();
    for (int i = 0; i <= 20 * 1000; i++) {
        char name[64];
        snprintf(name, sizeof name, "model_world_size_20001_rank_%d.pt", i);
        scratch_write(&scratch, name, "", 0);
    }
    expect("", SHAPEPROOF_KIND_LIMIT, "files of more than 20000 ranks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_of_pytorch),
        cmocka_unit_test(parts_of_metadata),
        cmocka_unit_test(places_in_metadata),
        cmocka_unit_test(files_of_a_distributed_checkpoint),
        cmocka_unit_test(shards_of_a_distributed_checkpoint),
        cmocka_unit_test(tensors_in_rarer_forms),
        cmocka_unit_test(tensors_of_pytorch),
        cmocka_unit_test(states_of_tensors),
        cmocka_unit_test(calls_that_python_does_not_write),
        cmocka_unit_test(keys_that_are_equal),
        cmocka_unit_test(dictionaries_that_are_made_of_others),
        cmocka_unit_test(quantised_tensors_of_pytorch),
        cmocka_unit_test(names_of_tensors),
        cmocka_unit_test(subclasses_of_tensors),
        cmocka_unit_test(states_of_subclasses),
        cmocka_unit_test(scripts_of_pytorch),
        cmocka_unit_test(streams_of_pytorch),
        cmocka_unit_test(tar_files_of_pytorch),
        cmocka_unit_test(members_of_tar_files),
        cmocka_unit_test(tar_files_that_programs_read_differently),
        cmocka_unit_test(members_of_tar_files_that_are_not_read),
        cmocka_unit_test(a_tar_archive_besides),
        cmocka_unit_test(many_members_of_a_tar_file),
        cmocka_unit_test(source_code_of_packages),
        cmocka_unit_test(directories_of_zip_archives),
        cmocka_unit_test(entries_of_zip_archives),
        cmocka_unit_test(bytes_behind_zip_members),
        cmocka_unit_test(two_wide_fields_of_a_zip_member),
        cmocka_unit_test(long_headers),
        cmocka_unit_test(damaged_headers),
        cmocka_unit_test(members_with_the_name_of_an_array),
        cmocka_unit_test(records_without_a_tensor),
        cmocka_unit_test(flags_of_records),
        cmocka_unit_test(encrypted_members),
        cmocka_unit_test(encrypted_record_without_a_tensor),
        cmocka_unit_test(encrypted_weight_of_a_program),
        cmocka_unit_test(members_of_zip_archives),
        cmocka_unit_test(archives_of_keras),
        cmocka_unit_test(indexes_of_keras),
        cmocka_unit_test(layers_of_keras_in_pickles),
        cmocka_unit_test(members_that_inflate),
        cmocka_unit_test(memory_of_what_is_inflated),
        cmocka_unit_test(names_of_several_pickles),
        cmocka_unit_test(no_room_for_what_is_inflated),
        cmocka_unit_test(arrays_that_inflate_to_more),
        cmocka_unit_test(folders_that_vanish),
        cmocka_unit_test(contents_that_torch_did_not_save),
        cmocka_unit_test(arrays_in_pickles),
        cmocka_unit_test(tensorflow),
        cmocka_unit_test(arrays_of_flax),
        cmocka_unit_test(flax),
        cmocka_unit_test(gguf),
        cmocka_unit_test(mxnet),
        cmocka_unit_test(names_of_mxnet),
        cmocka_unit_test(onnx),
        cmocka_unit_test(numpy),
        cmocka_unit_test(directories),
        cmocka_unit_test(ranks),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
