#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Evidence that is not true, each time signed as well as a liar with a TPM can:
each gets its named refusal, on the wire or in the verdict, and nothing that
was spoiled is ever admitted."""

import os
import struct
import time
import unittest

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import kit
import softnode
from softnode import ADMIT, DECISION, EK, FACTS, HOLD, REFUSE, Key, Refused, cbor

SHA1, SHA256, SHA384, SM3 = 4, 0xB, 0xC, 0x12
CAP = b"bootgate:cap"


class Lies(softnode.SoftCase):
    def setUp(self):
        super().setUp()
        self.node = self.soft_node()
        self.assertEqual(self.node.boot(), ADMIT)

    def begin(self, node=None):
        node = node or self.node
        node.power_on()
        node.challenge()
        return node

    def refused(self, reason, make, where="verdict"):
        """Before there could be a verdict, or by one, as `where` says."""
        with self.subTest(reason=reason):
            n = self.begin()
            evidence = make(n)
            try:
                n.evidence = evidence
                directive = n.send_evidence()
            except Refused as e:
                self.assertEqual((e.reason, "wire"), (reason, where))
                return
            self.assertEqual((directive, where), (REFUSE, "verdict"))
            self.assertIn(reason, [name for name, _ in n.said[-70007]])

    # -- whose session it is

    def sealed(self, token, **changes):
        """The token with other content, sealed with the server's key."""
        with open(os.path.join(self.control.dir, "keys", "token.key"), "rb") as f:
            key = AESGCM(f.read())
        aad = b"bootgate-session-v1"
        content = cbor.loads(key.decrypt(token[:12], token[12:], aad))
        content.update({int(k[1:]): v for k, v in changes.items()})
        nonce = os.urandom(12)
        return nonce + key.encrypt(nonce, cbor.dumps(content), aad)

    def test_token(self):
        now = int(time.time())
        n = self.begin()
        good = n.session[3]
        for issued in (0, now - 200, now + 100, (1 << 63) - 1):
            n.session[3] = self.sealed(good, _2=issued)
            self.assertEqual(self.reason(n.post, "attest", n.make_evidence()), "session.expired")
        self.assertEqual(n.statuses[-1], 503)
        for bad in (os.urandom(len(good)), good[:-1], good + b"\0", good[:20],
                    good[:30] + bytes([good[30] ^ 1]) + good[31:]):
            n.session[3] = bad
            self.assertEqual(self.reason(n.post, "attest", n.make_evidence()), "session.token")
        n.session[3] = self.sealed(good, _2=now - 100)
        self.assertEqual(n.send_evidence(), ADMIT)

    def test_other_nodes_key(self):
        (other,) = self.soft_nodes(1)
        self.assertEqual(other.boot(), ADMIT)
        # A session of one node, the key of another; then each with the other's signature.
        self.refused("node.unknown", lambda n: n.make_evidence(claims={5: other.ak.public}), "wire")

        def signed_by_other(n):
            own, n.ak = n.ak, other.ak
            try:
                return n.make_evidence(claims={5: own.public})
            finally:
                n.ak = own
        self.refused("quote.signature", signed_by_other, "wire")

    def test_old_nonce(self):
        def old(n):
            evidence = n.make_evidence()
            n.challenge()
            claims, quote, signature = cbor.loads(evidence)
            changed = cbor.loads(claims)
            changed[3] = n.session[3]
            return cbor.dumps([cbor.dumps(changed), quote, signature])
        self.refused("quote.nonce", old, "wire")

    def test_counters_that_fell(self):
        """A cleared TPM: held until an operator says that this is all right."""
        n = self.node
        n.resets = 7
        self.assertEqual(n.boot(), ADMIT)
        # rising again, but not yet to where they were
        for resets in (2, 3, 4):
            n.resets = resets
            self.assertEqual(n.boot(), HOLD)
            self.assertEqual(n.said[-70007][0][0], "quote.clock")
        self.control.ctl("node", "approve", n.label, "--reason", "TPM cleared in repair")
        n.resets = 5
        self.assertEqual(n.boot(), ADMIT)
        n.resets = 1
        self.assertEqual(n.boot(), HOLD)

    # -- what was quoted

    def test_selection(self):
        def chosen(change):
            def make(n):
                values = [[a, m, list(d)] for a, m, d in n.values()]
                change(values)
                return n.make_evidence(claims={9: values}, values=values)
            return make

        def empty(v):
            v.clear()

        def subset(v):
            v[0][1] &= ~(1 << 4)
            del v[0][2][4]

        def superset(v):
            v[0][1] |= 1 << 16
            v[0][2].append(bytes(32))

        def one_bank_less(v):
            v.pop()

        def other_bank(v):
            v[-1] = [SM3, v[-1][1], [bytes(32)] * len(v[-1][2])]

        def relabelled(v):
            v[0][1] = v[0][1] & ~(1 << 4) | 1 << 16

        for change in (empty, subset, superset, one_bank_less, other_bank, relabelled):
            with self.subTest(change.__name__):
                self.refused("quote.selection", chosen(change), "wire")

    def test_values(self):
        """Registers that the TPM did not sign, and ones that it signed and no log explains."""
        def other(n):
            values = [[a, m, list(d)] for a, m, d in n.values()]
            values[0][2][4] = bytes(32)
            return values
        self.refused("quote.digest", lambda n: n.make_evidence(claims={9: other(n)}, values=n.values()),
                     "wire")
        self.refused("log.replay", lambda n: n.make_evidence(claims={9: other(n)}, values=other(n)))

    # -- the gate's registers

    def with_gate_events(self, n, *events, extend=True):
        """Evidence whose gate log goes on with these, really extended."""
        log = n.like.gate_log
        values = {a: [m, list(d)] for a, m, d in n.values()}
        for pcr, tag, text in events:
            more, digests = softnode.event(log, pcr, tag, text)
            log += more
            for alg, (mask, have) in values.items():
                at = (mask & ((1 << pcr) - 1)).bit_count()
                bank = kit.evlog.NAMES[alg]
                if extend:
                    have[at] = kit.hashlib.new(bank, have[at] + digests[bank]).digest()
        rows = [[a, *rest] for a, rest in values.items()]
        return n.make_evidence(claims={8: log, 9: rows}, values=rows)

    def test_capped_at_attest(self):
        self.refused("quote.gate-state",
                     lambda n: self.with_gate_events(n, (FACTS, 0x424700FF, CAP)))
        self.refused("quote.gate-state",
                     lambda n: self.with_gate_events(n, (DECISION, 0x424700FF, b"failed: image.digest")))

    def test_decision_at_attest(self):
        """A boot that has its verdict may not ask for another."""
        n = self.begin()
        self.assertEqual(n.send_evidence(), ADMIT)
        n.fetch_manifest()
        log, values = n.decide()
        self.refused("quote.gate-state", lambda n: n.make_evidence(claims={8: log, 9: values}, values=values))

    def test_receipt_quote_at_attest(self):
        n = self.begin()
        n.send_evidence()
        n.fetch_manifest()
        receipt = n.make_receipt()
        self.assertTrue(self.reason(n.post, "attest", receipt).startswith("format."))
        _, quote, signature = cbor.loads(receipt)

        def with_it(n):
            claims, _, _ = cbor.loads(n.make_evidence())
            return cbor.dumps([claims, quote, signature])
        self.refused("quote.nonce", with_it, "wire")
        for tag in (b"bootgate-receipt-v1", b"bootgate-continuity-v1", b"bootgate-banks-v1"):
            self.refused("quote.nonce", lambda n, tag=tag: n.make_evidence(tag=tag), "wire")

    def test_gate_log_for_a_firmware_register(self):
        self.refused("log.foreign-register",
                     lambda n: self.with_gate_events(n, (4, 0x42470801, b"gate.efi")))

    def test_fact_that_was_not_measured(self):
        self.refused("log.replay", lambda n: self.with_gate_events(
            n, (FACTS, 0x424700FF, CAP), extend=False))

    # -- the firmware's log

    def test_retyped_and_appended(self):
        events = kit.events(self.recorded.firmware_log)

        def retyped(at, kind):
            def make(n):
                changed = list(events)
                pcr, _, digests, data = changed[at]
                changed[at] = (pcr, kind, digests, data)
                return n.make_evidence(claims={7: kit.write_log(n.like.firmware_log, changed)})
            return make
        application = next(i for i, e in enumerate(events) if e[1] == 0x80000003)
        variable = next(i for i, e in enumerate(events) if e[1] == 0x80000001)
        self.refused("log.replay", retyped(application, 3))
        self.refused("policy.variant", retyped(application, 0x80000004))
        self.refused("log.secure-boot-event", retyped(variable, 13))

        def appended(n):
            data = b"surprise"
            digests = kit.hashed(list(events[0][2]), data)
            values = [[a, m, list(d)] for a, m, d in n.values()]
            for bank, have in ((kit.evlog.NAMES[a], have) for a, _, have in values):
                # Firmware may leave a bank alone that the TPM has.
                if bank not in digests:
                    continue
                have[7] = kit.hashlib.new(bank, have[7] + digests[bank]).digest()
            log = kit.write_log(n.like.firmware_log, [*events, (7, 13, digests, data)])
            return n.make_evidence(claims={7: log, 9: values}, values=values)
        self.refused("log.boot-services", appended)

    # -- T7: no fault anywhere ends in an admission

    def test_no_fault_is_admitted(self):
        """Truncated and with a flipped bit, field by field: as the wire might
        do it, and as a liar would who signs what he changed."""
        admitted = []

        def one(what, make):
            n = self.begin()
            before = self.control.json("node", "show", n.label)["verdicts"]
            try:
                n.evidence = make(n)
                directive = n.send_evidence()
            except Refused as e:
                # Nothing that failed on the wire is a verdict on record.
                self.assertIn(e.status, (400, 403, 413), what)
                if e.reason == "server.worker":
                    admitted.append((what, "a worker ended"))
                if self.control.json("node", "show", n.label)["verdicts"] != before:
                    admitted.append((what, "a verdict is on record"))
                return
            if directive != REFUSE:
                admitted.append((what, directive))

        def faults(b):
            """Not zeros at the end: a log may be padded with them."""
            yield "empty", b""
            yield "cut", b[:-1]
            yield "longer", b + b"\x55"
            for at in sorted({1, 5, len(b) // 3, len(b) // 2, len(b) - 1}):
                yield f"bit {at}", b[:at] + bytes([b[at] ^ 1 << at % 8]) + b[at + 1:]

        def unsigned(part, change):
            def make(n):
                parts = cbor.loads(n.make_evidence())
                parts[part] = change(parts[part])
                return cbor.dumps(parts)
            return make

        n = self.begin()
        for part, name in enumerate(("claims", "quote", "signature")):
            for i, (what, _) in enumerate(faults(cbor.loads(n.make_evidence())[part])):
                one((name, what), unsigned(part, lambda b, i=i: list(faults(b))[i][1]))
        for key, name in ((3, "token"), (5, "key"), (7, "firmware log"), (8, "gate log")):
            for i, (what, _) in enumerate(faults(n.claims()[key])):
                one((name, what), lambda n, key=key, i=i: n.make_evidence(
                    claims={key: list(faults(n.claims()[key]))[i][1]}))
        for bank in range(len(n.values())):
            for at in range(0, 15, 3):
                def spoiled(n, bank=bank, at=at):
                    values = [[a, m, list(d)] for a, m, d in n.values()]
                    values[bank][2][at] = bytes(len(values[bank][2][at]))
                    # What was at reset is not spoiled by zeros.
                    if values == n.values():
                        values[bank][2][at] = b"\1" * len(values[bank][2][at])
                    return n.make_evidence(claims={9: values}, values=values)
                one(("register", bank, at), spoiled)
        self.assertEqual(admitted, [])
        # And it was not the server that stopped admitting.
        self.assertEqual(self.node.boot(), ADMIT)


class Enrolment(softnode.SoftCase):
    def test_same_endorsement_key_with_another_key(self):
        node = self.soft_node()
        self.assertEqual(node.boot(), ADMIT)
        before = self.control.json("node", "show", node.label)
        other = self.twin(node, ek=node.ek)
        other.challenge()
        other.enrol()
        self.assertEqual(self.reason(other.send_evidence), "node.conflict")
        self.assertEqual(other.statuses[-1], 409)
        after = self.control.json("node", "show", node.label)
        conflict = after.pop("conflict")
        self.assertEqual(conflict["ak_name"], other.ak.name.hex())
        self.assertEqual(after, before)
        self.assertIn(f"conflict with keys from {conflict['address']}", self.control.ctl("node", "list"))
        # The reason's remedy begins with what an operator can look at.
        self.assertIn("node show", self.remedy("node.conflict"))
        self.assertEqual(node.boot(), ADMIT)

    def remedy(self, reason):
        with open(os.path.join(kit.TOP, "docs", "reasons.md"), encoding="ascii") as f:
            return next(line for line in f if line.startswith(f"| `{reason}`"))

    def test_parallel_enrolments_of_one_endorsement_key(self):
        """Both hold a credential; the second to come back is the conflict."""
        one = self.soft_node()
        two = self.twin(one, ek=one.ek)
        for n in (one, two):
            n.challenge()
            n.enrol()
        self.assertEqual(one.send_evidence(), ADMIT)
        self.assertEqual(self.reason(two.send_evidence), "node.conflict")
        self.assertEqual(self.control.json("node", "show", one.label)["ak_name"], one.ak.name.hex())

    def test_known_key_with_a_foreign_endorsement_key(self):
        one, two = self.soft_nodes(2)
        for n in (one, two):
            self.assertEqual(n.boot(), ADMIT)
        both = self.twin(one, ek=two.ek, ak=one.ak)
        both.challenge()
        both.enrol()
        self.assertEqual(self.reason(both.send_evidence), "node.conflict")
        # Each is named at the other.
        ids = [self.control.json("node", "show", n.label)["id"] for n in (one, two)]
        for n, other in ((one, ids[1]), (two, ids[0])):
            self.assertEqual(self.control.json("node", "show", n.label)["conflict"]["node"], other)
            self.assertIn(f"conflict with {other[:12]}", self.control.ctl("node", "show", n.label))
        shown = self.control.json("node", "list", "--state", "conflict")["nodes"]
        self.assertEqual(sorted(n["id"] for n in shown), sorted(ids))

    def test_another_tpm_in_the_machine(self):
        one, two = self.soft_nodes(2)
        for n in (one, two):
            self.assertEqual(n.boot(), ADMIT)
        old, new = (self.control.json("node", "show", n.label)["id"] for n in (one, two))
        self.control.ctl("node", "rename", two.label, "spare")
        self.control.ctl("node", "rebind", one.label, "spare", "--dry-run")
        self.control.ctl("node", "rebind", one.label, "spare", "--reason", "board replaced")
        self.assertEqual(self.control.json("node", "show", one.label)["id"], new)
        self.assertIn(f"replaces         {old}", self.control.ctl("node", "show", one.label))
        self.assertEqual([n["id"] for n in self.control.json("node", "list", "--state", "retired")["nodes"]], [old])
        self.assertIn(f"now {new}: board replaced", [r["detail"] for r in self.control.audit("node.rebind")])
        self.assertEqual(two.boot(), ADMIT)
        self.assertNotEqual(one.boot(), ADMIT)

    def test_proofs(self):
        def wrong(n):
            n.proofs[0][1] = os.urandom(32)

        def other_name(n):
            n.proofs[0][0] = Key(EK).name

        def of_another_enrolment(n):
            n.enrol_token, n.proofs, keep = n.enrol_token, n.proofs, n.session
            token, proofs = n.enrol_token, n.proofs
            n.challenge()
            n.enrol()
            n.enrol_token, n.proofs = token, proofs
            self.assertNotEqual(keep[2], n.session[2])

        for spoil in (wrong, other_name, of_another_enrolment):
            with self.subTest(spoil.__name__):
                n = self.soft_node()
                n.challenge()
                n.enrol()
                spoil(n)
                self.assertEqual(self.reason(n.send_evidence), "enrol.proof")
                # Nothing was enrolled, and one wrong guess is no second one.
                self.assertEqual(self.control.ctl("node", "show", n.label, code=1).count("store.not-found"), 1)

    def test_enrolment_request(self):
        def spoiled(change):
            n = self.soft_node()
            n.challenge()
            m = cbor.loads(n.enrol_message())
            change(m, n)
            return self.reason(n.post, "enrol", cbor.dumps(m))

        def banks(m, _):
            m[5][0] = m[5][0][:-1] + b"\0"

        def audit(m, n):
            attest = bytearray(m[5][1])
            attest[-1] ^= 1
            m[5][1], m[5][2] = bytes(attest), n.ak.sign(bytes(attest))

        def quote_for_audit(m, n):
            m[5][1] = n.quote(bytes(32), [])
            m[5][2] = n.ak.sign(m[5][1])

        def other_key(m, _):
            m[3] = Key(softnode.AK).public

        def template(m, _):
            m[4] = [[struct.pack(">HHI", 0x23, 0xB, 0x300F2) + m[4][0][0][8:], b""]]

        for change, reason in ((banks, "enrol.banks"), (audit, "enrol.banks"),
                               (quote_for_audit, "enrol.banks"), (other_key, "node.ak"),
                               (template, "ek.template")):
            with self.subTest(change.__name__):
                self.assertEqual(spoiled(change), reason)
        stranger = self.soft_node(listed=False)
        stranger.challenge()
        self.assertEqual(self.reason(stranger.enrol), "ek.untrusted")

    def test_other_firmware_in_the_tpm(self):
        """Held once, while it proves its banks again; then as before."""
        node = self.soft_node()
        self.assertEqual(node.boot(), ADMIT)
        node.like = softnode.copy(node.like, firmware=bytes(7) + b"\7")
        self.assertEqual(node.boot(), HOLD)
        self.assertEqual(node.said[-70007][0][0], "tpm.firmware-changed")
        node.power_on()
        node.challenge()
        self.assertTrue(node.session[5])
        self.assertEqual(self.reason(node.send_evidence), "tpm.firmware-changed")
        self.assertEqual(node.boot(), ADMIT)
        self.assertEqual(node.boot(), ADMIT)


if __name__ == "__main__":
    unittest.main()
