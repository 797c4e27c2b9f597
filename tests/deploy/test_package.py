"""What the Debian package brings besides programs, and what GPUs it and the image have code for."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from calls import PROGRAM
from server_process import ServerProcess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DEBIAN = SOURCE / "deploy/debian"
UNIT = (DEBIAN / "reduction-server.service").read_text()
OPERATIONS = (SOURCE / "docs/OPERATIONS.md").read_text()
PRESETS = {preset["name"]: preset for preset in
           json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
# Numbers that no account has.
SERVER, GROUP, MEMBER, STRANGER = 61001, 61002, 61003, 61004


def setting(name):
    """The value of a setting that stands once in the unit."""
    value, = re.findall(rf"(?m)^{name}=(.*)$", UNIT)
    return value


def may_connect(path, user, groups):
    script = f"import socket; socket.socket(socket.AF_UNIX).connect({str(path)!r})"
    done = subprocess.run(["/usr/bin/python3", "-c", script], user=user, group=user,
                          extra_groups=groups, cwd="/", capture_output=True, text=True)
    if done.returncode != 0:
        assert "PermissionError" in done.stderr, done.stderr
    return done.returncode == 0


class GpuCodeTest(unittest.TestCase):

    def setUp(self):
        self.architectures = PRESETS["package"]["cacheVariables"]["CMAKE_CUDA_ARCHITECTURES"]

    def test_image_and_package_have_the_same(self):
        dockerfile = (SOURCE / "deploy/docker/Dockerfile").read_text()
        self.assertEqual(re.findall(r'(?m)^ARG CUDA_ARCHITECTURES="(.*)"$', dockerfile),
                         [self.architectures])
        self.assertIn('"-DCMAKE_CUDA_ARCHITECTURES=${CUDA_ARCHITECTURES}"', dockerfile)

    def test_newer_gpus_get_ptx_of_the_last(self):
        *older, newest = self.architectures.split(";")
        self.assertTrue(all(entry.endswith("-real") for entry in older), older)
        self.assertRegex(newest, r"^\d+$")
        numbers = [int(entry.removesuffix("-real")) for entry in (*older, newest)]
        self.assertEqual(numbers, sorted(set(numbers)))
        # The oldest that the CUDA Toolkit of the image compiles for.
        self.assertEqual(numbers[0], 75)

    def test_operations_tell_them(self):
        numbers = re.findall(r"\d+", self.architectures)
        *most, last = (f"{number[:-1]}.{number[-1]}" for number in numbers)
        self.assertIn(f"compute capabilities {', '.join(most)} and {last}, ", OPERATIONS)
        for preset in re.findall(r"(?:PRESET=|--preset )(\w+)", OPERATIONS):
            self.assertIn(preset, PRESETS)


class UnitTest(unittest.TestCase):

    def test_systemd_understands_it(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, "reduction-server.service")
            unit.write_text(UNIT.replace("ExecStart=/usr/bin/reduction-server\n",
                                         f"ExecStart={PROGRAM}\n"))
            done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True,
                                  text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_its_group_is_made(self):
        with tempfile.TemporaryDirectory() as root:
            pathlib.Path(root, "etc").mkdir()
            subprocess.run(["systemd-sysusers", f"--root={root}", DEBIAN / "sysusers.conf"],
                           check=True)
            groups = pathlib.Path(root, "etc/group").read_text()
        self.assertRegex(groups, rf"(?m)^{setting('Group')}:")
        packaging = (SOURCE / "deploy/packaging.cmake").read_text()
        name, = re.findall(r"deploy/debian/sysusers.conf .*RENAME (\S+)", packaging)
        self.assertIn(f"systemd-sysusers {name}\n", (DEBIAN / "postinst").read_text())

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for users of its own")
    def test_its_socket_serves_the_members_of_its_group(self):
        socket_path = re.search(r"REDUCTION_LISTEN=unix:(\S+),", UNIT)[1]
        self.assertEqual(os.path.dirname(socket_path), f"/run/{setting('RuntimeDirectory')}")
        self.assertIn(f"`REDUCTION_LISTEN=unix:{socket_path}`", OPERATIONS)
        self.assertIn(f"`usermod -aG {setting('Group')} USER`", OPERATIONS)
        with tempfile.TemporaryDirectory() as top:
            os.chmod(top, 0o755)
            program = shutil.copy(PROGRAM, top)
            os.chmod(program, 0o755)
            runtime = pathlib.Path(top, "runtime")
            runtime.mkdir()
            os.chown(runtime, SERVER, GROUP)
            runtime.chmod(int(setting("RuntimeDirectoryMode"), 8))
            path = runtime / "socket"
            with ServerProcess([program, f"--listen=unix:{path}", "--metrics=127.0.0.1:0",
                                "--device=cpu"], cwd="/", user=SERVER, group=GROUP,
                               extra_groups=[], umask=int(setting("UMask"), 8)):
                self.assertTrue(may_connect(path, MEMBER, [GROUP]))
                self.assertFalse(may_connect(path, STRANGER, []))


if __name__ == "__main__":
    unittest.main(verbosity=2)
