/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_kit.h"

#include "samples/wds_report.h"
#include "told.h"

enum { BLOCK = 512, SHARD_BYTES = 1024 * 1024, TEXT_BYTES = 16384 };

static size_t add_tar(unsigned char *at, const struct member *member)
{
	unsigned sum = 0;

	memset(at, 0, BLOCK);
	snprintf((char *)at, 100, "%s", member->name);
	snprintf((char *)at + 100, 8, "%07o", 0644u);
	snprintf((char *)at + 108, 8, "%07o", 0u);
	snprintf((char *)at + 116, 8, "%07o", 0u);
	snprintf((char *)at + 124, 12, "%011zo", member->size);
	snprintf((char *)at + 136, 12, "%011o", 1234567u);
	at[156] = (unsigned char)(member->type ? member->type : '0');
	if (member->type == '1' || member->type == '2')
		snprintf((char *)at + 157, 100, "%s", member->bytes);
	memcpy(at + 257, "ustar\0" "00", 8);
	memset(at + 148, ' ', 8);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += at[i];
	snprintf((char *)at + 148, 8, "%06o", sum);
	if (member->type)
		return BLOCK;
	memcpy(at + BLOCK, member->bytes, member->size);
	return BLOCK + (member->size + BLOCK - 1) / BLOCK * BLOCK;
}

void kit_write_tar(const char *path, const struct member *members, size_t n)
{
	unsigned char *bytes = calloc(1, SHARD_BYTES);
	size_t at = 0;

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++) {
		assert_true(at + members[i].size + 4 * BLOCK < SHARD_BYTES);
		at += add_tar(bytes + at, &members[i]);
	}
	unit_write(path, bytes, at + 2 * BLOCK);
	free(bytes);
}

struct shard kit_take(const char *path, const struct webdataset_config *wanted)
{
	struct webdataset_config config = *wanted;
	struct shard shard = { .told = calloc(1, sizeof(*shard.told)) };

	config.findings = &shard.findings;
	assert_int_equal(source_open(path, &shard.source, &shard.error), 0);
	shard.scan = (struct scan){ .source = shard.source,
				    .length = source_size(shard.source), .label = path,
				    .entries = entries_new(), .samples = samples_new(),
				    .findings = shard.told };
	shard.told->file = path;
	assert_int_equal(format_by_name("tar")->scan(&shard.scan, &shard.error), 0);
	shard.result = webdataset_make_samples(&shard.scan, &config, &shard.error);
	return shard;
}

void kit_drop(struct shard *shard)
{
	entries_free(shard->scan.entries);
	samples_free(shard->scan.samples);
	wds_splits_free(&shard->findings.splits);
	source_close(shard->source);
	free(told(shard->told));
	free(shard->told);
}

static void add_bytes(const struct shard *shard, uint32_t number, uint64_t offset,
		      uint64_t length, char *text)
{
	const struct entries *log = shard->scan.entries;
	const struct volume_desc *volume = entries_volume(log, number);
	size_t n = strlen(text);

	assert_true(n + length < TEXT_BYTES);
	if (volume->kind == VOLUME_LITERAL)
		memcpy(text + n, (const char *)entries_literals(log, number) + offset, length);
	else
		assert_int_equal(source_pread(shard->source, text + n, length,
					      volume->base + offset), 0);
	for (size_t i = 0; i < length; i++)
		if (!text[n + i])
			text[n + i] = '0';
	text[n + length] = '\0';
}

static void add_sample(const struct shard *shard, const struct sample_group *group,
		       const struct sample *sample, char *text)
{
	size_t n = strlen(text);

	if (sample->class_name)
		snprintf(text + n, TEXT_BYTES - n, "%s/%s/%s=", group->split,
			 sample->class_name, sample->name);
	else
		snprintf(text + n, TEXT_BYTES - n, "%s/%lld/%s=", group->split,
			 (long long)sample->label, sample->name);
	if (sample->head.length)
		add_bytes(shard, sample->head.volume, sample->head.offset,
			  sample->head.length, text);
	if (sample->body.length)
		add_bytes(shard, sample->body.volume, sample->body.offset,
			  sample->body.length, text);
	strcat(text, " ");
}

char *kit_text_of(const struct shard *shard)
{
	char *text = calloc(1, TEXT_BYTES);
	struct entries *log = shard->scan.entries;

	assert_non_null(text);
	for (size_t i = 0; i < samples_group_count(shard->scan.samples); i++) {
		const struct sample_group *group = samples_group(shard->scan.samples, i);
		struct sample sample;

		for (uint64_t k = 0; k < group->rows; k++) {
			samples_get(shard->scan.samples, i, k, &sample);
			add_sample(shard, group, &sample, text);
		}
	}
	for (size_t i = 0; i < entries_count(log); i++) {
		const struct entry *entry = entries_get(log, i);
		size_t n = strlen(text);

		snprintf(text + n, TEXT_BYTES - n, "-%s=", entry->path);
		for (size_t k = 0; k < entry->extent_count; k++)
			add_bytes(shard, entry->extents[k].volume, entry->extents[k].offset,
				  entry->extents[k].length, text);
		strcat(text, " ");
	}
	return text;
}

struct taken {
	struct shard shard;
	char **text;
	struct webdataset_config config;
};

static void run_take(void *argument)
{
	struct taken *taken = argument;
	const struct wds_shard shard = { &taken->shard.scan, &taken->shard.findings };

	taken->shard = kit_take("shard.tar", &taken->config);
	wds_report(&shard, 1, taken->shard.told);
	*taken->text = kit_text_of(&taken->shard);
	kit_drop(&taken->shard);
}

void kit_expect(const struct member *members, size_t n, struct webdataset_config config,
		const char *wanted, const char *word)
{
	char *text = NULL, *said;
	struct taken taken = { .text = &text, .config = config };

	kit_write_tar("shard.tar", members, n);
	said = unit_stderr_of(run_take, &taken);
	assert_int_equal(taken.shard.result, 0);
	assert_string_equal(text, wanted);
	if (word && !strstr(said, word))
		fail_msg("said: %s", said);
	if (!word)
		assert_string_equal(said, "");
	free(said);
	free(text);
}
