# cornerturn_emulate(TARGET): compiles the CUDA sources of an executable or a static library for the emulator, and links the
# target with the emulator. It needs no CUDA toolkit, and the project need not enable CUDA.
#
#     add_executable(kernels_test kernels_test.cpp kernels.cu)
#     target_link_libraries(kernels_test PRIVATE GTest::gtest_main)
#     cornerturn_emulate(kernels_test)
#
# cornerturn-cc compiles the sources that end in .cu, with the include directories, definitions, options, standard and
# CUDA_SEPARABLE_COMPILATION of the target, and with such properties of the source file. The target's other sources are
# compiled as before, but with cornerturn's replacements of CUDA's headers. A toolkit's libraries, CUDA::*, and its folder of
# headers are removed, because the emulator replaces them. A target that links an emulated library also links the emulator.
#
# If the project has enabled CUDA, generator expressions see the language CUDA, and CMAKE_CUDA_FLAGS are used. Otherwise these
# are C++ and CMAKE_CXX_FLAGS. Other targets with the same source are not changed.

# A function uses the policies that are set at its definition.
cmake_policy(PUSH)
if(NOT CMAKE_VERSION VERSION_LESS 3.21)
    cmake_policy(VERSION 3.21)
endif()

function(cornerturn_emulate target)
    if(CMAKE_VERSION VERSION_LESS 3.21)
        message(FATAL_ERROR "cornerturn_emulate needs CMake 3.21 or later, but this is ${CMAKE_VERSION}")
    endif()
    if(ARGN)
        message(FATAL_ERROR "cornerturn_emulate takes exactly one target, but has the arguments ${ARGV}")
    elseif(NOT TARGET ${target})
        message(FATAL_ERROR "cornerturn_emulate(${target}): this target does not exist; call add_executable or add_library before")
    endif()
    get_target_property(type ${target} TYPE)
    get_target_property(imported ${target} IMPORTED)
    get_target_property(of ${target} ALIASED_TARGET)
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(done ${target} CORNERTURN_EMULATED)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(of)
        message(FATAL_ERROR "cornerturn_emulate(${target}): this is an alias of ${of}; call cornerturn_emulate(${of})")
    elseif(imported)
        message(FATAL_ERROR "cornerturn_emulate(${target}): an imported target has no sources to compile")
    elseif(NOT type MATCHES "^(EXECUTABLE|STATIC_LIBRARY)$")
        message(FATAL_ERROR "cornerturn_emulate(${target}): the target's type is ${type}, but it must be an executable or a static library; emulated kernels cannot be in a shared library")
    elseif(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "cornerturn_emulate(${target}) must be called in ${folder}/CMakeLists.txt, which defines the target")
    elseif(NOT "CXX" IN_LIST languages)
        message(FATAL_ERROR "cornerturn_emulate(${target}) needs C++ in the project: project(NAME LANGUAGES CXX)")
    elseif(done)
        return()
    endif()
    set_target_properties(${target} PROPERTIES CORNERTURN_EMULATED TRUE LINKER_LANGUAGE CXX)
    target_include_directories(${target} SYSTEM BEFORE PRIVATE $<TARGET_PROPERTY:cornerturn::emulator,INTERFACE_INCLUDE_DIRECTORIES>)
    _cornerturn_write_settings(${target})
    _cornerturn_take(${target})
    # Handles sources and libraries that are added to the target after this call.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _cornerturn_take [[${target}]])")
endfunction()

# The folder of the target's objects. Each configuration has one.
function(_cornerturn_folder result target)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.emulated)
    get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(several)
        string(APPEND folder "/$<CONFIG>")
    endif()
    set(${result} ${folder} PARENT_SCOPE)
endfunction()

# Writes the target's compiler settings for EmulateSource.cmake. The file changes only if they change.
function(_cornerturn_write_settings target)
    set(language CXX)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("CUDA" IN_LIST languages)
        set(language CUDA)
    endif()
    set(text "set(flags [==[${CMAKE_${language}_FLAGS}]==])\n")
    foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
        string(TOUPPER "${config}" upper)
        string(APPEND text "set(flags_${upper} [==[${CMAKE_${language}_FLAGS_${upper}}]==])\n")
    endforeach()
    string(APPEND text "set(implicit [==[${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES}]==])\nset(config [==[$<UPPER_CASE:$<CONFIG>>]==])\n")
    foreach(property IN ITEMS INCLUDE_DIRECTORIES SYSTEM_INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FEATURES
            COMPILE_FLAGS CXX_STANDARD CUDA_STANDARD CUDA_SEPARABLE_COMPILATION)
        string(APPEND text "set(${property} [==[$<TARGET_PROPERTY:${target},${property}>]==])\n")
    endforeach()
    _cornerturn_folder(folder ${target})
    file(GENERATE OUTPUT ${folder}/settings.cmake CONTENT "${text}" CONDITION $<COMPILE_LANGUAGE:${language}> TARGET ${target})
