/* The parts of a kernel, and the state of a thread that runs it. */

#ifndef ARRAY_API_NX_KERNEL_TYPES_H
#define ARRAY_API_NX_KERNEL_TYPES_H

#include "drawing.h"
#include "interrupt.h"

enum { MAX_SOURCES = 4 };

/* The name of the capsules of loops; each holds a pointer to a Loop. */
#define LOOP_NAME "array_api_nx.loop"

/* Operations on float32 and float64 that can be links of chains (chains.h). */
typedef enum { NO_LINK, ADD_LINK, SUBTRACT_LINK, MULTIPLY_LINK, DIVIDE_LINK, SQUARE_LINK,
               NEGATIVE_LINK, SQRT_LINK, ABSOLUTE_LINK } LinkOperation;

typedef struct {
    PyUFuncGenericFunction function; /* NULL: moments, see sums.h */
    void *data;
    int sources;
    npy_intp itemsizes[MAX_SOURCES + 1]; /* of the sources, then of the target */
    int is_arithmetic; /* whether it raises floating-point flags by vector instructions alone */
    LinkOperation link;
} Loop;

typedef struct {
    npy_uint64 low, high;
} Pair;

/* Set a loop (number, number) -> number, all of so many bytes. Whether there is a function. */
static inline int set_binary(Loop *loop, PyUFuncGenericFunction function, size_t itemsize,
                             int is_arithmetic)
{
    const npy_intp size = (npy_intp)itemsize;
    *loop = (Loop){function, NULL, 2, {size, size, size}, is_arithmetic, NO_LINK};
    return function != NULL;
}

/* The head of a function that is an inner loop. */
#define LOOP(NAME) \
    static void NAME(char **args, npy_intp const *count, npy_intp const *steps, void *data)
#define CLONED_LOOP(NAME)                                                                                  \
    CLONED(static, void, NAME, (char **args, npy_intp const *count, npy_intp const *steps, void *data),    \
           (args, count, steps, data))

/* Where the tile of an operand or a register lies. */
typedef struct {
    char *data;
    npy_intp row, column; /* bytes to step */
} Tile;

/* The elements folded so far: their number, their sum, their mean, and the sum of
   their squared distances from it (`squares`). The mean is `reference + offset`: where elements lie
   near each other and far from 0, one double would not hold it exactly enough to subtract the mean
   of other elements from it. */
typedef struct {
    npy_double count, sum, reference, offset, squares;
} Moments;

/* The extension exports MAX_OPERANDS and MAX_STEPS to Python. */
enum { MAX_DIMS = 32, MAX_OPERANDS = 256, MAX_REGISTERS = 256, MAX_STEPS = 512 };

/* Constants of backends/cpu/engine/schedule.py, by their names, as `set_tiles` gives them: 0 before. */
typedef struct {
    npy_intp transposed_rows, column_bytes, transposed_columns, row_bytes, packed_columns;
    npy_intp fetched_bytes, streamed_bytes;
} TileSizes;

extern TileSizes tile_sizes;

enum { MAX_ITEMSIZE = sizeof(Moments) };

typedef enum { DIRECT, PACKED, INVARIANT, STREAMED } Access;

typedef struct {
    npy_intp itemsize;
    npy_intp strides[MAX_DIMS];
    npy_intp task_stride;
    Access access;
    npy_intp start[MAX_DIMS], end[MAX_DIMS]; /* per dim, where there is memory */
    int fill; /* the operand around it, or -1: there is memory everywhere */
    int drawn; /* whether its memory is a Drawing, and its elements are the numbers of that */
    npy_intp numbers[MAX_DIMS]; /* per dim, how many numbers to step */
    int written, accumulates;
    int repeats;   /* whether its tile is the same for all indices of the outer dims */
    int is_factor; /* whether products read it, each row or each column as a whole */
    npy_intp low, high; /* bytes from the first element to the lowest and behind the highest */
    npy_intp buffer;    /* where in the scratch its packed tile is */
} KernelOperand;

