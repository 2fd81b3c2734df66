/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of system calls: what each kind of process may do, and what none may. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "jail_kit.h"

static int act_execute(void)
{
	char *argv[] = { (char[]){ "/bin/true" }, NULL };

	execv(argv[0], argv);
	return errno;
}

static int act_execute_memory(void)
{
	return mprotect((void *)((uintptr_t)act_basics & ~4095ul), 4096,
			PROT_READ | PROT_WRITE | PROT_EXEC) != 0;
}

static int act_map_executable(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       MAP_FAILED;
}

static int act_trace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0;
}

static int act_fork(void)
{
	return fork() < 0;
}

static int act_kill(void)
{
	return kill(1, 0) != 0;
}

static int act_mount(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL) != 0;
}

static int act_kexec(void)
{
	return syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0) != 0;
}

static int act_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0) < 0;
}

static int act_user_namespace(void)
{
	return unshare(CLONE_NEWUSER) != 0;
}

static int act_setuid(void)
{
	return setuid(0) != 0;
}

static int act_clone_namespace(void)
{
	return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL) < 0;
}

/* What Landlock does not see, by path: the filter has to. */
static int act_chmod(void)
{
	return chmod("/tmp", 01777);
}

static int act_chown(void)
{
	return chown("/tmp", 0, 0);
}

static int act_fchown(void)
{
	return fchown(STDERR_FILENO, getuid(), getgid());
}

static int act_utimes(void)
{
	return utimensat(AT_FDCWD, "/tmp", NULL, 0);
}

/* The 32-bit numbers mean other calls: 20 is getpid there. */
static int act_32bit(void)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
	return r > 0 ? 0 : 1;
}

static int act_x32(void)
{
	return syscall(0x40000000 | SYS_getpid) < 0;
}

/* Nobody may do any of these, the supervisor included. */
static void test_never(void **state)
{
	static act_fn *const acts[] = {
		act_execute, act_execute_memory, act_map_executable, act_trace, act_mount,
		act_kexec, act_bpf, act_user_namespace, act_clone_namespace, act_x32,
		act_chmod, act_chown, act_fchown, act_utimes,
	};

	(void)state;
	for (int p = 0; p < JAIL_PROFILE_MAX; p++) {
		for (size_t i = 0; i < ARRAY_LEN(acts); i++)
			assert_killed((enum jail_profile)p, acts[i]);
	}
}

static void test_32bit(void **state)
{
	struct proc p = PROC_NONE;
	struct proc_end end;

	(void)state;
	assert_ok(proc_fork(NULL, 0, &p));
	if (p.pid == 0)
		_exit(act_32bit());
	assert_ok(proc_wait(&p, 20000, &end));
	/* this kernel has no 32-bit calls at all */
	if (end.signal == SIGSEGV)
		skip();
	for (int profile = 0; profile < JAIL_PROFILE_MAX; profile++)
		assert_killed((enum jail_profile)profile, act_32bit);
}

static void test_only_the_supervisor(void **state)
{
	static act_fn *const acts[] = { act_fork, act_kill, act_setuid };

	(void)state;
	for (int p = 0; p < JAIL_PROFILE_MAX; p++) {
		for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
			if (p != JAIL_SUPERVISOR)
				assert_killed((enum jail_profile)p, acts[i]);
		}
	}
	assert_does(JAIL_SUPERVISOR, act_fork);
}

static void test_basics(void **state)
{
	(void)state;
	for (int p = 0; p < JAIL_PROFILE_MAX; p++)
		assert_does((enum jail_profile)p, act_basics);
}

static int act_open_denied(void)
{
	int fd = open("/tmp/bootgate-jail", O_WRONLY | O_CREAT, 0600);

	return fd < 0 && errno == EACCES ? 0 : 1;
}

static int act_write_trick(void)
{
	/* each of these is more than reading */
	static const int flags[] = {
		O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_TMPFILE | O_RDWR,
		3, O_RDWR | O_APPEND,
	};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		if (open("/tmp/bootgate-jail", flags[i], 0600) >= 0 || errno != EACCES)
			return (int)i + 1;
	}
	return 0;
}

static void test_worker_and_signer(void **state)
{
	static const enum jail_profile profiles[] = { JAIL_WORKER, JAIL_SIGNER };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		assert_does(profiles[i], act_open_denied);
		assert_does(profiles[i], act_write_trick);
		assert_killed(profiles[i], act_socket);
	}
}

static int act_client(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = 9 };
	char text[16];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int file;

	if (fd < 0 || socket(AF_INET6, SOCK_DGRAM, 0) < 0)
		return 1;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0 && errno != ECONNREFUSED)
		return 2;
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EAFNOSUPPORT)
		return 3;
	if (socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || socket(AF_PACKET, SOCK_RAW, 0) >= 0)
		return 4;
	/* resolv.conf and hosts */
	file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	return file >= 0 && read(file, text, sizeof(text)) > 0 ? 0 : 5;
}

static int act_listen(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return listen(fd, 1) != 0;
}

static void test_net(void **state)
{
	(void)state;
	assert_does(JAIL_NET, act_client);
	assert_does(JAIL_NET, act_write_trick);
	assert_killed(JAIL_NET, act_listen);
}

static void *thread(void *arg)
{
	*(int *)arg = 42;
	return NULL;
}

static int act_threads(void)
{
	int value = 0;
	pthread_t t;

	if (pthread_create(&t, NULL, thread, &value) != 0 || pthread_join(t, NULL) != 0)
		return 1;
	return value == 42 ? 0 : 2;
}

/* Whoever holds a listening socket could connect with it, were the flag let through. */
static int act_fast_open(void)
{
	return sendto(STDIN_FILENO, "x", 1, MSG_FASTOPEN, NULL, 0) < 0 ? 0 : 1;
}

static int act_fast_open_message(void)
{
	struct msghdr m = { 0 };

	return sendmsg(STDIN_FILENO, &m, MSG_FASTOPEN) < 0 ? 0 : 1;
}

static void test_front(void **state)
{
	(void)state;
	assert_killed(JAIL_FRONT, act_fast_open);
	assert_killed(JAIL_FRONT, act_fast_open_message);
	assert_does(JAIL_FRONT, act_threads);
	assert_does(JAIL_FRONT, act_open_denied);
	assert_killed(JAIL_FRONT, act_socket);
}

static int act_files(void)
{
	char path[] = "/tmp/bootgate-jail-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, "x", 1) != 1 || pwrite(fd, "y", 1, 10) != 1)
		return 1;
	if (fsync(fd) != 0 || fdatasync(fd) != 0 || ftruncate(fd, 2) != 0)
		return 2;
	if (fcntl(fd, F_SETLK, &(struct flock){ .l_type = F_WRLCK }) != 0)
		return 3;
	/* SQLite would like to, and goes on when it may not */
	if (fchmod(fd, 0666) == 0 || errno != EPERM)
		return 4;
	return unlink(path) == 0 ? 0 : 5;
}

static void test_ledger(void **state)
{
	const struct jail tmp = { .profile = JAIL_LEDGER, .folder = "/tmp" };

	(void)state;
	assert_int_equal(in_jail(&tmp, act_files).code, 0);
	assert_killed(JAIL_LEDGER, act_socket);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basics),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_32bit),
		cmocka_unit_test(test_only_the_supervisor),
		cmocka_unit_test(test_worker_and_signer),
		cmocka_unit_test(test_net),
		cmocka_unit_test(test_front),
		cmocka_unit_test(test_ledger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
