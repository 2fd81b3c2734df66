/* SPDX-License-Identifier: Apache-2.0 */
#include "format/manifest.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "format/cbor.h"
#include "format/url.h"

/* Of the payload's layout, apart from the protocol's. */
#define MANIFEST_FORMAT 1u
#define HOST_MAX 253u

static const struct manifest_parameter *parameter_find(const struct manifest *m, struct bytes name)
{
	for (size_t i = 0; i < m->parameter_count; i++)
		if (bytes_equal(bytes_str(m->parameter[i].name), name))
			return &m->parameter[i];
	return NULL;
}

/*
 * Text up to the next `%{name}`, and the name; *ret_found is false where only
 * text is left. A `%` that begins no name is refused.
 */
static enum reason template_next(struct cursor *c, struct bytes *ret_text, struct bytes *ret_name,
				 bool *ret_found)
{
	const uint8_t *percent = c->n > 0 ? memchr(c->p, '%', c->n) : NULL;
	const uint8_t *close;
	struct bytes skipped;

	*ret_found = percent != NULL;
	*ret_name = BYTES_NONE;
	if (percent == NULL)
		return cursor_take(c, c->n, ret_text);
	TRY(cursor_take(c, (size_t)(percent - c->p), ret_text));
	close = memchr(c->p, '}', c->n);
	if (c->n < 2 || c->p[1] != '{' || close == NULL)
		return R_MANIFEST_TEMPLATE;
	TRY(cursor_take(c, 2, &skipped));
	TRY(cursor_take(c, (size_t)(close - c->p), ret_name));
	return cursor_take(c, 1, &skipped);
}

/* A value never begins a parameter, so it follows a visible character. */
static bool place_allowed(struct bytes text, bool after_value)
{
	return text.n == 0 ? after_value : text.p[text.n - 1] != ' ';
}

/* Every place names a declared parameter; every declared one has a place. */
static enum reason template_check(const struct manifest *m)
{
	struct cursor c = cursor_of(bytes_str(m->cmdline));
	bool used[MANIFEST_PARAMETERS_MAX] = { false };
	bool after_value = false, found;

	for (;;) {
		const struct manifest_parameter *p;
		struct bytes text, name;

		TRY(template_next(&c, &text, &name, &found));
		if (!found)
			break;
		p = parameter_find(m, name);
		if (p == NULL || !place_allowed(text, after_value))
			return R_MANIFEST_TEMPLATE;
		used[p - m->parameter] = true;
		after_value = true;
	}
	for (size_t i = 0; i < m->parameter_count; i++)
		if (!used[i])
			return R_MANIFEST_TEMPLATE;
	return R_OK;
}

/* What a bound may be; an address has none. */
static bool bound_allowed(const struct manifest_parameter *p)
{
	switch (p->type) {
	case PARAMETER_HEX:
		return p->bound >= 1 && p->bound <= 128;
	case PARAMETER_ADDRESS:
		return p->bound == 0;
	case PARAMETER_HOST:
		return p->bound >= 1 && p->bound <= HOST_MAX;
	case PARAMETER_NUMBER:
		return true;
	default:
		return false;
	}
}

/* What must hold beyond each member's own bounds, for reader and writer. */
static enum reason consistent(const struct manifest *m)
{
	for (size_t i = 0; i < m->parameter_count; i++)
		if (!bound_allowed(&m->parameter[i]))
			return R_FORMAT_RANGE;
	for (size_t i = 0; i < m->cvm_count; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(m->cvm[i].name, m->cvm[j].name) == 0)
				return R_FORMAT_DUPLICATE;
	return template_check(m);
}

/* [size, sha256] */
static enum reason artifact_read(struct cursor *c, struct artifact *ret)
{
	size_t pair;

	TRY(cbor_array(c, 2, 2, &pair));
	TRY(cbor_uint(c, 1, LIMIT_ARTIFACT, &ret->size));
	return cbor_copy(c, ret->sha256, SHA256_LEN);
}

static void artifact_write(struct cbor_writer *w, const struct artifact *a)
{
	cbor_put_array(w, 2, 2, 2);
	cbor_put_uint(w, 1, LIMIT_ARTIFACT, a->size);
	cbor_put_copy(w, a->sha256, SHA256_LEN);
}

/* {* name => [type, bound]} */
static enum reason parameters_read(struct cursor *c, struct manifest *ret)
{
	struct cbor_map map;
	uint32_t type;
	size_t pair;

