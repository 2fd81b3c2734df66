/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and opening the TPM, and leaving nothing behind in it. */
#include "node/tpm_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define DEVICES "/dev"
#define LOOK_AGAIN_MS 50u		/* while the device is not there yet */
#define MANAGED_LATER_MS 250u		/* the driver makes tpm0 first, then tpmrm0 */
#define BUSY_TOTAL_MS 5000u
#define ANSWER_MS 300000		/* longest duration that Linux knows */
#define RETRY_MS 30000u

static void pause_ms(unsigned ms)
{
	struct timespec t = { .tv_sec = 0, .tv_nsec = (long)ms * 1000000 };

	(void)nanosleep(&t, NULL);
}

/* ---- who holds it ---------------------------------------------------------- */

static bool process_holds(const char *pid, const char *device)
{
	char path[320], target[LINK_PATH_MAX];
	const struct dirent *e;
	bool holds = false;
	DIR *fds;

	(void)snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	fds = opendir(path);
	if (fds == NULL)
		return false;
	while (!holds && (e = readdir(fds)) != NULL) {
		ssize_t n;

		if (snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, e->d_name) >=
		    (int)sizeof(path))
			continue;
		n = readlink(path, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		holds = strcmp(target, device) == 0;
	}
	closedir(fds);
	return holds;
}

static void name_holders(const char *device)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;

	if (proc == NULL)
		return;
	while ((e = readdir(proc)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    process_holds(e->d_name, device))
			log_error("tpm: %s is held by process %s", device, e->d_name);
	closedir(proc);
}

/* ---- which one ------------------------------------------------------------- */

static enum reason open_path(struct tpm *t, const char *path, bool managed)
{
	uint64_t deadline = clock_boot_ms() + BUSY_TOTAL_MS;
	enum reason r;

	(void)snprintf(t->link.path, sizeof(t->link.path), "%s", path);
	t->managed = managed;
	while ((r = tpm_link_open(&t->link)) == R_TPM_BUSY && clock_left_ms(deadline) > 0)
		pause_ms(LOOK_AGAIN_MS);
	if (r == R_TPM_BUSY)
		name_holders(path);
	return r;
}

/* The device with the kernel's resource manager, the raw one only without it. */
static enum reason open_device(struct tpm *t, const char *folder, unsigned wait_ms)
{
	uint64_t deadline = clock_boot_ms() + wait_ms;
	char managed[LINK_PATH_MAX], raw[LINK_PATH_MAX];

	if (snprintf(managed, sizeof(managed), "%s/tpmrm0", folder) >= (int)sizeof(managed))
		return R_USAGE;
	(void)snprintf(raw, sizeof(raw), "%s/tpm0", folder);
	for (;;) {
		enum reason r = open_path(t, managed, true);

		if (r == R_TPM_ABSENT && access(raw, F_OK) == 0) {
			pause_ms(MANAGED_LATER_MS);
			r = open_path(t, managed, true);
			if (r == R_TPM_ABSENT)
				r = open_path(t, raw, false);
		}
		if (r != R_TPM_ABSENT || clock_left_ms(deadline) == 0)
			return r;
		pause_ms(LOOK_AGAIN_MS);
	}
}

#ifdef BOOTGATE_TEST
/* Takes "key=NUMBER" off the front; false when it does not stand there. */
static bool take_number(const char **at, const char *key, unsigned long max, unsigned long *ret)
{
	size_t n = strlen(key);
	char *end;

	if (strncmp(*at, key, n) != 0)
		return false;
	*ret = strtoul(*at + n, &end, 10);
	if (end == *at + n || *ret > max)
		return false;
	*at = end;
	return true;
}

/*
 * swtpm:host=127.0.0.1,port=2321[,answer=MS][,retry=MS] (limits for an answer,
 * for retries), or devices:FOLDER in place of /dev.
 */
