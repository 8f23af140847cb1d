/* SPDX-License-Identifier: MIT
 * What a check must say of a kind of discrepancy: the first line, the causes and no others, and what stays open. */
#ifndef TESTS_COMPARE_KINDS_H
#define TESTS_COMPARE_KINDS_H

#include "compare/model.h"

#define BEGIN(config)                                                                                                  \
    struct model model;                                                                                                \
    (void)state;                                                                                                       \
    model_open(&model, config);                                                                                        \
    model_predict(&model, 0)

#define END model_close(&model)

/* The ids of the causes in order, with blanks between them. */
static inline void assert_causes(const struct model *model, const char *ids)
{
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    for (size_t i = 0; i < sp_check_cause_count(model->check); i++)
        sp_text_printf(&text, "%s%s", i ? " " : "", sp_check_cause(model->check, i)->id);
    assert_string_equal(text.data, ids);
    sp_text_free(&text);
}

/* Writes the model, checks it, and holds the first line, the causes and the number of open findings against these. */
#define SAYS(line, causes, open)                                                                                       \
    do {                                                                                                               \
        assert_string_equal(model_check(&model), line);                                                                \
        assert_causes(&model, causes);                                                                                 \
        assert_int_equal(sp_check_open(model.check), open);                                                            \
    } while (0)

#endif
