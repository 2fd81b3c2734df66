/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the gate that need no machine: waits, errno, artifacts, messages. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "gate/artifact.h"
#include "gate/backoff.h"
#include "gate/kexec.h"
#include "node/console.h"
#include "node/net_message.h"

static void test_backoff(void **state)
{
	struct backoff b = { 0 };
	uint64_t most = 1000;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct backoff low = b, high = b;
		uint64_t least = backoff_next(&low, 0, 0);

		assert_int_equal(least, most / 2);
		assert_in_range(backoff_next(&high, 0, UINT32_MAX), most / 2, most);
		backoff_next(&b, 0, 12345);
		most = most * 2 < BACKOFF_MOST_MS ? most * 2 : BACKOFF_MOST_MS;
	}
	/* what the server asks for is never shortened */
	assert_int_equal(backoff_next(&b, 7, 0), 7000);
	assert_in_range(backoff_next(&b, 7, UINT32_MAX), 7000, 8750);
	assert_in_range(backoff_next(&b, UINT32_MAX, UINT32_MAX), 86400000, 108000000);

	assert_int_equal(backoff_reset(60, 0), 60);
	assert_int_equal(backoff_reset(60, 59), 60);
	assert_int_equal(backoff_reset(60, 3840), 3840);
	assert_int_equal(backoff_reset(60, UINT32_MAX), 86400);
}

static void test_kexec_errno(void **state)
{
	static const struct {
		int error;
		enum reason reason;
	} cases[] = {
		{ EPERM, R_BOOT_KEXEC_DENIED },
		{ EACCES, R_BOOT_KEXEC_SIGNATURE },
		{ EKEYREJECTED, R_BOOT_KEXEC_SIGNATURE },
		{ ENOKEY, R_BOOT_KEXEC_SIGNATURE },
		{ ENOPKG, R_BOOT_KEXEC_SIGNATURE },
		{ EBADMSG, R_BOOT_KEXEC_SIGNATURE },
		{ ELIBBAD, R_BOOT_KEXEC_SIGNATURE },
		{ EMSGSIZE, R_BOOT_KEXEC_SIGNATURE },
		{ ENODATA, R_BOOT_KEXEC_SIGNATURE },
		{ ENOMEM, R_IMAGE_MEMORY },
		{ EADDRNOTAVAIL, R_IMAGE_MEMORY },
		{ EBUSY, R_BOOT_KEXEC_LOAD },
		{ EINVAL, R_BOOT_KEXEC_LOAD },
		{ ENOEXEC, R_BOOT_KEXEC_LOAD },
		{ EOPNOTSUPP, R_BOOT_KEXEC_LOAD },
		{ ENOSYS, R_BOOT_KEXEC_LOAD },
		{ EXDEV, R_BOOT_KEXEC_LOAD },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_reason(cases[i].reason, kexec_reason(cases[i].error));
		/* each is the end of the boot, none is tried again in a loop */
		assert_int_equal(reason_class(cases[i].reason), REASON_BROKEN);
		for (size_t j = 0; j < i && cases[i].error != EXDEV; j++)
			assert_string_not_equal(kexec_text(cases[i].error),
						kexec_text(cases[j].error));
	}
}

/* Nobody may load here: the kernel's own answer comes back named. */
static void test_kexec_call(void **state)
{
	enum reason r = kexec_load_files(-1, -1, "quiet");

	(void)state;
	assert_true(r == R_BOOT_KEXEC_LOAD || r == R_BOOT_KEXEC_DENIED);
}

static const uint8_t content[] = "an artifact of some length";

static struct artifact wanted(void)
{
	struct artifact a = { .size = sizeof(content) };

	assert_ok(sha256(BYTES(content), a.sha256));
	return a;
}

