/* The function BLOCKS: orders on the blocks at `offset`, `offset + by`, ... before `end`. order_runs.h includes
   this for each dtype and each length of blocks, and says which:

   ELEMENT    the type of an element
   VECTOR     that of a vector of them, or of one
   ROOT(x)    the square roots of a vector
   MAGNITUDE(x)    a vector without the signs, those of NaN included
   PAST_CACHES(to, x)   write a vector past the caches, to where the address is a multiple of its length
   EACH(DO)   DO(0) DO(1) ... for each vector of the block

   Each order ends with a jump of its own to the next one: the processor guesses where a jump that all
   share would go mostly wrong (docs/tuning.md, 100). */

TARGET static NO_INLINE void BLOCKS(const Order *orders, npy_intp offset, npy_intp end, npy_intp by)
{
    static const void *const labels[] = {
        &&read_vector, &&read_scalar, &&add_vector, &&add_scalar, &&subtract_vector, &&subtract_scalar,
        &&subtract_from_vector, &&subtract_from_scalar, &&multiply_vector, &&multiply_scalar,
        &&divide_vector, &&divide_scalar, &&divide_into_vector, &&divide_into_scalar,
        &&add_two_vector, &&add_two_scalar, &&subtract_two_vector, &&subtract_two_scalar,
        &&multiply_two_vector, &&multiply_two_scalar, &&divide_two_vector, &&divide_two_scalar,
        &&double_it, &&square, &&negate, &&square_root, &&absolute, &&keep, &&last, &&stream,
    };
    const Order *order = orders;
    VECTOR *x;
    EACH(DECLARE)
#define GO                                            \
    x = (VECTOR *)(order->data + (offset & order->mask)); \
    goto *labels[order->code];
#define NEXT \
    order++; \
    GO
#define WITH_OPERAND(LABEL, WITH_VECTOR, WITH_SCALAR) \
    LABEL##_vector:                                   \
    EACH(WITH_VECTOR)                                 \
    NEXT                                              \
    LABEL##_scalar:                                   \
    {                                                 \
        const ELEMENT e = *(const ELEMENT *)x;        \
        EACH(WITH_SCALAR)                             \
    }                                                 \
    NEXT
#define WITH_TWO(LABEL, WITH_VECTOR, WITH_SCALAR)                                                 \
    LABEL##_vector:                                                                               \
    {                                                                                             \
        order++;                                                                                  \
        const VECTOR *y = (const VECTOR *)(order->data + (offset & order->mask));                 \
        EACH(WITH_VECTOR)                                                                         \
    }                                                                                             \
    NEXT                                                                                          \
    LABEL##_scalar:                                                                               \
    {                                                                                             \
        order++;                                                                                  \
        const ELEMENT e = *(const ELEMENT *)order->data;                                          \
        EACH(WITH_SCALAR)                                                                         \
    }                                                                                             \
    NEXT
#define ALONE_DO(LABEL, DO) \
    LABEL:                  \
    EACH(DO)                \
    NEXT
    GO
    WITH_OPERAND(read, READ_ALL, READ_ONE)
    WITH_OPERAND(add, ADD_ALL, ADD_ONE)
    WITH_OPERAND(subtract, SUBTRACT_ALL, SUBTRACT_ONE)
    WITH_OPERAND(subtract_from, SUBTRACT_FROM_ALL, SUBTRACT_FROM_ONE)
    WITH_OPERAND(multiply, MULTIPLY_ALL, MULTIPLY_ONE)
    WITH_OPERAND(divide, DIVIDE_ALL, DIVIDE_ONE)
    WITH_OPERAND(divide_into, DIVIDE_INTO_ALL, DIVIDE_INTO_ONE)
    WITH_TWO(add_two, ADD_BOTH, ADD_BOTH_ONE)
    WITH_TWO(subtract_two, SUBTRACT_BOTH, SUBTRACT_BOTH_ONE)
    WITH_TWO(multiply_two, MULTIPLY_BOTH, MULTIPLY_BOTH_ONE)
    WITH_TWO(divide_two, DIVIDE_BOTH, DIVIDE_BOTH_ONE)
    ALONE_DO(double_it, DOUBLE_ALL)
    ALONE_DO(square, SQUARE_ALL)
    ALONE_DO(negate, NEGATE_ALL)
    ALONE_DO(square_root, ROOT_ALL)
    ALONE_DO(absolute, ABSOLUTE_ALL)
    ALONE_DO(keep, WRITE_ALL)
stream:
    if ((npy_uintp)x % sizeof(VECTOR) == 0) {
        EACH(STREAM_ALL)
    } else {
        EACH(WRITE_ALL)
    }
    goto block_done;
last:
    EACH(WRITE_ALL)
block_done:
    offset += by;
    if (offset == end) {
        return;
    }
    order = orders;
    GO
#undef GO
#undef NEXT
#undef WITH_OPERAND
#undef WITH_TWO
#undef ALONE_DO
}

#undef EACH
#undef BLOCKS
