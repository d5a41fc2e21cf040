/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/pickle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pickle_reader.h"

enum {
	PROTOCOL_MOST = 5,
	MARKS_MOST = 1000, /* open at a time: as deep as it nests */
};

/* The number of values above the last mark: none beneath it may be used. */
size_t pickle_height(const struct pickle_reader *r)
{
	size_t floor = r->marks.count ? r->marks.items[r->marks.count - 1] : 0;

	return r->stack.count - floor;
}

int pickle_stack_underflow(struct pickle_reader *r)
{
	return pickle_refuse(
		r, "an opcode finds too little to work on; the file is damaged");
}

struct pickle_value *pickle_below_top(struct pickle_reader *r, size_t below_top)
{
	uint32_t id = r->stack.items[r->stack.count - 1 - below_top];

	return &r->out->values.items[id];
}

/* Tuples, lists and dicts */

static int append_cell(struct pickle_reader *r, struct pickle_value *container,
		       uint32_t id)
{
	struct pickle *out = r->out;
	size_t most = r->policy->values_most;

	if (most && out->cells.count >= most)
		return pickle_refuse_unsupported(r, "more than %zu items", most);

	if (vec_push(&out->cells, ((struct pickle_cell){ .value = id })) < 0)
		return pickle_no_memory(r);
	if (container->size++ == 0)
		container->cells[0] = (uint32_t)out->cells.count;
	else
		out->cells.items[container->cells[1] - 1].next =
			(uint32_t)out->cells.count;
	container->cells[1] = (uint32_t)out->cells.count;
	return 0;
}

int pickle_append(struct pickle_reader *r, uint32_t container, uint32_t id)
{
	return append_cell(r, pickle_at(r, container), id);
}

/* The `n` topmost go into the container: they are taken from the stack. */
static int pickle_fill(struct pickle_reader *r, struct pickle_value *container, size_t n)
{
	/* of nothing there may be no stack yet, and NULL + 0 is nothing that C knows */
	const uint32_t *ids = n ? r->stack.items + (r->stack.count - n) : NULL;
	int err = 0;

	if (container->kind == PICKLE_DICT && n % 2)
		return pickle_refuse(
			r, "a key of a dict without a value; the file is damaged");
	for (size_t i = 0; i < n && !err; i++) {
		enum pickle_kind kind = r->out->values.items[ids[i]].kind;

		if (container->kind == PICKLE_DICT && i % 2 == 0 && kind >= PICKLE_LIST)
			return pickle_refuse(
				r, "a list or a dict as a key; the file is damaged");
		err = append_cell(r, container, ids[i]);
	}
	r->stack.count -= n;
	return err;
}

static int pickle_make(struct pickle_reader *r, enum pickle_kind kind, size_t n)
{
	struct pickle_value made = { .kind = kind };
	int err = pickle_height(r) < n ? pickle_stack_underflow(r) :
		pickle_fill(r, &made, n);

	return err ? err : pickle_push(r, &made);
}

/* How much is above the last mark, which is taken away. */
static int pop_mark(struct pickle_reader *r, size_t *n)
{
	*n = 0;
	if (r->marks.count == 0)
		return pickle_stack_underflow(r);
	*n = pickle_height(r);
	r->marks.count--;
	return 0;
}

static int add_to(struct pickle_reader *r, enum pickle_kind kind, size_t n)
{
	if (pickle_height(r) < n + 1)
		return pickle_stack_underflow(r);
	if (pickle_below_top(r, n)->kind != kind)
		return pickle_refuse(
			r, "an item for something that is no %s; the file is damaged",
			kind == PICKLE_DICT ? "dict" : "list");
	return pickle_fill(r, pickle_below_top(r, n), n);
}

static int do_make(struct pickle_reader *r, unsigned kind)
{
	return pickle_make(r, kind, 0);
}

static int do_tuple(struct pickle_reader *r, unsigned n)
{
	return pickle_make(r, PICKLE_TUPLE, n);
}

static int do_make_marked(struct pickle_reader *r, unsigned kind)
{
	size_t n;
	int err = pop_mark(r, &n);

	return err ? err : pickle_make(r, kind, n);
}

/* One item, or a key with its value. */
static int do_add(struct pickle_reader *r, unsigned kind)
{
	return add_to(r, kind, kind == PICKLE_DICT ? 2 : 1);
}

static int do_add_marked(struct pickle_reader *r, unsigned kind)
{
	size_t n;
	int err = pop_mark(r, &n);

	return err ? err : add_to(r, kind, n);
}

/* The stack, and the memo */

