#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`bootgate pcrs` and `bootgate quote`: what they print and write is checked
by tpm2-tools and by tests/interop/quote.py."""

import json
import os
import resource
import signal
import subprocess
import threading
import time

from swtpm import BUILD, Case, main  # first: sets sys.path
import quote

GATE = os.path.join(BUILD, "test", "bootgate")
NONCE = "00112233445566778899aabbccddeeff"


class Commands(Case):
    def gate(self, where, *args, code=0, reason=None):
        command = [GATE, *args]
        if where:
            command += ["--tpm", getattr(where, "where", where)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False,
                              cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        if reason:
            self.assertIn(f"bootgate: {reason}: ", done.stderr)
        if code:
            self.assertEqual(done.stdout, "")
        return done.stdout

    def measured(self, **how):
        how.setdefault("certificates", False)
        tpm = self.tpm(**how)
        for pcr in (0, 2, 7):
            banks = {"sha1": 40, "sha256": 64, "sha384": 96}
            tpm.tool("tpm2_pcrextend", f"{pcr}:" + ",".join(
                f"{bank}={pcr + 1:0{n}x}" for bank, n in banks.items()
                if bank in how.get("banks", "sha1,sha256,sha384")))
        return tpm


class Pcrs(Commands):
    def test_as_tpm2_pcrread(self):
        tpm = self.measured()
        for selection in ("sha256:0,1,2,7", "sha256:0,1,2,7+sha1:0", "sha384:all", "sha1:23,9,10"):
            with self.subTest(selection=selection):
                self.assertEqual(self.gate(tpm, "pcrs", selection),
                                 tpm.tool("tpm2_pcrread", selection))

    def test_everything(self):
        for banks in ("sha256", "sha384", "sha1,sha256,sha384,sha512"):
            tpm = self.measured(banks=banks)
            self.assertEqual(self.gate(tpm, "pcrs"),
                             tpm.tool("tpm2_pcrread",
                                      "+".join(f"{b}:all" for b in banks.split(","))))

    def test_out(self):
        tpm = self.measured()
        self.gate(tpm, "pcrs", "sha256:7,0+sha1:2", "--out", "ours")
        tpm.tool("tpm2_pcrread", "sha256:7,0+sha1:2", "-o", self.path("theirs"))
        self.assertEqual(self.content("ours"), self.content("theirs"))
        self.gate(tpm, "pcrs", "sha256:7", "-o", "ours")
        self.assertEqual(self.content("ours"), tpm.value("sha256", 7))
        self.gate(tpm, "pcrs", "sha256:7", "-o", "no/such/folder", code=1, reason="file")

    def test_json(self):
        tpm = self.measured()
        found = json.loads(self.gate(tpm, "pcrs", "sha1:0+sha256:7,10", "--json"))
        self.assertEqual(found, {"sha1": {"0": tpm.value("sha1", 0).hex()},
                                 "sha256": {"7": tpm.value("sha256", 7).hex(),
                                            "10": tpm.value("sha256", 10).hex()}})

    def test_inactive_bank(self):
        tpm = self.measured(banks="sha256")
        for selection in ("sha1:0", "sha256:0+sha384:all", "sm3:1"):
            self.gate(tpm, "pcrs", selection, code=3, reason="tpm.bank-inactive")

    def test_usage(self):
        for args in (["sha256"], ["sha256:"], ["sha256:24"], ["md5:1"], ["sha256:0", "sha1:0"],
                     ["sha256:none"], ["--what"], ["sha256:0", "--out"], ["-o"], [""],
                     ["sha256:0+sha256:1"], ["--json=1", "sha256:0"]):
            with self.subTest(args=args):
                self.gate(None, "pcrs", *args, code=2, reason="usage")

    def test_help(self):
        for command in ("pcrs", "quote"):
            for flag in ("--help", "-h"):
                self.assertIn(f"usage: bootgate {command} ", self.gate(None, command, flag))
            self.assertIn("usage: bootgate COMMAND", self.gate(None, command, "--version"))

    def test_no_tpm(self):
        self.gate(None, "pcrs", "sha256:0", code=1, reason="tpm.absent")
        self.gate(None, "quote", "--pcrs", "sha256:0", "--nonce", "00", code=1,
                  reason="tpm.absent")
        self.gate("swtpm:host=127.0.0.1,port=1", "pcrs", code=1, reason="tpm.absent")
        self.gate("nonsense", "pcrs", code=2, reason="usage")


class Quote(Commands):
    def check(self, selection, nonce=NONCE, folder=".", hash_name="sha256", pss=False):
        """By tpm2_checkquote (which cannot do PSS), and by our own Python."""
        files = {n: self.path(folder, n) for n in
                 ("quote.msg", "quote.sig", "quote.pcrs", "ak.pub", "ak.pem")}
        for public in ("ak.pem", "ak.pub"):
            done = None if pss else subprocess.run(
                ["tpm2_checkquote", "-u", files[public], "-m", files["quote.msg"],
                 "-s", files["quote.sig"], "-f", files["quote.pcrs"], "-q", nonce,
                 "-g", hash_name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                check=False, timeout=60)
            if done:
                self.assertEqual(done.returncode, 0, done.stderr)
            attest = quote.check(self.content(folder, public), self.content(folder, "quote.msg"),
                                 self.content(folder, "quote.sig"), bytes.fromhex(nonce),
                                 quote.tools_values(self.content(folder, "quote.pcrs")))
        if selection:
            self.assertEqual(attest.selection, selection)
        return attest

    def test_fleet_key(self):
        tpm = self.measured()
        out = self.gate(tpm, "quote", "--pcrs", "sha256:0,1,2,7", "--nonce", NONCE)
        attest = self.check([(0x000B, [0, 1, 2, 7])])
        public = quote.Public(self.content("ak.pub")[2:])
        self.assertEqual(attest.signer, public.qualified_name)
        self.assertIn("quoted: " + self.content("quote.msg").hex(), out)
        self.assertIn(tpm.tool("tpm2_pcrread", "sha256:0,1,2,7"), out)
        self.assertEqual(tpm.handles(), 0)

    def test_many_banks_and_registers(self):
        tpm = self.measured()
        self.gate(tpm, "quote", "--pcrs", "sha384:all+sha1:0,9,17,23+sha256:0,1,2,3,4,5,6,7,8",
                  "--nonce", "ab")
        self.check([(0x000C, list(range(24))), (0x0004, [0, 9, 17, 23]),
                    (0x000B, list(range(9)))], nonce="ab")

    def test_names_that_tpm2_quote_has(self):
        tpm = self.measured()
        self.gate(tpm, "quote", "-l", "sha256:7", "-q", NONCE.upper(), "-m", "a", "-s", "b",
                  "-o", "c")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "ak.pem", "ak.pub", "b", "c"])
        for old, new in (("a", "quote.msg"), ("b", "quote.sig"), ("c", "quote.pcrs")):
            os.rename(self.path(old), self.path(new))
        self.check([(0x000B, [7])])
        self.gate(tpm, "quote", "--pcr-list=sha256:7", "--qualification=" + NONCE,
                  "--out=folder")
        self.check([(0x000B, [7])], folder="folder")

    def test_keys_at_handles(self):
        """Signing keys of other kinds: the hash of the scheme, not of the bank."""
        tpm = self.measured()
        signing = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|sign"
        free = signing.replace("|restricted", "")
        kinds = (("ecc256:ecdsa-sha256:null", signing, "sha256"),
                 ("ecc384:ecdsa-sha384:null", signing, "sha384"),
                 ("rsa2048:rsassa-sha256:null", signing, "sha256"),
                 ("rsa2048:rsapss-sha384:null", signing, "sha384"),
                 ("rsa2048:null:null", free, "sha256"),
                 ("ecc256:null:null", free, "sha256"))
        for i, (algorithm, attributes, hash_name) in enumerate(kinds):
            handle = hex(0x81000100 + i)
            tpm.tool("tpm2_createprimary", "-C", "o", "-G", algorithm, "-a", attributes,
                     "-c", "k.ctx")
            tpm.tool("tpm2_evictcontrol", "-C", "o", "-c", "k.ctx", handle)
            for selection in ("sha256:0,7", "sha384:0+sha1:2"):
                with self.subTest(algorithm=algorithm, selection=selection):
                    self.gate(tpm, "quote", "--pcrs", selection, "--nonce", NONCE,
                              "--ak", handle, "--out", algorithm)
                    self.check(None, folder=algorithm, hash_name=hash_name,
                               pss="pss" in algorithm)

    def test_keys_that_do_not_do(self):
        tpm = self.measured(certificates=True)
        # swtpm_setup's RSA EK and ECC EK
        for handle in ("0x81010001", "0x81010016"):
            self.gate(tpm, "quote", "--pcrs", "sha256:0", "--nonce", "00", "--ak", handle,
                      code=1, reason="tpm.key-cannot-sign")
        self.gate(tpm, "quote", "--pcrs", "sha256:0", "--nonce", "00", "--ak", "0x81000042",
                  code=1, reason="tpm.key-handle")
        tpm.tool("tpm2_createprimary", "-C", "o", "-G", "ecc256:ecdsa-sha256:null", "-a",
                 "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|sign|noda",
                 "-p", "secret", "-c", "k.ctx")
        tpm.tool("tpm2_evictcontrol", "-C", "o", "-c", "k.ctx", "0x81000043")
        self.gate(tpm, "quote", "--pcrs", "sha256:0", "--nonce", "00", "--ak", "0x81000043",
                  code=1, reason="tpm.key-auth")
        tpm.tool("tpm2_createprimary", "-C", "o", "-G", "hmac", "-c", "k.ctx", "-a",
                 "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign")
        tpm.tool("tpm2_evictcontrol", "-C", "o", "-c", "k.ctx", "0x81000044")
        self.gate(tpm, "quote", "--pcrs", "sha256:0", "--nonce", "00", "--ak", "0x81000044",
                  code=1, reason="tpm.key-cannot-sign")
        self.assertEqual(os.listdir(self.folder), [])

    def test_inactive_bank(self):
        """A TPM signs that as well: it says nothing."""
        tpm = self.measured(banks="sha256")
        self.gate(tpm, "quote", "--pcrs", "sha256:0+sha1:0", "--nonce", "00", code=3,
                  reason="tpm.bank-inactive")
        self.assertEqual(os.listdir(self.folder), [])

    def test_usage(self):
        good = ["--pcrs", "sha256:0", "--nonce", "00"]
        for args in (good[:2], good[2:], [], good + ["more"], good + ["--ak", "81000000"],
                     good + ["--ak", "0x80000000"], good + ["--ak", "0x810000001"],
                     good + ["--ak", "0x82000000"], good + ["--ak", ""], good + ["--ak"],
                     ["--pcrs", "sha256:0", "--nonce", "0"], ["--pcrs", "sha256:0", "--nonce", ""],
                     ["--pcrs", "sha256:0", "--nonce", "0g"],
                     ["--pcrs", "sha256:0", "--nonce", "00" * 65],
                     ["--pcrs", "sha256:25", "--nonce", "00"], good + ["-x"]):
            with self.subTest(args=args):
                self.gate(None, "quote", *args, code=2, reason="usage")

    def test_interrupted(self):
        """Ctrl-C, or a shutdown: the key that was made for it does not stay."""
        def heard():
            # what a shell starts in the background ignores SIGINT
            for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(s, signal.SIG_DFL)

        tpm = self.measured()
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            proxy = self.proxy(tpm, "Quote:delay=3", answer=20000)
            child = subprocess.Popen([GATE, "quote", "--pcrs", "sha256:0", "--nonce", NONCE, "--tpm",
                                      proxy.where], stdin=subprocess.DEVNULL, cwd=self.folder,
                                     preexec_fn=heard)
            while not proxy.messages(">", "Quote"):
                time.sleep(0.01)
            self.assertEqual(tpm.handles(), 1)
            child.send_signal(sent)
            self.assertEqual(child.wait(30), -sent)
            self.assertEqual(tpm.handles(), 0)
        self.assertEqual(os.listdir(self.folder), [])

    def test_quit(self):
        """The TPM never answers: one signal is not kept waiting for it."""
        def heard():
            signal.signal(signal.SIGQUIT, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        proxy = self.proxy(self.measured(), "Quote:delay=3600", answer=60000)
        child = subprocess.Popen([GATE, "quote", "--pcrs", "sha256:0", "--nonce", NONCE, "--tpm",
                                  proxy.where], stdin=subprocess.DEVNULL, cwd=self.folder,
                                 preexec_fn=heard)
        try:
            while not proxy.messages(">", "Quote"):
                time.sleep(0.01)
            child.send_signal(signal.SIGQUIT)
            self.assertEqual(child.wait(30), -signal.SIGQUIT)
        finally:
            child.kill()
            child.wait()

    def test_registers_that_move(self):
        """Somebody extends while we quote: what is written still fits together."""
        tpm = self.measured()
        stop = threading.Event()

        def extend():
            # PCR 16 in all banks, as fast as it goes
            command = bytes.fromhex("80020000003d00000182000000100000000940000009000000000000"
                                    "00000001000b") + bytes(32)
            command = command[:2] + len(command).to_bytes(4, "big") + command[6:]
            while not stop.is_set():
                tpm.raw(command)

        thread = threading.Thread(target=extend)
        thread.start()
        try:
            done = 0
            for _ in range(30):
                child = subprocess.run(
                    [GATE, "quote", "--pcrs", "sha256:0,1,2,7,16", "--nonce", NONCE, "--tpm",
                     tpm.where], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True, check=False, cwd=self.folder, timeout=60)
                if child.returncode == 0:
                    self.check([(0x000B, [0, 1, 2, 7, 16])])
                    done += 1
                else:
                    # never anything but the name of what happened
                    self.assertIn("bootgate: quote.digest: ", child.stderr)
        finally:
            stop.set()
            thread.join()
        # and without that register it always works
        for _ in range(5):
            self.gate(tpm, "quote", "--pcrs", "sha256:0,1,2,7", "--nonce", NONCE)
            self.check([(0x000B, [0, 1, 2, 7])])

    def test_one_move_is_made_good(self):
        tpm = self.measured()
        # the first value read after the first quote is another one
        proxy = self.proxy(tpm, "PCR_Read#2:patch=30:aa")
        self.gate(proxy, "quote", "--pcrs", "sha256:7", "--nonce", NONCE)
        self.check([(0x000B, [7])])
        self.assertEqual(len(proxy.messages(">", "Quote")), 2)
        proxy = self.proxy(tpm, "PCR_Read#2+*:patch=30:aa")
        self.gate(proxy, "quote", "--pcrs", "sha256:7", "--nonce", NONCE, code=3,
                  reason="quote.digest")
        self.assertEqual(len(proxy.messages(">", "Quote")), 3)


del Case, Commands

if __name__ == "__main__":
    main()
