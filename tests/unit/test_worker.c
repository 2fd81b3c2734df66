/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker whose ledger is taken over. What is no message of theirs, counts
 * too far or cannot be judged by ends the worker with its reason; evidence
 * that is nonsense is judged as such, and the signer hears nothing of it.
 */
#include "server/worker.h"
#include "worker_kit.h"

/* ---- messages that are none -------------------------------------------------------- */

static void out_of_form(void **state)
{
	static const struct {
		uint32_t type;
		size_t body;
		enum reason ends;
		size_t tail_at;
		uint32_t tail;
		bool fd;
	} d[] = {
		{ MSG_FINDING, sizeof(struct msg_finding), R_FORMAT_TYPE, 0, 0, false },
		{ MSG_ANNOUNCE, sizeof(struct msg_announce), R_FORMAT_TYPE, 0, 0, false },
		{ MSG_SIGNED, sizeof(struct msg_signed), R_FORMAT_TYPE, 0, 0, false },
		{ MSG_JUDGED, sizeof(struct msg_judged), R_FORMAT_TYPE, 0, 0, false },
		{ MSG_ADMIN, sizeof(struct msg_admin), R_FORMAT_TYPE, 0, 0, false },
		{ MSG_WORKER, 0, R_FORMAT_TYPE, 0, 0, false },
		{ MSG_JUDGE, sizeof(struct msg_judge) - 1, R_FORMAT_TRUNCATED, 0, 0, false },
		{ MSG_CONTINUED, sizeof(struct msg_continued) - 1, R_FORMAT_TRUNCATED, 0, 0, false },
		{ MSG_ENROLLING, sizeof(struct msg_enrolling) - 1, R_FORMAT_TRUNCATED, 0, 0, false },
		{ MSG_RECEIVED, sizeof(struct msg_received) - 1, R_FORMAT_TRUNCATED, 0, 0, false },
		{ MSG_LEARN, 0, R_FORMAT_TRUNCATED, 0, 0, false },
#define LIES(t, s, more, lie) \
	{ t, sizeof(struct s) + (more), R_FORMAT_TRUNCATED, offsetof(struct s, tail), lie, false }
		LIES(MSG_JUDGE, msg_judge, 0, 1),
		LIES(MSG_JUDGE, msg_judge, 1, UINT32_MAX),
		LIES(MSG_CONTINUED, msg_continued, 3, 2),
		LIES(MSG_ENROLLING, msg_enrolling, 3, 4),
		LIES(MSG_RECEIVED, msg_received, 3, 2),
		LIES(MSG_LEARN, msg_learn, 0, 9),
		{ MSG_JUDGE, sizeof(struct msg_judge), R_FORMAT_TYPE, 0, 0, true },
		{ MSG_POLICY, 10, R_FORMAT_TYPE, 0, 0, true },
	};
	static const struct {
		uint32_t type;
		size_t body;
	} large[] = {
		{ MSG_REFS, (size_t)LIMIT_REFERENCE_SET + 1 },
		{ MSG_POLICY, LIMIT_REFERENCE + 1 },
		{ MSG_JUDGE, sizeof(struct msg_judge) + LIMIT_EVIDENCE + 1 },
		{ MSG_ENROLLING, sizeof(struct msg_enrolling) + LIMIT_ENROL + 1 },
		{ MSG_LEARN, UINT32_MAX },
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(d); i++) {
		_cleanup_free_ uint8_t *body = calloc(1, d[i].body + 1);
		struct bytes piece = { body, d[i].body };

		assert_non_null(body);
		if (d[i].tail_at)
			memcpy(body + d[i].tail_at, &d[i].tail, sizeof(d[i].tail));
		assert_ok(ipc_send_wait(&s->ledger, d[i].type, 1, &piece, 1, d[i].fd ? 0 : -1, PATIENCE_MS));
		assert_ended(s, d[i].ends);
	}
	for (size_t i = 0; i < ARRAY_LEN(large); i++) {
		const struct { uint32_t magic, type; uint64_t id; uint32_t len, fds; } header = {
			0x31504742, large[i].type, 1, (uint32_t)large[i].body, 0,
		};

		assert_int_equal(write(s->ledger.fd, &header, sizeof(header)), sizeof(header));
		assert_ended(s, R_FORMAT_TOO_LARGE);
	}
	assert_judges(s);
}

/* ---- what it judges by --------------------------------------------------------------- */

