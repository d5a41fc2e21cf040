/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/zip/local_header.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

enum {
	LOCAL_BYTES = 30,
	LOCAL_MOST = LOCAL_BYTES + 65535,
	NEAR = 32 * 1024,       /* members this small are read over, not skipped */
	PIECE = 256 * 1024,
};

int zip_local_open(struct zip_local *local, const struct zip_archive *archive)
{
	*local = (struct zip_local){ .buffer = malloc(PIECE) };
	return local->buffer ? 0 : zip_no_memory(archive);
}

void zip_local_close(struct zip_local *local)
{
	free(local->buffer);
}

/* The `n` bytes at `at`, through the buffer. */
static int local_read(struct zip_local *local, const struct zip_archive *archive,
		      uint64_t at, size_t n, const unsigned char **out)
{
	uint64_t left = archive->directory - at;
	bool near = at >= local->last && at - local->last < NEAR;
	size_t take = near && PIECE < left ? PIECE : near ? (size_t)left : n;
	int err = 0;

	if (at < local->held || !range_within(at - local->held, n,
					      local->held_end - local->held)) {
		take = take < n ? n : take;
		err = zip_read(archive, local->buffer, take, at);
		local->held = at;
		local->held_end = err ? at : at + take;
	}
	local->last = at;
	*out = local->buffer + (at - local->held);
	return err;
}

/* Sizes of a streamed member follow its bytes; 64-bit ones are in an extra field. */
static bool local_size_fits(const unsigned char *field, unsigned flags, uint64_t size)
{
	uint64_t local = little_endian(field, 4);

	return local == size || local == UINT32_MAX ||
	       ((flags & ZIP_DESCRIPTOR) && local == 0);
}

/* What is another one in the local header than in the record; NULL: nothing. */
static const char *find_difference(const unsigned char *header,
				   const struct zip_member *member)
{
	unsigned flags = (unsigned)little_endian(header + 6, 2);

	if ((flags ^ member->flags) & ZIP_ENCRYPTED)
		return "encryption";
	if (member->flags & ZIP_MASKED)
		return NULL;
	if (little_endian(header + 26, 2) != member->name_length ||
	    memcmp(header + LOCAL_BYTES, member->name, member->name_length) != 0)
		return "name";
	if (little_endian(header + 8, 2) != member->method)
		return "method";
	if (!local_size_fits(header + 18, flags, member->stored) ||
	    !local_size_fits(header + 22, flags, member->size))
		return "size";
	if (little_endian(header + 14, 4) != member->crc && !(flags & ZIP_DESCRIPTOR))
		return "CRC-32";
	return NULL;
}

static int refuse_difference(const struct zip_archive *archive,
			     const struct zip_member *member, const char *difference)
{
	int length = member->name_length < 200 ? (int)member->name_length : 200;

	return error_set(
		archive->e, ERROR_DATASET, EBADMSG,
		"'%s' is damaged: the %s of member '%.*s' is another one in its "
		"local header at byte %llu than in the central directory; copy it "
		"again, or pack it again",
		archive->scan->label, difference, length, member->name,
		(unsigned long long)(archive->scan->base + member->header));
}

int zip_local_find_data(struct zip_local *local, const struct zip_archive *archive,
			struct zip_member *member)
{
	size_t n = LOCAL_BYTES + member->name_length;
	const unsigned char *header;
	const char *difference;
	int err;

	if (!range_within(member->header, n, archive->directory))
		return zip_damaged_member(archive, member, "the place");
	err = local_read(local, archive, member->header, n, &header);
	if (err)
		return err;
	if (memcmp(header, "PK\003\004", 4) != 0)
		return zip_damaged_member(archive, member,
					  "there is no local header at the place");
	difference = find_difference(header, member);
	if (difference)
		return refuse_difference(archive, member, difference);
	member->data = member->header + n + little_endian(header + 28, 2);
	if (!range_within(member->data, member->stored, archive->directory))
		return zip_damaged_member(archive, member,
					  "the central directory overlaps the bytes");
	return 0;
}
