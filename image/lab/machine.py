# SPDX-License-Identifier: Apache-2.0
"""A virtual node: swtpm and QEMU with real UEFI firmware, netbooted."""

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

FIRMWARE = "/usr/share/OVMF/OVMF_CODE_4M.fd"
VARIABLES = "/usr/share/OVMF/OVMF_VARS_4M.fd"
BANKS = "sha1,sha256,sha384"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()].|[\x00-\x08\x0b-\x1f\x7f]")
PR_SET_PDEATHSIG = 1


class LabError(Exception):
    """The scenario did not end as it should."""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, log, **kwargs):
    """Starts a child that ends with us, whatever happens to us."""
    with open(log, "ab") as out:
        kwargs = {"stdin": subprocess.DEVNULL, "stdout": out, **kwargs}
        return subprocess.Popen(command, stderr=out,
                                preexec_fn=die_with_parent, **kwargs)


def stop(child, grace=5):
    """Ends one child that start() made."""
    if child is None or child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(grace)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def wait_for_socket(path, child, folder):
    """Until the child listens there; `folder` has its log."""
    deadline = time.monotonic() + 30
    while not os.path.exists(path):
        if child.poll() is not None or time.monotonic() > deadline:
            raise LabError(f"{child.args[0]} did not start, see {folder}")
        time.sleep(0.02)


class Tpm:
    """A software TPM with EK certificates of a CA below `ca`."""

    def __init__(self, folder, ca):
        self.folder = os.path.abspath(folder)
        self.ca = os.path.abspath(ca)

    def manufacture(self, certificates=True):
        os.makedirs(self.folder, exist_ok=True)
        os.makedirs(self.ca, exist_ok=True)
        settings = {
            "localca.conf": f"statedir = {self.ca}\n"
                            f"signingkey = {self.ca}/signkey.pem\n"
                            f"issuercert = {self.ca}/issuercert.pem\n"
                            f"certserial = {self.ca}/certserial\n",
            "localca.options": "--platform-manufacturer QEMU\n"
                               "--platform-version 1.0\n"
                               "--platform-model lab\n",
            "setup.conf": f"create_certs_tool = {shutil.which('swtpm_localca')}\n"
                          f"create_certs_tool_config = {self.ca}/localca.conf\n"
                          f"create_certs_tool_options = {self.ca}/localca.options\n",
        }
        for name, text in settings.items():
            with open(os.path.join(self.ca, name), "w") as out:
                out.write(text)
        command = ["swtpm_setup", "--tpm2", "--tpmstate", self.folder,
                   "--config", f"{self.ca}/setup.conf", "--lock-nvram", "--overwrite",
                   "--pcr-banks", BANKS, "--logfile", f"{self.folder}/setup.log"]
        if certificates:
            command += ["--create-ek-cert", "--create-platform-cert"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)

    def ca_certificates(self):
        """Files of the CAs that signed the EK certificate."""
        names = ("issuercert.pem", "swtpm-localca-rootca-cert.pem")
        return [os.path.join(self.ca, name) for name in names]

    @contextlib.contextmanager
    def on_the_desk(self):
        """Out of the machine: a function that runs one program of tpm2-tools."""
        with tempfile.TemporaryDirectory(prefix="bootgate-lab-") as folder:
            child = start(["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.folder}",
                           "--server", f"type=unixio,path={folder}/tpm",
                           "--ctrl", f"type=unixio,path={folder}/tpm.ctrl",
                           "--flags", "not-need-init,startup-clear"],
                          f"{self.folder}/desk.log")

            def tool(*command):
                done = subprocess.run(command, cwd=folder, capture_output=True,
                                      stdin=subprocess.DEVNULL,
                                      env={**os.environ, "TPM2TOOLS_TCTI": f"swtpm:path={folder}/tpm"})
                if done.returncode != 0:
                    raise LabError(f"{' '.join(command)}: {done.stderr.decode(errors='replace')}")
                return done.stdout

            try:
                wait_for_socket(f"{folder}/tpm", child, self.folder)
                yield tool
            finally:
                stop(child)

    def run(self, control, log):
        return start(["swtpm", "socket", "--tpm2", "--terminate",
                      "--tpmstate", f"dir={self.folder}",
                      "--ctrl", f"type=unixio,path={control}"], log)


class Line:
    """One line of the serial console, and when it was complete."""

    def __init__(self, when, text):
        self.when = when
        self.text = text


