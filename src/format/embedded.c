/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/embedded.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "format/format.h"
#include "format/tar/header.h"

enum {
	SEARCHED_MOST = 64 * 1024 * 1024, /* bytes from the start of the file */
	STEP = 1024 * 1024,
	SUPERBLOCK = 96,
};

struct window {
	const struct source *source;
	uint64_t base, length;
	const char *label;
	struct error *e;
};

/* A packed file that was found, at a position that counts from the window's start. */
struct embedded_found {
	const char *what;
	uint64_t at;
};

static int embedded_read_at(const struct window *window, void *out, size_t n, uint64_t at)
{
	if (!range_within(at, n, window->length))
		return -EIO;
	return source_pread(window->source, out, n, window->base + at);
}

static unsigned long long embedded_in_file(const struct window *window, uint64_t at)
{
	return (unsigned long long)(window->base + at);
}

/* Signs that prove a packed file */

/*
 * More than the magic bytes: the fields of squashfs's superblock agree with one another,
 * and the image ends within the window.
 */
static bool is_squashfs(const struct window *window, const unsigned char *block, uint64_t at)
{
	uint64_t block_size = little_endian(block + 12, 4), used = little_endian(block + 40, 8);
	uint64_t log = little_endian(block + 22, 2), ids = little_endian(block + 48, 8);

	return memcmp(block, "hsqs", 4) == 0 && little_endian(block + 28, 4) == 4 &&
	       log >= 12 && log <= 20 && block_size == UINT64_C(1) << log &&
	       used > SUPERBLOCK && ids >= SUPERBLOCK && ids < used &&
	       little_endian(block + 64, 8) < little_endian(block + 72, 8) &&
	       range_within(at, used, window->length);
}

static bool embedded_is_tar(const unsigned char *block)
{
	return memcmp(block + TAR_MAGIC, "ustar", 5) == 0 && tar_header_fits(block);
}

/* `block` is TAR_BLOCK bytes. */
static bool embedded_examine(const struct window *window, const unsigned char *block,
			     uint64_t at, struct embedded_found *out)
{
	out->at = at;
	out->what = is_squashfs(window, block, at) ? "a squashfs image" :
		    embedded_is_tar(block)                  ? "a tar archive" : NULL;
	return out->what != NULL;
}

/* `bytes` have a block more than the `n` at which something may begin. */
static bool search_bytes(const struct window *window, const unsigned char *bytes, size_t n,
			 uint64_t at, struct embedded_found *out)
{
	const unsigned char *p = bytes, *end = bytes + n;

	for (; p < end; p++) {
		if ((*p == 'h' || p[TAR_MAGIC] == 'u') &&
		    embedded_examine(window, p, at + (uint64_t)(p - bytes), out))
			return true;
	}
	return false;
}

/* The first packed file behind the window's first byte, as far as one is looked for. */
static int embedded_search(const struct window *window, struct embedded_found *out)
{
	CLEANUP(cleanup_free) unsigned char *bytes = malloc(STEP + TAR_BLOCK);
	int err = bytes ? 0 : -ENOMEM;

	out->what = NULL;
	for (uint64_t at = 1; !err && at < SEARCHED_MOST && at < window->length; at += STEP) {
		uint64_t left = window->length - at;
		size_t n = left < STEP + TAR_BLOCK ? (size_t)left : STEP + TAR_BLOCK;

		err = embedded_read_at(window, bytes, n, at);
		memset(bytes + n, 0, STEP + TAR_BLOCK - n);
		if (!err && search_bytes(window, bytes, n < STEP ? n : STEP, at, out))
			break;
	}
	return err;
}

static int refuse_found(const struct window *window, const char *file,
			const struct embedded_found *found)
{
	return error_set(window->e, ERROR_DATASET, EBADMSG,
			 "'%s' is %s with %s inside, which begins at byte %llu: "
			 "-o base=%llu opens that",
			 window->label, file, found->what,
			 embedded_in_file(window, found->at),
			 embedded_in_file(window, found->at));
}

/*
 * Images of Singularity and Apptainer: a table of descriptors says where the partitions
 * lie. Layout: the SIF library's sif.go and descriptor.go, version 01.
 */
enum {
	SIF_MAGIC_AT = 32,
	SIF_DESCRIPTORS = 88,  /* how many there may be, */
	SIF_TABLE = 96,        /* and where */
	SIF_DESCRIPTOR = 585,  /* bytes of one */
	SIF_DESCRIPTORS_MOST = 4096,
	SIF_PARTITION = 0x4004,
	SIF_KINDS_AT = 201,    /* in a partition's descriptor: file system, and what for */
	SIF_SQUASHFS = 1,
	SIF_LISTED = 4,        /* partitions in a message */
};

struct partitions {
	char listed[256];  /* "base=4096 (system), base=... (data)" */
	unsigned squashfs, others;
};

static const char *purpose(uint64_t kind)
{
	static const char *const purposes[] = { "system", "system", "data", "overlay" };

	return kind >= 1 && kind <= 4 ? purposes[kind - 1] : "other";
}

