/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Label maps, as Python, spreadsheets and Kaggle write them. */
#include "maps_kit.h"

#include <errno.h>
#include <unistd.h>

#include "maps/name_map.h"

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
	CASE("7\t3.000000\tcat/a.jpg\n0\t4.000000\tb c.jpg\n", "cat/a.jpg=#3\nb c.jpg=#4\n"),
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
	/* the label before the name; comments; other encodings; floats */
	CASE("3,a.jpg\n4,b.jpg\n", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("3 a b.jpg\n4 val/c\n", "a b.jpg=#3\nval/c=#4\n"),
	CASE("number;photo\n3;a.jpg\n4;b.jpg\n", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("class photo\n3 a.jpg\n4 b.jpg\n", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("0,cat\n1,dog\n", "0=cat\n1=dog\n"),
	CASE("# name,label\n#x\na.jpg,3\n# more\nb.jpg,4\n#c.jpg,5\n",
	     "a.jpg=#3\nb.jpg=#4\n#c.jpg=#5\n"),
	CASE("# by hand\na.jpg 3\n", "a.jpg=#3\n"),
	CASE("a.jpg|3\nb.jpg|4\n", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("a.jpg,3.0\nb.jpg,4.000000000000000000e+00\n", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("a.jpg,3.5\n", "map: line 1: the label is a fraction"),
	CASE("a.jpg,3.5\nb.jpg,v2\n", "a.jpg=3.5\nb.jpg=v2\n"),
	CASE("a.jpg,nan\nb.jpg,0 1\nc.jpg,\n", "a.jpg=#-1\nb.jpg=#1\nc.jpg=#-1\n"),
	CASE("name,cat,dog\na,0,1\nb,1.0,0\nc,0,0\n", "a=dog\nb=cat\nc=#-1\n"),
	CASE("name,cat,dog\na,0,1\nb,1,1\n", "map: line 3: each column but the name is a class"),
	CASE("{\"name\": \"a\", \"label\": 1}\n{\"label\": null, \"name\": \"b\"}",
	     "a=#1\nb=#-1\n"),
	CASE("{\"name\": \"a\", \"label\": 1}\n[\"name\"]", "map: line 2: is no JSON object"),
	CASE("{\"name\": \"a\", \"label\": 1}\n{", "map: line 2: this JSON cannot be read"),
	CASE("{\"file_name\": \"a\", \"text\": \"a cat\"}\n{\"file_name\": \"b\", \"text\": \"x\"}",
	     "map: line 1: no item is called as a label is"),
	CASE("[{\"image\": \"a\", \"class\": \"x\"}, {\"image\": \"b\"}]", "a=x\nb=#-1\n"),
	CASE("{\"a\": \"a\", \"b\": 1, \"c\": 2}\n{}\n",
	     "map: line 1: more than two columns ('a', 'b', 'c')"),
	CASE("{\"a.jpg\": 3.0, \"b.jpg\": true}", "a.jpg=#3\nb.jpg=#1\n"),
	CASE("{'a.jpg': 3, 'b.jpg': 4}", "a.jpg=#3\nb.jpg=#4\n"),
	CASE("\xff\xfe" "a\0\t\0" "3\0\r\0\n\0" "b\0\t\0" "4\0", "a=#3\nb=#4\n"),
	CASE("\xfe\xff\0n\0a\0m\0e\0,\0l\0a\0b\0e\0l\0\n\0a\0,\0x", "a=x\n"),
	CASE("# nothing\n", "map: it is empty"),
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

	/* Python 2's str: cPickle and pickle, protocols 0 to 2 */
	CASE("(dp0\nS'a.jpg'\np1\nI3\nsS'it\\'s\\xc3\\xa9\\n'\np2\nL4L\ns.",
	     "a.jpg=#3\nit's\xc3\xa9\n=#4\n"),
	CASE("(dS\"it's\"\nS'\\x63at'\ns.", "it's=cat\n"),
	CASE("(dp1\nS'a.jpg'\np2\nF3.0\nsS'b'\np3\nI01\ns.", "a.jpg=#3\nb=#1\n"),
	CASE("}q\x01(U\x05" "a.jpgq\x02K\x03U\x01" "bK\x04u.", "a.jpg=#3\nb=#4\n"),
	CASE("\x80\x02}q\x01U\x05" "a.jpgq\x02K\x03s.", "a.jpg=#3\n"),
	CASE("ccollections\nOrderedDict\np0\n((lp1\n(lp2\nS'a'\nI3\nalp3\na(lp4\nS'b'\nI4\nataR.",
	     "damaged"),
	CASE("ccollections\nOrderedDict\n((l(lS'a'\naI3\naa(lS'b'\naI4\naatR.",
	     "a=#3\nb=#4\n"),
	CASE("(dS'a\nI3\ns.", "a str that is not in quotes"),
	CASE("(dS'a\\q'\nI3\ns.", "an escape that means nothing"),

	CASE("", "map: it is empty"),
	CASE("ImageId,PredictionString\n", "map: it is empty"),
	CASE("a,1\nb\n", "map: line 2: a row needs a name and a label"),
	CASE("490\n361\n", "map: line 1: a row needs a name and a label"),
	CASE("a 1\n361\n", "map: line 2: a row needs a name and a label"),
	CASE("  \n", "map: line 1: a row needs a name and a label"),
	CASE("a,1\nb,1,2\n", "map: line 2: more than the two columns"),
	CASE("a,1,2\n", "map: line 1: more than two columns ('a', '1', '2'), and no titles"),
	CASE("a,1\n\n\"b,2\nc,3\n", "map: line 3: a quote that is not closed"),
	CASE("\"a\"b,2\n", "map: line 1: something follows a closing quote"),
	CASE("a,1\nb,2\na,3\n", "map: line 3: 'a' is of class '3' here"),
	CASE("a,x\na,y\n", "map: line 2: 'a' is of class 'y' here, and was of class 'x'"),
	CASE("a,x/y\n", "has a label that has a slash in it"),
	CASE("a,..\n", "has a label that cannot be a directory's name"),
	CASE("a,.granaryfs\n", "has a label that is .granaryfs, a name that every mount"),
	CASE("a,\nb,c\n", "a=#-1\nb=c\n"),
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
	CASE("{\"a\\u0000b\": 1}", "has a byte 0 in it"),
	CASE("{\"caf\\udce9\": 1}", "caf\xe9=#1\n"),
	CASE("{\"a\\ud800\": 1}", "map: item 1 has no path"),
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
	check_case(&maps[unit_row(state)], read_map);
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

/* Numbers and arrays of numpy, and what else of a dict's kind Python pickles. */
static const char numpy_script[] =
	"/usr/bin/python3 - <<'END'\n"
	"import collections, pickle, sys\n"
	"try: import numpy\n"
	"except ImportError: sys.exit()\n"
	"names = ['n%d/%d.JPEG' % (i % 3, i) for i in range(9)]\n"
	"labels = list(range(-4, 5))\n"
	"def write(n, value):\n"
	"    for p in range(6):\n"
	"        open('n%d-%d' % (n, p), 'wb').write(pickle.dumps(value, protocol=p))\n"
	"types = 'i1', '<i2', '>i2', '<i4', '>i8', 'i8', 'f4', '>f8', 'f8'\n"
	"for n, t in enumerate(types):\n"
	"    write(n, dict(zip(names, numpy.array(labels, t))))\n"
	"write(9, collections.OrderedDict(zip(names, labels)))\n"
	"d = collections.defaultdict(int)\n"
	"d.update(zip(names, labels))\n"
	"write(10, d)\n"
	"write(11, dict(zip(numpy.array(names), labels)))\n"
	"write(12, {n.encode(): l for n, l in zip(names, labels)})\n"
	"open('want', 'w').write(''.join('%s=#%d\\n' % x for x in zip(names, labels)))\n"
	"words = ['tench', 'caf\u00e9', '\u732b']\n"
	"write(20, numpy.array(words))\n"
	"write(21, numpy.array(words, '>U9'))\n"
	"write(22, numpy.array(words, object))\n"
	"write(23, {numpy.uint8(i): w for i, w in enumerate(words)})\n"
	"write(30, numpy.zeros((2, 2)))\n"
	"write(31, {'a': numpy.complex64(1)})\n"
	"open('words', 'w').write(''.join('%d=%s\\n' % x for x in enumerate(words)))\n"
	"END\n";

static void check_numpy(int kind, const char *want, char *(*read)(const void *, size_t))
{
	char name[32];

	for (int p = 0; p < 6; p++) {
		char *bytes, *got;
		size_t n;

		snprintf(name, sizeof(name), "n%d-%d", kind, p);
		bytes = unit_read(name, &n);
		got = read(bytes, n);
		if (!strstr(got, want))
			fail_msg("%s is '%.300s', not '%.300s'", name, got, want);
		for (size_t k = 0; k < n; k++) { /* and cut anywhere */
			free(got);
			got = read(bytes, k);
		}
		free(got);
		free(bytes);
	}
}

static void test_what_numpy_wrote(void **state)
{
	char *want, *words;

	(void)state;
	unit_shell(numpy_script);
	if (access("want", F_OK) < 0)
		skip();
	want = unit_read("want", NULL);
	words = unit_read("words", NULL);
	for (int kind = 0; kind <= 12; kind++)
		check_numpy(kind, want, read_map);
	for (int kind = 20; kind <= 23; kind++)
		check_numpy(kind, words, read_list);
	check_numpy(30, "which is not followed", read_list);
	check_numpy(31, "which is not followed", read_map);
	free(want);
	free(words);
}

/* One array of bytes that is made a list again and again: memory has a limit. */
static void test_what_multiplies(void **state)
{
	static const char head[] =
		"\x80\x03(cnumpy.core.numeric\n_frombuffer\nq\0(B\xa0\x86\1\0";
	static const char tail[] = "cnumpy\ndtype\nX\2\0\0\0u1\x85RJ\xa0\x86\1\0\x85Ntq\1R";
	char *bytes = malloc(200000), *said;
	size_t n = sizeof(head) - 1;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, head, n);
	memset(bytes + n, 1, 100000);
	n += 100000;
	memcpy(bytes + n, tail, sizeof(tail) - 1);
	n += sizeof(tail) - 1;
	for (int i = 0; i < 10000; i++) {
		memcpy(bytes + n, "h\0h\1R", 5);
		n += 5;
	}
	bytes[n++] = 'l';
	bytes[n++] = '.';
	said = read_list(bytes, n);
	assert_non_null(strstr(said, "eight times the memory"));
	free(said);
	free(bytes);
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
		{ "b/1.jpg", "b/1.jpg" },   /* but not with their directories */
		{ "1", NULL },
		{ "2.jpg", "c/2.jpg" },
		{ "3.jpg", "e/3.jpg" },
		{ "3", NULL },
	};
	struct name_map *map;

	(void)state;
	assert_int_equal(name_map_read(text, sizeof(text) - 1, "map", NULL, &map, NULL), 0);
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
	{ "", "{\"a\":", 1000000, "1", "cannot be read: an end before" },
	{ "{\"a\": [", "[],", 100000, "0]}", "'a' has neither" },
	{ "[", "{},", 1000001, "0]", "item 1: no item is called as a label" },
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

static void test_damage(void **state)
{
	check_damage(&maps[unit_row(state)], read_map);
}

static const struct CMUnitTest all[] = {
	unit_table(test_maps, maps, bytes),
	cmocka_unit_test(test_what_python_wrote),
	cmocka_unit_test(test_what_numpy_wrote),
	cmocka_unit_test(test_what_multiplies),
	cmocka_unit_test(test_names_that_are_found),
	unit_table(test_bombs, bombs, head),
	unit_table(test_damage, maps, bytes),
};

UNIT_MAIN(all)

