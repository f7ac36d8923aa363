# What building takes: compilers, and packages by their Debian names. What is missing is told in one line.

function(cornerturn_need what text)
    message(FATAL_ERROR "cornerturn needs ${what}: ${text}")
endfunction()

if(TARGET cornerturn::host OR TARGET cornerturn::cuda)
    message(FATAL_ERROR "cornerturn is here already: find_package has found an installed one. Add the sources before, or leave them out")
endif()
if(CORNERTURN_LAB AND NOT CORNERTURN_HOST)
    cornerturn_need("the host library for the lab" "leave CORNERTURN_HOST on, or give -DCORNERTURN_LAB=OFF too")
endif()
if(NOT CORNERTURN_HOST AND NOT CORNERTURN_CUDA)
    cornerturn_need("something to build" "-DCORNERTURN_HOST=ON, -DCORNERTURN_CUDA=ON or both")
endif()

set(found "this is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14) OR
   NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$")
    cornerturn_need("g++ 12 or clang 14, or later" "${found}; name another with -DCMAKE_CXX_COMPILER=...")
endif()
if(CORNERTURN_LAB AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    cornerturn_need("g++ for the lab, whose emulator has flags of g++'s"
        "${found}; -DCORNERTURN_LAB=OFF builds the libraries alone, -DCMAKE_CXX_COMPILER=g++ all of it")
endif()

# What C programs link for a static library of ours.
set(CORNERTURN_CXX_RUNTIME stdc++)
if("c++" IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    set(CORNERTURN_CXX_RUNTIME c++)
endif()

if(CORNERTURN_CUDA)
    include(CheckLanguage)
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER OR (IS_ABSOLUTE "${CMAKE_CUDA_COMPILER}" AND NOT EXISTS "${CMAKE_CUDA_COMPILER}"))
        cornerturn_need("nvcc for -DCORNERTURN_CUDA=ON"
            "install CUDA's toolkit, and put nvcc on the PATH or name it with -DCMAKE_CUDA_COMPILER=...")
    endif()
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 75 90a-real)  # any GPU from Turing on, and Hopper
    endif()
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
        cornerturn_need("nvcc 12 or later, which knows C++20"
            "this is ${CMAKE_CUDA_COMPILER_VERSION}; name another with -DCMAKE_CUDA_COMPILER=...")
    endif()
    find_package(CUDAToolkit REQUIRED)
endif()

# cornerturn_find(purpose package debian find_package's arguments...)
macro(cornerturn_find purpose package debian)
    find_package(${package} QUIET ${ARGN})
    if(NOT ${package}_FOUND)
        cornerturn_need("${package} for ${purpose}" "install ${debian}, or say with -D${package}_DIR=... where its CMake package lies")
    endif()
endmacro()

if(CORNERTURN_HOST)
    set(purpose "the host library (or give -DCORNERTURN_HOST=OFF)")
    # Debian has no static ones: in a static build they are copied to beside the programs.
    if(NOT TARGET TBB::tbb)
        cornerturn_find("${purpose}" TBB libtbb-dev)
    endif()
    if(NOT TARGET hwy::hwy)
        cornerturn_find("${purpose}" hwy libhwy-dev)
    endif()
endif()

if(NOT CORNERTURN_LAB)
    return()
endif()
set(purpose "the lab (or give -DCORNERTURN_LAB=OFF)")
find_package(Threads REQUIRED)
cornerturn_find("${purpose}" fmt libfmt-dev)
cornerturn_find("${purpose}" nlohmann_json nlohmann-json3-dev)
cornerturn_find("${purpose}" CLI11 libcli11-dev)

# The library, not the headers alone: every file that formats would compile all of it again. Debian has no static one.
add_library(cornerturn_fmt INTERFACE)
target_link_libraries(cornerturn_fmt INTERFACE $<IF:$<BOOL:${CORNERTURN_STATIC}>,fmt::fmt-header-only,fmt::fmt>)

if(CORNERTURN_STATIC)
    set(Boost_USE_STATIC_LIBS ON)
endif()
cornerturn_find("${purpose}" Boost libboost-context-dev COMPONENTS context)

# libdw has no CMake package; a static one needs the libraries that it was built with.
# cornerturn_find_library(variable debian names...)
function(cornerturn_find_library variable debian)
    find_library(${variable} NAMES ${ARGN})
    if(NOT ${variable})
        list(GET ARGN 0 name)
        cornerturn_need("the library ${name} for ${purpose}" "install ${debian}, or say with -D${variable}=... where it lies")
    endif()
endfunction()
if(CORNERTURN_STATIC)
    foreach(each IN ITEMS dw:libdw-dev elf:libelf-dev lzma:liblzma-dev bz2:libbz2-dev z:zlib1g-dev)
        string(REPLACE ":" ";" each ${each})
        list(GET each 0 name)
        list(GET each 1 debian)
        cornerturn_find_library(CORNERTURN_LIB_${name} ${debian} lib${name}.a)
        list(APPEND CORNERTURN_DW_LIBRARIES ${CORNERTURN_LIB_${name}})
    endforeach()
    find_library(CORNERTURN_LIB_zstd NAMES libzstd.a)  # where libelf was built with it (Ubuntu 24.04)
    if(CORNERTURN_LIB_zstd)
        list(APPEND CORNERTURN_DW_LIBRARIES ${CORNERTURN_LIB_zstd})
    endif()
else()
    cornerturn_find_library(LIBDW libdw-dev dw)
    cornerturn_find_library(LIBELF libelf-dev elf)
    set(CORNERTURN_DW_LIBRARIES ${LIBDW} ${LIBELF})
endif()
