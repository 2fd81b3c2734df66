# SPDX-License-Identifier: Apache-2.0
"""One scenario's folder: a copy of the prepared node and server, its images,
and the witnesses that decide whether it ended as it should."""

import base64
import contextlib
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import sys

from machine import FIRMWARE, VARIABLES, LabError, Machine, Tpm
from report import timeline_text
from server import PROXIED_PORT, SERVER_PORT, Mirror, Proxy, Server, replace_settings

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("BOOTGATE_BUILD") or os.path.join(TOP, "build")
BIN = os.path.join(BUILD, "bin")
SHARE = os.path.join(BUILD, "share/bootgate")
LAB = os.path.join(BUILD, "lab")
BASE = os.path.join(LAB, "base")
HOST_INITRD = os.path.join(LAB, "host.initrd")
sys.path.insert(0, os.path.join(TOP, "tests/boot"))
import replay  # noqa: E402  (the witness, which is no part of the product)

CMDLINE = "console=ttyS0,115200n8 panic=10 loglevel=4 systemd.show_status=false"
BOOT_SECONDS = 400     # under emulation, on a busy machine
# What a prompt looks like when somebody presses enter.
PROMPT = re.compile(r"(^|[~/\]\w]) ?[#$] ?$|login: ?$|sh-[0-9.]+|press enter|"
                    r"maintenance|emergency", re.I)
FILE = re.compile(r"^bootgate-lab-file: (\S+) (begin|end)$")
PCR = re.compile(r"^bootgate-lab-pcr: (\S+) (\d+) ([0-9A-Fa-f]+)$")
# EK certificates in NV: RSA 2048, P-256, P-384 (the two that swtpm_setup makes
# are the first and the last)
EK_RSA, EK_P256, EK_P384 = "0x01c00002", "0x01c0000a", "0x01c00016"
IMA = 10                        # the kernel's own register
DECISION_TAGS = {0x42470e01: "verdict", 0x42470e02: "manifest",
                 0x42470e03: "kernel", 0x42470e04: "initrd",
                 0x42470e05: "command line"}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def say(text):
    print(text, flush=True)


def fill_index(tool, index, path):
    """A new index in a TPM's NV, with what this file holds."""
    tool("tpm2_nvdefine", "-C", "p", "-s", str(os.path.getsize(path)), "-a",
         "ppwrite|ppread|ownerread|authread|no_da|platformcreate", index)
    tool("tpm2_nvwrite", "-C", "p", "-i", path, index)


class Image:
    """A host image of this run, with a token of its own."""

    def __init__(self, kernel, initrd, cmdline, token, manifest):
        self.kernel = kernel
        self.initrd = initrd
        self.cmdline = cmdline
        self.token = token
        self.manifest = manifest
        self.kernel_digest = sha256(read(kernel))
        self.initrd_digest = sha256(read(initrd))


