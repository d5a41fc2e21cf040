/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Publishing: the old index, the new one, or none; and nothing beside it. */
#include "build/kit.h"
#include "build/publish.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct image_access private(void)
{
	return (struct image_access){ 0644, getuid(), getgid() };
}

static int publish(const char *script, const char *path, struct error *e)
{
	struct image_access access = private();
	struct image image;
	int err;

	kit_image(script, &image);
	err = publish_at(&image, path, &access, e);
	image_free(&image);
	return err;
}

static void assert_holds(const char *path, const char *shown)
{
	struct index *index;
	char *list;

	assert_int_equal(kit_open_path(path, &index, NULL), 0);
	list = kit_list(index_tree(index));
	assert_string_equal(list, shown);
	free(list);
	index_close(index);
}

static void fresh_directory(const char *path)
{
	assert_int_equal(mkdir(path, 0755), 0);
}

static void test_the_new_one_replaces_the_old(void **state)
{
	(void)state;
	fresh_directory("new");
	assert_int_equal(publish("f:a:1", "new/x.gidx", NULL), 0);
	assert_holds("new/x.gidx", "a=1");
	assert_int_equal(publish("f:b:2", "new/x.gidx", NULL), 0);
	assert_holds("new/x.gidx", "b=2");
	assert_int_equal(unit_names_in("new"), 1);
}

static const struct {
	mode_t mask, given, got;
} modes[] = {
	{ 022, 0644, 0644 }, { 022, 0666, 0644 }, { 077, 0644, 0600 }, { 0, 0640, 0640 },
	{ 0, 0755, 0644 }, { 022, 0, 0400 }, { 0, 0440, 0440 },
};

static void test_who_may_read_the_source_may_read_the_index(void **state)
{
	(void)state;
	fresh_directory("modes");
	for (size_t i = 0; i < COUNT(modes); i++) {
		struct image_access access = { modes[i].given, getuid(), getgid() };
		mode_t before = umask(modes[i].mask);
		struct image image;
		struct stat st;

		kit_image("f:a:1", &image);
		assert_int_equal(publish_at(&image, "modes/x", &access, NULL), 0);
		image_free(&image);
		assert_int_equal(umask(before), modes[i].mask);
		assert_int_equal(stat("modes/x", &st), 0);
		assert_int_equal(st.st_mode & 07777, modes[i].got);
	}
}

static void refused(const char *path, int err, const char *directory, unsigned names)
{
	struct error e = { 0 };

	assert_int_equal(publish("f:a:1", path, &e), err);
	assert_int_equal(e.status, ERROR_SYSTEM);
	assert_non_null(strstr(e.text, path));
	if (directory)
		assert_int_equal(unit_names_in(directory), names);
}

static void test_nothing_is_left_behind_on_failure(void **state)
{
	(void)state;
	fresh_directory("fail");
	fresh_directory("fail/directory");
	unit_write("fail/file", "x", 1);
	refused("fail/none/x.gidx", -ENOENT, "fail", 2);
	refused("fail/file/x.gidx", -ENOTDIR, "fail", 2);
	refused("fail/directory", -EISDIR, "fail", 2);
}

/* Past the limit of a file's size: the write itself fails. */
static int publish_too_large(void *unused)
{
	struct rlimit limit = { 600, 600 };

	(void)unused;
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 1;
	return publish("f:a:1 f:b:1", "full/x.gidx", NULL) == -EFBIG ? 0 : 2;
}

static void test_a_full_disk_leaves_the_old_one(void **state)
{
	(void)state;
	fresh_directory("full");
	assert_int_equal(publish("f:old:1", "full/x.gidx", NULL), 0);
	assert_int_equal(unit_child(publish_too_large, NULL), 0);
	assert_holds("full/x.gidx", "old=1");
	assert_int_equal(unit_names_in("full"), 1);
}

enum { CANNOT_MOUNT = 77 };

static int publish_read_only(void *unused)
{
	(void)unused;
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("ro", "ro", "tmpfs", MS_RDONLY, NULL) < 0)
		return CANNOT_MOUNT;
	if (publish("f:a:1", "ro/x.gidx", NULL) != -EROFS)
		return 1;
	return (int)unit_names_in("ro");
}

