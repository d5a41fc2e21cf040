/* Mapped files that shrink. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/sigbus.h"

enum { PAGES = 4 };

static size_t page;

struct mapped {
	int fd;
	volatile unsigned char *bytes;
};

static struct mapped map_file(const char *path)
{
	struct mapped m = { .fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600) };
	void *map;

	unit_release_sigbus();
	page = (size_t)sysconf(_SC_PAGESIZE);
	assert_true(m.fd >= 0);
	for (size_t i = 0; i < PAGES * page; i++)
		assert_int_equal(write(m.fd, "x", 1), 1);
	map = mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, m.fd, 0);
	assert_true(map != MAP_FAILED);
	m.bytes = map;
	return m;
}

static void unmap(struct mapped *m)
{
	munmap((void *)(uintptr_t)m->bytes, PAGES * page);
	close(m->fd);
}

static struct sigbus_guard *guard(const struct mapped *m)
{
	return sigbus_guard((void *)(uintptr_t)m->bytes, PAGES * page);
}

static void test_a_lost_page_is_zeros_and_a_hit(void **state)
{
	struct mapped m = map_file("one"), other = map_file("two");
	struct sigbus_guard *g = guard(&m), *g2 = guard(&other);

	(void)state;
	assert_non_null(g);
	assert_non_null(g2);
	assert_int_equal(m.bytes[2 * page], 'x');
	assert_false(sigbus_hit(g));
	assert_int_equal(ftruncate(m.fd, (off_t)page), 0);
	assert_int_equal(m.bytes[0], 'x');
	assert_false(sigbus_hit(g));
	assert_int_equal(m.bytes[2 * page + 5], 0);
	assert_true(sigbus_hit(g));
	assert_false(sigbus_hit(g2));
	assert_int_equal(m.bytes[0], 'x');
	assert_int_equal(m.bytes[PAGES * page - 1], 0);
	assert_int_equal(other.bytes[2 * page], 'x');
	sigbus_unguard(g);
	sigbus_unguard(g2);
	unmap(&m);
	unmap(&other);
}

static void test_a_new_guard_has_not_been_hit(void **state)
{
	struct mapped m = map_file("one");
	struct sigbus_guard *g = guard(&m), *again;

	(void)state;
	assert_int_equal(ftruncate(m.fd, 0), 0);
	assert_int_equal(m.bytes[0], 0);
	assert_true(sigbus_hit(g));
	sigbus_unguard(g);
	again = guard(&m);
	assert_non_null(again);
	assert_false(sigbus_hit(again));
	sigbus_unguard(again);
	unmap(&m);
}

static int read_unguarded(void *argument)
{
	struct mapped *m = argument;

	return ftruncate(m->fd, 0) < 0 ? 100 : m->bytes[page];
}

static void test_outside_every_guard_it_is_a_crash(void **state)
{
	struct mapped m = map_file("one"), other = map_file("two");
	struct sigbus_guard *g = guard(&other);

	(void)state;
	assert_non_null(g);
	assert_int_equal(unit_child(read_unguarded, &m), 256 + SIGBUS);
	sigbus_unguard(g);
	unmap(&m);
	unmap(&other);
}

static void test_a_guard_that_was_given_back_guards_no_more(void **state)
{
	struct mapped m = map_file("one");

	(void)state;
	sigbus_unguard(guard(&m));
	assert_int_equal(unit_child(read_unguarded, &m), 256 + SIGBUS);
	unmap(&m);
}

static void test_guards_run_out_and_come_back(void **state)
{
	struct mapped m = map_file("one");
	struct sigbus_guard *guards[64];
	size_t n = 0;

	(void)state;
	while (n < COUNT(guards) && (guards[n] = guard(&m)))
		n++;
	assert_in_range(n, 2, COUNT(guards) - 1);
	sigbus_unguard(guards[0]);
	guards[0] = guard(&m);
	assert_non_null(guards[0]);
	assert_null(guard(&m));
	while (n > 0)
		sigbus_unguard(guards[--n]);
	sigbus_unguard(NULL);
	assert_false(sigbus_hit(NULL));
	unmap(&m);
}

static const struct CMUnitTest sigbus[] = {
	cmocka_unit_test(test_a_lost_page_is_zeros_and_a_hit),
	cmocka_unit_test(test_a_new_guard_has_not_been_hit),
	cmocka_unit_test(test_outside_every_guard_it_is_a_crash),
	cmocka_unit_test(test_a_guard_that_was_given_back_guards_no_more),
	cmocka_unit_test(test_guards_run_out_and_come_back),
};

UNIT_MAIN(sigbus)