class Lab:
    def __init__(self, name, rows):
        self.rows = rows
        self.row = rows[name]
        self.folder = os.path.join(LAB, name)
        self.server = Server(f"{self.folder}/server", BIN)
        self.tpm = Tpm(f"{self.folder}/tpm", f"{self.folder}/ca")
        self.netboot = f"{self.folder}/netboot/gate.efi"
        self.mirror = Mirror(f"{self.folder}/mirror", f"{self.folder}/mirror.log")
        self.image = None
        self.machines = []

    def prepare(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(BASE, self.folder, symlinks=True,
                        ignore=shutil.ignore_patterns("base-key", "first", "*.log", "*.sock"))

    # --- what the scenario may change -----------------------------------------

    def other_tpm(self, certificates=True):
        """A TPM that the server has never seen, of the same vendor."""
        self.tpm = Tpm(f"{self.folder}/tpm-other", f"{self.folder}/ca")
        self.tpm.manufacture(certificates)

    def second_certificate(self):
        """The TPM gets a certificate for its P-256 key, of the CA that signed
        the others."""
        with self.tpm.on_the_desk() as tool:
            path = f"{self.folder}/second.crt"
            tool("tpm2_createek", "-G", "ecc", "-c", "ek.ctx", "-u", f"{self.folder}/ek.pem",
                 "-f", "pem")
            tool("openssl", "x509", "-new", "-subj", "/CN=second", "-days", "30", "-outform", "DER",
                 "-force_pubkey", f"{self.folder}/ek.pem", "-CA", f"{self.tpm.ca}/issuercert.pem",
                 "-CAkey", f"{self.tpm.ca}/signkey.pem", "-out", path)
            fill_index(tool, EK_P256, path)

    def papers(self, column, digest, label):
        """An EK list of one line."""
        path = f"{self.folder}/papers.csv"
        with open(path, "w") as out:
            out.write(f"{column},label\n{digest},{label}\n")
        return path

    def new_variables(self):
        """The firmware's variable store as it comes from the factory."""
        shutil.copy(VARIABLES, f"{self.folder}/vars.fd")

    def other_gate(self):
        """The same gate image, but for one byte inside its initramfs."""
        data = f"{self.folder}/initramfs"
        shutil.copytree(f"{SHARE}/initramfs", data)
        path = f"{data}/init"
        text = read(path)
        changed = text.replace(b"# First process", b"# first process", 1)
        if sum(a != b for a, b in zip(text, changed)) != 1:
            raise LabError("the gate image was not changed by one byte")
        with open(path, "wb") as file:
            file.write(changed)
        make_gate(self.server.site, self.netboot, data)

    def foreign_release_key(self):
        """A release key that no gate image pins."""
        key = f"{self.folder}/foreign.key"
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-out", key], check=True,
                       stdin=subprocess.DEVNULL, capture_output=True)
        return key

    def host_image(self, cmdline="", key=None):
        """A signed host image whose initrd has this run's token."""
        token = secrets.token_hex(16)
        folder = f"{self.folder}/image"
        os.makedirs(folder, exist_ok=True)
        subprocess.run([f"{TOP}/image/lab/mkhost", "--token",
                        f"{folder}/token.cpio", token], check=True)
        with open(f"{folder}/host.initrd", "wb") as out:
            out.write(read(f"{folder}/token.cpio"))
            out.write(read(HOST_INITRD))
        shutil.copy(f"{SHARE}/vmlinuz", f"{folder}/vmlinuz")
        image = Image(f"{folder}/vmlinuz", f"{folder}/host.initrd",
                      f"{CMDLINE} {cmdline}".strip(), token,
                      f"{folder}/manifest.cose")
        self.server.ctl("image", "sign", "--line", "lab", "--purpose", "host",
                        "--version", f"lab-{token[:8]}", "--security-version", "1",
                        "--kernel", image.kernel, "--initrd", image.initrd,
                        "--cmdline", image.cmdline,
                        "--key", key or self.server.release_key(),
                        "--mirror", self.mirror.folder, image.manifest)
        return image

    def select(self, image):
        self.server.ctl("image", "add", image.manifest)
        self.server.ctl("image", "select", sha256(read(image.manifest)))
        self.image = image

    def learn(self, node, reason):
        """What the node's last boot measured is allowed from now on."""
        self.server.ctl("ref", "learn", node)
        self.server.ctl("ref", "activate", "--all-staged", "--reason", reason)

    # --- running ----------------------------------------------------------------

    @contextlib.contextmanager
    def serving(self, server=True, change=None):
        """Control server and mirror; `change`: somebody in between."""
        port = PROXIED_PORT if change else SERVER_PORT
        replace_settings(f"{self.server.folder}/server.conf",
                         listen__tls=f"127.0.0.1:{port}")
        tls = f"{self.server.folder}/tls"
        proxy = change and Proxy(f"{tls}/server.pem", f"{tls}/server.key",
                                 f"{tls}/ca.pem", f"{self.folder}/proxy.log", change)
        self.mirror.start()
        try:
            if server:
                self.server.start(port)
            if proxy:
                proxy.start()
            yield
        finally:
            if proxy:
                proxy.stop()
            self.server.stop()
            self.mirror.stop()

    @contextlib.contextmanager
    def power_on(self, name="boot", tpm=True, **options):
        machine = Machine(f"{self.folder}/{name}", self.netboot,
                          f"{self.folder}/vars.fd", self.tpm if tpm else None,
                          **options)
        self.machines.append(machine)
        try:
            machine.power_on()
            yield machine
        finally:
            machine.power_off()
            text = timeline_text(machine)
            with open(f"{machine.folder}/timeline", "w") as out:
                out.write(text)
            say(text)

    # --- witnesses --------------------------------------------------------------

    def waits(self, machine):
        """The gate waits, and says why."""
        machine.wait_line(rf"^bootgate: waiting {re.escape(self.row.reason)}\b",
                          BOOT_SECONDS)
        self.no_token(machine)

    def no_token(self, machine):
        for name in ("ttyS0.log", "ttyS1.log"):
            path = f"{machine.folder}/{name}"
            if os.path.exists(path) and self.image.token.encode() in read(path):
                raise LabError(f"the token is on {name}")

    def booted(self, machine, node=None):
        """The host image ran: the token, the registers, the record."""
        machine.wait_line(rf"^bootgate-lab-token: {self.image.token}$", BOOT_SECONDS)
        machine.wait_line(r"^bootgate-lab: host up$", 60)
        machine.wait_power_off(60)
        if not any(e.text == "SHUTDOWN guest-shutdown" for e in machine.events):
            raise LabError("the host image did not power off")
        self.check_handover(machine)
        self.check_admitted(machine, node)

    def check_handover(self, machine):
        """Registers as the kernel shows them, against our own replay."""
        members = self.handed_over(machine)
        expected = replay.replay_handover(members).value
        shown = {(m[1], int(m[2])): m[3].lower()
                 for m in machine.find(PCR.pattern)}
        if set(shown) != set(expected):
            raise LabError("kernel and log do not have the same banks")
        wrong = [f"{bank} {pcr}" for (bank, pcr), value in expected.items()
                 if pcr != IMA and shown[bank, pcr] != value.hex()]
        if wrong:
            raise LabError(f"registers differ from the replayed logs: {wrong}")
        self.check_decision(machine, members)

    def check_predicted(self, machine, *options):
        """What was computed of the image is what firmware measured, event by
        event. Behind the last separator only register 5 is firmware's own."""
        events = replay.read_events(self.handed_over(machine)["firmware.log"])[1]
        last = max(i for i, e in enumerate(events) if e.kind == replay.EV_SEPARATOR)
        measured = [(e.pcr, e.kind, {n: d.hex() for n, d in e.digests.items()})
                    for e in events[last + 1:] if e.pcr != 5]
        asked = self.server.ask("image", "predict", *options, self.netboot)["events"]
        if measured != [(e["pcr"], e["type_number"], e["digests"]) for e in asked]:
            raise LabError("firmware measured something else than was predicted")

    def check_decision(self, machine, members):
        """What the gate says it decided on is what it decided on."""
        truth = {"verdict": members["verdict.cose"],
                 "manifest": members["manifest.cose"],
                 "kernel": read(self.image.kernel),
                 "initrd": read(self.image.initrd),
                 "command line": self.image.cmdline.encode()}
        found = {}
        for event in replay.read_events(members["gate.log"])[1]:
            tag = int.from_bytes(event.data[:4], "little")
            if event.pcr == replay.DECISION and tag in DECISION_TAGS:
                found[DECISION_TAGS[tag]] = event.data[8:].decode()
        for name, data in truth.items():
            if found.get(name) != sha256(data):
                raise LabError(f"the gate's log has another {name}")
        if members["manifest.cose"] != read(self.image.manifest):
            raise LabError("another manifest was handed over")
        shown = machine.find(r"^bootgate-lab-cmdline: (.*)$")
        if [m[1] for m in shown] != [self.image.cmdline]:
            raise LabError(f"the host has another command line: {shown}")

    def handed_over(self, machine):
        """Files that the host image printed."""
        members = {}
        name = None
        for line in machine.lines:
            match = FILE.match(line.text)
            if match:
                name = match[1] if match[2] == "begin" else None
                if name:
                    members[name] = ""
            elif name:
                members[name] += line.text
        members = {n: base64.b64decode(t, validate=True) for n, t in members.items()}
        os.makedirs(f"{machine.folder}/handover", exist_ok=True)
        for name, data in members.items():
            with open(f"{machine.folder}/handover/{name}", "wb") as out:
                out.write(data)
        if set(members) != set(replay.MEMBERS):
            raise LabError(f"handed over: {sorted(members)}")
        return members

    def check_admitted(self, machine, node):
        node = self.server.ask("node", "show", node or self.node())
        boot = node["boots"][0]
        if boot["directive"] != "admit" or not boot["receipt"]:
            raise LabError(f"the server's record: {boot}")
        if not machine.find(r"^bootgate: step verdict admit"):
            raise LabError("the console does not show the verdict")
        actions = [(row["action"], row["reason"]) for row in self.server.audit()]
        if actions[-1][0] != "receipt" or actions[-1][1] not in ("", "ok"):
            raise LabError(f"the audit ends with {actions[-1]}")

    def node(self):
        nodes = self.server.nodes()
        if len(nodes) != 1:
            raise LabError(f"{len(nodes)} nodes, one expected")
        return nodes[0]["id"]

    def stopped(self, machine, seconds=BOOT_SECONDS):
        """The gate refused: console, record and end of the machine agree,
        there is no prompt, and the token never appeared."""
        reason = self.row.reason
        _, after = machine.wait_line(r"^bootgate: failed ", seconds)
        said = machine.find(r"^bootgate: failed (\S+)")[0][1]
        if said != reason:
            raise LabError(f"the gate failed with {said}, expected {reason}")
        for _ in range(3):
            machine.type(b"\n\x03\n")
        machine.wait_power_off(seconds)
        if not any(e.text == "SHUTDOWN guest-shutdown" for e in machine.events):
            raise LabError("the gate did not power the machine off")
        self.no_token(machine)
        for line in machine.lines[after:]:
            if PROMPT.search(line.text):
                raise LabError(f"a prompt: {line.text}")
        if reason not in read(f"{machine.folder}/ttyS1.log").decode(errors="replace"):
            raise LabError("the second console does not show the reason")
        self.check_stopped()

    def check_stopped(self):
        """The same reason in the audit, and where it belongs in explain."""
        row = self.row
        if row.directive is None:
            failures = self.server.ask("server", "failures")["failures"]
            if not failures or failures[0]["reason"] != row.reason:
                raise LabError(f"reported failures: {failures}")
            return
        node = self.server.ask("node", "show", self.node())
        if node["boots"][0]["directive"] != row.directive:
            raise LabError(f"the server's verdict: {node['boots'][0]}")
        rows = self.server.audit()
        named = [r for r in rows if r["reason"] == row.reason]
        if not named:
            raise LabError(f"the audit does not name {row.reason}: {rows[-3:]}")
        if row.directive == "refuse":
            self.check_explained()

    def check_explained(self):
        """`where` is COMPONENT pcr N TYPE."""
        component, _, pcr, kind = self.row.where.split()
        explained = self.server.ask("explain", self.node())
        for finding in explained["findings"]:
            event = finding.get("event", {})
            if (finding.get("component") == component and
                    finding["reason"] == self.row.reason and
                    event.get("pcr") == int(pcr) and event.get("type") == kind):
                return
        raise LabError(f"not explained: {self.row.where}: {explained['findings']}")


