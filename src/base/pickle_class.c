/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pickle_class.c: opcodes that name classes and would call them; a policy says what they
 * make. */
#include <errno.h>
#include <stdio.h>

#include "base/pickle_reader.h"

enum { NAME_MOST = 255 }; /* bytes of a class's module, and of its name */

static int push_class(struct pickle_reader *r, const char *module, size_t module_size,
		      const char *name, size_t size)
{
	struct pickle_value value = {.kind = PICKLE_CLASS,
				     .size = (uint32_t)(module_size + 1 + size)};
	int err;

	value.text = arena_print(&r->out->arena, "%.*s %.*s", (int)module_size, module,
				 (int)size, name);
	if (!value.text)
		return pickle_no_memory(r);
	err = r->policy->name(r->policy->context, value.text);
	if (err == -ENOTSUP)
		return pickle_refuse_opcode(r);
	return err ? err : pickle_push(r, &value);
}

int pickle_do_global(struct pickle_reader *r, unsigned unused)
{
	const char *line;
	char *module;
	size_t module_size = 0, size = 0;
	int err = pickle_read_line(r, &line, &module_size);

	if (err)
		return err;
	if (module_size > NAME_MOST)
		return pickle_refuse_opcode(r);
	module = arena_copy(&r->out->arena, line, module_size);
	if (!module)
		return pickle_no_memory(r);
	err = pickle_read_line(r, &line, &size);
	if (!err && size > NAME_MOST)
		return pickle_refuse_opcode(r);
	return err ? err : push_class(r, module, module_size, line, size);
}

static bool pickle_class_is_name(const struct pickle_value *value)
{
	return value->kind == PICKLE_STR && value->text && value->size <= NAME_MOST;
}

int pickle_do_stack_global(struct pickle_reader *r, unsigned unused)
{
	const struct pickle_value *module, *name;

	if (pickle_height(r) < 2)
		return pickle_stack_underflow(r);
	name = pickle_below_top(r, 0);
	module = pickle_below_top(r, 1);
	if (!pickle_class_is_name(name) || !pickle_class_is_name(module))
		return pickle_refuse_opcode(r);
	r->stack.count -= 2;
	return push_class(r, module->text, module->size, name->text, name->size);
}

/* A class and its arguments are taken from the stack; -ENOTSUP: they are none. */
static int evaluate_call(struct pickle_reader *r, uint32_t *class, uint32_t *arguments)
{
	if (pickle_height(r) < 2)
		return pickle_stack_underflow(r);
	if (pickle_below_top(r, 1)->kind != PICKLE_CLASS ||
	    pickle_below_top(r, 0)->kind != PICKLE_TUPLE)
		return pickle_refuse_opcode(r);
	*arguments = r->stack.items[--r->stack.count];
	*class = r->stack.items[--r->stack.count];
	return 0;
}

/* The function that Python would call; it is not called here. */
int pickle_do_reduce(struct pickle_reader *r, unsigned unused)
{
	uint32_t class, arguments;
	int err = evaluate_call(r, &class, &arguments);

	if (!err)
		err = r->policy->call(r, class, arguments);
	return err;
}

int pickle_push_object(struct pickle_reader *r, uint32_t class, uint32_t arguments)
{
	const struct pickle_value object = {
		.kind = PICKLE_OBJECT, .size = arguments, .object = {.class = class}};

	return pickle_push(r, &object);
}

int pickle_do_new_object(struct pickle_reader *r, unsigned unused)
{
	uint32_t class, arguments;
	int err;

	if (!r->policy->objects)
		return pickle_refuse_opcode(r);
	err = evaluate_call(r, &class, &arguments);
	return err ? err : pickle_push_object(r, class, arguments);
}

int pickle_do_build(struct pickle_reader *r, unsigned unused)
{
	uint32_t object, state;

	if (pickle_height(r) < 2)
		return pickle_stack_underflow(r);
	object = r->stack.items[r->stack.count - 2];
	state = r->stack.items[r->stack.count - 1];
	if (pickle_at(r, object)->kind != PICKLE_OBJECT)
		return pickle_refuse_opcode(r);
	r->stack.count--;
	return r->policy->build(r, object, state);
}
