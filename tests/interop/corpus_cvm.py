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

# A day on which every certificate was valid that is used here, by kind.
AT = {"snp": "2025-06-01", "gpu": "2025-06-01", "tdx": "2026-03-01"}


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

    def verify(self, kind, path, certs, *options, at=None):
        at = at or AT[kind]
        argv = [self.program, "cvm", "verify", "--type", kind, "--json",
                "--evidence", os.path.join(self.corpus, path)]
        argv += ["--certs", os.path.join(self.corpus, certs)] if certs else []
        argv += ["--at", at]
        done = subprocess.run(argv + list(options), check=False, capture_output=True, text=True,
                              timeout=120)
        if done.returncode not in (0, 3) or not done.stdout:
            return done.returncode, {"reason": done.stderr.strip()[-300:]}
        return done.returncode, json.loads(done.stdout)

    def check(self, what, kind, path, certs, reason, *options, look=None, at=None):
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


# Signed as they should be, of a guest or enclave in debug mode.
TDX_DEBUG = {
    "confidential-containers+trustee/deps/verifier/test_data/occlum_quote.dat",
    "confidential-containers+trustee/deps/verifier/test_data/tdx_quote_4.dat",
}

# What our judgement is where the manifest says that the signatures hold: why
# the TCB of these is not good. The right collateral is in the corpus.
TDX_TCB = {
    "Phala-Network+dcap-qvl/sample/tdx_quote_outdated": "tdx.tcb-unsupported",
    "confidential-containers+trustee/deps/verifier/test_data/tdx_quote_5.dat": "tdx.tcb-unsupported",
    "google+go-tdx-guest/testing/testdata/tdx_prod_quote_SPR_E4.dat": "tdx.tcb-unsupported",
    "confidential-containers+trustee/deps/verifier/test_data/tdx_quote_6.dat": "tdx.tcb-out-of-date",
}


def tdx(run, rows):
    for path, expected in sorted(rows.items()):
        if not re.match(r"v[345] quote body sig VALID", expected) or not path.startswith("tdx/"):
            continue
        want = hex_prefix(expected, "report_data")

        def look(j, want=want):
            quote = j["evidence"][0]["quote"]
            got = quote.get("td", quote.get("enclave"))["report_data"]
            return None if want and got == want else f"report data {got}, not {want}"

        reason = TDX_TCB.get(path[4:], "ok")
        if path[4:] in TDX_DEBUG:
            reason = "tdx.debug"
        elif "SANDBOX" in expected:
            reason = "tdx.sandbox-root"
        elif "QE report sig None" in expected:
            # Intel's own sample: its PCK leads to a root made for it
            reason = "chain.root"
        run.check("tdx", "tdx", path, "tdx", reason, look=look)
        if reason == "ok":
            # the quote alone: its chain is inside, the rest is unknown
            run.check("tdx alone", "tdx", path, None, "ok", look=look)
            run.check("tdx nonce", "tdx", path, "tdx", "tdx.nonce", "--nonce", "ff" * 64)
            run.check("tdx strict", "tdx", path, None, "chain.revocation-unknown", "--strict")

    # with the collateral that was saved with it, at its time
    phala = "tdx/Phala-Network+dcap-qvl/sample/"

    def status(j):
        got = j["evidence"][0]["tcb_status"]
        notes = [n["reason"] for n in j["evidence"][0]["notes"]]
        return None if (got, notes) == ("UpToDate", []) else f"{got}, {notes}"

    if phala + "tdx_quote" in rows:
        run.check("tdx in time", "tdx", phala + "tdx_quote", phala + "tdx_quote_collateral.json", "ok",
                  "--strict", look=status, at="2025-07-04")


# A made up list of several switches: one switch's evidence again and again.
GPU_TWICE = {
    "NVIDIA+attestation-sdk/common-test-data/serialized_test_evidence/multi_switch_ls10.json",
}


def gpu(run, rows):
    for path, expected in sorted(rows.items()):
        if "SPDM 11 GET_MEASUREMENTS" not in expected:
            continue
        nonces = re.findall(r"nonce=([0-9a-f]{64})", expected)
        certs = re.search(r"signature VALID with (nvgpu/\S+)", expected)
        certs = os.path.dirname(certs[1]) if certs else "nvgpu" if "does NOT" in expected else None
        if "does NOT verify" in expected:
            run.check("gpu invalid", "gpu", path, certs, "gpu.signature")
            continue

        def look(j, nonces=nonces):
            got = {e["nonce"] for e in j["evidence"]}
            if not all(e["vbios_version"] and len(e["measurements"]) in (31, 64) for e in j["evidence"]):
                return "fields"
            return None if got <= set(nonces) else f"nonces {got}, not {nonces}"

        reason = "gpu.twice" if path[6:] in GPU_TWICE else "ok"
        run.check("gpu", "gpu", path, certs, reason, look=look)
        if len(set(nonces)) == 1:
            run.check("gpu nonce", "gpu", path, certs, reason, "--nonce", nonces[0])
        run.check("gpu other nonce", "gpu", path, certs, "gpu.nonce", "--nonce", "ff" * 32)
        run.check("gpu strict", "gpu", path, certs, "chain.revocation-unknown", "--strict")


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
    tdx(run, rows)
    gpu(run, rows)
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed or not run.passed else 0


if __name__ == "__main__":
    sys.exit(main())
