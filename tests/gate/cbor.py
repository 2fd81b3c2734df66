# SPDX-License-Identifier: Apache-2.0
"""CBOR in deterministic form, and COSE with ES256: written for the tests from
RFC 8949 and RFC 9052 alone, so that a mistake of ours shows."""

import hashlib

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils


class Tag:
    def __init__(self, number, value):
        self.number = number
        self.value = value


def head(major, n):
    if n < 24:
        return bytes([major << 5 | n])
    for i, size in enumerate((1, 2, 4, 8)):
        if n < 1 << (8 * size):
            return bytes([major << 5 | 24 + i]) + n.to_bytes(size, "big")
    raise ValueError(n)


def dumps(v):
    if v is True or v is False:
        return b"\xf5" if v else b"\xf4"
    if isinstance(v, int):
        return head(0, v) if v >= 0 else head(1, -1 - v)
    if isinstance(v, (bytes, bytearray)):
        return head(2, len(v)) + bytes(v)
    if isinstance(v, str):
        return head(3, len(v.encode())) + v.encode()
    if isinstance(v, (list, tuple)):
        return head(4, len(v)) + b"".join(map(dumps, v))
    if isinstance(v, dict):
        pairs = sorted((dumps(k), dumps(x)) for k, x in v.items())
        return head(5, len(pairs)) + b"".join(k + x for k, x in pairs)
    if isinstance(v, Tag):
        return head(6, v.number) + dumps(v.value)
    raise TypeError(v)


def item(b, at):
    major, n = b[at] >> 5, b[at] & 31
    at += 1
    if major == 7:
        return {20: False, 21: True}[n], at
    if n >= 24:
        size = 1 << (n - 24)
        n, at = int.from_bytes(b[at:at + size], "big"), at + size
    if major == 0:
        return n, at
    if major == 1:
        return -1 - n, at
    if major in (2, 3):
        part = b[at:at + n]
        assert len(part) == n
        return (part if major == 2 else part.decode()), at + n
    if major == 4:
        out = []
        for _ in range(n):
            v, at = item(b, at)
            out.append(v)
        return out, at
    if major == 5:
        out = {}
        for _ in range(n):
            k, at = item(b, at)
            out[k], at = item(b, at)
        return out, at
    v, at = item(b, at)
    return Tag(n, v), at


def loads(b):
    v, at = item(b, 0)
    assert at == len(b), "trailing bytes"
    assert dumps(v) == b, "not deterministic"
    return v


def spki(key):
    return key.public_key().public_bytes(serialization.Encoding.DER,
                                         serialization.PublicFormat.SubjectPublicKeyInfo)


def kid(key):
    return hashlib.sha256(spki(key)).digest()[:8]


def es256(key, data):
    r, s = utils.decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def header(key, extra=None):
    return dumps({1: -7, 4: kid(key), **(extra or {})})


def sign1(key, payload, aad=b"bootgate-verdict-v1", unprotected=None, extra=None):
    protected = header(key, extra)
    signature = es256(key, dumps(["Signature1", protected, aad, payload]))
    return dumps(Tag(18, [protected, unprotected or {}, payload, signature]))


def sign(keys, payload, aad=b"bootgate-manifest-v1"):
    signers = [[header(k), {}, es256(k, dumps(["Signature", b"", header(k), aad, payload]))]
               for k in keys]
    return dumps(Tag(98, [b"", {}, payload, signers]))
