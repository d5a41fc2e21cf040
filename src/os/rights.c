/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/rights.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/namespace.h"

/* capability sets have 64 bits */
enum { CAPABILITIES_MOST = 64 };

static int rights_out_of_memory(struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM,
			 "there is not enough memory for the groups of a user; free some "
			 "and try again");
}

void rights_free(struct rights *rights)
{
	free(rights->groups);
	free(rights->home);
	*rights = (struct rights){ 0 };
}

/* ---- Users ---- */

/* The effective ids and groups of this process. */
static int rights_now(struct rights *out, struct error *e)
{
	int n = getgroups(0, NULL);

	*out = (struct rights){ .uid = geteuid(), .gid = getegid() };
	out->groups = calloc(n > 0 ? (size_t)n : 1, sizeof(*out->groups));
	if (!out->groups)
		return rights_out_of_memory(e);
	n = n > 0 ? getgroups(n, out->groups) : n;
	if (n < 0) {
		rights_free(out);
		return error_set(e, ERROR_SYSTEM, errno,
				 "the groups of this process cannot be read: %s",
				 strerror(errno));
	}
	out->group_count = (size_t)n;
	return 0;
}

/* All groups of the user, also the one of the password file. */
static int groups_of(const struct passwd *user, struct rights *out, struct error *e)
{
	int room = 32;

	for (;;) {
		gid_t *groups = realloc(out->groups, (size_t)room * sizeof(*groups));
		int n = room;

		if (!groups)
			return rights_out_of_memory(e);
		out->groups = groups;
		if (getgrouplist(user->pw_name, user->pw_gid, groups, &n) >= 0) {
			out->group_count = (size_t)n;
			return 0;
		}
		/* it says how many there are, but some libraries do not */
		room = n > room ? n : 2 * room;
	}
}

/* A decimal number and nothing else. The highest one is no id: it means "none". */
static bool parse_uid(const char *text, uid_t *out)
{
	uint64_t value = 0;
	size_t n = strspn(text, "0123456789");

	if (n == 0 || n > 10 || text[n])
		return false;
	for (; *text; text++)
		value = 10 * value + (uint64_t)(*text - '0');
	*out = (uid_t)value;
	return value < UINT32_MAX;
}

/* Errors of libraries for an unknown user; see getpwnam(3). */
static bool is_unknown_user(int errnum)
{
	return errnum == 0 || errnum == ENOENT || errnum == ESRCH || errnum == EBADF ||
	       errnum == EPERM;
}

static int rights_refuse_unknown(const char *user, int errnum, bool is_number,
				 struct error *e)
{
	if (!is_unknown_user(errnum))
		return error_set(e, ERROR_SYSTEM, errnum,
				 "user '%s': the user database cannot be read: %s; try "
				 "`getent passwd`", user, strerror(errnum));
	if (is_number)
		return error_set(e, ERROR_USAGE, ENOENT,
				 "there is no user with id %s here, and so nothing says which "
				 "groups that is in; try `getent passwd %s`", user, user);
	return error_set(e, ERROR_USAGE, ENOENT,
			 "there is no user '%s' here; check the name, or try `getent passwd`",
			 user);
}

/*
 * Numbers first: scripts pass numbers, and must not get the rights of a user whose name
 * is that number, nor because the database does not answer. NULL in *out and 0: it is
 * this process's own number, without a name.
 */
static int find_user(const char *user, const struct passwd **out, struct error *e)
{
	uid_t uid;
	bool is_number = parse_uid(user, &uid);

	errno = 0;
	*out = is_number ? getpwuid(uid) : NULL;
	if (!*out && is_number && uid == geteuid())
		return 0;
	if (!*out && is_unknown_user(errno)) {
		errno = 0;
		*out = getpwnam(user);
	}
	return *out ? 0 : rights_refuse_unknown(user, errno, is_number, e);
}

