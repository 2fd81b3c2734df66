/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <ftw.h>
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
#include "format/url.h"
#include "server/config.h"
#include "server/init.h"
#include "server/listen.h"

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

/* The site's boot.conf: two lines are given, reading them gives every default. */
static enum reason boot_text(const struct init_options *o, struct blob *ret)
{
	_cleanup_free_ struct boot_conf *b = calloc(1, sizeof(*b));
	const char *name = o->names[0];
	bool v6 = strchr(name, ':') != NULL;
	char host[300], head[1024], mirror[400];
	struct conf_error err = { 0 };

	if (!b)
		return R_INTERNAL_MEMORY;
	snprintf(host, sizeof(host), "%s%.280s%s", v6 ? "[" : "", name, v6 ? "]" : "");
	snprintf(mirror, sizeof(mirror), "http://%s:8080", host);
	int n = snprintf(head, sizeof(head), "server.url = https://%s:%s\nmirror.url = %s\n", host, o->port,
			 o->mirror ? o->mirror : mirror);
	enum reason r = (size_t)n < sizeof(head) ? boot_conf_read(bytes_str(head), b, &err) : R_CONF_VALUE;
	if (r != R_OK)
		return log_reason(r, "--mirror %s: not a mirror.url", o->mirror ? o->mirror : mirror);
	return boot_conf_write(b, ret);
}

/* All names go into the certificate; a gate comes by any of them, so each makes a URL. */
static enum reason names_check(const struct init_options *o)
{
	for (unsigned i = 0; i < o->name_count; i++) {
		const char *name = o->names[i];
		bool v6 = strchr(name, ':') != NULL;
		char url[LIMIT_URL];
		int n = snprintf(url, sizeof(url), "https://%s%s%s:%s", v6 ? "[" : "", name, v6 ? "]" : "", o->port);

		if ((size_t)n >= sizeof(url) || !url_valid(URL_SERVER, url))
			return log_reason(R_CONF_VALUE, "--name %s --port %s: no server.url can be made of them", name,
					  o->port);
	}
	return R_OK;
}

static enum reason server_text(const struct init_options *o, const char *release, struct blob *ret)
{
	static const char head[] = "# Settings of this server; bootgated.conf(5).\n";
	struct server_conf c;
	int n;

	server_conf_default(&c);
	if (o->listen)
		n = snprintf(c.listen_tls, sizeof(c.listen_tls), "%s", o->listen);
	else
		n = snprintf(c.listen_tls, sizeof(c.listen_tls), "0.0.0.0:%s", o->port);
	if ((size_t)n >= sizeof(c.listen_tls) || listen_check(c.listen_tls, false) != R_OK)
		return log_reason(R_CONF_VALUE, "%s %s: listen.tls is ADDRESS:PORT", o->listen ? "--listen" : "--port",
				  o->listen ? o->listen : o->port);
	if (strlen(release) >= sizeof(c.release_key_folder))
		return log_reason(R_CONF_VALUE, "%s: too long", release);
	memcpy(c.release_key_folder, release, strlen(release) + 1);
	TRY(blob_append(ret, head, sizeof(head) - 1));
	return log_reason(server_conf_write(&c, ret), "release.key-folder = %s", release);
}

/* A folder that is not there, or is there and empty. */
static enum reason new_folder(const char *path, bool *ret_made)
{
	_cleanup_(fd_names_free) struct fd_names names = { 0 };

	*ret_made = mkdir(path, 0755) == 0;
	if (*ret_made)
		return R_OK;
	if (errno != EEXIST)
		return log_reason_errno(R_FILE, "%s", path);
	enum reason r = fd_list(path, 1, &names);
	if (r == R_FILE)
		return log_reason_errno(r, "%s", path);
	if (r != R_OK || names.n > 0)
		return log_reason(R_STORE_EXISTS, "%s is not empty", path);
	return R_OK;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	if (at->level > 0 && remove(path) != 0)
		log_warn("%s: left behind: %s", path, strerror(errno));
	return 0;
}

/* As it was before: empty, or not there. */
static void undo(const char *path, bool made)
{
	char inside[SERVER_PATH_MAX];

	/* also where it is a link to a folder */
	if (server_path(path, ".", inside) == R_OK)
		(void)nftw(inside, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	if (made && rmdir(path) != 0)
		log_warn("%s: left behind: %s", path, strerror(errno));
}

static enum reason fill(const struct init_options *o, const char *release, struct bytes boot, struct bytes server)
{
	static const struct {
		const char *name;
		mode_t mode;
	} folders[] = { { "tls", 0700 }, { "keys", 0700 }, { "state", 0700 }, { "ek-ca", 0755 }, { "run", 0755 },
			{ "site", 0755 }, { "site/verdict-keys", 0755 }, { "site/release-keys", 0755 },
			{ "site/hooks", 0755 } };

	if (chmod(release, 0700) != 0)
		return log_reason_errno(R_FILE, "%s", release);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		TRY(folder(o->dir, folders[i].name, folders[i].mode));
	TRY(tls_files(o));
	TRY(key_files(o, release));
	TRY(file(o->dir, "site/boot.conf", boot, 0644));
	TRY(file(o->dir, "site/modules",
		 bytes_str("# More kernel modules for the gate, one a line, in loading order.\n"), 0644));
	return file(o->dir, "server.conf", server, 0644);
}

enum reason server_init(const struct init_options *o)
{
	_cleanup_(blob_free) struct blob boot = BLOB(LIMIT_CONF), server = BLOB(LIMIT_CONF);
	bool made_dir = false, made_release = false;
	char release[SERVER_PATH_MAX];
	int n = o->release_folder ? snprintf(release, sizeof(release), "%s", o->release_folder) :
				    snprintf(release, sizeof(release), "%s-release-key", o->dir);

	if (n < 0 || (size_t)n >= sizeof(release) || o->name_count == 0)
		return R_USAGE;
	/* What the operator wrote is looked at before anything is made. */
	TRY(crypto_init());
	TRY(names_check(o));
	TRY(boot_text(o, &boot));
	TRY(server_text(o, release, &server));
	TRY(new_folder(o->dir, &made_dir));
	enum reason r = new_folder(release, &made_release);
	if (r == R_OK) {
		r = fill(o, release, blob_bytes(&boot), blob_bytes(&server));
		if (r != R_OK)
			undo(release, made_release);
	}
	if (r != R_OK) {
		undo(o->dir, made_dir);
		return r;
	}
	printf("server folder: %s\n"
	       "site folder:   %s/site (for bootgate-mkimage)\n"
	       "release key:   %s/release-1.key\n"
	       "Move the release key to a machine that is not this one: whoever has it and the\n"
	       "server can boot anything. Put the certificates of your TPM vendors into %s/ek-ca.\n",
	       o->dir, o->dir, release, o->dir);
	return R_OK;
}
