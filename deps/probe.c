/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gate takes from each library, for deps/check: that it links as
 * static PIE, how large it gets, and that it runs.
 *
 *   probe                          digests, CBOR, random numbers
 *   probe tpm device:NODE          plus sessions salted with ECC and RSA
 *   probe tpm swtpm:PATH           the same with the test libraries
 *   probe get URL CA.pem           one GET
 */
#include <curl/curl.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/sha256.h>
#include <nettle/sha2.h>
#include <nettle/sm3.h>
#include <psa/crypto.h>
#include <stdio.h>
#include <string.h>
#include <tinycbor/cbor.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tcti_device.h>
#ifdef WITH_SWTPM
#include <tss2/tss2_tcti_swtpm.h>
#endif

static int digests(void)
{
	struct sha256_ctx fast;
	uint8_t a[32], b[32];

	sha256_init(&fast);
	sha256_update(&fast, 3, (const uint8_t *)"abc");
	sha256_digest(&fast, sizeof(a), a);
	if (mbedtls_sha256((const uint8_t *)"abc", 3, b, 0))
		return 1;

	struct sm3_ctx sm3;
	uint8_t c[SM3_DIGEST_SIZE];
	sm3_init(&sm3);
	sm3_update(&sm3, 3, (const uint8_t *)"abc");
	sm3_digest(&sm3, sizeof(c), c);
	return memcmp(a, b, sizeof(a)) || a[0] != 0xba || c[0] != 0x66;
}

/* No such key, so it must refuse: what counts is that the code is there. */
static int signature(void)
{
	mbedtls_ecp_group group;
	mbedtls_ecp_point q;
	mbedtls_mpi r, s;
	uint8_t hash[32] = { 0 };

	mbedtls_ecp_group_init(&group);
	mbedtls_ecp_point_init(&q);
	mbedtls_mpi_init(&r);
	mbedtls_mpi_init(&s);
	int bad = mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1) ||
		!mbedtls_ecdsa_verify(&group, hash, sizeof(hash), &q, &r, &s);
	mbedtls_ecp_group_free(&group);
	return bad;
}

static int cbor(void)
{
	uint8_t bytes[16];
	CborEncoder encoder, array;
	CborParser parser;
	CborValue value;

	cbor_encoder_init(&encoder, bytes, sizeof(bytes), 0);
	if (cbor_encoder_create_array(&encoder, &array, 1) ||
	    cbor_encode_uint(&array, 1000) ||
	    cbor_encoder_close_container(&encoder, &array))
		return 1;
	size_t len = cbor_encoder_get_buffer_size(&encoder, bytes);
	return cbor_parser_init(bytes, len, 0, &parser, &value) ||
		cbor_value_validate(&value, CborValidateCanonicalFormat);
}

static int report(const char *what, TSS2_RC rc)
{
	fprintf(stderr, "%s: %s\n", what, Tss2_RC_Decode(rc));
	return 1;
}

static TSS2_RC open_tcti(TSS2_TCTI_CONTEXT *tcti, size_t *size, const char *name)
{
	if (!strncmp(name, "device:", 7))
		return Tss2_Tcti_Device_Init(tcti, size, name + 7);
#ifdef WITH_SWTPM
	char conf[128];
	snprintf(conf, sizeof(conf), "path=%s", name + 6);
	return Tss2_Tcti_Swtpm_Init(tcti, size, conf);
#else
	return TSS2_TCTI_RC_NOT_SUPPORTED;
#endif
}

