/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tree_server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/pool.h"
#include "packer/writer.h"
#include "tree_lines.h"

enum { LINES_MOST = 64, XATTR_LIST = 65536, XATTR_VALUE = 65536 };

/* The most names that a list holds. */
enum { XATTR_NAMES = XATTR_LIST / sizeof("user.") };

/* ---- Messages ---------------------------------------------------------------- */

/* MSG_NOSIGNAL: a dead peer is an error, not a SIGPIPE. */
bool tree_send(int fd, const void *bytes, size_t size)
{
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	do {
		n = sendmsg(fd, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

bool tree_receive(int fd, void *bytes, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, bytes, size);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

void tree_close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- The child: names ---------------------------------------------------------- */

/* Puts a record at *at: false where the memory is full. */
static bool put_record(char *memory, size_t *at, const struct tree_record *record,
		       const char *name, const char *value)
{
	size_t need = tree_record_size(record);

	if (need > LINE_BYTES - *at)
		return false;
	memory += *at;
	memset(memory, 0, need);
	memcpy(memory, record, sizeof(*record));
	memory += sizeof(*record);
	memcpy(memory, name, record->name_length);
	memcpy(memory + record->name_length + 1, value, record->value_length);
	*at += need;
	return true;
}

static struct tree_record tree_record_of(const struct tree_stat *st)
{
	struct tree_record out;

	memset(&out, 0, sizeof(out));
	out.kind = st->kind == TREE_DIRECTORY ? PACK_DIRECTORY :
		   st->kind == TREE_SYMLINK ? PACK_SYMLINK : PACK_FILE;
	out.size = st->kind == TREE_FILE ? st->size : 0;
	out.node = st->node;
	out.mtime = st->mtime;
	out.mtime_ns = st->mtime_ns;
	out.mode = st->mode & 07777;
	out.uid = st->uid;
	out.gid = st->gid;
	out.linked = st->kind == TREE_FILE && st->links > 1;
	return out;
}

static int compare_xattr_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names of user.*, as `granary pack` has them: their number or a negative errno. */
static int sort_xattrs(struct tree_server *s, uint32_t node)
{
	int count = 0, length = tree_has_xattrs(s->tree) ?
		tree_listxattr(s->tree, node, s->list, XATTR_LIST) : 0;

	for (const char *name = s->list; length > 0 && name < s->list + length;
	     name += strlen(name) + 1)
		if (strncmp(name, "user.", 5) == 0)
			s->names[count++] = name;
	qsort(s->names, (size_t)count, sizeof(*s->names), compare_xattr_names);
	return length < 0 ? length : count;
}

/* 0; 1: the memory is full; or a negative errno. */
static int put_xattrs(struct tree_server *s, uint32_t node, char *memory, size_t *at)
{
	struct tree_record record;
	int count = sort_xattrs(s, node);

	for (int i = 0; i < count; i++) {
		int size = tree_getxattr(s->tree, node, s->names[i], s->value, XATTR_VALUE);

		if (size < 0)
			return size;
		memset(&record, 0, sizeof(record));
		record.kind = RECORD_XATTR;
		record.name_length = (uint32_t)strlen(s->names[i]);
		record.value_length = (uint32_t)size;
		if (!put_record(memory, at, &record, s->names[i], s->value))
			return 1;
	}
	return count < 0 ? count : 0;
}

/* Puts a name with its attributes: 0; 1 where the memory is full; or a negative errno. */
static int put_name(struct tree_server *s, uint64_t directory, uint32_t node,
		    const struct tree_name *name, char *memory, size_t *at)
{
	char target[TREE_TARGET_BYTES] = "";
	struct tree_record record;
	struct tree_stat st;
	size_t before = *at;
	int err = tree_stat(s->tree, node, &st);

	if (!err && st.kind == TREE_SYMLINK)
		err = tree_readlink(s->tree, st.node, target);
	if (err)
		return err;
	record = tree_record_of(&st);
	record.directory = directory;
	record.name_length = name ? (uint32_t)name->length : 0;
	record.value_length = (uint32_t)strlen(target);
	err = !put_record(memory, at, &record, name ? name->name : "", target);
	if (!err && st.kind != TREE_SYMLINK)
		err = put_xattrs(s, st.node, memory, at);
	if (err > 0) {
		*at = before;
		return before ? 1 : -E2BIG;
	}
	return err;
}

/* Says which name cannot be listed. Returns err. */
static int put_name_failed(const struct tree_server *s, uint32_t node, int err, struct error *e)
{
	char path[TREE_NAME_BYTES];

	return error_set(e, ERROR_DAMAGED, -err, "'%s' cannot be listed: %s",
			 tree_path(s->tree, node, path, sizeof(path)),
			 err == -E2BIG ? "its attributes are too large" : strerror(-err));
}

static int list_one(struct tree_server *s, char *memory, size_t *at, struct error *e)
{
	struct tree_level *level = &s->levels.items[s->levels.count - 1];
	struct tree_name name;
	int err = tree_child(s->tree, level->directory, level->next, &name);

	if (err == -ENOENT) {
		s->levels.count--;
		return 0;
	}
	if (err)
		return err;
	err = put_name(s, level->number, name.node, &name, memory, at);
	if (err)
		return err < 0 ? put_name_failed(s, name.node, err, e) : err;
	level->next++;
	s->listed++;
	if (name.kind != TREE_DIRECTORY)
		return 0;
	return vec_push(&s->levels, ((struct tree_level){ .directory = name.node,
							  .number = s->listed - 1 }));
}

static int list_root(struct tree_server *s, char *memory, size_t *at, struct error *e)
{
	uint32_t root = dataset_root(s->dataset);
	int err = dataset_check(s->dataset, e);

	if (err)
		return err;
	s->list = malloc(XATTR_LIST);
	s->value = malloc(XATTR_VALUE);
	s->names = calloc(XATTR_NAMES, sizeof(*s->names));
	err = s->list && s->value && s->names ? put_name(s, 0, root, NULL, memory, at) : -ENOMEM;
	if (!err)
		err = vec_push(&s->levels, (struct tree_level){ .directory = root });
	s->listed = 1;
	return err;
}

/* Fills the memory with the next names. */
static int list_names(struct tree_server *s, char *memory, uint32_t *length)
{
	struct error e = { 0 };
	size_t at = 0;
	int err = s->listed ? 0 : list_root(s, memory, &at, &e);

	while (!err && s->levels.count)
		err = list_one(s, memory, &at, &e);
	*length = (uint32_t)at;
	if (err >= 0)
		return 0;
	if (!*e.text)
		error_set(&e, ERROR_DAMAGED, -err, "the tree cannot be listed: %s",
			  strerror(-err));
	memcpy(memory, &e, sizeof(e));
	*length = sizeof(e);
	return err;
}

/* ---- The child: contents ------------------------------------------------------- */

static int read_bytes(const struct tree_server *s, const struct tree_question *q,
		      char *memory, uint32_t *length)
{
	struct read_context context = { .hint = READ_EXACT };
	ssize_t n;

	if (q->length > LINE_BYTES)
		return -EINVAL;
	n = dataset_read(s->dataset, q->node, memory, q->length, q->offset, &context);
	if (n != (ssize_t)q->length)
		return n < 0 && context.fault.storage ? -EIO : -EBADMSG;
	*length = q->length;
	return 0;
}

static void serve_line(void *argument)
{
	struct tree_server *s = argument;
	struct tree_line *line = &s->lines[atomic_fetch_add(&s->served, 1U)];
	struct tree_question q;

	while (tree_receive(line->child, &q, sizeof(q))) {
		struct tree_answer answer = { 0 };

		answer.err = q.kind == LIST_NAMES ?
			list_names(s, line->memory, &answer.length) :
			read_bytes(s, &q, line->memory, &answer.length);
		if (!tree_send(line->child, &answer, sizeof(answer)))
			break;
	}
	tree_close_end(&line->child);
}

void tree_server_begin_child(struct tree_server *s)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (unsigned i = 0; i < s->count; i++)
		tree_close_end(&s->lines[i].parent);
}

/* A line without a thread is closed, and the parent uses others. */
int tree_server_serve(struct tree_server *s, struct error *e)
{
	struct pool *pool;
	unsigned threads = 0;
	int err = pool_start(&pool, s->count);

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "no thread can be started: %s",
				 strerror(-err));
	while (threads < pool_threads(pool) && !err) {
		err = pool_add(pool, serve_line, s);
		threads += !err;
	}
	for (unsigned i = threads; i < s->count; i++)
		tree_close_end(&s->lines[i].child);
	pool_finish(pool);
	vec_free(&s->levels);
	free(s->list);
	free(s->value);
	free(s->names);
	return err ? error_no_memory(e, NULL) : 0;
}

/* ---- Lines ---------------------------------------------------------------------- */

static int open_lines(struct tree_server *s)
{
	s->memory = mmap(NULL, (size_t)s->count * LINE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->memory == MAP_FAILED) {
		s->memory = NULL;
		return -ENOMEM;
	}
	for (unsigned i = 0; i < s->count; i++) {
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
			return -errno;
		s->lines[i].parent = ends[0];
		s->lines[i].child = ends[1];
		s->lines[i].memory = s->memory + (size_t)i * LINE_BYTES;
	}
	return 0;
}

int tree_server_open(const struct dataset *dataset, const struct dataset_config *config,
		     unsigned lines, struct tree_server **out, struct error *e)
{
	struct tree_server *s;
	int err;

	lines = lines < LINES_MOST ? lines : LINES_MOST;
	s = *out = calloc(1, sizeof(*s) + lines * sizeof(s->lines[0]));
	if (!s)
		return error_no_memory(e, NULL);
	s->dataset = dataset;
	s->tree = dataset_tree(dataset);
	s->lock = (struct lock)LOCK_INIT;
	s->idle = (struct wakeup)WAKEUP_INIT;
	s->count = lines;
	for (unsigned i = 0; i < lines; i++)
		s->lines[i].parent = s->lines[i].child = -1;
	err = tree_input_init(s, config, e);
	if (err)
		return err;
	err = open_lines(s);
	return err ? error_set(e, ERROR_SYSTEM, -err, "lines to a process: %s",
			       strerror(-err)) : 0;
}

const struct pack_input *tree_server_begin_parent(struct tree_server *s)
{
	for (unsigned i = 0; i < s->count; i++)
		tree_close_end(&s->lines[i].child);
	return &s->input;
}

void tree_server_end(struct tree_server *s)
{
	for (unsigned i = 0; i < s->count; i++)
		tree_close_end(&s->lines[i].parent);
}

void tree_server_close(struct tree_server *s)
{
	if (!s)
		return;
	tree_server_end(s);
	for (unsigned i = 0; i < s->count; i++)
		tree_close_end(&s->lines[i].child);
	if (s->memory)
		munmap(s->memory, (size_t)s->count * LINE_BYTES);
	free(s);
}
