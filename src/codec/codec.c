/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chains. At most one step of a chain is a compressor, whose output may have any size. So
 * every intermediate size has a bound: on the plain side of the compressor it follows
 * from the size of the chunk, on the stored side no step grows by decoding.
 */
#include "codec/codec.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/cleanup.h"
#include "config.h"
#include "os/slab.h"

static const struct codec *const codecs[] = {
#define CODEC(id, number, name, library) [number] = &name,
#include "codec/codecs.def"
#undef CODEC
};

/* In the place of those that this build leaves out. */
#define CODEC(id, number, variable, library) \
	UNLESS_##library(const struct codec variable = { .name = #id, \
							 .needs = NEEDS_##library };)
#include "codec/codecs.def"
#undef CODEC

enum {
	CODECS = sizeof(codecs) / sizeof(*codecs),
	ID_MASK = 0xff,
	PARAMETER_SHIFT = 8,
	SPARES = 64, /* of a codec: as many as threads decode at once */
};

/* Contexts that no thread has. */
static void *_Atomic spares[CODECS][SPARES];

/* A step to undo. */
struct step {
	const struct codec *codec;
	uint32_t id;
	uint32_t parameter;
	size_t room; /* bytes that undoing it gives at most */
};

const struct codec *codec_find(uint32_t step)
{
	uint32_t id = step & ID_MASK;

	return id < CODECS ? codecs[id] : NULL;
}

const char *codec_chain_needs(const uint32_t steps[CODEC_CHAIN_MOST])
{
	for (unsigned i = 0; i < CODEC_CHAIN_MOST && steps[i] != CODEC_END; i++) {
		const struct codec *codec = codec_find(steps[i]);

		if (codec && codec->needs)
			return codec->needs;
	}
	return NULL;
}

int codec_chain_check(const uint32_t steps[CODEC_CHAIN_MOST])
{
	unsigned compressors = 0;

	for (unsigned i = 0; i < CODEC_CHAIN_MOST && steps[i] != CODEC_END; i++) {
		const struct codec *codec = codec_find(steps[i]);

		if (!codec || codec->needs || (codec->sum && i > 0) ||
		    codec->parametrised != (steps[i] >> PARAMETER_SHIFT != 0))
			return -ENOTSUP;
		if (!codec->sum && !codec->stored_size && ++compressors > 1)
			return -ENOTSUP;
	}
	return 0;
}

uint32_t codec_chain_skipped(const uint32_t steps[CODEC_CHAIN_MOST], uint32_t mask)
{
	const struct codec *first = codec_find(steps[0]);

	return first && first->sum ? 0 : mask;
}

/* Lists the steps to undo, with their rooms; returns their number. */
static unsigned find_steps(const uint32_t chain[CODEC_CHAIN_MOST], uint32_t skipped,
			   size_t n, size_t room, struct step *steps)
{
	unsigned count = 0;

	for (unsigned i = 0; i < CODEC_CHAIN_MOST && chain[i] != CODEC_END; i++) {
		const struct codec *codec = codec_find(chain[i]);

		if (skipped & (uint32_t)1 << i)
			continue;
		steps[count++] = (struct step){ codec, chain[i] & ID_MASK,
						chain[i] >> PARAMETER_SHIFT, room };
		room = codec->stored_size ? codec->stored_size(room) : n;
	}
	return count;
}

static ssize_t codec_copy(const void *in, size_t n, void *out, size_t room)
{
	if (n > room)
		return -EBADMSG;
	if (n)
		memcpy(out, in, n);
	return (ssize_t)n;
}

static void *context_acquire(const struct step *step)
{
	for (unsigned i = 0; i < SPARES; i++) {
		void *_Atomic *spare = &spares[step->id][i];
		void *context = atomic_load_explicit(spare, memory_order_relaxed);

		if (context)
			context = atomic_exchange(spare, NULL);
		if (context)
			return context;
	}
	return step->codec->context_new();
}

