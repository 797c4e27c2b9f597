"""Every method and statistic gives NumPy's values, for every element type."""

import fractions
import math
import unittest

import numpy as np

from calls import (ELEMENT_TYPES, ONE_ARRAY_STATISTICS, ServiceTest, array_request, chunks, encode,
                   header, number, numbers, pb, reduce_request)

# Tiny, one row of float32 and its neighbours, a leaf, what a thread reduces at once, several
# staging slots.
LENGTHS = (1, 127, 128, 129, 4097, 40_001, 300_007)


def is_floating(dtype):
    return "float" in dtype


def random_values(dtype, length, rng):
    """Values that `dtype` holds: floats with many exponents, integers of the whole range."""
    if not is_floating(dtype):
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, length, dtype, endpoint=True)
    values = (rng.standard_normal(length) * 2.0 ** rng.integers(-6, 6, length)).astype("float32")
    if dtype == "bfloat16":
        return (values.view("uint32") & 0xffff0000).view("float32")
    return rng.standard_normal(length) if dtype == "float64" else values.astype(dtype)


def wrapped(total, dtype):
    """An exact integer as 64 bits of the type's signedness hold it."""
    total %= 2**64
    return total - 2**64 if dtype.startswith("i") and total >= 2**63 else total


def exact_sum(values, dtype):
    if is_floating(dtype):
        return math.fsum(values)
    return sum(int(value) for value in values)


def expected(values, dtype):
    """{statistic: (value, allowed error)} by NumPy and exact sums."""
    real = values.astype("float64")
    size = len(values)
    magnitude = np.abs(real).sum()
    squares = math.fsum(real * real)
    total = exact_sum(values, dtype)
    floating = is_floating(dtype)
    variance = np.var(real)
    mean = total / size if floating else float(fractions.Fraction(total, size))
    slack = 1e-12 * magnitude if floating else 0
    return {
        pb.STATISTIC_SUM: (total if floating else wrapped(total, dtype), slack),
        pb.STATISTIC_MIN: (values.min(), 0),
        pb.STATISTIC_MAX: (values.max(), 0),
        pb.STATISTIC_ARGMIN: (values.argmin(), 0),
        pb.STATISTIC_ARGMAX: (values.argmax(), 0),
        pb.STATISTIC_MEAN: (mean, slack / size),
        pb.STATISTIC_VARIANCE: (variance, 1e-12 * squares / size),
        pb.STATISTIC_STANDARD_DEVIATION: (math.sqrt(variance), 1e-12 * math.sqrt(squares)),
        pb.STATISTIC_SUM_OF_SQUARES: (squares, 1e-12 * squares),
        pb.STATISTIC_L1_NORM: (magnitude, 1e-12 * magnitude),
        pb.STATISTIC_L2_NORM: (math.sqrt(squares), 1e-12 * math.sqrt(squares)),
        pb.STATISTIC_NAN_COUNT: (0, 0),
        pb.STATISTIC_NONZERO_COUNT: (np.count_nonzero(values), 0),
    }


def expected_dot(x, y, dtype):
    if not is_floating(dtype):
        return wrapped(sum(int(a) * int(b) for a, b in zip(x, y)), dtype), 0
    products = x.astype("float64") * y.astype("float64")
    return math.fsum(products), 1e-12 * np.abs(products).sum()


def for_every_draw(test):
    """Runs `test(self, dtype, values, rng)` for arrays of every type and length."""
    def run(self):
        rng = np.random.default_rng(20240607)
        for dtype in ELEMENT_TYPES:
            for length in LENGTHS:
                with self.subTest(dtype=dtype, length=length):
                    test(self, dtype, random_values(dtype, length, rng), rng)
    return run


