/* np.einsum of one array to three: views of the arrays, whose product is a product of matrices, or sums of
   the products of elements. Of three, the first two are multiplied first.

   `nij,kj->nik` is a stack of products of matrices: n, which both operands and the result have, numbers them; i is their rows,
   k their columns, and j, which the result lacks, is summed. `aij,bj->bai` is one such product, where a and i together are the
   rows. `ij,ij->i`, without an axis that one operand has alone, is a product of elements that is summed along j. */

#include "chapters.h"
#include "conversion.h"
#include "elementwise.h"
#include "movement.h"
#include "nodes.h"
#include "pack.h"
#include "product_sums.h"

/* Behind the letters of the alphabet come those of the axes under an ellipsis, from the last of these on. */
enum { ALPHABET = 52, LETTERS = 64, OPERANDS = 3, LEFT = 0, RIGHT = 1, THIRD = 2 };

typedef npy_uint64 Letters; /* a bit for each */

/* What the subscripts say. A letter that comes twice in an operand stands for the diagonal. */
typedef struct {
    int operands;
    Tensor *arrays[OPERANDS];
    Letters in[OPERANDS];
    npy_intp strides[OPERANDS][LETTERS], sizes[LETTERS]; /* in bytes; of all elements along an axis */
    int order[OPERANDS + 1][LETTERS], lengths[OPERANDS + 1]; /* the letters of each operand once, and of the result */
    int hidden; /* the most axes under an ellipsis */
    Letters out;
} Subscripts;

/* The axes of a view, one after the other. */
static void add_axis(NewView *view, npy_intp size, npy_intp stride)
{
    view->shape[view->ndim] = size;
    view->strides[view->ndim++] = size == 1 ? 0 : stride;
}

static Letters letters_of(const Subscripts *read)
{
    return read->in[LEFT] | read->in[RIGHT] | read->in[THIRD];
}

static int number_of(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' : letter >= 'a' && letter <= 'z' ? letter - 'a' + 26 : -1;
}

static int has(Letters letters, int letter)
{
    return (int)(letters >> letter & 1);
}

/* Append a letter to those of an operand or of the result, unless it is there. */
static void append(Subscripts *read, int of, Letters *letters, int letter)
{
    if (!has(*letters, letter)) {
        read->order[of][read->lengths[of]++] = letter;
        *letters |= (Letters)1 << letter;
    }
}

static int is_ellipsis(const char *text)
{
    return text[0] == '.' && text[1] == '.' && text[2] == '.';
}

/* Give an axis of an operand a letter. 0 if there is no such axis, or if its size is not that of others with the letter. */
static int take_letter(Subscripts *read, int of, int dim, int letter)
{
    const Tensor *x = read->arrays[of];
    const Letters known = letters_of(read);
    if (letter < 0 || letter >= LETTERS || dim >= x->ndim || (has(known, letter) && read->sizes[letter] != x->shape[dim])) {
        return 0;
    }
    read->sizes[letter] = x->shape[dim];
    read->strides[of][letter] = x->strides[dim] + (has(read->in[of], letter) ? read->strides[of][letter] : 0);
    append(read, of, &read->in[of], letter);
    return 1;
}

/* The letters of one operand, up to a comma, an arrow or the end. NULL if they do not fit its axes. */
static const char *read_term(Subscripts *read, int of, const char *text)
{
    int hidden = read->arrays[of]->ndim, dim = 0, has_hidden = 0;
    const char *end = text;
    for (; *end != '\0' && *end != ',' && *end != '-'; end++) {
        hidden -= number_of(*end) >= 0;
    }
    for (; text < end; text++) {
        if (*text == ' ') {
            continue;
        }
        if (!is_ellipsis(text)) {
            if (!take_letter(read, of, dim++, number_of(*text))) {
                return NULL;
            }
            continue;
        }
        for (int i = hidden - 1; i >= 0; i--) {
            if (!take_letter(read, of, dim++, ALPHABET + i)) {
                return NULL;
            }
        }
        if (has_hidden) {
            return NULL;
        }
        has_hidden = 1;
        read->hidden = hidden > read->hidden ? hidden : read->hidden;
        text += 2;
    }
    return dim == read->arrays[of]->ndim ? text : NULL;
}

