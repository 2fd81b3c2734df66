# SPDX-License-Identifier: Apache-2.0
"""The gate (test build), a TPM, a machine of files, and the scripted server."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tests", "swtpm"))

import server as srv  # noqa: E402
from machine import Machine  # noqa: E402
from swtpm import Swtpm  # noqa: E402

BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
GATE = os.path.join(BUILD, "test", "bootgate")
FIRMWARE_LOG = os.path.join(TOP, "tests", "data", "eventlog")


class Run:
    def __init__(self, done):
        self.code = done.returncode
        self.lines = done.stdout.splitlines()
        self.err = done.stderr
        self.text = done.stdout

    def has(self, line):
        return f"bootgate: {line}" in self.lines

    def steps(self):
        return [x[len("bootgate: step "):] for x in self.lines
                if x.startswith("bootgate: step ")]


class GateCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.mkdtemp(prefix="gate-test-")
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.pki = srv.Pki(os.path.join(cls.shared, "pki"))
        cls.tpm = Swtpm()
        cls.addClassCleanup(cls.tpm.close)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="run-", dir=self.shared)
        self.tpm.restart()
        self.machine = Machine(self.path("root"), self.firmware_log())
        self.out = self.path("out")
        os.mkdir(self.out)
        self.server = srv.Server(self.pki)
        self.server.start()
        self.addCleanup(self.server.stop)
        self.site = self.path("site")
        self.make_site()

    def firmware_log(self):
        return b""

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)

    def make_site(self, ca=None, threshold=1, **conf):
        settings = {"server.url": self.server.url, "mirror.url": self.server.mirror_url,
                    "contact.text": "call the desk", "fail.delay": "1",
                    "release.threshold": str(threshold),
                    **{k.replace("__", ".").replace("_", "-"): v for k, v in conf.items()}}
        self.write("site/boot.conf", "".join(f"{k} = {v}\n" for k, v in settings.items()))
        with open(ca or self.pki.ca, "rb") as f:
            self.write("site/server-ca.pem", f.read())
        self.write("site/verdict-keys/one.pem", self.pki.pem(self.pki.verdict))
        for i, key in enumerate(self.pki.release[:2]):
            self.write(f"site/release-keys/{i}.pem", self.pki.pem(key))

    def command(self, *extra):
        return [GATE, "run", "--config", self.site, "--root", self.path("root"),
                "--tpm", self.tpm.where, "--kexec-dir", self.out, "--no-network-setup",
                "--hurry", "50", *extra]

    def gate(self, *extra, seconds=60, **env):
        done = subprocess.run(self.command(*extra), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=seconds, check=False, env={**os.environ, **env})
        return Run(done)

    def start(self, *extra, **env):
        return subprocess.Popen(self.command(*extra), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **env})

    def loaded(self, name):
        with open(os.path.join(self.out, name), "rb") as f:
            return f.read()

    def pcr(self, number, bank="sha256"):
        text = self.tpm.tool("tpm2_pcrread", f"{bank}:{number}")
        return text.split("0x")[1].split()[0].lower()

    def admitted(self, run):
        self.assertEqual(run.code, 0, run.text + run.err)
        self.assertTrue(run.has("jump"), run.text)
        self.assertTrue(os.path.exists(os.path.join(self.out, "kernel")))

    def refused(self, run, reason, code=3):
        self.assertTrue(run.has(f"failed {reason}"), run.text + run.err)
        self.assertEqual(run.code, code, run.text + run.err)
        self.assertFalse(run.has("jump"), run.text)
        self.assertEqual(self.server.failures[-1][2], reason, run.text)
