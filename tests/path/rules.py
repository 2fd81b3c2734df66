#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Rules for new nodes: what `ek rule-*` takes and refuses, and nodes with a real
certificate that come by them. In a network of its own: a rule that enrols wants
nodes that do not come from loopback."""

import datetime
import fcntl
import hashlib
import os
import socket
import sqlite3
import struct
import sys
import unittest

import softnode
from cryptography.hazmat.primitives import serialization
from softnode import ADMIT, HOLD

BASIS = -70011
HALL = "10.77.0.0/24"


def network_up():
    """Loopback, and 10.76.0.0/14 on it: of a network on loopback every address is this machine's."""
    def ask(call, name, *rest):
        fcntl.ioctl(sock, call, struct.pack("16s24s", name, struct.pack(*rest)))

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        ask(0x8914, b"lo", "H", 0x49)  # SIOCSIFFLAGS: up, loopback, running
        ask(0x8916, b"lo:1", "=HH4s", socket.AF_INET, 0, socket.inet_aton("10.77.0.1"))  # SIOCSIFADDR
        ask(0x891C, b"lo:1", "=HH4s", socket.AF_INET, 0, socket.inet_aton("255.252.0.0"))  # SIOCSIFNETMASK


def soon(days=30):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days)).strftime("%Y-%m-%d")


class RuleCase(softnode.SoftCase):
    hosts = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.vendor = softnode.Vendor()
        with open(os.path.join(cls.control.dir, "ek-ca", "soft.pem"), "wb") as f:
            f.write(cls.vendor.pem())
        cls.control.stop()
        cls.control.start()
        der = cls.vendor.certificate.public_bytes(serialization.Encoding.DER)
        cls.anchor = hashlib.sha256(der).hexdigest()

    def tearDown(self):
        for rule in self.rules():
            self.control.ctl("ek", "rule-remove", rule["rule"])

    def rules(self):
        return self.control.json("ek", "rule-list")["rules"]

    def add(self, name, *options, model="soft", code=0):
        return self.control.ctl("ek", "rule-add", name, "--anchor", self.anchor, "--manufacturer", "SOFT",
                                "--model", model, *options, "--reason", "test", code=code)

    def enrolling(self, name, *options, most=2, code=0):
        return self.add(name, "--enrol", "--until", soon(), "--max", str(most), "--from", HALL, *options, code=code)

    def coming(self, address=None):
        """A new node with a certificate of the vendor."""
        node = self.soft_node(listed=False)
        node.certificate = self.vendor.endorse(node.ek)
        RuleCase.hosts += 1
        node.address = address or f"10.77.0.{RuleCase.hosts}"
        return node

    def shown(self, node):
        return self.control.json("node", "show", softnode.sha(node.ek.name).hex())


