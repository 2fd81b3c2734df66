/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's folder: what stands in it, and server.conf.
 *
 *	server.conf		settings
 *	state/			bootgate.db, the ledger's alone
 *	tls/			server.pem, server.key; ca.pem, ca.key (may leave)
 *	keys/			verdict.key, token.key
 *	ek-ca/			certificates of TPM vendors, PEM or DER
 *	site/			what goes into gate images
 *	run/			admin.sock, lock
 */
#ifndef BOOTGATE_SERVER_CONFIG_H
#define BOOTGATE_SERVER_CONFIG_H

#include "format/conf.h"

struct server_conf {
	char listen_tls[64];		/* address:port, "" for none */
	char listen_plain[64];		/* loopback address:port for a TLS proxy */
	uint32_t workers;
	uint32_t challenge_lifetime;	/* seconds */
	uint32_t pending_max;
	uint32_t pending_lifetime;	/* seconds until a node that nobody approved is forgotten */
	uint32_t per_address;		/* connections of one address at listen.tls */
	uint32_t admin_gid;		/* group that may use admin.sock beside root */
	/* user and group of each, when started as root; no two are equal */
	uint32_t run_uid;		/* fronts and workers */
	uint32_t ledger_uid;
	uint32_t signer_uid;
	char release_key_folder[LIMIT_URL];	/* warned about while it can be seen */
};

/* Numbers as they are where the file does not say; no sockets. */
void server_conf_default(struct server_conf *ret);
enum reason server_conf_read(struct bytes in, struct server_conf *ret, struct conf_error *err) must_check;
enum reason server_conf_write(const struct server_conf *c, struct blob *ret) must_check;

/* DIR/name into ret; R_FORMAT_TOO_LARGE when it does not fit. */
#define SERVER_PATH_MAX 1024u
enum reason server_path(const char *dir, const char *name, char ret[SERVER_PATH_MAX]) must_check;

#endif
