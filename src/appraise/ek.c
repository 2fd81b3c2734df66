/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enrolment: the AK is the fleet's, the list of banks is the TPM's own word,
 * and each EK gets a credential that only its TPM can open for this AK. What
 * a certificate proves is told beside it; who may enrol is decided elsewhere.
 */
#include "appraise/ek.h"

#include <stdio.h>
#include <string.h>

#include "appraise/appraise.h"
#include "appraise/ek_trust.h"
#include "appraise/quote.h"
#include "base/cleanup.h"
#include "crypto/random.h"
#include "format/protocol.h"
#include "format/spki.h"

#define CREDENTIAL_SECRET_LEN 32u

/*
 * The list of implemented banks. Everything but the AK's signature could be
 * written by anybody, so every difference is the same refusal. The same
 * signature covers the version of the TPM's firmware.
 */
static bool banks_proved(const struct enrol_banks *m, struct bytes ak_public,
			 const struct tpm_public *ak, const uint8_t nonce[NONCE_LEN],
			 uint64_t *ret_firmware)
{
	struct tpm_attest a;
	struct tpm_name name;
	struct tpm_name qualified;
	uint8_t want[SHA256_LEN];
	uint8_t session[DIGEST_MAX];

	if (quote_signature_check(ak_public, m->attest, m->signature) != R_OK)
		return false;
	if (tpm_session_audit_read(m->attest, &a) != R_OK)
		return false;
	if (quote_qualifying(QUOTE_BANKS, nonce, m->capability, want) != R_OK ||
	    !bytes_equal_secret(a.extra, BYTES(want)))
		return false;
	if (tpm_name_of(ak, &name) != R_OK ||
	    tpm_qualified_name(TPM_RH_ENDORSEMENT, &name, &qualified) != R_OK ||
	    !bytes_equal(a.signer, tpm_name_bytes(&qualified)))
		return false;
	/* One command in the session, and this was its answer. */
	if (tpm_audit_capability_pcrs(ALG_SHA256, m->capability, session) != R_OK)
		return false;
	*ret_firmware = a.firmware;
	return bytes_equal(a.session_digest, bytes_of(session, SHA256_LEN));
}

/* The key of the certificate is the key that the TPM shows. */
static bool key_equals(const struct cert_key *c, const struct tpm_public *ek)
{
	uint8_t x[TPM_COORD_MAX] = { 0 };
	uint8_t y[TPM_COORD_MAX] = { 0 };

	if (c->type != ek->type)
		return false;
	if (c->type == TPM_ALG_RSA)
		return c->exponent == ek->exponent &&
		       bytes_equal(bytes_of(c->modulus, c->modulus_len), ek->modulus);
	if (c->curve != ek->curve || c->coord_len > TPM_COORD_MAX ||
	    ek->x.n > c->coord_len || ek->y.n > c->coord_len)
		return false;
	memcpy(x + c->coord_len - ek->x.n, ek->x.p, ek->x.n);
	memcpy(y + c->coord_len - ek->y.n, ek->y.p, ek->y.n);
	return memcmp(x, c->x, c->coord_len) == 0 && memcmp(y, c->y, c->coord_len) == 0;
}

/* Of a certificate that is not this key's, or cannot be read, nothing is told: anybody has a copy. */
static enum reason check_certificate(struct bytes der, const struct tpm_public *ek,
				     const struct ek_trust_basis *basis, struct ek_result *ret)
{
	_cleanup_free_ struct ek_judgement *judged = calloc(1, sizeof(*judged));
	_cleanup_(cert_free) struct cert *c = NULL;
	struct cert_key key;

	if (!judged)
		return R_INTERNAL_MEMORY;
	TRY(cert_read(der, &c));
	TRY(cert_key(c, &key));
	if (!key_equals(&key, ek))
		return R_EK_MISMATCH;
	TRY(sha256(der, ret->certificate_digest));
	ret->has_certificate = true;
	TRY(ek_trust_judge(c, basis, judged));
	(void)snprintf(ret->detail, sizeof(ret->detail), "%s", judged->detail);
	if (judged->reason == R_OK)
		TRY(ek_origin_of(&judged->path, ret->origin, &ret->has_origin));
	return judged->reason;
}

static void judge_certificate(const struct enrol_ek *m, const struct tpm_public *ek,
			      const struct ek_trust_basis *basis, struct ek_result *ret)
{
	if (m->certificate.n == 0) {
		ret->reason = R_EK_UNTRUSTED;
		snprintf(ret->detail, sizeof ret->detail, "the TPM has no certificate for it");
		return;
	}
	ret->reason = check_certificate(m->certificate, ek, basis, ret);
	if (ret->reason == R_OK)
		ret->trust = EK_TRUST_CA;
}

