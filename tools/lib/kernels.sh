# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# kernels.sh: Debian's packaged kernels, downloaded and unpacked for a guest. Sourced by
# bash scripts, which have set `top`.
#
# They come from the mirror that this machine's apt names, through apt with a sources
# list and state of its own, so that signatures are checked and the machine's own
# package lists stay as they are. What is unpacked is kept in a cache directory:
#
#	kernels/RELEASE/vmlinuz	the kernel
#	kernels/RELEASE/*.ko		modules that a guest loads
#	kernels/RELEASE/order		their names, those that others need first
#	kernels/apt/			apt's own
# shellcheck source=tools/lib/setup.sh
. "$top/tools/lib/setup.sh"
# shellcheck source=tools/lib/mirror.sh
. "$top/tools/lib/mirror.sh"
kernels_cache=${XDG_CACHE_HOME:-$HOME/.cache}/granaryfs/kernels

# Where kernels of different age come from. A suite that the mirror has lost is no error
# as long as none of its kernels is asked for.
kernels_suites='bullseye bookworm bookworm-backports trixie trixie-backports sid'

# The kernels that --kernels tries for "all": one of each age, the newest of sid, and
# the newest of all, which a backport may be.
# shellcheck disable=SC2034  # for those who source this
kernels_all='5.10 6.1 6.12 sid newest'

# Modules that a guest needs where they are not built in.
kernels_modules='fuse overlay squashfs loop autofs4'

kernels_fail() {
	printf 'kernels: %s\n' "$*" >&2
	return 1
}

# kernels_apt PROGRAM ARGUMENTS: apt with a state of its own.
kernels_apt() {
	local program=$1 apt=$kernels_cache/apt
	shift
	"$program" -o Dir::Etc::SourceList="$apt/sources.list" \
		-o Dir::Etc::SourceParts=- -o Dir::State="$apt/state" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$apt/cache" \
		-o APT::Sandbox::User=root -o APT::Architecture=amd64 \
		-o APT::Architectures=amd64 -o Acquire::Languages=none \
		-o Acquire::Check-Valid-Until=false -o Acquire::Retries=3 "$@"
}

kernels_sources() {
	local mirror suite keys=/usr/share/keyrings/debian-archive-keyring.gpg
	mirror=$(mirror_of bookworm)
	[ -n "$mirror" ] || {
		kernels_fail "apt's sources here name no archive of Debian, which kernels come from"
		return 1
	}
	[ -r "$keys" ] || {
		kernels_fail "there is no $keys; install debian-archive-keyring"
		return 1
	}
	for suite in $kernels_suites; do
		echo "deb [signed-by=$keys] $mirror $suite main"
	done
}

# kernels_update: the package lists, at most once a day.
kernels_update() {
	local apt=$kernels_cache/apt
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" || return 1
	[ -z "$(find "$apt/updated" -mmin -1440 2>/dev/null)" ] || return 0
	kernels_sources >"$apt/sources.list.new" || return 1
	mv "$apt/sources.list.new" "$apt/sources.list"
	# A suite that is gone makes apt fail though all others are there.
	patiently kernels_apt apt-get -q update >"$apt/log" 2>&1 ||
		[ -n "$(kernels_releases)" ] || {
		tail -n 5 "$apt/log" >&2
		kernels_fail "the mirror $(mirror_of bookworm) cannot be reached, or has no kernels"
		return 1
	}
	touch "$apt/updated"
}

# kernels_releases: all that can be had, oldest first.
kernels_releases() {
	kernels_apt apt-cache pkgnames linux-image- |
		sed -n -E 's/^linux-image-([0-9][^-]*(-[0-9]+)?-amd64)$/\1/p' | sort -V
}

# kernels_of_suite SUITE: the release that its metapackage stands for.
kernels_of_suite() {
	local version
	version=$(kernels_apt apt-cache madison linux-image-amd64 |
		awk -F ' *[|] *' -v suite="$1/" 'index($3, " " suite) { print $2; exit }')
	[ -n "$version" ] || return 1
	kernels_apt apt-cache show "linux-image-amd64=$version" |
		sed -n -E 's/^Depends:.*linux-image-([0-9][^ ,]*-amd64).*/\1/p'
}

# kernels_resolve NAME: the release that 6.1, sid, newest or a release's own name means.
kernels_resolve() {
	local release
	case $1 in
	newest) release=$(kernels_releases | tail -n 1) ;;
	[0-9]*)
		release=$(kernels_releases | awk -v v="$1" '$0 == v || \
			(index($0, v) == 1 && substr($0, length(v) + 1, 1) ~ /[.+-]/)' |
			tail -n 1)
		;;
	*) release=$(kernels_of_suite "$1") ;;
	esac
	[ -n "$release" ] || {
		kernels_fail "no kernel '$1' is in $kernels_suites; there are: $(kernels_releases |
			sed -E 's/^([0-9]+[.][0-9]+).*/\1/' | uniq | tr '\n' ' ')"
		return 1
	}
	printf '%s\n' "$release"
}

# kernels_get RELEASE: prints the directory that has it.
kernels_get() {
	local release=$1 to=$kernels_cache/$1 temporary
	if [ ! -f "$to/order" ]; then
		temporary=$(mktemp -d "$kernels_cache/get.XXXXXX") || return 1
		if ! kernels_unpack "$release" "$temporary" >&2; then
			rm -rf "$temporary"
			kernels_fail "kernel $release could not be had from the mirror"
			return 1
		fi
		rm -rf "$to"
		mv -T "$temporary/kernel" "$to" || return 1
		rm -rf "$temporary"
	fi
	printf '%s\n' "$to"
}

# Older packages hold all; newer ones are split in three.
kernels_packages() {
	local kind
	for kind in image binary modules; do
		kernels_apt apt-cache pkgnames "linux-$kind-$1" | grep -x -F "linux-$kind-$1"
	done
}

# kernels_unpack RELEASE DIRECTORY: makes DIRECTORY/kernel.
kernels_unpack() {
	local release=$1 to=$2 deb packages
	packages=$(kernels_packages "$release")
	# shellcheck disable=SC2086  # names are words
	(cd "$to" && patiently kernels_apt apt-get -q download $packages) || return 1
	mkdir "$to/root" "$to/kernel"
	for deb in "$to"/*.deb; do
		dpkg-deb -x "$deb" "$to/root" || return 1
	done
	find "$to/root" \( -name "vmlinuz-$release" -o -name vmlinuz \) -type f \
		-exec cp {} "$to/kernel/vmlinuz" \;
	[ -f "$to/kernel/vmlinuz" ] || return 1
	find "$to/root" -path "*/modules/$release/*.ko.xz" -name '*.xz' \
		\( "${kernels_names[@]}" \) -exec xz -d {} +
	kernels_add_modules "$to/root" "$to/kernel"
}

kernels_names=(-false)
for name in $kernels_modules; do
	kernels_names+=(-o -name "$name.ko.xz")
done

# kernels_add_modules ROOT DIRECTORY: those that are modules here.
kernels_add_modules() {
	local name path
	for name in $kernels_modules; do
		path=$(find "$1" -name "$name.ko" | head -n 1)
		[ -n "$path" ] || continue
		cp "$path" "$2/" && echo "$name"
	done >"$2/order"
}
