/* SPDX-License-Identifier: MIT
 * What drive.c asks of inject.c, in memory that both share. */
#ifndef TESTS_FAULTS_PLAN_H
#define TESTS_FAULTS_PLAN_H

#include <stdatomic.h>

enum { LONGEST_CALL = 16 };

enum fault {
    FAULT_MEMORY,
    FAULT_READ,
    FAULT_STAT,
    FAULT_OPEN,
    FAULT_FORK,
    FAULT_PIPE,
    FAULT_POLL,
    FAULT_WAIT,
    FAULT_WRITE,
    FAULTS
};

struct plan {
    int fault;               /* an enum fault */
    int error;               /* the errno of the call that fails */
    unsigned at;             /* which call fails, from 1; 0: none */
    atomic_uint calls;       /* how many there were */
    atomic_uint fired;       /* whether one has failed */
    char call[LONGEST_CALL]; /* its name: "openat" */
};

/* The variable that has the descriptor of the plan. */
#define PLAN_FD "SHAPEPROOF_FAULT_PLAN"

#endif
