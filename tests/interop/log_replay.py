#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""log_replay.py [BOOTGATECTL]

`bootgatectl log` on logs made by tests/tools/evlog.py from the descriptions
in tests/data/eventlog: the same values as the independent replay, the same
events as JSON, and a named refusal with event number and byte offset for each
way in which a log can be malformed.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
import evlog  # noqa: E402

DATA = "tests/data/eventlog"
LIMIT = 2 << 20
LIMIT_EVENTS = 16384

SPEC_COUNT = 32 + 24  # offset of numberOfAlgorithms in the file

# (description, changes, reason, event); the offset is that of the event.
MALFORMED = [
    ("server", ["cut:0"], "log.empty", 0),
    ("server", ["cut:31"], "log.truncated", 0),
    ("server", ["cut:40"], "log.event-size", 0),
    ("server", [f"put:{SPEC_COUNT}:00000000"], "log.header", 0),
    ("server", [f"put:{SPEC_COUNT}:09000000"], "log.header", 0),
    ("server", [f"put:{SPEC_COUNT}:06000000"], "log.header", 0),
    ("server", [f"put:{SPEC_COUNT}:04000000"], "log.header", 0),
    ("server", [f"put:{SPEC_COUNT + 4}:2700"], "log.algorithm", 0),
    ("server", [f"put:{SPEC_COUNT + 6}:2000"], "log.algorithm", 0),
    ("server", [f"put:{SPEC_COUNT + 8}:0400"], "log.algorithm", 0),
    # vendorInfoSize one too small and one too large
    ("odd", ["put:68:05"], "log.header", 0),
    ("odd", ["put:68:07"], "log.header", 0),
    ("server", ["pcr:2:24"], "log.pcr-range", 2),
    ("server", ["pcr:2:0xffffffff"], "log.pcr-range", 2),
    ("server", ["pcr:25:24"], "log.pcr-range", 25),
    ("server", ["keep:3", "cut:-1"], "log.event-size", 2),
    ("server", ["keep:3", "add:01"], "log.truncated", 3),
    ("server", ["keep:3", "add:0000000004000000"], "log.truncated", 3),
    ("server", ["keep:3", "add:000000000400000000000000"], "log.digest-count", 3),
    ("server", ["keep:3", "add:000000000400000006000000"], "log.digest-count", 3),
    ("server", ["keep:3", "add:000000000400000001000000" + "0b00" + 31 * "00"],
     "log.truncated", 3),
    ("server", ["keep:3", "add:000000000400000001000000" + "2700" + 36 * "00"],
     "log.digest-algorithm", 3),
    ("server", ["keep:3", "add:000000000400000002000000" + 2 * ("0400" + 20 * "00")
                + "00000000"], "log.digest-algorithm", 3),
    ("server", ["keep:3", "add:000000000400000001000000" + "0400" + 20 * "00" + "ffffffff"],
     "log.event-size", 3),
    # padding must be of one kind
    ("server", ["add:00ff00"], "log.truncated", 29),
    # StartupLocality: repeated, late, unknown, too long, in another register
    ("server", ["dup:1"], "log.locality", 2),
    ("server", ["swap:1:2"], "log.locality", 2),
    ("server", ["data:1:locality:1"], "log.locality", 1),
    ("server", ["data:1:locality:255"], "log.locality", 1),
    ("server", ['data:1:hex:537461727475704c6f63616c697479000300'], "log.locality", 1),
    ("server", ['data:1:hex:537461727475704c6f63616c69747900'], "log.locality", 1),
    ("server", ["pcr:1:1"], "log.locality", 1),
    ("hcrtm-locality", ["swap:1:3"], "log.locality", 3),
    ("legacy", ["cut:20"], "log.truncated", 0),
    ("legacy", ["pcr:1:25"], "log.pcr-range", 1),
    ("legacy", ["dup:0"], "log.locality", 1),
    ("legacy", ["pad:00:0", "cut:-1"], "log.event-size", 5),
]

# Changes after which the log still replays, to the values that evlog.py says.
ALLOWED = [
    ("server", ["drop:1"]),
    ("server", ["data:1:locality:0"]),
    ("server", ["data:1:locality:4"]),
    ("server", ["data:1:hex:00"]),
    ("server", ["type:2:0x12345678"]),
    ("server", ["type:14:NO_ACTION"]),
    ("server", ["swap:14:15", "dup:28", "drop:5"]),
    ("server", ["lose:28:sha256", "lose:2:sm3"]),
    ("server", ["keep:1"]),
    ("server", ["pad:00:1"]),
    ("server", ["pad:ff:100000"]),
    ("server", [f"pad:00:{LIMIT - 7212}"]),
    ("hcrtm", ["swap:1:2"]),
    ("hcrtm", ["pcr:1:1"]),
    ("hcrtm", ["append:0 EFI_HCRTM_EVENT \"HCRTM\""]),
    ("hcrtm-locality", ["data:1:locality:3"]),
    ("drtm", ["append:20 SEPARATOR le32:0"]),
    ("legacy", ["drop:0"]),
    ("odd", ["append:4 SEPARATOR le32:1"]),
]


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


