/* The function BLOCKS: orders on the blocks at `offset`, `offset + by`, ... before `end`. order_runs.h and
   order_lengths.h include this for each dtype and each length of blocks, and say which:

   ELEMENT    the type of an element
   VECTOR     that of a vector of them, or of one
   TRUTHS     that of as many truths, which are integers
   COMPARE(x, y, HOW)   truths: LT or LE, which raises no flag
   LIMIT(x, y, HOW)     x where it is NaN, or LT or GT y; elsewhere y
   WIDEN(from), NARROW(t, to)   truths of booleans in memory, and back
   LANES_HERE the number of its elements, as a digit
   PRODUCT(x, y), QUOTIENT(x, y)
   ROOT(x)    the square roots of a vector
   MAGNITUDE(x)    a vector without the signs, those of NaN included
   CONJUGATES(x)   complex numbers whose imaginary parts have the other sign
   SPREAD(from)    a vector of one element for all
   REALS(from), SPREAD_REAL(from)   complex numbers of as many real ones, and of one for all
   STREAM_VECTOR(to, x)   write a vector past the caches, to where the address is a multiple of its length
   EACH(DO, OP, AT)   DO(0, OP, AT(0)) DO(1, OP, AT(1)) ... for each vector of the block

   Each order ends with a jump of its own to the next one: the processor guesses where a jump that all
   share would go mostly wrong (docs/tuning.md, 100). */

TARGET static NO_INLINE void BLOCKS(const Order *orders, npy_intp offset, npy_intp end, npy_intp by)
{
#define TWO_LABELS(CODE, ...) &&CODE##_VECTOR, &&CODE##_SCALAR,
#define ONE_LABEL(CODE, ...) &&CODE,
    static const void *const labels[] = {
        EACH_ORDER(TWO_LABELS, TWO_LABELS, TWO_LABELS, ONE_LABEL, ONE_LABEL) 
        &&READ_OTHERS, &&READ_BACK, &&READ_REALS_VECTOR, &&READ_REALS_SCALAR, &&KEEP, &&LAST, &&STREAM, &&END,
    };
#undef TWO_LABELS
#undef ONE_LABEL
    enum { LANES = sizeof(VECTOR) / sizeof(ELEMENT) };
    const Order *order = orders;
    VECTOR *x;
    EACH(DECLARE, NOTHING, NONE)
#define GO                                            \
    x = (VECTOR *)(order->data + (offset & order->mask)); \
    goto *labels[order->code];
#define NEXT \
    order++; \
    GO
/* Orders that are not given for numbers of a dtype have no use for their operands there. */
#define ONE_FOR_ALL                                   \
    const VECTOR e = (VECTOR)SPREAD(order->data);     \
    (void)e;
#define BOOLEANS                                                                            \
    char *const t = order->data + (npy_uintp)(offset & order->mask) / sizeof(ELEMENT);      \
    (void)t;
#define WITH_OPERAND(CODE, HOW, OP) \
    CODE##_VECTOR:                  \
    EACH(HOW, OP, X_AT)             \
    NEXT                            \
    CODE##_SCALAR:                  \
    {                               \
        ONE_FOR_ALL                 \
        EACH(HOW, OP, E_AT)         \
    }                               \
    NEXT
#define WITH_TWO(CODE, HOW, OP)                                                   \
    CODE##_VECTOR:                                                                \
    {                                                                             \
        order++;                                                                  \
        const VECTOR *y = (const VECTOR *)(order->data + (offset & order->mask)); \
        (void)y;                                                                  \
        EACH(HOW, OP, Y_AT)                                                       \
    }                                                                             \
    NEXT                                                                          \
    CODE##_SCALAR:                                                                \
    {                                                                             \
        order++;                                                                  \
        ONE_FOR_ALL                                                                \
        EACH(HOW, OP, E_AT)                                                       \
    }                                                                             \
    NEXT
#define WITH_CHOICE(CODE, HOW)                                            \
    CODE##_VECTOR:                                                        \
    {                                                                     \
        FIRST_OF_TWO                                                      \
        x = (VECTOR *)(order->data + (offset & order->mask));             \
        EACH(HOW, NOTHING, X_AT)                                          \
    }                                                                     \
    NEXT                                                                  \
    CODE##_SCALAR:                                                        \
    {                                                                     \
        FIRST_OF_TWO                                                      \
        ONE_FOR_ALL                                                        \
        EACH(HOW, NOTHING, E_AT)                                          \
    }                                                                     \
    NEXT
#define FIRST_OF_TWO                         \
    BOOLEANS                                 \
    const VECTOR *const first = x;           \
    order++;                                 \
    (void)t;                                 \
    (void)first;
#define WITH_BOOLEANS(CODE, HOW, OP) \
    CODE:                            \
    {                                \
        BOOLEANS                     \
        EACH(HOW, OP, T_AT)          \
    }                                \
    NEXT
#define ALONE_DO(CODE, OP)        \
    CODE:                         \
    EACH(APPLY_ALONE, OP, NONE)   \
    NEXT
    GO
    EACH_ORDER(WITH_OPERAND, WITH_TWO, WITH_CHOICE, WITH_BOOLEANS, ALONE_DO)
READ_OTHERS:
    {
        const ELEMENT *const from = (const ELEMENT *)(order->data + 2 * offset);
        EACH(TAKE_OTHERS, NOTHING, NONE)
    }
    NEXT
READ_BACK:
    {
        const ELEMENT *const from = (const ELEMENT *)(order->data - offset);
        EACH(TAKE_BACK, NOTHING, NONE)
    }
    NEXT
READ_REALS_VECTOR:
    {
        const char *const from = order->data + (offset & order->mask) / 2;
        EACH(TAKE_REALS, NOTHING, NONE)
    }
    NEXT
READ_REALS_SCALAR:
    {
        const VECTOR e = (VECTOR)SPREAD_REAL(order->data);
        EACH(TAKE, NOTHING, E_AT)
    }
    NEXT
KEEP:
    EACH(WRITE, NOTHING, X_AT)
    NEXT
STREAM:
    if ((npy_uintp)x % sizeof(VECTOR) == 0) {
        EACH(STREAM_ONE, NOTHING, X_AT)
    } else {
        EACH(WRITE, NOTHING, X_AT)
    }
    goto END;
LAST:
    EACH(WRITE, NOTHING, X_AT)
END:
    offset += by;
    if (offset == end) {
        return;
    }
    order = orders;
    GO
#undef GO
#undef NEXT
#undef ONE_FOR_ALL
#undef BOOLEANS
#undef WITH_OPERAND
#undef WITH_TWO
#undef WITH_CHOICE
#undef FIRST_OF_TWO
#undef WITH_BOOLEANS
#undef ALONE_DO
}

#undef EACH
#undef BLOCKS
