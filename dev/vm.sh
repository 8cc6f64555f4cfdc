#!/bin/bash
# Tests layouts in a virtual machine with Debian's kernel, which has md, device mapper and partitions: `make test-vm`.
# The first time it makes the machine's system (about 5 minutes); what it makes is in .cache/vm.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=.cache/vm

skipped() { echo "skipped: $1"; exit 0; }
((EUID == 0)) || skipped "only root can make the system of a virtual machine"
for program in mmdebstrap qemu-system-x86_64; do
    command -v $program >/dev/null || missing=1
done
if [[ ${missing:-} ]]; then
    command -v apt-get >/dev/null || skipped "mmdebstrap and qemu-system-x86_64 are not installed"
    { apt-get update -qq && apt-get install -qq --yes --no-install-recommends mmdebstrap qemu-system-x86; } >/dev/null ||
        skipped "mmdebstrap and qemu-system-x86 cannot be installed"
fi

mkdir -p $cache
if [[ ! -e $cache/system.tar ]]; then
    # The host's own sources, so that no mirror is named here.
    sources=$(find /etc/apt/sources.list.d /etc/apt/sources.list -name 'debian.sources' -o -name sources.list -size +0 2>/dev/null | head -n 1)
    without=(man locale doc)
    mmdebstrap --quiet --mode=root --variant=minbase --components=main --aptopt='Apt::Install-Recommends "false"' \
        "${without[@]/#/--dpkgopt=path-exclude=/usr/share/}" \
        --include=linux-image-amd64,udev,zstd,python3,lvm2,mdadm,xfsprogs,e2fsprogs,btrfs-progs,cryptsetup-bin,dmsetup,fdisk,kmod,mount \
        bookworm $cache/system.part "$sources"
    mv $cache/system.part $cache/system.tar
fi

root=$(mktemp -d -p $cache)
trap 'rm -rf "$root"' EXIT
tar --extract --directory "$root" --file $cache/system.tar
cp "$root"/boot/vmlinuz-* $cache/vmlinuz
cp "$root"/boot/initrd.img-* $cache/initrd.img
mkdir "$root/plimsoll" "$root/plimsoll/site"
cp -r python/plimsoll "$root/plimsoll/site/"
# What Plimsoll itself imports; the Python of Debian takes the packages of ours, as they are of one version.
for package in click rich tomli_w markdown_it mdurl pygments; do
    cp -r .venv/lib/python3.*/site-packages/$package "$root/plimsoll/site/"
done
cp tests/vm/guest.py "$root/plimsoll/"
# The emulated processor would compile all of it anew for every command.
.venv/bin/python -m compileall -q --invalidation-mode unchecked-hash "$root/plimsoll/site"
cat >"$root/plimsoll/init" <<'END'
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONPATH=/plimsoll/site HOME=/root PYTHONDONTWRITEBYTECODE=1
mount -t tmpfs none /run 2>/dev/null
echo "up; waiting for devices"
/lib/systemd/systemd-udevd --daemon
udevadm trigger && udevadm settle
python3 /plimsoll/guest.py 2>&1
echo "PLIMSOLL-VM exit $?"
sync
echo o >/proc/sysrq-trigger
sleep 60
END
chmod +x "$root/plimsoll/init"
rm -f $cache/root.img
mke2fs -q -t ext4 -d "$root" $cache/root.img 2G
.venv/bin/python tests/vm/boot.py $cache