static enum reason digest_spki(const struct tpm_public *ek, uint8_t ret[SHA256_LEN])
{
	_cleanup_(blob_free) struct blob spki = BLOB(SPKI_MAX);

	TRY(spki_write(ek, &spki));
	return sha256(blob_bytes(&spki), ret);
}

static enum reason add_credential(const struct tpm_public *ek, struct bytes ak_name,
				  const uint8_t nonce[NONCE_LEN], struct ek_result *ret)
{
	_cleanup_(blob_free) struct blob object = BLOB(sizeof ret->id_object);
	_cleanup_(blob_free) struct blob secret = BLOB(sizeof ret->secret);
	uint8_t plain[CREDENTIAL_SECRET_LEN];
	enum reason r = random_bytes(plain, sizeof plain);

	if (r == R_OK)
		r = make_credential(ek, ak_name, BYTES(plain), &object, &secret);
	if (r == R_OK)
		r = enrol_proof(BYTES(plain), nonce, ret->proof);
	wipe(plain, sizeof plain);
	if (r != R_OK)
		return r;
	memcpy(ret->id_object, object.p, object.n);
	ret->id_object_len = object.n;
	memcpy(ret->secret, secret.p, secret.n);
	ret->secret_len = secret.n;
	return R_OK;
}

/*
 * One EK. A credential goes out for each that is made by a template, trusted
 * or not: a list that came another way may know it.
 */
static enum reason judge_ek(const struct enrol_ek *m, struct bytes ak_name,
			    const uint8_t nonce[NONCE_LEN], const struct ek_trust_basis *basis,
			    struct ek_result *ret)
{
	struct tpm_public ek;
	struct tpm_name name;

	TRY(tpm_public_read(m->public_area, &ek));
	if (!tpm_ek_template_of(&ek))
		return R_EK_TEMPLATE;
	TRY(tpm_name_of(&ek, &name));
	memcpy(ret->name, name.b, name.n);
	ret->name_len = name.n;
	TRY(digest_spki(&ek, ret->spki_digest));
	judge_certificate(m, &ek, basis, ret);
	return add_credential(&ek, ak_name, nonce, ret);
}

static bool is_known(const struct ek_result *list, size_t count, const struct ek_result *one)
{
	for (size_t i = 0; i < count; i++)
		if (bytes_equal(bytes_of(list[i].name, list[i].name_len),
				bytes_of(one->name, one->name_len)))
			return true;
	return false;
}

static enum reason judge_eks(const struct enrol_request *m, struct bytes ak_name,
			     const uint8_t nonce[NONCE_LEN], const struct ek_trust_basis *basis,
			     struct ek_result *ret, size_t *ret_count)
{
	enum reason why = R_EK_NONE;
	size_t count = 0;

	for (size_t i = 0; i < m->ek_count && i < LIMIT_EKS; i++) {
		struct ek_result *one = &ret[count];
		enum reason r;

		memset(one, 0, sizeof *one);
		r = judge_ek(&m->ek[i], ak_name, nonce, basis, one);
		if (reason_class(r) == REASON_BROKEN)
			return r;
		/* One that cannot be used is left out; another one may do. */
		if (r == R_OK && !is_known(ret, count, one))
			count++;
		else if (r != R_OK && why == R_EK_NONE)
			why = r;
	}
	*ret_count = count;
	return count > 0 ? R_OK : why;
}

enum reason enrol_check(const struct enrol_request *m, const uint8_t ak_name[AK_NAME_LEN],
			const uint8_t session_nonce[NONCE_LEN],
			const uint8_t new_nonce[NONCE_LEN], const struct cert_store *cas,
			int64_t now, struct pcr_selection *ret_implemented,
			struct ek_result ret[LIMIT_EKS], size_t *ret_count)
{
	struct tpm_public ak;
	struct tpm_name name;
	struct pcr_selection implemented;
	struct ek_trust_basis basis = { .cas = cas, .sent = m->chain, .now = now };

	if (tpm_public_read(m->ak_public, &ak) != R_OK || !tpm_ak_public_matches_template(&ak))
		return R_NODE_AK;
	TRY(tpm_name_of(&ak, &name));
	if (!bytes_equal(tpm_name_bytes(&name), bytes_of(ak_name, AK_NAME_LEN)))
		return R_NODE_AK;
	if (!banks_proved(&m->banks, m->ak_public, &ak, session_nonce, &basis.firmware) ||
	    tpm_capability_pcrs_read(m->banks.capability, &implemented) != R_OK)
		return R_ENROL_BANKS;
	basis.firmware_known = true;
	TRY(judge_eks(m, tpm_name_bytes(&name), new_nonce, &basis, ret, ret_count));
	*ret_implemented = implemented;
	return R_OK;
}
