/* Shards of WebDataset become samples with classes. */
#include "unit.h"

#include <errno.h>

#include "indexer/wds_pyd.h"
#include "indexer/wds_report.h"
#include "indexer/webdataset.h"

enum { BLOCK = 512, SHARD_BYTES = 1024 * 1024, TEXT_BYTES = 16384 };

struct member {
	const char *name;
	const char *bytes;
	size_t size;
	char type; /* 0: a file */
};

#define FILE_OF(name, text) { name, text, sizeof(text) - 1, 0 }

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

static void write_tar(const char *path, const struct member *members, size_t n)
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

/* A shard, scanned and taken apart. */
struct shard {
	struct source *source;
	struct scan scan;
	struct wds_findings findings;
	int result;
	struct error error;
};

static struct shard take(const char *path, const struct webdataset_config *wanted)
{
	struct webdataset_config config = *wanted;
	struct shard shard = { 0 };

	config.findings = &shard.findings;
	assert_int_equal(source_open(path, &shard.source, &shard.error), 0);
	shard.scan = (struct scan){ .source = shard.source,
				    .length = source_size(shard.source), .label = path,
				    .entries = entries_new(), .samples = samples_new() };
	assert_int_equal(format_by_name("tar")->scan(&shard.scan, &shard.error), 0);
	shard.result = webdataset_take(&shard.scan, &config, &shard.error);
	return shard;
}

static void drop(struct shard *shard)
{
	entries_free(shard->scan.entries);
	samples_free(shard->scan.samples);
	source_close(shard->source);
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

/* SPLIT/CLASS/NAME=BYTES of all samples, -NAME=BYTES of what remains, between spaces. */
static char *text_of(const struct shard *shard)
{
	char *text = calloc(1, TEXT_BYTES);
	struct entries *log = shard->scan.entries;

	assert_non_null(text);
	for (size_t i = 0; i < samples_group_count(shard->scan.samples); i++) {
		const struct sample *first;
		const struct sample_group *group =
			samples_group(shard->scan.samples, i, &first);

		for (uint64_t k = 0; k < group->rows; k++)
			add_sample(shard, group, &first[k], text);
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
	struct index_summary summary;
};

static void run_take(void *argument)
{
	struct taken *taken = argument;
	const struct wds_findings *findings = &taken->shard.findings;

	taken->shard = take("shard.tar", &taken->config);
	wds_report(&findings, 1, &taken->summary);
	*taken->text = text_of(&taken->shard);
	drop(&taken->shard);
}

/* What it says must hold `word`, or be nothing. */
static void expect(const struct member *members, size_t n, struct webdataset_config config,
		   const char *wanted, const char *word)
{
	char *text = NULL, *said;
	struct taken taken = { .text = &text, .config = config };

	write_tar("shard.tar", members, n);
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

#define EXPECT(members, config, wanted, word)                                          \
	expect(members, COUNT(members), (struct webdataset_config)config, wanted, word)
#define COMMA ,
#define PLAIN { .classes = false }

static void test_a_cls_beside_each_is_the_class(void **state)
{
	static const struct member members[] = {
		FILE_OF("0.cls", "7"), FILE_OF("0.jpg", "A"), FILE_OF("1.cls", " 12\n"),
		FILE_OF("1.jpg", "B"), FILE_OF("2.cls", "-3"), FILE_OF("2.jpg", ""),
	};

	(void)state;
	EXPECT(members, PLAIN, "/7/0.cls=7 /7/0.jpg=A /12/1.cls= 12\n /12/1.jpg=B "
	       "/-3/2.cls=-3 /-3/2.jpg= ", NULL);
	EXPECT(members, { .hide_sidecars = true }, "/7/0.jpg=A /12/1.jpg=B /-3/2.jpg= ", NULL);
	EXPECT(members, { .split = "val" }, "val/7/0.cls=7 val/7/0.jpg=A val/12/1.cls= 12\n "
	       "val/12/1.jpg=B val/-3/2.cls=-3 val/-3/2.jpg= ", NULL);
}

static void test_keys_are_grouped_as_webdataset_does(void **state)
{
	static const struct member members[] = {
		{ "d/", "", 0, '5' },
		FILE_OF("d/a.x.JPG", "A"), FILE_OF("__key__", "-"), FILE_OF("d/.hidden", "h"),
		FILE_OF("noext", "n"), { "l.jpg", "d/a.cls", 0, '2' }, FILE_OF("d/a.CLS", "1"),
		FILE_OF("./train/b.cls", "2"), FILE_OF("./train/b.tar.gz", "B"),
		FILE_OF("/val/b.cls", "2"), FILE_OF("/val/b.wav", "C"),
		FILE_OF("__meta__/b.cls", "9"), FILE_OF("__meta__/b.wav", "C"),
	};

	(void)state;
	EXPECT(members, PLAIN, "/1/d/a.x.JPG=A /1/d/a.CLS=1 train/2/b.cls=2 "
	       "train/2/b.tar.gz=B val/2/b.cls=2 val/2/b.wav=C -d/.hidden=h -noext=n -l.jpg= ",
	       "'shard.tar': '__key__' is not shown by class, as WebDataset skips such names "
	       "(3 in all)");
}

static void test_json_holds_labels_or_classes(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": 3, \"class\": 9}"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "{\"class\": \"dog\"}"),
		FILE_OF("c.jpg", "C"), FILE_OF("c.json", "{\"label\": \"4\", \"k\": \"x\"}"),
	};

	(void)state;
	EXPECT(members, { .hide_sidecars = true }, "/3/a.jpg=A /dog/b.jpg=B /4/c.jpg=C ", NULL);
	EXPECT(members, { .classes = true COMMA .hide_sidecars = true },
	       "/3/a.jpg=A /dog/b.jpg=B /4/c.jpg=C ", NULL);
}

static void test_json_numbers_may_be_floats_or_alone(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": 3.0}"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "7"),
		FILE_OF("c.jpg", "C"), FILE_OF("c.json", "-1.0\n"),
		FILE_OF("d.jpg", "D"), FILE_OF("d.json", "{\"label\": 0.5}"),
		FILE_OF("e.jpg", "E"), FILE_OF("e.json", "1e300"),
	};
	static const struct member words[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "\"a caption\""),
	};

	(void)state;
	EXPECT(members, { .hide_sidecars = true }, "/3/a.jpg=A /7/b.jpg=B /-1/c.jpg=C "
	       "-d.jpg=D -d.json={\"label\": 0.5} -e.jpg=E -e.json=1e300 ",
	       "neither a whole number nor a text");
	EXPECT(words, PLAIN, "-a.jpg=A -a.json=\"a caption\" ", NULL);
}