static void context_release(const struct step *step, void *context)
{
	for (unsigned i = 0; i < SPARES; i++) {
		void *none = NULL;

		if (atomic_compare_exchange_strong(&spares[step->id][i], &none, context))
			return;
	}
	step->codec->context_free(context);
}

static ssize_t undo_at(const struct step *step, const struct codec_entry *entry,
		       const void *in, size_t n, void *out)
{
	const struct codec *codec = step->codec;
	void *context;
	ssize_t got;

	if (codec->decode)
		return codec->decode(in, n, out, step->room, step->parameter);
	context = context_acquire(step);
	if (!context)
		return -ENOMEM;
	got = codec->decode_at ? codec->decode_at(context, entry, in, n, out, step->room) :
				 codec->decode_with(context, in, n, out, step->room);
	context_release(step, context);
	return got;
}

static ssize_t undo(const struct step *step, const void *in, size_t n, void *out)
{
	return undo_at(step, &(struct codec_entry){ 0 }, in, n, out);
}

/* Memory of what lies between two steps. */
static struct slab between = SLAB_INIT(UINT64_C(4) << 20);

/* Undoes a step into memory that `in` does not lie in. */
static ssize_t undo_to_scratch(const struct step *step, const void *in, size_t n,
			       struct slab_loan *scratch)
{
	void *out = slab_lend(scratch, step->room);

	return out ? undo(step, in, n, out) : -ENOMEM;
}

/* Undoes the steps behind the first one, which is a checksum of the whole chunk. */
static ssize_t decode_summed(const struct codec *codec,
			     const uint32_t chain[CODEC_CHAIN_MOST], uint32_t sum,
			     const void *stored, size_t n, void *plain, size_t room)
{
	uint32_t rest[CODEC_CHAIN_MOST] = { CODEC_END };
	ssize_t got;

	memcpy(rest, chain + 1, (CODEC_CHAIN_MOST - 1) * sizeof(*rest));
	got = codec_chain_decode(rest, 0, stored, n, plain, room);
	if (got < 0)
		return got;
	return codec->sum(0, plain, (size_t)got) == sum ? got : -EBADMSG;
}

ssize_t codec_chain_decode(const uint32_t chain[CODEC_CHAIN_MOST], uint32_t skipped,
			   const void *stored, size_t n, void *plain, size_t room)
{
	CLEANUP(slab_end_loan) struct slab_loan first = { .slab = &between };
	CLEANUP(slab_end_loan) struct slab_loan second = { .slab = &between };
	const struct codec *outer = codec_find(chain[0]);
	struct step steps[CODEC_CHAIN_MOST];
	const void *in = stored;
	unsigned left;
	int err = codec_chain_check(chain);

	if (err)
		return err;
	if (outer && outer->sum)
		return decode_summed(outer, chain, skipped, stored, n, plain, room);
	left = find_steps(chain, skipped, n, room, steps);
	if (left == 0)
		return codec_copy(stored, n, plain, room);
	while (--left > 0) {
		struct slab_loan *scratch = left % 2 ? &first : &second;
		ssize_t got = undo_to_scratch(&steps[left], in, n, scratch);

		if (got < 0)
			return got;
		in = scratch->memory;
		n = (size_t)got;
	}
	return undo(&steps[0], in, n, plain);
}

ssize_t codec_decode_at(uint32_t step, const struct codec_entry *entry, const void *stored,
			size_t n, void *plain, size_t room)
{
	const uint32_t chain[CODEC_CHAIN_MOST] = { step };
	struct step only;
	int err = codec_chain_check(chain);

	if (err)
		return err;
	if (step == CODEC_END || (entry->bits & 255) > 7 ||
	    entry->bits >> 8 >= 1U << (entry->bits & 255))
		return -EBADMSG;
	find_steps(chain, 0, n, room, &only);
	return undo_at(&only, entry, stored, n, plain);
}
