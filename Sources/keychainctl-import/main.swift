// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import ImportSources
internal import KeychainImport
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Terminal

// Reads sources for keychainctl import: files of other programs, and the items of a program that
// offers org.freedesktop.secrets. It connects to no keychain, opens no file, and ends after the
// last item. Its only descriptors are the source, its output, and the pipe for a password.
//
//     keychainctl-import FORMAT NAME <SOURCE
//     keychainctl-import FORMAT NAME password <SOURCE 3<PASSWORD
//     keychainctl-import secret-service BUSNAME ADDRESS [COLLECTION]
//
// An empty ADDRESS is the user's own bus.
try? ProcessHardening.apply()
let words = CommandLine.arguments
guard words.count >= 3, let format = ImportFormat(rawValue: words[1]) else { exit(2) }
let output = MessageOutput()
if format == .secretService {
    guard (4...5).contains(words.count) else { exit(2) }
    let source = ServiceSource(
        name: words[2], address: words[3], collection: words.count > 4 ? words[4] : nil)
    source.run { output.put($0) && output.flush() }
} else {
    var password: HeldSecret?
    if words.count == 4 {
        guard words[3] == "password",
            let read = try? SecretInput(Descriptor(owning: 3)).next()
        else { exit(2) }
        password = HeldSecret(read)
    }
    guard words.count <= 4 else { exit(2) }
    ImportReading(format, name: words[2], password: password).run(
        { try SecretInput.standard.next() }, { output.put($0) })
}
exit(output.flush() ? 0 : 1)

/// Writes messages to standard output, several at a time.
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
