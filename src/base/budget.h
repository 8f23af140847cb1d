/* SPDX-License-Identifier: MIT
 * The budget of a call: what the public function that is under way in this thread may use. base/call.c spends memory
 * from it with each block of the heap, and so with each arena; loops that a file can make long spend steps
 * (sp_budget_spend). The defaults grow with what the call reads:
 *
 *     memory    SP_BUDGET_MEMORY + SP_BUDGET_FACTOR x bytes read, at most the sizes of the files that were opened
 *     steps     SP_BUDGET_ALL_STEPS + SP_BUDGET_STEPS_FACTOR x the same
 *     output    SP_BUDGET_OUTPUT + SP_BUDGET_FACTOR x the same, of what goes out while the call works
 *     time      none
 *
 * A call that exceeds it is unwound as one that runs out of memory is (base/call.h). Code that can say more, such as
 * the line of a table, or can do without, such as a proof, asks sp_budget_is_short first. */
#ifndef SP_BASE_BUDGET_H
#define SP_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/limits.h"

/* The floor of memory is four times what proving all built-in claims takes. A tensor takes 30 bytes or more in a file,
 * and `check` holds some 500 bytes for it: the factor is four times that. No search of the tests takes more steps than
 * 191 million, and all but one less than 31 million; with a file, less than 300 for each byte. A tensor is some 100
 * bytes of text, or 350 of JSON; the floor of output is for a long name, with which the others are aligned. */
enum {
    SP_BUDGET_MEMORY = 256 << 20,       /* bytes */
    SP_BUDGET_OUTPUT = 16 << 20,        /* bytes */
    SP_BUDGET_FACTOR = 64,              /* bytes for each byte that is read */
    SP_BUDGET_STEPS = 64 * 1000 * 1000, /* of a prediction: evaluations, rows and iterations */
    SP_BUDGET_PREDICTIONS = 8,          /* as long as one may be; some 10 s */
    SP_BUDGET_INFLATED = 8,             /* bytes that are inflated in a step */
    SP_BUDGET_ALL_STEPS = SP_BUDGET_PREDICTIONS * SP_BUDGET_STEPS, /* of all that a call does */
    SP_BUDGET_STEPS_FACTOR = 4096                                  /* steps for each byte that is read */
};

/* Inventories, sets of tables and configurations that a call works on: a diff has two, and learning has its examples,
 * each with a configuration. */
enum { SP_BUDGET_OBJECTS = 256 };

/* Of the call that is under way; in base/call.h. */
struct sp_budget {
    struct shapeproof_limits limits; /* of the thread when the call began */
    size_t used;                     /* bytes of memory that are held */
    uint64_t opened, read;           /* sizes of the files that were opened, and what was read of them; in bytes */
    uint64_t reused;                 /* input of earlier calls, in bytes */
    uint64_t steps, output;          /* that were taken; bytes that went out */
    uint64_t part_end, part_steps;   /* of a part of the call: the steps that it ends at, and has; 0: of none */
    int64_t begin, paused;           /* of sp_clock_ms; 0 if time is not limited */
    enum sp_budget_kind { SP_BUDGET_OF_MEMORY, SP_BUDGET_OF_STEPS, SP_BUDGET_OF_OUTPUT, SP_BUDGET_OF_TIME } exceeded;
    size_t memory_refusals, step_refusals;  /* how often less was done, for want of memory or of steps */
    const void *objects[SP_BUDGET_OBJECTS]; /* that `reused` counts */
    size_t object_count;
    const char *exceeding_part; /* what has taken its part of the steps, until that is described; or NULL */
    const char *spender;        /* what is under way; NULL: nothing that has a name */
    char file[256];             /* path of the first file; "": none */
};

/* The budget of a call that begins. */
struct sp_budget sp_budget_new(void);
/* Makes it the budget of this thread; NULL: no call is under way, and nothing is counted. */
void sp_budget_use(struct sp_budget *budget);

/* A file was opened: its path, for the message, and its size. */
void sp_budget_open(const char *path, uint64_t size);
/* So many bytes of opened files were read, or are read next into memory that is allocated now. They may count twice:
 * the sizes of the files bound the sum. */