#define TEST_DEVICES "devices:"
#define TEST_SWTPM "swtpm:host="
static enum reason open_test(struct tpm *t, const char *where, unsigned wait_ms)
{
	unsigned long port, answer = ANSWER_MS, retry = RETRY_MS;
	size_t n;

	if (strncmp(where, TEST_DEVICES, strlen(TEST_DEVICES)) == 0)
		return open_device(t, where + strlen(TEST_DEVICES), wait_ms);
	if (strncmp(where, TEST_SWTPM, strlen(TEST_SWTPM)) != 0)
		return R_USAGE;
	where += strlen(TEST_SWTPM);
	n = strspn(where, "0123456789.");
	if (n >= sizeof(t->link.host))
		return R_USAGE;
	memcpy(t->link.host, where, n);
	where += n;
	if (!take_number(&where, ",port=", UINT16_MAX, &port))
		return R_USAGE;
	(void)take_number(&where, ",answer=", ANSWER_MS, &answer);
	(void)take_number(&where, ",retry=", RETRY_MS, &retry);
	if (*where != '\0')
		return R_USAGE;
	t->link.port = (uint16_t)port;
	t->link.answer_ms = (int)answer;
	t->retry_ms = (unsigned)retry;
	return tpm_link_open(&t->link);
}
#else
static enum reason open_test(struct tpm *t, const char *where, unsigned wait_ms)
{
	(void)t;
	(void)where;
	(void)wait_ms;
	return R_USAGE;
}
#endif

/* ---- cleaning up ------------------------------------------------------------ */

static enum reason flush_all(struct tpm *t, uint32_t first)
{
	struct tpm_handles h;

	TRY(tpm_handles(t, first, &h));
	for (size_t i = 0; i < h.count; i++) {
		uint32_t n = h.handle[i];
		const uint8_t flush_context[] = {
			0x80, 0x01, 0, 0, 0, 14, 0, 0, 0x01, 0x65, (uint8_t)(n >> 24),
			(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n,
		};
		enum reason r = tpm_send_raw(t, BYTES(flush_context));

		if (r != R_OK && r != R_TPM_RESPONSE)
			return r;
	}
	return R_OK;
}

enum reason tpm_clean(struct tpm *t)
{
	TRY(flush_all(t, HANDLE_TRANSIENT));
	TRY(flush_all(t, HANDLE_LOADED_SESSION));
	return flush_all(t, HANDLE_SAVED_SESSION);
}

/* ---- open, close ------------------------------------------------------------- */

static enum reason start(struct tpm *t)
{
	tpm_tcti_init(t);
	if (Esys_Initialize(&t->esys, (TSS2_TCTI_CONTEXT *)&t->tcti, NULL) != TSS2_RC_SUCCESS)
		return R_INTERNAL_MEMORY;
	/* what firmware, or a gate that was killed, left there */
	return t->managed ? R_OK : tpm_clean(t);
}

enum reason tpm_open(const char *where, unsigned wait_ms, struct tpm **ret)
{
	struct tpm *t = calloc(1, sizeof(*t));
	enum reason r;

	if (t == NULL)
		return R_INTERNAL_MEMORY;
	t->link.fd = -1;
	t->link.answer_ms = ANSWER_MS;
	t->retry_ms = RETRY_MS;
	t->ak = ESYS_TR_NONE;
	r = where == NULL ? open_device(t, DEVICES, wait_ms) : open_test(t, where, wait_ms);
	if (r == R_OK)
		r = start(t);
	if (r != R_OK) {
		tpm_close(&t);
		return r;
	}
	*ret = t;
	return R_OK;
}

void tpm_close(struct tpm **t)
{
	if (*t == NULL)
		return;
	if ((*t)->esys != NULL) {
		if ((*t)->fault == R_OK)
			tpm_flush(*t, &(*t)->ak);
		Esys_Finalize(&(*t)->esys);
	}
	tpm_link_close(&(*t)->link);
	free(*t);
	*t = NULL;
}
