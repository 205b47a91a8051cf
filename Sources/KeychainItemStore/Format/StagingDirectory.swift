// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Foundation
internal import KeychainSecrets

/// A folder of its own beside the target, where a file is put together before it gets its name: an
/// interrupted creation leaves no half of a keychain, and no one else ever could open it.
struct StagingDirectory {
    let file: String
    private let folder: String
    private let target: String

    init(for target: String) throws(KeychainStoreError) {
        self.target = target
        let url = URL(fileURLWithPath: target)
        let tail = RandomBytes.make(8).hexadecimal
        folder = url.deletingLastPathComponent().path + "/.\(url.lastPathComponent).\(tail)"
        file = folder + "/new"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        } catch { throw Self.failure(error) }
        // SQLite gives its log the permissions of the file that it finds.
        guard
            FileManager.default.createFile(
                atPath: file, contents: nil, attributes: [.posixPermissions: 0o600])
        else {
            remove()
            throw .inputOutput(0)
        }
    }

    /// For a file that SQLite has not synced itself.
    func sync() throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
        try handle.synchronize()
        try handle.close()
    }

    /// Gives the file its name, unless something has it already, and makes both last.
    func publish() throws(KeychainStoreError) {
        guard !FileManager.default.fileExists(atPath: file + "-wal") else { throw .busy }
        do { try FileManager.default.linkItem(atPath: file, toPath: target) } catch {
            throw Self.failure(error)
        }
        // The name itself must survive a power cut too. What may not have been kept is not
        // acknowledged, and leaves the name to the next try.
        do { try syncFolder() } catch {
            try? FileManager.default.removeItem(atPath: target)
            throw .inputOutput(0)
        }
    }

    private func syncFolder() throws {
        let parent = URL(fileURLWithPath: target).deletingLastPathComponent()
        let handle = try FileHandle(forReadingFrom: parent)
        defer { try? handle.close() }
        do { try handle.synchronize() } catch let error as NSError {
            // A file system that has nothing to sync there.
            guard Self.isInvalid(error) else { throw error }
        }
    }

    private static func isInvalid(_ error: NSError) -> Bool {
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return cause.domain == NSPOSIXErrorDomain
            && cause.code == Int(POSIXErrorCode.EINVAL.rawValue)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    private static func failure(_ error: any Error) -> KeychainStoreError {
        switch (error as? CocoaError)?.code {
        case .fileWriteFileExists?: .alreadyExists
        case .fileWriteOutOfSpace?: .diskFull
        case .fileWriteVolumeReadOnly?, .fileWriteNoPermission?: .readOnly
        case .fileNoSuchFile?, .fileReadNoSuchFile?: .noSuchFile
        default: .inputOutput(0)
        }
    }
}
