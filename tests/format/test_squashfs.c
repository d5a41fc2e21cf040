/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The squashfs format against the tree that mksquashfs packed. */
#include "config.h"
#if WITH_SQUASHFS && WITH_DEFLATE && WITH_LZ4 && WITH_ZSTD && WITH_LZMA && WITH_LZO
#include "squashfs_run.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/codec.h"
#include "base/log.h"

/* Contents, through the codecs */

static void decode_chunk(const struct run *run, const struct volume_desc *v,
			 const struct volume_chunk *chunk, unsigned char *plain,
			 size_t room, size_t *size)
{
	unsigned char *stored = malloc(chunk->stored_length);
	ssize_t n;

	assert_non_null(stored);
	assert_int_equal(source_pread(run->source, stored, chunk->stored_length,
				      chunk->stored_at),
			 0);
	n = codec_chain_decode(v->codecs, chunk->skipped, stored, chunk->stored_length,
			       plain, room);
	assert_true(n >= 0);
	*size = (size_t)n;
	free(stored);
}

/* The bytes of one chunk that the extent has: how many, from `offset` on. */
static size_t read_chunk(const struct run *run, const struct entry_extent *x,
			 size_t number, uint64_t offset, unsigned char *out)
{
	const struct volume_desc *v = entries_volume(run->entries, x->volume);
	const struct volume_chunk *chunk = entries_chunks(run->entries, x->volume) + number;
	uint64_t next = number + 1 < v->chunk_count ? chunk[1].start : v->length;
	unsigned char *plain = malloc(next - chunk->start);
	size_t size, take = next - offset, skip = offset - chunk->start;

	assert_non_null(plain);
	if (take > x->offset + x->length - offset)
		take = x->offset + x->length - offset;
	decode_chunk(run, v, chunk, plain, next - chunk->start, &size);
	assert_true(skip + take <= size);
	memcpy(out, plain + skip, take);
	free(plain);
	return take;
}

static void read_coded(const struct run *run, const struct entry_extent *x,
		       unsigned char *out)
{
	const struct volume_desc *v = entries_volume(run->entries, x->volume);
	const struct volume_chunk *chunks = entries_chunks(run->entries, x->volume);
	size_t number = 0, done = 0;

	assert_true(x->offset + x->length <= v->length);
	while (done < x->length) {
		uint64_t at = x->offset + done;

		while (number + 1 < v->chunk_count && chunks[number + 1].start <= at)
			number++;
		done += read_chunk(run, x, number, at, out + done);
	}
}

static unsigned char *contents(const struct run *run, const struct entry *entry)
{
	unsigned char *bytes = calloc(1, (size_t)entry->size + 1);
	uint64_t behind = 0;

	assert_non_null(bytes);
	for (size_t i = 0; i < entry->extent_count; i++) {
		const struct entry_extent *x = &entry->extents[i];
		const struct volume_desc *v = entries_volume(run->entries, x->volume);

		assert_int_equal(v->source, SOURCE_NUMBER);
		assert_true(x->length > 0 && x->file_offset >= behind);
		behind = x->file_offset + x->length;
		assert_true(behind <= entry->size);
		if (v->kind == VOLUME_CODED)
			read_coded(run, x, bytes + x->file_offset);
		else
			assert_int_equal(source_pread(run->source, bytes + x->file_offset,
						      x->length, v->base + x->offset),
					 0);
	}
	return bytes;
}

/* The tree that is packed */

