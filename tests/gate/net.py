#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The way to the server: what breaks there, and a net child that was taken over."""

import os
import signal
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cbor  # noqa: E402
import gate_case  # noqa: E402
import server as srv  # noqa: E402
import swtpm  # noqa: E402


class Net(gate_case.GateCase):
    def first(self, path, reply, times=1):
        """The first answers on this path are `reply`'s, the others right."""
        seen = []

        def answer(handler, body):
            seen.append(1)
            if len(seen) <= times:
                return reply(handler, body)
            del self.server.on[path]
            return self.server.reply(handler, body)
        self.server.on[path] = answer
        return seen

    def waits(self, reason, path, reply, times=1):
        self.first(path, reply, times)
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has(f"waiting {reason}"), run.text)
        return run

    @staticmethod
    def error(status, body=b"", **headers):
        def reply(_handler, _body):
            raise srv.Answer(status, body, **headers)
        return reply

    def test_server_error(self):
        self.waits("net.status", "/v1/challenge", self.error(500, b"<html>oops"))

    def test_busy(self):
        self.waits("net.busy", "/v1/attest", self.error(503, b"", Retry_After="2"))

    def test_problem(self):
        def reply(_handler, _body):
            raise srv.problem(503, "server.busy", "Come back later.", retry=3)
        run = self.waits("server.busy", "/v1/challenge", reply)
        self.assertTrue(run.has("server says: Come back later."), run.text)

    def test_problem_is_no_judgement(self):
        """Only a signed verdict refuses: here the gate goes on trying."""
        def reply(_handler, _body):
            raise srv.problem(403, "node.revoked", "Go away.")
        self.waits("node.revoked", "/v1/attest", reply, 2)

    def test_problem_with_unknown_reason(self):
        def reply(_handler, _body):
            raise srv.problem(400, "new.reason", "x")
        self.waits("net.status", "/v1/challenge", reply)

    def test_problem_text_is_harmless(self):
        def reply(_handler, _body):
            raise srv.Answer(400, b"\xa3" + cbor.dumps(-1) + cbor.dumps("\x1b[2J bad"))
        run = self.waits("net.status", "/v1/challenge", reply)
        self.assertNotIn("\x1b", run.text)

    def test_redirect(self):
        self.waits("net.status", "/v1/challenge",
                   self.error(307, b"", Location="https://127.0.0.1:1/"))

    def test_redirect_to_plain_http(self):
        self.waits("net.status", "/v1/attest",
                   self.error(307, b"", Location=self.server.mirror_url + "/v1/elsewhere"))
        self.assertNotIn("/v1/elsewhere", self.server.calls)

    def test_other_schemes(self):
        """Only https to the server, only http and https to a mirror: said at the start."""
        for key, url in (("server__url", self.server.mirror_url), ("server__url", "ftp://127.0.0.1"),
                         ("server__url", "file:///etc"), ("server__url", "127.0.0.1"),
                         ("mirror__url", "ftp://127.0.0.1"), ("mirror__url", "file:///sha256")):
            with self.subTest(url=url):
                self.make_site(**{key: url})
                run = self.gate()
                self.assertTrue(run.has("failed conf.value"), run.text + run.err)
                self.assertFalse(run.has("jump"))
        self.assertEqual(self.server.calls, [])

    def test_connection_cut(self):
        def reply(handler, _body):
            handler.close_connection = True
        self.waits("net.cut", "/v1/challenge", reply)

    def test_half_an_answer(self):
        def reply(handler, _body):
            handler.send_response(200)
            handler.send_header("Content-Length", "500")
            handler.end_headers()
            handler.wfile.write(bytes(100))
            handler.close_connection = True
        self.waits("net.cut", "/v1/attest", reply)

    def test_silent(self):
        def reply(_handler, _body):
            time.sleep(3)
        run = self.waits("net.timeout", "/v1/challenge", reply)
        self.assertEqual(run.code, 0)

    def refusal(self, reason, path, body):
        self.server.on[path] = lambda _h, _b: body
        self.refused(self.gate(), reason)

    def test_garbage_challenge(self):
        self.refusal("net.answer", "/v1/challenge", b"\xff" * 100)

    def test_empty_challenge(self):
        self.refusal("net.answer", "/v1/challenge", b"")

    def test_oversized_challenge(self):
        self.refusal("net.answer", "/v1/challenge", bytes(4097))

    def test_challenge_of_another_version(self):
        m = self.server.challenge(False)
        m[1] = 2
        self.refusal("net.answer", "/v1/challenge", cbor.dumps(m))

    def test_garbage_enrolment(self):
        self.server.enrol = True
        self.refusal("net.answer", "/v1/enrol", b"\xa0")

    def test_credential_of_another_tpm(self):
        self.server.enrol = True
        real = srv.make_credential
        self.addCleanup(setattr, srv, "make_credential", real)
        srv.make_credential = lambda p, name, s: real(p, b"\0\x0b" + bytes(32), s)
        self.refused(self.gate(), "tpm.activate")

    def test_not_our_ca(self):
        other = self.path("other-ca.pem")
        self.pki.make_server(other, self.path("unused.pem"))
        self.make_site(ca=other)
        self.waits_for_ever("net.tls")

    def test_name_mismatch(self):
        context = self.server.tls_context
        chain = self.path("elsewhere.pem")
        with open(self.pki.ca, "rb") as f:
            before = f.read()
        self.pki.make_server(self.path("ca2.pem"), chain, "10.1.2.3")
        context.load_cert_chain(chain)
        self.make_site(ca=self.path("ca2.pem"))
        self.assertNotEqual(before, b"")
        self.waits_for_ever("net.tls")

    def waits_for_ever(self, reason, times=3, *extra):
        p = self.start(*extra)
        seen = []
        end = time.monotonic() + 20
        for line in p.stdout:
            seen.append(line)
            found = seen.count(f"bootgate: waiting {reason}\n")
            if found == times or time.monotonic() > end:
                break
        p.terminate()
        p.communicate(timeout=20)
        self.assertEqual(found, times, "".join(seen))

    def test_nobody_there(self):
        self.make_site(server__url=f"https://127.0.0.1:{srv.free_port()}")
        self.waits_for_ever("net.connect")

    def test_name_not_resolved(self):
        self.make_site(server__url="https://nowhere.invalid")
        # the resolver gives up by itself after 10 s
        self.waits_for_ever("net.dns", 1, "--hurry", "2")

    def test_server_starts_later(self):
        port = srv.free_port()
        self.make_site(server__url=f"https://127.0.0.1:{port}")
        p = self.start()
        lines = []
        for line in p.stdout:
            lines.append(line)
            if line == "bootgate: waiting net.connect\n":
                break
        # a plain forwarder brings the server to that port
        listener = socket.create_server(("127.0.0.1", port))
        self.addCleanup(listener.close)

        def pump(a, b):
            try:
                while data := a.recv(65536):
                    b.sendall(data)
            except OSError:
                pass
            for s in (a, b):
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

        def forward():
            while True:
                try:
                    a, _ = listener.accept()
                except OSError:
                    return
                b = socket.create_connection(("127.0.0.1", self.server.port))
                for x, y in ((a, b), (b, a)):
                    threading.Thread(target=pump, args=(x, y), daemon=True).start()
        threading.Thread(target=forward, daemon=True).start()
        rest, _ = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 0, "".join(lines) + rest)

    def test_receipt_lost_for_a_while(self):
        got = []

        def reply(_handler, body):
            got.append(body)
            self.server.do_receipt(body)
            time.sleep(1)
        self.first("/v1/receipt", reply, 2)
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("waiting net.timeout"), run.text)
        self.assertEqual(len(set(got + self.server.receipts[-1:])), 1)

    def test_receipt_lost_for_ever(self):
        self.server.on["/v1/receipt"] = self.error(500)
        run = self.gate()
        self.refused(run, "boot.receipt", 1)

    def test_receipt_acknowledges_another(self):
        self.server.on["/v1/receipt"] = lambda _h, _b: cbor.dumps({1: 1, 2: bytes(32)})
        self.refused(self.gate(), "boot.receipt", 1)

    def test_failure_is_reported_with_the_log(self):
        self.server.directive = srv.REFUSE
        self.gate()
        report = self.server.failures[-1]
        self.assertEqual(report[2], "verdict.refused")
        self.assertEqual(report[3], "verdict")
        self.assertIn(b"step quote", report[4])
        self.assertLessEqual(len(report[4]), 16384)
        self.assertEqual(report[5], self.server.ak_name)

    def test_what_follows_a_failure(self):
        """The test build names the command that it does not give."""
        for kind, action, command in (("refused", "reboot", "01234567"),
                                      ("refused", "poweroff", "4321fedc"),
                                      ("broken", "poweroff", "4321fedc")):
            with self.subTest(kind=kind, action=action):
                self.tpm.restart()
                self.server.directive = srv.REFUSE if kind == "refused" else srv.ADMIT
                self.server.memory = 0 if kind == "refused" else 1 << 40
                self.make_site(**{"fail." + kind: action})
                run = self.gate()
                self.assertTrue(run.has("state: " + kind), run.text)
                self.assertIn("reboot command " + command, run.err)

    def test_jump_that_does_not_happen(self):
        run = self.gate(BOOTGATE_TEST_JUMP="fails")
        self.assertTrue(run.has("failed boot.jump"), run.text)
        self.assertEqual(run.code, 1)
        self.assertIn("reboot command 45584543", run.err)
        self.assertIn("reboot command 4321fedc", run.err)

    def test_waits_for_an_operator(self):
        self.server.directive = srv.REFUSE
        self.make_site(**{"fail.refused": "wait"})
        p = self.start()
        blocks = 0
        for line in p.stdout:
            # the block comes again, each minute (here: 1.2 s)
            blocks += line == "bootgate: next: waits for an operator\n"
            if blocks == 3:
                break
        self.assertIsNone(p.poll())
        p.terminate()
        p.communicate(timeout=20)

    def test_bad_configuration(self):
        self.write("site/boot.conf", "server.url = https://x\nwhat.is = this\n")
        run = self.gate()
        self.assertTrue(run.has("failed conf.unknown-key"), run.text)
        self.assertIn("boot.conf line 2 what.is", run.text)
        self.assertEqual(run.code, 1)

    def test_no_verdict_key(self):
        os.unlink(os.path.join(self.site, "verdict-keys", "one.pem"))
        run = self.gate()
        self.assertTrue(run.has("failed site.keys"), run.text)


    def test_key_put_aside(self):
        """A name that another tool would pass over: it is still a pinned key."""
        keys = os.path.join(self.site, "release-keys")
        os.rename(os.path.join(keys, "1.pem"), os.path.join(keys, "1.pem.disabled"))
        run = self.gate()
        self.assertTrue(run.has("failed site.keys"), run.text)


