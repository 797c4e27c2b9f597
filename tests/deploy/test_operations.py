"""docs/OPERATIONS.md is true: its commands run, its links lead somewhere, and the options, metrics
and panels that it names exist. Blocks `sh elsewhere` need a cluster or Docker and do not run here."""

import os
import pathlib
import re
import subprocess
import unittest

import dashboard
from calls import PROGRAM, start_server
from prometheus_server import SOURCE

DOCS = SOURCE / "docs"
TEXT = (DOCS / "OPERATIONS.md").read_text()
BLOCKS = re.findall(r"(?m)^```(\S+ ?.*)\n((?:.*\n)*?)```$", TEXT)
# Options of other programs than ours.
FOREIGN = {"--build", "--preset", "--gpu-reset", "--query-gpu", "--format", "--previous"}
PROGRAMS = pathlib.Path(PROGRAM).resolve().parent


def help_of(*command):
    return subprocess.run([PROGRAMS / command[0], *command[1:], "--help"], check=True,
                          capture_output=True, text=True).stdout


def anchors(path):
    """The anchors of a page's headings."""
    headings = re.findall(r"(?m)^#+ (.+)$", path.read_text())
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


class OperationsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(start_server())

    def test_commands_run(self):
        script = "".join(text for words, text in BLOCKS if words == "sh")
        self.assertIn("reduction health", script)
        done = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c",
             script.replace("127.0.0.1:9464", self.server.metrics)],
            cwd=SOURCE, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env=os.environ | {"REDUCTION_TARGET": self.server.listen[0],
                              "PATH": f"{PROGRAMS}:{os.environ['PATH']}"})
        print(done.stdout, done.stderr, sep="")
        self.assertEqual(done.returncode, 0)

    def test_blocks_are_of_known_kinds(self):
        self.assertEqual({words for words, _ in BLOCKS}, {"sh", "sh elsewhere"})

    def test_files_of_commands_exist(self):
        for path in re.findall(r"(?<![\w/])deploy/[\w./-]+\w", TEXT):
            self.assertTrue((SOURCE / path).exists(), path)

    def test_links_lead_somewhere(self):
        links = re.findall(r"\]\(([^)]+)\)", TEXT)
        self.assertTrue(links)
        for link in links:
            page, _, anchor = link.partition("#")
            path = DOCS / page if page else DOCS / "OPERATIONS.md"
            self.assertTrue(path.exists(), link)
            if anchor:
                self.assertIn(anchor, anchors(path), link)

    def test_options_exist(self):
        known = help_of("reduction-server") + help_of("reduction")
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT)) - FOREIGN
        self.assertTrue(options)
        for option in options:
            self.assertRegex(known, rf"(?<![\w-]){option}(?![\w-])")

    def test_metrics_exist(self):
        names = set(re.findall(r"`((?:reduction|grpc|process)_\w+)`", TEXT))
        self.assertTrue(names)
        text = self.server.scrape()
        for name in names:
            self.assertRegex(text, rf"(?m)^{name}(?:_bucket)?[{{ ]", name)

    def test_panels_exist(self):
        titles = {panel["title"] for panel in dashboard.panels(dashboard.load())}
        named = set(re.findall(r"(?<!\*)\*([A-Z][\w', ]+)\*(?!\*)", TEXT.replace("\n", " ")))
        self.assertTrue(named & titles)
        of_the_text = {"Staging", "Streams at once", "Messages in flight", "Segments"}
        self.assertLessEqual({re.sub(" +", " ", name) for name in named} - of_the_text, titles)


if __name__ == "__main__":
    unittest.main(verbosity=2)
