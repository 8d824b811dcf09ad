#!/usr/bin/env bash
# Builds a variant of the installed extension (add_variant in CMakeLists.txt) and runs tests with it.
#   tools/variant.sh NAME TESTS...
set -euo pipefail
unset MAKEFLAGS # of make: ninja would use its jobserver and fail
cd "$(dirname "$0")/.."
name=$1
shift
installed=$(echo build/"$(.venv/bin/python -c 'import sys; print("cp%d%d" % sys.version_info[:2])')"-*)
log=build/$name.log
PATH="$PWD/.venv/bin:$PATH" cmake --build "$installed" --target "$name" >"$log" 2>&1 || { cat "$log"; exit 1; }
tools/with_core.sh "$name" "$installed/$name"/_core.*.so "$@"
