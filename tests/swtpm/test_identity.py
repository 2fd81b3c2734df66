#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Identity: the fleet's AK, opening credentials, and what must not be open on
the way."""

import hashlib
import os
import struct

from cryptography import x509

from swtpm import for_each_driver, main  # first: sets sys.path
import quote
from identity import CERT, BaseIdentity, certificate, same_key

AK_ATTRIBUTES = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|sign"


class Ak(BaseIdentity):
    def test_same_at_every_boot(self):
        tpm = self.tpm()
        names = {self.ok(tpm, "ak").one("name") for _ in range(2)}
        tpm.restart()
        names.add(self.ok(tpm, "ak", self.folder).one("name"))
        tpm.tool("tpm2_clear", "-c", "p")
        names.add(self.ok(tpm, "ak").one("name"))
        self.assertEqual(len(names), 1)
        self.assertEqual(quote.Public(self.content("ak.tpmt")).name.hex(), names.pop())
        # another endorsement seed is another TPM
        old = self.ok(tpm, "ak").one("name")
        tpm.tool("tpm2_changeeps")
        self.assertNotEqual(self.ok(tpm, "ak").one("name"), old)

    def test_template(self):
        """The key that tpm2-tools make from the template as design says it."""
        tpm = self.tpm(certificates=False)
        self.ok(tpm, "ak", self.folder)
        public = quote.Public(self.content("ak.tpmt"))
        self.assertEqual(public.attributes, 0x00050472)
        self.assertEqual((public.scheme, public.scheme_hash), (quote.ECDSA, 0x000B))
        with open(os.path.join(tpm.folder, "unique"), "wb") as f:
            f.write((struct.pack("<H", 32) + bytes(128)) * 2)  # two TPM2B_ECC_PARAMETER
        tpm.tool("tpm2_createprimary", "-C", "e", "-g", "sha256", "-G",
                 "ecc256:ecdsa-sha256:null", "-a", AK_ATTRIBUTES, "-u", "unique", "-c", "ak.ctx")
        theirs = tpm.tool("tpm2_readpublic", "-c", "ak.ctx")
        self.assertIn(public.name.hex(), theirs)

    def test_endorsement_authorisation(self):
        tpm = self.tpm(certificates=False)
        tpm.tool("tpm2_changeauth", "-c", "e", "secret")
        self.assertEqual(self.refused("tpm.endorsement-auth", tpm, "ak").code, 1)
        tpm.tool("tpm2_changeauth", "-c", "e", "-p", "secret")
        self.ok(tpm, "ak")

    def test_endorsement_off(self):
        tpm = self.tpm(certificates=False)
        tpm.tool("tpm2_hierarchycontrol", "-C", "p", "ehEnable", "clear")
        self.assertEqual(self.refused("tpm.endorsement-off", tpm, "ak").code, 1)

    def test_curve_missing(self):
        tpm = self.tpm(certificates=False)
        proxy = self.proxy(tpm, "CreatePrimary:rc=0x2e6")
        self.assertEqual(self.refused("tpm.ak-template", proxy, "ak").code, 1)

    def test_changed_on_the_way(self):
        """Another attribute, another point: the TPM's own name tells."""
        tpm = self.tpm(certificates=False)
        # header 10, handle 4, parameter size 4, TPM2B size 2, type 2, name 2
        for patch in ("24:00050472", "24:00070472", "60:ff"):
            proxy = self.proxy(tpm, f"CreatePrimary:patch={patch}")
            done = self.run_driver(proxy, "ak")
            if patch == "24:00050472":
                self.assertEqual(done.code, 0)  # nothing changed: the offset is right
            else:
                self.assertIn(done.reason, ("tpm.ak-template", "tpm.io"))
        self.assertEqual(tpm.handles(), 0)

    def test_other_key_with_its_right_name(self):
        """A TPM that makes another key than it was asked for."""
        tpm = self.tpm(certificates=False)
        proxy = self.proxy(tpm)
        self.ok(proxy, "ak")
        answer = proxy.messages("<", "CreatePrimary")[0][1]
        r = quote.Reader(answer)
        r.take(18)
        at = r.at + 2
        area = r.sized()
        for data, new in ((area, area),  # nothing changed: then it is taken
                          (area, area.replace(bytes.fromhex("00050472"), bytes.fromhex("00050072"))),
                          (area, area.replace(bytes.fromhex("00050472"), bytes.fromhex("00040472")))):
            name = b"\0\x0b" + hashlib.sha256(data).digest()
            changed = answer[:at] + new + answer[at + len(area):]
            changed = changed.replace(name, b"\0\x0b" + hashlib.sha256(new).digest())
            self.assertEqual(len(changed), len(answer))
            proxy = self.proxy(tpm, f"CreatePrimary:answer={changed.hex()}")
            if new == area:
                self.ok(proxy, "ak")
            else:
                self.refused("tpm.ak-template", proxy, "ak")

    def test_platform_hierarchy(self):
        tpm = self.tpm(certificates=False)
        self.assertEqual(self.ok(tpm, "platform").one("was_open"), "1")
        self.assertEqual(self.ok(tpm, "platform").one("was_open"), "0")
        with self.assertRaises(RuntimeError):
            tpm.tool("tpm2_nvdefine", "-C", "p", "-s", "8", "-a", "ppwrite|platformcreate|ppread")
        tpm.restart()
        tpm.tool("tpm2_changeauth", "-c", "p", "secret")
        self.assertEqual(self.ok(tpm, "platform").one("was_open"), "0")


