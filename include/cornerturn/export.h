/**
 * @file
 * The symbols that the shared libraries export, for C and C++.
 */
#ifndef CORNERTURN_EXPORT_H
#define CORNERTURN_EXPORT_H

/** Marks what a shared libcornerturn or libcornerturn_host exports. All other symbols are hidden. */
#if defined(__GNUC__)
#define CORNERTURN_EXPORT __attribute__((visibility("default")))
#else
#define CORNERTURN_EXPORT
#endif

#endif
