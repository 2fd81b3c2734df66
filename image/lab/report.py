# SPDX-License-Identifier: Apache-2.0
"""What a scenario must end in, and the timeline that people read."""

import re

FIELDS = ("scenario", "outcome", "directive", "reason", "where", "differs")


class Row:
    """One line of scenarios.tsv; `-` is None."""

    def __init__(self, fields):
        for name, value in zip(FIELDS, fields):
            setattr(self, name, None if value == "-" else value)


def read_rows(path):
    """Rows by name, in the order of the file."""
    rows = {}
    with open(path) as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if line.startswith("#") or not line.strip():
                continue
            if fields[0] == "scenario":
                continue
            if len(fields) != len(FIELDS):
                raise ValueError(f"{path}: {fields[0]}: {len(fields)} columns")
            rows[fields[0]] = Row(fields)
    return rows


# Console lines that are steps of a boot: what the timeline calls them. The
# first line that matches names a step once; the gate's own steps come as
# they are, since they may repeat.
ONCE = (
    ("firmware", r"^BdsDxe|>>Start PXE"),
    ("netboot", r"NBP file downloaded"),
    ("start image", r"BdsDxe: starting"),
    ("gate kernel", r"^EFI stub:"),
    ("host image", r"^bootgate-lab-token:"),
    ("host up", r"^bootgate-lab: host up"),
)
GATE = re.compile(r"^bootgate: (step|failed|waiting) (.*)")
NETWORK = re.compile(r"^(?:bootgate: )?(net: .* (?:up|carrier|lease|gateway).*)")


def timeline(machine):
    """(milliseconds, text) of what matters, in the order of time."""
    found = [(event.when, event.text) for event in machine.events]
    seen = set()
    for line in machine.lines:
        for name, pattern in ONCE:
            if name not in seen and re.search(pattern, line.text):
                seen.add(name)
                found.append((line.when, name))
        match = GATE.search(line.text)
        if match:
            kind, rest = match.groups()
            found.append((line.when, rest if kind == "step" else f"{kind} {rest}"))
            continue
        match = NETWORK.search(line.text)
        if match:
            found.append((line.when, match.group(1)))
    return [(round(when * 1000), text) for when, text in sorted(found)]


def timeline_text(machine):
    lines = []
    last = 0
    for when, text in timeline(machine):
        lines.append(f"{when:8d} ms  {when - last:+7d}  {text}")
        last = when
    return "\n".join(lines) + "\n"
