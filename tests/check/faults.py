# SPDX-License-Identifier: Apache-2.0
"""One fault each on a good machine of machines.py, and by hand: the one finding
that it must lead to, a word of the remedy that must be named, and where the
rule comes from. Nothing else may change, but that children are skipped.

(name, machine, change, check, result, remedy, source of the rule)
"""

from machines import (A, B, C, CMDLINE, CPU, CPUS, D, EFI, GLOBAL, LOG, SECURITY,
                      SGX_STATUS, TPM, X509, certificate, signature_list)
import struct

AMD = 0x8000001F


def no_efi(m):
    m.remove("sys/firmware/efi")


def no_bios_version(m):
    table = bytearray(m.files["sys/firmware/dmi/tables/DMI"])
    table[5] = 0  # number of the version's string
    m.smbios(bytes(table))


def torn_smbios(m):
    m.smbios(m.files["sys/firmware/dmi/tables/DMI"][:40])


def iommus(features):
    def change(m):
        path = "sys/devices/pci0000:10/0000:10:00.2/iommu/ivhd1/amd-iommu/features"
        m.text(path, features)
    return change


def no_iommu(m):
    for i in range(2):
        m.remove(f"sys/class/iommu/ivhd{i}")


def mixed_microcode(m):
    m.text(f"{CPU}/cpu3/microcode/version", "0xa101144")


def old_microcode(m):
    for cpu in range(CPUS):
        m.text(f"{CPU}/cpu{cpu}/microcode/version", "0xa101147")


def cmdline(word):
    return lambda m: m.text(CMDLINE, f"console=ttyS0 {word} quiet")


def other_banks(m):
    for path in [p for p in m.files if p.startswith(f"{TPM}/pcr-sha256/")]:
        m.files[path.replace("sha256", "sha1")] = m.files.pop(path)


def brand(name):
    def change(m):
        raw = name.encode().ljust(48, b"\0")
        for i in range(3):
            m.cpuid[0x80000002 + i, 0] = struct.unpack_from("<IIII", raw, 16 * i)
    return change


def no_epc(m):
    m.cpuid[0x12, 2] = (0, 0, 0, 0)


def smaller_rmp(m):
    m.msr[0xC0010133] = 0x0000005F00000000 + 0x60504000 - 0x2000 - 1  # half the bookkeeping


def rmp_at_the_end(m):
    """As large as RAM needs, but it does not cover itself, behind RAM."""
    m.msr.update({0xC0010132: 0x6100000000, 0xC0010133: 0x6100000000 + 0x60504000 - 1})


def more_memory(m):
    m.files["proc/iomem"] += b"10000000000-1007fffffff : System RAM\n"


