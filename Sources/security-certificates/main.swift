// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import SecurityTool
internal import Terminal

// Reads foreign files and certificates for security(1). It connects to no keychain, and ends after
// its answer.
//
//     security-certificates read <FILE       the objects of a file
//     security-certificates judge <QUESTION  the facts about certificates, and their validity
try? ProcessHardening.apply()
do {
    switch CommandLine.arguments.dropFirst().first {
    case "read": StandardStream.output.release(FileReading.answer())
    case "judge": StandardStream.output.release(try CertificateJudging.answer())
    default: exit(2)
    }
} catch { exit(1) }
