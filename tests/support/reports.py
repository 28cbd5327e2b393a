"""What NumPy's settings make of floating-point errors."""

import warnings

import numpy as np


class Log:
    """NumPy calls it, and writes to it."""

    def __init__(self):
        self.met = []

    def __call__(self, *met):
        self.met.append(met)

    def write(self, text):
        self.met.append(text)


def told(call, capfd, **settings):
    """The reports of a call's errors: warnings, calls and logged text, printed text, and the
    exception up to a semicolon, behind which we say more than NumPy."""
    log, error = Log(), ""
    capfd.readouterr()
    with np.errstate(**settings, call=log), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (FloatingPointError, np.linalg.LinAlgError) as raised:
            error = str(raised).split(";")[0]
    return [str(each.message) for each in caught], log.met, capfd.readouterr().err, error
