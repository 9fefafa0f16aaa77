"""Find a wheel in the package index, and read single files of it over HTTP Range requests, without the rest."""

from __future__ import annotations

import hashlib
import io
import re
import sys
import tempfile
import urllib.parse
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from tools.sdk.members import is_below
from tools.settings import ToolError, run, tool, uv_environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NEWEST_MACOS = "26.0"
_BLOCK = 8 << 20  # bytes per request: many small headers come with one round trip


@dataclass(frozen=True)
class Wheel:
    """A wheel in an index: its address and its hash."""

    name: str
    url: str
    sha256: str

    @property
    def filename(self) -> str:
        """The name of the file, without a folder. ToolError where the index gives an address that tries to name one."""
        name = urllib.parse.unquote(urllib.parse.urlsplit(self.url).path).rpartition("/")[2]
        if not name.endswith(".whl") or not is_below(name):
            raise ToolError(f"{self.url}: the name of the file is not that of a wheel: use another index")
        return name


def find(requirement: str, *, python: str = "3.11", platform: str = "x86_64-manylinux_2_28") -> Wheel:
    """The wheel that satisfies `requirement` ("torch==2.9.1") on that Python and platform (uv's names for both).

    Downloads metadata only. The platform may be another than this machine's; of macOS, a wheel for any version is
    accepted, up to the newest. ToolError where the index has no such wheel.
    """
    with tempfile.TemporaryDirectory() as folder:
        input_file = Path(folder, "requirements.txt")
        input_file.write_text(requirement + "\n", encoding="utf-8")
        lock = Path(folder, "pylock.toml")
        command = [tool("uv"), "pip", "compile", str(input_file), "-o", str(lock), "--format", "pylock.toml", "--quiet"]
        command += ["--no-deps", "--only-binary", ":all:", "--python-version", python, "--python-platform", platform]
        environment = uv_environment(MACOSX_DEPLOYMENT_TARGET=_NEWEST_MACOS)
        run(command, what=f"looking for {requirement} for Python {python} on {platform}", env=environment)
        packages: list[dict[str, Any]] = tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]
        for wheel in packages[0].get("wheels", []):
            url = wheel.get("url") or lock.parent.joinpath(wheel["path"]).resolve().as_uri()
            return Wheel(packages[0]["name"], url, wheel["hashes"]["sha256"])
    raise ToolError(
        f"no wheel of {requirement} for Python {python} on {platform} in the package index: choose another release, or "
        "an index that has it, in pip's configuration"
    )


class RangeRefusedError(Exception):
    """The server does not answer Range requests; it sends whole files only."""


class HttpFile(io.RawIOBase):
    """A file on a web server as a seekable binary file. Each read is one Range request; a request that fails is tried
    again. `advance` is called with the number of bytes that arrived."""

    def __init__(self, url: str, advance: Callable[[int], None]) -> None:
        self._url = url
        self._advance = advance
        self._session = session()
        self._position = 0
        head = self._session.get(url, headers={"Range": "bytes=0-0"}, timeout=60, stream=True)
        head.close()
        if head.status_code != 206:
            raise RangeRefusedError(url)
        self._size = int(head.headers["Content-Range"].rpartition("/")[2])

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence] + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        length = min(len(buffer), self._size - self._position)
        if length <= 0:
            return 0
        span = {"Range": f"bytes={self._position}-{self._position + length - 1}"}
        answer = self._session.get(self._url, headers=span, timeout=60)
        if answer.status_code != 206 or len(answer.content) != length:
            raise OSError(
                f"{self._url}: requested {length} bytes, received {len(answer.content)} (status {answer.status_code}): "
                "try again"
            )
        buffer[:length] = answer.content
        self._position += length
        self._advance(length)
        return length


def session() -> requests.Session:
    """An HTTP session that repeats a request that fails."""
    created = requests.Session()
    retry = Retry(total=5, backoff_factor=0.5, status_forcelist=(500, 502, 503, 504))
    created.mount("https://", HTTPAdapter(max_retries=retry))
    return created


def download(wheel: Wheel, folder: Path, advance: Callable[[int], None]) -> Path:
    """Download the whole wheel into `folder`, check its hash, and return its path. An earlier download that was
    interrupted is continued."""
    target, part = folder / wheel.filename, folder / (wheel.filename + ".part")
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    present = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={present}-"} if present else {}
    with session().get(wheel.url, headers=headers, timeout=60, stream=True) as answer:
        if answer.status_code not in (200, 206):
            raise ToolError(
                f"{wheel.url}: the server answers with status {answer.status_code}, not the wheel: try again"
            )
        with part.open("ab" if answer.status_code == 206 else "wb") as out:
            for block in answer.iter_content(1 << 20):
                out.write(block)
                advance(len(block))
    try:
        _check_sha256(part, wheel)
    except ToolError:
        part.unlink()
        raise
    return part.rename(target)


def _check_sha256(file: Path, wheel: Wheel) -> None:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != wheel.sha256:
        raise ToolError(
            f"{wheel.filename}: its sha256 is {digest.hexdigest()}, the index says {wheel.sha256}. The file is damaged "
            "and is not used: download it again"
        )


def open_wheel(wheel: Wheel, scratch: Path, advance: Callable[[int], None] = lambda size: None) -> zipfile.ZipFile:
    """The wheel as an open zip file. Its parts are downloaded when they are read; where the server does not allow that,
    the whole wheel is downloaded to `scratch`. The hash of a whole wheel is checked before it is opened; of one that is
    read in parts it cannot be, so the digest of the SDK has to tell."""
    if wheel.url.startswith("file:"):
        local = Path(urllib.parse.unquote(urllib.parse.urlsplit(wheel.url).path))
        _check_sha256(local, wheel)
        return zipfile.ZipFile(local)
    try:
        return zipfile.ZipFile(io.BufferedReader(HttpFile(wheel.url, advance), _BLOCK))
    except RangeRefusedError:
        return zipfile.ZipFile(download(wheel, scratch, advance))


def pinned_versions(metadata: str, name: str) -> list[str]:
    """The versions to which a wheel's METADATA pins the package `name`: its lines "Requires-Dist: NAME==VERSION"."""
    return re.findall(rf"^Requires-Dist: {re.escape(name)}(?:\[[^\]]*\])? ?\(?==([\w.]+)", metadata, re.MULTILINE)