static int rights_of_other(const struct passwd *user, struct rights *out, struct error *e)
{
	if (geteuid() != 0)
		return error_set(e, ERROR_SYSTEM, EPERM,
				 "only root may act for another user: '%s' is user id %u, and "
				 "this process %u; leave that out, or run it as that user",
				 user->pw_name, (unsigned)user->pw_uid, (unsigned)geteuid());
	*out = (struct rights){ .uid = user->pw_uid, .gid = user->pw_gid };
	return groups_of(user, out, e);
}

int rights_of_user(const char *user, struct rights *out, struct error *e)
{
	const struct passwd *found;
	int err = find_user(user, &found, e);

	*out = (struct rights){ 0 };
	if (err)
		return err;
	if (!found || found->pw_uid == geteuid())
		err = rights_now(out, e);
	else
		err = rights_of_other(found, out, e);
	if (!err && found && found->pw_dir) {
		out->home = strdup(found->pw_dir);
		err = out->home ? 0 : rights_out_of_memory(e);
	}
	if (err)
		rights_free(out);
	return err;
}

/* ---- As another user ---- */

static int compare_groups(const void *a, const void *b)
{
	gid_t x = *(const gid_t *)a, y = *(const gid_t *)b;

	return x < y ? -1 : x > y;
}

/* The same groups, in any order? */
static bool same_groups(struct rights *a, struct rights *b)
{
	size_t i = 0, k = 0;

	qsort(a->groups, a->group_count, sizeof(gid_t), compare_groups);
	qsort(b->groups, b->group_count, sizeof(gid_t), compare_groups);
	while (i < a->group_count && k < b->group_count && a->groups[i] == b->groups[k]) {
		gid_t gid = a->groups[i];

		while (i < a->group_count && a->groups[i] == gid)
			i++;
		while (k < b->group_count && b->groups[k] == gid)
			k++;
	}
	return i == a->group_count && k == b->group_count;
}

/* Reads the capabilities for the capng_ calls that follow, also after a fork. */
static bool read_capabilities(void)
{
	capng_setpid((int)getpid());
	return capng_get_caps_process() == 0;
}

/* Is any capability in this set? */
static bool rights_holds(capng_type_t set)
{
	for (unsigned i = 0; i < CAPABILITIES_MOST; i++) {
		if (capng_have_capability(set, i) == 1)
			return true;
	}
	return false;
}

/* Does the process have these effective ids and groups? */
static bool is_effective(const struct rights *wanted)
{
	struct rights now, copy = *wanted;
	CLEANUP(cleanup_free) gid_t *groups =
		calloc(wanted->group_count ? wanted->group_count : 1, sizeof(*groups));
	bool same;

	if (!groups || rights_now(&now, NULL) < 0)
		return false;
	if (wanted->group_count)
		memcpy(groups, wanted->groups, wanted->group_count * sizeof(*groups));
	copy.groups = groups;
	same = now.uid == wanted->uid && now.gid == wanted->gid && same_groups(&now, &copy);
	rights_free(&now);
	return same;
}

/* Sets the effective ids; root gives up its uid last, and takes it first. */
static int become(const struct rights *rights)
{
	if (is_effective(rights))
		return 0;
	if (geteuid() != 0 && seteuid(rights->uid) < 0)
		return -errno;
	if (setgroups(rights->group_count, rights->groups) < 0 || setegid(rights->gid) < 0 ||
	    seteuid(rights->uid) < 0)
		return -errno;
	return is_effective(rights) ? 0 : -EPERM;
}

/* The cache is in the user's home, not the caller's. */
static int move_home(const struct rights *rights)
{
	int failed = rights->home && *rights->home ? setenv("HOME", rights->home, 1) :
						     unsetenv("HOME");

	return failed ? -errno : unsetenv("XDG_CACHE_HOME");
}

int rights_assume(const struct rights *rights, struct error *e)
{
	int err;

	if (rights->uid == geteuid())
		return 0;
	err = become(rights);
	/* kept capabilities (securebits) would read files that the user may not */
	if (!err && (!read_capabilities() || rights_holds(CAPNG_EFFECTIVE)))
		err = -EPERM;
	if (!err)
		err = move_home(rights);
	if (!err)
		return 0;
	return error_set(e, ERROR_SYSTEM, -err,
			 "this process may not act as user id %u with its groups: %s; run "
			 "it as root, outside of user namespaces that lack these ids",
			 (unsigned)rights->uid, strerror(-err));
}

