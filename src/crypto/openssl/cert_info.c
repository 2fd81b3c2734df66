/* SPDX-License-Identifier: Apache-2.0 */
/* What a certificate says of itself, and whether that is what an EK's says. */
#include <openssl/err.h>
#include <openssl/objects.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "crypto/openssl/cert_priv.h"

/* TCG OIDs of the names in the alternative name. */
#define OID_MANUFACTURER "2.23.133.2.1"
#define OID_MODEL "2.23.133.2.2"
#define OID_VERSION "2.23.133.2.3"

/* Takes over what was written to `bio`. */
static void bio_text(BIO *bio, char *ret, size_t n)
{
	char *text = NULL;
	long len = BIO_get_mem_data(bio, &text);

	(void)text_escape(bytes_of(text, len < 0 ? 0 : (size_t)len), ret, n);
}

void cert_name_text(const X509_NAME *name, char *ret, size_t n)
{
	_cleanup_(cleanup_bio) BIO *bio = BIO_new(BIO_s_mem());

	ret[0] = '\0';
	if (bio != NULL && X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) >= 0)
		bio_text(bio, ret, n);
}

void cert_serial_text(const ASN1_INTEGER *serial, char *ret, size_t n)
{
	_cleanup_(cleanup_bio) BIO *bio = BIO_new(BIO_s_mem());

	ret[0] = '\0';
	if (bio != NULL && i2a_ASN1_INTEGER(bio, serial) > 0)
		bio_text(bio, ret, n);
}

void cert_time_text(const ASN1_TIME *t, char *ret, size_t n)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(t, &tm) != 1 || strftime(ret, n, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		(void)snprintf(ret, n, "unreadable");
}

static void oid_text(const ASN1_OBJECT *o, char *ret, size_t n)
{
	if (OBJ_obj2txt(ret, (int)n, o, /* no_name= */ 1) <= 0)
		(void)snprintf(ret, n, "unreadable");
}

bool cert_usage_has(const EXTENDED_KEY_USAGE *usages, const char *oid)
{
	char found[64];

	for (int i = 0; i < sk_ASN1_OBJECT_num(usages); i++) {
		oid_text(sk_ASN1_OBJECT_value(usages, i), found, sizeof(found));
		if (strcmp(found, oid) == 0)
			return true;
	}
	return false;
}

/* ---- names of the TPM ------------------------------------------------------ */

/* The value of an attribute, wherever it stands in the directory name. */
static bool attribute(const X509_NAME *name, const char *oid, char *ret, size_t n)
{
	char found[64];

	for (int i = 0; i < X509_NAME_entry_count(name); i++) {
		const X509_NAME_ENTRY *e = X509_NAME_get_entry(name, i);
		const ASN1_STRING *value = X509_NAME_ENTRY_get_data(e);

		oid_text(X509_NAME_ENTRY_get_object(e), found, sizeof(found));
		if (strcmp(found, oid) != 0)
			continue;
		(void)text_escape(bytes_of(ASN1_STRING_get0_data(value),
					   (size_t)ASN1_STRING_length(value)), ret, n);
		return true;
	}
	return false;
}

/* "id:" and the eight digits of TPM_PT_MANUFACTURER. */
static bool manufacturer_number(const char *text, uint32_t *ret)
{
	uint32_t v = 0;

	if (strncmp(text, "id:", 3) != 0 || strlen(text) != 11)
		return false;
	for (const char *p = text + 3; *p != '\0'; p++) {
		const char *digits = "0123456789ABCDEFabcdef";
		const char *at = strchr(digits, *p);

		if (at == NULL)
			return false;
		v = v << 4 | (uint32_t)(at - digits < 16 ? at - digits : at - digits - 6);
	}
	*ret = v;
	return true;
}

static bool tpm_names(X509 *x, struct cert_info *ret)
{
	_cleanup_(cleanup_general_names) GENERAL_NAMES *names =
		X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
	char manufacturer[24];

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *g = sk_GENERAL_NAME_value(names, i);

		if (g->type == GEN_DIRNAME &&
		    attribute(g->d.directoryName, OID_MANUFACTURER, manufacturer,
			      sizeof(manufacturer)) &&
		    manufacturer_number(manufacturer, &ret->manufacturer) &&
		    attribute(g->d.directoryName, OID_MODEL, ret->model, sizeof(ret->model)) &&
		    attribute(g->d.directoryName, OID_VERSION, ret->version, sizeof(ret->version)))
			return true;
	}
	return false;
}

static bool names_critical(const X509 *x)
{
	int at = X509_get_ext_by_NID(x, NID_subject_alt_name, -1);

	return at >= 0 && X509_EXTENSION_get_critical(X509_get_ext(x, at)) == 1;
}

