/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/pixels.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

enum { HEADER_MOST = 64, PIXELS_MOST = 1 << 30 };

static const char too_large[] = "is too large an image to be decoded";
static const char bad_jpeg[] = "is a damaged JPEG";
static const char bad_png[] = "is a damaged PNG";
static const char no_image[] = "is no image: by its bytes neither a JPEG nor a PNG";

const char *const pixels_damages[PIXELS_DAMAGES] = { too_large, bad_jpeg, bad_png, no_image };

#if WITH_IMAGES
#include <jpeglib.h>
#include <jerror.h>
#include <png.h>

/* libjpeg's errors come back by longjmp. */
struct jpeg_errors {
	struct jpeg_error_mgr manager;
	jmp_buf back;
	bool truncated;
};

struct jpeg {
	struct jpeg_decompress_struct info;
	struct jpeg_errors errors;
};

static void jpeg_fail(j_common_ptr info)
{
	longjmp(((struct jpeg_errors *)info->err)->back, 1);
}

/* As in Pillow, a warning is damage only if bytes are missing at the end. */
static void jpeg_message(j_common_ptr info, int level)
{
	if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF)
		((struct jpeg_errors *)info->err)->truncated = true;
}

static void jpeg_silence(j_common_ptr info)
{
}

static void jpeg_begin(struct jpeg *jpeg)
{
	memset(jpeg, 0, sizeof(*jpeg));
	jpeg->info.err = jpeg_std_error(&jpeg->errors.manager);
	jpeg->errors.manager.error_exit = jpeg_fail;
	jpeg->errors.manager.emit_message = jpeg_message;
	jpeg->errors.manager.output_message = jpeg_silence;
}

static bool is_cmyk(const struct jpeg *jpeg)
{
	return jpeg->info.jpeg_color_space == JCS_CMYK ||
	       jpeg->info.jpeg_color_space == JCS_YCCK;
}

/* Reads the header; after jpeg_begin and setjmp. */
static void jpeg_open(struct jpeg *jpeg, const void *bytes, size_t length)
{
	jpeg_create_decompress(&jpeg->info);
	jpeg_mem_src(&jpeg->info, bytes, (unsigned long)length);
	jpeg_read_header(&jpeg->info, TRUE);
	jpeg->info.out_color_space = is_cmyk(jpeg) ? JCS_CMYK : JCS_RGB;
}

static bool jpeg_measure(const void *bytes, size_t length, uint64_t *pixels)
{
	struct jpeg jpeg;

	jpeg_begin(&jpeg);
	if (setjmp(jpeg.errors.back)) {
		jpeg_destroy_decompress(&jpeg.info);
		return false;
	}
	jpeg_open(&jpeg, bytes, length);
	*pixels = (uint64_t)jpeg.info.image_width * jpeg.info.image_height;
	jpeg_destroy_decompress(&jpeg.info);
	return true;
}

/* Allocates header and pixels; returns the first pixel. */
static unsigned char *allocate(struct pixels *out, unsigned width, unsigned height)
{
	char header[HEADER_MOST];
	size_t length = (size_t)snprintf(header, sizeof(header), "P6\n%u %u\n255\n", width,
					 height);

	out->size = length + (size_t)width * height * 3;
	out->bytes = malloc(out->size);
	if (!out->bytes)
		return NULL;
	memcpy(out->bytes, header, length);
	return out->bytes + length;
}

/* a * b / 255, rounded. */
static unsigned scaled(unsigned a, unsigned b)
{
	unsigned t = a * b + 128;

	return ((t >> 8) + t) >> 8;
}

/* Adobe's CMYK is inverted: 255 is no ink. */
static void cmyk_to_rgb(const unsigned char *cmyk, unsigned width, unsigned char *rgb)
{
	for (unsigned x = 0; x < width; x++, cmyk += 4, rgb += 3) {
		unsigned white = cmyk[3];

		for (int i = 0; i < 3; i++)
			rgb[i] = (unsigned char)(white - scaled(255U - cmyk[i], white));
	}
}

static void jpeg_rows(struct jpeg *jpeg, unsigned char *rgb, unsigned char *row)
{
	unsigned width = jpeg->info.output_width;

	while (jpeg->info.output_scanline < jpeg->info.output_height) {
		JSAMPROW at = row ? row : rgb;

		jpeg_read_scanlines(&jpeg->info, &at, 1);
		if (row)
			cmyk_to_rgb(row, width, rgb);
		rgb += (size_t)width * 3;
	}
}

static int jpeg_decode(const void *bytes, size_t length, struct pixels *out)
{
	struct jpeg jpeg;
	unsigned char *volatile row = NULL;
	unsigned char *rgb;

	jpeg_begin(&jpeg);
	if (setjmp(jpeg.errors.back)) {
		jpeg_destroy_decompress(&jpeg.info);
		free(row);
		return -EBADMSG;
	}
	jpeg_open(&jpeg, bytes, length);
	jpeg_start_decompress(&jpeg.info);
	rgb = allocate(out, jpeg.info.output_width, jpeg.info.output_height);
	if (is_cmyk(&jpeg))
		row = malloc((size_t)jpeg.info.output_width * 4);
	if (rgb && (row || !is_cmyk(&jpeg))) {
		jpeg_rows(&jpeg, rgb, row);
		jpeg_finish_decompress(&jpeg.info);
	} else {
		rgb = NULL;
	}
	jpeg_destroy_decompress(&jpeg.info);
	free(row);
	return !rgb ? -ENOMEM : jpeg.errors.truncated ? -EBADMSG : 0;
}

/* ---- PNG ------------------------------------------------------------------ */

struct png_input {
	const unsigned char *at;
	size_t left;
};

