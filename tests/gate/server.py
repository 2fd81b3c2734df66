# SPDX-License-Identifier: Apache-2.0
"""A control server and a mirror that do what a test tells them. Its CBOR, COSE
and TPM structures are its own (cbor.py), nothing of src/ is in here."""

import hashlib
import hmac
import http.server
import os
import socket
import ssl
import struct
import threading
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
try:
    from cryptography.hazmat.decrepit.ciphers.modes import CFB
except ImportError:
    from cryptography.hazmat.primitives.ciphers.modes import CFB

import cbor

MASK = 0xFBFF
ALGS = {4: "sha1", 0xB: "sha256", 0xC: "sha384", 0xD: "sha512"}
ADMIT, UPDATE, HOLD, REFUSE = range(4)
HOST, MAINTENANCE, CVM = range(3)
PROFILE = "tag:bootgate,2026:gate-verdict-1"


def sha(b):
    return hashlib.sha256(b).digest()


class Answer(Exception):
    """Raised by a handler: this status, headers and body instead."""

    def __init__(self, status, body=b"", **headers):
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers


def problem(status, reason, title="a title", remedy="a remedy", retry=0):
    return Answer(status, cbor.dumps({-1: title, -2: remedy,
                                      "tag:bootgate,2026:problem": {0: reason, 1: retry}}))


# ---- TPM ---------------------------------------------------------------------


class Reader:
    def __init__(self, b):
        self.b = b

    def take(self, n):
        part, self.b = self.b[:n], self.b[n:]
        assert len(part) == n
        return part

    def number(self, n):
        return int.from_bytes(self.take(n), "big")

    def sized(self):
        return self.take(self.number(2))


def read_ak(public):
    r = Reader(public)
    assert r.number(2) == 0x23 and r.number(2) == 0xB
    r.number(4), r.sized()
    assert r.number(2) == 0x10 and (r.number(2), r.number(2)) == (0x18, 0xB)
    assert r.number(2) == 3 and r.number(2) == 0x10
    x, y = r.sized(), r.sized()
    assert not r.b
    numbers = ec.EllipticCurvePublicNumbers(int.from_bytes(x, "big"), int.from_bytes(y, "big"),
                                            ec.SECP256R1())
    return numbers.public_key()


def name_of(public):
    return b"\0\x0b" + sha(public)


def check_signature(public, attest, signature):
    r = Reader(signature)
    assert r.number(2) == 0x18 and r.number(2) == 0xB
    a, b = (int.from_bytes(r.sized(), "big") for _ in range(2))
    assert not r.b
    read_ak(public).verify(utils.encode_dss_signature(a, b), attest, ec.ECDSA(hashes.SHA256()))


def read_quote(attest):
    r = Reader(attest)
    assert r.number(4) == 0xFF544347 and r.number(2) == 0x8018
    r.sized()
    extra = r.sized()
    r.take(8 + 4 + 4 + 1 + 8)
    selection = []
    for _ in range(r.number(4)):
        alg, size = r.number(2), r.number(1)
        selection.append((alg, int.from_bytes(r.take(size), "little")))
    digest = r.sized()
    assert not r.b
    return extra, selection, digest


def check_evidence(body, public, tag, bound, selection):
    """The whole quote check, from the bytes of the message: its claims."""
    claims, quote, signature = cbor.loads(body)
    check_signature(public, quote, signature)
    extra, quoted, digest = read_quote(quote)
    assert extra == sha(tag + bound + sha(claims))
    c = cbor.loads(claims)
    values = c[9] if 9 in c else c[5]
    assert [a for a, _ in quoted] == [a for a, _ in selection]
    assert all(m in (0, w) for (_, m), (_, w) in zip(quoted, selection)), quoted
    flat = b""
    for (alg, mask, digests), (qalg, qmask) in zip(values, quoted):
        assert (alg, mask) == (qalg, qmask)
        assert len(digests) == mask.bit_count()
        flat += b"".join(digests)
    assert digest == sha(flat)
    return c


