#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""ek_show.py [BOOTGATECTL]: ek show, ca-list, ca-check and ca-add on files that
python3-cryptography made. The last line is `N passed, N failed`."""

import datetime
import json
import os
import subprocess
import sys
import tempfile
import unittest

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/bin/bootgatectl")
DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)


def oid(text):
    return x509.ObjectIdentifier(text)


def name(text):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)] if text else [])


def usage(**on):
    keys = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
            "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
    return x509.KeyUsage(**{k: on.get(k, False) for k in keys})


class Made:
    def __init__(self, subject, by=None, ca=True, days=30, tpm=("49465800", "SLB 9670", "0007003D")):
        self.key = ec.generate_private_key(ec.SECP256R1())
        b = (x509.CertificateBuilder().subject_name(name(subject))
             .issuer_name(by.certificate.subject if by else name(subject))
             .public_key(self.key.public_key()).serial_number(x509.random_serial_number())
             .not_valid_before(NOW - 20 * DAY).not_valid_after(NOW + days * DAY)
             .add_extension(x509.BasicConstraints(ca, None), True)
             .add_extension(usage(key_cert_sign=True, crl_sign=True) if ca
                            else usage(key_agreement=True), True))
        if not ca:
            san = x509.Name([x509.NameAttribute(oid("2.23.133.2.1"), "id:" + tpm[0]),
                             x509.NameAttribute(oid("2.23.133.2.2"), tpm[1]),
                             x509.NameAttribute(oid("2.23.133.2.3"), "id:" + tpm[2])])
            b = (b.add_extension(x509.ExtendedKeyUsage([oid("2.23.133.8.1")]), False)
                 .add_extension(x509.SubjectAlternativeName([x509.DirectoryName(san)]), True))
        self.certificate = b.sign((by or self).key, hashes.SHA256())

    def der(self):
        return self.certificate.public_bytes(serialization.Encoding.DER)

    def pem(self):
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def revocation(by, revoked):
    one = (x509.RevokedCertificateBuilder().serial_number(revoked.certificate.serial_number)
           .revocation_date(NOW - DAY).build())
    return (x509.CertificateRevocationListBuilder().issuer_name(by.certificate.subject)
            .last_update(NOW - DAY).next_update(NOW + DAY).add_revoked_certificate(one)
            .sign(by.key, hashes.SHA256()).public_bytes(serialization.Encoding.DER))


class Ek(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Made("Root")
        self.middle = Made("Middle", self.root)
        self.ek = Made("", self.middle, ca=False)
        self.put("ca/deep/er/root.bin", self.root.der())
        self.put("ca/README", b"no certificate\n")
        self.put("ek.der", self.ek.der())
        self.put("middle.pem", self.middle.pem())

    def at(self, path):
        return os.path.join(self.folder.name, path)

    def put(self, path, content):
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        with open(self.at(path), "wb") as f:
            f.write(content)
        return self.at(path)

    def run_ek(self, status, *argv):
        done = subprocess.run([PROGRAM, "ek", *argv], capture_output=True, text=True, check=False,
                              timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def show(self, status, *argv):
        return json.loads(self.run_ek(status, "show", "--json", *argv))

    def test_show(self):
        ek, ca = self.at("ek.der"), self.at("ca")
        a = self.show(3, ek, "--ca", ca)
        self.assertEqual(a["reason"], "ek.untrusted")
        self.assertEqual([l["holds"] for l in a["path"]], [False])
        chain = self.put("chain", self.middle.der())
        a = self.show(0, ek, "--ca", ca, "--chain", chain)
        self.assertTrue(a["trusted"])
        self.assertEqual([l["from"] for l in a["path"]], ["given", "chain", "folder"])
        self.assertEqual(a["folder_files"], 2)
        self.assertEqual(a["folder_unusable"], 1)
        leaf = a["path"][0]
        self.assertEqual((leaf["vendor"], leaf["model"], leaf["version"]),
                         ("Infineon", "SLB 9670", "id:0007003D"))
        # what the factory put in says nothing of today
        self.assertIn("ROCA", a["known_bad_firmware"])
        text = self.run_ek(0, "show", ek, "--ca", ca, "--chain", chain)
        for words in ("Infineon (IFX) SLB 9670, firmware 7.61", "note: not checked for revocation",
                      "CN=Root (folder): holds", "CVE-2017-15361", "1 files unusable"):
            self.assertIn(words, text)
        self.assertTrue(text.endswith("\ntrusted\n"))

    def test_show_without_folder(self):
        text = self.run_ek(3, "show", self.at("ek.der"))
        self.assertIn("not trusted: ek.untrusted: no CA folder", text)
        self.assertIn("key        ECC prime256v1", text)

    def test_show_files(self):
        ca = self.at("ca")
        self.put("ca/middle", self.middle.pem())
        for content in (self.ek.pem(), self.ek.der() + 500 * b"\xff", self.ek.der() + b"\0"):
            self.assertTrue(self.show(0, self.put("x", content), "--ca", ca)["trusted"])
        self.assertIn("ek.padding", self.run_ek(1, "show", self.put("x", self.ek.der() + b"x")))
        self.assertIn("ek.format", self.run_ek(1, "show", self.put("x", b"text")))
        self.run_ek(1, "show", self.at("nothing"))
        self.run_ek(1, "show", self.at("ek.der"), "--ca", self.at("nothing"))
        self.run_ek(2, "show")
        self.run_ek(2, "show", self.at("ek.der"), "--no-such")

    def test_revoked(self):
        self.put("ca/middle", self.middle.pem())
        self.put("ca/list.any", revocation(self.middle, self.ek))
        text = self.run_ek(3, "show", self.at("ek.der"), "--ca", self.at("ca"))
        self.assertIn("not trusted: ek.revoked: EK certificate: its issuer has revoked it", text)

    def test_ca_check(self):
        text = self.run_ek(3, "ca-check", self.at("ca"))
        self.assertIn("unusable " + self.at("ca/README"), text)
        os.unlink(self.at("ca/README"))
        self.run_ek(0, "ca-check", self.at("ca"))
        # without the one above it
        self.put("ca/lower.pem", Made("Lower", self.middle).pem())
        text = self.run_ek(3, "ca-check", self.at("ca"))
        self.assertIn("FAILS: ek.untrusted: no certificate of its issuer", text)
        self.put("ca/middle", self.middle.pem())
        self.run_ek(0, "ca-check", self.at("ca"))
        # an EK certificate is no CA
        self.put("ca/ek", self.ek.der())
        self.assertIn("not a CA's", self.run_ek(3, "ca-check", self.at("ca")))

    def test_ca_list(self):
        self.put("ca/again", self.root.pem())
        self.put("ca/old", Made("Old", self.root, days=-1).pem())
        self.put("ca/list", revocation(self.root, self.middle))
        a = json.loads(self.run_ek(0, "ca-list", self.at("ca"), "--json"))
        by = {os.path.relpath(c["file"], self.at("ca")): c for c in a["certificates"]}
        self.assertEqual(by["old"]["kind"], "between")
        self.assertTrue(by["old"]["expired"])
        self.assertEqual(by["old"]["reason"], "ok")
        self.assertEqual(by["deep/er/root.bin"]["kind"], "root")
        self.assertEqual(by["deep/er/root.bin"]["same_as"], self.at("ca/again"))
        self.assertEqual(a["revocation_lists"], 1)
        self.assertEqual(a["unusable"], [self.at("ca/README")])
        text = self.run_ek(0, "ca-list", self.at("ca"))
        self.assertIn("3 certificates (1 twice, 1 expired), 1 revocation lists, 1 files unusable",
                      text)

    def test_ca_add(self):
        add = (self.at("middle.pem"), self.at("ca"))
        self.run_ek(2, "ca-add", *add)
        self.run_ek(2, "ca-add", *add, "--from", "a\nb")
        before = os.listdir(self.at("ca"))
        self.assertIn("would add", self.run_ek(0, "ca-add", *add, "--from", "x", "--dry-run"))
        self.assertEqual(os.listdir(self.at("ca")), before)
        self.run_ek(0, "ca-add", *add, "--from", "vendor's page")
        self.assertTrue(self.show(0, self.at("ek.der"), "--ca", self.at("ca"))["trusted"])
        added = [f for f in os.listdir(self.at("ca")) if f not in before]
        with open(self.at("ca/" + added[0]), encoding="ascii") as f:
            text = f.read()
        for words in ("subject: CN=Middle\n", "from: vendor's page\n", "added: 20",
                      "sha256: " + self.middle.certificate.fingerprint(hashes.SHA256()).hex()):
            self.assertIn(words, text)
        self.assertIn("there already", self.run_ek(0, "ca-add", *add, "--from", "x"))
        # nothing that would be no use there
        other = self.put("other", Made("Lower", Made("Elsewhere")).pem())
        self.assertIn("no certificate of its issuer",
                      self.run_ek(3, "ca-add", other, self.at("ca"), "--from", "x"))
        self.assertIn("not a CA's",
                      self.run_ek(3, "ca-add", self.at("ek.der"), self.at("ca"), "--from", "x"))
        self.run_ek(1, "ca-add", self.at("ca/README"), self.at("ca"), "--from", "x")
        self.assertEqual(len(os.listdir(self.at("ca"))), len(before) + 1)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
