/* SPDX-License-Identifier: Apache-2.0 */
/* What TPM2_ActivateCredential takes; src/appraise makes it. */
#include "format/tpm.h"
#include "format/tpm_wire.h"

/* The encrypted identity is a TPM2B_DIGEST. */
#define IDENTITY_MAX (2u + DIGEST_MAX)
#define ID_OBJECT_MAX (2u + DIGEST_MAX + IDENTITY_MAX)

enum reason tpm_id_object_read(struct bytes in, struct tpm_id_object *ret)
{
	struct cursor c = cursor_of(in);
	struct tpm_id_object o;
	struct bytes inner;

	TRY(tpm2b_read(&c, ID_OBJECT_MAX, &inner));
	TRY(cursor_end(&c));
	c = cursor_of(inner);
	TRY(tpm2b_read(&c, DIGEST_MAX, &o.hmac));
	if (c.n > IDENTITY_MAX)
		return R_FORMAT_RANGE;
	TRY(cursor_take(&c, c.n, &o.identity));
	*ret = o;
	return R_OK;
}

enum reason tpm_id_object_write(const struct tpm_id_object *o, struct blob *ret)
{
	if (o->hmac.n > DIGEST_MAX || o->identity.n > IDENTITY_MAX)
		return R_FORMAT_RANGE;
	TRY(blob_be16(ret, (uint16_t)(2 + o->hmac.n + o->identity.n)));
	TRY(tpm2b_write(o->hmac, ret));
	return blob_append(ret, o->identity.p, o->identity.n);
}

enum reason tpm_secret_read(struct bytes in, struct bytes *ret)
{
	struct cursor c = cursor_of(in);
	struct bytes secret;

	TRY(tpm2b_read(&c, TPM_SECRET_MAX, &secret));
	TRY(cursor_end(&c));
	*ret = secret;
	return R_OK;
}

enum reason tpm_secret_write(struct bytes secret, struct blob *ret)
{
	if (secret.n > TPM_SECRET_MAX)
		return R_FORMAT_RANGE;
	return tpm2b_write(secret, ret);
}

enum reason tpm_point_read(struct bytes in, struct tpm_point *ret)
{
	struct cursor c = cursor_of(in);
	struct tpm_point p;

	TRY(tpm2b_read(&c, TPM_COORD_MAX, &p.x));
	TRY(tpm2b_read(&c, TPM_COORD_MAX, &p.y));
	TRY(cursor_end(&c));
	*ret = p;
	return R_OK;
}

enum reason tpm_point_write(const struct tpm_point *p, struct blob *ret)
{
	if (p->x.n > TPM_COORD_MAX || p->y.n > TPM_COORD_MAX)
		return R_FORMAT_RANGE;
	TRY(tpm2b_write(p->x, ret));
	return tpm2b_write(p->y, ret);
}
