#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Keys of the server: what docs/keys.md says of them, done step by step."""

import os
import shutil
import unittest

import kit


class ReleaseKeysInSight(kit.PathCase):
    """Whoever has the release key and the server can boot anything: the server
    says so while it can see one, wherever that is."""

    def setUp(self):
        super().setUp()
        self.key = os.path.join(self.control.release, "release-1.key")
        self.control.start()

    def seen(self):
        status = self.control.json("server", "status")
        return status["release_keys"], status.get("release_key_at")

    def warnings(self):
        return self.control.text().count("private release keys can be seen")

    def put(self, *names):
        path = os.path.join(*names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(self.key, path)
        return path

    def test_wherever_it_is(self):
        """By content: the name says nothing."""
        init_put_it = self.control.release.removesuffix(".away")
        for path in (os.path.join(init_put_it, "release-1.key"), os.path.join(init_put_it, "deeper", "x"),
                     *(os.path.join(self.control.dir, *n) for n in (
                         ("kept",), ("keys", "backup", "r.pem"), ("tls", "r"), ("site", "release-keys", "r.pem")))):
            with self.subTest(path):
                self.put(path)
                self.wait_for(lambda: self.seen() == (1, path))
                # It is said again and again, not only at the start.
                so_far = self.warnings()
                self.wait_for(lambda: self.warnings() > so_far + 1)
                os.unlink(path)
                self.wait_for(lambda: self.seen() == (0, None))
        self.assertNotIn("warning:", self.control.ctl("server", "status"))

    def test_at_the_start_and_in_words(self):
        os.rename(self.control.release, self.control.release.removesuffix(".away"))
        path = os.path.join(self.control.release.removesuffix(".away"), "release-1.key")
        self.control.stop()
        before = len(self.control.text())
        self.control.start()
        said = self.control.text()[before:]
        self.assertIn("private release keys can be seen (1): " + path, said[:said.index("ready on")])
        self.wait_for(lambda: self.seen() == (1, path))
        self.assertIn(f"warning: 1 private release key can be seen, {path}", self.control.ctl("server", "status"))

    def test_with_a_password(self):
        """Where init put release keys, also one that cannot be read."""
        path = os.path.join(self.control.release.removesuffix(".away"), "locked.pem")
        os.mkdir(os.path.dirname(path))
        kit.subprocess.run(["openssl", "pkey", "-in", self.key, "-aes256", "-passout", "pass:x", "-out", path],
                           check=True)
        self.wait_for(lambda: self.seen() == (1, path))

    def test_silence(self):
        """Its own keys and the public halves are no release keys."""
        other = os.path.join(self.control.dir, "keys", "other.key")
        kit.subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                            "-out", other], check=True, stderr=kit.subprocess.DEVNULL)
        public = self.key.replace(".key", ".pem")
        shutil.copy(public, os.path.join(self.control.dir, "keys"))
        init_put_it = self.control.release.removesuffix(".away")
        os.mkdir(init_put_it)
        shutil.copy(public, init_put_it)
        # What comes behind these in the supervisor's work is seen: so these were not.
        path = self.put(self.control.dir, "zz")
        self.wait_for(lambda: self.seen() == (1, path))


