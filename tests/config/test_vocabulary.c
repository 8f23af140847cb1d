/* SPDX-License-Identifier: MIT
 * Vocabularies counted in training texts, by the rules of Sockeye and of nparam. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "read/scratch_fixture.h"

#define PLAIN "train_bpe_src=src.txt\ntrain_bpe_trg=trg.txt\n"

static void write_texts(const char *src, const char *trg)
{
    scratch_write(&scratch, "src.txt", src, strlen(src));
    scratch_write(&scratch, "trg.txt", trg, strlen(trg));
}

static struct shapeproof_config *loaded(const char *hpm)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    shapeproof_config_load(config, scratch_write(&scratch, "a.hpm", hpm, strlen(hpm)), &error);
    assert_string_equal(error.message, "");
    return config;
}

static int64_t size_of(const struct shapeproof_config *config, const char *key)
{
    const struct shapeproof_value value = sp_value_member(sp_config_hyper(config)->root, key);
    return value.type == SHAPEPROOF_VALUE_INT ? value.integer : -1;
}

static void assert_sizes(const char *hpm, enum shapeproof_vocabulary rule, int64_t src, int64_t trg)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = loaded(hpm);
    assert_int_equal(shapeproof_config_count_vocabulary(config, rule, true, &error), SHAPEPROOF_OK);
    assert_string_equal(error.message, "");
    assert_int_equal(size_of(config, "vocab_size_src"), src);
    assert_int_equal(size_of(config, "vocab_size_trg"), trg);
    shapeproof_config_free(config);
}

static void assert_refused(const char *hpm, const char *expected)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = loaded(hpm);
    assert_int_equal(shapeproof_config_count_vocabulary(config, SHAPEPROOF_VOCABULARY_SOCKEYE, true, &error),
                     SHAPEPROOF_ERR_TABLE);
    if (!strstr(error.message, expected)) assert_string_equal(error.message, expected);
    shapeproof_config_free(config);
}

/* Words w0, w1, ..., one a line. */
static void write_words(const char *name, size_t count)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < count; i++) sp_text_printf(&text, "w%zu\n", i);
    scratch_write(&scratch, name, text.data, text.length);
    sp_text_free(&text);
}

/* ---- words ---- */

static void words(void **state)
{
    (void)state;
    write_texts("the cat\nthe hat\n", "  le \t chat\r\nle  chapeau noir");
    assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_SOCKEYE, 3 + 4, 4 + 4);
    assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_NPARAM, 3 + 4, 4 + 4);
    assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_NONE, -1, -1);
    write_texts("", " \n\n\t");
    assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_SOCKEYE, 4, 4);
}

/* As Python's str.split(): every Unicode space divides, the zero-width one and U+180E do not. */
static void spaces(void **state)
{
    (void)state;
    write_texts("a\xc2\xa0"
                "b\xe3\x80\x80"
                "c\xe2\x80\x89"
                "d\x1c"
                "e\xc2\x85"
                "f\xe2\x80\xa8"
                "g\xe1\x9a\x80h\x0bi",
                "a\xe2\x80\x8b"
                "b\xe1\xa0\x8e"
                "c\x1b"
                "d\xef\xbb\xbf");
    assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_SOCKEYE, 9 + 4, 1 + 4);
}

/* A character may begin in one piece of the stream and end in the next one; so may a word. */
static void pieces(void **state)
{
    (void)state;
    char *text = malloc((1 << 17) + 8);
    assert_non_null(text);
    for (size_t shift = 0; shift < 4; shift++) {
        const size_t length = (1 << 16) - 4 + shift;
        memset(text, ' ', length);
        memcpy(text + length, "\xf0\x9f\x98\x80 \xf0\x9f\x98\x80z z", 13);
        scratch_write(&scratch, "src.txt", text, length + 12);
        scratch_write(&scratch, "trg.txt", text, length + 4);
        assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_SOCKEYE, 3 + 4, 1 + 4);
    }
    free(text);
}

static void wrong_texts(void **state)
{
    (void)state;
    write_texts("a b\n\xff", "");
    assert_refused(PLAIN, "src.txt: byte 4: not UTF-8");
    write_texts("a \xe2\x82", "");
    assert_refused(PLAIN, "src.txt: byte 2: not UTF-8");
    scratch_write(&scratch, "src.txt", "ab\0c", 4);
    assert_refused(PLAIN, "src.txt: byte 2: a NUL in a string");
    char *word = malloc(70000);
    assert_non_null(word);
    memset(word, 'x', 70000);
    scratch_write(&scratch, "src.txt", word, 65536);
    assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_SOCKEYE, 5, 4);
    scratch_write(&scratch, "src.txt", word, 65537);
    assert_refused(PLAIN, "src.txt: byte 65537: a word longer than 64 KB");
    free(word);
}

/* ---- the rules ---- */

/* Types t around the number b of merges: Sockeye has min(t, b) + 4; nparam has t + 4, or b + 4 where that exceeds b. */
static void boundary(void **state)
{
    (void)state;
    const char *hpm = PLAIN "bpe_symbols_src=100\nbpe_symbols_trg=100\nnum_words=\"${bpe_symbols_src}:100\"\n";
    static const int64_t types[] = {95, 96, 97, 98, 99, 100, 101, 103};
    static const int64_t sockeye[] = {99, 100, 101, 102, 103, 104, 104, 104};
    static const int64_t nparam[] = {99, 100, 104, 104, 104, 104, 104, 104};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        write_words("src.txt", (size_t)types[i]);
        write_words("trg.txt", 10);
        assert_sizes(hpm, SHAPEPROOF_VOCABULARY_SOCKEYE, sockeye[i], 14);
        assert_sizes(hpm, SHAPEPROOF_VOCABULARY_NPARAM, nparam[i], 14);
    }
}

