#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""test_run.py: what tests/run says of tests that pass, fail, end early, hang or
say nothing. A runner that overlooks one makes all others worthless. The last
line is `N passed, N failed`.
"""

import os
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# cmocka programs, as scripts: text, exit status, closing line
PROGRAMS = [
    ("1..2\nok 1 - a\nok 2 - b\n", 0, "2 passed, 0 failed"),
    ("1..2\nok 1 - a\nnot ok 2 - b\n# why\n", 1, "1 passed, 1 failed"),
    # the failed case counts whatever the exit status is
    ("1..2\nok 1 - a\nnot ok 2 - b\n", 0, "1 passed, 1 failed"),
    ("1..2\nok 1 - a\nnot ok 2 # SKIP b\n", 0, "1 passed, 0 failed"),
    # two groups in one program
    ("1..1\nok 1 - a\n1..1\nok 1 - b\n", 0, "2 passed, 0 failed"),
    # it ended before its last case, silently
    ("1..3\nok 1 - a\n", 0, "1 passed, 2 failed"),
    ("1..3\nok 1 - a\n", 3, "1 passed, 2 failed"),
    # all cases passed, then a sanitizer complained
    ("1..1\nok 1 - a\n", 1, "1 passed, 1 failed"),
    # nothing ran
    ("", 0, "0 passed, 1 failed"),
    ("1..0\n", 0, "0 passed, 1 failed"),
    # bytes that are no UTF-8 do not stop it
    ("1..1\n\\377\\376\nok 1 - a\n", 0, "1 passed, 0 failed"),
]

# scripts: command, closing line
SCRIPTS = [
    ("true", "1 passed, 0 failed"),
    ("false", "0 passed, 1 failed"),
    ("echo 5 passed, 0 failed", "5 passed, 0 failed"),
    ("echo 5 passed, 2 failed; false", "5 passed, 2 failed"),
    ("echo 5 passed, 2 failed", "5 passed, 2 failed"),
    ("echo 5 passed, 0 failed; false", "5 passed, 1 failed"),
    ("echo 0 passed, 0 failed", "0 passed, 1 failed"),
    # only the last line counts
    ("echo 5 passed, 0 failed; echo; echo done", "1 passed, 0 failed"),
    ("no-such-command", "0 passed, 1 failed"),
    ("kill -SEGV $$", "0 passed, 1 failed"),
    ("sleep 60", "0 passed, 1 failed"),
    # what it left running goes, too
    ("sleep 60 & wait", "0 passed, 1 failed"),
]


def closing(folder, *arguments):
    """Last line and exit status of the runner."""
    run = subprocess.run([os.path.join(TOP, "tests", "run"), *arguments], cwd=folder,
                         env=dict(os.environ, BUILD=os.path.join(folder, "build"), T=""),
                         capture_output=True, check=False, text=True, timeout=60)
    return run.stdout.rstrip().split("\n")[-1], run.returncode


def main():
    passed = 0
    faults = []

    def expect(what, want, got):
        nonlocal passed
        status = 0 if want.endswith(" 0 failed") and not want.startswith("0 passed") else 1
        if got == (want, status):
            passed += 1
        else:
            faults.append(f"{what!r}: {got}, not {(want, status)}")

    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        for text, status, want in PROGRAMS:
            with open(program, "w", encoding="ascii") as f:
                f.write(f"#!/bin/sh\nprintf '{text}'\nexit {status}\n")
            os.chmod(program, 0o755)
            expect(text, want, closing(folder, "--unit", program))
        expect("no program", "0 passed, 1 failed", closing(folder, "--unit", "./nothing"))
        expect("no tests", "0 passed, 0 failed", closing(folder, "--unit"))

        path = os.path.join(folder, "list")
        for command, want in SCRIPTS:
            with open(path, "w", encoding="ascii") as f:
                f.write(f"# a comment\n\none\tcheck\t1\t{command}\nother\tlong\t1\tfalse\n")
            expect(command, want, closing(folder, "--class", "check", "--list", path))
        with open(path, "w", encoding="ascii") as f:
            f.write("one\tcheck\t9\ttrue\ntwo\tlong\t9\ttrue\nthree\tcheck\t9\tfalse\n")
        expect("both classes", "2 passed, 1 failed",
               closing(folder, "--class", "long", "--list", path))
        expect("selected", "1 passed, 0 failed",
               closing(folder, "--class", "long", "--list", path, "-k", "tw"))
        # a list that is not understood is no list of zero tests
        with open(path, "w", encoding="ascii") as f:
            f.write("one check 9 true\n")
        if closing(folder, "--class", "check", "--list", path)[1] == 0:
            faults.append("a malformed list was accepted")
        else:
            passed += 1

    for fault in faults:
        print(fault)
    print(f"{passed} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