static int do_mark(struct pickle_reader *r, unsigned unused)
{
	if (r->marks.count == MARKS_MOST)
		return pickle_refuse(r, "it nests more than %d deep", MARKS_MOST);
	return vec_push(&r->marks, (uint32_t)r->stack.count) < 0 ? pickle_no_memory(r)
								 : 0;
}

static int do_pop(struct pickle_reader *r, unsigned unused)
{
	if (pickle_height(r) > 0)
		r->stack.count--;
	else if (r->marks.count > 0)
		r->marks.count--;
	else
		return pickle_stack_underflow(r);
	return 0;
}

static int do_pop_marked(struct pickle_reader *r, unsigned unused)
{
	size_t n;
	int err = pop_mark(r, &n);

	if (!err)
		r->stack.count -= n;
	return err;
}

static int do_dup(struct pickle_reader *r, unsigned unused)
{
	if (pickle_height(r) == 0)
		return pickle_stack_underflow(r);
	return pickle_push_id(r, r->stack.items[r->stack.count - 1]);
}

/* A number that follows: in so many bytes, or (0) written out. */
static int pickle_read_index(struct pickle_reader *r, unsigned width, uint64_t *out)
{
	char digits[PICKLE_LINE_MOST], *end;
	int err;

	if (width)
		return pickle_read_number(r, width, out);
	err = pickle_read_digits(r, digits);
	if (err)
		return err;
	*out = strtoull(digits, &end, 10);
	return *end || *digits == '-' ? pickle_refuse(r, "a number that is none") : 0;
}

static int pickle_remember(struct pickle_reader *r, uint64_t index)
{
	if (pickle_height(r) == 0)
		return pickle_stack_underflow(r);
	/* who numbers what he writes does not get beyond the bytes that he wrote */
	if (index > r->input->end - r->input->begin ||
	    (r->policy->values_most && index > r->policy->values_most))
		return pickle_refuse(
			r, "number %llu of the memo, in %llu bytes; the file is damaged",
			(unsigned long long)index,
			(unsigned long long)(r->input->end - r->input->begin));
	while (r->memo.count <= index)
		if (vec_push(&r->memo, 0) < 0)
			return pickle_no_memory(r);
	r->remembered += !r->memo.items[index];
	r->memo.items[index] = r->stack.items[r->stack.count - 1] + 1;
	return 0;
}

/* The number is how many there are, as in Python: it may be that of another value. */
static int do_memoize(struct pickle_reader *r, unsigned unused)
{
	return pickle_remember(r, r->remembered);
}

static int do_put(struct pickle_reader *r, unsigned width)
{
	uint64_t index;
	int err = pickle_read_index(r, width, &index);

	return err ? err : pickle_remember(r, index);
}

static int do_get(struct pickle_reader *r, unsigned width)
{
	uint64_t index;
	int err = pickle_read_index(r, width, &index);

	if (err)
		return err;
	if (index >= r->memo.count || !r->memo.items[index])
		return pickle_refuse(
			r,
			"number %llu of the memo, which has nothing there; the "
			"file is damaged",
			(unsigned long long)index);
	return pickle_push_id(r, r->memo.items[index] - 1);
}

static int do_proto(struct pickle_reader *r, unsigned width)
{
	uint64_t version;
	int err = pickle_read_number(r, width, &version);

	if (!err && version > PROTOCOL_MOST)
		err = pickle_refuse(r,
				    "protocol %u, and 0 to %d can be read; write it with "
				    "protocol=4",
				    (unsigned)version, PROTOCOL_MOST);
	r->protocol = (unsigned)version;
	return err;
}

/* Frames say how much may be read at once; here all is in memory already. */
static int do_frame(struct pickle_reader *r, unsigned width)
{
	uint64_t size;
	int err = pickle_read_number(r, width, &size);

	if (!err && size > r->input->end - r->at)
		err = pickle_truncated(r);
	return err;
}

static int do_stop(struct pickle_reader *r, unsigned unused)
{
	if (r->stack.count != 1 || r->marks.count != 0)
		return pickle_refuse(
			r, "it ends with other than one value; the file is damaged");
	if (r->at != r->input->end)
		return pickle_refuse(
			r, "%llu bytes follow its end; keep one pickle in the file",
			(unsigned long long)(r->input->end - r->at));
	r->stopped = true;
	return 0;
}

struct opcode {
	const char *name;
	int (*run)(struct pickle_reader *r, unsigned argument); /* NULL: refused */
	unsigned argument;
};

