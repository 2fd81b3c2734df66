#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What must not boot, and the one reason for it on both sides."""

import os
import re
import signal
import unittest

import kit

CALLING = b"Calling EFI Application from Boot Option"
APPLICATION = 0x80000003
SEPARATOR = 4


class Refused(kit.PathCase):
    def setUp(self):
        super().setUp()
        self.node = self.ready()
        self.log = self.node.firmware_log
        self.events = kit.events(self.log)
        self.banks = list(self.events[0][2])

    def rewrite(self, change):
        return kit.write_log(self.log, change(list(self.events)))

    def refused_by_server(self, boot, reason):
        """Console, exit state, audit and explanation name the same reason."""
        self.assert_refused(boot, reason)
        row = self.control.audit("verdict")[-1]
        self.assertEqual((row["reason"], row["detail"]), (reason, "refuse"))
        explained = self.control.json("explain", "n1")
        self.assertEqual(explained["reason"], reason)
        return [f for f in explained["findings"] if f["reason"] == reason]

    # -- what was measured ------------------------------------------------------

    def test_other_gate_image(self):
        at = next(i for i, e in enumerate(self.events) if e[1] == APPLICATION)

        def change(events):
            pcr, kind, _, data = events[at]
            events[at] = (pcr, kind, kit.hashed(self.banks, b"another gate image"), data)
            return events

        boot = self.node.boot(log=self.rewrite(change))
        findings = self.refused_by_server(boot, "policy.variant")
        self.assertEqual(findings[0]["component"], "gate")
        # The Spec ID event is number 0 of the log and not in our list.
        self.assertEqual(findings[0]["event"]["number"], at + 1)
        self.assertEqual(findings[0]["event"]["pcr"], 4)

    def test_unclaimed_event(self):
        def change(events):
            # in front of the two events that end each log
            surprise = (13, 13, kit.hashed(self.banks, b"surprise"), b"surprise")
            return [*events[:-2], surprise, *events[-2:]]

        boot = self.node.boot(log=self.rewrite(change))
        findings = self.refused_by_server(boot, "policy.unclaimed-event")
        self.assertEqual(findings[0]["event"]["pcr"], 13)

    def test_parameter_from_outside(self):
        """The report's text proves what was measured, and is shown where it does not."""
        self.node.command_line = "gate.efi rdinit=/bin/sh"
        log = kit.with_options(self.log, self.node.command_line)
        (finding,) = self.refused_by_server(self.node.boot(log=log), "policy.command-line")
        self.assertEqual(finding["observed"], "parameter rdinit=/bin/sh")
        self.node.command_line = "gate.efi"
        (finding,) = self.refused_by_server(self.node.boot(log=log), "policy.command-line")
        self.assertEqual(finding["observed"],
                         "options of another text than the kernel's own, gate.efi")

    def test_event_left_out_of_the_log(self):
        def change(events):
            del events[1]
            return events

        boot = self.node.boot(log=self.rewrite(change), extend=self.log)
        self.refused_by_server(boot, "log.replay")

    def test_extended_without_a_log_entry(self):
        more = self.rewrite(lambda e: [*e, (7, 13, kit.hashed(self.banks, b"x"), b"x")])
        self.refused_by_server(self.node.boot(extend=more), "log.replay")

    def test_second_separator(self):
        def change(events):
            return [*events, (4, SEPARATOR, kit.hashed(self.banks, b"\0\0\0\0"), b"\0\0\0\0")]

        self.refused_by_server(self.node.boot(log=self.rewrite(change)), "log.separator-twice")

    def test_event_of_the_gates_register_in_the_firmware_log(self):
        def change(events):
            return [*events, (9, 13, kit.hashed(self.banks, b"grub"), b"grub"),
                    (14, 13, kit.hashed(self.banks, b"MokList"), b"MokList")]

        # The gate sees it first: its register is not at reset.
        self.assert_refused(self.node.boot(log=self.rewrite(change)), "tpm.register-used")

    # -- who it is ----------------------------------------------------------------

    def test_delay_grows(self):
        """Doubled with each refused boot in a row, and forgotten after another verdict."""
        path = os.path.join(self.control.site, "boot.conf")
        with open(path, encoding="ascii") as f:
            conf = f.read()
        with open(path, "w", encoding="ascii") as f:
            f.write(re.sub("fail.delay = .*", "fail.delay = 1", conf))

        # 15, 30 and 60 s, as --hurry 10 has it
        for row in ((2, 3, 6), (2,)):
            self.assert_booted(self.node.boot())
            for seconds in row:
                boot = self.node.boot("--hurry", "10", extend=self.log,
                                      log=kit.with_options(self.log, "other"))
                self.refused_by_server(boot, "log.replay")
                self.assertIn(f"bootgate: next: reboot in {seconds} s", boot.lines)

    def test_revoked(self):
        self.control.ctl("node", "revoke", "n1", "--reason", "sold")
        self.refused_by_server(self.node.boot(), "node.revoked")

    def test_unknown_vendor_ca(self):
        """No verdict, so the gate waits; once the CA is there it enrols."""
        stranger = self.new_node(kit.Swtpm(fresh=True))
        folder = os.path.join(self.control.dir, "ek-ca")
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        self.control.child.send_signal(signal.SIGHUP)
        stranger.power_on()
        child = stranger.start()
        self.wait_for(lambda: "reason=ek.untrusted" in self.control.text(), child)
        self.assertEqual(len(self.control.json("node", "list")["nodes"]), 1)
        self.control.trust(stranger.tpm)
        self.wait_for(lambda: len(self.control.json("node", "list")["nodes"]) == 2, child)
        child.kill()
        child.communicate()

    # -- what it would boot ---------------------------------------------------------

    def artifact(self, name):
        manifest = self.control.json("image", "list")["images"][-1]
        return os.path.join(self.mirror_dir, "sha256", manifest[f"{name}_sha256"])

    def refused_by_gate(self, boot, reason):
        self.assert_refused(boot, reason)
        rows = self.control.audit("failure")
        self.assertEqual(rows[-1]["reason"], reason)
        self.assertEqual(rows[-1]["actor"], "unproven")

    def test_tampered_image(self):
        for name in ("kernel", "initrd"):
            with self.subTest(name), open(self.artifact(name), "r+b") as f:
                first = f.read(1)
                f.seek(0)
                f.write(bytes([first[0] ^ 1]))
                f.flush()
                self.refused_by_gate(self.node.boot(), "image.digest")
                f.seek(0)
                f.write(first)

    def test_image_of_another_size(self):
        for change in (-1, 1):
            path = self.artifact("initrd")
            size = os.path.getsize(path)
            with self.subTest(change):
                os.truncate(path, size + change)
                boot = self.node.boot()
                self.assertFalse(boot.jumped(), boot.text)
                self.assertIn("image.size", [boot.failed(), *boot.waited()], boot.text)
                os.truncate(path, size)

    def test_wrong_release_key(self):
        good = self.control.release
        other = os.path.join(self.folder, "other")
        kit.subprocess.run([kit.SERVER, "init", other, "--name", "x", "--release-folder",
                            os.path.join(self.folder, "other-key")], check=True,
                           stdout=kit.subprocess.DEVNULL)
        self.control.release = os.path.join(self.folder, "other-key")
        self.image("2", kernel=kit.bzimage(b"evil"))
        self.control.release = good
        self.refused_by_gate(self.node.boot(), "manifest.threshold")

    def test_below_the_floor(self):
        with open(os.path.join(self.control.site, "boot.conf"), "a", encoding="ascii") as f:
            f.write("release.floor.host = 2\n")
        # Another configuration is another measured fact; policy has no rule for it.
        self.refused_by_gate(self.node.boot(), "manifest.floor")


