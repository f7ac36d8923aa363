# `cmake --install` installs four components. Each can be built and installed alone:
#   host       libcornerturn_host (target cornerturn_host)
#   cuda       libcornerturn (target cornerturn_cuda)
#   program    the program (target cornerturn)
#   emulator   cornerturn-cc, and the library that emulated CUDA programs link (targets cornerturn_cc and cornerturn_emulate)
# The libraries include the public headers, and the files for find_package(cornerturn) and pkg-config. A component's files do
# not depend on the other components of the build. They do not contain the path of the installation.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cornerturn)
set(package ${PROJECT_BINARY_DIR}/package)
set(components host cuda program emulator)
set(options CORNERTURN_HOST CORNERTURN_CUDA CORNERTURN_LAB CORNERTURN_EMULATOR)

# Paths in pkg-config's files are relative to these files, unless the folder for libraries is an absolute path.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
    file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    string(REGEX REPLACE "/$" "" up ${up})
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
endif()
configure_package_config_file(cmake/cornerturnConfig.cmake.in ${package}/cornerturnConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(${package}/cornerturnConfigVersion.cmake COMPATIBILITY SameMinorVersion)

function(cornerturn_install component target)
    install(TARGETS ${target} EXPORT cornerturn_${component}
        RUNTIME COMPONENT ${component}
        LIBRARY COMPONENT ${component} NAMELINK_COMPONENT ${component}
        ARCHIVE COMPONENT ${component})
    install(EXPORT cornerturn_${component} NAMESPACE cornerturn:: FILE ${component}Targets.cmake
        DESTINATION ${package_dir} COMPONENT ${component})
    configure_file(cmake/${component}.cmake.in ${package}/${component}.cmake @ONLY)
    install(FILES ${package}/cornerturnConfig.cmake ${package}/cornerturnConfigVersion.cmake ${package}/${component}.cmake
        DESTINATION ${package_dir} COMPONENT ${component})
endfunction()

# cornerturn_install_library(component target without pkg_config): installs a library and its headers. `without` is a regular
# expression for the headers of the other library; they and those of the emulator are not installed.
function(cornerturn_install_library component target without pkg_config)
    cornerturn_install(${component} ${target})
    install(DIRECTORY include/cornerturn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component}
        REGEX "/cornerturn/(${without}|emulator)$" EXCLUDE)
    configure_file(cmake/${pkg_config}.in ${package}/${pkg_config} @ONLY)
    install(FILES ${package}/${pkg_config} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()

# A user of a static library must link the libraries that it uses.
set(private "")
set(static_libs "")
if(BUILD_SHARED_LIBS)
    set(private ".private")
else()
    list(TRANSFORM CORNERTURN_CXX_RUNTIME PREPEND -l OUTPUT_VARIABLE static_libs)
    list(JOIN static_libs " " static_libs)
endif()
if(CORNERTURN_HOST)
    cornerturn_install_library(host cornerturn_host cuda cornerturn_host.pc)
endif()
if(CORNERTURN_CUDA)
    list(GET CUDAToolkit_INCLUDE_DIRS 0 cuda_include_dir)
    if(NOT BUILD_SHARED_LIBS)
        string(PREPEND static_libs "\${cuda_libs} ")
    endif()
    cornerturn_install_library(cuda cornerturn_cuda "transpose\\.hpp" cornerturn.pc)
endif()
foreach(component option IN ZIP_LISTS components options)
    if(NOT ${option})
        install(CODE "message(FATAL_ERROR \"cornerturn's component ${component} is not in this build: configure it with -D${option}=ON\")"
            COMPONENT ${component} EXCLUDE_FROM_ALL)
    endif()
endforeach()
# Headers with which emulated CUDA programs are compiled (src/emulate/installation.cpp finds them).
function(cornerturn_install_cuda_headers component)
    install(DIRECTORY src/emulate/cuda/ DESTINATION ${CMAKE_INSTALL_DATADIR}/cornerturn/cuda COMPONENT ${component})
    install(DIRECTORY include/cornerturn/emulator DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cornerturn COMPONENT ${component})
endfunction()
if(CORNERTURN_LAB)
    set_target_properties(cornerturn PROPERTIES EXPORT_NAME program)
    cornerturn_install(program cornerturn)
    cornerturn_install_cuda_headers(program)
    install(FILES $<TARGET_FILE:cornerturn_emulate> DESTINATION ${CMAKE_INSTALL_LIBDIR}/cornerturn COMPONENT program)
endif()
if(CORNERTURN_EMULATOR)
    cornerturn_install(emulator cornerturn_cc)
    cornerturn_install_cuda_headers(emulator)
    install(TARGETS cornerturn_emulate EXPORT cornerturn_emulator
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/cornerturn COMPONENT emulator)
    install(FILES cmake/Emulate.cmake cmake/EmulateSource.cmake DESTINATION ${package_dir} COMPONENT emulator)
endif()
