#include "stats/stats.h"

_Atomic uint64_t counter_cells[COUNTER_COUNT];

const struct counter_info counter_infos[COUNTER_COUNT] = {
#define COUNTER(name, unit, sentence) { #name, #unit, sentence },
#include "stats/counters.def"
#undef COUNTER
};
