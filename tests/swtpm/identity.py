# SPDX-License-Identifier: Apache-2.0
"""What the tests of identity share: NV indices, EKs and credentials as
tpm2-tools make them, and what the driver says of them."""

import datetime
import os
import struct

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from swtpm import Case  # first: sets sys.path
import quote

LOW = "fixedtpm|fixedparent|sensitivedataorigin|adminwithpolicy|restricted|decrypt"
HIGH = LOW + "|userwithauth"
POLICY_A = "837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa"
POLICY_B = "ca3d0a99a2b93906f7a3342414efcfb3a385d44cd1fd459089d19b5071c0b7a0"
POLICY_B_384 = ("b26e7d28d11a50bc53d882bcf5fd3a1a074148bb35d3b4e4cb1c0ad9bde419ca"
                "cb47ba09699646150f9fc000f3f80e12")
POLICY_B_512 = ("b8221ca69e8550a4914de3faa6a18c072cc01208073a928d5d66d59ef79e49a4"
                "29c41a6b269571d57edb25fbdb1838425608b413cd616a5f6db5b6071af99bea")


class Kind:
    """An EK of the EK Credential Profile, as tpm2_createprimary wants it."""

    def __init__(self, index, algorithm, name_alg="sha256", policy=POLICY_A):
        self.index = index
        self.low = policy == POLICY_A
        self.rsa = algorithm.startswith("rsa")
        self.algorithm, self.name_alg, self.policy = algorithm, name_alg, policy


KIND = {
    "L-1": Kind(0x01C00002, "rsa2048:aes128cfb"),
    "L-2": Kind(0x01C0000A, "ecc256:aes128cfb"),
    "H-1": Kind(0x01C00012, "rsa2048:aes128cfb", policy=POLICY_B),
    "H-2": Kind(0x01C00014, "ecc256:aes128cfb", policy=POLICY_B),
    "H-3": Kind(0x01C00016, "ecc384:aes256cfb", "sha384", POLICY_B_384),
    "H-4": Kind(0x01C00018, "ecc521:aes256cfb", "sha512", POLICY_B_512),
    "H-6": Kind(0x01C0001C, "rsa3072:aes256cfb", "sha384", POLICY_B_384),
    "H-7": Kind(0x01C0001E, "rsa4096:aes256cfb", "sha384", POLICY_B_384),
}
CERT = {name: kind.index for name, kind in KIND.items()}


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


def define(tpm, index, content, size=None, written=True, attributes=None):
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


def make_ek(tpm, name, nonce=None, handle=None):
    """An EK of the profile, by tpm2-tools: its public key. (Not with
    `tpm2_createek -t`: 5.4 fills in bytes of its own memory as the nonce.)"""
    kind = KIND[name]
    if kind.low and nonce is None:
        tpm.tool("tpm2_createek", "-G", "rsa" if kind.rsa else "ecc", "-c", "ek.ctx",
                 "-u", "ek.pub", "-f", "pem")
    else:
        with open(os.path.join(tpm.folder, "policy"), "wb") as f:
            f.write(bytes.fromhex(kind.policy))
        unique = []
        if nonce is not None:  # as C structures: size, buffer of the largest kind
            size = 256 if kind.rsa else 32
            room = 256 if kind.rsa else 128
            data = struct.pack("<H", size) + nonce.ljust(room, b"\0")
            if not kind.rsa:
                data += struct.pack("<H", size) + bytes(room)
            with open(os.path.join(tpm.folder, "unique"), "wb") as f:
                f.write(data)
            unique = ["-u", "unique"]
        tpm.tool("tpm2_createprimary", "-C", "e", "-g", kind.name_alg, "-G", kind.algorithm,
                 "-a", LOW if kind.low else HIGH, "-L", "policy", "-c", "ek.ctx", *unique)
        tpm.tool("tpm2_readpublic", "-c", "ek.ctx", "-f", "pem", "-o", "ek.pub")
        if handle:
            tpm.tool("tpm2_evictcontrol", "-C", "o", "-c", "ek.ctx", handle)
    tpm.tool("tpm2_flushcontext", "-t")
    with open(os.path.join(tpm.folder, "ek.pub"), "rb") as f:
        return serialization.load_pem_public_key(f.read())


class BaseIdentity(Case):
    define = staticmethod(define)
    make_ek = staticmethod(make_ek)

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