/* Random bytes through a session salted with a key of this template. */
static int session(ESYS_CONTEXT *esys, const TPM2B_PUBLIC *template)
{
	ESYS_TR key, hmac;
	TPM2B_DIGEST *random;
	TPM2B_SENSITIVE_CREATE sensitive = { 0 };
	TPML_PCR_SELECTION pcrs = { 0 };
	TPMT_SYM_DEF aes = {
		.algorithm = TPM2_ALG_AES,
		.keyBits.aes = 128,
		.mode.aes = TPM2_ALG_CFB,
	};

	TSS2_RC rc = Esys_CreatePrimary(esys, ESYS_TR_RH_NULL, ESYS_TR_PASSWORD,
				ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, template,
				NULL, &pcrs, &key, NULL, NULL, NULL, NULL);
	if (rc)
		return report("primary", rc);
	rc = Esys_StartAuthSession(esys, key, ESYS_TR_NONE, ESYS_TR_NONE,
				   ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC,
				   &aes, TPM2_ALG_SHA256, &hmac);
	if (rc)
		return report("session", rc);
	rc = Esys_TRSess_SetAttributes(esys, hmac,
		TPMA_SESSION_ENCRYPT | TPMA_SESSION_AUDIT |
		TPMA_SESSION_CONTINUESESSION, 0xff);
	if (rc)
		return report("attributes", rc);
	rc = Esys_GetRandom(esys, hmac, ESYS_TR_NONE, ESYS_TR_NONE, 16, &random);
	if (rc)
		return report("random", rc);
	printf("tpm: %u random bytes\n", random->size);
	Esys_Free(random);
	return Esys_FlushContext(esys, hmac) || Esys_FlushContext(esys, key);
}

#define PARENT(alg) \
	.type = (alg), \
	.nameAlg = TPM2_ALG_SHA256, \
	.objectAttributes = TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT | \
		TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | \
		TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH
#define AES_128_CFB { \
	.algorithm = TPM2_ALG_AES, \
	.keyBits.aes = 128, \
	.mode.aes = TPM2_ALG_CFB, \
}

static int tpm(const char *name)
{
	static union {
		max_align_t align;
		uint8_t bytes[8192];
	} room;
	static const TPM2B_PUBLIC ecc = { .publicArea = {
		PARENT(TPM2_ALG_ECC),
		.parameters.eccDetail = {
			.symmetric = AES_128_CFB,
			.scheme.scheme = TPM2_ALG_NULL,
			.curveID = TPM2_ECC_NIST_P384,
			.kdf.scheme = TPM2_ALG_NULL,
		},
	} };
	static const TPM2B_PUBLIC rsa = { .publicArea = {
		PARENT(TPM2_ALG_RSA),
		.parameters.rsaDetail = {
			.symmetric = AES_128_CFB,
			.scheme.scheme = TPM2_ALG_NULL,
			.keyBits = 2048,
		},
	} };
	TSS2_TCTI_CONTEXT *tcti = (TSS2_TCTI_CONTEXT *)room.bytes;
	size_t size = sizeof(room);
	ESYS_CONTEXT *esys;

	TSS2_RC rc = open_tcti(tcti, &size, name);
	if (rc)
		return report("tcti", rc);
	rc = Esys_Initialize(&esys, tcti, NULL);
	if (rc)
		return report("initialize", rc);
	rc = Esys_Startup(esys, TPM2_SU_CLEAR);
	if (rc && rc != TPM2_RC_INITIALIZE)
		return report("startup", rc);
	int bad = session(esys, &ecc) || session(esys, &rsa);
	Esys_Finalize(&esys);
	Tss2_Tcti_Finalize(tcti);
	return bad;
}

static int get(const char *url, const char *ca)
{
	static char pem[65536];
	FILE *f = fopen(ca, "r");
	if (!f)
		return 1;
	size_t len = fread(pem, 1, sizeof(pem), f);
	fclose(f);

	struct curl_blob blob = { pem, len, CURL_BLOB_NOCOPY };
	char why[CURL_ERROR_SIZE] = "";
	CURL *curl = curl_easy_init();
	if (!curl)
		return 1;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &blob);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
	CURLcode code = curl_easy_perform(curl);
	if (code)
		fprintf(stderr, "get: %d %s\n", (int)code, why);
	curl_easy_cleanup(curl);
	return (int)code;
}

int main(int argc, char **argv)
{
	uint8_t random[16];

	if (digests() || signature() || cbor())
		return 1;
	if (psa_crypto_init() || psa_generate_random(random, sizeof(random)))
		return 1;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return 1;
	if (argc == 3 && !strcmp(argv[1], "tpm"))
		return tpm(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "get"))
		return get(argv[2], argv[3]);
	printf("probe: %s\n", curl_version());
	return 0;
}
