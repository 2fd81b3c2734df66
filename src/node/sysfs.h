/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what the kernel shows below /sys, /proc and /dev. `root` is put in
 * front of every path: "" on a machine, a folder in tests.
 */
#ifndef BOOTGATE_NODE_SYSFS_H
#define BOOTGATE_NODE_SYSFS_H

#include "base/bytes.h"

#define SYSFS_PATH_MAX 512u

/* root and the formatted path: R_INTERNAL_TOO_LARGE. */
enum reason sysfs_path(char ret[SYSFS_PATH_MAX], const char *root, const char *format, ...)
	__attribute__((format(printf, 3, 4))) must_check;
/* The whole file, up to the blob's ceiling. R_FILE when it cannot be read. */
enum reason sysfs_read(const char *root, const char *path, struct blob *ret) must_check;
/* The first line without its newline; R_FORMAT_TOO_LARGE when ret is too small. */
enum reason sysfs_line(const char *root, const char *path, char *ret, size_t n) must_check;
/* Writes a short text into an existing file. */
enum reason sysfs_write(const char *root, const char *path, const char *text) must_check;

#endif
