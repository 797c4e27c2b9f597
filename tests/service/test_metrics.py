"""/metrics: every series exists from the start, and traffic is counted exactly."""

import collections
import re
import unittest

import grpc
import numpy as np

from calls import (ELEMENT_TYPES, SERVICE, ServiceTest, array_request, chunks, header, pb,
                   reduce_request, start_server)

METHODS = {"Sum": "unary", "Max": "unary", "Min": "unary", "Dot": "unary", "Reduce": "unary",
           "ReduceStream": "client_stream", "GetServerInfo": "unary"}
OPERATIONS = ("sum", "max", "min", "dot", "reduce")
REASONS = ("message_size", "memory", "queue", "streams", "draining", "slow_stream")
CODES = ("OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound",
         "AlreadyExists", "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted",
         "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated")


class FreshServerTest(unittest.TestCase):
    """What a scrape shows before any call."""

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(start_server())
        cls.text = cls.server.scrape()
        cls.metric = staticmethod(cls.server.metrics_now())
        if cls.server.stop() != 0:
            raise AssertionError(cls.server.log)

    def assertZero(self, name, **labels):
        self.assertEqual(self.metric(name, **labels), 0, (name, labels))

    def test_counters_of_reductions(self):
        for operation in OPERATIONS:
            for dtype in ELEMENT_TYPES:
                for source in ("inline", "stream"):
                    labels = dict(op=operation, dtype=dtype, source=source, device="cpu")
                    self.assertZero("reduction_bytes_total", **labels)
                    self.assertZero("reduction_elements_total", **labels)

    def test_counters_of_calls(self):
        for method, kind in METHODS.items():
            labels = dict(grpc_type=kind, grpc_service=SERVICE, grpc_method=method)
            self.assertZero("grpc_server_started_total", **labels)
            self.assertZero("grpc_server_handling_seconds_count", **labels)
            for code in CODES:
                self.assertZero("grpc_server_handled_total", grpc_code=code, **labels)
        for source in ("inline", "stream"):
            self.assertZero("reduction_received_bytes_total", source=source)
        for reason in REASONS:
            self.assertZero("reduction_rejected_total", reason=reason)

    def test_series_of_devices(self):
        for name in ("lanes_in_use", "staging_slots_in_use", "queue_depth", "batch_size_count"):
            self.assertZero("reduction_" + name, device="cpu")
        for stage in ("queue", "receive", "copy", "kernel"):
            self.assertZero("reduction_stage_seconds_count", stage=stage, device="cpu")
        for link in ("copy", "kernel"):
            self.assertZero("reduction_device_busy_seconds_total", link=link, device="cpu")
            self.assertGreater(self.metric("reduction_device_peak_bandwidth_bytes_per_second",
                                           link=link, device="cpu"), 0)
        for name in ("lanes", "staging_bytes"):
            self.assertGreater(self.metric("reduction_" + name, device="cpu"), 0)
        self.assertEqual(self.metric("reduction_device_healthy", device="cpu"), 1)

    def test_series_of_the_process(self):
        for name in ("cpu_seconds_total", "resident_memory_bytes", "virtual_memory_bytes",
                     "open_fds", "max_fds", "start_time_seconds"):
            self.assertGreater(self.metric("process_" + name), 0)
        self.assertEqual(self.metric("reduction_build_info"), 1)
        self.assertRegex(self.text, r'reduction_build_info\{version="\d+\.\d+\.\d+"\} 1')

    def test_buckets_from_ten_microseconds_to_thirty_seconds(self):
        for name in ("reduction_stage_seconds", "grpc_server_handling_seconds"):
            buckets = re.findall(rf'{name}_bucket{{.*le="([^"+]+)"', self.text)
            self.assertEqual((min(map(float, buckets)), max(map(float, buckets))), (10e-6, 30))

    def test_every_family_has_help_and_type(self):
        families = set(re.findall(r"(?m)^(\w+?)(?:_bucket|_sum|_count)?(?:\{.*)? \S+$", self.text))
        for family in families - {"exposer_transferred_bytes", "exposer_request_latencies"}:
            self.assertRegex(self.text, rf"(?m)^# HELP {family} \S")
            self.assertRegex(self.text, rf"(?m)^# TYPE {family} (counter|gauge|histogram)$")


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
