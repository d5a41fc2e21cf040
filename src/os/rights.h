/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rights.h: the user whose rights a process has.
 *
 * Root mounts for a user: packed files are opened with that user's uid, gid and all
 * groups, because storage may refuse root, and because root must not read for a user what
 * the user may not read. A process that opens files for another user is a child
 * (os/opener.h): FUSE checks real and saved ids too.
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
 * The rights of `user`, a name or number of the user database. Digits are a number first,
 * and a name only if no user has that number. Only root may ask for another user than
 * itself: -EPERM, or -ENOENT for an unknown user, and *e. For the process's own user
 * these are its present ids and groups. The caller frees *out with rights_free.
 */
int rights_of_user(const char *user, struct rights *out, struct error *e);
void rights_free(struct rights *rights);

/*
 * In a child that ends or runs another program: sets effective ids, groups and HOME to
 * the user's, and removes XDG_CACHE_HOME. The real id stays. No change for the process's
 * own user. It cannot be undone; after an error the process should end.
 */
int rights_assume(const struct rights *rights, struct error *e);

/*
 * Makes the effective ids permanent: no way back to other ids, no capability in any set,
 * and none for a program that it runs (no_new_privs). Empties the bounding set if
 * allowed; otherwise nothing can be gained through that set. After rights_assume the user
 * cannot trace this process until it runs another program, so run that before, not after:
 * see below. The result is read back and compared: 0, or a negative errno and *e, and
 * then the process must end.
 *
 * For processes that parse packed bytes. Groups stay. Open descriptors keep the rights
 * that they were opened with.
 */
int rights_renounce(struct error *e);

/*
 * rights_assume and rights_renounce: sets all three ids of the process to the user's, for
 * good. The user cannot trace it, whatever fs.suid_dumpable is: it is made undumpable
 * while the real id is still the caller's.
 */
int rights_become(const struct rights *rights, struct error *e);

/*
 * rights_renounce, and root becomes nobody, without groups, and not traceable by other
 * processes of nobody. A container's root may lack that id, or the right to change its
 * ids (rights_can_be_nobody): it stays root there.
 */
int rights_become_nobody(struct error *e);
bool rights_can_be_nobody(void);

/*
 * Keeps of root's rights those that its children need to become nobody, and that it needs
 * to end them, for itself and a program that it runs; none can be added (no_new_privs).
 * Files are open to it as to uid 0. 0, or a negative errno and *e.
 */
int rights_keep_for_children(struct error *e);

/*
 * Passes a capability (CAP_...) of a process that is not root, in a user namespace of its
 * own, to a program that it runs. 0, or a negative errno and *e: not before Linux 4.3.
 */
int rights_pass_on(unsigned capability, struct error *e);

/*
 * rights_renounce for a program that was run after rights_assume, as its first step. Its
 * real id is still the caller's, so the user cannot trace it, and the loader ignores the
 * environment. Sets uid and gid to the user's where the kernel has not: older ones
 * replace the effective id by the real one under no_new_privs. From now on only root can
 * trace the process.
 */
int rights_renounce_as(uid_t uid, gid_t gid, struct error *e);

#endif
