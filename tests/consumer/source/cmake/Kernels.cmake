message(FATAL_ERROR "cornerturn has included a file of the project that it is in")
