"""/metrics: traffic is counted exactly."""

import collections
import re
import unittest

import grpc
import numpy as np

import health_pb2
import health_pb2_grpc
from calls import (ELEMENT_TYPES, ServiceTest, array_request, chunks, header, pb, reduce_request)
from server_process import eventually


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
