message(FATAL_ERROR "cornerturn has included a file of its parent project")
