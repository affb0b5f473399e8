#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Mutated recordings through the kmstat command itself.

Takes real recordings, or reports saved as JSON, changes a few bytes (or lines)
of them, and runs a command on each: whatever is in a file, kmstat has to end
in time, with exit status 0 or 2, with one line of error in the latter case,
with valid JSON in the former, without a sanitizer's report and within its
memory. What fails is kept, with a name that says how.

    fuzz/mutate.py --kmstat build/asan/kmstat --count 2000 --keep /tmp/found trace.dat perf.data trace.txt
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

NUMBERS = [0, 1, 2, 4, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
           0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff]
COMMANDS = [
    ["report", "--json"], ["report"], ["report", "--format", "csv"], ["report", "--format", "markdown"],
    ["report", "--json", "--detail", "--site", "*", "--buffer", "all"],
    ["report", "--json", "--by", "function,cache,comm,gfp,node", "--objects", "64"],
    ["report", "--json", "--when-full", "sample", "--objects", "64"],
    ["report", "--json", "--time", "10%,60%", "--min-age", "1ns"],
    ["objects", "--format", "csv"], ["objects", "--json"],
    ["events"], ["events", "--json"], ["events", "--format", "csv"],
    ["info"], ["info", "--json"], ["leaks"], ["leaks", "--json"], ["size"], ["size", "--json"], ["timeline"], ["timeline", "--json", "--by", "cache"],
    ["merge", "--json"], ["compare", "{}"], ["compare", "--json", "{}"],
]
# Of a report that was saved. {} is the file as it was.
COMMANDS_OF_REPORTS = [["merge"], ["merge", "--json"], ["compare", "{}"], ["compare", "--json", "{}"]]


def mutate_bytes(data, rng):
    """One change of a bytearray, in place."""
    size = len(data)
    where = rng.random()
    if where < 0.15:
        at = rng.randrange(min(size, 4096))
    elif where < 0.3:
        at = size - 1 - rng.randrange(min(size, 8192))
    else:
        at = rng.randrange(size)
    kind = rng.randrange(9)
    if kind == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        data[at] = rng.randrange(256)
    elif kind == 2:
        width = rng.choice([1, 2, 4, 8])
        number = rng.choice(NUMBERS) & ((1 << 8 * width) - 1)
        data[at:at + width] = number.to_bytes(width, rng.choice(["little", "big"]))
    elif kind == 3:
        data[at] = (data[at] + rng.choice([-1, 1, 8, -8])) & 255
    elif kind == 4:
        length = rng.randrange(1, 256)
        start = rng.randrange(size)
        data[at:at + length] = data[start:start + length]
    elif kind == 5:
        length = rng.randrange(1, 64)
        data[at:at + length] = bytes([rng.choice([0, 0xff])]) * min(length, size - at)
    elif kind == 6:
        del data[at:at + rng.choice([1, 4, 8, 4096, 65536])]
    elif kind == 7:
        data[at:at] = data[at:at + rng.choice([1, 8, 4096])]
    elif rng.random() < 0.3:
        del data[at:]


