# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# mirror.sh: a bare Debian from the mirror of this machine, and the packages of former
# runs. Sourced by tools/dev/fresh-root, after setup.sh.
#
# Variables of the caller: $release; $root, the directory of the new system; $scratch, a
# directory for files; $log.

# ---- The mirror -------------------------------------------------------------

# apt_targets: "URI RELEASE COMPONENT ORIGIN", a line for each part of this machine's
# sources. apt itself reads them: one-line files, deb822 files, all options. Before
# the first `apt-get update` it does not know their origin.
apt_targets() {
	form='$(REPO_URI) $(RELEASE) $(COMPONENT)'
	[ "$(package_manager)" = apt ] && grep -q '^ID=debian' /etc/os-release || return 0
	{
		apt-get indextargets --format "$form \$(ORIGIN)" 'Created-By: Packages' |
			grep ' Debian$' ||
			apt-get indextargets --no-release-info --format "$form Debian" \
				'Created-By: Packages'
	} | sort -u
}

# mirror_of SUITE: where this machine has that suite, or else the release that it is of.
mirror_of() {
	apt_targets | awk -v suite="$1" '
		$3 != "main" { next }
		$2 == suite { exact = exact ? exact : $1 }
		$2 !~ /[-\/]/ { other = other ? other : $1 }
		END { print exact ? exact : other }'
}

# more_sources SUITE: the lines of its security and updates suites, as far as this
# machine has them.
more_sources() {
	apt_targets | awk -v suite="$1" '
		$3 == "main" && ($2 == suite "-security" || $2 == suite "-updates") {
			print "deb", $1, $2, "main"
		}'
}

# The part of the machine's configuration that says how registries are reached. The
# rest calls programs that a bare system has not.
apt_network_options() {
	[ "$(package_manager)" = apt ] || return 0
	apt-config dump | grep -E '^Acquire::(https?|ftp|Check-|Max-|Retries|ForceIPv)' |
		grep -v -i 'auto-\{0,1\}detect'
}

configure_apt() {
	more_sources "$release" >>"$root/etc/apt/sources.list"
	{
		apt_network_options
		echo 'Acquire::Languages "none";'
		echo 'DPkg::Post-Invoke { "/run/fresh/tools/dev/fresh-root --keep || true"; };'
		# A Release file of sid is valid for a week, and many a mirror is older.
		[ "$release" != sid ] || echo 'Acquire::Check-Valid-Until "false";'
	} >"$root/etc/apt/apt.conf.d/90-as-outside"
	cat /etc/hosts >"$root/etc/hosts"
	cat /etc/resolv.conf >"$root/etc/resolv.conf"
	# Authorities that this machine trusts beside the usual ones.
	case $mirror in
	https:*) cat /etc/ssl/certs/ca-certificates.crt >"$root/etc/ssl/certs/ca-certificates.crt" ;;
	esac
}

# ---- debootstrap ------------------------------------------------------------

# use_proxy SCHEME: debootstrap does not read apt's configuration.
use_proxy() {
	eval "proxy=\${$1_proxy:-}"
	[ -z "$proxy" ] && [ "$(package_manager)" = apt ] || return 0
	eval "$(apt-config shell proxy "Acquire::$1::Proxy")"
	case $proxy in
	'' | DIRECT) ;;
	*) export "$1_proxy=$proxy" ;;
	esac
}

run_debootstrap() {
	# shellcheck disable=SC2086  # words, or nothing
	debootstrap --variant=minbase $with "$@" "$release" "$root" $mirror >>"$log" 2>&1
}

# bootstrap_debian: downloads are tried again; what fails after them is no download.
bootstrap_debian() {
	[ -e "/usr/share/debootstrap/scripts/$release" ] ||
		give_up "debootstrap knows no release $release; a newer debootstrap may, or the name is wrong"
	mirror=$(mirror_of "$release")
	with=
	case $mirror in
	https:*) with=--include=ca-certificates ;;
	'' | http:*) ;;
	*) give_up "a bare Debian cannot read the mirror $mirror: only http and https" ;;
	esac
	use_proxy http
	use_proxy https
	printf 'timeout = 30\ntries = 3\nretry_on_http_error = 429,500,502,503,504\n' \
		>"$scratch/wgetrc"
	export WGETRC="$scratch/wgetrc"
	# All is removed soon: nothing has to reach the disk.
	mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
	patiently run_debootstrap --download-only || {
		tail -n 5 "$log"
		no_answer "of ${mirror:-debootstrap}, for $release"
	}
	run_debootstrap || {
		tail -n 20 "$log"
		give_up "debootstrap failed; all of its output is in $log"
	}
}

# ---- Packages of former runs ------------------------------------------------

# package_cache SUITE: the directory of its packages, which exists.
package_cache() {
	cache=${GRANARY_PACKAGE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/granaryfs/packages}/$1
	mkdir -p "$cache" || give_up "the directory for packages could not be made: $cache"
	echo "$cache"
}

# take_packages CACHE TO: apt and debootstrap look there before they download, and
# compare the size or the checksum.
take_packages() {
	find "$1" -maxdepth 1 -name '*.deb' -exec cp --reflink=auto -t "$2" {} +
}

# keep_packages FROM CACHE: others may do the same at the same time, so a package comes
# there by rename. After a month it is removed: a newer one may have taken its place.
keep_packages() {
	for package in "$1"/*.deb; do
		[ -f "$package" ] || continue
		kept=$2/${package##*/}
		[ "$(stat -c %s "$kept" 2>/dev/null)" != "$(stat -c %s "$package")" ] || continue
		part=$(mktemp "$2/part.XXXXXX") && cp "$package" "$part" && mv "$part" "$kept"
	done
	find "$2" -maxdepth 1 -type f \( -name '*.deb' -mtime +30 -o -name 'part.*' -mtime +0 \) \
		-delete
}
