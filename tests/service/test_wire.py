"""The server reads messages as protobuf does, and malformed ones do not hurt it."""

import os
import random
import resource
import unittest
import warnings

import grpc
from google.protobuf.message import DecodeError

import wire
from calls import FLOAT32, Refusal, ServiceTest, encode, number, numbers, pb
from wire import bytes_field, group_field, number_field, tag, varint

DATA = encode([1.5, -2, 4], "float32")
TYPE = number_field(1, FLOAT32)
IGNORE = bytes_field(2, pb.Options(nan_policy=pb.NAN_POLICY_IGNORE).SerializeToString())
SUMS = bytes_field(4, varint(pb.STATISTIC_SUM))
ARRAY = bytes_field(100, DATA)
UNKNOWN = (number_field(50, 2**64 - 1), tag(51, wire.FIXED32) + bytes(4),
           tag(52, wire.FIXED64) + bytes(8), bytes_field(53, b"words"),
           group_field(54, number_field(1, 7) + group_field(2, bytes_field(3, b"x"))),
           bytes_field(101, b"only a dot has this one"), number_field(100, 3),
           bytes_field(536_870_911, b"the highest number"))
METHODS = {"Sum": pb.ArrayRequest, "Max": pb.ArrayRequest, "Min": pb.ArrayRequest,
           "Dot": pb.DotRequest, "Reduce": pb.ReduceRequest}


