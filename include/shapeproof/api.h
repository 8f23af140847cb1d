/* SPDX-License-Identifier: MIT
 * Marks what the shared library exports; everything else is compiled hidden. */
#ifndef SHAPEPROOF_API_H
#define SHAPEPROOF_API_H

#if defined(__GNUC__)
#define SHAPEPROOF_API __attribute__((visibility("default")))
#else
#define SHAPEPROOF_API
#endif

#endif