/* ---- Giving up rights ---- */

/* A permitted CAP_SETPCAP can be made effective; then the bounding set can be emptied. */
static bool may_empty_bounds(void)
{
	return read_capabilities() &&
	       capng_have_capability(CAPNG_PERMITTED, CAP_SETPCAP) == 1 &&
	       capng_update(CAPNG_ADD, CAPNG_EFFECTIVE, CAP_SETPCAP) == 0 &&
	       capng_apply(CAPNG_SELECT_CAPS) == 0;
}

static void empty_bounds(void)
{
	for (unsigned i = 0; i < CAPABILITIES_MOST; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
}

/* Ignores errors: rights_renounce checks the result. */
static void drop_all(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int failed = 0;

	failed |= setresgid(gid, gid, gid);
	failed |= setresuid(uid, uid, uid);
	/* ambient capabilities need inheritable ones */
	capng_clear(CAPNG_SELECT_CAPS);
	failed |= capng_apply(CAPNG_SELECT_CAPS);
	failed |= prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)failed;
}

static bool ids_are_final(uid_t uid, gid_t gid)
{
	uid_t r, eff, s;
	gid_t rg, eg, sg;

	return getresuid(&r, &eff, &s) == 0 && r == uid && eff == uid && s == uid &&
	       getresgid(&rg, &eg, &sg) == 0 && rg == gid && eg == gid && sg == gid;
}

static bool has_bounds(void)
{
	for (unsigned i = 0; i < CAPABILITIES_MOST; i++) {
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			return true;
	}
	return false;
}

/* Kernels that have no ambient capabilities (before 4.3) say EINVAL. */
static bool has_ambient(void)
{
	for (unsigned i = 0; i < CAPABILITIES_MOST; i++) {
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) == 1)
			return true;
	}
	return false;
}

static bool has_capabilities(void)
{
	return !read_capabilities() || rights_holds(CAPNG_EFFECTIVE) ||
	       rights_holds(CAPNG_PERMITTED) || rights_holds(CAPNG_INHERITABLE) ||
	       has_ambient();
}

int rights_renounce(struct error *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	bool bounds = may_empty_bounds();
	const char *kept = NULL;

	if (getuid() != uid)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (bounds)
		empty_bounds();
	drop_all();
	if (!ids_are_final(uid, gid))
		kept = "other user and group ids";
	else if (has_capabilities())
		kept = "capabilities";
	else if (bounds && has_bounds())
		kept = "its capability bounding set";
	else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		kept = "the right to run set-uid programs";
	if (!kept)
		return 0;
	return error_set(e, ERROR_SYSTEM, EPERM,
			 "this process (user id %u) cannot give up %s, and must not read "
			 "packed files with them; start it without a security policy that "
			 "forbids that", (unsigned)uid, kept);
}

/* The id that stands for unmapped ids. */
enum { NOBODY = 65534 };

static bool knows_nobody(const char *map)
{
	struct namespace_ids ids;

	namespace_ids(map, &ids);
	return namespace_knows(&ids, NOBODY);
}

/* Makes a permitted capability effective. */
static bool raise_capability(unsigned capability)
{
	return capng_have_capability(CAPNG_PERMITTED, capability) == 1 &&
	       capng_update(CAPNG_ADD, CAPNG_EFFECTIVE, capability) == 0;
}

static bool may_change_ids(void)
{
	return read_capabilities() && raise_capability(CAP_SETUID) &&
	       raise_capability(CAP_SETGID) && capng_apply(CAPNG_SELECT_CAPS) == 0;
}

bool rights_can_be_nobody(void)
{
	return geteuid() != 0 || (knows_nobody("/proc/self/uid_map") &&
				  knows_nobody("/proc/self/gid_map") && may_change_ids());
}

