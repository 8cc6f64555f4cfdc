"""What private servers are told: the files of Dovecot and Postfix, made from a place and some choices.

Model: every path lies in the target's directory or in a directory of sockets that only the servers' users may enter. Letters and logins go
from Postfix to Dovecot through sockets there, so that no port but IMAP's and SMTP's is open, and both want a password.
A letter whose last delivery agent still has it open as it is tried again is put among the incoming ones for a minute; Postfix looks there
when another letter comes or its queue manager is woken. After the last letter of a run none comes, so it is woken every second.
Limits: texts only; who writes and owns the files is `plimsoll.apps.mail.server`.

    dovecot_file(DovecotChoices(sockets="/tmp/plimsoll-mail-x", …))
    postfix_files(PostfixChoices(place="/mnt/array/mail/mail/postfix", …))["main.cf"]
"""

from __future__ import annotations

from dataclasses import asdict

from plimsoll.records import dataclass

DOMAIN = "plimsoll.invalid"


@dataclass(frozen=True)
class DovecotChoices:
    """``sockets`` is the directory of its sockets; ``gate`` the part of it that Postfix reaches."""

    sockets: str
    gate: str
    log: str
    user: str
    group: str
    uid: int
    gid: int
    mailboxes: str
    location: str
    fsync: str
    password: str
    port: int


@dataclass(frozen=True)
class PostfixChoices:
    """``place`` has its queue and what else it needs; letters are delivered and logins asked through the ``gate``."""

    place: str
    gate: str
    programs: str
    port: int


def dovecot_file(choices: DovecotChoices) -> str:
    """dovecot.conf."""
    return _DOVECOT.format(**asdict(choices))


def postfix_files(choices: PostfixChoices) -> dict[str, str]:
    """main.cf and master.cf."""
    values = {**asdict(choices), "domain": DOMAIN}
    return {"main.cf": _POSTFIX_MAIN.format(**values), "master.cf": _POSTFIX_MASTER.format(**values)}


_DOVECOT = """\
base_dir = {sockets}/base
state_dir = {sockets}/state
log_path = {log}
instance_name = plimsoll
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
first_valid_gid = 1
mail_location = {location}
mail_uid = {uid}
mail_gid = {gid}
mail_fsync = {fsync}
mail_max_userip_connections = 1000
auth_mechanisms = plain
auth_username_format = %Ln
default_process_limit = 5000
default_client_limit = 50000
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={mailboxes}/%n allow_all_users=yes
}}
service anvil {{
  chroot =
}}
service auth {{
  unix_listener {gate}/auth {{
    mode = 0666
  }}
}}
service imap-login {{
  chroot =
  service_count = 0
  client_limit = 10000
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service imap {{
  service_count = 0
  client_limit = 50
}}
service lmtp {{
  unix_listener {gate}/lmtp {{
    mode = 0666
  }}
}}
"""

_POSTFIX_MAIN = """\
compatibility_level = 3.6
queue_directory = {place}/queue
data_directory = {place}/data
command_directory = /usr/sbin
daemon_directory = {programs}
mail_owner = postfix
setgid_group = postdrop
maillog_file = {place}/maillog
maillog_file_prefixes = {place}
delay_logging_resolution_limit = 6
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
myhostname = {domain}
mydestination =
virtual_mailbox_domains = {domain}
virtual_transport = lmtp:unix:{gate}/lmtp
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = {gate}/auth
smtpd_recipient_restrictions = permit_sasl_authenticated, reject
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_client_connection_count_limit = 0
smtpd_client_connection_rate_limit = 0
smtpd_peername_lookup = no
default_process_limit = 500
alias_maps =
alias_database =
local_recipient_maps =
message_size_limit = 0
mailbox_size_limit = 0
virtual_mailbox_limit = 0
disable_dns_lookups = yes
in_flow_delay = 0
minimal_backoff_time = 1s
maximal_backoff_time = 5s
queue_run_delay = 1s
"""

_POSTFIX_MASTER = """\
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""
