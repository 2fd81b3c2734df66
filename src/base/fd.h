/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and descriptors. Everything is opened close-on-exec. What a file
 * system says of a file's size is never believed: reading goes on to the end,
 * up to the ceiling of the blob it goes into (R_FORMAT_TOO_LARGE above it).
 *
 * R_FILE is for what has a path, R_INTERNAL_IO for bare descriptors; errno
 * then says why.
 */
#ifndef BOOTGATE_BASE_FD_H
#define BOOTGATE_BASE_FD_H

#include <sys/types.h>

#include "base/bytes.h"

/* Opens with `flags` (O_RDONLY, ...); never through a link at the path's end. */
enum reason fd_open(const char *path, int flags, int *ret) must_check;
/* A file that the operator named: links are followed. */
enum reason fd_open_named(const char *path, int flags, int *ret) must_check;

/* Appends everything up to the end of file to b. */
enum reason fd_read_all(int fd, struct blob *b) must_check;
enum reason fd_read_file(const char *path, struct blob *b) must_check;
enum reason fd_read_named(const char *path, struct blob *b) must_check;
/* All bytes, however many writes that takes. */
enum reason fd_write_full(int fd, struct bytes in) must_check;

/*
 * Puts a whole file into its place: after a power cut there is the old one or
 * the new one. Content and folder are synced before this returns. Mode 0600
 * is usual.
 */
enum reason fd_write_file(const char *path, struct bytes in, mode_t mode) must_check;
/* Same for a file that must not exist: errno EEXIST. */
enum reason fd_write_new(const char *path, struct bytes in, mode_t mode) must_check;
/* The same for a finished file of the same folder that somebody else wrote. */
enum reason fd_move_file(const char *from, const char *to) must_check;

/* An anonymous file in memory that can be sealed. */
enum reason fd_memfd(const char *name, int *ret) must_check;
/* From here on nobody can change it, this process included. */
enum reason fd_seal(int memfd) must_check;
bool fd_is_sealed(int memfd);

enum reason fd_set_nonblock(int fd, bool on) must_check;
/* Appoints /dev/null where one of 0, 1, 2 is closed. Once, first in main. */
enum reason fd_standard(void) must_check;

/* Names in a folder without those that begin with a dot, sorted. */
struct fd_names {
	char **v;
	size_t n;
};
/* R_FORMAT_TOO_LARGE for more than `max` names. */
enum reason fd_list(const char *folder, size_t max, struct fd_names *ret) must_check;
enum reason fd_list_at(int folder, size_t max, struct fd_names *ret) must_check;
/*
 * Paths of the files in a folder and all its sub-folders, each folder's sorted
 * and before its sub-folders'. A link counts as the file that it leads to, and
 * not at all when that is a folder. `max` bounds files and folders.
 */
enum reason fd_list_tree(const char *folder, size_t max, struct fd_names *ret) must_check;
void fd_names_free(struct fd_names *names);

#endif
