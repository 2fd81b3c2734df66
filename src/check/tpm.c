/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "check/find.h"
#include "format/eventlog.h"

#define TPM "/sys/class/tpm/tpm0"
#define FIRMWARE_PCRS 8u
#define LOG "/sys/kernel/security/tpm0/binary_bios_measurements"

void check_tpm_present(const struct machine *m, struct finding *f)
{
	char line[16];

	if (source_line(&m->source, TPM "/tpm_version_major", line, sizeof(line)) == R_OK)
		found_if(f, strcmp(line, "2") == 0, "version %s", line);
	else if (source_exists(&m->source, "/sys/class/tpm") && !source_exists(&m->source, TPM))
		found(f, CHECK_FAIL, "no TPM");
	else
		found_unread(f, TPM "/tpm_version_major", R_FILE);
}

/* The kernel writes capitals. */
static enum reason read_pcr(const struct machine *m, unsigned pcr, uint8_t ret[SHA256_LEN])
{
	char path[SOURCE_PATH_MAX], line[2 * SHA256_LEN + 1];

	snprintf(path, sizeof(path), TPM "/pcr-sha256/%u", pcr);
	TRY(source_line(&m->source, path, line, sizeof(line)));
	for (char *c = line; *c; c++)
		if (*c >= 'A' && *c <= 'F')
			*c = (char)(*c - 'A' + 'a');
	return hex_decode(bytes_str(line), ret, SHA256_LEN);
}

void check_tpm_bank(const struct machine *m, struct finding *f)
{
	uint8_t value[SHA256_LEN];

	if (!source_exists(&m->source, TPM "/pcr-sha256")) {
		/* Kernels before 5.12 show no banks. */
		if (source_exists(&m->source, TPM "/pcr-sha1") ||
		    source_exists(&m->source, TPM "/pcr-sha384"))
			found(f, CHECK_FAIL, "other banks only");
		else
			found_unread(f, TPM "/pcr-sha256", R_FILE);
		return;
	}
	for (unsigned i = 0; i < PCR_COUNT; i++) {
		enum reason r = read_pcr(m, i, value);

		if (r != R_OK) {
			found_unread(f, "a register of the bank", r);
			return;
		}
	}
	found(f, CHECK_PASS, "active");
}

/* The registers of firmware; false, and f is unknown. */
static bool firmware_pcrs(const struct machine *m, struct pcr_values *ret, struct finding *f)
{
	struct pcr_values values = { 0 };

	for (unsigned i = 0; i < FIRMWARE_PCRS; i++) {
		uint8_t value[SHA256_LEN];
		enum reason r = read_pcr(m, i, value);

		if (r == R_OK)
			r = pcr_values_set(&values, ALG_SHA256, i, value);
		if (r != R_OK) {
			found_unread(f, TPM "/pcr-sha256", r);
			return false;
		}
	}
	*ret = values;
	return true;
}

void check_tpm_measured(const struct machine *m, struct finding *f)
{
	struct pcr_values values;

	if (!firmware_pcrs(m, &values, f))
		return;
	for (unsigned i = 0; i < FIRMWARE_PCRS; i++) {
		if (pcr_is_reset(&values, ALG_SHA256, i)) {
			found(f, CHECK_FAIL, "PCR %u is at reset", i);
			return;
		}
	}
	found(f, CHECK_PASS, "PCR 0 to 7 are extended");
}

void check_tpm_log(const struct machine *m, struct finding *f)
{
	_cleanup_(blob_free) struct blob log = BLOB(LIMIT_FIRMWARE_LOG);
	struct pcr_values values;
	struct eventlog_replay replay;
	enum reason r;

	if (!firmware_pcrs(m, &values, f))
		return;
	r = source_read(&m->source, LOG, &log);
	if (r != R_OK) {
		found_unread(f, LOG, r);
		return;
	}
	r = eventlog_replay(blob_bytes(&log), &replay);
	if (r != R_OK) {
		found(f, CHECK_FAIL, "%s", reason_name(r));
		return;
	}
	for (unsigned i = 0; i < FIRMWARE_PCRS; i++) {
		if (!bytes_equal(pcr_value(&replay.values, ALG_SHA256, i),
				 pcr_value(&values, ALG_SHA256, i))) {
			found(f, CHECK_FAIL, "does not lead to PCR %u", i);
			return;
		}
	}
	found(f, CHECK_PASS, "%u events lead to PCR 0 to 7", (unsigned)replay.events);
}
