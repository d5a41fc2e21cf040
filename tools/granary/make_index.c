/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * make_index.c: makes an index, and saves it.
 *
 * Of several processes that want the same index, the first one claims its place and makes
 * it; the others wait. The claimant has two processes: the child parses packed files; the
 * parent holds the claim, and reports a crash of the child.
 */
#include "make_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adopt.h"
#include "sandbox_child.h"
#include "checksums.h"
#include "place/index_file.h"
#include "place/index_place.h"
#include "place/stale_index.h"
#include "index_access.h"
#include "indexer/indexer.h"
#include "progress.h"
#include "place/claim.h"
#include "build/index_copy.h"
#include "os/child.h"
#include "os/memory.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "os/sealed.h"
#include "base/size.h"

/*
 * MOST_WAITS: after three claimants have failed (a full disk, a damaged dataset), the
 * processes that wait stop waiting one behind the other.
 */
enum { MOST_WAITS = 3, PATIENCE_MS = 1000 };

/* The state of the wait for a claim. */
struct claim_turn {
	struct opened_places spots;
	struct claim_wait wait;
	struct claim *claim; /* held here; or NULL */
	const char *found;   /* the path of an index that another process made */
	bool in_vain;        /* another process was waited for, without success */
	bool told;           /* a message about the wait was logged */
};

/*
 * The context of both processes. The parent opens the files that the child reads, and
 * takes the index from the memory that the child filled.
 */
struct make_index_making {
	const struct request *request;
	const struct index_wish *wish;
	struct claim_turn *turn;
	struct index *old;    /* an index without checksums, or to adopt; or NULL */
	const char *old_path;
	int memory;           /* a memfd, for the index */
	bool *adopted;        /* shared by both */
};

/* Bytes are the position in the packed files; the count is of entries. */
static void make_index_update_progress(struct progress *p, const void *context)
{
	const struct indexer_progress *counters = context;

	atomic_store(&p->bytes, atomic_load(&counters->position));
	atomic_store(&p->bytes_total, atomic_load(&counters->total));
	atomic_store(&p->count, atomic_load(&counters->entries));
}

static const enum view_kind view_kinds[] = {
	[DATASET_VIEW_AUTO] = VIEW_AUTO, [DATASET_VIEW_TREE] = VIEW_TREE,
	[DATASET_VIEW_CLASS] = VIEW_CLASS, [DATASET_VIEW_ARRAYS] = VIEW_ARRAYS,
};

/* The bytes of classes= and names=, owned. */
struct map_bytes {
	struct indexer_map classes;
	struct indexer_map *names;
	size_t name_count;
};

static void free_maps(struct map_bytes *maps)
{
	free((void *)(uintptr_t)maps->classes.bytes);
	for (size_t i = 0; i < maps->name_count; i++)
		free((void *)(uintptr_t)maps->names[i].bytes);
	free(maps->names);
}

static int load_map(const struct source *source, struct indexer_map *out, struct error *e)
{
	size_t size = (size_t)source_size(source);
	void *bytes = malloc(size);
	int err = bytes ? source_pread(source, bytes, size, 0) : -ENOMEM;

	if (!err) {
		*out = (struct indexer_map){ bytes, size, source_path(source) };
		return 0;
	}
	free(bytes);
	return error_set(e, ERROR_SYSTEM, -err, "%s: cannot be read: %s",
			 source_path(source), strerror(-err));
}

static int load_maps(const struct map_files *files, struct map_bytes *out, struct error *e)
{
	int err = 0;

	out->names = calloc(files->names.count + 1, sizeof(*out->names));
	if (!out->names)
		return error_no_memory(e, NULL);
	if (files->classes.count)
		err = load_map(files->classes.sources[0], &out->classes, e);
	for (uint32_t i = 0; i < files->names.count && !err; i++) {
		err = load_map(files->names.sources[i], &out->names[i], e);
		out->name_count += !err;
	}
	return err;
}