# --- the base that every scenario starts from -----------------------------------


def make_gate(site, out, data=None):
    os.makedirs(os.path.dirname(out), exist_ok=True)
    command = [f"{BIN}/bootgate-mkimage"]
    if data:
        command += ["--data", data]
    subprocess.run([*command, site, out], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)


def base_key():
    """Changes when anything changes that the base is made of."""
    digest = hashlib.sha256()
    paths = [f"{BIN}/{name}" for name in sorted(os.listdir(BIN))]
    paths += [f"{SHARE}/{name}" for name in ("vmlinuz", "linuxx64.efi.stub", "busybox")]
    paths += [f"{SHARE}/initramfs/{name}"
              for name in sorted(os.listdir(f"{SHARE}/initramfs"))]
    paths += [f"{TOP}/image/lab/{name}" for name in ("lab.py", "machine.py", "server.py")]
    paths += [FIRMWARE, VARIABLES]
    for path in paths:
        digest.update(f"{path} {sha256(read(path))}\n".encode())
    return digest.hexdigest()


def base_is_current():
    path = f"{BASE}/base-key"
    return os.path.exists(path) and read(path).decode() == base_key()


def prepare_base(rows):
    """A server, a node that it knows and approved, and references: of the gate
    computed from its image, the rest learned from this node's first boot."""
    shutil.rmtree(BASE, ignore_errors=True)
    os.makedirs(BASE)
    lab = Lab("admit", rows)
    lab.folder = BASE
    lab.server = Server(f"{BASE}/server", BIN)
    lab.tpm = Tpm(f"{BASE}/tpm", f"{BASE}/ca")
    lab.netboot = f"{BASE}/netboot/gate.efi"
    lab.mirror = Mirror(f"{BASE}/mirror", f"{BASE}/mirror.log")

    lab.server.init()
    replace_settings(f"{lab.server.site}/boot.conf",
                     fail__refused="poweroff", fail__broken="poweroff",
                     fail__delay="5", contact__text="the lab")
    lab.new_variables()
    lab.tpm.manufacture()
    for path in lab.tpm.ca_certificates():
        shutil.copy(path, f"{lab.server.folder}/ek-ca/")
    make_gate(lab.server.site, lab.netboot)

    with lab.serving():
        lab.server.ctl("ref", "stage", lab.netboot)
        # nobody knows it, and there is nothing to compare it with: refused
        with lab.power_on("first") as machine:
            machine.wait_line(r"^bootgate: (failed|waiting) (node|policy)\.",
                              BOOT_SECONDS)
            machine.wait_power_off(60)
        node = lab.node()
        lab.server.ctl("node", "approve", node, "--reason", "lab: delivery")
        lab.learn(node, "lab: first boot of the first node")
        # of the gate nothing was learned: what it measured had been computed
        known = [v["component"] for v in lab.server.ask("ref", "list")["variants"]
                    if v["component"] in ("gate", "command-line")]
        if sorted(known) != ["command-line", "gate"]:
            raise LabError("the gate measured something else than was computed")
    with open(f"{BASE}/base-key", "w") as out:
        out.write(base_key())
