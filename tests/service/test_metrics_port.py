"""The metrics port under connections that ask nothing, or not all of it, and when it is taken."""

import contextlib
import http.client
import os
import socket
import subprocess
import unittest

from calls import PROGRAM, start_server
from server_process import eventually

# How long a scrape may take while other connections hold the port: what the server promises. Slowed
# by sanitizers it may need more; where a hundred connections had to be ended one after the other,
# each after two seconds, even eight threads would take more than twice as long as that.
DEADLINE_SECONDS = 10 if os.environ["REDUCTION_SANITIZE"] else 2
# What connections send before they fall silent.
BEGINNINGS = {
    "nothing": b"",
    "half a request line": b"GET /met",
    "half of the headers": b"GET /metrics HTTP/1.1\r\nHost: loc",
    "a request whose answer is not read": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


class MetricsPortTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(start_server())
        host, port = cls.server.metrics.rsplit(":", 1)
        cls.address = host, int(port)

    @classmethod
    def tearDownClass(cls):
        if cls.server.stop() != 0:
            raise AssertionError(cls.server.log)

    def scrape(self):
        """The text of /metrics; fails when the server keeps silent for longer than the deadline."""
        connection = http.client.HTTPConnection(*self.address, timeout=DEADLINE_SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            return answer.read().decode()

    def open_files(self):
        for line in self.scrape().splitlines():
            if line.startswith("process_open_fds "):
                return float(line.split()[1])
        raise AssertionError("no process_open_fds")

    def scrape_between(self, count, beginning):
        """Scrapes while `count` connections are open that sent `beginning`. Whether the server
        had not ended them yet when it answered."""
        before = self.open_files()
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                silent = stack.enter_context(socket.create_connection(self.address))
                silent.sendall(beginning)
            return self.open_files() >= before + count

    def test_silent_connections_do_not_delay_a_scrape(self):
        for count in (3, 100):
            for what in ("nothing", "half a request line", "half of the headers"):
                with self.subTest(count=count, sent=what):
                    eventually(lambda: self.scrape_between(count, BEGINNINGS[what]),
                               "all connections are open while the server answers")

    def test_answers_that_nobody_reads_do_not_delay_a_scrape(self):
        for count in (3, 100):
            with self.subTest(count=count):
                self.scrape_between(count, BEGINNINGS["a request whose answer is not read"])

    def test_silent_connections_are_ended(self):
        for what in ("nothing", "half a request line", "half of the headers"):
            with self.subTest(sent=what), socket.create_connection(self.address) as silent:
                silent.sendall(BEGINNINGS[what])
                silent.settimeout(60)
                while silent.recv(4096):  # it may be told why
                    pass

    def test_other_paths_and_methods(self):
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", "/other")
            self.assertEqual(connection.getresponse().status, 404)

    def test_port_taken_by_another_program(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            option = f"--metrics=127.0.0.1:{taken.getsockname()[1]}"
            done = subprocess.run([PROGRAM, "--listen=127.0.0.1:0", "--device=cpu", option],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        (line,) = done.stderr.splitlines()
        self.assertIn(f"cannot listen on {option}: the address is in use", line)


if __name__ == "__main__":
    unittest.main(verbosity=2)