/* The axes under an ellipsis are axes of the result. */
static void append_hidden(Subscripts *read)
{
    for (int i = read->hidden - 1; i >= 0; i--) {
        append(read, read->operands, &read->out, ALPHABET + i);
    }
}

/* The letters of the result: those behind an arrow, or those that come once, sorted. 0 if C does not take them. */
static int read_result(Subscripts *read, const char *text, const char *terms)
{
    if (*text == '\0') {
        int counts[ALPHABET] = {0};
        for (; *terms != '\0'; terms++) {
            const int letter = number_of(*terms);
            if (letter >= 0) {
                counts[letter]++;
            }
        }
        append_hidden(read);
        for (int letter = 0; letter < ALPHABET; letter++) {
            if (counts[letter] == 1) {
                append(read, read->operands, &read->out, letter);
            }
        }
        return 1;
    }
    if (text[0] != '-' || text[1] != '>') {
        return 0;
    }
    int shows_hidden = read->hidden == 0;
    for (text += 2; *text != '\0'; text++) {
        const int letter = number_of(*text);
        if (is_ellipsis(text)) {
            append_hidden(read);
            shows_hidden = 1;
            text += 2;
        } else if (letter >= 0 && !has(read->out, letter) && has(letters_of(read), letter)) {
            append(read, read->operands, &read->out, letter);
        } else if (*text != ' ') {
            return 0;
        }
    }
    return shows_hidden;
}

/* 0 for subscripts and arrays that are left to Python. */
static int read_subscripts(Subscripts *read, PyObject *const *values, Py_ssize_t count)
{
    read->operands = (int)count - 1;
    if (count < 2 || count > OPERANDS + 1 || !PyUnicode_Check(values[0]) || !PyUnicode_IS_COMPACT_ASCII(values[0])) {
        return 0;
    }
    const char *const terms = (const char *)PyUnicode_1BYTE_DATA(values[0]), *text = terms;
    for (int i = 0; i < read->operands; i++) {
        Tensor *x = read->arrays[i] = movable(values[i + 1]);
        if (x == NULL || x->size == 0 || x->code != read->arrays[0]->code || (i > 0 && *text++ != ',') ||
            (text = read_term(read, i, text)) == NULL) {
            return 0;
        }
    }
    return read_result(read, text, terms);
}

/* A view of an operand with an axis for each of some letters, in an order; where the operand lacks one, its elements are
   repeated once, so that it is broadcast. */
static PyObject *show_letters(const Subscripts *read, int of, const int *order, int count)
{
    NewView view = {.ndim = 0};
    if (count > ARRAY_DIMS) {
        return DECLINED;
    }
    start_layout(read->arrays[of], &view);
    for (int i = 0; i < count; i++) {
        const int is_there = has(read->in[of], order[i]);
        add_axis(&view, is_there ? read->sizes[order[i]] : 1, is_there ? read->strides[of][order[i]] : 0);
    }
    return show(read->arrays[of], &view);
}

/* The result with its axes in the order that was asked for, from an array whose axes have letters. Steals the reference. */
static PyObject *put_in_order(const Subscripts *read, PyObject *array, const int *order, int count)
{
    const int *const wanted = read->order[read->operands];
    if (array == NULL || array == DECLINED || memcmp(order, wanted, (size_t)count * sizeof(int)) == 0) {
        return array;
    }
    NewView view = {.ndim = 0};
    Tensor *x = movable(array);
    if (x != NULL) {
        start_layout(x, &view);
        for (int i = 0; i < count; i++) {
            int dim = 0;
            while (order[dim] != wanted[i]) {
                dim++;
            }
            add_axis(&view, x->shape[dim], x->strides[dim]);
        }
    }
    PyObject *result = x == NULL ? NULL : show(x, &view);
    Py_DECREF(array);
    return result != NULL ? result : decline_unless_raised();
}

