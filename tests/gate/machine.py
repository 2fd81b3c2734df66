# SPDX-License-Identifier: Apache-2.0
"""A machine made of files: what /sys, /proc and /dev would show."""

import os
import struct

CPUINFO = """processor\t: %d
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC 9354 32-Core Processor
stepping\t: 1
microcode\t: 0xa10113e

"""


def structure(kind, handle, formatted, *strings):
    body = bytes([kind, 4 + len(formatted)]) + struct.pack("<H", handle) + formatted
    return body + (b"".join(s.encode() + b"\0" for s in strings) or b"\0") + b"\0"


def smbios(serial="SN-1"):
    uuid = bytes(range(16))
    table = structure(0, 0, b"\1\2\0\0\3" + bytes(15), "Vendor", "1.2.3", "01/02/2026")
    table += structure(1, 1, b"\1\2\0\3" + uuid + b"\6\0\0", "Maker", "Server 9000", serial)
    table += structure(2, 2, b"\1\2\3\4\0", "Maker", "Board 9", "A1", "B-" + serial)
    table += structure(4, 4, bytes(12) + b"\1" + bytes(7) + b"\x41" + bytes(17), "EPYC")
    table += structure(127, 5, b"")
    entry = bytearray(b"_SM3_\0\x18\3\5\0\1\0" + struct.pack("<IQ", len(table), 0))
    entry[5] = -sum(entry) & 0xFF
    return bytes(entry), table


def config_space(vendor, device, kind, sub=(0x10DE, 0x16C1), revision=0xA1):
    b = bytearray(64)
    struct.pack_into("<HH", b, 0, vendor, device)
    b[8] = revision
    b[9:12] = kind.to_bytes(3, "little")
    struct.pack_into("<HH", b, 0x2C, *sub)
    return bytes(b)


class Machine:
    def __init__(self, root, firmware_log=b"", serial="SN-1"):
        self.root = root
        entry, table = smbios(serial)
        self.write("sys/firmware/dmi/tables/smbios_entry_point", entry)
        self.write("sys/firmware/dmi/tables/DMI", table)
        self.write("proc/cmdline", "gate.efi console=ttyS0\n")
        self.write("proc/cpuinfo", "".join(CPUINFO % i for i in range(2)))
        for i in range(2):
            self.write(f"sys/devices/system/cpu/cpu{i}/microcode/version", "0xa10113e\n")
        self.write("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   8388608 kB\n")
        self.write("proc/sys/kernel/kexec_load_disabled", "0\n")
        self.write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n")
        self.write("sys/kernel/security/tpm0/binary_bios_measurements", firmware_log)
        efi = "sys/firmware/efi/efivars/%s-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        self.write(efi % "SecureBoot", b"\6\0\0\0\0")
        self.write(efi % "SetupMode", b"\6\0\0\0\0")
        self.pci("0000:41:00.0", config_space(0x10DE, 0x2330, 0x030200), b"rom of a GPU")
        self.pci("0000:01:00.0", config_space(0x15B3, 0x1021, 0x020000, (0x15B3, 0x23)))
        self.pci("0000:00:1f.0", config_space(0x8086, 1, 0x060100))
        self.write("sys/class/net/eth0/address", "52:54:00:12:34:56\n")
        self.write("sys/class/net/eth0/device/vendor", "")
        self.write("dev/watchdog0", "")

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def pci(self, slot, config, rom=None):
        self.write(f"sys/bus/pci/devices/{slot}/config", config)
        if rom is not None:
            self.write(f"sys/bus/pci/devices/{slot}/rom", rom)
