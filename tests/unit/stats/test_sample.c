/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The difference of two samples. */
#include "unit.h"

#include <errno.h>

#include "stats/render.h"
#include "stats/sample.h"

static void test_what_is_rendered_is_read_back(void **state)
{
	static char bytes[128 * 1024];
	struct render_text text = { bytes, sizeof(bytes), 0 };
	struct stats_sample sample;

	(void)state;
	for (int i = 0; i < COUNTER_COUNT; i++)
		stats_set((enum counter)i, (uint64_t)i + 7);
	stats_set(COUNTER_read_bytes, UINT64_MAX);
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		histogram_cells[i].buckets[i % BUCKET_COUNT] = (uint64_t)i + 1;
		histogram_cells[i].sum_ns = 1000 + (uint64_t)i;
		histogram_cells[i].demand_ns = 500 + (uint64_t)i;
	}
	render_json(&text);
	assert_int_equal(sample_parse(bytes, &sample), 0);
	for (int i = 0; i < COUNTER_COUNT; i++)
		assert_true(sample.counters[i] == stats_get((enum counter)i));
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		assert_int_equal(sample.histograms[i].count, i + 1);
		assert_int_equal(sample.histograms[i].sum_ns, 1000 + i);
		assert_int_equal(sample.histograms[i].demand_ns, 500 + i);
	}
	assert_in_range(sample.clock_ns, 1, stats_clock());
}

static void test_every_cut_is_refused(void **state)
{
	static char bytes[128 * 1024], cut[128 * 1024];
	struct render_text text = { bytes, sizeof(bytes), 0 };
	struct stats_sample sample;

	(void)state;
	render_json(&text);
	for (size_t n = 0; n + 2 < text.used; n += 13) {
		memcpy(cut, bytes, n);
		cut[n] = '\0';
		assert_int_equal(sample_parse(cut, &sample), -EBADMSG);
	}
}

static void test_other_texts(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t reads;
	} cases[] = {
		{ "", -EBADMSG, 0 },
		{ "{}", -EBADMSG, 0 },
		{ "hello", -EBADMSG, 0 },
		{ "\"granaryfs\": 1", -EBADMSG, 0 },
		{ "{\"granaryfs\": 1", -EBADMSG, 0 },
		{ "{\"granaryfs\": 1}}", -EBADMSG, 0 },
		{ "{{{{{{{{{{", -EBADMSG, 0 },
		{ "}{", -EBADMSG, 0 },
		{ "{\"granaryfs\": 1, \"a\": \"b", -EBADMSG, 0 },
		{ "{\"granaryfs\": 1, \"counters\": [1, 2", -EBADMSG, 0 },
		{ "{\"granaryfs\": 1, \"clock_ns\": 99999999999999999999999}", -EBADMSG, 0 },
		{ "{\"granaryfs\": 2}", -EPROTO, 0 },
		/* of a later one: what is not known is passed over */
		{ "{\"granaryfs\": 1, \"new\": \"x\", \"list\": [1, 2],"
		  " \"counters\": {\"fuse_read\": 5, \"unheard_of\": 6}}", 0, 5 },
		/* nor is the same name elsewhere the same thing */
		{ "{\"granaryfs\": 1, \"fuse_read\": 3, \"other\": {\"fuse_read\": 4}}", 0, 0 },
		{ "{\"granaryfs\": 1, \"state\": \"fuse_read\", \"counters\": {}}", 0, 0 },
	};
	struct stats_sample sample;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(sample_parse(cases[i].text, &sample), cases[i].err);
		if (!cases[i].err)
			assert_int_equal(sample.counters[COUNTER_fuse_read], cases[i].reads);
	}
}

/* One second of a mount, in milliseconds of its work. */
struct second {
	uint64_t reads, ioctls, opens;
	uint64_t answering, source, source_demand, decode, decode_demand, chunk_wait;
	uint64_t under_way; /* before and after */
	enum bound bound;
	const char *words;  /* of the sentence */
};

static struct stats_sample sample_of(const struct second *s)
{
	struct stats_sample out = { .clock_ns = UINT64_C(1000000000) };

	out.counters[COUNTER_fuse_read] = s->reads;
	out.counters[COUNTER_fuse_ioctl] = s->ioctls;
	out.counters[COUNTER_fuse_open] = s->opens;
	out.counters[COUNTER_requests_under_way] = s->under_way;
	out.counters[COUNTER_source_read_bytes] = 200 << 20;
	out.histograms[HISTOGRAM_request_read].count = s->reads;
	out.histograms[HISTOGRAM_request_read].sum_ns = s->answering * 1000000;
	out.histograms[HISTOGRAM_source_read].sum_ns = s->source * 1000000;
	out.histograms[HISTOGRAM_source_read].demand_ns = s->source_demand * 1000000;
	out.histograms[HISTOGRAM_decode].sum_ns = s->decode * 1000000;
	out.histograms[HISTOGRAM_decode].demand_ns = s->decode_demand * 1000000;
	out.histograms[HISTOGRAM_chunk_wait].demand_ns = s->chunk_wait * 1000000;
	return out;
}