class Rotation(kit.PathCase):
    """Overlap: gates pin a set, so that none is ever without a key that counts."""

    def setUp(self):
        super().setUp()
        self.node = self.ready()

    def file(self, *names):
        return os.path.join(self.control.dir, *names)

    def restart(self):
        self.control.stop()
        self.control.start()

    def image_of(self, name):
        """A gate image of today's site folder."""
        return shutil.copytree(self.control.site, os.path.join(self.folder, "gate-" + name))

    def boot(self, site):
        self.node.site = site
        return self.node.boot()

    def waits(self, site, reason):
        self.node.site = site
        self.node.power_on()
        child = self.node.start()
        said = []
        for line in child.stdout:
            said.append(line)
            if line.startswith("bootgate: waiting "):
                break
        self.node.stop(child)
        self.assertEqual(said[-1].split()[2], reason, "".join(said))

    def test_verdict_key(self):
        pins = os.path.join(self.control.site, "verdict-keys")
        old = self.image_of("old")
        self.control.ctl_offline("key", "new", "--type", "verdict", self.file("keys", "verdict-2.key"))
        shutil.move(self.file("keys", "verdict-2.pem"), pins)
        both = self.image_of("both")
        os.unlink(os.path.join(pins, "verdict-1.pem"))
        new = self.image_of("new")

        self.assert_booted(self.boot(old))
        self.assert_booted(self.boot(both))
        # The old pin dropped before the server has switched.
        self.assert_refused(self.boot(new), "cose.key-unknown")
        os.rename(self.file("keys", "verdict-2.key"), self.file("keys", "verdict.key"))
        self.restart()
        self.assert_booted(self.boot(both))
        # A gate that was not rolled before the server switched.
        self.assert_refused(self.boot(old), "cose.key-unknown")
        self.assert_booted(self.boot(new))

    def server_certificate(self, ca):
        """Of this CA, as docs/keys.md makes one."""
        openssl = ["openssl", "x509", "-req", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial", "-days",
                   "3650", "-extfile", os.path.join(self.folder, "leaf.cnf")]
        with open(openssl[-1], "w", encoding="ascii") as f:
            f.write("subjectAltName=IP:127.0.0.1\nkeyUsage=digitalSignature\n"
                    "extendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
        request = kit.subprocess.run(["openssl", "req", "-new", "-key", self.file("tls", "server.key"), "-subj",
                                      "/CN=server"], check=True, stdout=kit.subprocess.PIPE).stdout
        kit.subprocess.run([*openssl, "-out", self.file("tls", "server.pem")], check=True, input=request,
                           stderr=kit.subprocess.DEVNULL)
        self.restart()

    def test_tls_ca(self):
        pinned = os.path.join(self.control.site, "server-ca.pem")
        ca = os.path.join(self.folder, "ca-2")
        old = self.image_of("old")
        kit.subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                            "-nodes", "-days", "7300", "-subj", "/CN=second", "-addext",
                            "basicConstraints=critical,CA:TRUE,pathlen:0", "-addext",
                            "keyUsage=critical,keyCertSign,cRLSign", "-keyout", ca + ".key", "-out", ca + ".pem"],
                           check=True, stderr=kit.subprocess.DEVNULL)
        with open(ca + ".pem", encoding="ascii") as new, open(pinned, "a", encoding="ascii") as f:
            f.write(new.read())
        self.control.ctl_offline("site", "check", self.control.site)
        both = self.image_of("both")
        shutil.copy(ca + ".pem", pinned)
        new = self.image_of("new")

        self.assert_booted(self.boot(both))
        self.waits(new, "net.tls")
        self.server_certificate(ca)
        self.assert_booted(self.boot(both))
        self.waits(old, "net.tls")
        self.assert_booted(self.boot(new))

    def test_release_keys_m_of_n(self):
        """Two of two are needed; their holders sign one after the other."""
        pins = os.path.join(self.control.site, "release-keys")
        second = os.path.join(self.control.release, "release-2.key")
        self.control.ctl_offline("key", "new", "--type", "release", second)
        shutil.copy(second.replace(".key", ".pem"), pins)
        with open(os.path.join(self.control.site, "boot.conf"), encoding="ascii") as f:
            lines = [x for x in f if not x.startswith("release.threshold")]
        with open(os.path.join(self.control.site, "boot.conf"), "w", encoding="ascii") as f:
            f.writelines([*lines, "release.threshold = 2\n"])
        self.image("2")
        self.assert_refused(self.boot(self.control.site), "manifest.threshold")
        # The server gets the next one when both have signed.
        server, self.control.child = self.control.child, None
        manifest = self.image("3")
        self.control.child = server
        self.control.ctl_offline("image", "add-signature", "--key", second, manifest)
        self.control.ctl("image", "add", manifest)
        self.control.ctl("image", "select", "host:3")
        self.assert_booted(self.boot(self.control.site))


if __name__ == "__main__":
    unittest.main()
