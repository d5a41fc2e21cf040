/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Label maps and class lists, as Python, spreadsheets and Kaggle write them. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "maps/name_map.h"

/* What a file holds, as Python says it: one line an item, "KEY=LABEL" or "KEY=#7". */
static char *text_of_map(const struct name_map *map)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < name_map_count(map); i++) {
		const struct name_map_item *item = name_map_get(map, i);

		if (item->class_name)
			fprintf(out, "%s=%s\n", item->key, item->class_name);
		else
			fprintf(out, "%s=#%lld\n", item->key, (long long)item->label);
	}
	fclose(out);
	return text;
}

static char *text_of_list(const struct class_list *list)
{
	char *text = NULL;
	size_t size, seen = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (int64_t label = -2000; label < 2000; label++) {
		const char *name = class_list_name(list, label);

		if (name)
			fprintf(out, "%lld=%s\n", (long long)label, name);
		seen += name != NULL;
	}
	fclose(out);
	assert_int_equal(seen, class_list_count(list));
	return text;
}

/* A copy without a byte to spare, so that a look beyond it is seen. */
static void *exactly(const void *bytes, size_t n)
{
	void *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

static char *read_map(const void *bytes, size_t n)
{
	struct error e = { 0 };
	struct name_map *map;
	void *copy = exactly(bytes, n);
	int err = name_map_read(copy, n, "map", &map, &e);
	char *text;

	free(copy);
	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_int_equal(e.status, ERROR_DATASET);
		assert_null(map);
		return strdup(e.text);
	}
	text = text_of_map(map);
	name_map_free(map);
	return text;
}

static char *read_list(const void *bytes, size_t n)
{
	struct error e = { 0 };
	struct class_list *list;
	void *copy = exactly(bytes, n);
	int err = class_list_read(copy, n, "list", &list, &e);
	char *text;

	free(copy);
	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_int_equal(e.status, ERROR_DATASET);
		assert_null(list);
		return strdup(e.text);
	}
	text = text_of_list(list);
	class_list_free(list);
	return text;
}

struct fixture {
	const char *bytes;
	size_t n;
	const char *want; /* all of it, or (a fault) a part of what is said */
};

#define CASE(bytes, want) { bytes, sizeof(bytes) - 1, want }

static void check_cases(const struct fixture *cases, size_t n,
			char *(*read)(const void *, size_t))
{
	for (size_t i = 0; i < n; i++) {
		char *got = read(cases[i].bytes, cases[i].n);
		bool same = strchr(cases[i].want, '\n')
				    ? strcmp(got, cases[i].want) == 0
				    : strstr(got, cases[i].want) != NULL;

		if (!same)
			fail_msg("case %zu is '%s', not '%s'", i, got, cases[i].want);
		free(got);
	}
}

