"""stalled_client.py TARGET: sends half of a stream, and then nothing more until it is killed."""

import sys
import threading

from calls import connect, header, pb
from reduction.v1 import reduction_pb2_grpc


def half_a_stream():
    yield pb.ReduceStreamRequest(header=header("int8", [pb.STATISTIC_SUM], element_count=200_000),
                                 x=bytes(100_000))
    threading.Event().wait()


with connect(sys.argv[1]) as channel:
    reduction_pb2_grpc.ReductionStub(channel).ReduceStream(half_a_stream())
