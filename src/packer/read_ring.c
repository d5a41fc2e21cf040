/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_ring.c: a ring of slots, one a piece. Pieces are numbered in the order in which
 * the caller gets them; piece n lies in slot n modulo the number of slots. Threads claim
 * the next numbers while there are free slots and the byte limits allow.
 *
 * Waking a thread costs as much as reading a small file. So threads claim and return
 * small pieces in batches, and a thread that waits for room is woken when half of it is
 * free. Memory is reused at once, the latest first, while it is in the processor's cache.
 */
#include "packer/read_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "os/lock.h"
#include "os/pool.h"
#include "os/whole.h"
#include "packer/decoders.h"

enum {
	SLOTS_A_THREAD = 16,
	BYTES_A_THREAD = 2 << 20, /* of pieces claimed and not yet released */
	BATCH_MOST = 16,
	BATCH_BYTES = 128 << 10,
	IMAGE_MOST = 512 << 20,
};

struct read_ring_memory {
	void *bytes;
	size_t room;
};

struct read_ring_batch {
	struct slot *slots[BATCH_MOST];
	unsigned count;
	size_t bytes;
};

struct slot {
	struct read_ring_piece piece;
	struct read_ring_memory memory;
	struct pixels pixels;
	uint64_t reserved;    /* of the reader's memory */
	size_t counted;       /* of the reader's bytes */
	struct arena arena;   /* xattrs */
	bool ready;           /* lock */
};

struct read_ring {
	struct lock lock;
	struct wakeup ready;  /* the next piece is read */
	struct wakeup room;   /* a slot or memory is free, or all shall end */
	const struct pack_scan *scan;
	struct decoders *decoders;
	const struct plan_item *items;
	size_t count;
	size_t item;          /* lock: of the next piece to claim */
	uint64_t offset;      /* lock: where that piece begins */
	uint64_t taken;       /* lock: pieces that threads have claimed */
	uint64_t given;       /* lock: pieces that the caller has released */
	bool held;            /* the caller has the piece `given` */
	bool stopping;        /* lock */
	uint64_t bytes;       /* lock: of pieces from given to taken, no images */
	uint64_t bytes_most;
	VEC(struct read_ring_memory) idle; /* lock: buffers without a piece */
	unsigned waiting;     /* lock: threads that wait for room */
	uint64_t memory;      /* lock: of decoded images, bytes */
	unsigned reserving;   /* lock: threads that wait for memory */
	unsigned workers;
	struct pool *pool;
	size_t slot_count;
	struct slot slots[];
};

bool read_ring_has_contents(const struct plan_item *item)
{
	return item->kind == PACK_FILE && !item->is_label;
}

/* An image to decode is one piece. */
static bool read_ring_is_whole(const struct plan_item *item)
{
	return item->decoded && item->source->size <= IMAGE_MOST;
}

/* Lock held. Advances to the next item to read; false at the end. */
static bool read_ring_find_item(struct read_ring *r)
{
	while (r->item < r->count && !read_ring_has_contents(&r->items[r->item]))
		r->item++;
	return r->item < r->count;
}

/* Lock held. Claims the next piece and its slot. */
static struct slot *claim_piece(struct read_ring *r)
{
	const struct plan_item *item = &r->items[r->item];
	struct slot *slot = &r->slots[r->taken++ % r->slot_count];
	uint64_t left = item->source->size - r->offset;
	bool last = read_ring_is_whole(item) || left <= READ_RING_PIECE;

	slot->ready = false;
	slot->piece = (struct read_ring_piece){
		.item = item, .offset = r->offset, .last = last,
		.wanted = last ? (size_t)left : READ_RING_PIECE,
	};
	slot->counted = read_ring_is_whole(item) ? 0 : slot->piece.wanted;
	r->bytes += slot->counted;
	if (r->idle.count)
		slot->memory = r->idle.items[--r->idle.count];
	r->offset += slot->piece.wanted;
	if (last) {
		r->item++;
		r->offset = 0;
	}
	return slot;
}

static bool has_room(const struct read_ring *r)
{
	return r->taken - r->given < r->slot_count && r->bytes < r->bytes_most;
}

/* Lock held. Claims a batch of small pieces, or one image. */
static void fill_batch(struct read_ring *r, struct read_ring_batch *batch)
{
	while (batch->count < BATCH_MOST && batch->bytes < BATCH_BYTES &&
	       read_ring_find_item(r) && has_room(r)) {
		bool whole = read_ring_is_whole(&r->items[r->item]);

		if (whole && batch->count)
			return;
		batch->slots[batch->count] = claim_piece(r);
		batch->bytes += batch->slots[batch->count++]->piece.wanted;
		if (whole)
			return;
	}
}

