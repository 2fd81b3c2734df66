#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""COSE and CBOR against an implementation that is not ours.

Ours to theirs: what the unit tests write (BOOTGATE_SEEDS) is decoded, encoded
again canonically to the same bytes, and its signatures are verified, all with
python3-cbor2 and python3-cryptography. Theirs to ours: envelopes made here go
through test_cose (BOOTGATE_COSE), good ones and bad ones. The name of a file
begins with the reason that must come out.
"""

import os
import re
import subprocess
import sys
import tempfile

import cbor2
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNIT = os.path.join(os.environ.get("BUILD", os.path.join(TOP, "build")), "test", "unit")
MESSAGES = ["challenge", "evidence", "verdict", "manifest", "problem", "report", "token"]
VERDICT_AAD = b"bootgate-verdict-v1"
MANIFEST_AAD = b"bootgate-manifest-v1"
PROFILE = "tag:bootgate,2026:gate-verdict-1"


def test_keys():
    """The private keys of tests/unit/cose_keys.h, and their key ids."""
    with open(os.path.join(TOP, "tests", "unit", "cose_keys.h"), encoding="ascii") as f:
        lines = "".join(re.findall(r'"(.*?)"', f.read())).replace("\\n", "\n")
    pems = re.findall(r"-----BEGIN.*?-----END PRIVATE KEY-----\n", lines, re.S)
    keys = [serialization.load_pem_private_key(p.encode(), None) for p in pems]
    return [(key_id(k.public_key()), k) for k in keys]


def key_id(public):
    der = public.public_bytes(serialization.Encoding.DER,
                              serialization.PublicFormat.SubjectPublicKeyInfo)
    digest = hashes.Hash(hashes.SHA256())
    digest.update(der)
    return digest.finalize()[:8]


def sign(key, data):
    r, s = utils.decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def verify(key, data, signature):
    assert len(signature) == 64
    der = utils.encode_dss_signature(int.from_bytes(signature[:32], "big"),
                                     int.from_bytes(signature[32:], "big"))
    key.public_key().verify(der, data, ec.ECDSA(hashes.SHA256()))


def protected(kid, alg=-7, **more):
    return cbor2.dumps({1: alg, 4: kid, **more.get("more", {})}, canonical=True)


def sign1(key, kid, payload, aad=VERDICT_AAD, header=None, unprotected=None,
          context="Signature1", detached=False):
    """COSE_Sign1 by RFC 9052 section 4.4, or something close to it."""
    header = protected(kid) if header is None else header
    value = sign(key, cbor2.dumps([context, header, aad, payload]))
    return [header, unprotected or {}, None if detached else payload, value]


def signer(key, kid, payload, aad=MANIFEST_AAD, header=None, body=b""):
    header = protected(kid) if header is None else header
    value = sign(key, cbor2.dumps(["Signature", body, header, aad, payload]))
    return [header, {}, value]


def tagged(number, value):
    return cbor2.dumps(cbor2.CBORTag(number, value), canonical=True)


def foreign(keys):
    """File name, content: the reason that test_cose must give is in the name."""
    (kid, key), (kid1, key1), _ = keys
    payload = b"made elsewhere"
    other = ec.generate_private_key(ec.SECP256R1())
    p384 = ec.generate_private_key(ec.SECP384R1())
    good = sign1(key, kid, payload)
    yield "ok_0.sign1", tagged(18, good)
    yield "ok_1.sign1", tagged(18, sign1(key1, kid1, bytes(range(256)) * 100))
    yield "cose.structure_untagged.sign1", cbor2.dumps(good)
    yield "cose.structure_mac0.sign1", tagged(17, good)
    yield "cose.structure_detached.sign1", tagged(18, sign1(key, kid, payload, detached=True))
    yield "cose.structure_five.sign1", tagged(18, good + [b""])
    yield "cose.structure_der.sign1", tagged(18, good[:3] + [key.sign(
        b"", ec.ECDSA(hashes.SHA256()))])
    yield "cose.structure_p384.sign1", tagged(18, good[:3] + [
        p384.sign(b"", ec.ECDSA(hashes.SHA384()))[:96]])
    yield "cose.header_crit.sign1", tagged(18, sign1(
        key, kid, payload, header=protected(kid, more={2: [4]})))
    yield "cose.header_x5chain.sign1", tagged(18, sign1(
        key, kid, payload, header=protected(kid, more={33: b"certificate"})))
    yield "cose.header_none.sign1", tagged(18, sign1(key, kid, payload, header=b""))
    yield "cose.header_loose.sign1", tagged(18, sign1(key, kid, payload, unprotected={4: kid}))
    yield "cose.algorithm_es384.sign1", tagged(18, sign1(
        key, kid, payload, header=protected(kid, alg=-35)))
    yield "cose.algorithm_hmac.sign1", tagged(18, sign1(
        key, kid, payload, header=protected(kid, alg=5)))
    yield "cose.key-unknown_0.sign1", tagged(18, sign1(other, key_id(other.public_key()), payload))
    yield "cose.signature_other.sign1", tagged(18, sign1(other, kid, payload))
    yield "cose.signature_aad.sign1", tagged(18, sign1(key, kid, payload, aad=MANIFEST_AAD))
    yield "cose.signature_no-aad.sign1", tagged(18, sign1(key, kid, payload, aad=b""))
    yield "cose.signature_context.sign1", tagged(18, sign1(key, kid, payload, context="Signature"))
    yield "cose.signature_zero.sign1", tagged(18, good[:3] + [bytes(64)])
    yield "cose.signature_payload.sign1", tagged(18, good[:2] + [payload + b"!", good[3]])
    # one signature more than there are, by a key that is not pinned
    two = [signer(key, kid, payload), signer(key1, kid1, payload)]
    stranger = signer(other, key_id(other.public_key()), payload)
    yield "ok_0.sign", tagged(98, [b"", {}, payload, two])
    yield "ok_stranger.sign", tagged(98, [b"", {}, payload, [stranger] + two])
    yield "manifest.threshold_0.sign", tagged(98, [b"", {}, payload, two[:1]])
    yield "manifest.threshold_twice.sign", tagged(98, [b"", {}, payload, [two[0], two[0]]])
    yield "manifest.threshold_stranger.sign", tagged(98, [b"", {}, payload, [stranger, two[1]]])
    yield "cose.signature_0.sign", tagged(98, [b"", {}, payload + b"!", two])
    yield "cose.signature_one.sign", tagged(98, [b"", {}, payload, two + [
        signer(other, kid1, payload)]])
    yield "cose.signature_aad.sign", tagged(98, [b"", {}, payload, [
        two[0], signer(key1, kid1, payload, aad=VERDICT_AAD)]])
    yield "cose.header_body.sign", tagged(98, [cbor2.dumps({3: 0}), {}, payload, [
        signer(k, i, payload, body=cbor2.dumps({3: 0})) for i, k in keys]])
    yield "cose.structure_none.sign", tagged(98, [b"", {}, payload, []])
    yield "cose.structure_sign1.sign", tagged(18, good)


def check_ours(folder, keys):
    """Yields the name of each check, after it held."""
    by_id = dict(keys)
    for name in MESSAGES:
        for file in sorted(os.listdir(os.path.join(folder, name))):
            with open(os.path.join(folder, name, file), "rb") as f:
                data = f.read()
            # the manifest's seeds with values behind them are not CBOR alone
            if not file.startswith(("values-", "long-")):
                assert cbor2.dumps(cbor2.loads(data), canonical=True) == data, file
                yield f"{name}/{file} is deterministic"

    with open(os.path.join(folder, "cose", "sign1"), "rb") as f:
        envelope = cbor2.load(f)
    header, loose, payload, value = envelope.value
    assert envelope.tag == 18 and loose == {}
    header_map = cbor2.loads(header)
    assert set(header_map) == {1, 4} and header_map[1] == -7
    to_sign = cbor2.dumps(["Signature1", header, VERDICT_AAD, payload])
    verify(by_id[header_map[4]], to_sign, value)
    yield "our COSE_Sign1 verifies"
    try:
        verify(by_id[header_map[4]], to_sign + b"!", value)
    except InvalidSignature:
        yield "and only as it is"

    # signed by three at once, and by one after the other
    for name in ("sign", "sign-added"):
        with open(os.path.join(folder, "cose", name), "rb") as f:
            data = f.read()
        assert cbor2.dumps(cbor2.loads(data), canonical=True) == data
        envelope = cbor2.loads(data)
        by_id = dict(keys)
        body, loose, payload, signatures = envelope.value
        assert envelope.tag == 98 and loose == {} and body == b"" and len(signatures) == 3
        for header, loose, value in signatures:
            header_map = cbor2.loads(header)
            assert loose == {} and set(header_map) == {1, 4} and header_map[1] == -7
            verify(by_id.pop(header_map[4]),
                   cbor2.dumps(["Signature", b"", header, MANIFEST_AAD, payload]), value)
        yield f"our COSE_Sign ({name}) verifies, by three keys"

    with open(os.path.join(folder, "verdict", "admit"), "rb") as f:
        ear = cbor2.load(f)
    assert ear[265] == PROFILE and len(ear[10]) == 32 and ear[1000] == 32
    assert set(ear[1004]) == {0, 1} and isinstance(ear[6], int) and isinstance(ear[1003], str)
    assert set(ear[266]) == {"tpm", "gpu0", "firmware"}
    assert ear[266]["firmware"] == {1000: 32, 1001: {1: -1, 2: 3, 4: 32}}
    assert all(label > 0 or -70011 <= label <= -70001 for label in ear)
    yield "our verdict is an EAR"


def run_unit(name, **environment):
    subprocess.run([os.path.join(UNIT, "test_" + name)], cwd=TOP, check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, **environment})


def main():
    keys = test_keys()
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in MESSAGES + ["cose"]:
            run_unit(name, BOOTGATE_SEEDS=folder)
        for name in check_ours(folder, keys):
            print("ok", name)
            passed += 1
        theirs = os.path.join(folder, "theirs")
        os.mkdir(theirs)
        for name, data in foreign(keys):
            with open(os.path.join(theirs, name), "wb") as f:
                f.write(data)
            passed += 1
        # fails, and says for which file, unless each gives its reason
        run_unit("cose", BOOTGATE_COSE=theirs)
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    sys.exit(main())
