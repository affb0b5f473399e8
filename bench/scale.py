#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Shows how the time and the memory of kmstat grow with the number of events and of CPUs.

Amplifies a real trace (kmstat_amplify), measures `kmstat report --json` on what comes of it in several rounds, and
prints the time an event takes, as a ratio to that of the first row, and the peak of resident memory.

  events  the trace once, 10 and 100 times in time; a copy is handed the addresses of the one before
  CPUs    256 copies of the small trace as one pair of CPUs, as 32 and as 256 of them; each has its own addresses
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from bench import Program, positive

EVENTS = ((1, "x1"), (10, "x10"), (100, "x100"))
CPUS = ((256, 1), (8, 32), (1, 256))


def amplify(options, trace, arguments, to):
    done = subprocess.run([options.build / "kmstat_amplify", *arguments, trace, to], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"scale: {done.stderr.strip()}")
    words = done.stdout.rsplit(": ", 1)[1].split()
    return int(words[0]), int(words[3])


def measure(options, path):
    program = Program("kmstat", options.build / "kmstat", ["report", "--json", str(path)], options.rounds, "")
    for number in range(options.rounds):
        program.run(number, 3600)
        if program.failure:
            sys.exit(f"scale: kmstat {program.failure}")
    report = json.loads(subprocess.run(program.command, capture_output=True, check=True).stdout)
    return (statistics.median(program.values("wall_s")), max(program.values("peak_rss_bytes")),
            report["overflow"]["memory_peak_bytes"])


def series(options, title, steps, folder):
    rows = []
    print(f"{title:<8} {'events':>13} {'CPUs':>5} {'file MiB':>9} {'seconds':>8} {'ns/event':>9} {'ratio':>6}"
          f" {'peak MiB':>9} {'table MiB':>10} {'others MiB':>11}")
    for name, trace, arguments in steps:
        path = folder / f"{title}-{name}.dat"
        events, cpus = amplify(options, trace, arguments, path)
        seconds, rss, table = measure(options, path)
        row = {"name": name, "events_count": events, "cpus_count": cpus, "file_bytes": path.stat().st_size,
               "wall_s": seconds, "ns_per_event": seconds * 1e9 / events, "peak_rss_bytes": rss,
               "table_bytes": table}
        row["ratio"] = row["ns_per_event"] / (rows[0]["ns_per_event"] if rows else row["ns_per_event"])
        rows.append(row)
        print(f"{name:<8} {events:>13,} {cpus:>5} {row['file_bytes'] / 2**20:>9.1f} {seconds:>8.3f}"
              f" {row['ns_per_event']:>9.1f} {row['ratio']:>6.2f} {rss / 2**20:>9.1f} {table / 2**20:>10.1f}"
              f" {(rss - table) / 2**20:>11.1f}", flush=True)
        path.unlink()
    print()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="a trace.dat of some 3 million events")
    parser.add_argument("small", type=pathlib.Path, help="one of some ten thousand")
    parser.add_argument("-r", "--rounds", type=positive, default=5, help="default 5")
    parser.add_argument("-b", "--build", type=pathlib.Path, default=pathlib.Path("build/release"),
                        help="where kmstat and kmstat_amplify were built (default build/release)")
    parser.add_argument("-d", "--dir", default=os.environ.get("TMPDIR", "/var/tmp"),
                        help="where the traces go while they are needed (default /var/tmp; some GB)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the result as JSON too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="kmstat-scale-") as folder:
        folder = pathlib.Path(folder)
        result = {"schema": "kmstat.scale", "schema_version": 1, "machine": {"cpus": os.cpu_count()}}
        result["events"] = series(options, "events",
                                  [(name, options.file, ["-n", str(n)]) for n, name in EVENTS], folder)
        result["cpus"] = series(options, "cpus",
                                [(f"x{c}", options.small, ["-s", "-n", str(n), "-c", str(c)]) for n, c in CPUS],
                                folder)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
