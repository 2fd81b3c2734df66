/* SPDX-License-Identifier: Apache-2.0 */
/* kexec_file_load(2) and what its refusals mean. kexec_load is never used. */
#ifndef BOOTGATE_GATE_KEXEC_H
#define BOOTGATE_GATE_KEXEC_H

#include "base/reason.h"

enum reason kexec_load_files(int kernel, int initrd, const char *cmdline) must_check;
/* Takes a loaded image back. */
void kexec_unload(void);
/* The reason for an errno of the call, and its sentence for the log. */
enum reason kexec_reason(int error);
const char *kexec_text(int error);

#endif
