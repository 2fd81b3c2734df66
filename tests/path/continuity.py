#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Continuity, the third quote: after the jump a test client plays the host
image. It shows that the machine is the one that was admitted, in this boot."""

import hashlib
import http.client
import os
import ssl
import subprocess
import unittest

import kit
import cbor  # noqa: E402 (kit shows where it is)

PROBLEM = "tag:bootgate,2026:problem"
TAG = b"bootgate-continuity-v1"


class Continuity(kit.PathCase):
    def setUp(self):
        super().setUp()
        self.node = self.ready()
        self.assert_booted(self.node.boot())
        self.tls = ssl.create_default_context(cafile=os.path.join(self.control.site, "server-ca.pem"))
        self.cnf = [os.urandom(32), os.urandom(32)]

    def post(self, path, message):
        c = http.client.HTTPSConnection("127.0.0.1", self.control.port, context=self.tls, timeout=60)
        c.request("POST", path, message if isinstance(message, bytes) else cbor.dumps(message))
        r = c.getresponse()
        body = r.read()
        c.close()
        return r.status, body

    def challenge(self, stage=1):
        name = bytes.fromhex(self.control.node()["ak_name"])
        status, body = self.post("/v1/challenge", {1: 1, 2: stage, 3: name})
        self.assertEqual(status, 200, body)
        return cbor.loads(body)

    def quote(self, selection, qualifying):
        """By the gate's own command: the fleet's AK, made again."""
        out = os.path.join(self.folder, "quote")
        words = "+".join(
            f"{kit.evlog.NAMES[alg]}:{','.join(str(i) for i in range(24) if mask >> i & 1)}"
            for alg, mask in selection)
        subprocess.run([kit.GATE, "quote", "--tpm", self.node.tpm.where, "--pcrs", words,
                        "--nonce", qualifying.hex(), "--out", out], check=True,
                       stdout=subprocess.DEVNULL)
        files = {}
        for name in ("quote.msg", "quote.sig", "ak.pub"):
            with open(os.path.join(out, name), "rb") as f:
                files[name] = f.read()
        return files

    def values(self, selection):
        out = []
        for alg, mask in selection:
            bank = kit.evlog.NAMES[alg]
            out.append([alg, mask, [self.node.tpm.value(bank, i) for i in range(24) if mask >> i & 1]])
        return out

    def evidence(self, challenge, tag=TAG, stage=1, **changes):
        selection = challenge[4]
        ak = self.quote(selection, bytes(32))["ak.pub"][2:]
        claims = {1: 1, 2: stage, 3: challenge[3], 4: os.urandom(32), 5: ak, 6: [], 7: b"", 8: b"",
                  9: self.values(selection), 10: b"", 11: [], 13: self.cnf}
        claims.update(changes.get("claims", {}))
        encoded = cbor.dumps({k: v for k, v in claims.items() if v is not None})
        bound = hashlib.sha256(tag + challenge[2] + hashlib.sha256(encoded).digest()).digest()
        q = self.quote(selection, bound)
        return cbor.dumps([encoded, q["quote.msg"], q["quote.sig"]])

    def reason(self, evidence):
        status, body = self.post("/v1/attest", evidence)
        self.assertGreaterEqual(status, 400, body)
        return cbor.loads(body)[PROBLEM][0]

    def test_accepted(self):
        status, verdict = self.post("/v1/attest", self.evidence(self.challenge()))
        self.assertEqual(status, 200, verdict)
        path = os.path.join(self.folder, "verdict")
        with open(path, "wb") as f:
            f.write(verdict)
        shown = kit.json.loads(self.control.ctl_offline(
            "verdict", "show", path, "--keys", os.path.join(self.control.site, "verdict-keys"), "--json"))
        self.assertEqual((shown["stage"], shown["directive"]), ("host", "admit"))
        # Renewed: again with a fresh challenge.
        status, _ = self.post("/v1/attest", self.evidence(self.challenge()))
        self.assertEqual(status, 200)

    def test_other_domain(self):
        self.assertEqual(self.reason(self.evidence(self.challenge(), b"bootgate-evidence-v1")), "quote.nonce")

    def test_without_a_key(self):
        self.assertEqual(self.reason(self.evidence(self.challenge(), claims={13: None})), "format.missing-key")

    def test_after_another_boot(self):
        """The machine was reset: the receipt is of a boot that is over."""
        self.node.power_on()
        self.assertEqual(self.reason(self.evidence(self.challenge())), "quote.clock")

    def test_extended_after_the_cap(self):
        self.node.tpm.tool("tpm2_pcrextend", "14:sha256=" + "11" * 32)
        self.assertEqual(self.reason(self.evidence(self.challenge())), "quote.gate-state")

    def test_stage_of_the_challenge(self):
        """A challenge for the gate does not serve the host, nor the other way."""
        self.assertEqual(self.reason(self.evidence(self.challenge(0))), "session.stage")
        self.assertEqual(self.reason(self.evidence(self.challenge(1), stage=0)), "session.stage")

    def test_without_a_receipt(self):
        other = self.new_node(kit.Swtpm(fresh=True))
        other.power_on()
        child = other.start()
        self.wait_for(lambda: len(self.control.json("node", "list")["nodes"]) == 2, child)
        child.kill()
        child.communicate()
        (pending,) = self.control.json("node", "list", "--state", "pending")["nodes"]
        self.control.ctl("node", "approve", pending["id"])
        self.node = other
        status, body = self.post("/v1/challenge", {1: 1, 2: 1, 3: bytes.fromhex(pending["ak_name"])})
        self.assertEqual(status, 200)
        self.assertEqual(self.reason(self.evidence(cbor.loads(body))), "receipt.unknown-verdict")


if __name__ == "__main__":
    unittest.main()
