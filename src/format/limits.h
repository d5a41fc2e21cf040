/*
 * limits.h: what a packed file may ask for, whatever its format. The pages of
 * the formats in docs/formats/ say the same.
 */
#ifndef GRANARY_FORMAT_LIMITS_H
#define GRANARY_FORMAT_LIMITS_H

enum {
	LIMIT_PATH_BYTES = 1024 * 1024,
	LIMIT_XATTRS = 256, /* of one file */
	LIMIT_XATTR_NAME_BYTES = 255,
	LIMIT_XATTR_VALUE_BYTES = 64 * 1024,
	LIMIT_XATTR_TOTAL_BYTES = 1024 * 1024,
	LIMIT_WARNINGS = 10, /* shown for one packed file */
};

#endif
