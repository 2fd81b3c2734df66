#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `image predict` says of a real gate image, against a computation from
the specifications that shares no code with it, and against the digest that
Debian signed for the kernel inside. What firmware measures is compared in the
lab (image/lab/lab.py, check_predicted)."""

import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
CTL = os.path.join(BUILD, "test", "bootgatectl")
BIN = os.path.join(BUILD, "bin")
BANKS = ("sha1", "sha256", "sha384")
APPLICATION, IPL, TAG = 0x80000003, 0xD, 6


class Pe:
    def __init__(self, data):
        self.data = data
        pe = struct.unpack_from("<I", data, 0x3C)[0]
        count, = struct.unpack_from("<H", data, pe + 6)
        size, = struct.unpack_from("<H", data, pe + 20)
        self.optional = pe + 24
        self.headers, = struct.unpack_from("<I", data, self.optional + 60)
        at, self.signatures = struct.unpack_from("<II", data, self.optional + 144)
        self.signature = data[at:at + self.signatures]
        self.sections = []
        for row in range(count):
            at = self.optional + size + 40 * row
            memory, _, raw, where = struct.unpack_from("<IIII", data, at + 8)
            self.sections.append((where, raw, memory, data[at:at + 8].rstrip(b"\0").decode()))

    def content(self, name):
        for where, _, memory, found in self.sections:
            if found == name:
                return self.data[where:where + memory]
        raise KeyError(name)

    def measured(self):
        """The bytes of the Authenticode digest, PE specification."""
        data, directory = self.data, self.optional + 144
        parts = [data[:self.optional + 64], data[self.optional + 68:directory],
                 data[directory + 8:self.headers]]
        done = self.headers
        for where, raw, _, _ in sorted(s for s in self.sections if s[1]):
            parts.append(data[where:where + raw])
            done += raw
        parts.append(data[done:len(data) - self.signatures])
        return b"".join(parts)


def event(pcr, kind, content):
    return pcr, kind, {bank: hashlib.new(bank, content).hexdigest() for bank in BANKS}


def expected(image, ipxe=None):
    pe = Pe(image)
    kernel = Pe(pe.content(".linux"))
    options = (ipxe or pe.content(".cmdline").decode()) + "\0"
    options = options.encode("utf-16-le")
    events = [event(4, APPLICATION, pe.measured())] * (2 if ipxe else 1)
    for name in (".linux", ".osrel", ".cmdline", ".initrd"):
        events.append(event(11, IPL, name.encode() + b"\0"))
        events.append(event(11, IPL, pe.content(name)))
    if ipxe:
        events.append(event(12, IPL, options))
    events.append(event(4, APPLICATION, kernel.measured()))
    events.append(event(9, TAG, options))
    events.append(event(9, TAG, pe.content(".initrd")))
    return events


class Predict(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="predict-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.path = os.path.join(folder.name, "gate.efi")
        server = os.path.join(folder.name, "server")
        for argv in ([f"{BIN}/bootgated", "init", server, "--name", "localhost"],
                     [f"{BIN}/bootgate-mkimage", f"{server}/site", cls.path]):
            subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        with open(cls.path, "rb") as f:
            cls.image = f.read()

    def run_ctl(self, *argv):
        return subprocess.run([CTL, "image", "predict", *argv], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    def predicted(self, *argv):
        done = self.run_ctl("--json", *argv)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [(e["pcr"], e["type_number"], e["digests"]) for e in json.loads(done.stdout)["events"]]

    def test_firmware(self):
        self.assertEqual(self.predicted(self.path), expected(self.image))

    def test_ipxe(self):
        self.assertEqual(self.predicted("--ipxe", "gate.efi", self.path), expected(self.image, "gate.efi"))

    def test_signed_digest(self):
        """The second application is the kernel whose digest stands in its own signature."""
        kernel = Pe(Pe(self.image).content(".linux"))
        applications = [e[2]["sha256"] for e in self.predicted(self.path) if e[1] == APPLICATION]
        self.assertEqual(len(applications), 2)
        if not kernel.signature:
            self.skipTest("this kernel is not signed")
        self.assertIn(bytes.fromhex(applications[1]), kernel.signature)

    def test_text(self):
        done = self.run_ctl(self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        for _, _, digests in expected(self.image):
            for bank in BANKS:
                self.assertRegex(done.stdout, rf"(?m)^ +{bank} +{digests[bank]}$")
        self.assertIn("command-line", done.stdout)

    def test_other_stub(self):
        path = os.path.join(self.folder, "other.efi")
        self.assertEqual(self.image.count(b"systemd-stub 252."), 1)
        with open(path, "wb") as f:
            f.write(self.image.replace(b"systemd-stub 252.", b"systemd-stub 257."))
        done = self.run_ctl(path)
        self.assertEqual(done.returncode, 3)
        self.assertIn("other.efi: format.version", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    sys.exit(unittest.main())
