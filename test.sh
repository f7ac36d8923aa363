#!/usr/bin/env bash
# Installs what is missing, checks the formatting, builds, and runs the tests. HACKING.md says how long each part takes
# and how to run one of them.
#   ./test.sh          before a commit: all but the long tests, and those that would pass again because nothing that they see has
#                      changed (scripts/passed.py); for the GPU only what a GPU here can run
#   ./test.sh --again  those that would pass again, too
#   ./test.sh --all    the long tests too, and all that nvcc compiles; then the C++ tests again, hardened and under sanitizers
#   ./test.sh --strict, with or without --all: a compiler's warning is an error. CI runs `./test.sh --all --strict`.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
PATH=$PATH:/usr/local/cuda/bin
all=false again=false strict=OFF selection=(--label-exclude '^long$') needed=--tests target=cornerturn_quick
for option in "$@"; do
    case "$option" in
        --all) all=true selection=() needed=--all target=all ;;
        --again) again=true ;;
        --strict) strict=ON ;;
        *)
            echo "usage: ./test.sh [--all | --again] [--strict]" >&2
            exit 2
            ;;
    esac
done

logs=$PWD/build/logs
mkdir -p "$logs"

# stage NAME COMMAND...: runs the command and prints its seconds, and what it had to say if it failed.
stage() {
    local name=$1 begin=$SECONDS status=0
    local log=$logs/${name// /-}.log
    shift
    printf '%-20s' "$name"
    "$@" > "$log" 2>&1 < /dev/null || status=$?
    printf '%5d s\n' $((SECONDS - begin))
    if ((status != 0)); then
        # Neither the files that were compiled nor the tests that passed.
        grep -vE '^\[[0-9]+/[0-9]+\] |Passed +[0-9.]+ sec$' "$log" || true
        echo "test.sh: $name failed; its whole output is in ${log#"$PWD/"}"
    fi
    return "$status"
}

# The names of all source files, each with a zero byte behind it.
sources() {
    local names=('*.cpp' '*.hpp' '*.cu' '*.h' '*.c') name tests=()
    if [[ -e .git ]] && git ls-files -z -- "${names[@]}" 2> /dev/null; then return; fi
    for name in "${names[@]}"; do tests+=(-o -name "$name"); done
    find . \( -name '.?*' -o -path ./build \) -prune -o -type f \( "${tests[@]:1}" \) -print0
}

check_format() {
    local file files=() wrong=()
    while IFS= read -r -d '' file; do
        [[ ! -f $file ]] || files+=("$file")  # git lists what was deleted and not committed, too
    done < <(sources)
    if printf '%s\0' "${files[@]}" | xargs -0 -n 32 -P "$(nproc)" clang-format-14 --dry-run -Werror > /dev/null 2>&1; then
        return
    fi
    # One by one: at once they would write into each other's lines.
    for file in "${files[@]}"; do
        clang-format-14 "$file" | cmp -s - "$file" || wrong+=("$file")
    done
    echo "Not formatted as .clang-format has it: ${#wrong[@]} of ${#files[@]} files. To format them:"
    printf '    clang-format-14 -i'
    printf ' %q' "${wrong[@]}"
    echo
    return 1
}

passed=0 failed=0 skipped=0 unchanged=0
summary() {
    local text="$passed passed, $failed failed"
    if ((skipped > 0)); then text+=", $skipped skipped"; fi
    if ((unchanged > 0)); then text+=", $unchanged not run again: nothing that they see has changed since they passed"; fi
    echo "$text"
}

# run_tests PRESET OPTION...: stops with the summary where a test fails.
run_tests() {
    local preset=$1 status=0 ran bad unrun disabled
    shift
    stage "test $preset" ctest --preset "$preset" --parallel "$(nproc)" "$@" || status=$?
    if [[ -e build/$preset/seen.json ]]; then scripts/passed.py keep "build/$preset" "$logs/test-$preset.log" || true; fi
    # From ctest's last lines: its JUnit file takes a test whose program is missing for a skipped one. Skipped tests are
    # among those that ctest says it ran, disabled ones are not.
    read -r bad ran unrun disabled < <(awk '
        /^[0-9]+% tests passed(, [0-9]+ tests? failed)? out of [0-9]+$/ {  # CMake 4 leaves out "0 tests failed"
            bad = NF > 6 ? $4 : 0; ran = $NF; unrun = disabled = 0
        }
        /^\t *[0-9]+ - .* \(Skipped\)$/ { ++unrun }
        /^\t *[0-9]+ - .* \(Disabled\)$/ { ++disabled }
        END { print bad + 0, ran + 0, unrun + 0, disabled + 0 }' "$logs/test-$preset.log")
    passed=$((passed + ran - bad - unrun)) failed=$((failed + bad)) skipped=$((skipped + unrun + disabled))
    if ((unrun > 0)); then  # why is in what they printed
        awk 'FNR == NR { if (/^\t *[0-9]+ - .* \(Skipped\)$/) wanted[$3]; next }
             /^[0-9]+\/[0-9]+ Test: / { name = $3 }
             name in wanted && sub(/^skipped: /, "") { print "skipped " name ": " $0 }' \
            "$logs/test-$preset.log" "build/$preset/Testing/Temporary/LastTest.log"
    fi
    if ((status != 0)); then
        summary
        exit "$status"
    fi
}

stage install scripts/install.sh "$needed"
if command -v clang-format-14 > /dev/null; then
    stage format check_format
else
    echo "format              not checked: there is no clang-format-14, and other versions format differently"
fi
preset=cpu
if command -v nvcc > /dev/null; then
    if $all || nvidia-smi -L > /dev/null 2>&1; then
        preset=cuda
    else
        echo "cuda                not built: there is no GPU here. ./test.sh --all builds it"
    fi
fi
stage "configure $preset" cmake --preset "$preset" -DCMAKE_COMPILE_WARNING_AS_ERROR=$strict
stage "build $preset" cmake --build --preset "$preset" --target "$target"
# Of sources without git nobody knows which files are the project's.
rm -f "build/$preset/seen.json"
if [[ -e .git ]] && command -v git > /dev/null; then
    # Where it cannot tell, all tests run.
    names=$(scripts/passed.py unchanged "build/$preset") || { names=; rm -f "build/$preset/seen.json"; }
    if [[ -n $names ]] && ! $all && ! $again; then
        selection+=(--exclude-regex "^(${names//$'\n'/|})\$" --no-tests=ignore)
        unchanged=$(wc -l <<< "$names")
    fi
fi
run_tests "$preset" "${selection[@]}"
if $all; then
    stage "configure sanitize" cmake --preset sanitize -DCMAKE_COMPILE_WARNING_AS_ERROR=$strict
    stage "build sanitize" cmake --build --preset sanitize --target cornerturn_sanitized
    run_tests sanitize --label-regex '^sanitize$'
fi
summary