static void test_artifact(void **state)
{
	struct artifact_file f = ARTIFACT_NONE;
	struct artifact want = wanted();
	uint8_t b[64];
	int fd;

	(void)state;
	assert_ok(artifact_begin(&f, "test", &want, 16));
	assert_ok(artifact_take(&f, bytes_of(content, 5)));
	fd = f.fd;
	/* the same one goes on, another one starts anew */
	assert_ok(artifact_begin(&f, "test", &want, 16));
	assert_int_equal(f.have, 5);
	assert_int_equal(f.fd, fd);
	assert_ok(artifact_take(&f, bytes_of(content + 5, sizeof(content) - 5)));
	assert_reason(R_IMAGE_SIZE, artifact_take(&f, bytes_of(content, 1)));
	assert_ok(artifact_end(&f));
	assert_ok(artifact_end(&f));
	assert_true(f.complete);
	assert_reason(R_INTERNAL, artifact_seal(&f, bytes_of(content, 17)));
	assert_ok(artifact_seal(&f, bytes_of("front", 5)));
	assert_true(fd_is_sealed(f.fd));
	assert_int_equal(pread(f.fd, b, sizeof(b), 0), 16 + sizeof(content));
	assert_memory_equal(b, "front\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_memory_equal(b + 16, content, sizeof(content));
	assert_true(pwrite(f.fd, "x", 1, 0) < 0);
	assert_true(ftruncate(f.fd, 3) < 0);
	/* a sealed one has somebody's hand-over in front */
	assert_ok(artifact_begin(&f, "test", &want, 16));
	assert_int_equal(f.have, 0);
	artifact_drop(&f);
	assert_int_equal(f.fd, -1);
}

static void test_artifact_refused(void **state)
{
	struct artifact_file f = ARTIFACT_NONE;
	struct artifact want = wanted();

	(void)state;
	assert_ok(artifact_begin(&f, "test", &want, 0));
	assert_reason(R_IMAGE_SIZE, artifact_end(&f));
	assert_ok(artifact_take(&f, bytes_of(content, sizeof(content) - 1)));
	assert_reason(R_IMAGE_SIZE, artifact_end(&f));
	assert_reason(R_INTERNAL, artifact_seal(&f, BYTES_NONE));
	assert_ok(artifact_take(&f, bytes_of("!", 1)));
	assert_reason(R_IMAGE_DIGEST, artifact_end(&f));
	assert_false(f.complete);
	assert_reason(R_INTERNAL, artifact_seal(&f, BYTES_NONE));
	assert_ok(artifact_restart(&f));
	assert_int_equal(f.have, 0);
	assert_ok(artifact_take(&f, BYTES(content)));
	assert_ok(artifact_end(&f));
	want.size = 0;
	assert_reason(R_IMAGE_SIZE, artifact_begin(&f, "test", &want, 0));
	want.size = (4ull << 30) + 1;
	assert_reason(R_IMAGE_SIZE, artifact_begin(&f, "test", &want, 0));
	artifact_drop(&f);
}

/* More than 4 GiB in one call does not wrap. */
static void test_artifact_sizes(void **state)
{
	struct artifact_file f = ARTIFACT_NONE;
	struct artifact want = { .size = 10 };

	(void)state;
	assert_ok(artifact_begin(&f, "test", &want, 0));
	assert_reason(R_IMAGE_SIZE, artifact_take(&f, bytes_of(content, SIZE_MAX)));
	assert_reason(R_IMAGE_SIZE, artifact_take(&f, bytes_of(content, (1ull << 32) + 3)));
	artifact_drop(&f);
}

static void test_wrap(void **state)
{
	const char *text = "one two  three";

	(void)state;
	assert_int_equal(console_wrap(&text, 7), 7);
	assert_string_equal(text, "three");
	assert_int_equal(console_wrap(&text, 3), 3);
	assert_string_equal(text, "ee");
	assert_int_equal(console_wrap(&text, 3), 2);
	assert_string_equal(text, "");
}

static void test_challenge_message(void **state)
{
	struct net_challenge good = { .lifetime = 1, .bank_count = 1, .token_len = 1 };
	struct net_challenge m;

	(void)state;
	assert_ok(net_challenge_check(&good));
#define BAD(change)                                                           \
	m = good;                                                             \
	change;                                                               \
	assert_reason(R_INTERNAL_CHILD, net_challenge_check(&m))
	BAD(m.enrol = 2);
	BAD(m.offer = 2);
	BAD(m.lifetime = 0);
	BAD(m.lifetime = 3601);
	BAD(m.bank_count = 0);
	BAD(m.bank_count = LIMIT_BANKS + 1);
	BAD(m.mask[0] = 1u << 24);
	BAD(m.token_len = 0);
	BAD(m.token_len = LIMIT_TOKEN + 1);
#undef BAD
}

static void test_enrolled_message(void **state)
{
	static struct net_enrolled good, m;

	(void)state;
	good.challenge = (struct net_challenge){ .lifetime = 1, .bank_count = 1, .token_len = 1 };
	good.token_len = LIMIT_TOKEN;
	good.credential_count = LIMIT_EKS;
	assert_ok(net_enrolled_check(&good));
#define BAD(change)                                                           \
	m = good;                                                             \
	change;                                                               \
	assert_reason(R_INTERNAL_CHILD, net_enrolled_check(&m))
	BAD(m.challenge.lifetime = 0);
	BAD(m.token_len = 0);
	BAD(m.token_len = LIMIT_TOKEN + 1);
	BAD(m.credential_count = LIMIT_EKS + 1);
	BAD(m.credential[15].ek_name_len = NET_NAME_MAX + 1);
	BAD(m.credential[0].id_object_len = NET_ID_OBJECT_MAX + 1);
	BAD(m.credential[7].secret_len = UINT32_MAX);
#undef BAD
}

static void test_failed_message(void **state)
{
	struct net_failed m = { .reason = R_NET_DNS };

	(void)state;
	assert_ok(net_failed_check(&m));
	m.reason = R_OK;
	assert_reason(R_INTERNAL_CHILD, net_failed_check(&m));
	m.reason = R_MAX;
	assert_reason(R_INTERNAL_CHILD, net_failed_check(&m));
	m.reason = R_NET_DNS;
	memset(m.text, 'x', sizeof(m.text));
	assert_reason(R_INTERNAL_CHILD, net_failed_check(&m));
	m.text[NET_TEXT_MAX] = 0;
	m.restart = 2;
	assert_reason(R_INTERNAL_CHILD, net_failed_check(&m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_kexec_errno),
		cmocka_unit_test(test_kexec_call),
		cmocka_unit_test(test_artifact),
		cmocka_unit_test(test_artifact_refused),
		cmocka_unit_test(test_artifact_sizes),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_challenge_message),
		cmocka_unit_test(test_enrolled_message),
		cmocka_unit_test(test_failed_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