FAULTS = [
    ("bios-version", "genoa", no_bios_version, "firmware.smbios", "fail", "BIOS",
     "DMTF DSP0134 7.1: offset 05h"),
    ("smbios-torn", "genoa", torn_smbios, "firmware.smbios", "fail", "BIOS",
     "DMTF DSP0134 6.1.3: a structure ends with two NUL"),
    ("legacy-boot", "emr", no_efi, "uefi.boot", "fail", "CSM off",
     "kernel: /sys/firmware/efi is there after a UEFI boot only"),
    ("secure-boot-off", "genoa", lambda m: m.efi(f"SecureBoot-{GLOBAL}", b"\0"),
     "uefi.secure-boot", "fail", "Secure Boot Enabled", "UEFI 2.10 3.3: SecureBoot is 1 when on"),
    ("setup-mode", "genoa", lambda m: m.efi(f"SetupMode-{GLOBAL}", b"\1"), "uefi.setup-mode",
     "fail", "platform key", "UEFI 2.10 32.3: SetupMode is 1 without a PK"),
    ("audit-mode", "emr", lambda m: m.efi(f"AuditMode-{GLOBAL}", b"\1"), "uefi.setup-mode",
     "fail", "Audit Mode", "UEFI 2.10 32.3.1: Audit Mode"),
    ("test-key", "emr", lambda m: m.efi(f"PK-{GLOBAL}", signature_list(
        X509, certificate("CN=DO NOT TRUST - Test PK"))), "uefi.pk", "fail", "newer BIOS",
     "PKfail (VU#455367); fwupd uefi-pk"),
    ("test-key-ship", "genoa", lambda m: m.efi(f"PK-{GLOBAL}", signature_list(
        X509, certificate("CN=DO NOT SHIP"))), "uefi.pk", "fail", "newer BIOS",
     "PKfail (VU#455367); fwupd uefi-pk"),
    ("no-pk", "genoa", lambda m: m.remove(f"{EFI}/PK-{GLOBAL}"), "uefi.pk", "fail",
     "platform key", "UEFI 2.10 32.3"),
    ("no-dbx", "genoa", lambda m: m.remove(f"{EFI}/dbx-{SECURITY}"), "uefi.dbx", "fail", "dbx",
     "UEFI 2.10 32.6: forbidden signatures"),
    ("empty-dbx", "emr", lambda m: m.efi(f"dbx-{SECURITY}", b""), "uefi.dbx", "fail", "dbx",
     "UEFI 2.10 32.6: forbidden signatures"),

    ("tpm-1.2", "genoa", lambda m: m.text(f"{TPM}/tpm_version_major", "1"), "tpm.version",
     "fail", "version 2.0", "kernel: sysfs-class-tpm"),
    ("no-tpm", "emr", lambda m: m.remove("sys/class/tpm/tpm0"), "tpm.version", "fail",
     "Enabled", "kernel: sysfs-class-tpm"),
    ("sha1-bank-only", "genoa", other_banks, "tpm.bank", "fail", "SHA-256 PCR bank",
     "kernel: sysfs-class-tpm pcr-<hash>"),
    ("nothing-measured", "genoa", lambda m: m.text(f"{TPM}/pcr-sha256/7", "0" * 64),
     "tpm.measured", "fail", "measured boot", "TCG PFP 1.06 3.3.4: a separator in each of 0 to 7"),
    ("extended-unlogged", "emr", lambda m: m.text(f"{TPM}/pcr-sha256/2", "A5" * 32), "tpm.log",
     "fail", "extends without logging", "TCG PFP 1.06 10: the log leads to the registers"),
    ("log-torn", "genoa", lambda m: m.files.update({LOG: m.files[LOG][:-1]}), "tpm.log", "fail",
     "log area", "TCG PFP 1.06 10.2.2"),

    ("forced-module", "genoa", lambda m: m.text("proc/sys/kernel/tainted", "2"), "kernel.taint",
     "fail", "boot again", "kernel: tainted-kernels, bit 1"),
    ("machine-check", "emr", lambda m: m.text("proc/sys/kernel/tainted", "2064"), "kernel.taint",
     "fail", "replace the part", "kernel: tainted-kernels, bits 4 and 11"),
    ("firmware-workaround", "emr", lambda m: m.text("proc/sys/kernel/tainted", "2048"),
     "kernel.taint", "warn", "newer BIOS", "kernel: tainted-kernels, bit 11"),
    ("iommu-off", "genoa", cmdline("amd_iommu=off"), "kernel.cmdline", "fail", "parameter",
     "kernel: kernel-parameters"),
    ("memory-hidden", "emr", cmdline("mem=64G"), "kernel.cmdline", "fail", "parameter",
     "kernel: kernel-parameters"),

    ("other-vendor-model", "genoa", lambda m: m.leaf(1, A, 0x00830F10), "cpu.model", "fail",
     "later generation", "AMD: family 0x17 has no SNP"),
    ("ice-lake", "emr", lambda m: m.leaf(1, A, 0x000606A6), "cpu.model", "fail",
     "later generation", "linux intel-family.h: 0x6a is Ice Lake, without TDX"),
    ("model-not-known", "emr", lambda m: m.leaf(1, A, 0x000F06F0), "cpu.model", "warn",
     "later generation", "not in the list"),
    ("virtual", "genoa", lambda m: m.leaf(1, C, 0xFEF8320B), "cpu.bare-metal", "warn",
     "machine itself", "AMD APM 3 E.3.2: CPUID 1 ECX bit 31 is for hypervisors"),
    ("engineering-sample", "genoa", brand("AMD Eng Sample: 100-000000789-04"), "cpu.brand",
     "warn", "engineering samples", "virtee snphost: EPYC in the name"),
    ("client-part", "emr", brand("Intel(R) Core(TM) i9"), "cpu.brand", "warn", "server processor",
     "Intel: Xeon in the name"),
    ("cpu-offline", "emr", lambda m: m.text(f"{CPU}/present", "0-7"), "cpu.online", "fail",
     "maxcpus", "kernel: cputopology"),
    ("mixed-microcode", "genoa", mixed_microcode, "cpu.microcode", "fail", "newer BIOS",
     "kernel: one revision on all, else it warns"),
    ("vulnerable", "emr", lambda m: m.text(f"{CPU}/vulnerabilities/srbds",
                                           "Vulnerable: No microcode"),
     "cpu.vulnerable", "fail", "microcode", "kernel: sysfs-devices-system-cpu"),
    ("sinkclose", "genoa", old_microcode, "cpu.sinkclose", "fail", "AGESA",
     "AMD-SB-7014; fwupd cpu.quirk"),
    ("debug-on", "emr", lambda m: m.set_bits(0xC80, 0), "cpu.debug", "fail", "Debug Interface",
     "Intel SDM 4: IA32_DEBUG_INTERFACE bit 0"),
    ("debug-unlocked", "emr", lambda m: m.clear_bits(0xC80, 30), "cpu.debug", "fail",
     "Debug Interface", "Intel SDM 4: IA32_DEBUG_INTERFACE bit 30"),
    ("debug-used", "emr", lambda m: m.set_bits(0xC80, 31), "cpu.debug", "fail",
     "Debug Interface", "Intel SDM 4: IA32_DEBUG_INTERFACE bit 31"),
    ("not-verified", "emr", lambda m: m.clear_bits(0x13A, 6), "cpu.boot-guard", "warn", "fused",
     "coreboot cbnt.c: verified_boot"),
    ("smm-open", "genoa", lambda m: m.clear_bits(0xC0010015, 0), "amd.smm-lock", "fail", "SMM",
     "AMD PPR: HWCR.SmmLock"),
    ("smm-open-on-one", "turin", lambda m: m.one_differs(0xC0010015, 0x109000010),
     "amd.smm-lock", "fail", "SMM", "AMD PPR: HWCR.SmmLock, of each core"),

    ("svm-off", "genoa", lambda m: m.set_bits(0xC0010114, 4), "snp.svm", "fail", "SVM Mode",
     "AMD APM 2 15.30.1: VM_CR.SVMDIS"),
    ("no-svm", "genoa", lambda m: m.clear_leaf(0x80000001, C, 2), "snp.svm", "fail", "SVM Mode",
     "AMD APM 3 E.4.2"),
    ("old-leaves", "genoa", lambda m: m.leaf(0x80000000, A, 0x8000001E), "snp.leaf", "fail",
     "later generation", "AMD APM 3 E.4.17"),
    ("no-sme", "genoa", lambda m: m.clear_leaf(AMD, A, 0), "snp.sme", "fail", "BIOS",
     "AMD APM 3 E.4.17: bit 0"),
    ("no-sev", "turin", lambda m: m.clear_leaf(AMD, A, 1), "snp.sev", "fail", "SEV Control",
     "AMD APM 3 E.4.17: bit 1"),
    ("no-sev-es", "genoa", lambda m: m.clear_leaf(AMD, A, 3), "snp.sev-es", "fail", "BIOS",
     "AMD APM 3 E.4.17: bit 3"),
    ("snp-off", "genoa", lambda m: m.clear_leaf(AMD, A, 4), "snp.cpu", "fail", "SEV-SNP Support",
     "AMD APM 3 E.4.17: bit 4"),
    ("no-vmpl", "genoa", lambda m: m.clear_leaf(AMD, A, 5), "snp.vmpl", "fail", "BIOS",
     "AMD APM 3 E.4.17: bit 5"),
    ("one-vmpl", "turin", lambda m: m.leaf(AMD, B, 0x1173), "snp.vmpl", "fail", "BIOS",
     "AMD APM 3 E.4.17: EBX 15:12"),
    ("smee-off", "genoa", lambda m: m.clear_bits(0xC0010010, 23), "snp.smee", "fail", "SMEE",
     "AMD APM 2 7.10.1: SYSCFG bit 23"),
    ("smee-off-on-one", "genoa", lambda m: m.one_differs(0xC0010010, 0x740000), "snp.smee",
     "fail", "SMEE", "AMD APM 2 7.10.1: of each core"),
    ("no-es-asids", "genoa", lambda m: m.leaf(AMD, D, 1), "snp.asids", "fail",
     "ASID Space Limit", "AMD APM 3 E.4.17: EDX is the first of plain SEV"),
    ("rmp-not-reserved", "genoa", lambda m: m.msr.update({0xC0010132: 0, 0xC0010133: 0}),
     "snp.rmp", "fail", "RMP Table", "linux sev.c: has not been reserved by BIOS; AMDSEV 68"),
    ("rmp-upside-down", "genoa", lambda m: m.msr.update({0xC0010133: 0x5E00000000 - 1}),
     "snp.rmp", "fail", "RMP Table", "linux sev.c: RMP configuration not valid"),
    ("rmp-one-differs", "genoa", lambda m: m.one_differs(0xC0010132, 0), "snp.rmp", "fail",
     "RMP Table", "AMD APM 2 15.36.4: the same on all"),
    ("rmp-too-small", "genoa", smaller_rmp, "snp.rmp-size", "fail", "all memory",
     "linux sev.c: does not cover full system RAM; AMDSEV 107"),
    ("rmp-not-itself", "genoa", rmp_at_the_end, "snp.rmp-size", "fail", "all memory",
     "linux sev.c: the RMP itself must also be covered"),
    ("rmp-tiny", "genoa", lambda m: m.msr.update({0xC0010132: 0x2000, 0xC0010133: 0x3FFF}),
     "snp.rmp-size", "fail", "all memory", "AMDSEV 176: left at a default"),
    ("rmp-more-memory", "turin", more_memory, "snp.rmp-size", "fail", "all memory",
     "linux sev.c: max_pfn counts"),
    ("rmp-segmented", "turin", lambda m: m.msr.update({0xC0010133: 0, 0xC0010136: 0x1801}),
     "snp.rmp-size", "unknown", "all memory", "linux sev.c: a table of segments in memory"),
    ("iommu-without-snp", "genoa", iommus("1d:25bf732fa2295afe"), "snp.iommu", "fail", "IOMMU",
     "linux amd_iommu_types.h: FEATURE_SNP is bit 63"),
    ("no-iommu", "turin", no_iommu, "snp.iommu", "fail", "IOMMU Enabled",
     "linux amd/init.c: SNP needs an IOMMU"),
    ("snp-not-started", "genoa-host", lambda m: m.clear_bits(0xC0010010, 24, 25, 19),
     "snp.enabled", "fail", "host kernel 6.11", "linux sev.c: snp_enable, mfd_enable"),
    ("snp-on-one", "genoa-host", lambda m: m.one_differs(0xC0010010, 0xF40000), "snp.enabled",
     "fail", "host kernel 6.11", "linux sev.c: on_each_cpu"),
    ("pass-through", "genoa-host", cmdline("iommu=pt"), "snp.passthrough", "fail", "parameter",
     "linux amd/init.c: SNP forbids pass-through"),
    ("kvm-without-snp", "genoa-host",
     lambda m: m.text("sys/module/kvm_amd/parameters/sev_snp", "N"), "snp.kvm", "fail",
     "sev_snp=1", "linux kvm/svm/sev.c"),

    ("vmx-off", "emr", lambda m: m.clear_bits(0x3A, 2), "tdx.vmx", "fail", "VMX",
     "Intel SDM 3C 24.7"),
    ("no-vmx", "emr", lambda m: m.clear_leaf(1, C, 5), "tdx.vmx", "fail", "VMX",
     "Intel SDM 3C 24.6"),
    ("no-tme", "emr", lambda m: m.clear_leaf(7, C, 13), "tdx.tme-cpu", "fail", "processor",
     "Intel SDM 2A CPUID: 7 ECX bit 13"),
    ("tme-off", "emr", lambda m: m.clear_bits(0x982, 1), "tdx.tme", "fail",
     "Memory Encryption (TME)", "Intel SDM 4: IA32_TME_ACTIVATE bit 1"),
    ("tme-unlocked", "emr", lambda m: m.clear_bits(0x982, 0), "tdx.tme", "fail",
     "Memory Encryption (TME)", "Intel SDM 4: IA32_TME_ACTIVATE bit 0"),
    ("tme-without-mt", "emr", lambda m: m.clear_bits(0x982, 33, 34), "tdx.tme-keys", "fail",
     "TME-MT", "Intel SDM 4: IA32_TME_ACTIVATE 35:32"),
    ("no-tdx-keys", "emr", lambda m: m.msr.update({0x87: 0x3F}), "tdx.key-split", "fail",
     "key split", "linux tdx.c: too few private KeyIDs; canonical/tdx 33"),
    ("one-tdx-key", "emr", lambda m: m.msr.update({0x87: 0x10000003E}), "tdx.key-split", "fail",
     "key split", "linux tdx.c: at least two"),
    ("key-split-differs", "emr", lambda m: m.one_differs(0x87, 0x100000002F), "tdx.key-split",
     "fail", "key split", "Intel TDX module: the same on all packages"),
    ("no-tdx-part", "emr", lambda m: m.clear_bits(0xFE, 15), "tdx.seamrr-cpu", "fail",
     "Sapphire Rapids", "intel/tdx-tools 348: MTRRcap bit 15"),
    ("tdx-off", "emr", lambda m: m.clear_bits(0x1400, 3), "tdx.seamrr", "fail", "TDX Enable",
     "canonical/tdx 144: SEAMRR not configured"),
    ("no-seam-register", "emr", lambda m: m.msr.update({0x1400: None}), "tdx.seamrr", "fail",
     "TDX Enable", "the processor refuses the register"),
    ("seam-loader-off", "emr", lambda m: m.clear_bits(0x1401, 10, 11), "tdx.seamrr-on", "fail",
     "SEAM Loader", "canonical/tdx 83"),
    ("seamrr-unlocked", "emr", lambda m: m.clear_bits(0x1401, 10), "tdx.seamrr-lock", "fail",
     "P-SEAMLDR", "canonical/tdx 425: on, but not locked"),
    ("kernel-without-tdx", "emr-host", lambda m: m.files.update(
        {"proc/cpuinfo": b"processor\t: 0\nflags\t\t: fpu vme tdx_host_platforms sgx\n"}),
     "tdx.platform", "fail", "6.16", "linux cpufeatures.h: tdx_host_platform"),
    ("kvm-without-tdx", "emr-host",
     lambda m: m.text("sys/module/kvm_intel/parameters/tdx", "N"), "tdx.kvm", "fail", "tdx=1",
     "linux kvm/vmx/tdx.c"),

    ("sgx-off", "emr", lambda m: m.clear_leaf(7, B, 2), "sgx.cpu", "fail", "SW Guard Extensions",
     "Intel SDM 3D 36.7"),
    ("no-launch-control", "emr", lambda m: m.clear_leaf(7, C, 30), "sgx.cpu", "fail",
     "SW Guard Extensions", "Intel SDM 3D 36.7"),
    ("no-epc", "emr", no_epc, "sgx.epc", "fail", "PRMRR Size", "Intel SDM 3D 36.7.2"),
    ("sgx-not-enabled", "emr", lambda m: m.clear_bits(0x3A, 18), "sgx.control", "fail",
     "SW Guard Extensions", "Intel SDM 4: IA32_FEATURE_CONTROL bit 18"),
    ("launch-locked", "emr", lambda m: m.clear_bits(0x3A, 17), "sgx.control", "fail",
     "Launch Control", "Intel SDM 4: IA32_FEATURE_CONTROL bit 17"),
    ("mcheck", "emr", lambda m: m.msr.update({0xA0: 0x1861}), "sgx.mcheck", "fail",
     "SGX Factory Reset", "canonical/tdx system-report.sh"),
    ("sample-part", "emr", lambda m: m.set_bits(0xCE, 27), "sgx.production", "fail",
     "production processor", "canonical/tdx check-production.sh"),
    ("sgx-debug", "emr", lambda m: m.msr.update({0x503: 1}), "sgx.production", "fail",
     "production processor", "canonical/tdx check-production.sh"),
    ("not-registered", "emr", lambda m: m.efi(SGX_STATUS, struct.pack("<HHHB", 1, 3, 0, 0)),
     "sgx.registered", "warn", "register it", "Intel DCAP UefiVar.h: bit 0"),
    ("registration-error", "emr", lambda m: m.efi(SGX_STATUS,
                                                  struct.pack("<HHHB", 1, 3, 0, 0x86)),
     "sgx.registered", "fail", "SGX Factory Reset", "Intel DCAP UefiVar.h: error"),
    ("no-registration", "emr", lambda m: m.remove(f"{EFI}/{SGX_STATUS}"), "sgx.registered",
     "warn", "register it", "Intel DCAP UefiVar.h"),
]

# Checks that no fault above fails, each with the reason why not.
NEVER_FAILING = {
    "kernel.lockdown": "recorded only",
    "cpu.smt": "recorded only",
    "cpu.vendor": "test_other_vendor: all others change with it",
    "snp.trust": "test_milan: a warning of another machine",
}
