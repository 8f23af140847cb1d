/* SPDX-License-Identifier: MIT
 * YAML 1.1 through libyaml's events: the `config` files that Sockeye writes with PyYAML, and any other of that kind.
 * Plain scalars mean what they mean to PyYAML: null, truth values, decimal integers, numbers with a point; all else
 * is text, and so are octal, hexadecimal and sexagesimal numbers and dates, which no configuration here has.
 *
 * Nothing is constructed: a tag `!Name` becomes the member "yaml_tag" of its mapping, `!!python/...` is ignored.
 * An alias shares the value of its anchor, which costs nothing here; but since whoever walks the tree walks it again,
 * what it stands for counts towards the limit on nodes, and its height towards the limit on depth.
 * Refused: several documents, keys that are not scalars, an alias inside its own anchor, NUL in texts. Merge keys
 * (<<) are not merged. A key that a mapping has twice has its last value, and is counted. */
#include "config/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/map.h"
#include "base/real.h"

enum { MAX_TEXT = 4 << 20, MAX_DEPTH = 64, MAX_NODES = 1000 * 1000, MAX_DIRECTIVES = 16 };

enum collection { SEQUENCE, MAPPING };

/* A sequence or mapping that is still open. */
struct open {
    enum collection kind;
    const char *tag, *anchor;          /* NULL: none */
    const char *key;                   /* of the next value; NULL: a key comes next */
    struct shapeproof_member *members; /* heap; the key is NULL in a sequence */
    size_t count, capacity;
    size_t nodes_before; /* reader.total when it began */
    unsigned height;     /* of the highest value in it */
};

/* A value, and what walking it costs. */
struct node {
    struct shapeproof_value value;
    size_t nodes;
    unsigned height; /* 0 for a scalar */
};

struct reader {
    struct sp_arena *arena;
    struct shapeproof_error *error;
    yaml_parser_t parser;
    yaml_mark_t mark; /* where the current event begins */
    struct open stack[MAX_DEPTH];
    unsigned depth;
    struct sp_map anchors; /* name -> index of its node */
    struct node *nodes;    /* with an anchor */
    size_t node_count, node_capacity;
    size_t total;                     /* nodes of the document so far, those of an alias each time */
    struct sp_value_repeats *repeats; /* NULL: not counted */
    struct shapeproof_value root;
    bool has_root;
};

static bool wrong_at(struct reader *reader, yaml_mark_t mark, enum shapeproof_kind kind, const char *what,
                     const char *more)
{
    return sp_fail(reader->error, SHAPEPROOF_ERR_TABLE, kind, "line %zu, column %zu: %s%s", mark.line + 1,
                   mark.column + 1, what, more);
}

static bool wrong_yaml(struct reader *reader, const char *what)
{
    return wrong_at(reader, reader->mark, SHAPEPROOF_KIND_MALFORMED, what, "");
}

/* ---- scalars ---- */

