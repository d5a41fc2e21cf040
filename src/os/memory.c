/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/size.h"
#include "base/vec.h"
#include "os/cgroup.h"
#include "os/pages.h"

enum {
	STAT_BYTES = 16 * 1024, /* memory.stat and /proc/meminfo have 1 to 4 KiB */
	RETURNED_LEAST = 128 * 1024,
	PERCENT_MOST = 95,
	PERCENT_DEFAULT = 50,   /* of the available memory */
};

static const uint64_t BUDGET_LEAST = UINT64_C(1) << 20;
static const uint64_t DEFAULT_LEAST = UINT64_C(64) << 20;

struct memory {
	char *root;
	char *group; /* /proc/self/cgroup when `levels` were found */
	struct cgroup_levels levels;
};

static uint64_t memory_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Reading. */

/* The first bytes of a small file, and a NUL; "" where it cannot be read. */
static void read_start(const char *directory, const char *name, char *out, size_t size)
{
	CLEANUP(cleanup_free) char *path = NULL;
	CLEANUP(cleanup_close) int fd = -1;
	size_t done = 0;
	ssize_t n = 1;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		path = NULL;
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd >= 0 && n > 0 && done < size - 1) {
		n = read(fd, out + done, size - 1 - done);
		done += n > 0 ? (size_t)n : 0;
	}
	out[done] = '\0';
}

/* statm has pages: of all, resident, and of these the files' and the shared ones. */
uint64_t memory_own(void)
{
	unsigned long long resident, shared;
	char text[256];

	read_start("/proc/self", "statm", text, sizeof(text));
	return sscanf(text, "%*u %llu %llu", &resident, &shared) == 2 && resident > shared ?
		       (resident - shared) * pages_size() : 0;
}

void memory_return_freed(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, RETURNED_LEAST);
#endif
}

/* The number at the beginning of a text; `otherwise` without one, as in "max". */
static uint64_t memory_number(const char *text, uint64_t otherwise)
{
	uint64_t value;
	char *end;

	text += strspn(text, " \t");
	if (!isdigit((unsigned char)*text))
		return otherwise;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || (*end && !isspace((unsigned char)*end)) ? otherwise : value;
}

/* The number behind `name` at the beginning of a line. */
static uint64_t field(const char *text, const char *name, uint64_t otherwise)
{
	size_t n = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, n) == 0 && (at[n] == ' ' || at[n] == ':'))
			return memory_number(at + n + 1, otherwise);
	}
	return otherwise;
}

static uint64_t file_number(const char *directory, const char *name, uint64_t otherwise)
{
	char text[64];

	read_start(directory, name, text, sizeof(text));
	return memory_number(text, otherwise);
}

/* Parsing. */

/* The files of a version, and the fields of its memory.stat. */
struct dialect {
	const char *limits[2]; /* the second may be NULL */
	const char *usage;
	const char *around;  /* in memory.stat: the limit of hidden parents */
	const char *file[2]; /* page cache that can be dropped, */
	const char *busy[2]; /* except this part, which has to be written first */
};

static const struct dialect dialects[] = {
	[false] = { { "memory.max", "memory.high" }, "memory.current", NULL,
		    { "active_file", "inactive_file" }, { "file_dirty", "file_writeback" } },
	[true] = { { "memory.limit_in_bytes", NULL },
		   "memory.usage_in_bytes", "hierarchical_memory_limit",
		   { "total_active_file", "total_inactive_file" },
		   { "total_dirty", "total_writeback" } },
};

/* Used memory that is not clean page cache: memory of processes, tmpfs, slabs. */
static uint64_t used_memory(const struct dialect *dialect, const char *directory,
			    const char *stat)
{
	uint64_t usage = file_number(directory, dialect->usage, 0);
	uint64_t file = plus(field(stat, dialect->file[0], 0), field(stat, dialect->file[1], 0));
	uint64_t busy = plus(field(stat, dialect->busy[0], 0), field(stat, dialect->busy[1], 0));

	return minus(usage, minus(file, busy));
}

static void read_level(const struct cgroup_level *level, uint64_t machine,
		       struct memory_state *state)
{
	const struct dialect *dialect = &dialects[level->old];
	uint64_t limit = file_number(level->path, dialect->limits[0], UINT64_MAX);
	char stat[STAT_BYTES] = "";

	if (dialect->limits[1])
		limit = memory_least(limit, file_number(level->path, dialect->limits[1],
							UINT64_MAX));
	if (dialect->around || limit < machine)
		read_start(level->path, "memory.stat", stat, sizeof(stat));
	if (dialect->around)
		limit = memory_least(limit, field(stat, dialect->around, UINT64_MAX));
	if (limit >= machine)
		return; /* the machine's memory is less */
	state->limit = memory_least(state->limit, limit);
	state->available = memory_least(state->available,
					minus(limit,
					      used_memory(dialect, level->path, stat)));
}

