/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/numbers.h"

#include "base/ieee.h"
#include "build/samples.h"
#include "labels/label_text.h"

static bool numbers_describe_integer(hid_t type, struct hdf5_number *out)
{
	size_t precision = H5Tget_precision(type), size = H5Tget_size(type);
	H5T_order_t order = H5Tget_order(type);
	int shift = H5Tget_offset(type);

	if (size == 0 || size > 8 || precision == 0 || precision > 64 || shift < 0 ||
	    (size_t)shift + precision > 8 * size)
		return false;
	out->big_endian = order == H5T_ORDER_BE;
	out->is_signed = H5Tget_sign(type) == H5T_SGN_2;
	out->shift = (unsigned)shift;
	out->bits = (unsigned)precision;
	out->bytes = size;
	return order == H5T_ORDER_LE || order == H5T_ORDER_BE || size == 1;
}

/* By the fields: libhdf5 has a type for halves from 1.14.4 on. */
bool hdf5_is_ieee(hid_t type)
{
	static const struct {
		size_t size, exponent_at, exponent, mantissa, bias;
	} known[] = { { 2, 10, 5, 10, 15 }, { 4, 23, 8, 23, 127 }, { 8, 52, 11, 52, 1023 } };
	size_t sign, exponent_at, exponent, mantissa_at, mantissa, size = H5Tget_size(type);

	if (H5Tget_norm(type) != H5T_NORM_IMPLIED ||
	    H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa) < 0)
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].size == size && sign == 8 * size - 1 &&
		    known[i].exponent_at == exponent_at && known[i].exponent == exponent &&
		    mantissa_at == 0 && known[i].mantissa == mantissa &&
		    H5Tget_ebias(type) == known[i].bias)
			return true;
	return false;
}

static bool numbers_describe_float(hid_t type, struct hdf5_number *out)
{
	out->is_float = true;
	out->bytes = H5Tget_size(type);
	out->big_endian = H5Tget_order(type) == H5T_ORDER_BE;
	return hdf5_is_ieee(type) && H5Tget_order(type) != H5T_ORDER_VAX;
}

bool hdf5_number_describe(hid_t type, struct hdf5_number *out)
{
	H5T_class_t kind = H5Tget_class(type);
	hid_t base = kind == H5T_ENUM ? H5Tget_super(type) : H5I_INVALID_HID;
	bool known;

	*out = (struct hdf5_number){ 0 };
	if (kind == H5T_FLOAT)
		return numbers_describe_float(type, out);
	if (kind == H5T_INTEGER)
		return numbers_describe_integer(type, out);
	known = base >= 0 && numbers_describe_integer(base, out);
	if (base >= 0)
		H5Tclose(base);
	return known;
}

/* The item's bytes, the least first. */
static uint64_t numbers_bits(const struct hdf5_number *number, const unsigned char *bytes)
{
	size_t n = number->bytes;
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)bytes[number->big_endian ? n - 1 - i : i] << 8 * i;
	return value;
}

bool hdf5_number_get(const struct hdf5_number *number, const unsigned char *bytes,
		     int64_t *out)
{
	uint64_t value = numbers_bits(number, bytes);

	if (number->is_float)
		return ieee_whole(ieee_value(value, (unsigned)number->bytes), out);
	value >>= number->shift;
	if (number->bits < 64)
		value &= (UINT64_C(1) << number->bits) - 1;
	if (number->is_signed && value >> (number->bits - 1) & 1 && number->bits < 64)
		value |= UINT64_MAX << number->bits;
	*out = (int64_t)value;
	return number->is_signed || value <= INT64_MAX;
}

bool hdf5_number_label(const struct hdf5_number *number, const unsigned char *bytes,
		       int64_t *out)
{
	double value = number->is_float ?
			       ieee_value(numbers_bits(number, bytes), (unsigned)number->bytes) : 0;

	*out = SAMPLE_UNLABELLED;
	return value != value || hdf5_number_get(number, bytes, out);
}

bool hdf5_number_hot(const struct hdf5_number *number, const unsigned char *bytes,
		     uint64_t n, int64_t *out)
{
	struct one_hot row = { 0 };

	for (uint64_t i = 0; i < n && !row.odd; i++) {
		int64_t value = 0;
		bool known = hdf5_number_get(number, bytes + i * number->bytes, &value);

		one_hot_add(&row, known, value);
	}
	*out = row.found ? row.label : SAMPLE_UNLABELLED;
	return !row.odd;
}