class Activate(BaseIdentity):
    def setUp(self):
        super().setUp()
        self.vtpm = self.tools = self.tpm()
        for kind in ("L-2", "H-1", "H-2", "H-4"):
            self.define(self.vtpm, CERT[kind], certificate(self.make_ek(self.vtpm, kind)))
        self.name = self.ok(self.vtpm, "ak").one("name")
        self.found = self.eks(self.vtpm)
        self.secret = os.urandom(32)

    def activate(self, where, number, id_object="id", sealed="sealed"):
        return self.run_driver(where, "activate", number, self.path(id_object),
                               self.path(sealed))

    def test_each_kind(self):
        """And a tap on the wire never sees the secret."""
        for number, (kind, public, _) in enumerate(self.found):
            with self.subTest(kind=kind):
                self.make_credential(public, self.name, self.secret)
                proxy = self.proxy(self.vtpm)
                done = self.activate(proxy, number)
                self.assertEqual(done.code, 0, done.err)
                self.assertEqual(done.one("secret"), self.secret.hex())
                # (swtpm answers the first one with RETRY: it tests OAEP then)
                self.assertGreaterEqual(len(proxy.messages("<", "ActivateCredential")), 1)
                for mark in "<>":
                    for _, data in proxy.messages(mark):
                        self.assertNotIn(self.secret, data)
                self.check_salted(proxy)
                self.assertEqual(self.vtpm.handles(), 0)

    def check_salted(self, proxy):
        """The session that encrypts has a salt which only the TPM can open."""
        salted = set()
        for (_, command), (_, answer) in zip(proxy.messages(">", "StartAuthSession"),
                                             proxy.messages("<", "StartAuthSession")):
            key, _, nonce = struct.unpack(">IIH", command[10:20])
            size = struct.unpack(">H", command[20 + nonce:22 + nonce])[0]
            if key != 0x40000007 and size >= 64:
                salted.add(answer[10:14])
        command = proxy.messages(">", "ActivateCredential")[-1][1]
        session, nonce = command[22:26], struct.unpack(">H", command[26:28])[0]
        self.assertIn(session, salted)
        self.assertEqual(command[28 + nonce] & 0x60, 0x60)  # decrypt, encrypt

    def test_rsa_3072(self):
        """The other size that swtpm_setup makes, at the index of H-6."""
        self.vtpm = self.tpm(rsa=3072)
        found = self.eks(self.vtpm)
        self.assertEqual([kind for kind, _, _ in found], ["H-3", "H-6"])
        name = self.ok(self.vtpm, "ak").one("name")
        for number, (kind, public, cert) in enumerate(found):
            with self.subTest(kind=kind):
                self.assertTrue(same_key(public.key,
                                         x509.load_der_x509_certificate(cert).public_key()))
                self.make_credential(public, name, self.secret)
                done = self.activate(self.vtpm, number)
                self.assertEqual(done.code, 0, done.err)
                self.assertEqual(done.one("secret"), self.secret.hex())
        self.assertEqual(self.vtpm.handles(), 0)

    def test_for_another_ak(self):
        name = "000b" + os.urandom(32).hex()
        self.make_credential(self.found[0][1], name, self.secret)
        done = self.activate(self.vtpm, 0)
        self.assertEqual(done.reason, "tpm.activate")
        self.assertEqual(done.code, 3)
        self.assertIn("EK L-1, response code 0x1df", done.err)
        self.assertEqual(self.vtpm.handles(), 0)

    def test_for_another_ek(self):
        for made_for, opened_with in ((0, 1), (1, 0), (1, 3), (2, 0), (4, 3)):
            with self.subTest(made_for=made_for, opened_with=opened_with):
                self.make_credential(self.found[made_for][1], self.name, self.secret)
                done = self.activate(self.vtpm, opened_with)
                self.assertEqual(done.reason, "tpm.activate", done.err)
        self.assertEqual(self.vtpm.handles(), 0)

    def test_mixed_up(self):
        """Halves of two credentials; bytes behind; nothing at all."""
        self.make_credential(self.found[0][1], self.name, self.secret)
        os.rename(self.path("id"), self.path("id.old"))
        self.make_credential(self.found[0][1], self.name, self.secret)
        self.assertEqual(self.activate(self.vtpm, 0, "id.old").reason, "tpm.activate")
        for name, data in (("long", self.content("id") + b"\0"), ("short", b"\0"),
                           ("cut", self.content("id")[:-1])):
            with open(self.path(name), "wb") as f:
                f.write(data)
            self.assertEqual(self.activate(self.vtpm, 0, name).reason, "tpm.activate")
            self.assertEqual(self.activate(self.vtpm, 0, "id", name).reason, "tpm.activate")

    def test_endorsement_authorisation(self):
        self.make_credential(self.found[0][1], self.name, self.secret)
        proxy = self.proxy(self.vtpm, "PolicySecret:rc=0x9a2")
        done = self.activate(proxy, 0)
        self.assertEqual(done.reason, "tpm.endorsement-auth")
        self.assertEqual(self.vtpm.handles(), 0)

    def test_refusal_at_each_command(self):
        self.make_credential(self.found[1][1], self.name, self.secret)
        proxy = self.proxy(self.vtpm)
        self.assertEqual(self.activate(proxy, 1).code, 0)
        commands = [name for name, _ in proxy.messages()]
        # from the last key of the list of EKs on
        first = len(commands) - 25
        self.assertIn("CreatePrimary", commands[first:])
        for n in range(first, len(commands) + 1):
            proxy = self.proxy(self.vtpm, f"*#{n}:rc=0x12f")
            self.activate(proxy, 1)
            self.assertLessEqual(self.vtpm.handles(),
                                 # a flush that was refused cannot have worked
                                 int(any(name == "FlushContext"
                                         for name, _ in proxy.messages("!"))))


for_each_driver(globals())

if __name__ == "__main__":
    main()
