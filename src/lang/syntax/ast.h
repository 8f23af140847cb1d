/* SPDX-License-Identifier: MIT
 * What a table file says, as a tree: units (tables and parts) of definitions and sections, sections of rows.
 * Built by the parser, completed by the linker, never changed afterwards. docs/language.md is the reference. */
#ifndef SP_LANG_SYNTAX_AST_H
#define SP_LANG_SYNTAX_AST_H

#include "base/value.h"
#include "lang/syntax/source.h"
#include "shapeproof/dtype.h"

enum { SP_MAX_PARAMS = 16 }; /* of a function, a part or a table */

enum sp_expr_kind {
    SP_EXPR_LITERAL, /* value */
    SP_EXPR_NAME,    /* name */
    SP_EXPR_LIST,    /* args */
    SP_EXPR_UNARY,   /* op, args[0] */
    SP_EXPR_BINARY,  /* op, args[0], args[1] */
    SP_EXPR_CHOICE,  /* args[0] ? args[1] : args[2] */
    SP_EXPR_DEFAULT, /* args[0] default args[1] */
    SP_EXPR_CALL,    /* name(args) */
    SP_EXPR_INDEX,   /* args[0][args[1]] */
    SP_EXPR_MEMBER,  /* args[0].name */
    SP_EXPR_GROUP,   /* [name] in a claim: the parameters of a group; "total": of all groups. With other settings, as in
                        total(vocab_size = 128000), args are pairs of a key, as a literal text, and its value */
    SP_EXPR_BRACKET, /* [name] in a claim that may also be a condition, args[0]: then 1 where it holds, else 0 */
    SP_EXPR_SUM, /* sum(i in first..last: body) in a claim: name, and args are the three; count(...): value is true */
    SP_EXPR_STORED, /* stored([name]), stored(total) in a claim: what the checkpoint stores of it; of stored(bytes) the
                       name is SP_STORED_BYTES */
    SP_EXPR_ACTIVE, /* active([name]) in a claim: of the parameters of a group those that are in use */
    SP_EXPR_CACHE,  /* cache(tokens = args[0], batch = args[1], dtype = ..., form = ...) in a claim, with the arguments
                       of enum sp_cache_argument; `value` has the bits of the dtype */
    SP_EXPR_SIZING, /* bytes(bf16), lora(...), optimizer(...), shard(...) in a claim: `sizing`; args[0] is the rank of
                       an adapter, or the number of processes if it is given */
    SP_EXPR_ACTIVATIONS, /* activations(tokens = args[0], ...) in a claim, with the arguments of enum
                            sp_activations_argument */
    SP_EXPR_FLOPS,  /* flops([name], batch = ..., tokens = ..., ...) in a claim; args by enum sp_flops_argument, `value`
                       has the bits of enum sp_flops_bits */
    SP_EXPR_TENSORS /* dim(wte.weight, 0), count(h.{i}.ln_1.weight), elements(h.*), bytes(h.*) in a claim: `value` is
                       the name, args[0] what else is given */
};

/* How a dimension, or the items of a loop, is divided among ranks:
 *
 *     A*D by tp of A "query heads"                          A pieces of D each, of which a rank has A/tp
 *     K*D by tp of K replicated "key-value heads"           the same; fewer pieces than ranks are each on several
 *     for e in 0..E-1 by ep                                 of the experts a rank has E/ep */
enum sp_axis {
    SP_AXIS_TP, /* tensor parallel */
    SP_AXIS_EP  /* expert parallel */
};

struct sp_partition {
    enum sp_axis axis;
    struct sp_expr *of; /* the number of pieces that are never cut themselves; NULL: the dimension itself */
    bool is_replicated; /* where there are more ranks than pieces, each piece is on several */
    const char *what;   /* the pieces, as reports call them; NULL: no report does */
    struct sp_span span;
};

/* Which operations flops(...) counts; without a bit those of a forward pass, with full attention. */
enum sp_flops_bits {
    SP_FLOPS_CAUSAL = 1,        /* of the scores those of earlier tokens alone */
    SP_FLOPS_WEIGHTS_ALONE = 2, /* no scores or scans: no row with `work` */
    SP_FLOPS_TRAINING = 4       /* forward and backward */
};

/* The arguments of flops(...), which rows read by these names. Each may be missing with all behind it: `count` is
 * without them then. One that is missing before another is a literal that is absent. */
enum sp_flops_argument {
    SP_FLOPS_BATCH,
    SP_FLOPS_TOKENS,
    SP_FLOPS_IMAGES,
    SP_FLOPS_SOUNDS,
    SP_FLOPS_PATCHES,
    SP_FLOPS_SOURCE_TOKENS,
    SP_FLOPS_ARGUMENTS
};

