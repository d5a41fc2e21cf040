/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flat directories become directories of classes, and what leads to their files follows.
 */
#include "unit.h"

#include <errno.h>

#include "regroup/regroup.h"
#include "told.h"

enum { MAPS_MOST = 2 };

struct fixture {
	const char *maps[MAPS_MOST];
	const char *list;    /* of classes */
	const char *entries; /* in, and what comes out */
	const char *want;
	const char *said;    /* a part of what is said; NULL: nothing */
};

/*
 * A log in one line of text: "path" is a file, "path/" a directory, "path>target" a
 * symbolic and "path=target" a hard link; "path[" a nested log, which ends with "]", and
 * "path{" one that could not be read, which ends with "}". "|" begins a log that follows.
 */
static struct entries *log_of(char **script)
{
	struct entries *first = entries_new(), *log = first;
	char *word;

	assert_non_null(first);
	while ((word = strsep(script, " "))) {
		struct entry entry = { .kind = ENTRY_FILE, .path = word, .mode = 0640,
				       .uid = 7, .gid = 8, .mtime = 9, .mtime_ns = 10 };
		size_t n = strlen(word);
		char *mark = strpbrk(word, ">=");

		if (strcmp(word, "]") == 0 || strcmp(word, "}") == 0)
			break;
		if (strcmp(word, "|") == 0) {
			log = entries_new();
			entries_append(first, log);
			continue;
		}
		if (mark) {
			entry.kind = *mark == '>' ? ENTRY_SYMLINK : ENTRY_HARDLINK;
			*mark = '\0';
			entry.target = mark + 1;
		} else if (strchr("[{", word[n - 1])) {
			bool failed = word[n - 1] == '{';

			word[n - 1] = '\0';
			entry.kind = ENTRY_NESTED;
			entry.nested = log_of(script);
			if (failed)
				entries_set_failed(entry.nested);
		} else if (word[n - 1] == '/') {
			entry.kind = ENTRY_DIRECTORY;
			word[n - 1] = '\0';
		}
		assert_int_equal(entries_add(log, &entry), 0);
	}
	return first;
}

static void print_log(FILE *out, struct entries *log)
{
	for (size_t i = 0; i < entries_count(log); i++) {
		const struct entry *entry = entries_get(log, i);

		assert_int_equal(entry->mode, 0640);
		assert_int_equal(entry->uid * 100 + entry->gid, 708);
		assert_int_equal(entry->mtime * 100 + entry->mtime_ns, 910);
		fprintf(out, "%s", entry->path);
		if (entry->kind == ENTRY_DIRECTORY)
			fputs("/", out);
		if (entry->kind == ENTRY_SYMLINK || entry->kind == ENTRY_HARDLINK)
			fprintf(out, "%c%s", entry->kind == ENTRY_SYMLINK ? '>' : '=',
				entry->target);
		fputs(" ", out);
		if (entry->kind == ENTRY_NESTED) {
			fputs("[ ", out);
			print_log(out, entry->nested);
			fputs("] ", out);
		}
	}
	if (entries_next(log)) {
		fputs("| ", out);
		print_log(out, entries_next(log));
	}
}

struct run {
	const struct fixture *fixture;
	char *got; /* or what was said by an error */
	struct index_summary summary;
};

