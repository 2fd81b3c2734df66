/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves a machine as checks see it: whatever one of them reads is written
 * below a folder, which then is a recorded machine (access.h). There is no
 * list of sources to forget one on.
 */
#ifndef BOOTGATE_CHECK_RECORD_H
#define BOOTGATE_CHECK_RECORD_H

#include "check/access.h"

struct record {
	struct source to;
	bool anonymous;
	enum reason failed;	/* the first that could not be written */
};

/*
 * Makes the folder: R_FILE when it is there already. Anonymous: serial
 * numbers, UUIDs and MAC addresses are overwritten, and what is full of them
 * in a form that cannot be changed (the TPM's event log) is left out.
 */
enum reason record_open(const char *folder, bool anonymous, struct record *ret) must_check;
/* What became of it. */
enum reason record_close(struct record *r) must_check;

void record_file(struct record *r, const char *path, struct bytes content);
void record_folder(struct record *r, const struct source *from, const char *path,
		   const struct fd_names *names);
void record_exists(struct record *r, const char *path, bool folder);
/* A line of a file of registers; one that is there already stays. */
void record_register(struct record *r, const char *path, const char *line);

/* Overwrites what tells this machine from its equals; false: leave it out. */
bool record_hide(const char *path, struct blob *content);

#endif
