#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of any server process at any moment: the gate gets through by its
own retries, and nothing that was acknowledged is missing."""

import os
import random
import signal
import sys
import time
import unittest

import kit

SEED = int(os.environ.get("SEED", "0")) or random.randrange(1 << 30)


class Killed(kit.PathCase):
    def setUp(self):
        super().setUp()
        print(f"SEED={SEED}", file=sys.stderr)
        self.random = random.Random(SEED)

    def kill_one(self):
        found = kit.children(self.control.child.pid)
        if found:
            victim = self.random.choice(found)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def test_any_process(self):
        node = self.ready()
        boots = 0
        for _ in range(6):
            node.power_on()
            child = node.start()
            while child.poll() is None:
                time.sleep(self.random.uniform(0.1, 0.6))
                self.kill_one()
            boot = node.finish(child)
            # A receipt that is never acknowledged ends in a reset: by design.
            if boot.jumped():
                boots += 1
            else:
                self.assertIn(boot.failed(), ("boot.receipt", "server.worker", "internal.child"), boot.text)
        self.wait_for(self.server_answers)
        self.control.ctl("audit", "verify")
        shown = self.control.json("node", "show", "n1")
        self.assertEqual(shown["state"], "enrolled")
        receipts = [b for b in shown["boots"] if b["receipt"]]
        self.assertGreaterEqual(len(receipts), boots)

    def server_answers(self):
        try:
            self.control.json("server", "status")
        except AssertionError:
            return False
        return True

    def test_whole_server(self):
        """kill -9 of all of it between any two messages, then a new start."""
        node = self.ready()
        for _ in range(3):
            node.power_on()
            child = node.start()
            time.sleep(self.random.uniform(0.05, 0.8))
            for pid in [self.control.child.pid, *kit.children(self.control.child.pid)]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.control.child.wait()
            time.sleep(0.3)
            self.control.start()
            boot = node.finish(child)
            if not boot.jumped():
                self.assertEqual(boot.failed(), "boot.receipt", boot.text)
            before = self.control.json("node", "show", "n1")
            self.control.stop()
            self.control.start()
            self.assertEqual(self.control.json("node", "show", "n1"), before)
        self.control.ctl("audit", "verify")


if __name__ == "__main__":
    unittest.main()
