/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 files, as h5dump and h5py read them; what is refused. */
#include "config.h"
#if WITH_HDF5
#include "packer/kit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY(p) { .entry = { .kind = PACK_DIRECTORY, .path = p, .mode = 0755 } }
#define FILE_OF(p, bytes, s) \
	{ .entry = { .kind = PACK_FILE, .path = p, .size = bytes }, .seed = s }
#define ROW(p, bytes, s, number)                                                 \
	{ .entry = { .kind = PACK_FILE, .path = p, .size = bytes, .label = number }, \
	  .seed = s }
#define LINK(k, p, to) { .entry = { .kind = k, .path = p, .target = to } }

static const struct writer_config tree = { .level = -1, .threads = 1 };
static const struct writer_config gzip = { .level = -1, .threads = 1,
					   .compressor = "gzip", .hdf5_layout = "tree" };

static const struct item files[] = {
	DIRECTORY(""), DIRECTORY("a"), DIRECTORY("a/empty"), FILE_OF("a/none", 0, 1),
	FILE_OF("a/one", 1, 2), FILE_OF("a/zeros", 700001, 0), FILE_OF("b", 4096, 3),
	FILE_OF("c/d/e", 262145, 4), FILE_OF("new\nline", 10, 5),
	FILE_OF("\xff bytes", 10, 6), FILE_OF("\xc3\xbc", 10, 7),
	LINK(PACK_HARDLINK, "c/b2", "b"), FILE_OF("c/f", 20000, 0),
};

/* Each file's bytes, by h5py, against the files that the test writes. */
static const char compare[] =
	"/usr/bin/python3 - <<'END'\n"
	"import h5py, os\n"
	"f = h5py.File('x.h5', 'r')\n"
	"for directory, _, names in os.walk(b'want'):\n"
	"    for name in names:\n"
	"        path = os.path.join(directory, name)\n"
	"        data = f[os.path.relpath(path, b'want')]\n"
	"        assert data[()].tobytes() == open(path, 'rb').read(), path\n"
	"        assert data.dtype == 'u1' and data.ndim == 1, path\n"
	"assert isinstance(f['a/empty'], h5py.Group) and len(f['a/empty']) == 0\n"
	"assert f['c/b2'] == f['b']\n"
	"END\n";

static void write_wanted(const struct item *items, size_t count)
{
	char path[512];
	size_t i;

	unit_shell("rm -rf want; mkdir -p want/a want/c/d");
	for (i = 0; i < count; i++) {
		char *bytes = kit_contents(&items[i]);

		snprintf(path, sizeof(path), "want/%s", items[i].entry.path);
		if (items[i].entry.kind == PACK_FILE)
			unit_write(path, bytes, (size_t)items[i].entry.size);
		free(bytes);
	}
}

static void test_tree(void **state)
{
	(void)state;
	write_wanted(files, COUNT(files));
	kit_packed(&hdf5_writer, "x.h5", &tree, files, COUNT(files));
	unit_shell(compare);
	free(kit_output("h5dump -pH x.h5 | grep -q CONTIGUOUS && ! h5dump -pH x.h5 | "
			"grep -q CHUNKED"));
}

static void test_gzip(void **state)
{
	struct stat plain, packed;

	(void)state;
	write_wanted(files, COUNT(files));
	assert_int_equal(stat("x.h5", &plain), 0);
	kit_packed(&hdf5_writer, "x.h5", &gzip, files, COUNT(files));
	unit_shell(compare);
	assert_int_equal(stat("x.h5", &packed), 0);
	assert_true(packed.st_size < plain.st_size / 2);
	free(kit_output("h5dump -pH x.h5 | grep -q 'DEFLATE { LEVEL 6 }'"));
}

static void test_soft_links(void **state)
{
	static const struct {
		const char *at, *target, *said;
	} table[] = {
		{ "a/b/l1", "x", "x" }, { "a/b/l2", "c/x", "c/x" }, { "a/b/l3", "../x", "/a/x" },
		{ "a/b/l4", "../../x/y", "/x/y" }, { "a/b/l5", "..", "/a" },
		{ "a/b/l6", "../..", "/" }, { "top", "..x", "..x" }, { "a/b/l7", "./x", "./x" },
	};
	char command[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		const struct item item = LINK(PACK_SYMLINK, table[i].at, table[i].target);

		kit_packed(&hdf5_writer, "x.h5", &tree, &item, 1);
		snprintf(command, sizeof(command),
			 "/usr/bin/python3 -c \"import h5py; "
			 "l = h5py.File('x.h5').get('%s', getlink=True); "
			 "assert l.path == '%s', l.path\"", table[i].at, table[i].said);
		unit_shell(command);
	}
}