static void test_a_read_only_mount_is_an_error(void **state)
{
	int status;

	(void)state;
	fresh_directory("ro");
	status = unit_child(publish_read_only, NULL);
	if (status == CANNOT_MOUNT)
		skip();
	assert_int_equal(status, 0);
}

/* A signal that is there already is delivered only when all is done. */
static volatile sig_atomic_t names_at_signal;

static void note_names(int number)
{
	(void)number;
	names_at_signal = access("signal/x.gidx", F_OK) == 0 ? 1 : 2;
}

static void *interrupt(void *thread)
{
	pthread_kill(*(pthread_t *)thread, SIGTERM);
	return NULL;
}

static void test_signals_are_let_through_again(void **state)
{
	struct sigaction action = { .sa_handler = note_names }, before;
	pthread_t self = pthread_self(), other;

	(void)state;
	fresh_directory("signal");
	sigaction(SIGTERM, &action, &before);
	assert_int_equal(publish("f:a:1", "signal/x.gidx", NULL), 0);
	assert_int_equal(pthread_create(&other, NULL, interrupt, &self), 0);
	pthread_join(other, NULL);
	sigaction(SIGTERM, &before, NULL);
	assert_int_equal(names_at_signal, 1);
}

struct race {
	_Atomic bool done;
	unsigned seen[2];
	unsigned bad;
};

static void *read_all_the_time(void *argument)
{
	struct race *race = argument;

	while (!atomic_load(&race->done)) {
		struct index *index;
		uint32_t node;

		if (kit_open_path("race/x.gidx", &index, NULL) < 0 ||
		    index_check(index, NULL) < 0) {
			race->bad++;
			continue;
		}
		for (unsigned i = 0; i < 2; i++)
			race->seen[i] += tree_lookup(index_tree(index), TREE_ROOT,
						     i ? "b" : "a", 1, &node) == 0;
		index_close(index);
	}
	return NULL;
}

static void test_readers_see_the_old_or_the_new(void **state)
{
	struct race race = { .done = false };
	struct image_access access = private();
	struct image images[2];
	pthread_t reader;

	(void)state;
	fresh_directory("race");
	kit_image("f:a:1", &images[0]);
	kit_image("f:b:1 f:c:2 f:d:3", &images[1]);
	assert_int_equal(publish_at(&images[0], "race/x.gidx", &access, NULL), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_all_the_time, &race), 0);
	for (int i = 1; i < 500; i++)
		assert_int_equal(publish_at(&images[i % 2], "race/x.gidx", &access,
					       NULL), 0);
	atomic_store(&race.done, true);
	pthread_join(reader, NULL);
	assert_int_equal(race.bad, 0);
	assert_true(race.seen[0] + race.seen[1] > 0);
	assert_int_equal(unit_names_in("race"), 1);
	image_free(&images[0]);
	image_free(&images[1]);
}

/* The name of a new file does not matter to a reader of the old one. */
static void test_an_open_index_stays_what_it_was(void **state)
{
	struct index *index;
	char *list;

	(void)state;
	assert_int_equal(publish("f:a:1", "x.gidx", NULL), 0);
	assert_int_equal(kit_open_path("x.gidx", &index, NULL), 0);
	assert_int_equal(publish("f:b:1", "x.gidx", NULL), 0);
	list = kit_list(index_tree(index));
	assert_string_equal(list, "a=1");
	assert_int_equal(index_check(index, NULL), 0);
	free(list);
	index_close(index);
}

static const struct CMUnitTest publishing[] = {
	cmocka_unit_test(test_the_new_one_replaces_the_old),
	cmocka_unit_test(test_who_may_read_the_source_may_read_the_index),
	cmocka_unit_test(test_nothing_is_left_behind_on_failure),
	cmocka_unit_test(test_a_full_disk_leaves_the_old_one),
	cmocka_unit_test(test_a_read_only_mount_is_an_error),
	cmocka_unit_test(test_signals_are_let_through_again),
	cmocka_unit_test(test_readers_see_the_old_or_the_new),
	cmocka_unit_test(test_an_open_index_stays_what_it_was),
};

UNIT_MAIN(publishing)