static const char make_tree[] =
	"set -e; umask 022; mkdir -p tree/a/b tree/empty tree/many; cd tree\n"
	"for n in 1 2 4095 4096 4097 8192 65535 65536 65537 131072 1048577; do\n"
	"  yes $n | head -c $n >a/plain-$n\n"
	"  [ $n -gt 200000 ] || head -c $n /dev/urandom >a/random-$n\n"
	"done\n"
	": >a/nothing; ln a/plain-4097 a/b/link; ln a/nothing nothing-too\n"
	"cat a/plain-131072 a/random-131072 a/plain-65537 >a/mixed\n"
	"cp a/mixed a/b/mixed-again; cp a/plain-2 a/b/small-again\n"
	"truncate -s 3000000 a/hole; truncate -s 3000001 a/data-first\n"
	"printf x | dd of=a/data-first conv=notrunc status=none\n"
	"truncate -s 1000000 a/data-last; printf x >>a/data-last\n"
	"ln -s a/hole symlink; ln -s nowhere/at/all dangling; mkfifo fifo\n"
	"for i in $(seq 300); do echo \"file $i\" >many/$i; done\n"
	"chmod 0640 a/plain-1; chmod 0700 empty; touch -d @1 a/plain-2\n"
	"touch -d @4294967295 a/plain-4096\n"
	"n=$(printf %0254d 7); echo long >f$n; mkdir d$n\n"
	"d=deep; for i in $(seq 299); do d=$d/d; done; mkdir -p $d; echo deep >$d/file\n";

static int enter(void **state)
{
	int err = unit_enter(state);

	log_level_now = LOG_LEVEL_ERROR;
	if (!err)
		unit_shell(make_tree);
	return err;
}

/* Names of the tree, and which entry says something of it */

static const struct entry *find(const struct run *run, const char *path)
{
	for (size_t i = 0; i < entries_count(run->entries); i++)
		if (strcmp(entries_get(run->entries, i)->path, path) == 0)
			return entries_get(run->entries, i);
	return NULL;
}

static const struct entry *must_find(const struct run *run, const char *path)
{
	const struct entry *entry = find(run, path);

	if (!entry)
		fail_msg("there is no %s", path);
	return entry;
}

static void compare_file(const struct run *run, const struct entry *entry,
			 const char *path)
{
	unsigned char *got = contents(run, entry);
	size_t size;
	char *want = unit_read(path, &size);

	assert_int_equal(entry->size, size);
	if (memcmp(got, want, size) != 0)
		fail_msg("%s has other bytes", path);
	free(got);
	free(want);
}

static void compare_link(const struct run *run, const struct entry *entry,
			 const struct stat *st)
{
	char path[8192];
	struct stat other;

	assert_int_equal(must_find(run, entry->target)->kind, ENTRY_FILE);
	snprintf(path, sizeof(path), "tree/%s", entry->target);
	assert_int_equal(lstat(path, &other), 0);
	assert_int_equal(other.st_ino, st->st_ino);
}

static void compare_symlink(const struct entry *entry, const char *path)
{
	char target[4096] = "";

	assert_true(readlink(path, target, sizeof(target) - 1) > 0);
	assert_string_equal(entry->target, target);
}

static void compare_entry(const struct run *run, const struct entry *entry)
{
	char path[8192];
	struct stat st;

	snprintf(path, sizeof(path), "tree/%s", entry->path);
	assert_int_equal(lstat(path, &st), 0);
	if (entry->kind == ENTRY_HARDLINK) {
		compare_link(run, entry, &st);
		return;
	}
	assert_int_equal(entry->mode, st.st_mode & 0777);
	assert_int_equal(entry->mtime, st.st_mtime);
	assert_int_equal(entry->mtime_ns, 0);
	assert_int_equal(entry->uid, st.st_uid);
	assert_int_equal(entry->gid, st.st_gid);
	if (entry->kind == ENTRY_FILE)
		compare_file(run, entry, path);
	else if (entry->kind == ENTRY_SYMLINK)
		compare_symlink(entry, path);
	else
		assert_true(S_ISDIR(st.st_mode));
}

static size_t names_packed;

static int count_name(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)type;
	(void)at;
	names_packed += !S_ISFIFO(st->st_mode);
	return 0;
}

static void pack(const char *options)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "mksquashfs tree image -noappend -no-progress -quiet -processors 2 %s "
		 ">pack.log 2>&1",
		 options);
	unit_shell(command);
}

