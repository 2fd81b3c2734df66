#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`report decode` of tables that are made here, as dmidecode and lspci read
them; files of every shape, and what is refused with which exit status."""

import hashlib
import os
import subprocess
import sys
import tempfile
import unittest

import report_kit as kit


def put(size, fields):
    """bytes of zero with {offset: bytes}"""
    out = bytearray(size)
    for offset, value in fields.items():
        value = value if isinstance(value, bytes) else bytes(value)
        out[offset:offset + len(value)] = value
    assert len(out) == size
    return bytes(out)


def le(value, size):
    return value.to_bytes(size, "little")


# --- SMBIOS: a server with two sockets ---

COUNT = 24

def structure(kind, handle, size, fields, *strings):
    head = bytes([kind, size]) + le(handle, 2)
    return put(size, {0: head, **fields}) + (b"".join(s.encode() + b"\0" for s in strings) or b"\0") + b"\0"


def memory_device(handle, slot):
    fields = {4: le(0x1000, 2), 8: le(80, 2), 0xA: le(64, 2), 0xE: b"\x09", 0x10: b"\1\2\x22",
              0x13: le(0x80, 2), 0x15: le(4800, 2), 0x17: b"\3\4\5\6", 0x1B: b"\2", 0x20: le(4400, 2),
              0x28: b"\3"}
    if slot == 0:
        fields.update({0xC: le(0x7FFF, 2), 0x1C: le(65536, 4)})
    elif slot == 1:
        fields.update({0xC: le(16384, 2)})
    return structure(17, handle, 0x54, fields, f"P0_DIMM{slot}", "BANK 0", "Maker", f"S{slot}", "Tag", "M321R8GA0BB0")


def server(end=True):
    table = structure(0, 0, 26, {4: b"\1\2\0\xf0\3\xff", 0xA: le(0x38, 8), 0x12: b"\3\x0d", 0x14: b"\5\x1b\xff\xff",
                                 0x18: le(32, 2)}, "Maker Inc.", "1.2a", "02/01/2026")
    table += structure(1, 1, 27, {4: b"\1\2\3\4", 8: bytes(range(16)), 0x18: b"\6\5\6"},
                       "Maker", "Server 9000", "V1", "SN0001", "SKU 1", "Nine\x07Thousand")
    table += structure(2, 2, 15, {4: b"\1\2\3\4\5\x09", 0xB: le(3, 2), 0xD: b"\x0a"}, "Maker", "X13", "1.01", "B1", "A1")
    table += structure(3, 3, 22, {4: b"\1\x17\2\3\4\3\3\3\3", 0x11: b"\0\2\0\0\5"}, "Maker", "1", "C1", "A2", "SKU 2")
    for socket in range(2):
        table += structure(4, 0x10 + socket, 48, {4: b"\1\3\xfe\2", 8: le(0x178BFBFF00A10F11, 8), 0x10: b"\3\x8e",
                                                  0x12: le(100, 2), 0x14: le(3700, 2), 0x16: le(2400, 2),
                                                  0x18: b"\x41\x3d", 0x1A: le(0x20, 2), 0x1C: le(0x20, 2),
                                                  0x1E: le(0x20, 2), 0x20: b"\4\5\6", 0x23: b"\xff\xff\xff",
                                                  0x28: le(0x6B, 2), 0x2A: le(384, 2), 0x2C: le(384, 2),
                                                  0x2E: le(768, 2)},
                           f"CPU{socket}", "AMD", "EPYC 9965", "0", "T", "P")
    table += structure(7, 0x20, 0x1B, {4: b"\1" + le(0x182, 2) + le(0x8180, 2) + le(0x8180, 2), 0x10: b"\6\5\7" + le(0x80000180, 4) * 2},
                       "L3")
    for slot in range(2):
        table += structure(9, 0x30 + slot, 17, {4: b"\1\xb6\x0d\4\4" + le(slot, 2), 0xD: le(slot, 2) + bytes([0x81, 8 + slot])},
                           f"SLOT{slot} PCIe 5.0 x16")
    table += structure(11, 0x40, 5, {4: b"\2"}, "one", "two")
    table += structure(16, 0x1000, 23, {4: b"\3\3\6" + le(0x80000000, 4), 0xD: le(3, 2), 0xF: le(3 << 40, 8)})
    for slot in range(3):
        table += memory_device(0x1100 + slot, slot)
    table += structure(19, 0x1200, 31, {4: le(0, 4) + le(0x1FFFFFF, 4), 0xC: le(0x1000, 2), 0xE: b"\2"})
    table += structure(19, 0x1201, 31, {4: b"\xff" * 8, 0xC: le(0x1000, 2), 0xE: b"\2", 0xF: le(1 << 32, 8),
                                        0x17: le((1 << 40) - 1, 8)})
    table += structure(32, 0x50, 11, {})
    table += structure(38, 0x60, 18, {4: b"\1\x20\x20\xff" + le(0xCA3, 8), 0x10: b"\0\5"})
    table += structure(38, 0x61, 18, {4: b"\3\x20\x20\xff" + le(0xFEA00000, 8), 0x10: b"\x40"})
    table += structure(41, 0x70, 11, {4: b"\1\x85\1" + le(0, 2) + b"\x41\1"}, "LAN1")
    table += structure(43, 0x80, 31, {4: b"NTC\0\2\0" + le(0x70002, 4), 0x12: b"\1"}, "TPM 2.0")
    table += structure(221, 0x90, 8, {4: b"\1\2\3\4"}, "oem")
    table += structure(126, 0x91, 6, {})
    return table + (structure(127, 0xFFFF, 4, {}) if end else b"")


def smbios2(table, count, address=0x20):
    middle = bytearray(b"_DMI_\0" + le(len(table), 2) + le(address, 4) + le(count, 2) + b"\x28")
    middle[5] = -sum(middle) & 0xFF
    entry = bytearray(b"_SM_\0\x1f\2\x08" + le(100, 2) + bytes(6) + middle)
    entry[4] = -sum(entry) & 0xFF
    return bytes(entry).ljust(0x20, b"\0") + table


# --- PCI: a GPU, a network card, a port ---

def header(vendor, device, class_code, fields, bridge=False):
    return {0: le(vendor, 2) + le(device, 2) + le(0x406, 2) + le(0x10, 2) + b"\xa1" + le(class_code, 3),
            0xE: b"\1" if bridge else b"\0", 0x34: b"\x60", **fields}


def extended(kind, version, following):
    return le(following << 20 | version << 16 | kind, 4)


GPU = put(4096, header(0x10DE, 0x2330, 0x030200, {
    0x10: le(0x2000000000 | 0xC, 8), 0x18: le(0x3000000000 | 0xC, 8), 0x20: le(0xD0000004, 8),
    0x2C: le(0x10DE, 2) + le(0x16C1, 2),
    0x60: b"\1\x68" + le(3, 2) + le(8, 2),
    0x68: b"\5\x78" + le(0x1B9, 2) + le(0xFEE00000, 8) + le(0x4321, 2),
    0x78: b"\x10\xb4" + le(2, 2) + le(0x10008FE2, 4) + le(0x2937, 2) + le(5, 2) + le(0x1105, 4) + le(0x40, 2) +
    le(0x1084, 2),
    0xA4: le(0x3E, 4), 0xA8: le(5, 2),
    0xB4: b"\x11\0" + le(0x8007, 2) + le(0xB90000, 4) + le(0xBA0000, 4),
    0x100: extended(0x1, 2, 0x150) + le(0x5010, 4) + le(0x400000, 4) + le(0x462030, 4) + le(0x31C1, 4) + le(0x2000, 4) +
    le(0x14, 4),
    0x150: extended(0x3, 1, 0x160) + le(0x48B02D0300123456, 8),
    0x160: extended(0xD, 1, 0x170) + le(0x5F, 2) + le(0x1D, 2),
    0x170: extended(0xE, 1, 0x180) + le(0x300, 2),
    0x180: extended(0xF, 1, 0x190) + le(0x3F, 2) + le(0x8005, 2),
    0x190: extended(0x10, 1, 0x1D0) + le(0, 4) + le(0x19, 2) + le(0, 2) + le(16, 2) + le(16, 2) + le(4, 2) + le(0, 2) +
    le(4, 2) + le(1, 2) + le(0, 2) + le(0x2330, 2) + le(0x553, 4) + le(1, 4),
    0x1D0: extended(0x15, 1, 0x1E0) + le(0xFFF0, 4) + le(0xB21, 4),
    0x1E0: extended(0x23, 1, 0x1F0) + le(0x1E98 | 1 << 16 | 16 << 20, 4) + le(0, 2),
    0x1F0: extended(0x2E, 1, 0x210) + le(0, 4) + le(0, 4) + le(0, 4),
    0x210: extended(0xB, 1, 0) + le(0x1234 | 2 << 16 | 16 << 20, 4)}))
NIC = put(256, header(0x15B3, 0x1021, 0x020000, {
    0x10: le(0xE0000000, 4), 0x14: le(0xE001, 4), 0x2C: le(0x15B3, 2) + le(0x0041, 2),
    0x60: b"\x09\x70\x08" + bytes(range(5)), 0x70: b"\x13\0\6\3\0\0"}))
PORT = put(4096, header(0x1022, 0x14AB, 0x060400, {
    0x18: b"\0\1\4", 0x60: b"\x0d\x68\0\0" + le(0x1022, 2) + le(0x1453, 2),
    0x68: b"\x10\0" + le(0x142, 2) + le(0x8022, 4) + le(0x2830, 2) + le(0, 2) + le(0x715105, 4) + le(0, 2) + le(0x7105, 2) +
    le(0x280040, 4) + le(0, 2) + le(0x40, 2), 0x8C: bytes(4)}, bridge=True))


def rom(code=0, last=True, **more):
    fields = {0: b"\x55\xaa\2", 0x18: le(0x20, 2), 0x20: b"PCIR" + le(0x10DE, 2) + le(0x2330, 2), 0x2A: le(24, 2),
              0x2D: le(0x30000, 3), 0x30: le(2, 2), 0x34: bytes([code, 0x80 * last])}
    fields.update({int(k[1:], 16): v for k, v in more.items()})
    image = bytearray(put(1024, fields))
    image[-1] = -sum(image) & 0xFF
    return bytes(image)


class Decode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="report-decode-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "file")

    def write(self, data):
        with open(self.path, "wb") as f:
            f.write(data)
        return self.path

    def decode(self, kind, data, status=0):
        code, j = kit.decode(kind, self.write(data))
        self.assertEqual(code, status, j and j.get("refused"))
        return j

    def same(self, compared, least):
        faults, values = compared
        self.assertEqual(faults, [])
        self.assertGreaterEqual(values, least)

    def refused(self, kind, data, reason, offset, **number):
        j = self.decode(kind, data, 3)
        inner = j.get("refused") or next(d["refused"] for d in j["devices"] if "refused" in d)
        self.assertEqual(inner, {"reason": reason, "offset": offset, **number})
        return j

    # SMBIOS

    def test_smbios_like_dmidecode(self):
        table = server()
        for data in (kit.smbios3(table), smbios2(table, COUNT)):
            j = self.decode("smbios", data)
            self.same(kit.compare_smbios(self.path, j), 130)
            self.assertNotIn("notes", j)

    def test_smbios_shapes(self):
        table = server()
        want = self.decode("smbios", kit.smbios3(table))

        def same_structures(j, shape):
            self.assertEqual(j["file"], shape)
            self.assertEqual([{**s, "offset": 0} for s in j["structures"]],
                             [{**s, "offset": 0} for s in want["structures"]])

        same_structures(want, "dump")
        j = self.decode("smbios", table)
        same_structures(j, "table")
        self.assertEqual((j["entry"], len(j["notes"])), (None, 1))
        same_structures(self.decode("smbios", kit.smbios3(table, 0x7FEE0000)[:24] + table), "joined")
        memory = put(0x10000, {0x50: smbios2(table, COUNT, 0xF1000)[:31], 0x1000: table})
        same_structures(self.decode("smbios", memory), "memory")

    def test_smbios_tolerated(self):
        j = self.decode("smbios", smbios2(server(end=False), 40))
        self.assertEqual(j["notes"], ["the entry point states 40 structures, there are 23",
                                      "no structure of type 127 marks the end"])
        table = server()
        data = smbios2(table + bytes(100), COUNT)[:-100]
        self.assertIn("the file has", self.decode("smbios", data)["notes"][0])

    def test_smbios_refused(self):
        dump = kit.smbios3(server())
        cut = self.refused("smbios", dump[:0x20 + 40], "smbios.strings", "0x20", structure=0)
        self.assertEqual(cut["structures"], [])
        bios = len(structure(0, 0, 26, {}, "Maker Inc.", "1.2a", "02/01/2026"))
        j = self.refused("smbios", dump[:0x20 + bios + 3], "smbios.structure", hex(0x20 + bios), structure=1)
        self.assertEqual(len(j["structures"]), 1)
        self.refused("smbios", dump[:5] + b"\0" + dump[6:], "smbios.checksum", "0x0", structure=0)
        self.refused("smbios", dump[:24], "smbios.place", "0x0", structure=0)
        self.refused("smbios", bytes(0x10000), "smbios.entry", "0x0", structure=0)

    # PCI

    def test_pci_like_lspci(self):
        text = kit.dump(GPU, "41:00.0") + kit.dump(NIC, "0000:81:00.0").replace("0000:", "") + kit.dump(PORT, "00:01.1")
        j = self.decode("pci", text.encode())
        self.same(kit.compare_pci(self.path, j), 110)
        self.assertEqual([d["slot"] for d in j["devices"]], ["41:00.0", "81:00.0", "00:01.1"])

    def test_pci_raw(self):
        whole = self.decode("pci", GPU)["devices"][0]
        self.assertEqual((whole["vendor"], len(whole["capabilities"])), ("0x10de", 14))
        link = next(c for c in whole["capabilities"] if c["name"] == "express")
        self.assertEqual((link["link_speed"], link["link_width"]), ("16GT/s", 8))
        part = self.decode("pci", GPU[:256])["devices"][0]
        self.assertEqual((len(part["capabilities"]), len(part["notes"])), (4, 1))
        least = self.decode("pci", GPU[:64])["devices"][0]
        self.assertEqual((len(least["capabilities"]), len(least["notes"])), (0, 1))

    def test_pci_refused(self):
        self.refused("pci", b"\xff" * 4096, "pci.absent", "0x0", device=0)
        self.refused("pci", GPU[:100], "pci.size", "0x0", device=0)
        self.refused("pci", put(256, {0: NIC, 0x71: b"\x60"}), "pci.capability-loop", "0x60", device=0)
        self.refused("pci", put(256, {0: NIC, 0x71: b"\x30"}), "pci.capability", "0x30", device=0)
        self.refused("pci", b"01:00.0 x\n00: 0\n", "pci.dump", "0x10", device=0)
        self.refused("pci", b"no device in it\n", "pci.dump", "0x0", device=0)
        # the others of a file are shown all the same
        text = kit.dump(b"\xff" * 256, "41:00.0") + kit.dump(NIC, "81:00.0")
        j = self.refused("pci", text.encode(), "pci.absent", "0x0", device=0)
        self.assertEqual(j["devices"][1]["vendor"], "0x15b3")

    # ROM

    def test_rom(self):
        efi = rom(3, x2=le(2, 2) + le(0xEF1, 4) + le(11, 2) + le(0x8664, 2) + le(1, 2), x16=le(0x50, 2))
        j = self.decode("rom", bytes(512) + rom(last=False) + efi + b"\xff" * 512)
        self.assertEqual([(i["offset"], i["code"], i["last"]) for i in j["images"]],
                         [("0x200", "bios", False), ("0x600", "efi", True)])
        self.assertEqual([i.get(k) for i, k in zip(j["images"], ("checksum", "machine"))], ["right", "x64"])
        self.assertEqual(len(j["notes"]), 2)
        j = self.decode("rom", rom(last=False))
        self.assertEqual(j["notes"], ["no image says that it is the last"])

    def test_rom_refused(self):
        self.refused("rom", bytes(2048), "rom.signature", "0x0", image=0)
        self.refused("rom", rom(last=False) + bytes(512), "rom.signature", "0x400", image=1)
        self.refused("rom", rom(x20=b"PCIX"), "rom.structure", "0x0", image=0)
        self.refused("rom", rom()[:512], "rom.length", "0x0", image=0)
        # the sum is judged behind all images
        wrong = bytearray(rom(last=False))
        wrong[100] ^= 1
        j = self.refused("rom", bytes(wrong) + rom(), "rom.checksum", "0x0", image=0)
        self.assertEqual([i["checksum"] for i in j["images"]], ["wrong", "right"])

    # the command

    def run_command(self, *argv, **more):
        return subprocess.run([kit.CTL, "report", "decode", *argv], check=False, capture_output=True, text=True,
                              timeout=60, **more)

    def test_text(self):
        self.write(kit.dump(GPU, "41:00.0").encode())
        done = self.run_command("--type", "pci", self.path)
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.split("\n")
        for line in ("devices 0", "  slot                     41:00.0", "    capabilities 2",
                     "      link_width               8"):
            self.assertIn(line, lines)
        self.write(server())
        text = self.run_command("--type", "smbios", self.path).stdout
        self.assertIn("note: there is no entry point", text)
        self.assertIn("Nine\\x07Thousand", text)
        self.write(bytes(2048))
        done = self.run_command("--type", "rom", self.path)
        self.assertEqual(done.returncode, 3)
        self.assertIn("refused.reason           rom.signature", done.stdout)
        self.assertIn("rom.signature", done.stderr)

    def test_stable(self):
        """The same bytes give the same text"""
        path = self.write(kit.smbios3(server()))
        runs = {hashlib.sha256(self.run_command("--type", "smbios", "--json", path).stdout.encode()).digest()
                for _ in range(2)}
        self.assertEqual(len(runs), 1)

    def test_exit(self):
        self.assertEqual(self.run_command("--type", "rom", "/nonexistent/file").returncode, 1)
        for argv in ((), ("--type", "pci"), ("--type", "acpi", self.path), (self.path,)):
            self.assertEqual(self.run_command(*argv).returncode, 2, argv)


if __name__ == "__main__":
    tests = unittest.main(exit=False, verbosity=0).result
    bad = len(tests.failures) + len(tests.errors)
    print(f"{tests.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
