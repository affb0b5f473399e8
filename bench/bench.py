#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the speed and the memory of kmstat with those of other programs.

Runs every program on the same file, one after the other, in several rounds, and prints the ratios of their times.
A ratio is formed within a round, where both programs met the same machine; shown are its median, least and greatest.

  kmstat      kmstat report --json FILE
  floor       kmstat_floor FILE: decompression alone, on one core (version 7 trace.dat only)
  trace-cmd   trace-cmd report -i FILE
  perf        perf kmem -i FILE --slab --caller stat (perf.data only)

The output of every program goes to /dev/null.  Needs nothing beyond Python's standard library.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SCHEMA_VERSION = 1

PERF_MAGIC = b"PERFILE2"
TRACE_V7_MAGIC = b"\x17\x08\x44tracing7\0"

# How many times longer the first program is to take than the second; held against large files only, as a small one
# measures how a process starts.
GOAL_FILE_BYTES = 64 << 20
GOALS = {
    ("kmstat", "floor"): ("at most", 1.2),
    ("trace-cmd", "kmstat"): ("at least", 100.0),
    ("perf", "kmstat"): ("at least", 8.0),
}
# Where nothing has to be decompressed, the floor is to read the file and touch every line of it.
GOALS_UNCOMPRESSED = GOALS | {("kmstat", "floor"): ("at most", 2.5)}


class Program:
    """One program under test and what was measured of it, a run a round."""

    def __init__(self, name, path, arguments, rounds, hint):
        self.name = name
        self.path = path
        self.arguments = arguments
        self.rounds = rounds
        self.hint = hint  # what to do when it is missing
        self.runs = {}  # by round
        self.failure = None

    @property
    def command(self):
        return [str(self.path), *self.arguments]

    def run(self, number, timeout):
        """Measures one run; a program that fails is not run again."""
        with tempfile.TemporaryFile() as errors:
            start = time.monotonic()
            try:
                process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=errors)
            except OSError as error:
                self.failure = error.strerror
                return
            status, usage = wait(process, timeout)
            wall = time.monotonic() - start
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        if status is None:
            self.failure = f"took longer than {timeout:g} s"
        elif status != 0:
            self.failure = f"ended with status {status}" + "".join(f": {line}" for line in last)
        else:
            self.runs[number] = {
                "round": number,
                "wall_s": wall,
                "user_s": usage.ru_utime,
                "sys_s": usage.ru_stime,
                "peak_rss_bytes": usage.ru_maxrss * 1024,
            }

    def values(self, key):
        return [run[key] for run in self.runs.values()]


def wait(process, timeout):
    """Waits for a process: (its status, or None if it took too long and was ended, and its rusage)."""
    # A file descriptor of the process, so that a late timer cannot hit another that got the same number.
    handle = os.pidfd_open(process.pid)
    timed_out = threading.Event()

    def end():
        timed_out.set()
        signal.pidfd_send_signal(handle, signal.SIGKILL)

    timer = threading.Timer(timeout, end)
    timer.start()
    try:
        # Not process.wait(), which drops the rusage of this one child.
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        timer.cancel()
        timer.join()
        os.close(handle)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if timed_out.is_set() else process.returncode, usage


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "n": len(values)}


def is_uncompressed(first_bytes):
    """Whether a trace.dat of version 7 says so: behind byte order, size of a long and page size."""
    return first_bytes.startswith(TRACE_V7_MAGIC) and first_bytes[len(TRACE_V7_MAGIC) + 6:].startswith(b"none\0")


def ratio(over, under, goal):
    """over's time by under's, in the rounds that both have; None if there is none."""
    rounds = [number for number in over.runs if number in under.runs]
    if not rounds:
        return None
    result = spread([over.runs[number]["wall_s"] / under.runs[number]["wall_s"] for number in rounds])
    if goal:
        kind, limit = goal
        result["goal"] = f"{kind} {limit:g}"
        result["goal_met"] = result["median"] <= limit if kind == "at most" else result["median"] >= limit
    return result


