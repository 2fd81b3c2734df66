/* SPDX-License-Identifier: Apache-2.0 */
/* Every ceiling of the project, in bytes unless the name says otherwise. */
#ifndef BOOTGATE_BASE_LIMITS_H
#define BOOTGATE_BASE_LIMITS_H

/* Event logs. Real server logs reach 100 KiB; padded ones 1 MiB. */
#define LIMIT_FIRMWARE_LOG (2u << 20)
#define LIMIT_GATE_LOG (256u << 10)
#define LIMIT_EVENTS 16384u		/* events in one log */
#define LIMIT_BANKS 8u			/* PCR banks of one TPM */

/* Messages. */
#define LIMIT_CHALLENGE 4096u		/* request or answer */
#define LIMIT_ENROL (128u << 10)
#define LIMIT_EVIDENCE (4u << 20)
#define LIMIT_CLAIMS (LIMIT_EVIDENCE - 4096u)
#define LIMIT_RECEIPT (512u << 10)
#define LIMIT_FAILURE (24u << 10)
#define LIMIT_FAILURE_LOG (16u << 10)
#define LIMIT_VERDICT (64u << 10)
#define LIMIT_MANIFEST (64u << 10)
#define LIMIT_PROBLEM 4096u
#define LIMIT_REPORT (512u << 10)
#define LIMIT_CONF (64u << 10)
#define LIMIT_TOKEN 4096u		/* sealed session or enrolment token */
#define LIMIT_URL 512u

/* TPM structures. */
#define LIMIT_TPM_PUBLIC 1024u
#define LIMIT_TPM_ATTEST 2048u
#define LIMIT_TPM_SIGNATURE 1040u
#define LIMIT_EKS 16u			/* EKs a gate offers */
#define LIMIT_EK_CERT 8192u
#define LIMIT_EK_CHAIN (32u << 10)	/* certificates between EK and root in NV */
#define LIMIT_FACT_VALUE 512u		/* bytes of one fact after escaping */

/* Images. */
#define LIMIT_ARTIFACT (4ull << 30)	/* KEXEC_FILE_SIZE_MAX of the kernel */
#define LIMIT_CMDLINE 2017u		/* with NUL: 2047 of the target less 30 */
#define LIMIT_HANDOVER (8u << 20)

#endif