/* What a pass can read beside tokens, or in their place: a set of bits. */
enum sp_input { SP_INPUT_IMAGE = 1, SP_INPUT_SOUND = 2 };

/* The arguments of a cache. Its states read them as `tokens`, `batch`, `expanded`, `source_tokens` and `images`. The
 * last two may be missing: each is a literal that is absent then. */
enum sp_cache_argument {
    SP_CACHE_TOKENS,
    SP_CACHE_BATCH,
    SP_CACHE_EXPANDED, /* a literal, true or false: latent keys and values are kept expanded */
    SP_CACHE_SOURCE_TOKENS,
    SP_CACHE_IMAGES,
    SP_CACHE_ARGUMENTS
};

/* The arguments of activations(...), which rows with `activation` read by these names. */
enum sp_activations_argument {
    SP_ACTIVATIONS_TOKENS,
    SP_ACTIVATIONS_BATCH,
    SP_ACTIVATIONS_TP,
    SP_ACTIVATIONS_SEQUENCE_PARALLEL, /* a literal, true or false: norms and dropout are divided by tokens */
    SP_ACTIVATIONS_RECOMPUTE,         /* a literal: "none", "selective" or "full" */
    SP_ACTIVATIONS_ARGUMENTS
};

#define SP_STORED_BYTES "(bytes)" /* a name that no group has */

enum sp_op {
    SP_OP_ADD,
    SP_OP_SUB,
    SP_OP_MUL,
    SP_OP_DIV,   /* exact: a remainder is an error */
    SP_OP_FLOOR, /* rounds down */
    SP_OP_MOD,
    SP_OP_POW,
    SP_OP_EQ,
    SP_OP_NE,
    SP_OP_LT,
    SP_OP_LE,
    SP_OP_GT,
    SP_OP_GE,
    SP_OP_IN,
    SP_OP_NOT_IN,
    SP_OP_AND,
    SP_OP_OR,
    SP_OP_NOT,
    SP_OP_NEGATE
};

/* How far a name has to look, as its place tells (names.h). */
enum sp_reach {
    SP_REACH_UNIT,     /* to what the unit has in its `slot` */
    SP_REACH_ARGUMENT, /* the argument `index` of the function whose body it stands in */
    SP_REACH_LOOP,     /* the loop `index` of its section; before that is entered, the unit */
    SP_REACH_LOCAL,    /* the definition `local` of its section */
    SP_REACH_KEY       /* it stands in its own definition, and there means the key */
};

/* Questions about sizes (parse_sizing.c). */
enum sp_sizing_kind { SP_SIZING_BYTES, SP_SIZING_LORA, SP_SIZING_OPTIMIZER, SP_SIZING_SHARD };

enum sp_optimizer {
    SP_OPTIMIZER_ADAM,
    SP_OPTIMIZER_ADAM_8BIT, /* of bitsandbytes */
    SP_OPTIMIZER_SGD,
    SP_OPTIMIZER_MOMENTUM, /* SGD with momentum, Lion: one moment */
    SP_OPTIMIZER_ADAFACTOR,
    SP_OPTIMIZER_MUON /* for matrices in the layers, AdamW for all else */
};

enum sp_precision {
    SP_PRECISION_MIXED, /* weights of 2 bytes, with a copy of 4 among the states */
    SP_PRECISION_BF16,  /* everything has 2 bytes */
    SP_PRECISION_F32    /* everything has 4 bytes */
};

/* Among how many ranks shard(...) divides a model; each is 1 or more. */
struct sp_parallelism {
    unsigned tp, pp, ep;
    unsigned etp; /* of the tensors of experts, in place of tp */
};

enum sp_trained { SP_TRAINED_ALL, SP_TRAINED_WEIGHTS, SP_TRAINED_GRADIENTS, SP_TRAINED_STATES };

struct sp_sizing {
    enum sp_sizing_kind kind;
    unsigned bits;        /* of bytes(DTYPE) and shard(...): of an element; 0: parameters are counted, not bytes */
    bool is_as_stored;    /* bytes(as stored) */
    const char **targets; /* of lora: ends of the names of modules */
    size_t target_count;
    bool is_all_linear;
    enum sp_optimizer optimizer; /* of optimizer(...), as all that follows */
    enum sp_precision precision;
    unsigned gradient_bytes; /* of an element; 0: as the weights */
    enum sp_trained part;
    unsigned zero;               /* the stage of ZeRO, 0..3 */
    struct sp_parallelism ranks; /* of shard(...), as the next two */
    const char **whole;          /* groups that are not divided by tensor parallelism */
    size_t whole_count;
};

