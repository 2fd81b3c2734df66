#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""From a new server to a booted node, and the next boot without enrolment."""

import contextlib
import sqlite3
import unittest

import kit


class Admit(kit.PathCase):
    def test_first_and_second_boot(self):
        node = self.ready()
        boot = node.boot()
        self.assert_booted(boot)
        # The first boot of this node enrolled it; this one does not.
        self.assertNotIn("enrol", boot.steps())
        self.assertEqual(boot.file("kernel"), kit.bzimage(b"kernel " * 9000))
        self.assertEqual(boot.file("cmdline").rstrip(b"\0"), b"console=ttyS0")

        shown = self.control.json("node", "show", "n1")
        self.assertEqual(shown["last_directive"], "admit")
        self.assertTrue(shown["boots"][0]["receipt"])
        self.control.ctl("audit", "verify")
        self.assertEqual(self.control.audit("verdict")[-1]["detail"], "admit")

    def test_file_name_of_a_boot_loader(self):
        """iPXE passes it: the log has its digest, the report the text."""
        node = self.ready()
        node.command_line = "gate.efi"
        self.assert_booted(node.boot(log=kit.with_options(node.firmware_log, "gate.efi")))

    def test_other_firmware_of_the_tpm(self):
        """The record is of another firmware: the banks are proved once more, unasked."""
        node = self.ready()
        self.control.stop()
        with contextlib.closing(sqlite3.connect(self.control.database)) as db, db:
            (firmware,), = db.execute("SELECT firmware FROM node")
            db.execute("UPDATE node SET firmware = firmware - 1")
        self.control.start()
        boot = node.boot()
        self.assert_booted(boot)
        self.assertEqual(boot.waited(), ["tpm.firmware-changed"])
        self.assertEqual(boot.steps().count("enrol"), 1)
        with contextlib.closing(sqlite3.connect(self.control.database)) as db:
            self.assertEqual(list(db.execute("SELECT firmware, ask_enrol FROM node")),
                             [(firmware, 0)])
        boot = node.boot()
        self.assert_booted(boot)
        self.assertNotIn("enrol", boot.steps())

    def test_held_until_approved(self):
        self.ready()
        second = self.new_node(kit.Swtpm(fresh=True))
        second.power_on()
        child = second.start()
        self.wait_for(lambda: len(self.control.json("node", "list", "--state", "pending")["nodes"]) == 1, child)
        (pending,) = self.control.json("node", "list", "--state", "pending")["nodes"]
        self.control.ctl("node", "approve", pending["id"], "--label", "n2")
        boot = second.finish(child)
        self.assert_booted(boot)
        self.assertIn("node.pending", boot.waited())


if __name__ == "__main__":
    unittest.main()
