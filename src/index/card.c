/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index/card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "index/layout.h"

/* The kernel's limit of open files (fs.nr_open). */
enum { SOURCES_MOST = 1 << 20 };

struct card {
	uid_t owner;
	uint32_t section_count; /* in the table; optional ones may be absent */
	struct layout_section table[SECTION_COUNT];
	struct index_summary summary;
	uint32_t source_count;
	struct card_source *sources;
	char *names;
};

static int card_refuse(struct error *e, const char *why)
{
	return error_set(e, ERROR_DATASET, EBADMSG, "%s", why);
}

static int stale(struct error *e, const char *why)
{
	return error_set(e, ERROR_DATASET, ESTALE, "%s", why);
}

static int card_fetch(const struct card_reader *reader, void *buffer, size_t length,
		      uint64_t offset, struct error *e)
{
	int err = reader->read(reader->context, buffer, length, offset);

	return err ? error_set(e, ERROR_SYSTEM, -err, "%s", strerror(-err)) : 0;
}

/* ---- Header and table ---- */

struct card_head {
	struct layout_header header;
	struct layout_section table[SECTION_COUNT];
};

/* Checks the header alone. */
static int check_header(const struct layout_header *header, uint64_t size,
			struct error *e)
{
	if (memcmp(header->magic, LAYOUT_MAGIC, sizeof(header->magic)) != 0)
		return card_refuse(e, "it is no index of granaryfs");
	if (header->byte_order != LAYOUT_BYTE_ORDER)
		return card_refuse(e, "it was made on a machine of another byte order");
	if (header->version != LAYOUT_VERSION)
		return card_refuse(e, "it was made by another version of granaryfs");
	if (header->file_size != size)
		return card_refuse(e, "it is cut off, or has grown");
	if (header->section_count < SECTION_COUNT_LEAST ||
	    header->section_count > SECTION_COUNT)
		return card_refuse(e, "its sections are not those of this version");
	return 0;
}

static int check_head_sum(struct card_head *head, size_t size, struct error *e)
{
	uint64_t sum = head->header.checksum;

	head->header.checksum = 0;
	return XXH3_64bits(head, size) == sum ? 0
					      : card_refuse(e, "its header is damaged");
}

static int card_check_place(const struct layout_section *s, uint32_t i, uint64_t size,
			    struct error *e)
{
	if (s->id != i || s->item_size != layout_types[i].item_size ||
	    !range_within(s->offset, s->length, size) ||
	    s->offset % LAYOUT_ALIGNMENT || s->length % s->item_size)
		return card_refuse(e, "its table of sections makes no sense");
	return 0;
}

static uint64_t card_count_items(const struct card *card, enum layout_section_id i)
{
	return i < card->section_count ? card->table[i].length / layout_types[i].item_size : 0;
}

/* Invariants of the accessors: there are nodes, and checksums for all or none. */
static int check_counts(const struct card *card, struct error *e)
{
	uint64_t nodes = card_count_items(card, SECTION_NODES);
	uint64_t sums = card_count_items(card, SECTION_SUMS);
	uint64_t sources = card_count_items(card, SECTION_SOURCES);
	uint64_t identities = card_count_items(card, SECTION_IDENTITIES);

	if (nodes == 0 || nodes > LAYOUT_NODE_LIMIT ||
	    card_count_items(card, SECTION_SUMMARY) != 1)
		return card_refuse(e, "it holds no tree");
	if (sums != 0 && sums != nodes)
		return card_refuse(e, "its checksums are not one for each name");
	if (sums == 0 && card_count_items(card, SECTION_BLOCKS) != 0)
		return card_refuse(e, "it has checksums of blocks, and none of files");
	if (sources > SOURCES_MOST)
		return card_refuse(e, "it has more packed files than can be opened");
	if (identities != 0 && identities != sources)
		return card_refuse(e, "its identities are not one for each packed file");
	return 0;
}

static int card_check_table(struct card *card, uint64_t size, struct error *e)
{
	int err = 0;

	for (uint32_t i = 0; i < card->section_count && !err; i++)
		err = card_check_place(&card->table[i], i, size, e);
	return err ? err : check_counts(card, e);
}

