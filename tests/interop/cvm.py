#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""cvm.py: `bootgatectl cvm verify` on evidence that this test makes itself.

The judgement has its own unit tests; here it is about files: where
certificates are found, which forms are read, what is printed, how it ends.
A root of this test can be pinned in the test build only.
"""

import base64
import datetime
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.x509.oid import NameOID

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.path.join(TOP, os.environ.get("BUILD", "build"))
PROGRAM = os.path.join(BUILD, "test", "bootgatectl")
PRODUCT = os.path.join(BUILD, "bin", "bootgatectl")

OK, COULD_NOT, USAGE, REFUSED = 0, 1, 2, 3
AT = "2027-01-15"
FROM, UNTIL = datetime.datetime(2026, 1, 1), datetime.datetime(2028, 1, 1)


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def key(curve=ec.SECP384R1):
    return ec.generate_private_key(curve())


class Authority:
    """A certificate with its key, and what it signs."""

    def __init__(self, text, issuer=None, ca=True, extensions=(), curve=ec.SECP384R1):
        self.name, self.key = text, key(curve)
        signer = issuer or self
        b = (x509.CertificateBuilder().subject_name(name(text)).issuer_name(name(signer.name))
             .public_key(self.key.public_key()).serial_number(x509.random_serial_number())
             .not_valid_before(FROM).not_valid_after(UNTIL)
             .add_extension(x509.BasicConstraints(ca, None), critical=True))
        for oid, value in extensions:
            b = b.add_extension(x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), value), False)
        self.cert = b.sign(signer.key, hashes.SHA384())
        self.der = self.cert.public_bytes(serialization.Encoding.DER)
        self.pem = self.cert.public_bytes(serialization.Encoding.PEM)
        self.pin = hashlib.sha256(self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)).hexdigest()

    def crl(self, *serials):
        b = (x509.CertificateRevocationListBuilder().issuer_name(name(self.name))
             .last_update(FROM).next_update(UNTIL))
        for s in serials:
            b = b.add_revoked_certificate(x509.RevokedCertificateBuilder().serial_number(s)
                                          .revocation_date(FROM).build())
        return b.sign(self.key, hashes.SHA384()).public_bytes(serialization.Encoding.DER)

    def numbers(self, data, algorithm=hashes.SHA384):
        return utils.decode_dss_signature(self.key.sign(data, ec.ECDSA(algorithm())))


class Case(unittest.TestCase):
    kind = None

    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory(prefix="bootgate-cvm-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(self.path("certs/a/b"))

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def put(self, data, *parts):
        with open(self.path(*parts), "wb") as f:
            f.write(data)
        return self.path(*parts)

    def run_it(self, evidence, *options, program=PROGRAM, at=AT, certs=True):
        argv = [program, "cvm", "verify", "--type", self.kind, "--evidence", evidence]
        argv += ["--certs", self.path("certs")] if certs else []
        argv += ["--at", at] if at else []
        return subprocess.run(argv + list(options), check=False, capture_output=True, text=True,
                              timeout=60)

    def expect(self, code, reason, evidence, *options, **more):
        done = self.run_it(evidence, *options, **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Sanitizer", done.stderr)
        if reason:
            self.assertIn(reason, done.stdout + done.stderr)
        return done

    def json(self, evidence, *options, code=OK):
        done = self.run_it(evidence, "--json", *options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)


def ia5(text):
    return b"\x16" + bytes([len(text)]) + text.encode()


class Snp(Case):
    kind = "snp"

    @classmethod
    def setUpClass(cls):
        oid = "1.3.6.1.4.1.3704.1."
        chip = bytes(range(1, 9))
        cls.ark = Authority("ARK-Turin")
        cls.ask = Authority("SEV-Turin", cls.ark)
        cls.vcek = Authority("SEV-VCEK", cls.ask, False, [
            (oid + "2", ia5("Turin")), (oid + "3.1", b"\2\1\2"), (oid + "3.2", b"\2\1\3"),
            (oid + "3.3", b"\2\1\4"), (oid + "3.8", b"\2\1\5"), (oid + "3.9", b"\2\1\1"),
            (oid + "4", chip)])
        r = bytearray(1184)
        struct.pack_into("<IIQ", r, 0, 5, 0, 0x30000)
        struct.pack_into("<I", r, 0x34, 1)
        for at in (0x38, 0x180, 0x1e0, 0x1f0):
            r[at:at + 8] = bytes([1, 2, 3, 4, 0, 0, 0, 5])
        r[0x50:0x70] = b"n" * 32
        r[0x188:0x18b] = b"\x1a\x02\x00"
        r[0x1a0:0x1a8] = chip
        for at, n in zip((0x2a0, 0x2a0 + 72), cls.vcek.numbers(bytes(r[:0x2a0]))):
            r[at:at + 48] = n.to_bytes(48, "little")
        cls.report = bytes(r)

    def setUp(self):
        super().setUp()
        # in sub-folders, each in another form
        self.put(self.vcek.der, "certs/a/b/anything")
        self.put(self.ask.pem + b"text\n" + self.ark.pem, "certs/a/chain.txt")
        self.pin = ("--test-pin", self.ark.pin)
        self.evidence = self.put(self.report, "report")

    def test_forms(self):
        for data in (self.report, self.report.hex().encode(), b"0x" + self.report.hex().upper().encode(),
                     base64.b64encode(self.report), base64.encodebytes(self.report)):
            done = self.expect(OK, "verified", self.put(data, "form"), *self.pin)
            self.assertIn("snp.tcb-unknown", done.stdout)
            self.assertIn("chain.revocation-unknown", done.stdout)

    def test_certificates_inside(self):
        """Report and certificates in one file, as the extended request gives them."""
        table = self.vcek.der + self.ask.der + self.ark.der
        self.expect(OK, "verified", self.put(self.report + table, "extended"), *self.pin, certs=False)

    def test_certificates_in_json(self):
        os.unlink(self.path("certs/a/b/anything"))
        self.expect(REFUSED, "snp.no-key", self.evidence, *self.pin)
        self.put(json.dumps({"x": [{"vcek": base64.b64encode(self.vcek.der).decode()}]}).encode(),
                 "certs/a/b/c.json")
        self.expect(OK, "verified", self.evidence, *self.pin)

    def test_strict(self):
        minimum = ("--minimum-tcb", "0102030400000005")
        self.expect(REFUSED, "snp.tcb-unknown", self.evidence, "--strict", *self.pin)
        self.expect(REFUSED, "chain.revocation-unknown", self.evidence, "--strict", *self.pin, *minimum)
        self.put(self.ark.crl(), "certs/list")
        self.expect(OK, "verified", self.evidence, "--strict", *self.pin, *minimum)
        self.put(self.ark.crl(self.ask.cert.serial_number), "certs/newer")
        self.expect(REFUSED, "chain.revoked", self.evidence, *self.pin)

    def test_minimum(self):
        self.expect(REFUSED, "snp.tcb-minimum", self.evidence, *self.pin,
                    "--minimum-tcb", "0202030400000005")
        for wrong in ("01", "zz02030400000005"):
            self.expect(USAGE, None, self.evidence, *self.pin, "--minimum-tcb", wrong)

    def test_nonce(self):
        self.expect(OK, "verified", self.evidence, *self.pin, "--nonce", "6E" * 32)
        self.expect(REFUSED, "snp.nonce", self.evidence, *self.pin, "--nonce", "6e" * 31)
        for wrong in ("6", "xx", "", "00" * 65):
            self.expect(USAGE, None, self.evidence, *self.pin, "--nonce", wrong)

    def test_dates(self):
        self.expect(REFUSED, "chain.dates", self.evidence, *self.pin, at="2028-01-02T00:00:00Z")
        self.expect(USAGE, None, self.evidence, *self.pin, at="yesterday")
        self.expect(USAGE, None, self.evidence, *self.pin, at="2028-01-02x")

    def test_root(self):
        """Without the pin of the test this is a self-made ARK."""
        self.expect(REFUSED, "chain.root", self.evidence)

    def test_product_has_no_pin(self):
        self.expect(REFUSED, "chain.root", self.evidence, program=PRODUCT)
        self.expect(USAGE, "no option", self.evidence, *self.pin, program=PRODUCT)
        with open(PRODUCT, "rb") as f:
            self.assertNotIn(b"test-pin", f.read())

    def test_json(self):
        j = self.json(self.evidence, *self.pin, "--nonce", "6e" * 32)
        self.assertEqual((j["type"], j["reason"], j["strict"]), ("snp", "ok", False))
        self.assertEqual(j["at"], "2027-01-15T00:00:00Z")
        e = j["evidence"][0]
        self.assertTrue(e["verified"])
        self.assertTrue(e["nonce_checked"])
        self.assertEqual(e["product"], "Turin")
        self.assertEqual(e["tcb_status"], "unknown")
        self.assertEqual([c["subject"] for c in e["chain"]],
                         ["CN=SEV-VCEK", "CN=SEV-Turin", "CN=ARK-Turin"])
        self.assertEqual(e["chain"][2]["spki_sha256"], self.ark.pin)
        self.assertEqual([c.get("revocation") for c in e["chain"]], ["unknown", "unknown", None])
        r = e["report"]
        self.assertEqual(r["version"], 5)
        self.assertEqual(r["report_data"], "6e" * 32 + "00" * 32)
        self.assertEqual(r["reported_tcb"], {"raw": "0102030400000005", "fmc": 1, "bootloader": 2,
                                             "tee": 3, "snp": 4, "microcode": 5})
        self.assertEqual(r["policy"]["smt"], True)
        self.assertEqual(r["policy"]["debug"], False)
        self.assertEqual(r["cpuid"], {"family": 26, "model": 2, "stepping": 0})
        j = self.json(self.put(self.report[:80] + b"x" + self.report[81:], "bad"), *self.pin, code=REFUSED)
        self.assertEqual(j["reason"], "snp.signature")
        self.assertEqual(j["evidence"][0]["reason"], "snp.signature")
        self.assertFalse(j["evidence"][0]["verified"])
        self.assertEqual(j["evidence"][0]["certificates_tried"], 1)

    def test_no_evidence(self):
        self.expect(REFUSED, "cvm.evidence", self.put(b"\xff\xfe", "other"))
        self.expect(REFUSED, "cvm.evidence", self.put(b"", "empty"))
        self.expect(REFUSED, "format.too-large", self.put(bytes((4 << 20) + 1), "large"))

    def test_could_not(self):
        self.expect(COULD_NOT, "No such file", self.path("nowhere"))
        done = subprocess.run([PROGRAM, "cvm", "verify", "--type", "snp", "--evidence", self.evidence,
                               "--certs", self.path("nowhere")], check=False, capture_output=True)
        self.assertEqual(done.returncode, COULD_NOT)

    def test_usage(self):
        for argv in ([], ["--type", "snp"], ["--evidence", self.evidence],
                     ["--type", "sev", "--evidence", self.evidence],
                     ["--type", "snp", "--evidence", self.evidence, "more"]):
            done = subprocess.run([PROGRAM, "cvm", "verify"] + argv, check=False, capture_output=True)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(b"usage: bootgatectl cvm verify", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
