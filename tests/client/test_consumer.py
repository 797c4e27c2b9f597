"""The installed package: a project of its own finds it, builds with it and reduces with it."""

import os
import subprocess
import tempfile
import unittest

from server_process import ServerProcess

SOURCE = os.environ["REDUCTION_SOURCE"]


class ConsumerTest(unittest.TestCase):

    def run_quietly(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_an_installed_package_is_all_that_a_project_needs(self):
        with tempfile.TemporaryDirectory() as scratch:
            prefix, build = f"{scratch}/prefix", f"{scratch}/build"
            self.run_quietly("cmake", "--install", os.environ["REDUCTION_BUILD"], "--prefix",
                             prefix, "--component", "library")
            self.run_quietly("cmake", "-G", "Ninja", "-S", f"{SOURCE}/tests/consumer", "-B", build,
                             f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug",
                             f"-DCMAKE_CXX_COMPILER={os.environ['REDUCTION_CXX']}",
                             f"-DCMAKE_CXX_FLAGS={os.environ['REDUCTION_CXX_FLAGS']}")
            self.run_quietly("cmake", "--build", build)
            socket = f"unix:{scratch}/socket"
            with ServerProcess([os.environ["REDUCTION_SERVER"], "--metrics=127.0.0.1:0",
                                f"--listen=127.0.0.1:0,{socket}"]) as server:
                for targets in (server.listen[0], f"{server.listen[0]},{socket}"):
                    self.assertEqual(self.run_quietly(f"{build}/consumer", targets), "ok\n")
                self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