static int read_head(const struct card_reader *reader, struct card *card, struct error *e)
{
	struct card_head head = { 0 };
	size_t n = reader->size < sizeof(head) ? (size_t)reader->size : sizeof(head), size;
	int err = card_fetch(reader, &head, n, 0, e);

	if (!err && n < sizeof(head.header))
		err = card_refuse(e, "it is no index of granaryfs");
	if (!err)
		err = check_header(&head.header, reader->size, e);
	if (err)
		return err;
	card->section_count = head.header.section_count;
	size = sizeof(head.header) + card->section_count * sizeof(*head.table);
	err = n < size ? card_refuse(e, "it is cut off") : check_head_sum(&head, size, e);
	if (err)
		return err;
	memcpy(card->table, head.table, card->section_count * sizeof(*card->table));
	return card_check_table(card, reader->size, e);
}

/* ---- Sources ---- */

const struct layout_section *card_section(const struct card *card, uint32_t i)
{
	return i < card->section_count ? &card->table[i] : NULL;
}

int card_check_section(const struct card *card, uint32_t i, const void *bytes,
		       struct error *e)
{
	const struct layout_section *s = &card->table[i];

	if (XXH3_64bits(bytes, s->length) == s->checksum)
		return 0;
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "its section %s is damaged (%llu bytes at %llu)",
			 layout_types[i].name, (unsigned long long)s->length,
			 (unsigned long long)s->offset);
}

static int read_section(const struct card_reader *reader, const struct card *card,
			enum layout_section_id i, void *out, struct error *e)
{
	const struct layout_section *s = &card->table[i];
	int err = card_fetch(reader, out, s->length, s->offset, e);

	return err ? err : card_check_section(card, i, out, e);
}

static int read_summary(const struct card_reader *reader, struct card *card,
			struct error *e)
{
	struct index_summary *s = &card->summary;
	int err = read_section(reader, card, SECTION_SUMMARY, s, e);

	s->format[sizeof(s->format) - 1] = '\0';
	s->options[sizeof(s->options) - 1] = '\0';
	s->detail[sizeof(s->detail) - 1] = '\0';
	s->names[sizeof(s->names) - 1] = '\0';
	s->labels[sizeof(s->labels) - 1] = '\0';
	s->view[sizeof(s->view) - 1] = '\0';
	s->notes[sizeof(s->notes) - 1] = '\0';
	return err;
}

static int card_read_name(const struct card_reader *reader, const struct card *card,
			  const struct layout_source *source, char *out, struct error *e)
{
	const struct layout_section *bytes = &card->table[SECTION_BYTES];

	if (!range_within(source->name, source->name_length, bytes->length))
		return card_refuse(e, "its list of sources makes no sense");
	return card_fetch(reader, out, source->name_length, bytes->offset + source->name,
			  e);
}

