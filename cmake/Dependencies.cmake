# Libraries that the lab and the program use, all of them Debian packages (scripts/install.sh).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
# For the host transpose. Debian has no static ones: in a static build they are copied to beside the programs.
find_package(TBB REQUIRED)
find_package(hwy REQUIRED)

# The library, not the headers alone: every file that formats would compile all of it again. Debian has no static one.
add_library(cornerturn_fmt INTERFACE)
target_link_libraries(cornerturn_fmt INTERFACE $<IF:$<BOOL:${CORNERTURN_STATIC}>,fmt::fmt-header-only,fmt::fmt>)

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
    find_library(CORNERTURN_LIB_zstd NAMES libzstd.a)  # where libelf was built with it (Ubuntu 24.04)
    if(CORNERTURN_LIB_zstd)
        list(APPEND CORNERTURN_DW_LIBRARIES ${CORNERTURN_LIB_zstd})
    endif()
else()
    find_library(LIBELF NAMES elf REQUIRED)
    set(CORNERTURN_DW_LIBRARIES ${LIBDW} ${LIBELF})
endif()
