#include "blocks.h"
#include "sizes.h"

/* Blocks have 4, 8, 16, 32 or 64 KiB, and so many of each size wait: less than 1 MB in all. */
enum { SMALLEST_BLOCK = 1 << 12, SIZES = 5 };

#ifdef __SANITIZE_ADDRESS__
enum { MOST_WAITING = 0 }; /* it would not see who writes to a block that is given back */
#else
enum { MOST_WAITING = 7 };
#endif

/* What wait, by their size. The GIL protects them. */
static struct {
    int count;
    char *blocks[MOST_WAITING + 1];
} waiting[SIZES];

static int size_number(npy_intp bytes)
{
    int number = 0;
    while ((npy_intp)SMALLEST_BLOCK << number < bytes) {
        number++;
    }
    return number;
}

char *take_block(npy_intp bytes)
{
    const int number = size_number(bytes);
    if (waiting[number].count > 0) {
        return waiting[number].blocks[--waiting[number].count];
    }
    /* Before an aligned block stands where its memory begins. */
    const size_t size = (size_t)SMALLEST_BLOCK << number;
    char *memory = PyMem_RawMalloc(size + ALIGNMENT + sizeof(char *));
    if (memory == NULL) {
        return NULL;
    }
    const npy_uintp address = (npy_uintp)memory + sizeof(char *) + ALIGNMENT - 1;
    char *block = (char *)(address - address % ALIGNMENT);
    memcpy(block - sizeof(char *), &memory, sizeof(char *));
    return block;
}

static void free_block(char *block)
{
    char *memory;
    memcpy(&memory, block - sizeof(char *), sizeof(char *));
    PyMem_RawFree(memory);
}

void give_block(char *block, npy_intp bytes)
{
    const int number = size_number(bytes);
    if (waiting[number].count < MOST_WAITING) {
        waiting[number].blocks[waiting[number].count++] = block;
    } else {
        free_block(block);
    }
}

void release_blocks(void)
{
    for (int number = 0; number < SIZES; number++) {
        while (waiting[number].count > 0) {
            free_block(waiting[number].blocks[--waiting[number].count]);
        }
    }
}
