/* SPDX-License-Identifier: MIT
 * What loading a checkpoint would run besides the pickle of its tensors: programs of torch.export, TorchScript, states
 * of NumPy's dtypes, code in the folder. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "read/build.h"
#include "read/listing.h"

/* Compares the warnings about the file in the scratch directory, one a line, with `expected`. */
static void expect_warnings(const char *name, const char *expected)
{
    struct sp_text text = {0};
    listing_of(&text, scratch_path(&scratch, name));
    const char *found = strstr(text.data, "\n!");
    found = found ? found + 1 : strstr(text.data, "refused: ") ? text.data : "";
    if (strcmp(found, expected) != 0) fail_msg("\nexpected %s\nfound    %s", expected, found);
    sp_text_free(&text);
}

static void write_text(const char *name, struct sp_text *text)
{
    scratch_write(&scratch, name, text->data, text->length);
    sp_text_free(text);
}

#define SMALL(member, text)                                                                                            \
    {                                                                                                                  \
        .name = (member), .bytes = (text), .length = sizeof(text) - 1                                                  \
    }

/* ---- torch.export ---- */

/* An exported program of one weight, which has this JSON in the member. */
static void expect_program(const char *member, const char *json, const char *expected)
{
    static const char config[] =
        "{\"config\":{\"w\":{\"path_name\":\"weight_0\",\"tensor_meta\":{\"dtype\":7,\"sizes\":"
        "[{\"as_int\":2}],\"strides\":[{\"as_int\":1}],\"storage_offset\":{\"as_int\":0}}}}}";
    struct sp_text text = {0};
    const struct zipped members[] = {SMALL("p/data/weights/model_weights_config.json", config),
                                     SMALL("p/data/weights/weight_0", "eightbyt"),
                                     {.name = member, .bytes = json, .length = strlen(json)}};
    put_zip(&text, members, sizeof members / sizeof *members);
    write_text("a.pt2", &text);
    expect_warnings("a.pt2", expected);
}

#define MODEL "p/models/model.json"
#define LOADING "! '" MODEL "': loading it would "
#define RUNNING "! '" MODEL "': running it would "

static void sizes_of_programs(void **state)
{
    static const char *const harmless[] = {"Symbol('s77', positive=True, integer=True)",
                                           "FloorDiv(Add(Symbol('s0', integer=True), Integer(-1)), Integer(2))",
                                           "Pow(Symbol('u0'), Rational(1, 2))",
                                           "Float('1.5e-05', precision=53)",
                                           "Piecewise(ExprCondPair(Integer(1), Eq(Symbol('s0'), Integer(2))))",
                                           "2*s0 + (s1//2)**2",
                                           "Max(1, s0) >= zuf3",
                                           "1.5e-3*s0",
                                           "-s0 % 3",
                                           "not (s0)"};
    static const char *const code[] = {"__import__('os')",
                                       "eval('1')",
                                       "sympify('1')",
                                       "Symbol('s0').__class__",
                                       "Symbol('s0')('x')",
                                       "Add('__import__(0)')",
                                       "Max(s0, key=open)",
                                       "(lambda: 1)()",
                                       "[1]",
                                       "1.__class__",
                                       "1.5.real",
                                       "'''a'''",
                                       "os",
                                       "s0 # 1",
                                       "f'{1}'",
                                       "math.floor(1)"};
    (void)state;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        struct sp_text json = {0};
        sp_text_printf(&json, "{\"a\":[{\"as_expr\":{\"expr_str\":\"%s\",\"hint\":null}}]}", harmless[i]);
        expect_program(MODEL, json.data, "");
        sp_text_free(&json);
    }
    for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
        struct sp_text json = {0}, expected = {0};
        sp_text_printf(&json, "{\"a\":[{\"as_expr\":{\"expr_str\":\"%s\",\"hint\":null}}]}", code[i]);
        sp_text_printf(&expected, LOADING "evaluate '%s' as Python, which is more than a size\n", code[i]);
        expect_program(MODEL, json.data, expected.data);
        sp_text_free(&json);
        sp_text_free(&expected);
    }
}

