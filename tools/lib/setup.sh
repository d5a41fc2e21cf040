# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# setup.sh: what tools/quickstart and tools/check share: packages and the build.
# Sourced by POSIX sh scripts, which have set `top` to the source tree.
#
# Everything may be run again: what is there is not installed, made or
# configured a second time.

: "${top:?is the source tree, set by the script that sources this}"

# The packages, by the package manager that knows these names.
apt_build='build-essential autoconf automake pkg-config libfuse3-dev fuse3
	libarchive-dev libsquashfuse-dev libsquashfs-dev libhdf5-dev libdeflate-dev
	zlib1g-dev liblz4-dev libzstd-dev liblzma-dev libbz2-dev liblzo2-dev liblzf-dev
	libblosc-dev libxxhash-dev libcap-ng-dev nettle-dev libjpeg-dev libpng-dev
	libisal-dev
	libcmocka-dev'
dnf_build='gcc make autoconf automake pkgconf-pkg-config fuse3-devel fuse3
	libarchive-devel squashfuse-devel squashfs-tools-ng-devel hdf5-devel
	libdeflate-devel zlib-devel lz4-devel libzstd-devel xz-devel bzip2-devel
	lzo-devel liblzf-devel blosc-devel xxhash-devel libcap-ng-devel nettle-devel
	libjpeg-turbo-devel libpng-devel isa-l-devel
	libcmocka-devel'
apt_images='python3 python3-pil python3-h5py squashfs-tools tar diffutils'
dnf_images='python3 python3-pillow python3-h5py squashfs-tools tar diffutils'
apt_tests='python3-torch python3-torchvision attr autofs busybox bzip2 curl e2fsprogs findutils
	gzip hdf5-filter-plugin hdf5-filter-plugin-blosc-serial hdf5-tools libarchive-tools
	mandoc mount netcdf-bin openssh-sftp-server procps prometheus
	prometheus-node-exporter sshfs strace systemd universal-ctags
	lbzip2 lz4 pigz pixz tabix unzip util-linux xz-utils zip zsh zstd 7zip'
dnf_tests='python3-torch python3-torchvision attr autofs bsdtar bzip2 curl e2fsprogs findutils gzip
	hdf5 htslib-tools lbzip2 lz4 mandoc netcdf openssh-server golang-github-prometheus
	golang-github-prometheus-node-exporter pigz pixz procps-ng fuse-sshfs strace systemd
	ctags unzip zip 7zip util-linux xz zsh zstd'
apt_ci='clang'
dnf_ci='clang'
apt_fresh='debootstrap debian-archive-keyring git mount util-linux wget'
dnf_fresh='debootstrap debian-keyring git util-linux wget'
apt_packages='debhelper lintian rpmlint'
dnf_packages='debhelper lintian rpmlint'
apt_slurm='iproute2 munge slurm-client slurmctld slurmd zip'
dnf_slurm='iproute munge slurm slurm-slurmctld slurm-slurmd zip'
apt_kernels='cpio debian-archive-keyring kmod qemu-system-x86'
dnf_kernels='cpio kmod qemu-system-x86-core'

say() {
	printf '%s\n' "$*"
}

# The last line of a script that cannot go on.
give_up() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

step_number=0

step() {
	step_number=$((step_number + 1))
	printf '\n%d. %s\n' "$step_number" "$*"
}

# ---- Packages -------------------------------------------------------------

package_manager() {
	if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
		echo apt
	elif command -v dnf >/dev/null; then
		echo dnf
	else
		echo none
	fi
}

# has_package MANAGER NAME
has_package() {
	case $1 in
	apt) dpkg-query -W -f '${Status}' "$2" 2>/dev/null | grep -q ' installed$' ;;
	dnf) rpm -q --whatprovides "$2" >/dev/null 2>&1 ;;
	esac
}

# missing_packages MANAGER NAME...
missing_packages() {
	manager=$1
	shift
	for name; do
		has_package "$manager" "$name" || printf '%s ' "$name"
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		give_up "this needs root, and there is no sudo; as root, run: $*"
	fi
}

# The exit status where a registry stays away, as sysexits.h has it: try again later.
registry_away=75

# no_answer OF-WHAT: the end, where downloads failed however often they were tried.
no_answer() {
	printf '%s: the package registry did not answer (%s); run this again later\n' \
		"${0##*/}" "$*" >&2
	exit "$registry_away"
}

# patiently COMMAND...: a registry that is busy answers the second or the fifth time.
patiently() {
	for pause in 5 15 45 90 0; do
		"$@" && return 0
		[ "$pause" -eq 0 ] || {
			say "No answer yet: once more in $pause seconds."
			sleep "$pause"
		}
	done
	return 1
}

apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 \
		-o DPkg::Lock::Timeout=300 --no-install-recommends "$@"
}

