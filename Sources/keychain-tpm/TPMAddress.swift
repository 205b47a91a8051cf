// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainModel
internal import KeychainLinuxSystem

/// Where the machine's TPM is: what its administrator wrote, else the kernel's device.
enum TPMAddress {
    private static let folder = "/etc/keychain"
    private static let file = folder + "/tpm.conf"
    /// As tpm2-tss writes addresses. A device's descriptor is all that is left of this process's
    /// rights; other ways to a TPM open files or connect with each command.
    private static let kind = "device:"
    private static let device = "/dev/tpmrm0"
    private static let longest = 1024

    /// The device's path.
    static func device(at address: String) -> String { String(address.dropFirst(kind.count)) }

    /// The last line that is neither empty nor a comment.
    static func ofThisMachine() throws(RequestError) -> String {
        let contents: FileContents
        do {
            contents = try FileContents(reading: file, limit: longest, followingLinks: false)
        } catch {
            guard error == .system(ENOENT) else { throw .state(.protectorNotAvailable) }
            // Safe: the path is a constant text; the call writes nothing.
            guard unsafe access(device, F_OK) == 0 else { throw .state(.protectorNotAvailable) }
            return kind + device
        }
        // Whose word it is that this is the machine's TPM: root's alone.
        guard contents.kind == .regular, contents.owner == 0, contents.mode & 0o022 == 0,
            contents.bytes.count <= longest, FileContents.untrustedFolder(from: folder) == nil,
            let text = String(validating: contents.bytes, as: UTF8.self)
        else { throw .state(.protectorNotAvailable) }
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        guard let address = lines.last, address.hasPrefix(kind) else {
            throw .state(.protectorNotAvailable)
        }
        return String(address)
    }
}