static void compare_tree(const struct run *run)
{
	assert_int_equal(run->err, 0);
	names_packed = 0;
	assert_int_equal(nftw("tree", count_name, 32, FTW_PHYS), 0);
	assert_int_equal(entries_count(run->entries), names_packed);
	assert_int_equal(entries_left_out(run->entries), 1);
	assert_string_equal(entries_get(run->entries, 0)->path, "./");
	for (size_t i = 0; i < entries_count(run->entries); i++)
		compare_entry(run, entries_get(run->entries, i));
	assert_true(run->position > 0 && run->position <= run->scan.length);
}

static void test_compressors(void **state)
{
	static const char *const compressors[] = { "gzip", "lzo", "lz4", "xz", "zstd" };
	static const char *const variants[] = {
		"-b 64K",
		"-no-fragments",
		"-always-use-fragments -b 4096",
		"-b 1M -no-duplicates",
		"-noD -b 4096",
		"-noF -no-exports",
		"-no-sparse -no-xattrs -nopad",
	};
	char options[128];
	struct run run;

	(void)state;
	for (size_t i = 0; i < COUNT(compressors) * COUNT(variants); i++) {
		const char *compressor = compressors[i % COUNT(compressors)];

		snprintf(options, sizeof(options), "-comp %s %s", compressor,
			 variants[i / COUNT(compressors)]);
		print_message("# %s\n", options);
		pack(options);
		run_scan(&run, "image");
		compare_tree(&run);
		assert_memory_equal(run.scan.detail, compressor, strlen(compressor));
		run_end(&run);
	}
}

static void test_detail(void **state)
{
	struct run run;

	(void)state;
	pack("-comp zstd -b 128K");
	run_scan(&run, "image");
	assert_string_equal(run.scan.detail, "zstd, blocks of 128 KiB");
	run_end(&run);
}

/* Where contents are */

static uint64_t chunks_in(const struct run *run)
{
	uint64_t count = 0;

	for (size_t i = 0; i < entries_volume_count(run->entries); i++)
		count += entries_volume(run->entries, i)->chunk_count;
	return count;
}

/* A file that is stored as it is needs no codec, and is one extent. */
static void test_stored(void **state)
{
	struct run run;

	(void)state;
	pack("-noI -noD -noF -noX -b 4096");
	run_scan(&run, "image");
	compare_tree(&run);
	assert_int_equal(chunks_in(&run), 0);
	assert_int_equal(must_find(&run, "a/mixed")->extent_count, 1);
	assert_int_equal(must_find(&run, "a/random-131072")->extent_count, 1);
	assert_int_equal(must_find(&run, "a/hole")->extent_count, 0);
	assert_int_equal(must_find(&run, "a/nothing")->extent_count, 0);
	run_end(&run);
}

/* The blocks of a file are one extent even where some were left as they are. */
static void test_coded(void **state)
{
	struct run run;

	(void)state;
	pack("-comp gzip -b 4096 -no-fragments");
	run_scan(&run, "image");
	compare_tree(&run);
	assert_int_equal(must_find(&run, "a/mixed")->extent_count, 1);
	assert_int_equal(must_find(&run, "a/plain-131072")->extent_count, 1);
	assert_int_equal(must_find(&run, "a/random-131072")->extent_count, 1);
	run_end(&run);
}

/* 300 small files lie in one fragment block, which is one chunk. */
static void test_fragments(void **state)
{
	struct run run;

	(void)state;
	unit_shell("mksquashfs tree/many small -noappend -quiet -no-progress >pack.log");
	run_scan(&run, "small");
	assert_int_equal(run.err, 0);
	assert_int_equal(entries_count(run.entries), 301);
	assert_int_equal(chunks_in(&run), 1);
	for (size_t i = 1; i < entries_count(run.entries); i++)
		assert_int_equal(entries_get(run.entries, i)->extent_count, 1);
	run_end(&run);
}

static void test_hard_links(void **state)
{
	struct run run;

	(void)state;
	pack("");
	run_scan(&run, "image");
	assert_int_equal(must_find(&run, "a/b/link")->kind, ENTRY_FILE); /* met first */
	assert_int_equal(must_find(&run, "a/plain-4097")->kind, ENTRY_HARDLINK);
	assert_string_equal(must_find(&run, "a/plain-4097")->target, "a/b/link");
	run_end(&run);
}

