/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "crypto/aead.h"
#include "crypto/init.h"
#include "crypto/issue.h"
#include "crypto/random.h"
#include "server/config.h"
#include "server/init.h"

#define CA_DAYS 7300u
#define SERVER_DAYS 3650u

static enum reason folder(const char *dir, const char *name, mode_t mode)
{
	char path[SERVER_PATH_MAX];

	TRY(server_path(dir, name, path));
	if (mkdir(path, mode) != 0)
		return log_reason_errno(R_FILE, "%s", path);
	return R_OK;
}

static enum reason file(const char *dir, const char *name, struct bytes content, mode_t mode)
{
	char path[SERVER_PATH_MAX];

	TRY(server_path(dir, name, path));
	enum reason r = fd_write_new(path, content, mode);
	return r == R_OK ? R_OK : log_reason_errno(r, "%s", path);
}

static enum reason private_file(const char *dir, const char *name, const struct private_key *key)
{
	_cleanup_(blob_free) struct blob pem = BLOB(8192);

	TRY(private_key_to_pem(key, &pem));
	return file(dir, name, blob_bytes(&pem), 0600);
}

static enum reason public_file(const char *dir, const char *name, const struct private_key *key)
{
	_cleanup_(blob_free) struct blob pem = BLOB(8192);

	TRY(private_key_public_pem(key, &pem));
	return file(dir, name, blob_bytes(&pem), 0644);
}

static enum reason tls_files(const struct init_options *o)
{
	_cleanup_(private_key_free) struct private_key *ca = NULL, *server = NULL;
	_cleanup_(blob_free) struct blob ca_pem = BLOB(16384), server_pem = BLOB(16384);

	TRY(private_key_make(&ca));
	TRY(private_key_make(&server));
	TRY(issue_ca(ca, "Bootgate site CA", CA_DAYS, &ca_pem));
	TRY(issue_server(ca, blob_bytes(&ca_pem), server, o->names, o->name_count, SERVER_DAYS, &server_pem));
	TRY(private_file(o->dir, "tls/ca.key", ca));
	TRY(file(o->dir, "tls/ca.pem", blob_bytes(&ca_pem), 0644));
	TRY(private_file(o->dir, "tls/server.key", server));
	TRY(file(o->dir, "tls/server.pem", blob_bytes(&server_pem), 0644));
	return file(o->dir, "site/server-ca.pem", blob_bytes(&ca_pem), 0644);
}

static enum reason key_files(const struct init_options *o, const char *release)
{
	_cleanup_(private_key_free) struct private_key *verdict = NULL, *release_key = NULL;
	uint8_t token[AEAD_KEY_LEN];

	TRY(private_key_make(&verdict));
	TRY(private_file(o->dir, "keys/verdict.key", verdict));
	TRY(public_file(o->dir, "site/verdict-keys/verdict-1.pem", verdict));
	TRY(random_bytes(token, sizeof(token)));
	enum reason r = file(o->dir, "keys/token.key", BYTES(token), 0600);
	wipe(token, sizeof(token));
	TRY(r);
	TRY(private_key_make(&release_key));
	TRY(private_file(release, "release-1.key", release_key));
	TRY(public_file(release, "release-1.pem", release_key));
	return public_file(o->dir, "site/release-keys/release-1.pem", release_key);
}

static enum reason conf_files(const struct init_options *o, const char *release)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_CONF), boot = BLOB(LIMIT_CONF);
	_cleanup_free_ struct boot_conf *b = calloc(1, sizeof(*b));
	struct server_conf c;
	const char *name = o->names[0];
	bool v6 = strchr(name, ':') != NULL;
	char head[512];
	struct conf_error err;

	server_conf_default(&c);
	if (!b)
		return R_INTERNAL_MEMORY;
	/* Reading two lines gives every default. */
	int n = snprintf(head, sizeof(head), "server.url = https://%s%s%s:%s\nmirror.url = ", v6 ? "[" : "", name,
			 v6 ? "]" : "", o->port);
	if (o->mirror)
		n += snprintf(head + n, sizeof(head) - (size_t)n, "%s\n", o->mirror);
	else
		n += snprintf(head + n, sizeof(head) - (size_t)n, "http://%s%s%s:8080\n", v6 ? "[" : "", name,
			      v6 ? "]" : "");
	if (n < 0 || (size_t)n >= sizeof(head))
		return R_CONF_VALUE;
	enum reason r = boot_conf_read(bytes_str(head), b, &err);
	if (r != R_OK)
		return log_reason(r, "%s", err.key);
	TRY(boot_conf_write(b, &boot));
	TRY(file(o->dir, "site/boot.conf", blob_bytes(&boot), 0644));
	TRY(file(o->dir, "site/modules",
		 bytes_str("# More kernel modules for the gate, one a line, in loading order.\n"), 0644));

	if (o->listen)
		snprintf(c.listen_tls, sizeof(c.listen_tls), "%s", o->listen);
	else
		snprintf(c.listen_tls, sizeof(c.listen_tls), "0.0.0.0:%s", o->port);
	if (strlen(release) >= sizeof(c.release_key_folder))
		return R_CONF_VALUE;
	memcpy(c.release_key_folder, release, strlen(release) + 1);
	TRY(blob_append(&text, "# Settings of this server; bootgated.conf(5).\n", 46));
	TRY(server_conf_write(&c, &text));
	return file(o->dir, "server.conf", blob_bytes(&text), 0644);
}

/* A folder that is not there, or is there and empty. */
static enum reason new_folder(const char *path)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };

	if (mkdir(path, 0755) == 0)
		return R_OK;
	if (errno != EEXIST)
		return log_reason_errno(R_FILE, "%s", path);
	enum reason r = fd_list(path, 1, &names);
	if (r != R_OK || names.n > 0)
		return log_reason(R_STORE_EXISTS, "%s is not empty", path);
	return R_OK;
}

enum reason server_init(const struct init_options *o)
{
	static const struct {
		const char *name;
		mode_t mode;
	} folders[] = { { "tls", 0700 }, { "keys", 0700 }, { "state", 0700 }, { "ek-ca", 0755 }, { "run", 0755 },
			{ "site", 0755 }, { "site/verdict-keys", 0755 }, { "site/release-keys", 0755 },
			{ "site/hooks", 0755 } };
	char release[SERVER_PATH_MAX];
	int n = o->release_folder ? snprintf(release, sizeof(release), "%s", o->release_folder) :
				    snprintf(release, sizeof(release), "%s-release-key", o->dir);

	if (n < 0 || (size_t)n >= sizeof(release) || o->name_count == 0)
		return R_USAGE;
	TRY(crypto_init());
	TRY(new_folder(o->dir));
	TRY(new_folder(release));
	if (chmod(release, 0700) != 0)
		return log_reason_errno(R_FILE, "%s", release);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		TRY(folder(o->dir, folders[i].name, folders[i].mode));
	TRY(tls_files(o));
	TRY(key_files(o, release));
	TRY(conf_files(o, release));
	printf("server folder: %s\n"
	       "site folder:   %s/site (for bootgate-mkimage)\n"
	       "release key:   %s/release-1.key\n"
	       "Move the release key to a machine that is not this one: whoever has it and the\n"
	       "server can boot anything. Put the certificates of your TPM vendors into %s/ek-ca.\n",
	       o->dir, o->dir, release, o->dir);
	return R_OK;
}
