"""Which files imports name, for each way in which projects lay out their sources."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.project.graph_scene import graph, imports

PYTHON: dict[str, tuple[Mapping[str, str], Mapping[str, set[str]]]] = {
    "packages at the root, absolute and relative": (
        {
            "shop/__init__.py": "from .prices import net\n",
            "shop/prices.py": "from . import taxes\nfrom shop.parts import bolt, nut\n",
            "shop/taxes.py": "import shop.parts.bolt as b\n",
            "shop/parts/__init__.py": "nut = 1\n",
            "shop/parts/bolt.py": "from .. import prices\nfrom ..taxes import rate\n",
        },
        {
            "shop/__init__.py": {"shop/prices.py"},
            "shop/prices.py": {"shop/taxes.py", "shop/parts/__init__.py", "shop/parts/bolt.py"},
            "shop/taxes.py": {"shop/parts/bolt.py"},
            "shop/parts/bolt.py": {"shop/prices.py", "shop/taxes.py"},
        },
    ),
    "a src layout": (
        {
            "pyproject.toml": "[project]\nname = 'shop'\n",
            "src/shop/__init__.py": "",
            "src/shop/prices.py": "import shop\n",
            "tests/test_prices.py": "from shop import prices\n",
        },
        {
            "src/shop/prices.py": {"src/shop/__init__.py"},
            "tests/test_prices.py": {"src/shop/prices.py"},
        },
    ),
    "a folder that the project declares": (
        {
            "pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["python"]\n',
            "python/shop/prices.py": "",
            "use.py": "import shop.prices\n",
        },
        {"use.py": {"python/shop/prices.py"}},
    ),
    "namespace packages in two folders": (
        {
            "one/pyproject.toml": "",
            "one/src/acme/one/__init__.py": "from acme.two import thing\nimport acme.other\n",
            "two/pyproject.toml": "",
            "two/src/acme/two/thing.py": "",
        },
        {"one/src/acme/one/__init__.py": {"two/src/acme/two/thing.py"}},
    ),
    "scripts beside each other": (
        {
            "scripts/run.py": "import helper\nimport json\n",
            "scripts/helper.py": "",
            "scripts/json.py": "",
        },
        {"scripts/run.py": {"scripts/helper.py"}},
    ),
    "the same name in a sample does not hide a package outside": (
        {"tests/data/requests/__init__.py": "", "app.py": "import requests\n"},
        {},
    ),
}
JAVASCRIPT: dict[str, tuple[Mapping[str, str], Mapping[str, set[str]]]] = {
    "relative paths, endings and index files": (
        {
            "src/a.ts": "import b from './b.js'\nexport * from './c'\nimport type { D } from '../d'\n",
            "src/b.ts": "const x = require('./c/index')\nawait import('./e.mjs')\n",
            "src/c/index.tsx": "",
            "src/e.mjs": "",
            "d.d.ts": "",
        },
        {
            "src/a.ts": {"src/b.ts", "src/c/index.tsx", "d.d.ts"},
            "src/b.ts": {"src/c/index.tsx", "src/e.mjs"},
        },
    ),
    "paths of a tsconfig with comments that extends another": (
        {
            "tsconfig.base.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"], "~one": ["src/one.ts"],},},}',
            "tsconfig.json": '// ours\n{"extends": "./tsconfig.base.json", /* x */ "include": ["src"]}',
            "src/one.ts": "import '@/two'\nimport react from 'react'\n",
            "src/two.ts": "import '~one'\n",
        },
        {"src/one.ts": {"src/two.ts"}, "src/two.ts": {"src/one.ts"}},
    ),
    "a base folder": (
        {
            "tsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}',
            "src/deep/one.ts": "import 'two'\n",
            "src/two.ts": "",
        },
        {"src/deep/one.ts": {"src/two.ts"}},
    ),
    "a base folder below one whose name begins with a dot": (
        {
            ".site/tsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}',
            ".site/src/deep/one.ts": "import 'two'\n",
            ".site/src/two.ts": "",
        },
        {".site/src/deep/one.ts": {".site/src/two.ts"}},
    ),
    "packages of a workspace with exports and built files": (
        {
            "package.json": '{"name": "all", "workspaces": ["packages/*"]}',
            "packages/core/package.json": (
                '{"name": "@acme/core", "exports": {".": {"types": "./dist/index.d.ts",'
                ' "import": "./dist/index.mjs"}, "./tools/*": "./src/tools/*.ts"}}'
            ),
            "packages/core/src/index.ts": "export * from '@acme/core/tools/saw'\n",
            "packages/core/src/tools/saw.ts": "",
            "packages/app/package.json": '{"name": "app", "imports": {"#lib/*": "./lib/*.js"}}',
            "packages/app/main.js": "import '@acme/core'\nimport '#lib/x'\n",
            "packages/app/lib/x.js": "",
        },
        {
            "packages/core/src/index.ts": {"packages/core/src/tools/saw.ts"},
            "packages/app/main.js": {"packages/core/src/index.ts", "packages/app/lib/x.js"},
        },
    ),
    "the script of a component": (
        {
            "App.vue": "<template>\n<p/>\n</template>\n<script setup lang='ts'>\nimport x from './x'\n</script>\n",
            "x.ts": "",
        },
        {"App.vue": {"x.ts"}},
    ),
}
GO: dict[str, tuple[Mapping[str, str], Mapping[str, set[str]]]] = {
    "packages of a module": (
        {
            "go.mod": "module example.com/shop\n",
            "main.go": 'package main\n\nimport (\n\t"fmt"\n\t"example.com/shop/prices"\n)\n',
            "prices/net.go": "package prices\n",
            "prices/gross.go": "package prices\n",
            "prices/net_test.go": "package prices\n",
        },
        {"main.go": {"prices/net.go", "prices/gross.go"}},
    )
}


@pytest.mark.parametrize("name", [*PYTHON, *JAVASCRIPT, *GO])
def test_imports_name_the_files_that_the_language_would_read(tmp_path: Path, name: str) -> None:
    files, edges = {**PYTHON, **JAVASCRIPT, **GO}[name]
    found = graph(tmp_path, files)
    assert imports(found) == edges
    assert found.missing == ()


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
    assert {(each.path, each.line, each.module) for each in found.missing} == {
        ("shop/__init__.py", 3, "shop.made_later"),
        ("shop/deep.py", 1, "....far"),
        ("a.ts", 1, "./nowhere"),
    }


def test_a_test_tests_what_a_package_passes_on(tmp_path: Path) -> None:
    found = graph(
        tmp_path,
        {
            "shop/__init__.py": "from shop.prices import net\nfrom shop.taxes import rate\n",
            "shop/prices.py": "",
            "shop/taxes.py": "",
            "tests/test_shop.py": "from shop import net\n",
        },
    )
    assert set(found.files["tests/test_shop.py"].tests) == {"shop/__init__.py", "shop/prices.py"}
