#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Identity: the fleet's AK, endorsement keys and their certificates in NV,
opening credentials, and what must not be open on the way."""

import datetime
import hashlib
import os
import struct

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from swtpm import Case, for_each_driver, main  # first: sets sys.path
import quote

CERT = {"L-1": 0x01C00002, "L-2": 0x01C0000A, "H-1": 0x01C00012, "H-2": 0x01C00014,
        "H-3": 0x01C00016}
LOW = "fixedtpm|fixedparent|sensitivedataorigin|adminwithpolicy|restricted|decrypt"
HIGH = LOW + "|userwithauth"
POLICY_A = "837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa"
POLICY_B = "ca3d0a99a2b93906f7a3342414efcfb3a385d44cd1fd459089d19b5071c0b7a0"
POLICY = {"L-1": POLICY_A, "L-2": POLICY_A, "H-1": POLICY_B, "H-2": POLICY_B}
AK_ATTRIBUTES = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|sign"


def certificate(key, bits=256):
    """A certificate of this public key, by a CA made for it."""
    ca = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime(2024, 1, 1)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test EK CA")])
    made = (x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(name)
            .public_key(key).serial_number(bits).not_valid_before(now)
            .not_valid_after(now + datetime.timedelta(days=9999)).sign(ca, hashes.SHA256()))
    return made.public_bytes(serialization.Encoding.DER)


def same_key(a, b):
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return a.public_bytes(*form) == b.public_bytes(*form)


class Base(Case):
    def define(self, tpm, index, content, size=None, written=True, attributes=None):
        """An NV index with this content, in place of what is there."""
        tpm.tool("tpm2_nvundefine", "-C", "p", hex(index), check=False)
        tpm.tool("tpm2_nvdefine", "-C", "p", "-s", str(size or len(content)), "-a",
                 attributes or "ppwrite|ppread|ownerread|authread|no_da|platformcreate",
                 hex(index))
        if written:
            path = os.path.join(tpm.folder, "nv")
            with open(path, "wb") as f:
                f.write(content)
            tpm.tool("tpm2_nvwrite", "-C", "p", "-i", path, hex(index))

    def make_ek(self, tpm, kind, nonce=None, handle=None):
        """An EK of the profile, by tpm2-tools: its public key. (Not with
        `tpm2_createek -t`: 5.4 fills in bytes of its own memory as the nonce.)"""
        if kind[0] == "L" and nonce is None:
            tpm.tool("tpm2_createek", "-G", {"L-1": "rsa", "L-2": "ecc"}[kind], "-c", "ek.ctx",
                     "-u", "ek.pub", "-f", "pem")
        else:
            with open(os.path.join(tpm.folder, "policy"), "wb") as f:
                f.write(bytes.fromhex(POLICY[kind]))
            unique = []
            if nonce is not None:  # as C structures: size, buffer of the largest kind
                size = 256 if kind == "L-1" else 32
                room = 256 if kind == "L-1" else 128
                data = struct.pack("<H", size) + nonce.ljust(room, b"\0")
                if kind == "L-2":
                    data += struct.pack("<H", size) + bytes(room)
                with open(os.path.join(tpm.folder, "unique"), "wb") as f:
                    f.write(data)
                unique = ["-u", "unique"]
            tpm.tool("tpm2_createprimary", "-C", "e", "-g", "sha256", "-G",
                     "rsa2048:aes128cfb" if kind[2] == "1" else "ecc256:aes128cfb",
                     "-a", LOW if kind[0] == "L" else HIGH, "-L", "policy", "-c", "ek.ctx",
                     *unique)
            tpm.tool("tpm2_readpublic", "-c", "ek.ctx", "-f", "pem", "-o", "ek.pub")
            if handle:
                tpm.tool("tpm2_evictcontrol", "-C", "o", "-c", "ek.ctx", handle)
        tpm.tool("tpm2_flushcontext", "-t")
        with open(os.path.join(tpm.folder, "ek.pub"), "rb") as f:
            return serialization.load_pem_public_key(f.read())

    def eks(self, where):
        """[(kind, public, certificate or None)]"""
        done = self.ok(where, "eks", self.folder)
        found = []
        for line in done.all("ek"):
            number, kind, size = line.split()
            cert = None
            if size != "certificate=0":
                cert = self.content(f"{number}.crt")
                self.assertEqual(size, f"certificate={len(cert)}")
            found.append((kind, quote.Public(self.content(f"{number}.pub")), cert))
        return found

    def digests(self, where):
        return self.ok(where, "ek-digests").all("certificate")

    def make_credential(self, public, name, secret):
        """By tpm2-tools: the two structures, in files."""
        with open(self.path("ek.tpm2b"), "wb") as f:
            f.write(struct.pack(">H", len(public.area)) + public.area)
        with open(self.path("secret"), "wb") as f:
            f.write(secret)
        self.tools.tool("tpm2_makecredential", "-Q", "-T", "none", "-u", self.path("ek.tpm2b"),
                        "-s", self.path("secret"), "-n", name, "-o", self.path("blob"))
        blob = self.content("blob")[8:]  # behind the tool's own header
        size = 2 + struct.unpack(">H", blob[:2])[0]
        for file, data in (("id", blob[:size]), ("sealed", blob[size:])):
            with open(self.path(file), "wb") as f:
                f.write(data)


class Ak(Base):
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


class Eks(Base):
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
        for kind in ("L-2", "H-1", "H-2"):
            self.define(tpm, CERT[kind], certificate(self.make_ek(tpm, kind)))
        found = self.eks(tpm)
        self.assertEqual([kind for kind, _, _ in found], ["L-1", "L-2", "H-1", "H-2", "H-3"])
        for _, public, cert in found:
            self.assertTrue(same_key(public.key,
                                     x509.load_der_x509_certificate(cert).public_key()))
        self.assertEqual(len(self.digests(tpm)), 5)
        self.assertEqual(tpm.handles(), 0)

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

    def test_chunks(self):
        """Never more than TPM_PT_NV_BUFFER_MAX at once."""
        tpm = self.tpm()
        # a TPM with small buffers: value of the one property in the answer
        proxy = self.proxy(tpm, "GetCapability/0000012c#1+*:patch=23:00000064")
        self.assertEqual(self.digests(proxy), self.digests(tpm))
        self.assertGreater(len(proxy.messages(">", "NV_Read")), 15)
        for name, command in proxy.messages(">", "NV_Read"):
            self.assertLessEqual(struct.unpack(">H", command[-4:-2])[0], 100, name)


class Activate(Base):
    def setUp(self):
        super().setUp()
        self.vtpm = self.tools = self.tpm()
        for kind in ("L-2", "H-1", "H-2"):
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

    def test_session_refused(self):
        """A session with a salt that the two sides derive differently: another one."""
        kinds = [kind for kind, _, _ in self.found]
        for kind in ("L-2", "H-3"):
            number = kinds.index(kind)
            self.make_credential(self.found[number][1], self.name, self.secret)
            proxy = self.proxy(self.vtpm, "ActivateCredential#1+3:rc=0x9a2")
            done = self.activate(proxy, number)
            self.assertEqual(done.code, 0, done.err)
            self.assertEqual(done.one("secret"), self.secret.hex())
            # each try has its own salt
            salts = {data for name, data in proxy.messages(">", "StartAuthSession")
                     if data[10:14] != b"\x40\0\0\7"}
            self.assertEqual(len(salts), 4)
            proxy = self.proxy(self.vtpm, "ActivateCredential#1+*:rc=0x9a2")
            done = self.activate(proxy, number)
            self.assertEqual(done.reason, "tpm.activate")
            self.assertEqual(len(proxy.messages(">", "ActivateCredential")), 4)
            # the EK's own authorisation is not given twice
            proxy = self.proxy(self.vtpm, "ActivateCredential#1+*:rc=0xaa2")
            self.assertEqual(self.activate(proxy, number).reason, "tpm.activate")
            self.assertEqual(len(proxy.messages(">", "ActivateCredential")), 1)
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
