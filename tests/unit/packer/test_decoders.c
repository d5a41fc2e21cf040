/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images are decoded by processes without rights, which may die. */
#include "config.h"
#if WITH_IMAGES
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/decoders.h"

enum { WORKERS = 3 };

/* A pixel, red: made by Pillow. */
static const unsigned char png[] =
	"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde"
	"\0\0\0\x0cIDATx\x9c" "c\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef"
	"\0\0\0\0IEND\xae" "B`\x82";

static unsigned list_children(pid_t *out)
{
	char path[64];
	unsigned n = 0;
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	while (f && n < WORKERS && fscanf(f, "%d", &pid) == 1)
		out[n++] = pid;
	if (f)
		fclose(f);
	return n;
}

/* The child is dead then, and not reaped: its end of the socket is closed. */
static void kill_now(pid_t child)
{
	siginfo_t info;

	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

static void test_pixels_and_none(void **state)
{
	struct decoders *d;
	struct pixels pixels;
	const char *damage = NULL;
	uint64_t size;
	struct error e;

	(void)state;
	assert_int_equal(decoders_start(&d, WORKERS, &e), 0);
	assert_true(decoders_measure(d, png, sizeof(png) - 1, &size, &damage));
	assert_int_equal(decoders_decode(d, png, sizeof(png) - 1, size, &pixels, &damage), 0);
	assert_int_equal(pixels.size, 14);
	assert_memory_equal(pixels.bytes, "P6\n1 1\n255\n\xff\0\0", 14);
	assert_null(damage);
	pixels_free(&pixels);
	assert_false(decoders_measure(d, "text", 4, &size, &damage));
	assert_string_equal(damage, pixels_damages[3]);
	damage = NULL;
	assert_true(decoders_decode(d, png, 50, 100, &pixels, &damage) < 0);
	assert_string_equal(damage, pixels_damages[2]);
	decoders_stop(d);
}

static void test_workers_that_have_died(void **state)
{
	struct decoders *d;
	pid_t children[WORKERS];
	const char *damage = NULL;
	uint64_t size;
	struct error e;

	(void)state;
	assert_int_equal(decoders_start(&d, WORKERS, &e), 0);
	assert_int_equal(list_children(children), WORKERS);
	kill_now(children[0]);
	/* an image is the dead one's; the others go on */
	assert_false(decoders_measure(d, png, sizeof(png) - 1, &size, &damage));
	damage = NULL;
	assert_true(decoders_measure(d, png, sizeof(png) - 1, &size, &damage));
	for (int i = 1; i < WORKERS; i++)
		kill_now(children[i]);
	for (int i = 0; i < 2 * WORKERS; i++) {
		damage = NULL;
		assert_false(decoders_measure(d, png, sizeof(png) - 1, &size, &damage));
		assert_non_null(strstr(damage, "crash"));
	}
	decoders_stop(d);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pixels_and_none),
	cmocka_unit_test(test_workers_that_have_died),
};

UNIT_MAIN(tests)

#else
#include "left_out.h"
#endif
