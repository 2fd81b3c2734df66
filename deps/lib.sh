# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts of this folder share.

# shellcheck disable=SC2034
cache=${BOOTGATE_CACHE:-$HOME/.cache/bootgate}

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# pinned [FILE]: "sha256 name" lines without comments
pinned() {
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' -- "$1"
}
