/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger among peers that are taken over. A front or the signer that
 * deviates ends the ledger, and with it the whole server is started again; a
 * worker that deviates ends alone. Whatever is in form and out of range is
 * refused by name. Nothing is recorded that must not be.
 */
#include "base/clock.h"
#include "ledger_kit.h"
#include "server/ledger.h"

/* ---- messages that are none --------------------------------------------------- */

/* One message, and where it deviates. */
struct deviation {
	uint32_t type;
	size_t body;		/* of zeros */
	bool fd;
	enum reason ends;
	size_t tail_at;		/* where `tail` is put, 0: nowhere */
	uint32_t tail;
};

#define LIES(t, s, more, lie) \
	{ t, sizeof(struct s) + (more), false, R_FORMAT_TRUNCATED, offsetof(struct s, tail), lie }
#define LENGTH(t, n, r) { t, n, false, r, 0, 0 }
#define TYPE(t, n) { t, n, false, R_FORMAT_TYPE, 0, 0 }
#define CARRIES_FD(t, n) { t, n, true, R_FORMAT_TYPE, 0, 0 }

static void deviate(struct ipc *from, uint64_t id, const struct deviation *d)
{
	_cleanup_free_ uint8_t *body = calloc(1, d->body + 1);
	struct bytes piece = { body, d->body };

	assert_non_null(body);
	if (d->tail_at)
		memcpy(body + d->tail_at, &d->tail, sizeof(d->tail));
	if (d->ends == R_FORMAT_TOO_LARGE) {
		/* Its header says enough: nobody waits for the rest. */
		const struct { uint32_t magic, type; uint64_t id; uint32_t len, fds; } header = {
			0x31504742, d->type, id, (uint32_t)d->body, 0,
		};

		assert_int_equal(write(from->fd, &header, sizeof(header)), sizeof(header));
		return;
	}
	assert_ok(ipc_send_wait(from, d->type, id, &piece, 1, d->fd ? 0 : -1, PATIENCE_MS));
}

/* What the same turn had done before is not recorded, nor acknowledged. */
static void assert_all_deviations_end(struct scene *s, size_t at, const struct deviation *d, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ipc *const from[] = { &s->front, &s->admin, &s->signer };
		struct msg_failure f = failure_make();
		struct ipc_message m;

		assert_serves(s);
		freeze(s);
		ASK(s, &s->front, MSG_FAILURE, &f, BYTES_NONE);
		deviate(from[at], 1, &d[i]);
		thaw(s);
		assert_reason(R_INTERNAL_CHILD, ipc_wait(&s->front, PATIENCE_MS, &m));
		assert_ended(s, d[i].ends);
		assert_value(s, "0", "SELECT count(*) FROM failure");
	}
	assert_serves(s);
	assert_nothing_recorded(s);
}

static void node_front_out_of_form(void **state)
{
	static const struct deviation d[] = {
		/* of other peers */
		TYPE(MSG_ADMIN, sizeof(struct msg_admin)),
		TYPE(MSG_JUDGED, sizeof(struct msg_judged)),
		TYPE(MSG_LEARNED, sizeof(struct msg_learned)),
		TYPE(MSG_SIGNED, sizeof(struct msg_signed)),
		TYPE(MSG_WORKER, 0),
		TYPE(MSG_RETIRE, 0),
		TYPE(MSG_RELEASE_KEYS, sizeof(struct msg_release_keys)),
		/* the other direction, and of nobody */
		TYPE(MSG_ANSWER, sizeof(struct msg_answer)),
		TYPE(MSG_JUDGE, sizeof(struct msg_judge)),
		TYPE(0, 0),
		TYPE(UINT32_MAX, 0),
		LENGTH(MSG_CHALLENGE, sizeof(struct msg_challenge) - 1, R_FORMAT_TRUNCATED),
		LENGTH(MSG_CHALLENGE, sizeof(struct msg_challenge) + 1, R_FORMAT_TOO_LARGE),
		LENGTH(MSG_MANIFEST, 0, R_FORMAT_TRUNCATED),
		LENGTH(MSG_ENROL, sizeof(struct msg_enrol) - 1, R_FORMAT_TRUNCATED),
		LENGTH(MSG_ENROL, sizeof(struct msg_enrol) + LIMIT_ENROL + 1, R_FORMAT_TOO_LARGE),
		LENGTH(MSG_ATTEST, sizeof(struct msg_attest) + LIMIT_EVIDENCE + 1, R_FORMAT_TOO_LARGE),
		LENGTH(MSG_RECEIPT, sizeof(struct msg_receipt) + LIMIT_RECEIPT + 1, R_FORMAT_TOO_LARGE),
		LENGTH(MSG_FAILURE, sizeof(struct msg_failure) + LIMIT_FAILURE_LOG + 1, R_FORMAT_TOO_LARGE),
		LIES(MSG_ENROL, msg_enrol, 0, 1),
		LIES(MSG_ENROL, msg_enrol, 1, 0),
		LIES(MSG_ATTEST, msg_attest, 0, UINT32_MAX),
		LIES(MSG_ATTEST, msg_attest, 7, 6),
		LIES(MSG_RECEIPT, msg_receipt, 7, 8),
		LIES(MSG_FAILURE, msg_failure, 1, 2),
		CARRIES_FD(MSG_CHALLENGE, sizeof(struct msg_challenge)),
	};

	assert_all_deviations_end(*state, 0, d, ARRAY_LEN(d));
}

