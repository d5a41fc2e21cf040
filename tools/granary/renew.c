/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "renew.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt.h"
#include "base/cleanup.h"
#include "base/filename.h"
#include "base/json.h"
#include "base/log.h"
#include "build/image.h"
#include "build/index_copy.h"
#include "make_index.h"
#include "os/place.h"
#include "place/find.h"

static const char suffix[] = ".gidx";

struct tally {
	uint64_t renewed;
	uint64_t current; /* needed no change */
	uint64_t left;    /* not renewed, with a warning */
};

/* ---- The packed files of an index ---- */

/*
 * The directory may be a stranger's, and a link there may lead to what only root may
 * read, of which the index would then hold digests.
 */
static int open_as_root(const char *path, const struct source *index, struct source **out,
			struct error *e)
{
	const struct source_id *id = &source_info(index)->id;
	struct place *place;
	int fd,
		err = place_open_sibling(path, filename_of(source_path(index)),
					 id->device, id->inode, &place, e);

	if (err)
		return err;
	fd = place_read(place, "");
	place_close(place);
	if (fd == -ELOOP)
		return error_set(e, ERROR_SYSTEM, ELOOP,
				 "'%s' is a symbolic link, which root does not follow there: the "
				 "owner of the directory can renew the index", path);
	if (fd < 0)
		return error_set(e, ERROR_SYSTEM, -fd, "'%s': %s", path, strerror(-fd));
	return source_adopt(path, fd, out, e);
}

static int open_packed(const char *path, const struct source *index, struct source **out,
		       struct error *e)
{
	return geteuid() == 0 ? open_as_root(path, index, out, e) : source_open(path, out, e);
}

/* One that has got another name, with its index. */
static int open_by_index(const struct source *index, struct source **out, struct error *e)
{
	const char *path = source_path(index);
	CLEANUP(cleanup_free) char *name = strndup(path, strlen(path) - strlen(suffix));

	return name ? open_packed(name, index, out, e) :
		      error_no_memory(e, NULL);
}

static int renew_open_sibling(const struct source *index, const char *name,
			      struct source **out, struct error *e)
{
	const char *path = source_path(index);
	CLEANUP(cleanup_free) char *beside = NULL;

	if (asprintf(&beside, "%.*s%s", (int)(filename_of(path) - path), path, name) < 0)
		return error_no_memory(e, NULL);
	return open_packed(beside, index, out, e);
}

/* In the order in which they were indexed. The caller closes the set, also after an error. */
static int renew_open_sources(const struct index_file *file, struct source_set *set,
			      struct error *e)
{
	const struct source *index = index_file_source(file);
	const struct card *card = index_file_card(file);
	const struct card_source *was;
	uint32_t count = 0;
	int err = 0;

	while (card_source(card, count))
		count++;
	set->sources = calloc(count + 1, sizeof(*set->sources));
	if (!set->sources)
		return error_no_memory(e, NULL);
	if (count == 1 && open_by_index(index, set->sources, NULL) == 0)
		set->count = 1;
	while (!err && set->count < count && (was = card_source(card, set->count))) {
		err = renew_open_sibling(index, was->name, &set->sources[set->count], e);
		set->count += !err;
	}
	return err;
}

static int renew_make_wish(const struct index_file *file, struct source_set *set,
			   struct index_wish *wish, struct error *e)
{
	int err = renew_open_sources(file, set, e);

	if (err)
		return err;
	wish->sources = set;
	snprintf(wish->shape, sizeof(wish->shape), "%s", card_summary(index_file_card(file))->options);
	wish->identities = calloc(set->count + 1, sizeof(*wish->identities));
	if (!wish->identities)
		return error_no_memory(e, NULL);
	return source_set_identify(set, wish->identities, e);
}

/* ---- One index ---- */

/* Replaces the index that was opened, with the rights of its owner. */
static int replace_index(const struct image *image, const struct source *source,
			 struct error *e)
{
	const struct source_owner *owner = source_owner(source);
	const struct image_access access = { owner->mode, owner->uid, owner->gid };
	const struct source_id *id = &source_info(source)->id;
	struct place *place;
	int err = place_open_sibling(source_path(source),
				     filename_of(source_path(source)),
				     id->device, id->inode, &place, e);

	if (err)
		return err;
	if (place_uid(place) == owner->uid)
		place_set_ids(place, owner->uid, owner->gid);
	err = image_publish(image, place, &access, e);
	place_close(place);
	return err;
}

/* Keeps the owner and the permissions. */
static int renew_publish(const struct index_wish *wish, const struct index *index,
			 const struct index_file *file, struct error *e)
{
	struct image image;
	int err = index_copy(index, &image);

	for (uint32_t i = 0; i < wish->sources->count && !err; i++)
		err = image_add_identity(&image, &wish->identities[i]);
	if (err)
		error_set(e, ERROR_SYSTEM, -err, "%s", strerror(-err));
	else
		err = replace_index(&image, index_file_source(file), e);
	image_free(&image);
	return err;
}

/* Loads a sealed copy, and checks that before it is published. */
static int republish(const struct index_wish *wish, const struct index_file *file,
		     struct error *e)
{
	struct index *index;
	int err = index_file_load(file, &index, e);

