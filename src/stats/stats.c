#include "stats/stats.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

static _Atomic uint64_t own_cells[COUNTER_COUNT];

_Atomic uint64_t *counter_cells = own_cells;

const struct counter_info counter_infos[COUNTER_COUNT] = {
#define COUNTER(name, unit, sentence) { KIND_COUNTER, #name, #unit, sentence },
#define GAUGE(name, unit, sentence) { KIND_GAUGE, #name, #unit, sentence },
#include "stats/counters.def"
#undef COUNTER
#undef GAUGE
};

int stats_share(void)
{
	void *cells = mmap(NULL, sizeof(own_cells), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (cells == MAP_FAILED)
		return -ENOMEM;
	for (int i = 0; i < COUNTER_COUNT; i++)
		((_Atomic uint64_t *)cells)[i] = stats_get((enum counter)i);
	counter_cells = cells;
	return 0;
}
