/* SPDX-License-Identifier: Apache-2.0 */
/* References that operators bring: staged, known already, with a source that is the server's word. */
#include "ledger_kit.h"
#include "server/ledger.h"

static enum reason administered(struct scene *s, enum admin_op op, const char *arg, struct bytes tail)
{
	struct msg_admin m = admin_make(op, arg);

	return admin_asks(s, &m, tail);
}

#define FILE_DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* One variant of one event; SHA-256 as `last` says, SHA-1 beside it or not. */
static enum reason staged(struct scene *s, const char *component, uint8_t last, bool sha1)
{
	_cleanup_(blob_free) struct blob bytes = BLOB(LIMIT_REFERENCE_SET);
	uint8_t digest[SHA256_LEN] = { [31] = last };
	struct reference_event e = { .pcr = 4, .type = 4, .digest_count = sha1 ? 2 : 1 };
	struct reference_variant v = { .name = "1.0", .source = "the file's word", .state = VARIANT_ACTIVE, .id = 77,
				       .event_count = 1, .event = &e };
	struct reference_set set = { .count = 1, .variant = &v };

	snprintf(v.component, sizeof(v.component), "%s", component);
	e.digest[0].alg = ALG_SHA256;
	e.digest[0].digest = BYTES(digest);
	e.digest[1].alg = ALG_SHA1;
	e.digest[1].digest = bytes_of(digest, digest_len(ALG_SHA1));
	assert_ok(reference_set_write(&set, &bytes));
	return administered(s, ADMIN_REF_STAGE, FILE_DIGEST, blob_bytes(&bytes));
}

static void computed_references_are_staged(void **state)
{
	struct scene *s = *state;

	assert_ok(staged(s, "gate", 1, true));
	assert_value(s, "1", "SELECT count(*) FROM variant WHERE id = 1 AND component = 'gate' AND state = 0");
	assert_value(s, "1 variants computed from SHA-256 " FILE_DIGEST ": test",
		     "SELECT detail FROM audit WHERE action = 'ref.stage'");
	/* Known are the same events, with no digest that is not there. */
	assert_ok(staged(s, "gate", 1, true));
	assert_ok(staged(s, "gate", 1, false));
	assert_value(s, "1", "SELECT count(*) FROM variant");
	assert_ok(staged(s, "gate", 2, false));
	assert_ok(staged(s, "gate", 2, true));
	assert_ok(staged(s, "boot-path", 2, true));
	assert_value(s, "4", "SELECT count(*) FROM variant");
	/* Nothing brings a revoked one back but a new one that is looked at again. */
	assert_ok(administered(s, ADMIN_REF_REVOKE, "1", BYTES_NONE));
	assert_ok(staged(s, "gate", 1, true));
	assert_value(s, "5", "SELECT count(*) FROM variant");

	assert_reason(R_FORMAT_TEXT, administered(s, ADMIN_REF_STAGE, "00", BYTES_NONE));
	assert_reason(R_FORMAT_TRUNCATED, administered(s, ADMIN_REF_STAGE, FILE_DIGEST, BYTES_NONE));
	assert_value(s, "5", "SELECT count(*) FROM variant");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(computed_references_are_staged, begin, end),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