static void admin_front_out_of_form(void **state)
{
	static const struct deviation d[] = {
		TYPE(MSG_CHALLENGE, sizeof(struct msg_challenge)),
		TYPE(MSG_ATTEST, sizeof(struct msg_attest)),
		TYPE(MSG_RECEIPT, sizeof(struct msg_receipt)),
		TYPE(MSG_SIGNED, sizeof(struct msg_signed)),
		TYPE(MSG_RETIRE, 0),
		LENGTH(MSG_ADMIN, sizeof(struct msg_admin) - 1, R_FORMAT_TRUNCATED),
		LENGTH(MSG_ADMIN, sizeof(struct msg_admin) + LIMIT_REFERENCE_SET + 1, R_FORMAT_TOO_LARGE),
		LIES(MSG_ADMIN, msg_admin, 0, 1),
		LIES(MSG_ADMIN, msg_admin, 5, 4),
		CARRIES_FD(MSG_ADMIN, sizeof(struct msg_admin)),
	};

	assert_all_deviations_end(*state, 1, d, ARRAY_LEN(d));
}

static void signer_out_of_form(void **state)
{
	static const struct deviation d[] = {
		TYPE(MSG_JUDGED, sizeof(struct msg_judged)),
		TYPE(MSG_FINDING, sizeof(struct msg_finding)),
		TYPE(MSG_ADMIN, sizeof(struct msg_admin)),
		LENGTH(MSG_SIGNED, sizeof(struct msg_signed) - 1, R_FORMAT_TRUNCATED),
		LENGTH(MSG_SIGNED, sizeof(struct msg_signed) + LIMIT_VERDICT + 1, R_FORMAT_TOO_LARGE),
		LIES(MSG_SIGNED, msg_signed, 3, UINT32_MAX),
		CARRIES_FD(MSG_SIGNED, sizeof(struct msg_signed)),
	};

	assert_all_deviations_end(*state, 2, d, ARRAY_LEN(d));
}

static void no_header_at_all(void **state)
{
	struct scene *s = *state;

	assert_int_equal(write(s->front.fd, "GET / HTTP/1.1\r\nHost: ledger\r\n\r\n", 32), 32);
	assert_ended(s, R_FORMAT_VERSION);
	/* Ends in the middle of a message. */
	assert_int_equal(write(s->admin.fd, "BGP1", 4), 4);
	ipc_close(&s->admin);
	assert_ended(s, R_INTERNAL_CHILD);
	assert_serves(s);
}

