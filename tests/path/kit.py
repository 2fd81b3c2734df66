# SPDX-License-Identifier: Apache-2.0
"""The whole path without QEMU: a recorded firmware log is extended into a real
swtpm, then the real gate (test build) talks to the real server. Only the
kexec call is replaced: the gate writes down what it would have loaded."""

import base64
import hashlib
import http.server
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
for folder in ("tests/gate", "tests/swtpm", "tests/tools"):
    sys.path.insert(0, os.path.join(TOP, folder))

import evlog  # noqa: E402
from bzimage import bzimage  # noqa: E402
from machine import Machine  # noqa: E402
from swtpm import Swtpm  # noqa: E402

BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
GATE = os.path.join(BUILD, "test", "bootgate")
SERVER = os.path.join(BUILD, os.environ.get("PATH_SERVER", "test"), "bootgated")
CTL = os.path.join(BUILD, "bin", "bootgatectl")
LOG = os.path.join(TOP, "tests", "data", "lab", "firmware.log")
SECONDS = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Mirror:
    """A folder over HTTP, as any web server would serve it."""

    def __init__(self, folder):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=folder)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Control:
    """A control server on a folder of its own."""

    def __init__(self, folder, mirror):
        self.dir = os.path.join(folder, "server")
        self.release = os.path.join(folder, "release-key")
        self.port = free_port()
        self.child = None
        self.log = os.path.join(folder, "server.log")
        subprocess.run([SERVER, "init", self.dir, "--name", "127.0.0.1", "--port", str(self.port),
                        "--listen", f"127.0.0.1:{self.port}", "--mirror", mirror,
                        "--release-folder", self.release], check=True, stdout=subprocess.DEVNULL)
        os.rename(self.release, self.release + ".away")
        self.release += ".away"
        self.socket = os.path.join(self.dir, "run", "admin.sock")

    @property
    def database(self):
        return os.path.join(self.dir, "state", "bootgate.db")

    @property
    def site(self):
        return os.path.join(self.dir, "site")

    def start(self, prefix=(), env=None):
        read, write = os.pipe()
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                [*prefix, SERVER, "run", self.dir, "--ready-fd", str(write)], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, pass_fds=(write,), env={**os.environ, **(env or {})})
        os.close(write)
        with os.fdopen(read) as ready:
            if ready.readline() != "ready\n":
                raise RuntimeError("the server did not start:\n" + self.text())

    def stop(self):
        if self.child:
            self.child.terminate()
            self.child.wait(SECONDS)
            self.child = None

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def ctl(self, *args, code=0):
        done = subprocess.run([CTL, *args, "--socket", self.socket], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=SECONDS)
        if done.returncode != code:
            raise AssertionError(f"{' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    @staticmethod
    def ctl_offline(*args):
        return subprocess.run([CTL, *args], check=True, stdout=subprocess.PIPE, text=True).stdout

    def json(self, *args):
        return json.loads(self.ctl(*args, "--json"))

    def node(self):
        """The one node there is."""
        (node,) = self.json("node", "list")["nodes"]
        return node

    def audit(self, action):
        return [r for r in self.json("audit", "list")["rows"] if r["action"] == action]

    def trust(self, swtpm):
        """The swtpm's CA among the vendor CAs."""
        ca = os.path.join(swtpm.state, "ca")
        for name in os.listdir(ca):
            if name.endswith("cert.pem"):
                shutil.copy(os.path.join(ca, name), os.path.join(self.dir, "ek-ca", "swtpm-" + name))
        if self.child:
            self.child.send_signal(signal.SIGHUP)


class Boot:
    """One run of the gate."""

    def __init__(self, done, out):
        self.code = done.returncode
        self.text = done.stdout + done.stderr
        self.lines = done.stdout.splitlines()
        self.out = out

    def steps(self):
        return [x[len("bootgate: step "):] for x in self.lines if x.startswith("bootgate: step ")]

    def failed(self):
        """The reason that stands on the console, None for a boot."""
        words = [x.split() for x in self.lines if x.startswith("bootgate: failed ")]
        return words[0][2] if words else None

    def waited(self):
        return [x.split()[2] for x in self.lines if x.startswith("bootgate: waiting ")]

    def jumped(self):
        return "kexec" in self.steps()

    def file(self, name):
        with open(os.path.join(self.out, name), "rb") as f:
            return f.read()


class Node:
    """A TPM and a machine of files. power_on() is a boot from power-on."""

    def __init__(self, folder, site, tpm=None, name="node"):
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        self.site = site
        self.tpm = tpm or Swtpm()
        with open(LOG, "rb") as f:
            self.firmware_log = f.read()
        self.boots = 0
        self.children = []
        self.serial = name  # of the machine, and of its board
        self.command_line = None  # of the gate's kernel; None: as in machine.py

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.communicate()
        self.tpm.close()

    def power_on(self, log=None, extend=None):
        """Firmware's work: the TPM starts, and the log's events are extended.

        `extend`: other bytes whose events are really extended, where the log
        that the gate will see is not what happened."""
        self.tpm.restart()
        self.log = self.firmware_log if log is None else log
        extends(self.tpm, self.log if extend is None else extend)

    def command(self, out, *options):
        machine = Machine(os.path.join(self.folder, f"root-{self.boots}"), self.log, self.serial)
        self.machine = machine
        if self.command_line is not None:
            machine.write("proc/cmdline", self.command_line + "\n")
        return [GATE, "run", "--config", self.site, "--root", machine.root, "--tpm", self.tpm.where,
                "--kexec-dir", out, "--no-network-setup", "--hurry", "20", *options]

    def start(self, *options):
        """Starts the gate and does not wait."""
        self.boots += 1
        out = os.path.join(self.folder, f"out-{self.boots}")
        os.mkdir(out)
        child = subprocess.Popen(self.command(out, *options), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        child.out = out
        self.children.append(child)
        return child

    def finish(self, child, seconds=SECONDS):
        try:
            stdout, stderr = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            stdout, stderr = child.communicate()
            raise AssertionError("the gate hangs:\n" + stdout + stderr) from None
        done = subprocess.CompletedProcess(child.args, child.returncode, stdout, stderr)
        return Boot(done, child.out)

    @staticmethod
    def stop(child):
        """Ends a gate that waits; what it said so far."""
        child.kill()
        stdout, stderr = child.communicate()
        return Boot(subprocess.CompletedProcess(child.args, child.returncode, stdout, stderr), child.out)

    def boot(self, *options, **power):
        self.power_on(**power)
        return self.finish(self.start(*options))


def events(log):
    """(pcr, type, {bank: digest}, data) of a crypto-agile log without its header."""
    size = struct.unpack_from("<I", log, 28)[0]
    at, out = 32 + size, []
    while at < len(log):
        pcr, kind, count = struct.unpack_from("<III", log, at)
        at += 12
        digests = {}
        for _ in range(count):
            bank = evlog.NAMES[struct.unpack_from("<H", log, at)[0]]
            n = evlog.LENGTHS[bank]
            digests[bank] = log[at + 2:at + 2 + n]
            at += 2 + n
        n = struct.unpack_from("<I", log, at)[0]
        out.append((pcr, kind, digests, log[at + 4:at + 4 + n]))
        at += 4 + n
    return out


def write_log(log, new_events):
    """The log with the header of `log` and these events."""
    size = struct.unpack_from("<I", log, 28)[0]
    out = [log[:32 + size]]
    for pcr, kind, digests, data in new_events:
        out.append(struct.pack("<III", pcr, kind, len(digests)))
        for bank, digest in digests.items():
            out.append(struct.pack("<H", evlog.ALGORITHMS[bank]) + digest)
        out.append(struct.pack("<I", len(data)) + data)
    return b"".join(out)


def with_options(log, text):
    """The log of a gate whose kernel got these options: Linux's stub measures them."""
    changed = events(log)
    (at,) = [i for i, e in enumerate(changed)
             if e[0] == 9 and e[3][:4] == struct.pack("<I", 0x8F3B22ED)]
    pcr, kind, digests, data = changed[at]
    changed[at] = (pcr, kind, hashed(digests, text.encode("utf-16-le") + b"\0\0"), data)
    return write_log(log, changed)


def hashed(banks, data):
    return {b: hashlib.new(b, data).digest() for b in banks}


def active_banks(tpm):
    """tpm2_getcap prints one line a bank: `  - sha1: [ 0, 1, ... ]`."""
    lines = tpm.tool("tpm2_getcap", "pcrs").splitlines()
    return [x.split()[1].rstrip(":") for x in lines if x.startswith("  - ") and "[ ]" not in x]


def extends(tpm, log):
    """Real extends of every event, in every active bank that the log has."""
    active = active_banks(tpm)
    with socket.create_connection(("127.0.0.1", tpm.port)) as s:
        for pcr, kind, digests, _ in events(log):
            if kind == evlog.NO_ACTION:
                continue
            some = [(evlog.ALGORITHMS[b], d) for b, d in digests.items() if b in active]
            body = struct.pack(">I", len(some)) + b"".join(struct.pack(">H", a) + d for a, d in some)
            auth = struct.pack(">IHBH", 0x40000009, 0, 0, 0)
            command = struct.pack(">II", pcr, len(auth)) + auth + body
            s.sendall(struct.pack(">HII", 0x8002, 10 + len(command), 0x182) + command)
            head = s.recv(10, socket.MSG_WAITALL)
            _, n, code = struct.unpack(">HII", head)
            s.recv(n - 10, socket.MSG_WAITALL)
            if code != 0:
                raise RuntimeError(f"extend of register {pcr}: {code:#x}")


class PathCase(unittest.TestCase):
    """A server, a mirror with a signed image, and nodes."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="path-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.mirror_dir = os.path.join(self.folder, "mirror")
        os.mkdir(self.mirror_dir)
        self.mirror = Mirror(self.mirror_dir)
        self.addCleanup(self.mirror.stop)
        self.control = Control(self.folder, self.mirror.url)
        self.addCleanup(self.control.stop)
        self.gate_site()
        self.nodes = 0

    def gate_site(self):
        """What a gate image holds beside the site folder."""
        with open(os.path.join(self.control.site, "build-id"), "w", encoding="ascii") as f:
            f.write("path-test-1\n")

    def new_node(self, tpm=None):
        self.nodes += 1
        node = Node(self.folder, self.control.site, tpm, f"node-{self.nodes}")
        self.addCleanup(node.close)
        self.control.trust(node.tpm)
        return node

    def image(self, version="1", kernel=bzimage(b"kernel " * 9000), initrd=b"initrd " * 90000, cmdline="console=ttyS0",
              select=True, **options):
        path = os.path.join(self.folder, f"image-{version}.manifest")
        files = {}
        for name, content in (("kernel", kernel), ("initrd", initrd)):
            files[name] = os.path.join(self.folder, f"{name}-{version}")
            with open(files[name], "wb") as f:
                f.write(content)
        extra = [x for k, v in options.items() for x in ("--" + k.replace("_", "-"), str(v))]
        subprocess.run([CTL, "image", "sign", "--key", os.path.join(self.control.release, "release-1.key"),
                        "--line", "host", "--version", version, "--security-version", "1",
                        "--kernel", files["kernel"], "--initrd", files["initrd"], "--cmdline", cmdline,
                        "--mirror", self.mirror_dir, *extra, path], check=True,
                       stdout=subprocess.DEVNULL)
        if self.control.child:
            self.control.ctl("image", "add", path)
            if select:
                self.control.ctl("image", "select", f"host:{version}")
        return path

    def learned(self, node, label="n1"):
        """The first node of a server: refused for want of references, which
        are then learned from it; approved. Its next boot is admitted."""
        first = node.boot()
        self.assert_refused(first, "policy.no-reference")
        name = self.control.node()["id"]
        self.control.ctl("ref", "learn", name, "--name", "first", "--reason", "test")
        self.control.ctl("ref", "activate", "--all-staged", "--reason", "test")
        self.control.ctl("node", "approve", name, "--label", label)
        return first

    def ready(self, **image):
        """A server with an image and one admitted node."""
        self.control.start()
        self.image(**image)
        node = self.new_node()
        self.learned(node)
        return node

    def wait_for(self, condition, child=None, seconds=SECONDS):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if child is not None and child.poll() is not None:
                stdout, stderr = child.communicate()
                raise AssertionError("the gate ended:\n" + stdout + stderr)
            if condition():
                return
            time.sleep(0.05)
        raise AssertionError("it did not happen in time\n" + self.control.text())

    def assert_booted(self, boot):
        self.assertTrue(boot.jumped(), boot.text + self.control.text())

    def assert_refused(self, boot, reason):
        self.assertFalse(boot.jumped(), boot.text)
        self.assertEqual(boot.failed(), reason, boot.text + self.control.text())


def children(pid):
    """(pid, name) of the server's processes, from /proc."""
    out = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            out.append(int(entry))
    return sorted(out)


def decode64(text):
    return base64.b64decode(text, validate=True)