static const struct opcode opcodes[256] = {
	[0x80] = { "PROTO", do_proto, 1 },
	[0x95] = { "FRAME", do_frame, 8 },
	['.'] = { "STOP", do_stop, 0 },
	['('] = { "MARK", do_mark, 0 },
	['0'] = { "POP", do_pop, 0 },
	['1'] = { "POP_MARK", do_pop_marked, 0 },
	['2'] = { "DUP", do_dup, 0 },
	['N'] = { "NONE", pickle_do_constant, 0 },
	[0x88] = { "NEWTRUE", pickle_do_constant, 0 },
	[0x89] = { "NEWFALSE", pickle_do_constant, 0 },
	['I'] = { "INT", pickle_do_decimal, 0 },
	['L'] = { "LONG", pickle_do_decimal, 0 },
	['J'] = { "BININT", pickle_do_int, 4 },
	['K'] = { "BININT1", pickle_do_int, 1 },
	['M'] = { "BININT2", pickle_do_int, 2 },
	[0x8a] = { "LONG1", pickle_do_long, 1 },
	[0x8b] = { "LONG4", pickle_do_long, 4 },
	['F'] = { "FLOAT", pickle_do_float, 0 },
	['G'] = { "BINFLOAT", pickle_do_binfloat, 8 },
	['V'] = { "UNICODE", pickle_do_unicode, 0 },
	[0x8c] = { "SHORT_BINUNICODE", pickle_do_str, 1 },
	['X'] = { "BINUNICODE", pickle_do_str, 4 },
	[0x8d] = { "BINUNICODE8", pickle_do_str, 8 },
	['U'] = { "SHORT_BINSTRING", pickle_do_bytes, 1 },
	['T'] = { "BINSTRING", pickle_do_bytes, 4 },
	['C'] = { "SHORT_BINBYTES", pickle_do_bytes, 1 },
	['B'] = { "BINBYTES", pickle_do_bytes, 4 },
	[0x8e] = { "BINBYTES8", pickle_do_bytes, 8 },
	[')'] = { "EMPTY_TUPLE", do_tuple, 0 },
	[0x85] = { "TUPLE1", do_tuple, 1 },
	[0x86] = { "TUPLE2", do_tuple, 2 },
	[0x87] = { "TUPLE3", do_tuple, 3 },
	['t'] = { "TUPLE", do_make_marked, PICKLE_TUPLE },
	[']'] = { "EMPTY_LIST", do_make, PICKLE_LIST },
	['l'] = { "LIST", do_make_marked, PICKLE_LIST },
	['a'] = { "APPEND", do_add, PICKLE_LIST },
	['e'] = { "APPENDS", do_add_marked, PICKLE_LIST },
	['}'] = { "EMPTY_DICT", do_make, PICKLE_DICT },
	['d'] = { "DICT", do_make_marked, PICKLE_DICT },
	['s'] = { "SETITEM", do_add, PICKLE_DICT },
	['u'] = { "SETITEMS", do_add_marked, PICKLE_DICT },
	[0x94] = { "MEMOIZE", do_memoize, 0 },
	['p'] = { "PUT", do_put, 0 },
	['q'] = { "BINPUT", do_put, 1 },
	['r'] = { "LONG_BINPUT", do_put, 4 },
	['g'] = { "GET", do_get, 0 },
	['h'] = { "BINGET", do_get, 1 },
	['j'] = { "LONG_BINGET", do_get, 4 },

	['c'] = { "GLOBAL", pickle_do_global, 0 },
	[0x93] = { "STACK_GLOBAL", pickle_do_stack_global, 0 },
	['R'] = { "REDUCE", pickle_do_reduce, 0 },
	['b'] = { "BUILD", pickle_do_build, 0 },
	[0x81] = { "NEWOBJ", pickle_do_new_object, 0 },
	['S'] = { "STRING", pickle_do_string, 0 },
	[0x96] = { "BYTEARRAY8", pickle_do_bytes, 8 },

	['i'] = { .name = "INST" },
	['o'] = { .name = "OBJ" },
	[0x92] = { .name = "NEWOBJ_EX" },
	[0x82] = { .name = "EXT1" },
	[0x83] = { .name = "EXT2" },
	[0x84] = { .name = "EXT4" },
	['P'] = { .name = "PERSID" },
	['Q'] = { .name = "BINPERSID" },
	[0x8f] = { .name = "EMPTY_SET" },
	[0x90] = { .name = "ADDITEMS" },
	[0x91] = { .name = "FROZENSET" },
	[0x97] = { .name = "NEXT_BUFFER" },
	[0x98] = { .name = "READONLY_BUFFER" },
};

int pickle_refuse_opcode(struct pickle_reader *r)
{
	return pickle_refuse_unsupported(
		r,
		"%s, which is not followed: only dict, list, tuple, str, "
		"bytes, int, float, bool and None are read; convert what is "
		"in it to these, and pickle it again",
		opcodes[r->code].name);
}