def mutate_lines(data, rng):
    """One change of the lines of a text, in place."""
    lines = bytes(data).split(b"\n")
    at = rng.randrange(len(lines))
    words = lines[at].split(b" ")
    kind = rng.randrange(7)
    if kind == 0:
        lines[at:at] = [lines[rng.randrange(len(lines))]] * rng.choice([1, 1, 100])
    elif kind == 1:
        del lines[at:at + rng.choice([1, 1, 10])]
    elif kind == 2 and at:
        lines[at - 1:at + 1] = [lines[at - 1] + lines[at]]
    elif kind == 3:
        lines[at] = lines[at][:rng.randrange(len(lines[at]) + 1)]
    elif kind == 4:
        words[rng.randrange(len(words))] = rng.choice([b"", b"ptr=", b"(null)", b"kmalloc:", b"[001]", b"bytes_req=-1",
                                                       b"99999999999999999999", b"\0", b"\xff\xfe", b"x" * 70000])
        lines[at] = b" ".join(words)
    elif kind == 5:
        other = lines[rng.randrange(len(lines))].split(b" ")
        lines[at] = b" ".join(words[:len(words) // 2] + other[len(other) // 2:])
    else:
        field = rng.randrange(len(words))
        if b"=" in words[field]:
            words[field] = words[field].split(b"=")[0] + b"=" + str(rng.choice(NUMBERS)).encode()
        lines[at] = b" ".join(words)
    data[:] = b"\n".join(lines)


def mutate(original, rng):
    data = bytearray(original)
    is_text = b"\0" not in original[:4096]
    for _ in range(rng.choice([1, 1, 2, 3, 8, 30])):
        if not data:
            break
        if is_text and rng.random() < 0.7:
            mutate_lines(data, rng)
        else:
            mutate_bytes(data, rng)
    return bytes(data)


class Outcome:
    def __init__(self, status, out, err, seconds, rss_bytes, timed_out):
        self.status, self.out, self.err = status, out, err
        self.seconds, self.rss_bytes, self.timed_out = seconds, rss_bytes, timed_out


def limit(timeout, memory_bytes):
    """Of CPU time: how long a machine that does other things takes says nothing."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(timeout), int(timeout) + 1))
    if memory_bytes:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def resident_peak(pid):
    try:
        with open("/proc/%d/status" % pid) as status:
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


def run(argv, scratch, timeout, limit_bytes):
    env = dict(os.environ, LC_ALL="C.UTF-8", ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=8:exitcode=99",
               UBSAN_OPTIONS="print_stacktrace=1")
    started = time.monotonic()
    with open(scratch + ".out", "w+b") as out, open(scratch + ".err", "w+b") as err:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env,
                                 preexec_fn=lambda: limit(timeout, limit_bytes))
        timed_out = False
        peak_bytes = 0
        while True:
            # The kernel's own figure (ru_maxrss) includes this process as it was when the child was forked.
            peak_bytes = max(peak_bytes, resident_peak(child.pid))
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - started > timeout * 20:  # it waits for something
                child.kill()
                timed_out = True
                _, status, usage = os.wait4(child.pid, 0)
                break
            time.sleep(0.001)
        child.returncode = os.waitstatus_to_exitcode(status)
        timed_out |= child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        return Outcome(child.returncode, out.read(), err.read(), usage.ru_utime + usage.ru_stime,
                       peak_bytes, timed_out)


def judge(outcome, command, args):
    """What is wrong, in a word or two; None if nothing is."""
    err = outcome.err
    if outcome.timed_out:
        return "hang"
    if b"Sanitizer" in err or b"runtime error" in err:
        return "sanitizer"
    if outcome.status not in (0, 2):
        return "status%d" % outcome.status
    lines = err.decode("utf-8", "replace").split("\n")
    if lines[-1] or any(not line.startswith("kmstat: ") for line in lines[:-1]):
        return "stderr"
    if any(ord(c) < 32 or ord(c) == 127 for line in lines for c in line):
        return "control"
    errors = [line for line in lines[:-1] if not line.startswith("kmstat: warning: ")]
    if (outcome.status == 2) != (len(errors) == 1) or len(errors) > 1:
        return "errors%d" % len(errors)
    if outcome.status == 0 and not outcome.out:
        return "silent"
    if outcome.status == 0 and "--json" in command:
        try:
            text = outcome.out.decode("utf-8")
            if command[0] == "events":
                for line in text.splitlines():
                    json.loads(line)
            else:
                json.loads(text)
        except ValueError:
            return "json"
    if args.max_rss and outcome.rss_bytes > args.max_rss << 20:
        return "rss%d" % (outcome.rss_bytes >> 20)
    if outcome.seconds > args.slow:
        return "slow"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--kmstat", required=True, help="the program, best built with sanitizers")
    parser.add_argument("--count", type=int, default=1000, help="mutated files in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="found", help="directory for what fails")
    parser.add_argument("--timeout", type=float, default=20, help="seconds of CPU time that are a hang")
    parser.add_argument("--slow", type=float, default=8, help="seconds of CPU time that are out of proportion")
    parser.add_argument("--max-rss", type=int, default=0, help="MiB; 0: any (sanitizers take their own)")
    parser.add_argument("--ulimit", type=int, default=0, help="MiB of address space; 0: any; not with sanitizers")
    args = parser.parse_args()
    os.makedirs(args.keep, exist_ok=True)
    scratch = os.path.join(args.keep, "scratch-%d" % os.getpid())
    statuses, found, worst_rss, worst_seconds = {}, 0, 0, 0
    for i in range(args.count):
        rng = random.Random("%d-%d" % (args.seed, i))
        name = rng.choice(args.files)
        with open(name, "rb") as file:
            original = file.read()
        with open(scratch, "wb") as out:
            out.write(mutate(original, rng))
        command = rng.choice(COMMANDS_OF_REPORTS if original.startswith(b"{") else COMMANDS)
        command = [name if word == "{}" else word for word in command]
        outcome = run([args.kmstat] + command + [scratch], scratch, args.timeout, args.ulimit << 20)
        statuses[outcome.status] = statuses.get(outcome.status, 0) + 1
        worst_rss = max(worst_rss, outcome.rss_bytes)
        worst_seconds = max(worst_seconds, outcome.seconds)
        wrong = judge(outcome, command, args)
        if wrong:
            found += 1
            kept = os.path.join(args.keep, "%s-%d-%d" % (wrong, args.seed, i))
            shutil.copyfile(scratch, kept)
            with open(kept + ".txt", "wb") as out:
                out.write(("%s %s: %s, %.1f s, %d MiB\n" % (" ".join(command), name, wrong, outcome.seconds,
                                                            outcome.rss_bytes >> 20)).encode())
                out.write(outcome.err[:20000])
            print("%s: kmstat %s of %s" % (kept, " ".join(command), name), flush=True)
    for suffix in ("", ".out", ".err"):
        os.unlink(scratch + suffix)
    print("%d files, exit statuses %s, at most %.2f s and %d MiB, %d failures" %
          (args.count, dict(sorted(statuses.items())), worst_seconds, worst_rss >> 20, found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
