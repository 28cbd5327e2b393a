/* What not every compiler can do; where one cannot, these say nothing. */

#ifndef ARRAY_API_NX_COMPILER_H
#define ARRAY_API_NX_COMPILER_H

/* CLONED: the function is compiled once more for newer processors, and chosen when the extension
   loads. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define CLONED __attribute__((target_clones("avx2", "default")))
#else
#define CLONED
#endif

/* INLINE: the function becomes a part of the one that calls it, and so is compiled for the same
   processors. */
#ifdef __GNUC__
#define INLINE inline __attribute__((always_inline))
#else
#define INLINE inline
#endif

/* INDEPENDENT: the rounds of the loop that follows do not depend on each other, although a target
   may be a source. UNROLLED: the loop that follows has few rounds, known in advance. */
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define INDEPENDENT
#define UNROLLED
#endif

/* FETCH: ask for the cache line at an address, which is about to be read. */
#ifdef __GNUC__
#define FETCH(address) __builtin_prefetch(address, 0, 2) /* into the second level of the cache */
#else
#define FETCH(address) ((void)(address))
#endif

#endif
