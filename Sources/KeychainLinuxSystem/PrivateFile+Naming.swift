// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

extension PrivateFile {
    package static let exists = EEXIST
    package static let notAllowed = EACCES

    /// Gives a file that is whole its name, and makes that last. `EEXIST` where something has the
    /// name already and is not to be replaced.
    package static func publish(
        _ path: String, as target: String, replacing: Bool
    ) throws(SystemError) {
        // Safe: reads the paths.
        let result = unsafe replacing ? rename(path, target) : kc_rename_new(path, target)
        guard result == 0 else { throw .system(errno) }
        try sync(folderOf: target)
    }

    /// What a database's file is read together with.
    private static let logs = ["-wal", "-journal"]

    /// Puts a database's file in the place of one that can't be read, which stays under the name
    /// `aside`, its log beside it. At each moment there is a file at the path, and after a power cut
    /// too, where the file system exchanges two names in one step.
    package static func replaceDatabase(
        _ path: String, with new: String, settingAside aside: String
    ) throws(SystemError) {
        // Safe: reads the paths.
        guard unsafe link(path, aside) == 0 else { throw .system(errno) }
        try setLogsAside(of: path, as: aside)
        // A name that is taken away and a name that is given are two changes to some file systems,
        // of which a power cut may keep the first alone.
        if unsafe kc_rename_exchange(new, path) == 0 {
            try sync(folderOf: path)
            _ = unsafe unlink(new)
            return
        }
        guard errno == EINVAL || errno == ENOSYS else { throw .system(errno) }
        try publish(new, as: path, replacing: true)
    }

    /// What is left of a database whose file is gone, or is about to be another: a new file of that
    /// name must not be read together with it.
    package static func setLogsAside(of path: String, as aside: String) throws(SystemError) {
        // Safe: reads the paths.
        for log in logs {
            guard unsafe link(path + log, aside + log) == 0 || errno == ENOENT else {
                throw .system(errno)
            }
        }
        try sync(folderOf: path)
        for ending in logs + ["-shm"] {
            guard unsafe unlink(path + ending) == 0 || errno == ENOENT else {
                throw .system(errno)
            }
        }
        try sync(folderOf: path)
    }

    /// Removes a database's file that is not used any more.
    package static func removeDatabase(_ path: String) {
        // Safe: reads the paths.
        for ending in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + ending) }
    }
}
