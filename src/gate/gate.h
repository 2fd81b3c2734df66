/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: its state, and the steps of a boot grouped by the file they are in. */
#ifndef BOOTGATE_GATE_GATE_H
#define BOOTGATE_GATE_GATE_H

#include "base/bytes.h"
#include "base/limits.h"
#include "base/proc.h"
#include "format/conf.h"
#include "format/cose.h"
#include "format/facts.h"
#include "format/manifest.h"
#include "format/protocol.h"
#include "format/verdict.h"
#include "gate/artifact.h"
#include "gate/backoff.h"
#include "node/console.h"
#include "node/measure.h"
#include "node/net.h"
#include "node/net_root.h"
#include "node/tpm.h"
#include "node/watchdog.h"

/* The host has to take the watchdog over within this time after the jump. */
#define GATE_WATCHDOG_SECONDS 180u

/* options.c */
struct options {
	const char *config;		/* folder with the measured configuration */
	bool json;
	/* test build only; otherwise as they are here */
	const char *root;		/* "" */
	const char *tpm;		/* NULL */
	const char *kexec_dir;		/* NULL: the real kexec_file_load */
	bool no_network_setup;
	unsigned hurry;			/* every wait is divided by this, 1 */
};
enum reason options_read(int argc, char **argv, struct options *ret) must_check;

/* config.c: /etc/bootgate */
struct config {
	struct boot_conf boot;
	struct blob server_ca;
	struct pinned_keys verdict_keys;
	struct pinned_keys release_keys;
	char build[128];
	uint8_t digest[SHA256_LEN];	/* over all of it, measured */
};
enum reason config_read(const char *folder, struct config *ret) must_check;
void config_free(struct config *c);

#define FIRMWARE_LOG "/sys/kernel/security/tpm0/binary_bios_measurements"

/* collect.c: facts, as text before escaping */
#define FACTS_MAX 300u
struct fact_text {
	enum fact fact;
	bool known;			/* false: `unavailable` */
	char text[LIMIT_FACT_VALUE + 1];
};
struct fact_list {
	size_t count;
	struct fact_text item[FACTS_MAX];
};
/* tpm may be NULL: then its facts are unknown. */
enum reason collect(const struct options *o, const struct config *c,
		    const struct tpm_facts *tpm, const struct watchdog *watchdog,
		    struct fact_list *ret, struct blob *ret_report) must_check;

/* network.c: the script that brings a port up */
struct network {
	bool up;
	struct proc script;
	int out;			/* its standard output */
	char line[80];
	size_t line_n;
	bool carrier;			/* it saw one in this run */
	struct in_addr dns[NET_DNS_MAX];	/* what it said of name servers in this run */
	size_t dns_count;
	unsigned failures;		/* transport failures since it was up */
	struct backoff backoff;
};

/* One try to get a verdict and obey it: design section 1, steps 6 to 12. */
struct attempt {
	uint64_t sent_ms;		/* boot clock, when the challenge was asked for */
	struct net_challenge challenge;
	struct blob enrol_token;
	size_t proof_count;
	uint8_t proof_name[LIMIT_EKS][NET_NAME_MAX];
	size_t proof_name_len[LIMIT_EKS];
	uint8_t proof[LIMIT_EKS][SHA256_LEN];
	uint8_t nonce[NONCE_LEN];	/* the gate's */
	struct blob evidence;		/* what was sent */
	struct blob verdict_bytes;
	uint8_t verdict_digest[SHA256_LEN];
	struct verdict verdict;
	struct blob manifest_bytes;
	struct manifest manifest;
	char cmdline[LIMIT_CMDLINE];
	struct blob handover;
	uint8_t handover_digest[SHA256_LEN];
	struct blob planned_log;	/* gate log as it will be before the hand-over's event */
	/* how it ended, when it did not end well */
	bool wait;			/* not a judgement: try again */
	uint32_t retry_after;		/* seconds, 0: own schedule */
};

