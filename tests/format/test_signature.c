/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences about files that are not packed datasets. */
#include "config.h"
#if WITH_HDF5 && WITH_SQUASHFS
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "format/format.h"

static char directory[] = "/tmp/granary-signature-XXXXXX";
static char old_directory[4096];

struct seen {
	size_t offset;
	const char *bytes;
	size_t n;
	const char *says, *remedy;
};

#define SAMPLE(offset, bytes, says, remedy) \
	{ offset, bytes, sizeof(bytes) - 1, says, remedy }

static const struct seen samples[] = {
	SAMPLE(0, "\037\213\010\0", "a gzip-compressed file", "gzip -dc 'sample' >unpacked"),
	SAMPLE(0, "BZh91AY", "a bzip2-compressed file", "bzip2 -dc 'sample'"),
	SAMPLE(0, "\3757zXZ\0\0", "an xz-compressed file", "xz -dc 'sample'"),
	SAMPLE(0, "\135\0\0\200\0\377", "an LZMA-compressed file", "xz -dc 'sample'"),
	SAMPLE(0, "\050\265\057\375x", "a zstd-compressed file", "zstd -dc 'sample'"),
	SAMPLE(0, "\004\042\115\030x", "an lz4-compressed file", "lz4 -dc 'sample'"),
	SAMPLE(0, "LZIP\1", "an lzip-compressed file", "lzip -dc 'sample'"),
	SAMPLE(0, "\037\235x", "a compress-compressed file", "gzip -dc 'sample'"),
	SAMPLE(0, "7z\274\257\047\034", "a 7z archive", "bsdtar -cf packed.tar @'sample'"),
	SAMPLE(0, "Rar!\032\007\1", "a RAR archive", "bsdtar"),
	SAMPLE(0, "hsqs", "a squashfs image of a version other than 4.0", "unsquashfs -d"),
	SAMPLE(0, "\377\330\377\340", "a JPEG image", "pack the directory"),
	SAMPLE(0, "\211PNG\r\n\032\n", "a PNG image", "pack the directory"),
	SAMPLE(0, "GIF89a", "a GIF image", "pack the directory"),
	SAMPLE(0, "RIFF\1\1\1\1WEBP", "a WebP image", "pack the directory"),
	SAMPLE(0, "RIFF\1\1\1\1WAVE", "a RIFF file", "pack the directory"),
	SAMPLE(128, "DICM\2\0\0\0UL", "a DICOM image", "pack the directory"),
	SAMPLE(4, "ftypisom", "an MP4", "pack the directory"),
	SAMPLE(0, "\177ELF\2", "ELF", "name the packed file"),
	SAMPLE(32769, "CD001", "an ISO 9660 image", "bsdtar"),
	SAMPLE(1024, "\342\341\365\340", "an EROFS image", "fsck.erofs --extract=directory"),
	SAMPLE(0, "070701", "a cpio archive", "bsdtar"),
	SAMPLE(0, "!<arch>\n", "an ar archive", "ar x"),
	SAMPLE(0, "FEA1", "a Feather file of version 1", "write_feather"),
	SAMPLE(0, "ORC\012\006\022", "an ORC file", "d.dataset('sample', format='orc', "),
	SAMPLE(0, "Obj\001\004", "an Avro file", "fastavro"),
	SAMPLE(0, "CDF\002\0\0\0\0", "a classic netCDF file", "nccopy -k nc4 'sample' new.nc"),
	SAMPLE(0, "\223NUMPY\1", "a NumPy array", "numpy.load"),
	SAMPLE(16, "\276\357\300\336\0\0\0\1", "a big-endian LMDB", "Python's lmdb"),
	SAMPLE(0, "\203\257\160\321\015\210\112\077\0\0", "an ArrayRecord or Riegeli file",
	       "array_record"),
	SAMPLE(0, "\20\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\"", "a safetensors file",
	       "safetensors.safe_open"),
	SAMPLE(0, "utt-1 \0BFM \4\1\0\0\0", "a Kaldi archive", "kaldiio"),
	SAMPLE(0, "MMIDIDX\0\0\1", "an index of tokens", "no files"),
	SAMPLE(0, "granidx\n", "an index of granaryfs", "mount the packed file"),
	SAMPLE(0, "\200\004\225\1\0", "a Python pickle", "names="),
	SAMPLE(1080, "\123\357", "ext4 image", "fuse2fs -o ro 'sample' directory"),
	SAMPLE(0, "SQLite format 3\0", "an SQLite database", "sqlite3"),
	SAMPLE(0, "%PDF-1.7", "a PDF document", "pack"),
	SAMPLE(0, "<!DOCTYPE html><p>404", "a web page", "download"),
	SAMPLE(0, "<?xml version=\"1.0\"?><Error>", "an XML file", "download"),
	SAMPLE(0, "version https://git-lfs.github.com/spec/v1", "a Git LFS pointer",
	       "git lfs pull"),
	SAMPLE(0, "/annex/objects/MD5E-s1--a.tar\n", "a git-annex pointer",
	       "git annex get 'sample'"),
	SAMPLE(0, "{\"shards\": [{\"format\": \"mds\", \"version\": 2}]}", "MDS shards",
	       "'index.json'"),
	SAMPLE(0, "{ \"chunks\": [{\"chunk_bytes\": 850}]}", "LitData", "'index.json'"),
	SAMPLE(0, "hello,world\n1,2\n", "a text file", "tar -cf packed.tar -T 'sample'"),
	SAMPLE(0, "{\"a\": 1}\n{\"a\": 2}\n", "a JSON text", "pack the directory"),
	SAMPLE(0, " [1, 2]", "a JSON text", "pack the directory"),
	SAMPLE(3, "NTFS    ", "an NTFS image", "mount -o loop,ro 'sample'"),
	SAMPLE(54, "FAT16   ", "a FAT image", "mount -o loop,ro 'sample'"),
	SAMPLE(8, "DUCK\100\0\0\0", "a DuckDB database", "Python's duckdb"),
	SAMPLE(0, "VTXF\1\0\1\0", "a Vortex file", "Python's vortex"),
	SAMPLE(0, "WARC/1.0\r\nWARC-Type: warcinfo\r\n", "a WARC file", "warcio"),
	SAMPLE(0, "\0\0\010\003\0\0\352\140\0\0\0\034", "an IDX file", "MNIST"),
	SAMPLE(0, "root\0\0\365\140", "a ROOT file", "uproot"),
	SAMPLE(0, "\211MCAP0\r\n\1", "an MCAP file", "Python's mcap"),
	SAMPLE(0, "#ROSBAG V2.0\n\1", "a ROS bag", "rosbags"),
	SAMPLE(0, "GGUF\3\0\0\0", "a GGUF model", "no files to mount"),
	SAMPLE(0, "\034\0\0\0TFL3", "a TensorFlow Lite model", "no files to mount"),
	SAMPLE(0, "SIMPLE  =                    T", "a FITS image", "pack the directory"),
	SAMPLE(0, "#!/bin/sh\nexit\n\037\213\010", "a script", "sh 'sample' --noexec"),
	SAMPLE(0, "\1\2\3\4\5\6\7\252", "first bytes are 01 02 03 04 05 06 07 aa", "tar"),
};

