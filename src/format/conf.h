/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one grammar of files written by hand: `key = value` lines, keys
 * `area.name`. A line whose first character is `#` is a comment (inside a
 * value `#` is an ordinary character), empty lines are skipped. Unknown and
 * repeated keys are errors with their line number. Values: printable ASCII,
 * blanks at both ends cut.
 */
#ifndef BOOTGATE_FORMAT_CONF_H
#define BOOTGATE_FORMAT_CONF_H

#include "base/bytes.h"
#include "base/limits.h"

#define CONF_VALUE_MAX LIMIT_URL	/* with NUL */

struct conf_error {
	unsigned line;			/* from 1; 0: the file as a whole */
	char key[64];
};

/* One key that a program knows. `name` ending in ".*" takes any last part. */
struct conf_key {
	const char *name;
	bool required;
	/* Stores the value; a reason other than R_OK is reported with the line. */
	enum reason (*set)(void *ctx, const char *key, const char *value);
};

/* "line 3: listen.tls", "listen.tls" or "line 3": what is known of it. */
#define CONF_WHERE_MAX 96u
void conf_where(const struct conf_error *err, char ret[CONF_WHERE_MAX]);

enum reason conf_read(struct bytes in, const struct conf_key *keys, size_t count,
		      void *ctx, struct conf_error *err) must_check;
/* Appends one `key = value` line; R_CONF_VALUE for what could not be read back. */
enum reason conf_write(struct blob *ret, const char *key, const char *value) must_check;

/* boot.conf of a site folder. */
#define SITE_FLOORS_MAX 8u
enum fail_action { FAIL_REBOOT, FAIL_POWEROFF, FAIL_WAIT };
struct site_floor {
	char line[64];
	uint32_t security_version;
};
struct boot_conf {
	char server_url[LIMIT_URL];	/* https://host[:port] */
	char mirror_url[LIMIT_URL];	/* http or https */
	char net_method[16];		/* dhcp, static */
	char net_address[64], net_gateway[64], net_dns[64];
	uint32_t net_carrier_timeout;	/* seconds */
	char console_device[64];	/* one more console, "" for none */
	enum fail_action fail_refused, fail_broken;
	uint32_t fail_delay;		/* seconds before a reset, at least */
	char contact_text[200];
	uint32_t release_threshold;
	size_t floor_count;
	struct site_floor floor[SITE_FLOORS_MAX];
};
/* Defaults for all but server.url and mirror.url. */
enum reason boot_conf_read(struct bytes in, struct boot_conf *ret, struct conf_error *err) must_check;
enum reason boot_conf_write(const struct boot_conf *c, struct blob *ret) must_check;
/*
 * Least security version of a line; 0 for all where the site names none.
 * False: other lines have one and this has not, so it would be a way around.
 */
bool boot_conf_floor(const struct boot_conf *c, const char *line, uint32_t *ret) must_check;

#endif