def make(name, changes, banks=None):
    """(log as far as it is one, its bytes)"""
    with open(os.path.join(DATA, name + ".txt"), encoding="ascii") as f:
        text = f.read()
    if banks:
        text = re.sub("^banks .*$", "banks " + banks, text, flags=re.M)
    log = evlog.describe(text)
    for change in changes:
        if change.split(":")[0] not in ("cut", "put", "add"):
            evlog.mutate(log, change)
    raw = log.pack()
    for change in changes:
        raw = evlog.mutate_raw(raw, change) if change[:4] in ("cut:", "put:", "add:") else raw
    return log, raw


class Tool:
    def __init__(self, program, folder):
        self.program = program
        self.path = os.path.join(folder, "log")

    def run(self, *args, **kwargs):
        return subprocess.run([self.program, "log", *args], check=False, timeout=60,
                              capture_output=True, **kwargs)

    def on(self, raw, *args):
        with open(self.path, "wb") as f:
            f.write(raw)
        return self.run(*args, self.path)

    def refused(self, raw, reason, event, offset):
        for verb in (["replay"], ["show", "--json"]):
            done = self.on(raw, *verb)
            text = done.stderr.decode()
            expect(done.returncode == 3, f"{verb}: exit {done.returncode}: {text}")
            expect(done.stdout == b"", f"{verb}: it printed something")
            expect(f"event {event} at byte {offset}: {reason}\n" in text,
                   f"{verb}: {reason}, event {event}, byte {offset} wanted: {text}")


def test_values(tool):
    names = sorted(n[:-4] for n in os.listdir(DATA) if n.endswith(".txt"))
    for name, changes in [(n, []) for n in names] + ALLOWED:
        log, raw = make(name, changes)
        done = tool.on(raw, "replay")
        expect(done.returncode == 0, f"{name} {changes}: {done.stderr.decode()}")
        expect(done.stdout.decode() == log.pcrs(), f"{name} {changes}: other values")
        for bank in [] if changes else log.banks:
            done = tool.on(raw, "replay", "--bank", bank)
            wanted = [l for l in log.pcrs().splitlines() if l.startswith(bank + " ")]
            expect(done.stdout.decode().splitlines() == wanted, f"{name}: --bank {bank}")


def test_malformed(tool):
    for name, changes, reason, event in MALFORMED:
        log, raw = make(name, changes)
        offsets = log.offsets() + [len(raw)]
        if any(c.startswith("add:") for c in changes):
            offsets[-1] = len(log.pack())
        try:
            tool.refused(raw, reason, event, offsets[event])
        except Failure as e:
            raise Failure(f"{name} {changes}: {e}") from e


def test_limits(tool):
    log, raw = make("drtm", [])
    one = log.events[-1]
    log.events += [one] * (LIMIT_EVENTS - len(log.events) - 1)
    expect(tool.on(log.pack(), "replay").returncode == 0, "as many events as allowed")
    log.events.append(one)
    tool.refused(log.pack(), "log.too-many-events", LIMIT_EVENTS, log.offsets()[-1])
    log, raw = make("drtm", [f"pad:00:{LIMIT}"])
    done = tool.on(raw, "replay")
    expect(done.returncode == 3 and b"format.too-large" in done.stderr, "above the limit")
    tool.refused(bytes(100), "log.empty", 0, 0)
    tool.refused(b"\xff" * 70000, "log.empty", 0, 0)


def test_json(tool):
    log, raw = make("server", [])
    out = json.loads(tool.on(raw, "show", "--json").stdout)
    expect(out["banks"] == log.banks and out["legacy"] is False, "head")
    expect(out["locality"] == 3 and out["complete"] is True, "locality")
    expect([e["offset"] for e in out["events"]] == log.offsets(), "offsets")
    for ours, theirs in zip(out["events"][1:], log.events):
        pcr = None if theirs.pcr == evlog.NONE else theirs.pcr
        expect(ours["register"] == pcr, "register")
        expect(ours["type"] == theirs.kind, "type")
        expect(bytes.fromhex(ours["data"]) == theirs.data, "data")
        expect({k: bytes.fromhex(v) for k, v in ours["digests"].items()}
               == dict(theirs.digests), "digests")
        expect(ours["proven"] == all(v == evlog.digest(a, theirs.data)
                                     for a, v in theirs.digests), "proven")
    values = {b: {str(p): v.hex() for p, v in sorted(r.items())}
              for b, r in log.replay().items()}
    expect(out["registers"] == values, "registers")
    texts = {e["number"]: e["text"] for e in out["events"]}
    expect(texts[1] == "StartupLocality 3", "text of StartupLocality")
    expect(texts[4] == "SecureBoot = 01", "text of a variable")
    expect(texts[24] == "tag 8f3b22ed gate.efi", "text of a tag")
    expect(out["events"][26]["type_name"] == "0xdeadbeef", "unknown type")
    log, raw = make("windows", [])
    out = json.loads(tool.on(raw, "show", "--json").stdout)
    expect(out["complete"] is False and out["events"][6]["register"] is None, "windows")
    log, raw = make("legacy", [])
    out = json.loads(tool.on(raw, "show", "--json").stdout)
    expect(out["legacy"] is True and len(out["events"]) == len(log.events), "legacy")


