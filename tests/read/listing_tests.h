/* SPDX-License-Identifier: MIT
 * The test of a reader that is asked three things alone: what it lists, what it refuses, and damage. */
#ifndef TESTS_READ_LISTING_TESTS_H
#define TESTS_READ_LISTING_TESTS_H

#include "read/listing.h"

/* Each of `good` and `refused` is a path below `folder` and its listing; `damaged` are paths. */
struct listing_tests {
    const char *folder;
    const char *const (*good)[2], *const (*refused)[2], *const *damaged;
    size_t good_count, refused_count, damaged_count;
};

static const struct listing_tests *listing_tests; /* cmocka hands a state to each test that the scratch needs */

static inline void what_there_is_is_listed(void **state)
{
    (void)state;
    assert_listings(listing_tests->folder, listing_tests->good, listing_tests->good_count);
}

static inline void what_is_wrong_is_said(void **state)
{
    (void)state;
    assert_listings(listing_tests->folder, listing_tests->refused, listing_tests->refused_count);
}

static inline void each_damage_is_survived(void **state)
{
    (void)state;
    assert_survive_damage(listing_tests->damaged, listing_tests->damaged_count);
}

static inline int run_listing_tests(const struct listing_tests *wanted)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_there_is_is_listed),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(each_damage_is_survived),
    };
    listing_tests = wanted;
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

#define LISTING_COUNT(list) (sizeof(list) / sizeof *(list))
#define RUN_LISTING_TESTS(folder, good, refused, damaged)                                                              \
    run_listing_tests(&(struct listing_tests){(folder), (good), (refused), (damaged), LISTING_COUNT(good),             \
                                              LISTING_COUNT(refused), LISTING_COUNT(damaged)})

#endif
