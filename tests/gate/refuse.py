#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Verdicts, manifests and artifacts that are not what they should be."""

import hashlib
import os
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cbor  # noqa: E402
import gate_case  # noqa: E402
import server as srv  # noqa: E402
import swtpm  # noqa: E402


class Verdict(gate_case.GateCase):
    def set(self, **labels):
        labels = {int(k.replace("m", "-").lstrip("L")): v for k, v in labels.items()}
        self.server.edit_verdict = lambda v: v.update(labels)

    def edit(self, label, change):
        def edit(v):
            v[label] = change(v[label])
        self.server.edit_verdict = edit

    def test_refuse(self):
        self.server.directive = srv.REFUSE
        self.server.reasons = [["policy.variant", "PCR 4 event 12: other digest"],
                               ["policy.fact", "bios.version"]]
        run = self.gate()
        self.refused(run, "policy.variant")
        self.assertTrue(run.has("differs: policy.variant PCR 4 event 12: other digest"), run.text)
        self.assertTrue(run.has("differs: policy.fact bios.version"), run.text)
        self.capped("policy.variant")

    def test_refuse_names_a_longer_delay(self):
        """The site says one second; the server knows that it was not the first time."""
        self.server.directive = srv.REFUSE
        for seconds, shown in ((0, 1), (100, 2)):  # as --hurry 50 has it
            self.tpm.restart()
            self.server.retry_after = seconds
            run = self.gate()
            self.refused(run, "verdict.refused")
            self.assertTrue(run.has(f"next: reboot in {shown} s"), run.text)

    def test_reason_of_a_newer_server(self):
        self.server.directive = srv.REFUSE
        self.server.reasons = [["future.reason", "something"]]
        self.refused(self.gate(), "future.reason")
        self.capped("verdict.refused")

    def capped(self, reason):
        """PCR 14 holds exactly the failure's cap, PCR 8 the facts and it."""
        text = b"failed: " + reason.encode()
        data = struct.pack("<II", 0x424700FF, len(text)) + text
        for bank in ("sha1", "sha256", "sha384", "sha512"):
            h = hashlib.new(bank)
            value = hashlib.new(bank, bytes(h.digest_size) + hashlib.new(bank, data).digest())
            self.assertEqual(self.pcr(14, bank), value.hexdigest())

    def test_other_nonce(self):
        self.edit(10, lambda n: bytes(32))
        self.refused(self.gate(), "verdict.nonce")
        self.capped("verdict.nonce")

    def test_other_ak(self):
        self.edit(-70002, lambda n: n[:-1] + bytes([n[-1] ^ 1]))
        self.refused(self.gate(), "verdict.ak")

    def test_other_evidence(self):
        self.edit(-70003, lambda n: srv.sha(n))
        self.refused(self.gate(), "verdict.evidence")

    def test_other_stage(self):
        def edit(v):
            v[-70001] = 1
            del v[-70005]
        self.server.edit_verdict = edit
        self.refused(self.gate(), "verdict.stage")

    def test_other_key(self):
        self.server.verdict_key = self.pki.release[0]
        self.refused(self.gate(), "cose.key-unknown")

    def test_wrong_signature(self):
        def attest(_handler, body):
            b = bytearray(self.server.do_attest(body))
            b[-1] ^= 1
            return bytes(b)
        self.server.on["/v1/attest"] = attest
        self.refused(self.gate(), "cose.signature")

    def test_manifest_signature_is_no_verdict(self):
        real = cbor.sign1
        self.addCleanup(setattr, cbor, "sign1", real)
        cbor.sign1 = lambda k, p: real(k, p, aad=b"bootgate-manifest-v1")
        self.refused(self.gate(), "cose.signature")

    def test_header_that_is_not_signed(self):
        real = cbor.sign1
        self.addCleanup(setattr, cbor, "sign1", real)
        cbor.sign1 = lambda k, p: real(k, p, unprotected={4: b"x"})
        self.refused(self.gate(), "cose.header")

    def test_replayed_verdict(self):
        self.admitted(self.gate())
        old = self.server.verdicts[0]
        self.tpm.restart()
        self.server.on["/v1/attest"] = lambda _handler, body: old
        for name in os.listdir(self.out):
            os.unlink(os.path.join(self.out, name))
        self.refused(self.gate(), "verdict.nonce")
        self.assertEqual(os.listdir(self.out), [])

    def test_verdict_of_another_node(self):
        """A second TPM gets what was said to the first (SRV-NONCE-ONCE)."""
        self.admitted(self.gate())
        old = self.server.verdicts[0]
        for name in os.listdir(self.out):
            os.unlink(os.path.join(self.out, name))
        self.server.on["/v1/attest"] = lambda _handler, body: old
        with swtpm.Swtpm(fresh=True) as other:
            self.refused(self.gate("--tpm", other.where), "verdict.nonce")
        self.assertEqual(os.listdir(self.out), [])

    def test_garbage(self):
        self.server.on["/v1/attest"] = lambda _handler, body: os.urandom(500)
        self.refused(self.gate(), "cose.structure")

    def test_trailing_byte(self):
        self.server.on["/v1/attest"] = lambda _h, body: self.server.do_attest(body) + b"\0"
        self.refused(self.gate(), "cose.structure")

    def test_too_large(self):
        self.server.on["/v1/attest"] = lambda _h, body: bytes((64 << 10) + 1)
        self.refused(self.gate(), "net.answer")

    def test_unknown_label(self):
        self.server.edit_verdict = lambda v: v.update({-70099: 1})
        self.refused(self.gate(), "format.unknown-key")

    def test_admit_without_manifest(self):
        self.server.edit_verdict = lambda v: v.pop(-70005)
        self.refused(self.gate(), "format.range")

    def test_hold_with_manifest(self):
        def edit(v):
            v[-70004] = srv.HOLD
        self.server.edit_verdict = edit
        self.refused(self.gate(), "format.range")

    def test_lifetime_over_on_arrival(self):
        """Waits and tries again, with another nonce; then it is admitted."""
        times = []

        def attest(_handler, body):
            times.append(1)
            self.server.lifetime = 1 if len(times) == 1 else 600
            out = self.server.do_attest(body)
            if len(times) == 1:
                time.sleep(1.1)
            return out
        self.server.on["/v1/attest"] = attest
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("waiting verdict.expired"), run.text)
        self.assertEqual(len(times), 2)

    def test_lifetime_over_after_download(self):
        times = []

        def artifact(handler, name):
            times.append(name)
            if len(times) == 2:
                time.sleep(1.1)
                self.server.lifetime = 600
            return self.server.do_artifact(handler, name[len("/sha256/"):])
        self.server.lifetime = 1
        self.server.on["/sha256/"] = lambda h, _b: artifact(h, h.path)
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("waiting verdict.expired"), run.text)
        # what was there was not fetched again
        self.assertEqual(len(times), 2)
        self.assertEqual(run.steps().count("quote"), 2)

    def test_challenge_selects_less(self):
        for selection in ([(0xB, 0x1FF)], [(0xB, 0xFBFF)], [(4, 0xFBFF)],
                          [(4, 0xFBFF), (0xB, 0xFBFF), (0xC, 0xFBFF), (0xD, 0xFFFF)]):
            with self.subTest(selection=selection):
                self.tpm.restart()
                self.server.selection = selection
                self.refused(self.gate(), "net.answer")