class ValuesTest(ServiceTest):

    def assertNear(self, actual, wanted):
        value, slack = wanted
        self.assertLessEqual(abs(actual - (value.item() if hasattr(value, "item") else value)),
                             slack, f"{actual} is not {value}")

    @for_every_draw
    def test_unary_methods(self, dtype, values, _):
        methods = {self.stub.Sum: pb.STATISTIC_SUM, self.stub.Min: pb.STATISTIC_MIN,
                   self.stub.Max: pb.STATISTIC_MAX}
        wanted = expected(values, dtype)
        for method, statistic in methods.items():
            response = method(array_request(values, dtype))
            self.assertNear(number(response.value), wanted[statistic])
            self.assertEqual(response.count, len(values))
            self.assertEqual(response.execution[0].device, "cpu")
            self.assertEqual(response.execution[0].bytes, len(encode(values, dtype)))
            self.assertEqual(response.partial, b"")

    @for_every_draw
    def test_kind_of_a_value(self, dtype, values, _):
        kinds = {"float16": "float64", "bfloat16": "float64", "float32": "float64"}
        signed = kinds.get(dtype, dtype.rstrip("0123456789") + "64")
        response = self.stub.Sum(array_request(values, dtype))
        self.assertEqual(response.value.WhichOneof("kind"), signed)

    @for_every_draw
    def test_reduce_and_stream_in_one_pass(self, dtype, values, _):
        wanted = expected(values, dtype)
        head = header(dtype, ONE_ARRAY_STATISTICS, element_count=len(values))
        responses = [
            self.stub.Reduce(reduce_request(values, dtype, ONE_ARRAY_STATISTICS)),
            self.stub.ReduceStream(chunks(head, encode(values, dtype), sizes=(100_001,)))]
        for response in responses:
            self.assertEqual([entry.statistic for entry in response.values],
                             ONE_ARRAY_STATISTICS)
            for statistic, value in numbers(response).items():
                with self.subTest(statistic=pb.Statistic.Name(statistic)):
                    self.assertNear(value, wanted[statistic])
            self.assertEqual(response.count, len(values))

    @for_every_draw
    def test_dot(self, dtype, x, rng):
        y = random_values(dtype, len(x), rng)
        wanted = expected_dot(x, y, dtype)
        encoded = encode(x, dtype), encode(y, dtype)
        request = pb.DotRequest(element_type=ELEMENT_TYPES[dtype], x_inline=encoded[0],
                                y_inline=encoded[1])
        self.assertNear(number(self.stub.Dot(request).value), wanted)
        stream = chunks(header(dtype, [pb.STATISTIC_DOT]), *encoded, sizes=(100_001,))
        response = self.stub.ReduceStream(stream)
        self.assertNear(numbers(response)[pb.STATISTIC_DOT], wanted)

    def test_statistics_come_in_the_order_asked_and_as_often(self):
        asked = [pb.STATISTIC_MAX, pb.STATISTIC_SUM, pb.STATISTIC_MAX]
        for response in (self.stub.Reduce(reduce_request([1, 5, 2], "uint8", asked)),
                         self.stub.ReduceStream(chunks(header("uint8", asked), bytes([1, 5, 2])))):
            self.assertEqual([entry.statistic for entry in response.values], asked)
            self.assertEqual([number(entry.value) for entry in response.values], [5, 8, 5])

    def test_ddof(self):
        values = [1.0, 2.0, 4.0, 9.0]
        for ddof, wanted in ((0, np.var(values)), (1, np.var(values, ddof=1)), (4, math.nan)):
            with self.subTest(ddof=ddof):
                response = self.stub.Reduce(reduce_request(
                    values, "float64", [pb.STATISTIC_VARIANCE, pb.STATISTIC_STANDARD_DEVIATION],
                    options=pb.Options(ddof=ddof)))
                actual = list(numbers(response).values())
                np.testing.assert_allclose(actual, [wanted, math.sqrt(wanted)], rtol=1e-12)

    def test_ignored_nans_do_not_take_part(self):
        values = [math.nan, 3.0, -1.0, math.nan, 0.0]
        response = self.stub.Reduce(reduce_request(
            values, "float32", ONE_ARRAY_STATISTICS,
            options=pb.Options(nan_policy=pb.NAN_POLICY_IGNORE)))
        wanted = expected(np.array([3.0, -1.0, 0.0], "float32"), "float32")
        wanted |= {pb.STATISTIC_ARGMIN: (2, 0), pb.STATISTIC_ARGMAX: (1, 0),
                   pb.STATISTIC_NAN_COUNT: (2, 0)}
        for statistic, value in numbers(response).items():
            with self.subTest(statistic=pb.Statistic.Name(statistic)):
                self.assertNear(value, wanted[statistic])
        self.assertEqual(response.count, 3)

    def test_no_elements(self):
        defined = [pb.STATISTIC_SUM, pb.STATISTIC_SUM_OF_SQUARES, pb.STATISTIC_L1_NORM,
                   pb.STATISTIC_L2_NORM, pb.STATISTIC_NAN_COUNT, pb.STATISTIC_NONZERO_COUNT]
        for dtype in ELEMENT_TYPES:
            responses = [self.stub.Reduce(reduce_request([], dtype, defined)),
                         self.stub.ReduceStream(chunks(header(dtype, defined), b""))]
            for response in responses:
                self.assertEqual(numbers(response), dict.fromkeys(defined, 0))
                self.assertEqual(response.count, 0)
            empty = pb.DotRequest(element_type=ELEMENT_TYPES[dtype], x_inline=b"", y_inline=b"")
            self.assertEqual(number(self.stub.Dot(empty).value), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
