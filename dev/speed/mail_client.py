"""Mail users at a server that runs already: what Plimsoll's client takes by itself. A child of the bench.

Prints tasks, seconds of processors, and the median time from a task's first command to its last answer in nanoseconds, as JSON.

    python mail_client.py PORT SECONDS USERS TASKS PASSWORD
"""

import json
import sys
from typing import Any

from plimsoll import catalog
from plimsoll.engine.block import native
from plimsoll.engine.mail import native_mail
from plimsoll.histogram import merged


def main(port: str, seconds: str, users: str, tasks: str, password: str) -> None:
    """One run."""
    engine, mail = native(), native_mail()
    workload = mail.check(catalog.document("mail-medium"), "mail-medium")
    options = engine.check_job({"duration": float(seconds), "warmup": 0})
    for option, value in (("users", users), ("speed", 100_000), ("tasks", tasks), ("folders", "1"), ("threads", "1")):
        workload, options = mail.set_option(workload, options, option, value)
    place = {"place": f"127.0.0.1:{port}", "security": "none", "host": "localhost"}
    names = [f"u{number}" for number in range(int(users))]
    accounts = [{"name": name, "password": password, "address": f"{name}@bench.invalid", "first_uid": 1} for name in names]
    server = {"imap": place, "submission": place, "lmtp": False, "login": False, "ca": None, "prefix": "", "timeout_s": 30.0}
    cells: list[dict[str, Any]] = []

    def hear(kind: str, event: Any) -> None:
        if kind == "interval":
            cells.extend(cell for cell in event["cells"] if cell["count"])

    asked = {"workload": workload, "job": options, "run": "bench", "date": "Thu, 1 Jan 2026 08:00:00 +0000", "ledger": None}
    outcome = mail.run({**asked, "server": {**server, "accounts": accounts}}, hear, engine.control())
    if outcome["first_error"]:
        sys.exit(str(outcome["first_error"]))
    times = merged(cell["service"] or cell["latency"] for cell in cells)
    count = sum(cell["count"] for cell in cells)
    print(json.dumps([count, sum((outcome["cpu_ns"] or {}).values()) / 1e9, times.percentile(50.0) if times else 0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
