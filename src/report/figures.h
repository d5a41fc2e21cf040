/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * figures.h: a trace in numbers, of a bounded size.
 *
 * The trace is read twice: for its span of time and its paths, and for everything else.
 *
 * Threads: one.
 */
#ifndef GRANARY_REPORT_FIGURES_H
#define GRANARY_REPORT_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "report/trace_files.h"
#include "report/trace_line.h"
#include "source/source.h"

enum {
	SERIES_BUCKETS = 160,
	BUSY_SLOTS = 65536,
	LATENCY_BUCKETS = 26, /* up to 2^i microseconds; the last one: all longer ones */
	EPOCHS_MOST = 50,     /* that are told apart; more are counted */
	SHARDS_MOST = 4096,   /* sources that are looked at */
	SHARDS_SHOWN = 10,
};

struct series_bucket {
	uint64_t served, stored, pushed; /* bytes: to readers, from storage, to the page cache */
	uint64_t reads, hits;            /* of readers; a hit needed no read of storage */
};

struct epoch {
	uint64_t begin, end; /* microseconds from the trace's begin */
	uint64_t files, served, stored, reads, hits, opens;
};

struct shard {
	uint32_t file;
	uint64_t reads, bytes, time_us, longest_us;
};

struct figures {
	struct trace_files files;
	char *dataset, *mountpoint; /* "" where the trace does not say */
	bool cut;                   /* the file's end is missing */
	uint64_t first, last;       /* microseconds since 1970 */
	uint64_t events, unknown_lines, dropped;
	uint64_t reads, hits, opens, requests;
	uint64_t files_read; /* reads of a file's begin */
	uint64_t served, stored, pushed, decodes;
	uint64_t read_us, hit_us, demand_us, ahead_us, decode_us, request_us;
	uint64_t storage_reads, demand_reads, errors;
	uint64_t waiting_permille; /* of the span, in which a reader waited */
	struct series_bucket series[SERIES_BUCKETS];
	uint64_t hit_latency[LATENCY_BUCKETS], miss_latency[LATENCY_BUCKETS];
	struct epoch epochs[EPOCHS_MOST];
	uint32_t epoch_count; /* all of them */
	struct shard shards[SHARDS_MOST];
	uint32_t shard_count;
};

/*
 * Reads a trace: 0, or a negative errno and a sentence, also for a file without one event.
 * The caller frees *out.
 */
int figures_read(const struct source *trace, struct figures **out, struct error *e);
void figures_free(struct figures *figures);

/* An event within the span? The file may have changed since the pass that found the span. */
bool figures_have(const struct figures *figures, const struct trace_line *line);

/* Seconds of the trace. */
double figures_seconds(const struct figures *figures);

/* Of the opens that were seen, those whose files the kernel had, in percent. */
double figures_cached(const struct figures *figures);

/* The sources by the mean time of a read, the slowest first: how many; at most SHARDS_SHOWN. */
uint32_t figures_slowest(const struct figures *figures, struct shard out[SHARDS_SHOWN]);

#endif