struct sp_expr {
    enum sp_expr_kind kind;
    enum sp_op op;
    enum sp_reach reach;  /* of a name and a call, as the next three */
    unsigned slot, index; /* slot 0: it was made without a place */
    const struct sp_definition *local;
    struct sp_span span;
    const char *name; /* interned: equal names are equal pointers */
    struct shapeproof_value value;
    struct sp_expr **args;
    size_t count;
    const struct sp_sizing *sizing;      /* of cache(...) NULL without tp */
    const struct sp_function *function;  /* of a call to a built-in function, set by the linker */
    const struct sp_partition *division; /* of a dimension or an argument; NULL: it is whole on each rank */
};

/* A tensor name with holes: "h.{i}.weight" is the pieces "h.", {i}, ".weight". */
struct sp_piece {
    const char *text;     /* literal text, or NULL for a hole */
    struct sp_expr *hole; /* its expression */
};

struct sp_template {
    struct sp_piece *pieces;
    size_t count;
    struct sp_span span;
};

/* NAME = expr, or NAME(a, b) = expr. */
struct sp_definition {
    const char *name;
    const char **params;
    size_t param_count;
    bool is_function;
    struct sp_expr *expr;
    struct sp_span span;
};

struct sp_argument {
    const char *name;       /* NULL when given by position; in the `when` of a claim, for a condition */
    struct sp_expr *target; /* the name as an expression; only in the `when` of a claim */
    struct sp_expr *expr;
    struct sp_span span;
};

/* share PART of WHOLE: of the elements the part that one unit of work, such as a token, uses. */
struct sp_row_share {
    struct sp_expr *part, *whole; /* NULL, both: all of them */
};

enum sp_row_kind {
    SP_ROW_TENSOR, /* name (shape) ... */
    SP_ROW_USE     /* prefix.* unit(arguments) from sub_config with key = value, ... optional */
};

struct shapeproof_tables;

struct sp_row {
    enum sp_row_kind kind;
    struct sp_template name;
    struct sp_span span;
    struct sp_expr *condition; /* if ..., or NULL */
    bool reads_index;          /* the condition may depend on the index of a loop; set where names are resolved */
    bool optional;             /* of a use: all tensors of the unit */
    struct sp_row_share share; /* of a use: of all tensors of the unit */
    struct sp_expr *times; /* how often each element multiplies; NULL: as the section says; of a use as of a share */
    /* SP_ROW_TENSOR */
    struct sp_expr **shape;
    size_t rank;
    enum shapeproof_dtype dtype; /* SHAPEPROOF_DTYPE_UNKNOWN: not said, or one of several */
    uint64_t dtypes;             /* bit n: the tensor may have the dtype n; 0: not said */
    bool buffer;
    bool state;             /* no tensor of a file, but what there is at run time */
    bool work;              /* nor this: multiplications without a weight */
    bool is_recurrent;      /* the work is that of a state space or of linear attention, and no attention to tokens */
    bool activation;        /* nor this: bytes that training keeps for the backward pass */
    bool lookup;            /* rows of it are picked by a number, as of an embedding; nothing is multiplied by it */
    bool has_tie, tie_rows; /* same as / same rows as */
    struct sp_template tie;
    struct sp_expr *tie_condition; /* when ..., or NULL: always */
    struct sp_template *olds;      /* was NAME: names that older files use */
    size_t old_count;
    /* SP_ROW_USE */
    const char *unit_name;
    struct sp_span unit_span;
    const struct sp_unit *unit; /* set by the linker */
    /* Of `table(NAME)`, which uses the table that serves an architecture: the set that has it. Its `unit` is then one
     * without tensors; set by the linker. */
    const struct shapeproof_tables *choice;
    struct sp_argument *args;
    size_t arg_count;
    struct sp_expr **given; /* for each parameter of the unit its argument, or NULL; set by the linker */
    bool has_from;
    struct sp_expr *from;     /* the sub-configuration that the unit reads, or NULL for the same one */
    struct sp_argument *with; /* hyper-parameters given by name instead of read */
    size_t with_count;
};

/* Whether the row is a tensor, or the use of a part: what else there is beside them is in sections of its own. */
static inline bool sp_row_is_tensor(const struct sp_row *row) { return !row->state && !row->work && !row->activation; }

enum sp_clause_kind { SP_CLAUSE_RANGE, SP_CLAUSE_EACH, SP_CLAUSE_IF };

