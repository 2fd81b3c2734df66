#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Delivery papers and groups: lists of endorsement keys with their good and bad
lines, what they bind a node to, and what a node gets by its group."""

import json
import os
import unittest

import softnode
from softnode import ADMIT, HOLD, REFUSE, sha

LIFETIME, BASIS, REASONS = -70006, -70011, -70007
# of the TCG profile
VARIABLE_DRIVER_CONFIG = 0x80000001
HEAD = "ek_cert_sha256,ek_spki_sha256,ek_name,label,group\n"


def key(text):
    """A digest in hex, and the name of a key with it."""
    return sha(text.encode()).hex()


def name(text):
    return "000b" + key(text)


class PapersCase(softnode.SoftCase):
    def load(self, content, *options, file="list.csv", code=0):
        """(line, result, reason) of each line, and the whole answer."""
        path = os.path.join(self.folder, file)
        with open(path, "w", encoding="utf-8") as f:
            f.write(content)
        text = self.control.ctl("ek", "load", path, "--json", *options, code=code)
        answer = json.loads(text[text.index("{"):text.rindex("}") + 1])
        return [(r["line"], r["result"], r.get("reason", "")) for r in answer["results"]], answer

    def group(self, group):
        if group not in [g["group"] for g in self.control.json("group", "list")["groups"]]:
            self.control.ctl("group", "add", group)
        return group


class Lists(PapersCase):
    def test_each_line_has_its_result(self):
        self.group("racks")
        good = HEAD + f"{key('a')},,,n-a,racks\n,{key('b')},,n-b,\n,,{name('c').upper()},n-c,\n"
        results, answer = self.load(good, "--dry-run")
        self.assertEqual(results, [(2, "new", ""), (3, "new", ""), (4, "new", "")])
        self.assertFalse(answer["loaded"])
        results, answer = self.load(good)
        self.assertEqual([r[1] for r in results], ["new"] * 3, "the dry run left something behind")
        self.assertTrue(answer["loaded"])
        self.assertEqual(self.load(good)[0], [(2, "known", ""), (3, "known", ""), (4, "known", "")])

        # What is there stays, and nothing of a list with a conflict is taken.
        for line in (f"{key('a')},,,n-other,racks", f"{key('a')},,,n-a,", f"{key('a')},{key('x')},,n-a,racks",
                     f"{key('a')},{key('b')},,n-a,racks", f",,{name('c')},,"):
            results, answer = self.load(HEAD + f"{key('new')},,,,\n{line}\n", code=3)
            self.assertEqual(results, [(2, "new", ""), (3, "conflict", "ek.listed")], line)
            self.assertFalse(answer["loaded"])
        self.assertIn("of list.csv", answer["results"][1]["detail"])
        self.assertEqual(self.load(good)[1]["known"], 3)
        self.assertEqual(self.load(HEAD + f"{key('new')},,,,\n", "--dry-run")[1]["new"], 1)

    def test_duplicates_in_one_file(self):
        lines = f"{key('d1')},,,n-d1,\n" * 2 + f"{key('d1')},,,n-d2,\n"
        results, answer = self.load(HEAD + lines, code=3)
        self.assertEqual(results, [(2, "new", ""), (3, "known", ""), (4, "conflict", "ek.listed")])
        self.assertEqual([r.get("detail", "") for r in answer["results"]],
                         ["", "line 2 of list.csv", "line 2 of list.csv"])

    def test_bad_lines(self):
        bad = {"": None,
               "xyz,,,,": "format.text", key("a")[2:] + ",,,,": "format.range",
               f",,{key('a')},,": "format.range", ",,,label,": "format.missing-key",
               f"{key('g')},,,,nowhere": "group.unknown", f"{key('a')},,": "format.missing-key",
               f"{key('a')},,,n\xe9,": "format.text", f"{key('a')},,,{'n' * 64},": "format.too-large",
               f'{key("a")},,,"n,': "format.text", f'{key("a")},,,"n"n,': "format.text"}
        want = [(i, "bad", why) for i, why in enumerate(bad.values(), 3) if why]
        lines = [f"{key('e')},,,n-e,", *bad]
        results, answer = self.load(HEAD + "\n".join(lines) + "\n", code=3)
        self.assertEqual(results, [(2, "new", ""), *want])
        self.assertEqual(answer["bad"], len(want))
        self.assertFalse(answer["loaded"])
        # Nor when all that the server sees is good.
        _, answer = self.load(HEAD + f"{key('e')},,,n-e,\nxyz,,,,\n", code=3)
        self.assertFalse(answer["loaded"])
        self.assertEqual(self.load(HEAD + f"{key('e')},,,n-e,\n", "--dry-run")[1]["new"], 1)

    def test_how_spreadsheets_write(self):
        text = ('\ufeffserial,"label", ek_name \r\n1,"a ""quoted"", label",' + name("q") + "\r\n"
                ",,\r\n2, plain ," + name("p"))
        results, _ = self.load(text, "--dry-run")
        self.assertEqual(results, [(2, "new", ""), (4, "new", "")])
        path = os.path.join(self.folder, "list.csv")
        self.assertIn('column "serial" is passed over', self.control.ctl("ek", "load", path, "--dry-run"))

    def test_json(self):
        entries = [{"ek_name": name("j"), "label": "n-j"}, {"ek_name": name("j"), "label": "n-k"},
                   {"ek_name": 5}, {"ek": "x"}, "text", {"label": "n"}]
        results, _ = self.load(json.dumps(entries), code=3)
        self.assertEqual(results, [(1, "new", ""), (2, "conflict", "ek.listed"), (3, "bad", "format.type"),
                                   (4, "bad", "format.unknown-key"), (5, "bad", "format.type"),
                                   (6, "bad", "format.missing-key")])
        self.assertTrue(self.load(json.dumps(entries[:1]))[1]["loaded"])

    def test_no_list_at_all(self):
        for content, reason in (("", "format.truncated"), ("label\nn1\n", "format.missing-key"),
                                ("ek_name,ek_name\n", "format.duplicate"), (HEAD, "ek.no-lines"),
                                ("[]", "ek.no-lines"), ('[{"a":1', "format.text"),
                                (HEAD + "\0", "format.text")):
            path = os.path.join(self.folder, "none")
            with open(path, "w", encoding="ascii") as f:
                f.write(content)
            self.assertIn(reason, self.control.ctl("ek", "load", path, code=3), content)

    def test_list_binds_label_and_group(self):
        group = self.group("racks")
        node = self.soft_node(listed=False)
        self.load(f"ek_name,ek_spki_sha256,label,group\n{node.ek.name.hex()},{sha(node.ek.spki()).hex()},"
                  f"bound,{group}\n", file="papers-7.csv")
        self.assertEqual(node.boot(), ADMIT)
        shown = self.control.json("node", "show", "bound")
        self.assertEqual((shown["group"], shown["state"]), (group, "enrolled"))
        self.assertEqual(node.said[BASIS], "EK list papers-7.csv line 2, no certificate")

    def test_every_filled_column_must_fit(self):
        node = self.soft_node(listed=False)
        self.load(f"ek_name,ek_spki_sha256\n{node.ek.name.hex()},{key('another')}\n")
        self.assertEqual(self.reason(node.boot), "ek.untrusted")

    def test_lists_that_contradict_each_other(self):
        """One by the key's name, one by its public key: a person must say which is right."""
        node = self.soft_node(listed=False)
        self.load(f"ek_name,label\n{node.ek.name.hex()},one\n")
        self.load(f"ek_spki_sha256,label\n{sha(node.ek.spki()).hex()},two\n")
        self.assertEqual(node.boot(), HOLD)
        self.assertEqual(node.said[BASIS], "EK lists contradict each other")


