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


if __name__ == "__main__":
    unittest.main()
