# SPDX-License-Identifier: Apache-2.0
"""Machines as `bootgate record` leaves them, made up from what the vendors'
manuals and the kernel say: each source has the form of the kernel's own.

A machine has files, links, empty folders, registers (one value for all
processors, or a dictionary by processor) and CPUID leaves; write() makes the
folder. None is of a real machine.
"""

import os
import struct
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
import evlog  # noqa: E402

GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
SECURITY = "d719b2cb-3d3a-4596-a3bc-dad00e67656f"
SGX_STATUS = "SgxRegistrationStatus-f236c5dc-a491-4bbe-bcdd-88885770df45"
X509 = uuid.UUID("a5c059a1-94e4-4aa7-87b5-ab155c2bf072").bytes_le
SHA256 = uuid.UUID("c1c41626-504c-4092-aca9-41f936934328").bytes_le
OWNER = uuid.UUID("77fa9abd-0359-4d32-bd60-28f4e78f784b").bytes_le
UUID = bytes(range(0xA1, 0xB1))
CPUS = 4
A, B, C, D = range(4)
EFI = "sys/firmware/efi/efivars"
TPM = "sys/devices/platform/MSFT0101:00/tpm/tpm0"
LOG = "sys/kernel/security/tpm0/binary_bios_measurements"
DMI = "sys/firmware/dmi/tables"
CPU = "sys/devices/system/cpu"
CMDLINE = "proc/cmdline"


class Machine:
    def __init__(self, name):
        self.name = name
        self.files, self.links, self.folders = {}, {}, set()
        self.msr, self.cpuid = {}, {}

    # -- what a fault changes ------------------------------------------------

    def text(self, path, text):
        assert path in self.files, path
        self.files[path] = text.encode() + b"\n"

    def remove(self, path):
        """A file, or all below a folder; the folder is gone too."""
        gone = [p for p in self.files if p == path or p.startswith(path + "/")]
        gone += [p for p in self.links if p == path or p.startswith(path + "/")]
        assert gone, path
        for p in gone:
            self.files.pop(p, None)
            self.links.pop(p, None)
        self.folders.add(os.path.dirname(path))

    def set_bits(self, msr, *bits):
        for bit in bits:
            assert not self.msr[msr] >> bit & 1, (hex(msr), bit)
            self.msr[msr] |= 1 << bit

    def clear_bits(self, msr, *bits):
        for bit in bits:
            assert self.msr[msr] >> bit & 1, (hex(msr), bit)
            self.msr[msr] &= ~(1 << bit)

    def one_differs(self, msr, value, cpu=2):
        """All processors but one have what they had."""
        values = {n: self.msr[msr] for n in range(CPUS)}
        values[cpu] = value
        self.msr[msr] = values

    def clear_leaf(self, leaf, register, bit, subleaf=0):
        values = list(self.cpuid[leaf, subleaf])
        assert values[register] >> bit & 1
        values[register] &= ~(1 << bit)
        self.cpuid[leaf, subleaf] = tuple(values)

    def leaf(self, leaf, register, value, subleaf=0):
        values = list(self.cpuid[leaf, subleaf])
        values[register] = value
        self.cpuid[leaf, subleaf] = tuple(values)

    def efi(self, name, content, attributes=6):
        self.files[f"{EFI}/{name}"] = struct.pack("<I", attributes) + content

    def smbios(self, table):
        """A table (structures of smbios()) and its entry point."""
        self.files[f"{DMI}/DMI"] = table
        head = bytearray(b"_SM3_" + bytes([0, 24, 3, 5, 0, 1, 0])
                         + struct.pack("<IQ", len(table), 0x1000))
        head[5] = -sum(head) & 0xFF
        self.files[f"{DMI}/smbios_entry_point"] = bytes(head)

    # -- the folder ----------------------------------------------------------

    def registers(self):
        """The text files of registers."""
        out = {"dev/cpu/cpuid.txt": "".join(
            f"0x{leaf:08x} 0x{sub:08x} " + " ".join(f"0x{v:08x}" for v in values) + "\n"
            for (leaf, sub), values in sorted(self.cpuid.items()))}
        for cpu in range(CPUS):
            lines = ""
            for msr, value in sorted(self.msr.items()):
                value = value[cpu] if isinstance(value, dict) else value
                lines += f"0x{msr:08x} " + ("-" if value is None else f"0x{value:016x}") + "\n"
            out[f"dev/cpu/{cpu}/msr.txt"] = lines
        return {path: text.encode() for path, text in out.items()}

    def write(self, root):
        for path in self.folders:
            os.makedirs(os.path.join(root, path), exist_ok=True)
        for path, content in {**self.registers(), **self.files}.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as f:
                f.write(content)
        for path, to in self.links.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            os.symlink(to, full)


