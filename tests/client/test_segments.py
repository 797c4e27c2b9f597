"""The library's calls for segments against a real server: segments_session prints "ok"."""

import os
import subprocess
import unittest

from server_process import ServerProcess


class SegmentsTest(unittest.TestCase):

    def test_every_segment_has_the_bits_of_a_call_for_it_alone(self):
        for options in ([], ["--max-message=64KiB"]):
            with self.subTest(options=options), ServerProcess(
                    [os.environ["REDUCTION_SERVER"], "--listen=127.0.0.1:0",
                     "--metrics=127.0.0.1:0", "--device=cpu", *options]) as server:
                done = subprocess.run([os.environ["REDUCTION_SESSION"], server.listen[0]],
                                      capture_output=True, text=True, timeout=300)
                self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr[:4000])
                self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
