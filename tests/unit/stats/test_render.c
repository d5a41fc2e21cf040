/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters as text. What parsers think of it, tests/mount/visible.sh asks them. */
#include "unit.h"

#include "stats/render.h"
#include "stats/stats.h"

enum { ROOM = 128 * 1024 };

static void set_all(uint64_t value)
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		stats_set((enum counter)i, value);
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		histogram_cells[i].sum_ns = value;
		histogram_cells[i].demand_ns = value;
		for (int k = 0; k < BUCKET_COUNT; k++)
			histogram_cells[i].buckets[k] = value / BUCKET_COUNT;
	}
}

static void (*const renders[])(struct render_text *) = { render_stats, render_json,
						  render_progress };

/* Where each line ends, one number for all of them. */
static uint64_t layout(const struct render_text *text)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < text->used; i++) {
		if (text->bytes[i] == '\n')
			sum = sum * 31 + i;
	}
	return sum;
}

static void test_size_and_lines_stay_where_they_are(void **state)
{
	static char small[ROOM], large[ROOM];

	(void)state;
	for (size_t i = 0; i < COUNT(renders); i++) {
		struct render_text a = { small, ROOM, 0 }, b = { large, ROOM, 0 };

		set_all(0);
		renders[i](&a);
		set_all(UINT64_MAX);
		renders[i](&b);
		assert_true(a.used > 0 && a.used < ROOM - 1);
		assert_int_equal(a.used, b.used);
		assert_true(layout(&a) == layout(&b));
		assert_int_equal(a.bytes[a.used - 1], '\n');
		assert_string_not_equal(small, large);
	}
	set_all(0);
}

static void test_state_does_not_move_anything(void **state)
{
	static char bytes[3][ROOM];
	static const uint64_t targets[] = { 0, 100, 50 };
	size_t sizes[2][3];

	(void)state;
	for (size_t i = 0; i < COUNT(targets); i++) {
		struct render_text progress = { bytes[i], ROOM, 0 },
			json = { bytes[i], ROOM, 0 };

		stats_set(COUNTER_swept_bytes, 50);
		stats_set(COUNTER_sweep_target, targets[i]);
		render_json(&json);
		sizes[0][i] = json.used;
		render_progress(&progress);
		sizes[1][i] = progress.used;
		bytes[i][progress.used] = '\0';
	}
	for (size_t i = 0; i < 2; i++)
		assert_true(sizes[i][0] == sizes[i][1] && sizes[i][1] == sizes[i][2]);
	assert_non_null(strstr(bytes[0], "  0.0 % warm"));
	assert_non_null(strstr(bytes[0], "idle"));
	assert_non_null(strstr(bytes[1], " 50.0 % warm"));
	assert_non_null(strstr(bytes[1], "sweeping"));
	assert_non_null(strstr(bytes[2], "100.0 % warm"));
	assert_non_null(strstr(bytes[2], "warm    \n"));
	set_all(0);
}

static void test_text_is_cut_off_within_its_room(void **state)
{
	char bytes[8] = "xxxxxxx";
	struct render_text text = { bytes, 5, 0 };

	(void)state;
	text_add(&text, "%s", "ab");
	text_add(&text, "%s", "cdefg");
	text_add(&text, "%s", "h");
	assert_string_equal(bytes, "abcd");
	assert_int_equal(text.used, 4);
	assert_int_equal(bytes[5], 'x');
}

static void test_percent_is_never_beyond_what_is_meant(void **state)
{
	(void)state;
	assert_true(render_percent(0, 0) <= 0);
	assert_true(render_percent(7, 0) <= 0);
	assert_true(render_percent(200, 100) <= 100);
	assert_true(render_percent(99, 100) < 99.5);
}

static const struct CMUnitTest render[] = {
	cmocka_unit_test(test_size_and_lines_stay_where_they_are),
	cmocka_unit_test(test_state_does_not_move_anything),
	cmocka_unit_test(test_text_is_cut_off_within_its_room),
	cmocka_unit_test(test_percent_is_never_beyond_what_is_meant),
};

UNIT_MAIN(render)
