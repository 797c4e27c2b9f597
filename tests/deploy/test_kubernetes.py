"""The overlays of deploy/kubernetes, as `kubectl kustomize` renders them, are valid in old and new
Kubernetes and agree with the server's options."""

import pathlib
import subprocess
import unittest

import kubernetes_validate
import yaml

from sizes import byte_count

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/kubernetes"
# The oldest and the newest that the checker knows, and one between. The gRPC probe is in all.
VERSIONS = ("1.25", "1.30", kubernetes_validate.latest_version())
SERVICE = "reduction.v1.Reduction"


def render(overlay):
    done = subprocess.run(["kubectl", "kustomize", FOLDER / overlay], capture_output=True,
                          text=True, check=True)
    return list(yaml.safe_load_all(done.stdout))


class OverlayTest:
    """What holds for both overlays."""

    def setUp(self):
        self.objects = {entry["kind"]: entry for entry in render(self.overlay)}
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
            for entry in self.objects.values():
                kubernetes_validate.validate(entry, version, strict=True)

    def test_a_wrong_name_would_not_follow_it(self):
        self.container["readinesProbe"] = self.container.pop("readinessProbe")
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(self.objects["Deployment"], VERSIONS[-1], strict=True)

    def test_labels_select_the_pods(self):
        labels = self.objects["Deployment"]["spec"]["template"]["metadata"]["labels"]
        for selector in (self.objects["Deployment"]["spec"]["selector"]["matchLabels"],
                         self.objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
                         self.objects["Service"]["spec"]["selector"]):
            self.assertLessEqual(selector.items(), labels.items())
            self.assertTrue(selector)

    def test_ports_are_the_servers(self):
        for name, option in (("grpc", "listen"), ("metrics", "metrics")):
            self.assertEqual(self.options[option], f"0.0.0.0:{self.ports[name]}")
        service = self.objects["Service"]["spec"]
        self.assertEqual(service["clusterIP"], "None")
        self.assertEqual({port["name"]: port["port"] for port in service["ports"]}, self.ports)
        for port in service["ports"]:
            self.assertEqual(port["targetPort"], port["name"])
        annotations = self.objects["Deployment"]["spec"]["template"]["metadata"]["annotations"]
        self.assertEqual(annotations["prometheus.io/port"], str(self.ports["metrics"]))

    def test_probes_ask_for_liveness_and_readiness(self):
        for probe, service in (("startupProbe", ""), ("livenessProbe", ""),
                               ("readinessProbe", SERVICE)):
            grpc = self.container[probe]["grpc"]
            self.assertEqual((grpc["port"], grpc.get("service", "")), (self.ports["grpc"], service))
        start = self.container["startupProbe"]
        self.assertGreaterEqual(start["periodSeconds"] * start["failureThreshold"], 30)

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
