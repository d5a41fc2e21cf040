/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "index/block_sums.h"
#include "build/build.h"
#include "build/findings.h"
#include "os/sealed.h"
#include "volume/volume.h"

enum {
	READ_BYTES = 64 * 1024,
	NODES_MOST = 2000,       /* of which something is read */
	SAMPLES_MOST = 2000,     /* of a group, that become files */
	SUMMED_MOST = 64 << 20,  /* bytes of all files */
};

enum log_level fuzz_log_level = LOG_LEVEL_ERROR;

void fuzz_say(const char *format, ...)
{
	va_list arguments;

	if (fuzz_log_level == LOG_LEVEL_ERROR)
		return;
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "%s: %s\n", what, text);
	abort();
}

int fuzz_file(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		fail("memfd_create", strerror(errno));
	for (size_t done = 0; done < n;) {
		ssize_t got = write(fd, bytes + done, n - done);

		if (got < 0)
			fail("write", strerror(errno));
		done += (size_t)got;
	}
	return fd;
}

struct source_set fuzz_source(int fd)
{
	char name[64], *names[] = { name };
	struct source_set set;
	struct error e;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (source_set_open(names, 1, false, &set, &e) < 0)
		fail("source", e.text);
	return set;
}

void fuzz_expect_sentence(int err, const struct error *e)
{
	if (err < 0 && e->text[0] == '\0')
		fail("an error without a sentence", strerror(-err));
	if (err < 0 && strchr(e->text, '\n'))
		fail("an error of several lines", e->text);
	if (err > 0)
		fail("a number that is no error", "");
	if (err)
		fuzz_say("refused: %s", e->text);
}

/* ---- Reading ------------------------------------------------------------ */

static void expect_of_read(int err)
{
	if (err != 0 && err != -EIO && err != -EBADMSG && err != -ENOMEM && err != -ENXIO &&
	    err != -EOPNOTSUPP)
		fail("a read", strerror(-err));
}

/* From the beginning and to the end of each piece. */
static void read_file(const struct tree *tree, uint32_t node, uint64_t size,
		      const struct volume_table *volumes)
{
	struct read_context context = { .hint = READ_EXACT };
	static char buffer[READ_BYTES];
	uint64_t offset = 0;

	for (int i = 0; i < 8 && offset < size; i++) {
		struct volume_span span;
		struct tree_piece piece;
		size_t n;
		int err = tree_piece(tree, node, offset, &piece);

		expect_of_read(err);
		if (err)
			return;
		if (piece.length == 0)
			fail("a piece", "of no bytes");
		n = piece.length < READ_BYTES ? piece.length : READ_BYTES;
		if (!piece.hole) {
			uint64_t last = piece.offset + piece.length - n;

			expect_of_read(volume_pread(volumes, piece.volume, buffer, n,
						    piece.offset, &context));
			expect_of_read(volume_pread(volumes, piece.volume, buffer, n, last,
						    &context));
			volume_check(volumes, piece.volume, piece.offset, piece.length,
				     &context);
			volume_span(volumes, piece.volume, piece.offset, n, &span);
		}
		offset += piece.length;
	}
}

/* The first and the last one of its checksums: whatever they are. */
static void read_sums(const struct index *index, uint32_t node, uint64_t size)
{
	uint64_t sum, first;

	index_sum(index, node, &sum);
	if (size <= BLOCK_BYTES || block_sums_first(index, node, &first) < 0)
		return;
	block_sums_get(index, first, &sum);
	block_sums_get(index, first + (size - 1) / BLOCK_BYTES, &sum);
}

void fuzz_read(const struct index *index, const struct source_set *sources)
{
	const struct tree *tree = index_tree(index);
	struct volume_table volumes;
	uint32_t count = tree_count(tree), files = 0, links = 0;

	if (volume_table_open(index, sources, &volumes) < 0)
		return;
	for (uint32_t node = 0; node < count && node < NODES_MOST; node++) {
		char target[TREE_TARGET_BYTES];
		struct tree_stat st;
		struct tree_name child;
		uint32_t children;

		if (tree_stat(tree, node, &st) < 0)
			continue;
		files += st.kind == TREE_FILE;
		links += st.kind == TREE_SYMLINK;
		if (st.kind == TREE_FILE) {
			read_file(tree, node, st.size, &volumes);
			read_sums(index, node, st.size);
		}
		if (st.kind == TREE_SYMLINK)
			tree_readlink(tree, node, target);
		if (st.kind == TREE_DIRECTORY && tree_child_count(tree, node, &children) == 0 &&
		    children)
			tree_child(tree, node, children - 1, &child);
		tree_listxattr(tree, node, NULL, 0);
	}
	volume_table_close(&volumes);
	fuzz_say("served: %u files, %u links", files, links);
}

