/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enrolment. The first message makes credentials and writes nothing; rows
 * appear with the first verdict, after a credential came back.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/random.h"
#include "format/challenge.h"
#include "server/channel.h"
#include "server/ledger.h"

static const struct bytes aad_enrol = { (const uint8_t *)TOKEN_AAD_ENROL, sizeof(TOKEN_AAD_ENROL) - 1 };

enum reason pending_room(struct ledger *l)
{
	uint64_t pending;

	TRY(store_node_count(l->store, NODE_PENDING, &pending));
	return pending < l->conf.pending_max ? R_OK : R_ENROL_FULL;
}

static enum reason enrol_begin(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_enrol *m,
			       struct bytes body)
{
	struct session_token t;
	struct job *j;

	TRY(session_open(l, &m->token, &t));
	if (t.stage != STAGE_GATE)
		return R_SESSION_STAGE;
	TRY(job_add(l, JOB_ENROL, from, id, body, &j));
	memcpy(j->s.session.nonce, t.nonce, NONCE_LEN);
	memcpy(j->s.session.ak_name, t.ak_name, AK_NAME_LEN);
	snprintf(j->peer, sizeof(j->peer), "%s", m->peer);
	return R_OK;
}

void on_enrol(struct ledger *l, struct ipc *from, uint64_t id, const struct msg_enrol *m, struct bytes body)
{
	enum reason r = enrol_begin(l, from, id, m, body);

	if (r != R_OK)
		answer_refusal(l, from, id, r);
}

enum reason enrol_send(struct ledger *l, struct job *j, struct ipc *worker)
{
	struct msg_enrolling m = { .tail = (uint32_t)j->body.n };

	(void)l;
	/* The nonce of the challenge that the answer will carry. */
	TRY(random_bytes(m.new_nonce, sizeof(m.new_nonce)));
	memcpy(j->received.session.nonce, m.new_nonce, NONCE_LEN);
	memcpy(m.session_nonce, j->s.session.nonce, NONCE_LEN);
	memcpy(m.ak_name, j->s.session.ak_name, AK_NAME_LEN);
	struct bytes piece[] = { bytes_of(&m, sizeof(m)), blob_bytes(&j->body) };
	return ipc_send(worker, MSG_ENROLLING, j->id, piece, ARRAY_LEN(piece), -1);
}

/* A key that was bound with a certificate shows it again: what it says of the key must be seen. */
static bool shown_again(const struct node_ek *bound, const struct node_ek *key)
{
	return !bound->has_certificate ||
	       (key->has_certificate &&
		memcmp(bound->certificate_digest, key->certificate_digest, SHA256_LEN) == 0);
}

/*
 * One EK of the result: may it vouch for this AK? It may when its
 * certificate leads to a vendor CA, a list names it, or it is this AK's
 * already: what ended meanwhile does not make it another TPM. Whether it is
 * another AK's is asked when the proof is there: before, anybody could name it.
 */
static enum reason ek_usable(struct ledger *l, const struct job *j, const struct ek_result *e,
			     bool *ret_usable)
{
	struct node_ek key = { .name_len = (uint32_t)e->name_len, .has_certificate = e->has_certificate }, bound;
	struct listed_ek listed;
	struct node owner;

	if (e->name_len > sizeof(e->name) || e->id_object_len > sizeof(e->id_object) ||
	    e->secret_len > sizeof(e->secret))
		return R_SERVER_WORKER;
	memcpy(key.name, e->name, e->name_len);
	memcpy(key.certificate_digest, e->certificate_digest, SHA256_LEN);
	memcpy(key.spki_digest, e->spki_digest, SHA256_LEN);

	*ret_usable = false;
	enum reason r = store_node_by_ek(l->store, bytes_of(e->name, e->name_len), &owner);
	if (r != R_OK && r != R_STORE_NOT_FOUND)
		return r;
	/* Neither list nor record makes up for keys that are known to others, or that show another's certificate. */
	if (e->reason == R_EK_FIRMWARE || e->reason == R_EK_REVOKED || e->reason == R_EK_MISMATCH)
		return R_OK;
	if (r == R_OK && memcmp(owner.ak_name, j->s.session.ak_name, AK_NAME_LEN) == 0) {
		TRY(store_node_ek(l->store, bytes_of(e->name, e->name_len), &bound));
		*ret_usable = shown_again(&bound, &key);
	}
	if (*ret_usable || e->trust == EK_TRUST_CA) {
		*ret_usable = true;
		return R_OK;
	}
	r = store_listed_find(l->store, &key, &listed);
	/* Entries that contradict each other are for a person to see: the node appears, and waits. */
	if (r != R_OK && r != R_STORE_NOT_FOUND && r != R_STORE_AMBIGUOUS)
		return r;
	*ret_usable = r != R_STORE_NOT_FOUND;
	return R_OK;
}

