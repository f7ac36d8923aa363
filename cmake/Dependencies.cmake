# Libraries that the lab and the program use, all of them Debian packages (scripts/packages.txt).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

if(CORNERTURN_STATIC)
    set(Boost_USE_STATIC_LIBS ON)
endif()
find_package(Boost REQUIRED COMPONENTS context)

# libdw has no CMake package; a static one needs the libraries that it was built with.
find_library(LIBDW NAMES dw REQUIRED)
if(CORNERTURN_STATIC)
    foreach(name dw elf lzma bz2 z)
        find_library(CORNERTURN_LIB_${name} NAMES lib${name}.a REQUIRED)
        list(APPEND CORNERTURN_DW_LIBRARIES ${CORNERTURN_LIB_${name}})
    endforeach()
else()
    find_library(LIBELF NAMES elf REQUIRED)
    set(CORNERTURN_DW_LIBRARIES ${LIBDW} ${LIBELF})
endif()