/* ---- Serving what was found --------------------------------------------- */

static void add_sample(struct entries *entries, const struct sample *sample, size_t group,
		       uint64_t row)
{
	struct entry_extent extents[2];
	struct entry entry = { .kind = ENTRY_FILE, .extents = extents };
	const struct sample_bytes *bytes[] = { &sample->head, &sample->body };
	char path[64];

	for (int i = 0; i < 2; i++) {
		if (!bytes[i]->length)
			continue;
		extents[entry.extent_count++] = (struct entry_extent){
			.file_offset = entry.size, .offset = bytes[i]->offset,
			.length = bytes[i]->length, .volume = bytes[i]->volume };
		entry.size += bytes[i]->length;
	}
	snprintf(path, sizeof(path), "samples/%zu/%llu", group, (unsigned long long)row);
	entry.path = path;
	if (entries_add(entries, &entry) < 0)
		abort();
}

/* Views are not fuzzed here: samples become files. */
static void add_samples(struct entries *entries, struct samples *samples)
{
	for (size_t i = 0; i < samples_group_count(samples); i++) {
		const struct sample_group *group = samples_group(samples, i);
		struct sample sample;

		for (uint64_t row = 0; row < group->rows && row < SAMPLES_MOST; row++) {
			samples_get(samples, i, row, &sample);
			add_sample(entries, &sample, i, row);
		}
	}
}

/* Keeps indexes as seeds, where somebody has said where: $FUZZ_INDEXES. */
static void keep_index(const struct image *image)
{
	const char *directory = getenv("FUZZ_INDEXES");
	char path[4096];
	int fd;

	if (!directory)
		return;
	snprintf(path, sizeof(path), "%s/%d.XXXXXX", directory, (int)getpid());
	fd = mkstemp(path);
	if (fd < 0 || image_write(image, fd, path, NULL) < 0)
		fail(path, strerror(errno));
	close(fd);
}

/* Are its files as large as a seed's may be, whose blocks all have a checksum? */
static bool is_small(const struct tree *tree)
{
	uint64_t size = 0;

	for (uint32_t node = 0; node < tree_count(tree) && size <= SUMMED_MOST; node++) {
		struct tree_stat st;

		if (tree_stat(tree, node, &st) == 0 && st.kind == TREE_FILE)
			size += st.size;
	}
	return size <= SUMMED_MOST;
}

/* With checksums as well. None of them has to be right: nothing is compared here. */
static void keep_summed(struct image *image, const struct index *index)
{
	uint64_t *sums = calloc(image_nodes(image), sizeof(*sums));
	struct block_sums blocks = { 0 };

	if (getenv("FUZZ_INDEXES") && sums && is_small(index_tree(index)) &&
	    block_sums_allocate(index, &blocks) == 0 &&
	    image_set_sums(image, sums, &blocks) == 0)
		keep_index(image);
	block_sums_free(&blocks);
	free(sums);
}

void fuzz_serve_image(struct image *image, const struct source_set *sources)
{
	int fd = memfd_create("index", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct error e = { 0 };
	struct index *index = NULL;

	keep_index(image);
	if (fd < 0 || image_write(image, fd, "index", &e) < 0 ||
	    sealed_make(fd) < 0 ||
	    index_open_memory(fd, geteuid(), "index", &index, &e) < 0)
		fail("an index that was just made", e.text);
	if (index_check(index, &e) < 0)
		fail("an index that was just made is not right", e.text);
	fuzz_read(index, sources);
	keep_summed(image, index);
	index_close(index);
}

void fuzz_serve(struct entries *entries, struct samples *samples,
		const struct source_set *sources)
{
	const struct builder_defaults defaults = { 0755, 0, 0, 0, 0 };
	struct builder_source source = {
		{ source_size(sources->sources[0]), 1, 1, 0, 0 }, "source" };
	struct index_summary summary = { .format = "fuzz" };
	struct findings findings = { 0 };
	struct builder *builder = builder_new(DUPLICATES_LAST, &defaults, &findings);
	struct error e = { 0 };
	struct image image;
	int err;

	if (!builder)
		abort();
	add_samples(entries_last(entries), samples);
	err = builder_apply(builder, entries, "source", &e);
	fuzz_expect_sentence(err, &e);
	if (!err) {
		err = builder_seal(builder, &source, 1, &summary, &image, &e);
		fuzz_expect_sentence(err, &e);
		if (!err) {
			if (findings_publish(&findings, &image) < 0)
				abort();
			fuzz_serve_image(&image, sources);
			image_free(&image);
		}
	}
	findings_free(&findings);
	builder_free(builder);
	entries_free(entries);
	samples_free(samples);
}
