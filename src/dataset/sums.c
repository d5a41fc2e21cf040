/*
 * sums.c: files are compared with their checksums before they are given out.
 *
 * Who reads all of a file has it compared in his own buffer. Who reads a part has all of
 * it read first, into the cache, and gets this and the next parts from there. Once that
 * was right it is noted, so that a part that is read much later is one read again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/ahead.h"
#include "dataset/assembly.h"
#include "stats/stats.h"
#include "tree/sum.h"
#include "util/checked.h"

enum { BITS = 64, PATIENCE_MS = 500 };

/* Of the cache's keys these are neither chunks' nor blocks': see volume/stage.c. */
static const uint64_t key_of_files = UINT64_C(1) << 62;

int dataset_begin_checking(struct dataset *ds)
{
	size_t words = tree_count(dataset_tree(ds)) / BITS + 1;

	if (!index_has_sums(ds->index))
		return 0;
	ds->checked = calloc(words, sizeof(*ds->checked));
	return ds->checked ? 0 : -ENOMEM;
}

bool dataset_has_sums(const struct dataset *ds)
{
	return index_has_sums(ds->index);
}

int dataset_sum(const struct dataset *ds, uint32_t node, uint64_t *out)
{
	return index_sum(ds->index, node, out);
}

static void note_right(const struct dataset *ds, uint32_t node)
{
	atomic_fetch_or_explicit(&ds->checked[node / BITS], UINT64_C(1) << node % BITS,
				 memory_order_relaxed);
}

static bool was_right(const struct dataset *ds, uint32_t node)
{
	return atomic_load_explicit(&ds->checked[node / BITS], memory_order_relaxed) >>
		       node % BITS & 1;
}

void dataset_set_mismatch(const struct dataset *ds, uint32_t node,
			  struct dataset_fault *out)
{
	struct tree_piece piece = { .hole = true };
	struct tree_stat st;

	*out = (struct dataset_fault){ .err = -EBADMSG, .mismatch = true,
				       .source = "the index" };
	if (tree_stat(dataset_tree(ds), node, &st) < 0)
		return;
	/* the first that is not a hole */
	for (uint64_t offset = 0; offset < st.size && piece.hole; offset += piece.length) {
		if (tree_piece(dataset_tree(ds), node, offset, &piece) < 0)
			return;
	}
	if (!piece.hole)
		out->source = volume_locate(&ds->volumes, piece.volume, piece.offset,
					    &out->at);
}

/* A file whose checksum is known, and which is small enough. */
struct checked_file {
	const struct dataset *dataset;
	uint32_t node;
	uint64_t size;
	uint64_t sum;
	struct dataset_fault *fault;
};

static bool find_file(const struct dataset *ds, uint32_t node, struct checked_file *out)
{
	struct tree_stat st;

	if (tree_stat(dataset_tree(ds), node, &st) < 0 || st.kind != TREE_FILE ||
	    st.size > DATASET_CHECK_MOST || index_sum(ds->index, st.node, &out->sum) < 0)
		return false;
	out->dataset = ds;
	out->node = st.node;
	out->size = st.size;
	return true;
}

static bool is_right(const struct checked_file *file, const void *bytes)
{
	stats_add(COUNTER_files_checked, 1);
	if (sum_of(bytes, file->size) != file->sum)
		return false;
	note_right(file->dataset, file->node);
	return true;
}

/* All of the file, which is compared: 0 or -EIO and the fault. */
static int read_whole(const struct checked_file *file, void *buffer)
{
	ssize_t n = dataset_read_plain(file->dataset, file->node, buffer, file->size, 0,
				       file->fault);

	if (n < 0)
		return (int)n;
	if ((uint64_t)n == file->size && is_right(file, buffer))
		return 0;
	dataset_set_mismatch(file->dataset, file->node, file->fault);
	return -EIO;
}

/* What was wrong in memory may be right in storage. */
static int read_right(const struct checked_file *file, void *buffer)
{
	int err = read_whole(file, buffer);
	enum volume_manner before;

	if (err && file->fault->mismatch && file->dataset->volumes.staging) {
		before = volume_read_in_manner(VOLUME_DIRECTLY);
		err = read_whole(file, buffer);
		volume_read_in_manner(before);
	}
	if (err && file->fault->mismatch)
		stats_add(COUNTER_checksum_errors, 1);
	return err;
}

