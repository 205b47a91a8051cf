// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets

/// The temporary directory in which a keychain is made before it gets its name.
struct StagingDirectory {
    private let staged: StagedFile

    var file: String { staged.path }

    init(for target: String) throws(KeychainStoreError) {
        let mark = RandomBytes.make(8).hexadecimal
        do { staged = try StagedFile(for: target, mark: mark) } catch { throw .init(error) }
    }

    /// For a file that SQLite has not synced itself.
    func sync() throws(KeychainStoreError) {
        do { try staged.sync() } catch { throw .init(error) }
    }

    func publish() throws(KeychainStoreError) {
        guard FileStatus(file + "-wal") == nil else { throw .busy }
        do { try staged.publish() } catch { throw .init(error) }
    }

    func remove() { staged.remove() }
}

extension KeychainStoreError {
    package init(_ error: SystemError) {
        self =
            switch error {
            case .system(PrivateFile.exists): .alreadyExists
            case .system(PrivateFile.noSpace): .diskFull
            case .system(PrivateFile.readOnly), .system(PrivateFile.notAllowed): .readOnly
            case .system(PrivateFile.notFound): .noSuchFile
            default: .inputOutput(0)
            }
    }
}