class Manifest(gate_case.GateCase):
    def test_other_release_key(self):
        self.server.release_keys = [self.pki.release[2]]
        self.refused(self.gate(), "manifest.threshold")

    def test_threshold(self):
        self.make_site(threshold=2)
        self.refused(self.gate(), "manifest.threshold")

    def test_same_key_twice(self):
        self.make_site(threshold=2)
        self.server.release_keys = [self.pki.release[0], self.pki.release[0]]
        self.refused(self.gate(), "manifest.threshold")

    def test_two_of_two(self):
        self.make_site(threshold=2)
        self.server.release_keys = self.pki.release[:2]
        self.admitted(self.gate())

    def test_other_manifest_than_the_verdict_names(self):
        self.server.on["/v1/manifest/"] = lambda _h, _b: self.server.manifest()
        self.refused(self.gate(), "manifest.digest")

    def test_purpose(self):
        self.server.purpose = srv.MAINTENANCE
        self.refused(self.gate(), "manifest.purpose")

    def test_purpose_cvm(self):
        self.server.purpose = srv.CVM
        self.refused(self.gate(), "manifest.purpose")

    def test_update_wants_maintenance(self):
        self.server.directive = srv.UPDATE
        self.refused(self.gate(), "manifest.purpose")

    def test_floor(self):
        self.make_site(release__floor__lab="4")
        self.refused(self.gate(), "manifest.floor")

    def test_floor_of_another_line(self):
        self.make_site(release__floor__other="1")
        self.refused(self.gate(), "manifest.floor")

    def test_at_the_floor(self):
        self.make_site(release__floor__lab="3")
        self.admitted(self.gate())

    def test_template_value_missing(self):
        self.server.cmdline = "a=%{x}"
        self.server.parameter_types = {"x": [0, 4]}
        self.refused(self.gate(), "manifest.template")

    def test_template_value_smuggles_a_parameter(self):
        self.server.cmdline = "a=%{x}"
        self.server.parameter_types = {"x": [2, 40]}
        self.server.parameters = {"x": "host init=/bin/sh"}
        self.refused(self.gate(), "manifest.template")

    def test_command_line_too_long(self):
        self.server.cmdline = "x" * 2010 + "=%{x}"
        self.server.parameter_types = {"x": [0, 8]}
        self.server.parameters = {"x": "01234567"}
        self.refused(self.gate(), "image.command-line")

    def test_sizes_beyond_what_can_be_loaded(self):
        """4 GiB and more: told by the manifest, before anything is fetched (IMG-OVERSIZE)."""
        for size, reason, code in ((4 << 30, "image.memory", 1), ((4 << 30) + 1, "format.range", 3),
                                   ((1 << 63) - 1, "format.range", 3), ((1 << 64) - 1, "format.range", 3),
                                   (0, "format.range", 3)):
            for artifact in (6, 7):
                with self.subTest(size=size, artifact=artifact):
                    self.tpm.restart()

                    def edit(m, artifact=artifact, size=size):
                        other = 13 - artifact
                        m[artifact] = [size, m[artifact][1]]
                        if reason == "image.memory":
                            m[other] = [size, m[other][1]]
                    self.server.edit_manifest = edit
                    self.refused(self.gate(), reason, code)
        self.assertNotIn("/sha256/", "".join(self.server.calls))

    def test_no_memory(self):
        self.server.memory = 100 << 30
        run = self.gate()
        self.refused(run, "image.memory", 1)
        self.assertIn("MiB needed, 8192 MiB available", run.text)
        self.assertNotIn("/sha256/", "".join(self.server.calls))

    def test_garbage(self):
        self.server.signed_manifest = None
        self.server.manifest = lambda: os.urandom(300)
        self.refused(self.gate(), "cose.structure")


