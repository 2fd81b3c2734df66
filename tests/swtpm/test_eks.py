#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Endorsement keys, their certificates in NV, and the chain that belongs to them."""

import hashlib
import os
import struct

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from swtpm import for_each_driver, main  # first: sets sys.path
import quote
from identity import CERT, KIND, POLICY_A, BaseIdentity, certificate, same_key


class Eks(BaseIdentity):
    def test_as_swtpm_setup_makes_them(self):
        tpm = self.tpm()
        found = self.eks(tpm)
        self.assertEqual([kind for kind, _, _ in found], ["L-1", "H-3"])
        for _, public, cert in found:
            key = x509.load_der_x509_certificate(cert).public_key()
            self.assertTrue(same_key(public.key, key))
        self.assertEqual(self.digests(tpm),
                         [hashlib.sha256(cert).hexdigest() for _, _, cert in found])
        self.assertEqual(tpm.handles(), 0)

    def test_without_persistent_keys(self):
        """The keys are made from their templates."""
        tpm = self.tpm()
        before = [(k, p.area) for k, p, _ in self.eks(tpm)]
        for handle in ("0x81010001", "0x81010016"):
            tpm.tool("tpm2_evictcontrol", "-C", "o", "-c", handle, check=False)
            tpm.tool("tpm2_evictcontrol", "-C", "p", "-c", handle, check=False)
        self.assertNotIn("0x8101", tpm.tool("tpm2_getcap", "handles-persistent"))
        self.assertEqual([(k, p.area) for k, p, _ in self.eks(tpm)], before)
        self.assertEqual(tpm.handles(), 0)

    def test_foreign_persistent_key(self):
        """A key of the same kind at the EK's place is not taken for the EK."""
        tpm = self.tpm()
        before = [(k, p.area) for k, p, _ in self.eks(tpm)]
        for hierarchy in "op":
            tpm.tool("tpm2_evictcontrol", "-C", hierarchy, "-c", "0x81010001", check=False)
        self.make_ek(tpm, "L-1", b"another nonce", "0x81010001")
        self.assertEqual([(k, p.area) for k, p, _ in self.eks(tpm)], before)

    def test_no_certificate(self):
        tpm = self.tpm(certificates=False)
        found = self.eks(tpm)
        self.assertEqual([(kind, cert) for kind, _, cert in found], [("L-1", None), ("L-2", None)])
        for kind, public, _ in found:
            self.assertTrue(same_key(public.key, self.make_ek(tpm, kind)), kind)
        self.assertEqual(self.digests(tpm), [])
        self.assertEqual(tpm.handles(), 0)

    def test_each_index(self):
        tpm = self.tpm()
        for kind in ("L-2", "H-1", "H-2", "H-4"):
            self.define(tpm, CERT[kind], certificate(self.make_ek(tpm, kind)))
        found = self.eks(tpm)
        self.assertEqual([kind for kind, _, _ in found], ["L-1", "L-2", "H-1", "H-2", "H-3", "H-4"])
        for _, public, cert in found:
            self.assertTrue(same_key(public.key,
                                     x509.load_der_x509_certificate(cert).public_key()))
        self.assertEqual(len(self.digests(tpm)), 6)
        self.assertEqual(tpm.handles(), 0)

    def test_rsa_4096(self):
        """No swtpm has it yet: named and passed over. One that has it is an answer
        of ours."""
        tpm = self.tpm()
        key = rsa.generate_private_key(65537, 4096).public_key()
        cert = certificate(key)
        self.define(tpm, CERT["H-7"], cert)
        done = self.ok(tpm, "eks", self.folder)
        self.assertEqual([e.split()[1] for e in done.all("ek")], ["L-1", "H-3"])
        self.assertIn("EK H-7 passed over", done.err)
        # type, nameAlg, attributes, policy, AES-256-CFB, no scheme, bits, exponent, modulus
        area = (struct.pack(">HHIH", 1, 0xC, 0x300F2, 48) + bytes.fromhex(KIND["H-7"].policy)
                + struct.pack(">HHHHHIH", 6, 256, 0x43, 0x10, 4096, 0, 512)
                + key.public_numbers().n.to_bytes(512, "big"))
        proxy = self.proxy(tpm, f"CreatePrimary:answer={self.other_key(tpm, area).hex()}")
        found = self.eks(proxy)
        self.assertEqual([kind for kind, _, _ in found], ["L-1", "H-3", "H-7"])
        self.assertEqual((found[2][1].area, found[2][2]), (area, cert))
        # it was asked for by the template: this area, but for the modulus
        (_, command), = proxy.messages(">", "CreatePrimary")
        self.assertIn(area[:-514] + b"\0\0", command)

    def other_key(self, tpm, area):
        """The answer to TPM2_CreatePrimary with this public area."""
        proxy = self.proxy(tpm)
        self.ok(proxy, "ak")
        answer = proxy.messages("<", "CreatePrimary")[0][1]
        r = quote.Reader(answer)
        r.take(18)
        old = r.sized()
        rest = answer[18 + 2 + len(old):].replace(
            struct.pack(">HH", 34, 0xB) + hashlib.sha256(old).digest(),
            struct.pack(">HH", 50, 0xC) + hashlib.sha384(area).digest())
        body = struct.pack(">H", len(area)) + area + rest
        # behind the parameters stands the session: 5 bytes
        return (answer[:2] + struct.pack(">I", 18 + len(body)) + answer[6:14]
                + struct.pack(">I", len(body) - 5) + body)

    def test_padding(self):
        tpm = self.tpm()
        cert = self.eks(tpm)[0][2]
        digest = hashlib.sha256(cert).hexdigest()
        for name, content in (("ones", cert + b"\xff" * (1600 - len(cert))),
                              ("zeros", cert + bytes(1600 - len(cert))),
                              ("full", cert + b"\xff" * (2048 - len(cert)))):
            with self.subTest(padding=name):
                self.define(tpm, CERT["L-1"], content)
                self.assertEqual(self.eks(tpm)[0][2], cert)
                self.assertEqual(self.digests(tpm)[0], digest)

    def test_what_is_no_certificate(self):
        """Named in the log, the other EK is still offered; alone it is the reason."""
        tpm = self.tpm()
        cert = self.eks(tpm)[0][2]
        for reason, content in (
                ("ek.padding", cert + b"\xff" * 50 + b"\x00"),
                ("ek.padding", cert + b"junk"),
                ("ek.padding", cert + b"\0\xff"),
                ("ek.format", cert[:-1]),
                ("ek.format", cert[:3]),
                ("ek.format", b"\x30"),
                ("ek.format", b"\x30\x83\x01\x00\x00" + cert),
                ("ek.format", b"\x30\x80" + cert),
                ("ek.format", b"\x31" + cert[1:]),
                ("ek.mismatch", certificate(ec.generate_private_key(ec.SECP256R1())
                                            .public_key()))):
            with self.subTest(reason=reason, size=len(content)):
                self.define(tpm, CERT["L-1"], content)
                done = self.ok(tpm, "eks", self.folder)
                self.assertEqual([e.split()[1] for e in done.all("ek")], ["H-3"])
                self.assertIn(reason, done.err)
                if reason != "ek.mismatch":
                    self.assertEqual(len(self.digests(tpm)), 1)
        tpm.tool("tpm2_nvundefine", "-C", "p", hex(CERT["H-3"]))
        self.refused("ek.mismatch", tpm, "eks", self.folder)
        self.define(tpm, CERT["L-1"], cert + b"junk")
        self.assertEqual(self.refused("ek.padding", tpm, "eks", self.folder).code, 3)
        self.define(tpm, CERT["L-1"], cert[:-1])
        self.assertEqual(self.refused("ek.format", tpm, "eks", self.folder).code, 3)

    def test_empty_indices(self):
        """Defined and never filled: as if it were not there."""
        tpm = self.tpm()
        for content, written in ((b"\xff" * 100, True), (bytes(100), True), (bytes(100), False)):
            with self.subTest(content=content[:1], written=written):
                self.define(tpm, CERT["L-1"], content, written=written)
                self.assertEqual([kind for kind, _, _ in self.eks(tpm)], ["H-3"])
                self.assertEqual(len(self.digests(tpm)), 1)
        tpm.tool("tpm2_nvundefine", "-C", "p", hex(CERT["H-3"]))
        self.assertEqual([kind for kind, _, _ in self.eks(tpm)], ["L-1", "L-2"])

    def test_unreadable_index(self):
        tpm = self.tpm()
        cert = self.eks(tpm)[0][2]
        self.define(tpm, CERT["L-1"], cert,
                    attributes="ppwrite|ppread|no_da|platformcreate")
        self.assertEqual([kind for kind, _, _ in self.eks(tpm)], ["H-3"])
        # by its own empty authorisation only where a wrong one has no price
        self.define(tpm, CERT["L-1"], cert, attributes="ppwrite|authread|platformcreate")
        self.assertEqual([kind for kind, _, _ in self.eks(tpm)], ["H-3"])
        self.define(tpm, CERT["L-1"], cert, attributes="ppwrite|ownerread|platformcreate")
        self.assertEqual([kind for kind, _, _ in self.eks(tpm)], ["L-1", "H-3"])
        tpm.tool("tpm2_changeauth", "-c", "o", "secret")
        self.assertEqual([kind for kind, _, _ in self.eks(tpm)], ["H-3"])

    def test_template_and_nonce_in_nv(self):
        """An EK that is not of the default template."""
        tpm = self.tpm(certificates=False)
        for kind, tool, unique in (("L-1", "rsa", 256), ("L-2", "ecc", 32)):
            with self.subTest(kind=kind):
                plain = self.make_ek(tpm, kind)
                nonce = os.urandom(unique // 2)
                self.define(tpm, CERT[kind] + 1, nonce)
                self.define(tpm, CERT[kind] + 2, self.template(tpm, tool))
                key = self.make_ek(tpm, kind, nonce)
                self.assertFalse(same_key(key, plain))
                self.define(tpm, CERT[kind], certificate(key))
                found = [public for k, public, _ in self.eks(tpm) if k == kind]
                self.assertEqual(len(found), 1)
                self.assertTrue(same_key(found[0].key, key))
                self.activate(tpm, kind)
                # the vendor's certificate decides: here it is of the default one
                self.define(tpm, CERT[kind], certificate(plain))
                found = [public for k, public, _ in self.eks(tpm) if k == kind]
                self.assertTrue(same_key(found[0].key, plain))
                self.activate(tpm, kind)
        self.assertEqual(tpm.handles(), 0)

    def test_template_in_the_high_range(self):
        """There the template stands right behind the certificate, and holds the nonce."""
        tpm = self.tpm(certificates=False)
        nonce = os.urandom(256)
        key = self.make_ek(tpm, "H-1", nonce)
        self.assertFalse(same_key(key, self.make_ek(tpm, "H-1")))
        self.define(tpm, CERT["H-1"], certificate(key))
        self.refused("ek.mismatch", tpm, "eks", self.folder)
        start = struct.pack(">HHIH", 1, 0xB, 0x300F2, 32) + bytes.fromhex(KIND["H-1"].policy)
        start += struct.pack(">HHHHHI", 6, 128, 0x43, 0x10, 2048, 0)
        self.define(tpm, CERT["H-1"] + 1, start + struct.pack(">H", 256) + nonce)
        (kind, public, _), = self.eks(tpm)
        self.assertEqual(kind, "H-1")
        self.assertTrue(same_key(public.key, key))
        self.activate(tpm, "H-1")
        # what is no template does not hide the default one
        for junk in (b"junk", start[:-1], start + struct.pack(">H", 256) + nonce + b"\0"):
            self.define(tpm, CERT["H-1"] + 1, junk)
            self.define(tpm, CERT["H-1"], certificate(self.make_ek(tpm, "H-1")))
            self.assertEqual([kind for kind, _, _ in self.eks(tpm)], ["H-1"])
        self.assertEqual(tpm.handles(), 0)

    def template(self, tpm, tool):
        """The default template, as TPMT_PUBLIC."""
        start = struct.pack(">HHI", {"rsa": 1, "ecc": 0x23}[tool], 0x000B, 0x000300B2)
        start += (struct.pack(">H", 32) + bytes.fromhex(POLICY_A)
                  + struct.pack(">HHHH", 6, 128, 0x43, 0x10))
        if tool == "rsa":
            return start + struct.pack(">HIH", 2048, 0, 256) + bytes(256)
        return start + struct.pack(">HH", 3, 0x10) + (struct.pack(">H", 32) + bytes(32)) * 2

    def activate(self, tpm, kind):
        """The credential for this EK comes back."""
        self.tools = tpm
        name = self.ok(tpm, "ak").one("name")
        kinds = self.eks(tpm)
        number = [k for k, _, _ in kinds].index(kind)
        secret = os.urandom(32)
        self.make_credential(kinds[number][1], name, secret)
        done = self.ok(tpm, "activate", number, self.path("id"), self.path("sealed"))
        self.assertEqual(done.one("secret"), secret.hex())

    def test_chain(self):
        tpm = self.tpm()
        self.assertEqual((self.ok(tpm, "eks", self.folder), self.content("chain"))[1], b"")
        pieces = [os.urandom(900), os.urandom(1500), os.urandom(3)]
        for index, piece in zip((0x01C00100, 0x01C00101, 0x01C001FF), pieces):
            self.define(tpm, index, piece)
        self.define(tpm, 0x01C00200, b"not one of them")
        self.ok(tpm, "eks", self.folder)
        self.assertEqual(self.content("chain"), b"".join(pieces))

    def claimed(self, index, size):
        """A rule: this index says that it has that many bytes."""
        area = struct.pack(">IHIHH", index, 0xB, 0x62070001, 0, size)
        name = struct.pack(">H", 0xB) + hashlib.sha256(area).digest()
        body = struct.pack(">H", len(area)) + area + struct.pack(">H", len(name)) + name
        answer = struct.pack(">HII", 0x8001, 10 + len(body), 0) + body
        return f"NV_ReadPublic/{index:08x}#1+*:answer={answer.hex()}"

    def test_too_large(self):
        """Nothing is read that has no room: the rest is as it was."""
        tpm = self.tpm()
        first = os.urandom(900)
        self.define(tpm, 0x01C00100, first)
        self.define(tpm, 0x01C00101, os.urandom(900))
        proxy = self.proxy(tpm, self.claimed(CERT["L-1"], 8193), self.claimed(0x01C00101, 32768 - 899))
        done = self.ok(proxy, "eks", self.folder)
        self.assertEqual([e.split()[1] for e in done.all("ek")], ["H-3"])
        self.assertEqual(self.content("chain"), first)
        self.assertIn("format.too-large: certificate of EK L-1 in NV 0x01c00002 passed over", done.err)
        self.assertIn("NV 0x01c00101 left out", done.err)
        self.assertEqual(len(self.digests(proxy)), 1)
        for _, command in proxy.messages(">", "NV_Read"):
            self.assertNotIn(struct.pack(">I", CERT["L-1"]), command)
        # one byte less has room, and the TPM does not have that many
        proxy = self.proxy(tpm, self.claimed(CERT["L-1"], 8192))
        self.assertEqual([e.split()[1] for e in self.ok(proxy, "eks", self.folder).all("ek")], ["H-3"])
        self.assertTrue([c for _, c in proxy.messages(">", "NV_Read")
                         if struct.pack(">I", CERT["L-1"]) in c])

    def test_chunks(self):
        """Never more than TPM_PT_NV_BUFFER_MAX at once."""
        tpm = self.tpm()
        # a TPM with small buffers: value of the one property in the answer
        proxy = self.proxy(tpm, "GetCapability/0000012c#1+*:patch=23:00000064")
        self.assertEqual(self.digests(proxy), self.digests(tpm))
        self.assertGreater(len(proxy.messages(">", "NV_Read")), 15)
        for name, command in proxy.messages(">", "NV_Read"):
            self.assertLessEqual(struct.unpack(">H", command[-4:-2])[0], 100, name)


for_each_driver(globals())

if __name__ == "__main__":
    main()
