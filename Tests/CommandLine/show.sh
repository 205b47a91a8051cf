# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts: runs a command and prints it, its output and its exit code.
show() {
    printf '$ %s\n' "$*"
    "$@"
    printf '=> %d\n' $?
}

# The same with a first argument for standard input.
pipe() {
    input=$1
    shift
    printf '$ … | %s\n' "$*"
    printf %b "$input" | "$@"
    printf '=> %d\n' $?
}
