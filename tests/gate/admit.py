#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A whole boot: measured, attested, admitted, handed over."""

import hashlib
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cbor  # noqa: E402
import gate_case  # noqa: E402
import server as srv  # noqa: E402
import swtpm  # noqa: E402

ROOM = 8 << 20


def events(log):
    """(pcr, type, {alg: digest}, data) of a crypto-agile log, header skipped."""
    size = struct.unpack_from("<I", log, 28)[0]
    at, out = 32 + size, []
    while at < len(log):
        pcr, kind, count = struct.unpack_from("<III", log, at)
        at += 12
        digests = {}
        for _ in range(count):
            alg = struct.unpack_from("<H", log, at)[0]
            n = hashlib.new(srv.ALGS[alg]).digest_size
            digests[alg] = log[at + 2:at + 2 + n]
            at += 2 + n
        n = struct.unpack_from("<I", log, at)[0]
        out.append((pcr, kind, digests, log[at + 4:at + 4 + n]))
        at += 4 + n
    return out


def facts(log):
    """[(pcr, tag, text)], each digest checked."""
    out = []
    for pcr, kind, digests, data in events(log):
        assert kind == 6
        for alg, digest in digests.items():
            assert hashlib.new(srv.ALGS[alg], data).digest() == digest
        tag, n = struct.unpack_from("<II", data)
        assert len(data) == 8 + n
        out.append((pcr, tag, data[8:].decode()))
    return out


def replay(log, pcr, alg=0xB):
    name = srv.ALGS[alg]
    value = bytes(hashlib.new(name).digest_size)
    for p, _, digests, _ in events(log):
        if p == pcr:
            value = hashlib.new(name, value + digests[alg]).digest()
    return value.hex()


