/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys between numbers and OpenSSL's objects. */
#include <string.h>

#include "base/cleanup.h"
#include "crypto/openssl/ossl.h"
#include "crypto/sign.h"

static const struct {
	uint16_t tpm;
	uint8_t len;
	const char *group;
} curves[] = {
	{ TPM_CURVE_P256, 32, "prime256v1" },
	{ 0x0004, 48, "secp384r1" },
	{ 0x0005, 66, "secp521r1" },
};

bool ossl_curve(uint16_t tpm_curve, const char **ret_group, size_t *ret_len)
{
	for (size_t i = 0; i < ARRAY_LEN(curves); i++) {
		if (curves[i].tpm == tpm_curve) {
			*ret_group = curves[i].group;
			*ret_len = curves[i].len;
			return true;
		}
	}
	return false;
}

uint16_t ossl_curve_find(const char *group)
{
	for (size_t i = 0; i < ARRAY_LEN(curves); i++) {
		if (strcmp(curves[i].group, group) == 0)
			return curves[i].tpm;
	}
	return 0;
}

static enum reason from_params(const char *type, OSSL_PARAM *params, EVP_PKEY **ret)
{
	_cleanup_(cleanup_pkey_ctx) EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);

	if (c == NULL || EVP_PKEY_fromdata_init(c) != 1)
		return R_INTERNAL_CRYPTO;
	if (EVP_PKEY_fromdata(c, ret, EVP_PKEY_PUBLIC_KEY, params) != 1)
		return R_FORMAT_RANGE;
	return R_OK;
}

enum reason ossl_ec_public(uint16_t tpm_curve, struct bytes x, struct bytes y, EVP_PKEY **ret)
{
	uint8_t point[1 + 2 * EC_COORD_MAX] = { POINT_CONVERSION_UNCOMPRESSED };
	const char *group;
	size_t len;

	if (!ossl_curve(tpm_curve, &group, &len) || x.n > len || y.n > len)
		return R_FORMAT_RANGE;
	if (x.n > 0)
		memcpy(point + 1 + len - x.n, x.p, x.n);
	if (y.n > 0)
		memcpy(point + 1 + 2 * len - y.n, y.p, y.n);

	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
						 (char *)group, 0),
		OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, 1 + 2 * len),
		OSSL_PARAM_construct_end(),
	};
	return from_params("EC", params, ret);
}

enum reason ossl_rsa_public(struct bytes modulus, uint32_t exponent, EVP_PKEY **ret)
{
	_cleanup_(cleanup_param_bld) OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	_cleanup_(cleanup_params) OSSL_PARAM *params = NULL;
	_cleanup_(cleanup_bn) BIGNUM *n = NULL;

	if (modulus.n == 0 || modulus.n > 1024)
		return R_FORMAT_RANGE;
	n = BN_bin2bn(modulus.p, (int)modulus.n, NULL);
	if (build == NULL || n == NULL)
		return R_INTERNAL_MEMORY;
	if (OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) != 1 ||
	    OSSL_PARAM_BLD_push_uint32(build, OSSL_PKEY_PARAM_RSA_E, exponent) != 1)
		return R_INTERNAL_CRYPTO;
	params = OSSL_PARAM_BLD_to_param(build);
	if (params == NULL)
		return R_INTERNAL_MEMORY;
	return from_params("RSA", params, ret);
}

enum reason ossl_ec_point(const EVP_PKEY *key, uint8_t *x, uint8_t *y, size_t len)
{
	_cleanup_(cleanup_bn) BIGNUM *bx = NULL;
	_cleanup_(cleanup_bn) BIGNUM *by = NULL;

	if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_X, &bx) != 1 ||
	    EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_Y, &by) != 1)
		return R_INTERNAL_CRYPTO;
	if (BN_bn2binpad(bx, x, (int)len) != (int)len ||
	    BN_bn2binpad(by, y, (int)len) != (int)len)
		return R_FORMAT_RANGE;
	return R_OK;
}

enum reason ec_public_check(const struct ec_public *key)
{
	_cleanup_(cleanup_pkey) EVP_PKEY *pkey = NULL;
	enum reason r = ossl_ec_public(TPM_CURVE_P256, BYTES(key->x), BYTES(key->y), &pkey);

	return r == R_FORMAT_RANGE ? R_SITE_KEYS : r;
}
