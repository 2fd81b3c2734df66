#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How the real server's processes stand confined: what the kernel says of
each, started by root and by an ordinary user."""

import os
import shutil
import sys
import unittest

import kit

NOBODY = 65534
USERS = {"front": 65521, "worker": 65521, "ledger": 65522, "signer": 65523}

# argv: uid (0: stays), whether the kernel has Landlock, the program. The
# filter answers landlock_create_ruleset with ENOSYS and lets all else pass.
START_AS = """
import ctypes, os, struct, sys
uid, landlock = int(sys.argv[1]), sys.argv[2] == "landlock"
program = os.open(sys.argv[3], os.O_RDONLY)
if uid:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
if not landlock:
    code = b"".join(struct.pack("HBBI", *x) for x in (
        (0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x50026), (0x06, 0, 0, 0x7fff0000)))
    code = ctypes.create_string_buffer(code)
    program_of = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program_of, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
os.execve(program, sys.argv[3:], os.environ)
"""


def start_as(uid, landlock=True):
    return [sys.executable, "-c", START_AS, str(uid), "landlock" if landlock else "without"]


def status(pid):
    """One dict for each thread."""
    out = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status", encoding="utf-8") as f:
            out.append({k: v.split() for k, v in (x.rstrip("\n").split(":", 1) for x in f)})
    return out


@unittest.skipIf(os.geteuid() != 0, "only root can become somebody")
class Confined(kit.PathCase):
    def processes(self):
        """Name and pid, as supervisor_start.c starts them."""
        children = kit.children(self.control.child.pid)
        names = ["ledger", "signer", "front", "front"] + ["worker"] * (len(children) - 4)
        return [("supervisor", self.control.child.pid), *zip(names, children)]

    def filters(self):
        return [int(s["Seccomp_filters"][0]) for _, pid in self.processes() for s in status(pid)]

    def assert_confined(self, user):
        """`user`: the uid of a name."""
        # Each has the supervisor's filter, and its own last of all.
        self.wait_for(lambda: min(self.filters()[1:]) > self.filters()[0])
        for name, pid in self.processes():
            for s in status(pid):
                with self.subTest(process=name):
                    self.assertEqual(s["Uid"], [str(user(name))] * 4)
                    self.assertEqual(s["Gid"], [str(user(name))] * 4)
                    self.assertEqual(s["NoNewPrivs"], ["1"])
                    self.assertEqual(s["Seccomp"], ["2"])
                    if name != "supervisor":
                        self.assertEqual(s["Groups"], [])
                        for which in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                            self.assertEqual(s[which], ["0" * 16], which)
        self.control.json("server", "status")

    def give_away(self):
        os.chmod(self.folder, 0o711)
        for folder, _, files in os.walk(self.control.dir):
            for name in [folder, *(os.path.join(folder, x) for x in files)]:
                os.chown(name, NOBODY, NOBODY)

    def state(self, name=""):
        return os.path.join(self.control.dir, "state", name)

    def test_as_root(self):
        self.control.start()
        self.assert_confined(lambda name: USERS.get(name, 0))
        ledger = dict(self.processes())["ledger"]
        self.assertEqual(os.readlink(f"/proc/{ledger}/root"), os.path.realpath(self.state()))
        for name in ("", *os.listdir(self.state())):
            self.assertEqual(os.stat(self.state(name)).st_uid, USERS["ledger"], name)

    def test_as_nobody(self):
        self.give_away()
        self.control.start(start_as(NOBODY))
        self.assert_confined(lambda name: NOBODY)
        self.assertNotIn("Landlock", self.control.text())

    def test_kernel_without_landlock(self):
        self.control.start(start_as(0, landlock=False))
        self.assert_confined(lambda name: USERS.get(name, 0))
        self.assertIn("this kernel has no Landlock: users", self.control.text())
        self.control.stop()
        self.give_away()
        self.control.start(start_as(NOBODY, landlock=False))
        self.assert_confined(lambda name: NOBODY)
        self.assertIn("this kernel has no Landlock: a ledger that is taken over", self.control.text())

    # -- the ledger's folder ------------------------------------------------------------

    def test_backup_put_back_by_root(self):
        self.control.start()
        self.control.stop()
        for name in os.listdir(self.state()):
            os.chown(self.state(name), 0, 0)
            os.chmod(self.state(name), 0o644)
        os.chown(self.state(), 0, 0)
        self.control.start()
        self.control.json("server", "status")
        for name in ("", "bootgate.db"):
            there = os.stat(self.state(name))
            self.assertEqual((there.st_uid, there.st_mode & 0o077), (USERS["ledger"], 0), name)

    def refused_start(self):
        done = kit.subprocess.run([kit.SERVER, "run", self.control.dir], stdin=kit.subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=kit.SECONDS)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_planted_link(self):
        """A ledger that was taken over leaves a link, to be given its target."""
        victim = os.path.join(self.folder, "victim")
        with open(victim, "wb"):
            pass
        for plant in (os.symlink, os.link):
            plant(victim, self.state("bootgate.db"))
            self.assertIn("state/bootgate.db", self.refused_start())
            self.assertEqual(os.stat(victim).st_uid, 0)
            os.unlink(self.state("bootgate.db"))
        shutil.rmtree(self.state())
        self.assertIn("file: ", self.refused_start())


if __name__ == "__main__":
    unittest.main()
