#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""replay.py FIRMWARE_LOG [GATE_LOG]
replay.py FOLDER

What every register must hold if these TCG crypto-agile logs are true, one
line each: `sha256 4 HEX`. FOLDER holds what a gate handed over; then the two
steps that come after the hand-over, its own event and the cap, are added.
Written from the specifications, shares no code with the C programs; the lab
compares with what the kernel reads.
"""

import hashlib
import os
import struct
import sys

ALGORITHMS = {0x0004: "sha1", 0x000b: "sha256", 0x000c: "sha384",
              0x000d: "sha512"}
EV_NO_ACTION = 3
EV_SEPARATOR = 4
EV_EVENT_TAG = 6
REGISTERS = 24

# The gate's registers, and those of its events that come after its log was
# handed over: tag and text.
FACTS, DECISION = 8, 14
TAG_HANDOVER = 0x42470e06
TAG_CAP = 0x424700ff
CAP = b"bootgate:cap"
MEMBERS = ("firmware.log", "gate.log", "evidence.cbor", "verdict.cose",
           "manifest.cose", "report.cbor")


class Event:
    def __init__(self, number, pcr, kind, digests, data):
        self.number = number
        self.pcr = pcr
        self.kind = kind
        self.digests = digests      # bank name -> bytes
        self.data = data


class Reader:
    """Little-endian numbers and bytes; anything short is an error."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise ValueError(f"log ends inside an event, offset {self.at}")
        self.at += size
        return self.data[self.at - size:self.at]

    def u16(self):
        return struct.unpack("<H", self.take(2))[0]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]


def read_header(log):
    """The Spec ID event, in the old form; returns bank sizes by algorithm."""
    pcr, kind = log.u32(), log.u32()
    log.take(20)
    data = Reader(log.take(log.u32()))
    if pcr != 0 or kind != EV_NO_ACTION or data.take(16) != b"Spec ID Event03\0":
        raise ValueError("not a crypto-agile log")
    data.take(8)    # platform class, version, errata, size of UINTN
    return {data.u16(): data.u16() for _ in range(data.u32())}


def read_events(data):
    """Events behind the header; their digests by name of the bank."""
    log = Reader(data)
    sizes = read_header(log)
    events = []
    while log.at < len(data):
        rest = data[log.at:]
        if not rest.strip(b"\0") or not rest.strip(b"\xff"):
            break   # padding
        pcr, kind = log.u32(), log.u32()
        digests = {}
        for _ in range(log.u32()):
            algorithm = log.u16()
            digests[ALGORITHMS[algorithm]] = log.take(sizes[algorithm])
        if pcr >= REGISTERS or len(digests) != len(sizes):
            raise ValueError(f"event {len(events) + 1}: malformed")
        events.append(Event(len(events) + 1, pcr, kind, digests,
                            log.take(log.u32())))
    return [ALGORITHMS[a] for a in sizes], events


def tagged(tag, value):
    """An event of the gate's log: its data, of which digests are taken."""
    return struct.pack("<II", tag, len(value)) + value


class Registers:
    def __init__(self, banks):
        self.value = {}
        for bank in banks:
            size = hashlib.new(bank).digest_size
            for pcr in range(REGISTERS):
                fill = b"\xff" if 17 <= pcr <= 22 else b"\0"
                self.value[bank, pcr] = fill * size

    def extend(self, bank, pcr, digest):
        old = self.value[bank, pcr]
        self.value[bank, pcr] = hashlib.new(bank, old + digest).digest()

    def extend_data(self, pcr, data):
        """Every bank, with its own hash of the data."""
        for bank, register in self.value:
            if register == pcr:
                self.extend(bank, pcr, hashlib.new(bank, data).digest())

    def replay(self, events):
        for event in events:
            if event.kind == EV_NO_ACTION:
                if event.data.startswith(b"StartupLocality\0"):
                    locality = event.data[16:17]
                    for bank in event.digests:
                        old = self.value[bank, 0]
                        self.value[bank, 0] = old[:-1] + locality
                continue
            for bank, digest in event.digests.items():
                self.extend(bank, event.pcr, digest)


def replay(*logs):
    """Registers after these logs, which must be of the same banks."""
    parsed = [read_events(log) for log in logs]
    banks = set(parsed[0][0])
    if any(set(other) != banks for other, _ in parsed):
        raise ValueError("the logs are not of the same banks")
    registers = Registers(parsed[0][0])
    for _, events in parsed:
        registers.replay(events)
    return registers


def cpio_entry(name, inode, mode, data):
    """newc; owner, time and device are zero."""
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields)
    head += name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def handover_archive(members):
    """The archive in front of the host's initrd, made again."""
    folder = ".extra/bootgate"
    archive = cpio_entry(".extra", 1, 0o040500, b"")
    archive += cpio_entry(folder, 2, 0o040500, b"")
    for inode, name in enumerate(MEMBERS, 3):
        archive += cpio_entry(f"{folder}/{name}", inode, 0o100400, members[name])
    archive += cpio_entry("TRAILER!!!", 0, 0, b"")
    return archive + bytes(-len(archive) % 512)


def replay_handover(members):
    """Registers of a machine that was given these files and then started."""
    registers = replay(members["firmware.log"], members["gate.log"])
    digest = hashlib.sha256(handover_archive(members)).hexdigest().encode()
    registers.extend_data(DECISION, tagged(TAG_HANDOVER, digest))
    for pcr in (FACTS, DECISION):
        registers.extend_data(pcr, tagged(TAG_CAP, CAP))
    return registers


def read(name):
    with open(name, "rb") as file:
        return file.read()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if os.path.isdir(sys.argv[1]):
        registers = replay_handover(
            {name: read(os.path.join(sys.argv[1], name)) for name in MEMBERS})
    else:
        registers = replay(*map(read, sys.argv[1:]))
    for (bank, pcr), value in sorted(registers.value.items()):
        print(bank, pcr, value.hex())


if __name__ == "__main__":
    main()
