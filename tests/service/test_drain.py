"""SIGTERM: nothing new comes in, what runs may finish within the drain time, exit status 0."""

import contextlib
import signal
import threading
import unittest

import grpc
import numpy as np

import health_pb2
import health_pb2_grpc
from calls import (ONE_ARRAY_STATISTICS, SERVICE, Refusal, array_request, connect, header,
                   number, numbers, pb, reduce_request, start_server)
from reduction.v1 import reduction_pb2_grpc
from server_process import eventually

NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVING = health_pb2.HealthCheckResponse.SERVING


class RunningStream:
    """A ReduceStream call that sends chunks of 1,000 ones as fast as it can until it is told to
    finish, or to fall silent."""

    def __init__(self, stub):
        self.sent = 0
        self._finish = threading.Event()
        self._silence = threading.Event()
        self._over = threading.Event()
        self._call = stub.ReduceStream.future(self._messages(), timeout=60)
        self._call.add_done_callback(lambda _: self._over.set())

    def _messages(self):
        yield pb.ReduceStreamRequest(header=header("uint8", [pb.STATISTIC_SUM]))
        while not self._finish.is_set() and not self._over.is_set():
            if self._silence.is_set():
                self._over.wait()
                return
            yield pb.ReduceStreamRequest(offset=self.sent, x=b"\1" * 1000)
            self.sent += 1000

    def finish(self):
        self._finish.set()

    def fall_silent(self):
        self._silence.set()

    def outcome(self):
        """The sum, or a Refusal."""
        try:
            return numbers(self._call.result())[pb.STATISTIC_SUM]
        except grpc.RpcError as error:
            return Refusal(error)


class DrainTest(unittest.TestCase):

    def start(self, *options):
        self.server = self.enterContext(start_server(*options))
        self.channel = self.enterContext(connect(self.server.listen[0]))
        self.stub = reduction_pb2_grpc.ReductionStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def watch(self, service):
        return self.health.Watch(health_pb2.HealthCheckRequest(service=service), timeout=60)

    def check(self, service):
        return self.health.Check(health_pb2.HealthCheckRequest(service=service), timeout=60).status

    def eight_running_streams(self):
        streams = [RunningStream(self.stub) for _ in range(8)]
        eventually(lambda: all(stream.sent > 10_000 for stream in streams), "all streams run")
        return streams

    def assertDraining(self, refusal):
        self.assertEqual(refusal.code, grpc.StatusCode.UNAVAILABLE, refusal.text)
        self.assertEqual(refusal.info, ("reduction", "DRAINING"))

    def assertAllEnd(self, streams):
        """Each stream finishes with the right sum, or with UNAVAILABLE. Returns which finished."""
        finished = []
        for stream in streams:
            outcome = stream.outcome()
            if isinstance(outcome, Refusal):
                self.assertDraining(outcome)
            else:
                self.assertEqual(outcome, stream.sent)
            finished.append(not isinstance(outcome, Refusal))
        return finished

    def test_running_streams_finish_or_fail_within_the_drain_time(self):
        self.start("--drain=2")
        streams = self.eight_running_streams()
        self.server.terminate()
        self.server.wait_for_log("event=draining")
        for stream in streams[:4]:
            stream.finish()
        streams[4].fall_silent()
        self.assertEqual(self.assertAllEnd(streams), [True] * 4 + [False] * 4)
        self.assertEqual(self.server.wait(), 0)
        self.assertIn("event=drain_expired", "\n".join(filter(None, self.server.log)))

    def test_exits_as_soon_as_all_streams_have_finished(self):
        self.start("--drain=3600")
        streams = self.eight_running_streams()
        self.server.terminate()
        self.server.wait_for_log("event=draining")
        for stream in streams:
            stream.finish()
        self.assertEqual(self.assertAllEnd(streams), [True] * 8)
        self.assertEqual(self.server.wait(), 0)

    def test_no_time_to_drain(self):
        self.start("--drain=0")
        streams = self.eight_running_streams()
        self.server.terminate()
        self.assertAllEnd(streams)
        self.assertEqual(self.server.wait(), 0)

    def test_new_calls_and_health_while_draining(self):
        self.start("--drain=3600")
        ready, alive = self.watch(SERVICE), self.watch("")
        self.assertEqual((next(ready).status, next(alive).status), (SERVING, SERVING))
        running = RunningStream(self.stub)
        eventually(lambda: running.sent > 10_000, "the stream runs")
        self.server.terminate()
        self.assertEqual(next(ready).status, NOT_SERVING)
        self.assertEqual((self.check(SERVICE), self.check("")), (NOT_SERVING, SERVING))
        with self.assertRaises(grpc.RpcError) as caught:
            self.stub.Sum(array_request([1], "int8"), timeout=60)
        self.assertDraining(Refusal(caught.exception))
        new = RunningStream(self.stub)
        self.assertDraining(new.outcome())
        self.assertEqual(self.server.metric("reduction_rejected_total", reason="draining"), 2)
        running.finish()
        self.assertEqual(running.outcome(), running.sent)
        self.assertEqual(self.server.wait(), 0)
        for watch in (ready, alive):  # ended by the server, without another status
            with self.assertRaises(grpc.RpcError):
                next(watch)

    def test_unary_calls_finish_or_are_refused(self):
        self.start("--drain=3600")
        request = reduce_request(np.ones(1 << 20), "int8", ONE_ARRAY_STATISTICS)
        calls = [self.stub.Reduce.future(request, timeout=60) for _ in range(20)]
        calls[0].result()
        self.server.terminate()
        for call in calls:  # many of them still on their way
            if error := call.exception():
                self.assertDraining(Refusal(error))
        self.assertEqual(self.server.wait(), 0)

    def test_clients_that_go_on_calling_do_not_keep_it_from_ending(self):
        self.start("--drain=3600")
        ended = threading.Event()

        def call_again_and_again():
            with connect(self.server.listen[0]) as channel:
                stub = reduction_pb2_grpc.ReductionStub(channel)
                while not ended.is_set():
                    with contextlib.suppress(grpc.RpcError):
                        stub.Sum(array_request([1], "int8"), timeout=60)
        callers = [threading.Thread(target=call_again_and_again) for _ in range(16)]
        for caller in callers:
            caller.start()
        eventually(lambda: self.server.metric("grpc_server_handled_total") > 100, "they call")
        self.server.terminate()
        self.assertEqual(self.server.wait(), 0)
        ended.set()
        for caller in callers:
            caller.join()

    def test_other_signals(self):
        self.start()
        self.server.send_signal(signal.SIGPIPE)
        self.assertEqual(number(self.stub.Sum(array_request([1, 2], "int8")).value), 3)
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(), 0)
        with self.assertRaises(grpc.RpcError) as caught:
            self.stub.Sum(array_request([1], "int8"), timeout=60)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_stopped_again_and_again_with_idle_clients(self):
        for _ in range(3):
            self.start()
            with contextlib.ExitStack() as stack:
                for _ in range(8):
                    channel = stack.enter_context(connect(self.server.listen[0]))
                    reduction_pb2_grpc.ReductionStub(channel).Sum(array_request([1], "int8"))
                self.assertEqual(next(self.watch("")).status, SERVING)
                for _ in range(3):
                    self.server.terminate()
                self.assertEqual(self.server.wait(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