static void conditions_of_programs(void **state)
{
    (void)state;
    expect_program(MODEL,
                   "{\"guards_code\":[\"(L['x'].size()[0] % 2) == 0\",\"L['k']['my-key'].size()[0] != 1\","
                   "\"math.trunc(torch.sym_float(L['y'].stride()[0]) ** 0.5) == 3\",\"L['p'].field.size()[0] > 1\"]}",
                   "");
    expect_program(MODEL, "{\"guards_code\":[\"1 == 1\",\"torch.load('x') == 0\"]}",
                   RUNNING "evaluate 'torch.load('x') == 0' as Python, which is more than a condition on sizes\n");
    expect_program(MODEL, "{\"guards_code\":[\"L['x'].__class__ == 0\"]}",
                   RUNNING "evaluate 'L['x'].__class__ == 0' as Python, which is more than a condition on sizes\n");
    expect_program(MODEL, "{\"guards_code\":[\"max(1, 2, key=eval)\"]}",
                   RUNNING "evaluate 'max(1, 2, key=eval)' as Python, which is more than a condition on sizes\n");
}

static void functions_of_programs(void **state)
{
    static const char *const harmless[] = {"torch.ops.aten.add.Tensor",
                                           "torch.ops.aten.__and__.Scalar",
                                           "math.floor",
                                           "torch.ops.higher_order.cond",
                                           "torch.ops._c10d_functional.all_reduce.default",
                                           "torch.ops.my_library.op.default",
                                           "_operator.add",
                                           "torch.sym_max",
                                           "torch._C._set_grad_enabled",
                                           "#my:op"};
    static const char *const code[] = {"torch.os.system",
                                       "torch.load",
                                       "torch.ops.load_library",
                                       "torchx.os.system",
                                       "torch.ops.load_library.__call__",
                                       "torch.ops.aten.from_file.default",
                                       "torch.ops.aten.add.Tensor.a",
                                       "torch.ops.__class__",
                                       "_operator.attrgetter",
                                       "_operatorx.call",
                                       "math.a.b",
                                       "torch.sym_max.a",
                                       "torch.export.custom_ops._call_custom_autograd_function_in_pre_dispatch"};
    (void)state;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        struct sp_text json = {0};
        sp_text_printf(&json, "{\"nodes\":[{\"target\":\"%s\"}]}", harmless[i]);
        expect_program(MODEL, json.data, "");
        sp_text_free(&json);
    }
    for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
        struct sp_text json = {0}, expected = {0};
        sp_text_printf(&json, "{\"nodes\":[{\"%s\":\"%s\"}]}", i ? "target" : "as_operator", code[i]);
        sp_text_printf(&expected, RUNNING "call '%s'\n", code[i]);
        expect_program(MODEL, json.data, expected.data);
        sp_text_free(&json);
        sp_text_free(&expected);
    }
}

#define SPEC(context)                                                                                                  \
    "{\"in_spec\":\"[1, {\\\"type\\\": \\\"builtins.dict\\\", \\\"context\\\": \\\"" context                           \
    "\\\", \\\"children_spec\\\": []}]\"}"
#define INNER "\\\\\\\"" /* a quotation mark in a context */

static void names_in_programs(void **state)
{
    (void)state;
    expect_program(MODEL, "{\"inputs\":[{\"as_tensor\":{\"name\":\"x\"}}],\"forward_arg_names\":[\"x\",\"y\"]}", "");
    expect_program(MODEL, "{\"inputs\":[{\"as_tensor\":{\"name\":\"x=print('a')\"}}]}",
                   LOADING "make Python code of the name 'x=print('a')'\n");
    expect_program(MODEL, "{\"forward_arg_names\":[\"x\",\"y=f()\"]}",
                   LOADING "make Python code of the name 'y=f()'\n");
    expect_program(MODEL, "{\"a\":{\"parameter_name\":\"l.we\\\"ight\"}}",
                   LOADING "make Python code of the name 'l.we\"ight'\n");
    expect_program(MODEL, SPEC("[" INNER "my-key" INNER "]"), "");
    expect_program(MODEL, SPEC("[" INNER "x=f()" INNER "]"), LOADING "make Python code of the name 'x=f()'\n");
    expect_program(MODEL,
                   SPEC("[{" INNER "__enum__" INNER ": true, " INNER "fqn" INNER ": " INNER "m.n:Class" INNER "}]"),
                   LOADING "import 'm.n:Class'\n");
    expect_program(MODEL, SPEC("{" INNER "default_factory_module" INNER ": " INNER "builtins" INNER "}"), "");
    expect_program(MODEL, SPEC("{" INNER "default_factory_module" INNER ": " INNER "m" INNER "}"),
                   LOADING "import 'm'\n");
    expect_program(MODEL, SPEC("["),
                   "! '" MODEL "': a tree of its inputs or outputs is not read: '" MODEL
                   "': expected a value at byte 1, found the end\n");
}

