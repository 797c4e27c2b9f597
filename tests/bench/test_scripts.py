"""The benchmark's scripts on made-up rows: every row appears, the charts are XML with legible text."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).parent
SVG = "{http://www.w3.org/2000/svg}"
SIZE_NAMES = ["TWO_PASS", "ATOMIC", "CUB sum", "Thrust, synchronises", "read only", "torch.sum"]
SEGMENT_NAMES = ["segments, sum", "segments, all statistics", "flat sum", "CUB segmented sum",
                 "read only"]
LAYOUTS = ["65,536 segments of 1,024", "84,903 segments of power-law lengths, 1 to 10^7"]
STEP_NAMES = [f"V{i} a step that changes & mends < one thing" for i in range(8)]


def row(group, name, elements, speed, element_type="float32", **more):
    return {"group": group, "row": name, "type": element_type, "elements": elements,
            "milliseconds": elements * 4 / speed / 1e6, "spread": 0.0123, "runs": 21, "batch": 1,
            "gigabytes_per_second": speed, "share_of_peak": speed / 4800, **more}


def made_up_rows():
    rows = [{"group": "device", "row": "Made-up GPU", "multiprocessors": 132,
             "peak_gigabytes_per_second": 4800.0}]
    for power in range(10, 31):
        for i, name in enumerate(SIZE_NAMES):
            speed = (4600 - 77 * i) * 2**power / (2**power + 2**23)
            rows.append(row("sizes", name, 2**power, speed, ratio_to_cub=1 + i / 100,
                            ratio_to_read_only=0.9))
    for i, name in enumerate(STEP_NAMES + SIZE_NAMES):
        rows.append(row("ladder", name, 2**27, 345 + 320 * i, ratio_to_cub=0.5))
    for name in ("series: naive", "torch.sum"):
        rows.append(row("series", name, 4 << 20, 700))
    for element_type in ("float16", "int64"):
        for name in ("sum", "all", "read only"):
            rows.append(row("types", name, 2**30, 4321, element_type, ratio_to_read_only=0.951))
    for elements in (4 << 20, 1 << 28):
        stage = row("stages", "allocate", elements, 1)
        del stage["gigabytes_per_second"], stage["share_of_peak"]
        rows += [stage, row("stages", "copy in", elements, 55)]
    for i, layout in enumerate(LAYOUTS):
        for j, name in enumerate(SEGMENT_NAMES):
            rows.append(row("segments", name, 2**26 + i, 4400 - 100 * i - 3 * j, setting=layout,
                            ratio_to_flat=0.987, ratio_to_cub=1.234, ratio_to_read_only=0.95))
    for threads in ("1 thread", "16 threads"):
        for name in ("sum", "all statistics", "scan", "scan, four streams"):
            cpu = row("cpu", name, 2**28, 60, setting=f"Made-up CPU, {threads}",
                      ratio_to_read_only=0.876)
            del cpu["share_of_peak"]
            rows.append(cpu)
    rows.append(row("a group of its own", "a new row", 12345, 4000))
    return rows


ROWS = made_up_rows()
LINES = "".join(json.dumps(line) + "\n" for line in ROWS)


def run(script, *arguments, lines=LINES, python=(sys.executable,)):
    return subprocess.run([*python, HERE / script, *arguments], input=lines, text=True,
                          encoding="utf-8", capture_output=True, check=False)


class Tables(unittest.TestCase):
    def setUp(self):
        done = run("make_tables.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.sections = dict(
            re.findall(r"^### (.*)\n((?:(?!### ).*\n)*)", done.stdout, re.M))
        self.text = done.stdout

    def test_every_row_appears(self):
        groups = {line["group"] for line in ROWS} - {"device"}
        self.assertEqual(len(self.sections), len(groups))
        for line in ROWS:
            if line["row"] != "CUB segmented sum":  # a column
                self.assertIn(line["row"], self.text)

    def test_tables_are_rectangular(self):
        for title, section in self.sections.items():
            widths = {line.count("|") for line in section.splitlines() if line.startswith("|")}
            self.assertEqual(len(widths), 1, title)

    def test_a_length_is_a_line_with_its_times(self):
        lines = self.sections["float32 sum by length"].splitlines()
        line = next(line for line in lines if line.startswith("| 2^30 |"))
        two_pass = next(r for r in ROWS if r["group"] == "sizes" and r["elements"] == 2**30)
        self.assertIn(f"| {two_pass['milliseconds'] * 1e3:.1f} |", line)
        self.assertEqual(len([line for line in lines if line.startswith("| 2^")]), 21)

    def test_a_type_is_a_line_with_its_ratios(self):
        self.assertIn("| int64 | 4321 (0.951) | 4321 (0.951) | 4321 |",
                      self.sections["Every element type"])

    def test_a_layout_of_segments_is_a_line_beside_its_yardsticks(self):
        lines = self.sections["Segments"].splitlines()
        self.assertIn("flat sum, GB/s | CUB, GB/s | read only, GB/s", lines[1])
        for i, layout in enumerate(LAYOUTS):
            line = next(line for line in lines if line.startswith(f"| {layout} | segments, sum |"))
            top = 4400 - 100 * i
            self.assertIn(f"| {top} | {top - 6} | {top - 9} | {top - 12} | 1.2% |", line)
            self.assertTrue(line.endswith("| 0.987 | 1.234 | 0.950 |"), line)
        self.assertEqual(len([line for line in lines if "| segments, " in line]), 4)

    def test_the_cpu_is_compared_with_the_scan_of_the_same_threads(self):
        section = self.sections["The CPU backend"]
        self.assertIn("× scan, same threads |", section)
        for threads in ("1 thread", "16 threads"):
            self.assertRegex(section, rf"\| Made-up CPU, {threads} \| sum \| .* \| 60 \| 0\.876 \|")

    def test_rows_without_a_speed_have_a_dash(self):
        line = next(line for line in self.text.splitlines() if line.startswith("| allocate |"))
        self.assertIn("–", line)


class Charts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.done = run("draw_charts.py", cls.folder.name)

    def chart(self, name):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        return ElementTree.parse(pathlib.Path(self.folder.name) / f"{name}.svg").getroot()

    def texts(self, name):
        return ["".join(text.itertext()) for text in self.chart(name).iter(SVG + "text")]

    def test_every_step_has_a_bar_and_its_speed(self):
        texts = self.texts("ladder")
        for line in ROWS:
            if line["group"] == "ladder":
                self.assertIn(line["row"], texts)
                self.assertIn(f"{line['gigabytes_per_second']:,.0f}", texts)
        self.assertIn("peak 4,800 GB/s", texts)

    def test_every_layout_of_segments_has_a_bar_for_each_row(self):
        texts = self.texts("segments")
        for layout in LAYOUTS:
            for name in SEGMENT_NAMES:
                self.assertIn(f"{layout}: {name}", texts)

    def test_every_kernel_has_a_line_and_a_legend(self):
        texts = self.texts("sizes")
        for name in SIZE_NAMES:
            self.assertEqual(texts.count(name), 1)
        longest = [line for line in self.chart("sizes").iter(SVG + "polyline")
                   if len(line.get("points").split()) == 21]
        self.assertEqual(len(longest), len(SIZE_NAMES))

    def test_texts_lie_inside_and_apart(self):
        for name in ("ladder", "sizes", "segments"):
            root = self.chart(name)
            boxes = []
            for text in root.iter(SVG + "text"):
                if text.get("transform"):
                    continue
                size, words = float(text.get("font-size")), "".join(text.itertext())
                width = 0.5 * size * len(words)
                x = float(text.get("x")) - {"start": 0, "middle": 0.5, "end": 1}[
                    text.get("text-anchor")] * width
                boxes.append((x, float(text.get("y")) - 0.75 * size, x + width,
                              float(text.get("y")), words))
            for i, (x1, y1, x2, y2, words) in enumerate(boxes):
                self.assertGreaterEqual(min(x1, y1), 0, words)
                self.assertLessEqual(x2, float(root.get("width")), words)
                self.assertLessEqual(y2, float(root.get("height")), words)
                for u1, v1, u2, v2, other in boxes[:i]:
                    apart = x1 >= u2 or u1 >= x2 or y1 >= v2 or v1 >= y2
                    self.assertTrue(apart, f"{name}: {words!r} lies on {other!r}")


class TorchSum(unittest.TestCase):
    def test_says_in_one_line_that_pytorch_is_missing(self):
        done = run("torch_sum.py", python=(sys.executable, "-S"))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Atorch\.sum: not measured: .*\n\Z")


if __name__ == "__main__":
    unittest.main()
