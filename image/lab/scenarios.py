# SPDX-License-Identifier: Apache-2.0
"""The scenarios of tests/boot/scenarios.tsv, one function each. `lab` has
the prepared node, server and images (lab.py); what a row expects is checked
by lab.booted() and lab.stopped()."""

import os

from lab import BOOT_SECONDS, EK_P384, EK_RSA, fill_index, sha256
from machine import LabError
from server import Proxy

MINUTE = 60


def admit(lab):
    """An approved node with an active reference gets its image."""
    with lab.serving():
        lab.select(lab.host_image())
        with lab.power_on() as machine:
            lab.booted(machine)
            lab.check_predicted(machine)


def second_boot(lab):
    """Same key, no enrolment, same record."""
    with lab.serving():
        lab.select(lab.host_image())
        with lab.power_on("first") as machine:
            lab.booted(machine)
        before = lab.server.nodes()
        with lab.power_on() as machine:
            lab.booted(machine)
            if machine.find(r"^bootgate: step enrol"):
                raise LabError("the second boot enrolled")
        after = lab.server.nodes()
        if [n["id"] for n in before] != [n["id"] for n in after]:
            raise LabError("the second boot is another node")
        if before[0]["ak_name"] != after[0]["ak_name"]:
            raise LabError("the second boot has another key")


def unknown_node(lab):
    """Held; approved while it waits; boots without a power cycle."""
    lab.other_tpm()
    with lab.serving():
        lab.select(lab.host_image())
        known = {node["id"] for node in lab.server.nodes()}
        with lab.power_on() as machine:
            lab.waits(machine)
            new = [n for n in lab.server.nodes() if n["id"] not in known]
            if len(new) != 1 or new[0]["state"] != "pending":
                raise LabError(f"not one pending node: {new}")
            lab.server.ctl("node", "approve", new[0]["id"],
                           "--reason", "lab: unknown-node")
            lab.booted(machine, node=new[0]["id"])
            if [e for e in machine.events if e.text.startswith("RESET")]:
                raise LabError("there was a power cycle")


def other_gate_image(lab):
    """One byte of the initramfs, and PCR 4 says so."""
    lab.other_gate()
    with lab.serving():
        lab.select(lab.host_image())
        with lab.power_on() as machine:
            lab.stopped(machine)