static void read_machine(const struct memory *memory, struct memory_state *state)
{
	char text[STAT_BYTES];
	uint64_t kib;

	read_start(memory->root, "proc/meminfo", text, sizeof(text));
	kib = field(text, "MemTotal", 0);
	if (kib == 0 || kib > UINT64_MAX / 1024)
		kib = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	state->limit = kib * 1024;
	/* Linux before 3.14 has no MemAvailable */
	kib = field(text, "MemAvailable", field(text, "MemFree", kib));
	state->available = kib > UINT64_MAX / 1024 ? state->limit :
			   memory_least(kib * 1024, state->limit);
}

/* Finds the groups, unless the process is still in the same ones. */
static int find_levels(struct memory *memory)
{
	CLEANUP(cleanup_free) char *group = cgroup_read_text(memory->root, "proc/self/cgroup");
	CLEANUP(cleanup_free) char *mountinfo = NULL;

	if (!group)
		return -ENOMEM;
	if (memory->group && strcmp(group, memory->group) == 0)
		return 0;
	mountinfo = cgroup_read_text(memory->root, "proc/self/mountinfo");
	if (!mountinfo)
		return -ENOMEM;
	free(memory->group);
	memory->group = group;
	group = NULL;
	cgroup_levels_free(&memory->levels);
	return cgroup_find_levels(memory->root, "memory", memory->group, mountinfo,
				  &memory->levels);
}

int memory_open(const char *root, struct memory **out)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	int err = -ENOMEM;

	if (memory)
		memory->root = strdup(root);
	if (memory && memory->root)
		err = find_levels(memory);
	if (err) {
		memory_close(memory);
		return err;
	}
	*out = memory;
	return 0;
}

void memory_close(struct memory *memory)
{
	if (!memory)
		return;
	cgroup_levels_free(&memory->levels);
	free(memory->group);
	free(memory->root);
	free(memory);
}

void memory_read_state(struct memory *memory, struct memory_state *out)
{
	uint64_t machine;

	find_levels(memory); /* without memory, the ones found so far remain */
	read_machine(memory, out);
	machine = out->limit;
	for (size_t i = 0; i < memory->levels.list.count; i++)
		read_level(&memory->levels.list.items[i], machine, out);
}

/* The budget. */

static uint64_t percent_of(uint64_t bytes, unsigned percent)
{
	return bytes / 100 * percent + bytes % 100 * percent / 100;
}

/* "50%": 1, and the number; 0: not a percentage. */
static int parse_percent(const char *text, unsigned *out)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 3 || strcmp(text + digits, "%") != 0)
		return 0;
	*out = (unsigned)strtoul(text, NULL, 10);
	return 1;
}

static uint64_t default_budget(const struct memory_state *state)
{
	uint64_t budget = percent_of(state->available, PERCENT_DEFAULT);

	if (budget < DEFAULT_LEAST)
		budget = memory_least(DEFAULT_LEAST, state->limit / 2);
	return budget;
}

static int parse_budget(const char *text, const struct memory_state *state, uint64_t *out,
			struct error *e)
{
	unsigned percent;

	if (parse_percent(text, &percent)) {
		*out = percent_of(state->limit, percent);
		if (percent >= 1 && percent <= PERCENT_MOST)
			return 0;
	} else if (size_parse(text, out) == 0 && *out >= BUDGET_LEAST) {
		return 0;
	}
	return error_set(e, ERROR_USAGE, EINVAL,
			 "-o cache=%s: the memory budget is a size from 1M on, such as 8G, or a "
			 "part of the memory, from 1%% to %d%%", text, PERCENT_MOST);
}

int memory_budget(const char *text, const struct memory_state *state, uint64_t *out,
		  struct error *e)
{
	uint64_t most = percent_of(state->limit, PERCENT_MOST);
	char limit[SIZE_TEXT_BYTES], instead[SIZE_TEXT_BYTES];
	int err;

	if (!text) {
		*out = default_budget(state);
		return 0;
	}
	err = parse_budget(text, state, out, e);
	if (err || *out <= most)
		return err;
	log_warn("-o cache=%s: this process may use %s in all; the budget is %s", text,
		 size_text(state->limit, limit), size_text(most, instead));
	*out = most;
	return 0;
}

int memory_budget_of_process(const char *text, uint64_t *out, struct error *e)
{
	struct memory_state state;
	struct memory *memory;
	int err = memory_open("", &memory);

	if (err)
		return error_no_memory(e, NULL);
	memory_read_state(memory, &state);
	memory_close(memory);
	return memory_budget(text, &state, out, e);
}

uint64_t memory_cache_part(uint64_t budget)
{
	enum { LEAST = 8 << 20, MOST = 48 << 20, SHARE = 128, LARGEST_SHARE = 4 };
	uint64_t part = budget / SHARE;

	part = part < LEAST ? LEAST : part < MOST ? part : MOST;
	return part < budget / LARGEST_SHARE ? part : budget / LARGEST_SHARE;
}

bool memory_allows_inodes(uint64_t bytes, uint64_t budget)
{
	return bytes <= budget / 2;
}
