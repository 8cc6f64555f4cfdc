"""The live image: what runs on a machine that was booted from Plimsoll's own medium.

Model: what shall be done comes on the kernel command line, in a file on the stick, or from the menu (`settings`); the disks of the machine
are what lsblk tells (`disks`); both become a plan or a sentence that says why not (`plan`); the course carries it out, notes what was
done beside the results, and goes on there after a power cut (`course`). A menu in plain text stands on every console (`menu`). Everything
is done by ``plimsoll`` commands in processes of their own, so whatever ends one of them leaves the rest able to say so.

    python3 -m plimsoll.image prepare      # once, while the machine boots
    python3 -m plimsoll.image menu         # on each console
    python3 -m plimsoll.image run          # what was asked for
"""