/* `compares`: contents are read, where the archive itself has their checksums. */
static int build(const struct request *request, const struct index_wish *wish, bool compares,
		 struct image *image, struct error *e)
{
	CLEANUP(free_maps) struct map_bytes maps = { 0 };
	struct indexer_progress counters = { 0 };
	struct indexer_config config = {
		.duplicates = (enum duplicates)request->config.duplicates,
		.nested = request->config.nested != NESTED_OFF,
		.nested_npz = request->config.nested == NESTED_NPZ,
		.compares = compares,
		.view = view_kinds[request->config.view],
		.formats = request->config.formats,
		.base = request->config.base,
		.unsaved = wish->places.count == 0,
		.options = wish->shape,
	};
	struct progress progress = {.subject = "indexing",
				    .unit = "entries",
				    .look = make_index_update_progress,
				    .context = &counters,
				    .terminal_only = request->given['m']};
	int err = load_maps(&wish->maps, &maps, e);

	if (err)
		return err;
	config.classes = maps.classes;
	config.names = maps.names;
	config.name_count = maps.name_count;
	memory_return_freed();
	progress_start(&progress, request->quiet);
	err = indexer_run(wish->sources, &config, &counters, image, e);
	progress_stop(&progress);
	return err;
}

int make_index_in_memory(const struct request *request, const struct index_wish *wish,
			 struct index **out, struct error *e)
{
	struct image image = { 0 };
	int err = build(request, wish, true, &image, e);

	if (!err)
		err = checksums_open(&image, out, e);
	image_free(&image);
	return err;
}

/* ---- The child -------------------------------------------------------------- */

/* Indexes of version 0.1 have no identities. */
static int renew_identities(const struct make_index_making *m, struct image *image)
{
	const struct index_wish *wish = m->wish;
	int err = 0;

	if (card_has_identities(index_card(m->old)))
		return 0;
	for (uint32_t i = 0; i < wish->sources->count && !err; i++)
		err = image_add_identity(image, &wish->identities[i]);
	return err;
}

/* Adds checksums to an index that lacks nothing else. -ENOENT: there is none. */
static int make_index_extend(const struct make_index_making *m, struct image *image,
			     struct error *e)
{
	if (!m->old || m->request->given[LETTER_ADOPT] || index_check(m->old, NULL) < 0 ||
	    index_copy(m->old, image) < 0 || renew_identities(m, image) < 0)
		return -ENOENT;
	return checksums_add(m->wish->sources, m->old, image, m->request->quiet, e);
}

static int build_with_checksums(const struct make_index_making *m, struct image *image,
				struct error *e)
{
	int err = make_index_extend(m, image, e);

	if (err != -ENOENT)
		return err;
	image_free(image);
	err = build(m->request, m->wish, m->wish->checksums, image, e);
	return err ? err : checksums_add(m->wish->sources, NULL, image, m->request->quiet, e);
}

static int make_index_make(void *context)
{
	const struct make_index_making *m = context;
	struct image image = { 0 };
	struct error e = { 0 };
	int err = m->wish->checksums ? build_with_checksums(m, &image, &e) :
				       build(m->request, m->wish, m->wish->checksums, &image, &e);

	if (!err && m->request->given[LETTER_ADOPT] && m->old)
		*m->adopted = adopt_holds(m->wish, &image, m->old, m->old_path);
	if (!err)
		err = image_move(&image, m->memory, "the index in memory", &e);
	image_free(&image);
	return err ? report_error(&e) : 0;
}

/* The parent keeps the claim. */
static void detach_claim(void *context)
{
	const struct make_index_making *m = context;

	claim_detach_child(m->turn->claim);
}

/* ---- The parent ------------------------------------------------------------- */

/* Checksums that are there do not go without a word. */
static int spare_checksums(const struct index_wish *wish, const char *path, bool force,
			   struct error *e)
{
	char sources[INDEX_SOURCES_BYTES];