static void worker_out_of_form(void **state)
{
	static const struct deviation d[] = {
		TYPE(MSG_SIGNED, sizeof(struct msg_signed)),
		TYPE(MSG_FINDING, sizeof(struct msg_finding)),
		TYPE(MSG_ADMIN, sizeof(struct msg_admin)),
		TYPE(MSG_ATTEST, sizeof(struct msg_attest)),
		TYPE(MSG_WORKER, 0),
		LENGTH(MSG_JUDGED, sizeof(struct msg_judged) - 1, R_FORMAT_TRUNCATED),
		LENGTH(MSG_JUDGED, sizeof(struct msg_judged) + LIMIT_EXPLANATION + 1, R_FORMAT_TOO_LARGE),
		LENGTH(MSG_RECEIPT_JUDGED, sizeof(struct msg_receipt_judged) + 1, R_FORMAT_TOO_LARGE),
		LIES(MSG_JUDGED, msg_judged, 0, 1),
		LIES(MSG_JUDGED, msg_judged, 2, UINT32_MAX),
		CARRIES_FD(MSG_JUDGED, sizeof(struct msg_judged)),
		/* in form, but not what it was asked */
		LENGTH(MSG_ENROLLED, sizeof(struct msg_enrolled), R_INTERNAL_CHILD),
		LENGTH(MSG_RECEIPT_JUDGED, sizeof(struct msg_receipt_judged), R_INTERNAL_CHILD),
		LENGTH(MSG_LEARNED, sizeof(struct msg_learned), R_INTERNAL_CHILD),
	};
	struct scene *s = *state;
	struct msg_judged g = judged_make(s);

	for (size_t i = 0; i < ARRAY_LEN(d); i++) {
		uint64_t asked = attest(s), job = judging(s);

		deviate(&s->worker[0], job, &d[i]);
		assert_worker_thrown_out(s, asked);
	}
	/* While one lies, the other judges. */
	uint64_t first = attest(s), job = judging(s);
	uint64_t second = attest(s), honest = judging_by(s, 1);
	judged(s, 0, honest, &g);
	assert_worker_thrown_out(s, first);
	assert_true(job != honest);
	judged(s, 1, honest, &g);
	signed_(s, honest, DIRECTIVE_ADMIT);
	assert_ok(heard(&s->front, second, NULL));
	assert_value(s, "1", "SELECT count(*) FROM attestation");
	assert_serves(s);
}

/* ---- node front: in form, out of range ------------------------------------------- */

static enum reason challenged(struct scene *s, const struct msg_challenge *c)
{
	return heard(&s->front, ask(s, &s->front, MSG_CHALLENGE, c, sizeof(*c), BYTES_NONE), NULL);
}

static enum reason attested(struct scene *s, struct msg_attest *m)
{
	return heard(&s->front, ASK(s, &s->front, MSG_ATTEST, m, BYTES(s->body)), NULL);
}

static void sessions_out_of_range(void **state)
{
	struct scene *s = *state;
	struct msg_challenge c = { 0 };

	memcpy(c.request.ak_name, s->node.ak_name, AK_NAME_LEN);
	c.request.stage = STAGE_MAX;
	assert_reason(R_SESSION_STAGE, challenged(s, &c));
	memset(&c.request.stage, 0xff, sizeof(c.request.stage));
	assert_reason(R_SESSION_STAGE, challenged(s, &c));

	struct msg_attest m = attest_make(s);
	m.token.len = UINT16_MAX;
	assert_reason(R_SESSION_TOKEN, attested(s, &m));
	m = attest_make(s);
	m.token.len = 0;
	assert_reason(R_SESSION_TOKEN, attested(s, &m));
	m = attest_make(s);
	m.token.bytes[m.token.len - 1] ^= 1;
	assert_reason(R_SESSION_TOKEN, attested(s, &m));
	m = attest_make(s);
	m.stage = STAGE_HOST;
	assert_reason(R_SESSION_STAGE, attested(s, &m));
	m = attest_make(s);
	m.ak_name[9] ^= 1;
	assert_reason(R_NODE_UNKNOWN, attested(s, &m));
	/* of an hour ago, of tomorrow, of a node that nobody knows */
	struct session_token t = session_make_new(s, s->node.ak_name);
	m = attest_make(s);
	t.issued -= 3600;
	token_seal(s, &t, &m.token);
	assert_reason(R_SESSION_EXPIRED, attested(s, &m));
	t.issued += 2 * 3600;
	token_seal(s, &t, &m.token);
	assert_reason(R_SESSION_EXPIRED, attested(s, &m));
	t = session_make_new(s, s->node.ak_name);
	t.ak_name[9] ^= 1;
	token_seal(s, &t, &m.token);
	memcpy(m.ak_name, t.ak_name, AK_NAME_LEN);
	assert_reason(R_NODE_UNKNOWN, attested(s, &m));
	/* an enrolment token in the place of the session's */
	m = attest_make(s);
	struct msg_token swap = m.token;
	m.enrol_token = swap;
	m.proof_count = 1;
	assert_reason(R_SESSION_TOKEN, attested(s, &m));

	assert_silence(&s->signer);
	assert_serves(s);
	assert_nothing_recorded(s);
}

