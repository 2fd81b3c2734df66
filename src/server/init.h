/* SPDX-License-Identifier: Apache-2.0 */
/* `bootgated init`: a new server's folder with all its keys. */
#ifndef BOOTGATE_SERVER_INIT_H
#define BOOTGATE_SERVER_INIT_H

#include "base/reason.h"

#define INIT_NAMES_MAX 8u

struct init_options {
	const char *dir;
	const char *release_folder;	/* NULL: DIR-release-key beside it */
	const char *names[INIT_NAMES_MAX];	/* of the TLS certificate */
	unsigned name_count;
	const char *port;
	const char *mirror;		/* NULL: http://NAME:8080 */
	const char *listen;		/* NULL: 0.0.0.0:PORT */
};

/*
 * Makes nothing over anything: R_STORE_EXISTS when DIR is there and not empty.
 * What fails leaves nothing behind.
 */
enum reason server_init(const struct init_options *o) must_check;

#endif
