# SPDX-License-Identifier: Apache-2.0
"""TCG event logs for tests: made from a description, taken apart, changed and
replayed. Shares nothing with the C code, so that each checks the other.

A description has one thing a line, `#` begins a comment:

    form agile                 or legacy; agile when not given
    banks sha1 sha256          order counts
    header vendor=dead errata=106 class=1 minor=0 major=2 uintn=2
    event PCR TYPE DATA... [OPTION...]
    pad ff 100                 100 bytes of padding
    raw 0011                   bytes as they are

PCR is a number or `none` (0xffffffff). TYPE is a TCG name with or without
EV_, or 0x and hex. DATA is any number of pieces, joined:

    "text"  u16"text"  hex:00ff  zero:4  le32:7  le64:7  locality:3
    tag:42470801:"text"        TCG_PCClientTaggedEvent
    var:Name:VALUE             UEFI_VARIABLE_DATA of the global GUID

where VALUE is one more piece. Options say which digests the event has:

    of=PIECE                   digests of these bytes, not of the data
    digest=sha256:HEX          this digest in this bank
    only=sha256,sha1           these banks, in this order
"""

import hashlib
import re
import struct
import uuid

ALGORITHMS = {"sha1": 0x0004, "sha256": 0x000B, "sha384": 0x000C,
              "sha512": 0x000D, "sm3": 0x0012}
