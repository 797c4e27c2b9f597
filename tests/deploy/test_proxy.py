"""The proxy of compose.yaml in front of a real server: every call passes, and there is no other way
for who is not the server's user.

REDUCTION_PROXY_STREAM_BYTES sets the length of the longest stream."""

import itertools
import json
import os
import subprocess
import threading
import unittest

import grpc
import numpy as np

import health_pb2
import health_pb2_grpc
from calls import (FLOAT32, SERVICE, Refusal, ServiceTest, array_request, chunks, connect, header,
                   number, numbers, pb, reduce_request)
from proxy_stage import NOBODY, PROGRAMS, Stage, enter, is_open, listening_ports
from reduction.v1 import reduction_pb2_grpc
from server_process import eventually
from test_drain import RunningStream

STREAM_BYTES = int(os.environ.get("REDUCTION_PROXY_STREAM_BYTES", 1 << 30))
# What a process of the proxy may take for one stream: buffers, however long the stream is.
PROXY_BYTES = 64 << 20
SUM = [pb.STATISTIC_SUM]
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVING = health_pb2.HealthCheckResponse.SERVING
STAGE = Stage()


def run_as_nobody(*command, **options):
    return subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/",
                          capture_output=True, timeout=60, **options)


def command(target, *arguments):
    return [PROGRAMS / "reduction", f"--target={target}", *arguments]


