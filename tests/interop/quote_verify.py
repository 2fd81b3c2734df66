#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""quote_verify.py [BOOTGATECTL]: `bootgatectl quote verify` on quotes that
others made: tpm2-tools with a software TPM, and those of $CORPUS if it is
there. The last line is `N passed, N failed`."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests", "swtpm")]
from swtpm import Swtpm  # noqa: E402

CTL = os.path.join(TOP, "build", "bin", "bootgatectl")
CORPUS = os.environ.get("CORPUS", os.path.join(TOP, "..", "shared", "corpus"))
NONCE = "00112233445566778899aabbccddeeff"

# algorithm of the key, of tpm2_createak or createprimary -G, and of the hash
KEYS = {
    "rsassa": "rsa2048:rsassa-sha256:null",
    "rsapss": "rsa2048:rsapss-sha256:null",
    "rsapss-384": "rsa3072:rsapss-sha384:null",
    "p256": "ecc256:ecdsa-sha256:null",
    "p384": "ecc384:ecdsa-sha384:null",
}
RESTRICTED = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|sign"


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """A protobuf message: [(number, value)]."""
    found, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError("wire type")
        found.append((key >> 3, value))
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="quote-")
        self.addCleanup(self.folder.cleanup)

    def write(self, name, data):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def verify(self, ak, quote, signature, *more):
        """Reason, and what was found; text and JSON say the same."""
        command = [CTL, "quote", "verify", "--ak", ak, "--quote", quote,
                   "--signature", signature, *more]
        text = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        found = subprocess.run(command + ["--json"], capture_output=True, text=True, timeout=20,
                               check=False)
        self.assertEqual(text.returncode, found.returncode, text.stderr)
        if text.returncode in (1, 2):
            return "usage", None
        found = json.loads(found.stdout)
        self.assertEqual(text.returncode, 0 if found["reason"] == "ok" else 3)
        if found["reason"] != "ok":
            self.assertIn(found["reason"] + "\n", text.stderr)
            self.assertEqual(text.stdout, "")
        return found["reason"], found

    def holds(self, *arguments):
        reason, found = self.verify(*arguments)
        self.assertEqual(reason, "ok")
        return found

    def refused(self, wanted, *arguments):
        reason, _ = self.verify(*arguments)
        self.assertEqual(reason, wanted)


def run(tpm, *command, check=True):
    """A program of tpm2-tools, and nothing of it stays in the TPM."""
    out = tpm.tool(*command, check=check)
    tpm.tool("tpm2_flushcontext", "-t")
    return out


