/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	RECORD_VERSION = 1,
	NAME_BYTES = 40,
	COUNTERS_MOST = 1024, /* of another version */
	HISTOGRAMS_MOST = 256,
	RECORD_BYTES_MOST = 256 * 1024,
};

static const char record_magic[8] = "granaryR";

/* The layout: head, names of counters, names of histograms, cells of both. */
struct record_head {
	char magic[sizeof(record_magic)];
	uint32_t version;
	uint32_t counters, histograms, buckets; /* how many */
	uint32_t names_at, cells_at;            /* bytes from the start */
	struct record_facts facts;
};

struct record_memory {
	struct record_head head;
	char names[COUNTER_COUNT + HISTOGRAM_COUNT][NAME_BYTES];
	struct stats_cells cells;
};

/* Writing. */

static void record_fill(struct record_memory *memory)
{
	memory->head = (struct record_head){
		.version = RECORD_VERSION, .counters = COUNTER_COUNT,
		.histograms = HISTOGRAM_COUNT, .buckets = BUCKET_COUNT,
		.names_at = offsetof(struct record_memory, names),
		.cells_at = offsetof(struct record_memory, cells),
	};
	for (int i = 0; i < COUNTER_COUNT; i++)
		snprintf(memory->names[i], NAME_BYTES, "%s", counter_infos[i].name);
	for (int i = 0; i < HISTOGRAM_COUNT; i++)
		snprintf(memory->names[COUNTER_COUNT + i], NAME_BYTES, "%s",
			 histogram_infos[i].name);
	stats_move(&memory->cells);
	/* the record is complete: a reader may come */
	memcpy(memory->head.magic, record_magic, sizeof(record_magic));
}

/* In memory that others can open, with its descriptor in *fd; or NULL. */
static void *record_map_open(int *fd)
{
	CLEANUP(cleanup_close) int memory = memfd_create("granaryfs-record",
							 MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *at;

	/* sealed: a server that cuts it off would end the supervisor (SIGBUS) */
	if (memory < 0 || ftruncate(memory, sizeof(struct record_memory)) < 0 ||
	    fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return NULL;
	at = mmap(NULL, sizeof(struct record_memory), PROT_READ | PROT_WRITE, MAP_SHARED,
		  memory, 0);
	if (at == MAP_FAILED)
		return NULL;
	*fd = steal_fd(&memory);
	return at;
}

struct record_facts *record_new(int *fd)
{
	void *at = record_map_open(fd);

	if (!at) {
		*fd = -1;
		at = mmap(NULL, sizeof(struct record_memory), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	}
	if (at == MAP_FAILED)
		return NULL;
	record_fill(at);
	return &((struct record_memory *)at)->head.facts;
}

/* Reading. */

/* Bytes of another process: `size` of them, all checked against it. */
struct record_text {
	const struct record_head *head;
	const char *bytes;
	size_t size;
};

static size_t histogram_bytes(const struct record_head *head)
{
	return (head->buckets + 2) * sizeof(uint64_t);
}

static int record_check(const struct record_text *text)
{
	const struct record_head *head = text->head;
	size_t names, cells;

	if (text->size < sizeof(*head) ||
	    memcmp(head->magic, record_magic, sizeof(record_magic)) != 0)
		return -EBADMSG;
	if (head->version != RECORD_VERSION || head->buckets != BUCKET_COUNT)
		return -EPROTO;
	if (head->counters > COUNTERS_MOST || head->histograms > HISTOGRAMS_MOST)
		return -EBADMSG;
	names = (size_t)(head->counters + head->histograms) * NAME_BYTES;
	cells = head->counters * sizeof(uint64_t) + head->histograms * histogram_bytes(head);
	if (head->names_at > text->size || names > text->size - head->names_at ||
	    head->cells_at > text->size || cells > text->size - head->cells_at)
		return -EBADMSG;
	return 0;
}

/* The position of a name among `count`, from the `first` on; `likely` is tried first. */
static bool record_find(const struct record_text *text, const char *name, uint32_t first,
			uint32_t count, uint32_t likely, uint32_t *position)
{
	const char *names = text->bytes + text->head->names_at + (size_t)first * NAME_BYTES;

	for (uint32_t i = 0; i <= count; i++) {
		uint32_t at = i == 0 ? likely : i - 1;

		if (at < count && strncmp(names + (size_t)at * NAME_BYTES, name,
					  NAME_BYTES) == 0) {
			*position = at;
			return true;
		}
	}
	return false;
}

static uint64_t cell_at(const struct record_text *text, size_t offset)
{
	uint64_t value;

	memcpy(&value, text->bytes + text->head->cells_at + offset, sizeof(value));
	return value;
}

static void copy_counters(const struct record_text *text, struct stats_cells *out)
{
	uint32_t at;

	for (uint32_t i = 0; i < COUNTER_COUNT; i++) {
		bool found = record_find(text, counter_infos[i].name, 0,
					 text->head->counters, i, &at);

		atomic_init(&out->counters[i],
			    found ? cell_at(text, at * sizeof(uint64_t)) : 0);
	}
}

static void copy_histograms(const struct record_text *text, struct stats_cells *out)
{
	const struct record_head *head = text->head;

	for (uint32_t i = 0; i < HISTOGRAM_COUNT; i++) {
		struct histogram_cells *cells = &out->histograms[i];
		size_t from;
		uint32_t at;

		memset(cells, 0, sizeof(*cells));
		if (!record_find(text, histogram_infos[i].name, head->counters,
				 head->histograms, i, &at))
			continue;
		from = head->counters * sizeof(uint64_t) + at * histogram_bytes(head);
		for (size_t k = 0; k < BUCKET_COUNT; k++)
			atomic_init(&cells->buckets[k],
				    cell_at(text, from + k * sizeof(uint64_t)));
		from += BUCKET_COUNT * sizeof(uint64_t);
		atomic_init(&cells->sum_ns, cell_at(text, from));
		atomic_init(&cells->demand_ns, cell_at(text, from + sizeof(uint64_t)));
	}
}

static void copy_facts(const struct record_facts *from, struct record_facts *to)
{
	*to = *from;
	to->user[sizeof(to->user) - 1] = '\0';
	to->jobid[sizeof(to->jobid) - 1] = '\0';
	to->source[sizeof(to->source) - 1] = '\0';
	to->mountpoint[sizeof(to->mountpoint) - 1] = '\0';
}

/* By read, and not mapped: its owner may cut it off. */
int record_read(int memory, struct record *out)
{
	CLEANUP(cleanup_free) char *bytes = malloc(RECORD_BYTES_MOST);
	struct record_text text = { .head = (void *)bytes, .bytes = bytes };
	struct stat st;
	ssize_t n;
	int err;

	if (!bytes)
		return -ENOMEM;
	n = pread(memory, bytes, RECORD_BYTES_MOST, 0);
	if (n < 0 || fstat(memory, &st) < 0)
		return -errno;
	text.size = (size_t)n;
	err = record_check(&text);
	if (err)
		return err;
	out->owner = st.st_uid;
	copy_facts(&text.head->facts, &out->facts);
	copy_counters(&text, &out->cells);
	copy_histograms(&text, &out->cells);
	return 0;
}
