/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed files inside other files: named, with the option that opens them. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "format/format.h"
#include "base/log.h"

/* Writes `head`, zeros up to `at`, and there what is in the file `inside` (or nothing). */
static void compose(const char *name, const char *head, size_t n, size_t at,
		    const char *inside)
{
	size_t size = 0;
	char *bytes = inside ? unit_read(inside, &size) : NULL;
	char *whole = calloc(1, at + size + 1);

	assert_non_null(whole);
	memcpy(whole, head, n);
	if (size)
		memcpy(whole + at, bytes, size);
	unit_write(name, whole, at + size);
	free(whole);
	free(bytes);
}

/* The sentence about it; and, with a base, the format that is there. */
static void look(const char *name, uint64_t base, const struct format **format,
		 struct error *e)
{
	struct source *source;

	*format = NULL;
	assert_int_equal(source_open(name, &source, NULL), 0);
	format_of_window(source, base, source_size(source) - base, name, format, e);
	source_close(source);
}

static void assert_said(const char *name, const char *said)
{
	const struct format *format;
	struct error e = { 0 };

	look(name, 0, &format, &e);
	assert_null(format);
	assert_int_equal(e.status, ERROR_DATASET);
	if (!strstr(e.text, said))
		fail_msg("%s: no \"%s\" in: %s", name, said, e.text);
}

static void assert_not_said(const char *name, const char *said)
{
	const struct format *format;
	struct error e = { 0 };

	look(name, 0, &format, &e);
	assert_null(format);
	if (strstr(e.text, said))
		fail_msg("%s: \"%s\" in: %s", name, said, e.text);
}

static void assert_opens(const char *name, uint64_t base, const char *format_name)
{
	const struct format *format;
	struct error e = { 0 };

	look(name, base, &format, &e);
	assert_non_null(format);
	assert_string_equal(format->name, format_name);
}

/* Carriers */

#define BYTES(text) text, sizeof(text) - 1

static const struct carrier {
	const char *name, *head;
	size_t n, at;
	const char *inside, *what;
} carriers[] = {
	{ "app", BYTES("\177ELF\2\1\1\0AI\2\0"), 188392, "squashfs", "an AppImage with a squashfs" },
	{ "elf", BYTES("\177ELF\2\1\1\0\0\0\0\0"), 12345, "squashfs", "a program (ELF) with a" },
	{ "script", BYTES("#!/bin/sh\nexit 0\n"), 4096, "tar", "a script with a tar archive" },
	{ "odd", BYTES("#!/bin/sh\n"), 10, "tar", "a script with a tar archive" },
	{ "initrd", BYTES("070701"), 1 << 20, "squashfs", "a cpio archive (an initrd?) with a" },
	{ "uimage", BYTES("\047\005\031\126"), 3333333, "squashfs", "a boot image (U-Boot)" },
	{ "trx", BYTES("HDR0"), 1048575, "squashfs", "firmware (TRX) with a squashfs" },
	{ "zeros", BYTES("\0"), 1048577, "squashfs", "a file that begins with zeros with a" },
	{ "far", BYTES("\1\2\3\4"), 40 << 20, "squashfs", "a file of no known kind with a" },
	{ "edge", BYTES("\1\2\3\4"), (1 << 20) - 50, "tar", "a file of no known kind with a tar" },
};

static void test_carriers(void **state)
{
	size_t i = unit_row(state);
	const struct carrier *c = &carriers[i];
	char option[64];

	compose(c->name, c->head, c->n, c->at, c->inside);
	snprintf(option, sizeof(option), "-o base=%zu opens that", c->at);
	assert_said(c->name, c->what);
	assert_said(c->name, option);
	assert_opens(c->name, c->at, c->inside);
	unlink(c->name);
}

/* A boot sector says what it is in its last two bytes. */
static void test_disk_image(void **state)
{
	char sector[512] = "\353\143\220";

	(void)state;
	memcpy(sector + 510, "\125\252", 2);
	compose("disk", sector, sizeof(sector), 1 << 20, "squashfs");
	assert_said("disk", "a disk image (with a boot sector) with a squashfs image");
	assert_said("disk", "-o base=1048576 opens that");
}

/* Only what is whole and fits together is named. */
static void test_doubtful(void **state)
{
	size_t size;
	char *image = unit_read("squashfs", &size);

	(void)state;
	unit_write("cut", image, size / 2);
	compose("behind", BYTES("\1\2\3\4"), 5000, "cut");
	assert_not_said("behind", "base=");
	image[22]++; /* not the logarithm of the blocks' size */
	unit_write("wrong", image, size);
	compose("behind", BYTES("\1\2\3\4"), 5000, "wrong");
	assert_not_said("behind", "base=");
	unit_write("word", BYTES("hsqs ustar hsqs"));
	compose("behind", BYTES("\1\2\3\4"), 5000, "word");
	assert_not_said("behind", "base=");
	compose("behind", BYTES("\037\213\010\0"), 5000, "squashfs");
	assert_not_said("behind", "base=");
	assert_said("behind", "gzip -dc");
	free(image);
}

