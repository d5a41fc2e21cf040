/*
 * entries.h: what a format module says of one packed file, in its own order.
 *
 * A format appends entries; the tree builder applies them later, in the order
 * of the shards, so that shards can be scanned in parallel and the result is
 * the same. Paths are the raw bytes of the archive: absolute names, `.` and
 * `..` are dealt with by the builder, once for all formats.
 *
 * Threads: one log of entries belongs to one thread at a time.
 */
#ifndef GRANARY_TREE_ENTRIES_H
#define GRANARY_TREE_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

enum entry_kind {
	ENTRY_DIRECTORY,
	ENTRY_FILE,
	ENTRY_SYMLINK,
	ENTRY_HARDLINK, /* another name of an entry that is named by `target` */
	ENTRY_NESTED,   /* a packed file inside: a directory if it could be read */
};

/*
 * A piece of a file's contents. Pieces are in the order of file_offset and do
 * not overlap; what no piece covers is a hole, read as zeros.
 */
struct entry_extent {
	uint64_t file_offset; /* bytes from the start of the file */
	uint64_t offset;      /* bytes from the start of the volume */
	uint64_t length;      /* bytes */
	uint32_t volume;      /* a number that entries_add_volume returned */
};

struct entry_xattr {
	const char *name; /* with its namespace, "user.x" */
	const void *value;
	size_t size;
};

struct entries;

struct entry {
	enum entry_kind kind;
	const char *path;   /* NUL-terminated */
	const char *target; /* symlink: what it holds; hard link: the other path */
	uint32_t mode;      /* permission bits; set-id and sticky bits are dropped */
	uint32_t uid, gid;
	int64_t mtime;      /* seconds since the epoch */
	uint32_t mtime_ns;
	uint64_t size;      /* bytes, of a file (holes included) */
	const struct entry_extent *extents;
	size_t extent_count;
	const struct entry_xattr *xattrs;
	size_t xattr_count;
	struct entries *nested; /* ENTRY_NESTED: its contents; owned by the log */
};

/* How a volume's bytes come about. */
enum volume_kind {
	VOLUME_RAW = 1,     /* bytes of a source, from `base` on */
	VOLUME_LITERAL = 2, /* bytes that the index itself holds, from `base` on */
};

struct volume_desc {
	enum volume_kind kind;
	uint32_t source; /* number in the source set; literal: 0 */
	uint64_t base;   /* bytes */
	uint64_t length; /* bytes */
};

/* A node holds 40 bits of offset: a raw volume's extents begin below this. */
#define VOLUME_OFFSET_LIMIT (UINT64_C(1) << 40)

struct entries *entries_new(void);

/* Frees the nested logs too. */
void entries_free(struct entries *entries);

/* Copies everything that `entry` points to. 0 or -ENOMEM. */
int entries_add(struct entries *entries, const struct entry *entry);

/* The number of the volume within this log, or -ENOMEM. */
int entries_add_volume(struct entries *entries, const struct volume_desc *volume);

/*
 * The extent of `length` bytes at `offset` of source number `source`, in a raw
 * volume that is made when it is first needed. `source_size` bounds it: -EBADMSG
 * if the range does not lie within. file_offset is set to 0.
 */
int entries_raw_extent(struct entries *entries, uint32_t source,
		       uint64_t source_size, uint64_t offset, uint64_t length,
		       struct entry_extent *out);

/* A nested packed file that could not be read: it is shown as a file. */
void entries_set_failed(struct entries *entries);
int entries_failed(const struct entries *entries);

/* Counts what is not shown: a device, a FIFO, a socket. */
void entries_leave_out(struct entries *entries);

/* How many were left out, nested logs included. */
uint64_t entries_left_out(const struct entries *entries);

size_t entries_count(const struct entries *entries);
const struct entry *entries_get(const struct entries *entries, size_t i);
size_t entries_volume_count(const struct entries *entries);
const struct volume_desc *entries_volume(const struct entries *entries, size_t i);

#endif