const char *cert_profile_fault(X509 *x)
{
	_cleanup_(cleanup_usages) EXTENDED_KEY_USAGE *usages =
		X509_get_ext_d2i(x, NID_ext_key_usage, NULL, NULL);
	uint32_t usage = X509_get_key_usage(x);	/* all bits where it has none */
	struct cert_info info = { 0 };

	if (X509_check_ca(x) != 0)
		return "the certificate is a CA's";
	if (X509_get0_pubkey(x) == NULL)
		return "its key is of a kind that cannot be read";
	if ((usage & (KU_KEY_ENCIPHERMENT | KU_KEY_AGREEMENT)) == 0)
		return "the key usage is not that of an endorsement key";
	/* without it any certificate of the same CA would do */
	if (!cert_usage_has(usages, EK_USAGE))
		return "the extended key usage is not that of an endorsement key";
	if (!tpm_names(x, &info))
		return "the alternative name does not tell manufacturer, model and version of a TPM";
	if (X509_NAME_entry_count(X509_get_subject_name(x)) == 0 && !names_critical(x))
		return "the subject is empty and the alternative name is not critical";
	return NULL;
}

/* ---- all of it ------------------------------------------------------------- */

static const struct {
	uint32_t bit;
	const char *name;
} usage_names[] = {
	{ KU_DIGITAL_SIGNATURE, "digitalSignature" }, { KU_NON_REPUDIATION, "nonRepudiation" },
	{ KU_KEY_ENCIPHERMENT, "keyEncipherment" }, { KU_DATA_ENCIPHERMENT, "dataEncipherment" },
	{ KU_KEY_AGREEMENT, "keyAgreement" }, { KU_KEY_CERT_SIGN, "keyCertSign" },
	{ KU_CRL_SIGN, "cRLSign" },
};

static void add_word(char *to, size_t n, const char *word)
{
	size_t at = strlen(to);

	(void)snprintf(to + at, n - at, "%s%s", at > 0 ? " " : "", word);
}

static void usage_text(X509 *x, struct cert_info *ret)
{
	_cleanup_(cleanup_usages) EXTENDED_KEY_USAGE *usages =
		X509_get_ext_d2i(x, NID_ext_key_usage, NULL, NULL);
	uint32_t usage = X509_get_key_usage(x);
	char oid[64];

	for (size_t i = 0; usage != UINT32_MAX && i < ARRAY_LEN(usage_names); i++)
		if ((usage & usage_names[i].bit) != 0)
			add_word(ret->usage, sizeof(ret->usage), usage_names[i].name);
	for (int i = 0; i < sk_ASN1_OBJECT_num(usages); i++) {
		oid_text(sk_ASN1_OBJECT_value(usages, i), oid, sizeof(oid));
		add_word(ret->extended, sizeof(ret->extended), oid);
	}
}

static void key_text(X509 *x, char *ret, size_t n)
{
	const EVP_PKEY *key = X509_get0_pubkey(x);
	char group[32];
	size_t len;

	if (key != NULL && EVP_PKEY_is_a(key, "RSA") == 1)
		(void)snprintf(ret, n, "RSA %d", EVP_PKEY_get_bits(key));
	else if (key != NULL && EVP_PKEY_is_a(key, "EC") == 1 &&
		 EVP_PKEY_get_group_name(key, group, sizeof(group), &len) == 1)
		(void)snprintf(ret, n, "ECC %s", group);
	else
		(void)snprintf(ret, n, "of an unknown kind");
	ERR_clear_error();
}

enum reason cert_describe(const struct cert *c, struct cert_info *ret)
{
	_cleanup_(blob_free) struct blob der = BLOB(1u << 20);
	X509 *x = c->x509;
	const char *algorithm = OBJ_nid2sn(X509_get_signature_nid(x));
	struct cert_info info = { 0 };

	TRY(cert_der(c, &der));
	TRY(sha256(blob_bytes(&der), info.digest));
	cert_name_text(X509_get_subject_name(x), info.subject, sizeof(info.subject));
	cert_name_text(X509_get_issuer_name(x), info.issuer, sizeof(info.issuer));
	cert_serial_text(X509_get0_serialNumber(x), info.serial, sizeof(info.serial));
	cert_time_text(X509_get0_notBefore(x), info.not_before, sizeof(info.not_before));
	cert_time_text(X509_get0_notAfter(x), info.not_after, sizeof(info.not_after));
	(void)snprintf(info.signature, sizeof(info.signature), "%s", algorithm);
	key_text(x, info.key, sizeof(info.key));
	usage_text(x, &info);
	info.authority = X509_check_ca(x) != 0;
	info.self_signed = X509_self_signed(x, /* verify_signature= */ 0) == 1;
	info.repaired = cert_repaired(x);
	info.has_tpm = tpm_names(x, &info);
	ERR_clear_error();
	*ret = info;
	return R_OK;
}
