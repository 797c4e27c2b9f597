"""The same values give the same bits, however they travel."""

import struct
import unittest

import numpy as np

import partials
import wire
from calls import (ELEMENT_TYPES, ONE_ARRAY_STATISTICS, ServiceTest, array_request, chunks, encode,
                   header, number, numbers, pb)

LENGTH = 100_003


def awkward(dtype, length, seed):
    """Numbers whose sum depends on the order of addition (integers: of the whole range)."""
    rng = np.random.default_rng(seed)
    if "float" not in dtype:
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, length, dtype, endpoint=True)
    values = rng.standard_normal(length) * 10.0 ** rng.integers(-4, 5, length)
    if dtype == "bfloat16":
        return (values.astype("float32").view("uint32") & 0xffff0000).view("float32")
    return values.astype(dtype)


def bits(response):
    """What must not differ: values, each with all its bits, and the count."""
    return ([entry.SerializeToString(deterministic=True) for entry in response.values],
            response.count)


class SameBitsTest(ServiceTest):

    def reduce_raw(self, dtype, data, before=b"", after=b""):
        """Reduce for all statistics, with fields before and after the array."""
        options = pb.ReduceRequest(element_type=ELEMENT_TYPES[dtype],
                                   statistics=ONE_ARRAY_STATISTICS).SerializeToString()
        message = before + options + wire.bytes_field(100, data) + after
        reply = wire.raw_unary(self.channel, "Reduce")(message)
        return bits(pb.ReduceResponse.FromString(reply))

    def test_at_every_byte_alignment(self):
        for dtype in ELEMENT_TYPES:
            for length in (1001, LENGTH):
                data = encode(awkward(dtype, length, 1), dtype)
                first = self.reduce_raw(dtype, data)
                for shift in range(16):
                    with self.subTest(dtype=dtype, length=length, shift=shift):
                        unknown = wire.bytes_field(77, bytes(shift))
                        self.assertEqual(self.reduce_raw(dtype, data, before=unknown), first)

    def test_dot_with_arrays_at_unequal_alignments(self):
        dot = wire.raw_unary(self.channel, "Dot")
        for dtype in ELEMENT_TYPES:
            for length in (1001, LENGTH):
                x, y = (encode(awkward(dtype, length, seed), dtype) for seed in (2, 3))
                head = wire.number_field(1, ELEMENT_TYPES[dtype])
                replies = {dot(head + wire.bytes_field(77, bytes(before)) + wire.bytes_field(100, x)
                               + wire.bytes_field(77, bytes(between)) + wire.bytes_field(101, y))
                           for before, between in ((0, 0), (1, 0), (0, 1), (5, 2), (3, 8), (15, 7))}
                values = {pb.ValueResponse.FromString(reply).value.SerializeToString()
                          for reply in replies}
                self.assertEqual(len(values), 1, (dtype, length))

    def test_in_every_chunking(self):
        rng = np.random.default_rng(4)
        for dtype in ELEMENT_TYPES:
            data = encode(awkward(dtype, LENGTH, 5), dtype)
            whole = self.reduce_raw(dtype, data)
            for sizes in ((len(data),), (65_537,), (1, 0, 3, 40_000), (16_384,), (16_383, 2),
                          tuple(int(size) for size in rng.integers(1, 30_000, 20))):
                with self.subTest(dtype=dtype, sizes=sizes):
                    stream = chunks(header(dtype, ONE_ARRAY_STATISTICS), data, sizes=sizes)
                    self.assertEqual(bits(self.stub.ReduceStream(stream)), whole)

    def test_in_chunks_of_one_byte(self):
        data = encode(awkward("float64", 2500, 6), "float64")
        stream = chunks(header("float64", ONE_ARRAY_STATISTICS), data, sizes=(1,))
        self.assertEqual(bits(self.stub.ReduceStream(stream)), self.reduce_raw("float64", data))

    def test_header_with_data_and_chunks_that_come_slowly_or_at_once(self):
        data = encode(awkward("float32", LENGTH, 7), "float32")
        head = header("float32", ONE_ARRAY_STATISTICS)
        at_once = [pb.ReduceStreamRequest(header=head, x=data)]
        waits = chunks(head, data, sizes=(4_099,))

        def one_after_another():
            for message in waits:
                self.stub.GetServerInfo(pb.GetServerInfoRequest())  # the server is asked meanwhile
                yield message
        for messages in (iter(at_once), one_after_another()):
            self.assertEqual(bits(self.stub.ReduceStream(messages)),
                             self.reduce_raw("float32", data))

    def test_dot_in_every_chunking(self):
        for dtype in ELEMENT_TYPES:
            x, y = (encode(awkward(dtype, LENGTH, seed), dtype) for seed in (8, 9))
            whole = self.stub.Dot(pb.DotRequest(element_type=ELEMENT_TYPES[dtype], x_inline=x,
                                                y_inline=y)).value
            for sizes in ((7, 0, 9_000), (16_384,), (65_537,)):
                stream = chunks(header(dtype, [pb.STATISTIC_DOT]), x, y, sizes=sizes)
                (entry,) = self.stub.ReduceStream(stream).values
                self.assertEqual(entry.value, whole, (dtype, sizes))

    def test_for_a_statistic_alone_and_among_all(self):
        for dtype in ELEMENT_TYPES:
            data = encode(awkward(dtype, LENGTH, 10), dtype)
            together, _ = self.reduce_raw(dtype, data)
            for statistic, among_all in zip(ONE_ARRAY_STATISTICS, together):
                alone = self.stub.Reduce(pb.ReduceRequest(
                    element_type=ELEMENT_TYPES[dtype], statistics=[statistic], inline=data))
                self.assertEqual(bits(alone)[0], [among_all], (dtype, statistic))

    def test_with_atomic_where_the_processor_cannot_serve_it(self):
        data = encode(awkward("float32", LENGTH, 11), "float32")
        atomic = pb.Options(algorithm=pb.ALGORITHM_ATOMIC)
        responses = [self.stub.Sum(pb.ArrayRequest(element_type=ELEMENT_TYPES["float32"],
                                                   inline=data, options=options))
                     for options in (None, atomic)]
        self.assertEqual(responses[0].value, responses[1].value)
        self.assertEqual(responses[1].execution[0].algorithm, pb.ALGORITHM_TWO_PASS)

    def split(self, dtype, data, rng):
        """The partials of `data` in random leaf-aligned parts, by both methods in turn."""
        size = np.dtype("uint16" if dtype == "bfloat16" else dtype).itemsize
        leaves = len(data) // partials.LEAF_BYTES
        cuts = np.unique(rng.integers(0, leaves + 1, 6)) * partials.LEAF_BYTES
        edges = [0, *(int(cut) for cut in cuts if cut), len(data)]
        statistics = [pb.STATISTIC_SUM, pb.STATISTIC_ARGMAX]
        for turn, (begin, end) in enumerate(zip(edges, edges[1:])):
            part = pb.Part(first_element=begin // size, return_partial=True)
            if turn % 2:
                response = self.stub.Reduce(pb.ReduceRequest(
                    element_type=ELEMENT_TYPES[dtype], statistics=statistics, part=part,
                    inline=data[begin:end]))
            else:
                head = header(dtype, statistics, part=part)
                response = self.stub.ReduceStream(chunks(head, data[begin:end], sizes=(50_001,)))
            self.assertEqual(len(response.values), 0)
            partial = partials.decode(response.partial, size, "float" in dtype)
            self.assertEqual((partial.order_version, partial.element_type, partial.first_element,
                              partial.element_count, partial.components),
                             (1, ELEMENT_TYPES[dtype], part.first_element, (end - begin) // size,
                              partials.SUM | partials.EXTREMA | partials.ARG))
            yield partial

    def test_in_parts_that_the_client_combines(self):
        rng = np.random.default_rng(12)
        for dtype in ELEMENT_TYPES:
            values = awkward(dtype, 300_007, 13)
            data = encode(values, dtype)
            whole = self.stub.Sum(pb.ArrayRequest(element_type=ELEMENT_TYPES[dtype], inline=data))
            for _ in range(3):
                parts = list(self.split(dtype, data, rng))
                rng.shuffle(parts)
                total = partials.combine(parts)
                with self.subTest(dtype=dtype, parts=len(parts)):
                    self.assertEqual(total.count, len(values))
                    self.assertEqual(total.indexes, (values.argmin(), values.argmax()))
                    wanted = number(whole.value)
                    if "float" in dtype:
                        self.assertEqual(struct.pack("d", total.sum), struct.pack("d", wanted))
                    else:
                        self.assertEqual((total.sum - wanted) % 2**64, 0)

    def test_index_of_a_part_counts_from_the_start_of_the_whole_array(self):
        request = pb.ReduceRequest(element_type=pb.ELEMENT_TYPE_UINT8, inline=b"\0\0\1",
                                   statistics=[pb.STATISTIC_ARGMAX],
                                   part=pb.Part(first_element=5 << 40))
        self.assertEqual(numbers(self.stub.Reduce(request)),
                         {pb.STATISTIC_ARGMAX: (5 << 40) + 2})

    def test_partial_of_no_elements(self):
        for dtype in ELEMENT_TYPES:
            request = array_request([], dtype, part=pb.Part(return_partial=True))
            response = self.stub.Sum(request)
            self.assertFalse(response.HasField("value"))
            self.assertEqual(partials.decode(response.partial, 8, "float" in dtype).nodes, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