static void references_that_are_none(void **state)
{
	static const uint8_t many[] = { 0x9b, 0, 0, 0, 1, 0, 0, 0, 0 };	/* an array of 2^32 */
	struct scene *s = *state;
	struct bytes refs = blob_bytes(&s->refs);

	send(s, MSG_REFS, BYTES_NONE);
	assert_ended(s, R_FORMAT_TRUNCATED);
	send(s, MSG_REFS, bytes_str("references"));
	assert_ended(s, R_FORMAT_TYPE);
	send(s, MSG_REFS, BYTES(many));
	assert_ended(s, R_FORMAT_RANGE);
	send(s, MSG_REFS, bytes_of(refs.p, refs.n - 1));
	assert_ended(s, R_FORMAT_TRUNCATED);
	send(s, MSG_POLICY, BYTES_NONE);
	assert_ended(s, R_FORMAT_TRUNCATED);
	send(s, MSG_POLICY, bytes_str("policy"));
	assert_ended(s, R_FORMAT_TYPE);
	assert_judges(s);
}

static void judging_by_nothing(void **state)
{
	static const uint8_t empty[] = { 0x80 };
	struct scene *s = *state;
	struct verdict v;

	/* No reference: refused. No policy: not judged at all. */
	send(s, MSG_REFS, BYTES(empty));
	assert_int_equal(judged(s, &v), DIRECTIVE_REFUSE);
	assert_string_equal(v.reason[0].name, reason_name(R_POLICY_NO_REFERENCE));
	worker_stop(s);
	worker_start(s, false);
	SEND(s, MSG_JUDGE, &s->judge, blob_bytes(&s->kit->evidence));
	assert_ended(s, R_INTERNAL);
}

/* ---- sessions -------------------------------------------------------------------------- */

#define ENDS(r, what)                                                             \
	do {                                                                      \
		honest(s);                                                        \
		what;                                                             \
		SEND(s, MSG_JUDGE, &s->judge, blob_bytes(&s->kit->evidence));     \
		assert_ended(s, r);                                               \
	} while (0)

static void session_out_of_range(void **state)
{
	struct scene *s = *state;
	struct msg_session *x = &s->judge.s;

	ENDS(R_FORMAT_RANGE, x->session.stage = STAGE_MAX);
	ENDS(R_FORMAT_RANGE, x->session.selection.count = LIMIT_BANKS + 1);
	ENDS(R_FORMAT_RANGE, x->session.selection.count = SIZE_MAX);
	ENDS(R_FORMAT_RANGE, x->allowed = DIRECTIVE_MAX);
	ENDS(R_FORMAT_RANGE, memset(&x->allowed, 0xff, sizeof(x->allowed)));
	ENDS(R_FORMAT_RANGE, x->allowed_reason = R_MAX);
	ENDS(R_FORMAT_RANGE, memset(&x->allowed_reason, 0xff, sizeof(x->allowed_reason)));
	ENDS(R_FORMAT_RANGE, s->judge.rollout.mode = ROLLOUT_MODE_MAX);
	ENDS(R_FORMAT_RANGE, s->judge.rollout.new_count = ROLLOUT_NEW_MAX + 1);
	ENDS(R_FORMAT_RANGE, s->judge.rollout.retired_count = SIZE_MAX);
	/* a verdict that no gate would read */
	ENDS(R_FORMAT_RANGE, x->lifetime = UINT32_MAX);
	ENDS(R_FORMAT_RANGE, x->now = UINT64_MAX);

	/* Texts that do not end, truth values that are none. */
	struct verdict v;
	honest(s);
	memset(x->node, '\n', sizeof(x->node));
	memset(x->basis, 'b', sizeof(x->basis));
	memset(x->allowed_detail, 0xff, sizeof(x->allowed_detail));
	memset(&x->has_manifest, 0xff, sizeof(x->has_manifest));
	memset(&x->has_update, 0xff, sizeof(x->has_update));
	memset(&x->banks_proved, 0xff, sizeof(x->banks_proved));
	memset(&x->record.clock.known, 0xff, sizeof(x->record.clock.known));
	memset(x->record.board, 'b', sizeof(x->record.board));
	memset(s->judge.rollout.name, 'r', sizeof(s->judge.rollout.name));
	memset(&s->judge.rollout.last_try, 0xff, sizeof(s->judge.rollout.last_try));
	x->allowed = DIRECTIVE_HOLD;
	x->allowed_reason = R_NODE_PENDING;
	assert_int_equal(judged(s, &v), DIRECTIVE_HOLD);
	assert_int_equal(strspn(v.node, "?"), sizeof(v.node) - 1);
	assert_int_equal(strspn(v.basis, "b"), sizeof(v.basis) - 1);
	assert_judges(s);
}