	if (err)
		return err;
	err = index_fits(wish, index_card(index), file, e);
	if (!err)
		err = renew_publish(wish, index, file, e);
	index_close(index);
	return err;
}

/* An index of another owner is refused: users may not accept this user's index. */
static int check_owner(const struct card *card, struct error *e)
{
	if (geteuid() == 0 || card_owner(card) == geteuid())
		return 0;
	return error_set(e, ERROR_SYSTEM, EPERM,
			 "it belongs to uid %u: that user or root can renew it",
			 (unsigned)card_owner(card));
}

static int renew_file(const struct index_file *file, struct error *e)
{
	const struct card *card = index_file_card(file);
	struct source_set set = { 0 };
	struct index_wish wish = { 0 };
	int err = check_owner(card, e);

	if (!err)
		err = renew_make_wish(file, &set, &wish, e);
	if (!err)
		err = index_fits(&wish, card, file, e);
	if (!err)
		err = republish(&wish, file, e);
	index_wish_free(&wish);
	source_set_close(&set);
	return err;
}

/*
 * The packed file and its index have another name. A comparison shows whether the index is
 * of that file; otherwise it is made anew. Only an index that was made without options: no
 * index says all of those that it was made with.
 */
static bool adopt_renamed(const struct request *request, const struct index_file *file)
{
	struct request one = *request;
	struct source_set set = { 0 };
	struct index_wish wish = { 0 };
	struct error e;
	bool done = renew_open_sources(file, &set, &e) == 0 &&
		    index_wish_make(&request->config, &set, &wish, &e) == 0 &&
		    index_has_owner_and_options(&wish, index_file_card(file)) &&
		    adopt_find(&wish);

	one.json = false;
	one.quiet = true;
	done = done && make_index(&one, &wish) == 0;
	index_wish_free(&wish);
	source_set_close(&set);
	return done;
}

/* Under another name nothing but a comparison shows that the index is theirs. */
static void report_left(const char *path, int err, const struct error *e)
{
	int length = (int)(strlen(path) - strlen(suffix));

	if (err == -EXDEV)
		log_warn("not renewed: %s: %s; if both were renamed: granary index --adopt '%.*s', "
			 "or --renew --adopt for all",
			 path, e->text, length, path);
	else
		log_warn("not renewed: %s: %s", path, e->text);
}

static void renew_inspect(const struct request *request, const char *path,
			  struct tally *tally)
{
	struct index_file *file;
	struct error e;
	int err = index_file_open(path, &file, &e);

	if (err) {
		log_warn("not renewed: %s", e.text);
		tally->left++;
		return;
	}
	if (card_has_identities(index_file_card(file))) {
		tally->current++;
	} else if ((err = renew_file(file, &e)) == 0 ||
		   (err == -EXDEV && request->given[LETTER_ADOPT] &&
		    adopt_renamed(request, file))) {
		tally->renewed++;
		if (!request->json && !request->quiet)
			printf("%s renewed\n", path);
	} else {
		report_left(path, err, &e);
		tally->left++;
	}
	index_file_close(file);
}

/* ---- All below some directories ---- */

static bool is_index_name(const char *name)
{
	size_t n = strlen(name), end = strlen(suffix);

	return n > end && strcmp(name + n - end, suffix) == 0;
}

static int renew_walk(const struct request *request, FTS *tree, struct tally *tally,
		      struct error *e)
{
	FTSENT *entry;

	while ((errno = 0, entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F && is_index_name(entry->fts_name))
			renew_inspect(request, entry->fts_path, tally);
		else if (entry->fts_level == FTS_ROOTLEVEL && entry->fts_info == FTS_NS)
			return error_set(e, ERROR_SYSTEM, entry->fts_errno, "'%s': %s",
					 entry->fts_path, strerror(entry->fts_errno));
		else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS)
			log_warn("'%s' is not looked at: %s", entry->fts_path,
				 strerror(entry->fts_errno));
	}
	return errno ? error_set(e, ERROR_SYSTEM, errno, "%s", strerror(errno)) : 0;
}

static void renew_report(const struct request *request, const struct tally *tally)
{
	struct json json = { .out = stdout };

	if (!request->json) {
		if (!request->quiet)
			printf("%" PRIu64 " renewed, %" PRIu64 " were of this version, %" PRIu64
			       " are as they were\n", tally->renewed, tally->current,
			       tally->left);
		return;
	}
	json_open(&json, NULL, '{');
	json_uint(&json, "renewed", tally->renewed);
	json_uint(&json, "current", tally->current);
	json_uint(&json, "left", tally->left);
	json_close(&json, '}');
	putchar('\n');
}

int renew(const struct request *request)
{
	FTS *tree = fts_open(request->arguments, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
			     NULL);
	struct tally tally = { 0 };
	struct error e = { 0 };
	int err;

	if (!tree)
		return report_error(&(struct error){ ERROR_SYSTEM, "out of memory" });
	umask(0); /* each index keeps its permissions */
	err = renew_walk(request, tree, &tally, &e);
	fts_close(tree);
	if (err)
		return report_error(&e);
	renew_report(request, &tally);
	return tally.left ? ERROR_DATASET : finish_output();
}