static int pickle_step(struct pickle_reader *r)
{
	const struct opcode *opcode;
	uint64_t code;
	int err;

	r->op = r->at;
	if (r->policy->steps_most && ++r->steps > r->policy->steps_most)
		return pickle_refuse_unsupported(r, "more than %zu opcodes",
						 r->policy->steps_most);
	err = pickle_read_number(r, 1, &code);
	if (err)
		return err;
	r->code = (unsigned char)code;
	opcode = &opcodes[code];
	if (opcode->run)
		return opcode->run(r, opcode->argument);
	if (opcode->name)
		return pickle_refuse_opcode(r);
	return pickle_refuse(r,
			     "0x%02x, which is no opcode; the file is damaged, or is no "
			     "pickle",
			     r->code);
}

void *pickle_context(const struct pickle_reader *r)
{
	return r->policy->context;
}

unsigned pickle_protocol(const struct pickle_reader *r)
{
	return r->protocol;
}

int pickle_note_state(struct pickle_reader *r, uint32_t object, uint32_t state)
{
	pickle_at(r, object)->object.state_plus_1 = state + 1;
	return 0;
}

int pickle_run(const struct pickle_input *input, const struct pickle_policy *policy,
	       const char *path, struct pickle **out, struct error *e)
{
	struct pickle_reader r = { .input = input, .policy = policy, .at = input->begin,
				   .op = input->begin, .path = path, .e = e };
	int err = 0;

	*out = NULL;
	r.out = calloc(1, sizeof(*r.out));
	if (!r.out)
		return pickle_no_memory(&r);
	while (!err && !r.stopped)
		err = pickle_step(&r);
	if (!err)
		r.out->root = r.stack.items[0];
	vec_free(&r.stack);
	vec_free(&r.marks);
	vec_free(&r.memo);
	if (err)
		pickle_free(r.out);
	else
		*out = r.out;
	return err;
}

static int pickle_get_memory(void *context, uint64_t at, size_t n,
			     const unsigned char **out)
{
	*out = (const unsigned char *)context + at;
	return 0;
}

int pickle_read(const void *bytes, size_t n, const char *path, struct pickle **out,
		struct error *e)
{
	const struct pickle_input input = {pickle_get_memory, (void *)(uintptr_t)bytes, 0,
					   n, true};
	int err;

	*out = NULL;
	if (n >= UINT32_MAX / 2)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: a pickle of %zu bytes, and "
				 "2 GiB can be read; split it",
				 path, n);
	err = pickle_run(&input, &pickle_plain, path, out, e);
	return err == -ENOTSUP ? -EBADMSG : err;
}

void pickle_free(struct pickle *pickle)
{
	if (!pickle)
		return;
	vec_free(&pickle->values);
	vec_free(&pickle->cells);
	arena_free(&pickle->arena);
	free(pickle);
}

const struct pickle_value *pickle_root(const struct pickle *pickle)
{
	return &pickle->values.items[pickle->root];
}

const struct pickle_value *pickle_value(const struct pickle *pickle, uint32_t id)
{
	return &pickle->values.items[id];
}

struct pickle_walk pickle_items(const struct pickle *pickle,
				const struct pickle_value *value)
{
	bool any = value->kind >= PICKLE_TUPLE && value->size > 0;

	return (struct pickle_walk){ pickle, any ? value->cells[0] : 0 };
}

const struct pickle_value *pickle_next(struct pickle_walk *walk)
{
	const struct pickle_cell *cell;

	if (!walk->cell)
		return NULL;
	cell = &walk->pickle->cells.items[walk->cell - 1];
	walk->cell = cell->next;
	return &walk->pickle->values.items[cell->value];
}

/* Protocols 2 and later say so; 0 and 1 begin with a dict or a list that is remembered.
 */
int pickle_detect(const void *bytes, size_t n)
{
	static const char *const beginnings[] = { "(dp", "(lp", "}q", "]q", "}r", "]r",
						  "}(", "](", "}.", "].", "(d.",
						  "(l.", "(dS", "(lS", "(dV", "(lV",
						  "ccollections\n", "cnumpy" };
	const unsigned char *head = bytes;

	if (n >= 2 && head[0] == 0x80 && head[1] <= PROTOCOL_MOST)
		return 1;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (n > strlen(beginnings[i]) &&
		    memcmp(bytes, beginnings[i], strlen(beginnings[i])) == 0)
			return 1;
	return 0;
}

int pickle_int(const void *bytes, size_t n, int64_t *out)
{
	struct pickle *pickle;
	int err = pickle_read(bytes, n, "", &pickle, NULL);

	if (err)
		return err;
	if (pickle_root(pickle)->kind == PICKLE_INT)
		*out = pickle_root(pickle)->number;
	else
		err = -EBADMSG;
	pickle_free(pickle);
	return err;
}
