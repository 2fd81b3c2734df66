#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What every command tells people: its help, which file it could not read or
write and why, and what is wrong with settings. No server, no TPM."""

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "tests", "tools"))

from bzimage import bzimage  # noqa: E402

BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
CTL = os.path.join(BUILD, "test", "bootgatectl")
SERVER = os.path.join(BUILD, "test", "bootgated")
GATE = os.path.join(BUILD, "test", "bootgate")
MKIMAGE = os.path.join(BUILD, "bin", "bootgate-mkimage")
NOBODY = 65534
MISSING = "No such file or directory"


def run(*argv, **more):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=60, **more)


def write(path, content=b""):
    with open(path, "wb") as f:
        f.write(content)
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def no_long_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="commands-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def said(self, code, *argv, words=(), **more):
        """Runs bootgatectl; what it wrote on stderr, which has all of `words`."""
        done = run(CTL, *argv, **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Sanitizer", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def init(self, *options, **more):
        return run(SERVER, "init", self.path("server"), *(options or ("--name", "localhost")), **more)


class Help(Case):
    def commands(self):
        """(noun, verb) as the help lists them; explain has no verb."""
        found = re.findall(r"^  (\S+) +(\S+) ", run(CTL, "--help").stdout, re.M)
        self.assertGreater(len(found), 30)
        return [(n, v) if v != "NODE" else (n,) for n, v in found]

    def test_every_verb(self):
        for command in self.commands():
            for argv in ([*command, "--help"], [*command, "x", "-h"]):
                done = run(CTL, *argv)
                self.assertEqual(done.returncode, 0, argv)
                self.assertIn("usage: bootgatectl " + " ".join(command) + " ", done.stdout)
                self.assertEqual(done.stderr, "", argv)

    def test_wrong_usage(self):
        for command in self.commands():
            text = self.said(2, *command, "--no-such-option", words=["there is no option --no-such-option"])
            self.assertIn("usage: bootgatectl " + " ".join(command) + " ", text)

    def test_unknown_command(self):
        self.said(2, "nodes", "list", words=["no command nodes list", "usage: "])
        self.said(2, "node", "lists", words=["no command node lists", "  node     list"])
        self.said(2, words=["usage: "])

    def test_nouns_and_programs(self):
        for argv in ([CTL, "--help"], [CTL, "-h"], [CTL, "node", "--help"], [CTL, "ref", "-h"],
                     [SERVER, "--help"], [SERVER, "-h"], [SERVER, "init", "--help"], [SERVER, "run", "-h"],
                     [GATE, "--help"], [GATE, "-h"], [GATE, "quote", "--help"], [GATE, "facts", "-h"],
                     [MKIMAGE, "--help"], [MKIMAGE, "-h"]):
            done = run(*argv)
            self.assertEqual(done.returncode, 0, argv)
            self.assertIn("usage: ", done.stdout)
            self.assertEqual(done.stderr, "", argv)

    def test_version(self):
        for program in (CTL, SERVER, GATE, MKIMAGE):
            done = run(program, "--version")
            self.assertEqual(done.returncode, 0, program)
            self.assertRegex(done.stdout, r"^bootgate(ctl|d)? \d+\.\d+\.\d+")


class Files(Case):
    """Whatever cannot be read or written is named, with what the system says, and what to do."""

    def refused(self, path, error, *argv):
        self.said(1, *argv, words=[f"{path}: file: {error}", "Check its path"])

    def test_read(self):
        none, empty = self.path("none"), write(self.path("empty"))
        keys = self.path("keys")
        os.mkdir(keys)
        for argv in (["image", "verify", empty, "--keys", none], ["policy", "set", none],
                     ["image", "add", none], ["ek", "load", none], ["ek", "show", none],
                     ["ek", "ca-list", none], ["ek", "ca-check", none], ["ek", "ca-add", none, keys, "--from", "x"],
                     ["ek", "ca-add", empty, none, "--from", "x"], ["log", "show", none], ["log", "replay", none],
                     ["verdict", "show", none], ["manifest", "show", none],
                     ["quote", "verify", "--ak", empty, "--quote", none, "--signature", empty],
                     ["cvm", "verify", "--type", "snp", "--evidence", none]):
            self.refused(none, MISSING, *argv)
        self.refused(self.folder, "Is a directory", "log", "show", self.folder)
        self.refused(self.folder, "Is a directory", "policy", "set", self.folder)

    def test_folder_of_certificates(self):
        empty, none = write(self.path("empty")), self.path("none")
        self.refused(none, MISSING, "cvm", "verify", "--type", "snp", "--evidence", empty, "--certs", none)


class SignCase(Case):
    def setUp(self):
        super().setUp()
        done = self.init()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.key = self.path("server-release-key/release-1.key")
        self.kernel, self.initrd = write(self.path("vmlinuz"), bzimage()), write(self.path("initrd"), b"initrd")
        self.out = self.path("host.manifest")

    def sign(self, *more, key=None, kernel=None, initrd=None, out=None):
        return ["image", "sign", "--key", key or self.key, "--line", "host", "--version", "1", "--kernel",
                kernel or self.kernel, "--initrd", initrd or self.initrd, "--cmdline", "x", *more,
                out or self.out]


class Sign(SignCase):
    def test_tells_what_was_signed(self):
        done = run(CTL, *self.sign("--mirror", self.path("mirror")))
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("host 1, purpose host, security version 0, signed with 1 key", "vmlinuz, 1024 bytes, sha256 ",
                     "initrd, 6 bytes, sha256 ", self.path("mirror/sha256")):
            self.assertIn(word, done.stdout)
        keys = self.path("server/site/release-keys")
        self.said(0, "image", "verify", self.out, "--keys", keys, "--kernel", self.kernel)
        self.said(3, "image", "verify", self.out, "--keys", keys, "--kernel", self.initrd,
                  words=[f"{self.initrd}: not the kernel", "image.size"])
        for name in ("kernel", "initrd"):
            self.said(1, "image", "verify", self.out, "--keys", keys, "--" + name, self.path("none"),
                      words=[self.path("none") + ": file: " + MISSING])

    def test_files(self):
        none = self.path("none")
        for argv in (self.sign(key=none), self.sign(kernel=none), self.sign(initrd=none)):
            self.said(1, *argv, words=[f"{none}: file: {MISSING}"])
        self.said(1, *self.sign(out=none + "/m"), words=[f"{none}/m: file: {MISSING}"])
        self.said(1, *self.sign("--mirror", self.kernel),
                  words=[f"{self.kernel}/sha256: file: Not a directory"])
        self.assertFalse(os.path.exists(self.out))

    def test_what_is_no_kernel(self):
        for at, byte in ((0x1FE, 0), (0x202, 0x68), (0x206, 0x0B), (0x207, 0x01), (0x211, 0), (0x236, 0x3E)):
            head = bytearray(bzimage())
            head[at] = byte
            other = write(self.path("other"), head)
            self.said(1, *self.sign(kernel=other), words=[f"{other}: not signed", "image.kernel"])
        for content in (b"", bzimage()[:0x237], b"\x7fELF" + bytes(0x400)):
            self.said(1, *self.sign(kernel=write(self.path("other"), content)), words=["image.kernel"])
        self.assertFalse(os.path.exists(self.out))

    def test_options_are_named(self):
        self.said(2, *self.sign("--security-version", "-1"), words=["--security-version -1: not a number"])
        self.said(2, *self.sign("--purpose", "guest"), words=["--purpose guest: there is host, maintenance, cvm"])
        self.said(2, *self.sign("--parameter", "a:b"), words=["--parameter a:b: not NAME:TYPE:BOUND"])
        self.said(2, "image", "sign", "--key", self.key, "--kernel", self.kernel, "--initrd", self.initrd,
                  self.out, words=["--line is missing"])


class Signers(SignCase):
    """Release keys at several places: one signs, the next one adds."""

    def setUp(self):
        super().setUp()
        self.pinned = self.path("server/site/release-keys")
        self.second = self.new_key("release-2")
        shutil.move(self.path("release-2.pem"), self.pinned)

    def new_key(self, name):
        path = self.path(name + ".key")
        self.said(0, "key", "new", "--type", "release", path)
        return path

    def verify(self, code, *more, words=()):
        done = run(CTL, "image", "verify", self.out, "--keys", self.pinned, *more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)

    def add(self, code, key, *more, words=()):
        self.said(code, "image", "add-signature", "--key", key, self.out, *more, words=words)

    def test_one_after_the_other(self):
        self.said(0, *self.sign())
        self.verify(0, words=["signed    release-1.pem", "not       release-2.pem",
                              "signed by 1 of 2 pinned keys, 1 needed"])
        self.verify(3, "--threshold", "2", words=["not       release-2.pem", "manifest.threshold"])
        self.add(0, self.second, "--keys", self.pinned, "--kernel", self.kernel, "--initrd", self.initrd)
        self.verify(0, "--threshold", "2", words=["signed    release-1.pem", "signed    release-2.pem",
                                                  "signed by 2 of 2 pinned keys, 2 needed"])

    def test_refused(self):
        copy = shutil.copy(self.key, self.path("copy.key"))
        self.said(3, *self.sign("--key", copy), words=[f"{self.key} and {copy} are the same key", "cose.key-twice"])
        self.assertFalse(os.path.exists(self.out))
        self.said(0, *self.sign())
        signed = read(self.out)
        self.add(3, copy, words=["cose.key-twice"])
        self.add(1, self.path("none"), words=[MISSING])
        self.add(3, self.second, "--kernel", self.initrd, words=["not the kernel", "image.size"])
        self.said(3, "image", "add-signature", "--key", self.second, self.kernel, words=["cose.structure"])
        # Another's signature that does not hold: nobody signs beside it.
        broken = write(self.out, signed[:-1] + bytes([signed[-1] ^ 1]))
        self.add(3, self.second, "--keys", self.pinned, words=["under the id of release-1.pem", "cose.signature"])
        self.verify(3, words=["under the id of release-1.pem", "cose.signature"])
        self.assertEqual(read(broken), signed[:-1] + bytes([signed[-1] ^ 1]))


class Keys(Case):
    def new(self, code, kind, name, words=()):
        self.said(code, "key", "new", "--type", kind, self.path(name), words=words)
        return self.path(name)

    def shown(self, path):
        done = run(CTL, "key", "show", path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_new(self):
        for kind in ("verdict", "release"):
            key = self.new(0, kind, kind + ".key")
            self.assertEqual(os.stat(key).st_mode & 0o777, 0o600)
            public = self.path(kind + ".pem")
            self.assertEqual(run("openssl", "pkey", "-in", key, "-pubout").stdout.encode(), read(public))
        token = self.new(0, "token", "token.key")
        self.assertEqual((os.stat(token).st_size, os.stat(token).st_mode & 0o777), (32, 0o600))
        self.assertNotEqual(read(token), read(self.new(0, "token", "other.key")))

    def test_never_over_another(self):
        for kind in ("verdict", "token"):
            key = self.new(0, kind, kind + ".key")
            before = read(key)
            self.new(1, kind, kind + ".key", words=[f"{key}: file: File exists"])
            self.assertEqual(read(key), before)
        # Not half of a pair either.
        write(self.path("half.pem"))
        self.new(1, "release", "half.key", words=[self.path("half.pem") + ": file: File exists"])
        self.assertFalse(os.path.exists(self.path("half.key")))
        self.new(2, "release", "half.pem", words=["NAME.key"])
        self.new(2, "tls", "tls.key", words=["--type tls: there is verdict, release, token"])

    def test_show(self):
        key = self.new(0, "release", "release.key")
        der = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], check=True,
                             capture_output=True).stdout
        sha256 = hashlib.sha256(der).hexdigest()
        write(self.path("other"), b"no key")
        want = [{"id": sha256[:16], "sha256": sha256, "kind": kind, "file": self.path("release." + end)}
                for end, kind in (("key", "private"), ("pem", "public"))]
        self.assertEqual(self.shown(self.folder), {"keys": want, "other_files": 1})
        self.assertEqual(self.shown(key), {"keys": want[:1], "other_files": 0})
        text = run(CTL, "key", "show", self.folder).stdout
        for word in (f"{sha256[:16]}  private  {key}", "sha256 " + sha256, "1 other files"):
            self.assertIn(word, text)
        self.said(1, "key", "show", self.path("other"), words=["site.keys"])
        self.said(1, "key", "show", self.path("none"), words=[MISSING])


class Site(Case):
    """bootgate-mkimage calls this check: tests/boot/reproducible has the other half."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.init().returncode, 0)
        self.site = self.path("server/site")

    def add(self, line):
        with open(self.site + "/boot.conf", "a", encoding="ascii") as f:
            f.write(line + "\n")

    def refused(self, reason, *words):
        self.said(1, "site", "check", self.site, words=[reason, *words])

    def test_good(self):
        self.said(0, "site", "check", self.site)
        os.rmdir(self.site + "/hooks")
        self.said(0, "site", "check", self.site)

    def test_hook(self):
        write(self.site + "/hooks/early")
        self.refused("site.hooks", "hooks/early")
        os.rename(self.site + "/hooks/early", self.site + "/hooks/\033[2J")
        self.refused("site.hooks", "hooks/\\x1b[2J: site hooks")

    def test_private_key(self):
        shutil.copy(self.path("server/keys/verdict.key"), self.site + "/notes")
        self.refused("site.secret", "/notes: a private key")
        os.rename(self.site + "/notes", self.site + "/\033[2J")
        self.refused("site.secret", "/\\x1b[2J: a private key")

    def test_private_key_behind_zeros(self):
        write(self.site + "/notes", b"\0-----BEGIN PRIVATE KEY-----")
        self.refused("site.secret", "/notes: a private key")

    def test_names(self):
        shutil.copy(self.site + "/release-keys/release-1.pem", self.site + "/release-keys/a key.pem")
        self.refused("site.keys", "a key.pem: only public keys")
        os.rename(self.site + "/release-keys/a key.pem", self.site + "/release-keys/\033[2J.pem")
        self.refused("site.keys", "\\x1b[2J.pem: only public keys")

    def test_no_key(self):
        os.unlink(self.site + "/release-keys/release-1.pem")
        self.refused("site.keys", "release-keys: no key in it")

    def test_no_file(self):
        for name in ("boot.conf", "server-ca.pem"):
            os.rename(f"{self.site}/{name}", self.path("away"))
            self.refused(f"{self.site}/{name}: file: {MISSING}")
            os.rename(self.path("away"), f"{self.site}/{name}")

    def test_lines(self):
        with open(self.site + "/boot.conf", encoding="ascii") as f:
            number = len(f.readlines()) + 1
        for line, reason, where in (("console.device = hvc0", "conf.value", "console.device"),
                                    ("listen", "conf.syntax", None), ("name = 1", "conf.unknown-key", "name")):
            shutil.copy(self.site + "/boot.conf", self.path("boot.conf"))
            self.add(line)
            self.refused(reason, f"boot.conf: line {number}: " + (f"{where}: " if where else ""))
            shutil.copy(self.path("boot.conf"), self.site + "/boot.conf")


