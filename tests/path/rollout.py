#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An update of firmware, planned: old, new, other firmware; one group's nodes."""

import unittest

import kit

HOST = kit.bzimage(b"kernel " * 9000)
MAINTENANCE = kit.bzimage(b"maintenance " * 5000)


def firmware(log, version):
    """The log of a machine with another firmware: a blob in register 0 is another one."""
    changed = kit.events(log)
    at = next(i for i, e in enumerate(changed) if e[0] == 0 and e[1] == 0x80000008)
    pcr, kind, digests, data = changed[at]
    changed[at] = (pcr, kind, kit.hashed(digests, version), data)
    return kit.write_log(log, changed)


class Rollout(kit.PathCase):
    def setUp(self):
        super().setUp()
        self.node = self.ready()
        self.old = self.node.firmware_log
        self.new = firmware(self.old, b"new firmware")
        self.other = firmware(self.old, b"other firmware")
        self.control.ctl("group", "add", "canary")
        self.control.ctl("group", "assign", "n1", "canary")
        self.image("fw", kernel=MAINTENANCE, select=False, purpose="maintenance")
        # The first machine with the new firmware: refused, and learned from.
        self.assert_refused(self.node.boot(log=self.new), "policy.variant")
        self.control.ctl("ref", "learn", "n1", "--name", "second")
        staged = [v for v in self.control.json("ref", "list")["variants"] if v["state"] == "staged"]
        self.assertEqual([v["component"] for v in staged], ["firmware"])
        self.variant = str(staged[0]["id"])

    def create(self, *options, name="bios-2"):
        self.control.ctl("rollout", "create", name, "--group", "canary", "--image", "host:fw",
                         "--variant", self.variant, *options)

    def start(self, *options, name="bios-2"):
        self.create(*options, name=name)
        self.control.ctl("ref", "activate", self.variant, "--reason", "vendor's release notes")
        self.control.ctl("rollout", "start", name, "--reason", "CVE")

    def second_node(self, group="canary"):
        node = self.new_node(kit.Swtpm(fresh=True))
        node.power_on()
        child = node.start()
        self.wait_for(lambda: self.control.json("node", "list", "--state", "pending")["nodes"], child)
        (pending,) = self.control.json("node", "list", "--state", "pending")["nodes"]
        more = ("--group", group) if group else ()
        self.control.ctl("node", "approve", pending["id"], "--label", "n2", *more)
        return node, node.finish(child)

    def show(self, name="bios-2"):
        return self.control.json("rollout", "show", name)

    def progress(self, label="n1"):
        return next(n for n in self.show()["progress"] if n["label"] == label)

    def assert_updates(self, boot):
        self.assert_booted(boot)
        self.assertEqual(boot.file("kernel"), MAINTENANCE)
        self.assertIn("rollout.update", boot.text)

    def assert_host(self, boot):
        self.assert_booted(boot)
        self.assertEqual(boot.file("kernel"), HOST)

    def nodes_now(self):
        return self.control.json("node", "list")["nodes"]

    def held(self, reason, log, node=None):
        """The gate waits, for this reason; nothing is booted."""
        node = node or self.node
        node.power_on(log=log)
        before = sum(n["verdicts"] for n in self.nodes_now())
        child = node.start()
        # With its second question it has told the answer to the first.
        self.wait_for(lambda: sum(n["verdicts"] for n in self.nodes_now()) > before + 1, child)
        stopped = node.stop(child)
        self.assertFalse(stopped.jumped())
        self.assertIn(reason, stopped.text)

    def findings(self, reason, node="n1", boot=0):
        explained = self.control.json("explain", node, "--boot", str(boot))
        return [f for f in explained["findings"] if f["reason"] == reason]

    def without_artifacts(self):
        """The mirror has none, until what is returned is called."""
        have, away = self.mirror_dir + "/sha256", self.mirror_dir + "/away"
        kit.os.rename(have, away)
        return lambda: kit.os.rename(away, have)

    # -- the way it should go ----------------------------------------------------

    def test_from_old_to_new(self):
        self.start()
        # In its turn a machine with the old firmware boots the maintenance image.
        self.assert_updates(self.node.boot(log=self.old))
        self.assertEqual(self.progress()["progress"], "updating")
        (finding,) = self.findings("rollout.update")
        self.assertEqual((finding["component"], finding["severity"]), ("firmware", "warn"))
        self.assertIn("first", finding["observed"])
        self.assertIn("second", finding["expected"])
        self.assertIn("rollout bios-2", finding["expected"])

        # It comes back with the new one, and nobody touches it.
        self.assert_host(self.node.boot(log=self.new))
        self.assertEqual(self.progress()["progress"], "updated")
        self.assertEqual(self.show()["state"], "done")
        self.assertEqual(len(self.control.audit("rollout.updated")), 1)
        self.assertEqual(self.control.audit("rollout.done")[0]["actor"], "server")

        # The old one is retired for this node, though other nodes may have it.
        self.assert_refused(self.node.boot(log=self.old), "rollout.old")
        (finding,) = self.findings("rollout.old")
        self.assertEqual(finding["component"], "firmware")
        _, boot = self.second_node(group=None)
        self.assert_host(boot)
        # Back by an operator's word, with a reason; the rollout is over, so it is let in.
        self.control.ctl("rollout", "retry", "bios-2", "n1", code=1)
        self.control.ctl("rollout", "retry", "bios-2", "n1", "--reason", "BIOS 2 breaks the NIC")
        self.assertIn("BIOS 2 breaks the NIC", self.control.audit("rollout.retry")[0]["detail"])
        self.assert_host(self.node.boot(log=self.old))
        self.control.ctl("audit", "verify")

    def test_back_by_a_rollout(self):
        """A rollout may bring an old variant: it is retired no more, but what is new now is."""
        self.start()
        self.assert_updates(self.node.boot(log=self.old))
        self.assert_host(self.node.boot(log=self.new))
        old = next(v for v in self.control.json("ref", "list")["variants"]
                   if v["component"] == "firmware" and v["name"] == "first")
        self.variant = str(old["id"])
        self.create(name="back")
        self.control.ctl("rollout", "start", "back", code=1)
        self.control.ctl("rollout", "start", "back", "--reason", "BIOS 2 breaks the NIC")
        self.assert_updates(self.node.boot(log=self.new))
        self.assert_host(self.node.boot(log=self.old))
        self.assert_refused(self.node.boot(log=self.new), "rollout.old")

    # -- whom it is for, and when ---------------------------------------------------

    def test_only_this_group(self):
        second, _ = self.second_node(group=None)
        self.start()
        self.assert_host(second.boot(log=self.old))
        self.assertEqual([n["label"] for n in self.show()["progress"]], ["n1"])
        self.control.ctl("group", "assign", "n2", "canary")
        self.assert_updates(second.boot(log=self.old))

    def test_pause_and_resume(self):
        self.create()
        self.assert_host(self.node.boot(log=self.old))  # made, and not started
        self.control.ctl("rollout", "pause", "bios-2", code=1)
        self.control.ctl("rollout", "start", "bios-2", "--reason", "too early", code=1)
        self.control.ctl("ref", "activate", self.variant, "--reason", "vendor's release notes")
        self.control.ctl("rollout", "start", "bios-2", "--reason", "CVE", "--dry-run")
        self.assertEqual(self.show()["state"], "created")
        self.control.ctl("rollout", "start", "bios-2", "--reason", "CVE")
        self.control.ctl("rollout", "pause", "bios-2")
        self.assert_host(self.node.boot(log=self.old))
        self.assertIn("both are accepted now", self.control.ctl("explain", "n1"))
        self.control.ctl("rollout", "resume", "bios-2")
        self.assert_updates(self.node.boot(log=self.old))
        # It is on its way: what it brings is seen in a pause as well.
        self.control.ctl("rollout", "pause", "bios-2")
        self.assert_host(self.node.boot(log=self.new))
        self.assert_refused(self.node.boot(log=self.old), "rollout.old")

    def test_paused_before_the_receipt(self):
        """Nothing boots the maintenance image once `pause` is answered."""
        self.start()
        back = self.without_artifacts()
        self.node.power_on(log=self.old)
        child = self.node.start()
        self.wait_for(lambda: self.control.node()["last_reason"] == "rollout.update", child)
        self.control.ctl("rollout", "pause", "bios-2")
        back()
        boot = self.node.finish(child)
        self.assert_refused(boot, "boot.receipt")
        self.assertIn("last: rollout.over", boot.text)
        self.assert_host(self.node.boot(log=self.old))

    def test_some_at_once(self):
        """Who has no place yet boots its host with the old firmware."""
        second, _ = self.second_node()
        self.start("--at-once", "1")
        self.assert_updates(self.node.boot(log=self.old))
        self.assert_host(second.boot(log=self.old))
        self.assertEqual(self.progress("n2")["progress"], "waiting")
        self.assert_host(self.node.boot(log=self.new))
        self.assertEqual(self.show()["state"], "running")
        self.assert_updates(second.boot(log=self.old))

    # -- what goes wrong --------------------------------------------------------------

    def test_other_firmware_is_held(self):
        """One that comes back with something else; at so many failures all of it stops."""
        second, _ = self.second_node()
        self.start("--failures", "1", "--tries", "3")
        self.assert_updates(self.node.boot(log=self.old))
        self.held("rollout.unknown", self.other)
        # The answer to its first question: when it asked again the rollout was over.
        (finding,) = self.findings("rollout.unknown", boot=1)
        self.assertEqual((finding["component"], finding["event"]["pcr"]), ("firmware", 0))
        self.assertIn("equals neither", finding["sentence"])
        self.assertTrue(finding["nearest"])
        failed = self.progress()
        self.assertEqual((failed["progress"], failed["reason"]), ("failed", "rollout.unknown"))
        self.assertEqual(self.show()["state"], "stopped")
        row = self.control.audit("rollout.stop")[0]
        self.assertEqual((row["actor"], row["reason"]), ("server", "rollout.failed"))
        # It is as before: the old firmware is known, the other one is not.
        self.assert_host(second.boot(log=self.old))
        self.assert_refused(self.node.boot(log=self.other), "policy.variant")

        # Begun anew, and the machine is repaired.
        self.control.ctl("rollout", "start", "bios-2", "--reason", "repaired")
        self.assert_updates(self.node.boot(log=self.old))
        self.assert_host(self.node.boot(log=self.new))

    def test_unknown_firmware_gets_no_update(self):
        self.start()
        self.held("rollout.unknown", self.other)
        # It has not been told to update, so nothing has failed.
        self.assertEqual(self.progress()["progress"], "waiting")

    def test_tries_are_few(self):
        self.start("--tries", "2", "--failures", "5")
        self.assert_updates(self.node.boot(log=self.old))
        self.assert_updates(self.node.boot(log=self.old))
        self.held("rollout.failed", self.old)
        self.assertEqual((self.progress()["progress"], self.progress()["tries"]), ("failed", 2))
        self.assertEqual(self.show()["state"], "running")
        self.held("rollout.failed", self.old)
        # A new start for this node.
        self.control.ctl("rollout", "retry", "bios-2", "n1", "--reason", "jumper set")
        self.assert_updates(self.node.boot(log=self.old))
        self.assertEqual(self.progress()["tries"], 1)

    def test_something_else_is_wrong(self):
        """Only what the rollout changes may be another one."""
        self.start()
        changed = kit.events(self.old)
        at = next(i for i, e in enumerate(changed) if e[1] == 0x80000003)
        pcr, kind, digests, data = changed[at]
        changed[at] = (pcr, kind, kit.hashed(digests, b"another gate image"), data)
        self.assert_refused(self.node.boot(log=kit.write_log(self.old, changed)), "policy.variant")
        self.assertEqual(self.progress()["progress"], "waiting")

    # -- what operators may not ask for -----------------------------------------------

    def test_refused_requests(self):
        def refused(reason, *words, code=1):
            self.assertIn(reason, self.control.ctl(*words, code=code))

        create = ("rollout", "create", "r", "--group", "canary")
        refused("rollout.image", *create, "--image", "host:1", "--variant", self.variant)
        refused("store.not-found", *create, "--image", "host:fw", "--variant", "999")
        refused("group.unknown", "rollout", "create", "r", "--group", "absent", "--image", "host:fw",
                "--variant", self.variant)
        refused("format.range", *create, "--image", "host:fw", "--variant", self.variant, "--tries", "0",
                code=3)
        self.create()
        refused("store.exists", *("rollout", "create", "bios-2", "--group", "canary", "--image", "host:fw",
                                  "--variant", self.variant))
        refused("rollout.variant", "rollout", "start", "bios-2", "--reason", "not active")
        self.control.ctl("ref", "activate", self.variant, "--reason", "test")
        refused("policy.reason-missing", "rollout", "start", "bios-2")
        self.control.ctl("rollout", "start", "bios-2", "--reason", "CVE")
        refused("rollout.state", "rollout", "start", "bios-2", "--reason", "again")
        refused("rollout.state", "rollout", "resume", "bios-2")
        self.create(name="bios-3")
        refused("rollout.open", "rollout", "start", "bios-3", "--reason", "beside it")
        self.control.ctl("group", "assign", "n1", "--none")
        refused("group.in-use", "group", "remove", "canary")
        self.control.ctl("rollout", "stop", "bios-2")
        refused("rollout.state", "rollout", "stop", "bios-2")
        self.control.ctl("group", "remove", "canary")
        self.assertEqual(self.show()["group"], "")
        refused("group.unknown", "rollout", "start", "bios-3", "--reason", "of nobody")
        self.assertEqual([r["state"] for r in self.control.json("rollout", "list")["rollouts"]],
                         ["stopped", "created"])


if __name__ == "__main__":
    unittest.main()