static void session_of_another(void **state)
{
	struct scene *s = *state;
	struct msg_session *x = &s->judge.s;
	struct bytes evidence = blob_bytes(&s->kit->evidence);

	x->session.nonce[0] ^= 1;
	assert_not_authentic(s, R_QUOTE_NONCE, evidence);
	honest(s);
	evidence = blob_bytes(&s->kit->evidence);
	x->session.ak_name[9] ^= 1;
	assert_not_authentic(s, R_QUOTE_SIGNER, evidence);
	x->session.ak_name[9] ^= 1;
	x->session.selection.bank[0].mask ^= 1;
	assert_not_authentic(s, R_QUOTE_SELECTION, evidence);
	x->session.selection.bank[0].mask ^= 1;
	x->session.selection.bank[1].alg = 0xffff;
	assert_not_authentic(s, R_QUOTE_SELECTION, evidence);
	honest(s);
	evidence = blob_bytes(&s->kit->evidence);
	x->session_token[0] ^= 1;
	assert_not_authentic(s, R_SESSION_TOKEN, evidence);
	x->session_token[0] ^= 1;
	x->session.stage = STAGE_HOST;
	assert_not_authentic(s, R_SESSION_STAGE, evidence);
	assert_judges(s);
}

/* ---- evidence and the rest ---------------------------------------------------------------- */

static void evidence_that_is_none(void **state)
{
	struct scene *s = *state;
	struct bytes whole = blob_bytes(&s->kit->evidence);
	_cleanup_(blob_free) struct blob more = BLOB(LIMIT_EVIDENCE);

	assert_not_authentic(s, R_FORMAT_TRUNCATED, BYTES_NONE);
	assert_not_authentic(s, R_FORMAT_TYPE, bytes_str("evidence"));
	for (size_t i = 0; i < 16; i++)
		assert_not_authentic(s, R_FORMAT_TRUNCATED, bytes_of(whole.p, whole.n * i / 16));
	assert_ok(blob_append(&more, whole.p, whole.n));
	assert_ok(blob_u8(&more, 0));
	assert_not_authentic(s, R_FORMAT_TRAILING, blob_bytes(&more));
	more.n--;
	more.p[more.n - 1] ^= 1;
	assert_not_authentic(s, R_QUOTE_SIGNATURE, blob_bytes(&more));
	assert_judges(s);
}

/* The set of certificates that the quoted claims show, whatever their order. */
static void certificates_shown(void **state)
{
	struct scene *s = *state;
	struct claims *c = &s->kit->claims;
	uint8_t both[2][SHA256_LEN], none[SHA256_LEN], set[SHA256_LEN], one[SHA256_LEN];
	struct msg_judged g;

	memset(both[0], 1, SHA256_LEN);
	memset(both[1], 2, SHA256_LEN);
	assert_ok(sha256(BYTES_NONE, none));
	assert_ok(sha256(bytes_of(both, sizeof(both)), set));
	assert_ok(sha256(BYTES(both[1]), one));
	const struct {
		size_t count, first;
		const uint8_t *set;
	} cases[] = { { 0, 0, none }, { 2, 0, set }, { 2, 1, set }, { 1, 1, one } };
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		c->ek_digest_count = cases[i].count;
		memcpy(c->ek_digest[0], both[cases[i].first], SHA256_LEN);
		memcpy(c->ek_digest[1], both[!cases[i].first], SHA256_LEN);
		kit_seal(s->kit);
		SEND(s, MSG_JUDGE, &s->judge, blob_bytes(&s->kit->evidence));
		ANSWERED(s, MSG_JUDGED, g);
		assert_ok(g.quote);
		assert_memory_equal(g.ek_set, cases[i].set, SHA256_LEN);
	}
}

static void continuity_out_of_range(void **state)
{
	struct scene *s = *state;
	struct msg_continued c = { .s = s->judge.s };
	struct msg_judged g;

	c.receipt_values.count = LIMIT_BANKS + 1;
	SEND(s, MSG_CONTINUED, &c, blob_bytes(&s->kit->evidence));
	assert_ended(s, R_FORMAT_RANGE);
	c.receipt_values.count = 0;
	c.s.session.stage = STAGE_MAX;
	SEND(s, MSG_CONTINUED, &c, blob_bytes(&s->kit->evidence));
	assert_ended(s, R_FORMAT_RANGE);
	/* evidence of the gate as continuity; banks and registers that do not exist */
	c.s.session.stage = STAGE_HOST;
	c.receipt_values.count = LIMIT_BANKS;
	memset(c.receipt_values.bank, 0xff, sizeof(c.receipt_values.bank));
	SEND(s, MSG_CONTINUED, &c, blob_bytes(&s->kit->evidence));
	ANSWERED(s, MSG_JUDGED, g);
	assert_reason(R_QUOTE_NONCE, g.quote);
	SEND(s, MSG_CONTINUED, &c, BYTES_NONE);
	ANSWERED(s, MSG_JUDGED, g);
	assert_reason(R_FORMAT_TRUNCATED, g.quote);
	assert_signer_heard_nothing(s);
	assert_judges(s);
}