static const struct item rows[] = {
	DIRECTORY("train"), ROW("train/b/2", 5000, 1, 1), ROW("val/a/x", 100, 2, 0),
	ROW("train/a/1", 70000, 3, 0), ROW("train/b/none", 0, 4, 1),
	ROW("train/a/\xff\xc3\xbc", 1, 5, 300), ROW("val/a/y", 3, 6, 32767),
};
static const struct writer_split splits[] = { { "train", 4 }, { "val", 2 } };
static const struct writer_config jsc = { .level = -1, .threads = 1,
	.hdf5_layout = "jsc", .splits = splits, .split_count = COUNT(splits),
	.replace = true };

/* As the course's loader does: the row and its label; the path by the map. */
static void test_jsc(void **state)
{
	size_t i;

	(void)state;
	unit_shell("rm -rf want; mkdir -p want/train/a want/train/b want/val/a");
	for (i = 0; i < COUNT(rows); i++) {
		char *bytes = kit_contents(&rows[i]), path[64];

		snprintf(path, sizeof(path), "want/%s", rows[i].entry.path);
		if (rows[i].entry.kind == PACK_FILE)
			unit_write(path, bytes, (size_t)rows[i].entry.size);
		free(bytes);
	}
	kit_packed(&hdf5_writer, "ImageNet.h5", &jsc, rows, COUNT(rows));
	unit_shell("/usr/bin/python3 - <<'END'\n"
		   "import h5py, numpy, os, pickle\n"
		   "order = {'train': ['b/2', 'a/1', 'b/none', 'a/\\udcff\\xfc'],\n"
		   "         'val': ['a/x', 'a/y']}\n"
		   "labels = {'train': [1, 0, 1, 300], 'val': [0, 32767]}\n"
		   "with h5py.File('ImageNet.h5', 'r') as f:\n"
		   "    assert sorted(f) == ['train', 'val']\n"
		   "    for split, group in f.items():\n"
		   "        names = pickle.load(open('imagenet_%s.pkl' % split, 'rb'))\n"
		   "        assert list(names) == [split + '/' + n for n in order[split]]\n"
		   "        assert list(names.values()) == labels[split]\n"
		   "        assert group['targets'][:].tolist() == labels[split]\n"
		   "        assert group['targets'].dtype == 'i2'\n"
		   "        assert h5py.check_vlen_dtype(group['images'].dtype) == 'u1'\n"
		   "        for row, name in enumerate(names):\n"
		   "            data = open(os.fsencode('want/' + name), 'rb').read()\n"
		   "            assert group['images'][row].tobytes() == data\n"
		   "END\n");
}

/* Two batches and a bit, and names of more than 255 bytes. */
static void test_long_map(void **state)
{
	static char names[2001][300];
	static struct item items[2001];
	const struct writer_split split = { "s", COUNT(items) };
	struct writer_config with = jsc;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(items); i++) {
		snprintf(names[i], sizeof(names[i]), "s/c/%0*zu", i % 2 ? 290 : 5, i);
		items[i] = (struct item)ROW(names[i], 2, 1, (long long)i);
	}
	with.splits = &split;
	with.split_count = 1;
	kit_packed(&hdf5_writer, "x.h5", &with, items, COUNT(items));
	unit_shell("/usr/bin/python3 -c \"import pickle; m = pickle.load(open('x_s.pkl', 'rb')); "
		   "assert m == {'s/c/%0*d' % (290 if i % 2 else 5, i): i "
		   "for i in range(2001)} and list(m.values()) == list(range(2001))\"");
}

static void test_same_bytes(void **state)
{
	char *one, *other;
	size_t size, again, i;
	const struct writer_config *const with[] = { &tree, &gzip, &jsc };

	(void)state;
	for (i = 0; i < COUNT(with); i++) {
		const struct item *items = with[i] == &jsc ? rows : files;
		size_t count = with[i] == &jsc ? COUNT(rows) : COUNT(files);

		kit_packed(&hdf5_writer, "x.h5", with[i], items, count);
		one = unit_read("x.h5", &size);
		usleep(1100000); /* another second on the clock */
		kit_packed(&hdf5_writer, "x.h5", with[i], items, count);
		other = unit_read("x.h5", &again);
		assert_int_equal(size, again);
		assert_memory_equal(one, other, size);
		free(one);
		free(other);
	}
}