static bool is_yaml_integer(const char *text)
{
    text += *text == '-' || *text == '+';
    if (*text == '0') return !text[1];
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* [-+]1.5e+3, with a point and a signed exponent: to PyYAML 1e3 is a text. */
static bool is_yaml_real(const char *text)
{
    text += *text == '-' || *text == '+';
    const size_t whole = strspn(text, "0123456789");
    if (text[whole] != '.') return false;
    const size_t part = strspn(text + whole + 1, "0123456789");
    text += whole + 1 + part;
    if (!whole && !part) return false;
    if (*text != 'e' && *text != 'E') return !*text;
    text++;
    if (*text != '-' && *text != '+') return false;
    text++;
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* A whole number that does not fit is a real one, as in JSON. */
static struct shapeproof_value yaml_number(const char *text)
{
    errno = 0;
    const long long integer = strtoll(text, NULL, 10);
    return is_yaml_integer(text) && !errno ? sp_value_int(integer) : sp_value_real(sp_real_read(text, NULL));
}

/* What PyYAML makes of a plain scalar. */
static struct shapeproof_value plain(struct reader *reader, const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"};
    if (SP_IS_AMONG(text, nulls)) return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL, .string = ""};
    if (SP_IS_AMONG(text, yes)) return sp_value_bool(true);
    if (SP_IS_AMONG(text, no)) return sp_value_bool(false);
    if (is_yaml_integer(text) || is_yaml_real(text)) return yaml_number(text);
    return sp_value_string(sp_arena_string(reader->arena, text));
}

/* Plain without a tag, or with one that says no more than the text itself. */
static bool is_plain(const yaml_event_t *event)
{
    static const char *const core[] = {YAML_NULL_TAG, YAML_BOOL_TAG, YAML_INT_TAG, YAML_FLOAT_TAG};
    const char *tag = (const char *)event->data.scalar.tag;
    return tag ? SP_IS_AMONG(tag, core) : event->data.scalar.plain_implicit != 0;
}

/* ---- building the tree ---- */

/* Counts nodes towards the limit; false with the error when it is passed. */
static bool spend_nodes(struct reader *reader, size_t nodes)
{
    reader->total += nodes; /* each at most MAX_NODES */
    if (reader->total <= MAX_NODES) return true;
    return wrong_at(reader, reader->mark, SHAPEPROOF_KIND_LIMIT, "more than 1000000 values, aliases counted each time",
                    "");
}

/* Remembers a finished value under its anchor, if it has one. */
static void name_node(struct reader *reader, const char *anchor, struct node node)
{
    if (!anchor) return;
    SP_GROW(reader->nodes, reader->node_count, reader->node_capacity);
    sp_map_set(&reader->anchors, anchor, reader->node_count);
    reader->nodes[reader->node_count++] = node;
}

/* Hands a finished value to the collection that is open. */
static bool put_node(struct reader *reader, struct node node)
{
    if (!reader->depth) {
        reader->root = node.value;
        reader->has_root = true;
        return true;
    }
    struct open *open = &reader->stack[reader->depth - 1];
    if (reader->depth + node.height > MAX_DEPTH)
        return wrong_at(reader, reader->mark, SHAPEPROOF_KIND_LIMIT, "nested more than 64 deep", "");
    if (open->kind == MAPPING && !open->key) return wrong_yaml(reader, "a key must be a string or a number");
    SP_GROW(open->members, open->count, open->capacity);
    open->members[open->count++] = (struct shapeproof_member){open->key, node.value};
    open->key = NULL;
    if (node.height > open->height) open->height = node.height;
    return true;
}

/* Opens a sequence or a mapping; a tag such as "!ModelConfig" is kept. */
static bool begin_collection(struct reader *reader, enum collection kind, const char *tag, const char *anchor)
{
    if (reader->depth == MAX_DEPTH)
        return wrong_at(reader, reader->mark, SHAPEPROOF_KIND_LIMIT, "nested more than 64 deep", "");
    const struct open *outer = reader->depth ? &reader->stack[reader->depth - 1] : NULL;
    if (outer && outer->kind == MAPPING && !outer->key) return wrong_yaml(reader, "a key must be a string or a number");
    struct open *open = &reader->stack[reader->depth++];
    *open = (struct open){.kind = kind, .nodes_before = reader->total};
    if (anchor) open->anchor = sp_arena_string(reader->arena, anchor);
    if (tag && *tag == '!' && tag[1]) open->tag = sp_arena_string(reader->arena, tag + 1);
    return spend_nodes(reader, 1);
}

static struct shapeproof_value list_of_sequence(struct reader *reader, const struct open *open)
{
    struct shapeproof_value *items = sp_arena_array(reader->arena, open->count, sizeof *items);
    for (size_t i = 0; i < open->count; i++) items[i] = open->members[i].value;
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = open->count, .items = items};
}

/* Copies the members of a mapping to `to`, a repeated key once, with its last value; returns how many there are. PyYAML
 * merges every `<<` that a mapping has, so that two of them are no repetition. */
static size_t copy_members(struct reader *reader, const struct open *open, struct shapeproof_member *to)
{
    struct sp_map places = {0};
    size_t count = 0;
    for (size_t i = 0; i < open->count; i++) {
        const char *key = open->members[i].key;
        const size_t place = strcmp(key, "<<") == 0 ? SIZE_MAX : sp_map_get(&places, key);
        if (place == SIZE_MAX) {
            sp_map_add(&places, key, count);
            to[count++] = open->members[i];
            continue;
        }
        to[place].value = open->members[i].value;
        if (reader->repeats && !reader->repeats->count++) reader->repeats->first = key;
    }
    sp_map_free(&places);
    return count;
}

/* The tag comes first, so that a member of that name would win. */
static struct shapeproof_value object_of_mapping(struct reader *reader, const struct open *open)
{
    const size_t tags = open->tag != NULL;
    struct shapeproof_member *members = sp_arena_array(reader->arena, tags + open->count, sizeof *members);
    if (tags) members[0] = (struct shapeproof_member){"yaml_tag", sp_value_string(open->tag)};
    const size_t count = tags + copy_members(reader, open, members + tags);
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_OBJECT, .count = count, .members = members};
}

/* Closes the innermost collection: it becomes a value of the one around it. */
static bool end_collection(struct reader *reader)
{
    struct open *open = &reader->stack[--reader->depth];
    const struct node node = {.value = open->kind == MAPPING ? object_of_mapping(reader, open)
                                                             : list_of_sequence(reader, open),
                              .nodes = reader->total - open->nodes_before,
                              .height = open->height + 1};
    sp_free(open->members);
    open->members = NULL;
    name_node(reader, open->anchor, node);
    return put_node(reader, node);
}

