"""The cases of tests/data/numerics.tsv through the service: in one message, as a stream, and for
every algorithm. Their expected results are those of the table."""

import itertools
import math
import os
import pathlib
import unittest

import grpc
import numpy as np

from calls import ELEMENT_TYPES, Refusal, ServiceTest, chunks, encode, header, number, pb

TABLE = pathlib.Path(os.environ["REDUCTION_SOURCE"], "tests/data/numerics.tsv")
ALGORITHMS = (pb.ALGORITHM_AUTO, pb.ALGORITHM_TWO_PASS, pb.ALGORITHM_ATOMIC)
# Gigabytes, which a Python client would take minutes to send.
TOO_LONG = {"ones-int", "last-big", "ones-f64"}
OUTSIDE = {"misaligned"}  # test_same_bits.py
STATISTICS = {"sum": pb.STATISTIC_SUM, "min": pb.STATISTIC_MIN, "max": pb.STATISTIC_MAX,
              "argmax": pb.STATISTIC_ARGMAX, "mean": pb.STATISTIC_MEAN,
              "variance": pb.STATISTIC_VARIANCE, "dot": pb.STATISTIC_DOT}
NAN = math.nan
IGNORE = pb.Options(nan_policy=pb.NAN_POLICY_IGNORE)
CHECK = pb.Options(overflow=pb.OVERFLOW_POLICY_CHECK)


def ones_with_nan(position):
    values = np.ones(1_000_000, "float32")
    values[position] = NAN
    return values


def outlier():
    return np.concatenate([[1e9], np.tile([0.0, 1.0], 500_000)])


# id: element type, arrays, statistics, options, expected (strings as in the table, or values)
CASES = {
    "inf-min": ("float32", [[math.inf] * 10], ["min"], None, ["+inf"]),
    # First, last, and the edges of lane, row, leaf and staging slot.
    "nan-max": ("float32", [ones_with_nan(position) for position in (
        777_777, 0, 1, 127, 128, 4095, 4096, 131_071, 131_072, 999_999)], ["max"], None, ["NaN"]),
    "nan-minmax": ("float32", [[NAN, -1, 0, 1]], ["min", "max"], None, ["NaN", "NaN"]),
    "nan-ignore": ("float32", [[NAN, -1, 0, 1]], ["min", "max"], IGNORE, ["-1", "1"]),
    "nan-all-ignore": ("float32", [[NAN] * 4], ["max"], IGNORE, ["NaN"]),
    "nan-argmax": ("float32", [[NAN, 6, 8]], ["argmax"], None, ["0"]),
    "zero-sum": ("float32", [[0.0, -0.0]], ["sum"], None, ["+0"]),
    "zero-order": ("float32", [[-0.0, 0.0], [0.0, -0.0]], ["max", "min"], None, ["+0", "-0"]),
    "trunc": ("float32", [[0.75] * 4], ["sum"], None, ["3"]),
    "stuck": ("float32", [np.ones(40_000_000)], ["sum"], None, ["40000000"]),
    "f16-count": ("float16", [np.ones(65_520)], ["sum"], None, ["65520"]),
    "f16-min": ("float16", [np.ones(16_385)], ["min"], None, ["1"]),
    "i32-wide": ("int32", [[2**30] * 4], ["sum"], None, ["4294967296"]),
    "i8-dot": ("int8", [[127] * 300], ["dot"], None, ["4838700"]),
    "i64-wrap": ("int64", [[2**63 - 1, 1]], ["sum"], None, ["-9223372036854775808"]),
    "i64-check": ("int64", [[2**63 - 1, 1]], ["sum"], CHECK, ["OUT_OF_RANGE"]),
    "i64-check-ok": ("int64", [[2**63 - 1, 1, -5]], ["sum"], CHECK, ["9223372036854775803"]),
    "var-shift": ("float64", [[1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]], ["variance"], None,
                  ["22.5"]),
    "var-outlier": ("float64", [outlier()], ["variance"], None,
                    ["agree with a two-pass float64 reference to 1e-9 relative"]),
    "empty": ("float32", [[]], ["sum", "max", "mean"], None,
              ["0", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]),
    "one-byte-short": ("float32", [bytes(7)], ["sum"], None, ["INVALID_ARGUMENT"]),
    "bf16-sum": ("bfloat16", [np.full(10_000, 0.5)], ["sum"], None, ["5000"]),
    "alternate": ("float32", [np.tile([1e8, 1.0, -1e8], 1000)], ["sum"], None, ["1000"]),
}


def table():
    """{id: expected} of the table."""
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()
            if line and not line.startswith("#")]
    return {row[0]: row[5] for row in rows}


class NumericsTest(ServiceTest):

    def ways(self, dtype, data, statistic, options):
        """The result of each way to ask: a number, or the name of a status code."""
        arrays = [data, data] if statistic == pb.STATISTIC_DOT else [data]
        common = {"element_type": ELEMENT_TYPES[dtype], "options": options}
        if len(data) <= 16 << 20:
            if len(arrays) == 2:
                yield self.stub.Dot, pb.DotRequest(x_inline=data, y_inline=data, **common)
            else:
                yield self.stub.Reduce, pb.ReduceRequest(inline=data, statistics=[statistic],
                                                         **common)
            single = {pb.STATISTIC_SUM: self.stub.Sum, pb.STATISTIC_MIN: self.stub.Min,
                      pb.STATISTIC_MAX: self.stub.Max}.get(statistic)
            if single:
                yield single, pb.ArrayRequest(inline=data, **common)
        yield self.stub.ReduceStream, chunks(header(dtype, [statistic], options=options), *arrays)

    def result(self, method, request):
        try:
            response = method(request, timeout=60)
        except grpc.RpcError as error:
            return Refusal(error).code.name
        return number(response.values[0].value if isinstance(response, pb.ReduceResponse)
                      else response.value)

    def assertResult(self, actual, wanted, values):
        if wanted.isupper():
            self.assertEqual(actual, wanted)
        elif wanted.startswith("agree"):
            np.testing.assert_allclose(actual, np.var(values), rtol=1e-9)
        elif wanted == "NaN":
            self.assertTrue(math.isnan(actual), actual)
        else:
            self.assertEqual(actual, type(actual)(wanted))
            if wanted in ("+0", "-0"):
                self.assertEqual(math.copysign(1, actual), float(wanted[0] + "1"))

    def test_every_case(self):
        for name, (dtype, inputs, statistics, options, results) in CASES.items():
            for values, algorithm in itertools.product(inputs, ALGORITHMS):
                data = values if isinstance(values, bytes) else encode(values, dtype)
                chosen = pb.Options(algorithm=algorithm)
                chosen.MergeFrom(options or pb.Options())
                for statistic, wanted in zip(statistics, results):
                    for method, request in self.ways(dtype, data, STATISTICS[statistic], chosen):
                        with self.subTest(case=name, statistic=statistic, algorithm=algorithm):
                            self.assertResult(self.result(method, request), wanted, values)

    def test_table_is_covered_and_expects_the_same(self):
        expected = table()
        self.assertEqual(set(expected) - TOO_LONG - OUTSIDE, set(CASES))
        for name, (_, _, _, _, results) in CASES.items():
            words = expected[name].replace(" and ", "; ").replace(", ", "; ").split("; ")
            self.assertEqual(results, words, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
