"""Which files imports name, for each way in which projects lay out their sources."""

from pathlib import Path

import pytest

from tests.fakes.rows import rows
from tests.project.graph_scene import graph, imports

ROWS = rows(__file__)


@pytest.mark.parametrize("name", ROWS)
def test_imports_name_the_files_that_the_language_would_read(tmp_path: Path, name: str) -> None:
    found = graph(tmp_path, ROWS[name]["files"])
    expected = ROWS[name]["imports"].items()
    assert imports(found) == {file: {*others} for file, others in expected}
    assert not any(node.missing for node in found.files.values())


def test_packages_outside_are_named_and_imports_of_the_project_that_name_nothing_are_listed(
    tmp_path: Path,
) -> None:
    found = graph(
        tmp_path,
        {
            "shop/__init__.py": "import numpy.linalg\nfrom . import gone\nimport shop.made_later\n",
            "shop/deep.py": "from ....far import away\n",
            "a.ts": "import './nowhere'\nimport '@acme/tool/x'\nimport fs from 'node:fs'\n",
        },
    )
    assert set(found.files["shop/__init__.py"].outside) == {"numpy"}
    assert set(found.files["a.ts"].outside) == {"@acme/tool", "node:fs"}
    assert {path: node.missing for path, node in found.files.items() if node.missing} == {
        "shop/__init__.py": (("shop.made_later", 3),),
        "shop/deep.py": (("....far", 1),),
        "a.ts": (("./nowhere", 1),),
    }


def test_a_test_tests_what_a_package_passes_on(tmp_path: Path) -> None:
    found = graph(
        tmp_path,
        {
            "shop/__init__.py": "from shop.prices import net\n",
            "shop/prices.py": "",
            "shop/taxes.py": "",
            "tests/test_shop.py": "from shop import net\n",
        },
    )
    assert set(found.files["tests/test_shop.py"].tests) == {"shop/__init__.py", "shop/prices.py"}