class Script(gate_case.GateCase):
    """The script that brings a port up, played by a shell script."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.machine.path("run"))
        # the script is another user, who writes into the test's folder
        for folder in (self.shared, self.folder, self.machine.root, self.tpm.folder):
            os.chmod(folder, 0o777)

    def script(self, text):
        self.machine.write("lib/bootgate/network", "#!/bin/sh\n" + text)
        os.chmod(self.machine.path("lib/bootgate/network"), 0o755)

    def command(self, *extra):
        return [x for x in super().command(*extra) if x != "--no-network-setup"]

    def test_up_at_once(self):
        self.make_site(net__method="static", net__address="10.0.0.5/24",
                       net__gateway="10.0.0.1", net__dns="10.0.0.2",
                       net__carrier_timeout="7")
        out = self.path("env")
        self.script(f"env >{out}\necho net: eth0 up 10.0.0.5/24\n")
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("net: eth0 up 10.0.0.5/24"), run.text)
        with open(out, encoding="ascii") as f:
            env = set(f.read().splitlines())
        self.assertLessEqual({"NET_METHOD=static", "NET_ADDRESS=10.0.0.5/24",
                              "NET_GATEWAY=10.0.0.1", "NET_DNS=10.0.0.2",
                              "NET_CARRIER_TIMEOUT=7"}, env)
        self.assertFalse([x for x in env if "TEST" in x or "HOME" in x])

    def test_up_last(self):
        """Key, facts and registers do not wait for the network."""
        proxy = swtpm.Proxy(self.tpm)
        self.addCleanup(proxy.close)
        self.script(f"""for i in $(seq 400); do
    grep -q "^< CreatePrimary" {proxy.tap} &&
        [ $(grep -c "^< PCR_Extend" {proxy.tap}) -ge 20 ] && exit 0
    sleep 0.05
