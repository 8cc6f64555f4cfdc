"""fio's job files and command lines in our words.

Model: `translate` reads a job file, `translate_command` a command line; both give a `Translation`: the experiment file that does the
same, and a remark for every line. `recognises` says whether a file looks like a job file.
Limits: engines that reach something else than files and devices, and zoned devices, are recognised and refused with the nearest thing that
works.

    translate("[reader]\\nrw=randread\\nfilename=/dev/sdb\\ndirect=1\\n", "job.fio", None, {}).document
"""

from plimsoll.formats.fio.command import translate_command
from plimsoll.formats.fio.translate import recognises, translate

__all__ = ["recognises", "translate", "translate_command"]