class Rules(RuleCase):
    def test_marks(self):
        self.add("hall-1")
        nodes = [self.coming() for _ in range(2)]
        for node in nodes:
            for _ in range(2):
                self.assertEqual(node.boot(), HOLD)
                self.assertEqual(node.said[BASIS], "rule hall-1 matched")
        shown = self.shown(nodes[0])
        self.assertEqual((shown["state"], shown["rule"]), ("pending", "hall-1"))
        self.assertRegex(self.control.ctl("node", "list", "--rule", "hall-1"), r"(?m) pending .* rule hall-1 matched$")
        self.assertIn("rule hall-1 matched", self.control.ctl("node", "show", shown["id"]))
        self.assertEqual(self.control.json("node", "list", "--rule", "hall-2")["nodes"], [])
        self.assertEqual(self.rules()[0]["waiting"], 2)
        self.assertIn("would be enrolled", self.control.ctl("node", "approve", "--rule", "hall-1", "--dry-run"))
        self.assertEqual(self.shown(nodes[0])["state"], "pending")
        text = self.control.ctl("node", "approve", "--rule", "hall-1", "--reason", "counted in the hall")
        self.assertIn("2 approved, 0 passed over", text)
        for node in nodes:
            self.assertEqual(node.boot(), ADMIT)
            self.assertEqual(node.said[BASIS], "operator uid 0, rule hall-1" if os.geteuid() == 0
                             else f"operator uid {os.geteuid()}, rule hall-1")
        self.assertEqual(len(self.control.audit("rule.approve")), 2)
        self.assertIn("rule.unknown", self.control.ctl("node", "approve", "--rule", "absent", code=1))
        self.control.ctl("node", "approve", shown["id"], "--rule", "hall-1", code=2)

    def test_enrols(self):
        self.control.ctl("group", "add", "hall")
        self.enrolling("hall", "--group", "hall")
        first, second, third = self.coming(), self.coming(), self.coming()
        self.assertEqual(first.boot(), ADMIT)
        for _ in range(2):
            self.assertEqual(first.boot(), ADMIT)
            self.assertEqual(first.said[BASIS], "rule hall")
        self.assertEqual(self.shown(first)["group"], "hall")
        elsewhere = self.coming("10.78.0.1")
        self.assertEqual(elsewhere.boot(), HOLD)
        self.assertEqual(elsewhere.said[BASIS], "rule hall matched, rule.network")
        local = self.coming("127.5.5.5")
        self.assertEqual(local.boot(), HOLD)
        self.assertEqual(local.said[BASIS], "rule hall matched, rule.network")
        self.assertEqual(second.boot(), ADMIT)
        self.assertEqual(third.boot(), HOLD)
        self.assertEqual(third.said[BASIS], "rule hall matched, rule.exhausted")
        (rule,) = self.rules()
        self.assertEqual((rule["enrolled"], rule["max"], rule["state"]), (2, 2, "rule.exhausted"))
        self.assertEqual((rule["waiting"], rule["from"], rule["group"]), (3, [HALL], "hall"))
        text = self.control.ctl("ek", "rule-list")
        self.assertRegex(text, rf"(?m)^hall +enrol +rule.exhausted +SOFT +soft +hall +3  2 of 2 until \S+ from {HALL}$")
        self.assertIn(self.anchor, text)
        self.assertEqual(len(self.control.audit("rule.exhausted")), 1)
        self.assertIn("group.in-use", self.control.ctl("group", "remove", "hall", code=1))

        # Whom it let in stays; whoever is revoked does not come back by another one.
        self.assertIn("would be gone", self.control.ctl("ek", "rule-remove", "hall", "--dry-run"))
        self.control.ctl("ek", "rule-remove", "hall", "--reason", "done")
        self.assertEqual(first.boot(), ADMIT)
        self.assertEqual(first.said[BASIS], "rule hall")
        self.control.ctl("node", "revoke", self.shown(first)["id"])
        self.enrolling("hall-b", most=9)
        self.assertEqual(first.boot(), softnode.REFUSE)
        twin = self.twin(first, ek=first.ek)
        twin.certificate = first.certificate
        self.assertEqual(self.reason(twin.boot), "node.conflict")
        self.assertEqual(self.rules()[0]["enrolled"], 0)

    def test_other_model(self):
        self.enrolling("hall")
        self.add("other", model="software")
        self.control.ctl("ek", "rule-remove", "hall")
        node = self.coming()
        self.assertEqual(node.boot(), HOLD)
        self.assertEqual(node.said.get(BASIS, ""), "")

    def test_clock_set_back(self):
        """The end that the server has seen stays the end, whatever the clock says now."""
        self.enrolling("hall")
        self.control.stop()
        with sqlite3.connect(self.control.database) as db:
            db.execute("UPDATE rule SET latest = expires")
        db.close()
        self.control.start()
        node = self.coming()
        self.assertEqual(node.boot(), HOLD)
        self.assertEqual(node.said[BASIS], "rule hall matched, rule.expired")
        self.assertEqual(self.rules()[0]["state"], "rule.expired")

    def test_refused(self):
        good = {"--until": soon(), "--max": "2", "--from": HALL}
        for name in good:
            less = [w for option, value in good.items() if option != name for w in (option, value)]
            self.assertIn("rule.bounds", self.add("hall", "--enrol", *less, code=1))
            self.assertIn("rule.bounds", self.add("hall", name, good[name], code=1))
        for option, value, reason in (
                ("--until", soon(-1), "rule.expiry"), ("--until", soon(400), "rule.expiry"),
                ("--from", "10.77.0.1/24", "rule.cidr"), ("--from", "0.0.0.0/0", "rule.cidr"),
                ("--from", "hall", "rule.cidr"), ("--from", "127.0.0.0/8", "rule.loopback"),
                ("--from", "::/1", "rule.loopback")):
            words = [w for pair in {**good, option: value}.items() for w in pair]
            self.assertIn(reason, self.add("hall", "--enrol", *words, code=1), value)
        for option, value in (("--until", "soon"), ("--max", "many"), ("--max", "-1")):
            words = [w for pair in {**good, option: value}.items() for w in pair]
            self.add("hall", "--enrol", *words, code=2)
        self.add("hall", "--enrol", "--until", soon(), "--max", "0", "--from", HALL, code=3)
        self.add("Hall", code=3)
        self.add("hall", "--group", "absent", code=1)
        self.control.ctl("ek", "rule-add", "hall", "--anchor", "77", "--manufacturer", "SOFT", "--model", "soft", code=3)
        self.control.ctl("ek", "rule-add", "hall", code=2)
        self.assertIn("rule.unknown", self.control.ctl("ek", "rule-remove", "hall", code=1))
        self.assertEqual(self.rules(), [])
        self.assertIn("would be made", self.enrolling("hall", "--dry-run"))
        self.assertEqual(self.rules(), [])
        self.enrolling("hall")
        self.assertIn("store.exists", self.enrolling("hall", code=1))


if __name__ == "__main__":
    if os.environ.get("RULES_NETWORK") != "own":
        user = [] if os.geteuid() == 0 else ["--map-current-user", "--keep-caps"]
        os.environ["RULES_NETWORK"] = "own"
        os.execvp("unshare", ["unshare", *user, "--net", sys.executable, os.path.abspath(__file__), *sys.argv[1:]])
    network_up()
    unittest.main()
