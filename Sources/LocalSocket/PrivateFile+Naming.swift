// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

extension PrivateFile {
    package static let exists = EEXIST
    package static let notAllowed = EACCES

    /// Gives a file that is whole its name, and makes that last. `EEXIST` where something has the
    /// name already and is not to be replaced.
    package static func publish(
        _ path: String, as target: String, replacing: Bool
    ) throws(SocketError) {
        // Safe: reads the paths.
        let result = unsafe replacing ? rename(path, target) : kc_rename_new(path, target)
        guard result == 0 else { throw .system(errno) }
        try sync(folderOf: target)
    }

    /// Puts a database's file in the place of one that can't be read, which stays under the name
    /// `aside`, its log beside it. At each moment there is a file at the path.
    package static func replaceDatabase(
        _ path: String, with new: String, settingAside aside: String
    ) throws(SocketError) {
        let log = "-wal"
        // Safe: reads the paths.
        guard unsafe link(path, aside) == 0 else { throw .system(errno) }
        guard unsafe link(path + log, aside + log) == 0 || errno == ENOENT else {
            throw .system(errno)
        }
        try sync(folderOf: path)
        // The new file must not be read together with the old one's log.
        for ending in [log, "-shm"] {
            guard unsafe unlink(path + ending) == 0 || errno == ENOENT else {
                throw .system(errno)
            }
        }
        try sync(folderOf: path)
        try publish(new, as: path, replacing: true)
    }

    /// Removes a database's file that is not used any more.
    package static func removeDatabase(_ path: String) {
        // Safe: reads the paths.
        for ending in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + ending) }
    }
}