class Waits(kit.PathCase):
    def test_too_many_nodes_wait_for_approval(self):
        with open(os.path.join(self.control.dir, "server.conf"), encoding="ascii") as f:
            text = f.read()
        with open(os.path.join(self.control.dir, "server.conf"), "w", encoding="ascii") as f:
            f.write(text.replace("pending-max = 10000", "pending-max = 1"))
        self.control.start()
        self.new_node().boot()
        second = self.new_node(kit.Swtpm(fresh=True))
        second.power_on()
        child = second.start()
        self.wait_for(lambda: self.control.json("server", "status")["refused"] > 0, child)
        self.assertEqual(len(self.control.json("node", "list")["nodes"]), 1)
        self.control.ctl("node", "approve", self.control.node()["id"])
        self.wait_for(lambda: len(self.control.json("node", "list")["nodes"]) == 2, child)
        self.assertIn("enrol.full", second.stop(child).waited())

    def test_server_down_then_up(self):
        node = self.ready()
        self.control.stop()
        node.power_on()
        child = node.start()
        kit.time.sleep(2)
        self.assertIsNone(child.poll())
        self.control.start()
        boot = node.finish(child)
        self.assert_booted(boot)
        self.assertIn("net.connect", boot.waited())

    def test_no_image_selected(self):
        self.control.start()
        node = self.new_node()
        self.learned(node)
        node.power_on()
        child = node.start()
        self.wait_for(lambda: self.control.node()["last_reason"] == "policy.no-image", child)
        self.image()
        boot = node.finish(child)
        self.assert_booted(boot)


if __name__ == "__main__":
    unittest.main()
