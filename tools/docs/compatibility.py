"""The tables for readers that show what variants.toml declares: lists of rows, each a list of cells. The first row has
the titles."""

from __future__ import annotations

from tools.matrix import OVERLAY, Matrix

Table = list[list[str]]

_SYSTEMS = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
_NONE = "-"
_UPSTREAM = "torch's own"


def by_release(matrix: Matrix) -> Table:
    """For each release line: whose table it has, and which backends on each platform. Consecutive release lines with
    the same cells share a row."""
    lines = list(dict.fromkeys(row.torch for row in matrix.rows.values()))
    served = [(line, _cells(matrix, line)) for line in lines]
    table = [["torch", "C++ ABI", "whose table", *map(_display_name, matrix.platforms)]]
    for number, (line, cells) in enumerate(served):
        if number and served[number - 1] == (_line_before(line), cells):
            table[-1][0] = f"{table[-1][0].partition('-')[0]}-{line}"
        else:
            table.append([line, *cells])
    newer = [_backend_names(matrix, [OVERLAY], platform) for platform in matrix.platforms]
    return [*table, ["newer", "any", _UPSTREAM, *newer]]


def by_row(matrix: Matrix) -> Table:
    """For each row of variants.toml: what its libraries are compiled against, and who serves each backend."""
    backends = list(dict.fromkeys([*matrix.backends, *matrix.overlays]))
    table = [["torch", "C++ ABI", "headers of", "C++", "CPython", *backends]]
    for name, row in matrix.rows.items():
        ours = {"default": "ours", "prefer": "on request"}[row.serves]
        cells = [ours if matrix.backend(name, backend) else _without_ours(matrix, backend) for backend in backends]
        table.append([row.torch, str(int(row.cxx11_abi)), row.sdk, str(row.std), row.cpython, *cells])
    return [
        *table,
        ["newer", "any", *[_NONE] * 3, *(_without_ours(matrix, backend) for backend in backends)],
    ]


def by_backend(matrix: Matrix) -> Table:
    """For each backend: the platforms that it is built for, and the libraries of torch that it links."""
    table = [["backend", *map(_display_name, matrix.platforms), "links"]]
    overlays = ((f"{name} (overlay)", backend) for name, backend in matrix.overlays.items())
    for name, backend in (*matrix.backends.items(), *overlays):
        built = ["yes" if platform in backend.platforms else _NONE for platform in matrix.platforms]
        table.append([name, *built, ", ".join(backend.links) or _NONE])
    return table


def _cells(matrix: Matrix, line: str) -> list[str]:
    """The cells of a release line, without its name."""
    names = matrix.of_lines({line})
    rows = [matrix.rows[name] for name in names]
    upstream = any(row.serves == "prefer" for row in rows)
    whose = f'{_UPSTREAM}; ours with `prefer="dlx"`' if upstream else "ours"
    abis = ", ".join(sorted(str(int(row.cxx11_abi)) for row in rows))
    places = [*names, OVERLAY] if upstream else names  # the overlay needs a table of torch's own
    return [abis, whose, *(_backend_names(matrix, places, platform) for platform in matrix.platforms)]


def _backend_names(matrix: Matrix, rows: list[str], platform: str) -> str:
    """The names of the backends that these rows have on the platform, as text."""
    names = [f"{name} (overlay)" if row == OVERLAY else name for row, name in matrix.files(platform) if row in rows]
    return ", ".join(dict.fromkeys(names)) or _NONE


def _without_ours(matrix: Matrix, backend: str) -> str:
    """Who serves a backend, in a torch with a table of its own, if we have no library for it."""
    return "overlay" if backend in matrix.overlays else _UPSTREAM


def _line_before(line: str) -> str:
    """The release line before this one: "2.9" for "2.10"."""
    major, _, minor = line.partition(".")
    return f"{major}.{int(minor) - 1}"


def _display_name(platform: str) -> str:
    """The platform as readers see it: "Linux x86_64" for "linux-x86_64"."""
    system, _, machine = platform.partition("-")
    return f"{_SYSTEMS.get(system, system)} {machine}"
