#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""gate_log.py [TEST_FACTS [BOOTGATECTL]]

A whole gate log, as the unit test of facts writes it, read by three that
share no code: tpm2_eventlog, tests/tools/evlog.py and bootgatectl. All must
lead to the same registers, and tpm2_eventlog must find nothing to warn of.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
import evlog  # noqa: E402


def by_tpm2_eventlog(path):
    done = subprocess.run(["tpm2_eventlog", path], check=True, capture_output=True, text=True)
    values, bank = {}, None
    for line in done.stdout.partition("\npcrs:\n")[2].splitlines():
        if m := re.fullmatch(r"  (\w+):", line):
            bank = {"sm3_256": "sm3"}.get(m[1], m[1])
        elif m := re.fullmatch(r"    (\d+)\s*: 0x([0-9a-f]+)", line):
            values[f"{bank} {m[1]}"] = m[2]
    return values, done.stderr


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/test/unit/test_facts"
    ctl = sys.argv[2] if len(sys.argv) > 2 else "build/test/bootgatectl"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gate.log")
        subprocess.run([program], check=True, capture_output=True,
                       env=dict(os.environ, GATE_LOG_OUT=path))
        with open(path, "rb") as f:
            log = evlog.parse(f.read())
        ours = subprocess.run([ctl, "log", "replay", path], check=True,
                              capture_output=True, text=True).stdout
        theirs, warnings = by_tpm2_eventlog(path)
    values = dict(line.rsplit(" ", 1) for line in ours.splitlines())
    failed = 0
    if ours != log.pcrs() or len(values) != 2 * len(log.banks):
        print("FAIL bootgatectl and evlog.py differ")
        failed += 1
    for key, value in values.items():
        # a tool that does not know SM3 shows no line for it
        if key in theirs or not key.startswith("sm3 "):
            if theirs.get(key) != value:
                print(f"FAIL {key}: {value}, tpm2_eventlog: {theirs.get(key)}")
                failed += 1
    if "WARN" in warnings or "ERROR" in warnings:
        print(f"FAIL tpm2_eventlog says: {warnings}")
        failed += 1
    print(f"{len(theirs)} values by tpm2_eventlog")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
