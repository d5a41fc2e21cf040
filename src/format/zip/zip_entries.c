/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/zip/zip_entries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "build/findings.h"
#include "codec/codec.h"
#include "format/limits.h"
#include "format/zip/attributes.h"

enum {
	CHUNKS_FREE = 1024 * 1024,       /* bytes of chunks and extents */
	SIZE_BITS = 48,                  /* of a file */
	COMPARED_PIECE = 1024 * 1024,
	DEFLATE_RATIO = 1032,            /* what one byte becomes at most */
	LINK_STORED_MOST = 64 * 1024,    /* bytes of a target, compressed */
	ENTERED_LEAST = 64 << 20,        /* larger members are entered in their middle */
};

/* Methods that are decoded. */
static const struct zip_method {
	unsigned number;
	uint32_t codec;
} methods[] = {
	{ ZIP_DEFLATE, CODEC_DEFLATE },
	{ ZIP_BZIP2, CODEC_BZIP2 },
	{ ZIP_LZMA, CODEC_ZIP_LZMA },
	{ ZIP_ZSTD, CODEC_ZSTD },
	{ ZIP_XZ, CODEC_XZ },
};

static const char *const unreadable_words[ZIP_UNREADABLE_KINDS] = {
	[ZIP_IS_ENCRYPTED] = "encrypted",
	[ZIP_OTHER_METHOD] =
		"compressed by a method that is not read (Deflate64, PPMd or "
		"another)",
	[ZIP_TOO_LARGE] = "damaged, or compressed with more than 1 GiB in one piece that can be "
			  "entered nowhere",
};

int zip_entries_open(struct zip_entries *entries, struct zip_archive *archive)
{
	*entries = (struct zip_entries){ .archive = archive };
	return zip_names_open(&entries->names, archive);
}

void zip_entries_close(struct zip_entries *entries)
{
	zip_names_close(&entries->names);
	vec_free(&entries->extents);
	free(entries->piece);
}

static const struct zip_method *find_method(unsigned number)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (methods[i].number == number)
			return &methods[i];
	return NULL;
}

/* A stored member has no codec but its checksum. */
static void find_chain(const struct zip_member *member, uint32_t chain[VOLUME_CODECS])
{
	const struct zip_method *method = find_method(member->method);

	memset(chain, 0, VOLUME_CODECS * sizeof(*chain));
	chain[0] = CODEC_CRC32;
	chain[1] = method ? method->codec : CODEC_END;
}

static enum zip_unreadable judge_member(const struct zip_member *member)
{
	if (member->flags & ZIP_ENCRYPTED)
		return ZIP_IS_ENCRYPTED;
	if (member->method == ZIP_STORED)
		return ZIP_READABLE;
	if (!find_method(member->method))
		return ZIP_OTHER_METHOD;
	return member->size > VOLUME_CHUNK_LIMIT || member->stored > VOLUME_CHUNK_LIMIT ?
		       ZIP_TOO_LARGE : ZIP_READABLE;
}

/* A bomb says more than its stored bytes can become. */
static bool can_be_deflated(const struct zip_member *member)
{
	uint64_t most;

	return member->method != ZIP_DEFLATE ||
	       !checked_mul(member->stored, DEFLATE_RATIO, &most) || member->size <= most;
}

/* Where the bytes are */

static int place_explain(const struct zip_entries *entries,
			 const struct zip_member *member, int err)
{
	if (err == -ENOMEM)
		return zip_no_memory(entries->archive);
	return err ? zip_damaged_member(entries->archive, member,
					"the place of the bytes") :
		     0;
}

/* `what`, such as the names, of all members. */
static int refuse_bomb(const struct zip_entries *entries, const char *what)
{
	return error_set(
		entries->archive->e, ERROR_DATASET, EBADMSG,
		"'%s' is damaged, or a bomb: the %s of its members need more memory "
		"than an archive of its size may take; pack it again",
		entries->archive->scan->label, what);
}

