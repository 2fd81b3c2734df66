#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What one peer, or one node that nobody approved, can take from the server."""

import os
import socket
import sqlite3
import ssl
import time
import unittest

import kit

HELLO = b"\x16\x03\x01\x02\x00"  # a TLS record is announced and never comes


def cpu_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Case(kit.PathCase):
    def setUp(self):
        super().setUp()
        self.control.start()
        self.open = []
        self.addCleanup(self.close)

    def close(self):
        for s in self.open:
            s.close()

    def connect(self, address):
        s = socket.create_connection(("127.0.0.1", self.control.port), 60, (address, 0))
        self.open.append(s)
        return s

    def healthy(self, address):
        """A whole request from this address."""
        context = ssl.create_default_context(cafile=os.path.join(self.control.site, "server-ca.pem"))
        with context.wrap_socket(self.connect(address), server_hostname="127.0.0.1") as s:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return s.recv(12) == b"HTTP/1.1 200"


class Peers(Case):
    def test_one_address_does_not_keep_others_out(self):
        for i in range(1000):
            s = self.connect("127.0.0.1")
            try:
                s.sendall(HELLO if i % 2 else b"")
            except OSError:
                pass    # cut off already
        # The server closed those above the limit at once.
        self.open[-1].settimeout(60)
        try:
            self.assertEqual(self.open[-1].recv(1), b"")
        except ConnectionResetError:
            pass
        self.assertTrue(self.healthy("127.0.0.2"))

    def test_unfinished_handshake_costs_nothing(self):
        self.connect("127.0.0.1").sendall(HELLO)
        self.assertTrue(self.healthy("127.0.0.2"))
        before = [cpu_of(p) for p in kit.children(self.control.child.pid)]
        time.sleep(4)
        after = [cpu_of(p) for p in kit.children(self.control.child.pid)]
        self.assertLess(max(b - a for a, b in zip(before, after)), 0.4)


class Pending(kit.PathCase):
    def test_is_forgotten(self):
        """Nobody approved it in time: all of it is gone, and the audit says so."""
        self.control.start()
        self.new_node().boot()
        (node,) = self.control.json("node", "list")["nodes"]
        self.control.stop()
        (path,) = [os.path.join(folder, name) for folder, _, names in os.walk(self.control.dir)
                   for name in names if name == "bootgate.db"]
        db = sqlite3.connect(path)
        db.execute("UPDATE node SET seen = 1")
        db.commit()
        db.close()
        self.control.start()
        self.wait_for(lambda: not self.control.json("node", "list")["nodes"])
        (row,) = self.control.audit("node.expire")
        self.assertTrue(row["target"].startswith(node["id"]))
        self.assertIn("the chain holds", self.control.ctl("audit", "verify"))


class Trickle(Case):
    def test_head_has_a_deadline(self):
        """A byte each second keeps no connection open."""
        context = ssl.create_default_context(cafile=os.path.join(self.control.site, "server-ca.pem"))
        with context.wrap_socket(self.connect("127.0.0.1"), server_hostname="127.0.0.1") as s:
            s.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
            with self.assertRaises(OSError):
                for _ in range(60):
                    s.sendall(b"x")
                    time.sleep(1)


if __name__ == "__main__":
    unittest.main()
