"""Calls of every kind, right ones and wrong ones, against a server until told to stop.

    mixed_load.py ADDRESS SECONDS
"""

import itertools
import sys
import threading

import grpc
import numpy as np

from calls import (ELEMENT_TYPES, ONE_ARRAY_STATISTICS, array_request, chunks, connect, header, pb,
                   reduce_request)
from reduction.v1 import reduction_pb2_grpc

DATA = np.random.default_rng(7).integers(0, 100, 24 << 20, "uint8").tobytes()
# Calls whose refusal is part of the load end with one of these.
EXPECTED = {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.OUT_OF_RANGE,
            grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.RESOURCE_EXHAUSTED,
            grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}
TIMEOUT_SECONDS = 60
# More than a server with the default limits admits at once.
MOST_STREAMS = 30


class Calls:
    """One call of each kind over one connection."""

    def __init__(self, address):
        self._channel = connect(address)
        self._stub = reduction_pb2_grpc.ReductionStub(self._channel)

    def small(self):
        for dtype in ("float32", "int64"):
            request = array_request(range(1000), dtype)
            for method in (self._stub.Sum, self._stub.Max, self._stub.Min):
                method(request, timeout=TIMEOUT_SECONDS)

    def large(self):
        self._stub.Sum(pb.ArrayRequest(element_type=ELEMENT_TYPES["float64"], inline=DATA[:8 << 20]),
                       timeout=TIMEOUT_SECONDS)

    def dot(self):
        self._stub.Dot(pb.DotRequest(element_type=ELEMENT_TYPES["int32"], x_inline=DATA[:1 << 20],
                                     y_inline=DATA[:1 << 20]), timeout=TIMEOUT_SECONDS)

    def statistics(self):
        self._stub.Reduce(reduce_request(np.ones(100_000), "float64", ONE_ARRAY_STATISTICS),
                          timeout=TIMEOUT_SECONDS)

    def segments(self):
        self._stub.Reduce(reduce_request(np.ones(64_000), "float32", [pb.STATISTIC_SUM],
                                         segments=pb.Segments(length=1000)),
                          timeout=TIMEOUT_SECONDS)

    def stream(self):
        self._stub.ReduceStream(chunks(header("float32", [pb.STATISTIC_SUM]), DATA),
                                timeout=TIMEOUT_SECONDS)

    def stream_of_dot(self):
        self._stub.ReduceStream(chunks(header("int16", [pb.STATISTIC_DOT]), DATA[:4 << 20],
                                       DATA[:4 << 20]), timeout=TIMEOUT_SECONDS)

    def info(self):
        self._stub.GetServerInfo(pb.GetServerInfoRequest(), timeout=TIMEOUT_SECONDS)

    def unknown_type(self):
        self._stub.Max(pb.ArrayRequest(inline=b"1"), timeout=TIMEOUT_SECONDS)

    def overflow(self):
        check = pb.Options(overflow=pb.OVERFLOW_POLICY_CHECK)
        self._stub.Sum(array_request([2**63 - 1, 1], "int64", options=check),
                       timeout=TIMEOUT_SECONDS)

    def no_such_device(self):
        device = pb.Device(kind=pb.Device.KIND_GPU, ordinal=1000)
        self._stub.Sum(array_request([1], "int8", options=pb.Options(device=device)),
                       timeout=TIMEOUT_SECONDS)

    def too_long(self):
        self._stub.Sum(pb.ArrayRequest(element_type=ELEMENT_TYPES["int8"], inline=DATA),
                       timeout=TIMEOUT_SECONDS)

    def impatient(self):
        self._stub.Sum(pb.ArrayRequest(element_type=ELEMENT_TYPES["int8"], inline=DATA[:8 << 20]),
                       timeout=0.001)

    def cancelled(self):
        call = self._stub.ReduceStream.future(chunks(header("float32", [pb.STATISTIC_SUM]), DATA))
        call.cancel()
        call.result()

    def too_many_streams(self):
        """Opens streams that send nothing until one is refused."""
        refused = threading.Event()
        end = threading.Event()

        def silent():
            yield pb.ReduceStreamRequest(header=header("int8", [pb.STATISTIC_SUM]))
            end.wait(TIMEOUT_SECONDS)
        calls = []
        while not refused.wait(0.01) and len(calls) < MOST_STREAMS:
            calls.append(self._stub.ReduceStream.future(silent(), timeout=TIMEOUT_SECONDS))
            calls[-1].add_done_callback(lambda call: refused.set())
        end.set()
        for call in calls:
            call.exception()

    def close(self):
        self._channel.close()


KINDS = ("small", "large", "dot", "statistics", "segments", "stream", "stream_of_dot", "small",
         "info", "unknown_type", "overflow", "no_such_device", "too_long", "impatient",
         "cancelled", "too_many_streams")


class MixedLoad:
    """Threads, each with a connection of its own, that make calls during a with statement."""

    def __init__(self, address, threads=2):
        self.wrong = []
        self.rounds = 0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(address,))
                         for _ in range(threads)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, address):
        calls = Calls(address)
        for kind in itertools.cycle(KINDS):
            if self._stop.is_set():
                break
            try:
                getattr(calls, kind)()
            except grpc.FutureCancelledError:
                pass
            except grpc.RpcError as error:
                if error.code() not in EXPECTED:
                    self.wrong.append(f"{kind}: {error.code()} {error.details()}")
            self.rounds += kind == KINDS[-1]
        calls.close()


if __name__ == "__main__":
    with MixedLoad(sys.argv[1]) as load:
        threading.Event().wait(float(sys.argv[2]))
    print(f"{load.rounds} rounds of {len(KINDS)} kinds of calls; unexpected: {load.wrong}")
