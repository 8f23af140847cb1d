/* SPDX-License-Identifier: MIT */
#include "learn/terms/likely.h"

#include <string.h>

#include "base/chars.h"

enum {
    LONGEST_WORD = 32,
    SHORTEST_STEM = 3, /* letters of a word that is searched for anywhere in a name */
    /* Affinities, in units of cost. */
    SAME_WORD = 4,     /* for each word of the key that is in the name */
    KNOWN_PAIR = 3,    /* for each word that goes with a piece of the name */
    MOST_AFFINITY = 8, /* of one key together */
    LABELS = 14,       /* of id2label and a classifier */
    STRANGE = 6        /* the strangeness of a term with a key that is out of place */
};

/* Words of keys, and the pieces of names that they go with. */
static const char *const known_pairs[][2] = {
    {"vocab", "embed_tokens"},
    {"vocab", "wte"},
    {"vocab", "word_emb"},
    {"vocab", "lm_head"},
    {"vocab", "shared"},
    {"vocab", "decoder"},
    {"vocab", "predictions"},
    {"vocab", "tok_emb"},
    {"position", "wpe"},
    {"positions", "wpe"},
    {"positions", "pos_emb"},
    {"type", "token_type"},
    {"intermediate", "mlp"},
    {"intermediate", "up_proj"},
    {"intermediate", "fc"},
    {"intermediate", "ffn"},
    {"intermediate", "feed_forward"},
    {"intermediate", "output.dense"},
    {"inner", "mlp"},
    {"inner", "c_fc"},
    {"ffn", "fc1"},
    {"ffn", "fc2"},
    {"ff", "wi"},
    {"ff", "wo"},
    {"ff", "linear1"},
    {"ff", "linear2"},
    {"feedforward", "linear1"},
    {"feedforward", "linear2"},
    {"ff", "feed_forward"},
    {"key", "k_proj"},
    {"key", "v_proj"},
    {"kv", "k_proj"},
    {"kv", "v_proj"},
    {"layers", "layer"},
    {"layers", "block"},
    {"layer", "h."},
    {"depths", "block"},
    {"depths", "stage"},
    {"depths", "layers"},
    {"sizes", "stage"},
    {"dims", "stage"},
    {"experts", "experts"},
    {"experts", "router"},
    {"experts", "gate.weight"},
    {"id2label", "classifier"},
    {"id2label", "score"},
    {"id2label", "qa_outputs"},
    {"labels", "classifier"},
    {"classes", "head"},
    {"classes", "fc"},
    {"tie", "head"},
    {"tie", "output.weight"},
    {"word", "head"},
    {"tie", "decoder"},
    {"tied", "head"},
    {"qkv", "query"},
    {"qkv", "key"},
    {"qkv", "value"},
    {"patch", "patch_emb"},
    {"image", "pos"},
    {"image", "position"},
    {"channels", "patch_emb"},
    {"attention", "attn"},
    {"hidden", "norm"},
    {"embd", "ln"},
    {"model", "norm"},
    {"architectures", ""},
    {"gated", "wi"},
    {"gated", "gate"},
    {"stages", "stage"},
    {"embed", "emb"},
    {"mlp", "up_proj"},
    {"mlp", "down_proj"},
    {"mlp", "gate_proj"},
    {"lora", "_a_proj"},
    {"lora", "_b_proj"},
    {"encoder", "encoder"},
    {"decoder", "decoder"},
    {"vision", "vision"},
    {"text", "text"},
    {"heads", "attn"},
    {"heads", "attention"},
    {"heads", "q_proj"},
    {"heads", "kv_proj"},
    {"head", "attn"},
    {"head", "attention"},
    {"channels", "kv_proj"},
};

/* Words of keys that do not say what the key is about. */
static bool is_general(const char *word)
{
    static const char *const words[] = {"num", "size", "dim", "n",  "d",   "config",
                                        "use", "the",  "of",  "is", "has", "max"};
    return SP_IS_AMONG(word, words);
}

/* The next word of a key, cut to what fits; false behind the last. */
static bool next_word(const char **rest, char word[LONGEST_WORD])
{
    size_t length = 0;
    while (**rest && strchr("_.", **rest)) (*rest)++;
    for (; **rest && !strchr("_.", **rest); (*rest)++)
        if (length + 1 < LONGEST_WORD) word[length++] = **rest;
    word[length] = '\0';
    return length > 0;
}

/* Whether a component of the name begins with the word: "q" and "self_attn.q_proj". */
static bool begins_component(const char *word, size_t length, const char *name)
{
    for (const char *at = name; (at = strstr(at, word)) != NULL; at++)
        if ((at == name || at[-1] == '.') && strchr("_.", at[length])) return true;
    return false;
}