/* Products of elements, as of `i,j->ij`. */
static PyObject *multiply_elements(const Subscripts *read)
{
    PyObject *x = show_letters(read, LEFT, read->order[2], read->lengths[2]), *product = x;
    PyObject *y = is_answer(x) ? show_letters(read, RIGHT, read->order[2], read->lengths[2]) : NULL;
    if (is_answer(x)) {
        product = is_answer(y) ? compute_binary(OP_MULTIPLY, x, y) : y;
        Py_DECREF(x);
        drop_answer(y);
    }
    return product;
}

/* How far an operand steps along a letter. */
static npy_intp letter_step(const Subscripts *read, int of, int letter)
{
    return of < read->operands && has(read->in[of], letter) ? read->strides[of][letter] : 0;
}

static void append_letter(ProductNest *nest, const Subscripts *read, int letter, npy_intp step)
{
    add_product_axis(nest, read->sizes[letter], step, letter_step(read, LEFT, letter), letter_step(read, RIGHT, letter));
}

/* Compute a nest whose axes are set; the result has this shape. */
static PyObject *sum_nest(const Subscripts *read, ProductNest *nest, const npy_intp *shape)
{
    for (int of = 0; of < read->operands; of++) {
        char *data = nest->data[LEFT_FACTOR + of] = data_of(read->arrays[of]);
        if (data == NULL || !is_aligned(read->arrays[of], data)) {
            return decline_unless_raised();
        }
    }
    PyObject *result = new_array_like_memory(read->lengths[read->operands], shape, nest->code, 0, &nest->data[SUMS]);
    if (result != NULL && !sum_products(nest)) {
        Py_CLEAR(result);
    }
    return result;
}

/* Whether an operand's elements lie closer together along the first letter than along the second, and those of no operand the
   other way: 1 or 0; -1 if no operand has both. */
static int is_closer(const Subscripts *read, int first, int second)
{
    int closer = -1;
    for (int of = 0; of < read->operands; of++) {
        const npy_intp one = magnitude(letter_step(read, of, first)), other = magnitude(letter_step(read, of, second));
        if (one != 0 && other != 0) {
            closer = one < other && closer != 0;
        }
    }
    return closer;
}

/* The letters of the result in the order in which NumPy's iterators lay out its axes: as those of the operands lie. */
static void order_result(const Subscripts *read, int *order)
{
    const int *const wanted = read->order[read->operands], count = read->lengths[read->operands];
    for (int i = count - 1; i >= 0; i--) {
        int to = i;
        for (int at = i + 1; at < count; at++) {
            const int closer = is_closer(read, wanted[i], order[at]);
            if (closer == 0) {
                break;
            }
            to = closer > 0 ? at : to;
        }
        for (int at = i; at < to; at++) {
            order[at] = order[at + 1];
        }
        order[to] = wanted[i];
    }
}

/* Sums of elements, or of the products of those of two arrays, as of `ij->i` and `ij,ij->i`. */
static PyObject *sum_terms(const Subscripts *read)
{
    ProductNest nest = {.code = (DTypeCode)read->arrays[LEFT]->code, .ndim = 0};
    const int kept = read->lengths[read->operands];
    int order[LETTERS];
    npy_intp shape[PRODUCT_AXES], step = dtypes[nest.code].itemsize;
    Letters met = read->out;
    if (kept + read->lengths[LEFT] + (read->operands > 1 ? read->lengths[RIGHT] : 0) >= PRODUCT_AXES) {
        return DECLINED;
    }
    order_result(read, order);
    for (int i = kept - 1; i >= 0; i--) {
        shape[i] = read->sizes[order[i]];
        append_letter(&nest, read, order[i], step);
        step *= shape[i];
    }
    for (int of = 0; of < read->operands; of++) {
        for (int i = 0; i < read->lengths[of]; i++) {
            const int letter = read->order[of][i];
            if (!has(met, letter)) {
                append_letter(&nest, read, letter, 0);
                met |= (Letters)1 << letter;
            }
        }
    }
    for (int of = 0; of < read->operands; of++) {
        Py_INCREF(read->arrays[of]); /* whatever finalisers and other threads do meanwhile */
    }
    PyObject *result = sum_nest(read, &nest, shape);
    for (int of = 0; of < read->operands; of++) {
        Py_DECREF(read->arrays[of]);
    }
    return put_in_order(read, result, order, kept);
}

