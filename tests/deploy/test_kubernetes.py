"""The overlays of deploy/kubernetes, as `kubectl kustomize` renders them, are valid in old and new
Kubernetes and agree with the server's options."""

import pathlib
import re
import subprocess
import unittest

import kubernetes_validate
import yaml

from sizes import byte_count

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/kubernetes"
# The oldest and the newest that the checker knows, and one between. The gRPC probe is in all.
VERSIONS = ("1.25", "1.30", kubernetes_validate.latest_version())
SERVICE = "reduction.v1.Reduction"
METRICS_SERVICE = "reduction-server-metrics"
LONGEST_START = 1800  # seconds
OPERATIONS = (FOLDER.parents[1] / "docs/OPERATIONS.md").read_text()


def render(overlay):
    done = subprocess.run(["kubectl", "kustomize", FOLDER / overlay], capture_output=True,
                          text=True, check=True)
    return list(yaml.safe_load_all(done.stdout))


class OverlayTest:
    """What holds for both overlays."""

    def setUp(self):
        entries = render(self.overlay)
        self.services = {entry["metadata"]["name"]: entry["spec"] for entry in entries
                         if entry["kind"] == "Service"}
        self.objects = {entry["kind"]: entry for entry in entries}
        self.pod = self.objects["Deployment"]["spec"]["template"]["spec"]
        self.container, = self.pod["containers"]
        self.options = dict(argument.removeprefix("--").split("=")
                            for argument in self.container["args"])
        self.ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        self.environment = {entry["name"]: entry["value"] for entry in self.container["env"]}

    def test_every_object_follows_its_schema(self):
        self.assertEqual(set(self.objects), {"Deployment", "PodDisruptionBudget", "Service",
                                             "ServiceAccount"})
        for version in VERSIONS:
            for entry in render(self.overlay):
                kubernetes_validate.validate(entry, version, strict=True)

    def test_a_wrong_name_would_not_follow_it(self):
        self.container["readinesProbe"] = self.container.pop("readinessProbe")
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(self.objects["Deployment"], VERSIONS[-1], strict=True)

    def test_labels_select_the_pods(self):
        labels = self.objects["Deployment"]["spec"]["template"]["metadata"]["labels"]
        for selector in (self.objects["Deployment"]["spec"]["selector"]["matchLabels"],
                         self.objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
                         *(service["selector"] for service in self.services.values())):
            self.assertLessEqual(selector.items(), labels.items())
            self.assertTrue(selector)

    def test_ports_are_the_servers(self):
        for name, option in (("grpc", "listen"), ("metrics", "metrics")):
            self.assertEqual(self.options[option], f"0.0.0.0:{self.ports[name]}")
        for service, name in (("reduction-server", "grpc"), (METRICS_SERVICE, "metrics")):
            port, = self.services[service]["ports"]
            self.assertEqual((port["name"], port["port"], port["targetPort"]),
                             (name, self.ports[name], name))
            self.assertEqual(self.services[service]["clusterIP"], "None")
        annotations = self.objects["Deployment"]["spec"]["template"]["metadata"]["annotations"]
        self.assertEqual(annotations["prometheus.io/port"], str(self.ports["metrics"]))

    def test_probes_ask_for_liveness_and_readiness(self):
        for probe, service in (("startupProbe", ""), ("livenessProbe", ""),
                               ("readinessProbe", SERVICE)):
            grpc = self.container[probe]["grpc"]
            self.assertEqual((grpc["port"], grpc.get("service", "")), (self.ports["grpc"], service))

    def test_a_start_may_compile_kernels(self):
        start = self.container["startupProbe"]
        patience = start["periodSeconds"] * start["failureThreshold"]
        self.assertGreaterEqual(patience, LONGEST_START)
        self.assertGreater(self.objects["Deployment"]["spec"]["progressDeadlineSeconds"], patience)

    def test_prometheus_finds_servers_that_are_not_ready(self):
        self.assertTrue(self.services[METRICS_SERVICE]["publishNotReadyAddresses"])
        self.assertFalse(self.services["reduction-server"].get("publishNotReadyAddresses"))
        discovery, = re.findall(r"`dns_sd_configs: (\[.*\])`", OPERATIONS)
        config, = yaml.safe_load(discovery)
        self.assertEqual(config, {"names": [f"{METRICS_SERVICE}.NAMESPACE.svc"], "type": "A",
                                  "port": self.ports["metrics"]})

    def test_stopping_leaves_time_for_the_drain(self):
        program, wait = self.container["lifecycle"]["preStop"]["exec"]["command"]
        self.assertEqual(program, "sleep")
        self.assertGreaterEqual(self.pod["terminationGracePeriodSeconds"],
                                int(wait) + int(self.options["drain"]) + 2)

    def test_memory_holds_calls_shared_memory_and_the_program(self):
        shm, = (volume["emptyDir"] for volume in self.pod["volumes"])
        self.assertEqual(shm["medium"], "Memory")
        self.assertEqual(self.container["volumeMounts"],
                         [{"name": self.pod["volumes"][0]["name"], "mountPath": "/dev/shm"}])
        resources = self.container["resources"]
        self.assertGreaterEqual(byte_count(resources["limits"]["memory"]),
                                byte_count(self.options["memory-limit"])
                                + byte_count(shm["sizeLimit"]) + (1 << 30))
        self.assertEqual(resources["requests"]["memory"], resources["limits"]["memory"])

    def test_the_pod_is_restricted(self):
        context = {**self.pod["securityContext"], **self.container["securityContext"]}
        self.assertEqual(context, {
            "runAsNonRoot": True, "runAsUser": 10001, "runAsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"}, "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
        self.assertFalse(self.pod["automountServiceAccountToken"])
        self.assertEqual(self.pod["serviceAccountName"],
                         self.objects["ServiceAccount"]["metadata"]["name"])


class GpuTest(OverlayTest, unittest.TestCase):
    overlay = "gpu"

    def test_asks_for_a_gpu_and_fails_without_one(self):
        self.assertEqual(self.container["resources"]["limits"]["nvidia.com/gpu"], 1)
        self.assertEqual(self.environment, {"REDUCTION_DEVICE": "cuda"})
        self.assertEqual(self.container["image"], "reduction")


class CpuTest(OverlayTest, unittest.TestCase):
    overlay = "cpu"

    def test_asks_for_no_gpu(self):
        self.assertNotIn("nvidia.com/gpu", str(self.objects))
        self.assertEqual(self.environment, {"REDUCTION_DEVICE": "cpu"})
        self.assertEqual(self.container["image"], "reduction:cpu")


if __name__ == "__main__":
    unittest.main(verbosity=2)
