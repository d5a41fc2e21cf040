/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/pickled_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

/* What an image's metadata may hold (thousands of tags) and no attack needs. */
enum {
	VALUES_MOST = 16384, /* on the stack, in the memo */
	LISTS_MOST = 1024,
	LIST_KEEPS = 6,      /* items of a list that are looked at */
	LINE_MOST = 256,     /* of a module's or class's name */
	STEPS_MOST = 200000, /* opcodes of one image */
};

enum value_kind { V_OTHER, V_MARK, V_INT, V_TEXT, V_BYTES, V_PAIR, V_LIST, V_CLASS, V_OBJECT };

struct value {
	enum value_kind kind;
	uint64_t a, b; /* int: a. text: its first 8 bytes, its length. bytes: where, how
			  many. pair: two ints. list: its number. class: is it PIL's?
			  object: the same, and the number + 1 of the list that built it */
};

struct list {
	struct value items[LIST_KEEPS];
	unsigned count;
};

struct wds_pyd {
	struct wds_window *window;
	VEC(struct value) stack;
	VEC(struct value) memo;
	VEC(struct list) lists;
	uint64_t at, end;   /* what is left of the member, in the source */
	unsigned protocol;
	bool pil;           /* a class of PIL's was named */
	bool stopped;
	const char *why;
};

/* An opcode with an argument of `bytes` bytes; if `counted`, that says how long the
   argument proper is, which follows. */
struct opcode {
	unsigned char code, bytes;
	bool counted;
	int (*run)(struct wds_pyd *pyd, uint64_t argument, uint64_t at);
};

struct wds_pyd *wds_pyd_new(struct wds_window *window)
{
	struct wds_pyd *pyd = calloc(1, sizeof(*pyd));

	if (pyd)
		pyd->window = window;
	return pyd;
}

void wds_pyd_free(struct wds_pyd *pyd)
{
	if (!pyd)
		return;
	vec_free(&pyd->stack);
	vec_free(&pyd->memo);
	vec_free(&pyd->lists);
	free(pyd);
}

/* The stack */

static int refuse(struct wds_pyd *pyd, const char *why)
{
	pyd->why = why;
	return -ENOTSUP;
}

static int damaged(struct wds_pyd *pyd)
{
	return refuse(pyd, "its pickle is damaged");
}

static int too_large(struct wds_pyd *pyd)
{
	return refuse(pyd, "its pickle holds more than an image has");
}

static int push(struct wds_pyd *pyd, enum value_kind kind, uint64_t a, uint64_t b)
{
	const struct value value = { kind, a, b };

	if (pyd->stack.count >= VALUES_MOST)
		return too_large(pyd);
	return vec_push(&pyd->stack, value);
}

/* The value that is `down` below the top, unless a mark or nothing is there. */
static struct value *peek(struct wds_pyd *pyd, size_t down)
{
	struct value *value;

	if (pyd->stack.count <= down)
		return NULL;
	value = &pyd->stack.items[pyd->stack.count - 1 - down];
	return value->kind == V_MARK ? NULL : value;
}

/* Where the values above the last mark begin; 0: there is no mark. */
static size_t above_mark(const struct wds_pyd *pyd)
{
	size_t i = pyd->stack.count;

	while (i > 0 && pyd->stack.items[i - 1].kind != V_MARK)
		i--;
	return i;
}

/* `n` values of the top become one. */
static int replace(struct wds_pyd *pyd, size_t n, enum value_kind kind, uint64_t a, uint64_t b)
{
	for (size_t i = 0; i < n; i++)
		if (!peek(pyd, i))
			return damaged(pyd);
	pyd->stack.count -= n;
	return push(pyd, kind, a, b);
}

/* What opcodes do */

static int do_protocol(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)at;
	pyd->protocol = (unsigned)argument;
	return argument <= 5 ? 0 : refuse(pyd, "its pickle's protocol is not known");
}

static int do_nothing(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)pyd;
	(void)argument;
	(void)at;
	return 0;
}

static int do_stop(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	pyd->stopped = true;
	return 0;
}

static int do_mark(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	return push(pyd, V_MARK, 0, 0);
}