def find(given, built, name):
    """The path of a program: the one given, else the one built, else the one in PATH; None if there is none."""
    if given:
        return shutil.which(given)
    return shutil.which(str(built)) if built else shutil.which(name)


def make_programs(options, first_bytes):
    trace = str(options.file)
    build = options.build
    floor = None
    if first_bytes.startswith(PERF_MAGIC):
        rival = Program("perf", find(options.perf, None, "perf"), ["kmem", "-i", trace, "--slab", "--caller", "stat"],
                        options.slow_rounds, "install linux-perf, or give it with --perf")
    else:
        rival = Program("trace-cmd", find(options.trace_cmd, None, "trace-cmd"), ["report", "-i", trace],
                        options.slow_rounds, "install trace-cmd, or give it with --trace-cmd")
        if first_bytes.startswith(TRACE_V7_MAGIC):
            floor = Program("floor", find(options.floor, build / "kmstat_floor", None), [trace], options.rounds,
                            "build the target kmstat_floor, or give it with --floor")
    kmstat = Program("kmstat", find(options.kmstat, build / "kmstat", None), ["report", "--json", trace],
                     options.rounds, "build kmstat, or give it with --kmstat")
    return [program for program in (kmstat, floor, rival) if program]


def count_events(programs):
    """All events of the file, counted by kmstat_floor in a run of its own; None if it cannot."""
    floor = next((program for program in programs if program.name == "floor"), None)
    if not floor or not floor.path:
        return None
    done = subprocess.run([str(floor.path), "--count", *floor.arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("events "):
            return int(line.split()[1])
    return None


def read_through(path):
    """Reads the file once, so that the first round finds it in memory as the others do; returns its first bytes."""
    with open(path, "rb", buffering=0) as file:
        first = file.read(64)
        while file.read(1 << 20):
            pass
    return first


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def own_peak_bytes():
    """The peak resident memory that the kernel gives a child on account of this process, whose copy it starts as."""
    pid = os.posix_spawn("/bin/true", ["true"], {})
    return os.wait4(pid, 0)[2].ru_maxrss * 1024


def measure(programs, options):
    wanted = [program for program in programs if program.path]
    for number in range(max((program.rounds for program in wanted), default=0)):
        for program in wanted:
            if number >= program.rounds or program.failure:
                continue
            program.run(number, options.timeout)
            if not options.quiet:
                run = program.runs.get(number)
                what = f"{run['wall_s']:.3f} s" if run else program.failure
                print(f"round {number + 1}: {program.name}: {what}", file=sys.stderr, flush=True)


def make_result(programs, options, events, rss_resolution, goals):
    by_name = {program.name: program for program in programs}
    result = {
        "schema": "kmstat.bench",
        "schema_version": SCHEMA_VERSION,
        "file": {"path": str(options.file), "bytes": options.file.stat().st_size, "events_count": events},
        "machine": {"cpus": os.cpu_count(), "processor": processor(), "kernel": platform.release()},
        "rss_resolution_bytes": rss_resolution,
        "programs": {},
        "ratios": {},
    }
    for program in programs:
        entry = {"command": program.command if program.path else None, "failure": program.failure,
                 "runs": list(program.runs.values())}
        if not program.path:
            entry["failure"] = "not found"
        if program.runs:
            for key in ("wall_s", "user_s", "sys_s", "peak_rss_bytes"):
                entry[key] = spread(program.values(key))
            if events:
                entry["events_per_s"] = events / entry["wall_s"]["median"]
        result["programs"][program.name] = entry
    is_large = result["file"]["bytes"] >= GOAL_FILE_BYTES
    for (over, under), goal in goals.items():
        if over in by_name and under in by_name:
            result["ratios"][f"{over}/{under}"] = ratio(by_name[over], by_name[under], goal if is_large else None)
    return result


def print_result(result, programs):
    file = result["file"]
    machine = result["machine"]
    events = f", {file['events_count']:,} events" if file["events_count"] else ""
    print(f"{file['path']}: {file['bytes']:,} bytes{events}")
    print(f"{machine['processor']}, {machine['cpus']} CPUs, Linux {machine['kernel']}\n")

    print(f"{'program':<10} {'runs':>4} {'median s':>9} {'min':>9} {'max':>9} {'user s':>8} {'sys s':>8}"
          f" {'peak MiB':>9} {'M events/s':>11}")
    for name, entry in result["programs"].items():
        if not entry["runs"]:
            print(f"{name:<10} {'-':>4}  {entry['failure'] or 'not run'}")
            continue
        wall = entry["wall_s"]
        speed = f"{entry['events_per_s'] / 1e6:.2f}" if "events_per_s" in entry else "-"
        print(f"{name:<10} {wall['n']:>4} {wall['median']:>9.3f} {wall['min']:>9.3f} {wall['max']:>9.3f}"
              f" {entry['user_s']['median']:>8.3f} {entry['sys_s']['median']:>8.3f}"
              f" {entry['peak_rss_bytes']['max'] / 2**20:>9.1f} {speed:>11}")

    print(f"\n{'ratio of times':<20} {'median':>9} {'min':>9} {'max':>9}  goal")
    for name, entry in result["ratios"].items():
        if entry is None:
            print(f"{name:<20} {'-':>9}")
            continue
        goal = f"{entry['goal']}: {'met' if entry['goal_met'] else 'MISSED'}" if "goal" in entry else ""
        print(f"{name:<20} {entry['median']:>9.2f} {entry['min']:>9.2f} {entry['max']:>9.2f}  {goal}".rstrip())

    print(f"\nPeak memory below {result['rss_resolution_bytes'] / 2**20:.1f} MiB, that of this script, shows as that.")
    for program in programs:
        if not program.path:
            print(f"MISSING: {program.name} was not found and not measured: {program.hint}.")
        elif program.failure:
            print(f"FAILED: {program.name} {program.failure}: {' '.join(program.command)}")


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def parse_options():
    names = ["kmstat", "floor", "trace-cmd", "perf"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit status: 0 done, 1 a program failed, 2 usage, or a program asked for"
                                            " with --programs is missing.")
    parser.add_argument("file", type=pathlib.Path, help="a trace.dat or perf.data")
    parser.add_argument("-r", "--rounds", type=positive, default=5, help="default 5")
    parser.add_argument("--slow-rounds", type=positive, metavar="N",
                        help="rounds of trace-cmd and perf, which can take minutes (default: as many as --rounds)")
    parser.add_argument("-p", "--programs", metavar="LIST",
                        help=f"measure only these, separated by commas: {', '.join(names)}")
    parser.add_argument("-b", "--build", type=pathlib.Path, default=pathlib.Path("build/release"),
                        help="where kmstat and kmstat_floor were built (default build/release)")
    for name in names:
        parser.add_argument(f"--{name}", metavar="PATH", help=f"{name} to measure")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for one run (default 900)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the result as JSON too")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    options = parser.parse_args()
    options.slow_rounds = options.slow_rounds or options.rounds
    options.programs = options.programs.split(",") if options.programs else None
    unknown = set(options.programs or []) - set(names)
    if unknown:
        parser.error(f"unknown program '{unknown.pop()}'; known are {', '.join(names)}")
    return parser, options


def main():
    parser, options = parse_options()
    rss_resolution = own_peak_bytes()
    try:
        first_bytes = read_through(options.file)
    except OSError as error:
        parser.error(f"{options.file}: {error.strerror}")
    programs = make_programs(options, first_bytes)
    if options.programs:
        for name in options.programs:
            if name not in {program.name for program in programs}:
                parser.error(f"{name} cannot read this kind of file")
    events = count_events(programs)
    if options.programs:
        programs = [program for program in programs if program.name in options.programs]

    missing = [program.name for program in programs if not program.path]
    for program in programs:
        if not program.path:
            print(f"bench: {program.name} was not found and is left out: {program.hint}", file=sys.stderr)
    if options.programs and missing:
        return 2
    measure(programs, options)
    goals = GOALS_UNCOMPRESSED if is_uncompressed(first_bytes) else GOALS
    result = make_result(programs, options, events, rss_resolution, goals)
    print_result(result, programs)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 1 if any(program.failure for program in programs) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