/* Append some letters of an operand to a view of it, as one axis; 0 if their elements do not lie the same way apart. */
static int add_group(NewView *view, const Subscripts *read, int of, const int *group, int count)
{
    npy_intp size = 1, stride = 0;
    for (int i = count - 1; i >= 0; i--) {
        const npy_intp extent = read->sizes[group[i]], step = read->strides[of][group[i]];
        if (extent != 1 && size != 1 && step != size * stride) {
            return 0;
        }
        stride = size == 1 ? step : stride;
        size *= extent;
    }
    add_axis(view, size, stride);
    return 1;
}

/* Append the axes of such letters to a view of a product, where they are one axis, with elements `stride` bytes apart. */
static void add_axes_of_group(NewView *view, const Subscripts *read, const int *group, int count, npy_intp stride)
{
    npy_intp *const shape = view->shape + view->ndim;
    for (int i = 0; i < count; i++) {
        shape[i] = read->sizes[group[i]];
    }
    step_by_rows(count, shape, stride, view->strides + view->ndim);
    view->ndim += count;
}

/* The letters of an order that are among some. */
static int choose(const int *order, int count, Letters letters, int *chosen)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (has(letters, order[i])) {
            chosen[found++] = order[i];
        }
    }
    return found;
}

/* Letters of a product of matrices: those that number the matrices of a stack, of rows, and of columns, one after the other. */
typedef struct {
    int order[LETTERS], stacked, rows, columns; /* how many of each */
} ProductLetters;

/* The product with an axis for each of its letters, in the order that was asked for. Steals the reference. */
static PyObject *split_axes(const Subscripts *read, PyObject *product, const ProductLetters *letters)
{
    const int *const rows = letters->order + letters->stacked, *const columns = rows + letters->rows;
    Tensor *x = movable(product);
    NewView view = {.ndim = 0};
    PyObject *result = NULL;
    if (x != NULL) {
        start_layout(x, &view);
        for (int i = 0; i < letters->stacked; i++) {
            add_axis(&view, x->shape[i], x->strides[i]);
        }
        add_axes_of_group(&view, read, rows, letters->rows, letters->rows > 0 ? x->strides[letters->stacked] : 0);
        add_axes_of_group(&view, read, columns, letters->columns, letters->columns > 0 ? x->strides[x->ndim - 1] : 0);
        result = show(x, &view);
    }
    Py_DECREF(product);
    if (result == NULL) {
        return decline_unless_raised();
    }
    return put_in_order(read, result, letters->order, letters->stacked + letters->rows + letters->columns);
}

/* The product of matrices, or of stacks of them. Declined if letters that are to be rows, columns or terms of the sums cannot
   be shown as one axis. */
