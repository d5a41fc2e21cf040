/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/size.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char UNITS[] = "KMGTPE";

/* The power of 1024 of a suffix ("", "K", "KiB", "kb"), or -1. */
static int suffix_power(const char *suffix)
{
	const char *unit;

	if (!*suffix)
		return 0;
	unit = strchr(UNITS, toupper((unsigned char)*suffix));
	if (!unit)
		return -1;
	suffix++;
	if (*suffix && strcasecmp(suffix, "b") != 0 && strcasecmp(suffix, "ib") != 0)
		return -1;
	return (int)(unit - UNITS) + 1;
}

int size_parse(const char *text, uint64_t *out)
{
	char *end;
	double value;
	int power;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	if (strspn(text, "0123456789") == strlen(text)) {
		errno = 0;
		*out = strtoull(text, NULL, 10);
		return -errno;
	}
	value = strtod(text, &end);
	power = suffix_power(end);
	/* strtod accepts 0x10 and 1e5 too */
	if (power < 0 || strspn(text, "0123456789.") != (size_t)(end - text))
		return -EINVAL;
	value *= (double)(UINT64_C(1) << (10 * power));
	if (value >= 18446744073709551616.0)
		return -ERANGE;
	*out = (uint64_t)value;
	return 0;
}

char *size_text(uint64_t bytes, char *out)
{
	double value = (double)bytes;
	int unit = -1;

	if (bytes < 1024) {
		snprintf(out, SIZE_TEXT_BYTES, "%" PRIu64 " B", bytes);
		return out;
	}
	while (value >= 1024 && unit < (int)strlen(UNITS) - 1) {
		value /= 1024;
		unit++;
	}
	snprintf(out, SIZE_TEXT_BYTES, value < 10 ? "%.1f %ciB" : "%.0f %ciB",
		 value, UNITS[unit]);
	return out;
}

char *count_text(uint64_t count, char *out)
{
	char digits[SIZE_TEXT_BYTES];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *at = out;

	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return out;
}
