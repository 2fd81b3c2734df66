#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The character device: which one is taken, waiting for it, a busy one. A
pseudo-terminal in raw mode stands in for the kernel's driver."""

import os
import threading
import time
import tty

from swtpm import PROXY, QUIET, Case, for_each_driver, main


class Device:
    """A character device whose commands go to a Swtpm."""

    def __init__(self, tpm, broken=0):
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        self.path = os.ttyname(self.slave)
        self.tpm = tpm
        self.commands = []
        self.broken = broken  # this many answers are cut
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            while True:
                command = os.read(self.master, 4096)
                while len(command) < 10 or len(command) < int.from_bytes(command[2:6], "big"):
                    command += os.read(self.master, 4096)
                self.commands.append(PROXY.name_of(int.from_bytes(command[6:10], "big")))
                answer = self.tpm.raw(command)
                if self.broken and self.commands[-1] == "PCR_Extend":
                    self.broken -= 1
                    answer = answer[:7]
                os.write(self.master, answer)
        except OSError:
            pass

    def close(self):
        os.close(self.slave)
        os.close(self.master)


class Devices(Case):
    def setUp(self):
        super().setUp()
        self.vtpm = self.tpm(certificates=False)
        self.where = f"devices:{self.folder}"

    def environment(self, name, value):
        """For the driver: it has an open(2) of its own."""
        QUIET[name] = value
        self.addCleanup(QUIET.pop, name)

    def device(self, name, **how):
        device = Device(self.vtpm, **how)
        self.addCleanup(device.close)
        if name:
            os.symlink(device.path, self.path(name))
        return device

    def test_resource_manager_first(self):
        managed, raw = self.device("tpmrm0"), self.device("tpm0")
        self.ok(self.where, "quote", "sha256:0,8", "00ff", self.folder, "5")
        self.assertIn("Quote", managed.commands)
        self.assertEqual(raw.commands, [])
        # nothing is flushed that is not ours
        self.assertEqual(managed.commands.count("FlushContext"), 1)
        self.assertEqual(managed.commands[0], "CreatePrimary")

    def test_not_inherited(self):
        """Whatever the gate starts does not get the device."""
        device = self.device("tpmrm0")
        child = self.start(self.where, "hold", 60000)
        self.assertEqual(child.stdout.readline(), "held\n")
        folder = f"/proc/{child.pid}"
        held = [n for n in os.listdir(folder + "/fd")
                if os.readlink(f"{folder}/fd/{n}") == device.path]
        self.assertEqual(len(held), 1)
        with open(f"{folder}/fdinfo/{held[0]}", encoding="ascii") as f:
            flags = int(f.read().split("flags:")[1].split()[0], 8)
        child.kill()
        child.communicate()
        self.assertTrue(flags & os.O_CLOEXEC)

    def test_raw_device_without_one(self):
        for _ in range(3):
            self.vtpm.tool("tpm2_createprimary", "-C", "o", "-c", "k.ctx")
        raw = self.device("tpm0")
        self.ok(self.where, "ak")
        self.assertGreaterEqual(raw.commands.count("FlushContext"), 4)
        self.assertEqual(self.vtpm.handles(), 0)

    def test_managed_one_appears_later(self):
        """The driver makes tpm0 first: it must not win by a moment."""
        raw = self.device("tpm0")
        managed = self.device("late")
        self.environment("DRIVER_LATE", self.path("late"))
        self.ok(self.where, "facts")
        self.assertEqual(raw.commands, [])
        self.assertNotEqual(managed.commands, [])

    def test_late_device(self):
        device = self.device(None)
        timer = threading.Timer(0.8, os.symlink, (device.path, self.path("tpmrm0")))
        timer.start()
        start = time.monotonic()
        self.ok(self.where, "facts")
        timer.join()
        self.assertGreater(time.monotonic() - start, 0.7)

    def test_no_device(self):
        start = time.monotonic()
        done = self.refused("tpm.absent", self.where, "facts")
        self.assertEqual(done.code, 1)
        self.assertTrue(1 < time.monotonic() - start < 10)

    def test_busy_for_a_while(self):
        self.device("tpmrm0")
        busy = self.path("busy")
        with open(busy, "wb"):
            pass
        self.environment("DRIVER_BUSY", busy)
        # longer than a device that is not there is waited for
        timer = threading.Timer(2.5, os.unlink, (busy,))
        timer.start()
        self.ok(self.where, "facts")
        timer.join()

    def test_busy_for_ever(self):
        device = self.device("tpmrm0")
        busy = self.path("busy")
        with open(busy, "wb"):
            pass
        self.environment("DRIVER_BUSY", busy)
        done = self.refused("tpm.busy", self.where, "facts")
        self.assertEqual(done.code, 1)
        self.assertEqual(device.commands, [])

    def test_holder_is_named(self):
        """Only for a path that the link of the holder's descriptor names."""
        held = self.path("tpmrm0")
        with open(held, "wb"):
            busy = self.path("busy")
            with open(busy, "wb"):
                pass
            self.environment("DRIVER_BUSY", busy)
            done = self.refused("tpm.busy", self.where, "facts")
        self.assertIn(f"{held} is held by process {os.getpid()}", done.err)

    def test_not_a_device(self):
        os.mkdir(self.path("tpmrm0"))
        self.refused("tpm.io", self.where, "facts")

    def test_lost_answer(self):
        """The device is opened again, and the key made again."""
        device = self.device("tpmrm0", broken=1)
        self.ok(self.where, "survive", "sha256:8")
        self.assertEqual(device.commands.count("CreatePrimary"), 2)
        self.assertEqual(device.commands.count("PCR_Extend"), 1)


for_each_driver(globals())

if __name__ == "__main__":
    main()
