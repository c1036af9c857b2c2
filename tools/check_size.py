"""No source file over 400 lines: past that, a file is two files."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "native", "tests", "tools", "benchmarks")
KINDS = {".py", ".pyi", ".cpp", ".h"}
MOST_LINES = 400

# Files that may be longer, and why; an exemption that is no longer needed is an error too.
EXEMPT: dict[str, str] = {}


def problems(root: Path = ROOT, exempt: dict[str, str] = EXEMPT) -> list[str]:
    """One sentence for each file that is too long, and for each exemption without need."""
    found, needed = [], set()
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in KINDS):
        name = path.relative_to(root).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MOST_LINES and name in exempt:
            needed.add(name)
        elif lines > MOST_LINES:
            found.append(f"{name}:{MOST_LINES + 1}: {lines} lines, at most {MOST_LINES} are allowed; split it")
    return found + [f"{name}: exempt from the size limit without need" for name in sorted(set(exempt) - needed)]


def main() -> int:
    """Print what is wrong and answer 1, or nothing and 0."""
    found = problems()
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
