# nvcc compiles kernel files for the GPU, and g++ compiles them for the emulator. To add a kernel, put a file into a kernel
# folder: CMake globs the folder, and object libraries keep every registration.

# These options make g++ report each memory access of a kernel at its full width, and keep one call site per access.
# - An emulated thread's stack has 14 KiB. -Wframe-larger-than refuses a kernel whose local variables come near that.
# - Locations of local variables would take a fifth of the compile time, and nothing uses them.
# - Each function begins at a cache line, because its position changed a kernel's speed by up to a sixth.
# - Kernels are not hardened, although some systems do this by default. A stack protector's accesses would count as the
#   kernel's. A shadow stack does not allow switching fibers.
set(CORNERTURN_KERNEL_FLAGS
    -O1 -falign-functions=64
    -fsanitize=thread --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1
    -fno-var-tracking -fno-exceptions -fno-tree-sra -fno-thread-jumps -fno-crossjumping -fno-tree-tail-merge
    -ftls-model=local-exec -fsanitize=bounds -fno-builtin-printf -U_FORTIFY_SOURCE
    -fno-stack-protector -Wframe-larger-than=8192 -Wno-unknown-pragmas -Wno-missing-field-initializers)
# With this pass, g++ 16 reads a struct from memory at each use of a copy of it: it counts four loads, where the GPU has one.
if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 15)
    list(APPEND CORNERTURN_KERNEL_FLAGS -fno-tree-forwprop)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # g++ 16 would call memcpy and memset for arrays and arguments. Earlier versions move the bytes inline.
    list(APPEND CORNERTURN_KERNEL_FLAGS -fcf-protection=none -minline-all-stringops)
endif()

# The path of a file relative to the build folder, if it was generated there, or to the source folder. It never begins with "..".
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

# The namespace of a kernel file in one of the builds. It keeps kernels of the same name separate. The file of a rung or a peer
# has a namespace to itself. The files of any other folder share one, for example those in an operation's kernels/. Files of
# tests in kernels/OPERATION/ use the namespace of that operation.
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

# cornerturn_emulated_kernels(name file...): an object library of the kernels for the emulator. A file has only one language per
# directory, so g++ compiles a short file that includes it.
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
    # The emulator gets source lines from the debug information. Its paths are relative to the source folder, so that an object
    # does not depend on the folder of the sources. ccache makes paths relative to the folder in which the compiler runs. That
    # is the top of the build for Ninja, and the target's folder for Make. ccache does not distinguish objects with different
    # maps, so empty it after a change here.
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
