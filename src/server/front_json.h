/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of the admin API into what the ledger takes. */
#ifndef BOOTGATE_SERVER_FRONT_JSON_H
#define BOOTGATE_SERVER_FRONT_JSON_H

#include <jansson.h>

#include "base/bytes.h"
#include "format/policy.h"
#include "server/msg.h"
#include "server/store.h"

/* A member that something is wrong with, and where it stands; escaped, since others wrote it. */
void front_about(char about[ABOUT_MAX], const char *where, const char *member);
/* One object, duplicates refused. */
enum reason front_json(struct bytes in, json_t **ret) must_check;
void front_json_free(json_t **j);
/* An object with these members at most. */
enum reason front_members(const json_t *object, const char *const *names, size_t count, const char *where,
			  char about[ABOUT_MAX]) must_check;
/* A string that fits, printable. */
enum reason front_text(const json_t *value, char *ret, size_t n) must_check;
/* docs/references.md, policy. */
enum reason front_policy(const json_t *in, struct policy *ret, char about[ABOUT_MAX]) must_check;
/* Array of {line, ek_cert_sha256, ek_spki_sha256, ek_name, label, group}: struct listed_ek each. */
enum reason front_ek_list(const json_t *in, char about[ABOUT_MAX], struct blob *ret) must_check;
/* front_reference.c; docs/references.md, "JSON": a reference set, encoded. */
enum reason front_references(const json_t *in, char about[ABOUT_MAX], struct blob *ret) must_check;
/* {anchor, manufacturer, model, group, enrol, until, max, from: [network]} */
enum reason front_rule(const json_t *in, struct rule *ret, char about[ABOUT_MAX]) must_check;

#endif