/* A caption is no label, whatever it is written in. */
static void test_what_has_no_labels_stays(void **state)
{
	static const struct member captions[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"caption\": \"3\"}"),
		FILE_OF("a.txt", "5"), FILE_OF("b.jpg", "B"), FILE_OF("b.txt", "x"),
	};
	static const struct member skipped[] = {
		FILE_OF("__x__/a.json", "{}"), FILE_OF("a.jpg", "A"), FILE_OF("a.txt", "x"),
	};
	static const struct member tree[] = {
		FILE_OF("n01440764/n01440764_1.JPEG", "A"),
		FILE_OF("n01440764/n01440764_2.JPEG", "B"), FILE_OF("LICENSE", "C"),
	};
	static const struct member links[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.cls", "1"), { "b.jpg", "a.jpg", 0, '1' },
	};

	(void)state;
	EXPECT(skipped, PLAIN, "-__x__/a.json={} -a.jpg=A -a.txt=x ", NULL);
	EXPECT(captions, PLAIN, "-a.jpg=A -a.json={\"caption\": \"3\"} -a.txt=5 -b.jpg=B "
	       "-b.txt=x ", NULL);
	EXPECT(tree, PLAIN, "-n01440764/n01440764_1.JPEG=A -n01440764/n01440764_2.JPEG=B "
	       "-LICENSE=C ", NULL);
	EXPECT(tree, { .classes = true }, "-n01440764/n01440764_1.JPEG=A "
	       "-n01440764/n01440764_2.JPEG=B -LICENSE=C ", NULL);
	EXPECT(links, PLAIN, "-a.jpg=A -a.cls=1 -b.jpg= ", NULL);
}

