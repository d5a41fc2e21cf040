/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/opening.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "index/card.h"
#include "os/opener.h"
#include "place/run_indexer.h"
#include "place/stale_index.h"
#include "source/parts.h"

/* ---- In whichever process has the rights ---- */

static int find_with_rights(struct opening *o, struct error *e)
{
	const char *path;

	if (index_find(&o->wish, &o->index, &path) < 0)
		return 0;
	o->index_path = strdup(path);
	return o->index_path ? 0 : error_no_memory(e, NULL);
}

static int begin_with_rights(struct opening *o, struct error *e)
{
	struct index_files files = { 0 };
	int err = source_set_open(o->arguments, o->argument_count,
				  o->config->missing == MISSING_SKIP, &o->sources, e);

	if (!err)
		err = index_wish_make(o->config, &o->sources, &o->wish, e);
	if (err)
		return err;
	o->wish.files = &files;
	err = stale_index_check(&o->wish, e);
	if (!err)
		err = find_with_rights(o, e);
	o->wish.files = NULL;
	index_files_close(&files);
	return err;
}

/* ---- In the child ---- */

enum opening_kind { KIND_WISH, KIND_PLACE, KIND_SOURCE, KIND_PART, KIND_CLASSES,
		    KIND_NAMES, KIND_INDEX, KIND_SPOOL };

struct wish_item {
	uint32_t sources;
	size_t descriptors;
	bool named, beside, sampled;
	char shape[CONFIG_TEXT_BYTES];
};

struct source_item {
	struct source_info info;
	struct identity identity; /* of a packed file */
};

/* The files of all sources, of which some have several. */
static size_t count_files(const struct source_set *set)
{
	size_t n = 0;

	for (uint32_t i = 0; i < set->count; i++)
		n += source_part_count(set->sources[i]);
	return n;
}

struct spool_item {
	uint32_t number; /* of the source */
	struct spool_file file; /* its pointers mean nothing */
};

static int send_wish(const struct index_wish *wish, struct error *e)
{
	struct wish_item data = {
		.sources = wish->sources->count, .named = wish->places.named,
		.beside = wish->places.beside, .sampled = *wish->sampled,
		.descriptors = count_files(wish->sources) + wish->maps.classes.count +
			       wish->maps.names.count,
	};
	const struct opener_item item = { .kind = KIND_WISH, .data = &data,
					  .size = sizeof(data), .fd = -1 };
	int err;

	memcpy(data.shape, wish->shape, sizeof(data.shape));
	err = opener_send(&item, e);
	for (unsigned i = 0; !err && i < wish->places.count; i++)
		err = opener_send(&(struct opener_item){ .kind = KIND_PLACE, .fd = -1,
				  .text = wish->places.paths[i] }, e);
	return err;
}

static int send_source(enum opening_kind kind, const struct source *source,
		       const struct identity *identity, struct error *e)
{
	int fd = source_hand_over(source, e);
	struct source_item data = { .info = *source_info(source) };

	if (fd < 0)
		return fd;
	if (identity)
		data.identity = *identity;
	return opener_send(&(struct opener_item){
		.kind = kind, .data = &data, .size = sizeof(data),
		.text = source_path(source), .fd = fd }, e);
}

/* `identities`: one for each source, or NULL. */
static int send_sources(enum opening_kind kind, const struct source_set *set,
			const struct identity *identities, struct error *e)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < set->count; i++) {
		const struct source *source = set->sources[i];

		err = send_source(kind, source_part(source, 0),
				  identities ? &identities[i] : NULL, e);
		for (uint32_t k = 1; !err && k < source_part_count(source); k++)
			err = send_source(KIND_PART, source_part(source, k), NULL, e);
	}
	return err;
}

static int send_index(const struct opening *o, struct error *e)
{
	uid_t owner;

	if (!o->index)
		return 0;
	owner = card_owner(index_card(o->index));
	return opener_send(&(struct opener_item){ .kind = KIND_INDEX, .data = &owner,
			   .size = sizeof(owner), .text = o->index_path,
			   .fd = index_descriptor(o->index) }, e);
}

static int begin_as_user(void *context, struct error *e)
{
	struct opening *o = context;
	const struct index_wish *wish = &o->wish;
	int err = begin_with_rights(o, e);

	if (!err)
		err = send_wish(wish, e);
	if (!err)
		err = send_sources(KIND_SOURCE, &o->sources, wish->identities, e);
	if (!err)
		err = send_sources(KIND_CLASSES, &wish->maps.classes, NULL, e);
	if (!err)
		err = send_sources(KIND_NAMES, &wish->maps.names, NULL, e);
	return err ? err : send_index(o, e);
}

