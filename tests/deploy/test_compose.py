"""compose.yaml, alone and under the override for machines without a GPU, is valid and agrees with
the files beside it: ports, names, users, paths, times."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

from sizes import byte_count, seconds

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDER = SOURCE / "deploy/docker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
NGINX = (FOLDER / "nginx.conf").read_text()
LONGEST_START = 1800  # seconds
PROGRAMS = pathlib.Path(sys.executable).parent


def merged(*names):
    """What Compose makes of the files together."""
    files = [argument for name in names for argument in ("-f", name)]
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("REDUCTION_")}
    done = subprocess.run([PROGRAMS / "podman-compose", *files, "config"], cwd=FOLDER, text=True,
                          capture_output=True, check=True, env=environment)
    return done.stdout


def directive(name):
    """The value of an nginx directive that stands once in the proxy's configuration."""
    values = re.findall(rf"(?m)^\s*{name} (.*);$", NGINX)
    assert len(values) == 1, (name, values)
    return values[0]


class ComposeTest(unittest.TestCase):
    files = ("compose.yaml",)
    absent = set()

    @classmethod
    def setUpClass(cls):
        cls.text = merged(*cls.files)
        cls.compose = yaml.safe_load(cls.text)
        cls.services = cls.compose["services"]
        cls.server, cls.proxy = cls.services["reduction-server"], cls.services["proxy"]

    def test_follows_the_compose_specification(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(self.text)
            file.flush()
            done = subprocess.run(
                [PROGRAMS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec",
                 file.name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_what_is_mounted_exists(self):
        for service in self.services.values():
            for source in (mount.split(":")[0] for mount in service.get("volumes", ())):
                if source.startswith("."):
                    self.assertTrue((FOLDER / source).exists(), source)
                else:
                    self.assertIn(source, self.compose["volumes"])

    def test_ports_are_published_to_this_machine_alone(self):
        published = {name: service["ports"] for name, service in self.services.items()
                     if "ports" in service}
        self.assertEqual(published, {"proxy": ["127.0.0.1:50051:50051"],
                                     "prometheus": ["127.0.0.1:9090:9090"],
                                     "grafana": ["127.0.0.1:3000:3000"]})
        self.assertEqual(directive("listen").split()[0], "50051")

    def test_the_servers_calls_are_on_a_socket_of_its_user_alone(self):
        environment = self.server["environment"]
        self.assertEqual(environment["REDUCTION_TARGET"], environment["REDUCTION_LISTEN"])
        self.assertEqual(directive("grpc_pass"), "grpc://" + environment["REDUCTION_LISTEN"])
        mount = "socket:" + os.path.dirname(environment["REDUCTION_LISTEN"].removeprefix("unix:"))
        self.assertEqual({name for name, service in self.services.items()
                          if mount in service.get("volumes", ())}, {"reduction-server", "proxy"})
        user, group = self.server["user"].split(":")
        self.assertEqual(self.proxy["user"], self.server["user"])
        self.assertRegex(DOCKERFILE, rf"(?m)^USER {user}(:{group})?$")
        options = self.compose["volumes"]["socket"]["driver_opts"]["o"].split(",")
        self.assertLessEqual({"mode=0700", f"uid={user}", f"gid={group}"}, set(options))

    def test_the_server_is_on_a_network_without_a_way_out(self):
        self.assertEqual(self.server["networks"], ["monitoring"])
        self.assertTrue(self.compose["networks"]["monitoring"]["internal"])
        self.assertNotIn("monitoring", self.proxy["networks"])

    def test_everything_runs_confined(self):
        for name, service in self.services.items():
            with self.subTest(service=name):
                if name != "dcgm-exporter":
                    self.assertTrue(service["read_only"])
                    self.assertEqual(service["cap_drop"], ["ALL"])
                    self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
                if "build" not in service:
                    self.assertRegex(service["image"], r"^[a-z/-]+:v?\d+\.\d+\.\d+")

    def test_prometheus_and_grafana_find_their_sources(self):
        scrapes = yaml.safe_load((SOURCE / "deploy/prometheus/prometheus.yml").read_text())
        targets = set()
        for job in scrapes["scrape_configs"]:
            for config in job.get("static_configs", ()):
                targets |= {tuple(target.split(":")) for target in config["targets"]}
            for config in job.get("dns_sd_configs", ()):
                targets |= {(name, str(config["port"])) for name in config["names"]}
        metrics = self.server["environment"]["REDUCTION_METRICS"].rsplit(":", 1)[1]
        self.assertEqual(targets, {("reduction-server", metrics), ("dcgm-exporter", "9400")})
        scraped = {name for name, _ in targets}
        for name in ({"prometheus", "grafana"} | scraped) - self.absent:
            self.assertIn("monitoring", self.services[name]["networks"])

        grafana = self.services["grafana"]
        mounts = dict(mount.split(":")[1::-1] for mount in grafana["volumes"])
        provisioning = FOLDER / mounts["/etc/grafana/provisioning"]
        sources, = (yaml.safe_load(path.read_text())
                    for path in (provisioning / "datasources").iterdir())
        self.assertEqual([source["url"] for source in sources["datasources"]],
                         ["http://prometheus:9090"])
        dashboards, = (yaml.safe_load(path.read_text())
                       for path in (provisioning / "dashboards").iterdir())
        folder = dashboards["providers"][0]["options"]["path"]
        home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
        self.assertEqual(os.path.dirname(home), folder)
        json.loads((FOLDER / mounts[folder] / os.path.basename(home)).read_text())

    def test_stopping_leaves_time_for_the_drain(self):
        drain = int(self.server["environment"]["REDUCTION_DRAIN"])
        self.assertGreaterEqual(seconds(self.server["stop_grace_period"]), drain + 2)
        self.assertGreaterEqual(seconds(self.proxy["stop_grace_period"]),
                                seconds(directive("worker_shutdown_timeout")) + 2)

    def test_a_start_may_compile_kernels(self):
        self.assertGreaterEqual(seconds(self.server["healthcheck"]["start_period"]), LONGEST_START)
        of_the_image, = re.findall(r"(?m)^HEALTHCHECK .*--start-period=(\w+) ", DOCKERFILE)
        self.assertGreaterEqual(seconds(of_the_image), LONGEST_START)

    def test_the_server_has_more_memory_than_it_gives_to_calls(self):
        limit = byte_count(self.server["environment"]["REDUCTION_MEMORY_LIMIT"])
        self.assertGreaterEqual(byte_count(self.server["mem_limit"]),
                                limit + byte_count(self.server["shm_size"]) + (1 << 30))

    def test_the_gpu(self):
        for name in ("reduction-server", "dcgm-exporter"):
            devices = self.services[name]["deploy"]["resources"]["reservations"]["devices"]
            self.assertEqual(devices, [{"driver": "nvidia", "count": "all",
                                        "capabilities": ["gpu"]}])


class CpuComposeTest(ComposeTest):
    files = ("compose.yaml", "compose.cpu.yaml")
    absent = {"dcgm-exporter"}  # it has a profile, which nobody asks for

    def test_the_gpu(self):
        self.assertFalse(self.server.get("deploy"))
        self.assertEqual(self.server["environment"]["REDUCTION_DEVICE"], "cpu")
        self.assertEqual(self.server["build"]["args"], ["VARIANT=cpu"])
        self.assertIn("AS toolchain-cpu\n", DOCKERFILE)
        self.assertNotIn("dcgm-exporter", self.services)


if __name__ == "__main__":
    unittest.main(verbosity=2)