def signature_list(kind, *entries):
    size = 16 + len(entries[0])
    return kind + struct.pack("<III", 28 + size * len(entries), 0, size) + b"".join(
        OWNER + e for e in entries)


def certificate(name):
    """Not a real one: what is looked at is the name in it."""
    return b"\x30\x82\x02\x00" + name.encode() + bytes(96)


def structure(kind, handle, formatted, *strings):
    """One of SMBIOS: formatted without its header."""
    return (struct.pack("<BBH", kind, 4 + len(formatted), handle) + formatted
            + (b"".join(s.encode() + b"\0" for s in strings) or b"\0") + b"\0")


def smbios(product, bios):
    return (structure(0, 0, bytes([1, 2, 0, 0xF0, 3]) + bytes(12), "Maker Inc.", bios, "06/01/2026")
            + structure(1, 1, bytes([1, 2, 3, 4]) + UUID + bytes([6, 0, 0]),
                        "Maker", product, "1", "SERIAL-SYSTEM")
            + structure(2, 2, bytes([1, 2, 3, 4, 5]), "Maker", "Board", "1", "SERIAL-BOARD",
                        "ASSET-BOARD")
            + structure(3, 3, bytes([1, 0x17, 2, 3, 4]), "Maker", "1", "SERIAL-CHASSIS",
                        "ASSET-CHASSIS")
            + structure(11, 4, bytes([1]), "SERIAL-IN-OEM-STRINGS")
            + structure(127, 5, b""))


def brand(m, name):
    raw = name.encode().ljust(48, b"\0")
    for i in range(3):
        m.cpuid[0x80000002 + i, 0] = struct.unpack_from("<IIII", raw, 16 * i)


def common(m, product, bios):
    """What a good server of either vendor has."""
    m.smbios(smbios(product, bios))
    for name, value in (("SecureBoot", 1), ("SetupMode", 0), ("AuditMode", 0)):
        m.efi(f"{name}-{GLOBAL}", bytes([value]))
    m.efi(f"PK-{GLOBAL}", signature_list(X509, certificate("CN=Maker Platform Key")), 0x27)
    m.efi(f"dbx-{SECURITY}", signature_list(SHA256, bytes(range(32)), bytes(32)), 0x27)

    with open(os.path.join(os.path.dirname(__file__), "../data/eventlog/server.txt"),
              encoding="ascii") as f:
        log = evlog.describe(f.read())
    m.files[LOG] = log.pack()
    values = log.replay()["sha256"]
    m.links["sys/class/tpm/tpm0"] = "../../devices/platform/MSFT0101:00/tpm/tpm0"
    m.files[f"{TPM}/tpm_version_major"] = b"2\n"
    for pcr in range(24):
        start = b"\xff" * 32 if 17 <= pcr <= 22 else bytes(32)
        m.files[f"{TPM}/pcr-sha256/{pcr}"] = (
            values.get(pcr, start).hex().upper().encode() + b"\n")

    m.files["proc/sys/kernel/tainted"] = b"0\n"
    m.files[CMDLINE] = b"console=ttyS0 BOOTIF=01-52-54-00-12-34-56 quiet\n"
    m.files["sys/kernel/security/lockdown"] = b"[none] integrity confidentiality\n"

    for name in ("present", "online"):
        m.files[f"{CPU}/{name}"] = f"0-{CPUS - 1}\n".encode()
    m.files[f"{CPU}/smt/active"] = b"1\n"
    for name, text in (("meltdown", "Not affected"), ("spectre_v1", "Mitigation: usercopy/swapgs barriers"),
                       ("spectre_v2", "Mitigation: Enhanced IBRS; IBPB: conditional"),
                       ("srbds", "Not affected")):
        m.files[f"{CPU}/vulnerabilities/{name}"] = text.encode() + b"\n"


def microcode(m, revision):
    for cpu in range(CPUS):
        m.files[f"{CPU}/cpu{cpu}/microcode/version"] = f"0x{revision:x}\n".encode()