static int count_chunks(struct zip_entries *entries)
{
	return limit_sum(&entries->chunk_bytes,
			 sizeof(struct volume_chunk) + sizeof(struct entry_extent),
			 entries->archive->scan->length, CHUNKS_FREE) ? 0 :
		       refuse_bomb(entries, "sizes");
}

static int push_extent(struct zip_entries *entries, struct entry_extent extent)
{
	size_t count = entries->extents.count;
	struct entry_extent *last = count ? &entries->extents.items[count - 1] : NULL;

	if (last && last->volume == extent.volume &&
	    last->offset + last->length == extent.offset) {
		last->length += extent.length;
		return 0;
	}
	return vec_push(&entries->extents, extent);
}

static int add_chunk(struct zip_entries *entries, const struct zip_member *member,
		     const uint32_t codecs[VOLUME_CODECS], uint64_t stored,
		     uint64_t offset, uint64_t plain)
{
	const struct scan *scan = entries->archive->scan;
	const struct entry_chunk chunk = {
		.source = scan->source_number, .source_size = source_size(scan->source),
		.codecs = codecs, .stored_at = scan->base + member->data,
		.stored_length = stored, .plain = plain,
		.skipped = codecs[0] == CODEC_CRC32 ? member->crc : 0,
	};
	struct entry_extent extent;
	int err = count_chunks(entries);

	if (err)
		return err;
	err = entries_coded_extent(scan->entries, &chunk, &extent);
	extent.file_offset = offset;
	return place_explain(entries, member, err ? err : push_extent(entries, extent));
}

/* The CRC-32 of a member's bytes, which lie at `at` of a source: 0 or a negative errno. */
static int sum_bytes(struct zip_entries *entries, const struct source *source, uint64_t at,
		     uint64_t left, uint32_t *crc)
{
	int err = 0;

	if (!entries->piece)
		entries->piece = malloc(COMPARED_PIECE);
	if (!entries->piece)
		return -ENOMEM;
	*crc = 0;
	for (size_t n; left && !err; left -= n, at += n) {
		n = left < COMPARED_PIECE ? (size_t)left : COMPARED_PIECE;
		err = source_pread(source, entries->piece, n, at);
		if (!err)
			*crc = codec_crc32.sum(*crc, entries->piece, n);
	}
	return err;
}

/* No read of a mount compares the CRC-32 of a stored member. */
static int compare_stored(struct zip_entries *entries, const struct zip_member *member)
{
	const struct scan *scan = entries->archive->scan;
	uint32_t crc;
	int err = sum_bytes(entries, scan->source, scan->base + member->data, member->size,
			    &crc);

	if (err)
		return err == -ENOMEM ? zip_no_memory(entries->archive) :
					format_unreadable(scan->label, err, entries->archive->e);
	return crc == member->crc ? 0 :
		       zip_damaged_member(entries->archive, member, "the CRC-32");
}

static int add_stored(struct zip_entries *entries, const struct zip_member *member)
{
	const struct scan *scan = entries->archive->scan;
	struct entry_extent extent;
	int err;

	if (member->stored != member->size)
		return zip_damaged_member(entries->archive, member,
					  "the two sizes, of a stored file,");
	err = scan->compares ? compare_stored(entries, member) : 0;
	if (err)
		return err;
	err = entries_raw_extent(scan->entries, scan->source_number,
				 source_size(scan->source), scan->base + member->data,
				 member->size, &extent);
	return place_explain(entries, member, err ? err : push_extent(entries, extent));
}

/*
 * A large member is decoded once, now, for places where it can be entered. 1; 0: it has
 * none, or other bytes than the archive says; or an error.
 */
