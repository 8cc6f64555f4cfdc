"""Vdbench parameter files: workloads on devices and on file systems become experiments of ours, with a remark on every parameter.

Model: `statements` cuts text into parameters, `read` makes definitions of them (`model`), `translate` makes the document: `experiments` of
rounds, which `streams` composes for devices. Requests outstanding in Vdbench are threads here; its rates are open loops, its maximum a
closed one, its curves our curves with its rounding. File systems (FSD, FWD) are in `filesystem`, what both have in common is here.
Limits: other hosts are read and reported, not run. Sizes of devices are not looked up here: where several targets are used at the same
time, ``targets`` has to say them.

    translation = translate("sd=sd1,lun=/dev/sdb\\nwd=wd1,sd=sd1\\nrd=run1,wd=wd1,iorate=max,elapsed=60,interval=1\\n", "job", None, {})
    translation.document["experiment"][0]["kind"]        # 'single'
"""

from plimsoll.formats.vdbench.translate import recognises, translate, translate_command

__all__ = ["recognises", "translate", "translate_command"]
