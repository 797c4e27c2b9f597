"""A recording of a server under load becomes a picture in which every panel has data.

The environment's REDUCTION_DEPLOY_PYTHON is the Python that has matplotlib.
"""

import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import dashboard
from calls import start_server
from mixed_load import KINDS, MixedLoad
from server_process import PATIENCE_SECONDS, eventually

HERE = pathlib.Path(__file__).parent
SMALLEST_PICTURE = 1000  # pixels


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    print(done.stdout, done.stderr, sep="")
    return done


class DrawDashboardTest(unittest.TestCase):

    def record(self, server, load, path):
        """Records until a call of each kind has ended between two scrapes."""
        def lines():
            return path.exists() and path.read_text().count("\n")

        # A bare machine has no modules of ours: -I leaves the environment's paths out.
        recorder = subprocess.Popen([sys.executable, "-I", HERE / "record_metrics.py",
                                     server.metrics, path])
        try:
            eventually(lines, "a first scrape")
            rounds = load.rounds
            eventually(lambda: load.rounds >= rounds + 2, f"a call of each of {len(KINDS)} kinds")
            scrapes = lines()
            eventually(lambda: lines() >= scrapes + 3, "last scrapes")
            recorder.send_signal(signal.SIGTERM)
            self.assertEqual(recorder.wait(timeout=PATIENCE_SECONDS), 0)
        finally:
            recorder.kill()

    def test_recording_becomes_a_picture_with_data_in_every_panel(self):
        with tempfile.TemporaryDirectory() as folder:
            recording = pathlib.Path(folder) / "metrics.jsonl"
            picture = pathlib.Path(folder) / "dashboard.png"
            with start_server() as server, MixedLoad(server.listen[0]) as load:
                self.record(server, load, recording)
            self.assertEqual(load.wrong, [])
            done = run(os.environ["REDUCTION_DEPLOY_PYTHON"], HERE / "draw_dashboard.py",
                       f"--recording={recording}", picture)
            self.assertEqual(done.returncode, 0)
            of_the_exporter = [
                panel["title"] for panel in dashboard.panels(dashboard.load())
                if panel["targets"][0]["expr"].startswith(dashboard.GPU_EXPORTER_PREFIX)]
            self.assertEqual(done.stdout, f"without data: {', '.join(of_the_exporter)}\n")
            header = picture.read_bytes()[:24]
            self.assertEqual(header[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(min(struct.unpack(">II", header[16:])), SMALLEST_PICTURE)

    def test_recorder_fails_where_no_server_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(sys.executable, "-I", HERE / "record_metrics.py", "127.0.0.1:1",
                       f"{folder}/metrics.jsonl", 0)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