static int add_entered(struct zip_entries *entries, const struct zip_member *member)
{
	struct scan *scan = entries->archive->scan;
	struct entry_extent extent;
	const struct source *plain;
	uint32_t crc, number;
	unsigned char more;
	bool ends_early;
	int err;

	if (member->size <= ENTERED_LEAST || !scan->open_stream)
		return 0;
	plain = scan->open_stream(scan, member->method == ZIP_DEFLATE,
				  scan->base + member->data, member->stored, &number);
	if (!plain)
		return 0;
	err = sum_bytes(entries, plain, 0, member->size, &crc);
	if (err == -ENOMEM)
		return zip_no_memory(entries->archive);
	ends_early = source_size(plain) < member->size; /* it is known at the end */
	if (err && err != -EBADMSG && !ends_early)
		return format_unreadable(scan->label, err, entries->archive->e);
	if (err || crc != member->crc || source_pread(plain, &more, 1, member->size) == 0)
		return 0;
	err = entries_raw_extent(scan->entries, number, member->size, 0, member->size, &extent);
	err = place_explain(entries, member, err ? err : push_extent(entries, extent));
	return err ? err : 1;
}

/* One chunk, whose decoder compares the CRC-32. */
static int add_coded(struct zip_entries *entries, const struct zip_member *member)
{
	uint32_t codecs[VOLUME_CODECS];
	const char *needs;

	find_chain(member, codecs);
	needs = codec_chain_needs(codecs);
	if (!needs)
		return add_chunk(entries, member, codecs, member->stored, 0,
				 member->size);
	return error_set(
		entries->archive->e, ERROR_DATASET, EBADMSG,
		"'%s' has a member, '%.200s', that cannot be decoded: this granaryfs "
		"was built without %s",
		entries->archive->scan->label, entries->names.text.items, needs);
}

/* Chunks that no read can decode. */
static int add_unreadable(struct zip_entries *entries, const struct zip_member *member)
{
	static const uint32_t codecs[VOLUME_CODECS] = { CODEC_UNREADABLE };
	int err = 0;

	if (member->stored == 0)
		return zip_damaged_member(entries->archive, member, "the size");
	for (uint64_t offset = 0, piece; offset < member->size && !err; offset += piece) {
		uint64_t left = member->size - offset;

		piece = left < VOLUME_CHUNK_LIMIT ? left : VOLUME_CHUNK_LIMIT;
		err = add_chunk(entries, member, codecs, 1, offset, piece);
	}
	return err;
}

static int place_bytes(struct zip_entries *entries, const struct zip_member *member)
{
	enum zip_unreadable why = judge_member(member);
	struct zip_name_count *found = &entries->unreadable[why];
	int err;

	entries->extents.count = 0;
	if (member->size >> SIZE_BITS || !can_be_deflated(member))
		return zip_damaged_member(entries->archive, member,
					  "a size that its stored bytes cannot become,");
	if (member->method == ZIP_STORED)
		entries->stored++;
	else
		entries->coded++;
	if (member->size == 0)
		return 0;
	if (why == ZIP_READABLE && member->method == ZIP_STORED)
		return add_stored(entries, member);
	err = why == ZIP_READABLE || why == ZIP_TOO_LARGE ? add_entered(entries, member) : 0;
	if (err)
		return err < 0 ? err : 0;
	if (why == ZIP_READABLE)
		return add_coded(entries, member);
	if (found->count++ == 0)
		snprintf(found->example, sizeof(found->example), "%.100s",
			 entries->names.text.items);
	return add_unreadable(entries, member);
}

/* Links: the target is what the member holds */

static int decode_whole(const struct zip_entries *entries,
			const struct zip_member *member, void *out)
{
	CLEANUP(cleanup_free) void *stored = malloc(member->stored ? member->stored : 1);
	uint32_t chain[VOLUME_CODECS];
	ssize_t n;
	int err;

	if (!stored)
		return zip_no_memory(entries->archive);
	err = zip_read(entries->archive, stored, member->stored, member->data);
	if (err)
		return err;
	find_chain(member, chain);
	n = codec_chain_decode(chain, member->crc, stored, member->stored, out,
			       member->size);
	if (n == -ENOMEM)
		return zip_no_memory(entries->archive);
	return n == (ssize_t)member->size ? 0 :
					    zip_damaged_member(entries->archive, member,
							       "the target of the link");
}

