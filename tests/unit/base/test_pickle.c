/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pickles: what Python wrote is what is read, and what is not plain data is refused. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "base/pickle.h"

enum { DEPTH_MOST = 6, CASES = 26, PROTOCOLS = 6 };

/*
 * Python writes each value in each protocol, and a line of text that says what it is;
 * dump() writes that line of what has been read.
 */
static const char script[] =
	"/usr/bin/python3 - <<'END'\n"
	"import os, pickle, pickletools, struct\n"
	"shared = ['a', 'b']\n"
	"cases = [\n"
	"    {}, [], (), None, True, False, 0, -1, 255, 256, 65535, 65536, 2**31 - 1, -2**31,\n"
	"    [2**31, 2**63 - 1, -2**63, -2**40, 128, -128, -129], [0.5, -1e300, 3.0],\n"
	"    '', 'tench, Tinca tinca', 'x' * 300, b'', bytes(range(256)), b'y' * 70000,\n"
	"    ['caf\\u00e9 \\u4e2d\\U0001f41f \\\\ \\\\u0041 \\n\\r\\x1a\\0',\n"
	"     os.fsdecode(b'caf\\xe9\\xff'), '\\x7f\\x80\\xff'],\n"
	"    {'%07d' % i: i for i in range(2500)},\n"
	"    {'a': [1, (2,), (3, 4), (5, 6, 7), (1, 2, 3, 4)], b'k': {'n': None}, 3: True},\n"
	"    [shared, shared, {'k': shared}, 'a', 'a'],\n"
	"]\n"
	"def text(v):\n"
	"    if v is None: return 'N'\n"
	"    if isinstance(v, bool): return 'T' if v else 'F'\n"
	"    if isinstance(v, int): return 'i%d' % v\n"
	"    if isinstance(v, float): return 'f' + struct.pack('>d', v).hex()\n"
	"    if isinstance(v, str): return 's' + os.fsencode(v).hex()\n"
	"    if isinstance(v, bytes): return 'b' + v.hex()\n"
	"    if isinstance(v, dict):\n"
	"        return '{' + ''.join(text(k) + ' ' + text(w) + ' ' for k, w in v.items()) + '}'\n"
	"    o, c = '[]' if isinstance(v, list) else '()'\n"
	"    return o + ''.join(text(w) + ' ' for w in v) + c\n"
	"for i, v in enumerate(cases):\n"
	"    for p in range(6):\n"
	"        if p < 3 and i in (19, 20, 21, 24):\n" /* bytes are a call there */
	"            continue\n"
	"        data = pickle.dumps(v, protocol=p)\n"
	"        if i % 2 == 0:\n"
	"            data = pickletools.optimize(data)\n"
	"        open('%d-%d.pkl' % (i, p), 'wb').write(data)\n"
	"        open('%d-%d.txt' % (i, p), 'w').write(text(v))\n"
	"END\n";

static void dump(FILE *out, const struct pickle *pickle, const struct pickle_value *value,
		 int depth);

static void dump_items(FILE *out, const struct pickle *pickle,
		       const struct pickle_value *value, int depth)
{
	struct pickle_walk walk = pickle_items(pickle, value);
	const struct pickle_value *item;
	uint32_t n = 0;

	while ((item = pickle_next(&walk))) {
		dump(out, pickle, item, depth + 1);
		fputc(' ', out);
		n++;
	}
	assert_int_equal(n, value->size);
}

static void dump_hex(FILE *out, const void *bytes, size_t n)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%02x", byte[i]);
}

static void dump(FILE *out, const struct pickle *pickle, const struct pickle_value *value,
		 int depth)
{
	static const char kinds[] = "N?ifsbco([{", ends[] = "        )]}";

	assert_in_range(depth, 0, DEPTH_MOST);
	if (value->kind == PICKLE_BOOL)
		fputc(value->number ? 'T' : 'F', out);
	else
		fputc(kinds[value->kind], out);
	if (value->kind == PICKLE_INT)
		fprintf(out, "%lld", (long long)value->number);
	if (value->kind == PICKLE_FLOAT) {
		uint64_t bits;

		memcpy(&bits, &value->real, sizeof(bits));
		fprintf(out, "%016llx", (unsigned long long)bits);
	}
	if (value->kind == PICKLE_STR || value->kind == PICKLE_BYTES)
		dump_hex(out, value->text, value->size);
	if (value->kind >= PICKLE_TUPLE) {
		dump_items(out, pickle, value, depth);
		fputc(ends[value->kind], out);
	}
}

