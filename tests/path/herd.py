#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A hall powers on: many gates start at the same moment against one server.
All get through by coming back when they are told to, and the only error that
they see is 503.

	herd.py [NODES [FRESH]]     default: 60 nodes, 20 of them enrol first

With a number it also says how long it took and what it cost; PATH_SERVER=bin
takes the optimised server.
"""

import collections
import concurrent.futures
import http.client
import os
import random
import sys
import threading
import time
import unittest

import kit
import softnode
from softnode import ADMIT, Refused

NODES, FRESH = 60, 20
MEASURED = False
# A gate's own schedule, in a hurry: half to all of 1 s, 2 s, 4 s ..
FIRST_WAIT, LAST_WAIT, TRIES = 0.2, 5.0, 200


def cpu_of(pid):
    """Seconds of processor time of a process and its ended children."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class Gate:
    """A soft node that goes on until it is through, as a gate does."""

    def __init__(self, node):
        self.node = node
        self.waits = collections.Counter()
        self.took = None

    def insist(self, act):
        pause = FIRST_WAIT
        for _ in range(TRIES):
            try:
                return act()
            except Refused as e:
                if e.status != 503:
                    raise
                if e.retry < 1:
                    raise AssertionError(f"{e.reason} without Retry-After") from e
                self.waits[e.reason] += 1
                time.sleep(e.retry * random.uniform(1, 1.25))
            except (OSError, http.client.HTTPException):
                # More connections than the server takes at once.
                self.waits["connection"] += 1
                time.sleep(pause * random.uniform(0.5, 1))
                pause = min(2 * pause, LAST_WAIT)
        raise AssertionError(f"no way through: {self.waits}")

    def run(self, start):
        start.wait()
        began = time.monotonic()
        try:
            self.node.power_on()
            for _, act in self.node.steps():
                self.insist(act)
        finally:
            self.node.close()
        self.took = time.monotonic() - began
        return self.node.said[-70004]


class Herd(softnode.SoftCase):
    def queue(self, stop):
        """The longest queue that the server admits to, looked at as it works."""
        most = 0
        while not stop.wait(0.2):
            status = self.control.json("server", "status")
            most = max(most, status.get("jobs", 0))
        return most

    def server_pids(self):
        return [self.control.child.pid, *kit.children(self.control.child.pid)]

    def herd(self, nodes):
        """All at once; the gates, and what the server spent in seconds."""
        gates = [Gate(n) for n in nodes]
        start, stop = threading.Barrier(len(gates) + 1), threading.Event()
        with concurrent.futures.ThreadPoolExecutor(len(gates) + 1) as pool:
            watch = pool.submit(self.queue, stop)
            running = [pool.submit(g.run, start) for g in gates]
            before = sum(map(cpu_of, self.server_pids()))
            start.wait()
            try:
                ends = [r.result() for r in running]
            except Refused as e:
                unusual = [x for x in self.control.text().splitlines() if "directive=admit reason=ok" not in x]
                self.fail(f"{e}\n" + "\n".join(unusual[-40:]))
            finally:
                stop.set()
            spent = sum(map(cpu_of, self.server_pids())) - before
            self.most = watch.result()
        self.assertEqual(set(ends), {ADMIT})
        return gates, spent

    @staticmethod
    def before(node):
        """Enrols it: a boot that nobody measures."""
        ready = threading.Event()
        ready.set()
        Gate(node).run(ready)
        node.statuses.clear()

    def test_power_on(self):
        known = self.soft_nodes(NODES - FRESH)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(self.before, known))
        everyone = known + self.soft_nodes(FRESH)
        random.shuffle(everyone)
        gates, spent = self.herd(everyone)

        statuses = collections.Counter(s for g in gates for s in g.node.statuses)
        self.assertLessEqual(set(statuses), {200, 503})
        # Each is on record as often as it booted, with its receipt.
        for n in random.sample(everyone, 10):
            shown = self.control.json("node", "show", n.label)
            self.assertEqual(shown["verdicts"], 2 if n in known else 1)
            self.assertTrue(shown["boots"][0]["receipt"])
        self.control.ctl("audit", "verify")
        if MEASURED:
            self.tell(gates, spent)

    def tell(self, gates, spent):
        took = sorted(g.took for g in gates)
        waits = sum((g.waits for g in gates), collections.Counter())
        n = len(gates)
        print(f"{n} gates, {FRESH} of them new: all admitted in {took[-1]:.1f} s; "
              f"p50 {took[n // 2]:.2f} s, p99 {took[(n * 99 - 1) // 100]:.2f} s; "
              f"server {spent / n * 1000:.2f} ms of processor a boot; longest queue {self.most}; "
              f"told to wait: {dict(waits) or 'nobody'}")


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].isdigit():
        MEASURED = True
        NODES = int(sys.argv.pop(1))
        FRESH = int(sys.argv.pop(1)) if sys.argv[1:] and sys.argv[1].isdigit() else NODES // 4
    unittest.main()
