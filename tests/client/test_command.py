"""The reduction command against a real server."""

import concurrent.futures
import json
import os
import signal
import subprocess
import tempfile
import unittest

import grpc
import numpy

from reduction.v1 import reduction_pb2, reduction_pb2_grpc
from server_process import ServerProcess, eventually

SERVER = os.environ["REDUCTION_SERVER"]
COMMAND = os.environ["REDUCTION_COMMAND"]


class CommandTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.scratch = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.socket = f"unix:{cls.scratch}/socket"
        cls.server = cls.enterClassContext(ServerProcess(
            [SERVER, f"--listen=127.0.0.1:0,{cls.socket}", "--metrics=127.0.0.1:0",
             "--device=cpu"]))
        cls.target = cls.server.listen[0]
        generator = numpy.random.default_rng(5)
        cls.numbers = generator.standard_normal(5_000_003).astype("<f4")
        cls.file = cls.save("numbers", cls.numbers)

    @classmethod
    def save(cls, name, array):
        path = f"{cls.scratch}/{name}.npy"
        numpy.save(path, array)
        return path

    def run_command(self, *arguments, target=None, **options):
        environment = dict(os.environ, REDUCTION_TARGET=target or self.target,
                           **options.pop("environment", {}))
        return subprocess.run([COMMAND, *arguments], env=environment, capture_output=True,
                              stdin=options.pop("stdin", subprocess.DEVNULL), timeout=120,
                              **options)

    def reduce(self, *arguments, **options):
        done = self.run_command(*arguments, "--json", **options)
        self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
        self.assertEqual(done.stdout.count(b"\n"), 1)
        return json.loads(done.stdout)

    def assert_fails(self, status, code, *arguments, **options):
        done = self.run_command(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr.decode(), rf"\Areduction: {code}: [^\n]+\n\Z")
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def test_json_has_the_documented_keys(self):
        result = self.reduce("sum", self.file)
        self.assertEqual(result["op"], "sum")
        self.assertEqual(result["count"], len(self.numbers))
        self.assertEqual(result["dtype"], "float32")
        self.assertEqual(result["device"], "cpu")
        self.assertEqual(result["algorithm"], "two-pass")
        self.assertGreater(result["seconds"], 0)
        self.assertGreater(result["bytes_per_second"], 0)
        exact = self.numbers.astype("f8").sum()
        bound = 1e-12 * numpy.abs(self.numbers.astype("f8")).sum()
        self.assertLessEqual(abs(result["value"] - exact), bound)

    def test_every_way_of_sending_gives_the_same_bits(self):
        raw = f"{self.scratch}/raw"
        self.numbers.tofile(raw)
        big_endian = self.save("big_endian", self.numbers.astype(">f4"))
        want = self.reduce("stats", self.file)["values"]
        self.assertGreaterEqual(len(want), 8)
        everywhere = f"{self.target},{self.socket}"
        ways = [("stats", self.file, "--connections=4"), ("stats", big_endian),
                ("stats", raw, "--dtype=float32"),
                ("stats", self.file, f"--target={everywhere}", "--connections=2"),
                ("stats", self.file, f"--target={self.socket}")]
        for way in ways:
            with self.subTest(way=way):
                self.assertEqual(self.reduce(*way)["values"], want)
        with open(self.file, "rb") as stdin:
            self.assertEqual(self.reduce("stats", "-", stdin=stdin)["values"], want)
        for name, options in ((self.file, []), (raw, ["--dtype=f32"])):
            with subprocess.Popen(["cat", name], stdout=subprocess.PIPE) as cat:
                result = self.reduce("stats", "-", *options, stdin=cat.stdout)
            self.assertEqual(result["values"], want)

    def test_dot_takes_one_array_from_standard_input(self):
        want = self.reduce("dot", self.file, self.file)["value"]
        self.assertEqual(self.reduce("dot", self.file, self.file, "--connections=3")["value"], want)
        for files in (("-", self.file), (self.file, "-")):
            with subprocess.Popen(["cat", self.file], stdout=subprocess.PIPE) as cat:
                self.assertEqual(self.reduce("dot", *files, stdin=cat.stdout)["value"], want)

    def test_arrays_of_any_shape_are_their_elements(self):
        grid = numpy.arange(12.0).reshape(3, 4)
        for array in (grid, numpy.asfortranarray(grid), grid.reshape(1, 2, 6)):
            self.assertEqual(self.reduce("sum", self.save("grid", array))["value"], 66)
        self.assertEqual(self.reduce("sum", self.save("scalar", numpy.int8(-7)))["value"], -7)
        empty = self.save("empty", numpy.zeros((0, 4)))
        self.assertEqual(self.reduce("sum", empty)["value"], 0)
        booleans = self.save("booleans", numpy.array([True, False, True]))
        result = self.reduce("sum", booleans)
        self.assertEqual((result["value"], result["dtype"]), (2, "uint8"))

    def test_dot_of_arrays_in_different_orders_is_refused(self):
        table = numpy.arange(12.0).reshape(3, 4)
        rows = self.save("rows", table)
        columns = self.save("columns", numpy.asfortranarray(table))
        self.assertIn("orders", self.assert_fails(2, "INVALID_ARGUMENT", "dot", rows, columns))
        self.assertEqual(self.reduce("dot", columns, columns)["value"], 506)
        flat = self.save("flat", table.ravel())
        self.assertEqual(self.reduce("dot", rows, flat)["value"], 506)

    def test_integers_stay_exact_and_overflow_is_an_error_when_asked(self):
        most = self.save("most", numpy.full(2, 2**64 - 1, "u8"))
        self.assertEqual(self.reduce("max", most)["value"], 2**64 - 1)
        self.assertEqual(self.reduce("sum", most)["value"], 2**64 - 2)
        self.assert_fails(1, "OUT_OF_RANGE", "sum", most, "--overflow=check")

    def test_nan_and_infinity_are_strings(self):
        array = self.save("nan", numpy.array([1.0, numpy.nan, -numpy.inf]))
        self.assertEqual(self.reduce("sum", array)["value"], "NaN")
        result = self.reduce("sum", array, "--nan=ignore")
        self.assertEqual((result["value"], result["count"]), ("-Infinity", 2))

    def test_text_output_is_the_value(self):
        integers = self.save("integers", numpy.arange(1000))
        self.assertEqual(self.run_command("sum", integers).stdout, b"499500\n")
        self.assertEqual(self.run_command("stats", integers, "--stats=max,mean").stdout.split(),
                         b"count 1000 max 999 mean 499.5".split())

    def test_segments_are_a_line_each(self):
        table = numpy.array([[3, 1, 2], [-5, 0, 9]], "i4")
        file = self.save("table", table)
        for words in (["--segment-length=3"], ["--rows"],
                      ["--segment-offsets=" + self.save("offsets", numpy.array([0, 3, 6]))]):
            with self.subTest(words=words):
                self.assertEqual(self.run_command("sum", file, *words).stdout, b"6\n4\n")
                done = self.run_command("stats", file, *words, "--stats=max,argmax,mean")
                self.assertEqual(done.stdout.decode(), "count\tmax\targmax\tmean\n"
                                 "3\t3\t0\t2\n3\t9\t2\t1.3333333333333333\n")
                result = self.reduce("min", file, *words)
                self.assertEqual((result["op"], result["value"], result["segments"],
                                  result["counts"], result["count"]),
                                 ("min", [1, -5], 2, [3, 3], 6))
        offsets = self.save("offsets", numpy.array([0, 3, 3, 6], "u8"))
        gap = f"--segment-offsets={offsets}"
        self.assertEqual(self.run_command("max", file, gap).stdout, b"3\nnone\n9\n")
        values = self.reduce("stats", file, gap, "--stats=min,sum")["values"]
        self.assertEqual(values, {"min": [1, None, -5], "sum": [6, 0, 4]})
        self.assertEqual(self.reduce("dot", file, file, gap)["value"], [14, 0, 106])

    def test_rows_without_elements_are_empty_segments(self):
        for shape, lines in (((3, 0), 3), ((2, 2, 0), 4), ((0,), 1), ((0, 0), 0), ((0, 5), 0)):
            with self.subTest(shape=shape):
                file = self.save("empty_rows", numpy.zeros(shape))
                self.assertEqual(self.run_command("sum", file, "--rows").stdout, b"0\n" * lines)
                self.assertEqual(self.run_command("max", file, "--rows").stdout,
                                 b"none\n" * lines)
        path = f"{self.scratch}/many.npy"
        with open(path, "wb") as file:
            numpy.lib.format.write_array_header_1_0(
                file, {"descr": "<f4", "fortran_order": False, "shape": (2**60, 0)})
        self.assertIn("rows without elements",
                      self.assert_fails(2, "INVALID_ARGUMENT", "sum", path, "--rows"))

    def test_segments_of_large_arrays_by_every_way_of_sending(self):
        rows = self.numbers[:5_000_000].reshape(-1, 1000)
        file = self.save("rows", rows)
        big_endian = self.save("rows_big_endian", rows.astype(">f4"))
        want = self.reduce("stats", file, "--segment-length=1000")["values"]
        numpy.testing.assert_array_equal(want["argmax"], rows.argmax(axis=1))
        numpy.testing.assert_array_equal(want["max"], rows.max(axis=1))
        numpy.testing.assert_allclose(want["sum"], rows.astype("f8").sum(axis=1), rtol=1e-9,
                                      atol=1e-9)
        # In big-endian order, so that these too are read in pieces.
        offsets = self.save("many_offsets", numpy.arange(0, 5_000_001, 1000, ">i8"))
        for words in ([file, "--rows", "--connections=3"], [big_endian, "--rows"],
                      [file, f"--segment-offsets={offsets}"],
                      [big_endian, f"--segment-offsets={offsets}"]):
            with self.subTest(words=words):
                self.assertEqual(self.reduce("stats", *words)["values"], want)
        for words in ([f"--segment-offsets={offsets}"], ["--segment-length=1000"]):
            with subprocess.Popen(["cat", file], stdout=subprocess.PIPE) as cat:
                result = self.reduce("stats", "-", *words, stdin=cat.stdout)
            self.assertEqual(result["values"], want)

    def test_a_million_segments(self):
        values = numpy.random.default_rng(7).integers(0, 256, 4_000_000, "u1")
        file = self.save("million", values.reshape(-1, 4))
        sums = self.run_command("sum", file, "--rows").stdout.split()
        self.assertEqual(list(map(int, sums)), values.reshape(-1, 4).sum(axis=1).tolist())

    def test_segments_that_cannot_be(self):
        for code, status, words in (
                ("INVALID_ARGUMENT", 2, ["--segment-length=7"]),
                ("INVALID_ARGUMENT", 2, ["--segment-length=0"]),
                ("INVALID_ARGUMENT", 2, ["--segment-length=x"]),
                ("INVALID_ARGUMENT", 2, ["--rows", "--segment-length=7"]),
                ("NOT_FOUND", 2, ["--segment-offsets=/no/such.npy"]),
                ("INVALID_ARGUMENT", 2, ["--segment-offsets=" + self.file]),
                ("INVALID_ARGUMENT", 2, ["--segment-offsets=-"]),
                ("INVALID_ARGUMENT", 2, ["--segment-offsets=" + self.save("o", numpy.array([0, -1]))]),
                ("INVALID_ARGUMENT", 2, ["--segment-offsets=" + self.save("p", numpy.zeros(0, int))]),
                ("INVALID_ARGUMENT", 2, ["--segment-offsets=" + self.save("q", numpy.array([0, 9]))])):
            with self.subTest(words=words):
                self.assert_fails(status, code, "sum", self.file, *words)
        # Only the server sees where standard input ends, or that offsets decrease.
        with open(self.file, "rb") as stdin, subprocess.Popen(
                ["cat"], stdin=stdin, stdout=subprocess.PIPE) as cat:
            self.assert_fails(2, "INVALID_ARGUMENT", "sum", "-", "--segment-length=7",
                              stdin=cat.stdout)
            cat.stdout.close()
        decreasing = self.save("decreasing", numpy.array([0, 9, 5, len(self.numbers)]))
        self.assert_fails(2, "INVALID_ARGUMENT", "sum", self.file,
                          f"--segment-offsets={decreasing}")
        self.assert_fails(2, "INVALID_ARGUMENT", "health", "--rows")
        fortran = self.save("fortran", numpy.asfortranarray(numpy.zeros((3, 4))))
        self.assertIn("C order", self.assert_fails(2, "INVALID_ARGUMENT", "sum", fortran, "--rows"))

    def test_health_and_info(self):
        self.assertEqual(self.run_command("health").stdout, b"SERVING\n")
        self.assertEqual(self.reduce("health")["status"], "SERVING")
        (server,) = self.reduce("info")["servers"]
        self.assertEqual(server["target"], self.target)
        self.assertEqual(server["devices"][0]["device"], "cpu")
        self.assertIn("sum", server["statistics"])

    def test_failed_calls_exit_with_1(self):
        empty = self.save("empty", numpy.zeros(0))
        self.assertIn("max", self.assert_fails(1, "INVALID_ARGUMENT", "max", empty))
        self.assert_fails(1, "FAILED_PRECONDITION", "sum", self.file, "--device=cuda:0")
        nobody = f"unix:{self.scratch}/nobody"
        for words in (["health"], ["info"], ["sum", self.file]):
            error = self.assert_fails(1, "UNAVAILABLE", *words, target=nobody)
            self.assertIn(nobody, error)
            self.assertIn("is reduction-server running there? --target=ADDR chooses another", error)

    def test_statistics_are_no_commands(self):
        self.assertIn("use reduction stats --stats=argmax FILE",
                      self.assert_fails(2, "INVALID_ARGUMENT", "argmax", self.file))

    def test_a_proxy_is_not_asked_for_this_machine(self):
        proxy = {"http_proxy": "http://127.0.0.1:1", "no_proxy": ""}
        done = self.run_command("health", environment=proxy)
        self.assertEqual((done.returncode, done.stdout), (0, b"SERVING\n"), done.stderr)
        elsewhere = self.run_command("health", "--target=192.0.2.1:1", environment=proxy)
        self.assertIn(b"127.0.0.1:1:", elsewhere.stderr)

    def test_wrong_use_exits_with_2(self):
        self.assert_fails(2, "INVALID_ARGUMENT")
        self.assert_fails(2, "INVALID_ARGUMENT", "sum", self.file, "--dtype=float64")
        self.assert_fails(2, "NOT_FOUND", "sum", f"{self.scratch}/missing.npy")
        self.assert_fails(2, "INVALID_ARGUMENT", "health", target="localhost")
        structured = self.save("structured", numpy.zeros(2, [("a", "f4")]))
        self.assertIn("structured", self.assert_fails(2, "INVALID_ARGUMENT", "sum", structured))
        objects = self.save("objects", numpy.array([1, None]))
        self.assertIn("objects", self.assert_fails(2, "INVALID_ARGUMENT", "sum", objects))
        short = self.save("short", numpy.zeros(4))
        os.truncate(short, os.path.getsize(short) - 1)
        self.assert_fails(2, "INVALID_ARGUMENT", "sum", short)
        self.assert_fails(2, "INVALID_ARGUMENT", "dot", self.file, short)

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([COMMAND, "info", f"--target={self.target}"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)


class ForgetfulServer(reduction_pb2_grpc.ReductionServicer):
    """Says of every stream that its last element never came."""

    def GetServerInfo(self, request, context):
        limits = reduction_pb2.GetServerInfoResponse.Limits(max_message_bytes=1 << 20)
        return reduction_pb2.GetServerInfoResponse(limits=limits)

    def ReduceStream(self, messages, context):
        received = sum(len(message.x) for message in messages)
        value = reduction_pb2.StatisticValue(statistic=reduction_pb2.STATISTIC_SUM,
                                             value=reduction_pb2.Value(uint64=0))
        return reduction_pb2.ReduceResponse(
            values=[value], count=received - 1,
            execution=[reduction_pb2.Execution(device="cpu", bytes=received - 1)])


class LostServerTest(unittest.TestCase):

    def test_an_answer_about_fewer_bytes_is_data_loss(self):
        with tempfile.TemporaryDirectory() as scratch, \
                concurrent.futures.ThreadPoolExecutor() as threads:
            server = grpc.server(threads)
            reduction_pb2_grpc.add_ReductionServicer_to_server(ForgetfulServer(), server)
            target = f"unix:{scratch}/socket"
            server.add_insecure_port(target)
            server.start()
            for policy in ("propagate", "ignore"):
                done = subprocess.run([COMMAND, "sum", "-", "--dtype=u1", f"--nan={policy}",
                                       f"--target={target}"], input=bytes(1000),
                                      capture_output=True, timeout=120)
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertRegex(done.stderr.decode(),
                                 r"\Areduction: DATA_LOSS: [^\n]*999 bytes [^\n]*1000[^\n]*\n\Z")
            server.stop(None).wait()

    def test_a_server_that_dies_during_a_transfer_is_unavailable(self):
        for connections in (1, 3):
            with self.subTest(connections=connections), tempfile.TemporaryDirectory() as scratch, \
                    ServerProcess([SERVER, "--listen=127.0.0.1:0", "--metrics=127.0.0.1:0",
                                   "--device=cpu"]) as server:
                path = f"{scratch}/zeros"
                with open(path, "wb") as file:
                    file.truncate(8 << 30)
                with subprocess.Popen(
                        [COMMAND, "sum", path, "--dtype=u1", f"--target={server.listen[0]}",
                         f"--connections={connections}"], stderr=subprocess.PIPE) as command:
                    eventually(lambda: server.metric("reduction_received_bytes_total",
                                                     source="stream"), "bytes arrive")
                    server.send_signal(signal.SIGKILL)
                    _, error = command.communicate(timeout=120)
                self.assertEqual(command.returncode, 1, error)
                self.assertRegex(error.decode(), r"\Areduction: UNAVAILABLE: [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
