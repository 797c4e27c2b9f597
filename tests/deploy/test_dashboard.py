"""The shape of the shipped dashboard and of the alerts' annotations: what Grafana and readers need."""

import itertools
import re
import unittest

import dashboard
from prometheus_server import SHIPPED, SOURCE

GRID_WIDTH = 24


def distinguishing_label(expression):
    """The label by which the series of an expression differ in any case."""
    aggregation = re.match(r"sum by \((\w+)\)", expression)
    return aggregation[1] if aggregation else "instance"


class DashboardTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.dashboard = dashboard.load()
        cls.panels = dashboard.panels(cls.dashboard)

    def test_file_provisioning_works(self):
        self.assertIsNone(self.dashboard["id"])
        self.assertTrue(self.dashboard["uid"])
        self.assertNotIn("__inputs", self.dashboard)
        self.assertEqual(self.dashboard["templating"]["list"][0]["type"], "datasource")

    def test_every_panel_takes_the_data_source_from_the_variable(self):
        wanted = {"type": "prometheus", "uid": "${datasource}"}
        for panel in self.panels:
            for part in (panel, *panel["targets"]):
                self.assertEqual(part["datasource"], wanted, panel["title"])

    def test_identities_are_unique(self):
        everything = self.dashboard["panels"]
        for key in ("id", "title"):
            values = [panel[key] for panel in everything]
            self.assertEqual(len(set(values)), len(values), key)
        for panel in self.panels:
            references = [target["refId"] for target in panel["targets"]]
            self.assertEqual(len(set(references)), len(references), panel["title"])

    def test_panels_lie_in_the_grid_side_by_side(self):
        taken = {}
        for panel in self.dashboard["panels"]:
            position = panel["gridPos"]
            right, bottom = position["x"] + position["w"], position["y"] + position["h"]
            self.assertLessEqual(right, GRID_WIDTH, panel["title"])
            for cell in itertools.product(range(position["x"], right),
                                          range(position["y"], bottom)):
                self.assertIsNone(taken.get(cell), panel["title"])
                taken[cell] = panel["title"]

    def test_every_panel_says_what_it_shows(self):
        for panel in self.panels:
            with self.subTest(panel=panel["title"]):
                self.assertEqual(panel["type"], "timeseries")
                self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                self.assertRegex(panel["description"], r"\.$")
                self.assertTrue(panel["options"]["legend"]["showLegend"])
                for target in panel["targets"]:
                    self.assertIn(f"{{{{{distinguishing_label(target['expr'])}}}}}",
                                  target["legendFormat"])

    def test_what_is_stacked_adds_up(self):
        """Rates do. Means that each instance or device has for itself do not: only a mean over all
        that is chosen may be stacked."""
        stacked = [target["expr"] for panel in self.panels for target in panel["targets"]
                   if "stacking" in panel["fieldConfig"]["defaults"]["custom"]]
        self.assertTrue(stacked)
        rate = r"\w+:\w+:rate\d+m{[^}]*}"
        for expression in stacked:
            self.assertRegex(expression, rf"^{rate}( > 0)?$|^(?P<sum>sum by \(\w+\)) \({rate}\)"
                                         rf" / \((?P=sum) \({rate}\) > 0\)$")

    def test_expressions_use_known_variables(self):
        known = {variable["name"] for variable in self.dashboard["templating"]["list"]}
        for panel in self.panels:
            for target in panel["targets"]:
                used = set(re.findall(r"\$(\w+)", target["expr"]))
                self.assertLessEqual(used, known | {"__rate_interval"}, panel["title"])

    def test_recorded_names_exist(self):
        recorded = set(re.findall(r"record: (\S+)",
                                  (SHIPPED / "recording_rules.yml").read_text()))
        for panel in self.panels:
            for expression, _ in dashboard.expressions(panel):
                for name in re.findall(r"\b\w+:\w+:\w+\b", expression):
                    self.assertIn(name, recorded)


class AlertsTest(unittest.TestCase):

    def test_every_alert_has_what_its_reader_needs(self):
        rules = re.split(r"(?m)^ *- alert: ", (SHIPPED / "alerts.yml").read_text())[1:]
        self.assertEqual(len(rules), 7)
        for rule in rules:
            name = rule.split()[0]
            with self.subTest(alert=name):
                for pattern in (r"for: \d+m", "severity: (critical|warning)", "summary: .",
                                "description: ."):
                    self.assertRegex(rule, pattern)
                page, anchor = re.search(r"runbook_url: (\S+)#(\S+)", rule).groups()
                self.assertEqual(anchor, name.lower())
                self.assertRegex((SOURCE / page).read_text(), rf"(?m)^#+ {name}$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
