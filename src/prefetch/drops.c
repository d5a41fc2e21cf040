#include "prefetch/drops.h"

enum {
	BUDGET_SHARE = 16, /* what waits: this part of the budget, */
	MOST = 16 << 20,   /* but no more than so much */
};

void drops_init(struct drops *drops, uint64_t budget)
{
	uint64_t share = budget / BUDGET_SHARE;

	drops->first = drops->count = 0;
	drops->bytes = 0;
	drops->most = share < MOST ? share : MOST;
}

bool drops_add(struct drops *drops, const struct drop *drop)
{
	if (drops->count == DROPS_ROOM)
		return false;
	drops->ring[(drops->first + drops->count++) % DROPS_ROOM] = *drop;
	drops->bytes += drop->bytes;
	return true;
}

/* Without its bytes: a single one that cannot go yet would be tried all the time. */
void drops_put_back(struct drops *drops, const struct drop *drop)
{
	drops_add(drops, &(struct drop){ .node = drop->node, .from = drop->from });
}

bool drops_take(struct drops *drops, struct drop *out)
{
	/* many small files fill the ring before they are many bytes */
	if (drops->count == 0 ||
	    (drops->bytes <= drops->most && drops->count < DROPS_ROOM / 2))
		return false;
	*out = drops->ring[drops->first];
	drops->first = (drops->first + 1) % DROPS_ROOM;
	drops->count--;
	drops->bytes -= out->bytes;
	return true;
}
