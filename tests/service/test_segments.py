"""Segments get the results, to the last bit, that they would get as arrays of their own."""

import os
import struct
import unittest

import grpc
import numpy as np

import wire
from calls import (ELEMENT_TYPES, ONE_ARRAY_STATISTICS, Refusal, ServiceTest, chunks, encode,
                   header, number, pb, reduce_request)

SUM = [pb.STATISTIC_SUM]
CODES = {"float64": "d", "int64": "q", "uint64": "Q"}
DTYPES = {"float64": "<f8", "int64": "<i8", "uint64": "<u8"}


def segments(length=0, offsets=()):
    return pb.Segments(length=length, offsets=offsets)


def values_of(column):
    """A Column's numbers as a NumPy array, and which of them there are."""
    kind = column.WhichOneof("values")
    numbers = np.frombuffer(getattr(column, kind), DTYPES[kind])
    valid = np.ones(len(numbers), bool)
    if column.validity:
        valid = np.unpackbits(np.frombuffer(column.validity, "u1"), count=len(numbers),
                              bitorder="little").astype(bool)
    return numbers, valid


def counts_of(response):
    return np.frombuffer(response.segment_counts, "<u8")


def column_entries(response):
    """[[(kind, bits) or None, …] for each statistic]."""
    found = []
    for column in response.columns:
        kind = column.WhichOneof("values")
        raw = getattr(column, kind)
        _, valid = values_of(column)
        entries = [(kind, raw[8 * i:8 * i + 8]) for i in range(len(raw) // 8)]
        for i in np.flatnonzero(~valid):
            assert entries[i][1] == bytes(8), "the bytes of an invalid entry are not 0"
            entries[i] = None
        found.append(entries)
    return found


def value_entry(value):
    kind = value.WhichOneof("kind")
    return kind and (kind, struct.pack("<" + CODES[kind], getattr(value, kind)))


def random_values(dtype, length, rng):
    if "float" not in dtype:
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, length, dtype, endpoint=True)
    values = rng.standard_normal(length) * 10.0 ** rng.integers(-4, 5, length)
    values[rng.random(length) < 0.01] = np.nan
    values = values.astype("float32" if dtype == "bfloat16" else dtype)
    if dtype == "bfloat16":
        values = (values.view("u4") & 0xffff0000).view("f4")
    return values


class SegmentsTest(ServiceTest):

    def alone(self, dtype, data, statistic, options):
        """The entry of one statistic of an array of its own."""
        request = pb.ReduceRequest(element_type=ELEMENT_TYPES[dtype], inline=data, options=options,
                                   statistics=[statistic])
        try:
            (entry,) = self.stub.Reduce(request).values
        except grpc.RpcError as error:
            if Refusal(error).info[1] not in ("EMPTY_ARRAY", "OVERFLOW"):
                raise
            return None
        return value_entry(entry.value)

    def expected(self, dtype, data, offsets, options):
        size = len(encode([0], dtype))
        pieces = [data[begin * size:end * size] for begin, end in zip(offsets, offsets[1:])]
        return [[self.alone(dtype, piece, statistic, options) for piece in pieces]
                for statistic in ONE_ARRAY_STATISTICS]

    def assertEntries(self, response, wanted):
        self.assertEqual([column.statistic for column in response.columns], ONE_ARRAY_STATISTICS)
        for column, got, want in zip(response.columns, column_entries(response), wanted):
            self.assertEqual(got, want, pb.Statistic.Name(column.statistic))
        self.assertEqual(len(response.values), 0)

    def test_every_type_and_statistic_by_offsets(self):
        rng = np.random.default_rng(20240701)
        for dtype in ELEMENT_TYPES:
            leaf = 16384 // len(encode([0], dtype))
            lengths = [0, 1, 3, 0, 0, 130, leaf, leaf + 1, 2, 5 * leaf + 7, leaf - 1, 1, 0]
            offsets = [0, *np.cumsum(lengths).tolist()]
            data = encode(random_values(dtype, offsets[-1], rng), dtype)
            for policy in (pb.NAN_POLICY_PROPAGATE, pb.NAN_POLICY_IGNORE):
                with self.subTest(dtype=dtype, policy=policy):
                    options = pb.Options(nan_policy=policy, overflow=pb.OVERFLOW_POLICY_CHECK,
                                         ddof=1)
                    wanted = self.expected(dtype, data, offsets, options)
                    fields = dict(options=options, segments=segments(offsets=offsets))
                    self.assertEntries(self.stub.Reduce(pb.ReduceRequest(
                        element_type=ELEMENT_TYPES[dtype], inline=data,
                        statistics=ONE_ARRAY_STATISTICS, **fields)), wanted)
                    for sizes in ((100_001,), (1, 0, 3, 16_383, 70_001)):
                        response = self.stub.ReduceStream(chunks(
                            header(dtype, ONE_ARRAY_STATISTICS, **fields), data, sizes=sizes))
                        self.assertEntries(response, wanted)
                    nans = values_of(response.columns[-2])[0]
                    took_part = lengths - nans * (policy == pb.NAN_POLICY_IGNORE)
                    np.testing.assert_array_equal(counts_of(response), took_part)
                    self.assertEqual(response.count, took_part.sum())

    def test_equal_lengths(self):
        rng = np.random.default_rng(20240702)
        for dtype in ("float32", "bfloat16", "int8", "uint64"):
            for length, rows in ((1, 7), (5, 300), (4096, 9), (100_003, 3)):
                data = encode(random_values(dtype, length * rows, rng), dtype)
                offsets = [length * row for row in range(rows + 1)]
                wanted = self.expected(dtype, data, offsets, pb.Options())
                request = pb.ReduceRequest(element_type=ELEMENT_TYPES[dtype], inline=data,
                                           statistics=ONE_ARRAY_STATISTICS,
                                           segments=segments(length))
                with self.subTest(dtype=dtype, length=length):
                    self.assertEntries(self.stub.Reduce(request), wanted)
                    for fields in ({}, {"element_count": length * rows}):
                        head = header(dtype, ONE_ARRAY_STATISTICS, segments=segments(length),
                                      **fields)
                        self.assertEntries(
                            self.stub.ReduceStream(chunks(head, data, sizes=(9_999,))), wanted)

    def test_dot_of_segments(self):
        rng = np.random.default_rng(20240703)
        for dtype in ("float32", "int16"):
            lengths = [3, 0, 40_000, 1, 200, 9000]
            offsets = [0, *np.cumsum(lengths).tolist()]
            x, y = (encode(random_values(dtype, offsets[-1], rng), dtype) for _ in range(2))
            size = len(encode([0], dtype))
            head = header(dtype, [pb.STATISTIC_DOT], segments=segments(offsets=offsets))
            response = self.stub.ReduceStream(chunks(head, x, y, sizes=(20_001,)))
            wanted = [value_entry(self.stub.Dot(pb.DotRequest(
                element_type=ELEMENT_TYPES[dtype], x_inline=x[begin * size:end * size],
                y_inline=y[begin * size:end * size])).value)
                for begin, end in zip(offsets, offsets[1:])]
            self.assertEqual(column_entries(response), [wanted])

    def test_against_numpy(self):
        rng = np.random.default_rng(20240704)
        values = rng.integers(-2**31, 2**31, 100_000, "int32")
        starts = np.unique(rng.integers(0, len(values), 5000))
        starts[0] = 0
        response = self.stub.Reduce(reduce_request(
            values, "int32", [pb.STATISTIC_SUM, pb.STATISTIC_MIN, pb.STATISTIC_MAX],
            segments=segments(offsets=[*starts.tolist(), len(values)])))
        for column, function in zip(response.columns, (np.add, np.minimum, np.maximum)):
            got, valid = values_of(column)
            self.assertTrue(valid.all())
            np.testing.assert_array_equal(got, function.reduceat(values.astype("i8"), starts))
        np.testing.assert_array_equal(counts_of(response),
                                      np.diff([*starts, len(values)]))
        self.assertEqual(response.count, len(values))

    def test_a_million_segments_in_one_call(self):
        rng = np.random.default_rng(20240705)
        rows = rng.integers(-1000, 1000, (1_000_000, 4), "int16")
        before = self.server.metrics_now()
        response = self.stub.Reduce(reduce_request(
            rows.ravel(), "int16", [pb.STATISTIC_SUM, pb.STATISTIC_ARGMAX],
            segments=segments(length=4)))
        sums, positions = (values_of(column)[0] for column in response.columns)
        np.testing.assert_array_equal(sums, rows.sum(axis=1))
        np.testing.assert_array_equal(positions, rows.argmax(axis=1))
        self.assertEqual(response.columns[0].validity, b"")
        np.testing.assert_array_equal(counts_of(response), np.full(len(rows), 4))
        after = self.server.metrics_now()
        for name, amount in (("bytes", rows.nbytes), ("elements", rows.size)):
            labels = dict(op="reduce", dtype="int16", source="inline", device="cpu")
            counted = (after(f"reduction_{name}_total", **labels)
                       - before(f"reduction_{name}_total", **labels))
            self.assertEqual(counted, amount)

    def test_offsets_over_several_messages(self):
        rng = np.random.default_rng(20240706)
        lengths = rng.integers(0, 4, 1_000_000)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        values = rng.integers(0, 256, offsets[-1], "uint8")
        totals = np.concatenate([[0], np.cumsum(values, dtype="u8")])

        def messages(packed):
            yield header_message
            for at in range(0, len(offsets), 100_000):
                part = offsets[at:at + 100_000].astype("<u8")
                if packed:
                    yield wire.bytes_field(3, part.tobytes())
                else:
                    yield b"".join(wire.tag(3, wire.FIXED64) + offset.tobytes() for offset in part)
            for at in range(0, len(values), 1 << 19):
                yield (wire.number_field(2, at)
                       + wire.bytes_field(100, values[at:at + (1 << 19)].tobytes()))

        header_message = pb.ReduceStreamRequest(header=header(
            "uint8", [pb.STATISTIC_SUM, pb.STATISTIC_MAX], segments=segments(),
            element_count=len(values))).SerializeToString()
        for packed in (True, False):
            reply = wire.raw_stream(self.channel)(messages(packed))
            response = pb.ReduceResponse.FromString(reply)
            sums, valid = values_of(response.columns[0])
            self.assertTrue(valid.all())
            np.testing.assert_array_equal(sums, np.diff(totals[offsets]))
            _, valid = values_of(response.columns[1])
            np.testing.assert_array_equal(valid, lengths > 0)
            np.testing.assert_array_equal(counts_of(response), lengths)

    def test_the_wire_as_protobuf_reads_it(self):
        """Offsets packed, unpacked and in several Segments that merge; any order of fields."""
        typed = wire.number_field(1, ELEMENT_TYPES["int8"])
        statistics = wire.bytes_field(4, wire.varint(pb.STATISTIC_SUM))
        data = wire.bytes_field(100, bytes([1, 2, 3, 4]))
        packed = wire.bytes_field(5, wire.bytes_field(2, np.array([0, 1], "<u8").tobytes()))
        unknown = wire.bytes_field(5, wire.bytes_field(9, b"words") + wire.number_field(7, 5))
        unpacked = wire.bytes_field(5, wire.tag(2, wire.FIXED64) + struct.pack("<Q", 4))
        for message in wire.orders([typed, statistics, data, packed + unknown + unpacked]):
            response = pb.ReduceResponse.FromString(wire.raw_unary(self.channel, "Reduce")(message))
            self.assertEqual(values_of(response.columns[0])[0].tolist(), [1, 9])
        broken = [wire.bytes_field(5, wire.bytes_field(2, bytes(7))),
                  wire.bytes_field(5, wire.tag(2, wire.FIXED64) + bytes(7)),
                  wire.bytes_field(5, wire.tag(2, wire.LENGTH) + wire.varint(800) + bytes(8)),
                  wire.tag(5, wire.LENGTH) + wire.varint(2**31 - 1) + bytes(8),
                  wire.bytes_field(5, b"\0")]
        for field in broken:
            for message in wire.orders([typed, statistics, data, field]):
                self.assertInvalid(self.refusal(wire.raw_unary(self.channel, "Reduce"), message),
                                   "MALFORMED_MESSAGE")

    def test_no_segments(self):
        for given in (segments(length=5), segments(offsets=[0])):
            head = header("float32", ONE_ARRAY_STATISTICS, segments=given)
            for response in (self.stub.Reduce(reduce_request([], "float32", ONE_ARRAY_STATISTICS,
                                                             segments=given)),
                             self.stub.ReduceStream(chunks(head, b""))):
                self.assertEqual(column_entries(response), [[]] * len(ONE_ARRAY_STATISTICS))
                self.assertEqual((response.segment_counts, response.count), (b"", 0))

    def test_bad_segments_are_invalid_entries(self):
        most = 2**63 - 1
        response = self.stub.Reduce(reduce_request(
            [most, 1, 2, most, most], "int64", [pb.STATISTIC_SUM, pb.STATISTIC_MEAN],
            segments=segments(offsets=[0, 2, 2, 3, 3, 5]),
            options=pb.Options(overflow=pb.OVERFLOW_POLICY_CHECK)))
        (sums, sums_valid), (means, means_valid) = map(values_of, response.columns)
        self.assertEqual(sums_valid.tolist(), [False, True, True, True, False])
        self.assertEqual(sums.tolist(), [0, 0, 2, 0, 0])
        self.assertEqual(means_valid.tolist(), [True, False, True, False, True])
        self.assertEqual(means.tolist(), [2.0**62, 0, 2, 0, 2.0**63])
        self.assertEqual(counts_of(response).tolist(), [2, 0, 1, 0, 2])

    def test_statistics_come_in_the_order_asked_and_as_often(self):
        asked = [pb.STATISTIC_MAX, pb.STATISTIC_SUM, pb.STATISTIC_MAX]
        response = self.stub.Reduce(reduce_request([1, 5, 2, 0], "uint8", asked,
                                                   segments=segments(length=2)))
        self.assertEqual([column.statistic for column in response.columns], asked)
        self.assertEqual([values_of(column)[0].tolist() for column in response.columns],
                         [[5, 2], [6, 2], [5, 2]])


class BadSegmentsTest(ServiceTest):
    options = ("--max-message=64KiB",)

    def assertBad(self, given, values, field, *words):
        """Refused in one message and in a stream, with a sentence that has these words."""
        data = encode(values, "int32")
        unary = pb.ReduceRequest(element_type=ELEMENT_TYPES["int32"], inline=data, statistics=SUM,
                                 segments=given)
        refusals = [(self.refusal(self.stub.Reduce, unary), field)]
        for counted in ({}, {"element_count": len(values)}):
            head = header("int32", SUM, segments=given, **counted)
            refusals.append((self.refusal(self.stub.ReduceStream, chunks(head, data)),
                             "header." + field))
        for refusal, name in refusals:
            self.assertInvalid(refusal, "BAD_SEGMENTS", name)
            for word in words:
                self.assertIn(word, refusal.text)

    def test_segments_that_do_not_fit_the_array(self):
        four = [1, 2, 3, 4]
        self.assertBad(segments(), four, "segments", "length is 0")
        self.assertBad(segments(3), four, "segments.length", "is 3", "4 elements")
        self.assertBad(segments(5), four, "segments.length", "is 5")
        self.assertBad(segments(4, [0, 4]), four, "segments.offsets", "length is 4")
        self.assertBad(segments(0, [1, 4]), four, "segments.offsets", "offsets[0] is 1")
        self.assertBad(segments(0, [0, 3, 2, 4]), four, "segments.offsets", "offsets[2] is 2", "3")
        self.assertBad(segments(0, [0, 3]), four, "segments.offsets", "offsets[1]", "is 3", "4")
        self.assertBad(segments(0, [0, 2, 9]), four, "segments.offsets", "offsets[2]", "is 9", "4")
        self.assertBad(segments(0, [0, 2**64 - 1]), four, "segments.offsets", str(2**64 - 1), "4")
        self.assertBad(segments(0, [0]), four, "segments.offsets", "offsets[0]", "is 0", "4")

    def test_parts_have_no_segments(self):
        for part in (pb.Part(return_partial=True), pb.Part(first_element=1 << 20)):
            request = reduce_request([1], "int32", SUM, part=part, segments=segments(1))
            self.assertInvalid(self.refusal(self.stub.Reduce, request), "SEGMENTS_OF_PART", "part")
            head = header("int32", SUM, part=part, segments=segments(1))
            self.assertInvalid(self.refusal(self.stub.ReduceStream, chunks(head, bytes(4))),
                               "SEGMENTS_OF_PART", "header.part")

    def test_offsets_that_come_wrong_in_a_stream(self):
        def send(*messages):
            return self.refusal(self.stub.ReduceStream,
                                (pb.ReduceStreamRequest(**fields) for fields in messages))
        plain = {"header": header("int8", SUM)}
        divided = {"header": header("int8", SUM, segments=segments())}
        equal = {"header": header("int8", SUM, segments=segments(2))}
        offsets = "header.segments.offsets"
        self.assertInvalid(send(plain, {"segment_offsets": [0, 1], "x": b"a"}), "BAD_SEGMENTS",
                           "segment_offsets")
        self.assertInvalid(send(equal, {"segment_offsets": [0, 1]}), "BAD_SEGMENTS", offsets)
        self.assertInvalid(send(divided, {"x": b"a"}), "BAD_SEGMENTS", "header.segments")
        self.assertInvalid(send(divided), "BAD_SEGMENTS", "header.segments")
        refusal = send(divided, {"segment_offsets": [0, 5]}, {"segment_offsets": [4]})
        self.assertInvalid(refusal, "BAD_SEGMENTS", offsets)
        self.assertIn("offsets[2] is 4, less than 5", refusal.text)
        self.assertInvalid(send(divided, {"segment_offsets": [0, 2], "x": b"a"},
                                {"segment_offsets": [3], "offset": 1, "x": b"bc"}),
                           "BAD_SEGMENTS", offsets)
        self.assertInvalid(send(divided, {"segment_offsets": [0, 2], "x": b"abc"}),
                           "BAD_SEGMENTS", offsets)

    def test_offsets_count_as_message_bytes(self):
        request = reduce_request(np.zeros(10_000), "int8", SUM,
                                 segments=segments(offsets=list(range(10_001))))
        refusal = self.refusal(self.stub.Reduce, request)
        self.assertRefused(refusal, grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
        self.assertIn("ReduceStream", refusal.text)


class HostileSegmentsTest(ServiceTest):
    """What segments take stays within --memory-limit, and is given back."""
    options = ("--memory-limit=256MiB", "--max-message=1MiB")

    def setUp(self):
        self.peak_before = self.server.peak_resident_bytes()

    def tearDown(self):
        super().tearDown()
        # A call with large results works still, so what others took is there again.
        response = self.stub.Reduce(reduce_request(np.ones(1 << 17), "int8", SUM * 64,
                                                   segments=segments(length=1)), timeout=60)
        self.assertEqual(response.count, 1 << 17)
        if not os.environ["REDUCTION_SANITIZE"]:  # sanitizers take memory of their own
            self.assertLess(self.server.peak_resident_bytes() - self.peak_before, 256 << 20)

    def test_segments_announced_without_end(self):
        head = header("int8", SUM, element_count=2**60, segments=segments(length=1))
        refusal = self.refusal(self.stub.ReduceStream, chunks(head, bytes(1 << 20)))
        self.assertRefused(refusal, grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_SEGMENTS")

    def test_offsets_without_end(self):
        def messages():
            yield pb.ReduceStreamRequest(header=header("int8", SUM, segments=segments()))
            offsets = pb.ReduceStreamRequest(segment_offsets=[0] * 120_000)
            for _ in range(1000):
                yield offsets
        for _ in range(3):
            refusal = self.refusal(self.stub.ReduceStream, messages())
            self.assertRefused(refusal, grpc.StatusCode.RESOURCE_EXHAUSTED, "MEMORY_EXHAUSTED",
                               retry=True)

    def test_segments_of_one_byte_without_end(self):
        def messages():
            data = bytes(1 << 20)
            head = header("int8", ONE_ARRAY_STATISTICS, segments=segments(length=1))
            for turn in range(1000):
                yield pb.ReduceStreamRequest(header=None if turn else head, offset=turn << 20,
                                             x=data)
        refusal = self.refusal(self.stub.ReduceStream, messages())
        self.assertEqual(refusal.code, grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertIn(refusal.info[1], ("TOO_MANY_SEGMENTS", "MEMORY_EXHAUSTED"))

    def test_many_segments_of_an_array_of_unknown_length(self):
        def messages():
            for turn in range(6):
                head = header("int8", SUM, segments=segments(length=1))
                yield pb.ReduceStreamRequest(header=None if turn else head, offset=turn << 20,
                                             x=b"\1" * (1 << 20))
        # Their results take 17 bytes each: two thirds of what one call may take.
        response = self.stub.ReduceStream(messages(), timeout=60)
        self.assertEqual(response.count, 6 << 20)
        self.assertEqual(len(response.segment_counts), 8 * (6 << 20))

    def test_cancelled_while_results_grow(self):
        request = reduce_request(np.ones(1 << 20), "int8", ONE_ARRAY_STATISTICS[:4],
                                 segments=segments(length=1))
        calls = [self.stub.Reduce.future(request, timeout=0.01 * i) for i in range(1, 30)]
        for call in calls[::2]:
            call.cancel()
        for call in calls[1::2]:
            if error := call.exception():
                self.assertIn(error.code(), (grpc.StatusCode.DEADLINE_EXCEEDED,
                                             grpc.StatusCode.RESOURCE_EXHAUSTED))


if __name__ == "__main__":
    unittest.main(verbosity=2)
