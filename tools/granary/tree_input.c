/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/size.h"
#include "format/limits.h"
#include "packer/scan.h"
#include "place/map_files.h"
#include "source/parts.h"
#include "tree_lines.h"
#include "tree_server.h"

/* Waits for a line that lives; NULL: none does. */
static struct tree_line *claim_line(struct tree_server *s)
{
	LOCK_GUARD(&s->lock);
	while (true) {
		bool any = false;

		for (unsigned i = 0; i < s->count; i++) {
			struct tree_line *line = &s->lines[i];

			any |= line->parent >= 0;
			if (line->parent < 0 || line->busy)
				continue;
			line->busy = true;
			return line;
		}
		if (!any)
			return NULL;
		wakeup_wait(&s->idle, &s->lock);
	}
}

static void release_line(struct tree_server *s, struct tree_line *line, bool lives)
{
	LOCK_GUARD(&s->lock);
	line->busy = false;
	if (!lives)
		tree_close_end(&line->parent);
	wakeup_one(&s->idle);
	if (!lives)
		wakeup_all(&s->idle);
}

/* Asks on a line that lives, and claims it: NULL: the child has ended. */
static struct tree_line *tree_ask(struct tree_server *s, const struct tree_question *q,
				  struct tree_answer *answer)
{
	struct tree_line *line;

	while ((line = claim_line(s))) {
		if (tree_send(line->parent, q, sizeof(*q)) &&
		    tree_receive(line->parent, answer, sizeof(*answer)) &&
		    answer->length <= LINE_BYTES)
			return line;
		release_line(s, line, false);
	}
	return NULL;
}

static int read_piece(struct tree_server *s, uint32_t node, void *bytes, uint32_t length,
		      uint64_t offset)
{
	struct tree_question q;
	struct tree_answer answer;
	struct tree_line *line;
	int err;

	memset(&q, 0, sizeof(q));
	q.kind = READ_BYTES;
	q.node = node;
	q.offset = offset;
	q.length = length;
	line = tree_ask(s, &q, &answer);
	if (!line)
		return -EPIPE;
	if (answer.err)
		err = answer.err == -EIO ? -EIO : -EBADMSG;
	else
		err = answer.length == length ? 0 : -EBADMSG;
	if (!err)
		memcpy(bytes, line->memory, length);
	release_line(s, line, true);
	return err;
}

static int tree_input_read(void *context, const struct pack_scan_entry *entry, void *bytes,
			   size_t length, uint64_t offset)
{
	int err = 0;

	while (length && !err) {
		uint32_t piece = length < LINE_BYTES ? (uint32_t)length : LINE_BYTES;

		err = read_piece(context, (uint32_t)entry->inode, bytes, piece, offset);
		bytes = (char *)bytes + piece;
		length -= piece;
		offset += piece;
	}
	return err;
}

static struct pack_scan_entry tree_entry_of(const struct tree_record *record,
					    const char *target)
{
	return (struct pack_scan_entry){
		.kind = (uint16_t)record->kind, .target = target, .size = record->size,
		.inode = record->node, .mtime = record->mtime, .mtime_ns = record->mtime_ns,
		.mode = record->mode, .uid = record->uid, .gid = record->gid,
		.linked = record->linked,
	};
}

/* Takes the record at *at of `size` bytes: 0 or a negative errno. */
static int take_record(const char *bytes, size_t size, size_t *at, struct pack_scan *scan)
{
	struct tree_record record;
	struct pack_scan_entry entry;
	const char *name, *value;
	size_t need;

	if (size - *at < sizeof(record))
		return -EBADMSG;
	memcpy(&record, bytes + *at, sizeof(record));
	need = tree_record_size(&record);
	if (need > size - *at)
		return -EBADMSG;
	name = bytes + *at + sizeof(record);
	value = name + record.name_length + 1;
	*at += need;
	if (name[record.name_length] || value[record.value_length])
		return -EBADMSG;
	if (record.kind == RECORD_XATTR)
		return pack_scan_add_xattr(scan, name, value, record.value_length);
	entry = tree_entry_of(&record, value);
	return record.kind > PACK_SYMLINK ? -EBADMSG :
	       pack_scan_add(scan, (size_t)record.directory, name, record.name_length, &entry);
}

static int take_records(struct tree_server *s, const char *bytes, size_t size,
			struct pack_scan *scan)
{
	/* the child cannot make the parent list without end */
	size_t most = tree_count(s->tree), at = 0;
	int err = 0;

	while (at < size && !err)
		err = scan->count > most ? -EBADMSG : take_record(bytes, size, &at, scan);
	return err;
}

static int child_ended(struct error *e)
{
	return error_set(e, ERROR_SYSTEM, EPIPE, "the process that reads the dataset has ended");
}