/* The bounding set first, while the process may empty it. */
static int drop_root(void)
{
	if (may_empty_bounds())
		empty_bounds();
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -errno;
	/* whatever fs.suid_dumpable is: other daemons are nobody, too */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return 0;
}

int rights_become_nobody(struct error *e)
{
	bool leaves = geteuid() == 0 && rights_can_be_nobody();
	int err = leaves ? drop_root() : 0;

	if (err)
		return error_set(e, ERROR_SYSTEM, -err,
				 "this process is root, cannot become nobody (user id %d): %s, "
				 "and must not read packed files as root; start it without a "
				 "security policy that forbids that", NOBODY, strerror(-err));
	return rights_renounce(e);
}

/*
 * Capabilities to become nobody, and to end processes of nobody. A process without
 * capabilities keeps none, and a container's may have fewer.
 */
static bool rights_is_kept(unsigned capability)
{
	return capability == CAP_SETUID || capability == CAP_SETGID ||
	       capability == CAP_SETPCAP || capability == CAP_KILL;
}

int rights_keep_for_children(struct error *e)
{
	bool bounds = may_empty_bounds();
	int failed = !read_capabilities();

	for (unsigned i = 0; i < CAPABILITIES_MOST && !failed; i++) {
		bool kept = rights_is_kept(i) &&
			    capng_have_capability(CAPNG_PERMITTED, i) == 1;

		if (bounds && !kept)
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
		capng_update(CAPNG_DROP, CAPNG_INHERITABLE, i);
		capng_update(kept ? CAPNG_ADD : CAPNG_DROP,
			     CAPNG_EFFECTIVE | CAPNG_PERMITTED, i);
	}
	failed = failed || capng_apply(CAPNG_SELECT_CAPS) ||
		 prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || !read_capabilities();
	for (unsigned i = 0; i < CAPABILITIES_MOST && !failed; i++)
		failed = !rights_is_kept(i) &&
			 capng_have_capability(CAPNG_PERMITTED, i) == 1;
	if (!failed)
		return 0;
	return error_set(e, ERROR_SYSTEM, EPERM,
			 "this process (user id %u) cannot give up its capabilities; start it "
			 "without a security policy that forbids that", (unsigned)geteuid());
}

int rights_become(const struct rights *rights, struct error *e)
{
	int err = rights_assume(rights, e);

	return err ? err : rights_renounce(e);
}

int rights_pass_on(unsigned capability, struct error *e)
{
	if (read_capabilities() &&
	    capng_update(CAPNG_ADD, CAPNG_INHERITABLE, capability) == 0 &&
	    capng_apply(CAPNG_SELECT_CAPS) == 0 &&
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) == 0)
		return 0;
	return error_set(e, ERROR_SYSTEM, EPERM,
			 "this process (user id %u) cannot give its right to mount to "
			 "granaryfs; that takes Linux 4.3, and no security policy that forbids "
			 "it", (unsigned)geteuid());
}

/* Sets the ids by capabilities that root's real id permits, and exec left ineffective. */
static void become_same(uid_t uid, gid_t gid)
{
	static const unsigned needed[] = { CAP_SETGID, CAP_SETUID };
	int failed = !read_capabilities();

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]) && !failed; i++) {
		if (capng_have_capability(CAPNG_PERMITTED, needed[i]) == 1)
			failed = capng_update(CAPNG_ADD, CAPNG_EFFECTIVE, needed[i]);
	}
	failed = failed || capng_apply(CAPNG_SELECT_CAPS) || setegid(gid) || seteuid(uid);
	(void)failed;
}

int rights_renounce_as(uid_t uid, gid_t gid, struct error *e)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (geteuid() != uid || getegid() != gid)
		become_same(uid, gid);
	if (geteuid() != uid || getegid() != gid)
		return error_set(e, ERROR_SYSTEM, EPERM,
				 "this process (user id %u) was to act as user id %u, and may "
				 "not; start it without a security policy that forbids that",
				 (unsigned)geteuid(), (unsigned)uid);
	return rights_renounce(e);
}