	TRY(cbor_map_begin(c, &map));
	if (map.left > MANIFEST_PARAMETERS_MAX)
		return R_FORMAT_RANGE;
	while (map.left > 0) {
		struct manifest_parameter *p = &ret->parameter[ret->parameter_count++];

		TRY(cbor_key_text(&map, 1, sizeof p->name, CHARSET_LABEL, p->name));
		TRY(cbor_array(c, 2, 2, &pair));
		TRY(cbor_u32(c, 0, PARAMETER_TYPE_MAX - 1, &type));
		p->type = (enum parameter_type)type;
		TRY(cbor_u32(c, 0, UINT32_MAX, &p->bound));
	}
	return R_OK;
}

static void parameters_write(struct cbor_writer *w, const struct manifest *m)
{
	const char *name[MANIFEST_PARAMETERS_MAX];
	size_t order[MANIFEST_PARAMETERS_MAX];

	for (size_t i = 0; i < m->parameter_count; i++)
		name[i] = m->parameter[i].name;
	if (!cbor_key_order(name, m->parameter_count, order))
		cbor_put_refuse(w, R_FORMAT_DUPLICATE);
	cbor_put_map(w, m->parameter_count);
	for (size_t i = 0; i < m->parameter_count; i++) {
		const struct manifest_parameter *p = &m->parameter[order[i]];

		cbor_put_string(w, 1, sizeof p->name, CHARSET_LABEL, p->name);
		cbor_put_array(w, 2, 2, 2);
		cbor_put_uint(w, 0, PARAMETER_TYPE_MAX - 1, p->type);
		cbor_put_uint(w, 0, UINT32_MAX, p->bound);
	}
}

/* [* [name, size, sha256]] */
static enum reason cvms_read(struct cursor *c, struct manifest *ret)
{
	size_t parts;

	TRY(cbor_array(c, 0, MANIFEST_CVMS_MAX, &ret->cvm_count));
	for (size_t i = 0; i < ret->cvm_count; i++) {
		struct manifest_cvm *cvm = &ret->cvm[i];

		TRY(cbor_array(c, 3, 3, &parts));
		TRY(cbor_string(c, 1, sizeof cvm->name, CHARSET_NAME, cvm->name));
		TRY(cbor_uint(c, 1, LIMIT_ARTIFACT, &cvm->image.size));
		TRY(cbor_copy(c, cvm->image.sha256, SHA256_LEN));
	}
	return R_OK;
}

static void cvms_write(struct cbor_writer *w, const struct manifest *m)
{
	cbor_put_array(w, 0, MANIFEST_CVMS_MAX, m->cvm_count);
	for (size_t i = 0; i < m->cvm_count; i++) {
		const struct manifest_cvm *cvm = &m->cvm[i];

		cbor_put_array(w, 3, 3, 3);
		cbor_put_string(w, 1, sizeof cvm->name, CHARSET_NAME, cvm->name);
		cbor_put_uint(w, 1, LIMIT_ARTIFACT, cvm->image.size);
		cbor_put_copy(w, cvm->image.sha256, SHA256_LEN);
	}
}

/* Fills *ret in place, for it is large: what it holds after a refusal is void. */
enum reason manifest_read(struct bytes payload, struct manifest *ret)
{
	struct cursor c = cursor_of(payload);
	struct cbor_map map;
	uint32_t purpose;

	if (payload.n > LIMIT_MANIFEST)
		return R_FORMAT_TOO_LARGE;
	memset(ret, 0, sizeof *ret);
	TRY(cbor_map_begin(&c, &map));
	TRY(cbor_key_version(&map, MANIFEST_FORMAT));
	TRY(cbor_key(&map, 2));
	TRY(cbor_string(&c, 1, sizeof ret->line, CHARSET_LABEL, ret->line));
	TRY(cbor_key(&map, 3));
	TRY(cbor_u32(&c, 0, PURPOSE_MAX - 1, &purpose));
	ret->purpose = (enum purpose)purpose;
	TRY(cbor_key(&map, 4));
	TRY(cbor_string(&c, 1, sizeof ret->version, CHARSET_PRINTABLE, ret->version));
	TRY(cbor_key(&map, 5));
	TRY(cbor_u32(&c, 0, UINT32_MAX, &ret->security_version));
	TRY(cbor_key(&map, 6));
	TRY(artifact_read(&c, &ret->kernel));
	TRY(cbor_key(&map, 7));
	TRY(artifact_read(&c, &ret->initrd));
	TRY(cbor_key(&map, 8));
	TRY(cbor_string(&c, 0, sizeof ret->cmdline, CHARSET_PRINTABLE, ret->cmdline));
	TRY(cbor_key(&map, 9));
	TRY(parameters_read(&c, ret));
	TRY(cbor_key(&map, 10));
	TRY(cbor_uint(&c, 0, UINT64_MAX, &ret->memory));
	TRY(cbor_key(&map, 11));
	TRY(cvms_read(&c, ret));
	TRY(cbor_map_end(&map));
	TRY(cursor_end(&c));
	return consistent(ret);
}