static ssize_t fill(void *context, void *buffer, size_t room)
{
	const struct checked_file *file = context;
	int err = read_right(file, buffer);

	return err ? err : (ssize_t)room;
}

/* Copies what a part has of the file: how many bytes. */
static ssize_t copy_part(const struct checked_file *file, const char *bytes, void *buffer,
			 size_t length, uint64_t offset)
{
	if (length > file->size - offset)
		length = (size_t)(file->size - offset);
	memcpy(buffer, bytes + offset, length);
	return (ssize_t)length;
}

/*
 * The same from the cache, whose pin is given back. The index may be written to meanwhile:
 * what is in memory has the size that the file had when it was read.
 */
static ssize_t copy_kept(const struct checked_file *file, struct cache_pin *pin, void *buffer,
			 size_t length, uint64_t offset)
{
	bool same = cache_size(pin) == file->size;
	ssize_t n = -EIO;

	if (same)
		n = copy_part(file, cache_data(pin), buffer, length, offset);
	else
		dataset_set_mismatch(file->dataset, file->node, file->fault);
	cache_put_read(file->dataset->volumes.cache, pin, same ? (size_t)n : 0);
	return n;
}

/* Where another thread has been at it for long: then it may be storage that hangs. */
static ssize_t read_alone(const struct checked_file *file, void *buffer, size_t length,
			  uint64_t offset)
{
	char *bytes = malloc(file->size);
	ssize_t n = bytes ? read_right(file, bytes) : -EIO;

	if (n == 0)
		n = copy_part(file, bytes, buffer, length, offset);
	free(bytes);
	return n;
}

/* A part, of a file that is in the cache or is read into it. */
static ssize_t read_part(struct checked_file *file, void *buffer, size_t length,
			 uint64_t offset)
{
	struct cache *cache = file->dataset->volumes.cache;
	uint64_t key = key_of_files | file->node;
	struct cache_pin *pin;

	/* another thread's, which has said more of it, until this one finds one itself */
	dataset_set_mismatch(file->dataset, file->node, file->fault);
	file->fault->mismatch = false;
	file->fault->err = -EIO;
	if (cache_peek_within(cache, key, PATIENCE_MS, &pin) == 0) {
		if (cache_has(cache, key))
			return read_alone(file, buffer, length, offset);
		if (cache_get(cache, key, file->size, fill, file, &pin) < 0)
			return -EIO;
	}
	return copy_kept(file, pin, buffer, length, offset);
}

/* A part of a file that was right: from the cache, if it still is there, or -ENOENT. */
static ssize_t read_kept(const struct checked_file *file, void *buffer, size_t length,
			 uint64_t offset)
{
	struct cache *cache = file->dataset->volumes.cache;
	struct cache_pin *pin;

	if (cache_peek_within(cache, key_of_files | file->node, PATIENCE_MS, &pin) == 0)
		return -ENOENT;
	return copy_kept(file, pin, buffer, length, offset);
}

ssize_t dataset_read_checked(const struct dataset *ds, uint32_t node, void *buffer,
			     size_t length, uint64_t offset, struct dataset_fault *fault)
{
	struct checked_file file = { .fault = fault };
	ssize_t n;

	if (!length || !find_file(ds, node, &file) || offset >= file.size)
		return dataset_read_plain(ds, node, buffer, length, offset, fault);
	if (offset == 0 && length >= file.size) {
		n = read_right(&file, buffer);
		return n < 0 ? n : (ssize_t)file.size;
	}
	if (!was_right(ds, file.node))
		return read_part(&file, buffer, length, offset);
	n = read_kept(&file, buffer, length, offset);
	return n != -ENOENT ? n : dataset_read_plain(ds, node, buffer, length, offset, fault);
}

bool dataset_vouches(const struct dataset *ds, uint32_t node, const void *bytes,
		     uint64_t size)
{
	struct checked_file file;

	if (!ds->checked || !find_file(ds, node, &file) || file.size != size ||
	    is_right(&file, bytes))
		return true;
	stats_add(COUNTER_checksum_errors, 1);
	return false;
}
