/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "manifest.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox_child.h"
#include "dataset/survey.h"
#include "base/cleanup.h"
#include "config.h"
#include "os/place.h"
#include "walk.h"

#if WITH_NETTLE
#include <nettle/sha2.h>

const char *manifest_needs(void)
{
	return NULL;
}

#else /* the command has refused by now */

enum { SHA256_DIGEST_SIZE = 32 };
struct sha256_ctx {
	char none;
};

const char *manifest_needs(void)
{
	return NEEDS_NETTLE;
}

static void sha256_init(struct sha256_ctx *sum)
{
	sum->none = 0;
}

static void sha256_update(struct sha256_ctx *sum, size_t length, const void *bytes)
{
}

static void sha256_digest(struct sha256_ctx *sum, size_t length, uint8_t *digest)
{
	memset(digest, 0, length);
}

#endif /* WITH_NETTLE */

enum { HEX_DIGITS = 2 * SHA256_DIGEST_SIZE };

/* READ: its digest is computed. WANTED: the manifest lists it. */
enum state { UNKNOWN, READ, WANTED };

struct manifest {
	const struct tree *tree;
	struct mismatches *findings;
	uint8_t (*digests)[SHA256_DIGEST_SIZE]; /* by node: as read, or as wanted */
	uint8_t *states;                        /* by node: enum state */
	bool comparing;
	_Atomic uint64_t unlisted;
	struct sha256_ctx sums[SURVEY_THREADS_MOST]; /* each a worker's own */
};

struct manifest *manifest_new(const struct tree *tree, struct mismatches *findings)
{
	struct manifest *m = calloc(1, sizeof(*m));
	uint32_t nodes = tree_count(tree);

	if (!m)
		return NULL;
	m->tree = tree;
	m->findings = findings;
	m->digests = calloc(nodes, sizeof(*m->digests));
	m->states = calloc(nodes, sizeof(*m->states));
	if (m->digests && m->states)
		return m;
	manifest_free(m);
	return NULL;
}

void manifest_free(struct manifest *m)
{
	if (!m)
		return;
	free(m->digests);
	free(m->states);
	free(m);
}

/* ---- Reading ---- */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_digest(const char *text, uint8_t *out)
{
	for (int i = 0; i < HEX_DIGITS; i++) {
		int value = digit(text[i]);

		if (value < 0)
			return false;
		out[i / 2] = (uint8_t)(out[i / 2] << 4 | value);
	}
	return true;
}

static bool manifest_unescape(char *path)
{
	char *to = path;

	for (const char *c = path; *c; c++) {
		if (*c != '\\') {
			*to++ = *c;
			continue;
		}
		c++;
		if (*c != '\\' && *c != 'n' && *c != 'r')
			return false;
		*to++ = *c == 'n' ? '\n' : *c == 'r' ? '\r' : '\\';
	}
	*to = '\0';
	return true;
}

/* Parses a line without its line feed, in place. */
static bool manifest_parse_line(char *line, uint8_t *digest, char **path)
{
	bool escaped = *line == '\\';

	line += escaped;
	if (strlen(line) < HEX_DIGITS + 3 || !parse_digest(line, digest) ||
	    line[HEX_DIGITS] != ' ' ||
	    (line[HEX_DIGITS + 1] != ' ' && line[HEX_DIGITS + 1] != '*'))
		return false;
	*path = line + HEX_DIGITS + 2;
	return !escaped || manifest_unescape(*path);
}

static void manifest_add(struct manifest *m, enum problem problem, const char *path,
			 const char *detail)
{
	mismatches_add(m->findings,
		       &(struct mismatch){ .problem = problem, .path = path,
					   .detail = detail });
}

static void manifest_expect(struct manifest *m, const char *path, const uint8_t *digest)
{
	struct tree_stat st;
	uint32_t node;

	if (tree_walk(m->tree, TREE_ROOT, path, &node) < 0 ||
	    tree_stat(m->tree, node, &st) < 0) {
		manifest_add(m, PROBLEM_MISSING, path,
			     "is in the manifest, and not in the dataset");
		return;
	}
	if (st.kind != TREE_FILE) {
		manifest_add(m, PROBLEM_KIND, path,
			     "is in the manifest, and no file in the dataset");
		return;
	}
	if (m->states[node] == WANTED &&
	    memcmp(m->digests[node], digest, SHA256_DIGEST_SIZE) != 0)
		manifest_add(m, PROBLEM_MANIFEST, path,
			     "is in the manifest twice, with another SHA-256");
	m->states[node] = WANTED;
	memcpy(m->digests[node], digest, SHA256_DIGEST_SIZE);
}

