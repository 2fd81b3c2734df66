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

    def test_links(self):
        """A link counts as the file that it leads to; not as a folder, which could be a circle."""
        os.makedirs(self.path("elsewhere"))
        os.rename(self.path("certs/a/chain.txt"), self.path("elsewhere/chain"))
        os.symlink("../elsewhere", self.path("certs/folder"))
        os.symlink("..", self.path("certs/a/circle"))
        self.expect(REFUSED, "chain.incomplete", self.evidence, *self.pin)
        os.symlink(self.path("elsewhere/chain"), self.path("certs/a/b/link"))
        self.expect(OK, "verified", self.evidence, *self.pin)
        # a folder or a file that the operator names may be one itself
        os.rename(self.path("certs"), self.path("real"))
        os.symlink("real", self.path("certs"))
        self.expect(OK, "verified", self.evidence, *self.pin)
        self.expect(OK, "verified", self.evidence, *self.pin, "--certs", self.path("certs/a/b/link"))

    def test_large_list(self):
        """The lists of a busy CA: their length takes three bytes."""
        serials = [2**150 + i for i in range(2000)]
        self.put(self.ark.crl(*serials), "certs/list")
        self.assertGreater(os.path.getsize(self.path("certs/list")), 1 << 16)
        done = self.expect(OK, "verified", self.evidence, *self.pin)
        self.assertNotIn("chain.revocation-unknown", done.stdout)
        self.put(self.ark.crl(self.ask.cert.serial_number, *serials), "certs/list")
        self.expect(REFUSED, "chain.revoked", self.evidence, *self.pin)

    def test_large_file(self):
        self.put(bytes((4 << 20) + 1), "certs/a/image")
        done = self.expect(OK, "verified", self.evidence, *self.pin)
        self.assertIn("certs/a/image: larger than 4 MiB", done.stderr)

    def test_name_for_a_terminal(self):
        self.put(bytes((4 << 20) + 1), "certs/a/\033[2Jimage")
        done = self.expect(OK, "verified", self.evidence, *self.pin)
        self.assertIn("certs/a/\\x1b[2Jimage: larger than 4 MiB", done.stderr)
        os.symlink("/proc/self/mem", self.path("certs/a/\033[2Jmemory"))
        done = self.expect(COULD_NOT, "certs/a/\\x1b[2Jmemory: file: Input/output error",
                           self.evidence, *self.pin)
        self.assertNotIn("\033", done.stderr)

    def test_what_cannot_be_read(self):
        """It is named, not the folder that it is in. Nobody can read at 0 there, root included."""
        os.symlink("/proc/self/mem", self.path("certs/a/memory"))
        self.expect(COULD_NOT, "certs/a/memory: file: Input/output error", self.evidence, *self.pin)

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


class Gpu(Case):
    kind = "gpu"

    @classmethod
    def setUpClass(cls):
        fwid = bytes([0xf1]) * 48
        pair = bytes.fromhex("303d06096086480165030402020430") + fwid
        cls.root = Authority("Device Identity CA")
        cls.device, cls.other = (Authority("GH100 GSP FMC LF", cls.root, False, [
            ("2.23.133.5.4.1", bytes.fromhex("30440201013000") + pair)]) for _ in range(2))
        cls.nonce = bytes(range(32))
        blocks = b"".join(struct.pack("<BBHBH", i, 1, 51, 1, 48) + bytes([i]) * 48 for i in (1, 2))
        opaque = b"".join(struct.pack("<HH", t, len(d)) + d for t, d in (
            (6, b"\x00\xa5\x00\x96\x01\x00\x00\x00"), (3, b"590.12\0"), (20, fwid)))
        data = (b"\x11\xe0\x01\xff" + cls.nonce + b"\0" + b"\x11\x60\0\0\x02"
                + len(blocks).to_bytes(3, "little") + blocks + bytes(32)
                + struct.pack("<H", len(opaque)) + opaque)
        cls.report, cls.second = (data + b"".join(n.to_bytes(48, "big") for n in d.numbers(data))
                                  for d in (cls.device, cls.other))

    def setUp(self):
        super().setUp()
        self.pin = ("--test-pin", self.root.pin)

    def element(self, report):
        chain = base64.b64encode(self.device.pem + self.other.pem + self.root.pem).decode()
        return {"arch": "HOPPER", "evidence": base64.b64encode(report).decode(), "certificate": chain,
                "nonce": "00" * 32}

    def test_files(self):
        self.put(self.device.pem + self.root.pem, "certs/a/chain")
        evidence = self.put(self.report.hex().encode(), "report.txt")
        self.expect(OK, "gpu.reference-unknown", evidence, *self.pin)
        self.expect(REFUSED, "chain.root", evidence)
        self.expect(REFUSED, "gpu.nonce", evidence, *self.pin, "--nonce", "ff" * 32)
        self.expect(REFUSED, "refused: chain.revocation-unknown", evidence, *self.pin, "--strict")

    def test_list(self):
        """The chains are in it; its own word for the nonce is not believed."""
        good, bad = self.element(self.report), self.element(self.report[:-1] + b"\0")
        evidence = self.put(json.dumps([good, self.element(self.second)]).encode(), "list.json")
        j = self.json(evidence, *self.pin, "--nonce", self.nonce.hex())
        self.assertEqual([e["verified"] for e in j["evidence"]], [True, True])
        e = j["evidence"][0]
        self.assertEqual((e["driver_version"], e["vbios_version"]), ("590.12", "96.00.A5.00.01"))
        self.assertEqual(e["device"], "GH100 GSP FMC LF")
        self.assertEqual(e["reference"], "unknown")
        self.assertEqual([m["index"] for m in e["measurements"]], [1, 2])
        self.assertEqual(e["opaque"][1]["name"], "driver_version")
        # one that does not hold refuses all
        done = self.expect(REFUSED, "1: refused: gpu.signature",
                           self.put(json.dumps([good, bad]).encode(), "list.json"), *self.pin)
        self.assertIn("0: verified", done.stdout)
        # one device cannot speak for two
        done = self.expect(REFUSED, "1: refused: gpu.twice",
                           self.put(json.dumps([good, good]).encode(), "list.json"), *self.pin)
        self.assertIn("0: verified", done.stdout)
        for wrong in ([], [{}], [{"evidence": 1}], [{"evidence": "!"}], ["x"]):
            self.expect(REFUSED, "cvm.evidence", self.put(json.dumps(wrong).encode(), "w"), *self.pin)
        self.expect(REFUSED, "format.too-large", self.put(json.dumps([good] * 65).encode(), "w"), *self.pin)


