#include "format/signature.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/bytes.h"

#define AT(offset, magic, what, remedy) \
	{ offset, magic, sizeof(magic) - 1, what, remedy }

#define NOT_YET "it is not supported yet by this version"
#define PACK "then tar -cf packed.tar -C folder ."
#define IMAGE_AGAIN \
	"make it again: unsquashfs -d folder '%s', then mksquashfs folder new.squashfs"

static const struct signature signatures[] = {
	/* streams: what is inside may well be a tar */
	AT(0, "\037\213", "a gzip-compressed file", "unpack it first: gunzip -k '%s'"),
	AT(0, "BZh", "a bzip2-compressed file", "unpack it first: bunzip2 -k '%s'"),
	AT(0, "\3757zXZ\0", "an xz-compressed file", "unpack it first: xz -dk '%s'"),
	AT(0, "\050\265\057\375", "a zstd-compressed file",
	   "unpack it first: zstd -d '%s'"),
	AT(0, "\004\042\115\030", "an lz4-compressed file",
	   "unpack it first: lz4 -d '%s'"),
	AT(0, "LZIP", "an lzip-compressed file", "unpack it first: lzip -dk '%s'"),
	AT(0, "\037\235", "a file compressed by compress(1)",
	   "unpack it first: gunzip -k '%s'"),
	AT(0, "\211LZO\0\r\n\032\n", "an lzop-compressed file",
	   "unpack it first: lzop -d '%s'"),

	/* archives and filesystem images */
	AT(0, "PK\003\004", "a zip archive",
	   "repack it as a tar: unzip -d folder '%s', " PACK),
	AT(0, "PK\005\006", "an empty zip archive", NULL),
	AT(0, "7z\274\257\047\034", "a 7z archive",
	   NOT_YET "; repack it as a tar: 7z x -ofolder '%s', " PACK),
	AT(0, "Rar!\032\007", "a RAR archive",
	   NOT_YET "; repack it as a tar: unrar x '%s' folder/, " PACK),
	AT(0, "hsqs", "a squashfs image of a version other than 4.0", IMAGE_AGAIN),
	AT(0, "sqsh", "a big-endian squashfs image, of a version before 4.0", IMAGE_AGAIN),
	AT(0, "070701", "a cpio archive", NULL),
	AT(0, "070702", "a cpio archive", NULL),
	AT(0, "070707", "a cpio archive", NULL),
	AT(0, "\307\161", "a cpio archive", NULL),
	AT(0, "!<arch>\n", "an ar archive", NULL),
	AT(32769, "CD001", "an ISO 9660 image",
	   "repack it as a tar: 7z x -ofolder '%s', " PACK),
	AT(1024, "\342\341\365\340", "an EROFS image", NULL),
	AT(0, "XFSB", "an XFS image", NULL),

	/* data in one file */
	AT(0, "CDF\001", "a netCDF file", NULL),
	AT(0, "CDF\002", "a netCDF file", NULL),
	AT(0, "CDF\005", "a netCDF file", NULL),
	AT(0, "FEA1", "a Feather file of version 1",
	   "write it again as Arrow: pyarrow.feather.write_feather("
	   "pyarrow.feather.read_table('%s'), 'new.arrow', compression='uncompressed')"),
	AT(0, "PAR1", "a Parquet file",
	   "write it again as Arrow: pyarrow.feather.write_feather("
	   "pyarrow.parquet.read_table('%s'), 'new.arrow', compression='uncompressed')"),
	AT(0, "\223NUMPY", "a NumPy array (.npy)", NULL),
	AT(16, "\336\300\357\276", "an LMDB database", NULL),
	AT(0, "SQLite format 3\0", "an SQLite database", NULL),
	AT(0, "MATLAB 5.0", "a MATLAB file", NULL),

	/* one sample where a dataset was meant */
	AT(0, "\377\330\377", "a JPEG image", "pack the images first, e.g. with tar"),
	AT(0, "\211PNG\r\n\032\n", "a PNG image",
	   "pack the images first, e.g. with tar"),
	AT(0, "GIF8", "a GIF image", "pack the images first, e.g. with tar"),
	AT(8, "WEBP", "a WebP image", "pack the images first, e.g. with tar"),
	AT(0, "RIFF", "a RIFF file (sound or video)", NULL),
	AT(0, "II*\0", "a TIFF image", "pack the images first, e.g. with tar"),
	AT(0, "MM\0*", "a TIFF image", "pack the images first, e.g. with tar"),
	AT(0, "%PDF-", "a PDF document", NULL),
	AT(0, "\177ELF", "a program or library (ELF)", NULL),

	/* a download that went wrong */
	AT(0, "<!DOCTYPE html", "a web page", "download the file again"),
	AT(0, "<!doctype html", "a web page", "download the file again"),
	AT(0, "<html", "a web page", "download the file again"),
	AT(0, "version https://git-lfs", "a Git LFS pointer, not the file itself",
	   "fetch the file: git lfs pull"),

	/* short magics: anything else goes first */
	AT(1080, "\123\357", "an ext2, ext3 or ext4 image", NULL),
	AT(0, "\200\002", "a Python pickle", NULL),
	AT(0, "\200\003", "a Python pickle", NULL),
	AT(0, "\200\004", "a Python pickle", NULL),
	AT(0, "\200\005", "a Python pickle", NULL),
};

static const struct signature tfrecord = { 0, "", 0, "a TFRecord file", NULL };
static const struct signature text = { 0, "", 0, "a text file", NULL };

static uint32_t crc32c(const unsigned char *bytes, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

/* A record: 8 bytes of length, and a checksum of these 8 bytes. */
static bool is_tfrecord(const unsigned char *head, size_t n)
{
	uint32_t crc;

	if (n < 12)
		return false;
	crc = crc32c(head, 8);
	return ((crc >> 15 | crc << 17) + 0xa282ead8u) == little_endian(head + 8, 4);
}

static bool is_text(const unsigned char *head, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (head[i] == 127 ||
		    (head[i] < ' ' && !(head[i] >= '\t' && head[i] <= '\r')))
			return false;
	return n > 0;
}

const struct signature *signature_find(const unsigned char *head, size_t n)
{
	for (size_t i = 0; i < sizeof(signatures) / sizeof(*signatures); i++) {
		const struct signature *s = &signatures[i];

		if (n >= s->offset && n - s->offset >= s->magic_size &&
		    memcmp(head + s->offset, s->magic, s->magic_size) == 0)
			return s;
	}
	if (is_tfrecord(head, n))
		return &tfrecord;
	if (is_text(head, n))
		return &text;
	return NULL;
}