LENGTHS = {"sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64, "sm3": 32}
NAMES = {v: k for k, v in ALGORITHMS.items()}

TYPES = {
    "PREBOOT_CERT": 0, "POST_CODE": 1, "UNUSED": 2, "NO_ACTION": 3, "SEPARATOR": 4,
    "ACTION": 5, "EVENT_TAG": 6, "S_CRTM_CONTENTS": 7, "S_CRTM_VERSION": 8,
    "CPU_MICROCODE": 9, "PLATFORM_CONFIG_FLAGS": 0xA, "TABLE_OF_DEVICES": 0xB,
    "COMPACT_HASH": 0xC, "IPL": 0xD, "IPL_PARTITION_DATA": 0xE, "NONHOST_CODE": 0xF,
    "NONHOST_CONFIG": 0x10, "NONHOST_INFO": 0x11, "OMIT_BOOT_DEVICE_EVENTS": 0x12,
    "POST_CODE2": 0x13,
    "EFI_VARIABLE_DRIVER_CONFIG": 0x80000001, "EFI_VARIABLE_BOOT": 0x80000002,
    "EFI_BOOT_SERVICES_APPLICATION": 0x80000003, "EFI_BOOT_SERVICES_DRIVER": 0x80000004,
    "EFI_RUNTIME_SERVICES_DRIVER": 0x80000005, "EFI_GPT_EVENT": 0x80000006,
    "EFI_ACTION": 0x80000007, "EFI_PLATFORM_FIRMWARE_BLOB": 0x80000008,
    "EFI_HANDOFF_TABLES": 0x80000009, "EFI_PLATFORM_FIRMWARE_BLOB2": 0x8000000A,
    "EFI_HANDOFF_TABLES2": 0x8000000B, "EFI_VARIABLE_BOOT2": 0x8000000C,
    "EFI_GPT_EVENT2": 0x8000000D, "EFI_HCRTM_EVENT": 0x80000010,
    "EFI_VARIABLE_AUTHORITY": 0x800000E0, "EFI_SPDM_FIRMWARE_BLOB": 0x800000E1,
    "EFI_SPDM_FIRMWARE_CONFIG": 0x800000E2, "EFI_SPDM_DEVICE_POLICY": 0x800000E3,
    "EFI_SPDM_DEVICE_AUTHORITY": 0x800000E4,
}
NO_ACTION = 3
HCRTM = 0x80000010
NONE = 0xFFFFFFFF
GLOBAL_GUID = uuid.UUID("8be4df61-93ca-11d2-aa0d-00e098032b8c").bytes_le


def digest(alg, data):
    return hashlib.new(alg, data).digest()


class Event:
    def __init__(self, pcr, kind, digests, data):
        self.pcr = pcr
        self.kind = kind
        self.digests = digests  # list of (bank, bytes), as they stand in the log
        self.data = data

    def copy(self):
        return Event(self.pcr, self.kind, list(self.digests), self.data)

    def rehash(self):
        self.digests = [(alg, digest(alg, self.data)) for alg, _ in self.digests]


class Log:
    def __init__(self):
        self.legacy = False
        self.banks = ["sha256"]
        self.header = {"vendor": b"", "errata": 106, "class": 0, "minor": 0,
                       "major": 2, "uintn": 2}
        self.events = []  # without the Spec ID event; Event or bytes
        self.tail = b""

    # -- writing ------------------------------------------------------------

    def spec_id(self):
        h = self.header
        out = b"Spec ID Event03\0" + struct.pack("<IBBBBI", h["class"], h["minor"],
                                                 h["major"], h["errata"], h["uintn"],
                                                 len(self.banks))
        for bank in self.banks:
            out += struct.pack("<HH", ALGORITHMS[bank], LENGTHS[bank])
        return out + bytes([len(h["vendor"])]) + h["vendor"]

    def pack_event(self, e):
        if isinstance(e, bytes):
            return e
        out = struct.pack("<II", e.pcr, e.kind)
        if self.legacy:
            out += dict(e.digests).get("sha1", bytes(20))
        else:
            out += struct.pack("<I", len(e.digests))
            for alg, value in e.digests:
                out += struct.pack("<H", ALGORITHMS[alg]) + value
        return out + struct.pack("<I", len(e.data)) + e.data

    def offsets(self):
        """Where each event begins; number 0 is the first of the file."""
        at, out = 0, []
        for piece in self.pieces():
            out.append(at)
            at += len(piece)
        return out

    def pieces(self):
        pieces = []
        if not self.legacy:
            data = self.spec_id()
            pieces.append(struct.pack("<II", 0, NO_ACTION) + bytes(20)
                          + struct.pack("<I", len(data)) + data)
        return pieces + [self.pack_event(e) for e in self.events]

    def pack(self):
        return b"".join(self.pieces()) + self.tail

    # -- replay -------------------------------------------------------------

    def replay(self):
        """{bank: {pcr: value}} of the registers with events."""
        out = {}
        for bank in self.banks:
            size = LENGTHS[bank]
            values = {}
            start0, launched = None, False
            for e in self.events:
                if isinstance(e, bytes):
                    continue
                if e.kind == NO_ACTION:
                    if e.data.startswith(b"StartupLocality\0"):
                        start0 = e.data[16]
                    continue
                if e.kind == HCRTM and e.pcr == 0 and start0 is None and 0 not in values:
                    start0 = 4
                launched = launched or 17 <= e.pcr <= 22
                value = dict(e.digests).get(bank)
                if value is None:
                    continue
                start = bytes(size)
                if e.pcr == 0:
                    start = bytes(size - 1) + bytes([start0 or 0])
                values[e.pcr] = digest(bank, values.get(e.pcr, start) + value)
            out[bank] = values
        return out

    def pcrs(self):
        """The lines of `bootgatectl log replay`."""
        return "".join(f"{bank} {pcr} {value.hex()}\n"
                       for bank, values in self.replay().items()
                       for pcr, value in sorted(values.items()))


# -- descriptions -----------------------------------------------------------

def piece(text):
    """Bytes of one piece of data."""
    if text.startswith('"'):
        return text[1:-1].encode("latin-1")
    if text.startswith('u16"'):
        return text[4:-1].encode("utf-16-le")
    kind, _, rest = text.partition(":")
    if kind == "hex":
        return bytes.fromhex(rest)
    if kind == "zero":
        return bytes(int(rest))
    if kind == "le32":
        return struct.pack("<I", int(rest, 0))
    if kind == "le64":
        return struct.pack("<Q", int(rest, 0))
    if kind == "locality":
        return b"StartupLocality\0" + bytes([int(rest)])
    if kind == "tag":
        tag, _, value = rest.partition(":")
        value = piece(value)
        return struct.pack("<II", int(tag, 16), len(value)) + value
    if kind == "var":
        name, _, value = rest.partition(":")
        value = piece(value)
        return (GLOBAL_GUID + struct.pack("<QQ", len(name), len(value))
                + name.encode("utf-16-le") + value)
    raise ValueError(f"not a piece of data: {text}")


def type_number(text):
    if text.startswith("0x"):
        return int(text, 16)
    return TYPES[text.removeprefix("EV_")]


def words(line):
    """Split at blanks, but not inside quotes; quotes stay."""
    return re.findall(r'(?:[^\s"#]|"[^"]*")+', line.partition(" #")[0]
                      if not line.lstrip().startswith("#") else "")


def event(log, args):
    pcr = NONE if args[0] == "none" else int(args[0], 0)
    kind = type_number(args[1])
    data, hashed, fixed, only = b"", None, {}, None
    for arg in args[2:]:
        key, _, value = arg.partition("=")
        if key == "of":
            hashed = (hashed or b"") + piece(value)
        elif key == "digest":
            bank, _, value = value.partition(":")
            fixed[bank] = bytes.fromhex(value)
        elif key == "only":
            only = value.split(",")
        else:
            data += piece(arg)
    digests = []
    for bank in only or log.banks:
        if bank in fixed:
            value = fixed[bank]
        elif kind == NO_ACTION:
            value = bytes(LENGTHS[bank])
        else:
            value = digest(bank, data if hashed is None else hashed)
        digests.append((bank, value))
    return Event(pcr, kind, digests, data)


def describe(text):
    """The log of a description."""
    log = Log()
    for number, line in enumerate(text.splitlines(), 1):
        args = words(line)
        if not args:
            continue
        try:
            if args[0] == "form":
                log.legacy = args[1] == "legacy"
                if log.legacy:
                    log.banks = ["sha1"]
            elif args[0] == "banks":
                log.banks = args[1:]
            elif args[0] == "header":
                for arg in args[1:]:
                    key, _, value = arg.partition("=")
                    log.header[key] = bytes.fromhex(value) if key == "vendor" else int(value, 0)
            elif args[0] == "event":
                log.events.append(event(log, args[1:]))
            elif args[0] == "pad":
                log.tail += bytes.fromhex(args[1]) * int(args[2])
            elif args[0] == "raw":
                log.events.append(bytes.fromhex(args[1]))
            else:
                raise ValueError("no such word")
        except (ValueError, KeyError, IndexError) as e:
            raise ValueError(f"line {number}: {line.strip()}: {e}") from e
    return log


# -- reading ----------------------------------------------------------------

def parse(raw):
    """The log in these bytes, which must be well-formed."""
    log = Log()
    kind, size = struct.unpack_from("<I", raw, 4)[0], struct.unpack_from("<I", raw, 28)[0]
    first = raw[32:32 + size]
    at = 0
    if kind == NO_ACTION and first.startswith(b"Spec ID Event03\0"):
        (log.header["class"], log.header["minor"], log.header["major"],
         log.header["errata"], log.header["uintn"], count) = struct.unpack_from("<IBBBBI", first, 16)
        log.banks = [NAMES[struct.unpack_from("<H", first, 28 + 4 * i)[0]] for i in range(count)]
        log.header["vendor"] = first[29 + 4 * count:]
        at = 32 + size
    else:
        log.legacy = True
        log.banks = ["sha1"]
    while at < len(raw):
        if re.fullmatch(rb"\x00+|\xff+", raw[at:]):
            log.tail = raw[at:]
            break
        pcr, kind = struct.unpack_from("<II", raw, at)
        at += 8
        digests = []
        if log.legacy:
            digests.append(("sha1", raw[at:at + 20]))
            at += 20
        else:
            count = struct.unpack_from("<I", raw, at)[0]
            at += 4
            for _ in range(count):
                alg = NAMES[struct.unpack_from("<H", raw, at)[0]]
                digests.append((alg, raw[at + 2:at + 2 + LENGTHS[alg]]))
                at += 2 + LENGTHS[alg]
        size = struct.unpack_from("<I", raw, at)[0]
        data = raw[at + 4:at + 4 + size]
        if len(data) != size:
            raise ValueError("event beyond the end")
        at += 4 + size
        log.events.append(Event(pcr, kind, digests, data))
    return log


# -- changing ---------------------------------------------------------------

def mutate(log, change):
    """Applies one change, `KIND:ARG:ARG`; events count as in the file."""
    kind, *args = change.split(":")
    base = 0 if log.legacy else 1

    def at(text):
        return int(text) - base

    if kind == "drop":
        del log.events[at(args[0])]
    elif kind == "dup":
        log.events.insert(at(args[0]), log.events[at(args[0])].copy())
    elif kind == "swap":
        a, b = at(args[0]), at(args[1])
        log.events[a], log.events[b] = log.events[b], log.events[a]
    elif kind == "type":
        log.events[at(args[0])].kind = type_number(args[1])
    elif kind == "pcr":
        log.events[at(args[0])].pcr = int(args[1], 0)
    elif kind == "data":  # leaves the digests
        log.events[at(args[0])].data = piece(":".join(args[1:]))
    elif kind == "rehash":
        log.events[at(args[0])].rehash()
    elif kind == "lose":  # one digest
        e = log.events[at(args[0])]
        e.digests = [d for d in e.digests if d[0] != args[1]]
    elif kind == "append":
        log.events.append(event(log, words(":".join(args))))
    elif kind == "keep":  # so many events
        del log.events[at(args[0]):]
    elif kind == "pad":
        log.tail = bytes.fromhex(args[0]) * int(args[1])
    else:
        raise ValueError(f"no such change: {change}")


def mutate_raw(raw, change):
    """Changes of bytes: cut:N, put:OFFSET:HEX, add:HEX."""
    kind, *args = change.split(":")
    if kind == "cut":
        return raw[:int(args[0])]
    if kind == "put":
        value = bytes.fromhex(args[1])
        return raw[:int(args[0])] + value + raw[int(args[0]) + len(value):]
    if kind == "add":
        return raw + bytes.fromhex(args[0])
    return None