static void proofs_that_prove_nothing(void **state)
{
	static const uint8_t proof[SHA256_LEN] = { 1, 2, 3 };
	struct scene *s = *state;
	struct enrol_token t;
	struct msg_attest m = enrolling_make(s, &t, 2, proof);

	m.proof[0].proof[31] ^= 1;
	assert_reason(R_ENROL_PROOF, attested(s, &m));
	/* A wrong one beside a right one spoils both. */
	m = enrolling_make(s, &t, 2, proof);
	m.proof[1] = m.proof[0];
	m.proof[1].proof[0] ^= 1;
	m.proof_count = 2;
	assert_reason(R_ENROL_PROOF, attested(s, &m));
	/* of a key that got no credential */
	m = enrolling_make(s, &t, 2, proof);
	m.proof[0].ek_name[33] ^= 1;
	assert_reason(R_ENROL_PROOF, attested(s, &m));
	m = enrolling_make(s, &t, 2, proof);
	m.proof[0].ek_name_len = UINT8_MAX;
	assert_reason(R_ENROL_PROOF, attested(s, &m));
	m = enrolling_make(s, &t, 2, proof);
	m.proof_count = 0;
	assert_reason(R_ENROL_PROOF, attested(s, &m));
	/* of another session, of another AK */
	m = enrolling_make(s, &t, 2, proof);
	t.nonce[0] ^= 1;
	seal_again(s, &t, &m);
	assert_reason(R_ENROL_PROOF, attested(s, &m));
	m = enrolling_make(s, &t, 2, proof);
	memcpy(t.ak_name, s->node.ak_name, AK_NAME_LEN);
	seal_again(s, &t, &m);
	assert_reason(R_ENROL_PROOF, attested(s, &m));
	/* counts and lengths out of range, and too late */
	m = enrolling_make(s, &t, 2, proof);
	m.proof_count = LIMIT_EKS + 1;
	assert_reason(R_SESSION_TOKEN, attested(s, &m));
	m = enrolling_make(s, &t, 2, proof);
	m.proof_count = UINT32_MAX;
	assert_reason(R_SESSION_TOKEN, attested(s, &m));
	m = enrolling_make(s, &t, 2, proof);
	m.enrol_token.len = UINT16_MAX;
	assert_reason(R_SESSION_TOKEN, attested(s, &m));
	m = enrolling_make(s, &t, 2, proof);
	t.issued -= 3600;
	seal_again(s, &t, &m);
	assert_reason(R_SESSION_EXPIRED, attested(s, &m));
	/* for a later stage */
	m = enrolling_make(s, &t, 2, proof);
	struct session_token later = session_make_new(s, m.ak_name);
	later.stage = m.stage = STAGE_HOST;
	token_seal(s, &later, &m.token);
	assert_reason(R_SESSION_STAGE, attested(s, &m));

	assert_silence(&s->signer);
	assert_nothing_recorded(s);
	/* The right one goes on. */
	m = enrolling_make(s, &t, 2, proof);
	ASK(s, &s->front, MSG_ATTEST, &m, BYTES(s->body));
	judging(s);
}

/* The ledger starts with another key; the one before is good for so long. */
static void token_key_changes(struct scene *s, uint64_t old_for_ms)
{
	ledger_stop(s);
	memcpy(s->token_key_old, s->token_key, sizeof(s->token_key));
	memset(s->token_key, ++s->last_nonce, sizeof(s->token_key));
	s->token_key_old_until = old_for_ms ? clock_boot_ms() + old_for_ms : 0;
	ledger_start(s);
}

