/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/kexec.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

#define UNLOAD 0x1UL	/* KEXEC_FILE_UNLOAD */

static const struct {
	int error;
	enum reason reason;
	const char *text;
} table[] = {
	{ EPERM, R_BOOT_KEXEC_DENIED,
	  "not permitted: kexec is switched off, its limit is used up, or lockdown wants a "
	  "signed kernel" },
	{ EACCES, R_BOOT_KEXEC_SIGNATURE, "IMA refuses the kernel" },
	{ EKEYREJECTED, R_BOOT_KEXEC_SIGNATURE, "the kernel's signature is not valid" },
	{ ENOKEY, R_BOOT_KEXEC_SIGNATURE, "no key of the platform fits the signature" },
	{ ENOPKG, R_BOOT_KEXEC_SIGNATURE, "the signature's algorithm is not available" },
	{ EBADMSG, R_BOOT_KEXEC_SIGNATURE, "the signature is malformed" },
	{ ELIBBAD, R_BOOT_KEXEC_SIGNATURE, "the kernel is no PE file that can be verified" },
	{ EMSGSIZE, R_BOOT_KEXEC_SIGNATURE, "the signature's size is wrong" },
	{ ENODATA, R_BOOT_KEXEC_SIGNATURE, "the kernel has no signature" },
	{ ENOMEM, R_IMAGE_MEMORY, "no memory for the copy" },
	{ EADDRNOTAVAIL, R_IMAGE_MEMORY, "no free range for the image" },
	{ EBUSY, R_BOOT_KEXEC_LOAD, "somebody else loads an image" },
	{ ENOEXEC, R_BOOT_KEXEC_LOAD, "not a kernel that kexec takes (a UKI is none)" },
	{ EINVAL, R_BOOT_KEXEC_LOAD, "the kernel or its command line does not fit" },
	{ EOPNOTSUPP, R_BOOT_KEXEC_LOAD, "TDX was initialised on a processor that then "
	  "cannot kexec" },
	{ ENOSYS, R_BOOT_KEXEC_LOAD, "the gate's kernel has no kexec_file_load" },
	{ EFBIG, R_BOOT_KEXEC_LOAD, "a file is too large" },
};

enum reason kexec_reason(int error)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].error == error)
			return table[i].reason;
	return R_BOOT_KEXEC_LOAD;
}

const char *kexec_text(int error)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].error == error)
			return table[i].text;
	return "unexpected error";
}

enum reason kexec_load_files(int kernel, int initrd, const char *cmdline)
{
	int error;

	if (syscall(SYS_kexec_file_load, kernel, initrd, strlen(cmdline) + 1, cmdline, 0UL) == 0)
		return R_OK;
	error = errno;
	return log_reason(kexec_reason(error), "kexec_file_load: error %d: %s", error,
			  kexec_text(error));
}

void kexec_unload(void)
{
	if (syscall(SYS_kexec_file_load, -1, -1, 0UL, NULL, UNLOAD) != 0)
		log_warn("kexec_file_load: unload: error %d", errno);
}