/* Waits for room and claims a batch: false when nothing is left to read. */
static bool claim_batch(struct read_ring *r, struct read_ring_batch *batch)
{
	*batch = (struct read_ring_batch){ 0 };
	LOCK_GUARD(&r->lock);
	r->waiting++;
	while (!r->stopping && read_ring_find_item(r) && !has_room(r))
		wakeup_wait(&r->room, &r->lock);
	r->waiting--;
	if (!r->stopping)
		fill_batch(r, batch);
	return batch->count;
}

static bool is_next(const struct read_ring *r, const struct slot *slot)
{
	return slot == &r->slots[r->given % r->slot_count];
}

static void hand_in(struct read_ring *r, const struct read_ring_batch *batch)
{
	LOCK_GUARD(&r->lock);
	for (unsigned i = 0; i < batch->count; i++)
		batch->slots[i]->ready = true;
	if (is_next(r, batch->slots[0]))
		wakeup_one(&r->ready);
}

static int read_ring_make_room(struct read_ring_memory *memory, size_t size)
{
	if (size <= memory->room)
		return 0;
	free(memory->bytes);
	memory->room = size < 65536 ? 65536 : size;
	memory->bytes = malloc(memory->room);
	if (!memory->bytes)
		memory->room = 0;
	return memory->bytes ? 0 : -ENOMEM;
}

static bool read_ring_is_same(const struct pack_scan_entry *source, const struct stat *st)
{
	return S_ISREG(st->st_mode) && (uint64_t)st->st_size == source->size &&
	       st->st_mtim.tv_sec == source->mtime &&
	       (uint32_t)st->st_mtim.tv_nsec == source->mtime_ns;
}

static int read_open(struct slot *slot, int fd)
{
	struct read_ring_piece *piece = &slot->piece;
	struct stat before, after;
	ssize_t n = 0;
	int err = 0;

	if (fstat(fd, &before) < 0)
		return -errno;
	if (piece->offset == 0)
		err = pack_scan_xattrs(fd, &slot->arena, &piece->xattrs,
				       &piece->xattr_count);
	if (!err)
		n = read_whole_at(fd, slot->memory.bytes, piece->wanted, piece->offset);
	if (n < 0)
		err = (int)n;
	else
		piece->length = (size_t)n; /* less if the file was cut: seen below */
	if (!err && fstat(fd, &after) < 0)
		err = -errno;
	if (!err)
		piece->changed = !read_ring_is_same(piece->item->source, &before) ||
				 !read_ring_is_same(piece->item->source, &after) ||
				 piece->length < piece->wanted;
	return err;
}

static void read_file(struct read_ring *r, struct slot *slot)
{
	struct read_ring_piece *piece = &slot->piece;
	/* an open must not wait for a file that became a FIFO */
	CLEANUP(cleanup_close) int fd = pack_scan_open(r->scan->root,
						       piece->item->source->path,
						       O_RDONLY | O_NONBLOCK | O_NOCTTY);

	piece->where = fd < 0 ? "opened" : "read";
	piece->err = fd < 0 ? fd : read_ring_make_room(&slot->memory, piece->wanted);
	if (!piece->err)
		piece->err = read_open(slot, fd);
}

static void read_input(const struct pack_input *input, struct slot *slot)
{
	struct read_ring_piece *piece = &slot->piece;
	const struct pack_scan_entry *source = piece->item->source;

	piece->where = "read";
	piece->err = read_ring_make_room(&slot->memory, piece->wanted);
	if (!piece->err && piece->wanted)
		piece->err = input->read(input->context, source, slot->memory.bytes,
					 piece->wanted, piece->offset);
	piece->length = piece->err ? 0 : piece->wanted;
	piece->xattrs = source->xattrs;
	piece->xattr_count = source->xattr_count;
}

static void read_ring_read_piece(struct read_ring *r, struct slot *slot)
{
	if (r->scan->input)
		read_input(r->scan->input, slot);
	else
		read_file(r, slot);
	slot->piece.bytes = slot->memory.bytes;
}

/* Waits for `bytes` of memory; the next piece never waits. False: the reader stops. */
static bool reserve(struct read_ring *r, struct slot *slot, uint64_t bytes)
{
	LOCK_GUARD(&r->lock);
	r->reserving++;
	while (!r->stopping && !is_next(r, slot) && r->memory + bytes > READ_RING_MEMORY)
		wakeup_wait(&r->room, &r->lock);
	r->reserving--;
	r->memory += bytes;
	slot->reserved += bytes;
	return !r->stopping;
}