static void test_a_wnid_is_a_class_where_classes_are_asked_for(void **state)
{
	static const struct member members[] = {
		FILE_OF("n01440764_10026.JPEG", "A"), FILE_OF("n01443537_2.JPEG", "B"),
		FILE_OF("x.jpg", "C"), FILE_OF("n0144353700_2.jpg", "D"),
	};

	(void)state;
	EXPECT(members, PLAIN, "-n01440764_10026.JPEG=A -n01443537_2.JPEG=B -x.jpg=C "
	       "-n0144353700_2.jpg=D ", NULL);
	EXPECT(members, { .classes = true }, "/n01440764/n01440764_10026.JPEG=A "
	       "/n01443537/n01443537_2.JPEG=B -x.jpg=C -n0144353700_2.jpg=D ", NULL);
}

static void test_another_suffix_or_item_if_it_is_named(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.fine.txt", "cat\n"), FILE_OF("a.jpg", "A"),
		FILE_OF("a.json", "{\"id\": 1}"), FILE_OF("b.fine.txt", "7"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "{\"id\": 2}"),
	};
	struct webdataset_config none = { .labels = ".nothing" };
	struct shard shard;

	(void)state;
	EXPECT(members, { .labels = "fine.txt" COMMA .hide_sidecars = true },
	       "/cat/a.jpg=A /7/b.jpg=B ", NULL);
	EXPECT(members, { .labels = "id" COMMA .hide_sidecars = true }, "/1/a.jpg=A /2/b.jpg=B ",
	       NULL);
	EXPECT(members, { .labels = ".fine.txt" COMMA .hide_sidecars = true },
	       "/cat/a.jpg=A /7/b.jpg=B ", NULL);
	shard = take("shard.tar", &none);
	assert_int_equal(shard.result, -EINVAL);
	assert_non_null(strstr(shard.error.text, "'.nothing'"));
	assert_non_null(strstr(shard.error.text, "a .json with 'nothing'"));
	drop(&shard);
}

/* The first members are fine; the last ones are one of these. */
static void test_labels_that_cannot_be_used(void **state)
{
	static const struct {
		const char *label, *word;
	} bad[] = {
		{ "", "is empty" }, { "x", "not a number" }, { "1 2", "not a number" },
		{ "99999999999999999999", "not a number" }, { "+", "not a number" },
		{ "0x10", "not a number" }, { "1.0", "not a number" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		const struct member members[] = {
			FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A"),
			FILE_OF("b.jpg", "B"), FILE_OF("b.cls", "0"),
			{ "c.cls", bad[i].label, strlen(bad[i].label), 0 },
			FILE_OF("c.jpg", "C"),
		};
		char wanted[256];

		snprintf(wanted, sizeof(wanted), "/1/a.cls=1 /1/a.jpg=A /0/b.jpg=B /0/b.cls=0 "
			 "-c.cls=%s -c.jpg=C ", bad[i].label);
		EXPECT(members, PLAIN, wanted, bad[i].word);
		EXPECT(members, PLAIN, wanted, "'c.cls'");
	}
}

static void test_odd_samples_stay(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A"), FILE_OF("b.cls", "1"),
		FILE_OF("b.jpg", "B"), FILE_OF("c.cls", "1"), FILE_OF("c.jpg", "C"),
		FILE_OF("d.cls", "1"), FILE_OF("d.jpg", "D"), FILE_OF("a.jpg", "a"),
		FILE_OF("a.JPG", "b"), FILE_OF("a.cls", "1"), FILE_OF("x/../e.cls", "1"),
		FILE_OF("x/../e.jpg", "E"), FILE_OF("f.cls", "1"), FILE_OF("g.jpg", "G"),
	};

	(void)state;
	EXPECT(members, { .hide_sidecars = true }, "/1/a.jpg=A /1/b.jpg=B /1/c.jpg=C /1/d.jpg=D "
	       "-a.jpg=a -a.JPG=b -a.cls=1 -x/../e.cls=1 -x/../e.jpg=E -f.cls=1 -g.jpg=G ",
	       "two members with one suffix");
}

static void test_a_shard_of_broken_labels_stays_or_is_refused(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.cls", "x"), FILE_OF("a.jpg", "A"), FILE_OF("b.cls", "y"),
		FILE_OF("b.jpg", "B"), FILE_OF("c.cls", "1"), FILE_OF("c.jpg", "C"),
	};
	struct webdataset_config classes = { .classes = true };
	struct shard shard;

	(void)state;
	EXPECT(members, PLAIN, "-a.cls=x -a.jpg=A -b.cls=y -b.jpg=B -c.cls=1 -c.jpg=C ",
	       "2 of 3 samples");
	shard = take("shard.tar", &classes);
	assert_int_equal(shard.result, -EBADMSG);
	assert_non_null(strstr(shard.error.text, "'a.cls' is not a number"));
	drop(&shard);
}

