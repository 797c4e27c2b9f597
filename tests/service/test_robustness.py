"""Clients that give up, die or talk nonsense leave nothing behind. (ServiceTest checks after each
test that the server is at rest and works.)"""

import contextlib
import pathlib
import socket
import subprocess
import sys
import threading
import unittest

import grpc
import numpy as np

import wire
from calls import (ONE_ARRAY_STATISTICS, Refusal, ServiceTest, array_request, at_rest,
                   connect, header, number, numbers, pb, reduce_request)
from reduction.v1 import reduction_pb2_grpc
from server_process import eventually

SUM = [pb.STATISTIC_SUM]
STALLED_CLIENT = pathlib.Path(__file__).with_name("stalled_client.py")
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes(3) + b"\4" + bytes(5)
LIST_SERVICES = b"\x3a\x00"


def reflection(channel):
    return channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")


def wait_for(event):
    """Messages of a stream that sends none before it ends."""
    event.wait()
    yield from ()


class RobustnessTest(ServiceTest):
    # Room for two or three streams: one that is not given back is missed soon.
    options = ("--max-message=1MiB", "--memory-limit=256MiB")

    def received(self):
        return self.server.metric("reduction_received_bytes_total", source="stream")

    def handled(self, code):
        return self.server.metric("grpc_server_handled_total", grpc_method="ReduceStream",
                                  grpc_code=code)

    def half_a_stream(self, timeout=60):
        """A call that has sent 100,000 bytes of a stream and sends nothing more."""
        over = threading.Event()

        def messages():
            yield pb.ReduceStreamRequest(header=header("int8", SUM), x=bytes(100_000))
            over.wait()
        before = self.received()
        call = self.stub.ReduceStream.future(messages(), timeout=timeout)
        call.add_done_callback(lambda _: over.set())
        eventually(lambda: self.received() >= before + 100_000 or call.done(), "the data is there")
        return call

    def test_streams_that_the_client_cancels_half_way(self):
        before = self.handled("Canceled")
        for turn in range(1, 9):
            self.half_a_stream().cancel()
            eventually(lambda: self.handled("Canceled") == before + turn, "the stream ends")

    def test_streams_whose_deadline_passes(self):
        for _ in range(4):
            error = self.half_a_stream(timeout=0.2).exception()
            self.assertEqual(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
            eventually(lambda: at_rest(self.server), "the stream ends")

    def test_clients_that_are_killed(self):
        before = self.handled("Canceled")
        for turn in range(1, 5):
            received = self.received()
            client = subprocess.Popen([sys.executable, STALLED_CLIENT, self.server.listen[0]])
            eventually(lambda: self.received() >= received + 100_000, "half of the stream is there")
            client.kill()
            client.wait()
            eventually(lambda: self.handled("Canceled") == before + turn, "the stream ends")

    def test_streams_cancelled_at_once(self):
        for _ in range(300):
            call = self.stub.ReduceStream.future(
                iter([pb.ReduceStreamRequest(header=header("int8", SUM), x=bytes(100_000))]))
            call.cancel()

    def test_unary_calls_that_the_client_cancels(self):
        request = reduce_request(np.ones(1 << 20), "int8", ONE_ARRAY_STATISTICS)
        calls = [self.stub.Reduce.future(request) for _ in range(60)]
        for call in calls[::2]:
            call.cancel()
        for call in calls[1::2]:
            self.assertEqual(numbers(call.result())[pb.STATISTIC_SUM], 1 << 20)

    def test_unary_calls_whose_deadline_passes(self):
        request = reduce_request(np.ones(1 << 20), "int8", ONE_ARRAY_STATISTICS)
        calls = [self.stub.Reduce.future(request, timeout=0.001 * i) for i in range(60)]
        for call in calls:
            if error := call.exception():
                self.assertEqual(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)

    def test_two_hundred_tiny_calls_at_once(self):
        calls = [self.stub.Sum.future(array_request([i, 1], "int32")) for i in range(200)]
        self.assertEqual([number(call.result().value) for call in calls],
                         [i + 1 for i in range(200)])

    def test_thousands_of_empty_chunks(self):
        messages = [pb.ReduceStreamRequest(header=header("int8", SUM))]
        messages += [pb.ReduceStreamRequest()] * 5000 + [pb.ReduceStreamRequest(x=b"\7")]
        response = self.stub.ReduceStream(iter(messages))
        self.assertEqual(numbers(response), {pb.STATISTIC_SUM: 7})

    def test_refused_streams_that_go_on_sending(self):
        wrong = [pb.ReduceStreamRequest(header=header("int8", SUM))]
        wrong += [pb.ReduceStreamRequest(offset=5, x=bytes(100_000))] * 50
        for _ in range(8):
            self.assertInvalid(self.refusal(self.stub.ReduceStream, iter(wrong)), "OFFSET_GAP",
                               "offset")

    def test_unary_calls_with_no_message_or_two(self):
        for messages in ([], [b"", b""]):
            call = self.channel.stream_unary("/reduction.v1.Reduction/Sum")
            with self.assertRaises(grpc.RpcError) as caught:
                call(iter(messages), timeout=60)
            self.assertNotEqual(Refusal(caught.exception).code, grpc.StatusCode.DEADLINE_EXCEEDED)

    def test_oversized_metadata(self):
        # gRPC 1.51 closes the connection too: take another one.
        with connect(self.server.listen[0]) as channel:
            stub = reduction_pb2_grpc.ReductionStub(channel)
            refusal = self.refusal(stub.Sum, array_request([1], "int8"),
                                   metadata=[("x-padding", "x" * 20_000)])
        self.assertEqual(refusal.code, grpc.StatusCode.RESOURCE_EXHAUSTED)

    def test_connections_that_speak_no_grpc(self):
        host, port = self.server.listen[0].split(":")
        texts = [b"", b"\0" * 1000, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", PREFACE[:10], PREFACE,
                 PREFACE + SETTINGS, PREFACE + SETTINGS + b"\xff" * 1000, b"\x16\x03\x01" * 200,
                 PREFACE + SETTINGS + b"\0\0\5\1\5\0\0\0\1\xff\xff\xff\xff\xff"]
        with contextlib.ExitStack() as stack:
            for text in texts * 10:
                connection = stack.enter_context(socket.create_connection((host, int(port))))
                with contextlib.suppress(ConnectionError):
                    connection.sendall(text)
            self.assertEqual(number(self.stub.Sum(array_request([1, 1], "int8")).value), 2)

    def test_idle_and_noisy_connections_to_the_metrics(self):
        host, port = self.server.metrics.split(":")
        with contextlib.ExitStack() as stack:
            for text in [b"", b"GET ", b"\xff" * 100] * 20:
                connection = stack.enter_context(socket.create_connection((host, int(port))))
                connection.sendall(text)
            self.assertIn("reduction_build_info", self.server.scrape())

    def test_silent_reflection_streams_take_few_threads(self):
        def threads():
            return self.server.metric("process_threads")

        def open_streams():
            metric = self.server.metrics_now()
            return (metric("grpc_server_started_total", grpc_method="ServerReflectionInfo") -
                    metric("grpc_server_handled_total", grpc_method="ServerReflectionInfo"))
        before = threads()
        over = threading.Event()
        with contextlib.ExitStack() as stack:
            calls = []
            for _ in range(8):
                channel = stack.enter_context(connect(self.server.listen[0]))
                calls += [reflection(channel)(wait_for(over)) for _ in range(50)]
            refused = eventually(lambda: [call for call in calls if call.done()],
                                 "some are refused")
            self.assertEqual(refused[0].code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            eventually(lambda: open_streams() + sum(call.done() for call in calls) >= len(calls),
                       "all have come")
            self.assertLess(threads(), before + 100)
            self.assertEqual(number(self.stub.Sum(array_request([1, 1], "int8")).value), 2)
            over.set()
        eventually(lambda: open_streams() == 0, "the streams end")
        (answer,) = reflection(self.channel)(iter([LIST_SERVICES]), timeout=60)
        self.assertIn(b"grpc.health.v1.Health", answer)

    def test_raw_garbage_to_every_method(self):
        rng = np.random.default_rng(20240610)
        for method in ("Sum", "Max", "Min", "Dot", "Reduce", "GetServerInfo"):
            for length in (1, 10, 1000, 100_000):
                with contextlib.suppress(grpc.RpcError):
                    wire.raw_unary(self.channel, method)(rng.bytes(length), timeout=60)
                with contextlib.suppress(grpc.RpcError):
                    wire.raw_stream(self.channel)(iter([rng.bytes(length)] * 3), timeout=60)


class ConnectionsTest(ServiceTest):

    def test_descriptors_of_closed_connections_are_given_back(self):
        def open_files():
            return self.server.metric("process_open_fds")
        before = open_files()
        with contextlib.ExitStack() as stack:
            for _ in range(50):
                channel = stack.enter_context(connect(self.server.listen[0]))
                reduction_pb2_grpc.ReductionStub(channel).Sum(array_request([1], "int8"))
            self.assertGreaterEqual(open_files(), before + 50)
        eventually(lambda: open_files() <= before, "the descriptors are closed")


class BusyLanesTest(ServiceTest):

    def test_streams_that_go_wrong_at_their_end_while_a_lane_is_busy(self):
        data = bytes(40_000)
        for _ in range(200):
            one_more = header("int8", SUM, element_count=20 * len(data) + 1)
            messages = [pb.ReduceStreamRequest(header=one_more)]
            messages += [pb.ReduceStreamRequest(offset=i * len(data), x=data) for i in range(20)]
            self.assertInvalid(self.refusal(self.stub.ReduceStream, iter(messages)),
                               "COUNT_NOT_KEPT", "header.element_count")
            messages.append(pb.ReduceStreamRequest(offset=1))
            self.assertInvalid(self.refusal(self.stub.ReduceStream, iter(messages)), "OFFSET_GAP",
                               "offset")


if __name__ == "__main__":
    unittest.main(verbosity=2)