static void programs_that_are_not_read(void **state)
{
    (void)state;
    expect_program(MODEL, "{\"a\":",
                   "! '" MODEL "' is not read, so that it is not known what loading it would run: "
                   "program: expected a value at byte 5, found the end\n");
    expect_program("serialized_exported_program.json", "{\"expr_str\":\"f()\"}",
                   "! torch refuses it: the member, 'serialized_exported_program.json', is not in the folder 'p/'\n"
                   "! 'serialized_exported_program.json': loading it would evaluate 'f()' as Python, which is more "
                   "than a size\n");
    expect_program("p/extra/model.json", "{\"expr_str\":\"f()\"}", "");
}

/* Members that torch.export.load unpickles: of a constant whatever use_pickle says, and in the layout before 2.8. */
static void objects_of_programs(void **state)
{
    static const char pickle[] = P_PICKLE(P_CALL("posix", "system", P_TUPLE(P_STR("true"))));
    static const char calls[] = ": unpickling it would call posix.system: nothing was executed\n";
    struct sp_text text = {0}, saved = {0}, outer = {0}, expected = {0};
    (void)state;
    sp_text_printf(&expected, "! 'p/data/constants/opaque_obj_0/y'%s", calls);
    expect_program("p/data/constants/opaque_obj_0/y", pickle, expected.data);
    expect_program("p/data/constants/other/opaque_obj_0", pickle, "");
    const struct zipped inner[] = {SMALL("a/data.pkl", pickle)}, plain[] = {SMALL("a.txt", "text")};
    put_zip(&saved, inner, 1);
    put_zip(&text, plain, 1);
    const struct zipped members[] = {SMALL("version", "8.14"),
                                     {.name = "serialized_constants.json", .bytes = saved.data, .length = saved.length},
                                     {.name = "notes.zip", .bytes = text.data, .length = text.length},
                                     SMALL("w.safetensors", "\x38\0\0\0\0\0\0\0"
                                                            "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":"
                                                            "[0,1]}}   x")};
    put_zip(&outer, members, sizeof members / sizeof *members);
    write_text("a.pt2", &outer);
    expected.length = 0;
    sp_text_printf(&expected, "! 'serialized_constants.json'%s", calls);
    expect_warnings("a.pt2", expected.data);
    sp_text_free(&text);
    sp_text_free(&saved);
    sp_text_free(&expected);
}

/* ---- TorchScript ---- */

static void expect_script(const char *source, const char *expected)
{
    static const char pickle[] = P_PICKLE(P_DICT(
        P_STR("w") P_REBUILD(P_STORAGE("FloatStorage", "0", "2"), "0", P_TUPLE(P_INT("2")), P_TUPLE(P_INT("1")))));
    struct sp_text text = {0};
    const struct zipped members[] = {SMALL("a/data.pkl", pickle),
                                     SMALL("a/version", "3\n"),
                                     SMALL("a/data/0", "eightbyt"),
                                     {.name = "a/code/__torch__.py", .bytes = source, .length = strlen(source)}};
    put_zip(&text, members, sizeof members / sizeof *members);
    write_text("a.pt", &text);
    expect_warnings("a.pt", expected);
}

/* Texts of the record .storage_alignment, which torch reads with int(). `shown` is how the warning shows the text, or
 * NULL if there is no warning. */
static void expect_alignment(const char *record, const char *shown)
{
    static const char pickle[] = P_PICKLE(P_DICT(
        P_STR("w") P_REBUILD(P_STORAGE("FloatStorage", "0", "2"), "0", P_TUPLE(P_INT("2")), P_TUPLE(P_INT("1")))));
    struct sp_text text = {0};
    char expected[128] = "";
    const struct zipped members[] = {{.name = "a/data.pkl", .bytes = pickle, .length = sizeof pickle - 1},
                                     SMALL("a/version", "3\n"),
                                     SMALL("a/data/0", "eightbyt"),
                                     {.name = "a/.storage_alignment", .bytes = record, .length = strlen(record)}};
    put_zip(&text, members, sizeof members / sizeof *members);
    write_text("a.pt", &text);
    if (shown)
        snprintf(expected, sizeof expected, "! torch refuses it: .storage_alignment is '%s', a number is expected\n",
                 shown);
    expect_warnings("a.pt", expected);
}

