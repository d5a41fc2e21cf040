/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of protobuf messages: as the encoding's own pages show them, and damaged. */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>

#include "base/protobuf.h"

#define NINE "\200\200\200\200\200\200\200\200\200"

struct row {
	const char *name, *bytes;
	size_t n;
	const char *fields; /* "NUMBER:KIND=VALUE" or "NUMBER:2@AT+LENGTH", and how it ends */
};

#define ROW(name, bytes, fields) { name, bytes, sizeof(bytes) - 1, fields }

static const struct row messages[] = {
	ROW("empty", "", "end"),
	ROW("varint", "\010\226\001", "1:0=150 end"),
	ROW("text", "\022\007testing", "2:2@2+7 end"),
	ROW("none", "\022\000", "2:2@2+0 end"),
	ROW("message", "\032\003\010\226\001", "3:2@2+3 end"),
	ROW("fixed", "\015\001\002\003\004\021\001\000\000\000\000\000\000\200",
	    "1:5=67305985 2:1=9223372036854775809 end"),
	ROW("minus-one", "\010\377\377\377\377\377\377\377\377\377\001",
	    "1:0=18446744073709551615 end"),
	ROW("long-zero", "\010" NINE "\000", "1:0=0 end"),
	ROW("last-number", "\370\377\377\377\017\001", "536870911:0=1 end"),
	ROW("beyond-64-bits", "\010" NINE "\002", "bad"),
	ROW("eleven-bytes", "\010" NINE "\200\001", "bad"),
	ROW("eleven-bytes-of-tag", NINE "\200\001", "bad"),
	ROW("cut-tag", "\200", "bad"),
	ROW("cut-varint", "\010\226", "bad"),
	ROW("no-value", "\010", "bad"),
	ROW("cut-fixed", "\015\001\002\003", "bad"),
	ROW("cut-text", "\022\007testin", "bad"),
	ROW("length-of-2^63", "\022" NINE "\001", "bad"),
	ROW("length-of-2^64-1", "\022\377\377\377\377\377\377\377\377\377\001", "bad"),
	ROW("behind-one", "\010\001\022\002a", "1:0=1 bad"),
	ROW("field-0", "\000\001", "bad"),
	ROW("number-of-30-bits", "\200\200\200\200\020\001", "bad"),
	ROW("group", "\013\014", "bad"),
	ROW("end-of-group", "\014", "bad"),
	ROW("kind-6", "\016\001", "bad"),
	ROW("kind-7", "\017\001", "bad"),
};

/* A copy that ends where the message does, so that a read beyond it is seen. */
static char *exact(const struct row *row)
{
	char *copy = malloc(row->n ? row->n : 1);

	assert_non_null(copy);
	memcpy(copy, row->bytes, row->n);
	return copy;
}

static char *list_fields(const struct row *row)
{
	char *bytes = exact(row), *text;
	struct protobuf message = protobuf_of_memory(bytes, row->n);
	struct protobuf_field field;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	int r;

	assert_non_null(out);
	while ((r = protobuf_next(&message, &field)) > 0) {
		fprintf(out, "%" PRIu32 ":%d", field.number, (int)field.kind);
		if (field.kind == PROTOBUF_BYTES)
			fprintf(out, "@%" PRIu64 "+%" PRIu64 " ", field.at, field.length);
		else
			fprintf(out, "=%" PRIu64 " ", field.value);
	}
	fprintf(out, "%s", r == 0 ? "end" : r == -EBADMSG ? "bad" : "?");
	fclose(out);
	free(bytes);
	return text;
}

static void test_message(void **state)
{
	const struct row *row = &messages[unit_row(state)];
	char *fields = list_fields(row);

	assert_string_equal(fields, row->fields);
	free(fields);
}

static void test_packed(void **state)
{
	static const char bytes[] = "\022\006\003\216\002\236\247\005"; /* 3, 270, 86942 */
	static const uint64_t want[] = { 3, 270, 86942 };
	struct protobuf message = protobuf_of_memory(bytes, sizeof(bytes) - 1), packed;
	struct protobuf_field field;
	uint64_t value;

	(void)state;
	assert_int_equal(protobuf_next(&message, &field), 1);
	packed = protobuf_inside(&message, &field);
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(protobuf_next_varint(&packed, &value), 1);
		assert_int_equal(value, want[i]);
	}
	assert_int_equal(protobuf_next_varint(&packed, &value), 0);
	assert_int_equal(protobuf_next(&message, &field), 0);
	packed = protobuf_inside(&message, &field);
	packed.end--;
	packed.at = packed.end - 1;
	assert_int_equal(protobuf_next_varint(&packed, &value), -EBADMSG);
}

static int refuse(void *context, uint64_t at, size_t n, const unsigned char **out)
{
	(void)context;
	(void)at;
	(void)n;
	(void)out;
	return -EIO;
}

static void test_unreadable(void **state)
{
	struct protobuf message = { .fetch = refuse, .end = 2 };
	struct protobuf_field field;
	uint64_t value;

	(void)state;
	assert_int_equal(protobuf_next(&message, &field), -EIO);
	assert_int_equal(protobuf_next_varint(&message, &value), -EIO);
}

static const struct CMUnitTest protobuf[] = {
	unit_table(test_message, messages, name),
	cmocka_unit_test(test_packed),
	cmocka_unit_test(test_unreadable),
};

UNIT_MAIN(protobuf)
