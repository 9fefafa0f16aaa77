"""The command `dlx-torch`, also `python -m dlx_torch_ext`."""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
from collections.abc import Sequence
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code; argparse ends the process itself, with 2, for wrong usage.

    A reader that closes the pipe early (`dlx-torch list | head -1`) is no error.
    """
    code = 0
    try:
        code = _run(arguments)
        print(end="", flush=True)  # does nothing where the process was started without a stdout
    except BrokenPipeError:
        _discard_stdout()
    except (ImportError, SyntaxError) as error:  # of our own modules, since the commands catch those of torch
        from .._errors import damaged

        print(f"dlx-torch: {damaged(error)}", file=sys.stderr)
        code = 1
    except OSError as error:
        if error.filename is not None:
            raise
        # What has no file name is stdout: the disk is full, for example.
        print(f"dlx-torch: stdout cannot be written: {error.strerror or error}", file=sys.stderr)
        _discard_stdout()
        code = 1
    return code


def _discard_stdout() -> None:
    # As the standard library's documentation of SIGPIPE has it: the interpreter flushes once more when it ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str] | None) -> int:
    parser, build = _parsers()
    options = parser.parse_args(arguments)
    if options.version:
        from .. import __version__

        print(f"dlx-torch-ext {__version__}")
        return 0
    if options.headers:
        from .._headers import get_cmake_dir, get_include, get_pkgconfig_dir

        python = sysconfig.get_paths()["include"]
        answers = {"includes": f"-I{python} -I{get_include()}", "cmakedir": get_cmake_dir()}
        print({**answers, "pkgconfigdir": get_pkgconfig_dir()}[options.headers])
        return 0
    if options.command is None:
        print(parser.format_help(), end="")
        return 0
    if options.command == "doctor":
        from .doctor import run

        return run(as_json=options.json, selftest=options.selftest, everything=options.all)
    if options.command == "build":
        from .._facts import system
        from .build import run as run_build
        from .target import refused_on

        refusal = refused_on(system(), options.backend)
        if refusal:
            build.error(f"argument {_option(options.backend)}: {refusal}")
        return run_build(options.backend, options.output_dir, options.libname)
    if options.command == "explain":
        from .explain import run as run_explain

        return run_explain(" ".join(options.words))
    if options.command == "verify":
        from .verify import run as run_verify

        return run_verify(options.json, options.timeout)
    from .list import run as run_list

    return run_list(everything=options.all)


def _parsers() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The whole command line, and the part of `build`."""
    parser = argparse.ArgumentParser(prog="dlx-torch", description="The DLPack C exchange API for every PyTorch.")
    parser.add_argument("--version", action="store_true", help="print the version of dlx-torch-ext")
    for name, text in (
        ("includes", "the compiler's options for dlx/consumer.h and Python.h"),
        ("cmakedir", "the folder with the CMake package dlx_torch_ext"),
        ("pkgconfigdir", "the folder with dlx_torch_ext.pc"),
    ):
        parser.add_argument(f"--{name}", dest="headers", action="store_const", const=name, help=f"print {text}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    doctor = commands.add_parser(
        "doctor",
        help="say whose table torch.Tensor has, and why",
        description="Says whose table torch.Tensor has, and why. The first line is the verdict.",
        epilog="exit codes: 0 a table is in use, 1 none is, 2 wrong usage, 3 the self-test failed",
    )
    doctor.add_argument("--all", action="store_true", help="show every library that was passed over, with the reason")
    doctor.add_argument("--json", action="store_true", help="print the whole report as JSON")
    doctor.add_argument("--selftest", action="store_true", help="also try the table, in a child process")
    explain = commands.add_parser(
        "explain",
        help="say what an id (DLX030) or a message means, and what to do",
        description="Says what an id or a message of dlx-torch-ext means, and what to do. Without either it lists all.",
    )
    explain.add_argument("words", metavar="ID", nargs="*", help="an id, such as DLX030, or the message itself")
    listing = commands.add_parser("list", help="list the libraries of this installation and mark the one that fits")
    listing.add_argument("--all", action="store_true", help="print a line for each library")
    verify = commands.add_parser(
        "verify",
        help="prove on the devices here that kernels run on the right streams",
        description="Proves on the GPUs or NPUs here, by work that is held and let go, that the table of torch.Tensor"
        " names the right streams. It compiles nothing and takes less than a minute.",
        epilog="exit codes: 0 every check passed, 1 one failed, 2 there is no device, or wrong usage",
    )
    verify.add_argument("--json", metavar="FILE", help="also write the whole result to FILE")
    verify.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=60, help="how long a check may take (default: 60)"
    )
    return parser, _add_build(commands)


def _add_build(commands: Any) -> argparse.ArgumentParser:
    build: argparse.ArgumentParser = commands.add_parser(
        "build",
        help="compile a library for exactly the torch here",
        description="Compiles a library for exactly the torch here, where no shipped library fits it: nightlies, vendor"
        " builds, releases newer than this package. Prints the library's path. The backend is what torch was built for,"
        " or torch_npu where that is installed, unless an option says otherwise.",
    )
    one = build.add_mutually_exclusive_group()
    for backend, text in (("cuda", "CUDA"), ("rocm", "ROCm"), ("torch_npu", "Ascend, through torch_npu (Linux only)")):
        one.add_argument(
            _option(backend), dest="backend", action="store_const", const=backend, help=f"build for {text}"
        )
    build.add_argument("--output-dir", metavar="DIR", help="where it goes (default: the cache, where it is found)")
    build.add_argument("--libname", metavar="NAME", help="the file's name (default: one that holds its whole identity)")
    return build


def _option(backend: str) -> str:
    return f"--build-with-{backend.replace('_', '-')}"
