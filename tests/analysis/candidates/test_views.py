"""What isolated code is shown: its own, its packages, and never what stands beside them by chance."""

import socket
from pathlib import Path

import pytest

from analysis.candidates import needs, views
from analysis.candidates.views import Veil


def laid_out(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def names(paths: list[Path], folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in paths}


TREE = (
    "mine/code.py", "mine/words.txt", "mine/deep/more.txt", "mine/deep/.env", "mine/.git/config", "mine/store.duckdb",
    "mine/store.duckdb.wal", "mine/store.duckdb.service.json", "mine/node_modules/x/.hidden", "mine/pack/__init__.py",
)  # fmt: skip


def test_a_folder_is_shown_but_for_what_is_hidden_in_it(tmp_path: Path) -> None:
    laid_out(tmp_path, *TREE)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "mine" / "socket"))
        found = views.whole(tmp_path / "mine", Veil((tmp_path / "mine" / "store.duckdb",)))
    assert names(found, tmp_path / "mine") == {"code.py", "words.txt", "deep/more.txt", "node_modules", "pack"}


def test_a_folder_in_which_nothing_is_hidden_is_shown_as_one(tmp_path: Path) -> None:
    laid_out(tmp_path, "mine/code.py", "mine/deep/more.txt")
    assert views.whole(tmp_path / "mine", Veil()) == [tmp_path / "mine"]


def test_a_link_out_of_a_folder_shows_nothing_more(tmp_path: Path) -> None:
    laid_out(tmp_path, "mine/.env", "mine/code.py", "secret")
    (tmp_path / "mine" / "link").symlink_to(tmp_path / "secret")
    found = views.whole(tmp_path / "mine", Veil())
    assert names(found, tmp_path) == {"mine/code.py", "mine/link"}
    assert all(path == path.absolute() for path in found)


def test_a_store_that_is_named_by_a_link_is_hidden(tmp_path: Path) -> None:
    laid_out(tmp_path, "real/store.duckdb", "real/code.py")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    veil = Veil(((tmp_path / "link" / "store.duckdb").resolve(),))
    assert names(views.whole(tmp_path / "link" / "code.py", veil), tmp_path) == {"link/code.py"}
    assert views.whole(tmp_path / "link" / "store.duckdb", veil) == []
    assert not views.own_folder(tmp_path / "link", veil)


@pytest.mark.parametrize(
    ("where", "own"),
    [
        pytest.param("a/detector", True, id="a folder of its own"),
        pytest.param("work", False, id="where the command runs"),
        pytest.param(".", False, id="above that"),
        pytest.param("home", False, id="the home"),
        pytest.param("kept", False, id="where a store stands"),
        pytest.param("a", False, id="above a store"),
    ],
)
def test_whose_folder_it_is(where: str, own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out(tmp_path, "a/detector/code.py", "a/b/store.duckdb", "work/x", "home/x", "kept/s.duckdb")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    veil = Veil((tmp_path / "kept" / "s.duckdb", tmp_path / "a" / "b" / "store.duckdb"))
    assert views.own_folder(tmp_path / where, veil) == own


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        pytest.param("work/code.py", {"work/code.py", "work/beside.py", "work/pack"}, id="where people work"),
        pytest.param("work/own/code.py", {"work/own/code.py", "work/own"}, id="its own folder: all"),
    ],
)  # fmt: skip
def test_what_a_file_of_code_is_shown(
    file: str, shown: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out(tmp_path, "work/code.py", "work/beside.py", "work/notes.txt", "work/.env", "work/pack/__init__.py",
             "work/pack/words.txt", "work/logs/x.py", "work/own/code.py", "work/own/words.txt")  # fmt: skip
    monkeypatch.chdir(tmp_path / "work")
    assert names(needs.file(tmp_path / file, Veil()), tmp_path) == shown


def test_a_program_is_shown_what_it_is_installed_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out(tmp_path, "tool/bin/run", "tool/lib/x.so", "tool/share/keys", "work/script", "work/other")
    monkeypatch.chdir(tmp_path / "work")
    (tmp_path / "tool" / "bin" / "run").write_text(f"#!{tmp_path}/other/bin/shell -x\n")
    laid_out(tmp_path, "other/bin/shell", "other/lib/y.so")
    (tmp_path / "other" / "bin" / "shell").chmod(0o755)
    found = needs.program((f"{tmp_path}/tool/bin/run", "script"), Veil())
    assert names(found, tmp_path) == {
        "tool/bin/run", "tool/bin", "tool/lib", "other/bin/shell", "other/bin", "other/lib", "work/script",
    }  # fmt: skip


def test_a_file_that_is_named_through_a_link_is_shown_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out(tmp_path, "real/own/script", "work/x")
    (tmp_path / "work" / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "work")
    found = names(needs.program(("/bin/sh", "link/own/script"), Veil()), Path("/"))
    assert {str(tmp_path / each)[1:] for each in ("work/link/own/script", "real/own/script")} <= found


def test_what_a_user_shows_is_shown_but_for_the_store(tmp_path: Path) -> None:
    laid_out(tmp_path, "data/model", "data/.cache/x", "data/deep/store.duckdb", "data/deep/words",
             "data/deep/store.duckdb.wal", "data/deep/.store.duckdb.arriving-1/body")  # fmt: skip
    veil = Veil((tmp_path / "data" / "deep" / "store.duckdb",))
    assert names(views.without_stores(tmp_path / "data", veil), tmp_path) == {
        "data/model",
        "data/.cache",
        "data/deep/words",
    }


def test_a_folder_too_large_to_be_looked_through_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out(tmp_path, *(f"big/{at}" for at in range(12)))
    monkeypatch.setattr(views, "MOST", 10)
    assert views.whole(tmp_path / "big", Veil()) == []
