"""README.md is true: its commands run, its snippets are those of the examples, its links lead
somewhere and its options exist.

    test_readme.py SOURCE_FOLDER BUILD_FOLDER

Blocks of README.md by the words after their opening fence:
  sh           run here, in order, with a server at hand
  sh server    the command that starts that server
  sh in-ci     run by .ci/run or deploy/test-bare-root.sh; here only the targets must exist
  cpp FILE, cmake FILE    a run of lines of FILE, indentation aside
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from server_process import ServerProcess

SOURCE = pathlib.Path(sys.argv[1])
BUILD = pathlib.Path(sys.argv[2])
PROGRAMS = BUILD / "bin"
README = (SOURCE / "README.md").read_text()
BLOCKS = re.findall(r"^```(\S*) ?(.*)\n((?:.*\n)*?)```$", README, re.M)


def blocks(language, words):
    """Texts of the blocks with this language and these words."""
    return [text for name, rest, text in BLOCKS if (name, rest) == (language, words)]


def stripped(text):
    """The lines of text that are not blank, without indentation."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def start_server(folder):
    """The server of the README, on free ports."""
    (command,) = blocks("sh", "server")
    addresses = {"REDUCTION_LISTEN": "127.0.0.1:0", "REDUCTION_METRICS": "127.0.0.1:0"}
    return ServerProcess(["bash", "-c", "exec " + command.strip()], cwd=folder,
                         env=os.environ | addresses)


class ReadmeTest(unittest.TestCase):

    def test_commands_run_against_the_server_it_starts(self):
        commands = "".join(blocks("sh", ""))
        self.assertIn("reduction sum", commands)
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            (scratch / "build").mkdir()
            (scratch / "build/release").symlink_to(BUILD)
            (scratch / "tests").symlink_to(SOURCE / "tests")
            with start_server(folder) as server:
                environment = os.environ | {"REDUCTION_TARGET": server.listen[0]}
                script = commands.replace("127.0.0.1:9464", server.metrics)
                done = subprocess.run(["bash", "-euxo", "pipefail", "-c", script], cwd=folder,
                                      env=environment, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True)
                print(done.stdout, done.stderr, sep="")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(server.stop(), 0)
        for line in sum((stripped(text) for text in blocks("text", "printed")), []):
            self.assertIn(line, stripped(done.stdout))

    def test_commands_left_to_ci_name_targets_that_exist(self):
        makefile = (SOURCE / "Makefile").read_text()
        lines = sum((stripped(text) for text in blocks("sh", "in-ci")), [])
        self.assertTrue(lines)
        for line in lines:
            target = re.fullmatch(r"make ([a-z-]+)(?: +#.*)?", line)
            self.assertTrue(target, line)
            self.assertRegex(makefile, rf"(?m)^{target[1]}:")

    def test_snippets_are_those_of_the_examples(self):
        snippets = [(rest, text) for name, rest, text in BLOCKS if name in ("cpp", "cmake")]
        self.assertTrue(snippets)
        for path, text in snippets:
            example = "\n".join(stripped((SOURCE / path).read_text()))
            self.assertIn("\n".join(stripped(text)), example, path)

    def test_every_block_has_known_words(self):
        for name, rest, text in BLOCKS:
            with self.subTest(block=text):
                known = {("sh", ""), ("sh", "server"), ("sh", "in-ci"), ("text", "printed")}
                if name in ("cpp", "cmake"):
                    self.assertTrue((SOURCE / rest).is_file(), rest)
                else:
                    self.assertIn((name, rest), known)

    def test_links_lead_to_files(self):
        links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", README)
        self.assertTrue(links)
        for link in links:
            self.assertTrue((SOURCE / link).exists(), link)

    def test_options_exist(self):
        asked = [[PROGRAMS / "reduction-server"], [PROGRAMS / "reduction"],
                 [PROGRAMS / "reduction", "sum"]]
        helps = "".join(subprocess.run([*words, "--help"], check=True, capture_output=True,
                                       text=True).stdout for words in asked)
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"(?m)^cmake .*", "", README)))
        self.assertTrue(options)
        for option in options:
            self.assertRegex(helps, rf"(?<![\w-]){option}(?![\w-])", option)


unittest.main(argv=sys.argv[:1], verbosity=2)
