"""Code for tests: it finds LEAK, and misbehaves on other words, in Python and as scripts of other languages."""

import shutil
import sys
import time
from pathlib import Path

import pytest

PYTHON = '''
import os, sys, time

def find(output):
    """LEAK is a leak; the other words are trouble."""
    text = output.content or ""
    print("not an answer")
    if "HANG" in text: time.sleep(600)
    if "DIE" in text: os._exit(3)
    if "KILL" in text: os.kill(os.getpid(), 9)
    if "EXIT" in text: sys.exit(4)
    if "HOG" in text: return bytearray(2 << 30)
    if "BOOM" in text: raise ValueError(f"cannot read {text}")
    if "GARBAGE" in text: return 7
    if "WRONG" in text: return {"markup": "nowhere"}
    if "LONG" in text: return {"markup": "LONG", "reason": "x" * (4 << 20)}
    if "LEAK" in text: return {"markup": "LEAK", "tier": "certain", "kind": "malformed_call", "reason": "it says LEAK"}
'''
SCRIPT = """
import json, os, sys, time
for line in sys.stdin:
    text = json.loads(line)["content"] or ""
    if "HANG" in text: time.sleep(600)
    if "DIE" in text:
        print("my last words", file=sys.stderr)
        os._exit(3)
    if "KILL" in text: os.kill(os.getpid(), 9)
    if "EXIT" in text: sys.exit(4)
    if "HOG" in text: x = bytearray(2 << 30)
    if "GARBAGE" in text: print("not JSON"); continue
    if "LONG" in text: print("x" * (4 << 20)); continue
    if "TWICE" in text: print("null")
    if "CLOSE" in text: os.close(1); time.sleep(600)
    if "FLOOD" in text:
        while True: os.write(2, b"x" * 65536)
    print(json.dumps({"markup": "LEAK"}) if "LEAK" in text else "null", flush=True)
"""
PERL = """
$| = 1;
while (<STDIN>) {
    if (/HANG/) { sleep 600 }
    if (/DIE/) { exit 3 }
    if (/KILL/) { kill 9, $$ }
    if (/HOG/) { my @a; while (1) { push @a, "x" x 1000000 } }
    if (/GARBAGE/) { print "not JSON\\n"; next }
    print /LEAK/ ? '{"markup":"LEAK"}' : 'null', "\\n"; print "null\\n" if /TWICE/;
}
"""
NODE = """
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const text = JSON.parse(line).content || '';
  if (text.includes('HANG')) for (;;) {}
  if (text.includes('DIE')) process.exit(3);
  if (text.includes('KILL')) process.kill(process.pid, 'SIGKILL');
  if (text.includes('HOG')) { const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1)); }
  if (text.includes('GARBAGE')) return console.log('not JSON');
  console.log(text.includes('LEAK') ? '{"markup":"LEAK"}' : 'null');
  if (text.includes('TWICE')) console.log('null');
});
"""


def python(folder: Path, source: str = PYTHON, name: str = "code.py") -> str:
    """A file of code in Python, and how it is named."""
    (folder / name).write_text(source)
    return f"{folder / name}:find"


def script(folder: Path, source: str = SCRIPT, program: str = sys.executable, name: str = "script") -> str:
    """A script for `program`, and how it is named."""
    (folder / name).write_text(source)
    return f"exec:{program} {folder / name}"


LANGUAGES = [
    pytest.param(lambda folder: python(folder), id="python"),
    pytest.param(lambda folder: script(folder), id="a script"),
    *(
        pytest.param(
            lambda folder, source=source, program=program: script(folder, source, program),
            id=program,
            marks=[] if shutil.which(program) else pytest.mark.xfail(reason=f"no {program} here", run=False),
        )
        for program, source in (("perl", PERL), ("node", NODE))
    ),
]


def until_gone(pid: int, seconds: float = 10) -> bool:
    """Whether a process ends in time; one that ended but waits for its parent counts."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
    return False
