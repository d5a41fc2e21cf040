# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# flip_lib.sh: changes bytes of packed files. Sourced after tests/lib.sh.

# flip FILE OFFSET: as storage does it, and nobody has written
flip() {
	"$python" -c '
import os, sys
path, at = sys.argv[1], int(sys.argv[2])
st = os.stat(path)
with open(path, "r+b") as f:
    f.seek(at)
    byte = f.read(1)[0] ^ 1
    f.seek(at)
    f.write(bytes([byte]))
os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))' "$1" "$2"
}

# place TAR MEMBER: where its bytes begin
place() {
	"$python" -c '
import sys, tarfile
print(tarfile.open(sys.argv[1]).getmember(sys.argv[2]).offset_data)' "$1" "$2"
}
