"""Options of the server: from the command line and the environment, and what wrong ones lead to."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

from calls import PROGRAM, array_request, connect, number, pb, start_server
from reduction.v1 import reduction_pb2_grpc
from server_process import ServerProcess

FREE_PORTS = ("--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--device=cpu")
OPTIONS = ("listen", "metrics", "device", "lanes", "max-message", "memory-limit", "queue", "drain",
           "min-stream-rate")


def run(*arguments, **environment):
    """A server that is expected to end by itself."""
    return subprocess.run([PROGRAM, *arguments], env=os.environ | environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def limits_of(address):
    with connect(address) as channel:
        stub = reduction_pb2_grpc.ReductionStub(channel)
        return stub.GetServerInfo(pb.GetServerInfoRequest()).limits


class OptionsTest(unittest.TestCase):

    def assertFailsToStart(self, done, *words):
        """Exit status 1 and one line on stderr that has these words."""
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stdout, "")
        (line,) = done.stderr.splitlines()
        self.assertIn("level=error event=start_failed", line)
        for word in words:
            self.assertIn(word, line)

    def test_wrong_usage(self):
        for argument in ("--bogus", "file.npy", "--device=tpu", "--lanes=0", "--lanes=x",
                         "--max-message=1", "--max-message=1TiB", "--memory-limit=much",
                         "--queue=0", "--queue=-1", "--drain=-1", "--drain=soon",
                         "--min-stream-rate=fast", "--min-stream-rate=-1",
                         "--memory-limit=-1", "--max-message=-1", "--listen", "--listen=127.0.0.1",
                         "--listen=127.0.0.1:99999", "--listen=127.0.0.1:-1",
                         "--listen=127.0.0.1:x", "--listen=127.0.0.1:0,:", "--listen=",
                         "--metrics=9464", "--metrics=127.0.0.1:70000", "--metrics=unix:x"):
            with self.subTest(argument=argument):
                done = run(*FREE_PORTS, argument)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"^error: [^\n]+ --help [^\n]+\n$")
                self.assertIn(argument.split("=")[0], done.stderr)
        for address in ("[::]:9464", "[::1]:0", ":::9464", ":9464"):
            done = run(*FREE_PORTS, f"--metrics={address}")
            self.assertEqual((done.returncode, done.stdout), (2, ""), address)
            self.assertIn(f"--metrics: {address} has no IPv4 address", done.stderr)
        self.assertIn("tpu is not auto, cpu or cuda", run("--device=tpu").stderr)

    def test_wrong_usage_in_the_environment(self):
        done = run(*FREE_PORTS, REDUCTION_QUEUE="many")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("many", done.stderr)

    def test_help_tells_every_option_with_its_variable(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in OPTIONS:
            self.assertRegex(done.stdout, rf"--{option}\b")
            self.assertIn("REDUCTION_" + option.upper().replace("-", "_"), done.stdout)

    def test_version(self):
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^\d+\.\d+\.\d+\n$")

    def test_ports_that_are_taken(self):
        with start_server() as server:
            listen, metrics = server.listen[0], server.metrics
            for arguments, option in ((("--listen=" + listen,), "--listen=" + listen),
                                      (("--metrics=" + metrics,), "--metrics=" + metrics),
                                      (("--listen=127.0.0.1:0," + listen,), "--listen=" + listen)):
                free = [port for port in FREE_PORTS
                        if port.split("=")[0] != option.split("=")[0]]
                done = run(*free, *arguments)
                self.assertFailsToStart(done, option + ": the address is in use",
                                        f"choose another with {option.split('=')[0]}=HOST:PORT")
                self.assertNotIn("ivet", done.stderr)
            self.assertEqual(server.stop(), 0)
        with ServerProcess([PROGRAM, "--listen=" + listen, "--metrics=" + metrics,
                            "--device=cpu"]) as again:
            self.assertEqual((again.listen, again.metrics), ([listen], metrics))
            self.assertEqual(again.stop(), 0)

    def test_sockets_that_are_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            address = f"unix:{folder}/socket"
            with ServerProcess([PROGRAM, "--listen=" + address, FREE_PORTS[1],
                                "--device=cpu"]) as server:
                self.assertFailsToStart(run(*FREE_PORTS[1:], "--listen=" + address),
                                        address, "a server answers at this path")
                self.assertEqual(server.listen, [address])
                self.assertTrue(os.path.exists(f"{folder}/socket"))
                server.send_signal(signal.SIGKILL)
                server.wait()
            # What a killed server leaves behind is in nobody's way.
            with ServerProcess([PROGRAM, "--listen=" + address, FREE_PORTS[1],
                                "--device=cpu"]) as again:
                self.assertEqual(again.stop(), 0)

    def test_addresses_that_are_not_of_this_machine(self):
        for address, why in (("192.0.2.1:0", "not one of this machine"),
                             ("nowhere.invalid:1", "host is unknown"),
                             ("unix:/nowhere/socket", "no socket")):
            with self.subTest(address=address):
                self.assertFailsToStart(run(*FREE_PORTS[1:], "--listen=" + address), address, why)
        self.assertFailsToStart(run(FREE_PORTS[0], FREE_PORTS[2], "--metrics=192.0.2.1:0"),
                                "192.0.2.1:0")

    def test_memory_limits_that_have_no_room(self):
        for options in (["--memory-limit=1MiB"], ["--memory-limit=0"], ["--memory-limit=128MiB"],
                        ["--max-message=512MiB", "--memory-limit=1GiB"]):
            with self.subTest(options=options):
                self.assertFailsToStart(run(*FREE_PORTS, *options), "--memory-limit")

    def test_gpu_required_where_there_is_none(self):
        done = run(*FREE_PORTS[:2], "--device=cuda", CUDA_VISIBLE_DEVICES="")
        self.assertFailsToStart(done, "--device=cuda")

    def test_defaults(self):
        with start_server() as server:
            limits = limits_of(server.listen[0])
            self.assertEqual((limits.max_message_bytes, limits.memory_limit_bytes,
                              limits.max_queued_calls, limits.min_stream_bytes_per_second),
                             (16 << 20, 2 << 30, 1024, 64 << 10))
            self.assertEqual(server.stop(), 0)

    def test_environment_and_command_line(self):
        environment = os.environ | {
            "REDUCTION_LISTEN": "127.0.0.1:0,127.0.0.1:0", "REDUCTION_METRICS": "127.0.0.1:0",
            "REDUCTION_DEVICE": "cpu", "REDUCTION_MAX_MESSAGE": "1MiB", "REDUCTION_QUEUE": "11",
            "REDUCTION_MEMORY_LIMIT": "1GiB", "REDUCTION_MIN_STREAM_RATE": "0",
            "REDUCTION_DRAIN": "1"}
        with ServerProcess([PROGRAM, "--queue=12"], env=environment) as server:
            self.assertEqual(len(server.listen), 2)
            for address in server.listen:
                limits = limits_of(address)
                self.assertEqual((limits.max_message_bytes, limits.memory_limit_bytes,
                                  limits.max_queued_calls, limits.min_stream_bytes_per_second),
                                 (1 << 20, 1 << 30, 12, 0))
            self.assertEqual(server.stop(), 0)
            server.wait_for_log("event=draining seconds=1$")

    def test_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "socket")
            with ServerProcess([PROGRAM, f"--listen=unix:{path}", *FREE_PORTS[1:]]) as server:
                self.assertEqual(server.listen, [f"unix:{path}"])
                with connect(server.listen[0]) as channel:
                    stub = reduction_pb2_grpc.ReductionStub(channel)
                    answer = stub.Sum(array_request([20, 22], "int8"), timeout=60)
                    self.assertEqual(number(answer.value), 42)
                self.assertEqual(server.stop(), 0)

    def test_log_lines_are_structured(self):
        with start_server() as server:
            server.stop()
            for line in filter(None, server.log):
                self.assertTrue(re.match(r"ts=\d{4}-\d\d-\d\dT\S+Z level=\w+ event=\w+( |$)", line),
                                line)


if __name__ == "__main__":
    unittest.main(verbosity=2)
