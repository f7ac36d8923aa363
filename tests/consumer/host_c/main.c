/* Uses the C API of an installed host library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cornerturn/cornerturn.h"

#define REQUIRE(holds)                                                                                           \
    do {                                                                                                         \
        if (!(holds)) {                                                                                          \
            fprintf(stderr, "FAILED: line %d: %s; last error: %s\n", __LINE__, #holds, cornerturn_last_error()); \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)

enum { kRows = 70, kCols = 90, kLd = 95, kCount = 3, kStride = kRows * kLd, kBytes = kCount * kStride * 16 };

static unsigned char in[kBytes + 8], out[kBytes + 8], square[kBytes + 8];

/* Elements of `size` bytes at addresses of any alignment. */
static void check(int size, int offset, int threads) {
    int matrix, row, col;
    unsigned char *const source = in + offset, *const destination = out + (offset + 3) % 8;
    memset(out, 0xee, sizeof out);
    REQUIRE(cornerturn_transpose_batch(source, kRows, kCols, kLd, kStride, destination, kRows, kStride, kCount, size,
                                       threads) == CORNERTURN_OK);
    for (matrix = 0; matrix < kCount; ++matrix) {
        for (col = 0; col < kCols; ++col) {
            for (row = 0; row < kRows; ++row) {
                REQUIRE(memcmp(destination + (matrix * kStride + col * kRows + row) * size,
                               source + (matrix * kStride + row * kLd + col) * size, (size_t)size) == 0);
            }
        }
    }
    memset(out, 0xee, sizeof out);
    REQUIRE(cornerturn_transpose(source, kRows, kCols, kLd, destination, kRows, size, threads) == CORNERTURN_OK);
    REQUIRE(memcmp(destination + (5 * kRows + 7) * size, source + (7 * kLd + 5) * size, (size_t)size) == 0);
    REQUIRE(destination[kRows * kCols * size] == 0xee);
    memcpy(square, in, sizeof in);
    REQUIRE(cornerturn_transpose_in_place(square + offset, kRows, kLd, size, threads) == CORNERTURN_OK);
    for (row = 0; row < kRows; ++row) {
        for (col = 0; col < kLd; ++col) {
            const int from = col < kRows ? col * kLd + row : row * kLd + col;
            REQUIRE(memcmp(square + offset + (row * kLd + col) * size, source + from * size, (size_t)size) == 0);
        }
    }
}

/* Whether the last error names these values, in this order. */
static int names(const char* first, const char* second, const char* third) {
    const char* at = strstr(cornerturn_last_error(), first);
    if (at != NULL) at = strstr(at + strlen(first), second);
    return at != NULL && strstr(at + strlen(second), third) != NULL;
}

static void check_errors(void) {
    char version[40];
    REQUIRE(strcmp(cornerturn_last_error(), "") == 0);
    REQUIRE(cornerturn_transpose(in, 3, 4, 2, out, 3, 4, 0) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("source.ld", "2", "4"));
    REQUIRE(cornerturn_transpose(in, 3, 4, 4, out, 3, 0, 0) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(cornerturn_transpose(in, 3, 4, 4, out, 3, INT64_MIN, 0) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(cornerturn_transpose(in, -3, 4, 4, out, 3, 4, 0) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("source.rows", "-3", ""));
    REQUIRE(cornerturn_transpose(in, 3, 4, 4, in + 4, 3, 4, 0) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("destination", "source", ""));
    REQUIRE(cornerturn_transpose(NULL, 3, 4, 4, out, 3, 4, 0) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(cornerturn_transpose(in, 3, 4, 4, out, 3, 4, -1) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("threads", "-1", ""));
    REQUIRE(cornerturn_transpose(NULL, 0, 4, 4, NULL, 0, 4, 0) == CORNERTURN_OK);
    REQUIRE(cornerturn_transpose_in_place(in, 3, 2, 4, 0) == CORNERTURN_INVALID_ARGUMENT);

    REQUIRE(strcmp(cornerturn_status_name(CORNERTURN_INVALID_ARGUMENT), "invalid_argument") == 0);
    REQUIRE(cornerturn_version_number() == CORNERTURN_VERSION_NUMBER);
    sprintf(version, "%d.%d.%d", CORNERTURN_VERSION_MAJOR, CORNERTURN_VERSION_MINOR, CORNERTURN_VERSION_PATCH);
    REQUIRE(strcmp(cornerturn_version_string(), version) == 0);
}

int main(void) {
    int i, size, offset;
    for (i = 0; i < (int)sizeof in; ++i) in[i] = (unsigned char)(i * 2654435761u >> 24);
    check_errors();
    for (size = 1; size <= 16; ++size) {
        for (offset = 0; offset < 8; ++offset) check(size, offset, (size + offset) % 3);
    }
    puts("transposed");
    return 0;
}
