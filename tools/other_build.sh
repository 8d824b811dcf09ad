#!/usr/bin/env bash
# Builds another variant of the extension, separate from the installed one, and runs tests with it.
#   tools/other_build.sh NAME "CMAKE OPTIONS" [TESTS...]
# SOURCE=DIRECTORY builds the sources of another directory.
set -euo pipefail
unset MAKEFLAGS # of make: ninja would use its jobserver and fail
cd "$(dirname "$0")/.."
name=$1 options=$2
shift 2
python=$PWD/.venv/bin/python
build=$PWD/build/$name
mkdir -p "$build"

# shellcheck disable=SC2086  # options are several words on purpose
PATH="$PWD/.venv/bin:$PATH" cmake -S "${SOURCE:-.}" -B "$build" -G Ninja -Wno-dev -DPython_EXECUTABLE="$python" \
  -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" $options >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
PATH="$PWD/.venv/bin:$PATH" cmake --build "$build" >>"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
tools/with_core.sh "$name" "$build"/_core.*.so "$@"