void sp_budget_read(uint64_t length);
/* The caller gives so many bytes of text, such as a table: they are input. */
void sp_budget_given(uint64_t length);
/* The call works on an inventory, a set of tables or a configuration: what was read to make it is input of this call,
 * too; once, however many of the public functions in it say so. Beyond SP_BUDGET_OBJECTS it counts each time. A path of
 * "" names no file. */
#define SP_BUDGET_REUSE(inventory)                                                                                     \
    sp_budget_reuse(inventory, shapeproof_inventory_path(inventory), shapeproof_inventory_bytes_read(inventory))
void sp_budget_reuse(const void *object, const char *path, uint64_t input);
/* The bytes that count as input by now. */
uint64_t sp_budget_input(void);

/* Spends steps, each of some 5 to 20 ns: an evaluation, a term, a comparison. Lets the call fail if it has taken too
 * many of them, or too much time; that is looked at every 4,096 steps. */
void sp_budget_spend(uint64_t steps);
/* Lets the call fail because something has taken its part of the steps: "matching patterns of modules", a static text.
 * Each of these may take longer than a step. */
void sp_budget_exceed_part(const char *what);
/* Lets the call fail if its time is over: for loops that wait. */
void sp_budget_check_time(void);
/* Until sp_budget_end_part, what is done may take one of so many shares of the steps that are left to the call. For
 * what is done in an inner call (base/call.h), and that the outer one goes on without. */
void sp_budget_begin_part(uint64_t shares);
void sp_budget_end_part(void);
/* Whether the steps that are left are too few for a trial, which may take those of two predictions; likewise counted as
 * a refusal (sp_budget_step_refusals). */
bool sp_budget_lacks_trial(void);
/* Whether the call has taken more than so many steps, which is counted as a refusal, too. */
bool sp_budget_is_past(uint64_t steps);
/* The steps that the call has taken: who tries out many things bounds what each of them takes. */
uint64_t sp_budget_steps_taken(void);
/* Bytes that go out next, before the call ends. Lets it fail if they are too many. */
void sp_budget_write(uint64_t length);

/* The limits, in bytes and steps; the steps are those of one prediction. */
uint64_t sp_budget_memory(void);
uint64_t sp_budget_steps(void);
/* The limit of tensors that the host has set; 0: none. */
uint64_t sp_budget_tensors(void);
/* Whether less than an eighth of the memory is left; the caller then does less, which is counted. */
bool sp_budget_is_short(void);
/* Whether the call can not take so many bytes of memory more; likewise. */
bool sp_budget_lacks_memory(uint64_t size);
/* Whether so many steps of one prediction are too many; likewise. */
bool sp_budget_lacks_steps(uint64_t steps);
/* How often that was so in the call that is under way. What tries things out and passes over those that fail must not
 * take such a failure for an answer. */
size_t sp_budget_memory_refusals(void);
size_t sp_budget_step_refusals(void);
/* What the call, or an inner call of it, has had too little of. */
enum sp_budget_kind sp_budget_exceeded(void);
/* "256 MiB", of the limit of memory; for messages. */
struct sp_budget_text {
    char text[32];
};
struct sp_budget_text sp_budget_memory_text(void);

/* Names what the function does, for the message, until the block ends: SP_SPENDS("searching for a table"). Static. */
#define SP_SPENDS(what)                                                                                                \
    __attribute__((cleanup(sp_budget_leave), unused)) const char *sp_outer_spender = sp_budget_enter(what)
const char *sp_budget_enter(const char *what);
void sp_budget_leave(const char *const *outer);

/* ---- for base/call.c ---- */

/* Takes bytes of memory; false when they exceed the limit, and then they are not taken. */
bool sp_budget_take(size_t size);
void sp_budget_give(size_t size);
/* Around a callback of the host, whose time does not count. */
void sp_budget_pause(struct sp_budget *budget);
void sp_budget_resume(struct sp_budget *budget);
/* Whether the time of the call is over; it is looked at now and then. */
bool sp_budget_is_late(void);
/* Fills the error of a call that exceeds its budget. */
void sp_budget_describe(struct shapeproof_error *error);

#endif
