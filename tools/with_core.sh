#!/usr/bin/env bash
# Runs tests with another build of the extension than the installed one.
#   tools/with_core.sh NAME EXTENSION [TESTS...]    without tests: only prepares build/NAME/venv
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1 extension=$(realpath "$2")
shift 2
python=$PWD/.venv/bin/python
build=$PWD/build/$name

# A package of links: the Python files as they are, the extension from this build. It is used from an environment of its
# own that borrows everything else, because the import hook of the editable install would come first.
package=$build/package
rm -rf "$package"
mkdir -p "$package/vicinal"
ln -s "$PWD"/src/vicinal/* "$package/vicinal/"
ln -sf "$extension" "$package/vicinal/"
purelib='import sysconfig; print(sysconfig.get_path("purelib"))'
borrowed=$("$python" -c "$purelib")
"$python" -m venv --without-pip "$build/venv"
python=$build/venv/bin/python
printf '%s\n' "$package" "$borrowed" >"$("$python" -c "$purelib")/other_core.pth"

if [ "$name" = sanitize ]; then
  # Python itself is not instrumented: the sanitizer's runtime must be there first, and Python's own leaks are not ours.
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
