"""What is served where, as tables for readers: rows of cells made from variants.toml, the first row the titles."""

from __future__ import annotations

from tools.matrix import OVERLAY, Matrix

Table = list[list[str]]

_SYSTEMS = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
_NONE = "-"
_UPSTREAM = "torch's own"


def by_release(matrix: Matrix) -> Table:
    """Whose table a torch release has, and with which accelerators; releases that are served alike share a row."""
    lines = list(dict.fromkeys(row.torch for row in matrix.rows.values()))
    served = [(line, _served(matrix, line)) for line in lines]
    table = [["torch", "C++ ABI", "whose table", *map(_readable, matrix.platforms)]]
    for number, (line, cells) in enumerate(served):
        if number and served[number - 1] == (_before(line), cells):
            table[-1][0] = f"{table[-1][0].partition('-')[0]}-{line}"
        else:
            table.append([line, *cells])
    newer = [_names(matrix, [OVERLAY], platform) for platform in matrix.platforms]
    return [*table, ["newer", "any", _UPSTREAM, *newer]]


def by_row(matrix: Matrix) -> Table:
    """Each row of the matrix, with what its libraries were compiled against and which backends it has."""
    backends = list(dict.fromkeys([*matrix.backends, *matrix.overlays]))
    table = [["torch", "C++ ABI", "headers of", "C++", "CPython", *backends]]
    for name, row in matrix.rows.items():
        ours = {"default": "ours", "prefer": "on request"}[row.serves]
        cells = [ours if matrix.backend(name, backend) else _without(matrix, backend) for backend in backends]
        table.append([row.torch, str(int(row.cxx11_abi)), row.sdk, str(row.std), row.cpython, *cells])
    return [*table, ["newer", "any", *[_NONE] * 3, *(_without(matrix, backend) for backend in backends)]]


def by_backend(matrix: Matrix) -> Table:
    """Where each backend is built, and which libraries of torch it links."""
    table = [["backend", *map(_readable, matrix.platforms), "links"]]
    named = [*matrix.backends.items(), *((f"{name} (overlay)", it) for name, it in matrix.overlays.items())]
    for name, backend in named:
        built = ["yes" if platform in backend.platforms else _NONE for platform in matrix.platforms]
        table.append([name, *built, ", ".join(backend.links) or _NONE])
    return table


def _served(matrix: Matrix, line: str) -> list[str]:
    """The cells of a release line behind its name."""
    names = matrix.of_lines({line})
    rows = [matrix.rows[name] for name in names]
    upstream = any(row.serves == "prefer" for row in rows)
    whose = f'{_UPSTREAM}; ours with `prefer="dlx"`' if upstream else "ours"
    abis = ", ".join(sorted(str(int(row.cxx11_abi)) for row in rows))
    places = [*names, OVERLAY] if upstream else names  # the overlay lies on a table that is there
    return [abis, whose, *(_names(matrix, places, platform) for platform in matrix.platforms)]


def _names(matrix: Matrix, rows: list[str], platform: str) -> str:
    """The backends that these rows have on the platform."""
    found = [f"{name} (overlay)" if row == OVERLAY else name for row, name in matrix.files(platform) if row in rows]
    return ", ".join(dict.fromkeys(found)) or _NONE


def _without(matrix: Matrix, backend: str) -> str:
    """Who serves a backend in a torch with a table of its own, where there is no library of ours."""
    return "overlay" if backend in matrix.overlays else _UPSTREAM


def _before(line: str) -> str:
    """The release line before: "2.9" of "2.10"."""
    major, _, minor = line.partition(".")
    return f"{major}.{int(minor) - 1}"


def _readable(platform: str) -> str:
    """ "Linux x86_64" of "linux-x86_64"."""
    system, _, machine = platform.partition("-")
    return f"{_SYSTEMS.get(system, system)} {machine}"