static PyObject *multiply_as_matrices(const Subscripts *read)
{
    const Letters both = read->in[LEFT] & read->in[RIGHT], stack = both & read->out;
    const int *const wanted = read->order[2];
    /* The axes of the first operand come first in the result. */
    int first = LEFT;
    for (int i = read->lengths[2] - 1; i >= 0; i--) {
        first = has(both, wanted[i]) ? first : has(read->in[LEFT], wanted[i]) ? LEFT : RIGHT;
    }
    const int second = first == LEFT ? RIGHT : LEFT;
    ProductLetters letters;
    int inner[LETTERS];
    letters.stacked = choose(wanted, read->lengths[2], stack, letters.order);
    int *const rows = letters.order + letters.stacked;
    letters.rows = choose(read->order[first], read->lengths[first], read->in[first] & ~both, rows);
    int *const columns = rows + letters.rows;
    letters.columns = choose(read->order[second], read->lengths[second], read->in[second] & ~both, columns);
    const int inner_count = choose(read->order[first], read->lengths[first], both & ~read->out, inner);
    /* An operand without rows, or without columns, is a vector, but in a stack. */
    const int has_rows = letters.rows > 0 || letters.stacked > 0, has_columns = letters.columns > 0 || letters.stacked > 0;
    NewView left = {.ndim = 0}, right = {.ndim = 0};
    if (letters.stacked + letters.rows + letters.columns + 2 > ARRAY_DIMS) {
        return DECLINED;
    }
    start_layout(read->arrays[first], &left);
    start_layout(read->arrays[second], &right);
    for (int i = 0; i < letters.stacked; i++) {
        const int letter = letters.order[i];
        add_axis(&left, read->sizes[letter], read->strides[first][letter]);
        add_axis(&right, read->sizes[letter], read->strides[second][letter]);
    }
    if ((has_rows && !add_group(&left, read, first, rows, letters.rows)) ||
        !add_group(&left, read, first, inner, inner_count) || !add_group(&right, read, second, inner, inner_count) ||
        (has_columns && !add_group(&right, read, second, columns, letters.columns))) {
        return DECLINED;
    }
    PyObject *x = show(read->arrays[first], &left), *y = x == NULL ? NULL : show(read->arrays[second], &right);
    PyObject *product = y == NULL ? NULL : PyNumber_MatrixMultiply(x, y);
    Py_XDECREF(x);
    Py_XDECREF(y);
    return product == NULL || !is_array(product) ? product : split_axes(read, product, &letters);
}

/* The most products that are computed here where a product of matrices would need copies of its operands (docs/tuning.md,
   162). */
enum { MOST_WITHOUT_COPIES = 1 << 17 };

/* How many elements an array with some letters has. */
static double size_of(const Subscripts *read, Letters letters)
{
    double size = 1;
    for (int letter = 0; letter < LETTERS; letter++) {
        size *= has(letters, letter) ? (double)read->sizes[letter] : 1;
    }
    return size;
}

/* Of two operands. Declined if one of them is summed alone. */
static PyObject *compute_pair(const Subscripts *read)
{
    const Letters both = read->in[LEFT] & read->in[RIGHT], alone = (read->in[LEFT] | read->in[RIGHT]) & ~both;
    if ((alone & ~read->out) != 0) {
        return DECLINED;
    }
    if ((both & ~read->out) == 0) {
        return multiply_elements(read);
    }
    const int are_vectors = (both & read->out) == 0 && read->lengths[LEFT] == 1 && read->lengths[RIGHT] == 1;
    if (is_inexact(read->arrays[LEFT]->code) && (alone != 0 || are_vectors)) {
        PyObject *product = multiply_as_matrices(read);
        const int is_vector = (read->in[LEFT] & ~both) == 0 || (read->in[RIGHT] & ~both) == 0; /* one of the operands */
        if (product != DECLINED || (!is_vector && size_of(read, letters_of(read)) > MOST_WITHOUT_COPIES)) {
            return product;
        }
    }
    return sum_terms(read);
}

/* Have an operand of a pair be one of those that were read. */
static void take_operand(Subscripts *pair, int as, const Subscripts *read, int of)
{
    pair->arrays[as] = read->arrays[of];
    pair->in[as] = read->in[of];
    pair->lengths[as] = read->lengths[of];
    memcpy(pair->strides[as], read->strides[of], sizeof(pair->strides[as]));
    memcpy(pair->order[as], read->order[of], sizeof(pair->order[as]));
}