def test_golden(tool):
    """Valid but odd shapes (EVL-SHAPES), exactly as they were shown before."""
    log, raw = make("odd", [])
    with open(os.path.join(DATA, "odd.json"), encoding="ascii") as f:
        expect(tool.on(raw, "show", "--json").stdout.decode() == f.read(), "odd.json")


def test_show(tool):
    log, raw = make("server", [])
    done = tool.on(raw, "show")
    lines = done.stdout.decode("ascii").splitlines()
    expect(len(lines) == len(log.events) + 1, "one line an event")
    expect("EV_S_CRTM_VERSION" in lines[2] and "= 2.4.1" in lines[2], lines[2])
    expect("~" in lines[3], "a hint is shown as a hint")
    # a malformed log is shown up to the fault
    done = tool.on(raw[:log.offsets()[5] + 3], "show")
    expect(done.returncode == 3 and len(done.stdout.splitlines()) == 5, "up to the fault")
    # what an event says reaches the terminal as printable ASCII only
    log, raw = make("odd", ['append:4 EFI_ACTION hex:1b5b324a41410a42'])
    done = tool.on(raw, "show")
    expect(all(c == 10 or 32 <= c < 127 for c in done.stdout), "control characters")


def test_notes(tool):
    for name, note in (("hcrtm", b"register 0 starts at 4"), ("legacy", b"SHA-1"),
                       ("windows", b"event 3 at byte 219")):
        log, raw = make(name, [])
        done = tool.on(raw, "replay")
        expect(done.returncode == 0 and note in done.stderr, f"{name}: {done.stderr}")


def test_reading(tool):
    """A pipe that gives little at a time, and one that is no file."""
    log, raw = make("server", [])
    fifo = tool.path + ".fifo"
    os.mkfifo(fifo)

    def feed():
        with open(fifo, "wb", buffering=0) as f:
            at = 0
            while at < len(raw):
                at += f.write(raw[at:at + random.randint(1, 700)])

    feeder = threading.Thread(target=feed)
    feeder.start()
    done = tool.run("replay", fifo)
    feeder.join()
    expect(done.stdout.decode() == log.pcrs(), "through a fifo")
    for size in (65535, 65536, 65537, 200 << 10, LIMIT):
        done = tool.run("replay", "-", input=raw + bytes(size - len(raw)))
        expect(done.stdout.decode() == log.pcrs(), f"of {size} bytes")
    done = tool.run("replay", "-", input=raw)
    expect(done.stdout.decode() == log.pcrs(), "from standard input")
    done = tool.run("replay", tool.path + ".none")
    expect(done.returncode != 0 and b"No such file" in done.stderr, "no such file")
    done = tool.run("replay", os.path.dirname(tool.path))
    expect(done.returncode != 0 and done.stdout == b"", "a folder")


def test_usage(tool):
    log, raw = make("drtm", [])
    tool.on(raw, "replay")
    for args in (["replay"], ["show"], ["replay", "--bank", "md5", tool.path],
                 ["replay", "--bank"], ["replay", "--json", tool.path],
                 ["replay", tool.path, tool.path], ["show", "--bank", "sha1", tool.path],
                 ["show", tool.path, "x"]):
        done = tool.run(*args)
        expect(done.returncode == 2 and done.stdout == b"", f"{args}: {done.returncode}")
    done = tool.run("replay", "--bank", "sha384", tool.path)
    expect(done.returncode == 3 and b"log.bank-missing" in done.stderr, "a bank it lacks")


def test_cut_anywhere(tool):
    """Never a crash, and never other values without a word."""
    chance = random.Random(1)
    log, raw = make("odd", [])
    ends = {at: n for n, at in enumerate(log.offsets())}
    for at in sorted(chance.sample(range(1, len(raw)), 30)) + log.offsets()[1:]:
        done = tool.on(raw[:at], "replay")
        if at in ends:
            short = evlog.parse(raw[:at])
            expect(done.returncode == 0 and done.stdout.decode() == short.pcrs(), f"cut at {at}")
        else:
            expect(done.returncode == 3 and b": log." in done.stderr, f"cut at {at}")
    for _ in range(30):
        at = chance.randrange(len(raw))
        done = tool.on(raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1:], "replay")
        expect(done.returncode in (0, 3), f"byte {at}: exit {done.returncode}")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bin/bootgatectl"
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(program, folder)
        for name, test in sorted(globals().items()):
            if not name.startswith("test_"):
                continue
            try:
                test(tool)
                passed += 1
            except Failure as e:
                print(f"FAIL {name}: {e}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
