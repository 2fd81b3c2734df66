#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A TPM that is busy, breaks, or whose answers get lost: bounded retries, a
name for each failure, and every extend exactly once."""

import os
import signal
import time

from swtpm import Case, for_each_driver, main  # first: sets sys.path
import evlog

AGAIN = {"RETRY": 0x922, "YIELDED": 0x908, "TESTING": 0x90A, "NV_RATE": 0x920,
         "NV_UNAVAILABLE": 0x923}
BANKS = ("sha1", "sha256", "sha384", "sha512")


class Base(Case):
    def setUp(self):
        super().setUp()
        self.vtpm = self.tpm(certificates=False)

    def check_extended(self, *texts, pcr=8):
        """The register holds exactly these, in each bank."""
        for bank in BANKS:
            value = bytes(evlog.LENGTHS[bank])
            for text in texts:
                value = evlog.digest(bank, value + evlog.digest(bank, text.encode()))
            self.assertEqual(self.vtpm.value(bank, pcr), value, bank)


class Again(Base):
    def test_each_warning_on_each_command(self):
        for name, code in AGAIN.items():
            for command in ("GetCapability", "CreatePrimary", "PCR_Read", "Quote",
                            "FlushContext"):
                with self.subTest(code=name, command=command):
                    proxy = self.proxy(self.vtpm, f"{command}#1+3:rc={code:#x}")
                    self.ok(proxy, "quote", "sha256:0,8", "00ff", self.folder)
                    self.assertEqual(len(proxy.messages("!")), 3)
                    proxy.close()
        self.assertEqual(self.vtpm.handles(), 0)

    def test_extend_is_sent_again_after_a_warning(self):
        texts = []
        for name, code in AGAIN.items():
            with self.subTest(code=name):
                proxy = self.proxy(self.vtpm, f"PCR_Extend#1+4:rc={code:#x}")
                self.ok(proxy, "extend", "8", name)
                self.assertEqual(len(proxy.messages(">", "PCR_Extend")), 5)
                texts.append(name)
                self.check_extended(*texts)

    def test_pauses_grow_and_end(self):
        proxy = self.proxy(self.vtpm, "PCR_Extend#1+*:rc=0x922", retry=1500)
        start = time.monotonic()
        done = self.refused("tpm.retry", proxy, "extend", "8", "never")
        self.assertLess(time.monotonic() - start, 4)
        self.assertGreater(time.monotonic() - start, 0.5)
        # 5, 10, 20, ... ms: neither a flood nor a single try
        tries = len(proxy.messages(">", "PCR_Extend"))
        self.assertTrue(6 <= tries <= 10, tries)
        self.assertEqual(done.code, 1)
        self.check_extended()

    def test_long_self_test(self):
        proxy = self.proxy(self.vtpm, "CreatePrimary#1+8:rc=0x90a")
        self.ok(proxy, "ak")

    def test_other_warnings_are_final(self):
        proxy = self.proxy(self.vtpm, "CreatePrimary:rc=0x902")
        done = self.refused("tpm.response", proxy, "ak")
        self.assertEqual(len(proxy.messages(">", "CreatePrimary")), 1)
        self.assertEqual(done.one("rc"), "0x902")


class Named(Base):
    def test_failure_mode(self):
        for command in ("CreatePrimary", "PCR_Read", "Quote"):
            with self.subTest(command=command):
                proxy = self.proxy(self.vtpm, f"{command}#1+*:rc=0x101")
                done = self.refused("tpm.failure-mode", proxy, "quote", "sha256:0", "00",
                                    self.folder)
                self.assertEqual(done.code, 1)
                self.assertEqual(done.one("rc"), "0x101")
        proxy = self.proxy(self.vtpm, "PCR_Extend:rc=0x101")
        self.refused("tpm.failure-mode", proxy, "extend", "8", "x")

    def test_lockout(self):
        proxy = self.proxy(self.vtpm, "Quote:rc=0x921")
        self.refused("tpm.lockout", proxy, "quote", "sha256:0", "00", self.folder)

    def test_failure_mode_at_start(self):
        proxy = self.proxy(self.vtpm, "*#1+*:rc=0x101")
        self.refused("tpm.failure-mode", proxy, "facts")

    def test_not_a_tpm_2(self):
        proxy = self.proxy(self.vtpm, "*#1+*:answer=00c40000000a0000001e")
        self.refused("tpm.absent", proxy, "facts")

    def test_nobody_there(self):
        self.refused("tpm.absent", "swtpm:host=127.0.0.1,port=1", "facts")
        self.refused("tpm.absent", "device", "facts")

    def test_resource_manager_codes(self):
        """The kernel puts its own layer in front of some codes."""
        proxy = self.proxy(self.vtpm, "CreatePrimary:rc=0xb0143")
        done = self.refused("tpm.response", proxy, "ak")
        self.assertEqual(done.one("rc"), "0xb0143")

    def test_nothing_is_left(self):
        """A refusal at the n-th command of everything, for each n."""
        for n in range(1, 40):
            proxy = self.proxy(self.vtpm, f"*#{n}:rc=0x12f")
            done = self.run_driver(proxy, "proof", "00" * 32, self.folder)
            hit = proxy.messages("!")
            proxy.close()
            self.assertLessEqual(self.vtpm.handles(),
                                 # a flush that was refused cannot have worked
                                 int(any(name == "FlushContext" for name, _ in hit)))
            if not hit:
                self.assertEqual(done.code, 0)
                break
        else:
            self.fail("no end")
        self.assertGreater(n, 8)


class Lost(Base):
    def test_answer_lost_after_it_ran(self):
        proxy = self.proxy(self.vtpm, "PCR_Extend#2:lost")
        done = self.ok(proxy, "extend", "8", "one", "two", "three")
        self.assertEqual(len(proxy.messages(">", "PCR_Extend")), 3)
        self.assertIn("it ran", done.err)
        self.check_extended("one", "two", "three")

    def test_command_lost_before_it_ran(self):
        proxy = self.proxy(self.vtpm, "PCR_Extend#2:gone")
        done = self.ok(proxy, "extend", "8", "one", "two", "three")
        self.assertEqual(len(proxy.messages(">", "PCR_Extend")), 4)
        self.assertIn("it did not run", done.err)
        self.check_extended("one", "two", "three")

    def test_first_extend_of_a_process(self):
        self.ok(self.vtpm, "extend", "8", "before")
        for action in ("lost", "gone"):
            proxy = self.proxy(self.vtpm, f"PCR_Extend:{action}")
            self.ok(proxy, "extend", "8", action)
        self.check_extended("before", "lost", "gone")

    def test_no_answer_at_all(self):
        proxy = self.proxy(self.vtpm, "PCR_Extend:silent", answer=300)
        self.ok(proxy, "extend", "8", "one", "two")
        self.check_extended("one", "two")

    def test_short_answers(self):
        texts = []
        for rule in ("short=4", "short=10", "short=18", "cut=10", "cut=12", "short=0",
                     "patch=2:0000ffff", "patch=2:00000003", "patch=0:1234"):
            with self.subTest(rule=rule):
                proxy = self.proxy(self.vtpm, f"PCR_Extend:{rule}", answer=300)
                done = self.ok(proxy, "extend", "8", rule, "next")
                self.assertIn("it ran", done.err)
                texts += [rule, "next"]
                self.check_extended(*texts)
                # ESYS started anew must not leave anything either
                self.assertEqual(self.vtpm.handles(), 0)

    def test_outcome_unknown(self):
        """Neither old nor new value: somebody else extended in between."""
        proxy = self.proxy(self.vtpm, "PCR_Extend:lost", "PCR_Read#5+*:patch=30:aa")
        done = self.refused("tpm.extend", proxy, "extend", "8", "two")
        self.assertEqual(len(proxy.messages(">", "PCR_Extend")), 1)
        self.assertEqual(done.code, 1)

    def test_one_bank_differs(self):
        """A TPM that extended some banks and not others."""
        proxy = self.proxy(self.vtpm, "PCR_Extend:lost", "PCR_Read/00000001000b#2:patch=30:aa")
        self.refused("tpm.extend", proxy, "extend", "8", "two")

    def test_register_cannot_be_read_then(self):
        proxy = self.proxy(self.vtpm, "PCR_Extend:lost", "PCR_Read#5+*:rc=0x101")
        self.refused("tpm.extend", proxy, "extend", "8", "one")
        self.assertEqual(len(proxy.messages(">", "PCR_Extend")), 1)

    def test_never_for_ever(self):
        proxy = self.proxy(self.vtpm, "PCR_Extend#1+*:gone")
        self.refused("tpm.extend", proxy, "extend", "8", "one")
        self.assertLessEqual(len(proxy.messages(">", "PCR_Extend")), 3)
        self.check_extended()

    def test_refused_extend(self):
        proxy = self.proxy(self.vtpm, "PCR_Extend:rc=0x12f")
        self.refused("tpm.extend", proxy, "extend", "8", "one")
        self.assertEqual(len(proxy.messages(">", "PCR_Extend")), 1)

    def test_reads_are_asked_again_once(self):
        for command in ("GetCapability", "PCR_Read"):
            with self.subTest(command=command):
                proxy = self.proxy(self.vtpm, f"{command}:lost")
                self.ok(proxy, "quote", "sha256:0", "00", self.folder)
                proxy = self.proxy(self.vtpm, f"{command}#1+*:lost")
                self.refused("tpm.io", proxy, "quote", "sha256:0", "00", self.folder)

    def test_others_are_not(self):
        for command in ("CreatePrimary", "Quote"):
            with self.subTest(command=command):
                proxy = self.proxy(self.vtpm, f"{command}:lost")
                self.refused("tpm.io", proxy, "quote", "sha256:0", "00", self.folder)
                self.assertEqual(len(proxy.messages(">", command)), 1)
                # the next start clears what the lost command made
                self.ok(self.vtpm, "facts")
                self.assertEqual(self.vtpm.handles(), 0)

    def test_log_and_registers_agree(self):
        """A whole measurement with losses all over it."""
        proxy = self.proxy(self.vtpm, "PCR_Extend#2:lost", "PCR_Extend#5:gone",
                           "PCR_Extend#9+2:rc=0x922", "PCR_Extend#14:short=7",
                           "PCR_Extend#20:cut=12", "PCR_Extend#28:lost")
        self.ok(proxy, "measure", self.path("log"))
        self.assertEqual(len(proxy.messages("!")), 7)
        for bank, values in evlog.parse(self.content("log")).replay().items():
            for pcr in (8, 14):
                self.assertEqual(self.vtpm.value(bank, pcr), values[pcr])

    def test_keys_survive(self):
        """ESYS started anew forgets its handles: the AK is made again."""
        proxy = self.proxy(self.vtpm, "PCR_Extend:cut=12")
        self.ok(proxy, "survive", "sha256:8")
        self.assertEqual(len(proxy.messages(">", "CreatePrimary")), 2)
        self.assertEqual(self.vtpm.handles(), 0)

    def test_slow(self):
        proxy = self.proxy(self.vtpm, "PCR_Extend:delay=1.5", answer=5000)
        done = self.ok(proxy, "extend", "8", "one")
        self.assertGreaterEqual(int(done.one("tpm_ms")), 1500)
        self.check_extended("one")


class Killed(Base):
    def test_kill_leaves_nothing(self):
        """Three slots in the TPM and nobody who cleans: only the next start does."""
        rounds = 200 if self.driver == "tpm-driver" else 20
        for _ in range(rounds):
            child = self.start(self.vtpm, "hold", 60000)
            self.assertEqual(child.stdout.readline(), "held\n")
            child.send_signal(signal.SIGKILL)
            child.communicate()
        self.assertEqual(self.vtpm.handles(), 1)
        self.ok(self.vtpm, "facts")
        self.assertEqual(self.vtpm.handles(), 0)

    def test_kill_at_any_time(self):
        """Killed at a random moment of proof and quote."""
        rounds = 60 if self.driver == "tpm-driver" else 10
        for i in range(rounds):
            child = self.start(self.vtpm, *(["proof", "00" * 32, self.folder] if i % 2 else
                                            ["quote", "sha256:all", "00", self.folder, "9"]))
            time.sleep(int.from_bytes(os.urandom(1), "big") / 256 * 0.04)
            child.send_signal(signal.SIGKILL)
            child.communicate()
        self.ok(self.vtpm, "proof", "00" * 32, self.folder)
        self.assertEqual(self.vtpm.handles(), 0)

    def test_foreign_objects_at_start(self):
        """What firmware left: three objects, sessions."""
        for _ in range(3):
            self.vtpm.tool("tpm2_createprimary", "-C", "o", "-c", "k.ctx")
        self.vtpm.tool("tpm2_startauthsession", "-S", "s.ctx")
        self.assertGreaterEqual(self.vtpm.handles(), 3)
        self.ok(self.vtpm, "ak")
        self.assertEqual(self.vtpm.handles(), 0)

    def test_no_dictionary_attack_counter(self):
        self.vtpm.tool("tpm2_dictionarylockout", "-s", "-n", "3", "-t", "100", "-l", "100")
        for _ in range(6):
            child = self.start(self.vtpm, "hold", 60000)
            child.stdout.readline()
            child.kill()
            child.communicate()
            self.vtpm.restart()
        text = self.vtpm.tool("tpm2_getcap", "properties-variable")
        counter = text.split("TPM2_PT_LOCKOUT_COUNTER:")[1].split()[0]
        self.assertEqual(int(counter, 0), 0)


for_each_driver(globals())

if __name__ == "__main__":
    main()
