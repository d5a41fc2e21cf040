#include "volume/volume.h"

#include <errno.h>
#include <stdlib.h>

#include "util/checked.h"

static void open_raw(struct volume *volume, const struct volume_desc *desc,
		     const struct source_set *sources)
{
	if (desc->source >= sources->count ||
	    !range_within(desc->base, desc->length,
			  source_size(sources->sources[desc->source])))
		return;
	volume->source = sources->sources[desc->source];
	volume->base = desc->base;
	volume->length = desc->length;
	volume->ops = &volume_raw_ops;
}

static void open_literal(struct volume *volume, const struct volume_desc *desc,
			 const struct index *index)
{
	if (!range_within(desc->base, desc->length, index_literals_size(index)))
		return;
	volume->index = index;
	volume->base = desc->base;
	volume->length = desc->length;
	volume->ops = &volume_literal_ops;
}

int volume_table_open(const struct index *index, const struct source_set *sources,
		      struct volume_table *out)
{
	uint32_t count = index_volume_count(index);

	out->volumes = calloc(count ? count : 1, sizeof(*out->volumes));
	out->count = count;
	if (!out->volumes)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct volume_desc desc;

		if (index_volume(index, i, &desc) < 0)
			continue;
		if (desc.kind == VOLUME_RAW)
			open_raw(&out->volumes[i], &desc, sources);
		else if (desc.kind == VOLUME_LITERAL)
			open_literal(&out->volumes[i], &desc, index);
	}
	return 0;
}

void volume_table_close(struct volume_table *table)
{
	free(table->volumes);
	*table = (struct volume_table){ 0 };
}

int volume_pread(const struct volume_table *table, uint32_t number, void *buffer,
		 size_t length, uint64_t offset)
{
	const struct volume *volume;

	if (number >= table->count)
		return -EIO;
	volume = &table->volumes[number];
	if (!volume->ops || !range_within(offset, length, volume->length))
		return -EIO;
	return volume->ops->pread(volume, buffer, length, offset);
}

const char *volume_locate(const struct volume_table *table, uint32_t number,
			  uint64_t offset, uint64_t *out)
{
	const struct volume *volume;

	*out = offset;
	if (number >= table->count)
		return "the index";
	volume = &table->volumes[number];
	if (!volume->source)
		return "the index";
	*out = volume->base + offset;
	return source_path(volume->source);
}