class Tdx(Case):
    kind = "tdx"

    @classmethod
    def setUpClass(cls):
        p256 = ec.SECP256R1
        oid = bytes.fromhex("2a864886f84d010d01")

        def der(tag, value):
            n = len(value)
            return bytes([tag]) + (bytes([n]) if n < 128 else b"\x82" + n.to_bytes(2, "big")) + value

        def pair(part, value):
            return der(0x30, der(6, oid + bytes(part)) + value)

        levels = b"".join(pair([2, i], der(2, bytes([1]))) for i in range(1, 18))
        extension = der(0x30, pair([1], der(4, bytes(16)))
                        + pair([2], der(0x30, levels + pair([2, 18], der(4, bytes(16)))))
                        + pair([3], der(4, bytes(2))) + pair([4], der(4, b"fmspc!")))
        cls.root = Authority("Root", curve=p256)
        cls.pck = Authority("PCK", cls.root, False, [("1.2.840.113741.1.13.1", extension)], curve=p256)
        attest = key(p256)

        def sign(k, data):
            return b"".join(n.to_bytes(32, "big") for n in utils.decode_dss_signature(
                k.sign(data, ec.ECDSA(hashes.SHA256()))))

        point = attest.public_key().public_bytes(serialization.Encoding.X962,
                                                 serialization.PublicFormat.UncompressedPoint)[1:]
        signed = struct.pack("<HHIHH", 4, 2, 0x81, 0, 0) + bytes(36) + bytes(520) + b"n" * 64
        # signer and product of Intel's TD QE, the only one that makes TDX quotes
        signer = bytes.fromhex("dc9e2a7c6f948f17474e34a7fc43ed030f7c1563f1babddf6340c82e0e54a8c5")
        qe = bytes(128) + signer + bytes(96) + struct.pack("<H", 2) + bytes(62) + hashlib.sha256(point).digest() + bytes(32)
        chain = cls.pck.pem + cls.root.pem
        inner = (qe + sign(cls.pck.key, qe) + struct.pack("<H", 0)
                 + struct.pack("<HI", 5, len(chain)) + chain)
        data = sign(attest, signed) + point + struct.pack("<HI", 6, len(inner)) + inner
        cls.quote = signed + struct.pack("<I", len(data)) + data

    def test_quote(self):
        pin = ("--test-pin", self.root.pin)
        evidence = self.put(self.quote, "quote")
        self.expect(REFUSED, "chain.root", evidence)
        self.expect(REFUSED, "tdx.nonce", evidence, *pin, "--nonce", "00")
        done = self.expect(REFUSED, "refused: chain.revocation-unknown", evidence, *pin, "--strict")
        self.assertIn("  of: TDX 1.0\n", done.stdout)
        self.put(self.root.crl(), "certs/a/list")
        self.expect(REFUSED, "refused: tdx.qe-unknown", evidence, *pin, "--strict")
        j = self.json(self.put(base64.b64encode(self.quote + bytes(9)), "padded"), *pin, "--nonce", "6e" * 64)
        e = j["evidence"][0]
        self.assertEqual(e["tcb_status"], "unknown")
        self.assertEqual(e["platform"]["fmspc"], b"fmspc!".hex())
        self.assertEqual(e["quote"]["body"], "TDX 1.0")
        self.assertEqual(e["quote"]["td"]["report_data"], "6e" * 64)
        self.assertEqual([n["reason"] for n in e["notes"]], ["tdx.qe-unknown", "tdx.tcb-unknown"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
