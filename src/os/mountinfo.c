/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mountinfo.c: reads and parses /proc/self/mountinfo. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "os/mountline.h"
#include "os/mounts.h"

enum { READ_TRIES = 8, READ_BYTES = 64 * 1024 };

struct mountinfo_line {
	struct mount_entry entry;
	char *path;   /* in the table's text, unescaped */
	char *source; /* the same */
};

struct mountinfo_table {
	VEC(char) text;
	VEC(struct mountinfo_line) lines;
};

static void mountinfo_free_table(struct mountinfo_table *table)
{
	vec_free(&table->text);
	vec_free(&table->lines);
}

/* Reading. */

static int mountinfo_read_all(int fd, struct mountinfo_table *table)
{
	table->text.count = 0;
	for (;;) {
		ssize_t n;

		if (vec_reserve(&table->text, READ_BYTES + 1) < 0)
			return -ENOMEM;
		n = read(fd, table->text.items + table->text.count, READ_BYTES);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		table->text.count += n > 0 ? (size_t)n : 0;
	}
	table->text.items[table->text.count] = '\0';
	return 0;
}

/* A table that changed between two reads may lack a line or have one twice. */
static bool has_changed(int fd)
{
	struct pollfd changes = { .fd = fd, .events = POLLPRI };

	return poll(&changes, 1, 0) > 0 && (changes.revents & (POLLPRI | POLLERR));
}

static int mountinfo_read_text(struct mountinfo_table *table)
{
	CLEANUP(cleanup_close) int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	for (int tries = 0; tries < READ_TRIES; tries++) {
		if (lseek(fd, 0, SEEK_SET) < 0)
			return -errno;
		err = mountinfo_read_all(fd, table);
		if (err || !has_changed(fd))
			return err;
	}
	return 0; /* it changes all the time: use the last one */
}

/* Parsing. */

char *mountline_field(char **at)
{
	char *field = *at, *space = strchr(field, ' ');

	*at = field + strlen(field);
	if (space) {
		*space = '\0';
		*at = space + 1;
	}
	return field;
}

static bool is_octal(const char *at)
{
	return at[0] >= '0' && at[0] <= '3' && at[1] >= '0' && at[1] <= '7' &&
	       at[2] >= '0' && at[2] <= '7';
}

/* Replaces \040 by a space, in place: the text gets shorter. */
char *mountline_unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (*from == '\\' && is_octal(from + 1)) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 +
				     (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return text;
}

/* The number of an option such as user_id=1000. */
static unsigned option_number(const char *options, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			return (unsigned)strtoul(at + n + 1, NULL, 10);
	}
	return 0;
}

/* Whose is it, and which connection answers behind it? */
static void recognise(struct mount_entry *entry, const char *options)
{
	if (strncmp(entry->type, "fuse", 4) == 0) {
		entry->connection = entry->minor;
		entry->uid = option_number(options, "user_id");
		entry->gid = option_number(options, "group_id");
	} else {
		entry->front = front_recognise(entry->type, options, &entry->connection);
	}
	entry->granaryfs = entry->front || strcmp(entry->type, MOUNT_TYPE) == 0;
}

/* `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/sda rw`, as proc(5) has it. */
static bool mountinfo_parse_line(char *text, struct mountinfo_line *line)
{
	struct mount_entry *entry = &line->entry;
	const char *word;

	*entry = (struct mount_entry){ 0 };
	entry->id = (int)strtol(mountline_field(&text), NULL, 10);
	entry->parent = (int)strtol(mountline_field(&text), NULL, 10);
	word = strchr(mountline_field(&text), ':');
	entry->minor = word ? (unsigned)strtoul(word + 1, NULL, 10) : 0;
	mountline_field(&text); /* the root of the mount within its filesystem */
	line->path = mountline_unescape(mountline_field(&text));
	mountline_field(&text); /* the mount's options and optional fields */
	do {
		if (!*text)
			return false;
		word = mountline_field(&text);
	} while (strcmp(word, "-") != 0);
	snprintf(entry->type, sizeof(entry->type), "%s",
		 mountline_unescape(mountline_field(&text)));
	line->source = mountline_unescape(mountline_field(&text));
	recognise(entry, mountline_field(&text));
	return line->path[0] == '/';
}