static void enrolment_that_is_none(void **state)
{
	struct scene *s = *state;
	struct msg_enrolling m = { 0 };
	struct msg_enrolled out;

	SEND(s, MSG_ENROLLING, &m, BYTES_NONE);
	ANSWERED(s, MSG_ENROLLED, out);
	assert_reason(R_FORMAT_TRUNCATED, out.result);
	SEND(s, MSG_ENROLLING, &m, bytes_str("enrol"));
	ANSWERED(s, MSG_ENROLLED, out);
	assert_reason(R_FORMAT_TYPE, out.result);
	assert_int_equal(out.count, 0);
	assert_judges(s);
}

static void receipt_out_of_range(void **state)
{
	struct scene *s = *state;
	struct msg_received m, good = { .session = s->judge.s.session, .receipt_len = 1, .evidence_len = 1,
					.verdict_len = 1, .manifest_len = 1 };
	struct msg_receipt_judged out;
	struct bytes tail = bytes_str("abcd");

	m = good;
	m.values.count = LIMIT_BANKS + 1;
	SEND(s, MSG_RECEIVED, &m, tail);
	assert_ended(s, R_FORMAT_RANGE);
	m = good;
	m.ak_public_len = LIMIT_TPM_PUBLIC + 1;
	SEND(s, MSG_RECEIVED, &m, tail);
	assert_ended(s, R_FORMAT_RANGE);
	m = good;
	m.session.selection.count = SIZE_MAX;
	SEND(s, MSG_RECEIVED, &m, tail);
	assert_ended(s, R_FORMAT_RANGE);
	/* pieces that are not the whole */
	m = good;
	m.receipt_len = UINT32_MAX;
	SEND(s, MSG_RECEIVED, &m, tail);
	assert_ended(s, R_FORMAT_TRUNCATED);
	m = good;
	m.evidence_len = 3;
	SEND(s, MSG_RECEIVED, &m, tail);
	assert_ended(s, R_FORMAT_TRUNCATED);
	m = good;
	m.manifest_len = 0;
	SEND(s, MSG_RECEIVED, &m, tail);
	assert_ended(s, R_FORMAT_TRAILING);
	/* pieces that are nothing */
	SEND(s, MSG_RECEIVED, &good, tail);
	ANSWERED(s, MSG_RECEIPT_JUDGED, out);
	assert_reason(R_FORMAT_TYPE, out.result);
	assert_int_equal(out.values.count, 0);
	assert_judges(s);
}

static void learning_from_nothing(void **state)
{
	struct scene *s = *state;
	struct msg_learn m = { .session = s->judge.s.session };
	struct msg_learned out;

	memset(m.source, 'x', sizeof(m.source));
	SEND(s, MSG_LEARN, &m, bytes_str("evidence"));
	ANSWERED(s, MSG_LEARNED, out);
	assert_reason(R_FORMAT_TYPE, out.result);
	assert_int_equal(out.tail, 0);
	/* What is authentic, but of another session. */
	m.session.nonce[3] ^= 1;
	SEND(s, MSG_LEARN, &m, blob_bytes(&s->kit->evidence));
	ANSWERED(s, MSG_LEARNED, out);
	assert_reason(R_QUOTE_NONCE, out.result);
	m.session.nonce[3] ^= 1;
	SEND(s, MSG_LEARN, &m, blob_bytes(&s->kit->evidence));
	ANSWERED(s, MSG_LEARNED, out);
	assert_ok(out.result);
	m.session.stage = STAGE_MAX;
	SEND(s, MSG_LEARN, &m, blob_bytes(&s->kit->evidence));
	assert_ended(s, R_FORMAT_RANGE);
	assert_judges(s);
}

static void serves_its_number_and_ends(void **state)
{
	struct scene *s = *state;
	struct msg_judged g;

	for (unsigned i = 1; i < WORKER_REQUESTS; i++)
		assert_not_authentic(s, R_FORMAT_TRUNCATED, BYTES_NONE);
	/* It may be gone as soon as it has answered the last. */
	SEND(s, MSG_JUDGE, &s->judge, BYTES_NONE);
	ANSWERED(s, MSG_JUDGED, g);
	assert_reason(R_FORMAT_TRUNCATED, g.quote);
	assert_ended(s, R_OK);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)
		SCENE(out_of_form),
		SCENE(references_that_are_none),
		SCENE(judging_by_nothing),
		SCENE(session_out_of_range),
		SCENE(session_of_another),
		SCENE(evidence_that_is_none),
		SCENE(certificates_shown),
		SCENE(continuity_out_of_range),
		SCENE(enrolment_that_is_none),
		SCENE(receipt_out_of_range),
		SCENE(learning_from_nothing),
		SCENE(serves_its_number_and_ends),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
