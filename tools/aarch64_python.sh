#!/usr/bin/env bash
# Unpacks a Python for aarch64, and the packages that tests need, to build/aarch64-python; nothing is installed. Needs
# apt-get and dpkg-deb, and packages of Debian for the version of Python in .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD/build/aarch64-python
version=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
touch "$root/apt/status"
apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$root/apt/lists" \
    -o Dir::State::status="$root/apt/status" -o Dir::Cache="$root/apt/cache" "$@"
}
apt update
apt install --yes --no-install-recommends --download-only "python$version" libstdc++6 libgomp1 >/dev/null
for package in "$root"/apt/cache/archives/*.deb; do dpkg-deb --extract "$package" "$root"; done
rm -rf "$root/apt"
same_as_here() { .venv/bin/pip list --format=freeze | grep -E "^($1)=="; }
# shellcheck disable=SC2046  # several words on purpose
.venv/bin/pip install --quiet --target "$root/packages" --python-version "$version" --only-binary=:all: \
  --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 \
  $(same_as_here 'numpy|scipy|trimesh|pytest|pytest-xdist|hypothesis')
# Results are reserved as large as memory, and older emulators have a record for each page of address space: programs
# are told that there is 1 GiB.
"$(command -v aarch64-linux-gnu-g++ aarch64-linux-gnu-g++-12 | head -1)" -shared -fPIC -x c++ - -o "$root/memory.so" <<'END'
#include <dlfcn.h>
#include <unistd.h>
extern "C" long sysconf(int name) {
  static const auto next = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
  return name == _SC_PHYS_PAGES ? (1L << 30) / next(_SC_PAGESIZE) : next(name);
}
END
cat >"$root/python" <<END
#!/bin/sh
# Python $version for aarch64 in an emulator.
export PYTHONPATH="\$PYTHONPATH:$root/packages" PYTHONDONTWRITEBYTECODE=1
exec $(command -v qemu-aarch64-static qemu-aarch64 | head -1) -L $root -E LD_PRELOAD=$root/memory.so $root/usr/bin/python$version "\$@"
END
chmod +x "$root/python"
# Tests that start Python, start it in the emulator.
printf 'import sys\nsys.executable = "%s"\n' "$root/python" >"$root/packages/sitecustomize.py"
"$root/python" -c 'import numpy, platform; print("Python", platform.python_version(), platform.machine(), "NumPy", numpy.__version__)'