def make_credential(public, name, secret):
    """TPM2_MakeCredential for an RSA 2048 EK (Part 1, section 24)."""
    r = Reader(public)
    if r.number(2) != 1:
        return None
    r.number(2), r.number(4), r.sized()
    r.take(6), r.take(2), r.take(2), r.take(4)
    key = rsa.RSAPublicNumbers(65537, int.from_bytes(r.sized(), "big")).public_key()
    seed = os.urandom(32)
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), b"IDENTITY\0")

    def kdfa(label, context, bits):
        return hmac.new(seed, struct.pack(">I", 1) + label + b"\0" + context
                        + struct.pack(">I", bits), hashlib.sha256).digest()[:bits // 8]

    aes = Cipher(algorithms.AES(kdfa(b"STORAGE", name, 128)), CFB(bytes(16))).encryptor()
    identity = aes.update(struct.pack(">H", len(secret)) + secret)
    tag = hmac.new(kdfa(b"INTEGRITY", b"", 256), identity + name, hashlib.sha256).digest()
    blob = struct.pack(">H", 32) + tag + identity
    sealed = key.encrypt(seed, oaep)
    return (struct.pack(">H", len(blob)) + blob, struct.pack(">H", len(sealed)) + sealed)


# ---- the server -----------------------------------------------------------------


class Server:
    """Override a method, or set `on[path]`, to misbehave."""

    def __init__(self, pki, banks=(4, 0xB, 0xC, 0xD)):
        self.pki = pki
        self.selection = [(a, MASK) for a in banks]
        self.enrolled = {}
        self.nonces = {}
        self.artifacts = {}
        self.calls = []
        self.connections = 0
        self.failures = []
        self.receipts = []
        self.verdicts = []
        self.claims = None
        self.on = {}
        self.edit_verdict = lambda v: None
        self.edit_manifest = lambda m: None
        self.verdict_key = pki.verdict
        self.release_keys = [pki.release[0]]
        self.directive = ADMIT
        self.purpose = HOST
        self.enrol = False
        self.offer = False  # of a node that is known
        self.lifetime = 600
        self.retry_after = 0
        self.reasons = []
        self.parameters = {}
        self.cmdline = "console=ttyS0 quiet"
        self.kernel = os.urandom(70_000)
        self.initrd = os.urandom(300_001)
        self.memory = 0
        self.log = []

    def start(self, mirror_tls=False):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                outer.connections += 1

            def log_message(self, *args):
                outer.log.append(args)

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except (OSError, ssl.SSLError):
                    self.close_connection = True

            def answer(self, status, body, headers=()):
                self.send_response(status)
                for k, v in dict(headers).items():
                    self.send_header(k.replace("_", "-"), v)
                if "Content_Length" not in dict(headers):
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def serve(self, body):
                outer.calls.append(self.path)
                try:
                    reply = outer.reply(self, body)
                except Answer as a:
                    self.answer(a.status, a.body, a.headers)
                    return
                if reply is not None:
                    self.answer(200, reply)

            def do_POST(self):
                self.serve(self.rfile.read(int(self.headers["Content-Length"])))

            def do_GET(self):
                self.serve(None)

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.pki.server_chain)
        self.tls_context = context
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True,
                                               do_handshake_on_connect=False)
        self.port = self.http.server_address[1]
        self.mirror = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.mirror.daemon_threads = True
        self.mirror_port = self.mirror.server_address[1]
        for s in (self.http, self.mirror):
            threading.Thread(target=s.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        for s in (self.http, self.mirror):
            s.shutdown()
            s.server_close()

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def mirror_url(self):
        return f"http://127.0.0.1:{self.mirror_port}"

    def reply(self, handler, body):
        path = handler.path
        if path in self.on:
            return self.on[path](handler, body)
        for prefix, call in (("/v1/manifest/", self.do_manifest), ("/sha256/", self.do_artifact)):
            if path.startswith(prefix):
                if prefix in self.on:
                    return self.on[prefix](handler, body)
                return call(handler, path[len(prefix):])
        return getattr(self, "do_" + path.rsplit("/", 1)[1])(body)

    # -- messages

    def challenge(self, enrol):
        nonce, token = os.urandom(32), os.urandom(100)
        self.nonces[token] = nonce
        return {1: 1, 2: nonce, 3: token, 4: [list(s) for s in self.selection], 5: enrol,
                6: 120}

    def do_challenge(self, body):
        m = cbor.loads(body)
        assert m[1] == 1 and m[2] == 0 and len(m[3]) == 34 and len(m) == 3
        self.ak_name = m[3]
        answer = self.challenge(self.enrol and m[3] not in self.enrolled)
        if self.offer:
            answer[7] = True
        return cbor.dumps(answer)

    def do_enrol(self, body):
        m = cbor.loads(body)
        nonce = self.nonces[m[2]]
        name = name_of(m[3])
        assert name == self.ak_name
        capability, attest, signature = m[5]
        check_signature(m[3], attest, signature)
        assert sha(b"bootgate-banks-v1" + nonce + sha(capability)) in attest
        self.secrets = {}
        credentials = []
        fresh = self.challenge(False)
        for public, _certificate in m[4]:
            secret = os.urandom(32)
            made = make_credential(public, name, secret)
            if made:
                ek_name = name_of(public)
                self.secrets[ek_name] = sha(b"bootgate-enrol-v1" + secret + fresh[2])
                credentials.append([ek_name, made[0], made[1]])
        self.enrol_token = os.urandom(60)
        return cbor.dumps({1: 1, 2: cbor.dumps(fresh), 3: self.enrol_token, 4: credentials})

    def check_proofs(self, claims):
        token, proofs = claims[12]
        assert token == self.enrol_token and dict(proofs) == self.secrets
        self.enrolled[self.ak_name] = True

    def manifest(self):
        def artifact(b):
            return [len(b), sha(b)]
        m = {1: 1, 2: "lab", 3: self.purpose, 4: "1.0", 5: 3, 6: artifact(self.kernel),
             7: artifact(self.initrd), 8: self.cmdline,
             9: getattr(self, "parameter_types", {}), 10: self.memory, 11: []}
        self.edit_manifest(m)
        return cbor.sign(self.release_keys, cbor.dumps(m))

    def verdict(self, claims, body):
        self.signed_manifest = self.manifest()
        v = {6: int(time.time()), 10: claims[4], 265: PROFILE,
             266: {"tpm": {1000: 2, 1001: {0: 2}}, "gate": {1000: 2}}, 1000: 2,
             1003: "default 1 abc", 1004: {0: "test", 1: "test"},
             -70001: 0, -70002: self.ak_name, -70003: sha(body), -70004: self.directive,
             -70006: self.lifetime, -70007: self.reasons, -70008: self.retry_after,
             -70009: self.parameters, -70010: "node-7 (3f2a)", -70011: "operator"}
        if self.directive in (ADMIT, UPDATE):
            v[-70005] = sha(self.signed_manifest)
        self.edit_verdict(v)
        return v

    def do_attest(self, body):
        outer = cbor.loads(body)
        token = cbor.loads(outer[0])[3]
        self.public = cbor.loads(outer[0])[5]
        assert name_of(self.public) == self.ak_name
        c = check_evidence(body, self.public, b"bootgate-evidence-v1", self.nonces[token],
                           self.selection)
        if self.enrol and self.ak_name not in self.enrolled:
            self.check_proofs(c)
        self.offered = self.offer and 12 in c
        if self.offered:
            self.check_proofs(c)
        self.claims, self.evidence = c, body
        self.signed = cbor.sign1(self.verdict_key, cbor.dumps(self.verdict(c, body)))
        self.verdicts.append(self.signed)
        return self.signed

    def do_manifest(self, _handler, name):
        assert name == sha(self.signed_manifest).hex()
        return self.signed_manifest

    def content(self, name):
        for b in (self.kernel, self.initrd):
            if sha(b).hex() == name:
                return b
        return self.artifacts[name]

    def do_artifact(self, handler, name):
        b = self.content(name)
        wanted = handler.headers.get("Range")
        if wanted:
            start = int(wanted.split("=")[1].rstrip("-"))
            raise Answer(206, b[start:],
                         Content_Range=f"bytes {start}-{len(b) - 1}/{len(b)}")
        return b

    def do_receipt(self, body):
        c = check_evidence(body, self.public, b"bootgate-receipt-v1", sha(self.signed),
                           self.selection)
        assert c[2] == sha(self.signed) and c[3] == self.ak_name
        self.receipts.append(body)
        self.receipt_claims = c
        return cbor.dumps({1: 1, 2: sha(self.signed)})

    def do_failure(self, body):
        self.failures.append(cbor.loads(body))
        raise Answer(204)


# ---- keys and certificates -----------------------------------------------------------


def run_openssl(*args):
    import subprocess
    subprocess.run(["openssl", *args], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Pki:
    """A CA, a server certificate for 127.0.0.1, verdict and release keys."""

    def __init__(self, folder):
        os.makedirs(folder)
        self.folder = folder
        self.ca = os.path.join(folder, "ca.pem")
        self.server_chain = os.path.join(folder, "server.pem")
        self.make_server(self.ca, self.server_chain)
        self.verdict = ec.generate_private_key(ec.SECP256R1())
        self.release = [ec.generate_private_key(ec.SECP256R1()) for _ in range(3)]

    def make_server(self, ca, chain, address="127.0.0.1"):
        key = ca + ".key"
        ca_conf, leaf_conf = ca + ".cnf", chain + ".cnf"
        with open(ca_conf, "w", encoding="ascii") as f:
            f.write("[req]\ndistinguished_name=dn\nx509_extensions=v3\nprompt=no\n[dn]\n"
                    "CN=test CA\n[v3]\nbasicConstraints=critical,CA:TRUE\n"
                    "keyUsage=critical,keyCertSign\n")
        with open(leaf_conf, "w", encoding="ascii") as f:
            f.write(f"subjectAltName=IP:{address}\nkeyUsage=digitalSignature\n"
                    "extendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
        curve = ["-pkeyopt", "ec_paramgen_curve:P-256"]
        run_openssl("req", "-x509", "-newkey", "ec", *curve, "-nodes", "-keyout", key,
                    "-out", ca, "-days", "30", "-config", ca_conf)
        run_openssl("req", "-newkey", "ec", *curve, "-nodes", "-keyout", chain + ".key",
                    "-out", chain + ".csr", "-subj", "/CN=server")
        run_openssl("x509", "-req", "-in", chain + ".csr", "-CA", ca, "-CAkey", key,
                    "-CAcreateserial", "-out", chain + ".crt", "-days", "30",
                    "-extfile", leaf_conf)
        with open(chain, "wb") as out:
            for part in (".crt", ".key"):
                with open(chain + part, "rb") as f:
                    out.write(f.read())

    @staticmethod
    def pem(key):
        return key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