static int do_other(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	return push(pyd, V_OTHER, 0, 0);
}

static int do_int(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)at;
	if (argument > INT32_MAX) /* negative: no size */
		return push(pyd, V_OTHER, 0, 0);
	return push(pyd, V_INT, argument, 0);
}

static int do_bytes(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	return push(pyd, V_BYTES, at, argument);
}

static int do_text(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	unsigned n = argument < 8 ? (unsigned)argument : 8;
	const unsigned char *bytes = NULL;
	int err = wds_window_get(pyd->window, at, n, &bytes);

	return err ? err : push(pyd, V_TEXT, little_endian(bytes, n), argument);
}

static int do_list(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	const struct list list = { .count = 0 };

	(void)argument;
	(void)at;
	if (pyd->lists.count >= LISTS_MOST)
		return too_large(pyd);
	if (vec_push(&pyd->lists, list) < 0)
		return -ENOMEM;
	return push(pyd, V_LIST, pyd->lists.count - 1, 0);
}

static void append(struct list *list, const struct value *value)
{
	if (list->count < LIST_KEEPS)
		list->items[list->count] = *value;
	if (list->count <= LIST_KEEPS)
		list->count++;
}

static int append_from(struct wds_pyd *pyd, size_t first, size_t target)
{
	const struct value *values = pyd->stack.items;

	if (values[target].kind != V_LIST)
		return refuse(pyd, "its pickle holds more than an image has");
	for (size_t i = first; i < pyd->stack.count; i++)
		append(&pyd->lists.items[values[target].a], &values[i]);
	pyd->stack.count = target + 1;
	return 0;
}

static int do_append(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	if (!peek(pyd, 0) || !peek(pyd, 1))
		return damaged(pyd);
	return append_from(pyd, pyd->stack.count - 1, pyd->stack.count - 2);
}

static int do_appends(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	size_t first = above_mark(pyd);

	(void)argument;
	(void)at;
	return first < 2 ? damaged(pyd) : append_from(pyd, first, first - 2);
}

static int do_set_item(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	if (!peek(pyd, 0) || !peek(pyd, 1) || !peek(pyd, 2))
		return damaged(pyd);
	pyd->stack.count -= 2;
	return 0;
}

static int do_set_items(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	size_t first = above_mark(pyd);

	(void)argument;
	(void)at;
	if (first < 2)
		return damaged(pyd);
	pyd->stack.count = first - 1;
	return 0;
}

static int make_pair(struct wds_pyd *pyd)
{
	const struct value *b = peek(pyd, 0), *a = peek(pyd, 1);

	if (!a || !b)
		return damaged(pyd);
	if (a->kind != V_INT || b->kind != V_INT)
		return replace(pyd, 2, V_OTHER, 0, 0);
	return replace(pyd, 2, V_PAIR, a->a, b->a);
}

static int do_tuple(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	size_t first = above_mark(pyd);

	(void)argument;
	(void)at;
	if (first == 0)
		return damaged(pyd);
	pyd->stack.count = first - 1;
	return push(pyd, V_OTHER, 0, 0);
}

static int do_tuple1(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	return replace(pyd, 1, V_OTHER, 0, 0);
}

static int do_tuple2(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	return make_pair(pyd);
}

static int do_tuple3(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	return replace(pyd, 3, V_OTHER, 0, 0);
}

/* A class is a module and a name; only whether the module is of PIL counts. */
static bool is_pil(uint64_t text, uint64_t length)
{
	return length > 4 && (text & 0xffffffff) == little_endian((const void *)"PIL.", 4);
}

static int push_class(struct wds_pyd *pyd, bool pil)
{
	pyd->pil |= pil;
	return push(pyd, V_CLASS, pil, 0);
}

static int do_stack_global(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	const struct value *name = peek(pyd, 0), *module = peek(pyd, 1);
	bool pil;

	(void)argument;
	(void)at;
	if (!name || !module || name->kind != V_TEXT || module->kind != V_TEXT)
		return damaged(pyd);
	pil = is_pil(module->a, module->b);
	pyd->stack.count -= 2;
	return push_class(pyd, pil);
}

