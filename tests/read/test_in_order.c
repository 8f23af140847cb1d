/* SPDX-License-Identifier: MIT
 * Bytes that can only be had from the first to the last: how often they are had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "read/in_order.h"

/* Byte n of tensor t is 10 t + n. */
struct counting {
    struct sp_stream stream; /* first */
    size_t tensor, begun, ended;
    uint64_t position;
};

static bool begin_counting(struct sp_stream *stream, size_t tensor, const char **obstacle,
                           struct shapeproof_error *error)
{
    struct counting *counting = (struct counting *)stream;
    counting->begun++;
    counting->tensor = tensor;
    counting->position = 0;
    if (tensor == 2) *obstacle = "no";
    return tensor != 3 || sp_malformed(error, "broken");
}

static bool next_counting(struct sp_stream *stream, void *into, size_t length, struct shapeproof_error *error)
{
    struct counting *counting = (struct counting *)stream;
    (void)error;
    for (size_t i = 0; i < length; i++)
        ((unsigned char *)into)[i] = (unsigned char)(counting->tensor * 10 + counting->position++);
    return true;
}

static void end_counting(struct sp_stream *stream) { ((struct counting *)stream)->ended++; }
static void close_counting(void *owner) { ++*(size_t *)owner; }

/* A source of four tensors and two streams. */
struct fixture {
    struct shapeproof_tensor tensors[4];
    struct shapeproof_inventory inventory;
    struct sp_data_place items[4];
    struct sp_data_places places;
    struct counting counting[SP_STREAMS];
    struct sp_data_source *source;
    size_t closed;
    struct shapeproof_error error;
};

static void make_source(struct fixture *f)
{
    const bool is_own[] = {true, true, true, true};
    struct sp_stream *streams[SP_STREAMS];
    *f = (struct fixture){.tensors = {{.bytes = 100}, {.bytes = SP_KEPT_BYTES + 1}, {.bytes = 1}, {.bytes = 1}},
                          .inventory = {.count = 4}};
    f->inventory.tensors = f->tensors;
    f->places = (struct sp_data_places){.inventory = &f->inventory, .items = f->items};
    for (size_t i = 0; i < SP_STREAMS; i++) {
        f->counting[i] =
            (struct counting){.stream = {.begin = begin_counting, .next = next_counting, .end = end_counting}};
        streams[i] = &f->counting[i].stream;
    }
    sp_in_order_add(&f->places, streams, is_own, &f->closed, close_counting);
    f->source = f->places.sources.items[0];
}

static size_t begun(const struct fixture *f)
{
    size_t sum = 0;
    for (size_t i = 0; i < SP_STREAMS; i++) sum += f->counting[i].begun;
    return sum;
}

static void close_source(struct fixture *f)
{
    f->source->close(f->source);
    free(f->places.sources.items);
    assert_int_equal(f->closed, 1);
    size_t ended = 0;
    for (size_t i = 0; i < SP_STREAMS; i++) ended += f->counting[i].ended;
    assert_int_equal(ended, begun(f));
}

static void expect_read(struct fixture *f, size_t tensor, uint64_t offset)
{
    unsigned char bytes[4];
    assert_true(f->source->read(f->source, tensor, offset, bytes, sizeof bytes, &f->error));
    for (size_t i = 0; i < sizeof bytes; i++) assert_int_equal(bytes[i], tensor * 10 + offset + i);
}

/* A small tensor in any order; a large one from its first byte again when an earlier one is asked for. */
static void begun_once(void **state)
{
    struct fixture f;
    (void)state;
    make_source(&f);
    assert_true(!f.items[0].in_order && f.items[1].in_order);
    assert_null(f.source->obstacle(f.source, 0));
    expect_read(&f, 0, 50);
    uint64_t read = 0;
    for (size_t i = 0; i < SP_STREAMS; i++) read += f.counting[i].position;
    assert_int_equal(read, 54); /* no further than was asked for */
    expect_read(&f, 0, 10);
    expect_read(&f, 0, 52);
    assert_int_equal(begun(&f), 1);
    expect_read(&f, 1, 5);
    expect_read(&f, 1, 20);
    assert_int_equal(begun(&f), 2);
    expect_read(&f, 1, 0);
    assert_int_equal(begun(&f), 3);
    close_source(&f);
}

/* Two tensors of one file by turns. */
static void two_at_once(void **state)
{
    struct fixture f;
    (void)state;
    make_source(&f);
    for (uint64_t i = 0; i < 10; i++) {
        expect_read(&f, 0, 4 * i);
        expect_read(&f, 1, 4 * i);
    }
    assert_int_equal(begun(&f), 2);
    close_source(&f);
}

/* An obstacle is looked for once; an error is none. */
static void cannot_be_had(void **state)
{
    struct fixture f;
    unsigned char byte;
    (void)state;
    make_source(&f);
    assert_string_equal(f.source->obstacle(f.source, 2), "no");
    assert_string_equal(f.source->obstacle(f.source, 2), "no");
    assert_int_equal(begun(&f), 1);
    assert_null(f.source->obstacle(f.source, 3));
    assert_false(f.source->read(f.source, 3, 0, &byte, 1, &f.error));
    assert_string_equal(f.error.message, "broken");
    close_source(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(begun_once), cmocka_unit_test(two_at_once),
                                       cmocka_unit_test(cannot_be_had)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