/* A scalar is the key of a mapping where one is due, and else a value. */
static bool scalar(struct reader *reader, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    struct open *open = reader->depth ? &reader->stack[reader->depth - 1] : NULL;
    if (strlen(text) != event->data.scalar.length) return wrong_yaml(reader, "a string with a NUL character in it");
    if (!spend_nodes(reader, 1)) return false;
    if (open && open->kind == MAPPING && !open->key) {
        open->key = sp_arena_string(reader->arena, text);
        return true;
    }
    struct node node = {.nodes = 1};
    node.value = is_plain(event) ? plain(reader, text) : sp_value_string(sp_arena_string(reader->arena, text));
    if (event->data.scalar.anchor)
        name_node(reader, sp_arena_string(reader->arena, (const char *)event->data.scalar.anchor), node);
    return put_node(reader, node);
}

/* The value of an alias is that of its anchor, and costs what walking it costs. */
static bool alias(struct reader *reader, const char *name)
{
    const size_t index = sp_map_get(&reader->anchors, name);
    if (index == SIZE_MAX)
        return wrong_at(reader, reader->mark, SHAPEPROOF_KIND_MALFORMED, "no finished value has the anchor &", name);
    return spend_nodes(reader, reader->nodes[index].nodes) && put_node(reader, reader->nodes[index]);
}

/* ---- events ---- */

/* Takes one event of the YAML parser: a scalar, an alias, or an end of a collection. False with the error, also at the
 * beginning of a second document. Events that carry no value are passed over. */
static bool take_event(struct reader *reader, const yaml_event_t *event)
{
    reader->mark = event->start_mark;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return reader->has_root ? wrong_yaml(reader, "a second document begins: there may be one only") : true;
    case YAML_SCALAR_EVENT:
        return scalar(reader, event);
    case YAML_ALIAS_EVENT:
        return alias(reader, (const char *)event->data.alias.anchor);
    case YAML_SEQUENCE_START_EVENT:
        return begin_collection(reader, SEQUENCE, NULL, (const char *)event->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return begin_collection(reader, MAPPING, (const char *)event->data.mapping_start.tag,
                                (const char *)event->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return end_collection(reader);
    default:
        return true;
    }
}

/* libyaml gives byte offsets where the bytes themselves are wrong, and marks everywhere else. */
static yaml_mark_t mark_of(const char *text, size_t offset)
{
    yaml_mark_t mark = {.index = offset};
    for (size_t i = 0; i < offset; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80) mark.column++; /* a character, not a byte of one */
        if (text[i] == '\n') mark.column = 0;
        mark.line += text[i] == '\n';
    }
    return mark;
}

/* Reports the error of libyaml; always false. */
static bool not_yaml(struct reader *reader, const char *text)
{
    const yaml_parser_t *parser = &reader->parser;
    const bool bytes = parser->error == YAML_READER_ERROR;
    if (parser->error == YAML_MEMORY_ERROR) sp_out_of_memory();
    return wrong_at(reader, bytes ? mark_of(text, parser->problem_offset) : parser->problem_mark,
                    SHAPEPROOF_KIND_MALFORMED, "not YAML: ", parser->problem ? parser->problem : "it cannot be read");
}

static void delete_event(void *event) { yaml_event_delete(event); }
static void delete_parser(void *parser) { yaml_parser_delete(parser); }

static bool read_events(struct reader *reader, const char *text)
{
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event)) return not_yaml(reader, text);
        sp_hold(&event, delete_event);
        const bool good = take_event(reader, &event);
        more = event.type != YAML_STREAM_END_EVENT;
        sp_let_go(&event, delete_event);
        if (!good) return false;
    }
    return reader->has_root ? true : wrong_yaml(reader, "there is no document");
}

/* libyaml compares each %TAG with all that came before it, so that many of them take minutes. */
static bool few_directives(const char *text, size_t length)
{
    size_t directives = 0;
    for (size_t i = 0; i < length; i++)
        directives += text[i] == '%' && (i == 0 || text[i - 1] == '\n' || text[i - 1] == '\r');
    return directives <= MAX_DIRECTIVES;
}

bool sp_yaml_parse(struct sp_arena *arena, const char *text, size_t length, struct shapeproof_value *root,
                   struct sp_value_repeats *repeats, struct shapeproof_error *error)
{
    struct reader reader = {.arena = arena, .repeats = repeats, .error = error};
    if (length > MAX_TEXT)
        return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_LIMIT,
                       "longer than 4 MB, too long for a configuration");
    if (!few_directives(text, length))
        return sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_LIMIT, "more than 16 lines begin with '%%'");
    if (!yaml_parser_initialize(&reader.parser)) sp_out_of_memory();
    sp_hold(&reader.parser, delete_parser);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    const bool good = read_events(&reader, text);
    if (good) *root = reader.root;
    while (reader.depth) sp_free(reader.stack[--reader.depth].members);
    sp_let_go(&reader.parser, delete_parser);
    sp_map_free(&reader.anchors);
    sp_free(reader.nodes);
    return good;
}
