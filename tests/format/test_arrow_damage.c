/* Damaged and hostile Arrow files: a sentence, in bounded time, and no crash. */
#include "arrow_run.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "util/log.h"

/* Whatever becomes of it, it is a sentence or samples that lie within the file. */
static int scan_anyhow(const char *path)
{
	struct run run;
	int err;

	run_window(&run, path, 0, NULL);
	err = run.err;
	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_refused(&run, "; ");
	} else {
		free(run_listing(&run));
	}
	run_end(&run);
	return err;
}

static const char *const files[] = { "ImageNet-val.arrow", "old.arrow", "kinds.arrow",
				     "pets-train-00000-of-00002.arrow", "wide.arrow",
				     "views.test.arrow", "words.arrow" };

/* Every byte, changed in two ways. */
static void test_flipped(void **state)
{
	static const unsigned char changes[] = { 0x01, 0xff };
	unsigned refused = 0;

	(void)state;
	log_level_now = LOG_LEVEL_ERROR;
	for (size_t i = 0; i < COUNT(files); i++) {
		size_t n;
		char *bytes = fixture(files[i], &n);
		int fd;

		unit_write("flipped", bytes, n);
		fd = open("flipped", O_WRONLY);
		assert_true(fd >= 0);
		for (size_t at = 0; at < n; at++) {
			for (size_t c = 0; c < COUNT(changes); c++) {
				char changed = (char)(bytes[at] ^ changes[c]);

				assert_int_equal(pwrite(fd, &changed, 1, (off_t)at), 1);
				refused += scan_anyhow("flipped") != 0;
			}
			assert_int_equal(pwrite(fd, bytes + at, 1, (off_t)at), 1);
		}
		close(fd);
		free(bytes);
	}
	assert_true(refused > 1000);
}

/* Cut short at each length; only a stream may be whole where a batch ends. */
static void test_truncated(void **state)
{
	(void)state;
	log_level_now = LOG_LEVEL_ERROR;
	for (size_t i = 0; i < COUNT(files); i++) {
		unsigned whole = 0;
		size_t n;
		char *bytes = fixture(files[i], &n);
		bool stream = memcmp(bytes, "ARROW1", 6) != 0;

		unit_write("cut", bytes, n);
		for (size_t length = n - 1; length > 0; length--) {
			assert_int_equal(truncate("cut", (off_t)length), 0);
			whole += scan_anyhow("cut") == 0;
		}
		assert_true(stream ? whole >= 2 && whole <= 12 : whole == 0);
		free(bytes);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_flipped),
	cmocka_unit_test(test_truncated),
};

UNIT_MAIN(tests)
