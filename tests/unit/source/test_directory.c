/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence about a directory that was named as a source. */
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/directory.h"

/* Names, which are directories where they end in a slash, and words of the sentence. */
static const struct {
	const char *names, *says, *remedy;
} directories[] = {
	/* datasets that are not read */
	{ "index.json shard.00000.mds", "MDS", "mount that one: granaryfs 'd' MOUNTPOINT" },
	{ "index.json shard.00000.mds.zstd shard.00001.mds.zstd", "MDS", "mount that one" },
	{ "index.json chunk-0-0.bin", "a LitData dataset", "mount that one" },
	{ "index.json chunk-0-0.zstd.bin", "a LitData dataset", "mount that one" },
	{ "_versions/ _transactions/ data/ data/a.lance", "a Lance dataset",
	  "lance.dataset('d')" },
	{ "_delta_log/ part-0.snappy.parquet", "a Delta Lake table", "deltalake" },
	{ "metadata/ metadata/v1.metadata.json data/", "an Iceberg table", "pyiceberg" },
	{ ".hoodie/ a.parquet", "a Hudi table", "Hudi" },
	{ "a.tar.gz.partaa a.tar.gz.partab a.tar.gz.partaa.gidx", "the parts of a file", "FIRST" },
	{ "train.lmdb train.lmdb-lock val.lmdb", "the LMDB files", "granaryfs 'd'/*.lmdb" },
	{ "a.array_record-00000-of-00001", "ArrayRecord", "array_record" },
	{ "a.1.ark a.2.ark a.scp", "Kaldi", "kaldiio" },
	{ "wav.scp text utt2spk", "Kaldi", "kaldiio" },
	{ "_common_metadata a/ a/x", "Petastorm", "format='parquet'" },
	{ "a.orc b.orc", "a dataset of ORC files", "format='orc'" },
	{ "a.tar.gz b.tar.gz", "tar", "'d'/*.tar.gz" },
	{ "a.tgz", "tar", "'d/a.tgz'" },
	{ "a.zip b.zip", "the zip files", "granaryfs 'd'/*.zip MOUNTPOINT" },
	{ "CURRENT MANIFEST-000001 000003.log LOCK", "a LevelDB database", "plyvel" },
	{ "CURRENT MANIFEST-000001 OPTIONS-000005 000004.sst", "a RocksDB database", "rocksdict" },
	{ "__schema/ __fragments/ __commits/", "a TileDB array", "Python's tiledb" },
	{ "c_text_document.bin c_text_document.idx", "tokens (Megatron-LM", "its loader" },
	{ "train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz", "MNIST", "torchvision" },
	{ "batches.meta data_batch_1 data_batch_2 test_batch", "CIFAR-10", "torchvision" },
	{ "a.tar.bz2 b.tar.bz2", "tar", "'d'/*.tar.bz2" },
	{ "a.tar.lz4 b.tar.lz4", "tar", "'d'/*.tar.lz4" },
	{ "a.sif b.sif", "Singularity", "name one of them" },
	{ "model-Q4.gguf README.md", "a model (GGUF)", "no files to mount" },
	{ "model-00001-of-00002.safetensors config.json", "a model", "safe_open" },
	{ "dataset_dict.json train/ test/", "DatasetDict",
	  "granaryfs 'd'/*/data-*.arrow MOUNTPOINT" },

	/* splits in directories */
	{ "train/ train/index.json train/shard.00000.mds val/ val/index.json "
	  "val/shard.00000.mds", "'d/train'", "granaryfs 'd/train' MOUNTPOINT" },

	/* the partitions of one dataset */
	{ "t/ t/y=1/ t/y=1/m=2/ t/y=1/m=2/a.orc", "'d/t'", "d.dataset('d/t', format='orc'" },
	{ "m/ m/1.0.0/ m/1.0.0/dataset_info.json m/1.0.0/features.json", "'d/m/1.0.0'",
	  "builder_from_directory" },
	{ "a/ a/b/ a/b/c/ a/b/c/data.mdb", "'d/a/b/c'", "granaryfs 'd/a/b/c' MOUNTPOINT" },
	{ "a/ a/b/ a/b/c/ a/b/c/e/ a/b/c/e/data.mdb", "not a packed file", "granary pack" },
	{ "a/ a/1.jpg b/ b/1.jpg c/ c/data.mdb", "not a packed file", "granary pack" },
	{ "train/ train/x-0.tar train/x-1.tar", "the tar files", "'d/train/x-{0..1}.tar'" },

	/* files that can be mounted */
	{ "x-000.tar x-001.tar x-002.tar", "the tar files",
	  "granaryfs 'd/x-{000..002}.tar' MOUNTPOINT" },
	{ "x-8.tar x-9.tar x-8.tar.gidx", "the tar files", "'d/x-{8..9}.tar'" },
	{ "x-099.tar x-100.tar", "the tar files", "'d/x-{099..100}.tar'" },
	{ "x-000.tar x-002.tar", "the tar files", "granaryfs 'd'/*.tar MOUNTPOINT" },
	{ "x-9.tar x-10.tar", "the tar files", "granaryfs 'd'/*.tar MOUNTPOINT" },
	{ "train-0.tar val-0.tar", "the tar files", "granaryfs 'd'/*.tar MOUNTPOINT" },
	{ "a-0-x.tar a-1-x.tar a-1-y.tar", "the tar files", "'d'/*.tar" },
	{ "00000.tar 00000.parquet 00000_stats.json 00001.tar 00001.parquet "
	  "00001_stats.json", "the tar files", "'d/{00000..00001}.tar'" },
	{ "one.tar", "the tar files", "granaryfs 'd/one.tar' MOUNTPOINT" },
	{ "train.h5 val.h5", "the HDF5 files", "'d'/*.h5" },
	{ "a.squashfs", "the squashfs files", "'d/a.squashfs'" },
	{ "part-0.parquet part-1.parquet _SUCCESS", "the Parquet files",
	  "'d/part-{0..1}.parquet'" },
	{ "train-00000-of-00001.parquet test-00000-of-00001.parquet", "the Parquet files",
	  "granaryfs 'd'/*.parquet MOUNTPOINT" },
	{ "README.md data/ data/train.parquet data/val.parquet", "the Parquet files",
	  "granaryfs 'd/data'/*.parquet MOUNTPOINT" },
	{ "train/ train/0000.parquet", "the Parquet files", "'d/train/0000.parquet'" },
	{ "dataset_info.json features.json m-train.tfrecord-00000-of-00001",
	  "the TFRecord files", "'d/m-train.tfrecord-00000-of-00001'" },
	{ "a-00000.tfrecord a-00001.tfrecord", "the TFRecord files",
	  "'d/a-{00000..00001}.tfrecord'" },
	{ "train-00000-of-00002 train-00001-of-00002", "the TFRecord files",
	  "'d/train-{00000..00001}-of-00002'" },
	{ "train.beton val.beton", "the FFCV files", "granaryfs 'd'/*.beton MOUNTPOINT" },
	{ "train.rec train.idx train.lst property", "the RecordIO files", "'d/train.rec'" },
	{ "state.json dataset_info.json data-00000-of-00002.arrow "
	  "data-00001-of-00002.arrow cache-1f.arrow", "the Arrow files",
	  "'d/data-{00000..00001}-of-00002.arrow'" },
	{ "dataset_info.json m-train.arrow", "the Arrow files", "'d/m-train.arrow'" },

	/* plain files */
	{ "cat/ cat/1.jpg dog/ dog/2.jpg", "not a packed file", "granary pack 'd' 'd.tar'" },
	{ "train/ val/ meta.tar labels.parquet a.txt b.txt c.txt", "not a packed file",
	  "granary pack" },
	{ "a/ a/1.zip b/ b/1.jpg c/ c/1.jpg", "not a packed file", "granary pack" },
	{ "zarr.json c/", "a Zarr array or group", "granary pack 'd' 'd.tar'" },
	{ ".zgroup x/ x/.zarray", "a Zarr group", "granary pack" },
	{ "bagit.txt data/ data/a.jpg", "a BagIt bag", "granary pack" },
	{ "DICOMDIR a.dcm", "DICOM", "granary pack" },
	{ "a.npy b.npy", "not a packed file", "granary pack" },
	{ "", "empty", "name a packed file" },
};