static char *text_of(const struct pickle *pickle)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	dump(out, pickle, pickle_root(pickle), 0);
	fclose(out);
	return text;
}

static void test_what_python_wrote(void **state)
{
	unsigned seen = 0;

	(void)state;
	unit_shell(script);
	for (int i = 0; i < CASES * PROTOCOLS; i++) {
		char path[64];
		char *bytes, *want, *got;
		size_t n;
		struct pickle *pickle;
		struct error e = { 0 };

		snprintf(path, sizeof(path), "%d-%d.pkl", i / PROTOCOLS, i % PROTOCOLS);
		if (access(path, F_OK) < 0)
			continue;
		bytes = unit_read(path, &n);
		if (pickle_read(bytes, n, path, &pickle, &e) < 0)
			fail_msg("%s", e.text);
		snprintf(path, sizeof(path), "%d-%d.txt", i / PROTOCOLS, i % PROTOCOLS);
		want = unit_read(path, NULL);
		got = text_of(pickle);
		assert_string_equal(got, want);
		free(got);
		free(want);
		free(bytes);
		pickle_free(pickle);
		seen++;
	}
	/* three of them and one of the dicts have bytes, which old protocols lack */
	assert_int_equal(seen, CASES * PROTOCOLS - 4 * 3);
}

/* MEMOIZE after PUT with numbers left out: its number is one that a value has already. */
static void test_memo_with_numbers_left_out(void **state)
{
	static const char bytes[] = "\x80\4(X\1\0\0\0aq\0X\1\0\0\0bq\2X\1\0\0\0c\x94h\2l.";
	struct pickle *pickle;
	char *got;

	(void)state;
	assert_int_equal(pickle_read(bytes, sizeof(bytes) - 1, "memo", &pickle, NULL), 0);
	got = text_of(pickle);
	assert_string_equal(got, "[s61 s62 s63 s63 ]"); /* as Python 3.11 reads it */
	free(got);
	pickle_free(pickle);
}

/* A copy without a byte to spare, so that a look beyond it is seen. */
static int read_exactly(const void *bytes, size_t n, struct error *e)
{
	void *copy = malloc(n ? n : 1);
	struct pickle *pickle;
	int err;

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	err = pickle_read(copy, n, "map.pkl", &pickle, e);
	if (!err) {
		FILE *out = fopen("/dev/null", "w");

		assert_non_null(out);
		if (pickle_root(pickle)->kind < PICKLE_TUPLE)
			dump(out, pickle, pickle_root(pickle), 0);
		fclose(out);
		pickle_free(pickle);
	}
	free(copy);
	return err;
}

static void test_each_beginning_is_refused(void **state)
{
	static const char *const files[] = { "14-0.pkl", "22-0.pkl", "22-4.pkl", "24-3.pkl",
					     "24-5.pkl", "25-1.pkl", "25-4.pkl" };

	(void)state;
	unit_shell(script);
	for (size_t i = 0; i < COUNT(files); i++) {
		size_t n;
		char *bytes = unit_read(files[i], &n);

		for (size_t k = 0; k < n; k++) {
			struct error e = { 0 };

			assert_int_equal(read_exactly(bytes, k, &e), -EBADMSG);
			assert_non_null(strstr(e.text, "map.pkl: byte "));
		}
		assert_int_equal(read_exactly(bytes, n, NULL), 0);
		free(bytes);
	}
}

/* Any change of a byte: an answer, and no read beyond the bytes. */
static void test_each_byte_changed(void **state)
{
	static const unsigned char others[] = { 0, '.', '(', 'u', 'e', 0x94, 'j', 0x8d, 0xff };
	static const char *const files[] = { "22-0.pkl", "24-3.pkl", "25-4.pkl" };

	(void)state;
	unit_shell(script);
	for (size_t i = 0; i < COUNT(files); i++) {
		size_t n;
		char *bytes = unit_read(files[i], &n);

		for (size_t k = 0; k < n * COUNT(others); k++) {
			char *byte = &bytes[k / COUNT(others)], before = *byte;

			*byte = (char)others[k % COUNT(others)];
			read_exactly(bytes, n, NULL);
			*byte = before;
		}
		free(bytes);
	}
}

