/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_compressor.c: libsquashfs copies a compressor for each of its threads, so the
 * wrapper copies the real one.
 */
#include "packer/squashfs_compressor.h"

#include <sqfs/error.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The levels of libsquashfs. The usual ones are the defaults of the compressors' own
 * programs: mksquashfs's 15 for zstd and 9 for gzip take many times as long on
 * photographs and save nothing.
 */
static const struct squashfs_compressor compressors[] = {
	{ "none", SQFS_COMP_GZIP, 0, 0, 0 },
	{ "lz4", SQFS_COMP_LZ4, 1, 12, 1 },
	{ "zstd", SQFS_COMP_ZSTD, SQFS_ZSTD_MIN_LEVEL, SQFS_ZSTD_MAX_LEVEL, 3 },
	{ "gzip", SQFS_COMP_GZIP, SQFS_GZIP_MIN_LEVEL, SQFS_GZIP_MAX_LEVEL, 6 },
	{ "xz", SQFS_COMP_XZ, SQFS_XZ_MIN_LEVEL, SQFS_XZ_MAX_LEVEL,
	  SQFS_XZ_DEFAULT_LEVEL },
};

struct wrapper {
	sqfs_compressor_t ops;   /* first: libsquashfs has a pointer to it */
	sqfs_compressor_t *real; /* NULL: none */
	sqfs_compressor_config_t config;
	bool unpack;
};

static void get_configuration(const sqfs_compressor_t *ops,
			      sqfs_compressor_config_t *config)
{
	*config = ((const struct wrapper *)ops)->config;
}

static int write_options(sqfs_compressor_t *ops, sqfs_file_t *file)
{
	sqfs_compressor_t *real = ((struct wrapper *)ops)->real;

	return real ? real->write_options(real, file) : 0;
}

static int read_options(sqfs_compressor_t *ops, sqfs_file_t *file)
{
	sqfs_compressor_t *real = ((struct wrapper *)ops)->real;

	return real ? real->read_options(real, file) : 0;
}

static sqfs_s32 compressor_do_block(sqfs_compressor_t *ops, const sqfs_u8 *in,
				    sqfs_u32 size, sqfs_u8 *out, sqfs_u32 room)
{
	const struct wrapper *wrapper = (struct wrapper *)ops;
	sqfs_s32 n = 0; /* "not smaller": stored plain */

	if (wrapper->real)
		n = wrapper->real->do_block(wrapper->real, in, size, out, room);
	if (!wrapper->unpack && n > 0 && (sqfs_u32)n >= size)
		n = 0;
	return n;
}

static void compressor_destroy(sqfs_object_t *object)
{
	sqfs_destroy(((struct wrapper *)object)->real);
	free(object);
}

static sqfs_object_t *compressor_copy(const sqfs_object_t *object)
{
	const struct wrapper *wrapper = (const struct wrapper *)object;
	struct wrapper *other = malloc(sizeof(*other));

	if (!other)
		return NULL;
	*other = *wrapper;
	other->real = wrapper->real ? sqfs_copy(wrapper->real) : NULL;
	if (wrapper->real && !other->real) {
		free(other);
		return NULL;
	}
	return &other->ops.base;
}

const struct squashfs_compressor *squashfs_compressor_find(const char *name)
{
	for (size_t i = 0; i < sizeof(compressors) / sizeof(*compressors); i++)
		if (strcmp(compressors[i].name, name) == 0)
			return &compressors[i];
	return NULL;
}

bool squashfs_compressor_is_none(const struct squashfs_compressor *compressor)
{
	return compressor->most == 0;
}

int squashfs_compressor_check(const struct squashfs_compressor *compressor, int level,
			      struct error *e)
{
	if (level == compressor->usual)
		return 0;
	if (squashfs_compressor_is_none(compressor))
		return error_set(e, ERROR_USAGE, EINVAL, "none: has no levels");
	if (level < compressor->least || level > compressor->most)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "%s: has the levels %d to %d, not %d", compressor->name,
				 compressor->least, compressor->most, level);
	if (compressor->id == SQFS_COMP_LZ4 && level != compressor->most)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "lz4: has two levels in squashfs: 1 is fast, %d packs "
				 "more tightly and is read as fast", compressor->most);
	return 0;
}

static int create_real(const struct squashfs_compressor *compressor, int level,
		       struct wrapper *wrapper)
{
	sqfs_compressor_config_t *config = &wrapper->config;

	if (squashfs_compressor_is_none(compressor))
		return 0;
	if (compressor->id != SQFS_COMP_LZ4)
		config->level = (sqfs_u32)level;
	else if (level == compressor->most)
		config->flags |= SQFS_COMP_FLAG_LZ4_HC;
	return sqfs_compressor_create(config, &wrapper->real);
}

int squashfs_compressor_create(const struct squashfs_compressor *compressor, int level,
			       size_t block_size, bool unpack, sqfs_compressor_t **out)
{
	struct wrapper *wrapper = calloc(1, sizeof(*wrapper));
	int rc;

	if (!wrapper)
		return SQFS_ERROR_ALLOC;
	wrapper->ops = (sqfs_compressor_t){
		.base = { .destroy = compressor_destroy, .copy = compressor_copy },
		.get_configuration = get_configuration,
		.write_options = write_options,
		.read_options = read_options,
		.do_block = compressor_do_block,
	};
	wrapper->unpack = unpack;
	rc = sqfs_compressor_config_init(&wrapper->config, compressor->id, block_size,
					 unpack ? SQFS_COMP_FLAG_UNCOMPRESS : 0);
	if (!rc)
		rc = create_real(compressor, level, wrapper);
	if (rc)
		free(wrapper);
	else
		*out = &wrapper->ops;
	return rc;
}
