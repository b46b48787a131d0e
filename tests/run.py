# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`./dev test`: every check and test, in order of how soon they find a fault, then a summary."""

import argparse
import importlib
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutants import run as mutants

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Options:
    """What the command line asks for."""

    build: Path
    quick: bool
    pytest: list[str] = field(default_factory=list)
    fuzz_seconds: int = 0

    def results(self, name: str) -> Path:
        """A fresh place for a runner's report."""
        folder = self.build / "test-results"
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.xml"
        path.unlink(missing_ok=True)
        return path


@dataclass(frozen=True)
class Outcome:
    """How many tests of a step passed and failed."""

    passed: int
    failed: int

    @property
    def good(self) -> bool:
        # A step without a test has not shown anything.
        return self.failed == 0 and self.passed > 0


def _from_reports(paths: list[Path], exit_status: int) -> Outcome:
    """Counts JUnit reports. A runner that fails without a failed test counts as one failure."""
    passed = failed = 0
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            bad = case.find("failure") is not None or case.find("error") is not None
            ran = case.find("skipped") is None and case.get("status") != "notrun"
            failed += bad
            passed += ran and not bad
    if exit_status and not failed:
        failed = 1
    return Outcome(passed, failed)


def _check(name: str) -> Callable[[Options], Outcome]:
    def run(options: Options) -> Outcome:
        complaints = importlib.import_module(f"tests.checks.{name}").check()
        if complaints:
            print("\n".join(complaints))
        return Outcome(passed=not complaints, failed=bool(complaints))

    return run


def _googletest(options: Options) -> Outcome:
    folder = options.build / "test-results" / "googletest"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.xml"):
        old.unlink()
    done = subprocess.run(
        ["ctest", "--test-dir", options.build, "--output-on-failure", "-j", str(os.cpu_count())],
        env={**os.environ, "GTEST_OUTPUT": f"xml:{folder}/"},
    )
    return _from_reports(list(folder.glob("*.xml")), done.returncode)


def _threads(options: Options) -> Outcome:
    """The device's tests that run kernels on several threads, with the launches' own too."""
    reports, status = [], 0
    environment = {"WAVETILE_DEVICE_DETERMINISTIC": "0", "WAVETILE_DEVICE_THREADS": "3"}
    for program, tests in (("EmulatorTests", "*Scheduler*"), ("DeviceHipTests", "*Thread*")):
        report = options.results(program)
        reports.append(report)
        command = [options.build / "bin" / program, f"--gtest_filter={tests}"]
        command += ["--gtest_brief=1", f"--gtest_output=xml:{report}"]
        status |= subprocess.run(command, env={**os.environ, **environment}).returncode
    return _from_reports([report for report in reports if report.exists()], status)


def _fuzz(options: Options) -> Outcome:
    """Broken code objects through HIP. What is found is kept under build-fuzz/findings/."""
    corpus, findings = options.build / "corpus", options.build / "findings"
    for folder in (corpus, findings):
        folder.mkdir(exist_ok=True)
    # Both seeds of each GPU: as files, and to be changed; see DeviceFuzzer.cpp for the header.
    for number, gpu in enumerate(("gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1151", "gfx1201")):
        for second, stem in enumerate(("kernels", "hostile")):
            seed = options.build / "tests" / "fuzz" / "seeds" / f"{stem}-{gpu}"
            for kind in range(3):
                # What is added to 0 or 128 so that the kind is the rest of a division by 3.
                choice = 128 * second + (kind - 128 * second) % 3
                rest = seed.read_bytes() if kind == 0 else bytes(6)
                (corpus / f"{seed.name}-{kind}").write_bytes(
                    bytes([number, choice, 1, 4, 64]) + rest
                )
    command = [options.build / "bin" / "DeviceFuzzer", corpus, f"-artifact_prefix={findings}/"]
    command += [f"-max_total_time={options.fuzz_seconds}", "-timeout=30", "-max_len=65536"]
    command += ["-rss_limit_mb=4096", "-close_fd_mask=2", "-print_final_stats=1"]
    sanitizer = "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0"
    done = subprocess.run(command, env={**os.environ, "ASAN_OPTIONS": sanitizer})
    return Outcome(passed=done.returncode == 0, failed=done.returncode != 0)


def _mutants(options: Options) -> Outcome:
    passed, failed = mutants.run(options.build)
    return Outcome(passed, failed)


