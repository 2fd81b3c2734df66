#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""References that an operator brings, from the file to the node that boots by them."""

import hashlib
import json
import os
import subprocess
import unittest

import kit

SEPARATOR = 4


class Predicted(kit.PathCase):
    """The gate's components come from its image, never from a node."""

    def setUp(self):
        super().setUp()
        self.image_file = self.gate_image("gate.efi")
        self.control.start()

    def gate_image(self, name):
        path = os.path.join(self.folder, name)
        subprocess.run([os.path.join(kit.BUILD, "bin", "bootgate-mkimage"), self.control.site, path],
                       check=True, stdout=subprocess.DEVNULL)
        return path

    def booted_by(self, log, image):
        """The log of a machine that boots this gate image: other digests in the places of the recorded one."""
        wanted = json.loads(self.control.ctl_offline("image", "predict", "--json", image))["events"]
        events = kit.events(log)
        last = max(i for i, e in enumerate(events) if e[1] == SEPARATOR)
        places = [i for i, e in enumerate(events) if i > last and e[0] != 5]
        self.assertEqual(len(places), len(wanted))
        for at, event in zip(places, wanted):
            pcr, kind, digests, data = events[at]
            self.assertEqual((pcr, kind), (event["pcr"], event["type_number"]))
            events[at] = (pcr, kind, {b: bytes.fromhex(event["digests"][b]) for b in digests}, data)
        return kit.write_log(log, events)

    def staged(self, *args):
        return self.control.json("ref", "stage", *args)["variants"]

    def test_staged_of_an_image_boots_it_and_no_other(self):
        self.image()
        with open(self.image_file, "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        before = self.control.json("audit", "list")["rows"]
        would = self.staged(self.image_file, "--dry-run")
        self.assertEqual([v["component"] for v in would], ["gate", "command-line"])
        self.assertEqual(self.control.json("ref", "list")["variants"], [])
        self.assertEqual(self.control.json("audit", "list")["rows"], before)

        done = self.staged(self.image_file, "--version", "0.1", "--reason", "release 0.1")
        self.assertEqual([(v["component"], v["state"], v["known"]) for v in done],
                         [("gate", "staged", False), ("command-line", "staged", False)])
        shown = self.control.json("ref", "show", str(done[0]["id"]))
        self.assertEqual((shown["source"], shown["version"], shown["name"]),
                         (f"computed from SHA-256 {digest}", "0.1", f"gate-{digest[:8]}"))
        row = self.control.audit("ref.stage")[-1]
        self.assertEqual(row["detail"], f"2 variants computed from SHA-256 {digest}: release 0.1")
        self.assertTrue(all(v["known"] for v in self.staged(self.image_file)))
        self.assertIn("known already", self.control.ctl("ref", "stage", self.image_file))

        # The node's firmware is learned; of the gate nothing is new.
        node = self.new_node()
        node.firmware_log = self.booted_by(node.firmware_log, self.image_file)
        self.assert_refused(node.boot(), "policy.no-reference")
        name = self.control.node()["id"]
        learned = self.control.json("ref", "learn", name)["variants"]
        self.assertEqual([v["id"] for v in learned if v["known"]], [v["id"] for v in done])
        self.control.ctl("ref", "activate", "--all-staged", "--reason", "test")
        self.control.ctl("node", "approve", name, "--label", "n1")
        self.assert_booted(node.boot())

        with open(os.path.join(self.control.site, "boot.conf"), "a", encoding="ascii") as f:
            f.write("contact.text = another image\n")
        other = self.gate_image("other.efi")
        node.firmware_log = self.booted_by(node.firmware_log, other)
        self.assert_refused(node.boot(), "policy.variant")
        self.staged(other)
        self.assert_refused(node.boot(), "policy.variant")
        self.control.ctl("ref", "activate", "--all-staged", "--reason", "test")
        self.assert_booted(node.boot())

    def test_other_ways_and_other_files(self):
        first, again = self.staged(self.image_file), self.staged(self.image_file, "--ipxe", "gate.efi")
        self.assertFalse(any(v["known"] for v in again))
        self.assertEqual([(a["events"], b["events"]) for a, b in zip(first, again)], [(11, 12), (1, 2)])
        path = os.path.join(self.folder, "none.efi")
        with open(path, "wb") as f:
            f.write(b"no image")
        self.assertIn("none.efi: format.", self.control.ctl("ref", "stage", path, code=3))
        self.assertEqual(len(self.control.json("ref", "list")["variants"]), 4)


if __name__ == "__main__":
    unittest.main()