/* The sentence that the child sent, or one of this process. */
static int list_failed(const char *bytes, size_t size, struct error *e)
{
	struct error sent = { 0 };

	if (size == sizeof(sent))
		memcpy(&sent, bytes, sizeof(sent));
	sent.text[sizeof(sent.text) - 1] = '\0';
	if (*sent.text && (sent.status == ERROR_DATASET || sent.status == ERROR_SYSTEM ||
			   sent.status == ERROR_DAMAGED))
		return error_set(e, sent.status, EBADMSG, "%s", sent.text);
	return error_set(e, ERROR_DATASET, EBADMSG, "the tree of the dataset cannot be listed");
}

static int list_is_too_large(const struct tree_server *s, struct error *e)
{
	char most[SIZE_TEXT_BYTES];

	return error_set(e, ERROR_DATASET, E2BIG, "the paths and attributes of the dataset take "
			 "more than %s; convert parts of it, with -o subdir=",
			 size_text(s->input.copies_most, most));
}

static int tree_input_list(void *context, struct pack_scan *scan, struct error *e)
{
	CLEANUP(cleanup_free) char *bytes = malloc(LINE_BYTES);
	struct tree_server *s = context;
	struct tree_question q;
	struct tree_answer answer;
	int err = 0;

	if (!bytes)
		return error_no_memory(e, NULL);
	memset(&q, 0, sizeof(q));
	q.kind = LIST_NAMES;
	do {
		struct tree_line *line = tree_ask(s, &q, &answer);

		if (!line)
			return child_ended(e);
		memcpy(bytes, line->memory, answer.length);
		release_line(s, line, true);
		if (answer.err)
			return list_failed(bytes, answer.length, e);
		err = take_records(s, bytes, answer.length, scan);
	} while (!err && answer.length);
	if (err == -ENOMEM)
		return error_no_memory(e, NULL);
	if (err == -E2BIG)
		return list_is_too_large(s, e);
	return err ? list_failed(NULL, 0, e) : 0;
}

static bool tree_input_uses(void *context, dev_t device, ino_t inode)
{
	const struct tree_server *s = context;
	const struct source_set *set = dataset_sources(s->dataset);

	for (uint32_t i = 0; i < set->count; i++) {
		const struct source *source = set->sources[i];

		for (uint32_t k = 0; k < source_part_count(source); k++) {
			struct source_id id = source_info(source_part(source, k))->id;

			if (id.device == device && id.inode == inode)
				return true;
		}
	}
	return false;
}

static int tree_input_check(void *context, struct error *e)
{
	const struct tree_server *s = context;

	return source_set_check_unchanged(dataset_sources(s->dataset), "convert", e);
}

/* Sizes, times and sampled bytes of the packed files. */
static int identify(const struct dataset *dataset, uint64_t *out, struct error *e)
{
	const struct source_set *set = dataset_sources(dataset);
	struct identity *all = calloc(set->count, sizeof(*all));
	int err = all ? source_set_identify(set, all, e) : error_no_memory(e, NULL);

	*out = 0;
	for (uint32_t i = 0; i < set->count && !err; i++) {
		const uint64_t numbers[] = { all[i].size, (uint64_t)all[i].mtime_ns,
					     all[i].digest, all[i].samples };

		*out = hash_digest(*out, numbers, sizeof(numbers));
	}
	free(all);
	return err;
}

/* Adds the options that shape the tree, and the part of it that is shown. */
static int identify_options(const struct dataset_config *config, uint32_t sources,
			    uint64_t *out, struct error *e)
{
	const char *subdir = config->subdir ? config->subdir : "";
	char shape[CONFIG_TEXT_BYTES];
	struct map_files maps;
	int err = map_files_open(config, &maps, e);

	if (err)
		return err;
	dataset_config_shape(config, sources, shape);
	err = map_files_append_key(&maps, shape, e);
	map_files_close(&maps);
	*out = hash_digest(*out, shape, strlen(shape) + 1);
	*out = hash_digest(*out, subdir, strlen(subdir) + 1);
	return err;
}

/* As of packed files (format/limits.h): a tree has more bytes than its index, but not many. */
static int bound_copies(const struct dataset *dataset, uint64_t *out, struct error *e)
{
	struct dataset_info info;
	int err = dataset_info(dataset, &info);

	if (err)
		return error_set(e, ERROR_DATASET, -err, "the index of the dataset is damaged");
	*out = LIMIT_PATHS_FREE + 16 * info.index_bytes;
	return 0;
}

int tree_input_init(struct tree_server *s, const struct dataset_config *config,
		    struct error *e)
{
	uint32_t sources = dataset_sources(s->dataset)->count;
	uint64_t *identity = &s->input.identity;
	int err;

	s->input = (struct pack_input){ .list = tree_input_list, .read = tree_input_read,
					.uses = tree_input_uses, .check = tree_input_check,
					.context = s };
	err = bound_copies(s->dataset, &s->input.copies_most, e);
	if (!err)
		err = identify(s->dataset, identity, e);
	return err ? err : identify_options(config, sources, identity, e);
}
