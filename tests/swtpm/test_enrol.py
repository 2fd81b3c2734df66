#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Enrolment with a TPM: what src/appraise/ek.c makes for each kind of EK is
opened by the TPM it was made for, and by no other."""

import hashlib
import hmac
import os
import shutil
import struct
import subprocess
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
try:
    from cryptography.hazmat.decrepit.ciphers.modes import CFB
except ImportError:
    from cryptography.hazmat.primitives.ciphers.modes import CFB

from swtpm import BUILD, Done, main  # first: sets sys.path
import quote
from identity import CERT, KIND, BaseIdentity, certificate

NONCE, NEW = "11" * 32, "22" * 32
# it keeps the files that it read until its end
NO_LEAKS = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
ENROLLER = os.path.join(BUILD, "test", "enroller")


def proof(secret):
    return hashlib.sha256(b"bootgate-enrol-v1" + secret + bytes.fromhex(NEW)).hexdigest()


def opened(key, folder, ak_name):
    """TPM2_ActivateCredential with an RSA key whose name is made with SHA-384."""
    parts = []
    for name in ("0.id", "0.sealed"):
        with open(os.path.join(folder, name), "rb") as f:
            parts.append(quote.Reader(f.read()).sized())
    seed = key.decrypt(parts[1], padding.OAEP(padding.MGF1(hashes.SHA384()), hashes.SHA384(),
                                              b"IDENTITY\0"))

    def kdfa(label, context, bits):
        block = struct.pack(">I", 1) + label + b"\0" + context + struct.pack(">I", bits)
        return hmac.new(seed, block, hashlib.sha384).digest()[:bits // 8]

    r = quote.Reader(parts[0])
    mac, identity = r.sized(), parts[0][r.at:]
    want = hmac.new(kdfa(b"INTEGRITY", b"", 384), identity + ak_name, hashlib.sha384).digest()
    if mac != want:
        raise AssertionError("the integrity of the credential does not hold")
    key = kdfa(b"STORAGE", ak_name, 256)
    return quote.Reader(Cipher(algorithms.AES(key), CFB(bytes(16))).decryptor().update(identity)).sized()


class Enrol(BaseIdentity):
    driver = "tpm-driver"

    def collect(self, tpm, folder):
        """What the gate sends: EKs, AK, and the proof of the list of banks."""
        os.makedirs(folder, exist_ok=True)
        self.ok(tpm, "eks", folder)
        self.ok(tpm, "proof", NONCE, folder)
        with open(os.path.join(folder, "ak.tpmt"), "rb") as f:
            return quote.Public(f.read()).name.hex()

    def enroller(self, folder, name, *cas, nonce=NONCE):
        done = subprocess.run([ENROLLER, folder, nonce, NEW, name, *cas], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, env=NO_LEAKS)
        return Done(done)

    def results(self, folder, name, *cas):
        done = self.enroller(folder, name, *cas)
        self.assertEqual(done.code, 0, done.err)
        return [dict(word.split("=") for word in line.split()[1:]) for line in done.all("ek")]

    def cas(self, tpm):
        found = []
        for top, _, files in os.walk(tpm.state):
            found += [os.path.join(top, f) for f in files if f.endswith("cert.pem")]
        self.assertTrue(found)
        return sorted(found)

    def activate(self, tpm, number, folder, source=None):
        source = source or folder
        return self.run_driver(tpm, "activate", number, os.path.join(source, f"{number}.id"),
                               os.path.join(source, f"{number}.sealed"))

    def test_every_ek_opens_its_credential(self):
        for size in (2048, 3072):
            self.check_every_ek(self.tpm(rsa=size), self.path(str(size)))

    def test_p521(self):
        """The largest curve: every second coordinate begins with a zero byte."""
        tpm = self.tpm()
        self.define(tpm, CERT["H-4"], certificate(self.make_ek(tpm, "H-4")))
        for i in range(4):
            self.check_every_ek(tpm, self.path(str(i)))

    def test_rsa_4096(self):
        """No swtpm has it yet: the credential is opened here."""
        tpm, folder = self.tpm(certificates=False), self.path("one")
        name = self.collect(tpm, folder)
        key = rsa.generate_private_key(65537, 4096)
        area = (struct.pack(">HHIH", 1, 0xC, 0x300F2, 48) + bytes.fromhex(KIND["H-7"].policy)
                + struct.pack(">HHHHHIH", 6, 256, 0x43, 0x10, 4096, 0, 512)
                + key.public_key().public_numbers().n.to_bytes(512, "big"))
        with open(os.path.join(folder, "0.pub"), "wb") as f:
            f.write(area)
        result = self.results(folder, name)[0]
        self.assertEqual(result["name"], "000c" + hashlib.sha384(area).hexdigest())
        self.assertEqual(result["proof"], proof(opened(key, folder, bytes.fromhex(name))))

    def check_every_ek(self, tpm, folder):
        name = self.collect(tpm, folder)
        results = self.results(folder, name, *self.cas(tpm))
        self.assertGreaterEqual(len(results), 2)
        kinds = set()
        for number, result in enumerate(results):
            with open(os.path.join(folder, f"{number}.pub"), "rb") as f:
                ek = quote.Public(f.read())
            kinds.add(type(ek.key).__name__)
            self.assertEqual(result["name"], ek.name.hex())
            spki = ek.key.public_bytes(serialization.Encoding.DER,
                                       serialization.PublicFormat.SubjectPublicKeyInfo)
            self.assertEqual(result["spki"], hashlib.sha256(spki).hexdigest())
            done = self.activate(tpm, number, folder)
            self.assertEqual(done.code, 0, done.err)
            self.assertEqual(result["proof"], proof(bytes.fromhex(done.one("secret"))))
        self.assertEqual(len(kinds), 2, "RSA and ECC")
        self.assertEqual(tpm.handles(), 0)

    def test_certificates_lead_to_the_ca(self):
        tpm = self.tpm()
        folder = self.path("one")
        name = self.collect(tpm, folder)
        with_ca = self.results(folder, name, *self.cas(tpm))
        without = self.results(folder, name)
        certified = [r for r in with_ca if r["certificate"] == "1"]
        self.assertTrue(certified)
        for r in certified:
            self.assertEqual((r["trust"], r["reason"]), ("1", "ok"))
        for r in without:
            self.assertEqual((r["trust"], r["reason"]), ("0", "ek.untrusted"))

    def test_chain_in_nv(self):
        """The CA between certificate and root stands in NV, over two indices."""
        tpm = self.tpm()
        root = [c for c in self.cas(tpm) if "rootca" in c]
        between = [c for c in self.cas(tpm) if "rootca" not in c]
        self.assertEqual((len(root), len(between)), (1, 1))
        with open(between[0], "rb") as f:
            ca = x509.load_pem_x509_certificate(f.read()).public_bytes(serialization.Encoding.DER)
        other = certificate(self.make_ek(tpm, "L-1"))

        def trust(*pieces):
            for at in range(3):
                tpm.tool("tpm2_nvundefine", "-C", "p", hex(0x01C00100 + at), check=False)
            for at, piece in enumerate(pieces):
                self.define(tpm, 0x01C00100 + at, piece)
            folder = tempfile.mkdtemp(dir=self.folder)
            results = self.results(folder, self.collect(tpm, folder), *root)
            return {(r["trust"], r["reason"]) for r in results if r["certificate"] == "1"}

        good, bad = {("1", "ok")}, {("0", "ek.untrusted")}
        self.assertEqual(trust(), bad)
        self.assertEqual(trust(ca), good)
        for at in (1, 3, 100, len(ca) - 1):  # one certificate crosses the border
            self.assertEqual(trust(ca[:at], ca[at:]), good, at)
        self.assertEqual(trust(other, ca), good)
        self.assertEqual(trust(ca + other), good)
        self.assertEqual(trust(other[:400], other[400:] + ca[:200], ca[200:]), good)
        # the middle is missing; the pieces are in the wrong order
        self.assertEqual(trust(other), bad)
        self.assertEqual(trust(ca[500:], ca[:500]), bad)

    def test_certificate_of_another_tpm(self):
        """T1: a true certificate, beside a key of another TPM."""
        one, two = self.tpm(), self.tpm(fresh=True)
        first, second = self.path("one"), self.path("two")
        self.collect(one, first)
        name = self.collect(two, second)
        moved = 0
        for number in range(16):
            cert = os.path.join(first, f"{number}.crt")
            if os.path.exists(cert) and os.path.exists(os.path.join(second, f"{number}.crt")):
                shutil.copy(cert, second)
                moved += 1
        self.assertTrue(moved)
        wrong = [r for r in self.results(second, name, *self.cas(one), *self.cas(two))
                 if r["reason"] == "ek.mismatch"]
        self.assertEqual(len(wrong), moved)
        for r in wrong:
            self.assertEqual((r["trust"], r["certificate"]), ("0", "0"))

    def test_credential_of_another_tpm(self):
        one, two = self.tpm(), self.tpm(fresh=True)
        first, second = self.path("one"), self.path("two")
        self.results(first, self.collect(one, first))
        self.results(second, self.collect(two, second))
        done = self.activate(two, 0, second, source=first)
        self.assertEqual(done.reason, "tpm.activate")

    def test_credential_for_another_ak(self):
        """EKs of one TPM, AK of another: a secret that nobody can open."""
        one, two = self.tpm(), self.tpm(fresh=True)
        first, second = self.path("one"), self.path("two")
        self.collect(one, first)
        name = self.collect(two, second)
        for number in range(16):
            for kind in ("pub", "crt"):
                file = os.path.join(first, f"{number}.{kind}")
                target = os.path.join(second, f"{number}.{kind}")
                if os.path.exists(file):
                    shutil.copy(file, target)
                elif os.path.exists(target):
                    os.unlink(target)
        results = self.results(second, name, *self.cas(one))
        self.assertTrue(results)
        for number in range(len(results)):
            for tpm in (one, two):
                self.assertEqual(self.activate(tpm, number, second).reason, "tpm.activate")

    def test_spoiled_credential(self):
        tpm = self.tpm()
        folder = self.path("one")
        self.results(folder, self.collect(tpm, folder))
        for file in ("0.id", "0.sealed"):
            path = os.path.join(folder, file)
            with open(path, "rb") as f:
                good = f.read()
            for at in (2, 20, len(good) - 1):
                with open(path, "wb") as f:
                    f.write(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
                self.assertNotEqual(self.activate(tpm, 0, folder).code, 0, (file, at))
            with open(path, "wb") as f:
                f.write(good)
        self.assertEqual(self.activate(tpm, 0, folder).code, 0)

    def test_banks_are_the_tpms_word(self):
        tpm = self.tpm(banks="sha256")
        folder = self.path("one")
        name = self.collect(tpm, folder)
        done = self.enroller(folder, name)
        self.assertEqual(done.one("banks").split(), ["0004", "000b", "000c", "000d"])
        self.assertEqual(self.enroller(folder, name, nonce="33" * 32).reason, "enrol.banks")
        self.assertEqual(self.enroller(folder, "00" + name[2:-2] + "00").reason, "node.ak")
        path = os.path.join(folder, "capability")
        with open(path, "rb") as f:
            data = f.read()
        with open(path, "wb") as f:
            f.write(data[:-1] + bytes([data[-1] ^ 1]))
        self.assertEqual(self.enroller(folder, name).reason, "enrol.banks")


if __name__ == "__main__":
    main()