/* Of three operands: of the first two, and of the result and the third. Declined if that is larger than what there is. */
static PyObject *compute_in_turn(const Subscripts *read)
{
    Subscripts pair = {.operands = 2}, rest = {.operands = 2};
    const Letters needed = (read->in[LEFT] | read->in[RIGHT]) & (read->out | read->in[THIRD]);
    const double most = size_of(read, read->in[LEFT]) + size_of(read, read->in[RIGHT]) + size_of(read, read->in[THIRD]) +
                        size_of(read, read->out);
    if (size_of(read, needed) > most) {
        return DECLINED;
    }
    memcpy(pair.sizes, read->sizes, sizeof(pair.sizes));
    take_operand(&pair, LEFT, read, LEFT);
    take_operand(&pair, RIGHT, read, RIGHT);
    pair.out = needed;
    int *const order = pair.order[2];
    const int first = choose(read->order[LEFT], read->lengths[LEFT], needed, order);
    pair.lengths[2] =
        first + choose(read->order[RIGHT], read->lengths[RIGHT], needed & ~read->in[LEFT], order + first);
    PyObject *product = compute_pair(&pair);
    Tensor *x = is_answer(product) ? movable(product) : NULL;
    if (x == NULL) {
        drop_answer(product);
        return product == NULL ? NULL : decline_unless_raised();
    }
    memcpy(rest.sizes, read->sizes, sizeof(rest.sizes));
    rest.arrays[LEFT] = x;
    rest.in[LEFT] = needed;
    rest.lengths[LEFT] = pair.lengths[2];
    for (int i = 0; i < pair.lengths[2]; i++) {
        rest.order[LEFT][i] = order[i];
        rest.strides[LEFT][order[i]] = x->strides[i];
    }
    take_operand(&rest, RIGHT, read, THIRD);
    rest.out = read->out;
    rest.lengths[2] = read->lengths[3];
    memcpy(rest.order[2], read->order[3], sizeof(rest.order[2]));
    PyObject *result = compute_pair(&rest);
    Py_DECREF(product);
    return result;
}

/* `optimizes` is what the caller asks NumPy for. Its results then have another order of axes in memory where elements of
   several operands are summed, and are arrays where they have no axes: these are declined. */
static PyObject *compute(const Subscripts *read, int optimizes)
{
    const int is_sum = (letters_of(read) & ~read->out) != 0;
    if (optimizes && (read->out == 0 || (is_sum && read->operands > 1))) {
        return DECLINED;
    }
    if (read->operands == 1) {
        return is_sum ? sum_terms(read) : show_letters(read, LEFT, read->order[1], read->lengths[LEFT]);
    }
    return read->operands == 2 ? compute_pair(read) : compute_in_turn(read);
}

static PyObject *einsum(int which, PyObject *const *values, Py_ssize_t count);

/* Of two dtypes: one operand is cast to that of the other. */
static PyObject *sum_promoted(PyObject *const *values, Tensor *x, Tensor *y)
{
    const DTypeCode common = (DTypeCode)promotions[x->code][y->code];
    const int is_left = common == y->code;
    if (common == NO_DTYPE || (common != x->code && !is_left)) {
        return DECLINED;
    }
    PyObject *promoted = cast_array(is_left ? x : y, common);
    if (promoted == NULL || promoted == DECLINED) {
        return promoted;
    }
    PyObject *const given[5] = {values[0], is_left ? promoted : values[1], is_left ? values[2] : promoted, NULL, values[4]};
    PyObject *result = einsum(0, given, 3);
    Py_DECREF(promoted);
    return result;
}

static PyObject *einsum(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x, *y;
    if (values[4] != NULL && !PyBool_Check(values[4])) {
        return DECLINED;
    }
    if (count == 3 && (x = layout_of_any(values[1])) != NULL && (y = layout_of_any(values[2])) != NULL && x->code != y->code) {
        return sum_promoted(values, x, y);
    }
    Subscripts read = {.operands = 0};
    if (!read_subscripts(&read, values, count)) {
        return decline_unless_raised();
    }
    const DTypeCode code = (DTypeCode)read.arrays[0]->code;
    if (!has_product_sums(code)) {
        return DECLINED;
    }
    PyObject *before = ignore_errors(); /* which NumPy does not look for */
    return before == NULL ? decline_unless_raised() : restore_errors(before, compute(&read, values[4] == Py_True));
}

Implementation einsum_functions[] = {
    {"einsum", einsum, 0, "subscripts, x, y=, z=, /, *, optimize="},
    {NULL, NULL, 0, NULL},
};
