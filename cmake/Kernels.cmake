# Kernel files are compiled once by nvcc, for the GPU, and once by g++, for the emulator. Dropping a file into a kernel
# folder is all that it takes to add one: the folder is globbed, and object libraries keep every registration.

# What makes g++ report each memory access of a kernel at its full width, and keep one call site an access. An emulated
# thread's stack holds 14 KiB: a kernel whose locals come near that is refused here. Where a local variable is at each
# instruction is a fifth of the time to compile, and nobody asks. Each function begins with a cache line: where it happened
# to begin was worth up to a sixth of a kernel's speed. Kernels are not hardened, though some systems do so by default. A
# stack protector's accesses would be counted as the kernel's. A shadow stack does not allow the switch of fibers.
set(CORNERTURN_KERNEL_FLAGS
    -O1 -falign-functions=64
    -fsanitize=thread --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1
    -fno-var-tracking -fno-exceptions -fno-tree-sra -fno-thread-jumps -fno-crossjumping -fno-tree-tail-merge
    -ftls-model=local-exec -fsanitize=bounds -fno-builtin-printf -U_FORTIFY_SOURCE
    -fno-stack-protector -Wframe-larger-than=8192 -Wno-unknown-pragmas -Wno-missing-field-initializers)
# This pass of g++ 16 reads a struct from memory again at each use of its copy: four loads are counted where the GPU has one.
if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 15)
    list(APPEND CORNERTURN_KERNEL_FLAGS -fno-tree-forwprop)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # g++ 16 would call memcpy and memset for arrays and arguments, where earlier ones move the bytes inline.
    list(APPEND CORNERTURN_KERNEL_FLAGS -fcf-protection=none -minline-all-stringops)
endif()

# Where a file lies in the build folder, if it was made there, or in the source folder: never a path that leads upwards.
function(cornerturn_path_of result file)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${file} made)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${PROJECT_SOURCE_DIR} around)
    if(made AND NOT around)
        file(RELATIVE_PATH path ${PROJECT_BINARY_DIR} ${file})
    else()
        file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
    endif()
    set(${result} ${path} PARENT_SCOPE)
endfunction()

# The namespace that a kernel file is compiled into, in one of the builds, so that two kernels of one name stay two. A
# rung's file, or a peer's, has one of its own. The files of another folder share theirs, as those of an operation's
# kernels/ do; a test's in kernels/OPERATION/ join those.
function(cornerturn_namespace_of result build file)
    cornerturn_path_of(path ${file})
    if(NOT path MATCHES "/(ladder|baseline)/[^/]*$")
        get_filename_component(path ${path} DIRECTORY)
        string(REGEX REPLACE "^tests/kernels/(.+)$" "src/ops/\\1/kernels" path ${path})
    endif()
    string(MAKE_C_IDENTIFIER ${build}_${path} identifier)
    get_property(taken GLOBAL PROPERTY cornerturn_${identifier})
    if(taken AND NOT taken STREQUAL path)
        message(FATAL_ERROR "${path} and ${taken} would share the namespace ${identifier}: rename one of them")
    endif()
    set_property(GLOBAL PROPERTY cornerturn_${identifier} ${path})
    set(${result} ${identifier} PARENT_SCOPE)
endfunction()

# cornerturn_emulated_kernels(name file...): an object library of the kernels, for the emulator. A file keeps one language
# in a directory, so g++ compiles a short file that includes it.
function(cornerturn_emulated_kernels name)
    set(sources)
    foreach(file IN LISTS ARGN)
        cornerturn_path_of(path ${file})  # folders may hold files of the same name
        string(REGEX REPLACE "\\.cu$" ".cpp" wrapper ${CMAKE_CURRENT_BINARY_DIR}/${name}/${path})
        cornerturn_namespace_of(namespace emulated ${file})
        set(content "#define CORNERTURN_BUILD ${namespace}\n#include \"${path}\"\n")
        if(path MATCHES "/ladder/[^/]*$")
            string(APPEND content "#include \"device/rung.hpp\"\nnamespace CORNERTURN_KERNELS {\nstatic_assert(kRegistersRung, "
                "\"${path} is in a ladder, but has no CORNERTURN_RUNG(notes, operation, variants...)\");\n}\n")
        endif()
        file(CONFIGURE OUTPUT ${wrapper} CONTENT "${content}")
        list(APPEND sources ${wrapper})
    endforeach()
    add_library(${name} OBJECT ${sources})
    target_link_libraries(${name} PUBLIC cornerturn_options)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    target_compile_definitions(${name} PRIVATE CORNERTURN_EMULATED)
    # Debug information names source lines for the emulator. Its paths begin at the source folder, so that an object does
    # not depend on where the sources lie. ccache makes paths relative to where the compiler runs: Ninja runs it at the
    # top of the build, Make in the target's folder. (ccache takes objects with other maps for the same: after a change
    # here, empty it.)
    target_compile_options(${name} PRIVATE ${CORNERTURN_KERNEL_FLAGS} -g -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
    foreach(from IN ITEMS ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
        file(RELATIVE_PATH src ${from} ${PROJECT_SOURCE_DIR}/src)
        target_compile_options(${name} PRIVATE -ffile-prefix-map=${src}=./src)
    endforeach()
endfunction()

# cornerturn_cuda_kernels(name file...): the same for the GPU.
function(cornerturn_cuda_kernels name)
    add_library(${name} OBJECT ${ARGN})
    foreach(file IN LISTS ARGN)
        cornerturn_namespace_of(namespace cuda ${file})
        set_source_files_properties(${file} PROPERTIES LANGUAGE CUDA COMPILE_DEFINITIONS CORNERTURN_BUILD=${namespace})
    endforeach()
    target_link_libraries(${name} PUBLIC cornerturn_options CUDA::cudart_static)
endfunction()
