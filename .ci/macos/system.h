/* What Python's headers, NumPy's and ours take from macOS' own headers, and no more: these come with Apple's
   tools alone. A function of another system is an error for want of a declaration. Under each name of
   a header that is asked for, .ci/compile lays a file that includes this one. */

#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdarg.h>
#include <stddef.h>

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int_least8_t, int_fast8_t;
typedef short int_least16_t, int_fast16_t;
typedef int int_least32_t, int_fast32_t;
typedef long long int_least64_t, int_fast64_t;
typedef unsigned char uint_least8_t, uint_fast8_t;
typedef unsigned short uint_least16_t, uint_fast16_t;
typedef unsigned int uint_least32_t, uint_fast32_t;
typedef unsigned long long uint_least64_t, uint_fast64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
typedef long ssize_t;
typedef long long off_t;
typedef int pid_t;
typedef unsigned short mode_t;
typedef long time_t;
typedef unsigned long clock_t;
typedef int wint_t;
typedef unsigned int uint;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;

#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define INT8_MIN (-INT8_MAX - 1)
#define INT16_MIN (-INT16_MAX - 1)
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MIN (-INT64_MAX - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define INTPTR_MAX 9223372036854775807L
#define INTPTR_MIN (-INTPTR_MAX - 1)
#define UINTPTR_MAX 18446744073709551615UL
#define SIZE_MAX UINTPTR_MAX
#define SSIZE_MAX INTPTR_MAX
#define INT64_C(n) n##LL
#define UINT64_C(n) n##ULL
#define UINT32_C(n) n##U
#define PRId64 "lld"
#define PRIu64 "llu"

/* stdio.h, stdlib.h, string.h, ctype.h, wchar.h, assert.h, errno.h */
typedef struct __sFILE FILE;
extern FILE *__stderrp;
#define stderr __stderrp
#define EOF (-1)
int fprintf(FILE *, const char *, ...);
int snprintf(char *, size_t, const char *, ...);
int vsnprintf(char *, size_t, const char *, va_list);
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void abort(void) __attribute__((noreturn));
int abs(int);
long labs(long);
long long llabs(long long);
char *getenv(const char *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
long random(void);
void *memchr(const void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
char *strchr(const char *, int);
char *strrchr(const char *, int);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
size_t strcspn(const char *, const char *);
size_t strspn(const char *, const char *);
size_t strlen(const char *);
char *strstr(const char *, const char *);
char *index(const char *, int);
char *rindex(const char *, int);
int ffs(int);
int isalpha(int);
int tolower(int);
int toupper(int);
size_t wcslen(const wchar_t *);
#define assert(condition) ((void)0)
extern int *__error(void);
#define errno (*__error())

/* math.h, fenv.h: also names that ours may not be. */
typedef float float_t;
typedef double double_t;
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_PI 3.14159265358979323846
#define M_LN2 0.693147180559945309417
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf_sign(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
#define EACH_OF_ONE(ROW)                                                                            \
    ROW(acos) ROW(asin) ROW(atan) ROW(ceil) ROW(cos) ROW(cosh) ROW(erf) ROW(erfc) ROW(exp) ROW(exp2) \
    ROW(expm1) ROW(fabs) ROW(floor) ROW(lgamma) ROW(log) ROW(log10) ROW(log1p) ROW(log2) ROW(logb)  \
    ROW(nearbyint) ROW(rint) ROW(round) ROW(sin) ROW(sinh) ROW(sqrt) ROW(tan) ROW(tanh) ROW(tgamma) ROW(trunc)
#define EACH_OF_TWO(ROW)                                                                            \
    ROW(atan2) ROW(copysign) ROW(fdim) ROW(fmax) ROW(fmin) ROW(fmod) ROW(hypot) ROW(nextafter) ROW(pow)
#define OF_ONE(NAME) double NAME(double); float NAME##f(float); long double NAME##l(long double);
#define OF_TWO(NAME)                                                                                \
    double NAME(double, double); float NAME##f(float, float); long double NAME##l(long double, long double);
EACH_OF_ONE(OF_ONE)
EACH_OF_TWO(OF_TWO)
double fma(double, double, double);
float fmaf(float, float, float);
double frexp(double, int *);
double ldexp(double, int);
float ldexpf(float, int);
double modf(double, double *);
long lrint(double);
double j0(double);
double j1(double);
double jn(int, double);
double y0(double);
double y1(double);
double yn(int, double);
double scalb(double, double);
extern int signgam;
typedef unsigned short fexcept_t;
#define FE_INVALID 1
#define FE_DIVBYZERO 2
#define FE_OVERFLOW 4
#define FE_UNDERFLOW 8
#define FE_ALL_EXCEPT 0x9f
int feclearexcept(int);
int feraiseexcept(int);
int fetestexcept(int);

/* complex.h */
#define complex _Complex
#define I (0.0F + 1.0iF)
double creal(double complex);
double cimag(double complex);
float crealf(float complex);
float cimagf(float complex);
long double creall(long double complex);
long double cimagl(long double complex);

/* time.h, sys/time.h, sys/stat.h, unistd.h, pthread.h */
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; int tv_usec; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; long tm_gmtoff; char *tm_zone; };
struct stat;
#define CLOCKS_PER_SEC ((clock_t)1000000)
#define TIME_UTC 1
clock_t clock(void);
time_t time(time_t *);
int timespec_get(struct timespec *, int);
int access(const char *, int);
int close(int);
int dup(int);
int pause(void);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
unsigned int sleep(unsigned int);
typedef struct _opaque_pthread_t *pthread_t;
typedef unsigned long pthread_key_t;
typedef struct { long __sig; char __opaque[56]; } pthread_mutex_t;
typedef struct { long __sig; char __opaque[40]; } pthread_cond_t;

#endif