class Tools(Case):
    """Quotes of tpm2-tools."""

    @classmethod
    def setUpClass(cls):
        cls.tpm = Swtpm(certificates=False)
        for pcr in range(8):
            cls.tpm.tool("tpm2_pcrextend", f"{pcr}:sha256=" + f"{pcr + 1:02x}" * 32)

    @classmethod
    def tearDownClass(cls):
        cls.tpm.close()

    def make(self, kind, selection="sha256:0,1,2,7", attributes=RESTRICTED, values="serialized"):
        tpm = self.tpm
        scheme, hash_name = KEYS[kind].split(":")[1].split("-")
        run(tpm, "tpm2_createprimary", "-C", "e", "-G", KEYS[kind], "-a", attributes,
            "-c", "ak.ctx")
        run(tpm, "tpm2_readpublic", "-c", "ak.ctx", "-o", "ak.pub")
        run(tpm, "tpm2_readpublic", "-c", "ak.ctx", "-f", "pem", "-o", "ak.pem")
        run(tpm, "tpm2_quote", "-c", "ak.ctx", "-l", selection, "-q", NONCE, "-m", "quote",
            "-s", "sig", "-o", "pcrs", "-F", values, "--scheme", scheme, "-g", hash_name)
        return [os.path.join(tpm.folder, f) for f in ("ak.pub", "quote", "sig")]

    def path(self, name):
        return os.path.join(self.tpm.folder, name)

    def test_schemes(self):
        for kind in KEYS:
            with self.subTest(kind):
                pub, quote, sig = self.make(kind)
                found = self.holds(pub, quote, sig, "--nonce", NONCE.upper(),
                                   "--pcrs", self.path("pcrs"))
                self.assertEqual(found["pcrs"], "sha256:0,1,2,7")
                self.assertEqual(found["nonce"], NONCE)
                self.assertTrue(found["nonce_checked"] and found["values_checked"])
                self.holds(self.path("ak.pem"), quote, sig, "--nonce", NONCE)

    def test_values(self):
        selection = "sha1:0,4+sha256:0,1,2,3,4,5,6,7,8,9+sha512:7"
        pub, quote, sig = self.make("p256", selection)
        self.holds(pub, quote, sig, "--pcrs", self.path("pcrs"))
        listing = self.tpm.tool("tpm2_pcrread", selection)
        text = self.write("listing", listing.encode())
        self.holds(pub, quote, sig, "--pcrs", text)
        # another value; another register; one less; one more
        self.refused("quote.digest", pub, quote, sig, "--pcrs",
                     self.write("l", listing.replace("F", "E").encode()))
        lines = listing.splitlines()
        self.refused("quote.digest", pub, quote, sig, "--pcrs",
                     self.write("l", "\n".join(lines[:-1]).encode()))
        self.refused("quote.digest", pub, quote, sig, "--pcrs",
                     self.write("l", (listing + "    8 : 0x" + "00" * 64 + "\n").encode()))
        self.refused("format.text", pub, quote, sig, "--pcrs", self.write("l", b"x y z q\n"))
        pub, quote, sig = self.make("p256", selection, values="values")
        self.holds(pub, quote, sig, "--pcrs", self.path("pcrs"))
        with open(self.path("pcrs"), "rb") as f:
            data = f.read()
        self.refused("quote.digest", pub, quote, sig, "--pcrs",
                     self.write("v", data[:-1] + bytes([data[-1] ^ 1])))
        reason, _ = self.verify(pub, quote, sig, "--pcrs", self.write("v", data[:-1]))
        self.assertTrue(reason.startswith("format."))

    def test_refusals(self):
        pub, quote, sig = self.make("p256")
        with open(quote, "rb") as f:
            q = f.read()
        with open(sig, "rb") as f:
            s = f.read()
        self.refused("quote.nonce", pub, quote, sig, "--nonce", NONCE[:-2])
        self.refused("quote.nonce", pub, quote, sig, "--nonce", NONCE + "00")
        self.refused("quote.nonce", pub, quote, sig, "--nonce", "00" * 200)
        self.refused("usage", pub, quote, sig, "--nonce", "xx")
        for at in range(0, len(q), 5):
            changed = self.write("q", q[:at] + bytes([q[at] ^ 1]) + q[at + 1:])
            reason, _ = self.verify(pub, changed, sig)
            self.assertIn(reason, ("quote.signature", "quote.format"))
        self.refused("quote.format", pub, self.write("q", q + b"\0"), sig)
        self.refused("quote.format", pub, quote, self.write("s", s + b"\0"))
        self.refused("quote.signature", pub, quote, self.write("s", s[:-1] + bytes([s[-1] ^ 1])))
        # a key of another kind, and another one of the same
        other = self.make("rsassa")[0]
        with open(other, "rb") as f:
            rsa = self.write("rsa", f.read())
        self.refused("quote.scheme", rsa, self.write("q", q), self.write("s", s))

    def test_key_that_signs_anything(self):
        pub, quote, sig = self.make("p256", attributes=RESTRICTED.replace("restricted|", ""))
        self.refused("quote.key", pub, quote, sig)

    def test_nothing_quoted(self):
        # an inactive bank is signed as an empty bitmap
        tpm = Swtpm(banks="sha256", certificates=False)
        self.addCleanup(tpm.close)
        run(tpm, "tpm2_createprimary", "-C", "e", "-G", KEYS["p256"], "-a", RESTRICTED,
            "-c", "ak.ctx")
        run(tpm, "tpm2_readpublic", "-c", "ak.ctx", "-o", "ak.pub")
        run(tpm, "tpm2_quote", "-c", "ak.ctx", "-l", "sha384:0", "-m", "quote", "-s", "sig",
            check=False)
        self.refused("quote.selection",
                     *(os.path.join(tpm.folder, f) for f in ("ak.pub", "quote", "sig")))

    def test_usage(self):
        pub, quote, sig = self.make("p256")
        for wrong in ([], ["--ak", pub], ["--ak", pub, "--quote", quote],
                      ["--ak", pub, "--quote", quote, "--signature"],
                      ["--ak", pub, "--quote", quote, "--signature", sig, "--ak", pub],
                      ["--ak", pub, "--quote", quote, "--signature", sig, "more"]):
            done = subprocess.run([CTL, "quote", "verify", *wrong], capture_output=True,
                                  text=True, check=False, timeout=20)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("usage: ", done.stderr)
        self.refused("usage", pub + ".none", quote, sig)
        self.refused("format.type", self.write("k", b"-----BEGIN PUBLIC KEY-----\nx\n"), quote,
                     sig)