/* Files that look like one of these until their numbers are tested. */
static const struct seen others[] = {
	SAMPLE(0, "\5\0\0\0\0\0\0\0\0\0\0\0\012\004abc\0", "of no kind", ""),
	SAMPLE(0, "\20\0\0\0\0\0\0\377{\"w\":\0", "of no kind", ""),
	SAMPLE(0, "\2\0\2\0\0\0\300\0\20\0\0\0\0\0\0\0\0\0\201\0\0\0\0\0", "of no kind", ""),
	SAMPLE(0, "\2\0\0\0\20\0\0\0\17\0\0\0\30\0\0\0abcdefgh", "of no kind", ""),
	SAMPLE(0, "utt\1 \0BFM ", "of no kind", ""),
};

/* Packed by `command`, the file `inner` is called what it is. */
static const struct {
	const char *inner, *command, *says, *remedy;
} compressed[] = {
	{ "tar -cf inner member", "gzip", "a gzip-compressed tar,",
	  "gzip -dc 'sample' >unpacked, then mount 'unpacked'" },
	{ "tar -cf inner noise", "gzip", "a gzip-compressed tar,", "gzip -dc 'sample'" },
	{ "tar -cf inner noise", "bzip2", "a bzip2-compressed tar,", "bzip2 -dc 'sample'" },
	{ "tar -cf inner member", "xz", "an xz-compressed tar,", "xz -dc 'sample'" },
	{ "printf 'ORC1abcd' >inner", "gzip", "a gzip-compressed ORC file",
	  "gzip -dc 'sample' >unpacked, then write it again as Arrow: " },
	{ "printf 'ORC1abcd' >inner", "gzip", "ORC", "d.dataset('unpacked'" },
	{ "head -c 3000 noise >inner", "gzip", "a gzip-compressed file, not", "gzip -dc" },
	{ "tar -cf - member | gzip >inner", "xz", "an xz-compressed file, not", "xz -dc" },
	{ "echo a,b,c >inner", "bzip2", "a bzip2-compressed text file", "bzip2 -dc" },
};

