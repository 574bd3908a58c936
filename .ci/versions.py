"""Pin the versions that a fresh clone installs, and test what is newer than the pins.

    python .ci/versions.py pin PYTHON...          write constraints.txt from the newest releases
    python .ci/versions.py hash                   write hashes.txt, and the pins that are missing
    python .ci/versions.py select NAME            print what an extra or group needs, with hashes
    python .ci/versions.py list NAME              print the same as the project declares it
    python .ci/versions.py test PYTHON TESTS...   run TESTS with the newest releases

`pin` takes the earliest patch release of each Python, since a release may need a later one.
`hash` needs uv, and keeps every version that is pinned; a new dependency gets its newest release.
`test` installs nothing where the newest releases are the pinned ones. Where tests fail, it puts
one pinned version back at a time, runs the failed tests again, and names the packages whose newer
release breaks them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
NEWEST = ROOT / ".venv-newest"
HASHES = ROOT / "hashes.txt"
GROUPS = ("dev", "bench")  # all that any other group or extra of the targets of make needs
INSTALLED = ("bench", "demo", "dev", "docs", "test")  # groups and extras of the targets of make
OLDEST_PYTHON = "3.11"
BUILD = ("hatchling",)  # what building the project needs, apart from the extras
HEAD = """\
# Versions that `make demo` and `make test` install: names and versions only.
# Written by `make constraints`; CI also tests what is newer.
"""
HASHES_HEAD = """\
# Every file of the versions in constraints.txt, for all platforms; above each package stand the
# groups and extras that need it. Written by `make hashes`.
"""
# The markers of uv for what pip resolves for one Python.
PYTHON_MARKERS = {
    "": "",
    "python_full_version < '3.12'": '; python_version == "3.11"',
    "python_full_version >= '3.12'": '; python_version >= "3.12"',
}

Versions = dict[str, str]


def main(command: str, *arguments: str) -> int:
    if command == "pin" and arguments:
        CONSTRAINTS.write_text(write_constraints([*map(resolve, arguments)]), encoding="utf-8")
        return main("hash")
    if command == "hash":
        compiled = {name: compile_requirements(name) for name in INSTALLED}
        HASHES.write_text(write_hashes(compiled), encoding="utf-8")
        add_pins({entry for entries in compiled.values() for entry in entries})
        return 0
    if command == "select" and arguments:
        print("\n".join(select(*arguments)))
        return 0
    if command == "list" and arguments:
        print("\n".join(read_requirements(*arguments)))
        return 0
    if command == "test" and arguments:
        return run_newest(*arguments)
    print(__doc__)
    return 2


def resolve(python: str) -> tuple[str, Versions]:
    """Return the version of `python`, and the newest releases that pip would install for it."""
    command = [
        python, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
        "--disable-pip-version-check", "--report", "-", *BUILD, *read_requirements(*GROUPS),
    ]  # fmt: skip
    environment = {**os.environ, "PIP_CONSTRAINT": ""}
    result = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    report = json.loads(result.stdout)
    found = {
        normalize(entry["metadata"]["name"]): entry["metadata"]["version"]
        for entry in report["install"]
    }
    return report["environment"]["python_version"], found


def read_requirements(*names: str) -> list[str]:
    """Return what extras and groups need, with the project's own dependencies, in order."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = {**content["project"]["optional-dependencies"], **content["dependency-groups"]}

    def list_needs(name: str) -> Iterator[str]:
        for need in declared[name]:
            if isinstance(need, dict):
                yield from list_needs(need["include-group"])
            elif own := re.fullmatch(r"svc-notebook\[(.+)\]", need):
                for extra in own[1].split(","):
                    yield from list_needs(extra)
            else:
                yield need

    needs = [*content["project"]["dependencies"], *(n for name in names for n in list_needs(name))]
    return list(dict.fromkeys(needs))


def normalize(name: str) -> str:
    """Spell a package's name as PEP 503 compares names."""
    return name.lower().replace("_", "-").replace(".", "-")


def write_constraints(resolved: list[tuple[str, Versions]]) -> str:
    """Join the versions of several Pythons: a marker only where they differ."""
    resolved = sorted(resolved, key=lambda pair: [int(part) for part in pair[0].split(".")])
    lines = []
    for name in sorted({name for _, found in resolved for name in found}):
        versions = [(python, found.get(name)) for python, found in resolved]
        known = {version for _, version in versions if version}
        if len(known) == 1:
            lines.append(f"{name}=={known.pop()}")
            continue
        for python, version in versions:
            sign = ">=" if python == resolved[-1][0] else "=="
            if version:
                lines.append(f'{name}=={version}; python_version {sign} "{python}"')
    return HEAD + "\n".join(lines) + "\n"


def compile_requirements(name: str) -> dict[str, list[str]]:
    """Return what an extra or group needs on every platform, each with the hashes of its files."""
    with tempfile.TemporaryDirectory() as folder:
        needed, output = Path(folder, "needed.in"), Path(folder, "output.txt")
        needed.write_text("\n".join([*BUILD, *read_requirements(name)]), encoding="utf-8")
        command = [
            "uv", "pip", "compile", str(needed), "--universal",
            "--python-version", OLDEST_PYTHON, "--constraint", str(CONSTRAINTS),
            "--generate-hashes", "--no-annotate", "--no-header",
            "--quiet", "--output-file", str(output),
        ]  # fmt: skip
        try:
            subprocess.run(command, cwd=ROOT, check=True)
        except FileNotFoundError:
            raise SystemExit("hashes are written by uv: pip install uv") from None
        entries: dict[str, list[str]] = {}
        requirement = ""
        for line in output.read_text(encoding="utf-8").splitlines():
            text = line.rstrip("\\").strip()
            if text.startswith("--hash="):
                entries[requirement].append(text)
            else:
                requirement = text
                entries[requirement] = []
    return entries