class Machine:
    """One power-on. Everything it says is kept below `folder`."""

    def __init__(self, folder, netboot, variables, tpm=None, rtc=None,
                 memory=2048, ipxe=False):
        self.folder = os.path.abspath(folder)
        self.netboot = os.path.abspath(netboot)
        self.variables = os.path.abspath(variables)
        self.tpm = tpm
        self.rtc = rtc
        self.memory = memory
        self.ipxe = ipxe
        self.lines = []
        self.events = []
        self.changed = threading.Condition()
        self.ended = False
        self.qemu = self.swtpm = self.sockets = self.monitor = None
        self.started = 0.0

    def command(self):
        args = [
            "qemu-system-x86_64", "-nodefaults", "-no-user-config",
            "-name", "bootgate-lab", "-machine", "q35",
            "-accel", "tcg,thread=multi", "-cpu", "qemu64,+rdrand",
            "-smp", "2", "-m", str(self.memory), "-display", "none",
            "-vga", "std",
            "-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={FIRMWARE}",
            "-drive", f"if=pflash,format=raw,unit=1,file={self.variables}",
            "-netdev", "user,id=lan,"
                       f"tftp={os.path.dirname(self.netboot)},"
                       f"bootfile={os.path.basename(self.netboot)}",
            # without option ROM the firmware's own driver netboots; the ROM
            # of this other card is iPXE
            "-device", "e1000e,netdev=lan" if self.ipxe else
                       "virtio-net-pci,netdev=lan,romfile=",
            "-device", "i6300esb", "-action", "watchdog=reset",
            "-serial", "stdio",
            "-serial", f"file:{self.folder}/ttyS1.log",
            "-qmp", f"unix:{self.sockets}/qmp,server=on,wait=off",
        ]
        if self.rtc:
            args += ["-rtc", f"base={self.rtc},clock=vm"]
        if self.tpm:
            args += ["-chardev", f"socket,id=tpm,path={self.sockets}/tpm",
                     "-tpmdev", "emulator,id=tpm0,chardev=tpm",
                     "-device", "tpm-crb,tpmdev=tpm0"]
        return args

    def power_on(self):
        os.makedirs(self.folder, exist_ok=True)
        # socket paths are short, checkouts may be deep
        self.sockets = tempfile.mkdtemp(prefix="bootgate-lab-")
        if self.tpm:
            self.swtpm = self.tpm.run(f"{self.sockets}/tpm",
                                      f"{self.folder}/swtpm.log")
            wait_for_socket(f"{self.sockets}/tpm", self.swtpm, self.folder)
        self.started = time.monotonic()
        self.qemu = start(self.command(), f"{self.folder}/qemu.log",
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._note("power on")
        threading.Thread(target=self._read_console, daemon=True).start()
        wait_for_socket(f"{self.sockets}/qmp", self.qemu, self.folder)
        threading.Thread(target=self._read_monitor, daemon=True).start()

    def power_off(self):
        stop(self.qemu)
        stop(self.swtpm)
        if self.sockets:
            shutil.rmtree(self.sockets, ignore_errors=True)

    def type(self, data):
        """Somebody types at the serial console."""
        try:
            self.qemu.stdin.write(data)
            self.qemu.stdin.flush()
        except OSError:
            pass  # the machine is gone

    def _note(self, text):
        """An event of the machine itself, not of its console."""
        with self.changed:
            self.events.append(Line(time.monotonic() - self.started, text))
            self.changed.notify_all()

    def _read_console(self):
        rest = b""
        with open(f"{self.folder}/ttyS0.log", "wb") as log:
            while True:
                data = os.read(self.qemu.stdout.fileno(), 65536)
                if not data:
                    break
                log.write(data)
                log.flush()
                *lines, rest = (rest + data).split(b"\n")
                self._add_lines(lines)
        self._add_lines([rest])
        self.qemu.wait()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def _add_lines(self, lines):
        when = time.monotonic() - self.started
        with self.changed:
            for line in lines:
                text = ESCAPES.sub("", line.decode("ascii", "replace"))
                self.lines.append(Line(when, text.strip()))
            self.changed.notify_all()

    def _read_monitor(self):
        try:
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(f"{self.sockets}/qmp")
                link.sendall(b'{"execute": "qmp_capabilities"}\n')
                for line in link.makefile("rb"):
                    message = json.loads(line)
                    if "event" in message:
                        data = message.get("data") or {}
                        detail = data.get("reason") or data.get("action") or ""
                        self._note(f"{message['event']} {detail}".strip())
        except (OSError, ValueError):
            pass  # the machine is gone

    def _wait(self, found, seconds, what):
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                result = found()
                if result is not None:
                    return result
                if self.ended:
                    raise LabError(f"powered off while waiting for {what}")
                left = deadline - time.monotonic()
                if left <= 0:
                    raise LabError(f"no {what} within {seconds} s")
                self.changed.wait(left)

    def wait_line(self, pattern, seconds, after=0):
        """The first console line from number `after` on that matches;
        returns the match and the number of the line behind it."""
        regex = re.compile(pattern)
        position = after

        def found():
            nonlocal position
            while position < len(self.lines):
                match = regex.search(self.lines[position].text)
                position += 1
                if match:
                    return match, position
            return None
        return self._wait(found, seconds, f"console line /{pattern}/")

    def wait_event(self, text, seconds):
        """An event of the machine that begins with `text`."""
        def found():
            return next((e for e in self.events if e.text.startswith(text)), None)
        return self._wait(found, seconds, f"machine event {text}")

    def wait_power_off(self, seconds):
        """Until QEMU has ended by itself."""
        self._wait(lambda: True if self.ended else None, seconds, "power-off")

    def find(self, pattern):
        """All console lines so far that match."""
        regex = re.compile(pattern)
        with self.changed:
            return [m for m in (regex.search(line.text) for line in self.lines) if m]
