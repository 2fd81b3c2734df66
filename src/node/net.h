/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to control server and mirror, as the root process sees it: calls
 * that a child process of its own (net_child.h) carries out. A child that is
 * silent past the deadline is killed and replaced: R_NET_TIMEOUT. One that
 * ends, or says anything but the answer that is due, is replaced too:
 * R_INTERNAL_CHILD.
 */
#ifndef BOOTGATE_NODE_NET_H
#define BOOTGATE_NODE_NET_H

#include "base/bytes.h"
#include "crypto/digest.h"
#include "node/net_message.h"

struct net;

/*
 * Starts the child. `tick`, unless NULL, is called about once a second while
 * a call waits.
 */
enum reason net_start(void (*tick)(void *ctx), void *ctx, struct net **ret) must_check;
void net_stop(struct net **net);
/* Where to, and the one CA that signs the server's certificate (PEM). */
enum reason net_setup(struct net *net, const char *server_url, const char *mirror_url,
		      struct bytes ca) must_check;

enum reason net_challenge(struct net *net, struct bytes request, struct net_challenge *ret) must_check;
enum reason net_enrol(struct net *net, struct bytes request, struct net_enrolled *ret) must_check;
/* The verdict as it came: nothing of it was looked at. */
enum reason net_attest(struct net *net, struct bytes evidence, struct blob *ret) must_check;
enum reason net_manifest(struct net *net, const uint8_t digest[SHA256_LEN], struct blob *ret) must_check;
/* The digest that the server acknowledges. */
enum reason net_receipt(struct net *net, struct bytes receipt, unsigned timeout_ms,
			uint8_t ret[SHA256_LEN]) must_check;
enum reason net_failure(struct net *net, struct bytes failure) must_check;

/*
 * Gives `take` the artifact's bytes from `offset` on, as they come. A reason
 * from `take` ends the transfer and is returned.
 */
enum reason net_fetch(struct net *net, const uint8_t digest[SHA256_LEN], uint64_t offset,
		      enum reason (*take)(void *ctx, struct bytes piece), void *ctx) must_check;

/* For tests: every time-out is divided by n. */
void net_hurry(struct net *net, unsigned n);
/* About the last call that failed; text is printable ASCII, "" for none. */
const struct net_failed *net_last_failure(const struct net *net);
/* Milliseconds spent waiting for the child so far. */
uint64_t net_wait_ms(const struct net *net);

#endif
