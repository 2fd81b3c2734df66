/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates read: alone, in files, in folders; their keys. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cert_judge_kit.h"

static void test_read_refusals(void **state)
{
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	struct cert *c = NULL;

	(void)state;
	for (size_t n = 0; n < der.n; n++)
		assert_reason(R_EK_FORMAT, cert_read(bytes_of(der.p, n), &c));
	/* NV padding is the caller's to cut */
	assert_ok(blob_u8(&der, 0));
	assert_reason(R_EK_FORMAT, cert_read(blob_bytes(&der), &c));
	assert_reason(R_EK_FORMAT, cert_read(BYTES_NONE, &c));
	assert_reason(R_EK_FORMAT, cert_read(bytes_str("-----BEGIN CERTIFICATE-----"), &c));
	assert_null(c);
	cert_free(&c);
}

static void test_store_files(void **state)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_(blob_free) struct blob both = BLOB(65536);
	_cleanup_(blob_free) struct blob a = pem_of(&root);
	_cleanup_(blob_free) struct blob b = pem_of(&issuer);
	size_t count = 99;

	(void)state;
	assert_ok(cert_store_make(&s));
	assert_ok(blob_append(&both, "comment\n", 8));
	assert_ok(blob_append(&both, a.p, a.n));
	assert_ok(blob_append(&both, b.p, b.n));
	assert_ok(cert_store_add(s, blob_bytes(&both), &count));
	assert_int_equal(count, 2);
	/* the same again is no mistake */
	assert_ok(cert_store_add(s, blob_bytes(&both), &count));

	count = 99;
	assert_reason(R_EK_FORMAT, cert_store_add(s, BYTES_NONE, &count));
	assert_reason(R_EK_FORMAT, cert_store_add(s, bytes_str("nothing here"), &count));
	assert_reason(R_EK_FORMAT, cert_store_add(s, bytes_str("\x30\x03\x02\x01\x05"), &count));
	assert_reason(R_EK_FORMAT, cert_store_add(s, bytes_str(
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), &count));
	/* one good, one broken: not silently the good one alone */
	assert_ok(blob_append(&a, "-----BEGIN CERTIFICATE-----\nAAAA\n"
				  "-----END CERTIFICATE-----\n", 59));
	assert_reason(R_EK_FORMAT, cert_store_add(s, blob_bytes(&a), &count));
	assert_ok(blob_append(&b, "-----BEGIN CERTIFICATE-----\n!!!!\n"
				  "-----END CERTIFICATE-----\n", 59));
	assert_reason(R_EK_FORMAT, cert_store_add(s, blob_bytes(&b), &count));
	assert_int_equal(count, 99);
}

