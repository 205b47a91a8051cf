// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A folder of its own beside a target, in which a file is made before it gets its name: an
/// interruption leaves no partial file under the name, and no other user could ever open it.
package struct StagedFile: Sendable {
    /// The path of the staged file, at first empty and with no access for other users.
    package let path: String
    private let folder: String
    private let target: String

    /// `mark` tells the folder from others beside the same target.
    package init(for target: String, mark: String) throws(SystemError) {
        self.target = target
        let parent: Substring
        let name: Substring
        if let slash = target.lastIndex(of: "/") {
            (parent, name) = (target[...slash], target[target.index(after: slash)...])
        } else {
            (parent, name) = ("./", target[...])
        }
        folder = "\(parent).\(name).\(mark)"
        path = folder + "/new"
        // Safe: reads the paths; the file is closed at once.
        guard unsafe mkdir(folder, 0o700) == 0 else { throw .system(errno) }
        let number = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else {
            let error = errno
            remove()
            throw .system(error)
        }
        close(number)
    }

    /// Syncs a file whose writer did not.
    package func sync() throws(SystemError) {
        // Safe: opened, synced, closed by its owner.
        let number = unsafe open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw .system(errno) }
        let file = Descriptor(owning: number)
        try withExtendedLifetime(file) { () throws(SystemError) in
            guard fsync(file.number) == 0 else { throw .system(errno) }
        }
    }

    /// Gives the file its name, unless the name is taken (`PrivateFile.exists`), and syncs the
    /// name. A name whose sync fails is removed again.
    package func publish() throws(SystemError) {
        // Safe: reads the paths.
        guard unsafe link(path, target) == 0 else { throw .system(errno) }
        do { try PrivateFile.sync(folderOf: target) } catch {
            _ = unsafe unlink(target)
            throw error
        }
    }

    package func remove() { FolderNames.remove(folder) }
}