	if (!stale_index_is_at(path))
		return 0;
	index_sources_text(wish, sources);
	if (!force)
		return error_set(e, ERROR_DATASET, EEXIST,
				 "%s: it has checksums, does not fit the packed files as they are, "
				 "and is not replaced; if they are copies: granary index --adopt "
				 "--output '%s' %s; if they were changed, the same with --force "
				 "--checksums for --adopt", path, path, sources);
	log_warn("%s: its checksums of the files are gone; to have them again: granary index "
		 "--checksums", path);
	return 0;
}

/* Warns where the index could not be written beside the packed file. */
static void make_index_print_place(const char *path, const struct error *first)
{
	if (*first->text)
		log_warn("the index is %s, in this user's cache, for beside the packed file it "
			 "cannot be: %s", path, first->text);
}

/* Warns where an index of a set with checksums is not used for a part of the set. */
static void print_set(const struct index_wish *wish)
{
	CLEANUP(cleanup_free) char *set = wish->checksums ? NULL :
		stale_index_find_set(wish);

	if (set)
		log_warn("the index that is made of '%s' has no checksums, but %s, of a set that it "
			 "is in, has some; for this one, too: granary index --checksums",
			 source_path(wish->sources->sources[0]), set);
}

static int publish_at(struct opened_places *spots, unsigned i, const struct image *image,
		      bool force, struct error *e)
{
	const struct index_wish *wish = spots->wish;
	const struct image_access access = index_access(wish->sources);
	const struct place *place;
	int err = opened_places_get(spots, i, &place, e);

	if (!err && wish->places.named)
		err = image_may_replace(place, e);
	if (!err && !wish->checksums)
		err = spare_checksums(wish, place_path(place), force, e);
	return err ? err : image_publish(image, place, &access, e);
}

/* Writes to the first place that allows it: its path, or NULL and the last error. */
static const char *make_index_publish(struct opened_places *spots,
				      const struct image *image, bool force,
				      struct error *e)
{
	const struct index_places *places = &spots->wish->places;
	struct error first = { 0 };

	error_set(e, ERROR_SYSTEM, EROFS, "there is no place for an index");
	for (unsigned i = 0; i < places->count; i++) {
		if (publish_at(spots, i, image, force, e) == 0) {
			make_index_print_place(places->paths[i], &first);
			return places->paths[i];
		}
		log_debug("%s", e->text);
		first = i == 0 ? *e : first;
	}
	return NULL;
}

/*
 * For granaryfs: saves the index, or hands it over in memory. At once in memory after a
 * wait in vain: processes that waited would otherwise all save it together.
 */
static int make_index_hand_over(struct claim_turn *turn, const struct image *image,
				const char *number, struct error *e)
{
	const struct index_wish *wish = turn->spots.wish;
	struct index_wish saved = *wish;
	struct index *index;
	const char *path;
	bool save = !turn->in_vain || wish->places.named;

	saved.quiet = true; /* granaryfs has logged why others do not fit */
	/* an index that gets another owner there (root squash) could not be used */
	if (save && make_index_publish(&turn->spots, image, false, e) &&
	    index_find(&saved, &index, &path) == 0) {
		index_close(index);
		return 0;
	}
	if (wish->places.named)
		return -EROFS; /* the user named the place, and gets the error */
	return image_write(image, (int)strtol(number, NULL, 10), "the index in memory", e);
}

void print_index_report(const struct request *request, const char *path,
			enum index_origin origin)
{
	static const char *const words[] = {
		[INDEX_FOUND] = "is up to date", [INDEX_BUILT] = "written",
		[INDEX_ADOPTED] = "adopted: the packed files hold what it says",
	};
	struct error e;
	struct index *index;
	struct index_summary summary;
	struct json json = { .out = stdout };
	char files[SIZE_TEXT_BYTES], bytes[SIZE_TEXT_BYTES];

