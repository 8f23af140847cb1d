/* SPDX-License-Identifier: MIT
 * All that a check says of a model: its first line, its causes, and how many findings are left without one. */
#ifndef TESTS_COMPARE_TOLD_H
#define TESTS_COMPARE_TOLD_H

#include "check/hints.h"
#include "check/model.h"

/* The ids of the causes, the worst first: "hyperparameter prefix". Free it. */
static inline char *told_ids(const struct model *model)
{
    struct sp_text ids = {0};
    sp_text_puts(&ids, "");
    for (size_t i = 0; i < shapeproof_check_cause_count(model->check); i++)
        sp_text_printf(&ids, "%s%s", i ? " " : "", shapeproof_check_cause(model->check, i)->id);
    return ids.data;
}

/* `line` is the whole first line of the last check, `ids` are its causes and no other, `open` findings have none. What
 * the hints say of the configuration holds. */
#define assert_told(model, line, ids, open)                                                                            \
    do {                                                                                                               \
        char *told = told_ids(model);                                                                                  \
        assert_string_equal((model)->first_line, line);                                                                \
        assert_string_equal(told, ids);                                                                                \
        assert_int_equal(sp_check_open((model)->check), open);                                                         \
        free(told);                                                                                                    \
        assert_hints_hold((model)->check);                                                                             \
    } while (0)

#endif