/* A window that begins at an odd byte and ends before the file does. */
static void test_window(void **state)
{
	struct run run;

	(void)state;
	pack("-comp xz -nopad");
	unit_shell("head -c 777 /dev/zero | cat - image image >window");
	run_prepare(&run, "window");
	run.scan.base = 777;
	run.scan.length -= 777;
	run.err = format_by_name("squashfs")->scan(&run.scan, &run.e);
	compare_tree(&run);
	run_end(&run);
}

/* Extended attributes */

static void assert_xattr(const struct entry *entry, const char *name, size_t size)
{
	for (size_t i = 0; i < entry->xattr_count; i++)
		if (strcmp(entry->xattrs[i].name, name) == 0) {
			assert_int_equal(entry->xattrs[i].size, size);
			return;
		}
	fail_msg("there is no %s", name);
}

/* As a tar, so that no filesystem's limits are in the way. */
static const char make_xattrs[] =
	"/usr/bin/python3 - >xattrs.tar <<'END'\n"
	"import sys, tarfile\n"
	"tar = tarfile.open(fileobj=sys.stdout.buffer, mode='w|', format=tarfile.PAX_FORMAT)\n"
	"def add(name, xattrs):\n"
	"    member = tarfile.TarInfo(name)\n"
	"    member.pax_headers = {'SCHILY.xattr.' + k: v for k, v in xattrs.items()}\n"
	"    tar.addfile(member)\n"
	"few = {'user.text': 't', 'user.empty': '', 'user.long': 'v' * 2000,\n"
	"       'security.other': 'left out', 'trusted.other': 'left out'}\n"
	"add('few', few)\n"
	"add('none', {})\n"
	"add('few again', few)\n"
	"add('one', {'user.long': 'v' * 2000})\n"
	"add('others', {'trusted.other': 'left out'})\n"
	"add('many', {'user.%d' % i: 'x' for i in range(300)})\n"
	"add('big', {'user.big': 'x' * 65537, 'user.small': 'x'})\n"
	"tar.close()\n"
	"END\n"
	"mksquashfs - xattrs -tar -noappend -quiet -no-progress -xattrs <xattrs.tar >pack.log\n";

static void test_xattrs(void **state)
{
	const struct entry *entry;
	struct run run;

	(void)state;
	unit_shell(make_xattrs);
	run_scan(&run, "xattrs");
	assert_int_equal(run.err, 0);
	for (unsigned i = 0; i < 2; i++) {
		entry = must_find(&run, i ? "few again" : "few");
		assert_int_equal(entry->xattr_count, 3);
		assert_xattr(entry, "user.text", 1);
		assert_xattr(entry, "user.empty", 0);
		assert_xattr(entry, "user.long", 2000);
	}
	assert_xattr(must_find(&run, "one"), "user.long", 2000);
	assert_int_equal(must_find(&run, "none")->xattr_count, 0);
	assert_int_equal(must_find(&run, "others")->xattr_count, 0);
	assert_int_equal(must_find(&run, "many")->xattr_count, 256);
	assert_int_equal(must_find(&run, "big")->xattr_count, 1);
	run_end(&run);
}

/* Probing */

static void test_probe(void **state)
{
	unsigned char head[96] = "hsqs";
	const struct format *format;

	(void)state;
	head[28] = 4;
	format = format_probe(head, sizeof(head));
	assert_non_null(format);
	assert_string_equal(format->name, "squashfs");
	assert_null(format_probe(head, sizeof(head) - 1));
	head[28] = 3;
	assert_null(format_probe(head, sizeof(head)));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_compressors),
	cmocka_unit_test(test_detail),
	cmocka_unit_test(test_stored),
	cmocka_unit_test(test_coded),
	cmocka_unit_test(test_fragments),
	cmocka_unit_test(test_hard_links),
	cmocka_unit_test(test_window),
	cmocka_unit_test(test_xattrs),
	cmocka_unit_test(test_probe),
};

UNIT_MAIN_IN(tests, enter, unit_leave)

#else
#include "left_out.h"
#endif