static enum reason enrol_answer_of(struct ledger *l, struct job *j, const struct msg_enrolled *m,
				   struct bytes results, struct blob *ret)
{
	_cleanup_(blob_free) struct blob plain = BLOB(LIMIT_TOKEN), sealed = BLOB(LIMIT_TOKEN);
	_cleanup_(blob_free) struct blob session = BLOB(LIMIT_TOKEN);
	struct enrol_token t = { .issued = (uint64_t)ledger_now(), .implemented = m->implemented };
	_cleanup_free_ struct enrol_answer *a = calloc(1, sizeof(*a));
	_cleanup_free_ struct ek_result *ek = NULL;
	enum reason why = R_EK_NONE;

	if (!a)
		return R_INTERNAL_MEMORY;
	if (m->count > LIMIT_EKS || m->implemented.count > LIMIT_BANKS || results.n != m->count * sizeof(struct ek_result))
		return R_SERVER_WORKER;
	ek = malloc(results.n + 1);
	if (!ek)
		return R_INTERNAL_MEMORY;
	memcpy(ek, results.p, results.n);

	memcpy(t.nonce, j->received.session.nonce, NONCE_LEN);
	memcpy(t.ak_name, j->s.session.ak_name, AK_NAME_LEN);
	for (uint32_t i = 0; i < m->count; i++) {
		bool usable = false;

		channel_bool(&ek[i].has_certificate);
		channel_bool(&ek[i].has_origin);
		TRY(ek_usable(l, j, &ek[i], &usable));
		if (!usable) {
			/* The first one's reason is what the operator can act on. */
			if (why == R_EK_NONE && ek[i].reason != R_OK && ek[i].reason < R_MAX)
				why = ek[i].reason;
			continue;
		}
		struct enrol_token_ek *to = &t.ek[t.ek_count++];
		memcpy(to->name, ek[i].name, ek[i].name_len);
		to->name_len = (uint32_t)ek[i].name_len;
		to->has_certificate = ek[i].has_certificate;
		memcpy(to->certificate_digest, ek[i].certificate_digest, SHA256_LEN);
		memcpy(to->spki_digest, ek[i].spki_digest, SHA256_LEN);
		/* A rule is about vendor CAs: what a list or the record vouches for has none. */
		to->has_origin = ek[i].has_origin && ek[i].trust == EK_TRUST_CA;
		memcpy(to->origin, ek[i].origin, SHA256_LEN);
		TRY(sha256(BYTES(ek[i].proof), to->proof_digest));
		a->credential[a->credential_count++] = (struct enrol_credential){
			.ek_name = bytes_of(ek[i].name, ek[i].name_len),
			.id_object = bytes_of(ek[i].id_object, ek[i].id_object_len),
			.secret = bytes_of(ek[i].secret, ek[i].secret_len),
		};
	}
	if (t.ek_count == 0)
		return why;

	TRY(enrol_token_write(&t, &plain));
	TRY(aead_seal(l->conf.token_key, aad_enrol, blob_bytes(&plain), &sealed));
	a->token = blob_bytes(&sealed);
	memcpy(a->challenge.nonce, t.nonce, NONCE_LEN);
	a->challenge.lifetime = l->conf.challenge_lifetime;
	TRY(session_make(l, STAGE_GATE, t.ak_name, t.nonce, &m->implemented, &a->challenge.selection,
			 &session));
	a->challenge.token = blob_bytes(&session);
	return enrol_answer_write(a, ret);
}

void on_enrolled(struct ledger *l, struct job *j, const struct msg_enrolled *m, struct bytes results)
{
	_cleanup_(blob_free) struct blob body = BLOB(LIMIT_ENROL);
	enum reason r = m->result < R_MAX ? m->result : R_SERVER_WORKER;

	if (r == R_OK)
		r = enrol_answer_of(l, j, m, results, &body);
	if (r == R_OK) {
		l->count.enrolments++;
		answer_body(l, j->front, j->front_id, MEDIA_CBOR, blob_bytes(&body));
	} else {
		log_event(LEVEL_WARN, "enrol", "peer", j->peer, "reason", reason_name(r), NULL);
		answer_refusal(l, j->front, j->front_id, r);
	}
	job_remove(l, j);
}

/* ---- second half: proofs that come with the evidence ----------------------- */

