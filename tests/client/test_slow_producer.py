"""What a slow producer writes reaches the server soon, be it less than a whole message."""

import os
import subprocess
import tempfile
import unittest

from server_process import ServerProcess

MESSAGE_BYTES = 1 << 20


class SlowProducerTest(unittest.TestCase):

    def test_pieces_go_out_before_a_message_is_full(self):
        with tempfile.TemporaryDirectory() as scratch, \
                ServerProcess([os.environ["REDUCTION_SERVER"], "--metrics=127.0.0.1:0",
                               f"--listen=unix:{scratch}/socket"]) as server, \
                subprocess.Popen([os.environ["REDUCTION_COMMAND"], "sum", "-", "--dtype=uint8",
                                  f"--target=unix:{scratch}/socket"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE) as command:
            written = 0
            while not server.metric("reduction_received_bytes_total", source="stream"):
                command.stdin.write(b"\1" * 256)
                command.stdin.flush()
                written += 256
                self.assertLess(written, MESSAGE_BYTES)
            command.stdin.close()
            self.assertEqual(int(command.stdout.read()), written)


if __name__ == "__main__":
    unittest.main()
