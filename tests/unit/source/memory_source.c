/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/memory_source.h"

#include "source/source_kind.h"
#include "unit.h"

struct memory {
	struct source source;
	const unsigned char *bytes;
	size_t length;
	_Atomic uint64_t hinted;
	uint64_t fail_at;
	int err;
	_Atomic unsigned times; /* that it still fails */
};

static struct memory *memory_of(const struct source *source)
{
	return (struct memory *)(uintptr_t)source;
}

static void copy(const struct memory *memory, unsigned char *to, size_t length, uint64_t at)
{
	for (size_t i = 0; i < length; i++, at++)
		to[i] = at < memory->length ? memory->bytes[at] : 0;
}

static int read_memory(const struct source *source, void *buffer, size_t length, uint64_t *at,
		       bool again)
{
	struct memory *memory = memory_of(source);
	bool fails = memory->times && memory->fail_at >= *at &&
		     memory->fail_at - *at < length;
	size_t n = fails ? (size_t)(memory->fail_at - *at) : length;

	(void)again;
	copy(memory, buffer, n, *at);
	*at += n;
	if (fails)
		memory->times--;
	return fails ? memory->err : 0;
}

static void note_hint(const struct source *source, enum source_hint hint, uint64_t at,
		      uint64_t length)
{
	(void)at;
	if (hint == HINT_SOON)
		memory_of(source)->hinted += length;
}

static const struct source_ops memory_ops = { .pread = read_memory, .hint = note_hint };

struct source *memory_source(const char *path, const void *bytes, size_t length,
			     uint64_t size)
{
	struct memory *memory = source_new(&memory_ops, sizeof(*memory), path, NULL);

	assert_non_null(memory);
	memory->bytes = bytes;
	memory->length = length;
	memory->source.info.size = size;
	memory->source.info.id.inode = (ino_t)(uintptr_t)memory;
	return &memory->source;
}

struct source_set memory_set(const char *path, const void *bytes, size_t length)
{
	struct source_set set = { malloc(sizeof(*set.sources)), 1 };

	assert_non_null(set.sources);
	set.sources[0] = memory_source(path, bytes, length, length);
	return set;
}

void memory_source_fail(struct source *source, uint64_t at, int err, unsigned times)
{
	struct memory *memory = memory_of(source);

	memory->fail_at = at;
	memory->err = err;
	memory->times = times;
}

uint64_t memory_source_hinted(const struct source *source)
{
	return memory_of(source)->hinted;
}