class CallsTest(ServiceTest):
    """Calls through the proxy, some beside the same calls to the server's socket, which root may
    open."""

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(STAGE.start_server("--min-stream-rate=1KiB"))
        cls.proxy = cls.enterClassContext(STAGE.start_proxy())
        cls.channel = cls.enterClassContext(connect(STAGE.proxy_address))
        cls.stub = reduction_pb2_grpc.ReductionStub(cls.channel)
        cls.health = health_pb2_grpc.HealthStub(cls.channel)
        direct = cls.enterClassContext(connect(STAGE.socket_address))
        cls.direct = reduction_pb2_grpc.ReductionStub(direct)

    def handled(self, code):
        return self.server.metric("grpc_server_handled_total", grpc_code=code)

    def test_unary_calls(self):
        x = np.random.default_rng(1).integers(-100, 100, 4_000_001).astype("<f4")
        request = array_request(x, "float32")
        self.assertGreater(request.ByteSize(), 15 << 20)
        for method, want in (("Sum", x.sum(dtype="f8")), ("Min", x.min()), ("Max", x.max())):
            answer = getattr(self.stub, method)(request, timeout=60)
            self.assertEqual((number(answer.value), answer.count), (want, len(x)))
        dot = self.stub.Dot(pb.DotRequest(element_type=FLOAT32, x_inline=x[:999].tobytes(),
                                          y_inline=x[1:1000].tobytes()), timeout=60)
        self.assertEqual(number(dot.value), x[:999].astype("f8") @ x[1:1000].astype("f8"))
        reduced = self.stub.Reduce(reduce_request(x, "float32", SUM), timeout=60)
        self.assertEqual(numbers(reduced), {pb.STATISTIC_SUM: x.sum(dtype="f8")})
        info = self.stub.GetServerInfo(pb.GetServerInfoRequest(), timeout=60)
        self.assertEqual(info, self.direct.GetServerInfo(pb.GetServerInfoRequest(), timeout=60))

    def test_a_large_answer(self):
        request = reduce_request(np.arange(4_000_000) % 100, "int8", SUM,
                                 segments=pb.Segments(length=4))
        answer = self.stub.Reduce(request, timeout=60)
        self.assertGreater(answer.ByteSize(), 7 << 20)
        self.assertEqual(answer.columns, self.direct.Reduce(request, timeout=60).columns)

    def test_a_long_stream_in_bounded_memory(self):
        block = np.random.default_rng(2).integers(0, 256, (1 << 20) + 1, "u1")
        whole, rest = divmod(STREAM_BYTES, len(block))
        sender = subprocess.Popen(
            command(STAGE.proxy_address, "--dtype=uint8", "--json", "sum", "-"), cwd="/",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=NOBODY, group=NOBODY,
            extra_groups=[])
        with sender:
            for _ in range(whole):
                sender.stdin.write(block)
            sender.stdin.write(block[:rest])
            sender.stdin.close()
            result = json.loads(sender.stdout.read())
        print(f"{result}; proxy: {self.proxy.peak_resident_bytes()} bytes; "
              f"server: {self.server.peak_resident_bytes()} bytes")
        want = whole * int(block.sum(dtype="u8")) + int(block[:rest].sum(dtype="u8"))
        self.assertEqual((result["value"], result["count"]), (want, STREAM_BYTES))
        self.assertLess(self.proxy.peak_resident_bytes(), PROXY_BYTES)

    def test_many_streams_at_once(self):
        x = np.random.default_rng(3).integers(-100, 100, 3_000_000).astype("i1").tobytes()
        want = int(np.frombuffer(x, "i1").sum(dtype="i8"))
        calls = [self.stub.ReduceStream.future(chunks(header("int8", SUM), x, sizes=(70_001,)),
                                               timeout=60) for _ in range(16)]
        for call in calls:
            self.assertEqual(numbers(call.result()), {pb.STATISTIC_SUM: want})

    def test_refusals_are_the_servers_own(self):
        large = pb.ArrayRequest(element_type=FLOAT32, inline=bytes(17 << 20))
        unary = [
            (pb.ArrayRequest(element_type=FLOAT32, inline=bytes(5)), "INVALID_ARGUMENT"),
            (pb.ArrayRequest(element_type=99), "INVALID_ARGUMENT"),
            (array_request([2**63 - 1, 1], "int64",
                           options=pb.Options(overflow=pb.OVERFLOW_POLICY_CHECK)), "OUT_OF_RANGE"),
            (array_request([1], "int8", options=pb.Options(
                device=pb.Device(kind=pb.Device.KIND_GPU))), "FAILED_PRECONDITION"),
            (large, "RESOURCE_EXHAUSTED"),
        ]
        for request, code in unary:
            refusal = self.refusal(self.stub.Sum, request)
            self.assertEqual(refusal.code.name, code)
            self.assertEqual(vars(refusal), vars(self.refusal(self.direct.Sum, request)))
            self.assertIsNotNone(refusal.info)

    def test_a_stream_refused_while_it_sends(self):
        def messages():
            yield pb.ReduceStreamRequest(header=header("int8", SUM), x=bytes(1000))
            yield pb.ReduceStreamRequest(offset=2000, x=bytes(1000))
            for _ in range(20):
                yield pb.ReduceStreamRequest(offset=3000, x=bytes(1 << 20))
        want = vars(self.refusal(self.direct.ReduceStream, messages()))
        self.assertEqual(want["code"], grpc.StatusCode.INVALID_ARGUMENT)
        for _ in range(20):
            self.assertEqual(vars(self.refusal(self.stub.ReduceStream, messages())), want)

    def test_a_silent_stream_is_ended_by_the_server(self):
        over = threading.Event()
        self.addCleanup(over.set)

        def messages():
            yield pb.ReduceStreamRequest(header=header("int8", SUM), x=bytes(1000))
            over.wait()
        refusal = self.refusal(self.stub.ReduceStream, messages())
        self.assertRefused(refusal, grpc.StatusCode.DEADLINE_EXCEEDED, "STREAM_TOO_SLOW")

    def test_cancelling_and_deadlines_reach_the_server(self):
        over = threading.Event()
        self.addCleanup(over.set)

        def messages():
            yield pb.ReduceStreamRequest(header=header("int8", SUM))
            for offset in itertools.count(0, 1000):
                if over.is_set():
                    return
                yield pb.ReduceStreamRequest(offset=offset, x=bytes(1000))

        def ended():
            return self.handled("Canceled") + self.handled("DeadlineExceeded")
        started, before = self.server.metric("grpc_server_started_total"), ended()
        cancelled, late = (self.stub.ReduceStream.future(messages(), timeout=seconds)
                           for seconds in (60, 3))
        eventually(lambda: self.server.metric("grpc_server_started_total") == started + 2,
                   "both streams run")
        cancelled.cancel()
        self.assertEqual(late.exception().code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        eventually(lambda: ended() == before + 2, "the server has ended both calls")

    def test_a_client_that_dies_ends_its_call_at_the_server(self):
        before = self.handled("Canceled")
        received = self.server.metric("reduction_received_bytes_total")
        sender = subprocess.Popen(command(STAGE.proxy_address, "--dtype=uint8", "sum", "-"),
                                  stdin=subprocess.PIPE, cwd="/")
        sender.stdin.write(bytes(8 << 20))
        sender.stdin.flush()
        eventually(lambda: self.server.metric("reduction_received_bytes_total") > received,
                   "the server receives")
        sender.kill()
        sender.communicate()
        eventually(lambda: self.handled("Canceled") == before + 1, "the server has ended the call")

    def test_too_much_metadata_ends_no_other_clients_calls(self):
        running = RunningStream(self.stub)
        self.addCleanup(running.finish)
        eventually(lambda: running.sent > 10_000, "the stream runs")
        with connect(STAGE.proxy_address) as channel:
            for metadata in ([("one", "x" * 9000)], [(f"n{i}", "x" * 100) for i in range(90)]):
                refusal = self.refusal(reduction_pb2_grpc.ReductionStub(channel).Sum,
                                       array_request([1], "int8"), metadata=metadata)
                self.assertEqual(refusal.code, grpc.StatusCode.UNAVAILABLE, refusal.text)
        running.finish()
        self.assertEqual(running.outcome(), running.sent)

    def test_the_socket_is_the_only_way_and_closed_to_others(self):
        self.assertEqual(listening_ports(), {STAGE.port, int(self.server.metrics.rsplit(":")[-1])})
        script = f"import socket; socket.socket(socket.AF_UNIX).connect('{STAGE.socket_path}')"
        denied = run_as_nobody("/usr/bin/python3", "-c", script)
        self.assertIn(b"PermissionError", denied.stderr)
        direct = run_as_nobody(*command(STAGE.socket_address, "health"))
        self.assertEqual(direct.returncode, 1, direct.stderr)
        self.assertIn(b"UNAVAILABLE", direct.stderr)
        through = run_as_nobody(*command(STAGE.proxy_address, "health"))
        self.assertEqual((through.returncode, through.stdout), (0, b"SERVING\n"), through.stderr)


class LifecycleTest(unittest.TestCase):

    def setUp(self):
        self.proxy = self.enterContext(STAGE.start_proxy())
        self.server = self.enterContext(STAGE.start_server("--drain=3600"))
        self.channel = self.enterContext(connect(STAGE.proxy_address))
        self.stub = reduction_pb2_grpc.ReductionStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def running_stream(self):
        stream = RunningStream(self.stub)
        eventually(lambda: stream.sent > 10_000, "the stream runs")
        return stream

    def refusal(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.stub.Sum(array_request([1], "int8"), timeout=60)
        return Refusal(caught.exception)

    def test_the_servers_drain_and_its_successor(self):
        ready = self.health.Watch(health_pb2.HealthCheckRequest(service=SERVICE), timeout=60)
        self.assertEqual(next(ready).status, SERVING)
        running = self.running_stream()
        self.server.terminate()
        self.assertEqual(next(ready).status, NOT_SERVING)
        refusal = self.refusal()
        self.assertEqual(refusal.code, grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(refusal.info, ("reduction", "DRAINING"))
        running.finish()
        self.assertEqual(running.outcome(), running.sent)
        self.assertEqual(self.server.wait(), 0)
        with self.assertRaises(grpc.RpcError):
            next(ready)
        refusal = self.refusal()
        self.assertEqual(refusal.code, grpc.StatusCode.UNAVAILABLE)
        self.assertIn("no reduction server answers this proxy", refusal.text)
        with STAGE.start_server() as successor:
            self.assertEqual(number(self.stub.Sum(array_request([1, 2], "int8")).value), 3)
            self.assertEqual(successor.stop(), 0)

    def test_a_killed_server_is_unavailable_to_its_callers(self):
        running = self.running_stream()
        self.server.send_signal(9)
        outcome = running.outcome()
        self.assertEqual(outcome.code, grpc.StatusCode.UNAVAILABLE, outcome.text)

    def test_a_proxy_without_room_for_a_call_is_unavailable(self):
        self.assertEqual(number(self.stub.Sum(array_request([1, 2], "int8")).value), 3)
        self.proxy.leave_room(20)
        watches = [self.health.Watch(health_pb2.HealthCheckRequest(), timeout=60)
                   for _ in range(40)]
        served = 0
        for watch in watches:
            try:
                self.assertEqual(next(watch).status, SERVING)
                served += 1
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE, error.details())
                self.assertIn("no reduction server answers this proxy", error.details())
        self.assertLess(served, len(watches))
        for watch in watches:
            watch.cancel()

    def test_a_client_whose_machine_is_gone_is_noticed(self):
        def timers():
            return subprocess.run(["ss", "-tnoH", "sport", f":{STAGE.port}"], check=True,
                                  capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(number(self.stub.Sum(array_request([1, 2], "int8")).value), 3)
        eventually(lambda: all("timer:(keepalive," in line for line in timers()),
                   "the system asks a silent client whether it is there")
        self.assertGreater(len(timers()), 0)

    def test_a_stopping_proxy_lets_running_streams_finish(self):
        running = self.running_stream()
        self.proxy.begin_to_stop()
        eventually(lambda: not is_open(STAGE.port), "the proxy takes no new connection")
        self.assertTrue(self.proxy.running())
        running.finish()
        self.assertEqual(running.outcome(), running.sent)
        self.channel.close()
        self.assertEqual(self.proxy.wait(), 0)


if __name__ == "__main__":
    enter()
    STAGE.mount_all()
    unittest.main(verbosity=2)
