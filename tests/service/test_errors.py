"""Every refusal of a request has its status code, reason, field and sentence."""

import unittest

import grpc

from calls import (ELEMENT_TYPES, FLOAT32, FLOAT64, ServiceTest, array_request, chunks, encode,
                   header, pb, reduce_request)

UNKNOWN = 99
SUM = [pb.STATISTIC_SUM]
DOT = [pb.STATISTIC_DOT]
EIGHT = bytes(8)
UNDEFINED_WHEN_EMPTY = (pb.STATISTIC_MIN, pb.STATISTIC_MAX, pb.STATISTIC_ARGMIN,
                        pb.STATISTIC_ARGMAX, pb.STATISTIC_MEAN, pb.STATISTIC_VARIANCE,
                        pb.STATISTIC_STANDARD_DEVIATION)


def message(head=None, **fields):
    return pb.ReduceStreamRequest(header=head, **fields)


class ErrorsTest(ServiceTest):

    def assertStreamInvalid(self, messages, reason, field):
        self.assertInvalid(self.refusal(self.stub.ReduceStream, iter(messages)), reason, field)

    def test_unknown_enums(self):
        bad = {
            "options.algorithm": pb.Options(algorithm=UNKNOWN),
            "options.nan_policy": pb.Options(nan_policy=UNKNOWN),
            "options.overflow": pb.Options(overflow=UNKNOWN),
            "options.device.kind": pb.Options(device=pb.Device(kind=UNKNOWN)),
        }
        for field, options in bad.items():
            arrays = pb.ArrayRequest(element_type=FLOAT32, options=options, inline=EIGHT)
            for method in (self.stub.Sum, self.stub.Max, self.stub.Min):
                self.assertInvalid(self.refusal(method, arrays), "UNKNOWN_ENUM", field)
            dot = pb.DotRequest(element_type=FLOAT32, options=options)
            self.assertInvalid(self.refusal(self.stub.Dot, dot), "UNKNOWN_ENUM", field)
            self.assertInvalid(self.refusal(self.stub.Reduce, reduce_request(
                [1], "float32", SUM, options=options)), "UNKNOWN_ENUM", field)
            self.assertStreamInvalid([message(header("float32", SUM, options=options))],
                                     "UNKNOWN_ENUM", "header." + field)

    def test_unknown_element_types(self):
        for number in (0, 13, UNKNOWN, -1, 2**31 - 1):
            for method, request in (
                    (self.stub.Sum, pb.ArrayRequest(element_type=number, inline=EIGHT)),
                    (self.stub.Max, pb.ArrayRequest(element_type=number, inline=EIGHT)),
                    (self.stub.Min, pb.ArrayRequest(element_type=number, inline=EIGHT)),
                    (self.stub.Dot, pb.DotRequest(element_type=number)),
                    (self.stub.Reduce, pb.ReduceRequest(element_type=number, statistics=SUM))):
                self.assertInvalid(self.refusal(method, request), "UNKNOWN_ENUM", "element_type")
            head = pb.StreamHeader(element_type=number, statistics=SUM)
            self.assertStreamInvalid([message(head)], "UNKNOWN_ENUM", "header.element_type")

    def test_statistics_that_cannot_be(self):
        for statistics, reason in (
                ([], "NO_STATISTICS"), ([0], "UNKNOWN_ENUM"), ([UNKNOWN], "UNKNOWN_ENUM"),
                ([-1], "UNKNOWN_ENUM"), (SUM + [UNKNOWN], "UNKNOWN_ENUM"),
                (SUM + DOT, "DOT_NEEDS_TWO_ARRAYS"), (SUM * 65, "TOO_MANY_STATISTICS")):
            with self.subTest(statistics=statistics):
                self.assertInvalid(self.refusal(self.stub.Reduce, reduce_request(
                    [1], "int8", statistics)), reason, "statistics")
                self.assertStreamInvalid([message(header("int8", statistics))], reason,
                                         "header.statistics")
        self.assertInvalid(self.refusal(self.stub.Reduce, reduce_request([1], "int8", DOT)),
                           "DOT_NEEDS_TWO_ARRAYS", "statistics")

    def test_bytes_that_are_no_whole_elements(self):
        for dtype in ELEMENT_TYPES:
            size = len(encode([0], dtype))
            for length in range(1, size):
                data = bytes(10 * size + length)
                self.assertInvalid(self.refusal(self.stub.Sum, pb.ArrayRequest(
                    element_type=ELEMENT_TYPES[dtype], inline=data)), "PARTIAL_ELEMENT", "inline")
                self.assertInvalid(self.refusal(self.stub.Dot, pb.DotRequest(
                    element_type=ELEMENT_TYPES[dtype], x_inline=data, y_inline=data)),
                    "PARTIAL_ELEMENT", "x_inline")
                self.assertStreamInvalid(chunks(header(dtype, SUM), data, sizes=(3,)),
                                         "PARTIAL_ELEMENT", "x")

    def test_nothing_of_no_elements(self):
        for statistic in UNDEFINED_WHEN_EMPTY:
            for statistics in ([statistic], SUM + [statistic]):
                request = reduce_request([], "float32", statistics)
                self.assertInvalid(self.refusal(self.stub.Reduce, request), "EMPTY_ARRAY", "inline")
                self.assertStreamInvalid([message(header("int64", statistics))], "EMPTY_ARRAY", "x")
        for method in (self.stub.Min, self.stub.Max):
            for dtype in ELEMENT_TYPES:
                self.assertInvalid(self.refusal(method, array_request([], dtype)), "EMPTY_ARRAY",
                                   "inline")

    def test_source_that_is_not_set(self):
        for method, request, field in (
                (self.stub.Sum, pb.ArrayRequest(element_type=FLOAT32), "inline"),
                (self.stub.Reduce, pb.ReduceRequest(element_type=FLOAT32,
                                                    statistics=[pb.STATISTIC_SUM]), "inline"),
                (self.stub.Dot, pb.DotRequest(element_type=FLOAT32, y_inline=EIGHT), "x_inline"),
                (self.stub.Dot, pb.DotRequest(element_type=FLOAT32, x_inline=EIGHT), "y_inline"),
                (self.stub.Dot, pb.DotRequest(element_type=FLOAT32, x_inline=b""), "y_inline")):
            self.assertInvalid(self.refusal(method, request), "NO_SOURCE", field)

    def test_dot_of_unequal_arrays(self):
        for x, y in ((EIGHT, b""), (b"", EIGHT), (EIGHT, bytes(4)), (bytes(100_000), EIGHT)):
            request = pb.DotRequest(element_type=FLOAT32, x_inline=x, y_inline=y)
            self.assertInvalid(self.refusal(self.stub.Dot, request), "LENGTHS_DIFFER", "y_inline")
            self.assertStreamInvalid([message(header("float32", DOT)), message(x=x, y=y)],
                                     "LENGTHS_DIFFER", "y")
        self.assertStreamInvalid([message(header("float32", SUM), x=EIGHT, y=EIGHT)],
                                 "UNEXPECTED_Y", "y")

    def test_offsets_of_chunks(self):
        head = message(header("float32", SUM), x=EIGHT)
        for offset in (0, 4, 7, 9, 12, 2**64 - 1):
            self.assertStreamInvalid([head, message(offset=offset, x=EIGHT)], "OFFSET_GAP",
                                     "offset")
        self.assertStreamInvalid([message(header("float32", SUM), offset=8, x=EIGHT)],
                                 "OFFSET_GAP", "offset")
        self.assertStreamInvalid([head, message(offset=8, x=EIGHT), message(offset=8, x=EIGHT)],
                                 "OFFSET_GAP", "offset")

    def test_headers_of_a_stream(self):
        head = header("float32", SUM)
        self.assertStreamInvalid([], "NO_HEADER", "header")
        self.assertStreamInvalid([message()], "NO_HEADER", "header")
        self.assertStreamInvalid([message(x=EIGHT), message(head)], "NO_HEADER", "header")
        self.assertStreamInvalid([message(head), message(head)], "SECOND_HEADER", "header")
        self.assertStreamInvalid([message(head, x=EIGHT), message(head, offset=8)],
                                 "SECOND_HEADER", "header")

    def test_announced_counts_that_are_not_kept(self):
        for announced in (0, 1, 3, 2**60):
            messages = [message(header("float32", SUM, element_count=announced)), message(x=EIGHT)]
            self.assertStreamInvalid(messages, "COUNT_NOT_KEPT", "header.element_count")
        self.assertStreamInvalid([message(header("float32", SUM, element_count=1), x=bytes(3))],
                                 "COUNT_NOT_KEPT", "header.element_count")
        self.assertStreamInvalid([message(header("float32", SUM, element_count=2**62))],
                                 "PART_OUT_OF_RANGE", "header.element_count")

    def test_parts(self):
        for first in (1, 4095, 4097, 2**64 - 1):
            part = pb.Part(first_element=first)
            self.assertInvalid(self.refusal(self.stub.Sum, pb.ArrayRequest(
                element_type=FLOAT32, part=part)), "PART_NOT_ON_LEAF", "part.first_element")
            self.assertStreamInvalid([message(header("float32", SUM, part=part))],
                                     "PART_NOT_ON_LEAF", "header.part.first_element")
        beyond = pb.Part(first_element=2**61)
        self.assertInvalid(self.refusal(self.stub.Sum, pb.ArrayRequest(
            element_type=FLOAT64, part=beyond, inline=EIGHT)), "PART_OUT_OF_RANGE",
            "part.first_element")
        self.assertStreamInvalid([message(header("float64", SUM, part=beyond), x=EIGHT)],
                                 "PART_OUT_OF_RANGE", "header.part.first_element")
        last = pb.Part(first_element=2**61 - 2048)
        announced = header("float64", SUM, part=last, element_count=2048)
        self.assertStreamInvalid([message(announced)], "PART_OUT_OF_RANGE",
                                 "header.part.first_element")

    def test_overflow_that_is_checked(self):
        check = pb.Options(overflow=pb.OVERFLOW_POLICY_CHECK)
        for dtype, values in (("int64", [2**63 - 1, 1]), ("int64", [-2**63, -1]),
                              ("uint64", [2**64 - 1, 1])):
            request = array_request(values, dtype, options=check)
            self.assertRefused(self.refusal(self.stub.Sum, request), grpc.StatusCode.OUT_OF_RANGE,
                               "OVERFLOW")
        for dtype in ("int64", "uint64"):
            request = pb.DotRequest(element_type=ELEMENT_TYPES[dtype], options=check)
            self.assertInvalid(self.refusal(self.stub.Dot, request), "CHECK_NOT_SUPPORTED",
                               "options.overflow")
            self.assertStreamInvalid([message(header(dtype, DOT, options=check))],
                                     "CHECK_NOT_SUPPORTED", "header.options.overflow")

    def test_gpu_where_there_is_none(self):
        for device in (pb.Device(kind=pb.Device.KIND_GPU),
                       pb.Device(kind=pb.Device.KIND_GPU, ordinal=3)):
            options = pb.Options(device=device)
            calls = [
                (self.stub.Sum, array_request([1], "int8", options=options)),
                (self.stub.Dot, pb.DotRequest(element_type=FLOAT32, options=options, x_inline=EIGHT,
                                              y_inline=EIGHT)),
                (self.stub.Reduce, reduce_request([1], "int8", SUM, options=options)),
                (self.stub.ReduceStream, iter([message(header("int8", SUM, options=options))]))]
            for method, request in calls:
                self.assertRefused(self.refusal(method, request),
                                   grpc.StatusCode.FAILED_PRECONDITION, "NO_GPU")

    def test_cpu_has_one_ordinal(self):
        for ordinal in (1, 2**32 - 1):
            options = pb.Options(device=pb.Device(kind=pb.Device.KIND_CPU, ordinal=ordinal))
            field = "options.device.ordinal"
            for method, request in (
                    (self.stub.Sum, array_request([1], "int8", options=options)),
                    (self.stub.Dot, pb.DotRequest(element_type=FLOAT32, options=options)),
                    (self.stub.Reduce, reduce_request([1], "int8", SUM, options=options))):
                self.assertInvalid(self.refusal(method, request), "NO_SUCH_CPU", field)
            self.assertStreamInvalid([message(header("int8", SUM, options=options))],
                                     "NO_SUCH_CPU", "header." + field)
        first = pb.Options(device=pb.Device(kind=pb.Device.KIND_CPU, ordinal=0))
        self.assertEqual(self.stub.Sum(array_request([1], "int8", options=first),
                                       timeout=60).value.int64, 1)

    def test_methods_that_do_not_exist(self):
        for path in ("/reduction.v1.Reduction/Product", "/reduction.v2.Reduction/Sum", "/x"):
            refusal = self.refusal(self.channel.unary_unary(path), b"")
            self.assertEqual(refusal.code, grpc.StatusCode.UNIMPLEMENTED)

    def test_compressed_messages(self):
        for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
            refusal = self.refusal(self.stub.Sum, array_request([0] * 1000, "int8"),
                                   compression=compression)
            self.assertEqual(refusal.code, grpc.StatusCode.UNIMPLEMENTED)


if __name__ == "__main__":
    unittest.main(verbosity=2)
