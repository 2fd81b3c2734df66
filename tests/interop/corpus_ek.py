#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""corpus_ek.py [BOOTGATECTL]

Judges the real EK certificates of the folder $CORPUS against the vendor CAs
there, and has the openssl command check the paths, too. Passes without a word
where there is no corpus.
"""

import json
import os
import subprocess
import sys
import tempfile

# path, vendor, reason, part of what is said
CASES = [
    ("cert-ek/Fraunhofer-AISEC+cmc/provision/tpm_test.go.d54e62ec.der", "Intel", "ok", ""),
    ("cert-ek/immune-gmbh+guard-oss/apisrv/pkg/check/inteltsc_test.go.54dea27f.der", "Nuvoton",
     "ok", ""),
    ("cert-ek/immune-gmbh+guard-oss/apisrv/pkg/check/inteltsc_test.go.e54a9d6e.der", "Infineon",
     "ok", ""),
    ("cert-ek/immune-gmbh+guard-oss/apisrv/pkg/check/tpm_test.go.ce0e7316.der",
     "STMicroelectronics", "ok", ""),
    # their CAs are not in the corpus
    ("cert-ek/google+go-tpm-tools/internal/test/certificates/uca_tpm_ecc_enc_cert.pem"
     ".9fdd7997.der", "Google", "ek.untrusted", "no certificate of its issuer"),
    ("cert-ek/google+go-tpm-tools/internal/test/certificates/uca_tpm_rsa_enc_cert.pem"
     ".af614aee.der", "Google", "ek.untrusted", "no certificate of its issuer"),
    ("cert-ek/keylime+keylime/docs/rest_apis/2_1/registrar.rst.3a888ace.der", "",
     "ek.untrusted", "no certificate of its issuer"),
    # keys that sign
    ("cert-ek/google+go-tpm-tools/internal/test/certificates/uca_tpm_ecc_sign_cert.pem"
     ".9c49baf0.der", "Google", "ek.profile", "the key usage"),
    ("cert-ek/google+go-tpm-tools/internal/test/certificates/uca_tpm_rsa_sign_cert.pem"
     ".d2ec0b0a.der", "Google", "ek.profile", "the key usage"),
    # TPM 1.2: keys with the OAEP identifier
    ("cert-misc/nsacyber+HIRS/HIRS_AttestationCA/src/test/resources/certificates/"
     "ab21ccf2-tpmcert.pem", "STMicroelectronics", "ek.profile", "its key is of a kind"),
    ("cert-misc/nsacyber+HIRS/HIRS_AttestationCA/src/test/resources/certificates/nuc-2/"
     "tpmcert.pem", "STMicroelectronics", "ek.profile", "its key is of a kind"),
]
# TPM 1.2, too: a header of its own in front
NO_CERTIFICATE = ("cert-misc/nsacyber+HIRS/HIRS_AttestationCA/src/test/resources/certificates/"
                  "nuc-1/ek_cert_untouched.cer")


def pem_blocks(folder):
    """Every certificate below the folder that openssl reads, as PEM, once."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(where, name), "rb") as f:
                content = f.read()
            form = "PEM" if b"-----BEGIN" in content else "DER"
            parts = [content]
            if form == "PEM":
                parts = [b"-----BEGIN CERTIFICATE-----" + p.split(b"-----END")[0]
                         + b"-----END CERTIFICATE-----\n"
                         for p in content.split(b"-----BEGIN CERTIFICATE-----")[1:]]
                found.update((p, None) for p in parts)
                continue
            done = subprocess.run(["openssl", "x509", "-inform", form], input=content,
                                  capture_output=True, check=False)
            if done.returncode == 0:
                found[done.stdout] = None
    return list(found)


def openssl_agrees(corpus, path, bundle):
    """The signatures alone, without dates."""
    return subprocess.run(["openssl", "verify", "-no_check_time", "-CAfile", bundle,
                           os.path.join(corpus, path)], capture_output=True,
                          check=False).returncode == 0


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bin/bootgatectl"
    corpus = os.environ.get("CORPUS", "")
    if not os.path.isfile(os.path.join(corpus, "MANIFEST.tsv")):
        print("skipped: no corpus")
        return 0
    cas = os.path.join(corpus, "cert-tpm-ca")
    passed = failed = 0
    with tempfile.NamedTemporaryFile() as bundle:
        bundle.write(b"".join(pem_blocks(cas)))
        bundle.flush()
        for path, vendor, reason, says in CASES:
            done = subprocess.run([program, "ek", "show", "--json", "--ca", cas,
                                   os.path.join(corpus, path)], capture_output=True, text=True,
                                  check=False, timeout=60)
            answer = json.loads(done.stdout or "{}")
            got = (answer.get("reason"), answer.get("path", [{}])[0].get("vendor"))
            good = (got == (reason, vendor) and says in answer["detail"]
                    and done.returncode == (0 if reason == "ok" else 3)
                    and answer["trusted"] == (reason == "ok"))
            agrees = openssl_agrees(corpus, path, bundle.name)
            if reason in ("ok", "ek.untrusted") and agrees != (reason == "ok"):
                good = False
            print(f"{'ok  ' if good else 'FAIL'} {os.path.basename(path)}: {got[1] or '-'}: {got[0]}"
                  f" {answer.get('detail', done.stderr)}; openssl verify: {agrees}")
            passed += good
            failed += not good
    done = subprocess.run([program, "ek", "show", os.path.join(corpus, NO_CERTIFICATE)],
                          capture_output=True, text=True, check=False, timeout=60)
    good = done.returncode == 1 and "ek.format" in done.stderr
    print(f"{'ok  ' if good else 'FAIL'} {os.path.basename(NO_CERTIFICATE)}: ek.format")
    passed += good
    failed += not good
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
