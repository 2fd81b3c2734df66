#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""quote.py --public FILE --message FILE --signature FILE --nonce HEX [--pcrs FILE]

Checks a TPM quote with nothing but Python and python3-cryptography: an
implementation of its own, from TPM 2.0 Part 2, for tests. FILE of --public is
TPMT_PUBLIC, TPM2B_PUBLIC or PEM; FILE of --pcrs is what tpm2_quote writes.
Prints what it found, ends with 1 when something does not hold.
"""

import argparse
import hashlib
import struct
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

MAGIC = 0xFF544347
ST_QUOTE, ST_SESSION_AUDIT = 0x8018, 0x8016
RSASSA, RSAPSS, ECDSA = 0x0014, 0x0016, 0x0018
HASHES = {0x0004: ("sha1", hashes.SHA1), 0x000B: ("sha256", hashes.SHA256),
          0x000C: ("sha384", hashes.SHA384), 0x000D: ("sha512", hashes.SHA512)}
CURVES = {3: ec.SECP256R1, 4: ec.SECP384R1, 5: ec.SECP521R1}
ENDORSEMENT = 0x4000000B


class Wrong(Exception):
    """The quote does not hold."""


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise Wrong("ends too early")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "big")

    def sized(self):
        return self.take(self.number(2))

    def end(self):
        if self.at != len(self.data):
            raise Wrong("bytes behind the end")


class Public:
    """TPMT_PUBLIC with its name; `key` is what cryptography calls a public key."""

    def __init__(self, data):
        self.area = data
        r = Reader(data)
        kind, self.name_alg = r.number(2), r.number(2)
        self.attributes = r.number(4)
        self.policy = r.sized()
        if r.number(2) != 0x0010:  # symmetric of a storage key
            r.take(4)
        self.scheme = r.number(2)
        self.scheme_hash = r.number(2) if self.scheme != 0x0010 else None
        if kind == 0x0001:
            r.number(2)
            exponent = r.number(4) or 65537
            modulus = int.from_bytes(r.sized(), "big")
            self.key = rsa.RSAPublicNumbers(exponent, modulus).public_key()
        elif kind == 0x0023:
            curve = CURVES[r.number(2)]()
            if r.number(2) != 0x0010:
                r.number(2)
            x, y = (int.from_bytes(r.sized(), "big") for _ in "xy")
            self.key = ec.EllipticCurvePublicNumbers(x, y, curve).public_key()
        else:
            raise Wrong(f"key of type {kind:#x}")
        r.end()

    @property
    def name(self):
        digest = hashlib.new(HASHES[self.name_alg][0], self.area).digest()
        return struct.pack(">H", self.name_alg) + digest

    @property
    def qualified_name(self):
        """Of a primary key in the endorsement hierarchy."""
        data = struct.pack(">I", ENDORSEMENT) + self.name
        return (struct.pack(">H", self.name_alg)
                + hashlib.new(HASHES[self.name_alg][0], data).digest())


def public_of(data):
    if data.startswith(b"-----BEGIN"):
        return serialization.load_pem_public_key(data), None
    if struct.unpack(">H", data[:2])[0] == len(data) - 2:
        data = data[2:]
    public = Public(data)
    return public.key, public


class Attest:
    def __init__(self, data, kind=ST_QUOTE):
        r = Reader(data)
        if r.number(4) != MAGIC:
            raise Wrong("magic")
        if r.number(2) != kind:
            raise Wrong("type")
        self.signer = r.sized()
        self.extra = r.sized()
        self.clock, self.reset_count, self.restart_count = r.number(8), r.number(4), r.number(4)
        self.safe = r.number(1)
        self.firmware = r.number(8)
        if kind == ST_QUOTE:
            self.selection = selection_of(r)
            self.digest = r.sized()
        else:
            self.exclusive = r.number(1)
            self.session_digest = r.sized()
        r.end()


def selection_of(r):
    """[(algorithm, [registers])], as TPML_PCR_SELECTION has it."""
    banks = []
    for _ in range(r.number(4)):
        algorithm = r.number(2)
        bitmap = r.take(r.number(1))
        banks.append((algorithm, [8 * i + b for i, byte in enumerate(bitmap)
                                  for b in range(8) if byte >> b & 1]))
    return banks


def check_signature(key, signature, message):
    """Returns the hash of the scheme."""
    r = Reader(signature)
    scheme, algorithm = r.number(2), r.number(2)
    name, kind = HASHES[algorithm]
    try:
        if scheme == ECDSA:
            pair = [int.from_bytes(r.sized(), "big") for _ in "rs"]
            key.verify(utils.encode_dss_signature(*pair), message, ec.ECDSA(kind()))
        elif scheme == RSASSA:
            key.verify(r.sized(), message, padding.PKCS1v15(), kind())
        elif scheme == RSAPSS:
            key.verify(r.sized(), message,
                       padding.PSS(padding.MGF1(kind()), padding.PSS.AUTO), kind())
        else:
            raise Wrong(f"scheme {scheme:#x}")
    except InvalidSignature as e:
        raise Wrong("signature") from e
    r.end()
    return name


def tools_values(data):
    """The values in a file of tpm2_quote, as one list in its order."""
    values = []
    at = 4 + 16 * 8
    count = struct.unpack_from("<I", data, at)[0]
    at += 4
    for _ in range(count):
        n = struct.unpack_from("<I", data, at)[0]
        for i in range(n):
            size = struct.unpack_from("<H", data, at + 4 + 66 * i)[0]
            values.append(data[at + 6 + 66 * i:][:size])
        at += 4 + 8 * 66
    if at != len(data):
        raise Wrong("file of values")
    return values


def check(public, message, signature, nonce, values=None, signer=None):
    """Raises Wrong, or returns the Attest. `values`: in the order of the quote."""
    key, _ = public_of(public)
    hash_name = check_signature(key, signature, message)
    attest = Attest(message)
    if attest.extra != nonce:
        raise Wrong("nonce")
    if signer is not None and attest.signer != signer:
        raise Wrong("signer")
    if values is not None:
        if len(values) != sum(len(pcrs) for _, pcrs in attest.selection):
            raise Wrong("number of values")
        if hashlib.new(hash_name, b"".join(values)).digest() != attest.digest:
            raise Wrong("digest")
    return attest


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("public", "message", "signature", "nonce"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--pcrs")
    args = parser.parse_args()

    def content(path):
        with open(path, "rb") as f:
            return f.read()

    try:
        attest = check(content(args.public), content(args.message), content(args.signature),
                       bytes.fromhex(args.nonce),
                       tools_values(content(args.pcrs)) if args.pcrs else None)
    except Wrong as e:
        print(f"wrong: {e}")
        return 1
    for algorithm, pcrs in attest.selection:
        print(HASHES.get(algorithm, (hex(algorithm),))[0], *pcrs)
    print(f"reset_count {attest.reset_count}\nfirmware {attest.firmware:016x}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