static int look(const char *path, const struct format **format, struct error *e)
{
	struct source *source;
	int err;

	assert_int_equal(source_open(path, &source, NULL), 0);
	err = format_of_window(source, 0, source_size(source), path, format, e);
	source_close(source);
	return err;
}

static void write_at(size_t offset, const char *bytes, size_t n)
{
	FILE *f = fopen("sample", "w");

	assert_non_null(f);
	fseek(f, (long)offset, SEEK_SET);
	fwrite(bytes, 1, n, f);
	fclose(f);
}

static void assert_says(const char *word)
{
	const struct format *format = NULL;
	struct error e;

	assert_int_equal(look("sample", &format, &e), -EBADMSG);
	assert_int_equal(e.status, ERROR_DATASET);
	if (!strstr(e.text, word))
		print_message("# %s\n", e.text);
	assert_non_null(strstr(e.text, "'sample'"));
	assert_non_null(strstr(e.text, word));
}

static void test_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		write_at(samples[i].offset, samples[i].bytes, samples[i].n);
		assert_says(samples[i].says);
		assert_says(samples[i].remedy);
		assert_says("tar archive (v7, ustar, GNU, pax");
		assert_says("squashfs 4.0 image");
		assert_says("HDF5 file");
		assert_says("Apache Arrow file or stream (IPC)");
	}
}

static void test_near_misses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		write_at(0, others[i].bytes, others[i].n);
		assert_says(others[i].says);
	}
}

/* Cut anywhere, a head is still looked at within its bounds. */
static void test_cut(void **state)
{
	const struct format *format;
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		for (size_t n = 1; n < samples[i].n; n++) {
			write_at(0, samples[i].bytes, n);
			assert_int_equal(look("sample", &format, &e), -EBADMSG);
		}
	}
}

static void test_compressed(void **state)
{
	char command[256];

	(void)state;
	assert_int_equal(system("echo x >member; head -c 300000 /dev/urandom >noise"), 0);
	for (size_t i = 0; i < sizeof(compressed) / sizeof(*compressed); i++) {
		snprintf(command, sizeof(command), "%s && %s -c inner >sample",
			 compressed[i].inner, compressed[i].command);
		assert_int_equal(system(command), 0);
		assert_says(compressed[i].says);
		assert_says(compressed[i].remedy);
	}
}

/* A stream that is damaged is called what it is outside. */
static void test_damaged_stream(void **state)
{
	(void)state;
	assert_int_equal(system("head -c 300000 /dev/urandom >noise && gzip -c noise >sample "
				"&& truncate -s 2000 sample"), 0);
	assert_says("a gzip-compressed file");
}

static void test_empty_and_zeros(void **state)
{
	static const off_t sizes[] = { 1, 512, 10240, 65536, 1 << 20, 64 << 20 };

	(void)state;
	write_at(0, "", 0);
	assert_says("is empty (0 bytes)");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(truncate("sample", sizes[i]), 0);
		assert_says("holds only zero bytes");
		assert_says(sizes[i] > 16 << 20 ? "at least" : "all of its");
	}
	write_at(300000, "x", 1);
	assert_says("begins with 262144 zero bytes");
}

static void test_tar_is_found(void **state)
{
	const struct format *format = NULL;

	(void)state;
	assert_int_equal(system("echo x >member && tar -cf packed member"), 0);
	assert_int_equal(look("packed", &format, NULL), 0);
	assert_string_equal(format->name, "tar");
	assert_int_equal(system("tar --format=v7 -cf packed member"), 0);
	assert_int_equal(look("packed", &format, NULL), 0);
	assert_ptr_equal(format, format_by_name("tar"));
	assert_null(format_by_name("tapir"));
	assert_null(format_probe((const unsigned char *)"", 0));
}

static int enter(void **state)
{
	(void)state;
	if (!getcwd(old_directory, sizeof(old_directory)) || !mkdtemp(directory))
		return -1;
	return chdir(directory);
}

static int leave(void **state)
{
	char command[64];

	(void)state;
	if (chdir(old_directory) < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_samples),
	cmocka_unit_test(test_near_misses),
	cmocka_unit_test(test_cut),
	cmocka_unit_test(test_compressed),
	cmocka_unit_test(test_damaged_stream),
	cmocka_unit_test(test_empty_and_zeros),
	cmocka_unit_test(test_tar_is_found),
};

UNIT_MAIN_IN(tests, enter, leave)

#else
#include "left_out.h"
#endif
