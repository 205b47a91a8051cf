// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import SecurityTool
internal import Terminal

// What security(1) has read for it: files that others made, and certificates. It asks no keychain,
// and ends with its answer.
//
//     security-certificates read <FILE       the objects of a file
//     security-certificates judge <QUESTION  what certificates are, and what they are good for
try? ProcessHardening.apply()
do {
    switch CommandLine.arguments.dropFirst().first {
    case "read": StandardStream.output.release(FileReading.answer())
    case "judge": StandardStream.output.release(try CertificateJudging.answer())
    default: exit(2)
    }
} catch { exit(1) }
