"""/metrics: every series exists from the start, and traffic is counted exactly."""

import collections
import re
import unittest

import grpc
import numpy as np

import health_pb2
import health_pb2_grpc
from calls import (ELEMENT_TYPES, ServiceTest, array_request, chunks, header, pb, reduce_request,
                   start_server)
from server_process import eventually

OPERATIONS = ("sum", "max", "min", "dot", "reduce")
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
          "uint16", "uint32", "uint64")
SOURCES = ("inline", "stream")
STAGES = ("queue", "receive", "copy", "kernel")
LINKS = ("copy", "kernel")
REASONS = ("message_size", "segments", "memory", "queue", "streams", "draining", "slow_stream")
METHODS = (
    ("unary", "reduction.v1.Reduction", "Sum"),
    ("unary", "reduction.v1.Reduction", "Max"),
    ("unary", "reduction.v1.Reduction", "Min"),
    ("unary", "reduction.v1.Reduction", "Dot"),
    ("unary", "reduction.v1.Reduction", "Reduce"),
    ("client_stream", "reduction.v1.Reduction", "ReduceStream"),
    ("unary", "reduction.v1.Reduction", "GetServerInfo"),
    ("unary", "grpc.health.v1.Health", "Check"),
    ("server_stream", "grpc.health.v1.Health", "Watch"),
    ("bidi_stream", "grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo"))
CODES = ("OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound",
         "AlreadyExists", "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted",
         "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated")
SECONDS = (10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3,
           0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, float("inf"))
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, float("inf"))
# Name, type, labels with their values (None: any value), and for a histogram its buckets.
DEVICE = {"device": ("cpu",)}
REDUCED = {"op": OPERATIONS, "dtype": DTYPES, "source": SOURCES, "device": ("cpu",)}
RPC = {"grpc_type,grpc_service,grpc_method": METHODS}
FAMILIES = (
    ("reduction_bytes_total", "counter", REDUCED),
    ("reduction_elements_total", "counter", REDUCED),
    ("reduction_received_bytes_total", "counter", {"source": SOURCES}),
    ("reduction_stage_seconds", "histogram", {"stage": STAGES, "device": ("cpu",)}, SECONDS),
    ("reduction_device_busy_seconds_total", "counter", {"device": ("cpu",), "link": LINKS}),
    ("reduction_device_peak_bandwidth_bytes_per_second", "gauge",
     {"device": ("cpu",), "link": LINKS}),
    ("reduction_device_healthy", "gauge", DEVICE),
    ("reduction_lanes", "gauge", DEVICE),
    ("reduction_lanes_in_use", "gauge", DEVICE),
    ("reduction_staging_slots_in_use", "gauge", DEVICE),
    ("reduction_staging_bytes", "gauge", DEVICE),
    ("reduction_queue_depth", "gauge", DEVICE),
    ("reduction_batch_size", "histogram", DEVICE, BATCHES),
    ("reduction_rejected_total", "counter", {"reason": REASONS}),
    ("reduction_build_info", "gauge", {"version": None, "order_version": None, "cuda": None}),
    ("grpc_server_started_total", "counter", RPC),
    ("grpc_server_handled_total", "counter", RPC | {"grpc_code": CODES}),
    ("grpc_server_handling_seconds", "histogram", RPC, SECONDS),
    ("process_cpu_seconds_total", "counter", {}),
    ("process_resident_memory_bytes", "gauge", {}),
    ("process_virtual_memory_bytes", "gauge", {}),
    ("process_virtual_memory_max_bytes", "gauge", {}),
    ("process_threads", "gauge", {}),
    ("process_open_fds", "gauge", {}),
    ("process_max_fds", "gauge", {}),
    ("process_start_time_seconds", "gauge", {}),
    # What the library that serves the port tells of itself.
    ("exposer_transferred_bytes_total", "counter", {}),
    ("exposer_scrapes_total", "counter", {}),
    ("exposer_request_latencies", "summary", {}, (0.5, 0.9, 0.99)))


def series(name, **labels):
    return name, frozenset(labels.items())


def combinations(labels):
    """Every combination of the labels' values; a key may name several labels, separated by
    commas, whose values are tuples."""
    found = [{}]
    for names, values in labels.items():
        names = names.split(",")
        found = [one | dict(zip(names, value if len(names) > 1 else (value,)))
                 for one in found for value in values or ("any",)]
    return found


def expected_series():
    for name, kind, labels, *points in FAMILIES:
        for one in combinations(labels):
            if kind in ("counter", "gauge"):
                yield series(name, **one)
                continue
            yield series(name + "_count", **one)
            yield series(name + "_sum", **one)
            for point in points[0]:
                yield (series(name + "_bucket", **one, le=point) if kind == "histogram" else
                       series(name, **one, quantile=point))