done
exit 1
""")
        self.admitted(self.gate("--tpm", proxy.where))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_own_user(self):
        """Of root's powers it has two: CAP_NET_ADMIN and CAP_NET_RAW."""
        self.script("tr '\\t' ' ' </proc/self/status\n"
                    'touch "$NET_FOLDER/mine" && echo may write here\n')
        run = self.gate()
        self.admitted(run)
        for line in ("Uid: 64511 64511 64511 64511", "Gid: 64511 64511 64511 64511",
                     "NoNewPrivs: 1", "CapPrm: 0000000000003000",
                     "CapEff: 0000000000003000", "CapBnd: 0000000000003000",
                     "may write here"):
            self.assertTrue(run.has(line), line + "\n" + run.text)

    @unittest.skipUnless(os.geteuid() == 0, "the resolver's folder is root's")
    def test_name_servers(self):
        self.script("echo net: dns 10.0.0.2\necho 'net: dns 10.0.0.3;x'\n"
                    "echo net: dns ::1\necho net: dns 10.0.0.4\n"
                    "echo net: dns 10.0.0.5\necho net: dns 10.0.0.6\n")
        self.admitted(self.gate())
        with open("/run/bootgate-net/etc/resolv.conf", encoding="ascii") as f:
            self.assertEqual(f.read(), "nameserver 10.0.0.2\nnameserver 10.0.0.4\n"
                                       "nameserver 10.0.0.5\n")

    def later(self, line, reason):
        mark = self.path("mark")
        self.script(f"[ -e {mark} ] && exit 0\n>{mark}\necho '{line}'\nexit 75\n")
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has(f"waiting {reason}"), run.text)

    def test_no_carrier(self):
        self.later("net: eth0 no carrier", "net.no-carrier")

    def test_no_address(self):
        self.later("net: eth0 carrier", "net.no-address")

    def test_script_is_broken(self):
        self.script("exit 2\n")
        run = self.gate()
        self.assertTrue(run.has("failed internal.child"), run.text)

    def test_no_script(self):
        run = self.gate()
        self.assertTrue(run.has("failed internal.child"), run.text)

    def test_noise(self):
        """Status lines are data: cut, and printable."""
        self.script("head -c 100000 /dev/urandom\nprintf '\\033[2J\\n'\n")
        run = self.gate()
        self.admitted(run)
        self.assertLessEqual(max(map(len, run.lines)), 78)
        self.assertTrue(all(" " <= c <= "~" for x in run.lines for c in x))

    def test_address_lost(self):
        """After several calls that found no way the port is set up again."""
        mark = self.path("mark")
        self.script(f"echo x >>{mark}\n")
        port = srv.free_port()
        self.make_site(server__url=f"https://127.0.0.1:{port}")
        p = self.start()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if os.path.exists(mark) and os.path.getsize(mark) >= 4:
                break
            time.sleep(0.05)
        p.terminate()
        p.communicate(timeout=20)
        self.assertGreaterEqual(os.path.getsize(mark), 4)