static void regroup(void *argument)
{
	static const char *const names[MAPS_MOST] = { "one.json", "two.json" };
	struct run *run = argument;
	const struct fixture *fixture = run->fixture;
	struct view_map maps[MAPS_MOST];
	struct name_map *read[MAPS_MOST] = { NULL };
	struct class_list *list = NULL;
	char *copy = strdup(fixture->entries), *rest = copy;
	struct entries *log = log_of(&rest);
	struct error e = { 0 };
	struct findings findings = { 0 };
	struct regroup *r;
	size_t size, n = 0;
	int err;
	FILE *out = open_memstream(&run->got, &size);

	assert_non_null(out);
	for (; n < MAPS_MOST && fixture->maps[n]; n++) {
		assert_int_equal(name_map_read(fixture->maps[n], strlen(fixture->maps[n]),
					       names[n], NULL, &read[n], NULL), 0);
		maps[n] = (struct view_map){ read[n], names[n] };
	}
	if (fixture->list)
		assert_int_equal(class_list_read(fixture->list, strlen(fixture->list), "list",
						 &list, NULL), 0);
	r = regroup_new(maps, n, list, &findings);
	assert_non_null(r);
	err = regroup_collect(r, log, NULL, &e);
	if (err == 0)
		err = regroup_seal(r, &e);
	if (err == 0)
		err = regroup_apply(r, log, &e);
	if (err < 0)
		fprintf(out, "%s ", e.text);
	else
		print_log(out, log);
	regroup_describe(r, &run->summary);
	free(told(&findings));
	fclose(out);
	run->got[size - 1] = '\0';
	regroup_free(r);
	class_list_free(list);
	for (size_t i = 0; i < n; i++)
		name_map_free(read[i]);
	entries_free(log);
	free(copy);
}

#define VAL "{\"val/a.JPEG\": 1, \"val/b.JPEG\": 0}"
#define REST ", and one of them would get the other's label; say which is meant by its path, "
#define ALONE ", in place of the name alone"
#define TRAIN "{\"x/train/n1/n1_1.JPEG\": 0, \"x/train/n2/n2_1.JPEG\": 1}"

