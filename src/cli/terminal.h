/* SPDX-License-Identifier: MIT
 * A browser on a terminal, by ncurses. A command that was built with BROWSE=no has none. */
#ifndef SP_CLI_TERMINAL_H
#define SP_CLI_TERMINAL_H

#include "browse/browser.h"

/* Whether there is a terminal that can show a browser; otherwise complains, and returns the exit status. */
int cli_find_terminal(void);
/* Shows the browser until the user leaves it. Whatever ends it, a signal or an abort included, the terminal is as it
 * was before. Returns the exit status. */
int cli_run_browser(struct sp_browser *browser, bool color);
/* Makes the terminal as it was, without ncurses, if a browser is on it: the command ends at once. */
void cli_leave_screen(void);

#endif
