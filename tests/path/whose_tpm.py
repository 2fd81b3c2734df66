#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whose TPM is it: one without a certificate, one with somebody else's, another
one in a known machine, one that a list announced, one that got a second key.
The lab plays the same (image/lab/scenarios.py), with real firmware."""

import hashlib
import os
import unittest

import kit
import identity
import swtpm

LOW, HIGH = identity.CERT["L-1"], identity.CERT["H-3"]


def certificate(tpm, index=LOW):
    return tpm.tool("tpm2_nvread", "-C", "p", hex(index), binary=True)


class Whose(kit.PathCase):
    def setUp(self):
        super().setUp()
        self.known = self.ready()
        self.certificates = {i: certificate(self.known.tpm, i) for i in (LOW, HIGH)}
        self.assert_booted(self.known.boot())
        self.record = self.control.json("node", "show", "n1")

    def listed(self, *args):
        return self.control.json("node", "list", *args)["nodes"]

    def load(self, column, value, label):
        path = os.path.join(self.folder, "papers.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write(f"{column},label\n{value},{label}\n")
        self.control.ctl("ek", "load", path)

    def unchanged(self):
        """The known node is what it was, and nobody else got in."""
        self.assertEqual(self.control.json("node", "show", "n1"), self.record)
        self.assertEqual([n["label"] for n in self.listed("--state", "enrolled")], ["n1"])

    def spki(self, tpm, kind):
        key = identity.make_ek(tpm, kind).public_bytes(
            identity.serialization.Encoding.DER,
            identity.serialization.PublicFormat.SubjectPublicKeyInfo)
        return hashlib.sha256(key).hexdigest()

    def keys(self, node):
        """Of its record: name to the rest."""
        return {k["name"]: k for k in self.control.json("node", "show", node)["endorsement_keys"]}

    def boots_unchanged(self, enrols):
        """The known node boots as often, enrols where it is said, and its keys stay."""
        boots = []
        for enrol in enrols:
            boots.append(self.known.boot())
            self.assert_booted(boots[-1])
            self.assertEqual(boots[-1].waited(), [])
            self.assertEqual("enrol" in boots[-1].steps(), enrol)
        self.assertEqual(len(self.listed()), 1)
        shown = self.control.json("node", "show", "n1")
        self.assertEqual(shown["endorsement_keys"], self.record["endorsement_keys"])
        self.assertEqual(self.control.audit("node.ek"), [])
        return boots

    def test_no_ek_cert(self):
        """Nobody vouches for it, and the gate waits; delivery papers do."""
        for kind in ("L-1", "L-2"):
            with self.subTest(kind):
                node = self.new_node(swtpm.Swtpm(certificates=False, fresh=True))
                spki = self.spki(node.tpm, kind)
                told = len(self.control.text())
                node.power_on()
                child = node.start()
                self.wait_for(lambda: "reason=ek.untrusted" in self.control.text()[told:], child)
                self.assertEqual(self.listed("--state", "pending"), [])
                self.load("ek_spki_sha256", spki, f"of-list-{kind}")
                boot = node.finish(child)
                self.assert_booted(boot)
                self.assertIn("ek.untrusted", boot.waited())
                shown = self.control.json("node", "show", f"of-list-{kind}")
                self.assertTrue(shown["basis"].startswith("EK list "), shown)

    def test_bulk_preload(self):
        """Announced by certificate: the first boot needs no person."""
        node = self.new_node(swtpm.Swtpm(fresh=True))
        self.load("ek_cert_sha256", hashlib.sha256(certificate(node.tpm)).hexdigest(), "rack-7")
        boot = node.boot()
        self.assert_booted(boot)
        self.assertEqual(boot.waited(), [])
        shown = self.control.json("node", "show", "rack-7")
        self.assertEqual((shown["state"], shown["last_directive"]), ("enrolled", "admit"))
        self.assertTrue(shown["basis"].startswith("EK list "), shown)
        self.assertEqual(len(self.control.audit("node.approve")), 1)  # that of n1
        # Another TPM does not get in by that line
        other = self.new_node(swtpm.Swtpm(fresh=True))
        other.power_on()
        child = other.start()
        self.wait_for(lambda: self.listed("--state", "pending"), child)
        self.assertFalse(other.stop(child).jumped())

    def test_ek_hijack(self):
        """T1: the known node's certificate in the NV of another TPM."""
        thief = swtpm.Swtpm(certificates=False, fresh=True)
        for index, content in self.certificates.items():
            identity.define(thief, index, content)
        boot = self.new_node(thief).boot()
        self.assert_refused(boot, "ek.mismatch")
        self.unchanged()
        self.assertEqual(len(self.listed()), 1)
        # Beside a certificate of its own it does not help either
        thief = swtpm.Swtpm(fresh=True)
        identity.define(thief, LOW, self.certificates[LOW])
        node = self.new_node(thief)
        node.power_on()
        child = node.start()
        self.wait_for(lambda: self.listed("--state", "pending"), child)
        boot = node.stop(child)
        self.assertFalse(boot.jumped(), boot.text)
        self.assertIn("ek.mismatch", boot.text)
        self.unchanged()

    def test_tpm_swap(self):
        """Another TPM in the known machine is another node: held for a person."""
        self.known.tpm.close()
        self.known.tpm = swtpm.Swtpm(fresh=True)
        self.control.trust(self.known.tpm)
        self.known.power_on()
        child = self.known.start()
        self.wait_for(lambda: self.listed("--state", "pending"), child)
        (pending,) = self.listed("--state", "pending")
        # It says that it sits on the board of the known one, of which nothing is said.
        self.assertEqual({n["id"]: n["board_also"] for n in self.listed("--state", "conflict")},
                         {pending["id"]: self.record["id"]})
        self.assertIn("board also of " + self.record["id"][:12], self.control.ctl("node", "list"))
        self.unchanged()
        self.control.ctl("node", "approve", pending["id"], "--label", "n1-new")
        boot = self.known.finish(child)
        self.assert_booted(boot)
        self.assertIn("node.pending", boot.waited())
        self.assertNotEqual(pending["id"], self.record["id"])

    def test_listed_tpm_on_a_known_board(self):
        """Delivery papers let a TPM in, not a machine that is on record with another one."""
        spare = swtpm.Swtpm(fresh=True)
        self.load("ek_cert_sha256", hashlib.sha256(certificate(spare)).hexdigest(), "spare")
        self.known.tpm.close()
        self.known.tpm = spare
        self.control.trust(spare)
        self.known.power_on()
        child = self.known.start()
        self.wait_for(lambda: [n for n in self.listed("--state", "pending") if n["verdicts"]], child)
        (pending,) = self.listed("--state", "pending")
        self.assertEqual((pending["label"], pending["basis"]), ("spare", f"board is {self.record['id'][:8]}'s"))
        self.assertEqual([r["target"] for r in self.control.audit("node.conflict")], [pending["id"]])
        self.control.ctl("node", "rebind", "n1", pending["id"])
        boot = self.known.finish(child)
        self.assert_booted(boot)
        self.assertEqual(boot.waited()[:2], ["node.conflict", "node.pending"])
        self.assertEqual(self.control.json("node", "show", "n1")["id"], pending["id"])

    def test_known_tpm_on_another_board(self):
        """T1 the other way round: the TPM moved. Held until somebody says why."""
        self.known.serial = "another"
        self.known.power_on()
        child = self.known.start()
        self.wait_for(lambda: self.control.node()["last_reason"] == "node.board", child)
        self.assertEqual([n["label"] for n in self.listed("--state", "held")], ["n1"])
        self.assertIn("board serial B-another", self.control.ctl("explain", "n1"))
        self.assertEqual(self.control.node()["board"], "B-node-1")
        self.control.ctl("node", "approve", "n1", "--reason", "board replaced")
        boot = self.known.finish(child)
        self.assert_booted(boot)
        self.assertIn("node.board", boot.waited())
        self.assertEqual(self.control.node()["board"], "B-another")

    def test_cleared(self):
        """Its owner is gone, its keys are the same: the same node, whose counters
        fell. With a new seed it is nobody's."""
        self.known.tpm.restart()  # the gate closed the platform hierarchy
        self.known.tpm.tool("tpm2_clear", "-c", "p")
        self.known.power_on()
        child = self.known.start()
        self.wait_for(lambda: self.control.node()["last_reason"] == "quote.clock", child)
        self.control.ctl("node", "approve", "n1")
        boot = self.known.finish(child)
        self.assert_booted(boot)
        self.assertIn("quote.clock", boot.waited())
        self.assertNotIn("enrol", boot.steps())
        self.known.tpm.restart()
        self.known.tpm.tool("tpm2_changeeps")
        self.assert_refused(self.known.boot(), "ek.mismatch")
        self.assertEqual(len(self.listed()), 1)

    def test_second_ek(self):
        """A certificate that was not there before: the same node, whose record gets
        the key at the boot after the one that showed it."""
        node = self.new_node(swtpm.Swtpm(fresh=True))
        self.load("ek_cert_sha256", hashlib.sha256(certificate(node.tpm)).hexdigest(), "late")
        later = certificate(node.tpm, HIGH)
        node.tpm.tool("tpm2_nvundefine", "-C", "p", hex(HIGH))
        self.assert_booted(node.boot())
        before = self.keys("late")
        self.assertEqual(len(before), 1)
        node.tpm.restart()  # the gate closed the platform hierarchy
        identity.define(node.tpm, HIGH, later)
        for enrols in (False, True, False):
            boot = node.boot()
            self.assert_booted(boot)
            self.assertEqual(boot.waited(), [])
            self.assertEqual("enrol" in boot.steps(), enrols)
        after = self.keys("late")
        (added,) = set(after) - set(before)
        self.assertEqual(before, {k: v for k, v in after.items() if k != added})
        self.assertEqual(after[added]["certificate_sha256"], hashlib.sha256(later).hexdigest())
        self.assertEqual([r["detail"] for r in self.control.audit("node.ek")], [added])

    def test_second_ek_of_nobody(self):
        """A certificate that no vendor CA made: asked for once, and no new trust."""
        self.known.tpm.restart()  # the gate closed the platform hierarchy
        key = identity.make_ek(self.known.tpm, "L-2")
        identity.define(self.known.tpm, identity.CERT["L-2"], identity.certificate(key))
        self.boots_unchanged((False, True, False))

    def test_certificates_are_gone(self):
        """Nothing left to enrol with: no reason to stay down, nor to try for ever."""
        self.known.tpm.restart()
        for index in (LOW, HIGH):
            self.known.tpm.tool("tpm2_nvundefine", "-C", "p", hex(index))
        for boot in self.boots_unchanged((False, True, True, True, False)):
            self.assertEqual("ek.untrusted" in boot.text, "enrol" in boot.steps())


if __name__ == "__main__":
    unittest.main()
