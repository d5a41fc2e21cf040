/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics. What parsers think of them, tests/mount/scrape.sh asks them. */
#include "unit.h"

#include "stats/metrics.h"

static char bytes[METRICS_BYTES], others[METRICS_BYTES];

static void render_one(const char *labels, char *out, size_t *used)
{
	const struct metrics_mount mount = { labels, stats_now() };
	struct render_text text = { out, METRICS_BYTES, 0 };

	metrics_render(&text, &mount, 1);
	*used = text.used;
}

/* Where each line ends, one number for all of them. */
static uint64_t layout(const char *text)
{
	uint64_t sum = 0;

	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '\n')
			sum = sum * 31 + i;
	}
	return sum;
}

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

static void test_size_and_lines_stay_where_they_are(void **state)
{
	size_t small, large;

	(void)state;
	set_all(0);
	render_one("user=\"a\"", bytes, &small);
	set_all(UINT64_MAX);
	render_one("user=\"a\"", others, &large);
	set_all(0);
	assert_true(small > 0 && small < METRICS_BYTES - 1);
	assert_int_equal(small, large);
	assert_true(layout(bytes) == layout(others));
	assert_int_equal(bytes[small - 1], '\n');
}

/* 1 + 2 + 4 in the first buckets: what Prometheus wants is sums. */
static void test_buckets_are_sums_and_times_are_seconds(void **state)
{
	struct histogram_cells *cells = &histogram_cells[HISTOGRAM_request_read];
	size_t used;

	(void)state;
	cells->buckets[0] = 1;
	cells->buckets[1] = 2;
	cells->buckets[BUCKET_BOUNDS] = 4;
	cells->sum_ns = UINT64_C(1234567890);
	render_one("", bytes, &used);
	assert_non_null(strstr(bytes, "{op=\"read\",le=\"0.000001024\"}                    1\n"));
	assert_non_null(strstr(bytes, "{op=\"read\",le=\"0.000002048\"}                    3\n"));
	assert_non_null(strstr(bytes, "{op=\"read\",le=\"17.179869184\"}                    3\n"));
	assert_non_null(strstr(bytes, "{op=\"read\",le=\"+Inf\"}                    7\n"));
	assert_non_null(strstr(bytes, "_seconds_count{op=\"read\"}                    7\n"));
	assert_non_null(strstr(bytes, "_seconds_sum{op=\"read\"}           1.234567890\n"));
	set_all(0);
}

/* Of two mounts each metric has one head, and two samples. */
static void test_two_mounts_share_the_heads(void **state)
{
	static struct stats_cells cells;
	const struct metrics_mount mounts[] = { { "id=\"1\"", stats_now() },
						{ "id=\"2\"", &cells } };
	struct render_text text = { bytes, METRICS_BYTES, 0 };
	const char *at = bytes;
	unsigned heads = 0;

	(void)state;
	cells.counters[COUNTER_read_bytes] = 5;
	metrics_render(&text, mounts, COUNT(mounts));
	while ((at = strstr(at, "# TYPE granaryfs_read_bytes_total ")) != NULL) {
		heads++;
		at++;
	}
	assert_int_equal(heads, 1);
	assert_non_null(strstr(bytes, "granaryfs_read_bytes_total{id=\"1\"}                    0\n"
				      "granaryfs_read_bytes_total{id=\"2\"}                    5\n"));
	assert_non_null(strstr(bytes, "{op=\"read\",id=\"2\"}"));
}

static void test_no_mounts_are_no_text(void **state)
{
	struct render_text text = { bytes, METRICS_BYTES, 0 };

	(void)state;
	metrics_render(&text, NULL, 0);
	assert_int_equal(text.used, 0);
}

struct value {
	const char *value, *written;
};

static void check_value(const struct value *row)
{
	const struct metrics_facts facts = { row->value, "", "", "", "" };
	char labels[METRICS_LABELS_BYTES], wanted[1024];

	metrics_labels(&facts, labels);
	snprintf(wanted, sizeof(wanted),
		 "dataset=\"%s\",mount=\"\",jobid=\"\",user=\"\",id=\"\"", row->written);
	assert_string_equal(labels, wanted);
}

static void test_values_are_escaped(void **state)
{
	static const struct value rows[] = {
		{ "/d/x.tar", "/d/x.tar" },
		{ "a\"b", "a\\\"b" },
		{ "a\\b", "a\\\\b" },
		{ "a\nb", "a\\nb" },
		{ "a\tb\x7f", "a\xef\xbf\xbd" "b\xef\xbf\xbd" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "caf\xe9", "caf\xef\xbf\xbd" },
		{ "\xed\xb2\x80", "\xef\xbf\xbd" }, /* a surrogate */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check_value(&rows[i]);
}

/* The longest label of bytes that triple fits, and none is cut within a character. */
static void test_long_values_keep_their_end(void **state)
{
	char value[1000], labels[METRICS_LABELS_BYTES];
	const struct metrics_facts facts = { value, value, value, value, value };

	(void)state;
	memset(value, '\xe9', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	metrics_labels(&facts, labels);
	assert_true(strlen(labels) < METRICS_LABELS_BYTES - 1);
	assert_int_equal(labels[strlen(labels) - 1], '"');
	for (size_t i = 0; i + 1 < sizeof(value); i++)
		value[i] = i % 2 ? '\xa9' : '\xc3';
	value[sizeof(value) - 2] = 'z';
	metrics_labels(&facts, labels);
	assert_null(strstr(labels, "\xef\xbf\xbd"));
	assert_non_null(strstr(labels, "z\",mount"));
}

static const struct CMUnitTest metrics[] = {
	cmocka_unit_test(test_size_and_lines_stay_where_they_are),
	cmocka_unit_test(test_buckets_are_sums_and_times_are_seconds),
	cmocka_unit_test(test_two_mounts_share_the_heads),
	cmocka_unit_test(test_no_mounts_are_no_text),
	cmocka_unit_test(test_values_are_escaped),
	cmocka_unit_test(test_long_values_keep_their_end),
};

UNIT_MAIN(metrics)
