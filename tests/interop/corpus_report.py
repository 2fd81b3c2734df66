#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SMBIOS tables and configuration spaces of real machines in the folder
$CORPUS: each is decoded as dmidecode and lspci do, or refused for the reason
that is given here. Passes without a word where there is no corpus.
"""

import glob
import os
import re
import sys
import tempfile

import report_kit as kit

# What is in these folders and is no table.
REFUSED = {"smbios/u-root+smbios/testdata/invalid_systab": "smbios.structure",
           "smbios/u-root+smbios/testdata/smbios3_systab": "smbios.structure"}


class Run:
    def __init__(self, corpus):
        self.corpus, self.passed, self.failed, self.compared = corpus, 0, 0, 0

    def done(self, path, faults, compared=0):
        self.passed += not faults
        self.failed += bool(faults)
        self.compared += compared
        for fault in faults[:10]:
            print(f"FAIL {path}: {fault}")

    def files(self, pattern):
        for path in sorted(glob.glob(os.path.join(self.corpus, pattern), recursive=True)):
            if os.path.isfile(path):
                yield path, os.path.relpath(path, self.corpus)


def smbios(run, folder):
    for path, name in run.files("smbios/**/*"):
        if not name.endswith(".bin") and name not in REFUSED:
            continue
        code, j = kit.decode("smbios", path)
        if name in REFUSED:
            reason = j and j.get("refused", {}).get("reason")
            run.done(name, [] if (code, reason) == (3, REFUSED[name]) else [f"exit {code}, {reason}"])
            continue
        if code != 0:
            run.done(name, [f"exit {code}, {j and j.get('refused')}"])
            continue
        if j["file"] == "table":
            # dmidecode reads dumps: one with an entry point in front
            path = os.path.join(folder, "dump")
            with open(os.path.join(run.corpus, name), "rb") as f:
                table = f.read()
            with open(path, "wb") as f:
                f.write(kit.smbios3(table))
        run.done(name, *kit.compare_smbios(path, j))
        properties(run, path, name, j)


def properties(run, path, name, j):
    """systemd's values of memory devices, which stand beside some dumps"""
    if not os.path.isfile(path + ".txt") or "systemd" not in name:
        return
    with open(path + ".txt", encoding="utf-8") as f:
        want = dict(line.rstrip("\n").split("=", 1) for line in f)
    devices = [s for s in j["structures"] if s["type"] == 17]
    faults, compared = [], 0
    for i, d in enumerate(devices):
        for field, theirs in (("bytes", "SIZE"), ("locator", "LOCATOR"), ("speed_mts", "SPEED_MTS"),
                              ("part", "PART_NUMBER"), ("rank", "RANK")):
            value = want.get(f"MEMORY_DEVICE_{i}_{theirs}")
            if value is None or field not in d or (d[field] == 0 and value == "0"):
                continue
            compared += 1
            if str(d[field]).strip() != value.strip():
                faults.append(f"memory device {i}: {field} is {d[field]!r}, not {value!r}")
    run.done(name + ".txt", faults if compared else ["nothing to compare"], compared)


def pci(run, folder):
    for path, name in run.files("pci/**/*"):
        code, j = kit.decode("pci", path)
        if code != 0:
            run.done(name, [f"exit {code}"])
            continue
        if name.endswith(".bin"):
            with open(path, "rb") as f:
                text = kit.dump(f.read())
            path = os.path.join(folder, "space")
            with open(path, "w", encoding="ascii") as f:
                f.write(text)
            # the text says the same as the bytes
            _, again = kit.decode("pci", path)
            same = [{k: v for k, v in d.items() if k != "slot"} for d in again["devices"]] == j["devices"]
            j = again
            if not same:
                run.done(name, ["text and bytes differ"])
        else:
            refer(run, path, name, j)
        run.done(name, *kit.compare_pci(path, j))


def refer(run, path, name, j):
    """What lspci said on the machine itself stands in most of these files"""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    wanted = re.findall(r"^\tCapabilities: \[([0-9a-f]+)(?: v\d+)?\](?!.*(?:chain|access denied))", text, re.M)
    # some were saved without the bytes of the extended ones
    there = max(d["bytes"] for d in j["devices"])
    wanted = [w for w in wanted if int(w, 16) < there]
    if not wanted:
        return
    got = [c["offset"][2:] for d in j["devices"] for c in d["capabilities"]]
    missing = [w for w in wanted if w not in got]
    run.done(name + " recorded", [f"no capabilities at {missing}"] if missing else [], len(wanted))


def main():
    corpus = os.environ.get("CORPUS", "")
    if not os.path.isdir(os.path.join(corpus, "smbios")):
        print("no corpus: nothing to compare with\n1 passed, 0 failed")
        return 0
    run = Run(corpus)
    with tempfile.TemporaryDirectory(prefix="corpus-report-") as folder:
        smbios(run, folder)
        pci(run, folder)
    print(f"{run.compared} values compared")
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed or run.compared < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