/* "layers" is in "model.layers.0", and so is "layer"; "n" is nowhere. */
static bool is_in_name(const char *word, const char *name)
{
    char stem[LONGEST_WORD];
    const size_t length = strlen(word);
    if (length < SHORTEST_STEM && !is_general(word)) return begins_component(word, length, name);
    if (length < SHORTEST_STEM || is_general(word)) return false;
    memcpy(stem, word, length + 1);
    if (stem[length - 1] == 's' && length > SHORTEST_STEM) stem[length - 1] = '\0';
    return strstr(name, stem) != NULL;
}

static bool is_known_pair(const char *word, const char *name)
{
    for (size_t i = 0; i < sizeof known_pairs / sizeof *known_pairs; i++)
        if (strcmp(known_pairs[i][0], word) == 0 && strstr(name, known_pairs[i][1])) return true;
    return false;
}

/* Words that say which part of a model it is. */
static bool is_of_part(const char *word)
{
    static const char *const words[] = {"encoder", "decoder", "vision",   "text",
                                        "audio",   "model",   "language", "semantic"};
    return SP_IS_AMONG(word, words);
}

/* Which words of a key count for its affinity. */
enum key_words { ALL_WORDS, PROPER_WORDS /* not those that say which part of a model it is */ };

/* How well a key goes with a name. */
static unsigned affinity_of_key(const char *path, const char *name, enum key_words words)
{
    char word[LONGEST_WORD];
    unsigned affinity = 0;
    while (next_word(&path, word)) {
        if (words == PROPER_WORDS && is_of_part(word)) continue;
        if (strcmp(word, "id2label") == 0 && is_known_pair(word, name)) return LABELS; /* a head has one row for each */
        if (is_in_name(word, name)) affinity += SAME_WORD;
        else if (is_known_pair(word, name)) affinity += KNOWN_PAIR;
    }
    return affinity < MOST_AFFINITY ? affinity : MOST_AFFINITY;
}

/* Words of keys that are about one thing alone, each followed by the pieces of names that have to do with it. */
static const char *const narrow_words[][10] = {
    {"position", "pos", "wpe", "rel", "emb", "mask", "freq", "bias", "attn"},
    {"vocab", "emb", "wte", "head", "vocab", "pred", "shared", "decoder", "token", "out"},
};

/* Whether a key has such a word, and the name none of its pieces. */
static bool is_out_of_place(const char *path, const char *name)
{
    for (size_t i = 0; i < sizeof narrow_words / sizeof *narrow_words; i++) {
        bool is = strstr(path, narrow_words[i][0]) != NULL;
        for (size_t k = 1; is && k < sizeof *narrow_words / sizeof **narrow_words && narrow_words[i][k]; k++)
            is = !strstr(name, narrow_words[i][k]);
        if (is) return true;
    }
    return false;
}

struct narrowness {
    const char *name;
    unsigned strangers;
};

static void count_stranger(void *context, const struct sp_terminal *terminal)
{
    struct narrowness *narrowness = context;
    narrowness->strangers += is_out_of_place(terminal->path, narrowness->name);
}

unsigned sp_search_term_strangeness(const struct sp_search_term *term, const char *name)
{
    struct narrowness narrowness = {name, 0};
    sp_search_term_terminals(term, count_stranger, &narrowness);
    return narrowness.strangers ? STRANGE : 0;
}

/* The highest affinity of a key of a term so far. */
struct nearest {
    const char *name;
    enum key_words words;
    unsigned affinity;
};

static void weigh_terminal(void *context, const struct sp_terminal *terminal)
{
    struct nearest *nearest = context;
    const unsigned affinity = affinity_of_key(terminal->path, nearest->name, nearest->words);
    if (affinity > nearest->affinity) nearest->affinity = affinity;
}

/* "sound" in inputs is near to what is called sound. */
static void weigh_texts(const struct sp_search_term *term, struct nearest *nearest)
{
    if (!term) return;
    if (term->op == SP_TERM_CONTAINED && term->text && strstr(nearest->name, term->text))
        nearest->affinity = MOST_AFFINITY;
    weigh_texts(term->a, nearest);
    weigh_texts(term->b, nearest);
}

unsigned sp_search_term_affinity(const struct sp_search_term *term, const char *name)
{
    struct nearest nearest = {name, ALL_WORDS, 0};
    sp_search_term_terminals(term, weigh_terminal, &nearest);
    weigh_texts(term, &nearest);
    return nearest.affinity;
}

unsigned sp_search_term_proper_affinity(const struct sp_search_term *term, const char *name)
{
    struct nearest nearest = {name, PROPER_WORDS, 0};
    sp_search_term_terminals(term, weigh_terminal, &nearest);
    return nearest.affinity;
}