/* A damaged image, or a file that is none, is packed as it is, with its damage noted. */
static void decode_piece(struct read_ring *r, struct slot *slot)
{
	struct read_ring_piece *piece = &slot->piece;
	uint64_t size;

	if (piece->err || piece->changed ||
	    !decoders_measure(r->decoders, piece->bytes, piece->length, &size,
			      &piece->damage) ||
	    !reserve(r, slot, size) ||
	    decoders_decode(r->decoders, piece->bytes, piece->length, size, &slot->pixels,
			    &piece->damage) < 0)
		return;
	piece->bytes = slot->pixels.bytes;
	piece->length = piece->wanted = slot->pixels.size;
	piece->decoded = true;
}

static void read_slot(struct read_ring *r, struct slot *slot)
{
	if (!read_ring_is_whole(slot->piece.item)) {
		read_ring_read_piece(r, slot);
	} else if (reserve(r, slot, slot->piece.wanted)) {
		read_ring_read_piece(r, slot);
		decode_piece(r, slot);
	}
}

static void read_pieces(void *argument)
{
	struct read_ring *r = argument;
	struct read_ring_batch batch;

	while (claim_batch(r, &batch)) {
		for (unsigned i = 0; i < batch.count; i++)
			read_slot(r, batch.slots[i]);
		hand_in(r, &batch);
	}
}

/* Keeps a buffer for reuse, unless it is larger than READ_RING_PIECE. */
static void clear_slot(struct slot *slot)
{
	if (slot->memory.room > READ_RING_PIECE) {
		free(slot->memory.bytes);
		slot->memory = (struct read_ring_memory){ 0 };
	}
	pixels_free(&slot->pixels);
	arena_free(&slot->arena);
	slot->arena = (struct arena){ 0 };
}

int read_ring_start(struct read_ring **out, const struct pack_scan *scan,
		    const struct plan_item *items, size_t count,
		    struct decoders *decoders, unsigned threads)
{
	size_t slots = (size_t)SLOTS_A_THREAD * (threads ? threads : 1);
	struct read_ring *r = calloc(1, sizeof(*r) + slots * sizeof(r->slots[0]));
	int err;

	if (!r)
		return -ENOMEM;
	r->lock = (struct lock)LOCK_INIT;
	r->ready = r->room = (struct wakeup)WAKEUP_INIT;
	r->scan = scan;
	r->decoders = decoders;
	r->items = items;
	r->count = count;
	r->slot_count = slots;
	r->bytes_most = (uint64_t)BYTES_A_THREAD * (threads ? threads : 1);
	err = vec_reserve(&r->idle, slots);
	if (!err)
		err = pool_start(&r->pool, threads);
	if (err) {
		vec_free(&r->idle);
		free(r);
		return err;
	}
	*out = r;
	for (unsigned i = 0; i < pool_threads(r->pool) && !err; i++) {
		err = pool_add(r->pool, read_pieces, r);
		r->workers += !err;
	}
	if (r->workers)
		return 0;
	read_ring_stop(r);
	return err;
}

/* Lock held. Wakes waiting threads, but not for every small piece. */
static void wake_readers(struct read_ring *r)
{
	/* a thread that waits for memory may have the next piece now */
	if (r->reserving)
		wakeup_all(&r->room);
	else if (r->waiting && r->taken - r->given <= r->slot_count / 2 &&
		 r->bytes <= r->bytes_most / 2)
		wakeup_one(&r->room);
}

/* Releases the piece that the caller had. */
static void release_piece(struct read_ring *r)
{
	struct slot *slot = &r->slots[r->given % r->slot_count];

	clear_slot(slot);
	LOCK_GUARD(&r->lock);
	if (slot->memory.bytes)
		r->idle.items[r->idle.count++] = slot->memory;
	slot->memory = (struct read_ring_memory){ 0 };
	r->memory -= slot->reserved;
	slot->reserved = 0;
	r->bytes -= slot->counted;
	r->given++;
	r->held = false;
	wake_readers(r);
}

const struct read_ring_piece *read_ring_next(struct read_ring *r)
{
	struct slot *slot;

	if (r->held)
		release_piece(r);
	LOCK_GUARD(&r->lock);
	if (r->given == r->taken && !read_ring_find_item(r))
		return NULL;
	slot = &r->slots[r->given % r->slot_count];
	while (r->given == r->taken || !slot->ready)
		wakeup_wait(&r->ready, &r->lock);
	r->held = true;
	return &slot->piece;
}

static void stop_workers(struct read_ring *r)
{
	LOCK_GUARD(&r->lock);
	r->stopping = true;
	wakeup_all(&r->room);
}

void read_ring_stop(struct read_ring *r)
{
	if (!r)
		return;
	stop_workers(r);
	pool_finish(r->pool);
	for (size_t i = 0; i < r->slot_count; i++) {
		clear_slot(&r->slots[i]);
		free(r->slots[i].memory.bytes);
	}
	for (size_t i = 0; i < r->idle.count; i++)
		free(r->idle.items[i].bytes);
	vec_free(&r->idle);
	free(r);
}