static const struct fixture fixtures[] = {
	/* a table of classes: ILSVRC's */
	{ { "ImageId,PredictionString\na,n2 1 2 3 4\nb,n1 1 2 3 4\n" }, NULL,
	  "val/ val/a.JPEG val/b.JPEG test/t.JPEG readme",
	  "val/ val/n2/a.JPEG val/n1/b.JPEG test/t.JPEG readme", NULL },
	/*
	 * numbers: the number, the list, the keys' directories, the dataset's, their rank
	 */
	{ { VAL }, NULL, "val/a.JPEG val/b.JPEG", "val/1/a.JPEG val/0/b.JPEG", NULL },
	{ { "a.jpg,9\nb.jpg,10\n" }, NULL, "a.jpg b.jpg", "09/a.jpg 10/b.jpg", NULL },
	{ { VAL }, "tench\nshark\n", "val/a.JPEG val/b.JPEG",
	  "val/shark/a.JPEG val/tench/b.JPEG", NULL },
	{ { VAL }, "[\"tench\"]", "val/a.JPEG val/b.JPEG", "val/1/a.JPEG val/tench/b.JPEG",
	  "has no name for label 1" },
	{ { TRAIN, VAL }, NULL,
	  "train/n1/n1_1.JPEG train/n2/n2_1.JPEG val/a.JPEG val/b.JPEG",
	  "train/n1/n1_1.JPEG train/n2/n2_1.JPEG val/n2/a.JPEG val/n1/b.JPEG", NULL },
	{ { VAL, TRAIN }, NULL, "val/a.JPEG val/b.JPEG", "val/n2/a.JPEG val/n1/b.JPEG",
	  "two.json: no file here has one of its 2 names (x/train/n1/n1_1.JPEG, for one)" },
	{ { "n1_1,0\nn2_1,1\na,1\n" }, NULL,
	  "train/n1/n1_1.JPEG train/n2/n2_1.JPEG val/a.JPEG",
	  "train/n1/n1_1.JPEG train/n2/n2_1.JPEG val/n2/a.JPEG", NULL },
	{ { VAL }, NULL, "train/zebra/1.JPEG train/ant/1.JPEG val/a.JPEG val/b.JPEG",
	  "train/zebra/1.JPEG train/ant/1.JPEG val/zebra/a.JPEG val/ant/b.JPEG", NULL },
	{ { VAL }, NULL, "train/z/1.J train/y/1.J train/x/1.J val/a.JPEG val/b.JPEG",
	  "train/z/1.J train/y/1.J train/x/1.J val/1/a.JPEG val/0/b.JPEG", NULL },
	{ { "a,0\n" }, NULL, "train/more/1.jpg val/a.jpg", "train/more/1.jpg val/0/a.jpg",
	  NULL },
	/*
	 * directories with several labels, or labels with several directories, are no
	 * classes
	 */
	{ { "p/1,0\np/2,1\nq/3,0\nr/4,2\ns/5,2\nt/6,3\nu/7,4\nv/8,4\n9,3\n" }, NULL,
	  "9 1 2 3 4 5 6 7 8", "t/9 q/1 1/2 q/3 2/4 2/5 t/6 4/7 4/8", NULL },
	{ { "p/1,0\nq/2,1\n3,0\n" }, NULL, "3 1 2", "p/3 p/1 q/2", NULL },
	/* nor are splits, whatever word they have */
	{ { "Training/1,0\nq/2,1\nr/4,2\n3,0\n" }, NULL, "3 1 2", "0/3 0/1 q/2",
	  "1 of its 4 names have no file here (r/4" },
	/* what lies in its class's directory stays, however deep */
	{ { "a,c\nb,c\n" }, NULL, "val/c/a.jpg c/images/b.jpg", "val/c/a.jpg c/images/b.jpg",
	  NULL },
	{ { "a,c\n" }, NULL, "./val/a.jpg", "./val/c/a.jpg", NULL },
	{ { "a,c\nb,c\n" }, NULL, "/a.jpg ../b.jpg", "/c/a.jpg ../c/b.jpg", NULL },
	/* a negative label is none */
	{ { "a,-1\nb,0\n" }, NULL, "a b", "a 0/b", NULL },
	/* directories, and packed files inside, are not files */
	{ { "a,c\nb,c\n" }, NULL, "a/ a/b", "a/ a/c/b", "1 of its 2 names have no file" },
	{ { "a,c\nb.tar,c\n" }, NULL, "b.tar[ a ]", "b.tar [ c/a ]",
	  "1 of its 2 names have no file here (b.tar, for one)" },
	{ { "b.tar,c\n" }, NULL, "b.tar{ a }", "c/b.tar [ a ]", NULL },
	{ { "n1_1,n1\nx,n1\n" }, NULL, "d/n1.tar[ n1_1.JPEG y=x.JPEG ] | x.JPEG",
	  "d/n1.tar [ n1_1.JPEG y=x.JPEG ] | n1/x.JPEG", NULL },
	/* links follow: hard ones to where the file is, */
	{ { "a,c\n" }, NULL, "val/a.jpg x=val/a.jpg y=./val/a.jpg z=val/q.jpg",
	  "val/c/a.jpg x=val/c/a.jpg y=./val/c/a.jpg z=val/q.jpg", NULL },
	{ { "a,c\nx,d\n" }, NULL, "val/a.jpg x.jpg=val/a.jpg",
	  "val/c/a.jpg d/x.jpg=val/c/a.jpg", NULL },
	/* symbolic ones relative to where they are */
	{ { "a,c\n" }, NULL,
	  "val/a.jpg x>val/a.jpg d/y>../val/a.jpg d/z>../../val/a.jpg v>val w>/val/a.jpg",
	  "val/c/a.jpg x>val/c/a.jpg d/y>../val/c/a.jpg d/z>../../val/a.jpg v>val "
	  "w>/val/a.jpg", NULL },
	{ { "a,c\nb,c\nx,d\n" }, NULL,
	  "val/a.jpg>../blobs/1 val/b.jpg>/blobs/1 val/x.jpg>a.jpg blobs/1",
	  "val/c/a.jpg>../../blobs/1 val/c/b.jpg>/blobs/1 val/d/x.jpg>../c/a.jpg blobs/1",
	  NULL },
	{ { "a,1\nb,0\n" }, NULL, "a.jpg>./b.jpg b.jpg>d/../a.jpg q>. r>d/",
	  "1/a.jpg>.././0/b.jpg 0/b.jpg>../d/../1/a.jpg q>. r>d/", NULL },
	/* a key's directories, and the suffixes of images, tell namesakes apart */
	{ { "{\"images/1.png\": \"c\"}" }, NULL, "images/1.png masks/1.png",
	  "images/c/1.png masks/1.png", "1 files have one of its names, but lie in other" },
	{ { "{\"images/1.png\": \"c\"}" }, NULL, "photos/1.png", "photos/c/1.png", NULL },
	{ { "a,c\n" }, NULL, "Annotations/val/a.xml Data/val/a.JPEG",
	  "Annotations/val/a.xml Data/val/c/a.JPEG", NULL },
	{ { "a,c\n" }, NULL, "val/a.flac", "val/c/a.flac", NULL },
	/* files without a name, beside those that are moved, are counted */
	{ { "a,c\n" }, NULL, "val/q.jpg val/README val/a.jpg val/r.PNG test/s.jpg",
	  "val/q.jpg val/README val/c/a.jpg val/r.PNG test/s.jpg",
	  "names=: 2 files have no name in it ('q.jpg', for one), and stay among the directories of "
	  "classes in '/val/', where ImageFolder does not see them" },
	{ { "a,c\nb,c\n" }, NULL, "v/a.wav n.txt x.tar[ b.wav z.wav ] v/y.wav v/q",
	  "v/c/a.wav n.txt x.tar [ c/b.wav z.wav ] v/y.wav v/q",
	  "2 files have no name in it ('y.wav', for one), and stay among the directories of classes "
	  "in '/v/', and in other directories (2 in all), where" },
	{ { "a,c\n" }, NULL, "val/c/a.jpg val/c/b.jpg q.jpg", "val/c/a.jpg val/c/b.jpg q.jpg",
	  NULL },
	{ { "a,0\nb,-1\n" }, NULL, "a.jpg b.jpg", "0/a.jpg b.jpg", NULL },
	/*
	 * a name of files in several directories is refused, whichever of them comes
	 * first
	 */
	{ { "id,label\n0,cat\n1,dog\n" }, NULL,
	  "train/0.jpg train/1.jpg test/0.jpg test/1.jpg",
	  "one.json: its name '0' is that of 'train/0.jpg' and of 'test/0.jpg', and one of "
	  "them would get the other's label; say which is meant by its path, 'train/0.jpg', "
	  "in place of the name alone", NULL },
	{ { "0,cat\n" }, NULL, "masks/0.png images/0.JPG",
	  "one.json: its name '0' is that of 'masks/0.png' and of 'images/0.JPG'" REST
	  "'masks/0.png'" ALONE, NULL },
	{ { "0.wav,cat\n" }, NULL, "a/0.wav | b/0.wav",
	  "one.json: its name '0.wav' is that of 'a/0.wav' and of 'b/0.wav'" REST "'a/0.wav'"
	  ALONE, NULL },
	{ { "0,cat\n" }, NULL, "train.tar[ 0.jpg ] test.tar[ 0.jpg ]",
	  "one.json: its name '0' is that of 'train/0.jpg' and of 'test/0.jpg'" REST
	  "'train/0.jpg'" ALONE, NULL },
	{ { "{\"a/train/0.jpg\": \"c\"}" }, NULL, "x/train/0.jpg y/train/0.jpg",
	  "one.json: its name '0.jpg' is that of 'x/train/0.jpg' and of 'y/train/0.jpg'" REST
	  "'x/train/0.jpg'" ALONE, NULL },
	{ { "0,cat\n" }, NULL, "train/cat/0.jpg test/0.jpg",
	  "one.json: its name '0' is that of 'train/cat/0.jpg' and of 'test/0.jpg'" REST
	  "'train/cat/0.jpg'" ALONE, NULL },
	{ { "0,cat\n" }, NULL, "test/0.jpg train/cat/0.jpg",
	  "one.json: its name '0' is that of 'test/0.jpg' and of 'train/cat/0.jpg'" REST
	  "'test/0.jpg'" ALONE, NULL },
	{ { "0,cat\n" }, NULL, "0.jpg masks/0.jpg",
	  "one.json: its name '0' is that of '0.jpg' and of 'masks/0.jpg'" REST "'0.jpg'"
	  ALONE, NULL },
	{ { "0,cat\n" }, NULL, "val/0.jpg>../a/1 test/0.jpg>../b/1",
	  "one.json: its name '0' is that of 'val/0.jpg' and of 'test/0.jpg'" REST
	  "'val/0.jpg'" ALONE, NULL },
	{ { "0,cat\n" }, NULL, "val/0.jpg>../a/0.jpg test/0.jpg>../b/0.jpg",
	  "one.json: its name '0' is that of 'a/0.jpg' and of 'b/0.jpg'" REST "'a/0.jpg'"
	  ALONE, NULL },
	/*
	 * but copies in directories of its class, other files of a sample, and links to
	 * it are not,
	 */
	{ { "0,cat\n" }, NULL, "all/cat/0.jpg few/cat/0.jpg", "all/cat/0.jpg few/cat/0.jpg",
	  NULL },
	{ { "0,cat\n" }, NULL, "wav/0.wav txt/0.txt", "wav/cat/0.wav txt/cat/0.txt", NULL },
	{ { "0,cat\n" }, NULL, "train/0.jpg few/0.jpg=train/0.jpg one/0.jpg>../train/0.jpg",
	  "train/cat/0.jpg few/cat/0.jpg=train/cat/0.jpg one/cat/0.jpg>../../train/cat/0.jpg",
	  NULL },
	{ { "0,cat\n" }, NULL, "d.tar[ train/0.jpg few/0.jpg=train/0.jpg ]",
	  "d.tar [ train/cat/0.jpg few/cat/0.jpg=train/cat/0.jpg ]", NULL },
	/* and a path says which is meant */
	{ { "file,label\ntrain/0.jpg,cat\n" }, NULL, "test/0.jpg train/0.jpg 0.jpg",
	  "test/0.jpg train/cat/0.jpg 0.jpg", "2 files have one of its names, but lie in other" },
	{ { "0.jpg,cat\n" }, NULL, "masks/0.jpg 0.jpg", "masks/0.jpg cat/0.jpg",
	  "1 files have one of its names, but lie in other" },
	/* nothing is lost where another file is already; a newer version is the same one */
	{ { "a,c\n" }, NULL, "c/a.jpg a.jpg",
	  "two files would be 'c/a.jpg', one of them moved there by -o names=; leave names= "
	  "out, or the file out of its map", NULL },
	{ { "a,c\n" }, NULL, "a.jpg b a.jpg", "c/a.jpg b c/a.jpg", NULL },
	{ { "train/1.jpg,c\nval/1.jpg,d\n" }, NULL, "train/1.jpg val/1.jpg 1.jpg",
	  "train/c/1.jpg val/d/1.jpg 1.jpg", NULL },
	/* what is not there is said */
	{ { VAL }, NULL, "val/q.JPEG", "val/q.JPEG",
	  "one.json: no file here has one of its 2 names (val/a.JPEG, for one)" },
	{ { VAL }, NULL, "x>val/a.JPEG y=val/a.JPEG", "x>val/a.JPEG y=val/a.JPEG",
	  "one.json: no file here has" },
	{ { VAL }, NULL, "val/b.JPEG", "val/0/b.JPEG",
	  "one.json: 1 of its 2 names have no file here (val/a.JPEG, for one)" },
	{ { VAL, "{\"val/a.JPEG\": 2}" }, NULL, "val/a.JPEG",
	  "one.json and two.json say two labels of 'val/a.JPEG'; leave one of them out of "
	  "-o names=", NULL },
	{ { VAL, VAL }, NULL, "val/a.JPEG val/b.JPEG", "val/1/a.JPEG val/0/b.JPEG",
	  NULL },
};