static const struct enrol_token_ek *token_ek(const struct enrol_token *t, const uint8_t *name, size_t n)
{
	for (size_t i = 0; i < t->ek_count; i++)
		if (bytes_equal(bytes_of(t->ek[i].name, t->ek[i].name_len), bytes_of(name, n)))
			return &t->ek[i];
	return NULL;
}

static enum reason proof_check(const struct enrol_token *t, const struct msg_attest *m, size_t at,
			       struct job *j)
{
	struct node_ek *ret = &j->ek[at];
	uint8_t digest[SHA256_LEN];

	if (m->proof[at].ek_name_len > sizeof(m->proof[at].ek_name))
		return R_ENROL_PROOF;
	const struct enrol_token_ek *ek = token_ek(t, m->proof[at].ek_name, m->proof[at].ek_name_len);
	TRY(sha256(BYTES(m->proof[at].proof), digest));
	if (!ek || !bytes_equal_secret(BYTES(digest), BYTES(ek->proof_digest)))
		return R_ENROL_PROOF;

	memset(ret, 0, sizeof(*ret));
	memcpy(ret->name, ek->name, ek->name_len);
	ret->name_len = ek->name_len;
	ret->has_certificate = ek->has_certificate;
	memcpy(ret->certificate_digest, ek->certificate_digest, SHA256_LEN);
	memcpy(ret->spki_digest, ek->spki_digest, SHA256_LEN);
	j->origin[at].known = ek->has_origin;
	memcpy(j->origin[at].digest, ek->origin, SHA256_LEN);
	j->ek_count = at + 1;
	return R_OK;
}

/* Up to two nodes that these EKs belong to; two are a conflict by themselves. */
static enum reason owners_of(struct ledger *l, const struct job *j, struct node ret[2], size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < j->ek_count && count < 2; i++) {
		enum reason r = store_node_by_ek(l->store, bytes_of(j->ek[i].name, j->ek[i].name_len),
						 &ret[count]);
		if (r == R_STORE_NOT_FOUND)
			continue;
		if (r != R_OK)
			return r;
		if (count == 0 || memcmp(ret[0].id, ret[count].id, SHA256_LEN) != 0)
			count++;
	}
	*ret_count = count;
	return R_OK;
}

/*
 * What lists say of the EKs that proved themselves. Entries that contradict
 * each other name no node: R_STORE_AMBIGUOUS.
 */
static enum reason listed_of(struct ledger *l, const struct job *j, struct listed_ek *ret, bool *ret_certificate)
{
	bool found = false;

	*ret_certificate = false;
	for (size_t i = 0; i < j->ek_count; i++) {
		struct listed_ek one;
		enum reason r = store_listed_find(l->store, &j->ek[i], &one);

		if (r == R_STORE_NOT_FOUND)
			continue;
		if (r != R_OK)
			return r;
		if (found && (strcmp(one.label, ret->label) != 0 || strcmp(one.group, ret->group) != 0))
			return R_STORE_AMBIGUOUS;
		*ret_certificate = *ret_certificate || j->ek[i].has_certificate;
		*ret = one;
		found = true;
	}
	return found ? R_OK : R_STORE_NOT_FOUND;
}

/* What lists make of a new node, and rules where no list knows it: without either it waits for a person. */
static enum reason node_listed(struct ledger *l, const struct job *j, struct node *n)
{
	struct listed_ek listed;
	char id[2 * SHA256_LEN + 1];
	uint8_t other[SHA256_LEN];
	bool certificate;

	enum reason r = listed_of(l, j, &listed, &certificate);
	if (r == R_STORE_AMBIGUOUS) {
		snprintf(n->basis, sizeof(n->basis), "EK lists contradict each other");
		return R_OK;
	}
	if (r == R_STORE_NOT_FOUND)
		return node_ruled(l, j, n);
	if (r != R_OK)
		return r;
	/* A label is one node's, unless that is retired: which of the two it is now is for a person to say. */
	r = store_node_labelled(l->store, listed.label, n->id, other);
	if (r == R_OK) {
		hex_encode(BYTES(other), id);
		snprintf(n->basis, sizeof(n->basis), "label of list is %.8s's", id);
		return R_OK;
	}
	if (r != R_STORE_NOT_FOUND)
		return r;
	n->state = NODE_ENROLLED;
	n->approved = n->created;
	snprintf(n->label, sizeof(n->label), "%s", listed.label);
	snprintf(n->group, sizeof(n->group), "%s", listed.group);
	/* What its certificate would have said of it nobody has seen. */
	snprintf(n->basis, sizeof(n->basis), "EK list %s line %u%s", listed.list, listed.line,
		 certificate ? "" : ", no certificate");
	return R_OK;
}

