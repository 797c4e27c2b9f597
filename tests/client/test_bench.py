"""reduction bench against real servers, and against one that answers as a test wants it."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import unittest

import grpc

from reduction.v1 import reduction_pb2, reduction_pb2_grpc
from server_process import ServerProcess, eventually

SERVER = os.environ["REDUCTION_SERVER"]
COMMAND = os.environ["REDUCTION_COMMAND"]
FOREVER = "--requests=1000000000000"
KEYS = ["op", "count", "dtype", "device", "algorithm", "connections", "concurrency", "calls",
        "errors", "bytes", "seconds", "bytes_per_second", "calls_per_second", "latency_seconds"]


def start_server(*options):
    return ServerProcess([SERVER, "--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--device=cpu",
                          *options])


def start_bench(target, *words):
    return subprocess.Popen([COMMAND, "bench", "--json", f"--target={target}", *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class BenchTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(start_server())
        cls.target = cls.server.listen[0]

    def run_bench(self, *words, target=None):
        return subprocess.run([COMMAND, "bench", f"--target={target or self.target}", *words],
                              capture_output=True, text=True, timeout=120)

    def measure(self, *words, status=0, target=None):
        """The object that a bench with these words prints, and what it says on stderr."""
        done = self.run_bench("--json", *words, target=target)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, r"\A\Z" if status == 0 else r"\Areduction: [^\n]+\n\Z")
        return self.parse(done.stdout), done.stderr

    def parse(self, line):
        self.assertEqual(line.count("\n"), 1, line)
        result = json.loads(line)
        self.assertGreater(result["seconds"], 0)
        succeeded = result["calls"] - sum(result["errors"].values())
        self.assertAlmostEqual(result["calls_per_second"] * result["seconds"], succeeded, delta=1e-3)
        latencies = list(result["latency_seconds"].values())
        if succeeded:
            self.assertEqual(latencies, sorted(latencies))
            self.assertGreater(latencies[0], 0)
        else:
            self.assertEqual(latencies, [None] * 4)
        return result

    def received(self, source):
        return self.server.metric("reduction_received_bytes_total", source=source)

    def test_json_has_the_documented_keys(self):
        for op in ("sum", "min", "max", "dot", "stats", "mixed"):
            with self.subTest(op=op):
                result, _ = self.measure(f"--op={op}", "--elements=1000", "--dtype=f64",
                                         "--requests=12")
                self.assertEqual(list(result), KEYS)
                self.assertEqual(list(result["latency_seconds"]), ["p50", "p90", "p99", "max"])
                arrays = {"dot": 24, "mixed": 14}.get(op, 12)
                want = {"op": op, "count": 1000, "dtype": "float64", "device": "cpu",
                        "algorithm": "two-pass", "connections": 1, "concurrency": 1, "calls": 12,
                        "errors": {}, "bytes": arrays * 8000}
                self.assertEqual({key: result[key] for key in want}, want)

    def test_arrays_travel_in_one_message_or_as_a_stream_by_their_size(self):
        for size, source in ((64 << 10, "inline"), (3 << 20, "stream")):
            with self.subTest(size=size):
                before = self.received(source)
                self.measure(f"--size={size}", "--requests=4")
                self.assertGreaterEqual(self.received(source) - before, 4 * size)

    def test_every_type_and_segments(self):
        types = ("float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 "
                 "uint64").split()
        for dtype in types:
            with self.subTest(dtype=dtype):
                for words in (["--op=mixed"], ["--op=sum", "--overflow=check"]):
                    result, _ = self.measure(f"--dtype={dtype}", "--elements=3001", "--requests=12",
                                             *words)
                    self.assertEqual((result["dtype"], result["errors"]), (dtype, {}))
        for op in ("sum", "dot", "stats", "mixed"):
            with self.subTest(op=op):
                result, _ = self.measure(f"--op={op}", "--elements=3000", "--segment-length=10",
                                         "--requests=10")
                self.assertEqual((result["segments"], result["errors"]), (300, {}))

    def test_calls_share_connections_and_connections_share_calls(self):
        for connections, concurrency, size in ((3, None, "1KiB"), (2, 7, "1KiB"), (3, 2, "24MiB")):
            with self.subTest(connections=connections, concurrency=concurrency):
                words = [f"--connections={connections}", f"--size={size}", "--requests=20"]
                if concurrency:
                    words.append(f"--concurrency={concurrency}")
                result, _ = self.measure(*words)
                self.assertEqual((result["connections"], result["concurrency"], result["calls"]),
                                 (connections, concurrency or connections, 20))

    def test_the_first_end_counts(self):
        result, _ = self.measure("--size=1KiB", "--requests=3", "--duration=1000")
        self.assertEqual(result["calls"], 3)
        result, _ = self.measure("--size=1KiB", FOREVER, "--duration=0.2")
        self.assertGreater(result["calls"], 0)
        # The second call is due after 1000 s.
        result, _ = self.measure("--size=1KiB", "--rate=0.001", "--duration=0.2")
        self.assertEqual(result["calls"], 1)

    def test_text_is_a_line_for_each_figure(self):
        done = self.run_bench("--size=4KiB", "--requests=5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, re.compile(
            r"\Aload +sum of 1024 float32 \(4\.0 KiB\)\nconnections +1\ncalls in flight +1\n"
            r"device +cpu, two-pass\ncalls +5 in \S+ \w+\nerrors +none\n"
            r"throughput +\S+ \w+/s, \S+ calls/s\n"
            r"latency +p50 \S+ \w+, p90 \S+ \w+, p99 \S+ \w+, max \S+ \w+\n\Z"))

    def test_a_signal_ends_the_load_and_prints_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                before = self.received("inline")
                with start_bench(self.target, FOREVER, "--connections=2") as bench:
                    eventually(lambda: self.received("inline") > before + (4 << 20), "calls")
                    bench.send_signal(number)
                    output, error = bench.communicate(timeout=60)
                self.assertEqual((bench.returncode, error), (0, ""))
                result = self.parse(output)
                self.assertEqual(result["errors"], {})
                self.assertGreaterEqual(result["calls"], 3)

    def test_a_signal_ends_the_pause_after_a_failed_call(self):
        def started():
            return self.server.metric("grpc_server_started_total", grpc_method="Min")
        before = started()
        with start_bench(self.target, FOREVER, "--device=cuda:0", "--op=min") as bench:
            eventually(lambda: started() > before + 3, "calls fail")
            bench.send_signal(signal.SIGINT)
            output, _ = bench.communicate(timeout=60)
        self.assertEqual(bench.returncode, 1)
        self.assertGreater(self.parse(output)["errors"]["FAILED_PRECONDITION"], 0)

    def test_failing_calls_are_counted_and_do_not_spin(self):
        # Pauses of at least 25, 50, 100, 200 and 400 ms let no worker begin a seventh call.
        result, error = self.measure("--device=cuda:0", "--duration=1", "--connections=2", status=1)
        self.assertEqual(list(result["errors"]), ["FAILED_PRECONDITION"])
        self.assertEqual(result["errors"]["FAILED_PRECONDITION"], result["calls"])
        self.assertLessEqual(result["calls"], 2 * 6)
        self.assertEqual((result["bytes"], result["device"]), (0, ""))
        self.assertRegex(error, r"FAILED_PRECONDITION: \d+ of \d+ calls failed; one: ")

    def test_answers_that_find_no_memory_are_counted(self):
        with start_server("--memory-limit=320MiB") as server:
            result, error = self.measure("--dtype=u1", "--size=64MiB", "--segment-length=1",
                                         "--requests=2", target=server.listen[0], status=1)
        self.assertEqual(result["errors"], {"RESOURCE_EXHAUSTED": 2})
        self.assertIn("segments", error)

    def test_a_server_killed_meanwhile_is_unavailable(self):
        with start_server() as server, start_bench(
                server.listen[0], "--size=256MiB", "--requests=4") as bench:
            eventually(lambda: server.metric("reduction_received_bytes_total", source="stream"),
                       "bytes arrive")
            server.send_signal(signal.SIGKILL)
            output, error = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 1)
        result = self.parse(output)
        self.assertEqual(result["calls"], 4)
        self.assertGreaterEqual(result["errors"]["UNAVAILABLE"], 1)
        self.assertRegex(error, r"\Areduction: UNAVAILABLE: \d of 4 calls failed; one: [^\n]+\n\Z")

    def test_a_server_that_is_not_there_is_one_line(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = self.run_bench("--json", target=f"unix:{scratch}/nobody")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Areduction: UNAVAILABLE: [^\n]+\n\Z")

    def test_wrong_use_exits_with_2(self):
        for words in (["--op=mean"], ["--size=3"], ["--size=x"], ["--requests=0"], ["--rate=-1"],
                      ["numbers.npy"], ["--rows"], ["--segment-length=7", "--elements=15"],
                      ["--duration=1m"], ["--target=nowhere"]):
            with self.subTest(words=words):
                done = self.run_bench(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Areduction: INVALID_ARGUMENT: [^\n]+\n\Z")


class ScriptedServer(reduction_pb2_grpc.ReductionServicer):
    """Answers sums with the values of a script, in turn; None is a failure."""

    def __init__(self, script):
        self.script = list(script)
        self.called = threading.Event()
        self.answer = threading.Event()
        self.answer.set()

    def GetServerInfo(self, request, context):
        limits = reduction_pb2.GetServerInfoResponse.Limits(max_message_bytes=1 << 20)
        return reduction_pb2.GetServerInfoResponse(
            limits=limits, statistics=[reduction_pb2.STATISTIC_SUM])

    def Sum(self, request, context):
        self.called.set()
        self.answer.wait()
        value = self.script.pop(0)
        if value is None:
            context.abort(grpc.StatusCode.INTERNAL, "as the script says")
        size = len(request.inline)
        return reduction_pb2.ValueResponse(
            value=reduction_pb2.Value(float64=value), count=size // 4,
            execution=[reduction_pb2.Execution(device="cpu", bytes=size)])


@contextlib.contextmanager
def serve(servicer):
    """The address of a server with this servicer."""
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor() as threads:
        server = grpc.server(threads)
        reduction_pb2_grpc.add_ReductionServicer_to_server(servicer, server)
        server.add_insecure_port(f"unix:{scratch}/socket")
        server.start()
        try:
            yield f"unix:{scratch}/socket"
        finally:
            servicer.answer.set()
            server.stop(None).wait()


class ScriptedTest(unittest.TestCase):

    def bench(self, script, *words):
        with serve(ScriptedServer(script)) as target, start_bench(
                target, "--size=1KiB", f"--requests={len(script)}", *words) as bench:
            output, error = bench.communicate(timeout=60)
        return bench.returncode, json.loads(output), error

    def test_answers_with_other_bits_are_wrong(self):
        status, result, error = self.bench([0.5, 0.5, 0.5000000000000001, None, 0.5])
        self.assertEqual(status, 1)
        self.assertEqual((result["calls"], result["errors"], result["bytes"]),
                         (5, {"INTERNAL": 1, "WRONG_ANSWER": 1}, 3 * 1024))
        self.assertRegex(error, r"\Areduction: DATA_LOSS: 1 of 5 answers differ [^\n]+\n\Z")

    def test_atomic_sums_may_differ_in_their_last_bits(self):
        status, result, error = self.bench([0.5, 0.5000000000000001], "--algorithm=atomic")
        self.assertEqual((status, result["errors"], error), (0, {}, ""))
        _, result, _ = self.bench([0.5, 0.6], "--algorithm=atomic")
        self.assertEqual(result["errors"], {"WRONG_ANSWER": 1})

    def test_the_second_signal_does_not_wait_for_running_calls(self):
        servicer = ScriptedServer([0.5])
        servicer.answer.clear()
        with serve(servicer) as target, start_bench(target, "--size=1KiB", FOREVER) as bench:
            self.assertTrue(servicer.called.wait(60))
            bench.send_signal(signal.SIGINT)

            def caught():
                status = pathlib.Path(f"/proc/{bench.pid}/status").read_text()
                return int(re.search(r"SigCgt:\s+(\w+)", status)[1], 16) >> signal.SIGINT - 1 & 1
            eventually(lambda: not caught(), "the first signal is handled")
            self.assertIsNone(bench.poll())
            bench.send_signal(signal.SIGINT)
            self.assertEqual(bench.wait(timeout=60), -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
