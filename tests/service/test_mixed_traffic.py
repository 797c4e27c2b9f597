"""Many clients at once do right and wrong things in random order: right ones get right answers."""

import random
import threading
import unittest

import grpc

from calls import (FLOAT32, ONE_ARRAY_STATISTICS, Refusal, ServiceTest, chunks, connect, header,
                   number, numbers, pb, start_server)
from reduction.v1 import reduction_pb2_grpc
from server_process import eventually

ONES = b"\1" * 3_000_000
ALLOWED_WHEN_CUT = {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}


class Client(threading.Thread):
    """Makes `calls` random calls on a connection of its own and keeps what was wrong."""

    def __init__(self, address, seed, calls):
        super().__init__()
        self.wrong = []
        self._address = address
        self._draw = random.Random(seed)
        self._calls = calls

    def run(self):
        with connect(self._address) as channel:
            self._stub = reduction_pb2_grpc.ReductionStub(channel)
            for _ in range(self._calls):
                action = self._draw.choice((self.small, self.large, self.stream, self.cut_stream,
                                            self.cut_unary, self.wrong_offset, self.wrong_type))
                try:
                    action()
                except AssertionError as error:
                    self.wrong.append(f"{action.__name__}: {error}")
                except grpc.RpcError as error:
                    refusal = Refusal(error)
                    self.wrong.append(f"{action.__name__}: {refusal.code} {refusal.text}")

    def expect(self, actual, wanted):
        assert actual == wanted, f"{actual} is not {wanted}"

    def unary(self, length, **options):
        request = pb.ArrayRequest(element_type=pb.ELEMENT_TYPE_UINT8, inline=ONES[:length])
        self.expect(number(self._stub.Sum(request, timeout=60, **options).value), length)

    def small(self):
        self.unary(self._draw.randrange(32_000))

    def large(self):
        self.unary(self._draw.randrange(len(ONES)))

    def messages(self, length):
        sizes = [self._draw.choice((0, 1, 777, 16_384, 1 << 20)) for _ in range(5)] + [100_003]
        return chunks(header("uint8", ONE_ARRAY_STATISTICS), ONES[:length], sizes=sizes)

    def stream(self):
        length = self._draw.randrange(1, 500_000)
        response = self._stub.ReduceStream(self.messages(length), timeout=60)
        self.expect(numbers(response)[pb.STATISTIC_SUM], length)

    def cut_stream(self):
        length = self._draw.randrange(1, 500_000)
        call = self._stub.ReduceStream.future(self.messages(length), timeout=60)
        if self._draw.random() < 0.5:
            call.cancel()
        else:  # lets the client get somewhere
            self.small()
            call.cancel()

    def cut_unary(self):
        try:
            timeout = self._draw.random() * 0.01
            self._stub.Sum(pb.ArrayRequest(element_type=FLOAT32, inline=ONES[:2_000_000]),
                           timeout=timeout)
        except grpc.RpcError as error:
            assert error.code() in ALLOWED_WHEN_CUT, error.code()

    def refused(self, call, reason):
        try:
            call()
        except grpc.RpcError as error:
            self.expect(Refusal(error).info, ("reduction", reason))
        else:
            raise AssertionError("not refused")

    def wrong_offset(self):
        messages = [*self.messages(self._draw.randrange(1, 100_000)),
                    pb.ReduceStreamRequest(offset=7_000_000, x=b"1")]
        self.refused(lambda: self._stub.ReduceStream(iter(messages), timeout=60), "OFFSET_GAP")

    def wrong_type(self):
        self.refused(lambda: self._stub.Max(pb.ArrayRequest(inline=ONES), timeout=60),
                     "UNKNOWN_ENUM")


class MixedTrafficTest(ServiceTest):

    def test_right_calls_get_right_answers(self):
        clients = [Client(self.server.listen[0], seed, 60) for seed in range(12)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual([client.wrong for client in clients], [[]] * len(clients))

    def test_the_end_in_the_middle_of_it(self):
        with start_server("--drain=0") as server:
            clients = [Client(server.listen[0], seed, 20) for seed in range(12)]
            for client in clients:
                client.start()
            eventually(lambda: server.metric("grpc_server_handled_total") > 20, "they call")
            self.assertEqual(server.stop(), 0)
            for client in clients:
                client.join()


if __name__ == "__main__":
    unittest.main(verbosity=2)
