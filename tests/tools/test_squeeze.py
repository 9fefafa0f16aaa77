"""A wheel that was compressed again: the same files in less space, and every reader of zip files can read it."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from tools.build.squeeze import squeeze
from tools.settings import ROOT


def written(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        contents = {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in (ROOT / "tools").rglob("*.py")}
        for name, content in sorted({**contents, "empty": b""}.items()):
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.external_attr = 0o100644 << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(member, content)
    return path


def members(path: Path) -> list[tuple[object, ...]]:
    with zipfile.ZipFile(path) as wheel:
        assert wheel.testzip() is None
        return [(m.filename, m.date_time, m.external_attr, m.CRC, wheel.read(m)) for m in wheel.infolist()]


def test_the_files_are_the_same_in_less_space(tmp_path: Path) -> None:
    before = written(tmp_path / "before.whl")
    after = Path(shutil.copy(before, tmp_path / "after.whl"))
    squeeze(after)
    assert members(after) == members(before)
    assert after.stat().st_size < before.stat().st_size
    assert sorted(file.name for file in tmp_path.iterdir()) == ["after.whl", "before.whl"]


def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = written(tmp_path / "first.whl"), written(tmp_path / "second.whl")
    squeeze(first)
    squeeze(second)
    squeeze(second)
    assert first.read_bytes() == second.read_bytes()
