/* What C11 does not have and some compilers do; where one does not, these say nothing.

   All other files ask for compilers and processors by the HAS_... below. A build that defines
   ARRAY_API_NX_PORTABLE has none of them: the rest is C11, which tests compile and run. */

#ifndef ARRAY_API_NX_COMPILER_H
#define ARRAY_API_NX_COMPILER_H

#ifndef ARRAY_API_NX_PORTABLE

/* Attributes, built-in functions and assembly of GCC, which clang has, too. */
#ifdef __GNUC__
#define HAS_GNU_C 1
#endif

/* Functions that are compiled for other processors of x86 than the rest. */
#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_TARGETS 1
#endif

/* Hints for the loop that follows. */
#if defined(__GNUC__) && !defined(__clang__)
#define HAS_LOOP_HINTS 1
#endif

/* Floating-point numbers of 16 bits as a type of C, which GCC 12 and clang 15 have on most processors. */
#ifdef __FLT16_MANT_DIG__
#define HAS_FLOAT16 1
#endif

/* Instructions that convert vectors of such numbers: those of x86 (F16C) a function has to ask for, and
   whether the processor has them (half_loops.c). Each processor of ARM's with 64 bits has some, into which
   compilers make conversions of C. */
#if defined(HAS_FLOAT16) && defined(__GNUC__) && defined(__x86_64__)
#define HAS_F16C 1
#endif
#if defined(HAS_F16C) || (defined(HAS_FLOAT16) && defined(__aarch64__))
#define HAS_HALF_VECTORS 1
#endif

/* Vectors of 16 bytes on x86. */
#ifdef __SSE2__
#define HAS_SSE2 1
#endif

#endif

/* What the processor has, from the least: what hot functions may use of it (processor.c). */
enum { BASELINE, AVX2, AVX512 };
extern int processor;

/* Bytes of the shortest numbers of which NumPy sorts long rows in a few nanoseconds an element: by AVX-512, where an
   instruction that writes the chosen elements of a vector to memory takes a few cycles (docs/tuning.md, 154). */
enum { NOT_SORTED_BY_VECTORS = 1 << 8 };
extern int vector_sorted_bytes;

/* CLONED(static or extern, type, name, (parameters), (arguments)) before the body of a function: it is
   compiled for several processors, together with all INLINE functions that it calls, and each call goes
   to the best one. It computes the same on all, since no product is added before it is rounded.
   CLONED_FOR_ROTATIONS: also for AVX-512, which rotates in one instruction instead of three, and has
   vectors of twice the length (docs/tuning.md, 53).
   CLONED_FOR_FUSED: for a function between FUSED_BEGIN and FUSED_END, where processors that can add a
   product before it is rounded do so. */
#ifdef HAS_TARGETS
#define CLONE(TYPE, NAME, SUFFIX, TARGET, PARAMETERS, ARGUMENTS)                                   \
    __attribute__((TARGET)) static TYPE NAME##SUFFIX PARAMETERS { return NAME##_body ARGUMENTS; }
#define BEST_CLONE(STORAGE, TYPE, NAME, PARAMETERS, ARGUMENTS, AVX2_TARGET, CLONES, CHOICE)        \
    static INLINE TYPE NAME##_body PARAMETERS;                                                     \
    CLONE(TYPE, NAME, _baseline, noinline, PARAMETERS, ARGUMENTS)                                  \
    CLONE(TYPE, NAME, _avx2, target(AVX2_TARGET), PARAMETERS, ARGUMENTS)                           \
    CLONES                                                                                         \
    STORAGE TYPE NAME PARAMETERS                                                                   \
    {                                                                                              \
        return CHOICE processor >= AVX2 ? NAME##_avx2 ARGUMENTS : NAME##_baseline ARGUMENTS;       \
    }                                                                                              \
    static INLINE TYPE NAME##_body PARAMETERS
#define CLONED(STORAGE, TYPE, NAME, PARAMETERS, ARGUMENTS)                                         \
    BEST_CLONE(STORAGE, TYPE, NAME, PARAMETERS, ARGUMENTS, "avx2", , )
#define CLONED_FOR_ROTATIONS(STORAGE, TYPE, NAME, PARAMETERS, ARGUMENTS)                           \
    BEST_CLONE(STORAGE, TYPE, NAME, PARAMETERS, ARGUMENTS, "avx2",                                 \
               CLONE(TYPE, NAME, _avx512, target("avx512f"), PARAMETERS, ARGUMENTS),               \
               processor >= AVX512 ? NAME##_avx512 ARGUMENTS :)
#define CLONED_FOR_FUSED(STORAGE, TYPE, NAME, PARAMETERS, ARGUMENTS)                               \
    BEST_CLONE(STORAGE, TYPE, NAME, PARAMETERS, ARGUMENTS, "avx2,fma", , )
#else
#define CLONED(STORAGE, TYPE, NAME, PARAMETERS, ARGUMENTS) STORAGE TYPE NAME PARAMETERS
#define CLONED_FOR_ROTATIONS CLONED
#define CLONED_FOR_FUSED CLONED
#endif
#if defined(__clang__) || !defined(__GNUC__)
#define FUSED_BEGIN _Pragma("STDC FP_CONTRACT ON")
#define FUSED_END _Pragma("STDC FP_CONTRACT OFF")
#elif defined(HAS_TARGETS)
#define FUSED_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"fp-contract=fast\")")
#define FUSED_END _Pragma("GCC pop_options")
#else
#define FUSED_BEGIN
#define FUSED_END
#endif

/* INLINE: the function becomes a part of the one that calls it, and so is compiled for the same
   processors. */
#ifdef HAS_GNU_C
#define INLINE inline __attribute__((always_inline))
#else
#define INLINE inline
#endif

/* THREAD_LOCAL: each thread has a variable of its own. */
#ifdef _MSC_VER
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL _Thread_local
#endif

/* INDEPENDENT: the rounds of the loop that follows do not depend on each other, although a target
   may be a source. UNROLLED: the loop that follows has few rounds, known in advance. */
#ifdef HAS_LOOP_HINTS
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define INDEPENDENT
#define UNROLLED
#endif

/* ONLY_HERE(x): nothing is computed from `x` before this line is reached. Compilers take a square root to have
   no effect and move it to before a jump that would have avoided it, where it raises the flag of invalid
   values: GCC on ARM. `x` is a number or a vector of them. */
#if defined(HAS_GNU_C) && defined(__aarch64__)
#define ONLY_HERE(x) __asm__ volatile("" : "+w"(x));
#elif defined(HAS_SSE2) && defined(HAS_GNU_C)
#define ONLY_HERE(x) __asm__ volatile("" : "+x"(x));
#else
#define ONLY_HERE(x)
#endif

/* ROUND_BY_ROUND: in a loop whose rounds depend on each other, so that the compiler makes vectors of what
   one round computes, not of several rounds. */
#ifdef HAS_GNU_C
#define ROUND_BY_ROUND __asm__ volatile("");
#else
#define ROUND_BY_ROUND
#endif

/* FETCH: ask for the cache line at an address, which is about to be read. */
#ifdef HAS_GNU_C
#define FETCH(address) __builtin_prefetch(address, 0, 2) /* into the second level of the cache */
#else
#define FETCH(address) ((void)(address))
#endif

#endif