def exposed_series(text):
    """The value of each series; numbers in labels become numbers, build_info's labels "any"."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, pairs, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        labels = dict(re.findall(r'(\w+)="([^"]*)"', pairs or ""))
        for key, text_of in labels.items():
            if key in ("le", "quantile"):
                labels[key] = float(text_of)
            elif name == "reduction_build_info":
                labels[key] = "any"
        key = series(name, **labels)
        assert key not in found, f"twice: {line}"
        found[key] = float(value)
    return found


class FreshServerTest(unittest.TestCase):
    """What a scrape shows before any call."""

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(start_server())
        cls.text = cls.server.scrape()
        cls.series = exposed_series(cls.text)
        if cls.server.stop() != 0:
            raise AssertionError(cls.server.log)

    def test_the_series_are_these_and_no_others(self):
        expected = list(expected_series())
        self.assertEqual(len(expected), len(set(expected)))
        self.assertEqual(set(expected) - set(self.series), set(), "missing")
        self.assertEqual(set(self.series) - set(expected), set(), "not in the list")

    def test_types(self):
        types = dict(re.findall(r"(?m)^# TYPE (\w+) (\w+)$", self.text))
        self.assertEqual(types, {name: kind for name, kind, *_ in FAMILIES})

    def test_every_family_has_one_line_of_help(self):
        helps = re.findall(r"(?m)^# HELP (\w+) \S.*$", self.text)
        self.assertEqual(collections.Counter(helps),
                         collections.Counter(name for name, *_ in FAMILIES))

    def test_counts_are_zero(self):
        gauges = {name for name, kind, *_ in FAMILIES if kind == "gauge"} - {
            "reduction_lanes_in_use", "reduction_staging_slots_in_use", "reduction_queue_depth"}
        for (name, labels), value in self.series.items():
            if name not in gauges and not name.startswith(("process_", "exposer_")):
                self.assertEqual(value, 0, (name, labels))

    def test_what_is_known_from_the_start(self):
        for name in ("reduction_lanes", "reduction_staging_bytes", "process_cpu_seconds_total",
                     "process_resident_memory_bytes", "process_virtual_memory_bytes",
                     "process_virtual_memory_max_bytes", "process_threads", "process_open_fds",
                     "process_max_fds", "process_start_time_seconds",
                     "reduction_device_peak_bandwidth_bytes_per_second"):
            values = [value for (other, _), value in self.series.items() if other == name]
            self.assertTrue(values and min(values) > 0, (name, values))
        self.assertEqual(self.series[series("reduction_device_healthy", device="cpu")], 1)

    def test_build_info(self):
        (line,) = re.findall(r"(?m)^reduction_build_info\{(.*)\} 1$", self.text)
        labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
        self.assertRegex(labels["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(labels["order_version"], "1")
        self.assertRegex(labels["cuda"], r"^(none|\d+\.\d+(\.\d+)?)$")


class CountsTest(ServiceTest):

    def test_bytes_and_elements(self):
        rng = np.random.default_rng(20240611)
        wanted = {}

        def count(operation, dtype, source, arrays, elements):
            key = operation, dtype, source
            size = np.dtype(dtype).itemsize
            total = wanted.get(key, (0, 0))
            wanted[key] = total[0] + arrays * elements * size, total[1] + elements
        for dtype in ("float32", "int64", "uint8"):
            for length in (0, 1, 1000, 40_000, 300_001):
                values = rng.integers(0, 100, length).astype(dtype)
                data = values.tobytes()
                self.stub.Sum(array_request(values, dtype))
                count("sum", dtype, "inline", 1, length)
                self.stub.Reduce(reduce_request(values, dtype, [pb.STATISTIC_SUM]))
                count("reduce", dtype, "inline", 1, length)
                self.stub.Dot(pb.DotRequest(element_type=ELEMENT_TYPES[dtype], x_inline=data,
                                            y_inline=data))
                count("dot", dtype, "inline", 2, length)
                self.stub.ReduceStream(chunks(header(dtype, [pb.STATISTIC_SUM]), data,
                                              sizes=(4097,)))
                count("reduce", dtype, "stream", 1, length)
                self.stub.ReduceStream(chunks(header(dtype, [pb.STATISTIC_DOT]), data, data,
                                              sizes=(4097,)))
                count("dot", dtype, "stream", 2, length)
        metric = self.server.metrics_now()
        for (operation, dtype, source), (size, elements) in wanted.items():
            labels = dict(op=operation, dtype=dtype, source=source, device="cpu")
            self.assertEqual(metric("reduction_bytes_total", **labels), size, labels)
            self.assertEqual(metric("reduction_elements_total", **labels), elements, labels)
        self.assertEqual(metric("reduction_bytes_total"), sum(size for size, _ in wanted.values()))
        for link in ("copy", "kernel"):
            self.assertGreater(metric("reduction_device_busy_seconds_total", link=link), 0)

    def differences(self, name, label, action):
        """How much each series of `name`, by `label`, grows through an action."""
        def values():
            sums = collections.Counter()
            for key, value in re.findall(rf'(?m)^{name}{{.*{label}="(\w+)".*}} (\S+)$',
                                         self.server.scrape()):
                sums[key] += float(value)
            return sums
        before = values()
        action()
        return dict(values() - before)

    def test_received_bytes(self):
        request = array_request(range(1000), "int32")
        messages = list(chunks(header("int8", [pb.STATISTIC_SUM]), bytes(1000), sizes=(99,)))

        def traffic():
            self.stub.Sum(request)
            self.stub.ReduceStream(iter(messages))
        self.assertEqual(
            self.differences("reduction_received_bytes_total", "source", traffic),
            {"inline": request.ByteSize(), "stream": sum(each.ByteSize() for each in messages)})

    def test_rpcs_of_grpc_itself(self):
        health = health_pb2_grpc.HealthStub(self.channel)
        reflect = self.channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        list_services = b"\x3a\x00"

        def ended(method):
            return self.server.metric("grpc_server_handled_total", grpc_method=method)

        def traffic():
            health.Check(health_pb2.HealthCheckRequest(), timeout=60)
            with self.assertRaises(grpc.RpcError):
                health.Check(health_pb2.HealthCheckRequest(service="no"), timeout=60)
            watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=60)
            next(watch)
            self.assertEqual(self.server.metric("grpc_server_started_total", grpc_method="Watch"),
                             1)
            self.assertEqual(ended("Watch"), 0)
            watch.cancel()
            self.assertIn(b"grpc.health.v1.Health",
                          b"".join(reflect(iter([list_services]), timeout=60)))
            eventually(lambda: ended("Watch"), "the watch ends")
            eventually(lambda: ended("ServerReflectionInfo"), "reflection ends")
        codes = self.differences("grpc_server_handled_total", "grpc_code", traffic)
        self.assertEqual(codes, {"OK": 2, "NotFound": 1, "Canceled": 1})
        metric = self.server.metrics_now()
        for method, count in (("Check", 2), ("Watch", 1), ("ServerReflectionInfo", 1)):
            for name in ("started_total", "handled_total", "handling_seconds_count"):
                self.assertEqual(metric("grpc_server_" + name, grpc_method=method), count, method)

    def test_reasons_of_rejections(self):
        too_many = header("int8", [pb.STATISTIC_SUM], segments=pb.Segments(length=1),
                          element_count=1 << 40)
        too_large = array_request(np.zeros((16 << 20) + 1), "int8")

        def traffic():
            self.refusal(self.stub.ReduceStream, chunks(too_many, bytes(1)))
            self.refusal(self.stub.Sum, too_large)
        self.assertEqual(self.differences("reduction_rejected_total", "reason", traffic),
                         {"segments": 1, "message_size": 1})

    def test_status_codes(self):
        check = pb.Options(overflow=pb.OVERFLOW_POLICY_CHECK)
        gpu = pb.Options(device=pb.Device(kind=pb.Device.KIND_GPU))
        requests = {"OK": array_request([1], "int8"),
                    "InvalidArgument": pb.ArrayRequest(),
                    "OutOfRange": array_request([2**63 - 1, 1], "int64", options=check),
                    "FailedPrecondition": array_request([1], "int8", options=gpu),
                    "ResourceExhausted": array_request(np.zeros((16 << 20) + 1), "int8")}

        def traffic():
            for request in requests.values():
                try:
                    self.stub.Sum(request)
                except grpc.RpcError:
                    pass
        self.assertEqual(self.differences("grpc_server_handled_total", "grpc_code", traffic),
                         dict.fromkeys(requests, 1))

    def test_stages_and_time_of_calls(self):
        def traffic():
            self.stub.Sum(array_request(np.ones(100_000), "float64"))
        stages = self.differences("reduction_stage_seconds_count", "stage", traffic)
        self.assertEqual(stages, dict.fromkeys(("queue", "receive", "copy", "kernel"), 1))
        calls = self.differences("grpc_server_handling_seconds_count", "grpc_method", traffic)
        self.assertEqual(calls, {"Sum": 1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