struct gate {
	struct options options;
	uint64_t start_ms;
	const char *step;
	struct console console;
	struct watchdog watchdog;
	struct config config;
	bool configured;
	struct net *net;
	bool net_ready;
	struct network network;
	struct tpm *tpm;
	bool has_ak;
	struct tpm_ak ak;
	struct measure measure;
	bool measuring;
	size_t ek_digest_count;
	uint8_t ek_digest[LIMIT_EKS][SHA256_LEN];
	struct blob firmware_log;
	struct fact_list facts;
	struct blob report;
	struct artifact_file kernel, initrd;
	struct attempt attempt;
	bool judged;			/* attempt.verdict was verified, at least once */
	bool decided;			/* PCR 14 extended: forward or reboot */
	struct backoff backoff;
	/* what waits show */
	char reason_text[64];		/* name of the last reason, or the server's own */
};

/* run.c */
int gate_run(const struct options *o);
void gate_step(struct gate *g, const char *name);
/* Feeds the watchdog, shows what was logged. */
void gate_tick(void *gate);

/* wait.c: waiting in the open */
/* The block of design section 7; `next` says what comes, and in how long. */
void gate_show(struct gate *g, const char *state, enum reason r, const char *next,
	       uint64_t ms);
void gate_wait(struct gate *g, const char *state, enum reason r, const char *next, uint64_t ms);

/* network.c */
enum reason network_start(struct gate *g) must_check;
/* Until a port is up, but not past `deadline_ms` (boot clock). */
enum reason network_wait(struct gate *g, uint64_t deadline_ms) must_check;
/* A call failed on its way: after several in a row the port is set up again. */
void network_failed(struct gate *g);
void network_stop(struct gate *g);

/* prepare.c: everything before the first message */
enum reason gate_prepare(struct gate *g) must_check;

/* challenge.c, attest.c: steps 6 to 10 */
enum reason gate_challenge(struct gate *g) must_check;
enum reason gate_enrol(struct gate *g) must_check;
enum reason gate_attest(struct gate *g) must_check;
/* Reason of a call that did not work out; sets attempt.wait and retry_after. */
enum reason gate_net_reason(struct gate *g, enum reason r) must_check;
bool gate_expired(const struct attempt *a);
/* The challenge's selection, once it is the one of design section 3: R_NET_ANSWER. */
enum reason gate_selection(const struct gate *g, struct pcr_selection *ret) must_check;
/*
 * Reads the registers, writes claims that hold the values, quotes both, and
 * wraps it all: what goes up. Again when a register moved meanwhile, so that
 * the claims never hold other values than were quoted: R_QUOTE_DIGEST in the
 * end.
 */
struct quoted {
	enum quote_domain domain;
	const uint8_t *bound;		/* SHA256_LEN, what quote_qualifying binds */
	enum reason (*claims)(struct gate *g, const struct pcr_values *values,
			      struct blob *ret);
};
enum reason gate_quote(struct gate *g, const struct quoted *q, struct blob *ret) must_check;
void attempt_reset(struct attempt *a);

/* image.c, load.c: steps 11 and 12 */
enum reason gate_image(struct gate *g) must_check;
enum reason gate_load(struct gate *g) must_check;
#define DECISION_EVENTS 5u
struct decision {
	struct {
		enum fact fact;
		char hex[2 * SHA256_LEN + 1];
	} event[DECISION_EVENTS];
};
/* What goes into PCR 14 before the hand-over's own event. */
enum reason gate_decision(const struct gate *g, struct decision *ret) must_check;

/* decide.c: PCR 14 and the receipt */
enum reason gate_decide(struct gate *g) must_check;

/* jump.c: does not come back when it works */
enum reason gate_jump(struct gate *g, int *ret_exit) must_check;

/* fail.c: the end of a boot that does not go on; returns in the test build only */
int gate_fail(struct gate *g, enum reason r);
#endif
