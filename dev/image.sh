#!/bin/bash
# Builds the live image, .cache/image/plimsoll.iso: `make image`. Its parts lie in image/; docs/live-image.md says what it does.
#
# Root, or any user who may make user namespaces (mmdebstrap's unshare mode). The same packages and sources give the same bytes: the time in all
# of it is SOURCE_DATE_EPOCH (that of the last commit). The system of Debian is kept in .cache/image, until the lists of packages or
# PLIMSOLL_IMAGE_FRESH=1.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${PLIMSOLL_IMAGE_OUT:-.cache/image}
mkdir -p "$out"

skipped() { echo "skipped: $1"; exit 0; }
said() { echo "== $1 ($SECONDS s)"; }

declare -A package_of=([mmdebstrap]=mmdebstrap [mksquashfs]=squashfs-tools [xorriso]=xorriso [cpio]=cpio [mcopy]=mtools [mkfs.vfat]=dosfstools
    [grub-mkimage]=grub-common [/usr/lib/grub/i386-pc/moddep.lst]=grub-pc-bin [/usr/lib/grub/x86_64-efi/moddep.lst]=grub-efi-amd64-bin)
missing=()
for program in "${!package_of[@]}"; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || [[ -e $program ]] || missing+=("${package_of[$program]}")
done
if ((${#missing[@]})); then
    ((EUID == 0)) && command -v apt-get >/dev/null || skipped "not installed, and only root can: ${missing[*]}"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "${missing[@]}"; } >/dev/null ||
        skipped "${missing[*]} cannot be installed"
fi
PATH=$PATH:/usr/sbin:/sbin
if ((EUID != 0)) && ! unshare --user --map-auto true 2>/dev/null; then
    skipped "this user may make no user namespaces with subordinate ids (/etc/subuid), and is not root"
fi

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# The system of Debian has its own, so that it stays the same while only Plimsoll changes.
epoch=$(git log -1 --format=%at -- image/packages image/before)
epoch=${epoch:-$SOURCE_DATE_EPOCH}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022
# The host's own sources, so that no mirror is named here.
sources=${PLIMSOLL_IMAGE_SOURCES:-$(find /etc/apt/sources.list.d /etc/apt/sources.list -name debian.sources -o -name sources.list -size +0 2>/dev/null | head -n 1 || true)}

debian() {
    local packages
    packages=$(sed 's/#.*//' image/packages | tr -s ' \n' ',')
    local without=('man/*' 'locale/*' 'doc/*' 'info/*')
    # Root's, whoever builds and whatever the modes of the checkout are.
    tar --create --file "$work/before.tar" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' --directory image/before etc
    SOURCE_DATE_EPOCH=$epoch mmdebstrap --quiet --mode=auto --variant=minbase --components=main --aptopt='Apt::Install-Recommends "false"' \
        "${without[@]/#/--dpkgopt=path-exclude=/usr/share/}" --include="${packages#,}" \
        --essential-hook="tar-in $work/before.tar /" \
        --customize-hook="tar-out /boot $work/boot.tar" \
        --customize-hook='rm -rf "$1"/boot/* "$1"/vmlinuz* "$1"/initrd.img*' \
        --customize-hook='chroot "$1" passwd --quiet --lock root' \
        --customize-hook='rm -rf "$1"/etc/ssh/ssh_host_* "$1"/etc/machine-id "$1"/var/lib/dbus "$1"/var/log/* "$1"/var/cache/* "$1"/var/lib/apt/lists/* "$1"/etc/lvm/lvmlocal.conf' \
        --customize-hook='rm -f "$1"/etc/*- "$1"/var/lib/systemd/random-seed "$1"/etc/nvme/host* "$1"/etc/apt/sources.list.d/* "$1"/etc/apt/sources.list "$1"/etc/resolv.conf "$1"/etc/hostname' \
        bookworm "$work/system.tar" "$sources"
    tar --extract --directory "$work" --file "$work/boot.tar"
    mv "$work"/boot/vmlinuz-* "$work/vmlinuz"
    mv "$work"/boot/initrd.img-* "$work/initrd.img"
    # Of the tar, the order and the times are mmdebstrap's, the same each time.
    squashed "$epoch" - "$work/debian.squashfs" -tar <"$work/system.tar"
    rm "$work/system.tar"
}

# squashed TIME SOURCE FILE OPTION...; mksquashfs takes its times from options or from SOURCE_DATE_EPOCH, never from both.
squashed() {
    # What has no owner in a tar, the root itself, is that of whoever runs this.
    local as_root=()
    ((EUID == 0)) || as_root=(unshare --user --map-root-user)
    "${as_root[@]}" env --unset=SOURCE_DATE_EPOCH mksquashfs "${@:2}" -comp zstd -Xcompression-level 12 -noappend -quiet -no-progress \
        -root-mode 0755 -mkfs-time "$1" -all-time "$1" 2>"$work/mksquashfs.log" || { cat "$work/mksquashfs.log" >&2; exit 1; }
}

# Plimsoll, what it imports, and what differs from Debian: the layer above.
above() {
    local root=$1 site=$1/usr/lib/python3/dist-packages
    mkdir -p "$site"
    cp -r image/above/. "$root"
    rm -rf "$work/wheel"
    .venv/bin/maturin build --quiet --profile release --locked --out "$work/wheel"
    "$uv" pip install --quiet --no-deps --target "$site" --python .venv/bin/python "$work"/wheel/*.whl
    "$uv" pip install --quiet --no-deps --require-hashes --target "$site" --python .venv/bin/python -r <(locked click rich tomli-w markdown-it-py mdurl pygments)
    # The wheel's list of components (sboms) names the directory in which it was built.
    rm -rf "$site/bin" "$site/.lock" "$site"/*.dist-info/{direct_url.json,uv_cache.json,INSTALLER,REQUESTED,sboms}
    find "$root" -name __pycache__ -prune -exec rm -rf {} +
    # A gang carries to its hosts what was recorded here; of what is not here the hashes would differ from build to build.
    local record path rest
    for record in "$site"/*.dist-info/RECORD; do
        while IFS=, read -r path rest; do
            if [[ -e $site/$path ]]; then echo "$path,$rest"; fi
        done <"$record" | sort >"$work/recorded"
        mv "$work/recorded" "$record"
    done
    # Compiled as the image's Python would, and without times; another version here leaves it to the image.
    if .venv/bin/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
        PYTHONHASHSEED=0 .venv/bin/python -m compileall -q -j 1 --invalidation-mode unchecked-hash -s "$root" "$site"
    fi
    local needed
    needed=$(grep -aoh 'GLIBC_2\.[0-9]*' "$site/plimsoll/_core.abi3.so" | sort -V | tail -n 1)
    [[ $(printf '%s\n' "$needed" GLIBC_2.36 | sort -V | tail -n 1) == GLIBC_2.36 ]] ||
        { echo "the engine that was built here needs $needed, and Debian 12 has GLIBC_2.36; build on Debian 12" >&2; exit 1; }
    : >"$root/etc/machine-id"
    echo plimsoll >"$root/etc/hostname"
    ln -s ../run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
    mkdir -p "$root/plimsoll" "$root"/var/{log,cache}
    settled "$root"
    local units=$root/etc/systemd/system
    mkdir -p "$units/multi-user.target.wants"
    for unit in plimsoll-prepare plimsoll-run plimsoll-ssh; do
        ln -s "/etc/systemd/system/$unit.service" "$units/multi-user.target.wants/"
    done
    ln -s /lib/systemd/system/systemd-networkd.service "$units/multi-user.target.wants/"
    # What would be load of its own, write to disks, or let somebody in.
    for unit in ssh.service ssh.socket apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer e2scrub_reap.service \
        mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer mdmonitor.service smartmontools.service smartd.service \
        systemd-networkd-wait-online.service; do
        ln -s /dev/null "$units/$unit"
    done
}

# Times and modes that do not depend on who built it, or when.
settled() {
    chmod -R u=rwX,go=rX "$1"
    find "$1" -exec touch --no-dereference -d "@$SOURCE_DATE_EPOCH" {} +
}

# The requirements of the lock with these names.
locked() {
    local name
    for name; do
        awk -v name="$name==" 'index($0, name) == 1 { on = 1 } on { print; if (!/\\$/) exit }' requirements.lock
    done
}

# A boot sector for BIOS, a FAT with a program for UEFI, and the files that both read.
iso() {
    local tree=$work/tree stamp uuid
    stamp=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S00)
    uuid=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d-%H-%M-%S-00)
    mkdir -p "$tree"/{live,boot/grub/i386-pc,EFI/BOOT}
    # The boot script, as an archive of its own behind Debian's; and the rule for volumes, which holds from the beginning.
    cp -r image/boot "$work/early"
    mkdir -p "$work/early/etc/lvm"
    cp image/above/etc/lvm/lvmlocal.conf "$work/early/etc/lvm/"
    settled "$work/early"
    (cd "$work/early" && find . -mindepth 1 | sort | cpio --quiet --create --format newc --reproducible --owner 0:0) >"$tree/live/boot.img"
    cp "$out/debian/"{vmlinuz,initrd.img,debian.squashfs} "$work/above.squashfs" "$tree/live/"
    sed "s/@UUID@/$uuid/" image/grub.cfg >"$tree/boot/grub/grub.cfg"
    local modules=(iso9660 part_msdos fat normal linux serial terminal echo test search search_fs_uuid configfile ls cat reboot halt)
    printf 'search --no-floppy --set=root --fs-uuid %s\nset prefix=($root)/boot/grub\nconfigfile $prefix/grub.cfg\n' "$uuid" >"$work/early.cfg"
    grub-mkimage -O i386-pc-eltorito -o "$tree/boot/grub/bios.img" -p /boot/grub -c "$work/early.cfg" biosdisk "${modules[@]}"
    grub-mkimage -O x86_64-efi -o "$work/BOOTX64.EFI" -p /boot/grub -c "$work/early.cfg" efi_gop "${modules[@]}"
    # 8 MiB, so that plimsoll.conf can be written to it from any computer.
    truncate -s 8M "$work/efi.img"
    mkfs.vfat --invariant -F 16 -s 1 -n PLIMSOLLEFI "$work/efi.img" >/dev/null
    touch -d "@$SOURCE_DATE_EPOCH" "$work/BOOTX64.EFI"
    mmd -i "$work/efi.img" ::/EFI ::/EFI/BOOT
    mcopy -m -i "$work/efi.img" "$work/BOOTX64.EFI" ::/EFI/BOOT/
    settled "$tree"
    xorriso -as mkisofs -quiet -r -V PLIMSOLL --modification-date="$stamp" --set_all_file_dates "$stamp" -uid 0 -gid 0 \
        -partition_offset 16 --grub2-mbr /usr/lib/grub/i386-pc/boot_hybrid.img \
        -b boot/grub/bios.img -no-emul-boot -boot-load-size 4 -boot-info-table --grub2-boot-info \
        -append_partition 2 0xef "$work/efi.img" -eltorito-alt-boot -e --interval:appended_partition_2:all:: -no-emul-boot \
        -o "$out/plimsoll.iso.part" "$tree" 2>"$work/xorriso.log" || { cat "$work/xorriso.log" >&2; exit 1; }
    mv "$out/plimsoll.iso.part" "$out/plimsoll.iso"
}

uv=$(dev/uv.sh)
export PATH="$(dirname "$uv"):$PATH"
work=$(mktemp -d -p "$out" work.XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# What the system is made of: our lists, the sources, and what those offer now.
key=$({ echo "$epoch"; declare -f debian; cat "$sources"; find image/packages image/before -type f -exec sha256sum {} + | sort; sha256sum /var/lib/apt/lists/*Release; } | sha256sum | cut -c 1-16)
if [[ ${PLIMSOLL_IMAGE_FRESH:-} || $(cat "$out/debian/key" 2>/dev/null) != "$key" ]]; then
    said "making the system of Debian"
    debian
    rm -rf "$out/debian"
    mkdir "$out/debian"
    mv "$work"/{vmlinuz,initrd.img,debian.squashfs} "$out/debian/"
    echo "$key" >"$out/debian/key"
fi
said "adding Plimsoll"
above "$work/root"
squashed "$SOURCE_DATE_EPOCH" "$work/root" "$work/above.squashfs" -all-root
said "making the medium"
iso
size=$(stat -c %s "$out/plimsoll.iso")
echo "$out/plimsoll.iso: $((size / 1000000)) MB, SHA-256 $(sha256sum <"$out/plimsoll.iso" | cut -d ' ' -f 1), made in $SECONDS s"
((size <= 400000000)) || { echo "it is larger than 400 MB" >&2; exit 1; }