/* A token of the key before is opened for its time, and nothing is sealed with it. */
static void tokens_of_the_key_before(void **state)
{
	static const uint8_t proof[SHA256_LEN] = { 1, 2, 3 };
	struct scene *s = *state;
	struct enrol_token t;
	struct msg_attest m = attest_make(s), enrolling = enrolling_make(s, &t, 2, proof);

	/* A proof that is wrong is found only behind both tokens. */
	enrolling.proof[0].proof[31] ^= 1;
	token_key_changes(s, PATIENCE_MS);
	assert_reason(R_ENROL_PROOF, attested(s, &enrolling));
	m.tail = sizeof(s->body);
	ask(s, &s->front, MSG_ATTEST, &m, sizeof(m), BYTES(s->body));
	(void)judging(s);

	m = attest_make(s);
	enrolling = enrolling_make(s, &t, 2, proof);
	token_key_changes(s, 0);
	assert_reason(R_SESSION_TOKEN, attested(s, &m));
	assert_reason(R_SESSION_TOKEN, attested(s, &enrolling));

	m = attest_make(s);
	token_key_changes(s, PATIENCE_MS);
	token_key_changes(s, PATIENCE_MS);
	assert_reason(R_SESSION_TOKEN, attested(s, &m));
	assert_nothing_recorded(s);
}

static void texts_without_end(void **state)
{
	struct scene *s = *state;
	struct msg_challenge c;
	struct msg_failure f;

	memset(&c, '\n', sizeof(c));
	c.request.stage = STAGE_GATE;
	assert_ok(challenged(s, &c));
	memset(&f, '\n', sizeof(f));
	assert_ok(heard(&s->front, ASK(s, &s->front, MSG_FAILURE, &f, BYTES_NONE), NULL));
	assert_value(s, "1", "SELECT count(*) FROM failure WHERE length(peer) < 64 AND length(step) < 32"
			     " AND length(reason) < 64 AND instr(peer || step || reason, char(10)) = 0");
	/* A truth value that is none, and a node that exists: told as unproven. */
	f = failure_make();
	memset(&f.has_ak_name, 0xff, sizeof(f.has_ak_name));
	memcpy(f.ak_name, s->node.ak_name, AK_NAME_LEN);
	assert_ok(heard(&s->front, ASK(s, &s->front, MSG_FAILURE, &f, BYTES_NONE), NULL));
	assert_value(s, "unproven", "SELECT actor FROM audit ORDER BY number DESC");
	assert_serves(s);
	assert_nothing_recorded(s);
}

static void receipts_of_nothing(void **state)
{
	struct scene *s = *state;
	struct msg_receipt m = { 0 };
	struct msg_manifest q = { { 0 } };

	memcpy(m.ak_name, s->node.ak_name, AK_NAME_LEN);
	assert_reason(R_RECEIPT_UNKNOWN,
		      heard(&s->front, ASK(s, &s->front, MSG_RECEIPT, &m, bytes_str("receipt")), NULL));
	assert_reason(R_STORE_NOT_FOUND,
		      heard(&s->front, ask(s, &s->front, MSG_MANIFEST, &q, sizeof(q), BYTES_NONE), NULL));
	assert_nothing_recorded(s);
	/* Another node's verdict. */
	admitted(s);
	assert_ok(sha256(bytes_str("verdict 1"), m.verdict_digest));
	m.ak_name[5] ^= 1;
	assert_reason(R_RECEIPT_UNKNOWN,
		      heard(&s->front, ASK(s, &s->front, MSG_RECEIPT, &m, bytes_str("receipt")), NULL));
	assert_value(s, "0", "SELECT count(*) FROM receipt");
}

/* ---- admin front: in form, out of range --------------------------------------------- */

static void assert_nothing_changed(struct scene *s)
{
	assert_value(s, "0", "SELECT count(*) FROM audit");
	assert_value(s, "1", "SELECT count(*) FROM manifest");
	assert_value(s, "0", "SELECT count(*) FROM policy");
	assert_value(s, "0", "SELECT count(*) FROM listed_ek");
	assert_value(s, "1", "SELECT state FROM node");
	assert_nothing_recorded(s);
}

