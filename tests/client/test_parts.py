"""Runs the tests of parts against a real server: test_parts.py PROGRAM."""

import os
import subprocess
import sys

from server_process import ServerProcess


def main():
    command = [os.environ["REDUCTION_SERVER"], "--listen=127.0.0.1:0", "--metrics=127.0.0.1:0"]
    with ServerProcess(command) as server:
        environment = dict(os.environ, REDUCTION_TARGET=server.listen[0])
        status = subprocess.run(sys.argv[1:], env=environment).returncode
        return status or server.stop()


if __name__ == "__main__":
    sys.exit(main())