# apt_download NAME...: new lists, and the packages. Where the lists are new and still
# lack a name, waiting does not help.
apt_download() {
	refreshed=yes
	apt_get -o APT::Update::Error-Mode=any update || refreshed=no
	if ! said=$(apt_get --simulate install "$@" 2>&1); then
		printf '%s\n' "$said" | tail -n 10
		[ "$refreshed" = no ] ||
			give_up "these packages are not to be had, at least one of them: $*"
		return 1
	fi
	[ "$refreshed" = yes ] ||
		say "The package lists could not be refreshed; trying with those that are there."
	apt_get --download-only install "$@"
}

# install_packages MANAGER NAME...
install_packages() {
	manager=$1
	shift
	case $manager in
	apt)
		patiently apt_download "$@" || no_answer "apt-get"
		say "Unpacking and configuring them."
		log=$(mktemp) && quietly "$log" apt_get install "$@" && rm "$log"
		;;
	dnf)
		patiently as_root dnf -q makecache || no_answer "dnf"
		as_root dnf -y install "$@"
		;;
	esac || give_up "not installed: $*"
}

# fusermount3 looks there for a user's mount; images that no init system has begun lack it.
make_mtab() {
	[ -e /etc/mtab ] || [ -L /etc/mtab ] || [ "$(id -u)" -ne 0 ] || {
		say "Making /etc/mtab, which fusermount3 needs: ln -s /proc/self/mounts /etc/mtab"
		ln -s /proc/self/mounts /etc/mtab
	}
}

# need_packages GROUP...: groups are build, images, tests, and for tools/check ci, fresh,
# packages, slurm and kernels.
need_packages() {
	make_mtab
	manager=$(package_manager)
	if [ "$manager" = none ]; then
		say "This system has neither apt nor dnf. What has to be there, by Debian's names:"
		manager=apt
		say "    $(wanted_packages "$@")"
		return
	fi
	# shellcheck disable=SC2046  # names are words
	missing=$(missing_packages "$manager" $(wanted_packages "$@"))
	if [ -z "$missing" ]; then
		say "All packages that this needs are installed."
		return
	fi
	say "Installing with $manager: $missing"
	# shellcheck disable=SC2086
	install_packages "$manager" $missing
}

# wanted_packages GROUP...: the names, for $manager.
wanted_packages() {
	for group; do
		eval "echo \$${manager}_$group"
	done | tr '\n\t' '  '
}

# ---- The build ------------------------------------------------------------

# quietly LOG COMMAND...: the output goes to LOG, and is shown when it fails.
quietly() {
	log=$1
	shift
	"$@" >>"$log" 2>&1 && return 0
	say "This failed: $*"
	tail -n 40 "$log"
	say "All of its output is in $log."
	return 1
}

processors() {
	getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2
}

# configure_build DIRECTORY [CONFIGURE-ARGUMENTS]: bootstrap and configure,
# unless it was done with the same arguments.
configure_build() {
	build=$1
	shift
	mkdir -p "$build"
	: >"$build/setup.log"
	if [ ! -x "$top/configure" ] ||
		[ -n "$(find "$top/configure.ac" -newer "$top/configure")" ]; then
		quietly "$build/setup.log" "$top/bootstrap" || return 1
	fi
	[ ! -f "$top/config.status" ] ||
		give_up "$top itself is configured, and so cannot be built elsewhere; first run: make -C $top distclean"
	if [ -f "$build/Makefile" ] && [ "$(cat "$build/setup.args" 2>/dev/null)" = "$*" ]; then
		return 0
	fi
	(cd "$build" && quietly "$build/setup.log" "$top/configure" "$@") &&
		printf '%s\n' "$*" >"$build/setup.args"
}

# make_in DIRECTORY [MAKE-ARGUMENTS]
make_in() {
	build=$1
	shift
	quietly "$build/setup.log" make -C "$build" -j "$(processors)" "$@"
}

# ---- The machine ----------------------------------------------------------

# Can this user mount with FUSE? If not, says why, and fails.
can_mount() {
	if [ ! -c /dev/fuse ]; then
		say "There is no /dev/fuse here. As root: modprobe fuse. In a container, its host has to hand the device in."
	elif [ "$(id -u)" -ne 0 ] && [ ! -w /dev/fuse ]; then
		say "/dev/fuse is not writable by you. As root: chmod 666 /dev/fuse (this is how most systems have it)."
	elif [ "$(id -u)" -ne 0 ] && [ ! -u "$(command -v fusermount3)" ]; then
		say "fusermount3 is not there, or not set-uid root: without it only root can mount. It comes with the package fuse3."
	else
		return 0
	fi
	return 1
}

# python_with MODULE...: the first Python that has them all, or nothing.
python_with() {
	for python in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3; do
		has_all=yes
		for module; do
			"$python" -c "import $module" 2>/dev/null || has_all=no
		done
		[ "$has_all" = yes ] && {
			echo "$python"
			return
		}
	done
}