@unittest.skipUnless(os.path.isdir(CORPUS), "no corpus")
class Corpus(Case):
    def test_keylime(self):
        folder = os.path.join(CORPUS, "quote/keylime+keylime/test-data/files")
        quote, sig, pcrs = (os.path.join(folder, f)
                            for f in ("quote.out", "quotesig.out", "quotepcr.out"))
        nonce = "db1db298db6d60e6385b7231743e9c3056a18003"
        for key in ("akpub.pem", "ak.pub"):
            found = self.holds(os.path.join(folder, key), quote, sig, "--nonce", nonce,
                               "--pcrs", pcrs)
            self.assertEqual(found["pcrs"], "sha256:15,16,22")
            self.assertEqual(found["digest"], "ec1636c69c548fd09a165a4f874e5d16"
                                              "10a8fbe36241566017e92b17e144b971")
        self.refused("quote.key", os.path.join(folder, "ek.pub"), quote, sig)
        self.refused("quote.signature", os.path.join(folder, "ekpub.pem"), quote, sig)

    def test_keylime_literals(self):
        path = os.path.join(CORPUS, "quote/keylime+keylime/keylime/tpm/"
                                    "tpm_util_test.py.literals.json")
        with open(path, encoding="utf-8") as f:
            literal = {x["name"]: x["values"][0] for x in json.load(f)}
        found = self.holds(self.write("ak", literal["aikblob"].encode()),
                           self.write("q", base64.b64decode(literal["quoteblob"])),
                           self.write("s", base64.b64decode(literal["sigblob"])),
                           "--pcrs", self.write("p", base64.b64decode(literal["pcrblob"])))
        self.assertTrue(found["values_checked"])

    def test_google(self):
        """Three banks, three quotes; and the log that leads to them."""
        folder = os.path.join(CORPUS, "quote/google+go-tpm-tools/internal/test/attestations")
        for name, nonce in (("gce-cos-85-no-nonce.pb", None), ("gce-cos-85-nonce9009.pb", "9009")):
            with open(os.path.join(folder, name), "rb") as f:
                message = fields(f.read())
            ak = self.write("ak", next(v for n, v in message if n == 1))
            log = self.write("log", next(v for n, v in message if n == 3))
            quotes = [dict(fields(v)) for n, v in message if n == 2]
            self.assertEqual(len(quotes), 3)
            for one in quotes:
                quote, sig = self.write("q", one[1]), self.write("s", one[2])
                values = fields(one[3])
                bank = {4: "sha1", 11: "sha256", 12: "sha384"}[values[0][1]]
                text = ""
                for number, entry in values[1:]:
                    self.assertEqual(number, 2)
                    pair = dict(fields(entry))
                    text += f"{bank} {pair.get(1, 0)} {pair[2].hex()}\n"
                more = ["--nonce", nonce] if nonce else []
                found = self.holds(ak, quote, sig, *more, "--pcrs",
                                   self.write("p", text.encode()))
                self.assertTrue(found["pcrs"].startswith(bank + ":"))
                # firmware's log is not that of the whole boot: which register differs is told
                reason, answer = self.verify(ak, quote, sig, "--pcrs", self.write(
                    "p", text.encode()), "--log", log)
                self.assertIn(reason, ("ok", "log.replay", "log.bank-missing",
                                       "log.digest-count"))
                if reason == "log.replay":
                    self.assertRegex(answer["detail"], "register [0-9]+ of bank ")

    def test_weak_hash(self):
        """A true signature, over SHA-1: no proof of anything today."""
        path = os.path.join(CORPUS, "evidence/google+go-attestation/attest/testdata/"
                                    "windows_gcp_shielded_vm.json")
        with open(path, encoding="utf-8") as f:
            dump = json.load(f)
        self.refused("quote.scheme",
                     self.write("ak", base64.b64decode(dump["AK"]["Public"])),
                     self.write("q", base64.b64decode(dump["Quote"]["Quote"])),
                     self.write("s", base64.b64decode(dump["Quote"]["Signature"])))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        CTL = os.path.abspath(sys.argv.pop(1))
    outcome = unittest.main(exit=False, verbosity=2).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed", flush=True)
    sys.exit(1 if bad else 0)
