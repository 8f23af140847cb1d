/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "net/confine.h"

#include <netdb.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/process/child.h"
#include "base/system/system.h"

enum { CPU_SECONDS = 120, DESCRIPTORS = 256 };

void sp_confine_begin(int keep)
{
    sp_child_isolate(&keep, 1);
    signal(SIGPIPE, SIG_IGN);
}

/* The resolver loads code for what /etc/nsswitch.conf names when it is first asked; later nothing can be loaded. */
static void warm_resolver(void)
{
    struct addrinfo *found = NULL;
    if (getaddrinfo("localhost", "443", &(struct addrinfo){.ai_socktype = SOCK_STREAM}, &found) == 0)
        freeaddrinfo(found);
}

bool sp_confine_finish(void)
{
    struct sp_filter filter;
    warm_resolver();
    sp_child_make_filter(&filter, SP_CONFINED_TO_FETCHING, -1);
    return sp_child_limit(RLIMIT_CORE, 0, 0) && sp_child_limit(RLIMIT_FSIZE, 0, 0) &&
           sp_child_limit(RLIMIT_CPU, CPU_SECONDS, CPU_SECONDS) &&
           sp_child_limit(RLIMIT_NOFILE, DESCRIPTORS, DESCRIPTORS) && sp_system_confine(&filter);
}
