#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""References that an operator brings, from the file to the node that boots by them."""

import hashlib
import http.client
import json
import os
import socket
import subprocess
import unittest

import jsonschema

import kit

SCHEMA = os.path.join(kit.TOP, "docs", "references.schema.json")
SEPARATOR = 4


def event(text, banks=("sha256",), pcr=4):
    return {"pcr": pcr, "type": "EV_SEPARATOR", "type_number": SEPARATOR, "text": text,
            "digests": {b: hashlib.new(b, text.encode()).hexdigest() for b in banks}}


def variant(*events, component="boot-path"):
    return {"component": component, "name": "test", "events": list(events)}


class Compared(kit.PathCase):
    """Variants made by hand, at a server without a node."""

    def setUp(self):
        super().setUp()
        self.control.start()

    def stage(self, *variants):
        c = http.client.HTTPConnection("localhost")
        self.addCleanup(c.close)
        c.sock = socket.socket(socket.AF_UNIX)
        c.sock.connect(self.control.socket)
        c.request("POST", "/v1/admin/ref/stage", json.dumps(
            {"sha256": "00" * 32, "body": {"schema": "bootgate-references-1", "variants": variants}}))
        return [str(v["id"]) for v in json.loads(c.getresponse().read())["variants"]]

    def difference(self, a, b):
        d = self.control.json("ref", "diff", a, b)
        return [(e["only"], e["number"], e["text"]) for e in d["events"]], d["equal"], d["banks"]

    def test_diff(self):
        both = ("sha1", "sha256")
        a, moved, same, sha1, other, place = self.stage(
            variant(*(event(t, both) for t in "abcde")), variant(*(event(t) for t in "abXde"), event("f")),
            variant(*(event(t, ("sha256", "sha384")) for t in "abcde")), variant(event("a", ("sha1",))),
            variant(event("a"), component="platform"), variant(*(event(t, pcr=4 + (t == "c")) for t in "abcde")))
        self.assertEqual(self.difference(a, moved),
                         ([("a", 2, "c"), ("b", 2, "X"), ("b", 5, "f")], 4, ["sha256"]))
        self.assertEqual(self.difference(moved, a),
                         ([("a", 2, "X"), ("b", 2, "c"), ("a", 5, "f")], 4, ["sha256"]))
        self.assertEqual(self.difference(a, same), ([], 5, ["sha256"]))
        self.assertEqual(self.difference(a, sha1)[1:], (1, ["sha1"]))
        self.assertEqual(self.difference(a, place)[1], 4)
        # where nothing can be compared nothing is equal
        self.assertEqual(self.difference(moved, sha1)[1:], (0, []))
        self.assertEqual(self.difference(a, other)[1], 0)

        said = self.control.ctl("ref", "diff", a, moved)
        self.assertRegex(said, rf"(?m)^- variant {a} of boot-path: test, staged, computed from SHA-256 0+$")
        self.assertRegex(said, r"(?m)^-    2  pcr 4   EV_SEPARATOR +c$")
        self.assertRegex(said, rf"(?m)^\+       sha256  {hashlib.sha256(b'X').hexdigest()}$")
        self.assertIn("4 events are equal, 3 are not", said)
        self.assertIn("no bank in common", self.control.ctl("ref", "diff", moved, sha1))
        self.assertIn("variant 99: store.not-found", self.control.ctl("ref", "diff", a, "99", code=1))

    def test_activation_shows_the_difference(self):
        near, far, new, other = self.stage(
            variant(event("a"), event("b"), event("c")), variant(event("x"), event("y"), event("z")),
            variant(event("a"), event("b"), event("d")), variant(event("a"), component="platform"))

        def activate(which):
            return self.control.ctl("ref", "activate", which, "--reason", "test")

        self.assertIn(f"variant {near} of boot-path is the first: no other is active", activate(near))
        activate(far)
        self.assertIn(f"variant {other} of platform is the first", activate(other))
        said = self.control.ctl("ref", "activate", new, "--reason", "test", "--dry-run")
        self.assertRegex(said, rf"(?m)^- variant {near} of boot-path")
        self.assertRegex(said, rf"(?m)^\+ variant {new} of boot-path")
        self.assertIn("2 events are equal, 2 are not", said)
        self.assertIn(f"variant {new} of boot-path would be active", said)
        self.assertEqual(json.loads(self.control.ctl("ref", "activate", new, "--reason", "test", "--json"))["state"],
                         "active")

    def written(self, content):
        path = os.path.join(self.folder, "written.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(content, f)
        return path

    def test_import_of_what_was_exported(self):
        with open(SCHEMA, encoding="ascii") as f:
            schema = json.load(f)
        jsonschema.Draft7Validator.check_schema(schema)
        path = os.path.join(self.folder, "references.json")
        backslashes = "\\EFI\\BOOT" * 20
        one, two, _ = self.stage(variant(event("a"), event(backslashes)), variant(event("b", ("sha1", "sm3"))
                                 if "sm3" in hashlib.algorithms_available else event("b", ("sha1", "sha512"))),
                                 variant(event("c")))
        self.control.ctl("ref", "export", path, one, two)
        with open(path, encoding="ascii") as f:
            exported = json.load(f)
        jsonschema.validate(exported, schema)
        self.assertEqual([v["events"][-1]["text"] for v in exported["variants"]], [backslashes, "b"])
        self.assertTrue(all(v["known"] for v in self.imported(path)))

        # At another server nothing of it is known; here that is: revoked.
        self.control.ctl("ref", "revoke", one, two)
        self.assertIn("policy.reason-missing", self.control.ctl("ref", "import", path, code=1))
        self.assertEqual([v["state"] for v in self.imported(path, "--dry-run")], ["staged"] * 2)
        self.assertEqual(len(self.control.json("ref", "list")["variants"]), 3)
        new = self.imported(path)
        self.assertEqual([(v["state"], v["known"]) for v in new], [("staged", False)] * 2)
        self.assertEqual(self.control.json("ref", "diff", one, str(new[0]["id"]))["events"], [])
        self.assertEqual(self.control.json("ref", "show", str(new[0]["id"]))["source"],
                         ("imported unsigned: computed from SHA-256 " + "00" * 32)[:127])
        self.assertEqual(self.control.audit("ref.import")[-1]["detail"], "2 variants imported unsigned: test")

        # All that is active, where nothing is named.
        self.control.ctl("ref", "activate", str(new[1]["id"]), "--reason", "test")
        self.assertIn("1 variants", self.control.ctl("ref", "export", path))

    def imported(self, path, *options):
        return self.control.json("ref", "import", path, "--reason", "test", *options)["variants"]

    def test_schema_and_server_agree(self):
        """What the published schema refuses is refused at import, and the other way round."""
        with open(SCHEMA, encoding="ascii") as f:
            schema = json.load(f)
        good = {"schema": "bootgate-references-1", "variants": [variant(event("a"))]}
        jsonschema.validate(good, schema)
        self.imported(self.written(good))
        first = good["variants"][0]
        only = first["events"][0]
        for change in ({"variants": []}, {"schema": "bootgate-references-2"}, {"more": 1},
                       {"variants": [first | {"component": "gates"}]}, {"variants": [first | {"name": ""}]},
                       {"variants": [first | {"name": "n" * 128}]}, {"variants": [first | {"state": "active"}]},
                       {"variants": [first | {"security_version": -1}]}, {"variants": [first | {"events": []}]},
                       {"variants": [first | {"events": [only | {"pcr": 24}]}]},
                       {"variants": [first | {"events": [only | {"digests": {}}]}]},
                       {"variants": [first | {"events": [only | {"digests": {"md5": "00"}}]}]},
                       {"variants": [first | {"events": [only | {"digests": {"sha256": "00"}}]}]},
                       {"variants": [first | {"events": [only | {"text": "t" * 201}]}]},
                       {"variants": [first | {"events": [only | {"text": "a\nb"}]}]}):
            with self.subTest(change=change):
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate(good | change, schema)
                self.assertIn("format.", self.control.ctl("ref", "import", self.written(good | change),
                                                          "--reason", "test", code=3))


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