struct hostile {
	const char *bytes;
	size_t n;
	const char *said;
};

#define HOSTILE(bytes, said) { bytes, sizeof(bytes) - 1, said }

static const struct hostile hostile[] = {
	HOSTILE("\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.", "STACK_GLOBAL"),
	HOSTILE("cos\nsystem\n(S'id'\ntR.", "GLOBAL, which is not followed"),
	HOSTILE("K\x01K\x02R.", "REDUCE"),
	HOSTILE("}}b.", "BUILD"),
	HOSTILE("(ios\nsystem\n.", "INST"),
	HOSTILE("(o.", "OBJ"),
	HOSTILE("\x80\x02)\x81.", "NEWOBJ"),
	HOSTILE("\x82\x01.", "EXT1"),
	HOSTILE("Pid\n.", "PERSID"),
	HOSTILE("\x8f.", "EMPTY_SET"),
	HOSTILE("\xfe.", "0xfe, which is no opcode"),
	HOSTILE("\x80\x06K\x01.", "protocol 6"),
	HOSTILE("", "ends within"),
	HOSTILE("X\xff\xff\xff\xff" "abc.", "ends within"),
	HOSTILE("B\xff\xff\xff\xff" "abc.", "ends within"),
	HOSTILE("\x8d\xff\xff\xff\xff\xff\xff\xff\xff" "abc.", "ends within"),
	HOSTILE("\x8e\x00\x00\x00\x00\x00\x00\x00\x80" "abc.", "ends within"),
	HOSTILE("\x95\xff\xff\xff\xff\xff\xff\xff\x7fK\x01.", "ends within"),
	HOSTILE("\x8b\xff\xff\xff\xff" "abc.", "ends within"),
	HOSTILE("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.", "more than 64 bits"),
	HOSTILE("I99999999999999999999\n.", "more than 64 bits"),
	HOSTILE("I\n.", "a number that is none"),
	HOSTILE("Lx\n.", "a number that is none"),
	HOSTILE("F1.5x\n.", "a float that is none"),
	HOSTILE("Vcaf\\u00e\n.", "an escape"),
	HOSTILE("V\\U00110000\n.", "an escape"),
	HOSTILE("X\x02\0\0\0\xc3\x28.", "not UTF-8"),
	HOSTILE("X\x03\0\0\0\xed\xa0\x80.", "not UTF-8"), /* half of a pair */
	HOSTILE("X\x02\0\0\0\xc0\x80.", "not UTF-8"),
	HOSTILE(".", "other than one value"),
	HOSTILE("K\x01K\x02.", "other than one value"),
	HOSTILE("K\x01(.", "other than one value"),
	HOSTILE("K\x01.K\x02.", "3 bytes follow its end"),
	HOSTILE("0.", "too little"),
	HOSTILE("1.", "too little"),
	HOSTILE("2.", "too little"),
	HOSTILE("\x94.", "too little"),
	HOSTILE("]a.", "too little"),
	HOSTILE("]K\x01(a.", "too little"), /* what lies beneath the mark */
	HOSTILE("K\x01(\x85.", "too little"),
	HOSTILE("(u.", "too little"),
	HOSTILE("}u.", "too little"),
	HOSTILE("}K\x01s.", "too little"),
	HOSTILE("}(K\x01u.", "without a value"),
	HOSTILE("}]K\x01s.", "as a key"),
	HOSTILE("]K\x01K\x02s.", "is no dict"),
	HOSTILE("K\x01K\x02" "a.", "is no list"),
	HOSTILE("h\x00.", "nothing there"),
	HOSTILE("K\x01q\x02h\x01.", "nothing there"),
	HOSTILE("K\x01r\xff\xff\xff\xff.", "number 4294967295 of the memo"),
	HOSTILE("K\x01p99999999999\n.", "number 99999999999 of the memo"),
	HOSTILE("K\x01p-1\n.", "a number that is none"),
};

static void test_what_is_not_plain_data(void **state)
{
	size_t i = unit_row(state);
	struct error e = { 0 };

	assert_int_equal(read_exactly(hostile[i].bytes, hostile[i].n, &e), -EBADMSG);
	if (!strstr(e.text, hostile[i].said) || strncmp(e.text, "map.pkl: ", 9) != 0)
		fail_msg("case %zu is '%s', not '%s'", i, e.text, hostile[i].said);
}

