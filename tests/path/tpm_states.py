#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""States in which machines are delivered and left, each made in a software TPM
on the fly: what a first boot with it ends in, and what is left in the TPM."""

import os
import re
import shutil
import signal
import unittest

import kit
import identity
import swtpm

CERT = identity.CERT["L-1"], identity.CERT["H-3"]


def content(tpm, index):
    return tpm.tool("tpm2_nvread", "-C", "p", hex(index), binary=True)


def padded(byte):
    def make(tpm):
        for index in CERT:
            identity.define(tpm, index, content(tpm, index).ljust(2048, byte))
    return make


def no_certificate(tpm):
    for index in CERT:
        tpm.tool("tpm2_nvundefine", "-C", "p", hex(index))


def certificate_and_junk(tpm):
    for index in CERT:
        identity.define(tpm, index, content(tpm, index) + b"junk")


def chain_in_nv(tpm):
    """The CA that signed the certificates, in two pieces."""
    with open(os.path.join(tpm.state, "ca", "cert.pem"), "rb") as f:
        ca = identity.x509.load_pem_x509_certificate(f.read())
    der = ca.public_bytes(identity.serialization.Encoding.DER)
    identity.define(tpm, 0x01C00100, der[:300])
    identity.define(tpm, 0x01C00101, der[300:])


def foreign_objects(tpm):
    """Keys of somebody else, one at the EK's own place, and a filled index."""
    for hierarchy in "op":
        tpm.tool("tpm2_evictcontrol", "-C", hierarchy, "-c", "0x81010001", check=False)
    identity.make_ek(tpm, "L-1", b"another nonce", "0x81010001")
    tpm.tool("tpm2_createprimary", "-C", "o", "-c", "k.ctx")
    for i in range(3):
        tpm.tool("tpm2_evictcontrol", "-C", "o", "-c", "k.ctx", hex(0x81000001 + i))
        tpm.tool("tpm2_flushcontext", "-t")
    identity.define(tpm, 0x01C00200, b"something")


def authorised(hierarchy):
    return lambda tpm: tpm.tool("tpm2_changeauth", "-c", hierarchy, "secret")


def endorsement_off(tpm):
    tpm.tool("tpm2_hierarchycontrol", "-C", "p", "ehEnable", "clear")


def locked_out(tpm):
    """Too many wrong authorisations of some other object."""
    tpm.tool("tpm2_dictionarylockout", "-s", "-n", "1", "-t", "10000", "-l", "10000")
    tpm.tool("tpm2_createprimary", "-C", "o", "-G", "hmac", "-p", "right", "-c", "k.ctx", "-a",
             "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign")
    for _ in range(2):
        tpm.tool("tpm2_hmac", "-c", "k.ctx", "-p", "wrong", "/dev/null", check=False)
    text = tpm.tool("tpm2_getcap", "properties-variable")
    assert re.search(r"inLockout:\s+1", text), text
    tpm.tool("tpm2_flushcontext", "-t")


def broken(tpm):
    """Its memory is gone: the next command that writes ends it."""
    shutil.rmtree(tpm.state)
    tpm.tool("tpm2_changeauth", "-c", "o", "secret", check=False)


def cleared(tpm):
    tpm.tool("tpm2_clear", "-c", "p")


def other_seed(tpm):
    """All its keys are others now, the certificates are those of the old ones."""
    tpm.tool("tpm2_changeeps")


def left_behind(tpm):
    for _ in range(2):
        tpm.tool("tpm2_createprimary", "-C", "o", "-c", "k.ctx")
    tpm.tool("tpm2_startauthsession", "-S", "s.ctx")
    assert tpm.handles() >= 3


def both(*makers):
    def make(tpm):
        for m in makers:
            m(tpm)
    return make


# What it ends in; a state that stays when the power goes.
STATES = {
    "as-made": ("enrolled", lambda tpm: None),
    "padded-00": ("enrolled", padded(b"\0")),
    "padded-ff": ("enrolled", padded(b"\xff")),
    "junk-behind": ("ek.padding", certificate_and_junk),
    "no-certificate": ("ek.untrusted", no_certificate),
    "foreign-objects": ("enrolled", foreign_objects),
    "authorisations": ("enrolled", both(*map(authorised, "olp"))),
    "endorsement-auth": ("tpm.endorsement-auth", authorised("e")),
    "cleared": ("enrolled", cleared),
    "other-seed": ("ek.mismatch", other_seed),
}
# What it ends in; one that does not.
RUNNING = {
    "endorsement-off": ("tpm.endorsement-off", endorsement_off),
    "locked-out": ("enrolled", locked_out),
    "failure-mode": ("tpm.failure-mode", broken),
    "left-behind": ("enrolled", left_behind),
}