static const struct fixture maps[] = {
	/* ILSVRC's LOC_val_solution.csv: boxes follow the class */
	CASE("ImageId,PredictionString\n"
	     "ILSVRC2012_val_00008838,n03146219 12 33 100 200 \n"
	     "ILSVRC2012_val_00008839,n01440764 1 2 3 4 n01440764 5 6 7 8 \n",
	     "ILSVRC2012_val_00008838=n03146219\nILSVRC2012_val_00008839=n01440764\n"),
	CASE("a.jpg,3\nb.jpg,4\n", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("a.jpg,3\r\nb.jpg,4", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("a.jpg,3\rb.jpg,4\r", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("\xef\xbb\xbf"
	     "a.jpg,3\n\n\nb.jpg,-4\n\n",
	     "a.jpg=#3\nb.jpg=#-4\n"),
	CASE("a.jpg\t3\nb c.jpg\t4\n", "a.jpg=#3\nb c.jpg=#4\n"),
	CASE("a.jpg;3\n", "a.jpg=#3\n"),
	CASE("val/a.jpg 3\nval/b c.jpg  4 \n", "val/a.jpg=#3\nval/b c.jpg=#4\n"),
	CASE("\"a,b.jpg\",\"say \"\"cat\"\"\"\n\"two\nlines\",dog\n",
	     "a,b.jpg=say \"cat\"\ntwo\nlines=dog\n"),
	/* title lines: by their words, or because a number follows */
	CASE("label,file\ncat,a.jpg\n", "a.jpg=cat\n"),
	CASE("id,breed\na,whippet\n", "a=whippet\n"),
	CASE("photo,number\na,1\nb,2\n", "a=#1\nb=#2\n"),
	CASE("photo,number\na,one\n", "photo=number\na=one\n"),
	CASE("width,Path,height,Label\n1,a.jpg,2,cat\n", "a.jpg=cat\n"),
	/* of several titles of names: a path before a file's name, and an id last */
	CASE("id,filename,width,label\n0,v1.JPEG,5,cat\n", "v1.JPEG=cat\n"),
	CASE("filename,path,label\nv1.JPEG,images,cat\n", "v1.JPEG=cat\n"),
	CASE("Id,Image,label\n0,v1.JPEG,cat\n", "v1.JPEG=cat\n"),
	CASE("name,image_id,class\nBo,v1,cat\n", "v1=cat\n"),
	CASE("file,label,file_path\nv1.JPEG,cat,val/v1.JPEG\n", "val/v1.JPEG=cat\n"),
	CASE("width,id,label\n5,v1,cat\n", "v1=cat\n"),
	/* numbers with zeros before them are numbers; not if one is none */
	CASE("a,007\nb,10\n", "a=#7\nb=#10\n"),
	CASE("a,007\nb,bond\n", "a=007\nb=bond\n"),
	CASE("a,1\na,1\n", "a=#1\na=#1\n"),
	CASE("{\"z/a.jpg\": 2, \"a/b.jpg\": 1}", "z/a.jpg=#2\na/b.jpg=#1\n"),
	CASE(" \xef", "map: line 1"),
	CASE("\xef\xbb\xbf\n {\"caf\\u00e9\": \"x\"}", "caf\xc3\xa9=x\n"),
	CASE("{\"a\": 9223372036854775807}", "a=#9223372036854775807\n"),
	CASE("}(U\x01"
	     "aK\x05U\x01"
	     "bK\x06u.",
	     "a=#5\nb=#6\n"),

	CASE("", "map: it is empty"),
	CASE("ImageId,PredictionString\n", "map: it is empty"),
	CASE("a,1\nb\n", "map: line 2: a row needs a name and a label"),
	CASE("490\n361\n", "map: line 1: a row needs a name and a label"),
	CASE("a 1\n361\n", "map: line 2: a row needs a name and a label"),
	CASE("  \n", "map: line 1: a row needs a name and a label"),
	CASE("a,1\nb,1,2\n", "map: line 2: more than the two columns"),
	CASE("a,1,2\n", "map: line 1: more than two columns, and no titles"),
	CASE("a,1\n\n\"b,2\nc,3\n", "map: line 3: a quote that is not closed"),
	CASE("\"a\"b,2\n", "map: line 1: something follows a closing quote"),
	CASE("a,1\nb,2\na,3\n", "map: line 3: 'a' is of class '3' here"),
	CASE("a,x\na,y\n", "map: line 2: 'a' is of class 'y' here, and was of class 'x'"),
	CASE("a,x/y\n", "has a label that has a slash in it"),
	CASE("a,..\n", "has a label that cannot be a folder's name"),
	CASE("a,.granaryfs\n", "has a label that is .granaryfs, a name that every mount"),
	CASE("a,\nb,c\n", "has a label that is empty"),
	CASE(",1\n", "map: line 1: '' is empty"),
	CASE("a/,1\n", "ends with a slash"),
	CASE("a\0b,1\n", "byte 1 is 0"),
	CASE("\x1f\x8b\x08\x00\x00", "byte 3 is 0"),
	CASE("{\"a\": 1, \"a\": 1}",
	     "line 1: this JSON cannot be read: duplicate object key"),
	CASE("{\"a\": 9223372036854775808}", "too big integer"),
	CASE("{\"a\": 1.5}", "map: item 1: 'a' has neither a number nor a name"),
	CASE("{\"a\": 1, \"b\": \"x\"}", "map: item 2: 'b' has a label of another kind"),
	CASE("{\"a\": [\"x\"]}", "map: item 1: 'a' has neither"),
	CASE("{\"a\": {\"b\": 1}}", "map: item 1: 'a' has neither"),
	CASE("{\"a\\u0000b\": 1}", "cannot be read"),
	CASE("[\"a\"]", "map: item 1 has no path as its key"),
	CASE("{\"a\": 1", "cannot be read"),
	CASE("{\"a\": 1} x", "cannot be read"),
	CASE("{}", "map: it is empty"),
	CASE("\x80\x04K\x05.", "neither a dict nor a list"),
	CASE("\x80\x04}K\x01K\x02s.", "map: item 1 has no path as its key"),
	CASE("\x80\x04}\x8c\x01"
	     "a}\x94s.",
	     "map: item 1: 'a' has neither"),
	CASE("\x80\x04}\x8c\x01"
	     "aK\x01\x8c\x01"
	     "aK\x02\x86R.",
	     "REDUCE"),
	CASE("\x80\x04}(\x8c\x01"
	     "aK\x01\x8c\x01"
	     "aK\x02u.",
	     "'a' has label 2 here, and had label 1"),
};

static void test_maps(void **state)
{
	(void)state;
	check_cases(maps, COUNT(maps), read_map);
}

static const struct fixture lists[] = {
	CASE("n01440764 tench, Tinca tinca\nn01443537 goldfish, Carassius auratus\n",
	     "0=n01440764\n1=n01443537\n"),
	CASE("\xef\xbb\xbf"
	     "tench, Tinca\r\ngreat white shark\r\n\r\n",
	     "0=tench, Tinca\n1=great white shark\n"),
	CASE("n01440764\nn0144 tench", "0=n01440764\n1=n0144 tench\n"),
	CASE("[\"cat\", \"dog\"]", "0=cat\n1=dog\n"),
	CASE("{\"1\": [\"n01443537\", \"goldfish\"], \"0\": [\"n01440764\", \"tench\"]}",
	     "0=n01440764\n1=n01443537\n"),
	CASE("{\"10\": \"dog\", \"-3\": \"cat\"}", "-3=cat\n10=dog\n"),
	CASE("{\"dog\": 1, \"cat\": 0}", "0=cat\n1=dog\n"),
	CASE("\x80\x04}(K\x05\x8c\x03"
	     "catK\x01\x8c\x03"
	     "dogu.",
	     "1=dog\n5=cat\n"),
	CASE("\x80\x04](\x8c\x03"
	     "cat\x8c\x03"
	     "doge.",
	     "0=cat\n1=dog\n"),

	CASE("", "list: it is empty"),
	CASE("\n\n", "list: it is empty"),
	CASE("ImageId,PredictionString\nx,n01440764 1 2 3 4\n",
	     "list: line 1: a table of files is no list of classes; give it to names="),
	CASE("cat\n\ndog\n", "list: line 2 is empty"),
	CASE("tench\ncrane\ncrane\n",
	     "list: line 2 and line 3: labels 1 and 2 are both called "
	     "'crane'"),
	CASE("{\"0\": \"a\", \"00\": \"b\"}", "item 2: label 0 is called 'b' here"),
	CASE("{\"a\": \"b\"}", "list: item 1: neither its key nor its value is a number"),
	CASE("{\"0\": null}", "list: item 1: is not the name of a class"),
	CASE("[[]]", "list: item 1: is not the name"),
	CASE("[\"a/b\"]", "list: item 1: the class 'a/b' has a slash"),
	CASE("[\"..\"]", "cannot be a folder's name"),
	CASE("a\0b\n", "byte 1 is 0"),
	CASE("7", "0=7\n"),
};

static void test_lists(void **state)
{
	(void)state;
	check_cases(lists, COUNT(lists), read_list);
}

/* pickle, json and csv of Python write; what it says is in them is in them. */
static const char script[] =
	"/usr/bin/python3 - <<'END'\n"
	"import csv, json, os, pickle\n"
	"ilsvrc = 'ILSVRC/Data/CLS-LOC/train/n%08d/n%08d_%d.JPEG'\n"
	"plain = {ilsvrc % (i % 7, i % 7, i * 31 % 3001): i % 7 for i in range(3000)}\n"
	"odd = {'a,b': 'c', 'say \"x\"': '\"', ' c ': ' d ', 'caf\\u00e9': "
	"'\\u732b\\U0001f408',\n"
	"       'two\\nlines': 'x\\r\\ny', '7': 'n', \"'\": ';', 'x' * 255: 'y' * 255}\n"
	"raw = {os.fsdecode(b'caf\\xe9/%d' % i): i for i in range(300)}\n"
	"def save(name, data, want):\n"
	"    open(name, 'wb').write(data)\n"
	"    open(name + '.want', 'wb').write(b''.join(\n"
	"        os.fsencode('%s=%s\\n' % (k, '#%d' % v if isinstance(v, int) else v))\n"
	"        for k, v in want.items()))\n"
	"n = 0\n"
	"for want in plain, odd, raw:\n"
	"    for p in range(6):\n"
	"        save('m%d' % n, pickle.dumps(want, protocol=p), want)\n"
	"        n += 1\n"
	"for want in plain, odd:\n"
	"    for ascii in True, False:\n"
	"        save('m%d' % n, json.dumps(want, ensure_ascii=ascii, "
	"indent=2).encode(), want)\n"
	"        n += 1\n"
	"    for dialect in 'excel', 'excel-tab', 'unix':\n"
	"        with open('csv', 'w', newline='') as f:\n"
	"            csv.writer(f, dialect).writerows([('name', 'label'), "
	"*want.items()])\n"
	"        save('m%d' % n, open('csv', 'rb').read(), want)\n"
	"        n += 1\n"
	"END\n";

static void test_what_python_wrote(void **state)
{
	unsigned n = 0;
	char path[32];

	(void)state;
	unit_shell(script);
	for (;; n++) {
		size_t size;
		char *bytes, *want, *got;

		snprintf(path, sizeof(path), "m%u", n);
		if (access(path, F_OK) < 0)
			break;
		bytes = unit_read(path, &size);
		snprintf(path, sizeof(path), "m%u.want", n);
		want = unit_read(path, NULL);
		got = read_map(bytes, size);
		if (strcmp(got, want) != 0)
			fail_msg("m%u is '%.300s', not '%.300s'", n, got, want);
		free(got);
		free(want);
		free(bytes);
	}
	assert_int_equal(n, 28);
}

struct seek {
	const char *name;
	const char *found; /* a key, or NULL */
};

static void test_names_that_are_found(void **state)
{
	static const char text[] =
		"{\"train/n1/n1_7.JPEG\": 1, \"val/x.y.JPEG\": 2, \"bare\": 3, "
		"\".hidden\": 4,"
		" \"a/1.jpg\": 5, \"b/1.jpg\": 6, \"c/2.jpg\": 7, \"d/2.jpg\": 7,"
		" \"e/3.jpg\": 8, \"f/3.png\": 9}";
	static const struct seek seeks[] = {
		{ "n1_7.JPEG", "train/n1/n1_7.JPEG" },
		{ "some/where/n1_7.JPEG", "train/n1/n1_7.JPEG" },
		{ "n1_7", "train/n1/n1_7.JPEG" },
		{ "n1_7.png", NULL },
		{ "n1_7.", NULL },
		{ "x.y.JPEG", "val/x.y.JPEG" },
		{ "x.y", "val/x.y.JPEG" },
		{ "x", NULL },
		{ "bare", "bare" },
		{ "q/bare.jpg", "bare" },
		{ "bare.tar.gz", NULL },
		{ ".hidden", ".hidden" },
		{ "", NULL },
		{ "a/", NULL },
		{ "1.jpg", NULL },          /* they contradict each other */
		{ "z/1.jpg", NULL },
		{ "b/1.jpg", "b/1.jpg" },   /* but not with their folders */
		{ "1", NULL },
		{ "2.jpg", "c/2.jpg" },
		{ "3.jpg", "e/3.jpg" },
		{ "3", NULL },
	};
	struct name_map *map;

	(void)state;
	assert_int_equal(name_map_read(text, sizeof(text) - 1, "map", &map, NULL), 0);
	for (size_t i = 0; i < COUNT(seeks); i++) {
		const struct name_map_item *item = name_map_find(map, seeks[i].name);
		const char *key = item ? item->key : "(none)";

		assert_string_equal(key, seeks[i].found ? seeks[i].found : "(none)");
	}
	name_map_free(map);
}

/* A file of `head`, many times `part`, and `tail`. */
static char *repeat(const char *head, const char *part, size_t times, const char *tail)
{
	size_t room = strlen(head) + times * strlen(part) + strlen(tail) + 1;
	char *text = malloc(room), *at;

	assert_non_null(text);
	at = stpcpy(text, head);
	while (times-- > 0)
		at = stpcpy(at, part);
	stpcpy(at, tail);
	return text;
}

struct bomb {
	const char *head, *part;
	size_t times;
	const char *tail, *said;
};

static const struct bomb bombs[] = {
	{ "", "[", 1000000, "", "nests deeper" },
	{ "", "{\"a\":", 1000000, "1", "nests deeper" },
	{ "{\"a\": [", "[],", 100000, "0]}", "nests deeper" },
	{ "[", "{},", 1000001, "0]", "more than a million lists" },
	{ "[", "[],", 100000, "0]", "item 1 has no path" },
	{ "{\"\\\"[[[", "[", 250, "\\\\\": 1}", "[[[\\=#1" },
	{ "{\"a\": ", "9", 100000, "}", "cannot be read" },
	{ "\"a,", "a\n", 2000000, "", "more than 1 MiB" },
	{ "", "a", 2000000, ",1\n", "more than 1 MiB" },
	{ "a/", "b", 256, ",1\n", "more than 255 bytes" },
	{ "a", "/b", 2048, ",1\n", "more than 4095 bytes" },
	{ "a,", "b", 256, "\n", "more than 255 bytes" },
	{ "a,b", ",c", 400000, "\n", "no titles" },
	{ "", "\n", 1000000, "a,1\nb,2,3\n", "line 1000002: more than" },
};

static void test_bombs(void **state)
{
	size_t i = unit_row(state);
	char *text = repeat(bombs[i].head, bombs[i].part, bombs[i].times,
			    bombs[i].tail);
	char *said = read_map(text, strlen(text));

	if (!strstr(said, bombs[i].said))
		fail_msg("bomb %zu is '%.300s', not '%s'", i, said,
			 bombs[i].said);
	free(said);
	free(text);
}

/* Whatever a file is cut to, or one of its bytes is: an answer, no look beyond it. */
static void test_damage(void **state)
{
	static const char others[] = "\"\n,{[}]:\\.(\0\x80\xff";

	(void)state;
	for (size_t i = 0; i < COUNT(maps) + COUNT(lists); i++) {
		bool list = i >= COUNT(maps);
		const struct fixture *fixture = list ? &lists[i - COUNT(maps)] : &maps[i];
		char *(*read)(const void *, size_t) = list ? read_list : read_map;
		char *copy = exactly(fixture->bytes, fixture->n);

		for (size_t n = 0; n < fixture->n; n++)
			free(read(copy, n));
		for (size_t k = 0; k < fixture->n * (sizeof(others) - 1); k++) {
			char *byte = &copy[k / (sizeof(others) - 1)], before = *byte;

			*byte = others[k % (sizeof(others) - 1)];
			free(read(copy, fixture->n));
			*byte = before;
		}
		free(copy);
	}
}

static const struct CMUnitTest all[] = {
	cmocka_unit_test(test_maps),
	cmocka_unit_test(test_lists),
	cmocka_unit_test(test_what_python_wrote),
	cmocka_unit_test(test_names_that_are_found),
	unit_table(test_bombs, bombs, head),
	cmocka_unit_test(test_damage),
};

UNIT_MAIN(all)