static void test_classes_must_be_names_of_directories(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": \"x\"}"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "{\"label\": \"../x\"}"),
		FILE_OF("c.jpg", "C"), FILE_OF("c.json", "{\"label\": \"y\"}"),
		FILE_OF("d.jpg", "D"), FILE_OF("d.json", "{\"label\": \"..\"}"),
	};

	(void)state;
	EXPECT(members, { .hide_sidecars = true }, "/x/a.jpg=A /y/c.jpg=C -b.jpg=B "
	       "-b.json={\"label\": \"../x\"} -d.jpg=D -d.json={\"label\": \"..\"} ",
	       "cannot be the name of a directory");
	/* where none is, that is said too */
	expect(members + 2, 2, (struct webdataset_config)PLAIN,
	       "-b.jpg=B -b.json={\"label\": \"../x\"} ", "cannot be the name of a directory");
}

/* In the order of `ls *.jpg *.cls`, and with labels for some. */
static void test_a_shard_that_stays_says_why(void **state)
{
	static const struct member apart[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("b.jpg", "B"), FILE_OF("a.cls", "1"),
		FILE_OF("b.cls", "2"),
	};
	static const struct member few[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A"), FILE_OF("b.jpg", "B"),
		FILE_OF("c.jpg", "C"),
	};
	static const struct member latex[] = {
		FILE_OF("a.cls", "\\x"), FILE_OF("a.tex", "A"), FILE_OF("b.tex", "B"),
		FILE_OF("c.tex", "C"), FILE_OF("d.cls", "\\x"), FILE_OF("e.jpg", "E"),
		FILE_OF("d.tex", "D"),
	};
	struct webdataset_config classes = { .classes = true }, labels = { .labels = "cls" };
	struct shard shard;

	(void)state;
	EXPECT(few, PLAIN, "-a.cls=1 -a.jpg=A -b.jpg=B -c.jpg=C ",
	       "'shard.tar' is shown as it is stored: only 1 of 3 samples have a label in .cls "
	       "('b' has none)");
	shard = take("shard.tar", &classes);
	assert_int_equal(shard.result, -EBADMSG);
	drop(&shard);
	EXPECT(apart, PLAIN, "-a.jpg=A -b.jpg=B -a.cls=1 -b.cls=2 ",
	       "the members of 'a' do not lie side by side");
	shard = take("shard.tar", &labels);
	assert_int_equal(shard.result, -EBADMSG);
	assert_non_null(strstr(shard.error.text, "tar --sort=name"));
	drop(&shard);
	EXPECT(latex, PLAIN, "-a.cls=\\x -a.tex=A -b.tex=B -c.tex=C -d.cls=\\x -e.jpg=E "
	       "-d.tex=D ", NULL);
}

/* Shards of a set: what they are called, which split they are, what they hold. */
struct set {
	size_t n;
	const char *splits[3];
	const struct member *members[3];
	size_t counts[3];
	struct index_summary summary;
};

static void run_set(void *argument)
{
	static const char *const paths[] = { "x0.tar", "d/x1.tar", "d/x2.tar" };
	const struct wds_findings *findings[3];
	struct set *set = argument;
	struct shard shards[3];

	unit_shell("mkdir -p d");
	for (size_t i = 0; i < set->n; i++) {
		struct webdataset_config config = { .split = set->splits[i] };

		write_tar(paths[i], set->members[i], set->counts[i]);
		shards[i] = take(paths[i], &config);
		assert_int_equal(shards[i].result, 0);
		findings[i] = &shards[i].findings;
	}
	wds_report(findings, set->n, &set->summary);
	for (size_t i = 0; i < set->n; i++)
		drop(&shards[i]);
}