/* Passes a line: how long it is, without its end, and its first 8 bytes. */
static int pass_line(struct wds_pyd *pyd, uint64_t *length, uint64_t *text)
{
	uint64_t left = pyd->end - pyd->at;
	size_t n = left < LINE_MOST ? (size_t)left : LINE_MOST;
	const unsigned char *bytes, *end;
	int err = wds_window_get(pyd->window, pyd->at, n, &bytes);

	if (err)
		return err;
	end = n ? memchr(bytes, '\n', n) : NULL;
	if (!end)
		return damaged(pyd);
	*length = (uint64_t)(end - bytes);
	*text = little_endian(bytes, *length < 8 ? (unsigned)*length : 8);
	pyd->at += *length + 1;
	return 0;
}

static int do_global(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	uint64_t length, text, module_length = 0, module = 0;
	int err = pass_line(pyd, &module_length, &module);

	(void)argument;
	(void)at;
	if (!err)
		err = pass_line(pyd, &length, &text);
	return err ? err : push_class(pyd, is_pil(module, module_length));
}

/* An object of a class, which nobody makes. */
static int do_new_object(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	const struct value *class = peek(pyd, 1);

	(void)argument;
	(void)at;
	if (!class || class->kind != V_CLASS)
		return damaged(pyd);
	return replace(pyd, 2, V_OBJECT, class->a, 0);
}

static int do_build(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	const struct value *state = peek(pyd, 0);
	struct value *object = peek(pyd, 1);

	(void)argument;
	(void)at;
	if (!state || !object || object->kind != V_OBJECT)
		return damaged(pyd);
	if (state->kind == V_LIST)
		object->b = state->a + 1;
	pyd->stack.count--;
	return 0;
}

static int do_put(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	const struct value other = { V_OTHER, 0, 0 }, *top = peek(pyd, 0);

	(void)at;
	if (!top)
		return damaged(pyd);
	if (argument >= VALUES_MOST)
		return too_large(pyd);
	while (pyd->memo.count <= argument)
		if (vec_push(&pyd->memo, other) < 0)
			return -ENOMEM;
	pyd->memo.items[argument] = *top;
	return 0;
}

static int do_memoize(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	return do_put(pyd, pyd->memo.count, at);
}

static int do_get(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	const struct value *value;

	(void)at;
	if (argument >= pyd->memo.count)
		return damaged(pyd);
	value = &pyd->memo.items[argument];
	return push(pyd, value->kind, value->a, value->b);
}

static int do_call(struct wds_pyd *pyd, uint64_t argument, uint64_t at)
{
	(void)argument;
	(void)at;
	return refuse(pyd, pyd->protocol < 3 ?
		      "it is pickled in protocol 2, where pixels are text" :
		      "its pickle calls a function");
}

static const struct opcode opcodes[] = {
	{ 0x80, 1, false, do_protocol },
	{ 0x95, 8, false, do_nothing }, /* FRAME: lengths of arguments say as much */
	{ '.', 0, false, do_stop },
	{ '(', 0, false, do_mark },
	{ 'N', 0, false, do_other }, /* NONE */
	{ 0x88, 0, false, do_other }, /* NEWTRUE */
	{ 0x89, 0, false, do_other }, /* NEWFALSE */
	{ 'J', 4, false, do_int },
	{ 'K', 1, false, do_int },
	{ 'M', 2, false, do_int },
	{ 'G', 8, false, do_other }, /* BINFLOAT */
	{ 0x8a, 1, true, do_other }, /* LONG1 */
	{ 0x8b, 4, true, do_other }, /* LONG4 */
	{ 0x8c, 1, true, do_text },
	{ 'X', 4, true, do_text },
	{ 0x8d, 8, true, do_text },
	{ 'C', 1, true, do_bytes },
	{ 'B', 4, true, do_bytes },
	{ 0x8e, 8, true, do_bytes },
	{ 0x96, 8, true, do_bytes }, /* BYTEARRAY8 */
	{ ')', 0, false, do_other }, /* EMPTY_TUPLE */
	{ '}', 0, false, do_other }, /* EMPTY_DICT */
	{ ']', 0, false, do_list },
	{ 't', 0, false, do_tuple },
	{ 0x85, 0, false, do_tuple1 },
	{ 0x86, 0, false, do_tuple2 },
	{ 0x87, 0, false, do_tuple3 },
	{ 'a', 0, false, do_append },
	{ 'e', 0, false, do_appends },
	{ 's', 0, false, do_set_item },
	{ 'u', 0, false, do_set_items },
	{ 0x94, 0, false, do_memoize },
	{ 'q', 1, false, do_put },
	{ 'r', 4, false, do_put },
	{ 'h', 1, false, do_get },
	{ 'j', 4, false, do_get },
	{ 'c', 0, false, do_global },
	{ 0x93, 0, false, do_stack_global },
	{ 0x81, 0, false, do_new_object },
	{ 'b', 0, false, do_build },
	{ 'R', 0, false, do_call },
};