def write_hashes(compiled: dict[str, dict[str, list[str]]]) -> str:
    """Join all requirements; the groups and extras of each package are named above it."""
    blocks = []
    for requirement in sorted({text for entries in compiled.values() for text in entries}):
        names = [name for name, entries in compiled.items() if requirement in entries]
        hashes = compiled[names[0]][requirement]
        lines = [f"{requirement} \\", *(f"    {text} \\" for text in hashes)]
        blocks.append(f"# {' '.join(names)}\n" + "\n".join(lines).removesuffix(" \\"))
    return HASHES_HEAD + "\n".join(blocks) + "\n"


def select(name: str) -> Iterator[str]:
    """Yield the lines of hashes.txt that an extra or group needs; fail if a pin has no hashes."""
    lines = HASHES.read_text(encoding="utf-8").removeprefix(HASHES_HEAD)
    hashed = {line.partition(" ")[0] for line in lines.splitlines() if re.match(r"[a-z]", line)}
    pins = {line.partition(";")[0] for line in read_pins()}
    if unknown := sorted(pins - hashed):
        raise SystemExit(f"hashes.txt lacks {', '.join(unknown)}; run `make hashes`")
    for block in re.split(r"^# ", lines, flags=re.M)[1:]:
        names, _, text = block.partition("\n")
        if name in names.split():
            yield text.rstrip("\n")


def add_pins(requirements: set[str]) -> None:
    """Add pins of packages that constraints.txt lacks, where every platform needs them."""
    lines = read_pins()
    known = {line.partition("==")[0] for line in lines}
    for requirement in sorted(requirements):
        pin, _, marker = requirement.partition(" ; ")
        if pin.partition("==")[0] not in known and marker in PYTHON_MARKERS:
            lines.append(pin + PYTHON_MARKERS[marker])
    lines.sort(key=lambda line: line.partition("==")[0])
    CONSTRAINTS.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def read_pins() -> list[str]:
    text = CONSTRAINTS.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def read_constraints(python: str) -> Versions:
    """Read the pinned versions that hold for a Python of this version."""
    pins = {}
    for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        pin, _, marker = line.partition("; python_version ")
        sign, _, version = marker.partition(" ")
        if not marker or _holds(python, sign, version.strip('"')):
            name, _, number = pin.partition("==")
            pins[name] = number
    return pins


def _holds(python: str, sign: str, version: str) -> bool:
    own, other = ([int(part) for part in text.split(".")] for text in (python, version))
    return own >= other if sign == ">=" else own == other


def run_newest(python: str, *tests: str) -> int:
    """Test with the newest releases; return pytest's exit status, 0 where nothing is newer."""
    version, newest = resolve(python)
    pinned = read_constraints(version)
    newer = {name: pinned.get(name) for name in newest if newest[name] != pinned.get(name)}
    if not newer:
        print("the pinned versions are the newest: nothing more to test")
        return 0
    for name, old in sorted(newer.items()):
        print(f"newer than its pin: {name} {newest[name]} (pinned: {old or 'not pinned'})")
    subprocess.run([python, "-m", "venv", "--clear", str(NEWEST)], check=True)
    install(*read_requirements(*GROUPS))
    install("--editable", ".")
    # A fault of a new release shows in few examples, too, and fails twice.
    failed = run_tests("--quick", *tests)
    failed = run_tests(*failed) if failed else []
    for name, old in sorted(newer.items()):
        if failed and old:
            blame(name, newest[name], old, failed)
    return 1 if failed else 0


def blame(name: str, new: str, old: str, failed: list[str]) -> None:
    """Print which of the failed tests pass once one package is back at its pinned version."""
    try:
        install(f"{name}=={old}")
    except subprocess.CalledProcessError:
        print(f"{name} {old} cannot be installed beside the newest releases")
        return
    remaining = set(run_tests(*failed))
    for test in failed:
        if test not in remaining:
            print(f"{name} {new} breaks {test} (it passes with {name} {old})")
    install(f"{name}=={new}")


def install(*what: str) -> None:
    command = [NEWEST / "bin/python", "-m", "pip", "install", "--quiet", *what]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PIP_CONSTRAINT": ""}, check=True)


def run_tests(*tests: str) -> list[str]:
    """Run tests in the environment of the newest releases; return those that fail."""
    cache = NEWEST / "pytest-cache"
    (cache / "v/cache/lastfailed").unlink(missing_ok=True)
    command = [
        NEWEST / "bin/python", "-m", "pytest", "-q", "-o", f"cache_dir={cache}",
        "--numprocesses", "logical", "--maxprocesses", "4", "--dist", "worksteal", *tests,
    ]  # fmt: skip
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    failed = cache / "v/cache/lastfailed"
    if status == 0:
        return []
    if status == 1 and failed.exists():
        return sorted(json.loads(failed.read_text(encoding="utf-8")))
    raise SystemExit(f"pytest ended with status {status}")


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or [""])))
