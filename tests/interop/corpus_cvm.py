#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""corpus_cvm.py [BOOTGATECTL]

Evidence of real CVMs, GPUs and switches in the folder $CORPUS: each piece
must get the answer that its manifest gives, with the reason. Passes without a
word where there is no corpus.
"""

import json
import os
import re
import subprocess
import sys

# A day on which every certificate in the corpus was valid that is used here.
AT = "2025-06-01"


def manifest(corpus):
    """path -> expected, of what this test looks at"""
    rows = {}
    with open(os.path.join(corpus, "MANIFEST.tsv"), encoding="utf-8") as f:
        names = f.readline().rstrip("\n").split("\t")
        for line in f:
            row = dict(zip(names, line.rstrip("\n").split("\t")))
            rows[row["path"]] = row["expected"]
    return rows


class Run:
    def __init__(self, program, corpus):
        self.program, self.corpus = program, corpus
        self.passed, self.failed = 0, 0

    def verify(self, kind, path, certs, *options, at=AT):
        argv = [self.program, "cvm", "verify", "--type", kind, "--json",
                "--evidence", os.path.join(self.corpus, path)]
        argv += ["--certs", os.path.join(self.corpus, certs)] if certs else []
        argv += ["--at", at] if at else []
        done = subprocess.run(argv + list(options), check=False, capture_output=True, text=True,
                              timeout=120)
        if done.returncode not in (0, 3) or not done.stdout:
            return done.returncode, {"reason": done.stderr.strip()[-300:]}
        return done.returncode, json.loads(done.stdout)

    def check(self, what, kind, path, certs, reason, *options, look=None, at=AT):
        """`reason` is "ok" or a refusal; `look` finds faults in the JSON."""
        code, j = self.verify(kind, path, certs, *options, at=at)
        fault = None
        if j["reason"] != reason or code != (0 if reason == "ok" else 3):
            fault = f"exit {code}, {j['reason']}, expected {reason}"
        elif look:
            fault = look(j)
        self.passed += not fault
        self.failed += bool(fault)
        if fault:
            print(f"FAIL {what}: {path}: {fault}")


def hex_prefix(expected, word):
    m = re.search(rf"{word}=([0-9a-f]+)", expected)
    return m[1] if m else None


def extra(run, path):
    """The file of a certificate that is not in the folder of its kind."""
    return [] if path.startswith("snp/") else ["--certs", os.path.join(run.corpus, path)]


def snp(run, rows):
    for path, expected in sorted(rows.items()):
        if not expected.startswith("SNP v"):
            continue
        want = hex_prefix(expected, "report_data")

        def look(j, want=want):
            got = j["evidence"][0]["report"]["report_data"]
            return None if want and got.startswith(want) else f"report data {got}, not {want}"

        m = re.search(r"signature VALID with (\S+)", expected)
        if not m:
            # no certificate is known: none of the folder may fit
            code, j = run.verify("snp", path, "snp")
            good = code == 3 and j["reason"] in ("snp.signature", "snp.no-key")
            run.passed += good
            run.failed += not good
            if not good:
                print(f"FAIL no key: {path}: exit {code}, {j['reason']}")
            continue
        # all certificates there are, the right one among them
        run.check("snp", "snp", path, "snp", "ok", *extra(run, m[1]), look=look)
        run.check("nonce", "snp", path, "snp", "snp.nonce", *extra(run, m[1]), "--nonce", "ff" * 64)
    trustee = "snp/confidential-containers+trustee/deps/verifier/test_data/snp/"
    if trustee + "test-report.bin" in rows:
        for bad in ("test-vcek-invalid-legacy.der", "test-vcek-invalid-new.der"):
            run.check("other key", "snp", trustee + "test-report.bin", trustee + bad, "snp.signature")
        # valid for a year only
        run.check("expired", "snp", trustee + "test-vlek-report.bin~1", "snp", "chain.dates",
                  at="2026-06-01")
        run.check("no ASK", "snp", trustee + "test-report.bin", trustee + "test-vcek.der",
                  "chain.incomplete")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else \
        os.path.join(os.environ.get("BUILD", "build"), "test", "bootgatectl")
    corpus = os.environ.get("CORPUS", "")
    if not os.path.isfile(os.path.join(corpus, "MANIFEST.tsv")):
        print("no corpus: nothing to compare with\n1 passed, 0 failed")
        return 0
    run = Run(program, corpus)
    rows = manifest(corpus)
    snp(run, rows)
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed or not run.passed else 0


if __name__ == "__main__":
    sys.exit(main())
