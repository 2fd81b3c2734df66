# SPDX-License-Identifier: Apache-2.0
"""A software TPM for one test: own folder, own ports, ends with the test.

	with Swtpm(banks="sha1,sha256") as tpm:
		tpm.tool("tpm2_pcrread", "sha256:0")
		subprocess.run([GATE, "pcrs", "--tpm", tpm.where, "sha256:0"])

A state with EK certificates takes seconds to make. It is made once for each
list of banks, kept under build/swtpm/, and copied; such TPMs have the same
EKs. `fresh=True` makes a new one.
"""

import importlib.machinery
import importlib.util
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(TOP, "build")))
CACHE = os.path.join(BUILD, "swtpm")
TOOLS = os.path.join(TOP, "tests", "tools")
SECONDS = 20

sys.path[:0] = [TOOLS, os.path.join(TOP, "tests", "interop")]


def program(path):
    """A Python program without .py, as a module."""
    loader = importlib.machinery.SourceFileLoader(
        os.path.basename(path).replace("-", "_"), path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
PROXY = program(os.path.join(TOOLS, "tpm-proxy"))


def free_ports():
    """Two free ports in a row: swtpm's data port, and its control port. Not out
    of the range that the kernel gives to clients."""
    for _ in range(200):
        port = random.randrange(10000, 32000, 2)
        with socket.socket() as one, socket.socket() as two:
            try:
                for s, n in ((one, port), (two, port + 1)):
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    s.bind(("127.0.0.1", n))
                    s.listen()
            except OSError:
                continue
            return port
    raise OSError("no two free ports in a row")


def answers(port, child):
    """True once the child listens there, false when it ended."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            if child.poll() is not None:
                return False
            time.sleep(0.01)
    raise OSError("swtpm does not answer")


def manufacture(folder, banks, certificates=True, rsa=2048):
    """A new TPM's state in `folder`; its CA is in `folder`/ca."""
    ca = os.path.join(folder, "ca")
    os.makedirs(ca)
    files = {
        "localca.conf": f"statedir = {ca}\nsigningkey = {ca}/key.pem\n"
                        f"issuercert = {ca}/cert.pem\ncertserial = {ca}/serial\n",
        "localca.options": "--platform-manufacturer Bootgate\n"
                           "--platform-version 1\n--platform-model test\n",
        "setup.conf": "create_certs_tool = /usr/bin/swtpm_localca\n"
                      f"create_certs_tool_config = {ca}/localca.conf\n"
                      f"create_certs_tool_options = {ca}/localca.options\n",
    }
    for name, text in files.items():
        with open(os.path.join(ca, name), "w", encoding="ascii") as f:
            f.write(text)
    command = ["swtpm_setup", "--tpm2", "--tpmstate", folder, "--pcr-banks", banks,
               "--config", os.path.join(ca, "setup.conf"), "--overwrite"]
    if rsa != 2048:
        command += ["--rsa-keysize", str(rsa)]
    if certificates:
        command += ["--create-ek-cert", "--create-platform-cert"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stdout.decode(errors="replace"))


def cached(banks, certificates, rsa):
    name = banks.replace(",", "-") + ("" if certificates else "-bare")
    name += f"-rsa{rsa}" if rsa != 2048 else ""
    path = os.path.join(CACHE, name)
    if not os.path.isdir(path):
        os.makedirs(CACHE, exist_ok=True)
        new = tempfile.mkdtemp(prefix="new-", dir=CACHE)
        manufacture(new, banks, certificates, rsa)
        try:
            os.rename(new, path)
        except OSError:  # another test was faster
            shutil.rmtree(new)
    return path


class Swtpm:
    def __init__(self, banks="sha1,sha256,sha384,sha512", certificates=True,
                 fresh=False, state=None, rsa=2048):
        self.folder = tempfile.mkdtemp(prefix="swtpm-")
        self.state = os.path.join(self.folder, "state")
        self.child = None
        if state:
            shutil.copytree(state, self.state)
        elif fresh:
            os.mkdir(self.state)
            manufacture(self.state, banks, certificates, rsa)
        else:
            shutil.copytree(cached(banks, certificates, rsa), self.state)
        self.start()

    def start(self):
        self.log = open(os.path.join(self.folder, "swtpm.log"), "ab")
        for _ in range(10):  # somebody may be faster at the ports
            self.port = free_ports()
            self.child = subprocess.Popen(
                ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.state}",
                 "--server", f"type=tcp,port={self.port},bindaddr=127.0.0.1",
                 "--ctrl", f"type=tcp,port={self.port + 1},bindaddr=127.0.0.1",
                 "--flags", "not-need-init,startup-clear"],
                stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
            if answers(self.port + 1, self.child):
                return
        raise OSError("swtpm does not start")

    @property
    def where(self):
        return f"swtpm:host=127.0.0.1,port={self.port}"

    def tool(self, *command, check=True, binary=False):
        """Runs a program of tpm2-tools on this TPM."""
        environment = dict(os.environ, TPM2TOOLS_TCTI=self.where,
                           TSS2_LOG="all+NONE", TPM2OPENSSL_TCTI=self.where)
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, cwd=self.folder,
                              timeout=60)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: "
                               + done.stderr.decode(errors="replace"))
        return done.stdout if binary else done.stdout.decode(errors="replace")

    def raw(self, command):
        """A command as bytes; the answer."""
        with socket.create_connection(("127.0.0.1", self.port)) as s:
            s.sendall(command)
            return PROXY.receive(s)

    def handles(self):
        """Number of transient objects and sessions in the TPM."""
        count = 0
        for first in (0x80000000, 0x02000000, 0x03000000):
            answer = self.raw(struct.pack(">HIIIII", 0x8001, 22, 0x17A, 1, first, 254))
            count += struct.unpack_from(">I", answer, 15)[0]
        return count

    def value(self, bank, pcr):
        """What a register holds."""
        algorithm = {"sha1": 4, "sha256": 11, "sha384": 12, "sha512": 13}[bank]
        answer = self.raw(struct.pack(">HIIIHB", 0x8001, 20, 0x17E, 1, algorithm, 3)
                          + (1 << pcr).to_bytes(3, "little"))
        return answer[30:]

    def stop(self):
        if self.child:
            self.child.terminate()
            try:
                self.child.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
            self.child = None
            self.log.close()

    def restart(self):
        """Power off and on: registers and counters as after a reset."""
        self.stop()
        self.start()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Proxy:
    """tests/tools/tpm-proxy in front of a Swtpm, with rules."""

    def __init__(self, tpm, *rules, answer=2000, retry=30000):
        self.tap = os.path.join(tpm.folder, f"tap-{time.monotonic_ns()}")
        self.open, self.port = PROXY.start(tpm.port, 0, rules, self.tap)
        self.where = f"swtpm:host=127.0.0.1,port={self.port},answer={answer},retry={retry}"

    def messages(self, mark=">", name=None):
        """What went over: [(name, bytes)]; for `!` what was done."""
        found = []
        with open(self.tap, encoding="ascii") as f:
            for line in f:
                m, n, data = (line.rstrip("\n") + "  ").split(" ")[:3]
                if m == mark and name in (None, n):
                    found.append((n, data if m == "!" else bytes.fromhex(data)))
        return found

    def close(self):
        for thing in self.open:
            thing.close()