def cpio(b):
    """{name: content} of the first archive, and where it ends."""
    at, out = 0, {}
    while True:
        assert b[at:at + 6] == b"070701"
        f = [int(b[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
        size, name_size = f[6], f[11]
        name = b[at + 110:at + 110 + name_size - 1].decode()
        at = (at + 110 + name_size + 3) & ~3
        if name == "TRAILER!!!":
            return out, at
        assert f[2] == f[3] == f[5] == 0
        out[name] = (f[1], b[at:at + size])
        at = (at + size + 3) & ~3


class Admit(gate_case.GateCase):
    def test_whole_boot(self):
        run = self.gate()
        self.admitted(run)
        self.assertEqual(run.steps(), ["network", "tpm", "collect", "measure", "challenge",
                                       "quote", "verdict admit", "fetch", "load", "measured",
                                       "receipt", "kexec"])
        self.assertEqual(self.loaded("kernel"), self.server.kernel)
        self.assertEqual(self.loaded("cmdline"), b"console=ttyS0 quiet")
        initrd = self.loaded("initrd")
        self.assertEqual(initrd[ROOM:], self.server.initrd)
        members, end = cpio(initrd)
        self.assertEqual(initrd[end:ROOM].strip(b"\0"), b"")
        extra = ".extra/bootgate/"
        files = {k[len(extra):]: v[1] for k, v in members.items() if k.startswith(extra)}
        self.assertEqual(files["evidence.cbor"], self.server.evidence)
        self.assertEqual(files["verdict.cose"], self.server.signed)
        self.assertEqual(files["manifest.cose"], self.server.signed_manifest)
        log = self.server.receipt_claims[4]
        self.assertTrue(log.startswith(files["gate.log"]))
        decision = [(p, t, x) for p, t, x in facts(log) if p == 14]
        s = self.server
        archive = initrd[:(end + 511) & ~511]
        self.assertEqual(decision, [
            (14, 0x42470E01, srv.sha(s.signed).hex()),
            (14, 0x42470E02, srv.sha(s.signed_manifest).hex()),
            (14, 0x42470E03, srv.sha(s.kernel).hex()),
            (14, 0x42470E04, srv.sha(s.initrd).hex()),
            (14, 0x42470E05, srv.sha(b"console=ttyS0 quiet").hex()),
            (14, 0x42470E06, srv.sha(archive).hex())])
        # the cap is the last word in both registers, in every bank
        for alg, bank in srv.ALGS.items():
            for pcr in (8, 14):
                value = bytes.fromhex(replay(log, pcr, alg))
                cap = b"\xff\0\x47\x42" + struct.pack("<I", 12) + b"bootgate:cap"
                h = hashlib.new(bank, value + hashlib.new(bank, cap).digest())
                self.assertEqual(self.pcr(pcr, bank), h.hexdigest(), (pcr, bank))
        self.assertEqual(self.machine.read("proc/sys/kernel/kexec_load_disabled")[:1], b"1")
        self.assertEqual(self.machine.read("sys/kernel/security/lockdown")[:9], b"integrity")
        self.assertGreater(len(self.machine.read("dev/watchdog0")), 5)
        self.assertEqual(self.server.failures, [])
        self.assertLessEqual(max(map(len, run.lines)), 78)
        self.assertTrue(run.text.isascii())

    def test_one_connection_for_all_messages(self):
        self.admitted(self.gate())
        # one to the server, one to the mirror
        self.assertEqual(self.server.connections, 2)

    def test_facts(self):
        self.admitted(self.gate())
        found = [(t, x) for p, t, x in facts(self.server.claims[8])]
        values = dict(found)
        self.assertEqual(values[0x42470811], "1.2.3")
        self.assertEqual(values[0x42470814], "Server 9000")
        self.assertEqual(values[0x42470820], "AuthenticAMD")
        self.assertEqual(values[0x42470821], "25 17")
        self.assertEqual(values[0x42470823], "0xa10113e")
        self.assertEqual(values[0x42470832], "off")
        # what sysfs shows once a 1 was written to it; here that changed the file
        rom = hashlib.sha256(b"1om of a GPU").hexdigest()
        self.assertEqual(values[0x42470840], f"10de:2330 10de:16c1 030200 a1 rom={rom}")
        self.assertIn("15b3:1021 15b3:0023 020000 a1 rom=none", values[0x42470841])
        self.assertEqual(found[-1], (0x424708FE, "end"))
        report = cbor.loads(self.server.claims[10])
        report_facts = dict(map(tuple, report[2]))
        self.assertEqual(report_facts["kernel.command-line"], "gate.efi console=ttyS0")
        self.assertEqual(report_facts["system.serial"], "SN-1")
        self.assertEqual(report_facts["system.uuid"], "03020100-0504-0706-0809-0a0b0c0d0e0f")
        self.assertIn("52:54:00:12:34:56", report_facts["nic"])

    def test_configuration_digest(self):
        self.admitted(self.gate())
        h = hashlib.sha256(b"bootgate-config-v1\0")
        for name in ("boot.conf", "server-ca.pem", "verdict-keys/one.pem", "release-keys/0.pem",
                     "release-keys/1.pem"):
            with open(os.path.join(self.site, name), "rb") as f:
                b = f.read()
            h.update(struct.pack(">H", len(name)) + name.encode() + struct.pack(">I", len(b)) + b)
        values = {t: x for _, t, x in facts(self.server.claims[8])}
        self.assertEqual(values[0x42470802], h.hexdigest())

    def test_enrolment(self):
        self.server.enrol = True
        run = self.gate()
        self.admitted(run)
        self.assertIn("enrol", run.steps())
        self.assertEqual(list(self.server.enrolled), [self.server.ak_name])
        self.tpm.restart()
        run = self.gate()
        self.admitted(run)
        self.assertNotIn("enrol", run.steps())

    def test_enrolment_offered(self):
        self.server.offer = True
        run = self.gate()
        self.admitted(run)
        self.assertIn("enrol", run.steps())
        self.assertTrue(self.server.offered)

    def test_offer_comes_to_nothing(self):
        """The boot goes on with what it had, and does not wait."""
        self.server.offer = True
        real = srv.make_credential
        self.addCleanup(setattr, srv, "make_credential", real)

        def refuses(_handler, _body):
            raise srv.problem(403, "ek.untrusted", retry=15)

        def another(p, _name, secret):
            return real(p, b"\0\x0b" + bytes(32), secret)

        for name, answer, credential in (("refused", refuses, real), ("garbage", lambda *_: b"\xa0", real),
                                         ("another's", None, another)):
            with self.subTest(name):
                self.server.on = {"/v1/enrol": answer} if answer else {}
                srv.make_credential = credential
                self.tpm.restart()
                run = self.gate()
                self.admitted(run)
                self.assertIn("enrol", run.steps())
                self.assertIn(": new certificates are left alone", run.text)
                self.assertFalse(self.server.offered)
                self.assertNotIn("waiting", run.text)
        # a refusal by the verdict is one: what went wrong before makes nobody wait
        self.server.on["/v1/enrol"] = refuses
        self.server.directive = srv.REFUSE
        self.server.reasons = [["node.revoked", ""]]
        self.tpm.restart()
        self.refused(self.gate(), "node.revoked")

    def test_update(self):
        self.server.directive = srv.UPDATE
        self.server.purpose = srv.MAINTENANCE
        run = self.gate()
        self.admitted(run)
        self.assertIn("verdict update", run.steps())

    def test_template_values(self):
        self.server.cmdline = "quiet root=%{hash} ip=%{ip}"
        self.server.parameter_types = {"hash": [0, 8], "ip": [1, 0]}
        self.server.parameters = {"hash": "0123abcd", "ip": "10.0.0.7"}
        self.admitted(self.gate())
        self.assertEqual(self.loaded("cmdline"), b"quiet root=0123abcd ip=10.0.0.7")

    def test_hold_then_admit(self):
        self.server.directive = srv.HOLD
        self.server.reasons = [["node.pending", "not approved yet"]]

        def attest(_handler, body):
            out = self.server.do_attest(body)
            self.server.directive = srv.ADMIT
            self.server.reasons = []
            return out
        self.server.on["/v1/attest"] = attest
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("waiting node.pending"), run.text)
        self.assertTrue(run.has("differs: node.pending not approved yet"), run.text)
        self.assertTrue(run.has("contact: call the desk"), run.text)
        self.assertTrue(run.has("node node-7 (3f2a)"), run.text)
        # the facts were measured once
        self.assertEqual(run.steps().count("measure"), 1)
        self.assertEqual(run.steps().count("quote"), 2)

    def extended_at_quote(self, which):
        """A boot in which somebody extends register 7 in front of these quotes."""
        auth = struct.pack(">IHBH", 0x40000009, 0, 0, 0)
        body = struct.pack(">II", 7, len(auth)) + auth + struct.pack(">IH", 1, 0xB) + b"x" * 32
        extend = struct.pack(">HII", 0x8002, 10 + len(body), 0x182) + body
        proxy = swtpm.Proxy(self.tpm, f"Quote{which}:behind={extend.hex()}")
        self.addCleanup(proxy.close)
        return self.gate("--tpm", proxy.where), len(proxy.messages(">", "Quote"))

    def test_register_moves_before_the_quote(self):
        """What goes up always fits: the scripted server compares, too."""
        run, quotes = self.extended_at_quote("#1+2")
        self.admitted(run)
        self.assertEqual(quotes, 4)
        self.assertEqual(run.steps().count("quote"), 1)

    def test_register_moves_before_the_receipt_quote(self):
        run, quotes = self.extended_at_quote("#2")
        self.admitted(run)
        self.assertEqual(quotes, 3)

    def test_register_never_rests(self):
        run, quotes = self.extended_at_quote("#1+*")
        self.refused(run, "quote.digest")
        self.assertEqual(quotes, 3)
        self.assertEqual(self.server.verdicts, [])

    def test_registers_are_refused_when_used(self):
        self.tpm.tool("tpm2_pcrextend", "14:sha256=" + "11" * 32)
        run = self.gate()
        self.refused(run, "tpm.register-used")

    def test_no_tpm(self):
        run = self.gate("--tpm", "swtpm:host=127.0.0.1,port=1")
        self.refused(run, "tpm.absent", 1)


if __name__ == "__main__":
    swtpm.main()
