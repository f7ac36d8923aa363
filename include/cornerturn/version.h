/**
 * @file
 * The version of these headers, for C and C++. CMake and pkg-config read it here.
 */
#ifndef CORNERTURN_VERSION_H
#define CORNERTURN_VERSION_H

/** The major version. */
#define CORNERTURN_VERSION_MAJOR 0
/** The minor version. Before 1.0 a new one may change the API. */
#define CORNERTURN_VERSION_MINOR 3
/** The patch version. */
#define CORNERTURN_VERSION_PATCH 0
/** The version as one number, to compare with: 0.3.0 is 300, and 1.2.3 is 10203. */
#define CORNERTURN_VERSION_NUMBER \
    (CORNERTURN_VERSION_MAJOR * 10000 + CORNERTURN_VERSION_MINOR * 100 + CORNERTURN_VERSION_PATCH)

#endif