static void test_labels_of_two_kinds_are_said(void **state)
{
	static const struct member numbers[] = { FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A") };
	static const struct member names[] = {
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "{\"label\": \"cat\"}"),
	};
	static const struct member number[] = { FILE_OF("c.jpg", "C"), FILE_OF("c.json", "2") };
	struct set set = { 2, { NULL }, { numbers, names }, { 2, 2 }, { 0 } };
	struct set same = { 2, { NULL }, { numbers, number }, { 2, 2 }, { 0 } };
	char *said;

	(void)state;
	said = unit_stderr_of(run_set, &set);
	assert_non_null(strstr(said, "'x0.tar' are numbers, and those of 'd/x1.tar' names"));
	assert_non_null(strstr(set.summary.notes, "those of 'x1.tar' names"));
	free(said);
	said = unit_stderr_of(run_set, &same);
	assert_string_equal(said, "");
	free(said);
}

/* What is noted of a shard, and whether it is a warning too; NULL: neither. */
static void expect_note(const struct member *members, size_t n, const char *word, bool warned)
{
	struct set set = { 1, { NULL }, { members }, { n }, { 0 } };
	char *said = unit_stderr_of(run_set, &set);

	if (word && !strstr(set.summary.notes, word))
		fail_msg("noted: %s", set.summary.notes);
	if (!word)
		assert_string_equal(set.summary.notes, "");
	assert_int_equal(*said != '\0', warned);
	free(said);
}

#define EXPECT_NOTE(members, word, warned) expect_note(members, COUNT(members), word, warned)

static void test_labels_that_are_elsewhere_are_hinted_at(void **state)
{
	static const struct member wnids[] = {
		FILE_OF("n01440764_1.JPEG", "A"), FILE_OF("d/n01443537_2.JPEG", "B"),
	};
	static const struct member some_wnids[] = {
		FILE_OF("n01440764_1.JPEG", "A"), FILE_OF("x.JPEG", "B"),
	};
	static const struct member folders[] = {
		FILE_OF("n01440764/n01440764_1.JPEG", "A"), FILE_OF("x/1.JPEG", "B"),
		FILE_OF("x/n01440764/n01440764_2.JPEG", "A"),
	};
	static const struct member target[] = {
		FILE_OF("a.image.jpg", "A"), FILE_OF("a.target.cls", "1\n"),
		FILE_OF("b.image.jpg", "B"), FILE_OF("b.target.cls", "0"),
	};
	static const struct member id[] = { FILE_OF("a.jpg", "A"), FILE_OF("a.id", "1") };
	static const struct member words[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.class", "1"), FILE_OF("b.jpg", "B"),
		FILE_OF("b.class", "x"),
	};
	static const struct member item[] = {
		FILE_OF("a.jpg", "A"),
		FILE_OF("a.json", "{\"category_id\": 3, \"f\": 0.5, \"name\": \"x\", \"n\": []}"),
	};
	static const struct member useless[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": [0, 1]}"),
	};
	static const struct member boxes[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"boxes\": [[1, 2]]}"),
	};

	(void)state;
	EXPECT_NOTE(wnids, "2 of 2 samples have names that begin with a wnid; view=class", true);
	EXPECT_NOTE(some_wnids, "1 of 2 samples have names", false);
	EXPECT_NOTE(folders, NULL, false);
	EXPECT_NOTE(target, "numbers in '.target.cls'; labels=target.cls", true);
	EXPECT_NOTE(id, "numbers in '.id'; labels=id", false);
	EXPECT_NOTE(words, NULL, false);
	EXPECT_NOTE(item, "in 'a.json'; labels=NAME takes another item for it: category_id, "
		    "name", false);
	EXPECT_NOTE(useless, "no label or class that can be used is in 'a.json'", true);
	EXPECT_NOTE(boxes, NULL, false);
}

