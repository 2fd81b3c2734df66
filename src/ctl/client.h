/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The admin API as a client, over the server's Unix socket: --socket PATH,
 * else BOOTGATE_SOCKET, else /run/bootgate/admin.sock.
 */
#ifndef BOOTGATE_CTL_CLIENT_H
#define BOOTGATE_CTL_CLIENT_H

#include <jansson.h>

#include "base/bytes.h"
#include "ctl/options.h"

/* Options that every command with a server takes; reading and changing ones. */
#define READ_OPTIONS { "socket", false, false }, { "json", true, false }
#define CHANGE_OPTIONS READ_OPTIONS, { "reason", false, false }, { "dry-run", true, false }

/*
 * Path below /v1/admin/, each part escaped: "node", "n1", "approve", NULL.
 * `query`: "boot=1" or NULL. R_OK and the answer, or the server's reason,
 * which was said on stderr with what to do.
 */
enum reason client_get(const struct options *o, const char *const *path, const char *query, json_t **ret) must_check;
/* `body` (may be NULL, is taken over) gets reason and dry_run of the options. */
enum reason client_post(const struct options *o, const char *const *path, json_t *body, json_t **ret) must_check;
#define CLIENT_PATH(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Adds "name=value" to a query; false for a value that no name at the server has. */
bool client_query(char *query, size_t n, const char *name, const char *value);

/* How a change is told: "is", with --dry-run "would be". */
const char *client_is(const struct options *o);
/* With --json: prints the answer and is true. */
bool client_json(const struct options *o, const json_t *answer);
void client_free(json_t **j);

/* Text member, "" where it is not there. */
const char *member_text(const json_t *j, const char *name);
long long member_number(const json_t *j, const char *name);
bool member_true(const json_t *j, const char *name);

/* ref_diff.c: prints how a variant differs from the nearest active one of its component. */
enum reason ctl_ref_against_active(const struct options *o, const char *id) must_check;
/* ref.c: posts what stages references (`body` is taken over) and prints which. */
enum reason ctl_ref_staged(const struct options *o, const char *const *path, json_t *body) must_check;

/*
 * Says reason, sentence and remedy on stderr; returns the exit code. Of R_FILE
 * the first is said already, see ctl.h.
 */
int ctl_refused(enum reason r, const char *about);

#endif
