/* cornerturn_last_error() returns the errors of both libraries. */
#include <stdio.h>
#include <string.h>

#include "cornerturn/cornerturn.h"

static int names(cornerturn_status status, const char* value) {
    if (status == CORNERTURN_INVALID_ARGUMENT && strstr(cornerturn_last_error(), value) != NULL) return 1;
    fprintf(stderr, "FAILED: status %d, and no %s in: %s\n", (int)status, value, cornerturn_last_error());
    return 0;
}

int main(void) {
    float data[24] = {0};
    if (!names(cornerturn_transpose(data, 3, 4, -11, data + 12, 3, 4, 0), "-11")) return 1;
    if (!names(cornerturn_cuda_transpose(data, 3, 4, -22, data + 12, 3, 4, NULL), "-22")) return 1;
    if (!names(cornerturn_transpose(data, 3, 4, -33, data + 12, 3, 4, 0), "-33")) return 1;
    data[1] = 5;
    if (cornerturn_transpose(data, 3, 4, 4, data + 12, 3, 4, 0) != CORNERTURN_OK || data[12 + 3] != 5) return 1;
    puts("one last error");
    return 0;
}