static void test_refused(void **state)
{
	const struct {
		const struct writer_config *config;
		struct item items[2];
		int error;
		const char *word;
		bool early; /* before anything is written */
	} table[] = {
		{ &tree, { LINK(PACK_SYMLINK, "l", "../x") }, -ENOTSUP, "pack to tar", true },
		{ &tree, { LINK(PACK_SYMLINK, "a/l", "/x") }, -ENOTSUP, "pack to tar", true },
		{ &tree, { LINK(PACK_SYMLINK, "a/l", "x/../y") }, -ENOTSUP, "pack to tar", true },
		{ &tree, { FILE_OF("f", 1, 1), FILE_OF("f", 1, 1) }, -EEXIST, "twice", false },
		{ &tree, { DIRECTORY("f"), FILE_OF("f", 1, 1) }, -EEXIST, "twice", false },
		{ &tree, { LINK(PACK_HARDLINK, "l", "no") }, -ENOENT, "a hard link to no", false },
		{ &tree, { LINK(PACK_SYMLINK, "s", "f"), LINK(PACK_HARDLINK, "l", "s") },
		  -ENOTSUP, "another name of a symbolic link", false },
		{ &tree, { FILE_OF("a/../b", 1, 1) }, -EINVAL, "empty or dots", false },
		{ &tree, { FILE_OF("./b", 1, 1) }, -EINVAL, "empty or dots", false },
		{ &tree, { FILE_OF("a//b", 1, 1) }, -EINVAL, "empty or dots", false },
		{ &jsc, { ROW("train/x", 1, 1, -1) }, -EINVAL, "train/CLASS/FILE", false },
		{ &jsc, { ROW("other/c/x", 1, 1, 1) }, -EINVAL, "train/CLASS/FILE", false },
		{ &jsc, { ROW("train/c/x", 1, 1, 32768) }, -ERANGE, "up to 32767", true },
		{ &jsc, { LINK(PACK_SYMLINK, "train/c/l", "x") }, -ENOTSUP, "is a link", true },
		{ &jsc, { ROW("train/c/x", 1, 1, 1) }, -EINVAL, "should have 4 rows", false },
	};
	size_t i;

	(void)state;
	unit_shell("rm -f *.pkl");
	for (i = 0; i < COUNT(table); i++) {
		struct error e = { 0 };
		size_t count = table[i].items[1].entry.path ? 2 : 1;

		assert_int_equal(hdf5_writer.check(table[i].config,
						   &table[i].items[count - 1].entry, &e),
				 table[i].early ? table[i].error : 0);
		assert_int_equal(kit_pack(&hdf5_writer, "x.h5", table[i].config,
					  table[i].items, count, &e), table[i].error);
		kit_assert_in(e.text, table[i].word);
	}
	assert_int_equal(access("x_train.pkl", F_OK), -1); /* nothing half-made is left */
}

static void test_refused_options(void **state)
{
	const struct {
		const char *layout, *compressor;
		int level;
		const char *word;
	} table[] = {
		{ "flat", NULL, -1, "there are tree and jsc" },
		{ "tree", "zstd", -1, "none and gzip" },
		{ "jsc", "gzip", -1, "are not compressed" },
		{ "tree", "gzip", 10, "1 to 9" }, { "tree", "gzip", 0, "1 to 9" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		const struct writer_config with = {
			.hdf5_layout = table[i].layout, .compressor = table[i].compressor,
			.level = table[i].level,
		};
		struct error e = { 0 };

		assert_int_equal(kit_pack(&hdf5_writer, "x.h5", &with, NULL, 0, &e), -EINVAL);
		assert_int_equal(e.status, ERROR_USAGE);
		kit_assert_in(e.text, table[i].word);
	}
}

/* A map that is there is somebody's. */
static void test_maps_are_kept(void **state)
{
	struct writer_config with = jsc;
	struct error e = { 0 };
	char *kept;

	(void)state;
	with.replace = false;
	unit_write("y_val.pkl", "kept", 4);
	assert_int_equal(kit_pack(&hdf5_writer, "y.h5", &with, rows, COUNT(rows), &e),
			 -EEXIST);
	kept = unit_read("y_val.pkl", NULL);
	assert_string_equal(kept, "kept");
	free(kept);
	assert_int_equal(access("y_train.pkl", F_OK), -1);
}

static void test_full_disk(void **state)
{
	const struct writer_config *const with[] = { &tree, &gzip };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(with); i++) {
		struct error e = { 0 };

		assert_int_equal(kit_pack(&hdf5_writer, "/dev/full", with[i], files,
					  COUNT(files), &e), -ENOSPC);
		kit_assert_in(e.text, "No space left");
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_tree),
	cmocka_unit_test(test_gzip),
	cmocka_unit_test(test_soft_links),
	cmocka_unit_test(test_jsc),
	cmocka_unit_test(test_long_map),
	cmocka_unit_test(test_same_bytes),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_refused_options),
	cmocka_unit_test(test_maps_are_kept),
	cmocka_unit_test(test_full_disk),
};

UNIT_MAIN(tests)

#else
#include "left_out.h"
#endif