	if (request->quiet || request->part || index_open(path, &index, &e) < 0)
		return;
	if (request->json) {
		json_open(&json, NULL, '{');
		json_text(&json, "index", path);
		json_bool(&json, "built", origin == INDEX_BUILT);
		json_bool(&json, "adopted", origin == INDEX_ADOPTED);
		json_uint(&json, "bytes", index_size(index));
		json_bool(&json, "checksums", index_has_sums(index));
		json_close(&json, '}');
		putchar('\n');
	} else if (index_summary(index, &summary) == 0)
		printf("%s %s: %s files, %s%s\n", path, words[origin],
		       count_text(summary.files, files),
		       size_text(index_size(index), bytes),
		       index_has_sums(index) ? ", with checksums" : "");
	index_close(index);
}

/* Reads and checks the child's index like any other file. */
static int make_index_receive_image(struct make_index_making *m, struct image *image,
				    struct error *e)
{
	struct index *index;
	int err = sealed_make(m->memory);

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "memfd: %s", strerror(-err));
	err = index_open_memory(m->memory, geteuid(), "the index in memory", &index, e);
	m->memory = -1;
	if (err)
		return err;
	err = index_copy(index, image);
	index_close(index);
	return err ? error_set(e, ERROR_SYSTEM, -err, "the index in memory: %s",
			       strerror(-err)) : 0;
}

/* Saves the index, or hands it to granaryfs: an exit status. */
static int deliver(struct make_index_making *m)
{
	const struct request *request = m->request;
	struct image image = { 0 };
	struct error e = { 0 };
	const char *path = NULL;
	/* here, for a FUSE filesystem of the caller's answers the caller only */
	int err = source_set_check_unchanged(m->wish->sources, "index", &e);

	if (!err)
		err = make_index_receive_image(m, &image, &e);
	if (!err)
		print_set(m->wish);
	if (!err && request->given['m']) {
		err = make_index_hand_over(m->turn, &image, request->value['m'], &e);
	} else if (!err) {
		path = make_index_publish(&m->turn->spots, &image, request->given['f'],
					  &e);
		err = path ? 0 : -EROFS;
	}
	image_free(&image);
	if (err)
		return report_error(&e);
	if (path)
		print_index_report(request, path, *m->adopted ? INDEX_ADOPTED :
				   INDEX_BUILT);
	return 0;
}

/* Waits for the child and keeps the claim fresh. A crash is reported. */
static int wait_for_child(void *context, pid_t child)
{
	const struct make_index_making *m = context;
	const struct source_set *sources = m->wish->sources;
	struct error e = { 0 };
	int status;
	bool ended = m->turn->claim &&
		     claim_wait_child(m->turn->claim, child, CLAIM_TOUCH_MS,
				      &status) == 0;

	if ((!ended && child_wait(child, &status, &e) < 0) ||
	    child_indexer_died(status, source_path(sources->sources[0]), sources->count - 1,
			       &e) < 0)
		return report_error(&e);
	if (WEXITSTATUS(status))
		report_json_is_printed();
	return WEXITSTATUS(status);
}

/* Opens the old index for the child, which opens no file by name. */
static void find_old(struct make_index_making *m)
{
	struct index_wish any = *m->wish;

	any.checksums = any.blocks = false;
	any.quiet = true;
	if (m->request->given[LETTER_ADOPT]) {
		m->old = adopt_load(m->wish, &m->old_path);
	} else if (m->wish->checksums && !m->request->given['f']) {
		if (index_find(&any, &m->old, &m->old_path) < 0)
			m->old = NULL;
	}
}

static int make_in_sandbox(struct make_index_making *m)
{
	int status = sandbox_child_run(&(struct sandbox_child){.request = m->request,
						       .sources = m->wish->sources,
						       .begin = detach_claim,
						       .work = make_index_make,
						       .wait = wait_for_child,
						       .context = m});

	return status ? status : deliver(m);
}

