/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/front.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "fuse/kernel_inodes.h"
#include "os/memory.h"
#include "stats/stats.h"

/* The first that can be raised is. */
static const struct front_ops *const fronts[] = { &front_overlay };

enum { FRONTS = sizeof(fronts) / sizeof(*fronts) };

int front_check(const struct mount_config *config, struct error *e)
{
	int err = 0;

	if (config->shield != SHIELD_ON)
		return 0;
	for (unsigned i = 0; i < FRONTS; i++) {
		err = fronts[i]->check(config, e);
		if (!err)
			break;
	}
	return err;
}

/* The reason for no front of any kind, or NULL. */
static const char *front_objection(const struct mount *mount,
				   const struct mount_config *config)
{
	if (config->shield == SHIELD_OFF)
		return "shield=off";
	if (!mount->ours || mount->by_helper)
		return "it takes the right to mount: be root, or in a private user namespace "
		       "(unshare -rm)";
	return NULL;
}

static int without(const struct mount *mount, const struct mount_config *config,
		   const char *why, struct error *e)
{
	if (config->shield == SHIELD_ON)
		return error_set(e, ERROR_MOUNT, EPERM,
				 "%s: -o shield=on: %s; leave shield= out to mount without it",
				 mount->mountpoint, why);
	front_log(mount, false, why);
	return 0;
}

void front_log(const struct mount *mount, bool raised, const char *outcome)
{
	log_info("%s: %s %s", mount->mountpoint, raised ? "shielded by" : "without the shield:",
		 outcome);
}

static bool front_is_raised(const struct front_ops *front, const struct mount *mount,
			    const struct front_setup *setup, char outcome[FRONT_WHY_BYTES])
{
	uint64_t name_bytes = TREE_NAME_BYTES + front->kind->name_bytes;
	uint64_t names = tree_count(dataset_tree(setup->dataset));

	if (setup->config->shield != SHIELD_ON &&
	    !memory_allows_inodes(names * name_bytes, setup->config->budget)) {
		snprintf(outcome, FRONT_WHY_BYTES,
			 "for so many names it would take too much memory");
		return false;
	}
	if (!front->raise(mount, setup, outcome))
		return false;
	stats_set(COUNTER_shielded, 1);
	stats_set(COUNTER_name_bytes, name_bytes);
	inodes_show(setup->inodes); /* the first ones were set before this */
	return true;
}

bool front_raise_any(const struct mount *mount, const struct front_setup *setup,
		     char outcome[FRONT_WHY_BYTES])
{
	for (unsigned i = 0; i < FRONTS; i++)
		if (front_is_raised(fronts[i], mount, setup, outcome))
			return true;
	return false;
}

bool front_can_wait(const struct mount *mount, const struct mount_config *config)
{
	struct error e;

	if (config->shield != SHIELD_AUTO || front_objection(mount, config))
		return false;
	for (unsigned i = 0; i < FRONTS; i++)
		if (fronts[i]->check(config, &e) == 0 && fronts[i]->is_gapless(mount))
			return true;
	return false;
}

int front_raise(const struct mount *mount, const struct front_setup *setup,
		struct error *e)
{
	const char *against = front_objection(mount, setup->config);
	char outcome[FRONT_WHY_BYTES];

	if (against)
		return without(mount, setup->config, against, e);
	if (!front_raise_any(mount, setup, outcome))
		return without(mount, setup->config, outcome, e);
	front_log(mount, true, outcome);
	return 0;
}