static int read_table(struct mountinfo_table *table)
{
	int err = mountinfo_read_text(table);
	char *text, *end;

	if (err)
		return err;
	for (text = table->text.items; *text; text = end) {
		struct mountinfo_line line;

		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = '\0';
		if (mountinfo_parse_line(text, &line) &&
		    vec_push(&table->lines, line) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Finding. */

static const struct mountinfo_line *mountinfo_line_of(const struct mountinfo_table *table,
						      int id)
{
	for (size_t i = 0; i < table->lines.count; i++) {
		if (table->lines.items[i].entry.id == id)
			return &table->lines.items[i];
	}
	return NULL;
}

/* Mounted on no mount of this namespace; the kernel's first one is mounted on itself. */
static bool is_bottom(const struct mountinfo_table *table,
		      const struct mount_entry *entry)
{
	return entry->parent == entry->id || !mountinfo_line_of(table, entry->parent);
}

/*
 * The mount on `below` at the first `size` bytes of `path`. At the start of the walk
 * `below` is NULL: the bottom mount.
 */
static const struct mountinfo_line *mounted_on(const struct mountinfo_table *table,
					       const struct mountinfo_line *below,
					       const char *path, size_t size)
{
	for (size_t i = 0; i < table->lines.count; i++) {
		const struct mountinfo_line *line = &table->lines.items[i];

		if (strncmp(line->path, path, size) != 0 || line->path[size] != '\0' ||
		    line == below)
			continue;
		if (below ? line->entry.parent == below->entry.id :
			    is_bottom(table, &line->entry))
			return line;
	}
	return NULL;
}

/* The topmost of the mounts stacked on `at` at this piece of the path. */
static const struct mountinfo_line *climb(const struct mountinfo_table *table,
					  const struct mountinfo_line *at,
					  const char *path, size_t size)
{
	const struct mountinfo_line *next = mounted_on(table, at, path, size);

	/* more steps than lines would be a circle */
	for (size_t n = 0; next && n < table->lines.count; n++) {
		at = next;
		next = mounted_on(table, at, path, size);
	}
	return at;
}

/*
 * Walks as the kernel does: a hidden mount, also one below a directory that is covered,
 * has the same path in the table, and is not found.
 */
static const struct mountinfo_line *mountinfo_walk(const struct mountinfo_table *table,
						   const char *path)
{
	const struct mountinfo_line *at = mounted_on(table, NULL, "/", 1);
	size_t size = 0;

	if (path[0] != '/')
		return NULL;
	/* a mount over / does not hide `at`: the walk begins below */
	while (path[1] && path[size]) {
		size += 1 + strcspn(path + size + 1, "/");
		at = climb(table, at, path, size);
	}
	if (!path[1])
		at = climb(table, at, path, 1);
	return at && strcmp(at->path, path) == 0 ? at : NULL;
}

static int mountinfo_answer(const struct mountinfo_line *line, struct mount_entry *out)
{
	if (line && out)
		*out = line->entry;
	return line != NULL;
}

int mounts_find(const char *path, struct mount_entry *out)
{
	CLEANUP(mountinfo_free_table) struct mountinfo_table table = {VEC_INIT, VEC_INIT};
	int err = read_table(&table);

	return err ? err : mountinfo_answer(mountinfo_walk(&table, path), out);
}

int mounts_find_id(int id, struct mount_entry *out)
{
	CLEANUP(mountinfo_free_table) struct mountinfo_table table = {VEC_INIT, VEC_INIT};
	int err = read_table(&table);

	return err ? err : mountinfo_answer(mountinfo_line_of(&table, id), out);
}

char *mounts_of_connection(unsigned connection, struct mount_entry *out)
{
	CLEANUP(mountinfo_free_table) struct mountinfo_table table = {VEC_INIT, VEC_INIT};

	if (read_table(&table) < 0)
		return NULL;
	for (size_t i = 0; i < table.lines.count; i++) {
		const struct mountinfo_line *line = &table.lines.items[i];

		if (line->entry.granaryfs && line->entry.connection == connection)
			return mountinfo_answer(line, out) ? strdup(line->path) : NULL;
	}
	return NULL;
}

int mounts_each(int (*found)(void *context, const struct mount_entry *entry,
			     const char *path, const char *source),
		void *context)
{
	CLEANUP(mountinfo_free_table) struct mountinfo_table table = {VEC_INIT, VEC_INIT};
	int err = read_table(&table);

	for (size_t i = 0; i < table.lines.count && !err; i++) {
		const struct mountinfo_line *line = &table.lines.items[i];

		if (line->entry.granaryfs)
			err = found(context, &line->entry, line->path, line->source);
	}
	return err;
}

int mounts_inside(int id, char **path)
{
	CLEANUP(mountinfo_free_table) struct mountinfo_table table = {VEC_INIT, VEC_INIT};
	int err = read_table(&table);

	if (err)
		return err;
	for (size_t i = 0; i < table.lines.count; i++) {
		const struct mountinfo_line *line = &table.lines.items[i];

		if (line->entry.parent != id || line->entry.id == id)
			continue;
		if (path && !(*path = strdup(line->path)))
			return -ENOMEM;
		return 1;
	}
	return 0;
}