static void make_directory(const char *names)
{
	char text[512], path[256], *rest = text, *name;

	snprintf(text, sizeof(text), "%s", names);
	unit_shell("rm -rf d && mkdir d");
	while ((name = strsep(&rest, " "))) {
		size_t n = strlen(name);

		snprintf(path, sizeof(path), "d/%s", name);
		if (n && name[n - 1] == '/')
			assert_int_equal(mkdir(path, 0755), 0);
		else if (n)
			unit_write(path, "", 0);
	}
}

static void assert_told(const char *path, const char *word)
{
	struct error e;

	assert_int_equal(directory_refuse(path, &e), -EISDIR);
	assert_int_equal(e.status, ERROR_DATASET);
	if (!strstr(e.text, word))
		fail_msg("no \"%s\" in: %s", word, e.text);
}

static void test_directories(void **state)
{
	size_t i = unit_row(state);

	make_directory(directories[i].names);
	assert_told("d", directories[i].says);
	assert_told("d", directories[i].remedy);
	assert_told("d", "'d' is a directory");
	assert_told("d//", directories[i].remedy);
}

/* A dataset of another kind is never to be put into a tar as it is. */
static void test_no_tar_of_datasets(void **state)
{
	size_t i = unit_row(state);
	struct error e;

	make_directory(directories[i].names);
	assert_int_equal(directory_refuse("d", &e), -EISDIR);
	assert_null(strstr(e.text, "tar -c"));
	if (strstr(e.text, "which is not read"))
		assert_null(strstr(e.text, "granary pack 'd'"));
}

static void test_where_the_tar_goes(void **state)
{
	(void)state;
	make_directory("a.jpg");
	assert_told("./d", "granary pack './d' './d.tar'");
	assert_int_equal(chdir("d"), 0);
	assert_told(".", "granary pack '.' './../packed.tar'");
	assert_told("./", "granary pack '.' './../packed.tar'");
	assert_told("../d", "granary pack '../d' '../d.tar'");
	assert_int_equal(chdir(".."), 0);
	assert_int_equal(directory_refuse("d", NULL), -EISDIR);
}

/* More names than are read, and one that is a directory by a link. */
static void test_many_names(void **state)
{
	(void)state;
	unit_shell("rm -rf d && mkdir d && cd d && seq -f x-%06g.tar 0 119999 | xargs touch");
	assert_told("d", "granaryfs 'd'/*.tar MOUNTPOINT");
	make_directory("real/ real/index.json real/shard.00000.mds");
	unit_shell("mv d/real real && ln -s ../real d/train");
	assert_told("d", "'d/train'");
}

static const struct CMUnitTest directory_tests[] = {
	unit_table(test_directories, directories, names),
	unit_table(test_no_tar_of_datasets, directories, names),
	cmocka_unit_test(test_where_the_tar_goes),
	cmocka_unit_test(test_many_names),
};

UNIT_MAIN(directory_tests)