static void test_files(void **state)
{
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	_cleanup_(blob_free) struct blob pem = pem_of(&leaf);
	struct cert_list l = { NULL, 0, 0 };
	struct cert *c = NULL;

	(void)state;
	assert_ok(cert_read_all(blob_bytes(&pem), &l));
	assert_int_equal(l.n, 1);
	assert_int_equal(l.revocation_lists, 0);
	cert_list_free(&l);
	assert_reason(R_EK_FORMAT, cert_read_all(bytes_str("text"), &l));
	assert_ok(cert_read_file(blob_bytes(&pem), &c));
	cert_free(&c);
	assert_ok(blob_append(&der, "\xff\xff", 2));
	assert_ok(cert_read_file(blob_bytes(&der), &c));
	cert_free(&c);
	assert_ok(blob_append(&der, "x", 1));
	assert_reason(R_EK_PADDING, cert_read_file(blob_bytes(&der), &c));
	assert_reason(R_EK_FORMAT, cert_read_file(BYTES_NONE, &c));
	assert_reason(R_EK_FORMAT, cert_read_file(bytes_str("text"), &c));
	assert_reason(R_EK_FORMAT, cert_read_file(bytes_str(
		"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), &c));
	assert_null(c);
}

/* Any name, any depth, DER or PEM; what is neither is counted. */
static void test_folder(void **state)
{
	_cleanup_(cert_store_free) struct cert_store *s = NULL;
	_cleanup_made_ struct made leaf = make(&leaf_spec, &issuer);
	_cleanup_(blob_free) struct blob der = der_of(&leaf);
	_cleanup_(blob_free) struct blob root_der = der_of(&root);
	_cleanup_(blob_free) struct blob issuer_pem = pem_of(&issuer);
	char folder[] = "/tmp/bootgate-cert-XXXXXX";
	char name[128];
	struct cert_folder found;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_ok(cert_store_make(&s));
	assert_reason(R_FILE, cert_store_add_folder(s, "/nowhere", NULL, NULL, &found));
	(void)snprintf(name, sizeof(name), "%s/a", folder);
	assert_int_equal(mkdir(name, 0700), 0);
	(void)snprintf(name, sizeof(name), "%s/a/circle", folder);
	assert_int_equal(symlink("..", name), 0);
	(void)snprintf(name, sizeof(name), "%s/a/b", folder);
	assert_int_equal(mkdir(name, 0700), 0);
	(void)snprintf(name, sizeof(name), "%s/a/b/root.txt", folder);
	assert_ok(fd_write_file(name, blob_bytes(&root_der), 0600));
	(void)snprintf(name, sizeof(name), "%s/a/issuer", folder);
	assert_ok(fd_write_file(name, blob_bytes(&issuer_pem), 0600));
	(void)snprintf(name, sizeof(name), "%s/README", folder);
	assert_ok(fd_write_file(name, bytes_str("no certificate"), 0600));
	assert_ok(cert_store_add_folder(s, folder, NULL, NULL, &found));
	assert_int_equal(found.files, 3);
	assert_int_equal(found.certificates, 2);
	assert_int_equal(found.unusable, 1);
	assert_ok(judge(s, BYTES_NONE, blob_bytes(&der)));
	static const char *const rm[] = { "a/b/root.txt", "a/issuer", "a/circle", "README", "a/b", "a", "" };
	for (size_t i = 0; i < ARRAY_LEN(rm); i++) {
		(void)snprintf(name, sizeof(name), "%s/%s", folder, rm[i]);
		assert_int_equal(remove(name), 0);
	}
}

static void test_keys(void **state)
{
	static const struct {
		const char *group;
		uint16_t curve;
		size_t len;
	} curves[] = { { "P-256", 3, 32 }, { "P-384", 4, 48 }, { "P-521", 5, 66 } };
	struct cert_key key;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(curves); i++) {
		_cleanup_made_ struct made m = make_with(&leaf_spec, &issuer,
							 EVP_EC_gen(curves[i].group));
		_cleanup_(blob_free) struct blob der = der_of(&m);
		_cleanup_(cert_free) struct cert *c = NULL;
		uint8_t point[1 + 2 * 66];
		size_t n, len = curves[i].len;

		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_ok(cert_key(c, &key));
		assert_int_equal(key.type, 0x0023);
		assert_int_equal(key.curve, curves[i].curve);
		assert_int_equal(key.coord_len, len);
		assert_int_equal(EVP_PKEY_get_octet_string_param(m.key, "pub", point,
								 sizeof(point), &n), 1);
		assert_int_equal(n, 1 + 2 * len);
		assert_memory_equal(key.x, point + 1, len);
		assert_memory_equal(key.y, point + 1 + len, len);
	}
	_cleanup_made_ struct made m = make_with(&leaf_spec, &issuer, EVP_RSA_gen(2048));
	_cleanup_(blob_free) struct blob der = der_of(&m);
	_cleanup_(cert_free) struct cert *c = NULL;
	assert_ok(cert_read(blob_bytes(&der), &c));
	assert_ok(cert_key(c, &key));
	assert_int_equal(key.type, 0x0001);
	assert_int_equal(key.modulus_len, 256);
	assert_int_equal(key.exponent, 65537);
	assert_true(key.modulus[0] & 0x80);
}

static void test_keys_refused(void **state)
{
	struct cert_key key;

	(void)state;
	{
		_cleanup_made_ struct made m = make_with(
			&leaf_spec, &issuer, EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
		_cleanup_(blob_free) struct blob der = der_of(&m);
		_cleanup_(cert_free) struct cert *c = NULL;
		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_reason(R_EK_FORMAT, cert_key(c, &key));
	}
	{
		/* not a curve of ours */
		_cleanup_made_ struct made m = make_with(&leaf_spec, &issuer,
							 EVP_EC_gen("secp256k1"));
		_cleanup_(blob_free) struct blob der = der_of(&m);
		_cleanup_(cert_free) struct cert *c = NULL;
		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_reason(R_EK_FORMAT, cert_key(c, &key));
	}
}

static void test_key_from_pem(void **state)
{
	struct cert_key key;
	BIO *out = BIO_new(BIO_s_mem());
	char *text;

	(void)state;
	assert_int_equal(PEM_write_bio_PUBKEY(out, issuer.key), 1);
	long n = BIO_get_mem_data(out, &text);
	assert_ok(cert_key_from_pem(bytes_of(text, (size_t)n), &key));
	assert_int_equal(key.curve, 3);
	assert_reason(R_FORMAT_TYPE, cert_key_from_pem(bytes_of(text, (size_t)n / 2), &key));
	assert_reason(R_FORMAT_TYPE, cert_key_from_pem(BYTES_NONE, &key));
	assert_reason(R_FORMAT_TYPE, cert_key_from_pem(bytes_str("x"), &key));
	BIO_free(out);
}

/* Real ones of several makers: all can be read, and none is trusted by us. */
static void test_corpus(void **state)
{
	static const char *const files[] = {
		"google+go-tpm-tools/internal/test/certificates/uca_tpm_rsa_enc_cert.pem.af614aee.der",
		"google+go-tpm-tools/internal/test/certificates/uca_tpm_ecc_enc_cert.pem.9fdd7997.der",
		"keylime+keylime/docs/rest_apis/2_1/registrar.rst.3a888ace.der",
		"immune-gmbh+guard-oss/apisrv/pkg/check/tpm_test.go.ce0e7316.der",
		"immune-gmbh+guard-oss/apisrv/pkg/check/inteltsc_test.go.e54a9d6e.der",
	};

	(void)state;
	if (access(CORPUS "/MANIFEST.tsv", F_OK) != 0)
		skip();
	_cleanup_(cert_store_free) struct cert_store *s = usual_store();
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_(blob_free) struct blob der = BLOB(65536);
		_cleanup_(cert_free) struct cert *c = NULL;
		struct cert_key key;
		char file[512];

		(void)snprintf(file, sizeof(file), "%s/cert-ek/%s", CORPUS, files[i]);
		assert_ok(fd_read_file(file, &der));
		assert_ok(cert_read(blob_bytes(&der), &c));
		assert_ok(cert_key(c, &key));
		assert_reason(R_EK_UNTRUSTED, judge(s, BYTES_NONE, blob_bytes(&der)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_refusals),
		cmocka_unit_test(test_store_files),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_keys_refused),
		cmocka_unit_test(test_key_from_pem),
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, make_ca, free_ca);
}
