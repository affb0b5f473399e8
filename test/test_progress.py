#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The line that tells how far a file is read: on a terminal only, and gone before anything else is written.

	test_progress.py KMSTAT [unittest arguments]
"""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import threading
import time
import unittest

KMSTAT = None
LINE = ("     bash-{pid}     [000] d..1.   {at}.000000: kmalloc: call_site=do_it+0x10/0x20 ptr=ffff88800000{pid}"
        " bytes_req=100 bytes_alloc=128 gfp_flags=GFP_KERNEL node=-1 accounted=false\n")
WIPE = b"\r\x1b[K"


def slow_trace(stream, seconds):
    """A trace that takes its time, more of it at once than a reader waits for."""
    with stream:
        stream.write(b"# tracer: nop\n")
        end = time.monotonic() + seconds
        pid = 1000
        while time.monotonic() < end:
            stream.write(b"".join(LINE.format(pid=pid, at=at).encode() for at in range(pid, pid + 1000)))
            stream.flush()
            pid += 1000
            time.sleep(0.05)


def take_terminal(follower):
    """In the child: its own session, whose terminal this is."""
    os.setsid()
    fcntl.ioctl(follower, termios.TIOCSCTTY, 0)


def run(arguments, stderr_is_terminal, stdout_is_terminal=False, seconds=2.0):
    """What came on the terminal, on standard output elsewhere, and the exit status."""
    leader, follower = pty.openpty()
    command = [KMSTAT, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE,
                               stdout=follower if stdout_is_terminal else subprocess.PIPE,
                               stderr=follower if stderr_is_terminal else subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm", "KMSTAT_PAGER": ""},
                               preexec_fn=lambda: take_terminal(follower))
    os.close(follower)
    feeder = threading.Thread(target=slow_trace, args=(process.stdin, seconds))
    feeder.start()
    terminal, output = b"", b""
    streams = {leader: "terminal"}
    if process.stdout:
        streams[process.stdout.fileno()] = "output"
    while streams:
        for fd in select.select(list(streams), [], [], 60)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:  # the other end of a terminal is closed
                data = b""
            if not data:
                del streams[fd]
            elif streams[fd] == "terminal":
                terminal += data
            else:
                output += data
    feeder.join()
    status = process.wait()
    if process.stdout:
        process.stdout.close()
    os.close(leader)
    return terminal, output, status


class TestProgress(unittest.TestCase):
    def test_a_line_that_is_wiped(self):
        terminal, output, status = run(["report", "--json", "-"], True)
        self.assertEqual(status, 0)
        self.assertTrue(output.startswith(b"{"))
        lines = [line for line in terminal.split(b"\r") if line]
        self.assertRegex(lines[0], rb"^[0-9.]+[KM]?, [0-9.]+[KM]? events/s\x1b\[K$")
        self.assertTrue(terminal.endswith(WIPE), terminal)
        self.assertLessEqual(len(lines), 2.5 * 5 + 1)

    def test_it_is_gone_before_the_report(self):
        terminal, _, status = run(["report", "-"], True, stdout_is_terminal=True)
        self.assertEqual(status, 0)
        progress, report = terminal.rsplit(WIPE, 1)
        self.assertIn(b"events/s", progress)
        self.assertIn(b"do_it+0x10", report)
        self.assertNotIn(b"events/s", report)

    def test_rows_on_a_terminal_have_none(self):
        terminal, _, status = run(["events", "-"], True, stdout_is_terminal=True)
        self.assertEqual(status, 0)
        self.assertNotIn(b"events/s", terminal)
        self.assertIn(b"do_it+0x10", terminal)

    def test_quiet(self):
        self.assertEqual(run(["report", "--json", "-q", "-"], True)[0], b"")

    def test_no_terminal(self):
        self.assertEqual(run(["report", "--json", "-"], False)[0], b"")

    def test_what_is_quick_has_none(self):
        self.assertEqual(run(["report", "--json", "-q", "-"], True, seconds=0.2)[0], b"")


if __name__ == "__main__":
    KMSTAT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
