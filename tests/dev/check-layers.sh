#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/dev/check-layers sees what it is there to see: in a copy of the source, with one
# thing changed at a time.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need python3

copy() {
	rm -rf "$work/copy"
	mkdir -p "$work/copy/docs"
	(cd "$abs_top_srcdir" && tar -cf - src tools tests m4 docs README.md configure.ac Makefile.am) | tar -xf - -C "$work/copy"
	chmod -R u+w "$work/copy"
	cd "$work/copy" || bail "no copy of the source"
}

# sees TEXT DESCRIPTION FILE: it fails, and says so. FILE is as it was, then.
sees() {
	local status
	tools/dev/check-layers >"$work/said" 2>&1
	status=$?
	is "$status" 1 "$2: it fails"
	grep -qF "$1" "$work/said"
	ok $? "$2: it says so" || diag "$(head -n 20 "$work/said")"
	cp "$abs_top_srcdir/$3" "$3"
}

copy
check "the source as it is" tools/dev/check-layers

cat >>src/base/size.c <<-'EOS'

	void size_forget(const char *path)
	{
	        unlink(path);
	}
EOS
sees "src/base/size.c: size_forget() calls unlink()" "an added call" src/base/size.c

sed -i 's/^	int fd = openat(w->at, name, DIRECTORY);$/&\n	chown(name, 0, 0);/' src/os/place.c
sees "src/os/place.c: open_directory() calls chown()" "an added call in a function that has others" \
	src/os/place.c

cat >>src/base/size.h <<-'EOS'
	static inline int size_open(int directory, const char *path)
	{
	        return (int)syscall(__NR_openat2, directory, path, 0, 0);
	}
EOS
sees "src/base/size.h: size_open() calls openat2()" "an added call by its number, in a header" \
	src/base/size.h

sed -i 's/renameat(place->directory/move(place->directory/' src/os/place.c
sees "docs/PATHS.md: src/os/place.c: place_rename() does not call renameat()" \
	"a row without its call" src/os/place.c

# shellcheck disable=SC2016  # a table's backticks
sed -i '/`place_unlink`/d' docs/PATHS.md
sees "src/os/place.c: place_unlink() calls unlinkat()" "a row that is gone" docs/PATHS.md

cat >>src/base/size.c <<-'EOS'
	/* unlink(path) in a comment, "open(" in a text, and a member of that name */
	static const char size_text[] = "unlink(path)";
	static inline int size_ask(struct size_ops *ops) { return ops->open(size_text, '"'); }
EOS
check "what only looks like a call" tools/dev/check-layers
cp "$abs_top_srcdir/src/base/size.c" src/base/size.c

sed -i 's/^#include <errno.h>$/&\n#include <pthread.h>/' src/build/image.c
sees "includes <pthread.h>" "a library's header where it does not belong" src/build/image.c

sed -i 's/^#include "base\/cleanup.h"$/&\n#include "place\/find.h"/' src/build/image.c
sees "src/build/image.c: includes place/find.h" "a header of a higher layer" \
	src/build/image.c

printf 'int size_copy(char *to, const char *from) { strcpy(to, from); return 0; }\n' >>src/base/size.c
sees "strcpy is not used here" "a function that is not used" src/base/size.c

finish
