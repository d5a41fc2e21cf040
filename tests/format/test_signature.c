/* What is said of files that are not packed datasets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "format/format.h"

static char folder[] = "/tmp/granary-signature-XXXXXX";
static char old_folder[4096];

struct seen {
	size_t offset;
	const char *bytes;
	size_t n;
	const char *says, *remedy;
};

#define SAMPLE(offset, bytes, says, remedy) \
	{ offset, bytes, sizeof(bytes) - 1, says, remedy }

static const struct seen samples[] = {
	SAMPLE(0, "\037\213\010\0", "a gzip-compressed file", "gunzip -k 'sample'"),
	SAMPLE(0, "BZh91AY", "a bzip2-compressed file", "bunzip2 -k 'sample'"),
	SAMPLE(0, "\3757zXZ\0\0", "an xz-compressed file", "xz -dk 'sample'"),
	SAMPLE(0, "\050\265\057\375x", "a zstd-compressed file", "zstd -d 'sample'"),
	SAMPLE(0, "\004\042\115\030x", "an lz4-compressed file", "lz4 -d 'sample'"),
	SAMPLE(0, "LZIP\1", "an lzip-compressed file", "lzip -dk 'sample'"),
	SAMPLE(0, "\037\235x", "compress(1)", "gunzip -k 'sample'"),
	SAMPLE(0, "PK\003\004x", "a zip archive", "unzip -d folder 'sample'"),
	SAMPLE(0, "7z\274\257\047\034", "a 7z archive", "not supported yet"),
	SAMPLE(0, "Rar!\032\007\1", "a RAR archive", "not supported yet"),
	SAMPLE(0, "hsqs", "a squashfs image of a version other than 4.0", "unsquashfs -d"),
	SAMPLE(0, "\377\330\377\340", "a JPEG image", "pack the images first"),
	SAMPLE(0, "\211PNG\r\n\032\n", "a PNG image", "pack"),
	SAMPLE(0, "GIF89a", "a GIF image", "pack"),
	SAMPLE(0, "RIFF\1\1\1\1WEBP", "a WebP image", "pack"),
	SAMPLE(0, "RIFF\1\1\1\1WAVE", "a RIFF file", "pack"),
	SAMPLE(0, "\177ELF\2", "ELF", "pack"),
	SAMPLE(32769, "CD001", "an ISO 9660 image", "tar -cf packed.tar"),
	SAMPLE(0, "070701", "a cpio archive", "pack"),
	SAMPLE(0, "!<arch>\n", "an ar archive", "pack"),
	SAMPLE(0, "FEA1", "a Feather file of version 1", "write_feather"),
	SAMPLE(0, "PAR1", "a Parquet file", "read_table('sample')"),
	SAMPLE(0, "\223NUMPY\1", "a NumPy array", "pack"),
	SAMPLE(16, "\336\300\357\276", "an LMDB database", "pack"),
	SAMPLE(0, "\5\0\0\0\0\0\0\0\352\262\004\076hello", "a TFRecord file", "pack"),
	SAMPLE(0, "\200\004\225\1\0", "a Python pickle", "pack"),
	SAMPLE(1080, "\123\357", "ext4 image", "pack"),
	SAMPLE(0, "SQLite format 3\0", "an SQLite database", "pack"),
	SAMPLE(0, "%PDF-1.7", "a PDF document", "pack"),
	SAMPLE(0, "<!DOCTYPE html><p>404", "a web page", "download"),
	SAMPLE(0, "version https://git-lfs.github.com/spec/v1", "a Git LFS pointer",
	       "git lfs pull"),
	SAMPLE(0, "hello,world\n1,2\n", "a text file", "pack"),
	SAMPLE(0, "\1\2\3\4\5\6\7\252", "first bytes are 01 02 03 04 05 06 07 aa", "tar"),
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
	if (!getcwd(old_folder, sizeof(old_folder)) || !mkdtemp(folder))
		return -1;
	return chdir(folder);
}

static int leave(void **state)
{
	char command[64];

	(void)state;
	if (chdir(old_folder) < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_empty_and_zeros),
		cmocka_unit_test(test_tar_is_found),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("signature", tests, enter, leave);
}
