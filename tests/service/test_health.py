"""grpc.health.v1 and GetServerInfo."""

import unittest

import grpc

import health_pb2
import health_pb2_grpc
from calls import ELEMENT_TYPES, SERVICE, ServiceTest, connect, pb, start_server

SERVING = health_pb2.HealthCheckResponse.SERVING
MIB = 1 << 20


class HealthTest(ServiceTest):

    def setUp(self):
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def test_check(self):
        for service in ("", SERVICE):
            request = health_pb2.HealthCheckRequest(service=service)
            self.assertEqual(self.health.Check(request, timeout=60).status, SERVING)
        unknown = health_pb2.HealthCheckRequest(service="reduction.v1.Other")
        self.assertEqual(self.refusal(self.health.Check, unknown).code, grpc.StatusCode.NOT_FOUND)

    def test_watch(self):
        for service, status in (("", SERVING), (SERVICE, SERVING),
                                ("other", health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)):
            watch = self.health.Watch(health_pb2.HealthCheckRequest(service=service), timeout=60)
            self.assertEqual(next(watch).status, status)
            watch.cancel()

    def test_a_thousand_watches(self):
        for _ in range(1000):
            self.health.Watch(health_pb2.HealthCheckRequest(), timeout=60).cancel()


class ServerInfoTest(ServiceTest):
    options = ("--max-message=1MiB", "--memory-limit=300MiB", "--queue=7", "--min-stream-rate=5KiB")

    def test_tells_what_the_server_is(self):
        info = self.stub.GetServerInfo(pb.GetServerInfoRequest())
        self.assertRegex(info.version, r"^\d+\.\d+\.\d+$")
        self.assertRegex(info.instance_id, r"^[0-9a-f]{32}$")
        self.assertEqual((info.order_version, info.leaf_bytes), (1, 16384))
        self.assertEqual(list(info.element_types), list(ELEMENT_TYPES.values()))
        self.assertEqual(list(info.statistics), list(filter(None, pb.Statistic.values())))
        (device,) = info.devices
        self.assertEqual(device.device, "cpu")
        self.assertEqual(device.lanes, self.server.metric("reduction_lanes", device="cpu"))
        self.assertTrue(device.name)
        self.assertGreater(device.memory_bytes, 0)

    def test_tells_its_limits(self):
        limits = self.stub.GetServerInfo(pb.GetServerInfoRequest()).limits
        self.assertEqual((limits.max_message_bytes, limits.memory_limit_bytes,
                          limits.max_queued_calls, limits.min_stream_bytes_per_second),
                         (MIB, 300 * MIB, 7, 5 << 10))
        staging = self.server.metric("reduction_staging_bytes")
        self.assertEqual(limits.max_streams, (300 * MIB - staging) // (2 * 33 * MIB))

    def test_instance_id_is_new_with_every_start(self):
        with start_server() as other, connect(other.listen[0]) as channel:
            stub = type(self.stub)(channel)
            ids = [each.GetServerInfo(pb.GetServerInfoRequest()).instance_id
                   for each in (stub, stub, self.stub)]
            self.assertEqual(ids[0], ids[1])
            self.assertNotEqual(ids[1], ids[2])
            self.assertEqual(other.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