static int open_spool(struct opening *o, struct error *e)
{
	for (uint32_t i = 0; i < o->spool.count; i++)
		if (o->spool.files[i].compressed)
			index_wish_sample(&o->wish);
	return spool_open(o->config, &o->sources, o->wish.identities, &o->spool, e);
}

/* Another process would wait for the user's own daemon. */
static int refuse_fuse(const struct spool_file *file, struct error *e)
{
	struct statfs fs;

	if (fstatfs(file->fd, &fs) == 0 && fs.f_type != FUSE_SUPER_MAGIC)
		return 0;
	return error_set(e, ERROR_SYSTEM, EINVAL,
			 "-o spool=: '%s' would lie on a FUSE filesystem, whose daemon may be the "
			 "user's; name another directory", file->path);
}

static int open_spool_as_user(void *context, struct error *e)
{
	struct opening *o = context;
	int err = open_spool(o, e);

	for (uint32_t i = 0; !err && i < o->spool.count; i++) {
		const struct spool_file *file = &o->spool.files[i];
		struct spool_item data = { i, *file };

		if (file->fd < 0)
			continue;
		err = refuse_fuse(file, e);
		if (!err)
			err = opener_send(&(struct opener_item){
				.kind = KIND_SPOOL, .data = &data, .size = sizeof(data),
				.text = file->path, .fd = file->fd }, e);
	}
	return err;
}

static int publish_spool_as_user(void *context, struct error *e)
{
	struct opening *o = context;

	return spool_publish(&o->spool, e);
}

static int find_as_user(void *context, struct error *e)
{
	struct opening *o = context;
	int err = find_with_rights(o, e);

	return err ? err : send_index(o, e);
}

/* ---- In the parent ---- */

static int receive_wish(struct opening *o, const struct wish_item *data, struct error *e)
{
	source_set_make_room(data->descriptors);
	o->promised = data->sources;
	o->wish.sources = &o->sources;
	o->wish.places.named = data->named;
	o->wish.places.beside = data->beside;
	memcpy(o->wish.shape, data->shape, sizeof(o->wish.shape));
	o->wish.shape[sizeof(o->wish.shape) - 1] = '\0';
	o->wish.identities = calloc(data->sources, sizeof(*o->wish.identities));
	o->wish.sampled = calloc(1, sizeof(*o->wish.sampled));
	if (!o->wish.identities || !o->wish.sampled)
		return error_no_memory(e, NULL);
	*o->wish.sampled = data->sampled;
	return 0;
}

static int receive_place(struct opening *o, const char *path, struct error *e)
{
	struct index_places *places = &o->wish.places;

	places->paths[places->count] = strdup(path);
	if (!places->paths[places->count])
		return error_no_memory(e, NULL);
	places->count++;
	return 0;
}

static int receive_source(struct source_set *set, const struct opener_item *item,
			  struct error *e)
{
	const struct source_item *data = item->data;

	return source_set_receive(set, item->text, item->fd, &data->info,
				  item->kind == KIND_PART, e);
}

static int receive_packed_file(struct opening *o, const struct opener_item *item,
			       struct error *e)
{
	const struct source_item *data = item->data;

	o->wish.identities[o->sources.count] = data->identity;
	return receive_source(&o->sources, item, e);
}

static int opening_receive_index(struct opening *o, const struct opener_item *item,
				 struct error *e)
{
	const uid_t *owner = item->data;

	o->index_path = strdup(item->text);
	if (!o->index_path)
		return error_no_memory(e, NULL);
	return index_open_memory(item->fd, *owner, item->text, &o->index, e);
}

static bool is_spool_item(const struct opening *o, const struct spool_item *item)
{
	return item->number < o->spool.count && o->spool.files[item->number].fd < 0 &&
	       o->spool.files[item->number].compressed &&
	       memchr(item->file.ending, '\0', sizeof(item->file.ending));
}

static int receive_spool(struct opening *o, const struct opener_item *item, struct error *e)
{
	const struct spool_item *data = item->data;
	struct spool_file *file = &o->spool.files[data->number];

	*file = data->file;
	file->fd = item->fd;
	file->path = strdup(item->text);
	return file->path ? 0 : error_no_memory(e, NULL);
}

