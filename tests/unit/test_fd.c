/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "unit.h"

/* A folder of its own for each test. */
static int make_folder(void **state)
{
	static char folder[] = "/tmp/bootgate-fd-XXXXXX";

	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	*state = folder;
	return chdir(folder);
}

static int remove_folder(void **state)
{
	struct fd_names names;

	if (fd_list(".", 100, &names) != R_OK)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (unlink(names.v[i]) != 0 && rmdir(names.v[i]) != 0)
			return -1;
	}
	fd_names_free(&names);
	return chdir("/") != 0 || rmdir(*state) != 0 ? -1 : 0;
}

static void put(const char *name, const char *text)
{
	assert_ok(fd_write_file(name, bytes_str(text), 0644));
}

static void test_read_file(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(5);

	(void)state;
	put("five", "12345");
	assert_ok(fd_read_file("five", &b));
	assert_bytes(blob_bytes(&b), "12345", 5);
	/* appends */
	b.n = 0;
	put("three", "123");
	assert_ok(fd_read_file("three", &b));
	assert_reason(R_FORMAT_TOO_LARGE, fd_read_file("three", &b));
	put("empty", "");
	b.n = 5;
	assert_ok(fd_read_file("empty", &b));
}

static void test_ceiling_is_exact(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(4);

	(void)state;
	put("five", "12345");
	assert_reason(R_FORMAT_TOO_LARGE, fd_read_file("five", &b));
	b.n = 0;
	put("four", "1234");
	assert_ok(fd_read_file("four", &b));
	assert_int_equal(b.n, 4);
}

/* Files of /proc and of securityfs say that their size is 0. */
static void test_size_is_not_believed(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(1 << 20);
	struct stat s;

	(void)state;
	assert_int_equal(stat("/proc/self/status", &s), 0);
	assert_int_equal(s.st_size, 0);
	assert_ok(fd_read_file("/proc/self/status", &b));
	assert_true(b.n > 100);
}

static void test_pipe_in_small_pieces(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(200000);
	static char line[1000];
	int p[2];
	pid_t child;

	(void)state;
	memset(line, 'x', sizeof(line));
	assert_int_equal(pipe(p), 0);
	child = fork();
	if (child == 0) {
		close(p[0]);
		for (int i = 0; i < 200; i++) {
			if (fd_write_full(p[1], bytes_of(line, sizeof(line))) != R_OK)
				_exit(1);
		}
		_exit(0);
	}
	close(p[1]);
	assert_ok(fd_read_all(p[0], &b));
	assert_int_equal(b.n, 200000);
	close(p[0]);
}

static void test_read_refusals(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(100);

	(void)state;
	assert_reason(R_FILE, fd_read_file("nothing", &b));
	assert_int_equal(errno, ENOENT);
	assert_reason(R_FILE, fd_read_file(".", &b));
	assert_int_equal(errno, EISDIR);
	assert_reason(R_INTERNAL_IO, fd_read_all(-1, &b));
	assert_int_equal(errno, EBADF);
	/* full already, and the descriptor is bad */
	b.n = 0;
	struct blob none = BLOB(0);
	assert_reason(R_INTERNAL_IO, fd_read_all(-1, &none));
	put("some", "text");
	unit_fail_allocation(0);
	struct blob fresh = BLOB(100);
	assert_reason(R_INTERNAL_MEMORY, fd_read_file("some", &fresh));
}

