#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What holds of src/base/reason.def as a text:

- each reason is named by a test: by its symbol or its name, somewhere below
  tests/
- docs/reasons.md is what docs/make-reasons makes

The last line is `N passed, N failed`.
"""

import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LINE = re.compile(r'REASON\((R_[A-Z0-9_]+), "([a-z0-9.-]+)", REASON_[A-Z]+, ".*", ".*"\)')
# data, and the files that only list reasons
NOT_TESTS = ("tests/unit/test_reason.", "tests/fuzz/corpus/",
             "tests/data/", "tests/mutants/work/")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def reasons():
    return LINE.findall(read("src/base/reason.def"))


def test_texts():
    texts = []
    for folder, _, files in os.walk("tests"):
        for file in files:
            path = os.path.join(folder, file)
            if not path.startswith(NOT_TESTS) and "__pycache__" not in path:
                texts.append(read(path))
    return "\n".join(texts)


def named(text, symbol, name):
    if re.search(rf"\b{symbol}\b", text):
        return True
    # names without a dot are ordinary words: they count in quotes only
    if "." in name:
        return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text) is not None
    return f'"{name}"' in text


def main():
    os.chdir(TOP)
    found = reasons()
    text = test_texts()
    untested = [name for symbol, name in found if not named(text, symbol, name)]
    faults = [f"{name}: no test names it" for name in untested]
    passed = len(found) - len(untested)
    if len(found) != read("src/base/reason.def").count("\nREASON("):
        faults.append("reason.def: a line is not in the one form")
    made = subprocess.run(["docs/make-reasons", "src/base/reason.def"], capture_output=True,
                          check=False, text=True)
    if made.returncode != 0 or made.stdout != read("docs/reasons.md"):
        faults.append("docs/reasons.md: not what `make docs` makes")
    else:
        passed += 1
    for fault in faults:
        print(fault)
    print(f"{passed} passed, {len(faults)} failed")
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main())
