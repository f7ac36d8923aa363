# The target `reference` makes the reference of the public headers: reference/html/index.html in the build folder. It exists
# only if Doxygen is installed. A warning of Doxygen is an error.
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
    return()
endif()
set(CORNERTURN_REFERENCE_DIR ${PROJECT_BINARY_DIR}/reference)
# Older versions do not know this setting.
set(CORNERTURN_REFERENCE_SETTINGS "")
if(DOXYGEN_VERSION VERSION_GREATER_EQUAL 1.9.8)
    set(CORNERTURN_REFERENCE_SETTINGS "WARN_IF_UNDOC_ENUM_VAL = YES")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in ${CORNERTURN_REFERENCE_DIR}/Doxyfile @ONLY)
add_custom_target(reference
    COMMAND Doxygen::doxygen ${CORNERTURN_REFERENCE_DIR}/Doxyfile
    COMMENT "Making the reference of the public headers: reference/html/index.html"
    VERBATIM)
