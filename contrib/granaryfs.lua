-- SPDX-License-Identifier: GPL-3.0-or-later
-- Lmod's module of an installation below its own prefix: as MODULEPATH/granaryfs/0.2.0.lua,
-- with `prefix` as ./configure --prefix= had it.
local prefix = "/opt/granaryfs/0.2.0"

help([[
granaryfs mounts packed datasets as trees of files; granary packs, inspects and unmounts them.

    granaryfs train.tar mnt
    granary run train.tar:/tmp/x -- python train.py /tmp/x

granary doctor says what a node lacks.
]])
whatis("Name: granaryfs")
whatis("Version: 0.2.0")
whatis("Category: tools, data")
whatis("Description: mounts packed datasets as the trees of files that were packed")

prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
-- of systems whose bash-completion looks there
prepend_path("XDG_DATA_DIRS", pathJoin(prefix, "share"))
