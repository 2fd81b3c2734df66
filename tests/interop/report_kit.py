# SPDX-License-Identifier: Apache-2.0
"""`report decode` beside dmidecode and lspci: what both say must be equal.

Each comparison gives a list of differences, and the number of values that
were compared.
"""

import json
import os
import re
import subprocess

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
CTL = os.path.join(BUILD, "test", "bootgatectl")
DMIDECODE, LSPCI = "/usr/sbin/dmidecode", "/usr/bin/lspci"


def decode(kind, path):
    """exit status, what was decoded"""
    done = subprocess.run([CTL, "report", "decode", "--type", kind, "--json", path], check=False,
                          capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout) if done.stdout else None


# --- SMBIOS ---

SCALE = {"kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def size(text):
    """bytes; None where there is no number"""
    m = re.fullmatch(r"(\d+) (kB|MB|GB|TB)", text)
    return int(m[1]) * SCALE[m[2]] if m else None


def number(text):
    m = re.match(r"\d+", text)
    return int(m[0]) if m else None


def hexadecimal(text):
    m = re.match(r"0x[0-9A-Fa-f]+", text)
    return int(m[0], 16) if m else None


def word(text):
    text = re.sub(r" \(.*| (chassis|ecc|controller|memory)$", "", text.lower())
    return re.sub(r"[ /]", "-", text)


def plain(text):
    """As dmidecode shows what is no ASCII, ends cut"""
    return re.sub(r"\\x[0-9a-f]{2}", ".", text).strip()


# our value must be their text by these: name of the field, their name, theirs -> ours
TEXT = (plain, plain)
INT = (int, number)
HEX = (lambda v: int(v, 16), hexadecimal)
SIZE = (int, size)
WORD = (str, word)
RULES = {
    0: [("vendor", "Vendor", TEXT), ("version", "Version", TEXT), ("date", "Release Date", TEXT),
        ("rom_bytes", "ROM Size", SIZE), ("release", "BIOS Revision", TEXT),
        ("controller_release", "Firmware Revision", TEXT)],
    1: [("manufacturer", "Manufacturer", TEXT), ("product", "Product Name", TEXT),
        ("version", "Version", TEXT), ("serial", "Serial Number", TEXT),
        ("sku", "SKU Number", TEXT), ("family", "Family", TEXT), ("uuid", "UUID", (str, str))],
    2: [("manufacturer", "Manufacturer", TEXT), ("product", "Product Name", TEXT),
        ("version", "Version", TEXT), ("serial", "Serial Number", TEXT),
        ("asset_tag", "Asset Tag", TEXT), ("chassis_handle", "Chassis Handle", HEX),
        ("board_type", "Type", WORD)],
    3: [("manufacturer", "Manufacturer", TEXT), ("chassis_type", "Type", WORD),
        ("version", "Version", TEXT), ("serial", "Serial Number", TEXT),
        ("asset_tag", "Asset Tag", TEXT), ("boot_state", "Boot-up State", WORD),
        ("thermal_state", "Thermal State", WORD), ("contained", "Contained Elements", INT),
        ("sku", "SKU Number", TEXT), ("power_cords", "Number Of Power Cords", INT)],
    4: [("socket", "Socket Designation", TEXT), ("manufacturer", "Manufacturer", TEXT),
        ("version", "Version", TEXT), ("max_mhz", "Max Speed", INT),
        ("current_mhz", "Current Speed", INT), ("clock_mhz", "External Clock", INT),
        ("cores", "Core Count", INT), ("cores_enabled", "Core Enabled", INT),
        ("threads", "Thread Count", INT), ("serial", "Serial Number", TEXT),
        ("asset_tag", "Asset Tag", TEXT), ("part", "Part Number", TEXT),
        ("l1_handle", "L1 Cache Handle", HEX), ("l3_handle", "L3 Cache Handle", HEX),
        ("id", "ID", (str, lambda t: "0x" + "".join(reversed(t.lower().split()))))],
    7: [("socket", "Socket Designation", TEXT), ("mode", "Operational Mode", WORD),
        ("bytes", "Installed Size", SIZE), ("max_bytes", "Maximum Size", SIZE),
        ("error_correction", "Error Correction Type", WORD), ("cache_type", "System Type", WORD),
        ("level", "Configuration", (int, lambda t: int(t[-1])))],
    9: [("designation", "Designation", TEXT), ("usage", "Current Usage", WORD),
        ("slot_length", "Length", WORD)],
    16: [("location", "Location", (lambda v: {"board": "system-board-or-motherboard"}.get(v, v), word)),
         ("use", "Use", (lambda v: {"non-volatile": "non-volatile-ram"}.get(v, v), word)),
         ("error_correction", "Error Correction Type", WORD),
         ("max_bytes", "Maximum Capacity", SIZE), ("devices", "Number Of Devices", INT)],
    17: [("array_handle", "Array Handle", HEX), ("total_width", "Total Width", INT),
         ("data_width", "Data Width", INT), ("bytes", "Size", SIZE),
         ("form_factor", "Form Factor", WORD), ("locator", "Locator", TEXT),
         ("bank", "Bank Locator", TEXT), ("memory_type", "Type", WORD),
         ("speed_mts", "Speed", INT), ("configured_mts", "Configured Memory Speed", INT),
         ("manufacturer", "Manufacturer", TEXT), ("serial", "Serial Number", TEXT),
         ("asset_tag", "Asset Tag", TEXT), ("part", "Part Number", TEXT), ("rank", "Rank", INT),
         ("technology", "Memory Technology", WORD)],
    19: [("start", "Starting Address", HEX), ("end", "Ending Address", HEX),
         ("array_handle", "Physical Array Handle", HEX), ("partition_width", "Partition Width", INT)],
    32: [("status", "Status", (lambda v: {"no-error": "no-errors-detected"}.get(v, v), word))],
    38: [("interface", "Interface Type", WORD), ("specification", "Specification Version", TEXT),
         ("address", "Base Address", HEX), ("interrupt", "Interrupt Number", INT)],
    41: [("designation", "Reference Designation", TEXT), ("device_type", "Type", WORD)],
    43: [("vendor", "Vendor ID", TEXT), ("specification", "Specification Version", TEXT),
         ("description", "Description", TEXT)],
}
NO_VALUE = ("Unknown", "None", "Not Specified", "Not Provided", "No Module Installed", "<BAD INDEX>",
            "Unspecified", "<OUT OF SPEC>", "Not Present", "No")


def dmidecode_structures(text):
    """(handle, type, length, {name: value}) of each"""
    for block in re.split(r"\n(?=Handle 0x)", text)[1:]:
        m = re.match(r"Handle (0x[0-9A-F]+), DMI type (\d+), (\d+) bytes", block)
        values = {}
        for line in block.split("\n"):
            pair = re.match(r"\t([^\t:][^:]*): ?(.*)", line)
            if pair:
                values.setdefault(pair[1], pair[2])
        yield int(m[1], 16), int(m[2]), int(m[3]), values


def bus_address(s):
    return f"{s['pci_segment'][2:]}:{s['pci_bus'][2:]}:{s['pci_device'][2:]}.{s['pci_function']}"


def compare_smbios(path, ours, their_text=None):
    text = their_text or subprocess.run([DMIDECODE, "--from-dump", path], check=True,
                                        capture_output=True, text=True, errors="replace").stdout
    theirs = [t for t in dmidecode_structures(text) if t[1] != 127]
    structures = ours["structures"]
    faults, compared = [], 0
    if len(theirs) != len(structures):
        return [f"{len(structures)} structures, dmidecode has {len(theirs)}"], 0
    for mine, (handle, kind, length, values) in zip(structures, theirs):
        where = f"{path}: structure {mine['offset']} type {kind}"
        if (int(mine["handle"], 16), mine["type"], mine["length"]) != (handle, kind, length):
            faults.append(f"{where}: handle, type or length is not {handle:#x}, {kind}, {length}")
        for name, their_name, (to_mine, to_theirs) in RULES.get(kind, []):
            value = values.get(their_name)
            if value is None or value in NO_VALUE or name not in mine:
                continue
            # some firmware has the four letters the other way round, where dmidecode says nothing
            if kind == 43 and name == "vendor" and mine[name].startswith("\\x00"):
                continue
            want, got = to_theirs(value), to_mine(mine[name])
            if want is None:
                continue
            compared += 1
            if got != want:
                faults.append(f"{where}: {name} is {mine[name]!r}, dmidecode says {value!r}")
        if "pci_bus" in mine and "Bus Address" in values:
            compared += 1
            if bus_address(mine) != values["Bus Address"]:
                faults.append(f"{where}: {bus_address(mine)}, dmidecode says {values['Bus Address']}")
    return faults, compared


# --- PCI ---

def lspci(path):
    done = subprocess.run([LSPCI, "-F", path, "-D", "-nn", "-vvv"], check=True, capture_output=True,
                          text=True, errors="replace")
    return [d for d in done.stdout.split("\n\n") if d.strip()]


def search(pattern, text, group=1):
    m = re.search(pattern, text)
    return m[group] if m else None


def compare_values(where, pairs):
    """(name, ours, theirs) of each; what the other does not say is left out"""
    faults, compared = [], 0
    for name, mine, theirs in pairs:
        if theirs is None:
            continue
        compared += 1
        if str(mine).lower() != str(theirs).lower():
            faults.append(f"{where}: {name} is {mine!r}, lspci says {theirs!r}")
    return faults, compared


def signed(text, name):
    """`Name+` or `Name-` as a truth"""
    m = re.search(rf"\b{name}([+-])", text)
    return None if m is None else m[1] == "+"


def whole(text, base=10):
    return None if text is None else int(text, base)


def express_pairs(c, text):
    def line(name):
        return search(rf"\t{name}:\s*((?:.|\n\t\t\t)*)", text) or ""
    cap, sta, devcap, devctl = line("LnkCap"), line("LnkSta"), line("DevCap"), line("DevCtl")
    yield "version", c["version"], search(r"Express \(v(\d)\)", text)
    yield "payload_max", c["payload_max"], search(r"MaxPayload (\d+)", devcap)
    yield "function_reset", c["function_reset"], signed(devcap, "FLReset")
    yield "payload", c["payload"], search(r"MaxPayload (\d+)", devctl)
    yield "read_request", c["read_request"], search(r"MaxReadReq (\d+)", devctl)
    errors = line("DevSta")
    for mine, theirs in (("correctable_error", "CorrErr"), ("non_fatal_error", "NonFatalErr"),
                         ("fatal_error", "FatalErr"), ("unsupported_request", "UnsupReq"),
                         ("transactions_pending", "TransPend")):
        yield mine, c[mine], signed(errors, theirs)
    if "link_speed" in c:
        yield "link_max_speed", c["link_max_speed"], search(r"Speed ([0-9.]+GT/s)", cap)
        yield "link_max_width", c["link_max_width"], search(r"Width x(\d+)", cap)
        yield "port", c["port"], search(r"Port #(\d+)", cap)
        yield "link_speed", c["link_speed"], search(r"Speed ([0-9.]+GT/s)", sta)
        yield "link_width", c["link_width"], search(r"Width x(\d+)", sta)
        yield "link_active", c["link_active"], signed(sta, "DLActive")
        # 0, which the standard does not have, is shown by lspci as the lowest
        if c.get("link_target_speed", "0x00") != "0x00":
            yield "link_target_speed", c["link_target_speed"], \
                search(r"Target Link Speed: ([0-9.]+GT/s)", text)
    if "slot" in c:
        yield "slot", c["slot"], search(r"Slot #(\d+)", text)
        yield "present", c["present"], signed(line("SltSta"), "PresDet")


def capability_pairs(c, text):
    name = c["name"]
    if name == "express":
        yield from express_pairs(c, text)
    elif name == "power-management":
        yield "version", c["version"], search(r"version (\d)", text)
        yield "state", c["state"], search(r"Status: D(\d)", text)
        yield "no_soft_reset", c["no_soft_reset"], signed(text, "NoSoftRst")
    elif name == "msi":
        yield "enabled", c["enabled"], signed(text, "Enable")
        yield "count", c["count"], search(r"Count=(\d+)/", text)
        yield "capable", c["capable"], search(r"Count=\d+/(\d+)", text)
        yield "address", int(c["address"], 16), whole(search(r"Address: ([0-9a-f]+)", text), 16)
        yield "data", c["data"][2:], search(r"Data: ([0-9a-f]+)", text)
    elif name == "msi-x":
        yield "enabled", c["enabled"], signed(text, "Enable")
        yield "masked", c["masked"], signed(text, "Masked")
        yield "count", c["count"], search(r"Count=(\d+)", text)
        yield "table_bar", c["table_bar"], search(r"Vector table: BAR=(\d)", text)
        yield "table_offset", c["table_offset"][2:], search(r"Vector table: BAR=\d offset=([0-9a-f]+)", text)
        yield "pba_offset", c["pba_offset"][2:], search(r"PBA: BAR=\d offset=([0-9a-f]+)", text)
    elif name == "serial":
        theirs = search(r"Serial Number ([0-9a-f-]+)", text)
        yield "serial", c["serial"], theirs and "0x" + theirs.replace("-", "")
    elif name == "aer":
        for mine, line, theirs in (("poisoned", "UESta", "TLP"), ("completion_timeout", "UESta", "CmpltTO"),
                                   ("data_link_error", "UESta", "DLP"), ("surprise_down", "UESta", "SDES")):
            yield mine, c[mine], signed(search(rf"{line}:(.*)", text) or "", theirs)
        yield "first_error", c["first_error"], whole(search(r"First Error Pointer: ([0-9a-f]+)", text), 16)
    elif name == "acs":
        for mine, able, theirs in (("source_validation", "can_validate_source", "SrcValid"),
                                   ("translation_blocking", "can_block_translation", "TransBlk"),
                                   ("request_redirect", "can_redirect_requests", "ReqRedir"),
                                   ("completion_redirect", "can_redirect_completions", "CmpltRedir"),
                                   ("upstream_forwarding", "can_forward_upstream", "UpstreamFwd"),
                                   ("egress_control", "can_control_egress", "EgressCtrl"),
                                   ("direct_translation", "can_translate_directly", "DirectTrans")):
            yield able, c[able], signed(search(r"ACSCap:(.*)", text) or "", theirs)
            yield mine, c[mine], signed(search(r"ACSCtl:(.*)", text) or "", theirs)
    elif name == "sr-iov":
        yield "enabled", c["enabled"], signed(search(r"IOVCtl:(.*)", text) or "", "Enable")
        for mine, theirs in (("initial_vfs", "Initial VFs"), ("total_vfs", "Total VFs"),
                             ("vfs", "Number of VFs"), ("first_vf", "VF offset"), ("stride", "stride")):
            yield mine, c[mine], search(rf"{theirs}: (\d+)", text)
        yield "vf_device", c["vf_device"][2:], search(r"Device ID: ([0-9a-f]+)", text)
    elif name == "ats":
        yield "queue_depth", c["queue_depth"], whole(search(r"Queue Depth: ([0-9a-f]+)", text), 16)
        yield "enabled", c["enabled"], signed(text, "Enable")
    elif name == "ari":
        yield "next_function", c["next_function"], search(r"Next Function: (\d+)", text)
    elif name == "dvsec":
        yield "vendor", c["vendor"][2:], search(r"Vendor=([0-9a-f]+)", text)
        yield "dvsec_id", c["dvsec_id"][2:], search(r"ID=([0-9a-f]+)", text)
        yield "revision", c["revision"], search(r"Rev=(\d+)", text)
        yield "length", c["length"], search(r"Len=(\d+)", text)
    elif name == "subsystem":
        yield "subsystem", f"{c['subsystem_vendor'][2:]}:{c['subsystem_device'][2:]}", \
            search(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]", text)


def header_pairs(d, text):
    first = text.split("\n")[0]
    yield "ids", f"{d['vendor'][2:]}:{d['device'][2:]}", search(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]", first)
    yield "class", d["class"][2:6], search(r"\[([0-9a-f]{4})\]:", text)
    yield "revision", d["revision"][2:], search(r"\(rev ([0-9a-f]{2})\)", first)
    yield "memory", d["memory"], signed(search(r"Control:(.*)", text), "Mem")
    yield "bus_master", d["bus_master"], signed(text, "BusMaster")
    if d["header"] == "device":
        theirs = search(r"Subsystem:.*\[([0-9a-f]{4}:[0-9a-f]{4})\]", text)
        yield "subsystem", f"{d['subsystem_vendor'][2:]}:{d['subsystem_device'][2:]}", theirs
    if d["header"] == "bridge":
        for mine, theirs in (("primary_bus", "primary"), ("secondary_bus", "secondary"),
                             ("subordinate_bus", "subordinate")):
            yield mine, d[mine][2:], search(rf"\b{theirs}=([0-9a-f]+)", text)
    for index, kind, address in re.findall(r"Region (\d): (Memory|I/O ports) at ([0-9a-f]+)", text):
        mine = [v for k, v in d.items() if re.fullmatch(rf"\w+_bar_{index}", k)]
        yield f"bar {index}", mine and int(mine[0], 16), int(address, 16)


def compare_pci(path, ours):
    theirs = lspci(path)
    devices = ours["devices"]
    faults, compared = [], 0
    if len(theirs) != len(devices):
        return [f"{path}: {len(devices)} devices, lspci has {len(theirs)}"], 0
    # lspci sorts by slot
    for mine, text in zip(sorted(devices, key=lambda d: d["slot"].rjust(12, "0")), theirs):
        where = f"{path}: {mine['slot']}"
        blocks = re.split(r"\n(?=\tCapabilities: \[[0-9a-f]+)", text)
        offsets = [search(r"Capabilities: \[([0-9a-f]+)", b) for b in blocks[1:]]
        got = [c["offset"][2:] for c in mine["capabilities"]]
        if got != offsets:
            faults.append(f"{where}: capabilities at {got}, lspci has {offsets}")
            continue
        parts = [(where, header_pairs(mine, blocks[0]))]
        parts += [(f"{where} {c['name']} {c['offset']}", capability_pairs(c, b))
                  for c, b in zip(mine["capabilities"], blocks[1:])]
        for name, pairs in parts:
            bad, n = compare_values(name, pairs)
            faults += bad
            compared += n + 1
    return faults, compared


def dump(space, slot="01:00.0"):
    """A configuration space as lspci -xxxx shows it"""
    lines = [f"{slot} Device"]
    for at in range(0, len(space), 16):
        lines.append(f"{at:02x}: " + " ".join(f"{b:02x}" for b in space[at:at + 16]))
    return "\n".join(lines) + "\n\n"


def smbios3(table, address=0x20):
    """A dump as dmidecode makes it: entry point of 3.0, table behind it"""
    entry = bytearray(b"_SM3_\0\x18\3\0\0\1\0" + len(table).to_bytes(4, "little") +
                      address.to_bytes(8, "little"))
    entry[5] = -sum(entry) & 0xFF
    return bytes(entry).ljust(0x20, b"\0") + table
