/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images in shards of WebDataset: pickled, without a format in their name, several. */
#include "unit.h"

#include <errno.h>

#include "samples/wds_kit.h"
#include "samples/pickled_image.h"

/* Pickles of Pillow 9.4; the pixels are the digits 1 to 6, or 1 to 3. */
#define RGB_STATE "(}\224\214\003dpi\224KHKH\206\224s\214\003RGB\224K\002K\001\206\224NC\006" \
	"123456\224eb."
#define RGB4 "\200\004\225D\0\0\0\0\0\0\0\214\011PIL.Image\224\214\005Image\224\223\224)\201" \
	"\224]\224" RGB_STATE
#define RGB3 "\200\003cPIL.Image\012Image\012q\000)\201q\001]q\002(}q\003X\003\0\0\0dpiq\004" \
	"KHKH\206q\005sX\003\0\0\0RGBq\006K\002K\001\206q\007NC\006" "123456q\010eb."
#define RGB2 "\200\002cPIL.Image\012Image\012q\000)\201q\001]q\002(}q\003X\003\0\0\0dpiq\004" \
	"KHKH\206q\005sX\003\0\0\0RGBq\006K\002K\001\206q\007Nc_codecs\012encode\012q\010X" \
	"\006\0\0\0" "123456q\011X\006\0\0\0latin1q\012\206q\013Rq\014eb."
#define GRAY4 "\200\004\2252\0\0\0\0\0\0\0\214\011PIL.Image\224\214\005Image\224\223\224)" \
	"\201\224]\224(}\224\214\001L\224K\003K\001\206\224NC\003" "123\224eb."

static void test_pickled_images_are_ppm(void **state)
{
	static const struct member members[] = {
		FILE_OF("s0.input.pyd", RGB4), FILE_OF("s0.output.pyd", "\200\004K\005."),
		FILE_OF("s1.input.pyd", RGB3), FILE_OF("s1.output.pyd", "\200\004K\006."),
		FILE_OF("s2.input.pyd", GRAY4), FILE_OF("s2.output.pyd",
			"\200\004\225\004\0\0\0\0\0\0\0M\014\002."),
		FILE_OF("s3.left.pyd", RGB4), FILE_OF("s3.output.pyd", "\200\004K\007."),
	};

	(void)state;
	EXPECT(members, { .sidecars = SIDECARS_HIDE },
	       "/5/s0.ppm=P6\n2 1\n255\n123456 /6/s1.ppm=P6\n2 1\n255\n123456 "
	       "/524/s2.pgm=P5\n3 1\n255\n123 /7/s3.left.ppm=P6\n2 1\n255\n123456 ", NULL);
}

#define JPEG "\377\330\377\340"
#define PNG "\211PNG\r\n\032\n"

static void test_images_without_a_format_in_their_name_get_one(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.img", JPEG), FILE_OF("b.cls", "2"),
		FILE_OF("b.left.IMAGE", PNG), FILE_OF("c.cls", "2"), FILE_OF("c.img", JPEG "c"),
		FILE_OF("c.png", PNG),
	};
	static const struct member taken[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.img", JPEG), FILE_OF("a.jpg", "A"),
	};
	static const struct member unknown[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.img", "text"),
	};
	static const struct member unlabelled[] = { FILE_OF("a.img", JPEG) };

	(void)state;
	EXPECT(members, { .sidecars = SIDECARS_HIDE }, "/1/a.jpg=" JPEG " /2/b.left.jpg=" PNG
	       " /2/c.jpg=" JPEG "c /2/c.png=" PNG " ", "several images (.img, .png)");
	EXPECT(taken, { .sidecars = SIDECARS_HIDE }, "/1/a.img=" JPEG " /1/a.jpg=A ",
	       "'a.img' keeps its name");
	EXPECT(unknown, { .sidecars = SIDECARS_HIDE }, "/1/a.img=text ",
	       "the first ones begin like no image that is known");
	EXPECT(unlabelled, PLAIN, "-a.img=" JPEG " ", NULL);
}

static void test_a_second_image_is_a_sidecar_or_is_said(void **state)
{
	static const struct member seg[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A"), FILE_OF("a.seg.png", "S"),
		FILE_OF("b.a.seg.png", "S"), FILE_OF("b.cls", "1"), FILE_OF("b.png", "B"),
		FILE_OF("c.cls", "1"), FILE_OF("c.seg.png", "S"),
	};
	static const struct member pair[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.left.jpg", "L"), FILE_OF("a.right.jpg", "R"),
	};

	(void)state;
	EXPECT(seg, { .sidecars = SIDECARS_HIDE }, "/1/a.jpg=A /1/b.png=B /1/c.seg.png=S ", NULL);
	EXPECT(seg, PLAIN, "/1/a.cls=1 /1/a.jpg=A /1/a.seg.png=S /1/b.a.seg.png=S /1/b.cls=1 "
	       "/1/b.png=B /1/c.cls=1 /1/c.seg.png=S ",
	       "sample 'a' has several images (.jpg, .seg.png), and ImageFolder takes each for "
	       "a sample (2 such samples); sidecars=hide leaves one");
	EXPECT(pair, { .sidecars = SIDECARS_HIDE }, "/1/a.left.jpg=L /1/a.right.jpg=R ",
	       "(.left.jpg, .right.jpg), and ImageFolder takes each for a sample (1 such "
	       "samples); its is_valid_file");
}