/* for NAME in first..last | for NAME in list | if condition. */
struct sp_clause {
    enum sp_clause_kind kind;
    const char *name;
    struct sp_expr *first, *last; /* EACH: `first` is the list; IF: `first` is the condition */
    bool by_ep;                   /* RANGE: the items are experts, which ranks divide */
    /* RANGE and EACH, set where names are resolved: what depends on the index, beside numbers in names of tensors */
    bool is_read;     /* which tensors there are, or their shapes */
    bool is_measured; /* how often they multiply, or which share of them is in use */
    bool reads_index; /* IF, set likewise: the condition may depend on the index of a loop around it */
};

/* pipeline NAME of COUNT: each loop with the index NAME is over layers 0..COUNT-1, which pipeline stages divide. */
struct sp_pipeline {
    const char *index;     /* NULL: the table has no such line */
    struct sp_expr *count; /* of the layers */
};

struct sp_section {
    const char *name; /* the group; "" before the first heading */
    struct sp_span span;
    struct sp_clause *clauses;
    size_t clause_count;
    struct sp_row_share share; /* of all its rows, in each iteration of its loops */
    struct sp_expr *times;     /* of all its rows that do not say it themselves; NULL: as the unit is used */
    struct sp_definition *locals;
    size_t local_count;
    struct sp_row *rows;
    size_t row_count;
};

/* require CONDITION, "why the table does not cover this". */
struct sp_requirement {
    struct sp_expr *condition;
    struct sp_expr *message;
    struct sp_span span;
};

/* measures activations if CONDITION, "why the formula does not hold", and likewise of flops and cache: without it a
 * number is not known. */
struct sp_formula_condition {
    unsigned measure;          /* of enum sp_measure: SP_MEASURE_ACTIVATIONS, _FLOPS or _CACHE */
    struct sp_expr *condition; /* may read the arguments of the measure by name */
    const char *reason;        /* why there is no number where the condition is false */
    struct sp_span span;
};

/* unadapted "out_proj" "conv1d", "why": modules of which the number of parameters of an adapter is not known. */
struct sp_unadapted {
    const char **modules; /* ends of their names */
    size_t count;
    const char *reason;
};

enum sp_claim_kind {
    SP_CLAIM_EXACT,  /* claim left = right */
    SP_CLAIM_APPROX, /* approx left = right within PERCENT % */
    SP_CLAIM_ROUNDS, /* example ...: left rounds to "1.5B" */
    SP_CLAIM_VALUE   /* left: no claim, but an expression that is asked for */
};

/* What a publication says of the table. `when` narrows it: NAME = value, or a condition that holds. */
struct sp_claim {
    enum sp_claim_kind kind;
    bool erratum;    /* published, and known to be wrong */
    bool is_example; /* `when` gives numbers, and the defaults hold for all else */
    struct sp_expr *left, *right;
    double percent;                    /* of SP_CLAIM_APPROX */
    const char *printed;               /* of SP_CLAIM_ROUNDS */
    struct sp_argument *when;          /* name == NULL: a condition; else it may be dotted, "text_config.hidden_size" */
    size_t when_count, own_when_count; /* of all, and of the claim itself, which come first */
    const char *source;                /* the publication and the place in it, or "" */
    struct sp_span span;
    size_t text_length; /* of the claim in the span, without its source */
};

struct sp_param {
    const char *name;
    struct sp_expr *fallback; /* NULL: must be given */
    struct sp_span span;
};

/* What a name in an expression is. */
enum sp_meaning_kind {
    SP_MEANS_ARGUMENT,   /* an argument of the function whose body the expression is in */
    SP_MEANS_LOOP,       /* the index of a loop of the section */
    SP_MEANS_DEFINITION, /* NAME = ..., of the section or of the unit */
    SP_MEANS_PARAM,      /* a parameter of the unit */
    SP_MEANS_KEY         /* all else: a key of the configuration */
};

struct sp_meaning {
    enum sp_meaning_kind kind;
    bool is_local;                          /* a definition of the section, not of the unit */
    size_t index;                           /* of the argument, the loop, the parameter, or the unit's definition */
    const struct sp_definition *definition; /* of SP_MEANS_DEFINITION */
};

struct sp_name_slot {
    const char *name;
    struct sp_meaning meaning;
};

/* What can be computed of a table beside its parameters, by what its rows say of their use. As bits. */
enum sp_measure {
    SP_MEASURE_ACTIVE = 1,      /* the parameters that one unit of work uses: share */
    SP_MEASURE_CACHE = 2,       /* what is kept of earlier tokens: state */
    SP_MEASURE_FLOPS = 4,       /* the operations of a pass: times, work */
    SP_MEASURE_SHARD = 8,       /* what one of several ranks has: by, pipeline */
    SP_MEASURE_ACTIVATIONS = 16 /* what training keeps for the backward pass: activation */
};