enum reason manifest_write(const struct manifest *m, struct blob *ret)
{
	struct cbor_writer w = cbor_write_begin(ret);

	/* The counts first: they are how far the arrays are looked at. */
	if (m->parameter_count > MANIFEST_PARAMETERS_MAX || m->cvm_count > MANIFEST_CVMS_MAX)
		return R_FORMAT_RANGE;
	TRY(consistent(m));
	cbor_put_map(&w, 11);
	cbor_put_version(&w, MANIFEST_FORMAT);
	cbor_put_int(&w, 2);
	cbor_put_string(&w, 1, sizeof m->line, CHARSET_LABEL, m->line);
	cbor_put_int(&w, 3);
	cbor_put_uint(&w, 0, PURPOSE_MAX - 1, m->purpose);
	cbor_put_int(&w, 4);
	cbor_put_string(&w, 1, sizeof m->version, CHARSET_PRINTABLE, m->version);
	cbor_put_int(&w, 5);
	cbor_put_uint(&w, 0, UINT32_MAX, m->security_version);
	cbor_put_int(&w, 6);
	artifact_write(&w, &m->kernel);
	cbor_put_int(&w, 7);
	artifact_write(&w, &m->initrd);
	cbor_put_int(&w, 8);
	cbor_put_string(&w, 0, sizeof m->cmdline, CHARSET_PRINTABLE, m->cmdline);
	cbor_put_int(&w, 9);
	parameters_write(&w, m);
	cbor_put_int(&w, 10);
	cbor_put_uint(&w, 0, UINT64_MAX, m->memory);
	cbor_put_int(&w, 11);
	cvms_write(&w, m);
	return cbor_write_end(&w, LIMIT_MANIFEST);
}

static bool is_hex(struct bytes v)
{
	for (size_t i = 0; i < v.n; i++)
		if (!(v.p[i] >= '0' && v.p[i] <= '9') && !(v.p[i] >= 'a' && v.p[i] <= 'f'))
			return false;
	return true;
}

static bool value_allowed(const struct manifest_parameter *p, const char *value)
{
	struct bytes v = bytes_str(value);
	uint64_t number;

	switch (p->type) {
	case PARAMETER_HEX:
		return v.n == p->bound && is_hex(v);
	case PARAMETER_ADDRESS:
		return address_valid(value);
	case PARAMETER_HOST:
		return v.n <= p->bound && host_valid(v);
	case PARAMETER_NUMBER:
		return text_u64(v, p->bound, &number) == R_OK;
	default:
		return false;
	}
}

enum reason manifest_cmdline(const struct manifest *m,
			     const char *(*value)(void *ctx, const char *name), void *ctx,
			     char ret[LIMIT_CMDLINE])
{
	_cleanup_(blob_free) struct blob line = BLOB(LIMIT_CMDLINE);
	struct cursor c = cursor_of(bytes_str(m->cmdline));
	bool found;

	/* From here on every name is that of a declared parameter. */
	TRY(template_check(m));
	for (;;) {
		const struct manifest_parameter *p;
		struct bytes text, name;
		const char *v;

		TRY(template_next(&c, &text, &name, &found));
		if (blob_append(&line, text.p, text.n) != R_OK)
			return R_IMAGE_CMDLINE;
		if (!found)
			break;
		p = parameter_find(m, name);
		v = p != NULL ? value(ctx, p->name) : NULL;
		if (v == NULL || !value_allowed(p, v))
			return R_MANIFEST_TEMPLATE;
		if (blob_append(&line, v, strlen(v)) != R_OK)
			return R_IMAGE_CMDLINE;
	}
	if (blob_u8(&line, '\0') != R_OK)
		return R_IMAGE_CMDLINE;
	memcpy(ret, line.p, line.n);
	return R_OK;
}