static void test_pickles_whose_pixels_are_not_in_place_stay(void **state)
{
	static const struct member members[] = {
		FILE_OF("s0.input.pyd", RGB2), FILE_OF("s0.output.pyd", "K\005."),
	};

	(void)state;
	EXPECT(members, { .sidecars = SIDECARS_HIDE }, "/5/s0.input.pyd=\200\002cPIL.Image\012Image"
	       "\012q0)\201q\001]q\002(}q\003X\003000dpiq\004KHKH\206q\005sX\003000RGBq\006K\002K"
	       "\001\206q\007Nc_codecs\012encode\012q\010X\006000" "123456q\011X\006000latin1q\012"
	       "\206q\013Rq\014eb. ", "protocol 2");
}

/* A tuple, protocol 0, and what is beside an image. */
static void test_a_pickle_that_should_be_an_image_is_said(void **state)
{
	static const struct member tuple[] = {
		FILE_OF("a.input.pyd", "\200\004)."), FILE_OF("a.output.pyd", "K\005."),
	};
	static const struct member old[] = { FILE_OF("a.cls", "1"), FILE_OF("a.pyd", "I7\n.") };
	static const struct member beside[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A"), FILE_OF("a.pyd", "\200\004)."),
		FILE_OF("b.cls", "1"), FILE_OF("b.meta.pyd", "\200\004)."),
	};
	static const struct member number[] = {
		FILE_OF("a.input.pyd", RGB4), FILE_OF("a.output.pyd", "\200\004)."),
	};
	struct webdataset_config classes = { .classes = true };
	struct shard shard;

	(void)state;
	EXPECT(tuple, { .sidecars = SIDECARS_HIDE }, "/5/a.input.pyd=\200\004). ",
	       "'a.input.pyd' is shown as the pickle that it is, because it holds no PIL image");
	EXPECT(old, { .sidecars = SIDECARS_HIDE }, "/1/a.pyd=I7\n. ", "holds no PIL image");
	EXPECT(beside, { .sidecars = SIDECARS_HIDE }, "/1/a.jpg=A /1/b.meta.pyd=\200\004). ", NULL);
	kit_write_tar("shard.tar", number, COUNT(number));
	shard = kit_take("shard.tar", &classes);
	assert_int_equal(shard.result, -EBADMSG);
	assert_non_null(strstr(shard.error.text, "pickle int(label)"));
	kit_drop(&shard);
}

/* All that a pickle is with one byte changed, one behind the other. */
static void write_damaged(const char *pickle, size_t size)
{
	char *bytes = malloc(size * size * 256);

	assert_non_null(bytes);
	for (size_t i = 0; i < size * 256; i++) {
		memcpy(bytes + i * size, pickle, size);
		bytes[i * size + i / 256] = (char)(i % 256);
	}
	unit_write("damaged", bytes, size * size * 256);
	free(bytes);
}

/* Wherever a pickle is changed or cut, what comes out lies within it. */
static void look_at_damaged(struct pickled_image_reader *pyd, size_t size)
{
	struct wds_image image;
	const char *why;

	for (uint64_t i = 0; i < size * 256; i++) {
		int err = pickled_image_find(pyd, i * size, size, &image, &why);

		if (err)
			assert_true(err == -ENODATA || err == -ENOTSUP);
		else
			assert_true(image.offset >= i * size &&
				    image.offset + image.length <= (i + 1) * size &&
				    image.length == image.width * image.height *
						    image.channels);
	}
	for (uint64_t n = 0; n < size; n++)
		assert_true(pickled_image_find(pyd, 0, n, &image, &why) < 0);
}

static const struct member pickles[] = {
	FILE_OF("", RGB4), FILE_OF("", RGB3), FILE_OF("", RGB2), FILE_OF("", GRAY4),
};

static void test_damaged_pickles_are_refused(void **state)
{
	size_t i = unit_row(state);
	struct wds_window *window = calloc(1, sizeof(*window));
	struct pickled_image_reader *pyd = pickled_image_new(window);
	struct source *source;
	struct error e;

	assert_non_null(window);
	assert_non_null(pyd);
	write_damaged(pickles[i].bytes, pickles[i].size);
	assert_int_equal(source_open("damaged", &source, &e), 0);
	window->source = source;
	look_at_damaged(pyd, pickles[i].size);
	source_close(source);
	pickled_image_free(pyd);
	free(window);
}

static void test_many_samples_share_headers(void **state)
{
	static struct member members[400];
	static char names[400][32];
	struct webdataset_config config = { .sidecars = SIDECARS_HIDE };
	struct shard shard;
	uint64_t literal = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(members); i++) {
		snprintf(names[i], sizeof(names[i]), "s%04zu.%s", i / 2,
			 i % 2 ? "output.pyd" : "input.pyd");
		members[i] = (struct member){ names[i], i % 2 ? "K\001." : RGB4,
					      i % 2 ? 3 : sizeof(RGB4) - 1, 0 };
	}
	kit_write_tar("shard.tar", members, COUNT(members));
	shard = kit_take("shard.tar", &config);
	assert_int_equal(shard.result, 0);
	for (size_t i = 0; i < entries_volume_count(shard.scan.entries); i++)
		if (entries_volume(shard.scan.entries, i)->kind == VOLUME_LITERAL)
			literal += entries_volume(shard.scan.entries, i)->length;
	assert_int_equal(literal, strlen("P6\n2 1\n255\n"));
	kit_drop(&shard);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pickled_images_are_ppm),
	cmocka_unit_test(test_images_without_a_format_in_their_name_get_one),
	cmocka_unit_test(test_a_second_image_is_a_sidecar_or_is_said),
	cmocka_unit_test(test_pickles_whose_pixels_are_not_in_place_stay),
	cmocka_unit_test(test_a_pickle_that_should_be_an_image_is_said),
	unit_rows(test_damaged_pickles_are_refused, pickles),
	cmocka_unit_test(test_many_samples_share_headers),
};

UNIT_MAIN(tests)