class Groups(PapersCase):
    def member(self, group):
        node = self.soft_node()
        self.assertEqual(node.boot(), ADMIT)
        self.control.ctl("group", "assign", node.label, group)
        return node

    def image_of(self, node):
        (image,) = self.control.json("node", "show", node.label)["images"]
        return image["version"], image["from"]

    def test_most_specific_image_wins(self):
        group = self.group("gpu")
        node, other = self.member(group), self.soft_node()
        for version in ("2", "3"):
            self.stage.image(version=version, select=False)
        self.assertEqual(self.image_of(node), ("1", "default"))
        self.control.ctl("image", "select", "host:2", "--group", group)
        self.assertEqual(self.image_of(node), ("2", "group"))
        self.assertEqual(node.boot(), ADMIT)
        self.control.ctl("image", "select", "host:3", "--node", node.label)
        self.assertEqual(self.image_of(node), ("3", "node"))
        chosen = {m["version"]: m["selected_for"] for m in self.control.json("image", "list")["images"]}
        self.assertEqual(chosen, {"1": ["*"], "2": ["group:" + group], "3": [self.control.json("node", "show", node.label)["id"]]})
        for version, words in (("1", "  all"), ("2", "  group " + group), ("3", "  1 node")):
            self.assertRegex(self.control.ctl("image", "list"), rf"(?m)^\S+  host +{version} .*{words}$")
        self.assertEqual(other.boot(), ADMIT)
        self.assertEqual(self.image_of(other), ("1", "default"))
        self.control.ctl("image", "select", "host:2", "--group", "absent", code=1)
        self.assertIn("gpu", self.control.audit("group.assign")[-1]["detail"])
        self.assertIn("group:gpu", self.control.audit("image.select")[-2]["detail"])

    def test_undoing_a_choice(self):
        group = self.group("back")
        node = self.member(group)
        for version in ("4", "5"):
            self.stage.image(version=version, select=False)
        self.control.ctl("image", "select", "host:4", "--group", group)
        self.control.ctl("image", "select", "host:5", "--node", node.label)
        # Only what is chosen, by the one who chose it.
        self.control.ctl("image", "unselect", "host:4", "--node", node.label, code=1)
        self.control.ctl("image", "unselect", "host:5", "--group", group, code=1)
        self.assertEqual(self.control.audit("image.unselect"), [])

        said = self.control.ctl("image", "unselect", "host:5", "--node", node.label, "--dry-run")
        self.assertIn("would be no longer selected", said)
        self.assertEqual(self.image_of(node), ("5", "node"))
        self.assertEqual(self.control.audit("image.unselect"), [])
        self.control.ctl("image", "unselect", "host:5", "--node", node.label, "--reason", "trial is over")
        self.assertEqual(self.image_of(node), ("4", "group"))
        self.assertIn("trial is over", self.control.audit("image.unselect")[-1]["detail"])
        self.control.ctl("image", "unselect", "host:4", "--group", group)
        self.assertEqual(self.image_of(node), ("1", "default"))
        self.assertEqual(node.boot(), ADMIT)
        # The last one: there is nothing to boot, and who comes waits.
        self.control.ctl("image", "unselect", "host:1")
        self.addCleanup(self.control.ctl, "image", "select", "host:1")
        self.assertEqual(self.control.json("node", "show", node.label)["images"], [])
        self.assertEqual(node.boot(), HOLD)

    def test_policy_of_a_group(self):
        group = self.group("short")
        node, other = self.member(group), self.soft_node()
        self.assertEqual(other.boot(), ADMIT)
        self.assertEqual(other.said[LIFETIME], node.said[LIFETIME])
        policy = self.control.json("policy", "show")
        policy.update(id="short-lives", lifetime=77)
        path = os.path.join(self.folder, "policy.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(policy, f)
        self.control.ctl("policy", "set", path, "--group", group, "--dry-run")
        self.assertEqual(self.control.json("policy", "show", "--group", group)["group"], "")
        self.control.ctl("policy", "set", path, "--group", group)
        # In turns, so that each worker has both.
        for _ in range(3):
            self.assertEqual((node.boot(), other.boot()), (ADMIT, ADMIT))
            self.assertEqual(node.said[LIFETIME], 77)
            self.assertNotEqual(other.said[LIFETIME], 77)
        self.assertEqual(self.control.json("policy", "show", "--group", group)["id"], "short-lives")
        shown = self.control.json("node", "show", node.label)["policy"]
        self.assertEqual((shown["id"], shown["from"]), ("short-lives", "group"))
        self.assertEqual(self.control.json("node", "show", other.label)["policy"]["from"], "default")
        self.assertIn("of group short", self.control.audit("policy.set")[-1]["detail"])

        # What it is judged by, too: in turns again, at the same workers.
        policy.update(facts=[{"fact": "cpu.model", "kind": "allowed", "values": ["none"]}])
        with open(path, "w", encoding="ascii") as f:
            json.dump(policy, f)
        self.control.ctl("policy", "set", path, "--group", group)
        for _ in range(3):
            self.assertEqual((node.boot(), other.boot()), (REFUSE, ADMIT))

        # A group that is gone leaves nothing to one of the same name.
        self.control.ctl("group", "remove", group, code=1)
        self.control.ctl("group", "assign", node.label, "--none")
        self.control.ctl("group", "remove", group, "--dry-run")
        self.assertEqual(self.control.json("policy", "show", "--group", group)["id"], "short-lives")
        self.control.ctl("group", "remove", group)
        self.group(group)
        self.assertEqual(self.control.json("policy", "show", "--group", group)["group"], "")
        self.assertEqual(node.boot(), ADMIT)
        self.assertNotEqual(node.said[LIFETIME], 77)

    def test_names(self):
        for name_ in ("Racks", "-x", "a b", "x" * 64):
            self.control.ctl("group", "add", name_, code=3)
        self.group("twice")
        self.control.ctl("group", "add", "twice", code=1)
        self.assertIn("group.unknown", self.control.ctl("group", "remove", "absent", code=1))
        self.assertIn("group.in-use", self.control.ctl("group", "remove", self.member_of("full"), code=1))
        self.assertIn("group.unknown", self.control.ctl("node", "list", "--group", "absent", code=1))

    def policy_is(self, group, **members):
        policy = self.control.json("policy", "show")
        policy.update(id="odd", **members)
        path = os.path.join(self.folder, "odd.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(policy, f)
        self.control.ctl("policy", "set", path, "--group", group)
        shown = self.control.json("policy", "show", "--group", group)
        self.assertEqual({m: shown[m] for m in members}, members)

    def reason_of(self, node):
        return node.said[REASONS][0][0]

    def test_firmware_that_leaves_something_out(self):
        """Only the group whose policy lets it pass learns from it and admits it, with a warning."""
        group = self.group("odd")
        node, other = self.member(group), self.soft_node()
        self.assertEqual(other.boot(), ADMIT)
        for n in (node, other):
            n.like = softnode.without(n.like, 7, VARIABLE_DRIVER_CONFIG)
        self.assertEqual((node.boot(), self.reason_of(node)), (REFUSE, "log.secure-boot-missing"))
        self.control.ctl("ref", "learn", node.label, "--reason", "test", code=3)
        self.policy_is(group, warn_only=["log.secure-boot-missing"])
        self.assertEqual((node.boot(), self.reason_of(node)), (REFUSE, "policy.variant"))
        learned = self.control.json("ref", "learn", node.label, "--reason", "test")["variants"]
        (new,) = [v for v in learned if not v["known"]]
        self.assertEqual(new["component"], "secure-boot")
        self.control.ctl("ref", "activate", str(new["id"]), "--reason", "test")
        self.assertEqual((node.boot(), self.reason_of(node)), (ADMIT, "log.secure-boot-missing"))
        self.assertEqual((other.boot(), self.reason_of(other)), (REFUSE, "log.secure-boot-missing"))
        self.policy_is(group, warn_only=["log.secure-boot-missing"], affirm=["firmware"])
        self.assertEqual((node.boot(), self.reason_of(node)), (REFUSE, "policy.affirm"))
        self.control.ctl("ref", "revoke", str(new["id"]), "--reason", "test")

    def test_least_security_version(self):
        group = self.group("floor")
        node, other = self.member(group), self.soft_node()
        active = self.control.json("ref", "list")["variants"]
        (gate,) = [str(v["id"]) for v in active if (v["component"], v["state"]) == ("gate", "active")]
        self.policy_is(group, security_versions={"gate": 2})
        self.assertEqual((node.boot(), self.reason_of(node)), (REFUSE, "policy.security-version"))
        self.assertEqual(other.boot(), ADMIT)
        self.control.ctl("ref", "activate", gate, "--security-version", "x", "--reason", "test", code=3)
        self.control.ctl("ref", "activate", gate, "--security-version", "2", "--reason", "test")
        self.assertEqual(self.control.json("ref", "show", gate)["security_version"], 2)
        self.assertEqual((node.boot(), other.boot()), (ADMIT, ADMIT))

    def member_of(self, group):
        self.member(self.group(group))
        return group

    def test_approve_into_a_group(self):
        group = self.group("late")
        node = self.certified_node()
        self.assertEqual(node.boot(), HOLD)
        (pending,) = self.control.json("node", "list", "--state", "pending")["nodes"]
        self.control.ctl("node", "approve", pending["id"], "--group", "absent", code=1)
        self.control.ctl("node", "approve", pending["id"], "--group", group, "--label", "late-1")
        self.assertEqual([n["label"] for n in self.control.json("node", "list", "--group", group)["nodes"]],
                         ["late-1"])


if __name__ == "__main__":
    unittest.main()