/* A list in a list in a list: each step is one more in it, and none recurses. */
static void test_what_nests(void **state)
{
	enum { DEEP = 300000 };
	char *bytes = malloc(2 * DEEP + 2);
	struct error e;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, ']', DEEP);
	memset(bytes + DEEP, 'a', DEEP - 1);
	bytes[2 * DEEP - 1] = '.';
	assert_int_equal(read_exactly(bytes, 2 * DEEP, NULL), 0);
	memset(bytes, '(', DEEP);
	memset(bytes + DEEP, 't', DEEP);
	bytes[2 * DEEP] = '.';
	assert_int_equal(read_exactly(bytes, 2 * DEEP + 1, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "nests more than"));
	free(bytes);
}

/* Each list holds the one before ten times: 10^200 items, in a few thousand bytes. */
static void test_what_multiplies(void **state)
{
	char bytes[8192];
	size_t n = 0;
	struct pickle *pickle;
	struct pickle_walk walk;

	(void)state;
	n += (size_t)snprintf(bytes, sizeof(bytes), "]q%c", 1);
	for (int i = 0; i < 200; i++)
		n += (size_t)snprintf(bytes + n, sizeof(bytes) - n,
				      "0](h%ch%ch%ch%ch%ch%ch%ch%ch%ch%ceq%c", 1, 1, 1, 1, 1,
				      1, 1, 1, 1, 1, 1);
	bytes[n++] = '.';
	assert_int_equal(pickle_read(bytes, n, "map.pkl", &pickle, NULL), 0);
	assert_int_equal(pickle_root(pickle)->size, 10);
	walk = pickle_items(pickle, pickle_root(pickle));
	assert_int_equal(pickle_next(&walk)->size, 10);
	pickle_free(pickle);

	/* in itself */
	assert_int_equal(pickle_read("]q\1h\1a.", 7, "map.pkl", &pickle, NULL), 0);
	walk = pickle_items(pickle, pickle_root(pickle));
	assert_ptr_equal(pickle_next(&walk), pickle_root(pickle));
	assert_null(pickle_next(&walk));
	pickle_free(pickle);
}

static void test_a_number_alone(void **state)
{
	int64_t out = -7;

	(void)state;
	assert_int_equal(pickle_int("\x80\x04K\x05.", 5, &out), 0);
	assert_int_equal(out, 5);
	assert_int_equal(pickle_int("\x80\x04\x95\4\0\0\0\0\0\0\0M\x0c\x02.", 15, &out), 0);
	assert_int_equal(out, 524);
	assert_int_equal(pickle_int("I-3\n.", 5, &out), 0);
	assert_int_equal(out, -3);
	assert_int_equal(pickle_int("\x80\x04\x88.", 4, &out), -EBADMSG);
	assert_int_equal(pickle_int("\x80\x04K\x05", 4, &out), -EBADMSG);
	assert_int_equal(pickle_int("", 0, &out), -EBADMSG);
	assert_int_equal(out, -3);
}

static void test_what_looks_like_one(void **state)
{
	(void)state;
	unit_shell(script);
	for (int p = 0; p < PROTOCOLS; p++) {
		char path[32];
		char *bytes;
		size_t n;

		snprintf(path, sizeof(path), "23-%d.pkl", p);
		bytes = unit_read(path, &n);
		assert_true(pickle_detect(bytes, n));
		free(bytes);
	}
	assert_false(pickle_detect("{\"a\": 1}", 8));
	assert_false(pickle_detect("n01440764 tench\n", 16));
	assert_false(pickle_detect("(dark).jpg,3\n", 13));
	assert_false(pickle_detect("", 0));
	assert_false(pickle_detect("\x80", 1));
}

static const struct CMUnitTest pickles[] = {
	cmocka_unit_test(test_what_python_wrote),
	cmocka_unit_test(test_memo_with_numbers_left_out),
	cmocka_unit_test(test_each_beginning_is_refused),
	cmocka_unit_test(test_each_byte_changed),
	unit_table(test_what_is_not_plain_data, hostile, bytes),
	cmocka_unit_test(test_what_nests),
	cmocka_unit_test(test_what_multiplies),
	cmocka_unit_test(test_a_number_alone),
	cmocka_unit_test(test_what_looks_like_one),
};

UNIT_MAIN(pickles)
