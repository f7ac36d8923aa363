# ctest reserves a GPU for each test that uses one, while it runs. The number of GPUs is determined when the build is
# configured. If there is none, the number is one: the tests then notice it and are skipped.
set(CORNERTURN_GPUS 0)
if(DEFINED ENV{CUDA_VISIBLE_DEVICES})
    string(REGEX MATCHALL "[^,]+" gpus "$ENV{CUDA_VISIBLE_DEVICES}")
    list(LENGTH gpus CORNERTURN_GPUS)
else()
    execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET RESULT_VARIABLE none)
    string(REGEX MATCHALL "GPU [0-9]+:" gpus "${gpus}")
    list(LENGTH gpus CORNERTURN_GPUS)
endif()
if(CORNERTURN_GPUS LESS 1)
    set(CORNERTURN_GPUS 1)
endif()

set(gpus "")
foreach(id RANGE 1 ${CORNERTURN_GPUS})
    math(EXPR id "${id} - 1")
    list(APPEND gpus "{\"id\": \"${id}\"}")
endforeach()
list(JOIN gpus ", " gpus)
file(WRITE ${PROJECT_BINARY_DIR}/gpus.json
    "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [${gpus}]}]}\n")
set(CTEST_RESOURCE_SPEC_FILE ${PROJECT_BINARY_DIR}/gpus.json)  # for enable_testing()

# cornerturn_add_gpu_test(name target arguments...): adds a test that has a GPU to itself.
function(cornerturn_add_gpu_test name target)
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/cuda/with_gpus.sh $<TARGET_FILE:${target}> ${ARGN})
    set_tests_properties(${name} PROPERTIES RESOURCE_GROUPS gpus:1)
endfunction()
