# SPDX-License-Identifier: Apache-2.0
"""A node in software: keys, quotes and messages of a gate whose machine and TPM
are made of Python. Its logs and registers are those of a recorded boot, so
the server judges it as it judges that machine; what it signs is its own and
fresh. Cheap enough for a thousand of them, and every step can be spoiled."""

import datetime
import hashlib
import hmac
import http.client
import os
import ssl
import struct
import time
import unittest

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

import kit
import cbor  # noqa: E402 (kit shows where it is)
from server import CFB, Reader, sha  # noqa: E402

ADMIT, HOLD, REFUSE = 0, 2, 3
PROBLEM = "tag:bootgate,2026:problem"
FACTS, DECISION = 8, 14
EVENT_TAG = 6
POLICY_A = bytes.fromhex("837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa")
# fixedTPM fixedParent sensitiveDataOrigin userWithAuth noDA restricted sign
AK = struct.pack(">HHIHHHHHH", 0x23, 0xB, 0x50472, 0, 0x10, 0x18, 0xB, 3, 0x10)
# Endorsement key of template L-2: P-256, storage, adminWithPolicy
EK = (struct.pack(">HHI", 0x23, 0xB, 0x300B2) + struct.pack(">H", 32) + POLICY_A
      + struct.pack(">HHHHHH", 6, 128, 0x43, 0x10, 3, 0x10))


def sized(b):
    return struct.pack(">H", len(b)) + b


def name_of(public):
    return b"\0\x0b" + sha(public)


class Refused(Exception):
    """An error answer: its status, reason, and seconds to wait."""

    def __init__(self, status, reason, retry):
        super().__init__(f"{status} {reason}")
        self.status = status
        self.reason = reason
        self.retry = retry