static void numbers_of_records(void **state)
{
    static const char *const good[] = {"64", "6_4", "+64", "-6_4", " 064\n", "\v64\f"};
    static const char *const bad[] = {"6__4", "_64", "64_", "64.0", "+ 64", "0x40"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) expect_alignment(good[i], NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_alignment(bad[i], bad[i]);
    expect_alignment("", "");
}

#define SCRIPT "! 'a/code/__torch__.py' "
#define SET_STATE "def __setstate__(self, state: Tensor) -> NoneType:\n  "

static void operators_of_torchscript(void **state)
{
    (void)state;
    expect_script(SET_STATE "torch.save(\"x\", \"y\")\n",
                  SCRIPT "calls 'aten.save': loading or running the model would open a file that the model names\n");
    expect_script("x = torch . # a\n from_file('x')",
                  SCRIPT "calls 'aten.from_file': running the model would open a file that the model names\n");
    expect_script("x = ops.\\\naten.save",
                  SCRIPT "calls 'aten.save': running the model would open a file that the model names\n");
    expect_script("x = torch.ops.image.write_file(a, b)",
                  SCRIPT "calls 'image.write_file': running the model would open a file that the model names\n");
    expect_script("t = torch\nt.save(a, b)",
                  SCRIPT "has 'torch' without an operator: what running the model would call is not known\n");
    expect_script("t = ops.aten\nt.save(a, b)",
                  SCRIPT "has 'ops' without an operator: what running the model would call is not known\n");
    expect_script(SET_STATE "ops.mine.run(state)",
                  SCRIPT "calls 'mine.run' of another library, which loading the model may run\n");
    expect_script(SET_STATE "self.p = ops.quantized.linear_prepack(state, None)\n", "");
    expect_script("def forward(self, x):\n  # torch.save(x)\n  y = ops.mine.run(torch.add(x, 1))\n  self.save(y)\n"
                  "  s = \"torch.save(x) \\\" torch.save(x)\"\n  t = '''\ntorch.save(x) '' '''\n  z = x.torch\n"
                  "  return __torch__.torch.save(y)\n",
                  "");
}

/* ---- dtypes of NumPy ---- */

#define STATED(word, state) P_GLOBAL("numpy", "dtype") P_TUPLE(P_STR(word) P_FALSE "I01\n") "R" state "b"
#define OBJECT STATED("O8", P_TUPLE(P_INT("3") P_STR("|") "NNN" P_INT("-1") P_INT("-1") P_INT("63")))
#define NUMBER STATED("i8", P_TUPLE(P_INT("3") P_STR("<") "NNN" P_INT("-1") P_INT("-1") P_INT("0")))
/* A struct of 16 bytes. */
#define STRUCT(names, fields, flags)                                                                                   \
    STATED("V16", P_TUPLE(P_INT("3") P_STR("|") P_NONE names fields P_INT("16") P_INT("1") P_INT(flags)))
#define BOTH P_TUPLE(P_STR("a") P_STR("b"))
#define FIELD(dtype, offset) P_TUPLE(dtype P_INT(offset))
#define FIELDS(a, b) P_DICT(P_STR("a") a P_STR("b") b)

/* A state dict with a tensor, and this value. */
static void expect_beside(const char *value, const char *expected)
{
    struct sp_text pickle = {0}, text = {0};
    sp_text_printf(&pickle, "\x80\x02" P_DICT(P_STR("w") "%s" P_STR("d") "%s") ".",
                   P_REBUILD(P_STORAGE("FloatStorage", "0", "2"), "0", P_TUPLE(P_INT("2")), P_TUPLE(P_INT("1"))),
                   value);
    const struct zipped members[] = {{.name = "a/data.pkl", .bytes = pickle.data, .length = pickle.length},
                                     SMALL("a/version", "3\n"),
                                     SMALL("a/data/0", "eightbyt")};
    put_zip(&text, members, sizeof members / sizeof *members);
    write_text("a.pt", &text);
    expect_warnings("a.pt", expected);
    sp_text_free(&pickle);
}

static void structs_of_numpy(void **state)
{
    static const char unfit[] =
        "! unpickling it would give what numpy.dtype returns a state that does not fit its type: "
        "NumPy may crash\n";
    static const struct {
        const char *dtype;
        bool fits;
    } cases[] = {
        {STRUCT(BOTH, FIELDS(FIELD(OBJECT, "0"), FIELD(NUMBER, "8")), "27"), true},
        {STRUCT(BOTH, FIELDS(FIELD(NUMBER, "0"), FIELD(NUMBER, "4")), "16"), true},
        {STRUCT(BOTH,
                P_DICT(P_STR("a") P_TUPLE(OBJECT P_INT("0") P_STR("title")) "q\1" P_STR("title") "h\1" P_STR("b")
                           FIELD(NUMBER, "8")),
                "27"),
         true},
        {STRUCT(BOTH, FIELDS(FIELD(OBJECT, "0"), FIELD(NUMBER, "0")), "27"), false},
        {STRUCT(BOTH, FIELDS(FIELD(NUMBER, "7"), FIELD(OBJECT, "0")), "27"), false},
        {STRUCT(BOTH, FIELDS(FIELD(OBJECT, "0"), FIELD(OBJECT, "0")), "27"), false},
        {STRUCT(P_TUPLE(P_STR("a") P_STR("a")), FIELDS(FIELD(NUMBER, "0"), FIELD(NUMBER, "8")), "16"), false},
        {STRUCT(P_TUPLE(P_STR("a") P_STR("c")), FIELDS(FIELD(NUMBER, "0"), FIELD(NUMBER, "8")), "16"), false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_beside(cases[i].dtype, cases[i].fits ? "" : unfit);
}

/* Calls that share memory with another object, or change their argument. */
static void shared_memory(void **state)
{
    static const char named[] = "torch.nn.functional", array[] = "numpy._core.numeric._frombuffer";
    struct sp_text expected = {0};
    (void)state;
#define U1 P_CALL("numpy", "dtype", P_TUPLE(P_STR("u1")))
#define FROM(buffer) P_CALL("numpy._core.numeric", "_frombuffer", P_TUPLE(buffer U1 P_TUPLE(P_INT("1")) P_STR("C")))
    expect_beside(FROM("C\1x"), "");
    expect_beside(P_GLOBAL("torch.nn.functional", "relu"), "");
    sp_text_printf(&expected,
                   "! unpickling it would call %s with what is no bytes of its own, whose memory it would share: "
                   "NumPy may crash\n",
                   array);
    expect_beside(FROM(OBJECT), expected.data);
    expected.length = 0;
    sp_text_printf(
        &expected,
        "! unpickling it would call %s.relu, which may change bytes that were judged before\n"
        "! tensor 'd' is not read: it is made by a call of %s.relu, which computes another tensor: its content "
        "is not known\n",
        named, named);
    expect_beside(P_CALL("torch.nn.functional", "relu", P_TUPLE(P_INT("1") "I01\n")), expected.data);
    sp_text_free(&expected);
}

/* ---- code and pickles in the folder of a model ---- */

static void write_string(const char *name, const char *text) { scratch_write(&scratch, name, text, strlen(text)); }

static void write_model(const char *name)
{
    static const char header[] = "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    scratch_safetensors(&scratch, name, header, sizeof header - 1, 1);
}

/* The warnings about a folder with a model, with this text in the file, and code in own.py. */
static void expect_document(const char *name, const char *text, const char *expected)
{
    write_model("model.safetensors");
    write_string("own.py", "");
    write_string(name, text);
    expect_warnings("", expected);
    scratch_empty(&scratch);
}

#define OWN " names 'own.py': loading the model with trust_remote_code=True would run it\n"

static void code_in_folders(void **state)
{
    (void)state;
    scratch_empty(&scratch);
    expect_document("config.json", "{\"auto_map\":{\"AutoModel\":\"own.Model\",\"AutoConfig\":\"own.Config\"}}",
                    "! 'config.json'" OWN);
    expect_document("config.json", "{\"auto_map\":{\"AutoModel\":\"absent.Model\"},\"model_type\":\"own.x\"}", "");
    expect_document("config.json", "{\"auto_map\":{\"AutoModel\":\"a/b--own.Model\"}}",
                    "! 'config.json' names code of the repository 'a/b': loading the model with trust_remote_code=True "
                    "would run it\n");
    expect_document("config.json", "{\"custom_pipelines\":{\"x\":{\"impl\":\"own.Pipe\",\"pt\":[\"AutoModel\"]}}}",
                    "! 'config.json'" OWN);
    expect_document("config.json",
                    "{\"activation_function\":\"m.f\",\"x\":{\"activation_fn\":\"torch.nn.GELU\"},"
                    "\"activation_fn\":\"leaky_0.2\"}",
                    "! 'config.json' names 'm.f': loading the model would import and call it\n");
    expect_document("config.json", "{\"a\":NaN}", "");
    expect_document(
        "config.json", "{\"a\":NaN,\"auto_map\":{}}",
        "! 'config.json' is not read, so that it is not known what code it names: configuration: expected a "
        "value at byte 5, found 'N'\n");
    expect_document("tokenizer_config.json", "{\"auto_map\":{\"AutoTokenizer\":[\"own.T\",null]}}",
                    "! 'tokenizer_config.json'" OWN);
    expect_document("modules.json",
                    "[{\"path\":\"\",\"type\":\"own.Module\"},"
                    "{\"path\":\"1\",\"type\":\"sentence_transformers.models.Pooling\"}]",
                    "! 'modules.json' names 'own.py': loading the model would run it\n");
    expect_document("model_index.json",
                    "{\"_class_name\":[\"own\",\"Pipe\"],\"unet\":[\"diffusers\",\"UNet\"],"
                    "\"x\":\"own\",\"vae\":[null,null]}",
                    "! 'model_index.json' names 'own.py': loading the model would run it\n");
    expect_document("model_index.json", "{\"unet\":[\"../own\",\"UNet\"]}",
                    "! 'model_index.json' names 'unet/../own.py': loading the model would run it\n");
}

/* A component, whose list is in the folder above. */
static void code_beside_lists(void **state)
{
    (void)state;
    if (mkdir(scratch_path(&scratch, "unet"), 0700)) abort();
    write_model("unet/model.safetensors");
    write_string("unet/own.py", "");
    write_string("model_index.json", "{\"unet\":[\"own\",\"UNet\"],\"vae\":[\"own\",\"VAE\"]}");
    expect_warnings("unet", "! '../model_index.json' names 'unet/own.py': loading the model would run it\n");
    unlink(scratch_path(&scratch, "unet/model.safetensors"));
    unlink(scratch_path(&scratch, "unet/own.py"));
    rmdir(scratch_path(&scratch, "unet"));
    scratch_empty(&scratch);
}

static void pickles_in_folders(void **state)
{
    static const char pickle[] = P_PICKLE(P_CALL("posix", "system", P_TUPLE(P_STR("true"))));
    static const char *const names[] = {"rng_state_1.pth",   "scheduler_2.bin", "sampler_1.bin", "dl_state_dict.bin",
                                        "pytorch_model.bin", "model.joblib",    "vocab.pkl",     "training_args.bin"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sp_text expected = {0};
        sp_text_printf(&expected, "! '%s': unpickling it would call posix.system: nothing was executed\n", names[i]);
        write_model("model.safetensors");
        scratch_write(&scratch, names[i], pickle, sizeof pickle - 1);
        expect_warnings("", expected.data);
        scratch_empty(&scratch);
        sp_text_free(&expected);
    }
    /* none of these is a pickle, or runs anything but code of known classes */
    write_model("model.safetensors");
    write_string("openvino_model.bin", "\1\2\3\4weights");
    write_string("pytorch_model.bin", "version https://git-lfs.github.com/spec/v1\n");
    write_string("vectors.pt", "");
    write_string("tokenizer.model", "\n\x0e\n\5<unk>");
    write_string("training_args.bin",
                 P_PICKLE(P_OBJECT("transformers.training_args", "TrainingArguments", P_DICT(""))));
    expect_warnings("", "");
    write_string("other.pkl", P_PICKLE(P_OBJECT("m", "Own", P_DICT(""))));
    expect_warnings("", "! 'other.pkl': objects of other classes, read as plain data; unpickling would run their code: "
                        "m.Own\n");
    scratch_empty(&scratch);
}

/* Any name, if the first bytes are those of a pickle or of a file that may have one in it. */
static void files_by_first_bytes(void **state)
{
    static const char pickle[] = P_PICKLE(P_CALL("posix", "system", P_TUPLE(P_STR("true"))));
    static const char text_pickle[] = "cposix\nsystem\n(S'true'\ntR.";
    static const char *const names[] = {"X.PKL", "x.p", "x.t7", "x.dat", "x"};
    struct sp_text zip = {0}, tar = {0};
    (void)state;
    write_model("model.safetensors");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sp_text expected = {0};
        sp_text_printf(&expected, "! '%s': unpickling it would call posix.system: nothing was executed\n", names[i]);
        scratch_write(&scratch, names[i], pickle, sizeof pickle - 1);
        expect_warnings("", expected.data);
        scratch_write(&scratch, names[i], text_pickle, sizeof text_pickle - 1);
        expect_warnings("", expected.data);
        unlink(scratch_path(&scratch, names[i]));
        sp_text_free(&expected);
    }
    const struct zipped members[] = {SMALL("m", pickle)}, harmless[] = {SMALL("a.csv", "1,2\n")};
    put_zip(&zip, members, 1);
    write_text("x.zip", &zip);
    put_tar_member(&tar, "m", pickle, sizeof pickle - 1);
    write_text("x.tar", &tar);
    expect_warnings("", "! 'x.tar': 'm': unpickling it would call posix.system: nothing was executed\n"
                        "! 'x.zip': 'm': unpickling it would call posix.system: nothing was executed\n");
    scratch_empty(&scratch);
    write_model("model.safetensors");
    put_zip(&zip, harmless, 1);
    write_text("x.zip", &zip);
    write_string("README", "(see the page)\n");
    write_string("notes.txt", "I am no pickle.\n");
    expect_warnings("", "");
    write_string("x.bz2", "BZh91AY");
    expect_warnings("", "! 'x.bz2' is not read, so that it is not known what loading it would run: this is compressed "
                        "(bzip2)\n");
    scratch_empty(&scratch);
}

static void code_of_generation(void **state)
{
    (void)state;
    write_model("model.safetensors");
    if (mkdir(scratch_path(&scratch, "custom_generate"), 0700)) abort();
    expect_warnings("", "");
    write_string("custom_generate/generate.py", "");
    expect_warnings("",
                    "! 'custom_generate/generate.py': loading the model with trust_remote_code=True would run it\n");
    unlink(scratch_path(&scratch, "custom_generate/generate.py"));
    rmdir(scratch_path(&scratch, "custom_generate"));
    scratch_empty(&scratch);
}

/* ---- members of an archive ---- */

#define MODEL_BYTES "\x38\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}   x"

static void files_within_archives(void **state)
{
    static const char pickle[] = P_PICKLE(P_CALL("posix", "system", P_TUPLE(P_STR("true"))));
    struct sp_text inner = {0}, tar = {0}, deep = {0}, zip = {0};
    (void)state;
    const struct zipped within[] = {SMALL("m", pickle)};
    put_zip(&inner, within, 1);
    put_tar_member(&tar, "m", pickle, sizeof pickle - 1);
    const struct zipped middle[] = {{.name = "i.zip", .bytes = inner.data, .length = inner.length}};
    put_zip(&deep, middle, 1);
    const struct zipped members[] = {
        SMALL("model.safetensors", MODEL_BYTES),
        {.name = "a.zip", .bytes = inner.data, .length = inner.length, .method = ZIP_DEFLATED},
        {.name = "b", .bytes = tar.data, .length = tar.length},
        {.name = "c.txt", .bytes = pickle, .length = sizeof pickle - 1},
        {.name = "d.zip", .bytes = deep.data, .length = deep.length},
        SMALL("e.txt", "text")};
    put_zip(&zip, members, sizeof members / sizeof *members);
    write_text("a.zip", &zip);
    expect_warnings("a.zip", "! 'a.zip': 'm': unpickling it would call posix.system: nothing was executed\n"
                             "! 'b': 'm': unpickling it would call posix.system: nothing was executed\n"
                             "! 'c.txt': unpickling it would call posix.system: nothing was executed\n"
                             "! 'd.zip': 'i.zip': 'm': unpickling it would call posix.system: nothing was "
                             "executed\n");
    sp_text_free(&inner);
    sp_text_free(&tar);
    sp_text_free(&deep);
    scratch_empty(&scratch);
}

/* A pickle that torch.load does not read, and one that is unpacked over the one that it reads. */
static void pickles_beside_the_one_of_torch(void **state)
{
    static const char calls[] = P_PICKLE(P_CALL("posix", "system", P_TUPLE(P_STR("true"))));
    static const char pickle[] = P_PICKLE(P_DICT(
        P_STR("w") P_REBUILD(P_STORAGE("FloatStorage", "0", "2"), "0", P_TUPLE(P_INT("2")), P_TUPLE(P_INT("1")))));
    static const char *const names[] = {"a/x.pkl", "a/extra/x", "a/data/x.pkl"};
    static const char *const same[] = {"a/./data.pkl", "a//data.pkl", "./a/data.pkl", "/a/.//data.pkl"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names + sizeof same / sizeof *same; i++) {
        const bool is_same = i >= sizeof names / sizeof *names;
        const char *name = is_same ? same[i - sizeof names / sizeof *names] : names[i];
        struct sp_text text = {0}, expected = {0};
        const struct zipped members[] = {SMALL("a/data.pkl", pickle),
                                         SMALL("a/version", "3\n"),
                                         SMALL("a/data/0", "eightbyt"),
                                         {.name = name, .bytes = calls, .length = sizeof calls - 1}};
        put_zip(&text, members, sizeof members / sizeof *members);
        write_text("a.pt", &text);
        if (is_same) sp_text_printf(&expected, "refused: ambiguous archive: members 'a/data.pkl' and '%s'\n", name);
        else sp_text_printf(&expected, "! '%s': unpickling it would call posix.system: nothing was executed\n", name);
        expect_warnings("a.pt", expected.data);
        sp_text_free(&expected);
    }
    scratch_empty(&scratch);
    struct sp_text text = {0};
    const struct zipped members[] = {SMALL("a/data.pkl", pickle), SMALL("a/x.pkl", calls)};
    put_zip(&text, members, sizeof members / sizeof *members);
    write_text("x.dat", &text);
    write_model("model.safetensors");
    expect_warnings("", "! 'x.dat': 'a/x.pkl': unpickling it would call posix.system: nothing was executed\n");
    scratch_empty(&scratch);
}

/* ---- arrays of objects ---- */

/* NumPy writes an array with an object anywhere in its type as one pickle, and numpy.load unpickles it. */
static void objects_in_types(void **state)
{
    static const char pickle[] = P_PICKLE(P_CALL("posix", "system", P_TUPLE(P_STR("true"))));
    static const char *const types[] = {"'|O'", "[('a','O')]", "[('a',[('b','<f4'),('c','O',(2,))])]", "('O',(2,))",
                                        "[('a',('O',(2,))),('b','<f4')]"};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct sp_text header = {0}, array = {0}, archive = {0};
        sp_text_printf(&header, "{'descr': %s, 'fortran_order': False, 'shape': (1,), }\n", types[i]);
        sp_text_append(&array, "\x93NUMPY\1\0", 8);
        put_le(&array, 2, header.length);
        sp_text_append(&array, header.data, header.length);
        sp_text_append(&array, pickle, sizeof pickle - 1);
        const struct zipped members[] = {{.name = "w.npy", .bytes = array.data, .length = array.length}};
        put_zip(&archive, members, 1);
        write_text("a.npz", &archive);
        expect_warnings("a.npz", "! arrays of Python objects: 1, the first 'w'; their pickles are not read\n");
        write_text("a.npy", &array);
        expect_warnings("a.npy", "! arrays of Python objects: 1, the first ''; their pickles are not read\n");
        sp_text_free(&header);
    }
    scratch_empty(&scratch);
}

/* JSON of many levels, and source code with a NUL. */
static void texts_that_are_not_read(void **state)
{
    enum { LEVELS = 200 };
    struct sp_text json = {0}, text = {0};
    static const char pickle[] = P_PICKLE(P_DICT(
        P_STR("w") P_REBUILD(P_STORAGE("FloatStorage", "0", "2"), "0", P_TUPLE(P_INT("2")), P_TUPLE(P_INT("1")))));
    const struct zipped members[] = {SMALL("a/data.pkl", pickle), SMALL("a/version", "3\n"),
                                     SMALL("a/data/0", "eightbyt"), SMALL("a/code/m.py", "x\0torch.save")};
    (void)state;
    scratch_empty(&scratch);
    sp_text_puts(&json, "{\"auto_map\":");
    for (int i = 0; i < LEVELS; i++) sp_text_puts(&json, "[");
    expect_program(MODEL, json.data,
                   "! '" MODEL "' is not read, so that it is not known what loading it would run: nested too deeply\n");
    scratch_empty(&scratch);
    expect_document("config.json", json.data,
                    "! 'config.json' is not read, so that it is not known what code it names: nested too deeply\n");
    put_zip(&text, members, sizeof members / sizeof *members);
    write_text("a.pt", &text);
    expect_warnings("a.pt", "! 'a/code/m.py' is not read, so that it is not known what running it would call: "
                            "its text has a NUL\n");
    sp_text_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_programs),
        cmocka_unit_test(conditions_of_programs),
        cmocka_unit_test(functions_of_programs),
        cmocka_unit_test(names_in_programs),
        cmocka_unit_test(programs_that_are_not_read),
        cmocka_unit_test(structs_of_numpy),
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(texts_that_are_not_read),
        cmocka_unit_test(code_in_folders),
        cmocka_unit_test(code_beside_lists),
        cmocka_unit_test(pickles_in_folders),
        cmocka_unit_test(files_by_first_bytes),
        cmocka_unit_test(code_of_generation),
        cmocka_unit_test(files_within_archives),
        cmocka_unit_test(objects_of_programs),
        cmocka_unit_test(objects_in_types),
        cmocka_unit_test(pickles_beside_the_one_of_torch),
        cmocka_unit_test(numbers_of_records),
        cmocka_unit_test(operators_of_torchscript),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