def _lit(options: Options) -> Outcome:
    report = options.results("lit")
    suite = options.build / "tests" / "lit"
    done = subprocess.run(["lit", "--succinct", "-vv", "--xunit-xml-output", report, suite])
    return _from_reports([report] if report.exists() else [], done.returncode)


def _pytest(options: Options) -> Outcome:
    report = options.results("pytest")
    command = [sys.executable, "-m", "pytest", f"--junit-xml={report}", *options.pytest]
    if not options.pytest:
        command += ["-n", str(os.cpu_count()), "--dist", "worksteal"]
        command += ["-m", "not slow"] if options.quick else []
    done = subprocess.run(command, cwd=ROOT)
    return _from_reports([report] if report.exists() else [], done.returncode)


# Steps that only an option of their own asks for.
ASKED_FOR = ("fuzz", "mutants")

# Name, what runs it, whether --quick leaves it out.
STEPS: dict[str, tuple[Callable[[Options], Outcome], bool]] = {
    "formatting": (_check("formatting"), False),
    "file-headers": (_check("file_headers"), False),
    "include-directions": (_check("include_directions"), False),
    "doc-links": (_check("doc_links"), False),
    "doc-names": (_check("doc_names"), False),
    "generated-docs": (_check("generated_docs"), False),
    "doc-examples": (_check("doc_examples"), True),
    "mypy": (_check("python_types"), True),
    "googletest": (_googletest, False),
    "threads": (_threads, False),
    "fuzz": (_fuzz, True),
    "mutants": (_mutants, True),
    "lit": (_lit, False),
    "pytest": (_pytest, False),
    "clang-tidy": (_check("clang_tidy"), True),
}


def _choose(arguments: list[str]) -> tuple[Options, list[str]]:
    parser = argparse.ArgumentParser(
        prog="./dev test",
        description="Runs every check and test. Arguments that are not listed here, such as a"
        " path or -k NAME, go to pytest, and then only pytest runs.",
    )
    parser.add_argument("--quick", action="store_true", help="without the slow steps and tests")
    parser.add_argument(
        "--only",
        action="append",
        choices=[name for name in STEPS if name not in ASKED_FOR],
        help="this step; repeatable",
    )
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="the C++ tests, built under AddressSanitizer and UndefinedBehaviorSanitizer",
    )
    parser.add_argument(
        "--sanitize-threads",
        action="store_true",
        help="the software device's tests with several threads, built under ThreadSanitizer",
    )
    parser.add_argument(
        "--fuzz",
        type=int,
        nargs="?",
        const=60,
        metavar="SECONDS",
        help="broken code objects on the software device, made by libFuzzer; 60 s if not said",
    )
    parser.add_argument(
        "--mutants",
        action="store_true",
        help="that some test fails for each pass and strategy that is left out",
    )
    known, pytest_arguments = parser.parse_known_args(arguments)
    alone = known.sanitize or known.sanitize_threads or known.fuzz or known.mutants
    if alone and (pytest_arguments or known.only):
        parser.error(
            "--sanitize runs googletest and lit only, --sanitize-threads, --fuzz and --mutants a"
            " step"
        )

    if known.mutants:
        return Options(ROOT / "build", known.quick), ["mutants"]
    if known.fuzz:
        return Options(ROOT / "build-fuzz", known.quick, fuzz_seconds=known.fuzz), ["fuzz"]
    if known.sanitize_threads:
        return Options(ROOT / "build-threads", known.quick), ["threads"]
    if known.sanitize:
        return Options(ROOT / "build-sanitize", known.quick), ["googletest", "lit"]
    options = Options(ROOT / "build", known.quick, pytest_arguments)
    if known.only or pytest_arguments:
        return options, known.only or ["pytest"]
    chosen = [name for name, (_, slow) in STEPS.items() if not (slow and known.quick)]
    return options, [name for name in chosen if name not in ASKED_FOR]


def main(arguments: list[str]) -> int:
    options, names = _choose(arguments)
    outcomes: dict[str, Outcome] = {}
    lines = []
    for name in names:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        outcome = outcomes[name] = STEPS[name][0](options)
        lines.append(
            f"{name:20} {outcome.passed:6} passed {outcome.failed:4} failed"
            f" {time.monotonic() - start:7.1f} s{'' if outcome.good else '   <-- FAILED'}"
        )
        sys.stdout.flush()
    print("\n" + "\n".join(lines))
    passed = sum(outcome.passed for outcome in outcomes.values())
    failed = sum(max(outcome.failed, not outcome.good) for outcome in outcomes.values())
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