/* Whether a register holds an element for each of the tile, for each row or for each column. */
typedef enum { PER_ELEMENT, PER_ROW, PER_COLUMN } Spread;

typedef struct {
    npy_intp itemsize;
    npy_intp buffer;
    Spread spread;
} KernelRegister;

typedef struct {
    Loop loop;
    int sources[MAX_SOURCES]; /* slots; of a reduction the accumulators, then the elements */
    int target;
    int loads[MAX_SOURCES]; /* operands to pack before */
    int load_count;
    int stores; /* whether the target is then written out of its packed tile */
    int reduces, rows, columns;
    npy_intp inner;          /* of a product of matrices, the size that is summed over; else 0 */
    npy_intp inner_steps[2]; /* bytes along it, in either source */
    char identity[MAX_ITEMSIZE];
    int chained; /* how many steps from this one on are a chain (chains.h); 0 where none begins */
    int follows[2]; /* in a chain, whether either source is the result of the step before */
    int keeps;      /* in a chain, whether its result is read after the next step, too */
    int streams;    /* in the last step of a chain, whether only its target's memory is written */
} KernelStep;

typedef struct {
    int ndim;
    npy_intp dims[MAX_DIMS];
    npy_intp tile_rows, tile_columns; /* in this order, see parse.c */
    int split;
    npy_intp step, tasks;
    int operand_count, register_count, step_count;
    KernelOperand *operands;
    KernelRegister *registers;
    KernelStep *steps;
    int repeats;      /* whether a tile is computed for all indices of the outer dims before the next one
                         is begun, since a packed operand repeats */
    int folds_tiles;  /* whether a step reduces whole tiles to one element */
    int alternates;   /* between memory and the cache, so that it pays to fetch ahead */
    int rounds;       /* how many steps there are if each chain counts as one */
    int fetches;      /* how often something is fetched ahead for each tile; see tiles.c */
    npy_intp spares[2]; /* where in the scratch chains of float32, and of float64, have their result that
                           cannot have it at once */
    npy_intp results; /* where in the scratch the reductions of a tile are */
    npy_intp scratch; /* bytes */
} Kernel;

/* Whether the operand's elements are not adjacent along the columns, nor one and the same. */
static inline int is_stepped(const Kernel *kernel, const KernelOperand *operand)
{
    const npy_intp column = operand->strides[kernel->ndim - 1];
    return column != 0 && column != operand->itemsize && kernel->dims[kernel->ndim - 1] > 1;
}

/* Cache lines of the next tile of an operand that are fetched while this one is computed. */
typedef struct {
    const char *start; /* of the run of lines that is fetched next */
    npy_intp stride;   /* bytes from one run to the next */
    npy_intp run;      /* lines */
    npy_intp done;     /* lines of that run that were fetched */
    npy_intp left;     /* lines of the tile that were not */
    npy_intp share;    /* lines that each step fetches, as long as there are any */
} Ahead;

/* One thread's state while it works on a kernel. */
typedef struct {
    const Kernel *kernel;
    char *const *memories; /* per operand, its element at index (0, ..., 0) */
    char *scratch;
    npy_intp first[MAX_DIMS];    /* indices of the tile's first element */
    char *corners[MAX_OPERANDS]; /* the first elements at the outer dims' indices */
    Tile views[MAX_OPERANDS + MAX_REGISTERS];
    int repeated; /* whether what repeats is packed already */
    char *spares[2]; /* tiles of the kernel's `spares`, or of registers of the same itemsize that have
                        taken those in exchange */
    Tile memory[MAX_OPERANDS]; /* views of the operands' own memory, packed or not */
    Interrupt *interrupt;
    int is_caller; /* whether this is the thread that waits for the kernel, which sees signals */
    Ahead ahead[MAX_OPERANDS];
    int ahead_count;
    npy_uint8 flags[MAX_STEPS];
} Frame;

#endif