static enum reason node_new(struct ledger *l, struct job *j, const struct enrol_token *t)
{
	struct node *n = &j->node;

	memset(n, 0, sizeof(*n));
	TRY(sha256(bytes_of(j->ek[0].name, j->ek[0].name_len), n->id));
	memcpy(n->ak_name, t->ak_name, AK_NAME_LEN);
	n->state = NODE_PENDING;
	n->created = n->seen = ledger_now();
	n->last_directive = DIRECTIVE_HOLD;
	snprintf(n->peer, sizeof(n->peer), "%s", j->peer);
	j->node_new = true;
	TRY(node_listed(l, j, n));
	/* Who need not wait takes no room of those that do. */
	return n->state == NODE_PENDING ? pending_room(l) : R_OK;
}

static enum reason conflict_of(struct ledger *l, const struct job *j, struct node *n, const struct node *other)
{
	struct node_conflict c = { .has_other = other != NULL, .time = ledger_now() };

	if (other)
		memcpy(c.other, other->id, SHA256_LEN);
	memcpy(c.ak_name, j->s.session.ak_name, AK_NAME_LEN);
	snprintf(c.peer, sizeof(c.peer), "%s", j->peer);
	TRY(store_conflict_add(l->store, n->id, &c));
	TRY(audit_node(l, n, "node.conflict", R_NODE_CONFLICT, j->peer));
	return store_node_attested(l->store, n);
}

/* For each of the two that are on record. `other` may be NULL; returns why there is no verdict. */
static enum reason conflict(struct ledger *l, const struct job *j, struct node *n, struct node *other)
{
	TRY(ledger_savepoint(l));
	enum reason r = conflict_of(l, j, n, other);
	if (r == R_OK && other)
		r = conflict_of(l, j, other, n);
	TRY(ledger_release(l, r));
	return R_NODE_CONFLICT;
}

enum reason enrol_finish(struct ledger *l, struct job *j, const struct msg_attest *m)
{
	_cleanup_(blob_free) struct blob plain = BLOB(LIMIT_TOKEN);
	uint64_t now = (uint64_t)ledger_now();
	struct enrol_token t;

	if (m->proof_count > LIMIT_EKS)
		return R_SESSION_TOKEN;
	TRY(token_open(l, aad_enrol, &m->enrol_token, &plain));
	if (enrol_token_read(blob_bytes(&plain), &t) != R_OK)
		return R_SESSION_TOKEN;
	if (now > t.issued + l->conf.challenge_lifetime)
		return R_SESSION_EXPIRED;
	if (memcmp(t.nonce, j->s.session.nonce, NONCE_LEN) != 0 ||
	    memcmp(t.ak_name, j->s.session.ak_name, AK_NAME_LEN) != 0 || m->proof_count == 0)
		return R_ENROL_PROOF;
	/* One wrong proof spoils all: there is no guessing beside a right one. */
	for (uint32_t i = 0; i < m->proof_count; i++)
		TRY(proof_check(&t, m, i, j));
	j->implemented = t.implemented;
	j->s.banks_proved = true;

	struct node owner[2], by_ak;
	size_t owners;
	TRY(owners_of(l, j, owner, &owners));
	enum reason r = store_node_by_ak(l->store, t.ak_name, &by_ak);
	if (r != R_OK && r != R_STORE_NOT_FOUND)
		return r;
	/* An AK change for a known EK, or a known AK with a foreign EK, is for people. */
	if (owners == 2)
		return conflict(l, j, &owner[0], &owner[1]);
	if (owners == 1 && (r != R_OK || memcmp(owner[0].id, by_ak.id, SHA256_LEN) != 0))
		return conflict(l, j, &owner[0], r == R_OK ? &by_ak : NULL);
	if (r == R_OK) {
		j->node = by_ak;
		return R_OK;
	}
	return node_new(l, j, &t);
}

/* A list may be gone since, an entry changed, the room for nodes that wait taken. */
enum reason enrol_still_true(struct ledger *l, struct job *j)
{
	struct enrol_token t = { 0 };
	struct node was = j->node;
	const struct node *now = &j->node;

	memcpy(t.ak_name, was.ak_name, AK_NAME_LEN);
	TRY(node_new(l, j, &t));
	if (now->state != was.state || strcmp(now->label, was.label) != 0 ||
	    strcmp(now->group, was.group) != 0 || strcmp(now->basis, was.basis) != 0)
		return R_SERVER_BUSY;
	return R_OK;
}
