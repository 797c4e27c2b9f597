"""A stage for the server and the proxy of compose.yaml: a network and mounts of the test's own, in
which both run from copies of the very files that compose mounts, as the users and with the commands,
environment and volumes that it gives them. Needs root, for the users and the mounts."""

import itertools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys

import yaml

from server_process import PATIENCE_SECONDS, ServerProcess, eventually

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/docker"
PROGRAMS = pathlib.Path("/run/programs")
NOBODY = 65534


def enter():
    """Starts this program again in namespaces of its own, where it returns."""
    if os.environ.get("REDUCTION_STAGE") != "entered":
        namespaces = ["unshare", "--net", "--mount", "--"]
        if subprocess.run([*namespaces, "true"]).returncode != 0:
            print("needs root, and leave to have a network and mounts of its own")
            sys.exit(1 if os.environ.get("REDUCTION_REQUIRE_DEPLOY") == "1" else 77)
        os.environ["REDUCTION_STAGE"] = "entered"
        os.execvp("unshare", [*namespaces, sys.executable, *sys.argv])
    run("ip", "link", "set", "lo", "up")
    run("mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/run")
    os.umask(0o022)
    PROGRAMS.mkdir()
    for program in ("REDUCTION_SERVER", "REDUCTION_COMMAND"):
        public_copy(os.environ[program], 0o755)


def public_copy(path, mode=0o644):
    """A copy that every user may read, whatever the mode of the file and of the folders above it."""
    copy = PROGRAMS / pathlib.Path(path).name
    shutil.copy(path, copy)
    copy.chmod(mode)
    return copy


def run(*command):
    subprocess.run(command, check=True)


def mount(target, options):
    pathlib.Path(target).mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "-o", options, "tmpfs", target)


def identity(service):
    """The user and group of a service, for Popen."""
    user, group = service["user"].split(":")
    return {"user": int(user), "group": int(group), "extra_groups": []}


class Stage:
    """compose.yaml's server and proxy. mount_all() once, then start either as often as needed."""

    def __init__(self):
        self.compose = yaml.safe_load((FOLDER / "compose.yaml").read_text())
        services = self.compose["services"]
        self._server, self._proxy = services["reduction-server"], services["proxy"]
        self.socket_path = self._server["environment"]["REDUCTION_LISTEN"].removeprefix("unix:")
        self.port = int(self._proxy["ports"][0].rsplit(":", 1)[1])
        self.proxy_address = f"127.0.0.1:{self.port}"
        self.socket_address = f"unix:{self.socket_path}"

    def mount_all(self):
        """Mounts what both services share and the proxy has."""
        for volume in self._proxy["volumes"]:
            source, target = volume.split(":")[:2]
            if source.startswith("."):
                run("mount", "--bind", str(public_copy(FOLDER / source)), target)
            else:
                assert volume in self._server["volumes"], "the server does not share the volume"
                mount(target, self.compose["volumes"][source]["driver_opts"]["o"])
        for target, options in (entry.split(":") for entry in self._proxy["tmpfs"]):
            mount(target, options)

    def start_server(self, *options):
        environment = dict(os.environ, **self._server["environment"])
        return ServerProcess([PROGRAMS / "reduction-server", "--device=cpu", *options],
                             env=environment, cwd="/", **identity(self._server))

    def start_proxy(self):
        return Proxy(self._proxy, self.port)


class Proxy:
    """The proxy of compose.yaml, until the end of a with statement. It has a process for each core of
    the machine; all calls of a connection are in one."""

    def __init__(self, service, port):
        self._identity = identity(service)
        self._stop_signal = signal.Signals[service["stop_signal"]]
        self._process = subprocess.Popen(service["entrypoint"], stdin=subprocess.DEVNULL, cwd="/",
                                         **self._identity)
        eventually(lambda: not self.running() or is_open(port), "the proxy listens")
        assert self.running(), "the proxy has ended"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.running():
            self.begin_to_stop()
            self.wait()

    def running(self):
        return self._process.poll() is None

    def _members(self):
        return [self._process.pid, *children(self._process.pid)]

    def leave_room(self, files):
        """Each of its processes may open so many files and connections more, and no further ones."""
        for pid in self._members():
            taken = set(map(int, os.listdir(f"/proc/{pid}/fd")))
            free = (number for number in itertools.count() if number not in taken)
            most = 1 + next(itertools.islice(free, files - 1, None))  # above all that it may open
            subprocess.run(["prlimit", f"--pid={pid}", f"--nofile={most}"], check=True, cwd="/",
                           **self._identity)  # root may not have the right to

    def begin_to_stop(self):
        self._process.send_signal(self._stop_signal)

    def wait(self):
        return self._process.wait(timeout=PATIENCE_SECONDS)

    def peak_resident_bytes(self):
        """Of the process that has taken most."""
        return max(int(line.split()[1]) << 10 for pid in self._members()
                   for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                   if line.startswith("VmHWM:"))


def children(pid):
    return map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def is_open(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def listening_ports():
    """TCP ports that anything on the stage listens on."""
    lines = [line.split() for name in ("tcp", "tcp6")
             for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {int(fields[1].rsplit(":", 1)[1], 16) for fields in lines if fields[3] == "0A"}
