/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of a file of the mount, against those of the tree that is right. */
#include "hammer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	HELD = 6,
	PIECE_MOST = 300 * 1000, /* of a read, somewhat more than the kernel asks for */
};

/* A file that stays open, and mapped, from the start to the end. */
struct held {
	int fd;
	size_t item;
	unsigned char *map;
};

/* ---- A page that cannot be read raises SIGBUS ---- */

static sigjmp_buf after_bus;
static volatile sig_atomic_t bus_expected;

static void on_bus(int number)
{
	if (bus_expected)
		siglongjmp(after_bus, 1);
	signal(number, SIG_DFL);
	raise(number);
}

/* ---- Contents ---- */

static const unsigned char *map_reference(const struct hammer *h, const struct item *it)
{
	int fd = openat(h->options->reference, it->path, O_RDONLY | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED :
			     mmap(NULL, (size_t)it->st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED) {
		perror("hammer: the tree to compare with");
		abort();
	}
	return map;
}

static void compare(struct hammer *h, const struct item *it, const unsigned char *want,
		    const unsigned char *got, uint64_t at, size_t n)
{
	size_t i = 0;

	count(h, COUNT_reads, 1);
	count(h, COUNT_bytes, n);
	if (memcmp(want + at, got, n) == 0)
		return;
	while (want[at + i] == got[i])
		i++;
	wrong(h, it->path, "byte", at + i);
}

/* read(2), or pread(2) where `at` is given. */
enum { AT_THE_POSITION = -1 };

static ssize_t read_some(struct hammer *h, int fd, const struct item *it, int64_t at,
			 size_t n)
{
	ssize_t got;

	begin(h, at < 0 ? "read" : "pread", it->path);
	got = at < 0 ? read(fd, h->buffer, n) : pread(fd, h->buffer, n, (off_t)at);
	if (got < 0)
		failed(h, errno);
	else
		done(h);
	return got;
}

/* Less came than there is: an error must be why, and the next call says which. */
static void explain_short(struct hammer *h, int fd, const struct item *it, uint64_t at)
{
	if (read_some(h, fd, it, (int64_t)at, 1) >= 0)
		wrong(h, it->path, "length of a read", at);
}

/* 1, or 0 at an error. Reads `n` bytes at `at`, or as many as there are. */
static int read_piece(struct hammer *h, int fd, const struct item *it,
		      const unsigned char *want, uint64_t at, size_t n, bool positioned)
{
	uint64_t size = (uint64_t)it->st.st_size, left = at < size ? size - at : 0;
	uint64_t expected = n < left ? n : left;
	ssize_t got = read_some(h, fd, it, positioned ? (int64_t)at : AT_THE_POSITION, n);

	if (got < 0)
		return 0;
	if ((uint64_t)got > expected) {
		wrong(h, it->path, "length of a read", at);
		return 0;
	}
	if (got)
		compare(h, it, want, h->buffer, at, (size_t)got);
	if ((uint64_t)got == expected)
		return 1;
	explain_short(h, fd, it, at + (uint64_t)got);
	return 0;
}

/* Everything from the start, in pieces of any size, and the end. */
static void by_read(struct hammer *h, int fd, const struct item *it,
		    const unsigned char *want)
{
	uint64_t size = (uint64_t)it->st.st_size, n;

	for (uint64_t at = 0; at <= size; at += n) {
		n = 1 + below(h, below(h, 4) ? PIECE_MOST : 5000);
		if (!read_piece(h, fd, it, want, at, n, false))
			return;
	}
	read_piece(h, fd, it, want, size, 1, false);
}

/* Everything, in pieces of one size that are taken out of order; and past the end. */
static void by_pread(struct hammer *h, int fd, const struct item *it,
		     const unsigned char *want)
{
	uint64_t size = (uint64_t)it->st.st_size, piece, pieces, first, step;

	piece = 1 + size / 8 + below(h, PIECE_MOST / 2);
	piece = piece < h->buffer_size ? piece : h->buffer_size;
	pieces = (size + piece - 1) / piece;
	first = below(h, pieces);
	step = below(h, 2) ? 1 : pieces - 1;
	for (uint64_t i = 0; i < pieces; i++)
		if (!read_piece(h, fd, it, want, (first + i * step) % pieces * piece,
				piece, true))
			return;
	read_piece(h, fd, it, want, size - below(h, size), PIECE_MOST, true);
	read_piece(h, fd, it, want, size + below(h, 10000), 4096, true);
}

/* Everything in one call, as Python's read() does. */
static void by_whole(struct hammer *h, int fd, const struct item *it,
		     const unsigned char *want)
{
	size_t size = (size_t)it->st.st_size;

	if (size + 1 > h->buffer_size) {
		by_pread(h, fd, it, want);
		return;
	}
	read_piece(h, fd, it, want, 0, size + 1, true);
}

/* Not const: the map is the kernel's to fill while the signal may come. */
static void compare_map(struct hammer *h, const struct item *it,
			const unsigned char *want, const unsigned char *map)
{
	if (sigsetjmp(after_bus, 1)) {
		bus_expected = 0;
		/* the signal does not say which error it was */
		failed(h, h->options->allowed_count ? h->options->allowed[0] : EIO);
		return;
	}
	begin(h, "a mapped page", it->path);
	bus_expected = 1;
	compare(h, it, want, map, 0, (size_t)it->st.st_size);
	bus_expected = 0;
	done(h);
}

static unsigned char *map_file(struct hammer *h, int fd, const struct item *it)
{
	void *map;

	begin(h, "mmap", it->path);
	map = mmap(NULL, (size_t)it->st.st_size, PROT_READ,
		   below(h, 2) ? MAP_PRIVATE : MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return failed(h, errno), NULL;
	done(h);
	return map;
}

static void by_map(struct hammer *h, int fd, const struct item *it,
		   const unsigned char *want)
{
	unsigned char *map = map_file(h, fd, it);

	if (!map)
		return;
	compare_map(h, it, want, map);
	munmap(map, (size_t)it->st.st_size);
}

typedef void way(struct hammer *h, int fd, const struct item *it,
		 const unsigned char *want);

static way *const ways[] = { by_read, by_pread, by_whole, by_map };

void forget_pages(int fd)
{
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

void check_contents(struct hammer *h, const struct item *it)
{
	size_t size = (size_t)it->st.st_size;
	const unsigned char *want = (const unsigned char *)"";
	int fd;

	begin(h, "open", it->path);
	fd = openat(h->options->mount, it->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		failed(h, errno);
		return;
	}
	done(h);
	if (size) {
		want = map_reference(h, it);
		ways[below(h, sizeof(ways) / sizeof(ways[0]))](h, fd, it, want);
		munmap((void *)(uintptr_t)want, size);
	} else {
		by_read(h, fd, it, want);
	}
	forget_pages(fd);
	close(fd);
	count(h, COUNT_files, 1);
}

/* ---- Files that stay open ---- */

void opath_reopen(struct hammer *h)
{
	signal(SIGBUS, on_bus);
	h->held = calloc(HELD, sizeof(*h->held));
	if (!h->held)
		abort();
	for (size_t i = 0; i < HELD; i++) {
		struct held *held = &h->held[i];
		const struct item *it;

		held->fd = -1;
		if (!h->tree->file_count)
			continue;
		held->item = h->tree->files[below(h, h->tree->file_count)];
		it = &h->tree->items[held->item];
		begin(h, "open", it->path);
		held->fd = openat(h->options->mount, it->path, O_RDONLY | O_CLOEXEC);
		if (held->fd < 0) {
			failed(h, errno);
			continue;
		}
		done(h);
		held->map = map_file(h, held->fd, it);
	}
}

void check_held(struct hammer *h)
{
	struct held *held = &h->held[below(h, HELD)];
	const struct item *it = &h->tree->items[held->item];
	const unsigned char *want;

	if (held->fd < 0)
		return;
	want = map_reference(h, it);
	if (held->map && below(h, 2)) {
		compare_map(h, it, want, held->map);
		madvise(held->map, (size_t)it->st.st_size, MADV_DONTNEED);
	} else {
		by_pread(h, held->fd, it, want);
	}
	forget_pages(held->fd);
	munmap((void *)(uintptr_t)want, (size_t)it->st.st_size);
}