static void leave_out(struct zip_entries *entries, const char *why)
{
	findings_add(entries->archive->scan->findings, FINDING_LEFT_OUT,
		     "'%.200s' %s, and is left out", entries->names.text.items, why);
	entries_leave_out(entries->archive->scan->entries);
}

static int add_entry(struct zip_entries *entries, const struct entry *entry)
{
	struct scan *scan = entries->archive->scan;
	size_t length = strlen(entry->path) + (entry->target ? strlen(entry->target) : 0);

	if (!limit_paths(&entries->path_bytes, length, scan->length))
		return refuse_bomb(entries, "names");
	return entries_add(scan->entries, entry) < 0 ? zip_no_memory(entries->archive) :
						       0;
}

static int add_link(struct zip_entries *entries, const struct zip_member *member,
		    struct entry *entry)
{
	char target[LIMIT_TARGET_BYTES + 1];
	int err;

	if (judge_member(member) != ZIP_READABLE) {
		leave_out(entries, "is a symbolic link whose target cannot be decoded");
		return 0;
	}
	if (member->size == 0 || member->size > LIMIT_TARGET_BYTES ||
	    member->stored > LINK_STORED_MOST) {
		leave_out(entries,
			  "is a symbolic link to nothing, or to too long a path");
		return 0;
	}
	err = decode_whole(entries, member, target);
	if (err)
		return err;
	target[member->size] = '\0';
	if (strlen(target) != member->size)
		return zip_damaged_member(entries->archive, member,
					  "the target of the link");
	entry->target = target;
	return add_entry(entries, entry);
}

static int add_file(struct zip_entries *entries, const struct zip_member *member,
		    struct entry *entry)
{
	struct scan *scan = entries->archive->scan;
	int err = place_bytes(entries, member);

	if (err)
		return err;
	entry->size = member->size;
	entry->extents = entries->extents.items;
	entry->extent_count = entries->extents.count;
	if (member->method == ZIP_STORED && judge_member(member) == ZIP_READABLE)
		format_offer_nested(scan, entry, scan->base + member->data);
	return add_entry(entries, entry);
}

int zip_entries_add(struct zip_entries *entries, const struct zip_member *member)
{
	struct entry entry = { 0 };
	int err = zip_names_find(&entries->names, member);

	if (err)
		return err;
	entry.path = entries->names.text.items;
	if (entries->names.text.count == 0 ||
	    strlen(entry.path) != entries->names.text.count) {
		leave_out(entries, "is no name, or has a NUL byte in it");
		return 0;
	}
	if (!zip_set_attributes(entries->archive, member, entry.path, &entry)) {
		entries->specials++;
		entries_leave_out(entries->archive->scan->entries);
		return 0;
	}
	if (entry.kind == ENTRY_DIRECTORY)
		return add_entry(entries, &entry);
	return entry.kind == ENTRY_SYMLINK ? add_link(entries, member, &entry) :
					     add_file(entries, member, &entry);
}

void zip_entries_report(struct zip_entries *entries)
{
	struct scan *scan = entries->archive->scan;

	zip_names_report(&entries->names);
	for (size_t i = 0; i < ZIP_UNREADABLE_KINDS; i++)
		if (entries->unreadable[i].count)
			findings_add(scan->findings, FINDING_LEFT_OUT,
				     "%llu members are %s ('%s', for one): they are "
				     "listed, and "
				     "reading them is an error; unpack the archive with "
				     "7zz x, and "
				     "pack the directory",
				     (unsigned long long)entries->unreadable[i].count,
				     unreadable_words[i], entries->unreadable[i].example);
	if (entries->specials)
		findings_add(scan->findings, FINDING_USUAL,
			     "%llu devices, pipes or sockets are left out",
			     (unsigned long long)entries->specials);
	snprintf(scan->detail, sizeof(scan->detail),
		 "%llu members stored, %llu compressed",
		 (unsigned long long)entries->stored, (unsigned long long)entries->coded);
}
