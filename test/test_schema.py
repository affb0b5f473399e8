#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What kmstat writes for machines, on real recordings: it follows the schemas
of doc/schema, says the same twice, and its numbers agree with one another.

	test_schema.py KMSTAT [unittest arguments]

Exit status 77: skipped, python3-jsonschema is not there.
"""

import collections
import csv
import glob
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMAS = os.path.join(HERE, "..", "doc", "schema")
FIXTURES = os.path.join(HERE, "fixtures")
KMSTAT = None

# What one recording or another has: loss, overflow, ticks, 32 bits, big endian, doubled kmallocs, several buffers.
ALL = sorted(os.path.basename(path) for path in glob.glob(os.path.join(FIXTURES, "*.dat*")))
NO_SLAB = ["x86_64-6.18-sched-only.dat"]
SLAB = [name for name in ALL if name not in NO_SLAB]
MANY_BUFFERS = ["built-two-slab-buffers.dat"]
ONE = [name for name in SLAB if name not in MANY_BUFFERS]
WL = "x86_64-6.18-slab4-wl.dat"
LEAKY = "x86_64-6.12-gt-leaky.dat"
LOST = "x86_64-5.10-lost.dat"
ALIASES = "x86_64-6.18.slab-aliases"

SUMS = [
    "allocs_count", "tracked_count", "failed_count", "doubled_count", "overflowed_count", "overflowed_bytes",
    "matched_frees_count", "implied_frees_count", "cross_cpu_frees_count", "live_count", "live_bytes",
    "live_requested_bytes", "live_waste_bytes", "total_allocated_bytes", "total_requested_bytes",
    "total_waste_bytes", "at_peak_count",
]
TOTALS = {
    "alloc_events_count": int, "free_events_count": int, "failed_count": int, "doubled_count": int,
    "overflowed_count": int, "overflowed_bytes": int, "tracked_count": int, "matched_frees_count": int,
    "implied_frees_count": int, "null_frees_count": int, "unmatched_frees_count": int, "live_count": int,
    "live_bytes": int, "live_is": str, "live_requested_bytes": int, "live_waste_bytes": int,
    "peak_live_count": int, "peak_live_bytes": int, "peak_time_ns": int, "total_allocated_bytes": int,
    "total_requested_bytes": int, "total_waste_bytes": int,
}
SITE = {
    "symbol": str, "function": str, "module": (str, type(None)), "address": str, "allocs_count": int,
    "matched_frees_count": int, "implied_frees_count": int, "live_count": int, "live_bytes": int, "live_is": str,
    "live_requested_bytes": int, "live_waste_bytes": int, "at_peak_bytes": int, "peak_live_bytes": int,
    "total_allocated_bytes": int, "total_waste_bytes": int, "oldest_age_ns": (int, type(None)),
    "lifetime_ns": dict, "caches": list,
}
CACHE = {
    "name": str, "object_bytes": (int, type(None)), "allocs_count": int, "live_count": int, "live_bytes": int,
    "live_is": str, "peak_live_bytes": int,
}
OVERFLOW = {
    "capacity_count": int, "fixed": bool, "memory_bytes": int, "when_full": str, "overflowed_count": int,
    "first_ns": (int, type(None)), "episodes_count": int, "recommended_count": int,
}
TRACE = {
    "file": str, "format": str, "kernel": (str, type(None)), "clock": str, "cpus_count": int, "start_ns": int,
    "end_ns": int, "duration_ns": int, "events_count": int, "buffer": str,
}


def run(*arguments, status=0):
    """Standard output of kmstat, run among the fixtures."""
    result = subprocess.run([KMSTAT, *arguments], cwd=FIXTURES, stdin=subprocess.DEVNULL, capture_output=True,
                            check=False)
    if result.returncode != status:
        raise AssertionError(f"kmstat {' '.join(arguments)}: exit status {result.returncode}: "
                             f"{result.stderr.decode(errors='replace')}")
    return result.stdout


def read(*arguments):
    return json.loads(run(*arguments, "--json"))


def read_lines(*arguments):
    return [json.loads(line) for line in run("events", "-q", "--json", *arguments).splitlines()]


class Test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.validators = {}
        store = {}
        for path in glob.glob(os.path.join(SCHEMAS, "*.schema.json")):
            with open(path, encoding="utf-8") as file:
                schema = json.load(file)
            store[schema["$id"]] = schema
        for schema in store.values():
            jsonschema.Draft202012Validator.check_schema(schema)
            resolver = jsonschema.RefResolver(schema["$id"], schema, store=store)
            cls.validators[schema["title"]] = jsonschema.Draft202012Validator(schema, resolver=resolver)

    def follows(self, document, kind=None):
        errors = list(self.validators[kind or document["schema"]].iter_errors(document))
        self.assertEqual([f"{list(e.absolute_path)}: {e.message[:200]}" for e in errors[:3]], [])

    def has(self, record, keys):
        for key, types in keys.items():
            self.assertIn(key, record)
            self.assertIsInstance(record[key], types, key)
            if types is int:
                self.assertNotIsInstance(record[key], bool, key)

    # --- schemas ---

    def test_kinds(self):
        self.assertEqual(sorted(self.validators),
                         ["kmstat.compare", "kmstat.events", "kmstat.info", "kmstat.leaks", "kmstat.objects",
                          "kmstat.report", "kmstat.reports", "kmstat.size", "kmstat.timeline"])

    def test_warning_codes_are_those_of_the_source(self):
        with open(os.path.join(HERE, "..", "src", "health.c"), encoding="utf-8") as file:
            source = set(re.findall(r'\[KM_WARN_\w+\]\s*=\s*"(\w+)"', file.read()))
        for kind in ("kmstat.report", "kmstat.objects", "kmstat.leaks", "kmstat.size", "kmstat.timeline"):
            health = self.validators[kind].schema["properties"]["health"]["properties"]
            self.assertEqual(set(health["warnings"]["items"]["properties"]["code"]["enum"]), source)
        self.assertGreater(len(source), 10)

    def test_schemas_refuse(self):
        """A schema that takes anything would pass all the other tests."""
        report = read("report", WL, "-n", "1")
        broken = [
            lambda d: d.pop("totals"), lambda d: d["totals"].pop("live_bytes"),
            lambda d: d["totals"].update(live_bytes="1"), lambda d: d["sites"][0].update(live_is="maybe"),
            lambda d: d["sites"][0].update(address="12"), lambda d: d["health"].update(completeness="half"),
            lambda d: d["health"]["warnings"][0].update(code="new"), lambda d: d.update(schema="kmstat.info"),
            lambda d: d["caches"][0].pop("object_bytes"), lambda d: d["trace"].update(start_ns=-1),
        ]
        for change in broken:
            document = json.loads(json.dumps(report))
            change(document)
            self.assertFalse(self.validators["kmstat.report"].is_valid(document))
        report["new_key"] = report["totals"]["new_key"] = 1
        self.follows(report)

    def test_report(self):
        for name in ONE:
            with self.subTest(file=name):
                self.follows(read("report", name))
        variants = [
            ("--by", "function,cache"), ("--by", "site,module,comm,pid,cpu,node,gfp,size"), ("--objects", "256"),
            ("--cache", "maple*,!x", "--min-age", "1ms", "--time", "10%,"), ("-n", "2"), ("--raw-ip",),
            ("--detail", "--function", "copy_process"), ("--cache", "nosuch"),
            ("--objects", "256", "--when-full", "sample"), ("--objects", "1", "--when-full", "sample", "--by", "site"),
            ("--when-full", "sample", "--max-memory", "4K", "--detail", "--function", "copy_process"),
        ]
        for variant in variants:
            for name in [WL, "built-counter-clock.dat"]:
                with self.subTest(file=name, arguments=variant):
                    self.follows(read("report", name, *variant))
        for loss in ("taint", "keep", "reset"):
            self.follows(read("report", LOST, "--on-loss", loss))

    def test_slabinfo(self):
        """What is counted of each cache beside slabinfo is what the report counts by another way."""
        copies = [LEAKY.replace(".dat", ".slabinfo-" + end) for end in ("before", "after")]
        for name in ONE:
            with self.subTest(file=name):
                report = read("report", name, "--slabinfo", ",".join(copies), "--objects", "64")
                self.follows(report)
                slabinfo = report["slabinfo"]
                rows = {row["cache"]: row for row in slabinfo["caches"]}
                self.assertEqual(len(rows), len(slabinfo["caches"]))
                for cache in report["caches"]:
                    row = rows.get(cache["name"])
                    wanted = (cache["tracked_count"] + cache["overflowed_count"], cache["overflowed_count"],
                              cache["matched_frees_count"], cache["implied_frees_count"])
                    if not row:
                        self.assertEqual(wanted, (0, 0, 0, 0))
                        continue
                    self.assertEqual((row["allocs_count"], row["overflowed_count"], row["matched_frees_count"],
                                      row["implied_frees_count"]), wanted)
                unmatched = sum(row["unmatched_frees_count"] for row in rows.values())
                self.assertEqual(unmatched + slabinfo["unknown_frees_count"],
                                 report["totals"]["unmatched_frees_count"])
                for row in rows.values():
                    self.check_slabinfo_row(row)
                for key, wanted in (("agree_count", True), ("differ_count", False), ("not_compared_count", None)):
                    self.assertEqual(slabinfo[key], sum(row["agrees"] is wanted for row in rows.values()))
        for arguments in (("--slabinfo", copies[0]), ("--slabinfo", ",".join(copies), "--time", "20%,70%"),
                          ("--slabinfo", ",".join(copies), "--by", "comm", "--cache", "nosuch"),
                          ("--slab-aliases", ALIASES)):
            self.follows(read("report", LEAKY, *arguments))
        self.follows(read("leaks", WL, "--slab-aliases", ALIASES))
        self.follows(read("objects", WL, "--slab-aliases", ALIASES))

    def check_slabinfo_row(self, row):
        self.assertEqual(row["trace_change_count"],
                         row["allocs_count"] - row["matched_frees_count"] - row["unmatched_frees_count"] -
                         row["implied_frees_count"])
        if row["agrees"] is None:
            self.assertIsNone(row["difference_count"])
            return
        self.assertEqual(row["slabinfo_change_count"], row["after_count"] - row["before_count"])
        self.assertEqual(row["difference_count"], row["slabinfo_change_count"] - row["trace_change_count"])
        self.assertEqual(row["agrees"], abs(row["difference_count"]) <= row["tolerance_count"])

    def test_slabinfo_of_two_windows(self):
        """What happened in a window is what happened in its halves."""
        before = LEAKY.replace(".dat", ".slabinfo-before")
        for name in (LEAKY, WL):
            changes = []
            for window in ("20%,50%", "50%,70%", "20%,70%"):
                rows = read("report", name, "--slabinfo", before, "--time", window)["slabinfo"]["caches"]
                changes.append(collections.Counter({row["cache"]: row["trace_change_count"] for row in rows}))
            for cache in set().union(*changes):
                self.assertEqual(changes[0][cache] + changes[1][cache], changes[2][cache], (name, cache))

    # --- comparisons and rules ---

    def adds_up(self, document):
        """Rows, their order, the summary and the whole agree with one another."""
        rows, summary = document["rows"], document["summary"]
        def near(a, b):
            """Whole numbers are equal, others to the digits that are written."""
            if document["per"] is None:
                self.assertEqual(a, b)
            else:
                self.assertAlmostEqual(a, b, delta=1e-9 * max(abs(a), abs(b), summary["old"], summary["new"]))

        for row in rows:
            near(row["delta"], row["new"] - row["old"])
            self.assertEqual(row["delta_ratio"] is None, row["old"] == 0)
            state = ("same" if row["old"] == row["new"] else "new" if not row["old"] else "gone" if not row["new"] else
                     "grown" if row["new"] > row["old"] else "shrunk")
            self.assertEqual(row["state"], state)
        self.assertEqual([row["delta"] for row in rows], sorted((row["delta"] for row in rows), reverse=True))
        for state in ("new", "gone", "grown", "shrunk", "same"):
            self.assertEqual(sum(row["state"] == state for row in rows), summary[state + "_count"])
        near(sum(row["old"] for row in rows), summary["old"])
        near(sum(row["new"] for row in rows), summary["new"])
        near(sum(max(row["delta"], 0) for row in rows), summary["up"])
        near(sum(max(-row["delta"], 0) for row in rows), summary["down"])
        near(summary["up"] - summary["down"], summary["net"])
        near(summary["new"] - summary["old"], summary["net"])

    def test_compare(self):
        metrics = ["live", "peak", "allocated", "waste", "count", "survivors", "oldest_age_ns", "at_peak_bytes"]
        variants = [("--by", by, "--metric", metric) for by in ("site", "function", "module", "cache", "comm,cache")
                    for metric in metrics]
        variants += [("--per", "second"), ("--per", "event"), ("--ops", "100,200"), ("-n", "3"),
                     ("--fail-on", "live_bytes>+5%", "--fail-on", "cache:nosuch?:live_count>1", "--exit-zero")]
        for variant in variants:
            with self.subTest(arguments=variant):
                document = read("compare", LEAKY, WL, *variant)
                self.follows(document)
                if "-n" not in variant:
                    self.adds_up(document)
        for name in ONE:
            with self.subTest(file=name):
                document = read("compare", WL, name)
                self.follows(document)
                self.adds_up(document)
        document = read("compare", "--base", WL, "--base", WL, "--base", LEAKY, "--base", WL, WL, LEAKY, WL, LEAKY,
                        "--fail-on", "live_bytes>+5%")
        self.follows(document)
        self.adds_up(document)
        self.assertTrue(document["test"]["is_done"])
        self.follows(read("compare", WL, "--base-time", ",50%", "--new-time", "50%,", "--per", "second"))

    def test_compare_with_itself(self):
        """Nothing differs, whatever is read and however it is asked."""
        with tempfile.TemporaryDirectory() as directory:
            for name in ONE:
                saved = os.path.join(directory, "saved.json")
                with open(saved, "wb") as file:
                    file.write(run("report", "--json", name))
                for sides in ((name, name), (saved, name), (name, saved), (saved, saved)):
                    for by in ("site", "function", "module", "cache") if name in (WL, LOST) else ("site",):
                        with self.subTest(sides=sides, by=by):
                            document = read("compare", *sides, "--by", by, "--fail-on", "alloc_events_count>+0")
                            self.adds_up(document)
                            self.assertEqual(document["verdict"], "pass")
                            self.assertEqual(document["summary"]["same_count"], len(document["rows"]))
                            self.assertGreater(len(document["rows"]), 0)
                            self.assertEqual({total["delta"] for total in document["totals"]}, {0})
                            live = [t["old"] for t in document["totals"] if t["metric"] == "live_bytes"]
                            self.assertEqual([document["summary"]["old"]], live)

    def test_saved_samples(self):
        """An estimate is no bound: a rule on it is not decided unless what is sure decides it."""
        with tempfile.TemporaryDirectory() as directory:
            saved = os.path.join(directory, "saved.json")
            with open(saved, "wb") as file:
                file.write(run("report", "--json", "--objects", "256", "--when-full", "sample", WL))
            document = read("compare", saved, WL, "--fail-on", "live_bytes>+5%", "--fail-on", "alloc_events_count>+0",
                            "--fail-on", "live_bytes>1G", "--exit-zero", "-q")
            self.follows(document)
            self.adds_up(document)
            self.assertEqual([rule["result"] for rule in document["rules"]], ["undecided", "pass", "pass"])
            self.assertIn("estimated", {row["old_live_is"] for row in document["rows"]})
            merged = read("merge", saved, LEAKY)
            self.follows(merged)
            self.assertEqual(merged["overflow"]["when_full"], "sample")
            self.assertIn("estimated", {row["live_is"] for row in merged["sites"]})

    def test_rules_of_report(self):
        """The value is the key's, and a rule at the value passes, one below it does not."""
        report = read("report", LEAKY)
        subjects = [("", report["totals"])]
        subjects += [("cache:" + row["name"] + ":", row) for row in report["caches"]]
        subjects += [("site:" + row["address"] + ":", row) for row in report["sites"]]
        rules, expected = [], []
        for prefix, row in subjects:
            for key in ("live_bytes", "live_count", "peak_live_bytes", "total_allocated_bytes", "implied_frees_count"):
                for limit in {row[key], max(row[key] - 1, 0)}:
                    rules += ["--fail-on", f"{prefix}{key}>{limit}"]
                    low, high = row.get(key + "_min", row[key]), row.get(key + "_max", row[key])
                    result = ("fail" if low > limit else "pass" if high is not None and high <= limit else
                              "undecided")
                    expected.append((row[key], limit, result))
        self.assertGreater(len(expected), 500)
        document = read("report", LEAKY, "-n", "1", "--exit-zero", "-q", *rules)
        self.follows(document)
        self.assertEqual([(r["value"], r["limit"], r["result"]) for r in document["rules"]], expected)
        self.assertEqual({result for _, _, result in expected}, {"pass", "fail", "undecided"})
        self.assertEqual(document["verdict"], "fail")
        for number in ("rules", "verdict"):
            self.assertNotIn(number, report)

    def test_junit(self):
        """What any CI reads: well-formed, the counts right, every rule a test of its own."""
        rules = ["live_bytes>1G", "alloc_events_count>1", "cache:kmalloc-64:live_bytes>1"]
        arguments = [part for rule in rules for part in ("--fail-on", rule)]
        for command in (["report", LOST], ["compare", LOST, LOST]):
            with self.subTest(command=command):
                root = xml.etree.ElementTree.fromstring(run(*command, "--format", "junit", "-q", *arguments, status=1))
                self.assertEqual((root.tag, [suite.tag for suite in root]), ("testsuites", ["testsuite"]))
                suite = root[0]
                self.assertEqual([case.get("name") for case in suite], rules)
                self.assertEqual({case.get("classname") for case in suite}, {"kmstat." + command[0]})
                counts = [int(suite.get(key)) for key in ("tests", "failures", "errors")]
                self.assertEqual(counts, [3, len(suite.findall("testcase/failure")),
                                          len(suite.findall("testcase/error"))])
                self.assertEqual(counts, [int(root.get(key)) for key in ("tests", "failures", "errors")])
                self.assertEqual(suite[1].find("failure").get("type"), "fail")
                self.assertIn("events were lost", suite[0].find("error").get("message"))

    def test_csv_of_compare(self):
        for variant in ((), ("--by", "cache"), ("--by", "comm"), ("--per", "second")):
            with self.subTest(arguments=variant):
                rows = read("compare", LEAKY, WL, *variant)["rows"]
                self.csv_agrees(rows, "compare", LEAKY, WL, *variant)

    def test_merge(self):
        for arguments in ((WL,), (WL, LEAKY), (WL, LEAKY, LOST, "s390x-6.1-slab-mono.dat", "--by", "comm,cache"),
                          (WL, LEAKY, "--objects", "256"), ("built-counter-clock.dat",), (WL, "--cache", "kmalloc-*"),
                          (WL, LEAKY, "-n", "3")):
            with self.subTest(arguments=arguments):
                self.follows(read("merge", *arguments))

    def test_merged_is_the_sum(self):
        parts = [read("report", name) for name in (WL, LEAKY)]
        merged = read("merge", WL, LEAKY)
        for key in SUMS:
            key = "alloc_events_count" if key == "allocs_count" else key
            self.assertEqual(merged["totals"][key], sum(part["totals"][key] for part in parts), key)
        for table in ("sites", "caches"):
            for key in SUMS:
                self.assertEqual(sum(row[key] for row in merged[table]),
                                 sum(row[key] for part in parts for row in part[table]), key)
        self.assertEqual([s["file"] for s in merged["sources"]], [LEAKY, WL])

    def test_reports(self):
        for command in ("report", "objects", "leaks", "size", "timeline"):
            for name in MANY_BUFFERS + [WL, "arm64-6.12-2buffers.dat"]:
                with self.subTest(file=name, arguments=command):
                    document = read(command, "--buffer", "all", name)
                    self.follows(document)
                    self.assertEqual(document["schema"], "kmstat.reports")
                    for report in document["reports"]:
                        self.follows(report)
        self.assertEqual([r["trace"]["buffer"] for r in read("report", "-B", "all", *MANY_BUFFERS)["reports"]],
                         ["one", "two"])

    def test_objects(self):
        for name in ONE:
            with self.subTest(file=name):
                self.follows(read("objects", name))
        self.follows(read("objects", WL, "--objects", "256", "-n", "3"))
        sample = read("objects", WL, "--objects", "256", "--when-full", "sample")
        self.follows(sample)
        self.assertLessEqual(len(sample["objects"]), 256)
        self.assertEqual({o["weight_count"] for o in sample["objects"]}, {round(1 / sample["overflow"]["rate"])})

    def test_size(self):
        for name in ONE:
            with self.subTest(file=name):
                self.follows(read("size", name))
        for variant in (("--cache", "nosuch"), ("--time", "10%,50%"), ("--on-loss", "reset")):
            self.follows(read("size", WL, *variant))

    def test_leaks(self):
        for name in ONE:
            with self.subTest(file=name):
                leaks, report = read("leaks", name), read("report", name)
                self.follows(leaks)
                for key in ("trace", "filters", "totals", "overflow", "health"):
                    self.assertEqual(leaks[key], report[key])
                live = {(site["symbol"], site["live_count"], site["live_bytes"])
                        for site in report["sites"] if site["live_count"]}
                found = [(row["symbol"], row["live_count"], row["live_bytes"]) for row in leaks["candidates"]]
                self.assertEqual(len(found), len(leaks["candidates"]))
                self.assertEqual(set(found), live)
                leaked = [row for row in leaks["candidates"] if row["verdict"] == "leak"]
                for key in ("count", "bytes"):
                    self.assertEqual(report["totals"]["leaks_" + key], sum(row["live_" + key] for row in leaked))
                    self.assertEqual({site["symbol"]: site["leaks_" + key]
                                      for site in report["sites"] if site["leaks_" + key]},
                                     {row["symbol"]: row["live_" + key] for row in leaked})
                chosen = [row for row in leaks["candidates"] if row["verdict"] == "leak"]
                self.assertEqual(chosen, leaks["candidates"][:len(chosen)])
                self.assertEqual(sum(row["live_count"] for row in chosen), leaks["totals"]["leaks_count"])
                self.assertEqual(sum(row["live_bytes"] for row in chosen), leaks["totals"]["leaks_bytes"])
                for row in leaks["candidates"]:
                    factors = row["factors"]
                    self.assertEqual(sum(count for _, count in factors["windows"]),
                                     row["live_count"] - factors["page_freed_count"])
                    self.assertLessEqual(factors["old_count"] + factors["before_loss_count"], row["live_count"])
        for variant in (("--objects", "256"), ("--cache", "kmalloc-*"), ("--time", ",50%"), ("-n", "3")):
            self.follows(read("leaks", LEAKY, *variant))

    def test_leaks_of_a_module_that_leaks(self):
        """The module's own list of what it leaked, and nothing else."""
        leaks = read("leaks", LEAKY)
        self.assertEqual(leaks["totals"]["leaks_count"], 51)
        first = leaks["candidates"][:6]
        self.assertEqual({row["function"] for row in first},
                         {"leak_large", "leak_node", "leak_kmalloc", "leak_cache", "leak_strdup", "leak_account"})
        self.assertEqual({row["verdict"] for row in first}, {"leak"})
        verdicts = {row["function"]: row["verdict"] for row in leaks["candidates"]}
        self.assertEqual(verdicts["ok_kfree_rcu"], "untraced_frees")
        self.assertEqual(verdicts["ok_single_bulkfree"], "untraced_frees")

    def test_no_leak_where_there_is_none(self):
        for name in ONE:
            if name != LEAKY:
                with self.subTest(file=name):
                    self.assertEqual(read("leaks", name)["totals"]["leaks_count"], 0)

    def test_info(self):
        for name in ALL:
            with self.subTest(file=name):
                self.follows(read("info", name))

    def test_events(self):
        for name in ONE:
            with self.subTest(file=name):
                lines = read_lines(name, "-n", "2000")
                self.assertGreater(len(lines), 0)
                for line in lines:
                    self.follows(line, "kmstat.events")
        outcomes = set()
        sample = ("--objects", "256", "--when-full", "sample")
        for line in read_lines(LEAKY) + read_lines(WL, "--objects", "256") + read_lines(WL, *sample):
            if line["outcome"] not in outcomes:
                self.follows(line, "kmstat.events")
                outcomes.add(line["outcome"])
        schema = self.validators["kmstat.events"].schema
        self.assertEqual(outcomes, set(schema["properties"]["outcome"]["enum"]))

    # --- keys that scripts rely on, whatever the schemas say ---

    def test_fixed_keys(self):
        for name in [WL, LEAKY, "s390x-6.1-slab-mono.dat"]:
            with self.subTest(file=name):
                report = read("report", name)
                self.assertEqual((report["schema"], report["schema_version"], report["domain"]),
                                 ("kmstat.report", 1, "slab"))
                self.has(report, {"generator": str, "filters": dict, "truncated": bool})
                self.has(report["trace"], TRACE)
                self.assertEqual(report["sources"], [report["trace"]])
                self.has(report["totals"], TOTALS)
                self.has(report["overflow"], OVERFLOW)
                self.has(report["health"], {"completeness": str, "completeness_flags": list, "lost_events_count": int,
                                            "lost_is": str, "cpus": list, "warnings": list})
                for site in report["sites"]:
                    self.has(site, SITE)
                    self.has(site["lifetime_ns"], {key: (int, type(None)) for key in ("min", "max", "p50", "p99")})
                    self.has(site["lifetime_ns"], {"count": int, "histogram": list})
                for cache in report["caches"]:
                    self.has(cache, CACHE)
                for cpu in report["health"]["cpus"]:
                    self.has(cpu, {"cpu": int, "lost_events_count": int, "lost_is": str})
                objects = read("objects", name)["objects"]
                for row in objects:
                    self.has(row, {"ptr": str, "symbol": str, "cache": str, "requested_bytes": int,
                                   "allocated_bytes": int, "age_ns": int, "pid": int, "comm": str, "cpu": int})
                self.has(read("info", name), {"trace": dict, "buffers": list, "events": dict})

    # --- numbers ---

    def identities(self, row, allocs="allocs_count", reset=0):
        self.assertEqual(row[allocs], row["failed_count"] + row["doubled_count"] + row["overflowed_count"] +
                         row["tracked_count"])
        # A row does not tell what was forgotten at a loss: the default forgets nothing.
        self.assertEqual(row["tracked_count"], row["matched_frees_count"] + row["implied_frees_count"] +
                         row["live_count"] + reset)
        self.assertEqual(row["live_waste_bytes"], row["live_bytes"] - row["live_requested_bytes"])
        self.assertEqual(row["total_waste_bytes"], row["total_allocated_bytes"] - row["total_requested_bytes"])
        self.assertGreaterEqual(row["peak_live_bytes"], row["live_bytes"])
        self.assertGreaterEqual(row["peak_live_count"], row["live_count"])
        self.assertGreaterEqual(row["total_allocated_bytes"], row["peak_live_bytes"])
        self.assertGreaterEqual(row["matched_frees_count"], row["cross_cpu_frees_count"])
        for key in ("live_bytes", "live_count", "peak_live_bytes", "peak_live_count"):
            self.assertLessEqual(row[key + "_min"], row[key])
            if row[key + "_max"] is not None:
                self.assertGreaterEqual(row[key + "_max"], row[key])
            self.assertGreaterEqual(row[key + "_min"], row[key.replace("peak_", "") + "_min"])

    def bounds_of_live(self, row):
        """What live_is says of a row, and no more."""
        for unit in ("bytes", "count"):
            value, over = row["live_" + unit], row["overflowed_" + unit]
            most = row[f"live_{unit}_max"]
            self.assertIn((row[f"live_{unit}_min"], most),
                          {"consistent": [(value, value)], "upper_bound": [(0, value)],
                           "at_least": [(value, value + over)],
                           "uncertain": [(0, None), (0, value + over)]}[row["live_is"]])
        if row["live_is"] == "uncertain" and row["live_bytes_max"] is not None:
            self.assertGreater(row["overflowed_count"], 0)

    def agrees(self, report):
        totals = report["totals"]
        self.identities(totals, "alloc_events_count", totals.get("reset_count", 0))
        self.assertEqual(totals["free_events_count"], totals["null_frees_count"] + totals["matched_frees_count"] +
                         totals["unmatched_frees_count"])
        for table in ("sites", "caches", "groups"):
            if table not in report:
                continue
            for key in SUMS:
                of_totals = totals["alloc_events_count" if key == "allocs_count" else key]
                self.assertEqual(sum(row[key] for row in report[table]), of_totals, f"{key} of {table}")
            self.assertEqual(sum(row["at_peak_bytes"] for row in report[table]), totals["peak_live_bytes"], table)
            for row in report[table]:
                self.bounds_of_live(row)
            for row in report[table]:
                if "reset_count" not in totals:
                    self.identities(row)
                lifetimes = row["lifetime_ticks"] if "lifetime_ticks" in row else row["lifetime_ns"]
                self.assertEqual(lifetimes["count"], row["matched_frees_count"])
                self.assertEqual(sum(count for _, count in lifetimes["histogram"]), lifetimes["count"])
                self.assertEqual(row["oldest_age_ticks" if "oldest_age_ticks" in row else "oldest_age_ns"] is None,
                                 row["live_count"] == 0)
            live = [row["live_bytes"] for row in report[table]]
            self.assertEqual(live, sorted(live, reverse=True))
        for key in ("live_bytes", "live_count"):
            self.assertEqual(totals[key + "_min"], sum(row[key + "_min"] for row in report["sites"]))
            most = [row[key + "_max"] for row in report["sites"]]
            self.assertEqual(totals[key + "_max"], None if None in most else sum(most))
        overflow = report["overflow"]
        self.assertLessEqual(overflow["peak_count"], overflow["capacity_count"])
        if overflow["overflowed_count"]:
            self.assertEqual(overflow["peak_count"], overflow["capacity_count"])
            self.assertGreater(overflow["recommended_count"], overflow["capacity_count"])
            self.assertGreater(overflow["episodes_count"], 0)

    def test_identities(self):
        for name in ONE:
            with self.subTest(file=name):
                report = read("report", name)
                self.agrees(report)
                replay, totals = report["health"]["replay"], report["totals"]
                for key in ("tracked_count", "overflowed_count", "failed_count", "doubled_count", "matched_frees_count",
                            "implied_frees_count", "null_frees_count", "unmatched_frees_count"):
                    self.assertEqual(replay[key], totals[key])
                self.assertEqual(sum(replay[k + "_count"] for k in ("kmalloc", "kmalloc_node", "kmem_cache_alloc",
                                                                    "kmem_cache_alloc_node")),
                                 totals["alloc_events_count"])
                self.assertEqual(replay["kfree_count"] + replay["kmem_cache_free_count"], totals["free_events_count"])

    def test_identities_of_variants(self):
        variants = [("--objects", "256"), ("--objects", "1"), ("--by", "comm,cpu"), ("--cache", "kmalloc-*"),
                    ("--comm", "sh", "--time", "20%,80%"), ("--on-loss", "reset"), ("--by", "function,cache"),
                    ("--on-loss", "keep"), ("--gfp", "__GFP_ZERO"), ("--cpu", "1", "--objects", "64"),
                    ("--function", "!copy_process")]
        for variant in variants:
            for name in [WL, LOST, "i386-6.1-slab-mono.dat"]:
                with self.subTest(file=name, arguments=variant):
                    self.agrees(read("report", name, *variant))

    def agrees_as_sample(self, report):
        totals, overflow, replay = report["totals"], report["overflow"], report["health"]["replay"]
        self.assertEqual(overflow["when_full"], "sample")
        weight = 2 ** overflow["halvings_count"]
        self.assertAlmostEqual(overflow["rate"] * weight, 1, 4)
        self.assertEqual(overflow["overflowed_count"], 0)
        self.assertLessEqual(overflow["peak_count"], overflow["capacity_count"])
        self.assertEqual(overflow["first_halving_ns"] is None, overflow["halvings_count"] == 0)
        self.assertEqual("sampled" in [w["code"] for w in report["health"]["warnings"]], overflow["halvings_count"] > 0)
        for key in ("sampled_out_count", "sampled_out_frees_count", "purged_count"):
            self.assertEqual(replay[key], overflow[key])
        self.assertEqual(replay["kfree_count"] + replay["kmem_cache_free_count"],
                         replay["null_frees_count"] + replay["matched_frees_count"] +
                         replay["unmatched_frees_count"] + replay["sampled_out_frees_count"])
        for row in [totals] + report["sites"] + report["caches"]:
            allocs = row["alloc_events_count" if row is totals else "allocs_count"]
            sample = row["sample"]
            self.assertEqual(allocs, row["failed_count"] + row["doubled_count"] + row["tracked_count"] +
                             sample["sampled_out_count"])
            self.assertEqual(row["tracked_count"], sample["matched_frees_count"] + sample["implied_frees_count"] +
                             sample["live_count"] + sample["purged_count"])
            self.assertEqual(row["live_count"], weight * sample["live_count"])
            self.assertEqual(row["live_bytes"], weight * sample["live_bytes"])
            for key in ("live_bytes", "live_count", "peak_live_bytes", "peak_live_count"):
                self.assertLessEqual(row[key + "_min"], row[key])
                self.assertLessEqual(row[key], row[key + "_max"] if row[key + "_max"] is not None else row[key])
            self.assertLessEqual(row["live_bytes_min"], sample["live_bytes"])
            is_estimate = (sample["sampled_out_count"] or sample["purged_count"] or
                           sample["live_count"] != row["live_count"] or
                           sample["matched_frees_count"] != row["matched_frees_count"] or
                           sample["implied_frees_count"] != row["implied_frees_count"])
            self.assertIn(row["live_is"], ("estimated", "uncertain") if is_estimate else
                          ("consistent", "upper_bound", "uncertain"))
            self.assertEqual(row["peak_is"] == "estimated", bool(is_estimate))
            if row["live_error_count"] is not None:  # the formula of the manual
                error = math.sqrt(weight * (weight - 1) * sample["live_count"])
                self.assertAlmostEqual(row["live_error_count"], error, delta=1)
                self.assertGreaterEqual(row["live_error_bytes"] + 1, row["live_bytes"] / row["live_count"] * error
                                        if row["live_count"] else 0)
            else:
                self.assertEqual(row["live_count"], 0)
        for table in ("sites", "caches"):
            for key in SUMS:
                of_totals = totals["alloc_events_count" if key == "allocs_count" else key]
                self.assertEqual(sum(row[key] for row in report[table]), of_totals, f"{key} of {table}")

    def test_identities_of_samples(self):
        for name in ONE:
            whole = read("report", name)
            for capacity in ("2", "64", "1000", "1M"):
                with self.subTest(file=name, capacity=capacity):
                    report = read("report", name, "--objects", capacity, "--when-full", "sample")
                    if report["health"]["replay"]["reordered_count"] == 0:
                        self.agrees_as_sample(report)
                    # Allocations are exact, whatever the sample.
                    for key in ("alloc_events_count", "free_events_count", "failed_count", "doubled_count",
                                "total_allocated_bytes", "total_requested_bytes"):
                        self.assertEqual(report["totals"][key], whole["totals"][key], key)
                    if report["overflow"]["rate"] == 1:
                        self.assertEqual(report["totals"]["live_error_bytes"], 0)
                        for key in SUMS[1:]:
                            self.assertEqual(report["totals"][key], whole["totals"][key], key)

    def error_of_live(self, report, whole):
        true = {row["symbol"] + str(row["address"]): row["live_bytes"] for row in whole["sites"]}
        shown = {row["symbol"] + str(row["address"]): row["live_bytes"] for row in report["sites"]}
        self.assertEqual(set(true), set(shown))
        total = sum(true.values())
        return (sum(abs(shown[site] - true[site]) for site in true) / total if total else None,
                abs(sum(shown.values()) - total) / total if total else None)

    def test_size_is_what_each_table_sees(self):
        variants = [(), ("--time", "10%,60%"), ("--min-size", "100", "--on-loss", "reset")]
        for name in ONE:
            for variant in variants if name in (WL, LOST) else variants[:1]:
                size, whole = read("size", name, *variant), read("report", name, *variant)
                self.assertEqual(size["recommended_count"], whole["overflow"]["recommended_count"])
                self.assertEqual(size["peak_count"], whole["overflow"]["peak_count"])
                self.assertEqual(size["health"], whole["health"])
                self.assertEqual([row["capacity_count"] for row in size["sizes"]],
                                 [1024 << i for i in range(len(size["sizes"]))])
                self.assertGreaterEqual(size["sizes"][-1]["capacity_count"], size["recommended_count"])
                self.assertEqual(size["sizes"][-1]["drop"]["overflowed_count"], 0)
                for row in size["sizes"]:
                    with self.subTest(file=name, arguments=variant, capacity=row["capacity_count"]):
                        objects = ("--objects", str(row["capacity_count"]))
                        drop = read("report", name, *objects, *variant)
                        sample = read("report", name, *objects, "--when-full", "sample", *variant)
                        self.assertEqual(row["memory_bytes"], drop["overflow"]["memory_bytes"])
                        for key in ("overflowed_count", "overflowed_bytes"):
                            self.assertEqual(row["drop"][key], drop["overflow"][key])
                        replay = drop["health"]["replay"]
                        objects_count = replay["tracked_count"] + replay["overflowed_count"]
                        self.assertAlmostEqual(row["drop"]["tracked_ratio"],
                                               replay["tracked_count"] / objects_count if objects_count else 1, 4)
                        for key in ("rate", "halvings_count"):
                            self.assertEqual(row["sample"][key], sample["overflow"][key])
                        for policy, report in (("drop", drop), ("sample", sample)):
                            found = (row[policy]["live_bytes_error_ratio"], row[policy]["live_bytes_total_error_ratio"])
                            for is_, wanted in zip(found, self.error_of_live(report, whole)):
                                if wanted is None:
                                    self.assertIsNone(is_)
                                else:
                                    self.assertAlmostEqual(is_, wanted, 4)

    def agrees_with_report(self, line, report):
        totals, points = line["totals"], line["points"]
        self.assertEqual(totals, report["totals"])
        self.assertEqual(line["points_count"], len(points))
        for key in ("peak_live_bytes", "peak_live_count"):
            self.assertEqual(max(point[key] for point in points), totals[key])
        for key in ("live_bytes", "live_count"):
            self.assertEqual(points[-1][key], totals[key])
        for key in ("overflowed_count", "overflowed_bytes", "matched_frees_count", "implied_frees_count"):
            self.assertEqual(sum(point[key] for point in points), totals[key])
        self.assertEqual(sum(point["allocs_count"] for point in points), totals["alloc_events_count"])
        highest = max(points, key=lambda point: point["peak_live_bytes"])
        for key in ("peak_time_ns", "peak_time_ticks"):
            if totals["peak_live_bytes"] and key in totals:
                self.assertEqual(highest[key], totals[key])
        rows = line["groups" if "by" in line else "sites"]
        for row in rows:
            self.assertEqual({len(numbers) for numbers in row["points"].values()}, {len(points)})
            for key in ("live_bytes", "live_count"):
                self.assertEqual(row["points"][key][-1], row[key])
            for key in ("peak_live_bytes", "peak_live_count"):
                if row["peak_is"] == "exact":
                    self.assertEqual(max(row["points"][key]), row[key])
        for at, point in enumerate(points):
            for key in ("live_bytes", "live_count"):
                self.assertEqual(sum(row["points"][key][at] for row in rows), point[key])

    def test_timeline_adds_up_to_the_report(self):
        variants = [((), ()), (("--points", "7"), ("--by", "cache")), (("--points", "2"), ("--time", "20%,70%")),
                    ((), ("--objects", "256")), ((), ("--objects", "256", "--when-full", "sample")),
                    ((), ("--on-loss", "reset", "--function", "*alloc*"))]
        for name in ONE:
            for own, both in variants if name in (WL, LOST, LEAKY) else variants[:2]:
                with self.subTest(file=name, arguments=own + both):
                    line = read("timeline", name, "-n", "0", *own, *both)
                    self.follows(line)
                    self.agrees_with_report(line, read("report", name, *both))
                    self.assertLessEqual(len(line["points"]), int(own[1]) if own else 512)

    def test_filters_part_the_whole(self):
        """What a filter takes and what its negation takes are all there is, but for the peaks."""
        keys = [key for key in SUMS if not key.startswith("at_peak")]
        for option, value in (("--cache", "maple*"), ("--cpu", "1"), ("--function", "mas_*"), ("--comm", "wls*")):
            with self.subTest(option=option):
                whole, yes, no = (read("report", WL, *arguments)["totals"]
                                  for arguments in ((), (option, value), (option, "!" + value)))
                self.assertGreater(yes["live_count"], 0)
                for key in keys:
                    key = "alloc_events_count" if key == "allocs_count" else key
                    self.assertEqual(yes[key] + no[key], whole[key], key)

    def test_objects_agree_with_report(self):
        for name in ONE:
            with self.subTest(file=name):
                report, objects = read("report", name), read("objects", name)["objects"]
                self.assertEqual(len(objects), report["totals"]["live_count"])
                self.assertEqual(sum(o["allocated_bytes"] for o in objects), report["totals"]["live_bytes"])
                self.assertEqual(sum(o["requested_bytes"] for o in objects), report["totals"]["live_requested_bytes"])
                self.assertEqual(len({o["ptr"] for o in objects}), len(objects))
                counts = collections.Counter(o["cache"] for o in objects)
                self.assertEqual({c["name"]: c["live_count"] for c in report["caches"] if c["live_count"]}, counts)

    def test_events_agree_with_report(self):
        for name in ONE:
            with self.subTest(file=name):
                outcomes = collections.Counter(line["outcome"] for line in read_lines(name))
                replay = read("report", name)["health"]["replay"]
                if replay["reordered_count"]:
                    continue  # what was mended later stands in the events as it was met
                self.assertEqual(outcomes["tracked"] + outcomes["implied_free"], replay["tracked_count"])
                for outcome, key in (("matched", "matched_frees_count"), ("unmatched", "unmatched_frees_count"),
                                     ("null", "null_frees_count"), ("implied_free", "implied_frees_count"),
                                     ("failed", "failed_count"), ("doubled", "doubled_count")):
                    self.assertEqual(outcomes[outcome], replay[key], outcome)

    def test_info_agrees_with_report(self):
        for name in ONE:
            with self.subTest(file=name):
                info, report = read("info", name), read("report", name)
                replay = report["health"]["replay"]
                for kind in ("kmalloc", "kmalloc_node", "kmem_cache_alloc", "kmem_cache_alloc_node", "kfree",
                             "kmem_cache_free"):
                    self.assertEqual(info["events"].get(kind, 0), replay[kind + "_count"], kind)
                self.assertEqual(sum(info["events"].values()), sum(b["events_count"] for b in info["buffers"]))

    # --- the same again, and as CSV ---

    def test_two_runs_are_equal(self):
        for arguments in (("report", "--json"), ("objects", "--json"), ("events", "-q", "--json"), ("info", "--json"),
                          ("leaks", "--json"), ("report", "--json", "--objects", "256"), ("report", "-q", "--format", "csv")):
            for name in [WL, "arm64-6.12-v7zlib.dat"]:
                with self.subTest(file=name, arguments=arguments):
                    first = run(*arguments, name)
                    self.assertEqual(first, run(*arguments, name))
                    if arguments[0] != "info":
                        self.assertEqual(first, run(*arguments, "--threads", "1", name))
                    self.assertTrue(first.endswith(b"\n"))
                    first.decode("utf-8")

    @staticmethod
    def flat(row):
        """A JSON row as CSV has it."""
        cells = {}
        for key, value in row.items():
            if isinstance(value, dict):
                cells.update({f"{key}.{k}": v for k, v in Test.flat(value).items()})
            elif key in ("histogram", "windows"):
                pass
            elif isinstance(value, bool):
                cells[key] = "true" if value else "false"
            elif isinstance(value, float):
                cells[key] = format(value, ".12g")
            elif isinstance(value, list):
                cells[key] = ",".join(value)
            else:
                cells[key] = "" if value is None else str(value)
        return cells

    def csv_agrees(self, rows, *arguments):
        text = run(*arguments, "-q", "--format", "csv").decode("utf-8")
        found = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual(len(found), len(rows))
        for expected, row in zip(rows, found):
            self.assertEqual(row, self.flat(expected))

    def test_csv(self):
        for name in ONE:
            with self.subTest(file=name):
                self.csv_agrees(read("report", name)["sites"], "report", name)
                self.csv_agrees(read("objects", name)["objects"], "objects", name)
                self.csv_agrees(read("leaks", name)["candidates"], "leaks", name)
                self.csv_agrees(read_lines(name, "-n", "300"), "events", name, "-n", "300")
                groups = read("report", name, "--by", "comm,cache")["groups"]
                self.csv_agrees(groups, "report", name, "--by", "comm,cache")

    def test_csv_of_odd_names(self):
        self.csv_agrees(read("objects", "-B", "one", *MANY_BUFFERS)["objects"], "objects", "-B", "one", *MANY_BUFFERS)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    KMSTAT = os.path.realpath(sys.argv.pop(1))
    unittest.main()
