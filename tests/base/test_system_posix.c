/* SPDX-License-Identifier: MIT
 * The tests of test_system.c with posix.c, which this program is compiled with: so the linker takes the other file from
 * no library, and all of the library here is that of `make PORTABLE=yes`. */
#include "base/system/posix.c"
#include "base/test_system.c"
