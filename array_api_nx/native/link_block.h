/* The function BLOCK: a chain on one block of elements. link_runs.h includes this for each dtype
   and each length of blocks, and says which:

   ELEMENT    the type of an element
   VECTOR     that of a vector of them, or of one
   ROOT(x)    the square roots of a vector
   MAGNITUDE(x)    a vector without the signs, those of NaN included
   STREAM(to, x)   write a vector past the caches, to where the address is a multiple of its length
   EACH(DO)   DO(0) DO(1) ... for each vector of the block */

TARGET static INLINE void BLOCK(const Order *order, npy_intp offset)
{
    EACH(DECLARE)
    if (order->code == READ_VECTOR) {
        const VECTOR *x = (const VECTOR *)(order->data + offset);
        EACH(READ)
    } else {
        const ELEMENT e = *(const ELEMENT *)order->data;
        EACH(READ_ONE)
    }
    for (;;) {
        order++;
        switch (order->code) {
            CASES(ADD)
            CASES(SUBTRACT)
            CASES(SUBTRACT_FROM)
            CASES(MULTIPLY)
            CASES(DIVIDE)
            CASES(DIVIDE_INTO)
        case DOUBLE_IT_CODE:
            EACH(DOUBLE_IT)
            break;
        case SQUARE_CODE:
            EACH(SQUARE)
            break;
        case NEGATE_CODE:
            EACH(NEGATE)
            break;
        case SQRT_CODE:
            EACH(SQUARE_ROOT)
            break;
        case ABSOLUTE_CODE:
            EACH(ABSOLUTE)
            break;
        case STREAM_CODE: {
            VECTOR *x = (VECTOR *)(order->data + offset);
            if ((npy_uintp)x % sizeof(VECTOR) == 0) {
                EACH(PAST_CACHES)
            } else {
                EACH(KEEP)
            }
            return;
        }
        default: {
            VECTOR *x = (VECTOR *)(order->data + offset);
            EACH(KEEP)
            if (order->code == LAST_CODE) {
                return;
            }
        }
        }
    }
}

#undef EACH
#undef BLOCK