static void read_descriptor(const struct window *window, const unsigned char *bytes,
			    struct partitions *out)
{
	unsigned char block[TAR_BLOCK];
	uint64_t at = little_endian(bytes + 17, 8);
	struct embedded_found found;

	if (little_endian(bytes, 4) != SIF_PARTITION || !bytes[4])
		return;
	if (little_endian(bytes + SIF_KINDS_AT, 4) != SIF_SQUASHFS ||
	    embedded_read_at(window, block, sizeof(block), at) < 0 ||
	    !embedded_examine(window, block, at, &found)) {
		out->others++;
		return;
	}
	if (out->squashfs++ < SIF_LISTED)
		buffer_print(out->listed, sizeof(out->listed), "%s-o base=%llu (%s)",
			     *out->listed ? ", " : "", embedded_in_file(window, at),
			     purpose(little_endian(bytes + SIF_KINDS_AT + 4, 4)));
}

static int refuse_sif(const struct window *window, const unsigned char *head)
{
	uint64_t at = little_endian(head + SIF_TABLE, 8);
	uint64_t count = little_endian(head + SIF_DESCRIPTORS, 8);
	struct partitions partitions = { .squashfs = 0 };
	unsigned char bytes[SIF_DESCRIPTOR];

	for (uint64_t i = 0; i < count && i < SIF_DESCRIPTORS_MOST; i++, at += sizeof(bytes)) {
		if (embedded_read_at(window, bytes, sizeof(bytes), at) < 0)
			break;
		read_descriptor(window, bytes, &partitions);
	}
	if (partitions.squashfs)
		return error_set(window->e, ERROR_DATASET, EBADMSG,
				 "'%s' is a Singularity image (SIF) with %u squashfs "
				 "partition%s, opened by: %s",
				 window->label, partitions.squashfs,
				 partitions.squashfs == 1 ? "" : "s", partitions.listed);
	return error_set(window->e, ERROR_DATASET, EBADMSG,
			 "'%s' is a Singularity image (SIF) without a squashfs partition "
			 "(it has %u of another kind, such as ext3 or encrypted); unpack it "
			 "with `singularity build --sandbox directory '%s'`, and pack "
			 "that with granary pack",
			 window->label, partitions.others, window->label);
}

/* Programs: an AppImage says that it is one in the header of its ELF file. */

static bool is_appimage(const unsigned char *head)
{
	return head[8] == 'A' && head[9] == 'I' && (head[10] == 1 || head[10] == 2);
}

static int refuse_program(const struct window *window, const unsigned char *head)
{
	bool appimage = is_appimage(head);
	struct embedded_found found;
	int err = embedded_search(window, &found);

	if (err)
		return format_unreadable(window->label, err, window->e);
	if (found.what)
		return refuse_found(window, appimage ? "an AppImage" : "a program (ELF)",
				    &found);
	if (appimage)
		return error_set(window->e, ERROR_DATASET, EBADMSG,
				 "'%s' is an AppImage without a squashfs image; unpack it "
				 "with '%s' --appimage-extract, and pack the directory "
				 "with granary pack",
				 window->label, window->label);
	return 0;
}

static int refuse_others(const struct window *window, const char *file)
{
	struct embedded_found found;
	int err = embedded_search(window, &found);

	if (err)
		return format_unreadable(window->label, err, window->e);
	return found.what ? refuse_found(window, file, &found) : 0;
}

/* The files that packed files are known to be put behind. */
static const struct {
	size_t at;
	const char *magic;
	size_t size;
	const char *what;
} carriers[] = {
	{ 0, "#!", 2, "a script" },
	{ 0, "070701", 6, "a cpio archive (an initrd?)" },
	{ 0, "070707", 6, "a cpio archive (an initrd?)" },
	{ 0, "\047\005\031\126", 4, "a boot image (U-Boot)" },
	{ 0, "HDR0", 4, "firmware (TRX)" },
	{ 0, "MZ", 2, "a program (PE)" },
	{ 510, "\125\252", 2, "a disk image (with a boot sector)" },
};

static const char *find_carrier(const unsigned char *head, size_t n)
{
	for (size_t i = 0; i < sizeof(carriers) / sizeof(*carriers); i++)
		if (range_within(carriers[i].at, carriers[i].size, n) &&
		    memcmp(head + carriers[i].at, carriers[i].magic, carriers[i].size) == 0)
			return carriers[i].what;
	return all_zero(head, n) ? "a file that begins with zeros" : NULL;
}

int embedded_refuse(const struct source *source, uint64_t base, uint64_t length,
		    const char *label, const unsigned char *head, size_t n, bool known,
		    struct error *e)
{
	struct window window = { source, base, length, label, e };
	const char *carrier = find_carrier(head, n);

	if (n < TAR_BLOCK)
		return 0;
	if (memcmp(head + SIF_MAGIC_AT, "SIF_MAGIC", 10) == 0)
		return refuse_sif(&window, head);
	if (memcmp(head, "\177ELF", 4) == 0)
		return refuse_program(&window, head);
	if (!carrier && !known)
		carrier = "a file of no known kind";
	return carrier ? refuse_others(&window, carrier) : 0;
}