class Done:
    """What a run of the driver gave."""

    def __init__(self, done):
        self.code = done.returncode
        self.lines = done.stdout.splitlines()
        self.err = done.stderr
        # the last line is the reason's name
        self.reason = done.stderr.rstrip().rsplit("\n", 1)[-1] if done.returncode else "ok"

    def all(self, name):
        return [line[len(name) + 1:] for line in self.lines if line.startswith(name + " ")]

    def one(self, name):
        found = self.all(name)
        if len(found) != 1:
            raise AssertionError(f"{name} {len(found)} times in {self.lines} {self.err}")
        return found[0]


QUIET = dict(os.environ, TSS2_LOG="all+NONE")


class Case(unittest.TestCase):
    """A test of the driver; `self.driver` is one of DRIVERS."""

    driver = "tpm-driver-asan"
    kinds = ("static", "asan")  # of driver that this class is for

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tpm-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def tpm(self, **how):
        tpm = Swtpm(**how)
        self.addCleanup(tpm.close)
        return tpm

    def proxy(self, tpm, *rules, **how):
        proxy = Proxy(tpm, *rules, **how)
        self.addCleanup(proxy.close)
        return proxy

    def start(self, where, *args):
        return subprocess.Popen(
            [os.path.join(BUILD, "test", self.driver), getattr(where, "where", where),
             *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=QUIET)

    def run_driver(self, where, *args, seconds=60):
        child = self.start(where, *args)
        out, err = child.communicate(timeout=seconds)
        return Done(subprocess.CompletedProcess(args, child.returncode, out, err))

    def ok(self, where, *args):
        done = self.run_driver(where, *args)
        self.assertEqual(done.code, 0, done.err)
        return done

    def refused(self, reason, where, *args):
        done = self.run_driver(where, *args)
        self.assertEqual(done.reason, reason, done.err)
        self.assertNotEqual(done.code, 0)
        return done

    def content(self, *parts):
        with open(self.path(*parts), "rb") as f:
            return f.read()


DRIVERS = {"static": "tpm-driver", "asan": "tpm-driver-asan"}


def for_each_driver(namespace):
    """Every class `Something(Case)` of a module runs with the driver of each
    kind, or of the one that is the program's first argument."""
    only = sys.argv.pop(1) if sys.argv[1:] and sys.argv[1] in DRIVERS else None
    for name, case in list(namespace.items()):
        if not (isinstance(case, type) and issubclass(case, Case) and case is not Case):
            continue
        del namespace[name]
        if name.startswith("Base"):
            continue
        for kind in case.kinds:
            if only in (None, kind):
                namespace[f"{name}_{kind}"] = type(
                    f"{name}_{kind}", (case,),
                    {"driver": DRIVERS[kind], "__module__": namespace["__name__"]})
    namespace.pop("Case", None)


def main():
    """Runs the tests of the program; the last line is what tests/run wants."""
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed",
          flush=True)
    sys.exit(1 if failed else 0)