class Socket(Case):
    def test_not_there(self):
        self.said(75, "node", "list", "--socket", self.path("none"), words=[self.path("none"), MISSING, "net.connect"])

    def test_nobody_listens(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(self.path("s"))
        self.said(75, "node", "list", "--socket", self.path("s"), words=["Connection refused", "net.connect"])

    @unittest.skipUnless(os.geteuid() == 0, "needs to be root to become somebody else")
    def test_not_for_this_account(self):
        os.chmod(self.folder, 0o755)
        program = shutil.copy(os.path.join(BUILD, "bin", "bootgatectl"), self.path("bootgatectl"))
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(self.path("s"))
            os.chmod(self.path("s"), 0o660)
            s.listen(1)
            done = run(program, "node", "list", "--socket", self.path("s"), user=NOBODY, group=NOBODY,
                       extra_groups=[])
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in (self.path("s"), "Permission denied", "server.denied", "admin.gid"):
            self.assertIn(word, done.stderr)

    def test_states_are_named(self):
        self.said(2, "node", "list", "--state", "approved", "--socket", self.path("none"),
                  words=["--state approved: there is pending, enrolled, held, conflict, revoked, retired"])
        self.said(2, "ref", "list", "--state", "approved", "--socket", self.path("none"),
                  words=["--state approved: there is staged, active, retiring, revoked"])


class Init(Case):
    def refused(self, *options, words=(), code=1, short_files=False):
        before = sorted(os.listdir(self.folder))
        done = self.init(*options, preexec_fn=no_long_files if short_files else None)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before, "it left something behind")
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def test_options(self):
        for wrong in ("8443", "localhost:8443", "1.2.3.4:", "1.2.3.4:70000", "1.2.3.4:0", "[::1:8443", "::1:8443"):
            self.refused("--name", "localhost", "--listen", wrong,
                         words=[f"--listen {wrong}: listen.tls is ADDRESS:PORT", "conf.value"])
        self.refused("--name", "localhost", "--port", "https", words=["--port https", "server.url"])
        self.refused("--name", "a b", words=["--name a b", "server.url"])
        self.refused("--name", "localhost", "--name", "a b", words=["--name a b"])
        self.refused("--name", "localhost", "--mirror", "ftp://x", words=["--mirror ftp://x", "mirror.url"])

    def test_sentence_and_remedy_once(self):
        text = self.refused("--name", "localhost", "--listen", "8443")
        self.assertEqual(len(text.splitlines()), 2, text)
        self.assertIn("conf.value: The value is not allowed for this key. See ", text)

    def test_fails_half_way(self):
        """No file may be longer than a key: certificates do not fit."""
        for there in (False, True):
            if there:
                os.mkdir(self.path("server"))
            text = self.refused("--name", "localhost", short_files=True)
            self.assertIn("tls/ca.pem: File too large", text)
        self.assertEqual(os.listdir(self.path("server")), [])

    def test_no_place_for_the_release_key(self):
        self.refused("--name", "localhost", "--release-folder", self.path("none/x"),
                     words=[self.path("none/x") + ": " + MISSING])

    def test_release_folder_is_not_empty(self):
        os.mkdir(self.path("release"))
        write(self.path("release/mine"))
        self.refused("--name", "localhost", "--release-folder", self.path("release"),
                     words=["release is not empty", "store.exists"])
        self.assertEqual(os.listdir(self.path("release")), ["mine"])

    def test_run_names_line_and_key(self):
        self.assertEqual(self.init().returncode, 0)
        conf = self.path("server/server.conf")
        with open(conf, encoding="ascii") as f:
            lines = f.readlines()
        at = [i for i, line in enumerate(lines) if line.startswith("listen.tls")][0]
        for line, reason, where in (("listen.tls = 8443", "conf.value", f"line {at + 1}: listen.tls"),
                                    ("listen = 1.2.3.4:8443", "conf.unknown-key", f"line {at + 1}: listen"),
                                    ("listen.tls 1.2.3.4:8443", "conf.syntax", f"line {at + 1}"),
                                    ("listen.plain = 1.2.3.4:8443", "conf.value", f"line {at + 1}: listen.plain"),
                                    ("", "conf.missing-key", "listen.tls")):
            with open(conf, "w", encoding="ascii") as f:
                f.writelines([*lines[:at], line + "\n", *lines[at + 1:]])
            done = run(SERVER, "run", self.path("server"))
            self.assertEqual(done.returncode, 1)
            said = done.stderr.splitlines()
            self.assertEqual(said[0], f"bootgated: {reason}: {conf}: {where}")
            self.assertRegex(said[1], rf"^bootgated: {re.escape(reason)}: .*\. .*\.$")
            self.assertEqual(len(said), 2, done.stderr)


if __name__ == "__main__":
    unittest.main()
