"""What PyInstaller collects of this package: its libraries, their manifest, the page for troubleshooting; the modules
that no `import` statement names; the metadata, in which torch finds the entry point that it calls."""

from __future__ import annotations

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs, collect_submodules, copy_metadata

binaries = collect_dynamic_libs("dlx_torch_ext")
datas = collect_data_files("dlx_torch_ext", excludes=["_src", "include", "share"]) + copy_metadata("dlx-torch-ext")
modules = collect_submodules("dlx_torch_ext", filter=lambda name: not name.endswith("_pyinstaller"))
hiddenimports = ["dlx_torch_ext_autoload", *modules]
