"""Print the oldest versions that pyproject.toml declares, as constraints for pip: `numpy>=2.0` becomes `numpy==2.0`.

python .ci/oldest.py > oldest.txt && pip install -e '.[dev]' -c oldest.txt
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
declared = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
oldest: dict[str, str] = {}
for requirement in declared:
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement)
    if found:
        oldest[found[1]] = max(oldest.get(found[1], ""), found[2], key=lambda v: [int(n) for n in v.split(".") if n])
print("\n".join(f"{name}=={version}" for name, version in sorted(oldest.items())))
