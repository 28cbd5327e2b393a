/* What Python.h asks of Windows' pyconfig.h, for a compiler of another system: that header comes with
   Python for Windows alone. It includes what Windows' own includes, whose names ours must not be. */

#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#include <basetsd.h>
#include <io.h>
#include <stdio.h>

#define MS_WIN32 1
#define MS_WINDOWS 1
#ifdef _WIN64
#define MS_WIN64 1
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define PY_SSIZE_T_MAX LLONG_MAX
#else
#define SIZEOF_VOID_P 4
#define SIZEOF_SIZE_T 4
#define PY_SSIZE_T_MAX INT_MAX
#endif
typedef SSIZE_T Py_ssize_t;
#define HAVE_PY_SSIZE_T 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_OFF_T 4
#define SIZEOF_TIME_T 8
#define ALIGNOF_MAX_ALIGN_T 8
#define NT_THREADS 1
#define WITH_THREAD 1
#define Py_ENABLE_SHARED 1
#define HAVE_DECLSPEC_DLL 1

#endif
