/* SPDX-License-Identifier: Apache-2.0 */
/* Every structure of the TPM, by every reader. */
#include "fuzz.h"

#include "format/tpm.h"

/*
 * There is more than one way to write a selection (3 or 4 bytes of bits) and
 * an RSA exponent (0 or 65537), so what was read is written once and from
 * then on stays the same.
 */
static void settles(rewrite_fn *rewrite, struct bytes in)
{
	_cleanup_(blob_free) struct blob once = BLOB(8192);

	if (rewrite(in, &once) != R_OK)
		return;
	must(once.n <= in.n);
	same_again(rewrite, blob_bytes(&once));
	must(once.n > 0);
}

static enum reason quote_again(struct bytes in, struct blob *out)
{
	struct tpm_attest a;

	TRY(tpm_quote_read(in, &a));
	must(a.type == TPM_ST_QUOTE);
	return tpm_attest_write(&a, out);
}

static enum reason audit_again(struct bytes in, struct blob *out)
{
	struct tpm_attest a;

	TRY(tpm_session_audit_read(in, &a));
	must(a.type == TPM_ST_SESSION_AUDIT);
	return tpm_attest_write(&a, out);
}

static enum reason public_again(struct bytes in, struct blob *out)
{
	struct tpm_public p;

	TRY(tpm_public_read(in, &p));
	return tpm_public_write(&p, out);
}

static enum reason signature_again(struct bytes in, struct blob *out)
{
	struct tpm_signature s;

	TRY(tpm_signature_read(in, &s));
	return tpm_signature_write(&s, out);
}

static enum reason capability_again(struct bytes in, struct blob *out)
{
	struct pcr_selection s;

	TRY(tpm_capability_pcrs_read(in, &s));
	return tpm_capability_pcrs_write(&s, out);
}

static enum reason id_object_again(struct bytes in, struct blob *out)
{
	struct tpm_id_object o;

	TRY(tpm_id_object_read(in, &o));
	return tpm_id_object_write(&o, out);
}

static enum reason secret_again(struct bytes in, struct blob *out)
{
	struct bytes secret;

	TRY(tpm_secret_read(in, &secret));
	return tpm_secret_write(secret, out);
}

static enum reason point_again(struct bytes in, struct blob *out)
{
	struct tpm_point p;

	TRY(tpm_point_read(in, &p));
	return tpm_point_write(&p, out);
}

static void names(struct bytes in)
{
	struct tpm_public p, same;
	struct tpm_name name, qualified;

	if (tpm_public_read_file(in, &p) != R_OK)
		return;
	must(tpm_public_read(p.whole, &same) == R_OK);
	must(p.before_unique.n < p.whole.n);
	if (tpm_ek_template_of(&p))
		must(!tpm_ak_public_matches_template(&p));
	if (tpm_name_of(&p, &name) != R_OK)
		return;
	must(name.n == 2 + digest_len(p.name_alg));
	must(tpm_qualified_name(TPM_RH_ENDORSEMENT, &name, &qualified) == R_OK);
	must(qualified.n == name.n);
	must(!bytes_equal(tpm_name_bytes(&name), tpm_name_bytes(&qualified)));
}

static void any_name(struct bytes in)
{
	struct tpm_name name = { .n = in.n < TPM_NAME_MAX ? in.n : TPM_NAME_MAX }, out;

	if (name.n > 0)
		memcpy(name.b, in.p, name.n);
	(void)!tpm_qualified_name(TPM_RH_ENDORSEMENT, &name, &out);
}

static void ecdsa(struct bytes in)
{
	struct tpm_signature s;
	uint8_t fixed[2 * TPM_COORD_MAX];

	if (tpm_signature_read(in, &s) != R_OK)
		return;
	if (tpm_signature_ecdsa(&s, 32, fixed) == R_OK)
		must(s.r.n > 0 && s.s.n > 0);
	(void)!tpm_signature_ecdsa(&s, TPM_COORD_MAX, fixed);
	(void)!tpm_signature_ecdsa(&s, TPM_COORD_MAX + 1, fixed);
}

/* What a writer refuses, whatever the bytes are. */
static void misuse(struct bytes in)
{
	_cleanup_(blob_free) struct blob out = BLOB(1024);
	struct bytes wide = { in.p, TPM_SECRET_MAX + 1 };
	struct tpm_id_object hmac = { .hmac = wide }, identity = { .identity = wide };
	struct tpm_point x = { .x = wide }, y = { .y = wide };
	struct tpm_attest a = { 0 };
	struct tpm_public p = { 0 };
	struct tpm_signature s = { 0 };

	must(tpm_secret_write(wide, &out) == R_FORMAT_RANGE);
	must(tpm_id_object_write(&hmac, &out) == R_FORMAT_RANGE);
	must(tpm_id_object_write(&identity, &out) == R_FORMAT_RANGE);
	must(tpm_point_write(&x, &out) == R_FORMAT_RANGE);
	must(tpm_point_write(&y, &out) == R_FORMAT_RANGE);
	must(tpm_attest_write(&a, &out) == R_QUOTE_TYPE);
	must(tpm_public_write(&p, &out) == R_FORMAT_TYPE);
	must(tpm_signature_write(&s, &out) == R_QUOTE_SCHEME);
	must(out.n == 0);
}

static void audit(struct bytes in)
{
	uint8_t digest[DIGEST_MAX];

	must(tpm_audit_capability_pcrs(0x7fff, in, digest) == R_FORMAT_TYPE);
	must(tpm_audit_capability_pcrs(ALG_SHA256, in, digest) == R_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { data, size };

	settles(quote_again, in);
	settles(public_again, in);
	settles(capability_again, in);
	same_again(audit_again, in);
	same_again(signature_again, in);
	same_again(id_object_again, in);
	same_again(secret_again, in);
	same_again(point_again, in);
	names(in);
	any_name(in);
	ecdsa(in);
	audit(in);
	misuse(in);
	return 0;
}