static void test_a_shard_without_labels_among_others_is_said(void **state)
{
	static const struct member with[] = { FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A") };
	static const struct member none[] = { FILE_OF("b.jpg", "B") };
	static const struct member empty[] = { FILE_OF("LICENSE", "") };
	struct set set = { 3, { NULL }, { with, none, none }, { 2, 1, 1 }, { 0 } };
	struct set test = { 2, { "train", "test" }, { with, none }, { 2, 1 }, { 0 } };
	struct set plain = { 2, { NULL }, { none, none }, { 1, 1 }, { 0 } };
	struct set licence = { 2, { NULL }, { with, empty }, { 2, 1 }, { 0 } };
	struct set *const silent[] = { &test, &plain, &licence };
	char *said;

	(void)state;
	said = unit_stderr_of(run_set, &set);
	assert_non_null(strstr(said, "'d/x1.tar' has no labels, but 'x0.tar' has"));
	assert_non_null(strstr(said, "(2 such shards)"));
	assert_non_null(strstr(set.summary.notes, "'x1.tar' has no labels, but 'x0.tar' has"));
	free(said);
	for (size_t i = 0; i < COUNT(silent); i++) {
		said = unit_stderr_of(run_set, silent[i]);
		assert_string_equal(said, "");
		assert_int_equal(*silent[i]->summary.notes != '\0', silent[i] == &test);
		free(said);
	}
}

static void run_sparse(void *argument)
{
	*(struct shard *)argument = take("sparse.tar", &(struct webdataset_config){
		.hide_sidecars = true });
}

/* GNU tar, with a label that is one hole, an image with one, and a sample without. */
static void test_sparse_members(void **state)
{
	struct shard shard;
	char *said, *text;

	(void)state;
	unit_shell("set -e; mkdir -p sp; cd sp; for i in a b c d; do echo 1 > $i.cls;"
		   " echo $i > $i.jpg; done; rm b.cls; truncate -s 3000 b.cls;"
		   " truncate -s 9000 d.jpg; tar --format=gnu -S --sort=name -cf ../sparse.tar *");
	said = unit_stderr_of(run_sparse, &shard);
	assert_int_equal(shard.result, 0);
	assert_non_null(strstr(said, "the label 'b.cls' is not a number"));
	assert_non_null(strstr(said, "sample 'd' has a sparse member"));
	text = text_of(&shard);
	assert_ptr_equal(strstr(text, "/1/a.jpg=a\n /1/c.jpg=c\n -b.cls="), text);
	free(text);
	free(said);
	drop(&shard);
}

/* What Pillow 9.4 pickles; the pixels are the digits 1 to 6, or 1 to 3. */
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
	EXPECT(members, { .hide_sidecars = true },
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
	EXPECT(members, { .hide_sidecars = true }, "/1/a.jpg=" JPEG " /2/b.left.jpg=" PNG
	       " /2/c.jpg=" JPEG "c /2/c.png=" PNG " ", "several images (.img, .png)");
	EXPECT(taken, { .hide_sidecars = true }, "/1/a.img=" JPEG " /1/a.jpg=A ",
	       "'a.img' keeps its name");
	EXPECT(unknown, { .hide_sidecars = true }, "/1/a.img=text ",
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
	EXPECT(seg, { .hide_sidecars = true }, "/1/a.jpg=A /1/b.png=B /1/c.seg.png=S ", NULL);
	EXPECT(seg, PLAIN, "/1/a.cls=1 /1/a.jpg=A /1/a.seg.png=S /1/b.a.seg.png=S /1/b.cls=1 "
	       "/1/b.png=B /1/c.cls=1 /1/c.seg.png=S ",
	       "sample 'a' has several images (.jpg, .seg.png), and ImageFolder takes each for "
	       "a sample (2 such samples); sidecars=hide leaves one");
	EXPECT(pair, { .hide_sidecars = true }, "/1/a.left.jpg=L /1/a.right.jpg=R ",
	       "(.left.jpg, .right.jpg), and ImageFolder takes each for a sample (1 such "
	       "samples); its is_valid_file");
}

static void test_pickles_whose_pixels_are_not_in_place_stay(void **state)
{
	static const struct member members[] = {
		FILE_OF("s0.input.pyd", RGB2), FILE_OF("s0.output.pyd", "K\005."),
	};

	(void)state;
	EXPECT(members, { .hide_sidecars = true }, "/5/s0.input.pyd=\200\002cPIL.Image\012Image"
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
	EXPECT(tuple, { .hide_sidecars = true }, "/5/a.input.pyd=\200\004). ",
	       "'a.input.pyd' is shown as the pickle that it is, because it holds no PIL image");
	EXPECT(old, { .hide_sidecars = true }, "/1/a.pyd=I7\n. ", "holds no PIL image");
	EXPECT(beside, { .hide_sidecars = true }, "/1/a.jpg=A /1/b.meta.pyd=\200\004). ", NULL);
	write_tar("shard.tar", number, COUNT(number));
	shard = take("shard.tar", &classes);
	assert_int_equal(shard.result, -EBADMSG);
	assert_non_null(strstr(shard.error.text, "pickle int(label)"));
	drop(&shard);
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
static void look_at_damaged(struct wds_pyd *pyd, size_t size)
{
	struct wds_image image;
	const char *why;

	for (uint64_t i = 0; i < size * 256; i++) {
		int err = wds_pyd_image(pyd, i * size, size, &image, &why);

		if (err)
			assert_true(err == -ENODATA || err == -ENOTSUP);
		else
			assert_true(image.offset >= i * size &&
				    image.offset + image.length <= (i + 1) * size &&
				    image.length == image.width * image.height *
						    image.channels);
	}
	for (uint64_t n = 0; n < size; n++)
		assert_true(wds_pyd_image(pyd, 0, n, &image, &why) < 0);
}

static void test_damaged_pickles_are_refused(void **state)
{
	static const struct member pickles[] = {
		FILE_OF("", RGB4), FILE_OF("", RGB3), FILE_OF("", RGB2), FILE_OF("", GRAY4),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(pickles); i++) {
		struct wds_window *window = calloc(1, sizeof(*window));
		struct wds_pyd *pyd = wds_pyd_new(window);
		struct source *source;
		struct error e;

		assert_non_null(window);
		assert_non_null(pyd);
		write_damaged(pickles[i].bytes, pickles[i].size);
		assert_int_equal(source_open("damaged", &source, &e), 0);
		window->source = source;
		look_at_damaged(pyd, pickles[i].size);
		source_close(source);
		wds_pyd_free(pyd);
		free(window);
	}
}

static void test_many_samples_share_headers(void **state)
{
	static struct member members[400];
	static char names[400][32];
	struct webdataset_config config = { .hide_sidecars = true };
	struct shard shard;
	uint64_t literal = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(members); i++) {
		snprintf(names[i], sizeof(names[i]), "s%04zu.%s", i / 2,
			 i % 2 ? "output.pyd" : "input.pyd");
		members[i] = (struct member){ names[i], i % 2 ? "K\001." : RGB4,
					      i % 2 ? 3 : sizeof(RGB4) - 1, 0 };
	}
	write_tar("shard.tar", members, COUNT(members));
	shard = take("shard.tar", &config);
	assert_int_equal(shard.result, 0);
	for (size_t i = 0; i < entries_volume_count(shard.scan.entries); i++)
		if (entries_volume(shard.scan.entries, i)->kind == VOLUME_LITERAL)
			literal += entries_volume(shard.scan.entries, i)->length;
	assert_int_equal(literal, strlen("P6\n2 1\n255\n"));
	drop(&shard);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_cls_beside_each_is_the_class),
	cmocka_unit_test(test_keys_are_grouped_as_webdataset_does),
	cmocka_unit_test(test_json_holds_labels_or_classes),
	cmocka_unit_test(test_json_numbers_may_be_floats_or_alone),
	cmocka_unit_test(test_what_has_no_labels_stays),
	cmocka_unit_test(test_a_wnid_is_a_class_where_classes_are_asked_for),
	cmocka_unit_test(test_another_suffix_or_item_if_it_is_named),
	cmocka_unit_test(test_labels_that_cannot_be_used),
	cmocka_unit_test(test_odd_samples_stay),
	cmocka_unit_test(test_a_shard_of_broken_labels_stays_or_is_refused),
	cmocka_unit_test(test_classes_must_be_names_of_directories),
	cmocka_unit_test(test_a_shard_that_stays_says_why),
	cmocka_unit_test(test_labels_of_two_kinds_are_said),
	cmocka_unit_test(test_labels_that_are_elsewhere_are_hinted_at),
	cmocka_unit_test(test_a_shard_without_labels_among_others_is_said),
	cmocka_unit_test(test_sparse_members),
	cmocka_unit_test(test_pickled_images_are_ppm),
	cmocka_unit_test(test_images_without_a_format_in_their_name_get_one),
	cmocka_unit_test(test_a_second_image_is_a_sidecar_or_is_said),
	cmocka_unit_test(test_pickles_whose_pixels_are_not_in_place_stay),
	cmocka_unit_test(test_a_pickle_that_should_be_an_image_is_said),
	cmocka_unit_test(test_damaged_pickles_are_refused),
	cmocka_unit_test(test_many_samples_share_headers),
};

UNIT_MAIN(tests)
