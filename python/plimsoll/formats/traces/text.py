"""Text formats that `crates/traces` reads: how each is told by its first line.

What a line means is said there, in a file per format: fio's iolog, what blkparse prints, the CSV of MSR-Cambridge, of Alibaba and of
CloudPhysics, and MQSim's text.

    fio version 3 iolog
    128166372003061629,hm,0,Read,383496192,32768,413
    419,W,8792731648,16384,1577808144360767
    48513000 0 303567 7 0
    1,33898,2a,512,42932745
      8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]
"""

from __future__ import annotations

import re

_MSR_COLUMNS, _ALIBABA_COLUMNS, _MQSIM_COLUMNS, _BLKPARSE_WORDS = 7, 5, 5, 6
_CLOUDPHYSICS = ["version", "time", "op", "size", "lbn"]
_SECONDS_TIME = re.compile(r"\d{1,16}(\.\d{1,9})?", re.ASCII)
_SCSI_CODE = re.compile(r"(0x)?[0-9a-f]{1,2}", re.IGNORECASE | re.ASCII)
_DEVICE = re.compile(r"\d{1,4},\d{1,7}", re.ASCII)
_NINE_DIGITS = re.compile(r"\d{1,9}\.\d{9}", re.ASCII)


def is_iolog(head: str) -> bool:
    """Whether a text begins like an iolog."""
    return head.startswith("fio version ") and head.split("\n", 1)[0].rstrip().endswith("iolog")


def is_msr(line: str) -> bool:
    """Whether a line is one of an MSR-Cambridge trace."""
    words = line.split(",")
    return len(words) == _MSR_COLUMNS and (words[0].strip().lower() == "timestamp" or words[3].strip().lower() in ("read", "write"))


def is_alibaba(line: str) -> bool:
    """Whether a line is one of an Alibaba trace."""
    words = [word.strip() for word in line.split(",")]
    return len(words) == _ALIBABA_COLUMNS and (words[0].lower() == "device_id" or words[1].upper() in ("R", "W"))


def is_mqsim(line: str) -> bool:
    """Whether a line is one of an MQSim trace."""
    words = line.split()
    return len(words) == _MQSIM_COLUMNS and all(word.isascii() and word.isdigit() for word in words) and words[4] in ("0", "1")


def is_cloudphysics(line: str) -> bool:
    """Whether a line is one of a CloudPhysics CSV."""
    words = [word.strip() for word in line.split(",")]
    if [word.lower() for word in words] == _CLOUDPHYSICS:
        return True
    return (
        len(words) == len(_CLOUDPHYSICS)
        and words[0] in ("1", "2")
        and bool(_SECONDS_TIME.fullmatch(words[1]) and _SCSI_CODE.fullmatch(words[2]))
        and all(word.isascii() and word.isdigit() for word in words[3:])
    )


def is_blkparse(line: str) -> bool:
    """Whether a line is one of blkparse's events."""
    words = line.split()
    return len(words) >= _BLKPARSE_WORDS and bool(_DEVICE.fullmatch(words[0]) and _NINE_DIGITS.fullmatch(words[3]))