static int manifest_read_lines(struct manifest *m, FILE *in, const char *path,
			       struct error *e)
{
	CLEANUP(cleanup_free) char *line = NULL;
	unsigned long long number = 0;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, in)) >= 0) {
		uint8_t digest[SHA256_DIGEST_SIZE] = { 0 };
		char *name;

		number++;
		if (n && line[n - 1] == '\n')
			line[--n] = '\0';
		if (strlen(line) != (size_t)n ||
		    !manifest_parse_line(line, digest, &name))
			return error_set(e, ERROR_USAGE, EINVAL,
					 "%s: line %llu is not as sha256sum(1) writes it: 64 "
					 "hexadecimal digits, two blanks, a path", path, number);
		manifest_expect(m, name, digest);
	}
	if (ferror(in))
		return error_set(e, ERROR_SYSTEM, errno, "%s: %s", path, strerror(errno));
	if (number == 0)
		return error_set(e, ERROR_USAGE, EINVAL, "%s: the manifest is empty", path);
	return 0;
}

int manifest_read(struct manifest *m, int fd, const char *path, struct error *e)
{
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	int err;

	if (fd == -ENOENT)
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "%s: there is no such manifest; --write-checksums makes one",
				 path);
	if (!in) {
		err = fd < 0 ? -fd : errno;
		return error_set(e, ERROR_SYSTEM, err, "%s: %s", path, strerror(err));
	}
	m->comparing = true;
	err = manifest_read_lines(m, in, path, e);
	fclose(in);
	return err;
}

/* ---- Files ---- */

void manifest_bytes(struct manifest *m, unsigned worker, uint64_t offset,
		    const void *bytes, size_t length)
{
	if (offset == 0)
		sha256_init(&m->sums[worker]);
	sha256_update(&m->sums[worker], length, bytes);
}

void manifest_file(struct manifest *m, unsigned worker, uint32_t node, uint64_t size)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	char path[4096];

	if (size == 0)
		sha256_init(&m->sums[worker]);
	sha256_digest(&m->sums[worker], sizeof(digest), digest);
	if (!m->comparing) {
		memcpy(m->digests[node], digest, sizeof(digest));
		m->states[node] = READ;
	} else if (m->states[node] != WANTED) {
		m->unlisted++;
	} else if (memcmp(m->digests[node], digest, sizeof(digest)) != 0) {
		manifest_add(m, PROBLEM_MANIFEST,
			     tree_path(m->tree, node, path, sizeof(path)),
			     "its SHA-256 is not that of the manifest");
	}
}

uint64_t manifest_unlisted(const struct manifest *m)
{
	return m->unlisted;
}

/* ---- Writing ---- */

static void put_path(FILE *out, const char *path)
{
	for (; *path; path++) {
		if (*path == '\\')
			fputs("\\\\", out);
		else if (*path == '\n')
			fputs("\\n", out);
		else if (*path == '\r')
			fputs("\\r", out);
		else
			putc(*path, out);
	}
}

struct manifest_writing {
	const struct manifest *manifest;
	FILE *out;
};

static int put_line(void *context, const struct walk_name *name)
{
	const struct manifest_writing *w = context;

	if (name->kind != TREE_FILE || w->manifest->states[name->node] != READ)
		return 0;
	if (strpbrk(name->path, "\\\n\r"))
		putc('\\', w->out);
	for (int i = 0; i < SHA256_DIGEST_SIZE; i++)
		fprintf(w->out, "%02x", w->manifest->digests[name->node][i]);
	fputs("  ", w->out);
	put_path(w->out, name->path);
	putc('\n', w->out);
	return 0;
}

static int write_to(const struct manifest *m, int fd_taken, struct error *e)
{
	FILE *out = fdopen(fd_taken, "w");
	struct manifest_writing w = { m, out };
	int err = 0;

	if (!out) {
		close(fd_taken);
		return error_no_memory(e, NULL);
	}
	err = walk_names(m->tree, put_line, &w);
	if (err < 0)
		error_set(e, ERROR_DATASET, -err, "the index is damaged");
	if (fflush(out) != 0 && !err)
		err = error_set(e, ERROR_SYSTEM, errno, "%s", strerror(errno));
	if (fclose(out) != 0 && !err)
		err = error_set(e, ERROR_SYSTEM, errno, "%s", strerror(errno));
	return err;
}

