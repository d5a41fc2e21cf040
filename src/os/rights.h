/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rights.h: with whose rights a process opens files.
 *
 * Root mounts for somebody else: packed files are opened with that user's uid,
 * gid and supplementary groups, because storage may not let root read them, and
 * because root must not read for a user what that user may not read. A process that
 * opens files for another user is a child (os/errand.h), since some storage looks at
 * real and saved ids too: FUSE lets only those in whose ids are all its user's.
 *
 * Threads: only while the process has one.
 */
#ifndef GRANARY_OS_RIGHTS_H
#define GRANARY_OS_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* A user and all groups. */
struct rights {
	uid_t uid;
	gid_t gid;
	gid_t *groups;      /* owned: supplementary ones */
	size_t group_count;
	char *home;         /* owned; from the user database, or NULL */
};

/*
 * The rights of `user`, a name or a number in the user database. Digits are the
 * number; a name that consists of them is one only where nobody has that number.
 * Only root may ask for another user's than its own: -EPERM, or -ENOENT for a user
 * that is not known, and a sentence. Of oneself they are what the process has now,
 * groups included. The caller frees *out with rights_free.
 */
int rights_of(const char *user, struct rights *out, struct error *e);
void rights_free(struct rights *rights);

/*
 * In a child that ends, or runs another program: its effective ids, its groups and HOME
 * are this user's; XDG_CACHE_HOME, which was the caller's, is gone. The real id stays.
 * For oneself nothing changes. There is no way back, and where it fails the process is
 * neither, and should end.
 */
int rights_assume(const struct rights *rights, struct error *e);

/*
 * What the process effectively is, it is from now on for good: no way back to
 * other ids, no capability in any set, and no program that it runs gets more
 * (no_new_privs). The bounding set is emptied where the process may do that; where
 * it may not, there is nothing that could be gained through it. One that has
 * assumed another user's rights cannot be traced by that user until it runs another
 * program, and so must not run one after this, but before: see below. Read back and
 * compared: 0, or a negative errno and a sentence, and then the process must end.
 *
 * For what works on strangers' bytes. Groups stay. Descriptors that are open stay
 * open, with the rights that they were opened with.
 */
int rights_renounce(struct error *e);

/*
 * rights_assume and rights_renounce: this process is that user for good, by all of its
 * ids. It cannot be traced by the user, whatever fs.suid_dumpable says: that is seen to
 * while the real id is still the caller's.
 */
int rights_become(const struct rights *rights, struct error *e);

/*
 * rights_renounce, and where the process is root it is nobody from now on, with no other
 * groups, and cannot be traced by others that are. Root of a container may lack that id, or
 * the right to change its own (rights_can_be_nobody): then it stays who it is there.
 */
int rights_become_nobody(struct error *e);
bool rights_can_be_nobody(void);

/*
 * Of root's rights this process, and a program that it runs, keep what its children need to
 * become nobody, and what it needs to end them; never again others (no_new_privs). It may
 * open what uid 0 has permission for. 0, or a negative errno and a sentence.
 */
int rights_keep_few(struct error *e);

/*
 * A program that this process runs gets this capability (CAP_...), which the process has,
 * though it is not root: in a user namespace of its own. 0, or a negative errno and a
 * sentence: before Linux 4.3 it cannot be done.
 */
int rights_pass_on(unsigned capability, struct error *e);

/*
 * rights_renounce as the first thing in a program that a process ran while it had assumed
 * another user's rights: this one's real id is still the caller's. That makes the
 * kernel keep it from being traced by the user, and the loader ignore all that could
 * be told in the environment. It becomes uid and gid, which are the user's, where
 * the kernel did not run it as that: on older ones two ids that differ become the real
 * one under no_new_privs. From now on it cannot be traced but by root, whoever it is.
 */
int rights_renounce_as(uid_t uid, gid_t gid, struct error *e);

#endif