def tampered_host_image(lab):
    """The mirror serves one other byte."""
    with lab.serving():
        image = lab.host_image()
        lab.select(image)
        served = f"{lab.mirror.folder}/sha256/{image.initrd_digest}"
        with open(served, "r+b") as file:
            file.seek(os.path.getsize(served) // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))
        with lab.power_on() as machine:
            lab.stopped(machine)


def wrong_release_key(lab):
    """Signed, but not by a key that the gate pins."""
    with lab.serving():
        lab.select(lab.host_image(key=lab.foreign_release_key()))
        with lab.power_on() as machine:
            lab.stopped(machine)


def replayed_verdict(lab):
    """An earlier boot's genuine verdict comes as the answer to attest."""
    verdicts = []

    def record(path, status, answer):
        if path == "/v1/attest" and status == 200:
            verdicts.append(answer)
        return answer

    def replay(path, status, answer):
        return verdicts[0] if path == "/v1/attest" else answer

    with lab.serving(change=lambda *args: play[0](*args)):
        play = [record]
        lab.select(lab.host_image())
        with lab.power_on("first") as machine:
            machine.wait_line(r"^bootgate: step verdict admit", 3 * MINUTE)
        if not verdicts:
            raise LabError("no verdict went through the proxy")
        play = [replay]
        with lab.power_on() as machine:
            lab.stopped(machine)


def server_down(lab):
    """The server starts when the gate has already tried."""
    with lab.serving():
        lab.select(lab.host_image())
    with lab.serving(server=False):
        with lab.power_on() as machine:
            lab.waits(machine)
            lab.server.start()
            lab.booted(machine)


def wrong_clock(lab, year):
    """No certificate and no message is judged by this machine's clock."""
    with lab.serving():
        lab.select(lab.host_image())
        with lab.power_on(rtc=f"{year}-01-01T00:00:00") as machine:
            lab.booted(machine)


def no_tpm(lab):
    """Nothing can be proved: stop."""
    with lab.serving():
        lab.select(lab.host_image())
        with lab.power_on(tpm=False) as machine:
            lab.stopped(machine)


def no_ek_cert(lab):
    """Nobody vouches for its keys; delivery papers, loaded while it waits, do."""
    lab.other_tpm(certificates=False)
    with lab.tpm.on_the_desk() as tool:
        tool("tpm2_createek", "-G", "ecc", "-c", "ek.ctx", "-u", "ek.pem", "-f", "pem")
        key = tool("openssl", "pkey", "-pubin", "-in", "ek.pem", "-outform", "DER")
    with lab.serving():
        lab.select(lab.host_image())
        with lab.power_on() as machine:
            lab.waits(machine)
            if len(lab.server.nodes()) != 1:
                raise LabError("it is on record before anybody vouched for it")
            lab.server.ctl("ek", "load", lab.papers("ek_spki_sha256", sha256(key), "bare"))
            lab.booted(machine, node="bare")


def bulk_preload(lab):
    """Announced before it came: its first boot needs no person."""
    lab.other_tpm()
    with lab.tpm.on_the_desk() as tool:
        certificate = tool("tpm2_nvread", "-C", "p", EK_RSA)
    with lab.serving():
        lab.select(lab.host_image())
        lab.server.ctl("ek", "load", lab.papers("ek_cert_sha256", sha256(certificate), "announced"))
        with lab.power_on() as machine:
            lab.booted(machine, node="announced")
            if machine.find(r"^bootgate: waiting "):
                raise LabError("it had to wait")


def second_ek(lab):
    """A certificate that was not there at enrolment: the same node."""
    lab.second_certificate()
    with lab.serving():
        lab.select(lab.host_image())
        before = lab.server.ask("node", "show", lab.node())
        with lab.power_on() as machine:
            lab.booted(machine)
        after = lab.server.ask("node", "show", lab.node())
        if before["id"] != after["id"] or before["ak_name"] != after["ak_name"]:
            raise LabError("it is another node now")


def tpm_swap(lab):
    """The known machine with another TPM is held; with its own again it boots."""
    own = lab.tpm
    with lab.serving():
        lab.select(lab.host_image())
        known = lab.server.ask("node", "show", lab.node())
        lab.other_tpm()
        with lab.power_on("swapped") as machine:
            lab.waits(machine)
        if lab.server.ask("node", "show", known["id"]) != known:
            raise LabError("the record of the known node has changed")
        lab.tpm = own
        with lab.power_on() as machine:
            lab.booted(machine, node=known["id"])


def ek_hijack(lab):
    """The known node's certificates in the NV of another TPM (T1)."""
    certificates = {}
    with lab.tpm.on_the_desk() as tool:
        for index in (EK_RSA, EK_P384):
            certificates[index] = f"{lab.folder}/{index}.crt"
            with open(certificates[index], "wb") as out:
                out.write(tool("tpm2_nvread", "-C", "p", index))
    lab.other_tpm(certificates=False)
    with lab.tpm.on_the_desk() as tool:
        for index, path in certificates.items():
            fill_index(tool, index, path)
    with lab.serving():
        lab.select(lab.host_image())
        known = lab.server.ask("node", "show", lab.node())
        with lab.power_on() as machine:
            lab.stopped(machine)
        if lab.server.ask("node", "show", lab.node()) != known:
            raise LabError("the record of the known node has changed")


def _lose_receipts(count):
    lost = []

    def change(path, status, answer):
        if path == "/v1/receipt" and len(lost) < count:
            lost.append(path)
            return None
        return answer
    return change


def receipt_lost_while(lab):
    """The gate asks again until the acknowledgement comes."""
    with lab.serving(change=_lose_receipts(2)):
        lab.select(lab.host_image())
        with lab.power_on() as machine:
            lab.waits(machine)
            lab.booted(machine)


def receipt_lost_ever(lab):
    """Without an acknowledgement nothing boots."""
    with lab.serving(change=_lose_receipts(1 << 30)):
        lab.select(lab.host_image())
        with lab.power_on() as machine:
            lab.stopped(machine, seconds=6 * MINUTE)


def hung_kexec(lab):
    """The host image hangs; the watchdog that the gate left running resets."""
    with lab.serving():
        image = lab.host_image(cmdline="rdinit=/usr/lib/bootgate-lab/hang")
        lab.select(image)
        with lab.power_on() as machine:
            _, line = machine.wait_line(r"^bootgate: step kexec", 3 * MINUTE)
            machine.wait_line(r"bootgate-lab: hanging", 2 * MINUTE, line)
            machine.wait_event("WATCHDOG", 8 * MINUTE)
            machine.wait_event("RESET", MINUTE)
            # and the firmware starts again
            machine.wait_line(r"NBP file downloaded", 2 * MINUTE, line)
            lab.no_token(machine)


def ipxe(lab):
    """iPXE passes its file name as load options, and with Secure Boot off
    that is the gate's command line: nothing may depend on it."""
    lab.new_variables()     # the boot entries are of another card
    with lab.serving():
        lab.select(lab.host_image())
        with lab.power_on("first", ipxe=True) as machine:
            machine.wait_line(r"^bootgate: failed policy\.", BOOT_SECONDS)
            machine.wait_power_off(MINUTE)
        lab.learn(lab.node(), "lab: the same machine through iPXE")
        with lab.power_on(ipxe=True) as machine:
            lab.booted(machine)
            lab.check_predicted(machine, "--ipxe", "gate.efi")


SCENARIOS = {
    "admit": admit,
    "unknown-node": unknown_node,
    "other-gate-image": other_gate_image,
    "tampered-host-image": tampered_host_image,
    "wrong-release-key": wrong_release_key,
    "replayed-verdict": replayed_verdict,
    "server-down": server_down,
    "wrong-clock/2001": lambda lab: wrong_clock(lab, 2001),
    "wrong-clock/2099": lambda lab: wrong_clock(lab, 2099),
    "no-tpm": no_tpm,
    "second-boot": second_boot,
    "no-ek-cert": no_ek_cert,
    "bulk-preload": bulk_preload,
    "second-ek": second_ek,
    "tpm-swap": tpm_swap,
    "ek-hijack": ek_hijack,
    "receipt-lost/while": receipt_lost_while,
    "receipt-lost/ever": receipt_lost_ever,
    "hung-kexec": hung_kexec,
    "ipxe": ipxe,
}
