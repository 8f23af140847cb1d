/* SPDX-License-Identifier: MIT
 * A public function that runs out of memory fails, and leaves everything as it was when it began. So does one that
 * exceeds its budget (base/budget.h).
 *
 * Each public function that allocates begins with SP_CALL. The outermost one of a thread lists what is acquired until
 * it returns: heap memory, and descriptors, streams, child processes and objects of other libraries that are "held".
 * When it returns, the list is dropped, and what it has returned is the caller's. If an allocation fails before that,
 * everything on the list is released, and execution continues at SP_CALL, which returns with the error.
 *
 * What was there before the call is old. Until the call returns, it is not freed: sp_free and sp_let_go put that off.
 * Bytes of old memory that the call changes are restored when it fails; who changes them says so before (sp_keep). So a
 * failed call has no effect at all on the objects that it was given.
 *
 * Other libraries must not be unwound, since they would leak. A function that they call back begins with SP_CALL_INNER,
 * so that it fails like a public function, and they see that. Callbacks of the host run between sp_call_pause and
 * sp_call_resume, so that public functions that they call fail by themselves. */
#ifndef SP_BASE_CALL_H
#define SP_BASE_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/budget.h"
#include "shapeproof/error.h"

#ifdef __wasi__ /* has no setjmp; there the command is the only program, which ends when memory runs out */
typedef int sp_call_entry;
#define SP_CALL_CAN_UNWIND false
#define SP_CALL_RETURNS_TWICE(entry) 0
#else
#include <setjmp.h>
typedef jmp_buf sp_call_entry;
#define SP_CALL_CAN_UNWIND true
#define SP_CALL_RETURNS_TWICE(entry) setjmp(entry)
#endif

/* Where execution continues after a failure, no variable is read: the warning is about those of the function. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

struct sp_block {
    void *at;
    size_t size;
};

struct sp_call {
    sp_call_entry entry;
    bool is_open;
    struct sp_call *outer;          /* that an inner one is in, or NULL */
    struct shapeproof_error *error; /* NULL: the function has none */
    unsigned fault_depth;           /* of base/fault.h, at the begin */
    const char *spender;            /* of the budget, at the begin */
    struct sp_block *blocks;        /* the heap memory that is new: a hash set with linear probing; NULL: free */
    size_t block_count, slot_count;
    struct sp_held *held;     /* what else is new, newest first */
    struct sp_held *spare;    /* of sp_prepare_to_hold */
    struct sp_held *retired;  /* old things to release when the call succeeds, newest first */
    struct sp_kept *kept;     /* bytes to restore when it fails, newest first */
    struct sp_budget *budget; /* `own`, or that of the outer call */
    struct sp_budget own;     /* of an outermost call alone */
};

/* The first statement of a public function that allocates, which returns `failed` when memory runs out. `error` is the
 * parameter of that name, or NULL. */
#define SP_CALL(error, failed) SP_CALL_BEGUN_BY(sp_call_begin, error, failed)
/* The same for a function that another library calls, and that may itself be called in a public function; and for one
 * that a public function goes on without when it fails. */
#define SP_CALL_INNER(error, failed) SP_CALL_BEGUN_BY(sp_call_begin_inner, error, failed)
#define SP_CALL_BEGUN_BY(begin, error, failed)                                                                         \
    __attribute__((cleanup(sp_call_end))) struct sp_call sp_call;                                                      \
    if (begin(&sp_call, error))                                                                                        \
        if (SP_CALL_RETURNS_TWICE(sp_call.entry)) return failed

/* Whether it is the outermost one, which can be returned to. */
bool sp_call_begin(struct sp_call *call, struct shapeproof_error *error);
/* Always true. */
bool sp_call_begin_inner(struct sp_call *call, struct shapeproof_error *error);
void sp_call_end(struct sp_call *call);

/* Undoes the call that is under way for want of memory, and continues where it began. Without a call it does nothing,
 * and returns. */
void sp_call_unwind(void);
/* The call exceeds its memory, as something that it tried out did not get enough: it fails with that error. Without a
 * call nothing happens. */
void sp_call_exceed(void);
/* In a child process: what is under way is the parent's affair. */
void sp_call_forget(void);
/* Around a callback of the host. */
struct sp_call *sp_call_pause(void);
void sp_call_resume(struct sp_call *call);

/* ---- memory ---- */

/* Never NULL: without memory the call is undone, or else the process ends (sp_out_of_memory). The memory of sp_zeroed
 * is zero. */
void *sp_zeroed(size_t size);
/* As realloc: the first `old_size` bytes stay. For old memory there is a new block, so who changes the pointer keeps
 * it. */
void *sp_resize(void *memory, size_t old_size, size_t size);
/* As free. */
void sp_free(void *memory);
/* The block counts as so many bytes of memory until it is freed, since it stands for memory that is not on the heap,
 * such as a file in memory. Lets the call fail when that is too much. Old blocks do not count. */
void sp_count_as(const void *memory, size_t size);
/* Whether heap memory was there before the call that is under way; false outside of calls. */
bool sp_is_old(const void *memory);
/* The bytes of old memory are restored when the call fails. `owner` is the heap block in which they lie, or one that is
 * not freed before them, such as the object of an arena. Nothing happens outside of calls, and for a new block. */
void sp_keep(const void *owner, void *bytes, size_t size);

/* ---- other things ---- */

/* The thing is released when the call fails, until sp_let_go. If there is no memory to note that, it is released at
 * once, and the call fails. */
void sp_hold(void *thing, void (*release)(void *thing));
/* Lets the next `count` things be held without memory. */
void sp_prepare_to_hold(size_t count);
/* Releases it; an old one when the call has succeeded. */
void sp_let_go(void *thing, void (*release)(void *thing));
/* Notes that it need not be released any more. */
void sp_let_be(const void *thing, void (*release)(void *thing));
/* The same for a descriptor; sp_hold_fd returns it, and takes -1 for none. */
int sp_hold_fd(int fd);
/* As close: false with errno when what was written may be lost. An old descriptor is closed later. */
bool sp_close(int fd);

#endif
