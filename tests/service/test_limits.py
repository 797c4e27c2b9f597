"""What does not fit is refused at once, and fits again when there is room."""

import contextlib
import os
import threading
import unittest

import grpc
import numpy as np

import wire
from calls import (FLOAT32, ONE_ARRAY_STATISTICS, Refusal, ServiceTest, array_request,
                   chunks, connect, header, number, numbers, pb, reduce_request, start_server)
from reduction.v1 import reduction_pb2_grpc
from server_process import eventually

KIB = 1 << 10
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
SUM = [pb.STATISTIC_SUM]


class HeldStream:
    """A ReduceStream call that sends one element, and no more until it is let go."""

    def __init__(self, stub):
        self._go_on = threading.Event()
        self.call = stub.ReduceStream.future(self._messages(), timeout=60)

    def _messages(self):
        yield pb.ReduceStreamRequest(header=header("int8", SUM), x=b"\1")
        self._go_on.wait()

    def let_go(self):
        self._go_on.set()

    def finish(self):
        self.let_go()
        return numbers(self.call.result())[pb.STATISTIC_SUM]


class MessageSizeTest(ServiceTest):
    options = ("--max-message=64KiB",)
    limit = 64 * KIB

    def assertTooLarge(self, refusal):
        self.assertRefused(refusal, EXHAUSTED, "MESSAGE_TOO_LARGE")
        self.assertIn("ReduceStream", refusal.text)
        self.assertIn(str(self.limit), refusal.text)

    def test_up_to_the_limit(self):
        data = bytes(self.limit)
        head = header("float32", SUM)
        self.stub.Sum(pb.ArrayRequest(element_type=FLOAT32, inline=data))
        self.stub.Dot(pb.DotRequest(element_type=FLOAT32, x_inline=data[::2], y_inline=data[::2]))
        self.stub.ReduceStream(iter([pb.ReduceStreamRequest(header=head, x=data)]))

    def test_just_over_the_limit(self):
        data = bytes(self.limit + 4)
        half = bytes(self.limit // 2 + 4)
        head = header("float32", SUM)
        self.assertTooLarge(self.refusal(self.stub.Sum, pb.ArrayRequest(
            element_type=FLOAT32, inline=data)))
        self.assertTooLarge(self.refusal(self.stub.Dot, pb.DotRequest(
            element_type=FLOAT32, x_inline=half, y_inline=half)))
        for messages in ([pb.ReduceStreamRequest(header=head, x=data)],
                         [pb.ReduceStreamRequest(header=head), pb.ReduceStreamRequest(x=data)]):
            self.assertTooLarge(self.refusal(self.stub.ReduceStream, iter(messages)))
        self.assertEqual(self.server.metric("reduction_rejected_total", reason="message_size"), 4)

    def test_far_over_the_limit(self):
        data = bytes(3 * self.limit)
        refusals = [
            self.refusal(self.stub.Sum, pb.ArrayRequest(element_type=FLOAT32, inline=data)),
            self.refusal(self.stub.ReduceStream, iter(
                [pb.ReduceStreamRequest(header=header("float32", SUM), x=data)]))]
        for refusal in refusals:
            self.assertEqual(refusal.code, EXHAUSTED, refusal.text)

    def test_arrays_over_the_limit_go_through_a_stream(self):
        values = np.arange(1_000_000, dtype="int32")
        response = self.stub.ReduceStream(chunks(header("int32", SUM), values.tobytes(),
                                                 sizes=(self.limit,)))
        self.assertEqual(numbers(response)[pb.STATISTIC_SUM], values.sum())


class StreamCountTest(ServiceTest):
    options = ("--max-message=64KiB", "--memory-limit=256MiB")

    def assertTooMany(self, refusal):
        self.assertRefused(refusal, EXHAUSTED, "TOO_MANY_STREAMS", retry=True)

    def test_streams_over_all_connections(self):
        limit = self.stub.GetServerInfo(pb.GetServerInfoRequest()).limits.max_streams
        self.assertGreaterEqual(limit, 2)
        with contextlib.ExitStack() as stack:
            channels = [stack.enter_context(connect(self.server.listen[0]))
                        for _ in range(limit + 1)]
            stubs = [reduction_pb2_grpc.ReductionStub(channel) for channel in channels]
            streams = [HeldStream(stub) for stub in stubs[:limit]]
            for stream in streams:
                stack.callback(stream.let_go)
            eventually(lambda: self.server.metric(
                "grpc_server_started_total", grpc_method="ReduceStream") == limit, "streams start")
            one_more = HeldStream(stubs[limit])
            stack.callback(one_more.let_go)
            with self.assertRaises(grpc.RpcError) as caught:
                one_more.call.result()
            self.assertTooMany(Refusal(caught.exception))
            self.assertEqual(self.server.metric("reduction_rejected_total", reason="streams"), 1)
            # Unary calls are not streams.
            self.assertEqual(number(stubs[limit].Sum(array_request([4, 5], "int32")).value), 9)
            self.assertEqual([stream.finish() for stream in streams], [1] * limit)
            eventually(lambda: self.accepted(stubs[limit]), "there is room for a stream again")

    def accepted(self, stub):
        """Whether a stream is accepted, which must be so or refused for their number."""
        try:
            self.assertEqual(HeldStream(stub).finish(), 1)
        except grpc.RpcError as error:
            self.assertTooMany(Refusal(error))
            return False
        return True


def on_one_core():
    """Makes the server a slow one, which a few clients can overwhelm."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class OverwhelmedTest(ServiceTest):
    """A server on one core, which many calls at once overwhelm."""

    @classmethod
    def start(cls):
        core = {min(os.sched_getaffinity(0))}
        return start_server(*cls.options, preexec_fn=lambda: os.sched_setaffinity(0, core))

    def refusals(self, request, count):
        """The refusals among `count` calls at once."""
        message = request.SerializeToString()
        method = wire.raw_unary(self.channel, "Reduce")
        calls = [method.future(message, timeout=60) for _ in range(count)]
        return [Refusal(error) for error in [call.exception() for call in calls] if error]

    def assertOverwhelmed(self, request, count, reason):
        """Some of many calls at once are refused for `reason`, or even by gRPC itself."""
        def refused_by_us():
            refusals = self.refusals(request, count)
            self.assertEqual({refusal.code for refusal in refusals} - {EXHAUSTED}, set())
            return [refusal for refusal in refusals if refusal.info]
        for refusal in eventually(refused_by_us, reason):
            self.assertRefused(refusal, EXHAUSTED, reason, retry=True)


class QueueTest(OverwhelmedTest):
    options = ("--queue=1",)

    def test_full_queue(self):
        request = reduce_request(np.ones(2_000_000, "int8"), "int8", ONE_ARRAY_STATISTICS)
        self.assertOverwhelmed(request, 40, "QUEUE_FULL")
        self.assertGreater(self.server.metric("reduction_rejected_total", reason="queue"), 0)


class MemoryTest(OverwhelmedTest):
    options = ("--memory-limit=160MiB",)

    def test_more_messages_than_memory(self):
        request = reduce_request(np.ones(16 << 19), "float16", ONE_ARRAY_STATISTICS)
        self.assertOverwhelmed(request, 20, "MEMORY_EXHAUSTED")
        self.assertGreater(self.server.metric("reduction_rejected_total", reason="memory"), 0)


@unittest.skipIf(os.environ["REDUCTION_SANITIZE"], "sanitizers take memory of their own")
class ResidentMemoryTest(ServiceTest):
    """Whatever clients send, the process does not grow by more than --memory-limit."""
    options = ("--memory-limit=256MiB", "--max-message=1MiB")

    def setUp(self):
        self.peak_before = self.server.peak_resident_bytes()

    def tearDown(self):
        super().tearDown()
        growth = self.server.peak_resident_bytes() - self.peak_before
        self.assertLess(growth, 256 << 20)

    def test_enormous_messages(self):
        message = wire.bytes_field(100, bytes(600 << 20))
        for method in ("Sum", "Reduce"):
            refusal = self.refusal(wire.raw_unary(self.channel, method), message)
            self.assertEqual(refusal.code, EXHAUSTED, refusal.text)

    def test_large_messages_over_many_connections(self):
        message = wire.bytes_field(100, bytes(60 << 20))
        with contextlib.ExitStack() as stack:
            channels = [stack.enter_context(connect(self.server.listen[0])) for _ in range(12)]
            calls = [wire.raw_unary(channel, "Sum").future(message, timeout=60)
                     for channel in channels]
            for call in calls:
                self.assertEqual(call.exception().code(), EXHAUSTED)

    def test_long_streams(self):
        def messages():
            data = bytes(1 << 20)
            for turn in range(200):
                head = header("float16", ONE_ARRAY_STATISTICS) if turn == 0 else None
                yield pb.ReduceStreamRequest(header=head, offset=turn << 20, x=data)
        calls = [self.stub.ReduceStream.future(messages(), timeout=60) for _ in range(2)]
        for call in calls:
            self.assertEqual(call.result().count, 100 << 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
