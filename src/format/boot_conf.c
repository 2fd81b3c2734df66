/* SPDX-License-Identifier: Apache-2.0 */
/* boot.conf: one table says for each key what it may be and where it goes. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/charset.h"
#include "format/conf.h"
#include "format/cose.h"
#include "format/url.h"

enum kind {
	KIND_SERVER,		/* URLs */
	KIND_MIRROR,
	KIND_METHOD,
	KIND_PREFIX,		/* address/length */
	KIND_ADDRESS,
	KIND_DEVICE,		/* tty... below /dev */
	KIND_TEXT,
	KIND_NUMBER,
	KIND_ACTION,
};

struct field {
	const char *name;
	enum kind kind;
	size_t offset;
	size_t size;		/* of the array, for texts */
	uint32_t min, max;	/* for numbers */
};

#define TEXT(name, kind, member)                                                    \
	{ name, kind, offsetof(struct boot_conf, member),                           \
	  sizeof(((struct boot_conf *)0)->member), 0, 0 }
#define NUMBER(name, member, min, max)                                              \
	{ name, KIND_NUMBER, offsetof(struct boot_conf, member), 0, min, max }
#define ACTION(name, member) { name, KIND_ACTION, offsetof(struct boot_conf, member), 0, 0, 0 }

static const struct field fields[] = {
	TEXT("server.url", KIND_SERVER, server_url),
	TEXT("mirror.url", KIND_MIRROR, mirror_url),
	TEXT("net.method", KIND_METHOD, net_method),
	TEXT("net.address", KIND_PREFIX, net_address),
	TEXT("net.gateway", KIND_ADDRESS, net_gateway),
	TEXT("net.dns", KIND_ADDRESS, net_dns),
	NUMBER("net.carrier-timeout", net_carrier_timeout, 1, 3600),
	TEXT("console.device", KIND_DEVICE, console_device),
	ACTION("fail.refused", fail_refused),
	ACTION("fail.broken", fail_broken),
	NUMBER("fail.delay", fail_delay, 1, 86400),
	TEXT("contact.text", KIND_TEXT, contact_text),
	NUMBER("release.threshold", release_threshold, 1, COSE_KEYS_MAX),
};
#define FLOOR_PREFIX "release.floor."

static const char *const actions[] = { "reboot", "poweroff", "wait" };

/* A terminal: the kernel gets it as a console, too, and the gate writes to it. */
static bool device_valid(const char *v)
{
	if (strncmp(v, "tty", 3) != 0)
		return false;
	for (; *v != '\0'; v++)
		if (!(*v >= 'a' && *v <= 'z') && !(*v >= 'A' && *v <= 'Z') &&
		    !(*v >= '0' && *v <= '9'))
			return false;
	return true;
}

static bool text_allowed(enum kind kind, const char *v)
{
	switch (kind) {
	case KIND_SERVER:
		return url_valid(URL_SERVER, v);
	case KIND_MIRROR:
		return url_valid(URL_MIRROR, v);
	case KIND_METHOD:
		return strcmp(v, "dhcp") == 0 || strcmp(v, "static") == 0;
	case KIND_PREFIX:
		return address_prefix_valid(v);
	case KIND_ADDRESS:
		return address_valid(v);
	case KIND_DEVICE:
		return device_valid(v);
	default:
		return true;
	}
}

static enum reason action_set(const char *value, enum fail_action *ret)
{
	for (unsigned i = 0; i < ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i], value) == 0) {
			*ret = (enum fail_action)i;
			return R_OK;
		}
	}
	return R_CONF_VALUE;
}

static enum reason number_set(const char *value, uint32_t min, uint32_t max, uint32_t *ret)
{
	uint64_t v;

	if (text_u64(bytes_str(value), max, &v) != R_OK || v < min)
		return R_CONF_VALUE;
	*ret = (uint32_t)v;
	return R_OK;
}

static enum reason field_set(void *ctx, const char *key, const char *value)
{
	const struct field *f = fields;
	char *at;

