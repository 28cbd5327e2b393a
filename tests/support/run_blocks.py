"""Runs the examples of a page of documentation: a program of its own, so that SciPy is fresh.

It reads a JSON list of programs, runs one after the other in one namespace, and writes a list of
their outputs. An exception that ends a program shows as the last line that Python prints of it; one
that no example expects shows in the comparison.
"""

import contextlib
import io
import json
import sys
import traceback
import types


def run(programs: list[str]) -> list[str]:
    # Under the name of the main module, so that classes are found where they say they are.
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    printed = []
    for program in programs:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                exec(compile(program, "example.py", "exec"), main.__dict__)
            except Exception as error:
                print(*traceback.format_exception_only(error), sep="", end="")
        printed.append(output.getvalue())
    return printed


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin))))
