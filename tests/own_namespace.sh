# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# own_namespace.sh: runs the script that sources it, as root, in a mount namespace of its
# own, with everything private. Sourced before lib.sh.
if [ "$(id -u)" -eq 0 ] && [ -z "${GRANARY_TEST_NAMESPACE:-}" ]; then
	export GRANARY_TEST_NAMESPACE=1
	exec unshare --mount --propagation private bash "$0" "$@"
fi
