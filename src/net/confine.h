/* SPDX-License-Identifier: MIT
 * What the child process that talks to servers may still do: use sockets, read files of the system, compute. */
#ifndef SP_NET_CONFINE_H
#define SP_NET_CONFINE_H

#include <stdbool.h>

/* Of a child that was just forked: closes all that was the host's, but `keep`, and forgets its signal handlers. */
void sp_confine_begin(int keep);
/* Once the library is loaded: no other program, no file written, no file of the user's read, nothing of other
 * processes. Where the system cannot confine a process (sp_system_confines), only the limits hold: no file written. */
bool sp_confine_finish(void);

#endif