endfunction()

# Replaces the target's .cu sources by their objects, and a toolkit by the emulator.
function(_cornerturn_take target)
    _cornerturn_folder(folder ${target})
    get_target_property(sources ${target} SOURCES)
    if(NOT sources)
        set(sources "")
    endif()
    set(rest "")
    foreach(source IN LISTS sources)
        if(NOT source MATCHES "\\.cu(>*)$")
            list(APPEND rest "${source}")
            continue()
        elseif(source MATCHES "\\$<")
            message(FATAL_ERROR "cornerturn_emulate(${target}) cannot evaluate the generator expression ${source}: name the source without it")
        endif()
        _cornerturn_compile(object ${target} "${source}" ${folder})
        list(APPEND rest ${object})
    endforeach()
    set_property(TARGET ${target} PROPERTY SOURCES "${rest}")

    set(cuda "^(\\$<LINK_ONLY:)?CUDA::[A-Za-z0-9_]+>?$")
    get_target_property(type ${target} TYPE)
    foreach(property IN ITEMS LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        get_target_property(links ${target} ${property})
        if(NOT links)
            set(links "")
        endif()
        list(FILTER links EXCLUDE REGEX "${cuda}")
        list(REMOVE_ITEM links cornerturn::emulator)
        if(property STREQUAL "LINK_LIBRARIES" OR NOT type STREQUAL "EXECUTABLE")
            list(PREPEND links cornerturn::emulator)
        endif()
        set_property(TARGET ${target} PROPERTY ${property} "${links}")
    endforeach()
    foreach(property IN ITEMS INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES)
        get_target_property(folders ${target} ${property})
        if(folders)
            _cornerturn_without_toolkit(folders)
            set_property(TARGET ${target} PROPERTY ${property} "${folders}")
        endif()
    endforeach()
endfunction()

# Removes the folders of a toolkit's headers from a list: those with a cuda_runtime.h that is not cornerturn's. In CUDA 13, CCCL
# is in a folder below.
function(_cornerturn_without_toolkit list)
    set(rest "")
    foreach(folder IN LISTS ${list})
        string(REGEX REPLACE "/cccl/?$" "" top "${folder}")
        if(NOT EXISTS "${top}/cuda_runtime.h" OR EXISTS "${top}/cornerturn_cuda")
            list(APPEND rest "${folder}")
        endif()
    endforeach()
    set(${list} "${rest}" PARENT_SCOPE)
endfunction()

# Adds the rule for one source. `result` becomes its object.
function(_cornerturn_compile result target source folder)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT EXISTS ${path} AND NOT IS_ABSOLUTE "${source}")
        get_source_file_property(generated ${path} GENERATED)
        if(NOT generated)
            get_filename_component(path "${source}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
            get_source_file_property(generated ${path} GENERATED)
        endif()
        if(NOT generated)
            message(FATAL_ERROR "cornerturn_emulate(${target}): the source file ${source} does not exist in ${CMAKE_CURRENT_SOURCE_DIR}")
        endif()
    endif()
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${path})
    string(REPLACE "../" "__/" object "${folder}/${name}.o")
    set(own "")
    foreach(property IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FLAGS)
        get_source_file_property(value "${source}" ${property})
        if(value)
            string(REPLACE ";" "$<SEMICOLON>" value "${value}")
            list(APPEND own "-DSOURCE_${property}=${value}")
        endif()
    endforeach()
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_COMMAND} -DCOMPILER=$<TARGET_FILE:cornerturn::cc> -DSETTINGS=${folder}/settings.cmake -DSOURCE=${path}
            -DOBJECT=${object} ${own} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmulateSource.cmake
        DEPENDS ${path} ${folder}/settings.cmake ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmulateSource.cmake $<TARGET_FILE:cornerturn::cc>
        DEPFILE ${object}.d
        COMMENT "Compiling ${name} for the emulator"
        VERBATIM)
    set_source_files_properties(${object} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
    set(${result} ${object} PARENT_SCOPE)
endfunction()

cmake_policy(POP)
