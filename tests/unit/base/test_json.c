/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON, as written and as Python reads it back. */
#include "unit.h"

#include "base/json.h"

static const struct {
	const char *bytes;
	size_t size;
} strings[] = {
#define BYTES(text) { text, sizeof(text) - 1 }
	BYTES(""),
	BYTES("plain"),
	BYTES("a\"b\\c/d"),
	BYTES("\x01\n\t\x1f\x7f"),
	BYTES("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8c\xbe"),
	BYTES("\x80"),             /* a continuation byte alone */
	BYTES("\xff\xfe"),
	BYTES("\xc3"),             /* cut off */
	BYTES("\xc3\x28"),
	BYTES("\xe2\x82"),
	BYTES("\xe2\x82\x41"),
	BYTES("\xf0\x9f\x8c"),
	BYTES("\xc0\xaf"),         /* overlong */
	BYTES("\xe0\x80\xaf"),
	BYTES("\xf0\x80\x80\xaf"),
	BYTES("\xed\xa0\x80"),     /* a surrogate */
	BYTES("\xed\xb2\x80"),
	BYTES("\xf4\x8f\xbf\xbf"), /* U+10FFFF */
	BYTES("\xf4\x90\x80\x80"), /* past it */
	BYTES("\xf5\x80\x80\x80"),
	BYTES("a\xe9" "b\xc3\xa9" "c"),
#undef BYTES
};

static void write_strings(const char *path)
{
	struct json json = { .out = fopen(path, "w") };

	assert_non_null(json.out);
	json_open(&json, NULL, '[');
	for (size_t i = 0; i < COUNT(strings); i++)
		json_text(&json, NULL, strings[i].bytes);
	json_close(&json, ']');
	assert_int_equal(ferror(json.out), 0);
	assert_int_equal(fclose(json.out), 0);
}

static void hex_of(const char *bytes, size_t size, char *out)
{
	for (size_t i = 0; i < size; i++)
		snprintf(out + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
	out[2 * size] = '\n';
	out[2 * size + 1] = '\0';
}

static void test_python_reads_every_byte_back(void **state)
{
	FILE *python;
	char line[128], hex[128];

	(void)state;
	write_strings("strings.json");
	python = popen("python3 -c \"import json\n"
		       "for s in json.load(open('strings.json', encoding='utf-8')):\n"
		       "    print(s.encode('utf-8', 'surrogateescape').hex())\"", "r");
	assert_non_null(python);
	for (size_t i = 0; i < COUNT(strings); i++) {
		assert_non_null(fgets(line, sizeof(line), python));
		hex_of(strings[i].bytes, strings[i].size, hex);
		assert_string_equal(line, hex);
	}
	assert_int_equal(pclose(python), 0);
}

static void write_members(struct json *json)
{
	json_open(json, NULL, '{');
	json_text(json, "name", "a\nb");
	json_open(json, "list", '[');
	json_uint(json, NULL, UINT64_MAX);
	json_int(json, NULL, INT64_MIN);
	json_close(json, ']');
	json_open(json, "empty", '{');
	json_close(json, '}');
	json_bool(json, "yes", true);
	json_bool(json, "no", false);
	json_text(json, "k\"ey", "");
	json_close(json, '}');
}

static void test_members_and_commas(void **state)
{
	char *text = NULL;
	size_t size;
	struct json json = { .out = open_memstream(&text, &size) };

	(void)state;
	assert_non_null(json.out);
	write_members(&json);
	fclose(json.out);
	assert_string_equal(text, "{\"name\":\"a\\u000ab\","
			    "\"list\":[18446744073709551615,-9223372036854775808],"
			    "\"empty\":{},\"yes\":true,\"no\":false,\"k\\\"ey\":\"\"}");
	free(text);
}

static const struct CMUnitTest json[] = {
	cmocka_unit_test(test_python_reads_every_byte_back),
	cmocka_unit_test(test_members_and_commas),
};

UNIT_MAIN(json)
