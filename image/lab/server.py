# SPDX-License-Identifier: Apache-2.0
"""What stands on the other side of the LAN: control server, mirror, and a
proxy for the scenarios in which somebody is in between."""

import http.client
import http.server
import json
import os
import socket
import ssl
import subprocess
import threading
import time

from machine import LabError, start, stop

# Seen from the machine, 10.0.2.2 is the loopback of its network namespace.
GUEST_VIEW = "10.0.2.2"
SERVER_PORT = 8443
PROXIED_PORT = 8444     # where the server listens when a proxy is in front
MIRROR_PORT = 8080


def wait_for_port(port, child, seconds=20):
    deadline = time.monotonic() + seconds
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if child.poll() is not None or time.monotonic() > deadline:
            raise LabError(f"{child.args[0]} does not listen on port {port}")
        time.sleep(0.05)


def replace_settings(path, **settings):
    """Sets `area.name = value` lines; area__name as keyword."""
    names = {key.replace("__", ".").replace("_", "-"): value
             for key, value in settings.items()}
    with open(path) as file:
        lines = [line for line in file
                 if line.split("=")[0].strip() not in names]
    lines += [f"{name} = {value}\n" for name, value in names.items()]
    with open(path, "w") as file:
        file.writelines(lines)


class Server:
    """A bootgated folder, and bootgatectl on it."""

    def __init__(self, folder, bin_folder):
        self.folder = os.path.abspath(folder)
        self.bin = os.path.abspath(bin_folder)
        self.site = os.path.join(self.folder, "site")
        self.child = None

    def init(self):
        subprocess.run(
            [f"{self.bin}/bootgated", "init", self.folder, "--name", GUEST_VIEW,
             "--port", str(SERVER_PORT), "--listen", f"127.0.0.1:{SERVER_PORT}",
             "--mirror", f"http://{GUEST_VIEW}:{MIRROR_PORT}"],
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def release_key(self):
        return f"{self.folder}-release-key/release-1.key"

    def start(self, port=SERVER_PORT):
        self.child = start([f"{self.bin}/bootgated", "run", self.folder],
                           f"{self.folder}/server.log")
        wait_for_port(port, self.child)

    def stop(self):
        stop(self.child)
        self.child = None

    def ctl(self, *args):
        """bootgatectl; its standard output."""
        command = [f"{self.bin}/bootgatectl", *args]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env={**os.environ, "BOOTGATE_SOCKET": f"{self.folder}/run/admin.sock"})
        if done.returncode != 0:
            raise LabError(f"{' '.join(command[1:])}: exit {done.returncode}: "
                           f"{done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def ask(self, *args):
        return json.loads(self.ctl(*args, "--json"))

    def nodes(self):
        return self.ask("node", "list")["nodes"]

    def audit(self):
        return self.ask("audit", "list")["rows"]


class Mirror:
    """Serves a folder over HTTP: files by content, as image sign puts them."""

    def __init__(self, folder, log):
        self.folder = os.path.abspath(folder)
        self.log = log
        self.http = None

    def start(self):
        mirror = self
        os.makedirs(self.folder, exist_ok=True)

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=mirror.folder)

            def log_message(self, format, *args):
                with open(mirror.log, "a") as log:
                    log.write(format % args + "\n")

        self.http = http.server.ThreadingHTTPServer(
            ("127.0.0.1", MIRROR_PORT), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        if self.http:
            self.http.shutdown()
            self.http.server_close()


class Proxy:
    """Ends TLS with the server's own key, so it takes a lab that owns the
    site's CA to play it. `change(path, answer)` may return another body, or
    None to let the answer get lost."""

    def __init__(self, certificate, key, ca, log, change):
        self.log = log
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self):
                size = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(size)
                context = ssl.create_default_context(cafile=ca)
                context.check_hostname = False
                upstream = http.client.HTTPSConnection(
                    "127.0.0.1", PROXIED_PORT, context=context, timeout=60)
                headers = {k: v for k, v in self.headers.items()
                           if k.lower() not in ("host", "connection")}
                upstream.request(self.command, self.path, body, headers)
                answer = upstream.getresponse()
                data = answer.read()
                changed = change(self.path, answer.status, data)
                self.log_message("%s %s: %d, %s", self.command, self.path,
                                 answer.status, "lost" if changed is None else
                                 "as it was" if changed == data else "changed")
                if changed is None:
                    self.close_connection = True
                    # the gate has to find out by itself
                    while self.connection.recv(4096):
                        pass
                    return
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() in ("content-type", "retry-after"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(changed)))
                self.end_headers()
                self.wfile.write(changed)

            do_GET = do_POST = forward

            def log_message(self, format, *args):
                with open(proxy.log, "a") as log:
                    log.write(format % args + "\n")

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.http = http.server.ThreadingHTTPServer(
            ("127.0.0.1", SERVER_PORT), Handler)
        self.http.daemon_threads = True
        self.http.socket = context.wrap_socket(
            self.http.socket, server_side=True, do_handshake_on_connect=False)

    def start(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()
