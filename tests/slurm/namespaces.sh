# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# namespaces.sh: runs the script that sources it, as root, in namespaces of its own, where
# a whole cluster can be started and ends with it. Sourced before lib.sh.
if [ "$(id -u)" -eq 0 ] && [ -z "${GRANARY_TEST_NAMESPACE:-}" ]; then
	export GRANARY_TEST_NAMESPACE=1
	exec unshare --mount --propagation private --net --ipc --uts --pid --fork \
		--kill-child --mount-proc bash "$0" "$@"
fi
