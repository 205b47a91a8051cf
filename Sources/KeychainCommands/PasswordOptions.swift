// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// Where a keychain's password comes from.
struct PasswordOptions: ParsableArguments {
    @Flag(help: "Read passwords from standard input, one a line, instead of asking.")
    var passwordStdin = false
}