static void least_counts(void **state)
{
    (void)state;
    write_texts("a a a b b c", "a a a b b c");
    assert_sizes(PLAIN "word_min_count=\"1:2\"\n", SHAPEPROOF_VOCABULARY_SOCKEYE, 3 + 4, 2 + 4);
    assert_sizes(PLAIN "word_min_count=3\n", SHAPEPROOF_VOCABULARY_SOCKEYE, 1 + 4, 1 + 4);
    assert_sizes(PLAIN "word_min_count=3\n", SHAPEPROOF_VOCABULARY_NPARAM, 3 + 4, 3 + 4); /* it does not look */
    assert_sizes(PLAIN "num_words=\"2:0\"\n", SHAPEPROOF_VOCABULARY_SOCKEYE, 2 + 4, 3 + 4);
    assert_sizes(PLAIN "num_words=2\nword_min_count=3\n", SHAPEPROOF_VOCABULARY_SOCKEYE, 1 + 4, 1 + 4);
    assert_sizes(PLAIN "pad_vocab_to_multiple_of=8\n", SHAPEPROOF_VOCABULARY_SOCKEYE, 8, 8);
    assert_sizes(PLAIN "pad_vocab_to_multiple_of=7\n", SHAPEPROOF_VOCABULARY_SOCKEYE, 7, 7);
}

/* Sockeye does not count its own symbols as words, nparam does. */
static void special_symbols(void **state)
{
    (void)state;
    write_texts("<s> a </s> <unk> <pad>", "<s> <s> b b");
    assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_SOCKEYE, 1 + 4, 1 + 4);
    assert_sizes(PLAIN, SHAPEPROOF_VOCABULARY_NPARAM, 5 + 4, 2 + 4);
    assert_sizes(PLAIN "word_min_count=2\n", SHAPEPROOF_VOCABULARY_SOCKEYE, 4, 1 + 4);
}

static void shared(void **state)
{
    (void)state;
    write_texts("a b", "b c c");
    assert_sizes(PLAIN "weight_tying=true\nweight_tying_type=trg_softmax\n", SHAPEPROOF_VOCABULARY_SOCKEYE, 2 + 4,
                 2 + 4);
    struct shapeproof_error error = {0};
    static const char *const settings[] = {"shared_vocab=true", "weight_tying=true"};
    for (size_t i = 0; i < 2; i++) {
        struct shapeproof_config *config = loaded(PLAIN "weight_tying_type=src_trg_softmax\n");
        shapeproof_config_set(config, settings[i], &error);
        shapeproof_config_count_vocabulary(config, SHAPEPROOF_VOCABULARY_SOCKEYE, true, &error);
        assert_int_equal(size_of(config, "vocab_size_src"), 3 + 4);
        assert_int_equal(size_of(config, "vocab_size_trg"), 3 + 4);
        shapeproof_config_free(config);
    }
}

/* ---- where the sizes come from ---- */

static void origins(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    write_texts("a b c", "a");
    struct shapeproof_config *config = loaded(PLAIN "vocab_size_trg=77\n");
    assert_int_equal(shapeproof_config_count_vocabulary(config, SHAPEPROOF_VOCABULARY_SOCKEYE, true, &error),
                     SHAPEPROOF_OK);
    const struct sp_hyper *hyper = sp_config_hyper(config);
    assert_int_equal(size_of(config, "vocab_size_trg"), 77); /* it was said */
    assert_int_equal(hyper->override_count, 1);
    assert_string_equal(hyper->overrides[0].path, "vocab_size_src");
    assert_string_equal(hyper->overrides[0].from.name, "3 words of src.txt, rule of Sockeye");
    shapeproof_config_free(config);
    config = loaded(PLAIN "bpe_symbols_src=9\n");
    shapeproof_config_count_vocabulary(config, SHAPEPROOF_VOCABULARY_NPARAM, true, &error);
    assert_string_equal(sp_config_hyper(config)->overrides[0].from.name, "3 words of src.txt, rule of nparam");
    shapeproof_config_free(config);
}

static void missing_texts(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    const char *hpm = "train_bpe_src=none.txt\ntrain_bpe_trg=trg.txt\n";
    write_texts("a", "a b");
    struct shapeproof_config *config = loaded(hpm);
    assert_int_equal(shapeproof_config_count_vocabulary(config, SHAPEPROOF_VOCABULARY_SOCKEYE, false, &error),
                     SHAPEPROOF_OK);
    assert_int_equal(size_of(config, "vocab_size_src"), -1);
    assert_int_equal(size_of(config, "vocab_size_trg"), 6);
    shapeproof_config_free(config);
    assert_refused(hpm, "none.txt: open: No such file or directory");
    assert_refused("train_bpe_trg=trg.txt\n", "the configuration has no train_bpe_src to count vocab_size_src in");
    assert_refused("train_bpe_src=$root/x.txt\ntrain_bpe_trg=trg.txt\n", "open: No such file or directory");
    config = loaded("num_layers=2\n");
    assert_int_equal(shapeproof_config_count_vocabulary(config, SHAPEPROOF_VOCABULARY_SOCKEYE, false, &error),
                     SHAPEPROOF_OK);
    shapeproof_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(spaces, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(pieces, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(wrong_texts, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(boundary, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(least_counts, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(special_symbols, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(shared, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(origins, make_scratch, remove_scratch),
        cmocka_unit_test_setup_teardown(missing_texts, make_scratch, remove_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