static const struct opcode *find_opcode(unsigned char code)
{
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++)
		if (opcodes[i].code == code)
			return &opcodes[i];
	return NULL;
}

/* Takes `n` bytes of the member as a number. */
static int take(struct wds_pyd *pyd, unsigned n, uint64_t *out)
{
	const unsigned char *bytes = NULL;
	int err;

	if (n > pyd->end - pyd->at)
		return damaged(pyd);
	err = wds_window_get(pyd->window, pyd->at, n, &bytes);
	if (err)
		return err;
	*out = little_endian(bytes, n);
	pyd->at += n;
	return 0;
}

static int step(struct wds_pyd *pyd)
{
	uint64_t code = 0, argument = 0, at;
	const struct opcode *opcode;
	int err = take(pyd, 1, &code);

	if (err)
		return err;
	opcode = find_opcode((unsigned char)code);
	if (!opcode)
		return refuse(pyd, "its pickle holds what no image needs");
	err = take(pyd, opcode->bytes, &argument);
	if (err)
		return err;
	at = pyd->at;
	if (opcode->counted) {
		if (argument > pyd->end - pyd->at)
			return damaged(pyd);
		pyd->at += argument;
	}
	return opcode->run(pyd, argument, at);
}

/* The state of PIL's Image: info, mode, size, palette, pixels, and what is newer. */
static int take_image(struct wds_pyd *pyd, struct wds_image *out)
{
	const struct value *object = peek(pyd, 0), *items;
	const struct list *list;
	uint64_t length;

	if (!object || object->kind != V_OBJECT || !object->a || !object->b)
		return refuse(pyd, "it is not one image");
	list = &pyd->lists.items[object->b - 1];
	items = list->items;
	if (list->count < 5 || items[1].kind != V_TEXT || items[2].kind != V_PAIR ||
	    items[4].kind != V_BYTES)
		return refuse(pyd, "its pickle is not as PIL writes one");
	if (items[1].b == 3 && items[1].a == little_endian((const void *)"RGB", 3))
		out->channels = 3;
	else if (items[1].b == 1 && items[1].a == 'L')
		out->channels = 1;
	else
		return refuse(pyd, "its mode is neither RGB nor L");
	if (!checked_mul(items[2].a, items[2].b, &length) ||
	    !checked_mul(length, out->channels, &length) || length == 0 ||
	    length != items[4].b)
		return refuse(pyd, "its pixels are not as many as its size says");
	out->width = items[2].a;
	out->height = items[2].b;
	out->offset = items[4].a;
	out->length = length;
	return 0;
}

int wds_pyd_image(struct wds_pyd *pyd, uint64_t offset, uint64_t size,
		  struct wds_image *out, const char **why)
{
	unsigned steps = 0;
	int err = 0;

	pyd->stack.count = pyd->memo.count = pyd->lists.count = 0;
	pyd->at = offset;
	if (!checked_add(offset, size, &pyd->end))
		return -EIO;
	pyd->protocol = 0;
	pyd->pil = pyd->stopped = false;
	pyd->why = NULL;
	while (!err && !pyd->stopped)
		err = ++steps > STEPS_MOST ? too_large(pyd) : step(pyd);
	if (!err)
		err = take_image(pyd, out);
	*why = pyd->why;
	return err == -ENOTSUP && !pyd->pil ? -ENODATA : err;
}