	/* conf_read calls this for keys of the table only. */
	while (strcmp(f->name, key) != 0)
		f++;
	at = (char *)ctx + f->offset;
	if (f->kind == KIND_NUMBER)
		return number_set(value, f->min, f->max, (uint32_t *)(void *)at);
	if (f->kind == KIND_ACTION)
		return action_set(value, (enum fail_action *)(void *)at);
	if (strlen(value) >= f->size || !text_allowed(f->kind, value))
		return R_CONF_VALUE;
	memcpy(at, value, strlen(value) + 1);
	return R_OK;
}

static enum reason floor_set(void *ctx, const char *key, const char *value)
{
	struct boot_conf *c = ctx;
	const char *line = key + strlen(FLOOR_PREFIX);
	struct site_floor f;

	if (c->floor_count == SITE_FLOORS_MAX || !charset_has(CHARSET_LABEL, bytes_str(line)))
		return R_CONF_VALUE;
	memset(&f, 0, sizeof f);
	memcpy(f.line, line, strlen(line));
	TRY(number_set(value, 0, UINT32_MAX, &f.security_version));
	c->floor[c->floor_count++] = f;
	return R_OK;
}

enum reason boot_conf_read(struct bytes in, struct boot_conf *ret, struct conf_error *err)
{
	struct conf_key keys[ARRAY_LEN(fields) + 1];
	struct boot_conf c = {
		.net_method = "dhcp",
		.net_carrier_timeout = 30,
		.fail_refused = FAIL_REBOOT,
		.fail_broken = FAIL_POWEROFF,
		.fail_delay = 60,
		.release_threshold = 1,
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		bool url = fields[i].kind == KIND_SERVER || fields[i].kind == KIND_MIRROR;
		keys[i] = (struct conf_key){ fields[i].name, url, field_set };
	}
	keys[ARRAY_LEN(fields)] = (struct conf_key){ FLOOR_PREFIX "*", false, floor_set };
	TRY(conf_read(in, keys, ARRAY_LEN(keys), &c, err));
	if (strcmp(c.net_method, "static") == 0 && c.net_address[0] == '\0') {
		*err = (struct conf_error){ 0, "net.address" };
		return R_CONF_MISSING;
	}
	*ret = c;
	return R_OK;
}

static enum reason number_write(struct blob *ret, const char *key, uint32_t v)
{
	char text[11];

	snprintf(text, sizeof text, "%u", v);
	return conf_write(ret, key, text);
}

static enum reason field_write(const struct boot_conf *c, const struct field *f, struct blob *ret)
{
	const char *at = (const char *)c + f->offset;
	enum fail_action action;
	uint32_t number;

	if (f->kind == KIND_NUMBER) {
		memcpy(&number, at, sizeof number);
		return number_write(ret, f->name, number);
	}
	if (f->kind == KIND_ACTION) {
		memcpy(&action, at, sizeof action);
		return action < ARRAY_LEN(actions) ? conf_write(ret, f->name, actions[action])
						   : R_CONF_VALUE;
	}
	return *at == '\0' ? R_OK : conf_write(ret, f->name, at);
}

/* Written whole or not at all, and only what boot_conf_read takes back. */
enum reason boot_conf_write(const struct boot_conf *c, struct blob *ret)
{
	_cleanup_(blob_free) struct blob text = BLOB(LIMIT_CONF);
	char key[sizeof(FLOOR_PREFIX) + sizeof c->floor[0].line];
	struct boot_conf again;
	struct conf_error err;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		TRY(field_write(c, &fields[i], &text));
	for (size_t i = 0; i < c->floor_count && i < SITE_FLOORS_MAX; i++) {
		snprintf(key, sizeof key, FLOOR_PREFIX "%s", c->floor[i].line);
		TRY(number_write(&text, key, c->floor[i].security_version));
	}
	TRY(boot_conf_read(blob_bytes(&text), &again, &err));
	return blob_append(ret, text.p, text.n);
}

bool boot_conf_floor(const struct boot_conf *c, const char *line, uint32_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < c->floor_count; i++) {
		if (strcmp(c->floor[i].line, line) != 0)
			continue;
		*ret = c->floor[i].security_version;
		return true;
	}
	return c->floor_count == 0;
}
