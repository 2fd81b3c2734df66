#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a restart, a replay or a new key in between must not change: the server
is a function of what it has stored, and each boot stands for itself."""

import concurrent.futures
import http.client
import os
import signal
import subprocess
import time
import unittest

import kit
import softnode
from softnode import ADMIT, HOLD, Refused


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Again(softnode.SoftCase):
    def kill_all(self):
        """kill -9 of the whole server, then a new start."""
        child = self.control.child
        signal_all([child.pid, *kit.children(child.pid)], signal.SIGKILL)
        child.wait()
        self.control.start()

    def dump(self):
        nodes = self.control.json("node", "list")["nodes"]
        return nodes, [self.control.json("node", "show", n["id"]) for n in nodes]

    @staticmethod
    def insist(act):
        """As a gate does: the connection broke, so once more."""
        try:
            return act()
        except (OSError, http.client.HTTPException):
            return act()

    def test_restart_between_all_messages(self):
        """SRV-RESTART: states before and after are equal, and the node gets through."""
        waits = self.certified_node()
        new = self.soft_node()
        for node, end in ((new, ADMIT), (new, ADMIT), (waits, HOLD)):
            node.power_on()
            done = []
            for name, act in node.steps():
                self.insist(act)
                done.append(name)
                before = self.dump()
                self.kill_all()
                self.assertEqual(self.dump(), before, name)
            self.assertEqual(node.said[-70004], end)
            self.assertEqual(done[-1], "receipt" if end == ADMIT else "attest")
        # Approved meanwhile, it gets through with a new challenge.
        (pending,) = self.control.json("node", "list", "--state", "pending")["nodes"]
        self.control.ctl("node", "approve", pending["id"])
        self.kill_all()
        self.assertEqual(self.insist(waits.boot), ADMIT)
        self.control.ctl("audit", "verify")

    # -- another token key, in the order of docs/keys.md

    def change_token_key(self, keep=True):
        old, key = (os.path.join(self.control.dir, "keys", n) for n in ("token-old.key", "token.key"))
        if os.path.exists(old):
            os.unlink(old)
        if keep:
            os.rename(key, old)
        else:
            os.unlink(key)
        self.control.ctl_offline("key", "new", "--type", "token", key)
        self.control.stop()
        self.control.start()

    def test_sessions_outlive_the_token_key(self):
        """Each step of a first boot under another key, and nothing is asked twice."""
        node = self.soft_node()
        node.power_on()
        done = []
        for name, act in node.steps():
            self.insist(act)
            done.append(name)
            self.change_token_key()
        self.assertEqual(done, ["challenge", "enrol", "attest", "manifest", "receipt"])

        node.power_on()
        self.insist(node.challenge)
        self.change_token_key()
        self.change_token_key()
        self.assertEqual(self.reason(self.insist, node.send_evidence), "session.token")
        node.power_on()
        self.insist(node.challenge)
        self.change_token_key(keep=False)
        self.assertEqual(self.reason(self.insist, node.send_evidence), "session.token")
        self.assertEqual(self.insist(node.boot), ADMIT)

    def test_token_key_of_another_length(self):
        for name, size in (("token.key", 31), ("token-old.key", 33), ("token-old.key", 0)):
            path = os.path.join(self.control.dir, "keys", name)
            was = None
            if os.path.exists(path):
                with open(path, "rb") as f:
                    was = f.read()
            with open(path, "wb") as f:
                f.write(bytes(size))
            self.control.stop()
            with self.subTest(name, size=size), self.assertRaisesRegex(RuntimeError, "site.keys"):
                self.control.start()
            os.unlink(path)
            if was:
                with open(path, "wb") as f:
                    f.write(was)
            self.control.start()

    def test_fresh_evidence_fifty_times_at_once(self):
        """SRV-NONCE-ONCE: one verdict, whoever was first."""
        node = self.soft_node()
        self.assertEqual(node.boot(), ADMIT)
        node.power_on()
        node.challenge()
        evidence = node.make_evidence()
        other = node.make_evidence()
        posters = [self.twin(node, ek=node.ek, ak=node.ak) for _ in range(50)]

        def post(i):
            try:
                return posters[i].post("attest", evidence if i % 5 else other)
            except Refused as e:
                return e.reason

        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(post, range(50)))
        verdicts = {a for a in answers if isinstance(a, bytes)}
        self.assertEqual(len(verdicts), 1)
        self.assertEqual({a for a in answers if isinstance(a, str)}, {"session.replayed"})
        self.assertEqual(self.control.json("node", "show", node.label)["verdicts"], 2)

    # -- T8: what ends in the middle

    def test_judges_that_crash(self):
        """Workers or signer killed while they have the evidence: no verdict,
        and nobody looks admitted by it."""
        node = self.soft_node()
        self.assertEqual(node.boot(), ADMIT)
        # In the order of their start: ledger, signer, two fronts, then workers.
        for victims in (slice(4, None), slice(1, 2)):
            before = self.dump()
            node.power_on()
            node.challenge()
            pids = kit.children(self.control.child.pid)[victims]
            signal_all(pids, signal.SIGSTOP)
            sender = concurrent.futures.ThreadPoolExecutor(1)
            sent = sender.submit(node.send_evidence)
            time.sleep(0.3)
            self.assertFalse(sent.done())
            signal_all(pids, signal.SIGKILL)
            with self.assertRaises((Refused, OSError, http.client.HTTPException)) as caught:
                sent.result()
            sender.shutdown()
            if isinstance(caught.exception, Refused):
                self.assertIn(caught.exception.reason, ("server.worker", "server.busy"))
            self.stage.wait_for(self.answers)
            self.assertEqual(self.dump(), before)
            self.assertEqual(self.insist(node.boot), ADMIT)

    def answers(self):
        try:
            self.control.json("server", "status")
        except AssertionError:
            return False
        return True


class Keys(kit.PathCase):
    """SRV-KEY-CACHE-LOOP: what may change between two boots of one TPM does
    not need anything of the boot before. (Another attestation key for the
    same endorsement key is in lies.py: a conflict, for an operator.)"""

    def setUp(self):
        super().setUp()
        self.node = self.ready()
        self.assert_booted(self.node.boot())

    def once_more(self, what):
        with self.subTest(what):
            boot = self.node.boot()
            self.assert_booted(boot)
            self.assertEqual(boot.waited(), [])
            self.assertEqual(boot.steps().count("challenge"), 1)
            return boot

    def restarted(self, what):
        self.control.stop()
        self.control.start()
        return self.once_more(what)

    def path(self, *names):
        return os.path.join(self.control.dir, *names)

    def new_tls_certificate(self):
        conf = os.path.join(self.folder, "leaf.cnf")
        with open(conf, "w", encoding="ascii") as f:
            f.write("subjectAltName=IP:127.0.0.1\nkeyUsage=digitalSignature\n"
                    "extendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
        request = os.path.join(self.folder, "leaf.csr")
        subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", self.path("tls", "server.key"), "-out", request, "-subj", "/CN=new"],
                       check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["openssl", "x509", "-req", "-in", request, "-CA", self.path("tls", "ca.pem"), "-CAkey",
                        self.path("tls", "ca.key"), "-CAcreateserial", "-out", self.path("tls", "server.pem"),
                        "-days", "30", "-extfile", conf], check=True, stderr=subprocess.DEVNULL)

    def new_verdict_key(self):
        """Its public half, not yet in the site folder."""
        key = self.path("keys", "verdict.key")
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                        key], check=True, stderr=subprocess.DEVNULL)
        public = os.path.join(self.folder, "verdict-2.pem")
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
        return public

    def test_each_in_turn(self):
        self.new_tls_certificate()
        self.restarted("TLS certificate of the same CA")

        public = self.new_verdict_key()
        self.control.stop()
        self.control.start()
        # A gate image that does not pin it says so, and boots nothing.
        self.assert_refused(self.node.boot(), "cose.key-unknown")
        os.rename(public, os.path.join(self.control.site, "verdict-keys", "verdict-2.pem"))
        self.once_more("verdict key, pinned beside the old one")

        with open(os.path.join(self.control.site, "build-id"), "w", encoding="ascii") as f:
            f.write("path-test-2\n")
        self.once_more("build of the gate")
        with open(os.path.join(self.control.site, "boot.conf"), "a", encoding="ascii") as f:
            f.write("contact.text = another desk\n")
        self.once_more("configuration of the gate")
        self.image("2", kernel=kit.bzimage(b"second " * 9000))
        self.assertEqual(self.once_more("host image").file("kernel"), kit.bzimage(b"second " * 9000))

        os.unlink(self.path("keys", "token.key"))
        with open(self.path("keys", "token.key"), "wb") as f:
            os.chmod(f.name, 0o600)
            f.write(os.urandom(32))
        self.restarted("token key")


if __name__ == "__main__":
    unittest.main()
