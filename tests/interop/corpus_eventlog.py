#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""corpus_eventlog.py [BOOTGATECTL]

Replays the event logs of real machines in the folder $CORPUS and compares
with the values that came with them. Every other log there must be replayed
or refused by name. Passes without a word where there is no corpus.
"""

import os
import re
import subprocess
import sys

REFUSAL = re.compile(r"event \d+ at byte \d+: ((?:log|format)\.[a-z-]+)$", re.M)

# Where we differ from the values of the corpus, and why. Never for a value
# that was read from a machine.
DIFFERENT = {
    # An H-CRTM event without StartupLocality. TPM 2.0 starts register 0 at 4
    # after an H-CRTM sequence (see src/format/eventlog_replay.c), and so says
    # the test of the project that the log is from; the corpus and
    # tpm2_eventlog start at 0.
    ("gmes_eventlog.bin", "sha256 0"): "f9540cbdaceac7ac4cf50e5559deb2a4"
                                       "4e4f05c6f1b6721858c2023aeb85de2e",
}

# Logs with values that we refuse, and why.
REFUSED = {
    # vendorInfoSize of its Spec ID event says 4, but eventSize ends in front
    # of these 4 bytes (made by hand for tpm2-tools; no register has a value).
    "tpm2-tools/test/integration/fixtures/specid-vendordata.bin": "log.header",
}


def manifest(corpus):
    """path -> (kind, set of "bank pcr" that somebody else confirms)"""
    rows = {}
    with open(os.path.join(corpus, "MANIFEST.tsv"), encoding="utf-8") as f:
        names = f.readline().rstrip("\n").split("\t")
        for line in f:
            row = dict(zip(names, line.rstrip("\n").split("\t")))
            confirmed = set()
            for group in re.findall(r"corroborated (\S+) by", row["expected_source"]):
                confirmed.update(v.replace(":", " ") for v in group.split(","))
            rows[row["path"]] = (row["kind"], confirmed)
    return rows


def expected_values(path):
    with open(path, encoding="ascii") as f:
        return dict(line.rsplit(" ", 1) for line in f.read().splitlines()
                    if line and not line.startswith("#"))


def replay(program, path):
    """Values by "bank pcr", the name of a refusal, what else is wrong."""
    done = subprocess.run([program, "log", "replay", path], check=False,
                          capture_output=True, text=True, timeout=60)
    values = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    if done.returncode == 0:
        return values, None, None
    refusal = REFUSAL.search(done.stderr)
    if done.returncode == 3 and not values and refusal:
        return None, refusal[1], None
    return None, None, f"exit {done.returncode}: {done.stderr.strip()[-300:]}"


def compare(name, values, expected, confirmed):
    """The lines that differ, less those that are accounted for."""
    wrong = []
    for key in sorted(set(values) | set(expected)):
        ours, theirs = values.get(key), expected.get(key)
        if ours == theirs:
            continue
        if key not in confirmed and ours and DIFFERENT.get((name, key)) == ours:
            print(f"differs as documented: {name}: {key}: {ours}, corpus {theirs}")
            continue
        wrong.append(f"{key}: {ours}, expected {theirs}"
                     + (" (confirmed)" if key in confirmed else ""))
    return wrong


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bin/bootgatectl"
    corpus = os.environ.get("CORPUS", "")
    if not os.path.isfile(os.path.join(corpus, "MANIFEST.tsv")):
        print("skipped: no corpus")
        return 0

    rows = manifest(corpus)
    passed = failed = values_equal = values_confirmed = refused = 0

    def fail(path, why):
        nonlocal failed
        failed += 1
        print(f"FAIL {path}: {why}")

    with open(os.path.join(corpus, "expected/INDEX.tsv"), encoding="utf-8") as f:
        index = dict(reversed(line.rstrip("\n").split("\t")) for line in f)
    for path, wanted in sorted(index.items()):
        confirmed = rows.get(path, ("", set()))[1]
        values, refusal, why = replay(program, os.path.join(corpus, path))
        if refusal and refusal in [r for p, r in REFUSED.items() if path.endswith(p)]:
            print(f"refused as documented: {path}: {refusal}")
            passed += 1
            continue
        if values is None:
            fail(path, why or refusal)
            continue
        expected = expected_values(os.path.join(corpus, wanted))
        wrong = compare(os.path.basename(path), values, expected, confirmed)
        if wrong:
            fail(path, "; ".join(wrong))
            continue
        passed += 1
        values_equal += len(values)
        values_confirmed += len(confirmed & set(values))
    for path, (kind, _) in sorted(rows.items()):
        if path in index or kind not in ("eventlog", "eventlog-cc", "fuzz"):
            continue
        values, refusal, why = replay(program, os.path.join(corpus, path))
        if why:
            fail(path, why)
            continue
        passed += 1
        refused += refusal is not None
    print(f"{len(index)} logs with values, {values_equal} values, {values_confirmed} of them"
          f" confirmed by others; {refused} files refused by name")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
