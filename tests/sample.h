/* SPDX-License-Identifier: MIT
 * Of what is tried by the thousand, how much is tried: all of it, or under the address sanitizer, where it is slow, one
 * in SAMPLE. */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#ifdef __SANITIZE_ADDRESS__
enum { SAMPLE = 16 };
#else
enum { SAMPLE = 1 };
#endif

#endif