/* The child parses the user's files and may be compromised: its messages are input. */
static bool makes_sense(const struct opening *o, const struct opener_item *item)
{
	static const size_t sizes[] = {
		[KIND_WISH] = sizeof(struct wish_item), [KIND_PLACE] = 0,
		[KIND_SOURCE] = sizeof(struct source_item),
		[KIND_PART] = sizeof(struct source_item),
		[KIND_CLASSES] = sizeof(struct source_item),
		[KIND_NAMES] = sizeof(struct source_item),
		[KIND_INDEX] = sizeof(uid_t),
		[KIND_SPOOL] = sizeof(struct spool_item),
	};
	const struct index_wish *wish = &o->wish;

	if (item->kind >= sizeof(sizes) / sizeof(*sizes) || item->size != sizes[item->kind])
		return false;
	switch ((enum opening_kind)item->kind) {
	case KIND_WISH:
		return !wish->identities;
	case KIND_PLACE:
		return wish->places.count < sizeof(wish->places.paths) / sizeof(char *);
	case KIND_SOURCE:
		return item->fd >= 0 && o->sources.count < o->promised;
	case KIND_PART: /* behind a packed file, before the files of options */
		return item->fd >= 0 && o->sources.count && !wish->maps.classes.count &&
		       !wish->maps.names.count;
	case KIND_INDEX:
		return item->fd >= 0 && !o->index && !o->index_path;
	case KIND_SPOOL:
		return item->fd >= 0 && is_spool_item(o, item->data);
	case KIND_CLASSES:
	case KIND_NAMES:
	default:
		return item->fd >= 0;
	}
}

static int opening_receive(void *context, const struct opener_item *item, struct error *e)
{
	struct opening *o = context;

	if (!makes_sense(o, item))
		return error_set(e, ERROR_SYSTEM, EBADMSG,
				 "the process that opens files as the user has sent a "
				 "malformed message");
	switch ((enum opening_kind)item->kind) {
	case KIND_WISH:
		return receive_wish(o, item->data, e);
	case KIND_PLACE:
		return receive_place(o, item->text, e);
	case KIND_SOURCE:
		return receive_packed_file(o, item, e);
	case KIND_PART:
		return receive_source(&o->sources, item, e);
	case KIND_CLASSES:
		return receive_source(&o->wish.maps.classes, item, e);
	case KIND_NAMES:
		return receive_source(&o->wish.maps.names, item, e);
	case KIND_SPOOL:
		return receive_spool(o, item, e);
	case KIND_INDEX:
	default:
		return opening_receive_index(o, item, e);
	}
}

static int send_child(struct opening *o, int (*work)(void *, struct error *),
		      struct error *e)
{
	const struct opener opener = { .work = work, .receive = opening_receive,
				       .context = o };

	return opener_run(o->rights, &opener, e);
}

int opening_begin(struct opening *o, struct error *e)
{
	return o->rights ? send_child(o, begin_as_user, e) : begin_with_rights(o, e);
}

static int begin_spool(struct opening *o, struct error *e)
{
	int err = spool_choose(o->config, &o->sources, &o->spool, e);

	if (err)
		return err;
	return o->rights ? send_child(o, open_spool_as_user, e) : open_spool(o, e);
}

/* Runs the process that unpacks. */
static int write_spool(struct opening *o, struct error *e)
{
	CLEANUP(cleanup_free) int *unpack_to = calloc(o->spool.count, sizeof(*unpack_to));
	int memory, err;

	if (!unpack_to)
		return error_no_memory(e, NULL);
	for (uint32_t i = 0; i < o->spool.count; i++)
		unpack_to[i] = o->spool.files[i].kept ? -1 : o->spool.files[i].fd;
	o->wish.unpack_to = unpack_to;
	err = run_indexer_process(o->config, o->rights, &o->wish, &memory, e);
	o->wish.unpack_to = NULL;
	return err ? err : spool_seal(&o->spool, &o->sources, e);
}

/* Also after an error: what is incomplete is removed. */
static int publish_spool(struct opening *o, int err, struct error *e)
{
	struct error why;
	int failed = o->rights ? send_child(o, publish_spool_as_user, &why) :
				 spool_publish(&o->spool, &why);

	if (failed && !err)
		*e = why;
	return err ? err : failed;
}

int opening_unpack(struct opening *o, struct error *e)
{
	uint32_t replaced;
	bool stay;
	int err = begin_spool(o, e);

	if (!err && spool_is_needed(&o->spool))
		err = publish_spool(o, write_spool(o, e), e);
	if (!err)
		err = spool_replace(&o->spool, &o->sources, &replaced, &stay, e);
	if (err || !replaced)
		return err;
	o->unnamed = !stay;
	err = index_wish_renew(o->config, &o->wish, stay && !o->rights, e);
	return err || !o->wish.places.count ? err : opening_find_index(o, e);
}

int opening_find_index(struct opening *o, struct error *e)
{
	return o->rights ? send_child(o, find_as_user, e) : find_with_rights(o, e);
}

void opening_end(struct opening *o)
{
	index_close(o->index);
	free(o->index_path);
	index_wish_free(&o->wish);
	spool_close(&o->spool);
	source_set_close(&o->sources);
}
