#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks the documents against the program.

test_docs.py KMSTAT [TEST...]: KMSTAT is the program, of a build of this tree. What needs a tool that is not
installed (mandoc, jq) is skipped.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = TREE / "test" / "fixtures"
MANUAL = TREE / "man" / "kmstat.1"
SLAB4 = FIXTURES / "x86_64-6.18-slab4-wl.dat"
ALIASES = FIXTURES / "x86_64-6.18.slab-aliases"
LEAKY = FIXTURES / "x86_64-6.12-gt-leaky.dat"
COMMANDS = ("report", "compare", "objects", "leaks", "timeline", "events", "size", "info", "merge", "completion", "help")
# Keys with --when-full sample only.
OF_SAMPLES = r"overflow\.(rate|halvings|first_halving)|sampled_out|purged|totals\.(live_error|sample)"
KMSTAT = None


def environment():
    """Nothing of the caller's that changes the output; kmstat is the one to be tested."""
    kept = {name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS") if name in os.environ}
    return {**kept, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}


def kmstat(*arguments):
    return subprocess.run([KMSTAT, *map(str, arguments)], capture_output=True, text=True, check=True, cwd=TREE,
                          env=environment()).stdout


def first_words(text):
    return {line.split()[0] for line in text.splitlines() if line and not line[0].isspace()}


def roff_text(text):
    """What mdoc arguments say."""
    return text.replace("\\&", "").replace("\\-", "-").replace("\\e", "\\").strip()


class Manual:
    """The manual's source by section and subsection, as lists of lines."""

    def __init__(self):
        self.parts = {}
        section = part = None
        for line in MANUAL.read_text().splitlines():
            if line.startswith('.\\"'):
                continue
            if line.startswith(".Sh "):
                section, part = line[4:], (line[4:], None)
            elif line.startswith(".Ss "):
                part = (section, line[4:])
            if part:
                self.parts.setdefault(part, []).append(line)

    def lines(self, section, part=None):
        """Of a subsection, or of a section with all its subsections."""
        return [line for (a, b), lines in self.parts.items() if a == section and part in (None, b) for line in lines]

    def names(self, section, part=None):
        """The names of the section's ".It Va NAME , NAME" lines; a name twice is an error."""
        names = []
        for line in self.lines(section, part):
            if line.startswith(".It Va "):
                names += [roff_text(name) for name in line[7:].split(" , ")]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise AssertionError(f"{section}: there twice: {sorted(twice)}")
        return set(names)

    def options(self):
        """{command: {(short or None, long, argument or None)}} of OPTIONS."""
        result = {command: set() for command in COMMANDS}
        lines = self.lines("OPTIONS")
        for line, after in zip(lines, lines[1:]):
            if not line.startswith(".It Fl "):
                continue
            match = re.fullmatch(r"Fl (?:(\w) , )?-([\w-]+)(.*)", roff_text(line[4:]))
            if not match or not after.startswith(".Pq Cm "):
                raise AssertionError(f"OPTIONS: not understood: {line} / {after}")
            argument = re.sub(r"\b(Ar|Cm|Op|Oo|Oc|Ns)\b", "", match[3]).replace(" ", "")
            for command in after[7:].split(" , "):
                result[command].add((match[1], match[2], argument or None))
        return result


def help_options(command):
    """The same of --help. Two blanks begin the explanation."""
    result = set()
    for line in kmstat(command, "--help").splitlines():
        match = re.match(r"  (?:-(\w),|   ) --([\w-]+)(\[=\w+\]| \S+)?", line)
        if match:
            result.add((match[1], match[2], match[3].strip() if match[3] else None))
    return result


def normal(argument):
    """An argument without what only typography differs in."""
    return re.sub(r"[\[\]=,.]", "", argument) if argument else None


def keys_of(value, path="", into=None):
    """The paths of all keys of a JSON value: "a.b", "a[].b"; an array of plain values is "a[]"."""
    into = set() if into is None else into
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            keys_of(inner, f"{path}.{key}" if path else key, into)
    elif isinstance(value, list):
        if any(isinstance(inner, dict) for inner in value):
            for inner in value:
                keys_of(inner, path + "[]", into)
        elif value:
            into.add(path + "[]")
    elif path:
        into.add(path)
    return into


class TestManual(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.manual = Manual()

    def test_mandoc_finds_no_fault(self):
        if not shutil.which("mandoc"):
            self.skipTest("no mandoc")
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", MANUAL], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        faults = [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
        self.assertEqual(faults, [])

    def test_commands_are_those_of_help(self):
        listed = re.findall(r"^  (\w+) +\S", kmstat("help").split("Commands:")[1], re.M)
        self.assertEqual(sorted(listed), sorted(COMMANDS))
        named = {line[7:] for line in self.manual.lines("COMMANDS") if line.startswith(".It Cm ")}
        self.assertEqual(named, set(COMMANDS))

    def test_options_are_those_of_help(self):
        documented = self.manual.options()
        for command in COMMANDS:
            with self.subTest(command=command):
                has = {(short, name, normal(argument)) for short, name, argument in help_options(command)}
                says = {(short, name, normal(argument)) for short, name, argument in documented[command]}
                self.assertTrue(has)
                self.assertEqual(says, has)

    def test_columns_of_rows_are_those_of_sort_help(self):
        said = self.manual.names("COLUMNS", "Call sites, caches and groups")
        sites = first_words(kmstat("report", "--sort", "help"))
        groups = first_words(kmstat("report", "--by", "cache", "--sort", "help")) - {"key.cache"}
        self.assertEqual(first_words(kmstat("report", "--fields", "help")), sites)
        caches = json.loads(kmstat("report", "--json", SLAB4, "--slab-aliases", ALIASES))["caches"]
        of_caches = {name.removesuffix("[]").removeprefix("[].") for name in keys_of(caches)} | {"shown_name"}
        self.assertEqual(said, sites | groups | of_caches)

    def test_columns_of_objects_and_events(self):
        self.assertEqual(self.manual.names("COLUMNS", "Live objects"), first_words(kmstat("objects", "-s", "help")))
        self.assertEqual(self.manual.names("COLUMNS", "Leak candidates"), first_words(kmstat("leaks", "-F", "help")))
        header = kmstat("events", "--format", "csv", "-q", "-n", "1", SLAB4).splitlines()[0]
        self.assertEqual(self.manual.names("COLUMNS", "Events"), set(header.split(",")))

    def test_fields_of_by(self):
        self.assertEqual(self.manual.names("COLUMNS", "Fields of --by"), first_words(kmstat("report", "--by", "help")))

    def test_warning_codes_are_those_of_the_program(self):
        source = (TREE / "src" / "health.c").read_text()
        codes = re.findall(r'\[KM_WARN_\w+\] = "(\w+)"', source)
        enumerated = re.search(r"enum km_warning_code \{(.*?)\};", (TREE / "src" / "health.h").read_text(), re.S)[1]
        self.assertEqual(len(codes), len(re.findall(r"^\s*KM_WARN_\w+,", enumerated, re.M)))
        self.assertEqual(self.manual.names("WARNINGS"), set(codes))

    def test_bins_are_those_of_the_header(self):
        formula = "(e - 1) * 4 + ((v >> (e - 2)) & 3)"
        self.assertIn(formula, (TREE / "src" / "histogram.h").read_text())
        self.assertIn(formula, MANUAL.read_text())

    def test_environment_is_what_the_program_asks_for(self):
        text = "\n".join(path.read_text() for path in sorted((TREE / "cmd").glob("*.c")))
        asked = set(re.findall(r'(?:getenv|setenv)\("(\w+)"', text))
        said = set()
        for line in self.manual.lines("ENVIRONMENT"):
            if line.startswith(".It Ev "):
                said |= set(line[7:].split(" , "))
        self.assertEqual(said, asked)

    def documented_keys(self, *parts):
        """JSON section, with the columns of its rows written out."""
        keys = set()
        for part in parts:
            keys |= self.manual.names("JSON", part)
        if "trace.file" in keys and "sources[]" in keys:
            keys |= {key.replace("trace.", "sources[].", 1) for key in keys if key.startswith("trace.")}
        columns = self.manual.names("COLUMNS", "Call sites, caches and groups")
        columns = {name + "[]" if name in ("caches", "aliases", "lifetime_ns.histogram") else name for name in columns}
        objects = {name + "[]" if name == "aliases" else name
                   for name in self.manual.names("COLUMNS", "Live objects")}
        leaks = {name + "[]" if name in ("factors.windows", "aliases") else name
                 for name in self.manual.names("COLUMNS", "Leak candidates")}
        fields = {"key." + name for name in self.manual.names("COLUMNS", "Fields of --by")}
        for key, names in (("sites", columns), ("caches", columns), ("groups", columns | fields),
                           ("objects", objects), ("candidates", leaks)):
            if key + "[]" in keys:
                keys |= {f"{key}[].{name}" for name in names}
        return keys

    def check_keys(self, documented, *reports):
        """Every key of the reports is documented; every documented key but of rows is in one of them."""
        seen = set()
        for report in reports:
            seen |= keys_of(report)
        seen = {key.replace("_ticks", "_ns") for key in seen}
        filters = set(re.findall(r"^\.Va (\w+)", "\n".join(self.manual.lines("JSON", "report and objects")), re.M))
        named = {key for key in seen if key.startswith("filters.")}
        self.assertLessEqual({key.removeprefix("filters.") for key in named}, filters)
        seen -= named
        seen = {"events" if key.startswith("events.") else key for key in seen}
        self.assertEqual(seen - documented, set())
        rows = re.compile(r"(sites|caches|groups|objects|candidates|sources)\[\]|filters$")
        self.assertEqual({key for key in documented - seen if not rows.match(key)}, set())

    def test_keys_of_report(self):
        lost = FIXTURES / "x86_64-5.10-lost.dat"
        self.check_keys(
            self.documented_keys("All commands but events", "report and objects", "report"),
            json.loads(kmstat("report", "--json", "--by", "site,function,module,cache,comm,pid,cpu,node", SLAB4)),
            json.loads(kmstat("report", "--json", "--by", "gfp,size", SLAB4)),
            json.loads(kmstat("report", "--json", "--function", "copy*", "--detail", "--objects", "256", SLAB4)),
            json.loads(kmstat("report", "--json", "--on-loss", "reset", lost)),
            json.loads(kmstat("report", "--json", "--slabinfo", f"{LEAKY.with_suffix('.slabinfo-before')},"
                              f"{LEAKY.with_suffix('.slabinfo-after')}", LEAKY)),
            json.loads(kmstat("report", "--json", "--slab-aliases", ALIASES, SLAB4)),
            json.loads(kmstat("report", "--json", "--objects", "64", "--when-full", "sample", "--on-loss", "reset", lost)))

    def test_keys_of_merge(self):
        own = self.manual.names("JSON", "merge")
        documented = own | self.documented_keys("All commands but events", "report and objects", "report")
        merged = json.loads(kmstat("merge", FIXTURES / "x86_64-6.12-gt-leaky.dat", SLAB4, "--by", "function"))
        seen = keys_of(merged)
        self.assertEqual(seen - documented, {"trace", "health.cpus", "health.unmatched_sites", "overflow.episodes"})
        self.assertLessEqual(own, seen)

    def test_keys_of_compare(self):
        lost, leaky = FIXTURES / "x86_64-5.10-lost.dat", FIXTURES / "x86_64-6.12-gt-leaky.dat"
        documented = self.manual.names("JSON", "compare") | {"schema", "schema_version", "generator", "domain",
                                                             "truncated"}
        documented |= {key.replace("base.runs[]", "new.runs[]") for key in documented}
        seen = set()
        with tempfile.NamedTemporaryFile("w") as known:
            print("cache:* known", file=known, flush=True)
            rules = ["--fail-on", "live_bytes>+5%", "--suppress", known.name, "--exit-zero"]
            for arguments in ([SLAB4, SLAB4, *rules], [lost, leaky], [lost, leaky, "--by", "cache"],
                              [lost, leaky, "--by", "comm"], ["--base", lost, leaky, leaky]):
                seen |= keys_of(json.loads(kmstat("compare", "--json", *arguments)))
        self.assertIn("rows[].key.comm", seen)
        seen = {"rows[].key" if key.startswith("rows[].key.") else key for key in seen}
        self.assertEqual(seen - documented, {"test"})
        self.assertEqual(documented - seen, set())

    def test_keys_of_objects(self):
        chosen = ["--min-age", "1us", "--min-size", "1", "--cache", "*", "--site", "*", "--function", "*", "--module",
                  "*", "--comm", "*", "--pid", "0-99999", "--cpu", "0-9", "--node=-1", "--gfp", "*", "--time",
                  "0%,100%"]
        self.check_keys(
            self.documented_keys("All commands but events", "report and objects", "objects"),
            json.loads(kmstat("objects", "--json", "--objects", "256", SLAB4)),
            json.loads(kmstat("objects", "--json", "--slab-aliases", ALIASES, SLAB4)),
            json.loads(kmstat("objects", "--json", "--objects", "256", "--when-full", "sample", SLAB4)),
            json.loads(kmstat("objects", "--json", *chosen, SLAB4)))

    def test_keys_of_size(self):
        documented = self.documented_keys("All commands but events", "report and objects", "size")
        self.check_keys({key for key in documented if not re.search(r"^overflow\.|" + OF_SAMPLES, key)},
                        json.loads(kmstat("size", "--json", SLAB4)))

    def test_keys_of_timeline(self):
        report = self.documented_keys("All commands but events", "report and objects", "report")
        own = self.documented_keys("timeline")
        spans = {key.removeprefix("points[].") for key in own if re.match(r"points\[\]\.(\w+_)?live_", key)}
        self.assertEqual(len(spans), 6)
        of_rows = {key for key in own if key.endswith("[].points")}
        own = own - of_rows | {f"{key}.{span}[]" for key in of_rows for span in spans}
        self.check_keys(
            {key for key in report if not re.match(r"(caches|detail|slabinfo)\b", key) and
             not re.search(OF_SAMPLES, key)} - {"totals.reset_count"} | own,
            json.loads(kmstat("timeline", "--json", "--objects", "256", SLAB4)),
            json.loads(kmstat("timeline", "--json", "--by", "site,cache", SLAB4)))

    def test_keys_of_leaks(self):
        report = self.documented_keys("All commands but events", "report and objects", "report")
        self.check_keys(
            {key for key in report if not re.match(r"(sites|caches|groups|by|detail|slabinfo)\b", key) and
             not re.search(OF_SAMPLES, key)} - {"totals.reset_count"} |
            self.documented_keys("leaks"),
            json.loads(kmstat("leaks", "--json", "--objects", "256", SLAB4)),
            json.loads(kmstat("leaks", "--json", "--slab-aliases", ALIASES, SLAB4)))

    def test_keys_of_info(self):
        self.check_keys(
            self.documented_keys("All commands but events", "info") - {"domain"},
            json.loads(kmstat("info", "--json", SLAB4)),
            json.loads(kmstat("info", "--json", FIXTURES / "x86_64-6.18-sched-only.dat")))


class TestReadme(unittest.TestCase):
    maxDiff = None

    @staticmethod
    def examples():
        """(command, expected lines) of the ```console blocks."""
        for block in re.findall(r"^```console\n(.*?)^```$", (TREE / "README.md").read_text(), re.M | re.S):
            for example in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, *expected = example.splitlines()
                yield command, expected

    def compare(self, expected, actual):
        """A line "..." stands for any number of lines."""
        at = 0
        skips = False
        for line in expected:
            if line == "...":
                skips = True
                continue
            if skips:
                while at < len(actual) and actual[at] != line:
                    at += 1
                skips = False
            self.assertLess(at, len(actual), f"not in the output: {line}")
            self.assertEqual(actual[at], line)
            at += 1
        if not skips:
            self.assertEqual(actual[at:], [])

    def test_examples(self):
        run = 0
        with tempfile.TemporaryDirectory() as directory:
            (pathlib.Path(directory) / "kmstat").symlink_to(KMSTAT)
            path = directory + os.pathsep + os.environ["PATH"]
            for command, expected in self.examples():
                with self.subTest(command=command):
                    self.assertRegex(command, r"^(COLUMNS=\d+ )?(build/release/)?kmstat ")
                    run += 1
                    if "| jq " in command and not shutil.which("jq"):
                        continue
                    done = subprocess.run(["sh", "-c", command.removeprefix("build/release/")], cwd=TREE, text=True,
                                          capture_output=True, check=False, env={**environment(), "PATH": path})
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.compare(expected, done.stdout.splitlines())
        self.assertGreater(run, 3)

    def test_links(self):
        for target in re.findall(r"\]\(([^)#:]+)\)", (TREE / "README.md").read_text()):
            self.assertTrue((TREE / target).exists(), target)

    def test_make_targets(self):
        makefile = (TREE / "Makefile").read_text()
        for target in re.findall(r"^    make (\w+)", (TREE / "README.md").read_text(), re.M):
            self.assertRegex(makefile, rf"(?m)^{target}:")


class TestRecipes(unittest.TestCase):
    """doc/ci.md: what stands there runs."""

    def setUp(self):
        text = (TREE / "doc" / "ci.md").read_text()
        self.blocks = {}
        for kind, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
            self.blocks.setdefault(kind, []).append(block)
        self.directory = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.directory.name)
        (self.path / "kmstat").symlink_to(KMSTAT)
        (self.path / "memory.rules").write_text(self.blocks["rules"][0])
        (self.path / "memory.known").write_text(self.blocks["known"][0])
        self.environment = {**environment(), "PATH": str(self.path) + os.pathsep + os.environ["PATH"],
                            "GITHUB_STEP_SUMMARY": "summary.md"}

    def tearDown(self):
        self.directory.cleanup()

    def shell(self, *command):
        done = subprocess.run(command, cwd=self.path, text=True, capture_output=True, check=False,
                              env=self.environment)
        self.assertEqual([line for line in done.stderr.splitlines() if not re.match(r"kmstat: (pass|FAIL|und)", line)],
                         [])
        return done.returncode

    def record(self, name):
        (self.path / "trace.dat").unlink(missing_ok=True)
        (self.path / "trace.dat").symlink_to(FIXTURES / name)

    def test_script(self):
        (self.path / "memory.sh").write_text(self.blocks["sh"][0])
        self.record("built-compare-6.12.dat")
        self.assertEqual(self.shell("kmstat", "report", "--json", "-o", "base.json", "trace.dat"), 0)
        for name, status in (("built-compare-6.12.dat", 0), ("x86_64-6.12-gt-leaky.dat", 1), ("x86_64-5.10-lost.dat", 3),
                             ("x86_64-6.18-sched-only.dat", 2)):
            self.record(name)
            with self.subTest(trace=name):
                if status == 2:
                    done = subprocess.run(["sh", "memory.sh", "base.json", "trace.dat"], cwd=self.path, check=False,
                                          capture_output=True, env=self.environment)
                    self.assertEqual(done.returncode, 2)
                else:
                    self.assertEqual(self.shell("sh", "memory.sh", "base.json", "trace.dat"), status)
        self.assertIn("</testsuites>", (self.path / "memory.xml").read_text())
        self.assertIn("<details>", (self.path / "memory.md").read_text())

    def test_jobs(self):
        try:
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("no python3-yaml")
        self.assertEqual(len(self.blocks["yaml"]), 2)
        for block in self.blocks["yaml"]:
            job = yaml.safe_load(block)
            job = job["memory"] if "memory" in job else job["jobs"]["memory"]
            lines = job.get("script") or [step["run"] for step in job["steps"] if "run" in step]
            self.record("built-compare-6.12.dat")
            (self.path / "base.json").unlink(missing_ok=True)
            self.assertEqual(self.shell("kmstat", "report", "--json", "-o", "base.json", "trace.dat"), 0)
            ours = [line for line in lines if line.startswith("kmstat ")]
            self.assertEqual(len(ours), 3)
            for line in ours:
                with self.subTest(line=line):
                    self.assertEqual(self.shell("sh", "-c", line), 0)


class TestArchitecture(unittest.TestCase):
    """The table of layers against the sources."""

    @classmethod
    def setUpClass(cls):
        cls.text = (TREE / "ARCHITECTURE.md").read_text()
        cls.layer, cls.may = {}, {}
        for layer, modules, may in re.findall(r"^\| (\w+) \| ([\w ]+) \| ([\w ]+) \|$", cls.text, re.M):
            if layer == "layer":
                continue
            cls.may[layer] = set(may.split()) | {layer}
            for module in modules.split():
                cls.layer[module] = layer

    def test_every_built_module_has_a_layer(self):
        built = set(re.findall(r"^  (?:src|cmd)/(\w+)\.c$", (TREE / "CMakeLists.txt").read_text(), re.M))
        self.assertGreater(len(built), 30)
        self.assertEqual(built - set(self.layer), set())

    def test_every_module_exists(self):
        there = {path.stem for folder in ("src", "cmd") for path in (TREE / folder).glob("*.[ch]")}
        self.assertEqual(set(self.layer) - there, set())

    def test_every_module_is_explained(self):
        explained = set(re.findall(r"\*\*(\w+)\*\*", self.text))
        hidden = {name for name in self.layer if name.endswith(("_private", "_writer"))}
        self.assertEqual(set(self.layer) - explained - hidden, set())

    def test_includes_go_down(self):
        wrong = []
        for folder in ("src", "cmd"):
            for path in sorted((TREE / folder).glob("*.[ch]")):
                layer = self.layer.get(path.stem)
                if not layer:
                    continue
                for header in re.findall(r'^#include "(\w+)\.h"', path.read_text(), re.M):
                    if self.layer.get(header) not in self.may[layer]:
                        wrong.append(f"{path.name} ({layer}) includes {header}.h ({self.layer.get(header)})")
        self.assertEqual(wrong, [])


class TestChanges(unittest.TestCase):
    def test_version(self):
        version = kmstat("--version").split()[1]
        self.assertRegex((TREE / "CHANGES").read_text(), rf"(?m)^{re.escape(version)}$")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    KMSTAT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
