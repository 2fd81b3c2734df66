#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A new hall: machines that the server never saw enrol at the same moment, each
over one TLS connection of its own, and the server is killed in the middle.
Nobody starts anything by hand: each ends enrolled exactly once.

	hall.py [NODES [SWTPMS [AT_ONCE]]]     default: 60 nodes, 6 of them swtpm, 3 at a time

SWTPMS of them are the real gate with a real software TPM, AT_ONCE running at a
time; the others are nodes in software (softnode.py), which open their
credential just as well. With a number it also says what it cost;
PATH_SERVER=bin takes the optimised server.
"""

import concurrent.futures
import contextlib
import itertools
import os
import queue
import signal
import sqlite3
import sys
import threading
import time
import unittest

import herd
import kit
import softnode
from softnode import ADMIT, sha
from swtpm import Swtpm

NODES, SWTPMS, AT_ONCE = 60, 6, 3
MEASURED = False
SECONDS = 1200


class Board(kit.Node):
    """A machine that has a TPM of its own and no certificate for it: papers name it."""

    def __init__(self, case, number):
        super().__init__(case.folder, case.control.site, Swtpm(certificates=False), f"board-{number}")
        # The state is a copy; with another seed it is another TPM.
        self.tpm.tool("tpm2_changeeps")
        public = os.path.join(self.folder, "ek.pub")
        self.tpm.tool("tpm2_createek", "-c", os.path.join(self.folder, "ek.ctx"), "-G", "ecc", "-u", public)
        self.tpm.tool("tpm2_flushcontext", "-t")
        with open(public, "rb") as f:
            self.ek_name = b"\0\x0b" + sha(f.read()[2:])
        self.tpm.stop()


class Hall(softnode.SoftCase):
    def kill_and_start(self):
        child = self.control.child
        self.spent += self.cpu()
        for pid in [child.pid, *kit.children(child.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        child.wait()
        self.control.start()

    def cpu(self):
        """Workers come and go: one that has just ended is in its parent's sum."""
        spent = 0
        for pid in [self.control.child.pid, *kit.children(self.control.child.pid)]:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                spent += herd.cpu_of(pid)
        return spent

    def papers(self, boards):
        path = os.path.join(self.folder, "boards.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("ek_name,label\n")
            f.writelines(f"{b.ek_name.hex()},{os.path.basename(b.folder)}\n" for b in boards)
        self.control.ctl("ek", "load", path)

    def boots(self, boards, start, ends):
        """One gate after the other, as long as there are machines."""
        start.wait()
        while True:
            try:
                board = boards.get_nowait()
            except queue.Empty:
                return
            began = time.monotonic()
            board.power_on()
            # Half of its real patience: that of the other tests is a twentieth, and fifty at once need longer.
            boot = board.finish(board.start("--hurry", "2"), SECONDS)
            board.close()
            ends.put((boot.jumped(), boot.text, time.monotonic() - began))

    @staticmethod
    def soft_boot(gate, start, ends):
        ends.put((gate.run(start) == ADMIT, gate.node.label, gate.took))

    def test_new_hall(self):
        threading.stack_size(1 << 19)
        nodes = self.soft_nodes(NODES - SWTPMS)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            boards = list(pool.map(Board, itertools.repeat(self), range(SWTPMS)))
        for b in boards:
            self.addCleanup(b.close)
        self.papers(boards)
        waiting, ends = queue.SimpleQueue(), queue.SimpleQueue()
        for b in boards:
            waiting.put(b)
        start = threading.Barrier(len(nodes) + AT_ONCE + 1)
        self.spent = -self.cpu()
        with concurrent.futures.ThreadPoolExecutor(len(nodes) + AT_ONCE) as pool:
            running = [pool.submit(self.soft_boot, herd.Gate(n), start, ends) for n in nodes]
            running += [pool.submit(self.boots, waiting, start, ends) for _ in range(AT_ONCE)]
            start.wait()
            began = time.monotonic()
            done = []
            while len(done) < NODES:
                try:
                    done.append(ends.get(timeout=1))
                except queue.Empty:
                    # Whoever failed for good says why.
                    for r in running:
                        if r.done():
                            r.result()
                if len(done) == NODES // 2:
                    self.kill_and_start()
                    done.append(ends.get())
            took = time.monotonic() - began
        self.spent += self.cpu()
        self.assertEqual([text for good, text, _ in done if not good], [])
        self.once()
        if MEASURED:
            each = sorted(t for _, _, t in done)
            print(f"{NODES} new nodes, {SWTPMS} of them with a TPM: all enrolled in {took:.1f} s; "
                  f"p99 {each[(NODES * 99 - 1) // 100]:.2f} s; "
                  f"server {self.spent / NODES * 1000:.2f} ms of processor an enrolment")

    def once(self):
        """One record, one row of enrolment in the audit and a receipt for each."""
        self.control.ctl("audit", "verify")
        self.control.stop()
        db = sqlite3.connect(self.control.database)
        self.addCleanup(db.close)

        def number(text):
            return db.execute(text).fetchone()[0]

        # One more: the machine that the server learned from.
        self.assertEqual(number("SELECT count(*) FROM node WHERE state = 1"), NODES + 1)
        self.assertEqual(number("SELECT count(*) FROM node"), NODES + 1)
        self.assertEqual(number("SELECT count(DISTINCT target) FROM audit WHERE action = 'node.enrol'"), NODES + 1)
        self.assertEqual(number("SELECT count(*) FROM audit WHERE action = 'node.enrol'"), NODES + 1)
        self.assertEqual(number("SELECT count(DISTINCT node) FROM attestation JOIN receipt USING (verdict_digest)"),
                         NODES)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].isdigit():
        MEASURED = True
        numbers = list(itertools.takewhile(str.isdigit, sys.argv[1:]))
        del sys.argv[1:1 + len(numbers)]
        NODES = int(numbers[0])
        SWTPMS = int(numbers[1]) if len(numbers) > 1 else NODES // 10
        AT_ONCE = int(numbers[2]) if len(numbers) > 2 else min(SWTPMS, 50)
    unittest.main()
