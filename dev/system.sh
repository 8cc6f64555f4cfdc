#!/bin/bash
# What the tests use and only root can install: installed when root, named in one line when not.
# In CI a failing installation is an error; elsewhere the tests that need it say that they were skipped.
set -euo pipefail

declare -A package_of=([chromium]=chromium [losetup]=mount [mkfs.ext4]=e2fsprogs [mkfs.xfs]=xfsprogs [mkfs.btrfs]=btrfs-progs [sfdisk]=fdisk [fio]=fio [nbdinfo]=libnbd-bin
    [zsh]=zsh [fish]=fish [groff]=groff-base
    [psql]=postgresql [doveadm]="dovecot-imapd dovecot-lmtpd" [postconf]=postfix [strace]=strace [valgrind]=valgrind [sshd]=openssh-server [ssh]=openssh-client [ip]=iproute2 [sftp]=openssh-client)

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
export DEBIAN_FRONTEND=noninteractive
# Tests start servers of their own: nothing that comes with a package is started, no database is made, and no mail of this machine is taken.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
    trap 'rm -f "$log" "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
else
    trap 'rm -f "$log"' EXIT
fi
mkdir -p /etc/postgresql-common/createcluster.d
echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/plimsoll.conf
echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections 2>/dev/null || true
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