static void test_links(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(100);
	int fd = -1;

	(void)state;
	put("target", "text");
	assert_int_equal(symlink("target", "link"), 0);
	assert_reason(R_FILE, fd_read_file("link", &b));
	assert_int_equal(errno, ELOOP);
	assert_reason(R_FILE, fd_open("link", O_RDONLY, &fd));
	assert_int_equal(fd, -1);
	assert_ok(fd_read_named("link", &b));
	assert_bytes(blob_bytes(&b), "text", 4);
	assert_ok(fd_open_named("link", O_RDONLY, &fd));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

static void test_write_file(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(100);
	struct fd_names names;
	struct stat s;

	(void)state;
	(void)umask(077);
	assert_ok(fd_write_file("file", bytes_str("old"), 0640));
	assert_int_equal(stat("file", &s), 0);
	/* exactly this mode, whatever umask is */
	assert_int_equal(s.st_mode & 07777, 0640);
	assert_ok(fd_write_file("file", bytes_str("new content"), 0600));
	assert_ok(fd_read_file("file", &b));
	assert_bytes(blob_bytes(&b), "new content", 11);
	assert_int_equal(stat("file", &s), 0);
	assert_int_equal(s.st_mode & 07777, 0600);
	/* a link is replaced, not followed */
	assert_int_equal(symlink("file", "link"), 0);
	assert_ok(fd_write_file("link", bytes_str("x"), 0600));
	assert_int_equal(lstat("link", &s), 0);
	assert_true(S_ISREG(s.st_mode));
	/* nothing is left over, not even hidden */
	assert_ok(fd_list(".", 10, &names));
	assert_int_equal(names.n, 2);
	fd_names_free(&names);
	assert_int_equal(system("test \"$(ls -A | wc -l)\" = 2"), 0);
	(void)umask(022);
}

static void test_write_new(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(100);
	char path[200];

	assert_true(snprintf(path, sizeof(path), "%s/new", (char *)*state) > 0);
	assert_ok(fd_write_new(path, bytes_str("first"), 0600));
	assert_reason(R_FILE, fd_write_new(path, bytes_str("second"), 0600));
	assert_int_equal(errno, EEXIST);
	assert_ok(fd_read_file("new", &b));
	assert_bytes(blob_bytes(&b), "first", 5);
	assert_int_equal(system("test \"$(ls -A)\" = new"), 0);
}

static void test_move_file(void **state)
{
	_cleanup_(blob_free) struct blob b = BLOB(100);

	(void)state;
	assert_ok(fd_write_new("part", bytes_str("whole"), 0600));
	assert_ok(fd_write_new("there", bytes_str("old"), 0600));
	assert_ok(fd_move_file("part", "there"));
	assert_ok(fd_read_file("there", &b));
	assert_bytes(blob_bytes(&b), "whole", 5);
	assert_int_equal(system("test \"$(ls -A)\" = there"), 0);
	assert_reason(R_FILE, fd_move_file("part", "there"));
	assert_int_equal(errno, ENOENT);
}

static void test_write_refusals(void **state)
{
	static char longest[5000];

	(void)state;
	assert_reason(R_FILE, fd_write_file("no/such/folder", bytes_str("x"), 0600));
	assert_int_equal(errno, ENOENT);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[4990] = '/';
	assert_reason(R_FILE, fd_write_file(longest, bytes_str("x"), 0600));
	assert_int_equal(errno, ENAMETOOLONG);
	/* the last part alone is too long: the temporary file goes away */
	longest[4990] = 'a';
	longest[300] = '\0';
	assert_reason(R_FILE, fd_write_file(longest, bytes_str("x"), 0600));
	assert_int_equal(errno, ENAMETOOLONG);
	assert_int_equal(system("test -z \"$(ls -A)\""), 0);
	assert_reason(R_FILE, fd_write_file("/proc/nothing-here", bytes_str("x"), 0600));
	assert_reason(R_INTERNAL_IO, fd_write_full(-1, bytes_str("x")));
	assert_ok(fd_write_full(-1, BYTES_NONE));
}

static void test_memfd(void **state)
{
	_cleanup_fd_ int fd = -1;

	(void)state;
	assert_ok(fd_memfd("test", &fd));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_ok(fd_write_full(fd, bytes_str("image")));
	assert_false(fd_is_sealed(fd));
	assert_ok(fd_seal(fd));
	assert_true(fd_is_sealed(fd));
	/* nothing changes it any more */
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 100), -1);
	assert_ptr_equal(mmap(NULL, 5, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	assert_reason(R_INTERNAL_IO, fd_seal(fd));
}

/* A writable mapping of somebody else would make a seal worthless. */
static void test_seal_refused_while_mapped(void **state)
{
	_cleanup_fd_ int fd = -1;
	void *p;

	(void)state;
	assert_ok(fd_memfd("test", &fd));
	assert_ok(fd_write_full(fd, bytes_str("image")));
	p = mmap(NULL, 5, PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_reason(R_INTERNAL_IO, fd_seal(fd));
	assert_false(fd_is_sealed(fd));
	munmap(p, 5);
	assert_ok(fd_seal(fd));
}

static void test_not_sealable(void **state)
{
	_cleanup_fd_ int fd = -1;

	(void)state;
	put("file", "x");
	assert_ok(fd_open("file", O_RDWR, &fd));
	assert_reason(R_INTERNAL_IO, fd_seal(fd));
	assert_false(fd_is_sealed(fd));
	assert_false(fd_is_sealed(-1));
}

static void test_nonblock(void **state)
{
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_ok(fd_set_nonblock(p[0], true));
	assert_true(fcntl(p[0], F_GETFL) & O_NONBLOCK);
	assert_ok(fd_set_nonblock(p[0], false));
	assert_false(fcntl(p[0], F_GETFL) & O_NONBLOCK);
	close(p[0]);
	close(p[1]);
	assert_reason(R_INTERNAL_IO, fd_set_nonblock(p[0], true));
}

static void test_standard(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		close(0);
		close(2);
		if (fd_standard() != R_OK)
			_exit(1);
		_exit(fcntl(0, F_GETFD) < 0 || fcntl(2, F_GETFL) < 0 ||
		      (fcntl(2, F_GETFL) & O_ACCMODE) != O_WRONLY);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_list(void **state)
{
	struct fd_names names = { NULL, 0 };

	(void)state;
	assert_ok(fd_list(".", 3, &names));
	assert_int_equal(names.n, 0);
	fd_names_free(&names);
	put("b", "");
	put("a", "");
	put("c", "");
	put(".hidden", "");
	assert_ok(fd_list(".", 3, &names));
	assert_int_equal(names.n, 3);
	assert_string_equal(names.v[0], "a");
	assert_string_equal(names.v[1], "b");
	assert_string_equal(names.v[2], "c");
	fd_names_free(&names);
	fd_names_free(&names);
	assert_reason(R_FORMAT_TOO_LARGE, fd_list(".", 2, &names));
	assert_reason(R_FILE, fd_list("nothing", 2, &names));
	assert_int_equal(names.n, 0);
	unit_fail_allocation(0);
	assert_reason(R_INTERNAL_MEMORY, fd_list(".", 2, &names));
	unlink(".hidden");
}

#define in_folder(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(test_read_file),
		in_folder(test_ceiling_is_exact),
		in_folder(test_size_is_not_believed),
		in_folder(test_pipe_in_small_pieces),
		in_folder(test_read_refusals),
		in_folder(test_links),
		in_folder(test_write_file),
		in_folder(test_write_new),
		in_folder(test_move_file),
		in_folder(test_write_refusals),
		in_folder(test_memfd),
		in_folder(test_seal_refused_while_mapped),
		in_folder(test_not_sealable),
		in_folder(test_nonblock),
		in_folder(test_standard),
		in_folder(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
