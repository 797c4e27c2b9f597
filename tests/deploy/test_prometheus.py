"""A real Prometheus with the shipped configuration and rules scrapes a real server under calls of
every kind: every panel and every rule has data, and promtool accepts everything."""

import math
import pathlib
import subprocess
import tempfile
import unittest

import dashboard
from calls import start_server
from mixed_load import MixedLoad
from prometheus_server import SHIPPED, PrometheusServer, derive_config
from server_process import eventually

OPERATIONS = ("sum", "max", "min", "dot", "reduce")
CODES_OF_THE_LOAD = ("OK", "InvalidArgument", "OutOfRange", "FailedPrecondition",
                     "ResourceExhausted", "Canceled")


class LivePrometheusTest(unittest.TestCase):
    """The load runs until the end of the class, so that every rate grows."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.server = cls.enterClassContext(start_server())
        config = derive_config(folder, cls.server.metrics)
        cls.prometheus = cls.enterClassContext(PrometheusServer(config, folder / "data"))
        cls.load = cls.enterClassContext(MixedLoad(cls.server.listen[0]))
        cls.panels = dashboard.panels(dashboard.load())

    @classmethod
    def tearDownClass(cls):
        if cls.load.wrong:
            raise AssertionError(cls.load.wrong)

    def samples(self, expression):
        return [(labels, value) for labels, value in self.prometheus.query(expression)
                if not math.isnan(value)]

    def assertHasSamples(self, expression):
        eventually(lambda: self.samples(expression), f"{expression} has a sample", every=0.2)

    def assertPositive(self, expression):
        eventually(lambda: any(value > 0 for _, value in self.samples(expression)),
                   f"{expression} is positive", every=0.2)

    def test_every_panel_has_data(self):
        asked = 0
        for panel in self.panels:
            for expression, legend in dashboard.expressions(panel, self.server.metrics, "cpu"):
                with self.subTest(panel=panel["title"], expression=expression):
                    if expression.startswith(dashboard.GPU_EXPORTER_PREFIX):
                        self.prometheus.query(expression)  # QueryError where it does not parse
                        continue
                    self.assertHasSamples(expression)
                    labels, _ = self.samples(expression)[0]
                    self.assertNotIn("  ", dashboard.legend(legend, labels), "a label is missing")
                    asked += 1
        self.assertGreater(asked, 20)

    def test_links_have_bandwidth_and_peak(self):
        for panel in self.panels[:5]:
            for expression, _ in dashboard.expressions(panel):
                with self.subTest(panel=panel["title"], expression=expression):
                    self.assertPositive(expression)

    def test_every_recording_rule_has_data(self):
        rules = self.prometheus.rules("record")
        self.assertGreater(len(rules), 10)
        for rule in rules:
            for expression in (rule["query"], rule["name"]):
                with self.subTest(expression=expression):
                    self.assertHasSamples(expression)

    def test_rules_are_evaluated_without_errors(self):
        def evaluated():
            rules = self.prometheus.rules("record") + self.prometheus.rules("alert")
            return rules if all(rule["health"] != "unknown" for rule in rules) else None
        for rule in eventually(evaluated, "every rule was evaluated"):
            self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None), rule["name"])

    def test_no_alert_of_a_server_that_fares_well(self):
        def alerts(name):
            (rule,) = [rule for rule in self.prometheus.rules("alert") if rule["name"] == name]
            return rule["alerts"]
        for name in ("TargetDown", "RestartLoop", "ErrorRatioHigh", "GpuUnhealthy"):
            # A scrape that takes longer than its second makes one pending until the next.
            eventually(lambda: alerts(name) == [], f"{name} is silent", every=0.2)

    def test_variables_of_the_dashboard_have_values(self):
        for metric, label, value in (("reduction_build_info", "instance", self.server.metrics),
                                     ("reduction_lanes", "device", "cpu")):
            query = f"label_values({metric}"
            variables = dashboard.load()["templating"]["list"]
            self.assertTrue([variable for variable in variables
                             if str(variable.get("definition")).startswith(query)], query)
            eventually(lambda: [labels[label] for labels, _ in self.samples(metric)] == [value],
                       f"{metric} has {label}={value}")

    def test_load_is_of_every_kind(self):
        for operation in OPERATIONS:
            self.assertPositive(f'sum(reduction_bytes_total{{op="{operation}"}})')
        for source in ("inline", "stream"):
            self.assertPositive(f'sum(reduction_bytes_total{{source="{source}"}})')
        for code in CODES_OF_THE_LOAD:
            self.assertPositive(f'sum(grpc_server_handled_total{{grpc_code="{code}"}})')
        for reason in ("message_size", "streams"):
            self.assertPositive(f'reduction_rejected_total{{reason="{reason}"}}')

    def test_promtool_accepts_the_metrics_under_load(self):
        self.assertHasSamples("reduction_build_info")
        done = subprocess.run(["promtool", "check", "metrics"], input=self.server.scrape(),
                              capture_output=True, text=True)
        print(done.stdout, done.stderr, sep="")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class DeadServerTest(unittest.TestCase):

    def test_a_server_that_ends_makes_target_down_pending(self):
        with tempfile.TemporaryDirectory() as folder, start_server() as server:
            config = derive_config(folder, server.metrics)
            with PrometheusServer(config, pathlib.Path(folder) / "data") as prometheus:
                eventually(lambda: prometheus.query("up == 1"), "the server is scraped")
                self.assertEqual(server.stop(), 0)
                eventually(lambda: prometheus.query(
                    'ALERTS{alertname="TargetDown", alertstate="pending"}'), "an alert", every=0.2)


class PromtoolTest(unittest.TestCase):
    """promtool accepts what is shipped."""

    def check(self, *arguments):
        done = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
        print(done.stdout, done.stderr, sep="")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_configuration(self):
        self.check("check", "config", SHIPPED / "prometheus.yml")

    def test_rules(self):
        self.check("check", "rules", "--lint-fatal", SHIPPED / "recording_rules.yml",
                   SHIPPED / "alerts.yml")

    def test_unit_tests_of_the_rules(self):
        self.check("test", "rules", SHIPPED / "recording_rules_test.yml",
                   SHIPPED / "alerts_test.yml")


if __name__ == "__main__":
    unittest.main(verbosity=2)
