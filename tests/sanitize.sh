#!/bin/sh
# Run tests with the extensions under AddressSanitizer and UndefinedBehaviorSanitizer, or under
# valgrind.
#
#     tests/sanitize.sh address [pytest arguments]
#     tests/sanitize.sh valgrind [pytest arguments]
#
# Without arguments the tests of kernels, loops, the memory pool, sequences, interrupts, threads,
# operations and the fast path run.
# PYTHON and CC say which to use.
# They are built in a copy of the sources, so that those in use stay as they are.
set -eu

tool=$1
shift
[ $# -gt 0 ] || set -- -q tests/backends/cpu/engine/test_kernel.py \
    tests/backends/cpu/engine/test_kernel_interrupted.py tests/backends/cpu/engine/test_parallel.py \
    tests/backends/cpu/engine/test_loops.py tests/backends/cpu/engine/test_memory_pool.py \
    tests/backends/cpu/engine/test_extension_sequence.py tests/backends/cpu/engine/test_operations.py \
    tests/contract/test_fast_path.py
python=${PYTHON:-python3}
cc=${CC:-cc}

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$(dirname "$0")/.."
tar -cf - --exclude=./.git . | tar -xf - -C "$copy"
cd "$copy"
native=array_api_nx/native
include=$($python -c 'import numpy, sysconfig
print("-I" + numpy.get_include(), "-I" + sysconfig.get_path("include"))')
suffix=$($python -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
build() {
    link "$native/_fast_path" "$native/_fast_path.c" "$@"
    # shellcheck disable=SC2046
    link array_api_nx/_native $(ls $native/*.c | grep -v _fast_path) "$@"
}
link() {
    target=$1
    shift
    rm -f "$target".*.so
    # shellcheck disable=SC2086
    $cc -std=c99 -Wall -Wextra -g -fno-strict-aliasing -fvisibility=hidden -fPIC -shared \
        $include "$@" -o "$target$suffix"
}

export PYTHONMALLOC=malloc
case $tool in
address)
    build -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
    # Python does not free everything at its end, and tests ask for more memory than there is.
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    LD_PRELOAD="$($cc -print-file-name=libasan.so) $($cc -print-file-name=libubsan.so)" \
        $python -m pytest -p no:cacheprovider --capture=sys "$@"
    ;;
valgrind)
    build -O1
    # valgrind's processor raises no floating-point flags.
    valgrind --trace-children=yes --num-callers=30 --log-file="$copy/valgrind.%p" \
        "$($python -c 'import sys; print(sys.executable)')" \
        -m pytest -p no:cacheprovider --capture=sys -k "not flags and not warn" "$@"
    # Python and the loader have findings of their own; ours have a frame in our sources.
    ! cat "$copy"/valgrind.* | awk '
        BEGIN { while (("ls array_api_nx/native" | getline name) > 0) sources[name] }
        /^==[0-9]+== *$/ { if (ours) printf "%s", text; text = ""; ours = 0; next }
        { text = text $0 "\n" }
        match($0, /\([a-z_]+[.][ch]:/) && substr($0, RSTART + 1, RLENGTH - 2) in sources { ours = 1 }
    ' | grep .
    ;;
*)
    echo "first argument: address or valgrind" >&2
    exit 2
    ;;
esac
