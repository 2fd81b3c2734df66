/* SPDX-License-Identifier: Apache-2.0 */
/* Keys for tests alone, fixed so that signed seeds of the fuzzer verify. */
#ifndef BOOTGATE_TESTS_COSE_KEYS_H
#define BOOTGATE_TESTS_COSE_KEYS_H

#define COSE_TEST_KEYS 3u
static const char *const cose_test_key[COSE_TEST_KEYS] = {
	"-----BEGIN PRIVATE KEY-----\n"
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBw7IxziCnw7D0S9E\n"
	"a1iCwbPhOXUJl12ww5CQ9SstpoWhRANCAARX9TykCXs60bGQ3I/PlRr5N2MFYGSs\n"
	"gYPgcDlyexBZt+n0f+W2fHl7uQ96IOJHpOIa5uv+rwnuzR8BaK5I3E12\n"
	"-----END PRIVATE KEY-----\n",
	"-----BEGIN PRIVATE KEY-----\n"
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgb+jjYEboTreHdEe9\n"
	"+DX08BliGScDu6+cn3+9Jll7eSGhRANCAAQE+E1LP10zjwnNQxPb4fQpE0BbDaUH\n"
	"1jKafEfMcvDg4UlIxYUqsLAMq6vWNm+Gm2a0+Tgf5iRXptZ/SJr/Br0q\n"
	"-----END PRIVATE KEY-----\n",
	"-----BEGIN PRIVATE KEY-----\n"
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMPQfeP9cqKx115sN\n"
	"QB3IX9MRAX1/oxAnPu9C7nN9+nShRANCAAR22YPr1qwmBCOJ7kPSGgfqnDwt03Aj\n"
	"hgjGRG0AgwUZkUaDoz53f33MZDWViF9vKU2IuVS88tlT+eTD6Lw8V0Cy\n"
	"-----END PRIVATE KEY-----\n",
};

#endif