static const struct second cases[] = {
	/* warm: nothing, or next to nothing */
	{ .bound = BOUND_LOADER, .words = "no request reaches" },
	{ .reads = 12, .answering = 10, .source = 8, .source_demand = 8,
	  .bound = BOUND_LOADER, .words = "only 12 requests a second" },
	/* the sweep reads, but nobody waits for it */
	{ .source = 900, .bound = BOUND_LOADER, .words = "no request reaches" },
	/* cold, two readers, slow storage */
	{ .reads = 900, .answering = 1900, .source = 1850, .source_demand = 1850,
	  .bound = BOUND_STORAGE, .words = "1.9 readers wait for it, which gives 200 MiB" },
	/* a compressed image in the page cache */
	{ .reads = 2000, .answering = 1900, .source = 100, .source_demand = 100,
	  .decode = 1700, .decode_demand = 1700, .bound = BOUND_DECODE,
	  .words = "decoding: 1.7 readers" },
	/* they wait for chunks that the sweep fetches: from storage ... */
	{ .reads = 500, .answering = 1900, .source = 900, .decode = 100,
	  .chunk_wait = 1800, .bound = BOUND_STORAGE, .words = "storage" },
	/* ... or that it decodes */
	{ .reads = 500, .answering = 1900, .source = 100, .decode = 900,
	  .chunk_wait = 1800, .bound = BOUND_DECODE, .words = "decoding" },
	/* warm, but Python asks whether an image is a terminal */
	{ .ioctls = 18000, .answering = 40, .bound = BOUND_DAEMON,
	  .words = "18,000 requests a second reach it; most are ioctls" },
	{ .opens = 18000, .reads = 100, .answering = 40, .bound = BOUND_DAEMON,
	  .words = "opens=hidden" },
	{ .reads = 20000, .answering = 900, .source = 100, .source_demand = 100,
	  .bound = BOUND_DAEMON, .words = "most are reads" },
	/* storage hangs: nothing comes to an end */
	{ .under_way = 8, .bound = BOUND_STORAGE, .words = "8 requests wait" },
	/* one that happens to be under way at both moments is none that hangs */
	{ .reads = 12, .answering = 10, .under_way = 1, .bound = BOUND_LOADER,
	  .words = "loader" },
};

static void test_what_bounds_the_reader(void **state)
{
	size_t i = unit_row(state);
	struct stats_sample before = { .clock_ns = 0 }, now = sample_of(&cases[i]);
	char sentence[BOUND_TEXT_BYTES];
	struct rates rates;

	before.counters[COUNTER_requests_under_way] = cases[i].under_way;
	sample_rates(&before, &now, &rates);
	assert_string_equal(bound_word(rates.bound), bound_word(cases[i].bound));
	assert_non_null(strstr(bound_sentence(&rates, sentence), cases[i].words));
}

static void test_rates_are_per_second(void **state)
{
	const struct second cold = { .reads = 900, .answering = 1900, .source_demand = 1850 };
	struct stats_sample before = { .clock_ns = 0 }, now = sample_of(&cold);
	struct rates rates;

	(void)state;
	now.clock_ns *= 4;
	now.counters[COUNTER_cache_hits] = 30;
	now.counters[COUNTER_cache_misses] = 10;
	now.counters[COUNTER_fuse_control] = 1000000;
	now.counters[COUNTER_fuse_forget] = 1000000;
	sample_rates(&before, &now, &rates);
	assert_int_equal((int)rates.reads, 225);
	assert_int_equal((int)rates.requests, 225);
	assert_int_equal((int)(rates.source_bytes / (1 << 20)), 50);
	assert_int_equal((int)(rates.hit_share * 100), 75);
}

/* Mounted anew between two looks, or two looks in the same moment. */
static void test_counters_that_go_back_are_no_rates(void **state)
{
	const struct second cold = { .reads = 900, .answering = 1900, .source_demand = 1850 };
	struct stats_sample before = sample_of(&cold), now = { .clock_ns = 5000000000 };
	struct rates rates;

	(void)state;
	sample_rates(&before, &now, &rates);
	assert_true(rates.requests <= 0 && rates.waiting <= 0 && rates.source_bytes <= 0);
	sample_rates(&before, &before, &rates);
	assert_true(rates.seconds <= 0 && rates.requests <= 0);
	assert_int_equal(rates.bound, BOUND_LOADER);
}

static const struct CMUnitTest sample[] = {
	cmocka_unit_test(test_what_is_rendered_is_read_back),
	cmocka_unit_test(test_every_cut_is_refused),
	cmocka_unit_test(test_other_texts),
	unit_table(test_what_bounds_the_reader, cases, words),
	cmocka_unit_test(test_rates_are_per_second),
	cmocka_unit_test(test_counters_that_go_back_are_no_rates),
};

UNIT_MAIN(sample)