static void test_paths(void **state)
{
	size_t i = unit_row(state);
	struct run run = { .fixture = &fixtures[i] };
	char *said = unit_stderr_of(regroup, &run);

	if (strcmp(run.got, fixtures[i].want) != 0)
		fail_msg("case %zu is '%s', not '%s'", i, run.got, fixtures[i].want);
	if (!fixtures[i].said != !*said ||
	    (fixtures[i].said && !strstr(said, fixtures[i].said)))
		fail_msg("case %zu says '%s'", i, said);
	free(said);
	free(run.got);
}

static void test_how_many(void **state)
{
	static const struct fixture fixture = {
		{ "a,c\nb,c\n" }, NULL, "a b d/c/b=b | a", "", NULL };
	struct run run = { .fixture = &fixture };

	(void)state;
	regroup(&run);
	assert_string_equal(run.got, "c/a c/b d/c/b=c/b | c/a");
	assert_non_null(strstr(run.summary.view, "have: 3 were moved"));
	free(run.got);
}

/* Contents and xattrs stay, and so do numbers, through many blocks of entries. */
static void test_many(void **state)
{
	enum { MANY = 20000 };
	char *table;
	size_t size;
	FILE *out = open_memstream(&table, &size);
	struct name_map *map;
	struct view_map maps[1];
	struct regroup *r;
	struct entries *log = entries_new();
	struct entry_xattr xattr = { "user.x", "y", 1 };

	(void)state;
	fputs("name,label\n", out);
	for (unsigned i = 0; i < MANY; i++)
		if (i % 3)
			fprintf(out, "%u,c\n", i);
	fclose(out);
	assert_int_equal(name_map_read(table, size, "t", NULL, &map, NULL), 0);
	maps[0] = (struct view_map){ map, "t" };
	r = regroup_new(maps, 1, NULL, NULL);
	for (unsigned i = 0; i < MANY; i++) {
		char path[32];
		struct entry_extent extents[2] = { { 0, i, 1, 0 }, { 5, i + 1, 1, 0 } };
		struct entry entry = { .kind = ENTRY_FILE, .path = path, .size = 1,
				       .extents = extents, .extent_count = 1 };

		snprintf(path, sizeof(path), i % 3 ? "%u/%u.jpg" : "%u", i, i);
		if (i % 5 == 0) {
			entry.size = 6;
			entry.extent_count = 2;
			entry.xattrs = &xattr;
			entry.xattr_count = 1;
		}
		assert_int_equal(entries_add(log, &entry), 0);
	}
	assert_int_equal(regroup_collect(r, log, NULL, NULL), 0);
	assert_int_equal(regroup_seal(r, NULL), 0);
	assert_int_equal(regroup_apply(r, log, NULL), 0);
	assert_int_equal(entries_count(log), MANY);
	for (unsigned i = 0; i < MANY; i++) {
		const struct entry *entry = entries_get(log, i);
		char path[32];

		snprintf(path, sizeof(path), i % 3 ? "%u/c/%u.jpg" : "%u", i, i);
		assert_string_equal(entry->path, path);
		assert_int_equal(entry->extent_count, i % 5 ? 1 : 2);
		assert_int_equal(entry->extents[0].offset, i);
		assert_int_equal(entry->xattr_count, i % 5 == 0);
		if (i % 5 == 0)
			assert_int_equal(entry->extents[1].offset, i + 1);
	}
	regroup_free(r);
	name_map_free(map);
	free(table);
	entries_free(log);
}

static const struct CMUnitTest all[] = {
	unit_table(test_paths, fixtures, list),
	cmocka_unit_test(test_how_many),
	cmocka_unit_test(test_many),
};

UNIT_MAIN(all)