/* ---- Its place: the child asks, the parent answers ---- */

enum manifest_call { CALL_BEGIN, CALL_FINISH, CALL_DROP };

static int manifest_request(enum manifest_call kind, int *fd, struct error *e)
{
	char text[sizeof(e->text)];
	size_t size = sizeof(text) - 1;
	int err = broker_call(sandbox_child_broker(), SANDBOX_CHILD_OWN, MANIFEST_KINDS +
			      kind, NULL, 0, text, &size, fd);

	if (!err)
		return 0;
	text[err == -EPIPE ? 0 : size] = '\0';
	return error_set(e, ERROR_SYSTEM, -err, "%s", *text ? text : strerror(-err));
}

static int write_in_child(const struct manifest *m, struct error *e)
{
	struct error unsaid;
	int fd, err = manifest_request(CALL_BEGIN, &fd, e);

	if (err)
		return err;
	err = write_to(m, fd, e);
	if (!err)
		return manifest_request(CALL_FINISH, NULL, e);
	manifest_request(CALL_DROP, NULL, &unsaid);
	return err;
}

/* Blocks termination signals meanwhile, so that no temporary file is left. */
int manifest_write(const struct manifest *m, const char *path, struct error *e)
{
	sigset_t termination, before;
	int err;

	sigemptyset(&termination);
	sigaddset(&termination, SIGINT);
	sigaddset(&termination, SIGTERM);
	sigaddset(&termination, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &termination, &before);
	err = write_in_child(m, e);
	if (err)
		error_prefix(e, "%s: the manifest is not written", path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* The rename would replace a device or directory: only a regular file may be there. */
static int manifest_check_place(const struct place *place, struct error *e)
{
	struct stat st;

	if (place_stat(place, "", &st) < 0 || S_ISREG(st.st_mode))
		return 0; /* creating the file reports the error */
	return error_set(e, ERROR_SYSTEM, EEXIST,
			 "there is something else of that name, which is no file and is not "
			 "replaced; name another place");
}

void manifest_remove_temporary(struct manifest_place *at)
{
	if (at->fd >= 0)
		close(at->fd);
	at->fd = -1;
	if (at->temporary[0])
		place_unlink(at->place, at->temporary);
	at->temporary[0] = '\0';
	place_close(at->place);
	at->place = NULL;
}

static int begin_sibling(struct manifest_place *at, struct error *e)
{
	int err;

	manifest_remove_temporary(at);
	if (!at->path)
		return error_set(e, ERROR_SYSTEM, EINVAL, "no manifest is wanted");
	err = place_open(at->path, false, &at->place, e);
	if (!err)
		err = manifest_check_place(at->place, e);
	if (err)
		return err;
	at->fd = place_create_temporary(at->place, at->temporary);
	if (at->fd >= 0)
		return 0;
	at->temporary[0] = '\0';
	return error_set(e, ERROR_SYSTEM, -at->fd, "%s", strerror(-at->fd));
}

static int manifest_finish_file(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int finish_sibling(struct manifest_place *at, struct error *e)
{
	int err;

	if (at->fd < 0)
		return error_set(e, ERROR_SYSTEM, EINVAL, "no manifest has been begun");
	err = manifest_finish_file(at->fd);
	if (!err)
		err = place_rename(at->place, at->temporary, "");
	if (err)
		error_set(e, ERROR_SYSTEM, -err, "%s", strerror(-err));
	else
		at->temporary[0] = '\0';
	manifest_remove_temporary(at);
	return err;
}

int manifest_serve(struct manifest_place *at, const struct broker_request *question,
		   struct broker_reply *answer)
{
	struct error e = { 0 };
	int err = 0;

	if (question->kind == MANIFEST_KINDS + CALL_BEGIN) {
		err = begin_sibling(at, &e);
		answer->fd = err ? -1 : at->fd;
	} else if (question->kind == MANIFEST_KINDS + CALL_FINISH) {
		err = finish_sibling(at, &e);
	} else {
		manifest_remove_temporary(at);
	}
	answer->size = err ? strlen(e.text) : 0;
	memcpy(answer->data, e.text, answer->size);
	return err;
}
