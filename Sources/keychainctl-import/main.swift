// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainImport
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Terminal

// What keychainctl import has read for it: files that other programs made. It asks no keychain, has
// no file open but the one that it was given, and ends with what it found.
//
//     keychainctl-import FORMAT NAME <SOURCE
try? ProcessHardening.apply()
let words = CommandLine.arguments
guard words.count == 3, let format = ImportFormat(rawValue: words[1]) else { exit(2) }
let output = SecretBuffer(limit: 2 * ImportFrame.longest)
/// What is written at once.
let enough = 64 * 1024
func flush() -> Bool {
    defer { output.removeAll() }
    return StandardStream.output.release(output.contents)
}
ImportReading(format, name: words[2]).run({
    try SecretInput.standard.next()
}) { message in
    guard ImportFrame.append(message, to: output) else { return false }
    return output.count < enough || flush()
}
exit(flush() ? 0 : 1)
