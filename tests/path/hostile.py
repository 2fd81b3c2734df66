#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Peers of the control server that do not keep to the protocol: each gets a
named refusal, and the server goes on."""

import concurrent.futures
import http.client
import json
import os
import signal
import socket
import ssl
import unittest

import kit
import cbor  # noqa: E402 (kit shows where it is)

PROBLEM = "tag:bootgate,2026:problem"


def memory_of(pid):
    """What this process can write, as far as it can be read."""
    parts = []
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            span, access = line.split()[:2]
            if not access.startswith("rw"):
                continue
            first, last = (int(x, 16) for x in span.split("-"))
            # The sanitizer's shadow, not the process's.
            if last - first > 256 << 20:
                continue
            try:
                mem.seek(first)
                parts.append(mem.read(last - first))
            except (OSError, ValueError, OverflowError) as e:
                if isinstance(e, PermissionError):
                    raise
    return b"".join(parts)


class Hostile(kit.PathCase):
    def setUp(self):
        super().setUp()
        self.node = self.ready()
        self.boot = self.node.boot()
        self.assert_booted(self.boot)
        folder = os.path.join(self.folder, "evidence")
        os.mkdir(folder)
        self.control.ctl("node", "evidence", "n1", folder)
        with open(os.path.join(folder, "evidence.cbor"), "rb") as f:
            self.evidence = f.read()
        self.tls = ssl.create_default_context(cafile=os.path.join(self.control.site, "server-ca.pem"))

    def post(self, path, body, method="POST"):
        c = http.client.HTTPSConnection("127.0.0.1", self.control.port, context=self.tls, timeout=60)
        try:
            c.request(method, path, body, {"Content-Type": "application/cbor"})
            r = c.getresponse()
            return r.status, r.read()
        finally:
            c.close()

    def reason(self, path, body, method="POST"):
        status, answer = self.post(path, body, method)
        self.assertGreaterEqual(status, 400, answer)
        return cbor.loads(answer)[PROBLEM][0]

    # -- replay -------------------------------------------------------------------

    def test_same_evidence_gets_the_stored_verdict(self):
        before = self.control.json("node", "show", "n1")
        with concurrent.futures.ThreadPoolExecutor(25) as pool:
            answers = list(pool.map(lambda _: self.post("/v1/attest", self.evidence), range(50)))
        self.assertEqual({status for status, _ in answers}, {200})
        self.assertEqual(len({body for _, body in answers}), 1)
        # Nothing was recorded again.
        self.assertEqual(self.control.json("node", "show", "n1"), before)

    def test_other_evidence_with_a_used_nonce(self):
        claims, quote, signature = cbor.loads(self.evidence)
        changed = cbor.loads(claims)
        changed[4] = bytes(32)
        body = cbor.dumps([cbor.dumps(changed), quote, signature])
        self.assertEqual(self.reason("/v1/attest", body), "session.replayed")

    def test_quote_of_an_earlier_session(self):
        status, answer = self.post("/v1/challenge", cbor.dumps({1: 1, 2: 0, 3: self.ak_name()}))
        self.assertEqual(status, 200)
        fresh = cbor.loads(answer)
        claims, quote, signature = cbor.loads(self.evidence)
        changed = cbor.loads(claims)
        changed[3] = fresh[3]
        body = cbor.dumps([cbor.dumps(changed), quote, signature])
        self.assertEqual(self.reason("/v1/attest", body), "quote.nonce")

    def test_unknown_key_has_no_business_after_the_gate(self):
        message = {1: 1, 2: 1, 3: b"\x00\x0b" + os.urandom(32)}
        self.assertEqual(self.reason("/v1/challenge", cbor.dumps(message)), "node.unknown")

    def test_second_server_on_the_same_folder(self):
        done = kit.subprocess.run([kit.SERVER, "run", self.control.dir], stdout=kit.subprocess.PIPE,
                                  stderr=kit.subprocess.STDOUT, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("server.running", done.stdout)

    def ak_name(self):
        return bytes.fromhex(self.control.node()["ak_name"])

    # -- malformed ------------------------------------------------------------------

    def test_malformed(self):
        good = cbor.dumps({1: 1, 2: 0, 3: self.ak_name()})
        cases = [
            ("/v1/challenge", b"", "format.truncated"),
            ("/v1/challenge", good[:-1], "format.truncated"),
            ("/v1/challenge", good + b"\0", "format.trailing"),
            ("/v1/challenge", cbor.dumps({1: 1, 2: 0, 3: "text"}), "format.type"),
            ("/v1/challenge", cbor.dumps({1: 1, 2: 7, 3: self.ak_name()}), "format.range"),
            ("/v1/challenge", cbor.dumps({1: 99, 2: 0, 3: self.ak_name()}), "format.version"),
            ("/v1/challenge", cbor.dumps({1: 1, 2: 0}), "format.missing-key"),
            ("/v1/challenge", cbor.dumps({1: 1, 2: 0, 3: self.ak_name(), 4: 0}), "format.unknown-key"),
            ("/v1/challenge", b"\xa3\x01\x01\x01\x01\x03\x40", "format.duplicate"),
            ("/v1/challenge", b"\xbf\x01\x01\xff", "format.canonical"),
            ("/v1/challenge", b"\xa1\x18\x01\x01", "format.canonical"),
            ("/v1/challenge", bytes(5000), "format.too-large"),
            ("/v1/attest", cbor.dumps([b"", b"", b""]), "format.range"),
            ("/v1/attest", b"\x80", "format.type"),
            ("/v1/receipt", self.evidence, "format.type"),
            ("/v1/enrol", good, "format.type"),
            ("/v1/nothing", good, "server.route"),
            ("/v1/admin/node", good, "server.route"),
        ]
        for path, body, reason in cases:
            with self.subTest(path=path, body=body[:12]):
                got = self.reason(path, body)
                if reason == "format.type":
                    self.assertTrue(got.startswith("format."), got)
                else:
                    self.assertEqual(got, reason)
        self.assertEqual(self.reason("/v1/challenge", None, "GET"), "server.route")
        self.assertEqual(self.reason("/v1/manifest/00", None, "GET"), "format.text")
        self.assertEqual(self.reason("/v1/manifest/" + "0" * 64, None, "GET"), "store.not-found")

    def test_garbage_never_ends_the_server(self):
        pids = kit.children(self.control.child.pid)
        for size in (1, 100, 100000):
            for path in ("challenge", "enrol", "attest", "receipt", "failure"):
                status, _ = self.post("/v1/" + path, os.urandom(size))
                self.assertIn(status, (400, 413))
        self.assertEqual(kit.children(self.control.child.pid), pids)

    def test_unproven_rows_of_the_audit_are_few(self):
        """Anybody can name a known node; the disk must not fill."""
        ak = bytes.fromhex(self.control.json("node", "show", "n1")["ak_name"])
        body = cbor.dumps({1: 1, 2: "net.no-carrier", 3: "network", 4: b"", 5: ak})
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda _: self.post("/v1/failure", body)[0], range(400)))
        self.assertEqual(set(answers), {204})
        self.assertLess(len(self.control.audit("failure")), 300)

    # -- processes ------------------------------------------------------------------

    def test_only_two_processes_have_the_token_key(self):
        with open(os.path.join(self.control.dir, "keys", "token.key"), "rb") as f:
            key = f.read()
        having = 0
        for pid in [self.control.child.pid, *kit.children(self.control.child.pid)]:
            try:
                having += key in memory_of(pid)
            except PermissionError:
                self.skipTest("may not look into other processes")
        self.assertEqual(having, 2, "supervisor and ledger")

    def test_database_is_private(self):
        folder = os.path.join(self.control.dir, "state")
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
        names = os.listdir(folder)
        self.assertIn("bootgate.db", names)
        for name in names:
            self.assertEqual(os.stat(os.path.join(folder, name)).st_mode & 0o777, 0o600, name)

    def test_hung_workers_are_replaced(self):
        workers = sorted(kit.children(self.control.child.pid))[4:]
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        self.control.child.send_signal(signal.SIGHUP)
        self.wait_for(lambda: not set(workers) & set(kit.children(self.control.child.pid)))
        self.assert_booted(self.node.boot())

    # -- slow peers -------------------------------------------------------------------

    def test_half_open_peers(self):
        """A thousand connections that never finish their TLS handshake (T9)."""
        idle = []
        try:
            for i in range(1000):
                s = socket.create_connection(("127.0.0.1", self.control.port), timeout=30)
                if i % 2:
                    s.sendall(b"\x16\x03\x01\x02\x00")
                idle.append(s)
            boot = self.node.boot()
            self.assert_booted(boot)
        finally:
            for s in idle:
                s.close()

    # -- admin ---------------------------------------------------------------------------

    def admin(self, method, path, body=None):
        c = http.client.HTTPConnection("localhost")
        c.sock = socket.socket(socket.AF_UNIX)
        c.sock.connect(self.control.socket)
        c.request(method, "/v1/admin/" + path, body)
        r = c.getresponse()
        answer = json.loads(r.read())
        c.close()
        return r.status, answer

    def test_admin_refuses(self):
        cases = [
            ("GET", "nothing", None, "server.route"),
            ("POST", "node", None, "server.route"),
            ("GET", "node/absent-node", None, "store.not-found"),
            ("POST", "node/n1/approve", "[]", "format.type"),
            ("POST", "node/n1/approve", "{", "format.text"),
            ("POST", "node/n1/approve", '{"label":"a","label":"b"}', "format.text"),
            ("POST", "node/n1/approve", '{"colour":"red"}', "format.unknown-key"),
            ("POST", "node/n1/approve", '{"label":7}', "format.type"),
            ("POST", "node/n1/approve", '{"label":"a\\nb"}', "format.text"),
            ("POST", "node/n1/approve", '{"label":"%s"}' % ("x" * 300), "format.too-large"),
            ("POST", "ref/activate/1", "{}", "policy.reason-missing"),
            ("POST", "ref/activate/999", '{"reason":"x"}', "store.not-found"),
            ("POST", "image", '{"body":"AAAA"}', "cose.structure"),
            ("POST", "image", '{"body":"***"}', "format.text"),
            ("POST", "policy", '{"body":{"id":"p","lifetime":1}}', "format.range"),
            ("POST", "policy", '{"body":{"id":"p","what":1}}', "format.unknown-key"),
            ("POST", "ek/load/list", '{"body":[{}]}', "format.missing-key"),
            ("POST", "ek/load/a%0Ab", '{"body":[{"ek_name":"00"}]}', "format.text"),
        ]
        for method, path, body, reason in cases:
            with self.subTest(path=path, body=body):
                status, answer = self.admin(method, path, body)
                self.assertGreaterEqual(status, 400)
                self.assertEqual(answer["error"]["reason"], reason)
        status, _ = self.admin("GET", "status")
        self.assertEqual(status, 200)

    def test_refusals_say_what_they_are_about(self):
        own = self.control.json("node", "show", "n1")["id"]
        fact = '{"body":{"id":"p","facts":[{"fact":"a","kind":"allowed","values":[]},{"fact":"b","%s":"c"}]}}'
        cases = [
            ("GET", "node/absent-node", None, "store.not-found", "node absent-node"),
            ("GET", "explain/n1?boot=999", None, "store.not-found", "boot 999"),
            ("GET", "node?state=approved", None, "format.range", "state approved"),
            ("GET", "node?group=absent", None, "group.unknown", "group absent"),
            ("GET", "ref?state=enrolled", None, "format.range", "state enrolled"),
            ("GET", "ref/999", None, "store.not-found", "variant 999"),
            ("POST", "image/select/host:9", "{}", "store.not-found", "image host:9"),
            ("POST", "image/select/host:1", '{"group":"absent"}', "group.unknown", "group absent"),
            ("POST", "image/select/host:1", '{"target":"absent"}', "store.not-found", "node absent"),
            ("POST", "image/unselect/host:1", '{"group":"absent"}', "group.unknown", "group absent"),
            ("POST", "image/unselect/host:1", f'{{"target":"{own}"}}', "store.not-found", f"selection of this image for {own}"),
            ("POST", "group/absent/remove", "{}", "group.unknown", "group absent"),
            ("POST", "node/n1/rebind", '{"to":"absent"}', "store.not-found", "node absent"),
            ("POST", "node/n1/approve", '{"colour":"red"}', "format.unknown-key", "colour"),
            ("POST", "node/n1/approve", '{"col\\"our":1}', "format.unknown-key", 'col"our'),
            ("POST", "node/n1/approve", '{"label":7}', "format.type", "label"),
            ("POST", "policy", '{"body":{"id":"p","lifetime":1}}', "format.range", "lifetime"),
            ("POST", "policy", '{"body":{"id":"p","what":1}}', "format.unknown-key", "what"),
            ("POST", "policy", '{"body":{"id":"p","required":1}}', "format.type", "required"),
            ("POST", "policy", fact % "kind", "format.range", "facts 2: kind"),
            ("POST", "policy", fact % "what", "format.unknown-key", "facts 2: what"),
            ("POST", "policy", '{"body":{"id":"p","facts":[{"fact":"a","kind":"allowed","values":["b"],"warn_only":1}]}}',
             "format.type", "facts 1: warn_only"),
            ("POST", "policy", '{"body":{"id":"p","warn_only":["log.replay"]}}', "policy.warn-only", "warn_only"),
            ("POST", "policy", '{"body":{"id":"p","warn_only":["log.what"]}}', "policy.warn-only", "warn_only"),
            ("POST", "policy", '{"body":{"id":"p","affirm":"tpm"}}', "format.type", "affirm"),
            ("POST", "policy", '{"body":{"id":"p","security_versions":["gate"]}}', "format.type", "security_versions"),
            ("POST", "policy", '{"body":{"id":"p","security_versions":{"gate":0}}}', "format.range", "security_versions"),
            ("POST", "policy", '{"body":{"id":"p","security_versions":{"gate":"3"}}}', "format.type", "security_versions"),
            ("POST", "policy", '{"body":{"id":"p","security_versions":{"%s":3}}}' % ("g" * 32), "format.too-large",
             "security_versions"),
            ("POST", "ek/load/list", '{"body":[{}]}', "format.missing-key", "entry 1"),
        ]
        for method, path, body, reason, about in cases:
            with self.subTest(path=path, body=body):
                _, answer = self.admin(method, path, body)
                self.assertEqual((answer["error"]["reason"], answer["error"].get("about")), (reason, about))
        self.assertNotIn("about", self.admin("GET", "nothing")[1]["error"])
        self.assertIn("bootgatectl: variant 999: store.not-found", self.control.ctl("ref", "show", "999", code=1))

    def test_revoked_variant_stays_so(self):
        (first, *_) = self.control.json("ref", "list", "--state", "active")["variants"]
        self.control.ctl("ref", "revoke", str(first["id"]), "--reason", "test")
        said = self.control.ctl("ref", "activate", str(first["id"]), "--reason", "test", code=1)
        self.assertIn(f"variant {first['id']}: store.revoked", said)
        # The way that its remedy names.
        self.control.ctl("ref", "learn", "n1", "--reason", "test")
        self.control.ctl("ref", "activate", "--all-staged", "--reason", "test")
        self.assertIn("nothing is staged", self.control.ctl("ref", "activate", "--all-staged", "--reason", "test"))
        self.assert_booted(self.node.boot())

    def test_evidence_makes_its_folder(self):
        folder = os.path.join(self.control.dir, "evidence-of-n1")
        self.control.ctl("node", "evidence", "n1", folder)
        self.assertIn("firmware.log", os.listdir(folder))

    def test_dry_run_changes_nothing(self):
        before = self.control.json("node", "show", "n1"), len(self.control.json("audit", "list")["rows"])
        self.control.ctl("node", "revoke", "n1", "--dry-run")
        self.control.ctl("node", "approve", "n1", "--label", "other", "--dry-run")
        after = self.control.json("node", "show", "n1"), len(self.control.json("audit", "list")["rows"])
        self.assertEqual(after, before)


if __name__ == "__main__":
    unittest.main()