class WireTest(ServiceTest):

    def sum(self, message):
        reply = wire.raw_unary(self.channel, "Sum")(message, timeout=60)
        return number(pb.ValueResponse.FromString(reply).value)

    def assertMalformed(self, message, method="Sum"):
        self.assertInvalid(self.refusal(wire.raw_unary(self.channel, method), message),
                           "MALFORMED_MESSAGE")

    def test_fields_in_every_order(self):
        for message in wire.orders([TYPE, IGNORE, SUMS, ARRAY]):
            reply = wire.raw_unary(self.channel, "Reduce")(message)
            self.assertEqual(numbers(pb.ReduceResponse.FromString(reply)), {pb.STATISTIC_SUM: 3.5})

    def test_fields_of_a_dot_in_every_order(self):
        for message in wire.orders([TYPE, IGNORE, ARRAY, bytes_field(101, DATA)]):
            reply = wire.raw_unary(self.channel, "Dot")(message)
            self.assertEqual(number(pb.ValueResponse.FromString(reply).value), 22.25)

    def test_last_of_repeated_fields_counts(self):
        nine = bytes_field(100, encode([9], "float32"))
        self.assertEqual(self.sum(TYPE + ARRAY + nine), 9)
        self.assertEqual(self.sum(nine + TYPE + bytes(0).join([ARRAY] * 50)), 3.5)
        self.assertEqual(self.sum(TYPE + ARRAY + bytes_field(100, b"")), 0)
        self.assertEqual(self.sum(number_field(1, pb.ELEMENT_TYPE_INT8) + ARRAY + TYPE), 3.5)

    def test_repeated_messages_merge(self):
        nan = bytes_field(100, encode([float("nan"), 5], "float32"))
        algorithm = bytes_field(2, pb.Options(ddof=3).SerializeToString())
        self.assertEqual(self.sum(TYPE + IGNORE + nan + algorithm), 5)

    def test_unknown_fields_are_skipped(self):
        for field in UNKNOWN:
            for message in wire.orders([field, TYPE, ARRAY]):
                self.assertEqual(self.sum(message), 3.5)
        self.assertEqual(self.sum(b"".join(UNKNOWN).join([b"", TYPE, ARRAY, b""])), 3.5)

    def test_padded_varints(self):
        length = bytes([len(DATA) | 0x80, 0x80, 0x80, 0x00])
        self.assertEqual(self.sum(TYPE + tag(100, wire.LENGTH) + length + DATA), 3.5)
        self.assertEqual(self.sum(b"\x88\x80\x00" + varint(FLOAT32) + ARRAY), 3.5)

    def test_messages_cut_short(self):
        whole = TYPE + IGNORE + bytes_field(53, b"words") + ARRAY
        for end in range(len(whole)):
            with self.subTest(end=end):
                self.check_like_protobuf("Sum", whole[:end])

    def test_lengths_that_lie(self):
        for length in (len(DATA) + 1, 2**20, 2**31 - 1, 2**31, 2**32 - 1, 2**32,
                       2**32 + len(DATA), 2**63, 2**64 - 1):
            with self.subTest(length=length):
                self.assertMalformed(TYPE + tag(100, wire.LENGTH) + varint(length) + DATA)
                if length < 2**32:  # longer ones count modulo 2^32 where protobuf skips a field
                    self.assertMalformed(TYPE + tag(53, wire.LENGTH) + varint(length) + DATA)
        self.assertMalformed(TYPE + tag(100, wire.LENGTH) + b"\xff" * 11 + DATA)

    def test_broken_encodings(self):
        for broken in (b"\x00", b"\x00\x00", tag(9, 6), tag(9, 7), tag(9, wire.END_GROUP),
                       tag(9, wire.START_GROUP), tag(9, wire.START_GROUP) + tag(8, wire.END_GROUP),
                       b"\xff" * 10, bytes_field(2, b"\xff"), bytes_field(3, b"\x08")):
            for message in (TYPE + ARRAY + broken, broken + TYPE + ARRAY):
                with self.subTest(message=message.hex()):
                    self.assertMalformed(message)

    def test_groups_in_groups(self):
        def nested(depth):
            return tag(9, wire.START_GROUP) * depth + tag(9, wire.END_GROUP) * depth
        self.assertEqual(self.sum(TYPE + nested(90) + ARRAY), 3.5)
        for depth in (1000, 400_000):
            self.assertMalformed(TYPE + nested(depth) + ARRAY)
        self.assertMalformed(TYPE + tag(9, wire.START_GROUP) * 400_000 + ARRAY)

    def test_options_of_more_than_a_mebibyte(self):
        limit = 1 << 20
        for extra in (bytes_field(53, bytes(limit)), number_field(53, 1) * (limit // 3 + 1),
                      bytes_field(4, bytes([pb.STATISTIC_SUM]) * limit),
                      bytes_field(2, bytes_field(53, bytes(limit))), group_field(9, bytes_field(
                          1, bytes(limit)))):
            for message in (TYPE + extra + ARRAY, ARRAY + extra + TYPE):
                refusal = self.refusal(wire.raw_unary(self.channel, "Reduce"), message)
                self.assertInvalid(refusal, "OPTIONS_TOO_LARGE")
        self.assertEqual(self.sum(TYPE + bytes_field(53, bytes(limit - 100)) + ARRAY), 3.5)

    def test_stream_messages_follow_the_same_rules(self):
        head = bytes_field(1, TYPE + SUMS)
        firsts = wire.orders([head, ARRAY, number_field(2, 0), UNKNOWN[4]])
        firsts += [bytes_field(1, TYPE) + ARRAY + bytes_field(1, SUMS),
                   head + bytes_field(100, b"other data") + ARRAY]
        for first in firsts:
            second = wire.orders([number_field(2, len(DATA)), UNKNOWN[3], ARRAY])
            reply = wire.raw_stream(self.channel)(iter([first, second[0]]), timeout=60)
            self.assertEqual(numbers(pb.ReduceResponse.FromString(reply)), {pb.STATISTIC_SUM: 7})
        for broken in (b"\x00", ARRAY[:-1], tag(9, wire.START_GROUP) * 100_000):
            for messages in ([broken], [head + ARRAY, broken]):
                refusal = self.refusal(wire.raw_stream(self.channel), iter(messages))
                self.assertInvalid(refusal, "MALFORMED_MESSAGE")

    def outcome(self, method, message):
        """What a call gives: its result, or the reason of its refusal."""
        try:
            reply = wire.raw_unary(self.channel, method)(message, timeout=60)
        except grpc.RpcError as error:
            refusal = Refusal(error)
            self.assertEqual(refusal.code, grpc.StatusCode.INVALID_ARGUMENT, refusal.text)
            return refusal.info[1]
        response = (pb.ReduceResponse if method == "Reduce" else pb.ValueResponse).FromString(reply)
        response.ClearField("execution")
        return response.SerializeToString(deterministic=True)

    def check_like_protobuf(self, method, message):
        """The outcome is that of the message as Python's protobuf understands it."""
        try:
            canonical = METHODS[method].FromString(message).SerializeToString()
        except DecodeError:
            self.assertMalformed(message, method)
        else:
            self.assertEqual(self.outcome(method, message), self.outcome(method, canonical))

    def test_random_messages_are_read_as_protobuf_reads_them(self):
        draw = random.Random(20240608)
        fields = [TYPE, IGNORE, SUMS, ARRAY, bytes_field(101, DATA), bytes_field(3, b""), *UNKNOWN]
        for turn in range(500):
            method = draw.choice(list(METHODS))
            message = b"".join(draw.choices(fields, k=draw.randrange(8)))
            with self.subTest(turn=turn, method=method, message=message.hex()):
                self.check_like_protobuf(method, message)

    def test_damaged_messages_get_a_clear_status(self):
        # The parsers differ in which broken messages they let pass; where both do, they agree.
        draw = random.Random(20240609)
        fields = [TYPE, IGNORE, SUMS, ARRAY, bytes_field(101, DATA), bytes_field(3, b""), *UNKNOWN]
        for turn in range(1500):
            message = bytearray(b"".join(draw.choices(fields, k=draw.randrange(1, 8))))
            for _ in range(draw.choice((1, 1, 4))):
                position = draw.randrange(len(message) + 1)
                message[position:position + draw.randrange(2)] = draw.randbytes(draw.randrange(3))
            method = draw.choice(list(METHODS))
            with self.subTest(turn=turn, method=method, message=message.hex()):
                outcome = self.outcome(method, bytes(message))
                try:
                    with warnings.catch_warnings(action="ignore"):
                        canonical = METHODS[method].FromString(bytes(message)).SerializeToString()
                except DecodeError:
                    continue
                if outcome != "MALFORMED_MESSAGE":
                    self.assertEqual(outcome, self.outcome(method, canonical))


@unittest.skipIf(os.environ["REDUCTION_SANITIZE"], "sanitizers need all addresses there are")
class FewAddressesTest(ServiceTest):
    """A server that can have only 1 GiB more memory than it started with."""

    @classmethod
    def start(cls):
        server = super().start()
        most = int(server.metric("process_virtual_memory_bytes")) + (1 << 30)
        resource.prlimit(server.pid, resource.RLIMIT_AS, (most, most))
        return server

    def test_lengths_of_messages_in_messages_that_lie(self):
        def stream(message, **options):
            return wire.raw_stream(self.channel)(iter([message]), **options)
        unary = wire.raw_unary(self.channel, "Reduce")
        for path, call in (((5,), unary), ((1,), stream), ((1, 6), stream)):
            with self.subTest(path=path):
                message = tag(53, wire.LENGTH) + varint(2**31 - 100) + b"words"
                for field in reversed(path):
                    message = tag(field, wire.LENGTH) + varint(2**31 - 20) + message
                self.assertInvalid(self.refusal(call, message), "MALFORMED_MESSAGE")


if __name__ == "__main__":
    unittest.main(verbosity=2)