static void test_appimage_without(void **state)
{
	(void)state;
	compose("empty.AppImage", BYTES("\177ELF\2\1\1\0AI\1\0"), 100000, NULL);
	assert_said("empty.AppImage", "--appimage-extract");
	compose("program", BYTES("\177ELF\2\1\1\0\0\0\0\0"), 100000, NULL);
	assert_said("program", "a program or library (ELF)");
}

/* Container images */

enum { TABLE = 4096, DESCRIPTOR = 585, PARTITION = 0x4004, DEFINITION = 0x4001 };

static void put(char *at, uint64_t number, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = (char)(number >> 8 * i);
}

static void put_descriptor(char *sif, unsigned number, unsigned type, uint64_t offset,
			   unsigned system, unsigned purpose)
{
	char *at = sif + TABLE + number * DESCRIPTOR;

	put(at, type, 4);
	at[4] = 1;
	put(at + 5, number + 1, 4);
	put(at + 17, offset, 8);
	put(at + 201, system, 4);
	put(at + 205, purpose, 4);
}

/* `systems`: of each partition 1 is squashfs, 2 ext3, 5 encrypted. */
static void make_sif(const char *name, const unsigned *systems, unsigned count)
{
	static char head[64 * 1024];
	uint64_t at = sizeof(head);
	char command[256];

	memset(head, 0, sizeof(head));
	memcpy(head, BYTES("#!/usr/bin/env run-singularity\n"));
	memcpy(head + 32, "SIF_MAGIC\0" "01\0" "02", 16);
	put(head + 88, 48, 8);
	put(head + 96, TABLE, 8);
	put_descriptor(head, 0, DEFINITION, 40000, 0, 0);
	unit_write("partitions", "", 0);
	for (unsigned i = 0; i < count; i++, at += 8192) {
		put_descriptor(head, i + 1, PARTITION, at, systems[i], i ? 3 : 2);
		unit_shell("cp squashfs partition && truncate -s 8192 partition && "
			   "cat partition >>partitions");
	}
	compose(name, head, sizeof(head), sizeof(head), "partitions");
	snprintf(command, sizeof(command), "truncate -s %llu %s", (unsigned long long)at, name);
	unit_shell(command);
}

static void test_singularity(void **state)
{
	static const unsigned systems[] = { 1, 2, 1 }, none[] = { 2, 5 };

	(void)state;
	make_sif("two.sif", systems, 3);
	assert_said("two.sif", "a Singularity image (SIF) with 2 squashfs partitions");
	assert_said("two.sif", "-o base=65536 (system), -o base=81920 (data)");
	assert_opens("two.sif", 65536, "squashfs");
	make_sif("one.sif", systems, 1);
	assert_said("one.sif", "with 1 squashfs partition, opened by: -o base=65536 (system)");
	make_sif("none.sif", none, 2);
	assert_said("none.sif", "without a squashfs partition (it has 2 of another kind");
	assert_said("none.sif", "singularity build --sandbox directory 'none.sif'");
}

/* A table that leads nowhere. */
static void test_damaged_singularity(void **state)
{
	static const unsigned systems[] = { 1 };
	size_t size;
	char *sif;

	(void)state;
	make_sif("one.sif", systems, 1);
	sif = unit_read("one.sif", &size);
	memset(sif + 96, 0xff, 8);
	unit_write("lost.sif", sif, size);
	assert_said("lost.sif", "without a squashfs partition (it has 0");
	memset(sif + 88, 0xff, 8);
	put(sif + 96, 4096, 8);
	memset(sif + TABLE + DESCRIPTOR + 17, 0x7f, 8);
	unit_write("lost.sif", sif, size);
	assert_said("lost.sif", "without a squashfs partition (it has 1");
	unit_write("lost.sif", sif, 100);
	assert_not_said("lost.sif", "base=");
	free(sif);
}

static int enter(void **state)
{
	log_level_now = LOG_LEVEL_ERROR;
	if (unit_enter(state) < 0)
		return -1;
	unit_shell("mkdir d && echo x >d/f && tar -cf tar d && "
		   "mksquashfs d squashfs -quiet -no-progress -nopad >pack.log");
	return 0;
}

static const struct CMUnitTest tests[] = {
	unit_rows(test_carriers, carriers),
	cmocka_unit_test(test_disk_image),
	cmocka_unit_test(test_doubtful),
	cmocka_unit_test(test_appimage_without),
	cmocka_unit_test(test_singularity),
	cmocka_unit_test(test_damaged_singularity),
};

UNIT_MAIN_IN(tests, enter, unit_leave)
