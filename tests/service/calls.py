"""Requests and answers of reduction.v1, and the base of the tests that need a server.

The environment says where things are: REDUCTION_SERVER is the program, and PYTHONPATH leads to the
generated modules.
"""

import os
import unittest

import grpc
import numpy as np

from reduction.rpc import error_details_pb2
from reduction.v1 import reduction_pb2 as pb
from reduction.v1 import reduction_pb2_grpc
from server_process import ServerProcess, eventually

PROGRAM = os.environ["REDUCTION_SERVER"]
SERVICE = "reduction.v1.Reduction"
# NumPy's name and ours; bfloat16 is unknown to NumPy and stored as its upper half of a float32.
ELEMENT_TYPES = {
    "float16": pb.ELEMENT_TYPE_FLOAT16, "bfloat16": pb.ELEMENT_TYPE_BFLOAT16,
    "float32": pb.ELEMENT_TYPE_FLOAT32, "float64": pb.ELEMENT_TYPE_FLOAT64,
    "int8": pb.ELEMENT_TYPE_INT8, "int16": pb.ELEMENT_TYPE_INT16,
    "int32": pb.ELEMENT_TYPE_INT32, "int64": pb.ELEMENT_TYPE_INT64,
    "uint8": pb.ELEMENT_TYPE_UINT8, "uint16": pb.ELEMENT_TYPE_UINT16,
    "uint32": pb.ELEMENT_TYPE_UINT32, "uint64": pb.ELEMENT_TYPE_UINT64,
}
ONE_ARRAY_STATISTICS = [number for number in pb.Statistic.values()
                        if number not in (pb.STATISTIC_UNSPECIFIED, pb.STATISTIC_DOT)]
FLOAT32 = pb.ELEMENT_TYPE_FLOAT32
FLOAT64 = pb.ELEMENT_TYPE_FLOAT64


def connect(address):
    """A channel with a connection of its own that carries messages of any size."""
    return grpc.insecure_channel(address, [
        ("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1),
        ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)])


def encode(values, dtype):
    """Bytes of a sequence of numbers as elements of `dtype`. Floats become bfloat16 exactly or not
    at all."""
    if dtype != "bfloat16":
        return np.asarray(values, "<" + np.dtype(dtype).str[1:]).tobytes()
    bits = np.asarray(values, "<f4").view("<u4")
    if (bits & 0xffff).any():
        raise ValueError("not bfloat16 numbers")
    return (bits >> 16).astype("<u2").tobytes()


def array_request(values, dtype, **fields):
    return pb.ArrayRequest(element_type=ELEMENT_TYPES[dtype], inline=encode(values, dtype),
                           **fields)


def reduce_request(values, dtype, statistics, **fields):
    return pb.ReduceRequest(element_type=ELEMENT_TYPES[dtype], inline=encode(values, dtype),
                            statistics=statistics, **fields)


def header(dtype, statistics, **fields):
    return pb.StreamHeader(element_type=ELEMENT_TYPES[dtype], statistics=statistics, **fields)


def chunks(head, x, y=b"", sizes=(1 << 20,)):
    """Messages of a stream: `head`, then x (and y) in chunks whose sizes repeat `sizes`."""
    yield pb.ReduceStreamRequest(header=head)
    offset = 0
    turn = 0
    while offset < len(x):
        end = offset + sizes[turn % len(sizes)]
        yield pb.ReduceStreamRequest(offset=offset, x=x[offset:end], y=y[offset:end])
        offset = min(end, len(x))
        turn += 1


def number(value):
    """The number in a Value, or None."""
    kind = value.WhichOneof("kind")
    return getattr(value, kind) if kind else None


def numbers(response):
    """A ReduceResponse as {statistic: number or None}."""
    return {entry.statistic: number(entry.value) for entry in response.values}


class Refusal:
    """What an RpcError says."""

    def __init__(self, error):
        self.code = error.code()
        self.text = error.details()
        self.info = None
        self.fields = []
        self.retry = False
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                self._read(error_details_pb2.Status.FromString(value))

    def _read(self, status):
        assert status.code == self.code.value[0], "the details have another code than the call"
        assert status.message == self.text, "the details have another text than the call"
        for detail in status.details:
            name = detail.type_url.removeprefix("type.googleapis.com/google.rpc.")
            message = getattr(error_details_pb2, name).FromString(detail.value)
            if name == "ErrorInfo":
                self.info = (message.domain, message.reason)
            elif name == "BadRequest":
                self.fields += [violation.field for violation in message.field_violations]
            elif name == "RetryInfo":
                self.retry = message.retry_delay.ToNanoseconds() > 0


class ServiceTest(unittest.TestCase):
    """Has a server with `options` for all tests of the class. After each it must be at rest and
    work; at the end it must stop with status 0."""

    options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(cls.start())
        cls.channel = cls.enterClassContext(connect(cls.server.listen[0]))
        cls.stub = reduction_pb2_grpc.ReductionStub(cls.channel)

    @classmethod
    def start(cls):
        return start_server(*cls.options)

    @classmethod
    def tearDownClass(cls):
        status = cls.server.stop()
        # Whatever else is in the log comes from a library or a sanitizer.
        strange = [line for line in cls.server.log if line and not line.startswith("ts=")]
        if status != 0 or strange:
            raise AssertionError(f"exit status {status}; log: {cls.server.log}")

    def tearDown(self):
        self.assertTrue(self.server.running(), self.server.log)
        eventually(lambda: at_rest(self.server), "the server is at rest")
        answer = self.stub.Sum(array_request([1, 2, 3], "int32"), timeout=60)
        self.assertEqual(number(answer.value), 6)

    def refusal(self, call, *arguments, **options):
        """The refusal of a call, which must fail."""
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments, timeout=60, **options)
        return Refusal(caught.exception)

    def assertRefused(self, refusal, code, reason, field=None, retry=False):
        self.assertEqual(refusal.code, code, refusal.text)
        self.assertEqual(refusal.info, ("reduction", reason), refusal.text)
        self.assertEqual(refusal.fields, [field] if field else [], refusal.text)
        self.assertEqual(refusal.retry, retry, refusal.text)
        self.assertRegex(refusal.text, r"^[A-Z0-9a-z].*\.$")

    def assertInvalid(self, refusal, reason, field=None):
        self.assertRefused(refusal, grpc.StatusCode.INVALID_ARGUMENT, reason, field)


def start_server(*options, **popen_options):
    return ServerProcess([PROGRAM, "--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--device=cpu",
                          *options], **popen_options)


def at_rest(server):
    """Whether no call runs, and nothing is taken."""
    metric = server.metrics_now()
    started, ended = (metric(f"grpc_server_{name}_total", grpc_service=SERVICE)
                      for name in ("started", "handled"))
    return started == ended and all(
        metric("reduction_" + name) == 0
        for name in ("lanes_in_use", "staging_slots_in_use", "queue_depth"))
