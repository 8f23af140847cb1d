/* SPDX-License-Identifier: MIT
 * <hdf5.h>, the same for every libhdf5 from 1.10 to 1.14; no other file of the library includes it.
 *
 * 1.12 put opaque tokens in place of the addresses of objects, and gave H5O_info_t, H5L_info_t and H5Literate a second
 * version. The address is what a storage is called and what an object is opened by here, and files have nothing else;
 * so the first versions are asked for, by their macro, and not the tokens, which 1.10 does not know. */
#ifndef SP_READ_HDF5_LIBRARY_H
#define SP_READ_HDF5_LIBRARY_H

#define H5_USE_110_API 1
#include <hdf5.h>

/* The beginning of an H5FD_class_t. 1.14 wants to know which version of the structure is filled, and a number for the
 * driver beyond those that are given out; 1.10 has neither member, nor the macro that tells. */
#ifdef H5FD_CLASS_VERSION
#define SP_H5_DRIVER(title) .version = H5FD_CLASS_VERSION, .value = H5_VFD_MAX, .name = (title)
#else
#define SP_H5_DRIVER(title) .name = (title)
#endif

#endif