def amd(m, signature, name, revision):
    m.cpuid[0, 0] = (0x10, 0x68747541, 0x444D4163, 0x69746E65)
    m.cpuid[1, 0] = (signature, 0x00800800, 0x7EF8320B, 0x178BFBFF)
    m.cpuid[0x80000000, 0] = (0x80000028, 0x68747541, 0x444D4163, 0x69746E65)
    m.cpuid[0x80000001, 0] = (signature, 0x40000000, 0x75C237FF, 0x2FD3FBFF)
    brand(m, name)
    microcode(m, revision)
    # SME, SEV, page flush, ES, SNP, VMPL; C-bit 51, 5 bits less, 4 levels
    m.cpuid[0x8000001F, 0] = (0x0101FD3F, 0x00004173, 1006, 100)
    m.msr[0xC0010010] = 0x0000000000F40000  # SMEE; SNP not started
    m.msr[0xC0010015] = 0x0000000109000011
    m.msr[0xC0010114] = 0
    # 384 GiB below 0x6050000000; the table reserved above what it needs
    m.msr[0xC0010132] = 0x0000005F00000000
    m.msr[0xC0010133] = 0x0000005F605FFFFF
    m.files["proc/iomem"] = (b"00000000-00000fff : Reserved\n"
                             b"00001000-0009ffff : System RAM\n"
                             b"00100000-75daffff : System RAM\n"
                             b"  6ac00000-6bffffff : Kernel code\n"
                             b"100000000-604fffffff : System RAM\n"
                             b"fd00000000-ffffffffff : Reserved\n")
    for i in range(2):
        device = f"sys/devices/pci0000:{i}0/0000:{i}0:00.2/iommu/ivhd{i}"
        m.files[f"{device}/amd-iommu/features"] = b"1d:a5bf732fa2295afe\n"
        m.links[f"sys/class/iommu/ivhd{i}"] = f"../../devices/pci0000:{i}0/0000:{i}0:00.2/iommu/ivhd{i}"
    return m


def genoa():
    m = Machine("genoa")
    common(m, "Server G", "1.8")
    return amd(m, 0x00A10F11, "AMD EPYC 9554 64-Core Processor", 0x0A10114F)


def turin():
    m = Machine("turin")
    common(m, "Server T", "1.2")
    amd(m, 0x00B00F21, "AMD EPYC 9575F 64-Core Processor", 0x0B002151)
    # has segmented tables, and firmware made none
    m.leaf(0x8000001F, A, 0x0181FD3F)
    m.msr[0xC0010136] = 0x0000000000001800
    return m


def genoa_host():
    """The same under the host's kernel: SNP started."""
    m = genoa()
    m.name = "genoa-host"
    m.set_bits(0xC0010010, 24, 25, 19)
    m.files["sys/module/kvm_amd/parameters/sev_snp"] = b"Y\n"
    return m


def emr():
    m = Machine("emr")
    common(m, "Server I", "2.3")
    m.cpuid[0, 0] = (0x20, 0x756E6547, 0x6C65746E, 0x49656E69)
    m.cpuid[1, 0] = (0x000C06F2, 0x00800800, 0x7FFEFBFF & ~(1 << 31), 0xBFEBFBFF)
    m.cpuid[7, 0] = (2, 0xF3BFBFFF, 0xFB417FFE, 0xFFDD4432)
    m.cpuid[0x12, 2] = (0x40000001, 0x00000040, 0xFE000001, 0x00000001)
    m.cpuid[0x12, 3] = (0x00000001, 0x00000080, 0xFE000001, 0x00000001)
    m.cpuid[0x12, 4] = (0, 0, 0, 0)
    brand(m, "Intel(R) Xeon(R) Platinum 8592+")
    microcode(m, 0x21000283)
    m.msr.update({
        0x3A: 0x160005, 0x87: 0x200000001F, 0xA0: 0, 0xCE: 0x0804083DF3011800,
        0xFE: 0xDD0A, 0x13A: 0x500000069, 0x503: 0, 0x982: 0x0005005600000003,
        0xC80: 0x40000000, 0x1400: 0x87800008, 0x1401: 0x3FFFFF800C00})
    m.efi(SGX_STATUS, struct.pack("<HHHB", 1, 3, 3, 0), 7)
    return m


def emr_host():
    m = emr()
    m.name = "emr-host"
    m.files["proc/cpuinfo"] = (b"processor\t: 0\nvendor_id\t: GenuineIntel\n"
                               b"flags\t\t: fpu vme tme tdx_host_platform sgx\n\n")
    m.files["sys/module/kvm_intel/parameters/tdx"] = b"Y\n"
    return m


# by name: how it is made, and the stage at which it is checked
MACHINES = {"genoa": (genoa, "gate"), "turin": (turin, "gate"), "emr": (emr, "gate"),
            "genoa-host": (genoa_host, "host"), "emr-host": (emr_host, "host")}