static int begin_making(struct make_index_making *m, struct error *e)
{
	m->memory = memfd_create("granary index", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->memory < 0)
		return error_set(e, ERROR_SYSTEM, errno, "memfd_create: %s", strerror(errno));
	m->adopted = mmap(NULL, sizeof(*m->adopted), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (m->adopted == MAP_FAILED)
		return error_no_memory(e, NULL);
	find_old(m);
	return 0;
}

static int make_for_all(const struct request *request, const struct index_wish *wish,
			struct claim_turn *turn)
{
	struct make_index_making m = {.request = request,
				      .wish = wish,
				      .turn = turn,
				      .memory = -1,
				      .adopted = MAP_FAILED};
	struct error e = { 0 };
	int status = begin_making(&m, &e) < 0 ? report_error(&e) : make_in_sandbox(&m);

	index_close(m.old);
	if (m.memory >= 0)
		close(m.memory);
	if (m.adopted != MAP_FAILED)
		munmap(m.adopted, sizeof(*m.adopted));
	return status;
}

/* Has another process made the index meanwhile? Does not log why others do not fit. */
static bool make_index_exists(struct claim_turn *turn)
{
	struct index_wish again = *turn->spots.wish;
	struct index *index;

	again.quiet = true;
	if (index_find(&again, &index, &turn->found) < 0)
		return false;
	index_close(index);
	return true;
}

/* Waits for the claimant; logs it after PATIENCE_MS. */
static int wait_for_another(const struct place *place, struct claim_turn *turn)
{
	struct claim_wait moment = turn->wait;
	char owner[CLAIM_OWNER_BYTES];
	int err;

	if (!turn->told && moment.most_ms > PATIENCE_MS) {
		moment.most_ms = PATIENCE_MS;
		err = claim_await(place, &moment);
		turn->wait.most_ms -= PATIENCE_MS - moment.most_ms;
		if (err != -ETIMEDOUT)
			return err;
		log_warn("%s is indexing '%s'; waiting for that, %u minutes at most",
			 claim_owner(place, owner),
			 source_path(turn->spots.wish->sources->sources[0]),
			 (turn->wait.most_ms + 59999) / 60000);
		turn->told = true;
	}
	return claim_await(place, &turn->wait);
}

/* The index of a user who is not trusted would not be used: do not wait for it. */
static bool is_strangers(const struct place *place, struct claim_turn *turn)
{
	return claim_uid(place, &turn->wait.uid) == 0 &&
	       !index_owner_is_allowed(turn->spots.wish, turn->wait.uid);
}

/* 0: claimed, found or given up waiting; or why this place cannot be claimed. */
static int claim_place(const struct place *place, bool force, struct claim_turn *turn)
{
	unsigned waits = 0;
	int err;

	while ((err = claim_acquire(place, &turn->claim)) == -EEXIST && !force) {
		if (is_strangers(place, turn))
			return -EPERM;
		err = waits++ < MOST_WAITS ? wait_for_another(place, turn) : -ETIMEDOUT;
		turn->in_vain = err == -ETIMEDOUT;
		if (turn->in_vain)
			return 0;
		if (err || make_index_exists(turn))
			return err;
	}
	return err == -EEXIST ? 0 : err;
}

/* Claims a place or waits. Without a place to claim, each process makes its own index. */
static void await_claim(struct claim_turn *turn, bool force)
{
	const struct index_wish *wish = turn->spots.wish;
	const struct place *place;
	struct error e;

	for (unsigned i = 0; i < wish->places.count; i++) {
		if (opened_places_get(&turn->spots, i, &place, &e) < 0)
			log_debug("%s", e.text);
		else if (claim_place(place, force, turn) == 0)
			break;
	}
	/* another process may have published one before the claim was taken */
	if (turn->claim && !force)
		make_index_exists(turn);
	if (turn->in_vain)
		log_warn("the index of '%s' was waited for in vain: it is made here as well",
			 source_path(wish->sources->sources[0]));
}

int make_index(const struct request *request, const struct index_wish *wish)
{
	struct claim_turn turn = { .spots = { .wish = wish }, .wait = CLAIM_WAIT_INIT };
	int status = 0;

	await_claim(&turn, request->given['f']);
	if (!turn.found)
		status = make_for_all(request, turn.spots.wish, &turn);
	else if (!request->given['m'])
		print_index_report(request, turn.found, INDEX_FOUND);
	claim_release(turn.claim);
	opened_places_close(&turn.spots);
	return status;
}