class States(kit.PathCase):
    def listed(self, *args):
        return self.control.json("node", "list", *args)["nodes"]

    def first_boot(self, tpm, running=lambda tpm: None):
        """What it ends in or waits for, `enrolled` when it got in; how it went."""
        node = self.new_node(tpm)
        nodes, told = len(self.listed()), len(self.control.text())
        node.power_on()
        running(node.tpm)
        child = node.start()
        self.wait_for(lambda: child.poll() is not None or len(self.listed()) > nodes
                      or "enrol peer=" in self.control.text()[told:])
        ended = child.poll() is not None
        boot = node.finish(child) if ended else node.stop(child)
        if len(self.listed()) > nodes:
            return "enrolled", boot
        if ended:
            return boot.failed(), boot
        return re.search(r"enrol peer=.* reason=(\S+)", self.control.text()[told:])[1], boot

    def check(self, name, want, tpm, running=lambda tpm: None):
        with self.subTest(name):
            reason, boot = self.first_boot(tpm, running)
            self.assertEqual(reason, want, boot.text + self.control.text())
            return boot

    def test_states(self):
        self.control.start()
        for name, (want, make) in STATES.items():
            tpm = swtpm.Swtpm(fresh=True)
            make(tpm)
            boot = self.check(name, want, tpm)
            if name == "endorsement-auth":
                # named with its remedy, on the console
                self.assertIn("tpm2_changeauth -c e", boot.text)

    def test_states_of_a_running_tpm(self):
        self.control.start()
        for name, (want, make) in RUNNING.items():
            self.check(name, want, swtpm.Swtpm(fresh=True), make)

    def test_chain(self):
        """The folder has the root only, what is between comes from the TPM."""
        self.control.start()
        tpm = swtpm.Swtpm(fresh=True)
        self.control.trust = self.trust_root
        self.check("root only", "ek.untrusted", tpm)
        chain_in_nv(tpm)
        self.check("chain", "enrolled", tpm)

    def trust_root(self, tpm):
        shutil.copy(os.path.join(tpm.state, "ca", "swtpm-localca-rootca-cert.pem"),
                    os.path.join(self.control.dir, "ek-ca"))
        self.control.child.send_signal(signal.SIGHUP)

    def test_banks(self):
        first = self.ready()
        self.assert_booted(first.boot())
        for banks in ("sha256", "sha1,sha256", "sha384"):
            with self.subTest(banks):
                node = self.new_node(swtpm.Swtpm(banks=banks, fresh=True))
                node.power_on()
                child = node.start()
                self.wait_for(lambda: self.listed("--state", "pending"), child)
                self.control.ctl("node", "approve", self.listed("--state", "pending")[0]["id"])
                self.assert_booted(node.finish(child))
        self.check("sha1", "tpm.no-bank", swtpm.Swtpm(banks="sha1", fresh=True))


class Left(kit.PathCase):
    """What of the gate stays in a TPM without a resource manager: nothing."""

    def test_after_the_jump(self):
        node = self.ready()
        node.power_on()
        left_behind(node.tpm)
        self.assert_booted(node.finish(node.start()))
        self.assertEqual(node.tpm.handles(), 0)
        # firmware had left the platform hierarchy open
        self.assertRegex(node.tpm.tool("tpm2_getcap", "properties-variable"), r"phEnable:\s+0")

    def test_killed_at_any_command(self):
        """SIGTERM to the whole, at each kind of command: capped, and nothing stays."""
        self.control.start()
        node = self.new_node(swtpm.Swtpm(fresh=True))
        for command in ("CreatePrimary", "PCR_Extend", "StartAuthSession", "PolicySecret",
                        "ActivateCredential", "Quote"):
            with self.subTest(command):
                node.power_on()
                proxy = swtpm.Proxy(node.tpm, f"{command}:delay=1")
                child = node.start("--tpm", proxy.where)
                self.wait_for(lambda: proxy.messages(">", command), child)
                child.send_signal(signal.SIGTERM)
                boot = node.finish(child)
                proxy.close()
                self.assertFalse(boot.jumped(), boot.text)
                self.assertIn("capped; reset", boot.text)
                self.assertEqual(node.tpm.handles(), 0)
                self.assertNotEqual(node.tpm.value("sha256", 14), bytes(32))


if __name__ == "__main__":
    unittest.main()