class Key:
    def __init__(self, template):
        self.key = ec.generate_private_key(ec.SECP256R1())
        n = self.key.public_key().public_numbers()
        self.public = template + sized(n.x.to_bytes(32, "big")) + sized(n.y.to_bytes(32, "big"))
        self.name = name_of(self.public)

    def sign(self, message):
        """TPMT_SIGNATURE, ECDSA with SHA-256."""
        r, s = utils.decode_dss_signature(self.key.sign(message, ec.ECDSA(hashes.SHA256())))
        return (struct.pack(">HH", 0x18, 0xB) + sized(r.to_bytes(32, "big"))
                + sized(s.to_bytes(32, "big")))

    def spki(self):
        return self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)

    def open_credential(self, id_object, secret, name):
        """TPM2_ActivateCredential with this key, for the object of that name."""
        point = Reader(Reader(secret).sized())
        x, y = point.sized(), point.sized()
        peer = ec.EllipticCurvePublicNumbers(int.from_bytes(x, "big"), int.from_bytes(y, "big"),
                                             ec.SECP256R1()).public_key()
        z = self.key.exchange(ec.ECDH(), peer)
        own = self.key.public_key().public_numbers().x.to_bytes(32, "big")
        seed = sha(struct.pack(">I", 1) + z + b"IDENTITY\0" + x.rjust(32, b"\0") + own)

        def kdfa(label, context, bits):
            return hmac.new(seed, struct.pack(">I", 1) + label + b"\0" + context
                            + struct.pack(">I", bits), hashlib.sha256).digest()[:bits // 8]

        r = Reader(Reader(id_object).sized())
        mac, identity = r.sized(), r.b
        assert mac == hmac.new(kdfa(b"INTEGRITY", b"", 256), identity + name, hashlib.sha256).digest()
        aes = Cipher(algorithms.AES(kdfa(b"STORAGE", name, 128)), CFB(bytes(16))).decryptor()
        return Reader(aes.update(identity)).sized()


class Vendor:
    """A maker of TPMs: its CA, and certificates for endorsement keys."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Soft TPM CA")])
        self.certificate = self.sign(self.name, self.key.public_key(), (
            (x509.BasicConstraints(True, 0), True), (usage(key_cert_sign=True), True)))

    def sign(self, subject, key, extensions):
        start = datetime.datetime(2020, 1, 1)
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key)
                   .serial_number(x509.random_serial_number()).not_valid_before(start)
                   .not_valid_after(start + datetime.timedelta(36500)))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.key, hashes.SHA256())

    def endorse(self, ek):
        tpm = x509.DirectoryName(x509.Name([
            x509.NameAttribute(x509.ObjectIdentifier(f"2.23.133.2.{i}"), text)
            for i, text in ((1, "id:534F4654"), (2, "soft"), (3, "id:00010000"))]))
        return self.sign(x509.Name([]), ek.key.public_key(), (
            (x509.SubjectAlternativeName([tpm]), True), (x509.BasicConstraints(False, None), True),
            (usage(key_agreement=True), True),
            (x509.ExtendedKeyUsage([x509.ObjectIdentifier("2.23.133.8.1")]), False),
        )).public_bytes(serialization.Encoding.DER)

    def pem(self):
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def usage(**bits):
    names = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
             "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
    return x509.KeyUsage(**{n: bits.get(n, False) for n in names})


class Recorded:
    """What a real boot sent: logs, registers and report."""

    def __init__(self, evidence):
        claims, quote, _ = cbor.loads(evidence)
        c = cbor.loads(claims)
        self.firmware_log, self.gate_log, self.report = c[7], c[8], c[10]
        self.values = {alg: (mask, digests) for alg, mask, digests in c[9]}
        # clock 8, counters 4 and 4, safe 1, firmware version 8
        r = Reader(quote)
        r.take(6), r.sized(), r.sized(), r.take(17)
        self.firmware = r.take(8)


def copy(recorded, **changes):
    """The same machine with something else about it."""
    out = Recorded.__new__(Recorded)
    out.__dict__.update({**recorded.__dict__, **changes})
    return out


def event(log, pcr, tag, text):
    """One event for the end of this log, and its digests."""
    data = struct.pack("<II", tag, len(text)) + text
    banks = list(kit.events(log)[0][2])
    digests = kit.hashed(banks, data)
    whole = kit.write_log(log, [(pcr, EVENT_TAG, digests, data)])
    return whole[32 + struct.unpack_from("<I", log, 28)[0]:], digests


def archive(firmware_log, gate_log, evidence, verdict, manifest, report):
    """The hand-over: newc, as docs/protocol.md has it."""
    names = ("firmware.log", "gate.log", "evidence.cbor", "verdict.cose", "manifest.cose", "report.cbor")
    contents = (firmware_log, gate_log, evidence, verdict, manifest, report)
    members = [(".extra", 0o40500, b""), (".extra/bootgate", 0o40500, b"")]
    members += [(".extra/bootgate/" + n, 0o100400, c) for n, c in zip(names, contents)]
    out = b""
    for inode, (name, mode, content) in enumerate([*members, ("TRAILER!!!", 0, b"")], 1):
        last = name == "TRAILER!!!"
        fields = [0 if last else inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
        out += head + bytes(-len(head) % 4) + content + bytes(-len(content) % 4)
    return out + bytes(-len(out) % 512)


def on_board(recorded, serial):
    """The same machine with another board of the same kind."""
    report = cbor.loads(recorded.report)
    report[2] = [[name, serial if name == "board.serial" else value] for name, value in report[2]]
    return copy(recorded, report=cbor.dumps(report))


def without(recorded, pcr, kind):
    """The same machine with firmware that measures no such events into this register."""
    kept = [e for e in kit.events(recorded.firmware_log) if e[:2] != (pcr, kind)]
    values = {}
    for alg, (mask, digests) in recorded.values.items():
        bank = kit.evlog.NAMES[alg]
        values[alg] = (mask, digests)
        if bank not in kept[0][2]:
            continue
        value = bytes(kit.evlog.LENGTHS[bank])
        for e in kept:
            if e[0] == pcr and e[1] != kit.evlog.NO_ACTION:
                value = hashlib.new(bank, value + e[2][bank]).digest()
        at = (mask & ((1 << pcr) - 1)).bit_count()
        values[alg] = (mask, [*digests[:at], value, *digests[at + 1:]])
    return copy(recorded, firmware_log=kit.write_log(recorded.firmware_log, kept), values=values)


class SoftNode:
    """Steps of a boot, one method each; boot() does them all."""

    def __init__(self, recorded, port, ca, ek=None, ak=None):
        self.ek = ek or Key(EK)
        self.like = on_board(recorded, self.ek.name.hex())
        self.port = port
        self.tls = ca if isinstance(ca, ssl.SSLContext) else ssl.create_default_context(cafile=ca)
        self.ak = ak or Key(AK)
        self.certificate = b""
        self.address = None
        self.connection = None
        self.statuses = []
        self.power_on()

    def power_on(self):
        """A reset: counters go on, the rest begins again."""
        self.resets = getattr(self, "resets", 0) + 1
        self.started = time.monotonic()
        self.session = self.verdict = self.evidence = None
        self.enrol_token = self.proofs = None

    # -- transport

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def ask(self, method, path, body=None):
        if not self.connection:
            how = {"timeout": 120, "source_address": (self.address, 0) if self.address else None}
            self.connection = (http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, **how)
                               if self.tls else http.client.HTTPConnection("127.0.0.1", self.port, **how))
        try:
            self.connection.request(method, path, body, {"Content-Type": "application/cbor"})
            answer = self.connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        self.statuses.append(answer.status)
        if answer.status >= 400:
            (reason, retry) = cbor.loads(content)[PROBLEM].values()
            if answer.headers.get("Retry-After", "0") != str(retry):
                raise AssertionError(f"Retry-After is not {retry} of the problem")
            raise Refused(answer.status, reason, retry)
        return content

    def post(self, path, body):
        return self.ask("POST", "/v1/" + path, body)

    # -- TPM

    def attest(self, kind, extra, rest):
        signer = b"\0\x0b" + sha(struct.pack(">I", 0x4000000B) + self.ak.name)
        clock = int((time.monotonic() - self.started) * 1000) + 1
        return (struct.pack(">IH", 0xFF544347, kind) + sized(signer) + sized(extra)
                + struct.pack(">QIIB", clock, self.resets, 0, 1) + self.like.firmware + rest)

    def quote(self, extra, values):
        rest = struct.pack(">I", len(values))
        for alg, mask, _ in values:
            rest += struct.pack(">HB", alg, 3) + mask.to_bytes(3, "little")
        rest += sized(sha(b"".join(d for _, _, digests in values for d in digests)))
        return self.attest(0x8018, extra, rest)

    def values(self):
        return [[alg, *self.like.values[alg]] for alg, _ in self.session[4]]

    def signed(self, tag, bound, claims, values):
        encoded = cbor.dumps(claims)
        quote = self.quote(sha(tag + bound + sha(encoded)), values)
        return cbor.dumps([encoded, quote, self.ak.sign(quote)])

    # -- messages

    def challenge(self):
        self.session = cbor.loads(self.post("challenge", cbor.dumps({1: 1, 2: 0, 3: self.ak.name})))
        return self.session[5]

    def enrol_message(self):
        banks = struct.pack(">II", 5, len(self.like.values))
        for alg in self.like.values:
            banks += struct.pack(">HB", alg, 3) + b"\xff\xff\xff"
        command = sha(struct.pack(">IIII", 0x17A, 5, 0, 1))
        response = sha(struct.pack(">IIB", 0, 0x17A, 0) + banks)
        extra = sha(b"bootgate-banks-v1" + self.session[2] + sha(banks))
        audit = self.attest(0x8016, extra, b"\0" + sized(sha(bytes(32) + command + response)))
        return cbor.dumps({1: 1, 2: self.session[3], 3: self.ak.public, 4: [[self.ek.public, self.certificate]],
                           5: [banks, audit, self.ak.sign(audit)], 6: b""})

    def enrol(self):
        answer = cbor.loads(self.post("enrol", self.enrol_message()))
        self.session = cbor.loads(answer[2])
        self.enrol_token = answer[3]
        self.proofs = []
        for name, id_object, sealed in answer[4]:
            assert name == self.ek.name
            secret = self.ek.open_credential(id_object, sealed, self.ak.name)
            self.proofs.append([name, sha(b"bootgate-enrol-v1" + secret + self.session[2])])

    def claims(self):
        c = {1: 1, 2: 0, 3: self.session[3], 4: os.urandom(32), 5: self.ak.public, 6: [],
             7: self.like.firmware_log, 8: self.like.gate_log, 9: self.values(), 10: self.like.report,
             11: []}
        if self.enrol_token:
            c[12] = [self.enrol_token, self.proofs]
        return c

    def make_evidence(self, **changes):
        claims = self.claims()
        claims.update(changes.get("claims", {}))
        return self.signed(changes.get("tag", b"bootgate-evidence-v1"), self.session[2], claims,
                           changes.get("values", claims[9]))

    def send_evidence(self):
        self.evidence = self.evidence or self.make_evidence()
        self.verdict = self.post("attest", self.evidence)
        self.said = cbor.loads(cbor.loads(self.verdict).value[2])
        return self.said[-70004]

    def fetch_manifest(self):
        digest = self.said[-70005]
        self.manifest = self.ask("GET", "/v1/manifest/" + digest.hex())
        assert sha(self.manifest) == digest

    def decide(self):
        """The six events of register 14 after those of register 8."""
        m = cbor.loads(cbor.loads(self.manifest).value[2])
        log = self.like.gate_log
        registers = {alg: [mask, list(d)] for alg, mask, d in self.values()}
        texts = [sha(self.verdict), sha(self.manifest), m[6][1], m[7][1], sha(m[8].encode()), None]
        for i, digest in enumerate(texts, 1):
            if digest is None:
                digest = sha(archive(self.like.firmware_log, log, self.evidence, self.verdict,
                                     self.manifest, self.like.report))
            more, digests = event(log, DECISION, 0x42470E00 + i, digest.hex().encode())
            log += more
            for alg, (mask, values) in registers.items():
                at = (mask & ((1 << DECISION) - 1)).bit_count()
                bank = kit.evlog.NAMES[alg]
                values[at] = hashlib.new(bank, values[at] + digests[bank]).digest()
        return log, [[alg, *rest] for alg, rest in registers.items()]

    def make_receipt(self):
        log, values = self.decide()
        claims = {1: 1, 2: sha(self.verdict), 3: self.ak.name, 4: log, 5: values}
        return self.signed(b"bootgate-receipt-v1", sha(self.verdict), claims, values)

    def send_receipt(self):
        answer = cbor.loads(self.post("receipt", self.make_receipt()))
        assert answer == {1: 1, 2: sha(self.verdict)}

    def steps(self):
        """Names and acts of a boot; `attest` is again while it is held."""
        yield "challenge", self.challenge
        if self.session[5]:
            yield "enrol", self.enrol
        yield "attest", self.send_evidence
        if self.said[-70004] != ADMIT:
            return
        yield "manifest", self.fetch_manifest
        yield "receipt", self.send_receipt

    def boot(self):
        """The directive; after `admit` also manifest and receipt are done."""
        self.power_on()
        for _, act in self.steps():
            act()
        return self.said[-70004]


class Stage(kit.PathCase):
    """A server that learned from one real boot, for all tests of a class."""

    def runTest(self):
        """Nothing: a test case only for what it sets up and takes down."""

    def setUp(self):
        super().setUp()
        self.control.start()
        self.image()
        self.learned(self.new_node())
        folder = os.path.join(self.folder, "evidence")
        os.mkdir(folder)
        self.control.ctl("node", "evidence", "n1", folder)
        with open(os.path.join(folder, "evidence.cbor"), "rb") as f:
            self.recorded = Recorded(f.read())


class SoftCase(unittest.TestCase):
    """Any number of nodes like the one that was learned from."""

    soft = 0

    @classmethod
    def setUpClass(cls):
        cls.stage = Stage()
        cls.addClassCleanup(cls.stage.doCleanups)
        cls.stage.setUp()
        cls.control, cls.folder, cls.recorded = cls.stage.control, cls.stage.folder, cls.stage.recorded
        cls.ca = os.path.join(cls.control.site, "server-ca.pem")

    def soft_nodes(self, count, listed=True):
        """Such nodes; a list of endorsement keys names them beforehand."""
        tls = ssl.create_default_context(cafile=self.ca)
        nodes = [SoftNode(self.recorded, self.control.port, tls) for _ in range(count)]
        for n in nodes:
            SoftCase.soft += 1
            n.label = f"soft-{SoftCase.soft}"
            # Each from an address of its own, of those that are this machine.
            n.address = f"127.1.{SoftCase.soft // 200}.{SoftCase.soft % 200 + 1}"
            self.addCleanup(n.close)
        if listed:
            path = os.path.join(self.folder, "papers.csv")
            with open(path, "w", encoding="ascii") as f:
                f.write("ek_name,label\n")
                f.writelines(f"{n.ek.name.hex()},{n.label}\n" for n in nodes)
            self.control.ctl("ek", "load", path)
        return nodes

    def soft_node(self, listed=True):
        return self.soft_nodes(1, listed)[0]

    def certified_node(self):
        """One that a vendor's CA vouches for, so that a person must approve it."""
        vendor = Vendor()
        with open(os.path.join(self.control.dir, "ek-ca", "soft.pem"), "wb") as f:
            f.write(vendor.pem())
        self.control.stop()
        self.control.start()
        node = self.soft_node(listed=False)
        node.certificate = vendor.endorse(node.ek)
        return node

    def twin(self, node, **keys):
        """Another machine that has some of this one's keys."""
        other = SoftNode(self.recorded, self.control.port, self.ca, **keys)
        other.label, other.address = node.label, node.address
        self.addCleanup(other.close)
        return other

    def reason(self, act, *args):
        with self.assertRaises(Refused) as caught:
            act(*args)
        return caught.exception.reason
