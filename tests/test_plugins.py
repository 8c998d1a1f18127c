"""A plugin is the one object of its kind in its module; a module with none or several is an error that names it."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from ingest.plugins import discover

FIRST = "from fractions import Fraction\nHALF = Fraction(1, 2)\n"


def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> ModuleType:
    """A package of `modules`, importable under a name of its own."""
    name = f"plugins_{tmp_path.name}".replace("-", "_")
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module(name)


def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> list[str]:
    from fractions import Fraction

    return [str(each) for each in discover(package(tmp_path, monkeypatch, **modules), Fraction)]


def test_each_module_gives_its_one_object_sorted_by_module_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = "from fractions import Fraction\nTHIRD = Fraction(1, 3)\n"
    assert found(tmp_path, monkeypatch, b_half=FIRST, a_third=third) == ["1/3", "1/2"]


def test_a_package_without_modules_has_no_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(tmp_path, monkeypatch) == []


def test_objects_of_another_kind_and_in_lower_case_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(tmp_path, monkeypatch, one=f"{FIRST}NUMBER = 3\nother = Fraction(1, 4)\n") == ["1/2"]


@pytest.mark.parametrize(
    ("source", "count"),
    [
        pytest.param("", 0, id="none"),
        pytest.param("half = 0.5\n", 0, id="none of the kind"),
        pytest.param(f"{FIRST}THIRD = Fraction(1, 3)\n", 2, id="two"),
    ],
)
def test_a_module_with_none_or_several_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, count: int
) -> None:
    with pytest.raises(TypeError, match=rf"\.wrong: must define one Fraction, defines {count}$"):
        found(tmp_path, monkeypatch, right=FIRST, wrong=source)
