/* What a shared libcornerturn lets others see; all else in it is hidden. C and C++. */
#ifndef CORNERTURN_EXPORT_H
#define CORNERTURN_EXPORT_H

#if defined(__GNUC__)
#define CORNERTURN_EXPORT __attribute__((visibility("default")))
#else
#define CORNERTURN_EXPORT
#endif

#endif
