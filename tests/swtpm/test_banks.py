#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Banks: which are active, what that is worth, the proof of it, and measuring
into all of them."""

import hashlib
import os
import struct

from swtpm import Case, for_each_driver, main  # first: sets sys.path
import evlog
import quote

ALL = "sha1,sha256,sha384,sha512"
GET_PCRS = "GetCapability/00000005"
FULL = "03ffffff"


def capability(*banks):
    """An answer to TPM2_GetCapability(PCRS), in hex."""
    body = b"\0" + struct.pack(">II", 5, len(banks))
    for algorithm, bitmap in banks:
        body += struct.pack(">H", algorithm) + bytes.fromhex(bitmap)
    return (struct.pack(">HII", 0x8001, 10 + len(body), 0) + body).hex()


class Banks(Case):
    def test_which_are_active(self):
        for banks in ("sha256", "sha384", "sha1,sha256", ALL):
            with self.subTest(banks=banks):
                done = self.ok(self.tpm(banks=banks, certificates=False), "banks")
                self.assertEqual(done.one("active"), banks.replace(",", " "))
                self.assertEqual(done.one("implemented"), "0x0004 0x000b 0x000c 0x000d")

    def test_sha1_alone(self):
        tpm = self.tpm(banks="sha1", certificates=False)
        self.assertEqual(self.refused("tpm.no-bank", tpm, "banks").code, 3)
        self.refused("tpm.no-bank", tpm, "measure", self.path("log"))

    def test_none(self):
        tpm = self.tpm(certificates=False)
        proxy = self.proxy(tpm, f"{GET_PCRS}:answer={capability()}")
        self.refused("tpm.no-bank", proxy, "banks")

    def test_partial(self):
        tpm = self.tpm(certificates=False)
        for bitmap in ("03ffffef", "03ff0000", "0200ff"):
            with self.subTest(bitmap=bitmap):
                answer = capability((0x0004, FULL), (0x000B, bitmap))
                proxy = self.proxy(tpm, f"{GET_PCRS}:answer={answer}")
                done = self.run_driver(proxy, "banks")
                # two bytes of bitmap are no selection at all
                self.assertIn(done.reason, ("tpm.bank-partial", "format.range"), done.err)
                if done.reason == "tpm.bank-partial":
                    self.assertIn("sha256", done.err)
                self.assertEqual(done.code, 3)

    def test_unknown_algorithm(self):
        tpm = self.tpm(certificates=False)
        active = capability((0x000B, FULL), (0x0027, FULL))
        proxy = self.proxy(tpm, f"{GET_PCRS}:answer={active}")
        self.refused("tpm.bank-unsupported", proxy, "banks")
        inactive = capability((0x000B, FULL), (0x0027, "03000000"))
        proxy = self.proxy(tpm, f"{GET_PCRS}:answer={inactive}")
        self.assertEqual(self.ok(proxy, "banks").one("active"), "sha256")

    def test_sm3(self):
        tpm = self.tpm(certificates=False)
        proxy = self.proxy(tpm, f"{GET_PCRS}:answer={capability((0x0012, FULL))}")
        self.assertEqual(self.ok(proxy, "banks").one("active"), "sm3")


class Read(Case):
    def test_as_tpm2_pcrread(self):
        tpm = self.tpm(certificates=False)
        for pcr in (0, 7, 8, 16, 23):
            tpm.tool("tpm2_pcrextend", f"{pcr}:sha1={pcr + 1:040x},sha256={pcr + 1:064x},"
                                       f"sha384={pcr + 1:096x}")
        done = self.ok(tpm, "read", "sha1:all+sha256:all+sha384:all+sha512:0,8")
        bank, seen = None, 0
        for line in tpm.tool("tpm2_pcrread",
                             "sha1:all+sha256:all+sha384:all+sha512:0,8").splitlines():
            if line.endswith(":"):
                bank = line.strip(" :")
                continue
            pcr, value = line.replace(" ", "").split(":0x")
            self.assertEqual(done.one(f"{bank}:{pcr}"), value.lower())
            seen += 1
        self.assertEqual(seen, 3 * 24 + 2)

    def test_inactive_bank_has_no_values(self):
        tpm = self.tpm(banks="sha256", certificates=False)
        done = self.ok(tpm, "read", "sha1:0+sha256:0+sha384:all")
        self.assertEqual(len(done.lines), 1 + 2)  # tpm_ms and rc

    def test_register_moves_between_two_reads(self):
        """Values of one moment: read again when the TPM counts a change."""
        tpm = self.tpm(certificates=False)
        # twice eight bytes of counter: the second read of three says another number
        proxy = self.proxy(tpm, "PCR_Read#2:patch=10:7fffffff")
        self.ok(proxy, "read", "sha256:all")
        self.assertEqual(len(proxy.messages(">", "PCR_Read")), 6)
        proxy = self.proxy(tpm, "PCR_Read#2+1:patch=10:7fffffff",
                           "PCR_Read#5+1:patch=10:7fffffff")
        self.ok(proxy, "read", "sha256:all")
        self.assertEqual(len(proxy.messages(">", "PCR_Read")), 9)

    def test_answers_that_do_not_fit(self):
        tpm = self.tpm(certificates=False)
        # rc 0; then counter, selection and digests follow
        selection_other = "patch=18:000c"  # a bank that was not asked for
        for patch in (selection_other, "patch=21:ff", "patch=24:00000002", "patch=28:0010"):
            with self.subTest(patch=patch):
                proxy = self.proxy(tpm, f"PCR_Read#1+*:{patch}")
                self.refused("tpm.io", proxy, "read", "sha256:0")


class Measure(Case):
    def check_log(self, tpm, banks):
        """The log leads to what the TPM has, by another implementation."""
        replay = evlog.parse(self.content("log")).replay()
        self.assertEqual(set(replay), set(banks.split(",")))
        for bank, values in replay.items():
            for pcr in (8, 14, 15):
                self.assertEqual(values.get(pcr, bytes(evlog.LENGTHS[bank])),
                                 tpm.value(bank, pcr))

    def test_each_set_of_banks(self):
        for banks in ("sha256", "sha384", "sha1,sha256", ALL):
            with self.subTest(banks=banks):
                tpm = self.tpm(banks=banks, certificates=False)
                self.ok(tpm, "measure", self.path("log"))
                self.check_log(tpm, banks)
                # one command extends all banks
                self.assertEqual(tpm.handles(), 0)

    def test_one_command_for_all_banks(self):
        tpm = self.tpm(certificates=False)
        proxy = self.proxy(tpm)
        self.ok(proxy, "measure", self.path("log"))
        extends = proxy.messages(">", "PCR_Extend")
        events = self.content("log")
        # one for each event of the log without its header
        self.assertEqual(len(extends), len(evlog.parse(events).events))
        for _, command in extends:
            self.assertIn(struct.pack(">I", 4), command)

    def test_cap(self):
        tpm = self.tpm(certificates=False)
        self.ok(tpm, "measure", self.path("log"))
        self.assertEqual(self.content("log").count(b"bootgate:cap"), 2)
        self.assertNotIn(b"failed", self.content("log"))  # a second cap does nothing
        tpm.restart()
        self.ok(tpm, "measure", self.path("log"), "verdict.refused")
        self.assertEqual(self.content("log").count(b"failed: verdict.refused"), 2)
        self.check_log(tpm, ALL)

    def test_full_log(self):
        """The register is capped even when the log has no room for it."""
        tpm = self.tpm(certificates=False)
        self.assertEqual(self.ok(tpm, "fill", self.path("log")).one("full"), "internal.too-large")
        log = evlog.parse(self.content("log"))
        self.assertLessEqual(len(self.content("log")), 256 << 10)
        tag = b"failed: internal.too-large"
        data = struct.pack("<II", 0x424700FF, len(tag)) + tag
        value = bytes(32)
        for data_of in [e.data for e in log.events if e.pcr == 8] + [data]:
            value = hashlib.sha256(value + hashlib.sha256(data_of).digest()).digest()
        self.assertEqual(tpm.value("sha256", 8), value)
        self.assertNotEqual(tpm.value("sha256", 14), bytes(32))

    def test_register_used(self):
        for pcr in (8, 14, 15):
            with self.subTest(pcr=pcr):
                tpm = self.tpm(certificates=False)
                # one bank is enough, and it need not be the strong one
                tpm.tool("tpm2_pcrextend", f"{pcr}:sha1={1:040x}")
                done = self.refused("tpm.register-used", tpm, "measure", self.path("log"))
                self.assertEqual(done.code, 3)
                self.assertIn(f"PCR {pcr} of bank sha1", done.err)

    def test_failed_extend_is_final(self):
        tpm = self.tpm(certificates=False)
        proxy = self.proxy(tpm, "PCR_Extend#3:rc=0x12f")
        done = self.refused("tpm.extend", proxy, "measure", self.path("log"))
        self.assertEqual(done.code, 1)
        log = self.content("log")
        # three events, the third not in the register, then two caps
        self.assertEqual(len(evlog.parse(log).events), 3 + 2)
        self.assertEqual(log.count(b"failed: tpm.extend"), 2)
        replay = evlog.parse(log).replay()["sha256"]
        self.assertNotEqual(replay[8], tpm.value("sha256", 8))
        self.assertEqual(replay[14], tpm.value("sha256", 14))


class Proof(Case):
    def test_proof(self):
        """The server's side in Python: signature, name, session digest, banks."""
        for banks in ("sha256", ALL):
            with self.subTest(banks=banks):
                tpm = self.tpm(banks=banks, certificates=False)
                nonce = os.urandom(32)
                self.ok(tpm, "proof", nonce.hex(), self.folder)
                self.check(nonce, banks)
                self.assertEqual(tpm.handles(), 0)

    def check(self, nonce, banks):
        data = self.content("capability")
        public = quote.Public(self.content("ak.tpmt"))
        message = self.content("quote.msg")
        quote.check_signature(public.key, self.content("quote.sig"), message)
        attest = quote.Attest(message, quote.ST_SESSION_AUDIT)
        self.assertEqual(attest.signer, public.qualified_name)
        bound = hashlib.sha256(b"bootgate-banks-v1" + nonce
                               + hashlib.sha256(data).digest()).digest()
        self.assertEqual(attest.extra, bound)
        # TPM2_GetCapability(PCRS, 0, 1) answered with moreData = NO, and nothing else
        code = struct.pack(">I", 0x17A)
        command = hashlib.sha256(code + struct.pack(">III", 5, 0, 1)).digest()
        answer = hashlib.sha256(bytes(4) + code + b"\0" + data).digest()
        self.assertEqual(attest.session_digest,
                         hashlib.sha256(bytes(32) + command + answer).digest())
        r = quote.Reader(data)
        self.assertEqual(r.number(4), 5)
        active = [a for a, pcrs in quote.selection_of(r) if len(pcrs) == 24]
        self.assertEqual(active, [evlog.ALGORITHMS[b] for b in banks.split(",")])

    def test_changed_on_the_way(self):
        """An interposer that shows another list cannot have it signed."""
        tpm = self.tpm(banks="sha256", certificates=False)
        # bitmap of SHA-1 (inactive) in the answer that has the audit session
        proxy = self.proxy(tpm, "GetCapability/02000000:patch=26:ffffff")
        nonce = os.urandom(32)
        done = self.run_driver(proxy, "proof", nonce.hex(), self.folder)
        if done.code == 0:
            with self.assertRaises(AssertionError):
                self.check(nonce, "sha1,sha256")

    def test_endorsement_authorisation(self):
        tpm = self.tpm(certificates=False)
        proxy = self.proxy(tpm, "GetSessionAuditDigest:rc=0x9a2")
        self.refused("tpm.endorsement-auth", proxy, "proof", "00" * 32, self.folder)
        self.assertEqual(tpm.handles(), 0)


for_each_driver(globals())

if __name__ == "__main__":
    main()
