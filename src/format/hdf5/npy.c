/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/npy.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/hdf5/numbers.h"

enum { MEMBERS_MOST = 64, ALIGNMENT = 64 };

static bool npy_describe(hid_t type, char *out, size_t room, bool nested);

static char npy_order_of(hid_t type)
{
	if (H5Tget_size(type) == 1)
		return '|';
	return H5Tget_order(type) == H5T_ORDER_BE ? '>' : '<';
}

/* All bits count, and they lie in one of the two usual orders. */
static bool npy_is_whole(hid_t type)
{
	size_t size = H5Tget_size(type);
	H5T_order_t order = H5Tget_order(type);

	return (size == 1 || order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
	       H5Tget_offset(type) == 0 && H5Tget_precision(type) == 8 * size;
}

static bool npy_describe_integer(hid_t type, char *out, size_t room)
{
	size_t size = H5Tget_size(type);
	bool is_signed = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;

	if (!npy_is_whole(type) || (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	snprintf(out, room, "'%c%c%zu'", npy_order_of(type), is_signed ? 'i' : 'u', size);
	return true;
}

static bool npy_describe_float(hid_t type, char *out, size_t room)
{
	if (!npy_is_whole(type) || !hdf5_is_ieee(type))
		return false;
	snprintf(out, room, "'%cf%zu'", npy_order_of(type), H5Tget_size(type));
	return true;
}

static bool describe_enum(hid_t type, char *out, size_t room)
{
	char *name = H5Tget_nmembers(type) == 2 ? H5Tget_member_name(type, 0) : NULL;
	bool is_bool = name && strcmp(name, "FALSE") == 0 && H5Tget_size(type) == 1;
	hid_t base = H5Tget_super(type);
	bool known = base >= 0 && npy_describe_integer(base, out, room);

	if (known && is_bool)
		snprintf(out, room, "'|b1'");
	H5free_memory(name);
	if (base >= 0)
		H5Tclose(base);
	return known;
}

static bool npy_is_plain_name(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-' && *p != ' ')
			return false;
	return *name;
}

/* Adds "('name', '<f4'), ", if the member follows those before it without a gap. */
static bool npy_add_member(hid_t type, unsigned i, size_t *at, char *out, size_t room)
{
	char *name = H5Tget_member_name(type, i), descr[64];
	hid_t member = H5Tget_member_type(type, i);
	bool fits = name && member >= 0 && npy_is_plain_name(name) &&
		    H5Tget_member_offset(type, i) == *at &&
		    npy_describe(member, descr, sizeof(descr), true) &&
		    strlen(out) + strlen(name) + strlen(descr) + 16 < room;

	if (fits) {
		buffer_print(out, room, "%s('%s', %s)", i ? ", " : "", name, descr);
		*at += H5Tget_size(member);
	}
	if (member >= 0)
		H5Tclose(member);
	H5free_memory(name);
	return fits;
}

/* Complex numbers as h5py stores them: two floats, r and i. */
static bool make_complex(hid_t type, char *out, size_t room)
{
	size_t size = H5Tget_size(type);
	char want[100];

	for (int big = 0; big < 2; big++) {
		char order = big ? '>' : '<';

		snprintf(want, sizeof(want), "[('r', '%cf%zu'), ('i', '%cf%zu')", order,
			 size / 2, order, size / 2);
		if (strcmp(want, out) == 0) {
			snprintf(out, room, "'%cc%zu'", order, size);
			return true;
		}
	}
	return false;
}

static bool describe_compound(hid_t type, char *out, size_t room)
{
	int n = H5Tget_nmembers(type);
	size_t at = 0;

	if (n <= 0 || n > MEMBERS_MOST)
		return false;
	snprintf(out, room, "[");
	for (unsigned i = 0; i < (unsigned)n; i++)
		if (!npy_add_member(type, i, &at, out, room))
			return false;
	if (at != H5Tget_size(type))
		return false;
	if (!make_complex(type, out, room))
		buffer_print(out, room, "]");
	return true;
}

static bool npy_describe(hid_t type, char *out, size_t room, bool nested)
{
	H5T_class_t kind = H5Tget_class(type);
	size_t size = H5Tget_size(type);

	if (kind == H5T_INTEGER || kind == H5T_BITFIELD)
		return npy_describe_integer(type, out, room);
	if (kind == H5T_FLOAT)
		return npy_describe_float(type, out, room);
	if (kind == H5T_ENUM)
		return describe_enum(type, out, room);
	if (kind == H5T_COMPOUND)
		return !nested && describe_compound(type, out, room);
	if (size == 0 || (kind != H5T_OPAQUE &&
			  (kind != H5T_STRING || H5Tis_variable_str(type) != 0)))
		return false;
	snprintf(out, room, "'|%c%zu'", kind == H5T_STRING ? 'S' : 'V', size);
	return true;
}

bool hdf5_npy_describe(hid_t type, struct hdf5_npy *out)
{
	return npy_describe(type, out->descr, sizeof(out->descr), false);
}

void hdf5_npy_make(struct hdf5_npy *npy, const hsize_t *dims, int rank, bool fortran)
{
	enum { MAGIC = 10 };
	char *text = npy->head + MAGIC;
	size_t room = sizeof(npy->head) - MAGIC, n;

	snprintf(text, room, "{'descr': %s, 'fortran_order': %s, 'shape': (", npy->descr,
		 fortran ? "True" : "False");
	for (int i = 0; i < rank; i++)
		buffer_print(text, room, "%s%llu%s", i ? " " : "", (unsigned long long)dims[i],
			     i + 1 < rank || rank == 1 ? "," : "");
	buffer_print(text, room, "), }");
	n = strlen(text);
	while ((MAGIC + n + 1) % ALIGNMENT)
		text[n++] = ' ';
	text[n++] = '\n';
	memcpy(npy->head, "\223NUMPY\1\0", 8);
	npy->head[8] = (char)(n & 0xff);
	npy->head[9] = (char)(n >> 8);
	npy->length = MAGIC + n;
}
