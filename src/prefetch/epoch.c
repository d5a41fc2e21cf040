/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/epoch.h"

enum {
	GAP_SHARE = 512, /* nearness, as a share of the tree, */
	GAP_LEAST = 2,   /* in files */
	GAP_MOST = 64,
};

void epoch_init(struct epoch *e, uint32_t nodes)
{
	*e = (struct epoch){ .nodes = nodes };
}

bool epoch_is_seen(const struct epoch *e)
{
	return e->seen;
}

/* The file read `back` files ago. */
static const struct epoch_file *epoch_file(const struct epoch *e, unsigned back)
{
	return &e->files[(e->next + EPOCH_FILES - back) % EPOCH_FILES];
}

static bool is_known(const struct epoch *e, uint32_t node)
{
	for (unsigned i = 1; i <= e->count; i++)
		if (epoch_file(e, i)->node == node)
			return true;
	return false;
}

static bool is_near(const struct epoch *e, uint32_t node)
{
	uint32_t gap = e->nodes / GAP_SHARE;

	gap = gap < GAP_LEAST ? GAP_LEAST : gap < GAP_MOST ? gap : GAP_MOST;
	for (unsigned i = 1; i <= e->count && i <= EPOCH_NEAR; i++) {
		uint32_t other = epoch_file(e, i)->node;

		if ((node > other ? node - other : other - node) <= gap)
			return true;
	}
	return false;
}

static unsigned count_shuffled(const struct epoch *e)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < EPOCH_FILES; i++)
		sum += e->files[i].shuffled;
	return sum;
}

static unsigned count_parts(const struct epoch *e)
{
	uint64_t parts = 0;

	for (unsigned i = 0; i < EPOCH_FILES; i++)
		parts |= UINT64_C(1) << (uint64_t)e->files[i].node * EPOCH_PARTS / e->nodes %
			 EPOCH_PARTS;
	return (unsigned)__builtin_popcountll(parts);
}

void epoch_note(struct epoch *e, uint32_t node, bool follows, int64_t now_ms)
{
	struct epoch_file file = { node, !follows && !is_near(e, node), now_ms };

	if (e->seen || is_known(e, node))
		return;
	e->files[e->next] = file;
	e->next = (e->next + 1) % EPOCH_FILES;
	if (e->count < EPOCH_FILES)
		e->count++;
	e->seen = e->count == EPOCH_FILES && e->nodes > 0 &&
		  now_ms - epoch_file(e, EPOCH_FILES)->ms <= EPOCH_MS &&
		  count_shuffled(e) >= EPOCH_SHUFFLED && count_parts(e) >= EPOCH_SPREAD;
}
