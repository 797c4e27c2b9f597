"""Streams whose client sends next to nothing are ended; others are not."""

import threading
import unittest

import grpc

from calls import Refusal, ServiceTest, header, numbers, pb


class SlowStreamTest(ServiceTest):
    options = ("--min-stream-rate=1KiB",)

    def test_slow_streams_end_and_others_go_on(self):
        over = threading.Event()
        self.addCleanup(over.set)

        def messages(size, chunks):
            for chunk in range(chunks):
                head = header("uint8", [pb.STATISTIC_SUM]) if chunk == 0 else None
                yield pb.ReduceStreamRequest(header=head, x=b"\1" * size, offset=chunk * size)
            over.wait()
        silent, slow, fast = (self.stub.ReduceStream.future(messages(size, chunks), timeout=60)
                              for size, chunks in ((0, 0), (100, 3), (100_000, 3)))
        for call in (silent, slow):
            refusal = Refusal(call.exception())
            self.assertRefused(refusal, grpc.StatusCode.DEADLINE_EXCEEDED, "STREAM_TOO_SLOW")
            self.assertIn("1024", refusal.text)
        self.assertFalse(fast.done())
        over.set()
        self.assertEqual(numbers(fast.result()), {pb.STATISTIC_SUM: 300_000})
        self.assertEqual(self.server.metric("reduction_rejected_total", reason="slow_stream"), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
