// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import ImportSources
internal import KeychainImport
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Terminal

// What keychainctl import has read for it: files that other programs made. It asks no keychain, opens
// no file, and ends with what it found. Nothing is open in it but the source, its output and the pipe
// that a password may be in.
//
//     keychainctl-import FORMAT NAME <SOURCE
//     keychainctl-import FORMAT NAME password <SOURCE 3<PASSWORD
try? ProcessHardening.apply()
let words = CommandLine.arguments
guard (3...4).contains(words.count), let format = ImportFormat(rawValue: words[1]) else { exit(2) }
var password: HeldSecret?
if words.count == 4 {
    guard words[3] == "password",
        let read = try? SecretInput(Descriptor(owning: 3)).next()
    else { exit(2) }
    password = HeldSecret(read)
}
let output = MessageOutput()
ImportReading(format, name: words[2], password: password).run(
    { try SecretInput.standard.next() }, { output.put($0) })
exit(output.flush() ? 0 : 1)

/// Messages on their way to standard output, some at once.
final class MessageOutput {
    private static let enough = 64 * 1024
    private let buffer = SecretBuffer(limit: 2 * ImportFrame.longest)

    func put(_ message: ImportMessage) -> Bool {
        guard ImportFrame.append(message, to: buffer) else { return false }
        return buffer.count < Self.enough || flush()
    }

    func flush() -> Bool {
        defer { buffer.removeAll() }
        return StandardStream.output.release(buffer.contents)
    }
}