struct png_reader {
	png_structp png;
	png_infop info;
	struct png_input input;
};

static void png_input_read(png_structp png, png_bytep out, size_t size)
{
	struct png_input *input = png_get_io_ptr(png);

	if (size > input->left)
		png_error(png, "truncated");
	memcpy(out, input->at, size);
	input->at += size;
	input->left -= size;
}

static void png_fail(png_structp png, png_const_charp message)
{
	png_longjmp(png, 1);
}

static void png_silence(png_structp png, png_const_charp message)
{
}

static bool png_begin(struct png_reader *r, const void *bytes, size_t length)
{
	r->input = (struct png_input){ bytes, length };
	r->info = NULL;
	r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, png_fail, png_silence);
	if (r->png)
		r->info = png_create_info_struct(r->png);
	return r->info;
}

static void png_end(struct png_reader *r)
{
	png_destroy_read_struct(&r->png, &r->info, NULL);
}

/* Reads the header; after setjmp. */
static void png_open(struct png_reader *r)
{
	png_set_read_fn(r->png, &r->input, png_input_read);
	png_read_info(r->png, r->info);
}

/* *grey16: grey of 16 bits, which is not decoded. */
static bool png_measure(const void *bytes, size_t length, uint64_t *pixels, bool *grey16)
{
	struct png_reader r;

	if (!png_begin(&r, bytes, length)) {
		png_end(&r);
		return false;
	}
	if (setjmp(png_jmpbuf(r.png))) {
		png_end(&r);
		return false;
	}
	png_open(&r);
	*pixels = (uint64_t)png_get_image_width(r.png, r.info) *
		  png_get_image_height(r.png, r.info);
	*grey16 = png_get_bit_depth(r.png, r.info) == 16 &&
		  png_get_color_type(r.png, r.info) == PNG_COLOR_TYPE_GRAY;
	png_end(&r);
	return true;
}

static void png_to_rgb(struct png_reader *r)
{
	png_set_strip_16(r->png);
	png_set_palette_to_rgb(r->png);
	png_set_expand_gray_1_2_4_to_8(r->png);
	png_set_strip_alpha(r->png);
	png_set_gray_to_rgb(r->png);
	png_set_interlace_handling(r->png);
	png_read_update_info(r->png, r->info);
}

static png_bytep *row_table(unsigned char *rgb, unsigned width, unsigned height)
{
	png_bytep *rows = malloc(height * sizeof(*rows));

	for (unsigned y = 0; rows && y < height; y++)
		rows[y] = rgb + (size_t)y * width * 3;
	return rows;
}

static int png_decode(const void *bytes, size_t length, struct pixels *out)
{
	struct png_reader r;
	png_bytep *volatile rows = NULL;
	unsigned char *rgb;
	unsigned width, height;
	volatile bool whole = false;

	if (!png_begin(&r, bytes, length)) {
		png_end(&r);
		return -ENOMEM;
	}
	if (setjmp(png_jmpbuf(r.png))) {
		png_end(&r);
		free(rows);
		return -EBADMSG;
	}
	png_open(&r);
	png_to_rgb(&r);
	width = png_get_image_width(r.png, r.info);
	height = png_get_image_height(r.png, r.info);
	rgb = allocate(out, width, height);
	if (rgb && png_get_rowbytes(r.png, r.info) == (size_t)width * 3)
		rows = row_table(rgb, width, height);
	if (rows) {
		png_read_image(r.png, rows);
		png_read_end(r.png, NULL);
		whole = true;
	}
	png_end(&r);
	free(rows);
	return whole ? 0 : -ENOMEM;
}

/* ---- Both ----------------------------------------------------------------- */

static bool is_jpeg(const unsigned char *bytes, size_t length)
{
	return length > 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

static bool is_png(const unsigned char *bytes, size_t length)
{
	return length >= 8 && png_sig_cmp(bytes, 0, 8) == 0;
}

bool pixels_measure(const void *bytes, size_t length, uint64_t *size, const char **damage)
{
	uint64_t pixels = 0;
	bool grey16 = false;

	if (is_jpeg(bytes, length)) {
		if (!jpeg_measure(bytes, length, &pixels))
			*damage = bad_jpeg;
	} else if (is_png(bytes, length)) {
		if (!png_measure(bytes, length, &pixels, &grey16))
			*damage = bad_png;
	} else {
		*damage = no_image;
		return false;
	}
	if (!*damage && pixels > PIXELS_MOST / 3)
		*damage = too_large;
	*size = HEADER_MOST + 3 * pixels;
	return !*damage && !grey16;
}

int pixels_decode(const void *bytes, size_t length, struct pixels *out,
		  const char **damage)
{
	bool jpeg = is_jpeg(bytes, length);
	int err = jpeg ? jpeg_decode(bytes, length, out) : png_decode(bytes, length, out);

	if (!err)
		return 0;
	*damage = err == -ENOMEM ? too_large : jpeg ? bad_jpeg : bad_png;
	pixels_free(out);
	return err;
}

const char *pixels_need(void)
{
	return NULL;
}

#else /* the packer has refused by now */

const char *pixels_need(void)
{
	return NEEDS_IMAGES;
}

bool pixels_measure(const void *bytes, size_t length, uint64_t *size, const char **damage)
{
	*damage = no_image;
	return false;
}

int pixels_decode(const void *bytes, size_t length, struct pixels *out,
		  const char **damage)
{
	*damage = no_image;
	return -EBADMSG;
}

#endif /* WITH_IMAGES */

void pixels_free(struct pixels *pixels)
{
	free(pixels->bytes);
	*pixels = (struct pixels){ 0 };
}
