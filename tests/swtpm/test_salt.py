#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions salted with an ECC key, where a coordinate begins with a zero byte:
the TPM hashes it with that byte, and so must we. Of random salts that is one in
256, so these are chosen. Only for the tpm2-tss that the product has."""

import os

from cryptography.hazmat.primitives.asymmetric import ec

from swtpm import QUIET, for_each_driver, main  # first: sets sys.path
from identity import CERT, BaseIdentity, certificate


def shared(d, ek):
    return d.exchange(ec.ECDH(), ek)


def coordinate(name):
    def of(d, _):
        n = d.public_key().public_numbers()
        return getattr(n, name).to_bytes((d.curve.key_size + 7) // 8, "big")
    return of


def key_with_zero(ek, what):
    """The first private key for which that begins with a zero byte."""
    for number in range(1, 1 << 16):
        d = ec.derive_private_key(number, ek.curve)
        if what(d, ek)[0] == 0:
            return number
    raise AssertionError("none")


class Salt(BaseIdentity):
    kinds = ("static",)

    def test_leading_zeros(self):
        tpm = self.tools = self.tpm()
        for kind in ("L-2", "H-4"):
            self.define(tpm, CERT[kind], certificate(self.make_ek(tpm, kind)))
        name = self.ok(tpm, "ak").one("name")
        secret = os.urandom(32)
        self.addCleanup(QUIET.pop, "DRIVER_SALT_KEY", None)
        seen = set()
        for number, (kind, public, _) in enumerate(self.eks(tpm)):
            if not isinstance(public.key, ec.EllipticCurvePublicKey):
                continue
            seen.add(kind)
            self.make_credential(public, name, secret)
            for what, of in (("secret", shared), ("x", coordinate("x")), ("y", coordinate("y"))):
                with self.subTest(kind=kind, what=what):
                    d = key_with_zero(public.key, of)
                    QUIET["DRIVER_SALT_KEY"] = f"{d:x}"
                    proxy = self.proxy(tpm)
                    done = self.run_driver(proxy, "activate", number, self.path("id"),
                                           self.path("sealed"))
                    self.assertEqual(done.code, 0, done.err)
                    self.assertEqual(done.one("secret"), secret.hex())
                    # it is the chosen one that went over, at its full size
                    salts = b"".join(data for _, data in proxy.messages(">", "StartAuthSession"))
                    point = ec.derive_private_key(d, public.key.curve)
                    for axis in "xy":
                        data = coordinate(axis)(point, None)
                        self.assertIn(len(data).to_bytes(2, "big") + data, salts)
        self.assertEqual(seen, {"L-2", "H-3", "H-4"})
        self.assertEqual(tpm.handles(), 0)


for_each_driver(globals())

if __name__ == "__main__":
    main()
