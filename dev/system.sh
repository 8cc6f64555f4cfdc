#!/bin/bash
# What the tests use and only root can install: installed when root, named in one line when not.
# In CI a failing installation is an error; elsewhere the tests that need it say that they were skipped.
set -euo pipefail

declare -A package_of=([chromium]=chromium [losetup]=mount [mkfs.ext4]=e2fsprogs [sfdisk]=fdisk [fio]=fio [nbdinfo]=libnbd-bin
    [zsh]=zsh [fish]=fish [groff]=groff-base
    [psql]=postgresql [doveadm]="dovecot-imapd dovecot-lmtpd" [postconf]=postfix)

missing=()
for command in "${!package_of[@]}"; do
    if ! PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null; then
        read -ra packages <<<"${package_of[$command]}"
        missing+=("${packages[@]}")
    fi
done
((${#missing[@]})) || exit 0

if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    echo "skipped: not installed, and only root can: ${missing[*]} (apt-get install ${missing[*]}); the tests that need them are skipped"
    exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
for _ in 1 2 3; do
    echo "installing ${missing[*]}"
    if { apt-get update && apt-get install --yes --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        exit 0
    fi
    sleep 5
done
tail -n 5 "$log" >&2
echo "skipped: ${missing[*]} cannot be installed; the tests that need them are skipped"
[[ ${CI:-} != true ]]
