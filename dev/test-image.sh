#!/bin/bash
# Boots the live image under qemu and tries what docs/live-image.md promises: `make test-image`, which builds it first.
# `dev/test-image.sh run`, `menu`, `full` or `rack` tries a part of it, `run-uefi` the first under UEFI. PLIMSOLL_IMAGE_VERBOSE=1 shows the serial line.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin

skipped() { echo "skipped: $1"; exit 0; }
iso=${PLIMSOLL_IMAGE_OUT:-.cache/image}/plimsoll.iso
[[ -e $iso ]] || skipped "there is no $iso; 'make image' says why"
declare -A package_of=([qemu-system-x86_64]=qemu-system-x86 [/usr/share/ovmf/OVMF.fd]=ovmf [openssl]=openssl [mcopy]=mtools [sfdisk]=fdisk [mke2fs]=e2fsprogs)
missing=()
for program in "${!package_of[@]}"; do
    command -v "$program" >/dev/null || [[ -e $program ]] || missing+=("${package_of[$program]}")
done
if ((${#missing[@]})); then
    ((EUID == 0)) && command -v apt-get >/dev/null || skipped "not installed, and only root can: ${missing[*]}"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "${missing[@]}"; } >/dev/null ||
        skipped "${missing[*]} cannot be installed"
fi
.venv/bin/python tests/image/trial.py "$iso" "$@"
