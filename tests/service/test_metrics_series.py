"""/metrics before any call: every series exists, with its type, help and labels."""

import collections
import re
import unittest

from calls import start_server

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
