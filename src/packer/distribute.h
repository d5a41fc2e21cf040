/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * distribute.h: distributes files and samples over shards, evenly in number and in bytes.
 * plan.h has the rule.
 */
#ifndef GRANARY_PACKER_DISTRIBUTE_H
#define GRANARY_PACKER_DISTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Fills shard_of[i] for i < count, and adds to bytes[s] for s < shards, which holds the
 * bytes each shard already has. 0 or -ENOMEM.
 */
int distribute_over_shards(uint64_t *sizes, size_t count, uint32_t shards,
			   uint32_t *shard_of, uint64_t *bytes);

#endif
