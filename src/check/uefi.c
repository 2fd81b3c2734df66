/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "check/find.h"
#include "format/efisig.h"

#define VARIABLE_MAX (256u << 10)

void check_uefi_boot(const struct machine *m, struct finding *f)
{
	if (source_exists(&m->source, "/sys/firmware/efi"))
		found(f, CHECK_PASS, "there");
	else if (source_exists(&m->source, "/sys/firmware"))
		found(f, CHECK_FAIL, "not there: legacy boot");
	else
		found_unread(f, "/sys/firmware", R_FILE);
}

/* A variable of one byte; false, and f says why. */
static bool flag_read(const struct machine *m, const char *name_guid, enum check_result absent,
		      unsigned *ret, struct finding *f)
{
	_cleanup_(blob_free) struct blob b = BLOB(VARIABLE_MAX);

	if (!efi_read(m, name_guid, absent, &b, f))
		return false;
	if (b.n != 1) {
		found_unread(f, name_guid, R_FORMAT_RANGE);
		return false;
	}
	*ret = b.p[0];
	return true;
}

void check_uefi_secure_boot(const struct machine *m, struct finding *f)
{
	unsigned on;

	if (flag_read(m, "SecureBoot-" EFI_GLOBAL_GUID, CHECK_UNKNOWN, &on, f))
		found_if(f, on == 1, "SecureBoot=%u", on);
}

void check_uefi_setup_mode(const struct machine *m, struct finding *f)
{
	unsigned setup, audit;

	if (!flag_read(m, "SetupMode-" EFI_GLOBAL_GUID, CHECK_UNKNOWN, &setup, f))
		return;
	/* Older firmware has no AuditMode, and then no such mode. */
	if (flag_read(m, "AuditMode-" EFI_GLOBAL_GUID, CHECK_PASS, &audit, f))
		found_if(f, setup == 0 && audit == 0, "SetupMode=%u AuditMode=%u", setup, audit);
	else if (f->result == CHECK_PASS)
		found_if(f, setup == 0, "SetupMode=%u", setup);
}

/* Names that the makers of development kits gave their keys, and boards kept. */
static bool is_test_key(struct bytes certificate)
{
	static const char *const names[] = { "DO NOT TRUST", "DO NOT SHIP" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (memmem(certificate.p, certificate.n, names[i], strlen(names[i])))
			return true;
	return false;
}

void check_uefi_pk(const struct machine *m, struct finding *f)
{
	_cleanup_(blob_free) struct blob b = BLOB(VARIABLE_MAX);
	struct efi_signatures all;
	struct efi_signature s;
	unsigned count = 0;
	enum reason r;

	if (!efi_read(m, "PK-" EFI_GLOBAL_GUID, CHECK_FAIL, &b, f))
		return;
	efi_signatures_open(blob_bytes(&b), &all);
	while ((r = efi_signatures_next(&all, &s)) == R_OK) {
		count++;
		if (s.kind == EFI_SIGNATURE_X509 && is_test_key(s.data)) {
			found(f, CHECK_FAIL, "a test key: DO NOT TRUST or DO NOT SHIP");
			return;
		}
	}
	if (r != R_LOG_END)
		found_unread(f, "PK", r);
	else
		found_if(f, count == 1, "%u keys", count);
}

void check_uefi_dbx(const struct machine *m, struct finding *f)
{
	_cleanup_(blob_free) struct blob b = BLOB(VARIABLE_MAX);
	struct efi_signatures all;
	struct efi_signature s;
	unsigned count = 0;
	enum reason r;

	if (!efi_read(m, "dbx-" EFI_SECURITY_GUID, CHECK_FAIL, &b, f))
		return;
	efi_signatures_open(blob_bytes(&b), &all);
	while ((r = efi_signatures_next(&all, &s)) == R_OK)
		count++;
	if (r != R_LOG_END)
		found_unread(f, "dbx", r);
	else
		found_if(f, count > 0, "%u entries", count);
}
