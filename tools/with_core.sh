#!/usr/bin/env bash
# Runs tests with another build of the extension than the installed one.
#   tools/with_core.sh NAME EXTENSION [TESTS...]    without tests: only prepares build/NAME/venv
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1 extension=$(realpath "$2")
shift 2
python=$PWD/.venv/bin/python
build=$PWD/build/$name

# A package of links to the Python files and to the extension of this build. It is used from a separate environment with
# the packages of the first, because the import hook of the editable install would take precedence.
package=$build/package
rm -rf "$package"
mkdir -p "$package/vicinal"
ln -s "$PWD"/src/vicinal/* "$package/vicinal/"
ln -sf "$extension" "$package/vicinal/_core.so"
purelib='import sysconfig; print(sysconfig.get_path("purelib"))'
borrowed=$("$python" -c "$purelib")
if [ "$name" = aarch64 ]; then
  # Python in an emulator, with packages of its own (tools/aarch64_python.sh).
  ln -s "$borrowed"/vicinal-*.dist-info "$package/"
  python=$PWD/build/aarch64-python/python
  export PYTHONPATH=$package
else
  "$python" -m venv --without-pip "$build/venv"
  python=$build/venv/bin/python
  printf '%s\n' "$package" "$borrowed" >"$("$python" -c "$purelib")/other_core.pth"
fi

if [ "$name" = sanitize ]; then
  # Python itself is not instrumented: the runtime of the sanitizer must be loaded first, and leaks of Python are ignored.
  LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
  export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
fi
loaded=$("$python" -c 'import vicinal; print(vicinal._core.__file__)')
case $loaded in
  "$package"/*) ;;
  *) echo "another extension was loaded: $loaded"; exit 1 ;;
esac
[ $# -eq 0 ] && exit 0
VICINAL_HYPOTHESIS=short "$python" -m pytest -q -p no:cacheprovider --capture=sys --numprocesses 2 --dist worksteal "$@"