class Image(gate_case.GateCase):
    def artifact(self, change, which="initrd"):
        wanted = srv.sha(getattr(self.server, which)).hex()

        def reply(handler, _body):
            name = handler.path.rsplit("/", 1)[1]
            if name != wanted:
                return self.server.do_artifact(handler, name)
            return change(handler, self.server.content(name))
        self.server.on["/sha256/"] = reply

    def test_one_byte_too_long(self):
        self.artifact(lambda _h, b: b + b"x")
        self.refused(self.gate(), "image.size")

    def test_one_byte_short(self):
        self.artifact(lambda _h, b: b[:-1])
        self.refused(self.gate(), "image.size")

    def test_kernel_too_long(self):
        self.artifact(lambda _h, b: b + b"x", "kernel")
        self.refused(self.gate(), "image.size")

    def test_size_in_the_manifest(self):
        for delta, reason in ((1, "image.size"), (-1, "image.size")):
            with self.subTest(delta=delta):
                self.tpm.restart()

                def edit(m, delta=delta):
                    m[7] = [m[7][0] + delta, m[7][1]]
                self.server.edit_manifest = edit
                self.refused(self.gate(), reason)

    def test_one_byte_changed(self):
        self.artifact(lambda _h, b: b[:-1] + bytes([b[-1] ^ 1]))
        self.refused(self.gate(), "image.digest")
        self.assertEqual(os.listdir(self.out), [])

    def test_endless(self):
        def endless(handler, _b):
            handler.send_response(200)
            handler.end_headers()
            handler.close_connection = True
            while True:
                handler.wfile.write(bytes(65536))
        self.artifact(endless)
        self.refused(self.gate(), "image.size")

    def test_gzip(self):
        import gzip

        def packed(_handler, b):
            raise srv.Answer(200, gzip.compress(b), Content_Encoding="gzip")
        self.artifact(packed)
        run = self.gate()
        self.assertTrue(run.has("failed image.size") or run.has("failed image.digest"), run.text)

    def cut(self, at, then=None):
        """The first transfer breaks off; `then` answers the others."""
        times = []

        def reply(handler, b):
            times.append(handler.headers.get("Range"))
            if len(times) == 1:
                handler.send_response(200)
                handler.send_header("Content-Length", str(len(b)))
                handler.end_headers()
                handler.wfile.write(b[:at])
                handler.wfile.flush()
                handler.close_connection = True
                return None
            if then:
                return then(handler, b)
            return self.server.do_artifact(handler, srv.sha(b).hex())
        self.artifact(reply)
        return times

    def test_cut_and_resumed(self):
        times = self.cut(120_000)
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("waiting net.cut"), run.text)
        self.assertEqual(times[0], None)
        self.assertTrue(times[1].startswith("bytes=") and times[1] != "bytes=0-", times)

    def test_cut_and_range_ignored(self):
        times = self.cut(120_000, lambda _h, b: b)
        self.admitted(self.gate())
        self.assertEqual(times[2], None)

    def test_cut_and_other_range(self):
        def shifted(handler, b):
            if not handler.headers.get("Range"):
                return b
            raise srv.Answer(206, b[7:], Content_Range=f"bytes 7-{len(b) - 1}/{len(b)}")
        self.cut(120_000, shifted)
        self.admitted(self.gate())

    def test_cut_and_changed_in_between(self):
        """Glued of two files: once more from the first byte, and it fits."""
        def other(handler, b):
            wanted = handler.headers.get("Range")
            if not wanted:
                return b
            start = int(wanted.split("=")[1].rstrip("-"))
            raise srv.Answer(206, bytes(len(b) - start),
                             Content_Range=f"bytes {start}-{len(b) - 1}/{len(b)}")
        times = self.cut(120_000, other)
        self.admitted(self.gate())
        self.assertEqual(len(times), 3)

    def test_not_there_yet(self):
        times = []

        def reply(handler, b):
            times.append(1)
            if len(times) < 3:
                raise srv.Answer(404)
            return b
        self.artifact(reply)
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("waiting net.not-found"), run.text)

    def test_redirect_is_not_followed(self):
        times = []

        def reply(handler, b):
            times.append(1)
            if len(times) < 2:
                raise srv.Answer(302, Location=self.server.mirror_url + "/sha256/elsewhere")
            return b
        self.artifact(reply)
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("waiting net.status"), run.text)
        self.assertNotIn("/sha256/elsewhere", self.server.calls)

    def test_redirect_loop(self):
        """To itself, for ever: each answer is one, and one pause follows."""
        times = []

        def reply(handler, b):
            times.append(1)
            if len(times) < 4:
                raise srv.Answer(302, Location=self.server.mirror_url + handler.path)
            return b
        self.artifact(reply)
        run = self.gate()
        self.admitted(run)
        self.assertEqual(run.lines.count("bootgate: waiting net.status"), 3)
        self.assertEqual(len(times), 4)

    def test_stall(self):
        times = []

        def reply(handler, b):
            times.append(1)
            if len(times) > 1:
                return self.server.do_artifact(handler, srv.sha(b).hex())
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(b)))
            handler.end_headers()
            handler.wfile.write(b[:1000])
            handler.wfile.flush()
            time.sleep(20)
            return None
        self.artifact(reply)
        run = self.gate()
        self.admitted(run)
        self.assertTrue(run.has("waiting net.stalled"), run.text)

    def test_empty_answer(self):
        times = []

        def reply(handler, b):
            times.append(1)
            if len(times) == 1:
                return b""
            return b
        self.artifact(reply)
        self.refused(self.gate(), "image.size")


if __name__ == "__main__":
    swtpm.main()