/* The words for the measures in a line `measures`; the last one has no name. */
struct sp_measure_word {
    const char *name;
    enum sp_measure measure;
};
extern const struct sp_measure_word sp_measure_words[];

/* How far the linker is with what a unit inherits. */
enum sp_link_state {
    SP_LINK_TO_DO,
    SP_LINK_UNDER_WAY, /* its parents are being linked: who comes to it now has found a cycle */
    SP_LINK_DONE       /* also after a mistake, which was reported */
};

struct sp_unit {
    bool is_table; /* otherwise a part */
    const char *name;
    const char *title; /* the first comment line above it, or "" */
    size_t begin;      /* offset of that comment in the source */
    struct sp_span span;
    const char *parent_name; /* extends ..., or NULL */
    struct sp_span parent_span;
    struct sp_unit *parent;     /* set by the linker */
    struct sp_name_slot *names; /* that its expressions use, by their slots */
    size_t name_count, name_capacity;
    const char **model_types;
    size_t model_type_count;
    const char **architectures; /* only for these classes; none: any */
    size_t architecture_count;
    struct sp_param *params;
    size_t param_count;
    struct sp_definition *definitions;
    size_t definition_count;
    struct sp_requirement *requirements;
    size_t requirement_count;
    struct sp_section *sections;
    size_t section_count;
    struct sp_section
        *states; /* of rows that are no tensors (sp_row_is_tensor); the sections above have none of them */
    size_t state_count;
    unsigned measures; /* `measures NAME, ...`: those that its rows carry, by enum sp_measure; of the others nothing is
                          known */
    const char *activations_source; /* measures activations by "...": what the bytes are, and who published the formula;
                                       NULL: the table does not say */
    struct sp_formula_condition *formula_conditions; /* all of a measure must hold */
    size_t formula_condition_count;
    struct sp_unadapted *unadapted; /* of all its lines `unadapted` */
    size_t unadapted_count;
    bool says_unit;        /* it has the line `unit`, which otherwise the table that it extends has */
    unsigned only_input;   /* `unit image`: a pass is over images (enum sp_input); 0: over sequences of tokens */
    unsigned inputs;       /* `unit token, image`: each sequence of tokens has images (bits of enum sp_input) */
    bool are_inputs_apart; /* `unit token, image apart`: and no token stands for an image */
    struct sp_pipeline pipeline;
    struct sp_claim *claims;
    size_t claim_count;
    const char *about; /* `claims for TABLE when ...`: not a table, but claims about one; else NULL */
    struct sp_span about_span;
    struct sp_argument *given; /* what `when` says there, for all of the claims */
    size_t given_count;
    const char *given_text; /* as it is written, or "" */
    enum sp_link_state link_state;
    const char **classes; /* that it covers, kept when somebody has found them; NULL: nobody has */
    size_t class_count;
};

/* What claims are about that need no table: "claims for checkpoint". */
#define SP_CHECKPOINT_ALONE "checkpoint"

/* How many units it builds on. */
static inline size_t sp_unit_depth(const struct sp_unit *unit)
{
    size_t depth = 0;
    while ((unit = unit->parent)) depth += unit->is_table;
    return depth;
}

/* Whether it is no model by itself: it has a parameter that a use of it must give. */
static inline bool sp_unit_needs_arguments(const struct sp_unit *unit)
{
    for (size_t i = 0; i < unit->param_count; i++)
        if (!unit->params[i].fallback) return true;
    return false;
}

/* Whether the configuration chooses a table that it uses: then it says little of its tensors by itself. */
static inline bool sp_unit_chooses(const struct sp_unit *unit)
{
    for (size_t i = 0; i < unit->section_count; i++)
        for (size_t k = 0; k < unit->sections[i].row_count; k++)
            if (unit->sections[i].rows[k].choice) return true;
    return false;
}

/* Whether it serves classes, whatever the model_type. */
static inline bool sp_unit_is_by_class(const struct sp_unit *unit)
{
    return unit->architecture_count && !unit->model_type_count;
}

/* The key of the configuration by which it knows the class: a table that serves classes whatever the model_type goes by
 * the one that diffusers writes, or by timm's if these are names such as "resnet50". */
static inline const char *sp_unit_class_key(const struct sp_unit *unit)
{
    if (!sp_unit_is_by_class(unit)) return "architectures";
    return *unit->architectures[0] >= 'a' ? "architecture" : "_class_name";
}

#endif
