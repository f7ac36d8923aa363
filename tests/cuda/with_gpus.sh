#!/usr/bin/env bash
# with_gpus.sh COMMAND...: runs a test with the GPUs that ctest keeps for it, and no others.
set -euo pipefail

# If the user has set CUDA_VISIBLE_DEVICES, ctest's numbers count its GPUs. Empty means none.
if [[ -z ${CUDA_VISIBLE_DEVICES-unset} ]]; then exec "$@"; fi
IFS=, read -r -a all <<< "${CUDA_VISIBLE_DEVICES:-}"
own=()
for ((i = 0; i < ${CTEST_RESOURCE_GROUP_COUNT:-0}; ++i)); do
    variable=CTEST_RESOURCE_GROUP_${i}_GPUS
    [[ ${!variable} =~ ^id:([0-9]+), ]]
    id=${BASH_REMATCH[1]}
    if [[ -z ${CUDA_VISIBLE_DEVICES+set} ]]; then
        own+=("$id")
    elif ((id < ${#all[@]})); then
        own+=("${all[id]}")
    else
        echo "skipped: CUDA_VISIBLE_DEVICES has fewer GPUs than CMake counted: configure again"
        exit 77
    fi
done
if ((${#own[@]} > 0)); then
    CUDA_VISIBLE_DEVICES=$(IFS=, && echo "${own[*]}")
    export CUDA_VISIBLE_DEVICES
fi
exec "$@"