static void admin_out_of_range(void **state)
{
	struct scene *s = *state;
	struct msg_admin m = admin_make(ADMIN_STATUS, "");

	m.op = ADMIN_OP_MAX;
	assert_reason(R_SERVER_ROUTE, admin_asks(s, &m, BYTES_NONE));
	m.op = UINT32_MAX;
	assert_reason(R_SERVER_ROUTE, admin_asks(s, &m, BYTES_NONE));
	/* texts that do not end, or are none */
	memset(&m, 'a', sizeof(m));
	m.op = ADMIN_NODE_REVOKE;
	m.dry_run = false;
	assert_reason(R_STORE_NOT_FOUND, admin_asks(s, &m, BYTES_NONE));
	m = admin_make(ADMIN_NODE_REVOKE, "n1\n");
	assert_reason(R_FORMAT_TEXT, admin_asks(s, &m, BYTES_NONE));
	m = admin_make(ADMIN_NODE_REVOKE, "n1");
	strcpy(m.reason, "a\033[2J");
	assert_reason(R_FORMAT_TEXT, admin_asks(s, &m, BYTES_NONE));
	/* Any other number than 0 is a dry run. */
	m = admin_make(ADMIN_NODE_REVOKE, "n1");
	memset(&m.dry_run, 0xff, sizeof(m.dry_run));
	assert_ok(admin_asks(s, &m, BYTES_NONE));
	assert_nothing_changed(s);
	/* Who asked stands in the audit, whatever it is made of. */
	m = admin_make(ADMIN_NODE_REVOKE, "n1");
	memset(m.actor, '\n', sizeof(m.actor));
	assert_ok(admin_asks(s, &m, BYTES_NONE));
	assert_value(s, "1", "SELECT count(*) FROM audit WHERE length(actor) = 63 AND instr(actor, char(10)) = 0");
	assert_serves(s);
}

static void admin_bodies(void **state)
{
	struct scene *s = *state;
	struct msg_admin m = admin_make(ADMIN_IMAGE_ADD, "");
	struct {
		struct stored_manifest row;
		uint8_t cose[8];
	} image = { .row = { .line = "host", .version = "2" } };
	struct listed_ek ek = { .label = "n1", .has_certificate = true };
	struct bytes list = bytes_of(&ek, sizeof(ek));

	assert_reason(R_FORMAT_TRUNCATED, admin_asks(s, &m, bytes_of(&image, sizeof(image.row))));
	image.row.purpose = PURPOSE_MAX;
	assert_reason(R_FORMAT_TEXT, admin_asks(s, &m, bytes_of(&image, sizeof(image))));
	image.row.purpose = PURPOSE_HOST;
	memset(image.row.line, '\n', sizeof(image.row.line));
	assert_reason(R_FORMAT_TEXT, admin_asks(s, &m, bytes_of(&image, sizeof(image))));

	m = admin_make(ADMIN_POLICY_SET, "");
	assert_reason(R_FORMAT_TRUNCATED, admin_asks(s, &m, BYTES_NONE));
	assert_reason(R_FORMAT_TYPE, admin_asks(s, &m, bytes_str("policy")));

	m = admin_make(ADMIN_EK_LOAD, "papers");
	assert_reason(R_FORMAT_TRUNCATED, admin_asks(s, &m, BYTES_NONE));
	assert_reason(R_FORMAT_TRUNCATED, admin_asks(s, &m, bytes_of(&ek, sizeof(ek) - 1)));
	ek.name_len = sizeof(ek.name) + 1;
	assert_reason(R_FORMAT_RANGE, admin_asks(s, &m, list));
	ek.name_len = UINT32_MAX;
	assert_reason(R_FORMAT_RANGE, admin_asks(s, &m, list));
	ek.name_len = 0;
	ek.has_certificate = false;
	assert_reason(R_FORMAT_RANGE, admin_asks(s, &m, list));
	memset(ek.label, 0x80, sizeof(ek.label));
	assert_reason(R_FORMAT_TEXT, admin_asks(s, &m, list));
	/* The second is bad: the first is not kept. */
	struct listed_ek two[2] = { { .has_certificate = true }, { .label = "\n", .has_certificate = true } };
	assert_reason(R_FORMAT_TEXT, admin_asks(s, &m, bytes_of(two, sizeof(two))));
	assert_nothing_changed(s);
	assert_serves(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define SCENE(f) cmocka_unit_test_setup_teardown(f, begin, end)
		SCENE(node_front_out_of_form),
		SCENE(admin_front_out_of_form),
		SCENE(signer_out_of_form),
		SCENE(no_header_at_all),
		SCENE(sessions_out_of_range),
		SCENE(proofs_that_prove_nothing),
		SCENE(tokens_of_the_key_before),
		SCENE(texts_without_end),
		SCENE(receipts_of_nothing),
		SCENE(admin_out_of_range),
		SCENE(admin_bodies),
		SCENE(worker_out_of_form),
	};

	log_set_sinks(NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
