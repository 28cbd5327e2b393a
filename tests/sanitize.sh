#!/bin/sh
# Run tests with the extension under AddressSanitizer and UndefinedBehaviorSanitizer, under
# ThreadSanitizer, or under valgrind; or of C11 alone, as compilers without GCC's additions see it.
# `memcheck` builds nothing: a program runs with the extension that is here under valgrind, which finds what is read
# before anything has set it.
#
#     tests/sanitize.sh address [pytest arguments]
#     tests/sanitize.sh thread [pytest arguments]
#     tests/sanitize.sh valgrind [pytest arguments]
#     tests/sanitize.sh memcheck
#     tests/sanitize.sh portable [pytest arguments]
#
# Without arguments the tests of the C core, of loops, the memory pool, expressions, random numbers,
# interrupts and threads run; under ThreadSanitizer those with threads.
# PYTHON and CC say which to use.
# The extension is built in a copy of the sources, so that the one in use stays as it is.
set -eu

tool=$1
shift
engine=tests/backends/cpu/engine
if [ $# -eq 0 ]; then
    set -- -q "$engine/test_parallel.py" "$engine/test_memory_pool.py" "$engine/test_threads.py" \
        tests/native/test_expression_folds.py tests/native/test_call_groups.py \
        tests/native/test_nodes_random_programs.py
    if [ "$tool" = thread ]; then
        set -- "$@" tests/native/test_functions_leaks.py -k \
            "thread or parallel or pool or fork or share"
    else
        set -- "$@" "$engine/test_loops.py" tests/native tests/random
    fi
fi
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
include="$include $(find $native -type d -printf '-I%p ')"
suffix=$($python -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
version=$($python -c 'from runpy import run_path
print(run_path("array_api_nx/version.py")["__version__"])')
stamp=$($python "$native/stamp.py")
build() {
    rm -f array_api_nx/_native.*.so
    mkdir objects
    # shellcheck disable=SC2086
    find "$native" -name '*.c' | xargs -P "$(nproc)" -I{} sh -c '"$@" -c {} -o objects/$(basename {} .c).o' sh \
        $cc -std=c11 -Wall -Wextra -Wno-unused-parameter -g -fno-strict-aliasing -fwrapv -ffp-contract=off -fvisibility=hidden -fPIC \
        "-DARRAY_API_NX_VERSION=\"$version\"" "-DARRAY_API_NX_SOURCES=\"$stamp\"" $include "$@"
    # shellcheck disable=SC2086
    $cc -shared "$@" objects/*.o -o "array_api_nx/_native$suffix"
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
thread)
    build -O1 -fno-omit-frame-pointer -fsanitize=thread
    # Python and NumPy are not built for it, so that their own accesses are not seen. That one
    # thread hands the GIL to another is, by the locks that Python takes. It does not know
    # addresses where some kernels place memory, but without randomisation there are none such.
    export TSAN_OPTIONS=die_after_fork=0:allocator_may_return_null=1:exitcode=66
    # Nor does it see how BLAS' own threads wait for each other.
    export OPENBLAS_NUM_THREADS=1
    LD_PRELOAD="$($cc -print-file-name=libtsan.so)" setarch -R \
        $python -m pytest -p no:cacheprovider --capture=sys "$@"
    ;;
valgrind | memcheck)
    if [ "$tool" = memcheck ]; then
        set -- -m tests.support.memcheck
    else
        build -O1
        # valgrind's processor raises no floating-point flags.
        set -- -m pytest -p no:cacheprovider --capture=sys -k "not flags and not warn" "$@"
    fi
    status=0
    valgrind --trace-children=yes --num-callers=30 --log-file="$copy/valgrind.%p" \
        "$($python -c 'import sys; print(sys.executable)')" "$@" || status=$?
    # Python and the loader have findings of their own; ours have a frame in our sources.
    ! cat "$copy"/valgrind.* | awk '
        /^==[0-9]+== *$/ { if (ours) printf "%s", text; text = ""; ours = 0; next }
        { text = text $0 "\n" }
        BEGIN { while (("find array_api_nx/native -name \047*.[ch]\047 -printf \047%f\\n\047" | getline name) > 0) names[name] }
        match($0, /\([a-z_]+[.][ch]:/) && substr($0, RSTART + 1, RLENGTH - 2) in names { ours = 1 }
        /_native[.]/ { ours = 1 } # without line numbers
    ' | grep . || exit 1
    exit "$status"
    ;;
portable)
    build -O2 -Werror -DARRAY_API_NX_PORTABLE
    $python -m pytest -p no:cacheprovider "$@"
    ;;
*)
    echo "first argument: address, thread, valgrind, memcheck or portable" >&2
    exit 2
    ;;
esac