/* Is it a file name? A slash would lead to another directory. */
static bool card_is_name(const char *name, size_t length)
{
	return strlen(name) == length && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/* Reads the names, each with a NUL behind it. */
static int card_read_names(const struct card_reader *reader, struct card *card,
			   const struct layout_source *sources, struct error *e)
{
	size_t room = 0, at = 0;
	int err = 0;

	for (uint32_t i = 0; i < card->source_count; i++) {
		if (sources[i].name_length > LAYOUT_NAME_MAX)
			return card_refuse(e, "its list of sources makes no sense");
		room += sources[i].name_length + 1;
	}
	card->names = calloc(room ? room : 1, 1);
	if (!card->names)
		return error_no_memory(e, NULL);
	for (uint32_t i = 0; i < card->source_count && !err; i++) {
		err = card_read_name(reader, card, &sources[i], card->names + at, e);
		card->sources[i].name = card->names + at;
		if (!err && !card_is_name(card->names + at, sources[i].name_length))
			err = card_refuse(e, "its list of sources makes no sense");
		at += sources[i].name_length + 1;
	}
	return err;
}

static int read_identities(const struct card_reader *reader, struct card *card,
			   struct error *e)
{
	uint32_t count = (uint32_t)card_count_items(card, SECTION_IDENTITIES);
	CLEANUP(cleanup_free) struct layout_identity *identities =
		calloc(count ? count : 1, sizeof(*identities));
	int err = identities ? 0 : error_no_memory(e, NULL);

	if (err || !count)
		return err;
	err = read_section(reader, card, SECTION_IDENTITIES, identities, e);
	for (uint32_t i = 0; i < count && !err; i++) {
		card->sources[i].identity.number = identities[i].number;
		card->sources[i].identity.samples = identities[i].samples;
	}
	return err;
}

static int read_sources(const struct card_reader *reader, struct card *card,
			struct error *e)
{
	uint32_t count = (uint32_t)card_count_items(card, SECTION_SOURCES);
	CLEANUP(cleanup_free) struct layout_source *sources =
		calloc(count ? count : 1, sizeof(*sources));
	int err;

	card->sources = calloc(count ? count : 1, sizeof(*card->sources));
	if (!sources || !card->sources)
		return error_no_memory(e, NULL);
	err = read_section(reader, card, SECTION_SOURCES, sources, e);
	card->source_count = err ? 0 : count;
	for (uint32_t i = 0; i < card->source_count; i++)
		card->sources[i].identity = (struct identity){
			.size = sources[i].size, .mtime_ns = sources[i].mtime_ns,
			.digest = sources[i].digest };
	if (!err)
		err = card_read_names(reader, card, sources, e);
	return err ? err : read_identities(reader, card, e);
}

int card_read(const struct card_reader *reader, struct card **out, struct error *e)
{
	struct card *card = calloc(1, sizeof(*card));
	int err = card ? read_head(reader, card, e) : error_no_memory(e, NULL);

	if (!err)
		err = read_summary(reader, card, e);
	if (!err)
		err = read_sources(reader, card, e);
	if (err) {
		card_free(card);
		return err;
	}
	card->owner = reader->owner;
	*out = card;
	return 0;
}

void card_free(struct card *card)
{
	if (!card)
		return;
	free(card->sources);
	free(card->names);
	free(card);
}

uid_t card_owner(const struct card *card)
{
	return card->owner;
}

const struct index_summary *card_summary(const struct card *card)
{
	return &card->summary;
}

bool card_has_sums(const struct card *card)
{
	return card_count_items(card, SECTION_SUMS) > 0;
}

bool card_has_blocks(const struct card *card)
{
	return card_count_items(card, SECTION_BLOCKS) > 0;
}

bool card_has_identities(const struct card *card)
{
	return card_count_items(card, SECTION_IDENTITIES) > 0;
}

const struct card_source *card_source(const struct card *card, uint32_t i)
{
	return i < card->source_count ? &card->sources[i] : NULL;
}

/* ---- Comparison ---- */

const char *card_difference(const struct card *card, uint32_t i, const struct identity *is,
			    bool copied)
{
	struct identity was = card->sources[i].identity;

	if (copied)
		was.mtime_ns = is->mtime_ns;
	if (card_has_sums(card))
		was.samples = 0;
	return identity_difference(&was, is);
}

static int accept_source(const struct card *card, uint32_t i, const struct identity *want,
			 struct error *e)
{
	const char *what = card_difference(card, i, want, false);

	return what ? error_set(e, ERROR_DATASET, ESTALE,
				"packed file number %u has another %s than when it was "
				"indexed", i + 1, what) : 0;
}

int card_accept_shape(const struct card *card, uint32_t count, const char *options,
		      struct error *e)
{
	if (card->source_count != count)
		return stale(e, "it was made for another set of packed files");
	if (strcmp(card->summary.options, options) != 0)
		return error_set(e, ERROR_DATASET, ESTALE,
				 "it was made with other options (%s)",
				 card->summary.options);
	return 0;
}

int card_accept(const struct card *card, const struct identity *sources, uint32_t count,
		const char *options, struct error *e)
{
	int err = card_accept_shape(card, count, options, e);

	for (uint32_t i = 0; i < count && !err; i++)
		err = accept_source(card, i, &sources[i], e);
	return err;
}