class Child(gate_case.GateCase):
    """Whatever the net child sends, the root process names it and goes no further."""

    def hostile(self, what, reason="internal.child", code=1):
        run = self.gate(BOOTGATE_TEST_NET=what)
        self.refused(run, reason, code)

    def test_short(self):
        self.hostile("short")

    def test_long(self):
        self.hostile("long")

    def test_empty(self):
        self.hostile("empty")

    def test_zero(self):
        self.hostile("zero")

    def test_ranges(self):
        self.hostile("token")

    def test_other_type(self):
        self.hostile("other-type")

    def test_unknown_type(self):
        self.hostile("unknown-type")

    def test_reason_out_of_range(self):
        self.hostile("reason")

    def test_answer_to_another_request(self):
        self.hostile("other-id")

    def test_raw_bytes(self):
        self.hostile("raw")

    def test_ends(self):
        self.hostile("exit")

    def test_silent(self):
        p = self.start(BOOTGATE_TEST_NET="silent")
        seen = []
        for line in p.stdout:
            seen.append(line)
            if seen.count("bootgate: waiting net.timeout\n") == 2:
                break
        p.terminate()
        p.communicate(timeout=20)
        self.assertIn("bootgate: net child is replaced\n", seen)


class Guard(gate_case.GateCase):
    """Any end of the gate is a cap."""

    def run_and_kill(self, kill):
        self.server.directive = srv.HOLD
        p = self.start()
        lines = []
        for line in p.stdout:
            lines.append(line)
            if line == "bootgate: waiting verdict.hold\n":
                break
        kill(p)
        rest, _ = p.communicate(timeout=30)
        return p.returncode, "".join(lines) + rest

    def child_of(self, p):
        with open(f"/proc/{p.pid}/task/{p.pid}/children", encoding="ascii") as f:
            return int(f.read().split()[0])

    def test_killed(self):
        before = None

        def kill(p):
            nonlocal before
            os.kill(self.child_of(p), signal.SIGKILL)
        code, text = self.run_and_kill(kill)
        self.assertEqual(code, 1)
        self.assertIn("bootgate: failed internal\n", text)
        self.assertNotEqual(self.pcr(14), "0" * 64)
        self.assertNotEqual(self.pcr(14, "sha1"), "0" * 40)

    def test_signals_to_the_guard(self):
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(s=s):
                self.tpm.restart()
                code, text = self.run_and_kill(lambda p, s=s: p.send_signal(s))
                self.assertEqual(code, 1)
                self.assertNotEqual(self.pcr(14), "0" * 64)

    def test_crash(self):
        code, _ = self.run_and_kill(lambda p: os.kill(self.child_of(p), signal.SIGSEGV))
        self.assertEqual(code, 1)
        self.assertNotEqual(self.pcr(8), "0" * 64)


if __name__ == "__main__":
    swtpm.main()
