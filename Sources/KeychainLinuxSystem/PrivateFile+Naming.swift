// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

extension PrivateFile {
    package static let exists = EEXIST
    package static let notAllowed = EACCES

    /// Gives a complete file its name, and syncs the name. Throws `EEXIST` where the name is taken
    /// and is not to be replaced.
    package static func publish(
        _ path: String, as target: String, replacing: Bool
    ) throws(SystemError) {
        // Safe: reads the paths.
        let result = unsafe replacing ? rename(path, target) : kc_rename_new(path, target)
        guard result == 0 else { throw .system(errno) }
        try sync(folderOf: target)
    }

    /// The files that SQLite reads together with a database's file.
    private static let logs = ["-wal", "-journal"]

    /// Puts a database's file in the place of an unreadable one, which is kept as `aside` with its
    /// log. There is a file at the path at every moment, and also after a power cut if the file
    /// system exchanges two names in one step.
    package static func replaceDatabase(
        _ path: String, with new: String, settingAside aside: String
    ) throws(SystemError) {
        // Safe: reads the paths.
        guard unsafe link(path, aside) == 0 else { throw .system(errno) }
        try setLogsAside(of: path, as: aside)
        // To some file systems, removing a name and giving it again are two changes, of which a
        // power cut may keep only the first.
        if unsafe kc_rename_exchange(new, path) == 0 {
            try sync(folderOf: path)
            _ = unsafe unlink(new)
            return
        }
        guard errno == EINVAL || errno == ENOSYS else { throw .system(errno) }
        try publish(new, as: path, replacing: true)
    }

    /// Sets the logs of a missing or replaced database aside: a new file of that name must not be
    /// read together with them.
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

    /// Removes a database's file that is no longer used, and then what SQLite laid beside it. A
    /// file that can't be removed keeps its log, without which it would be an older one.
    package static func removeDatabase(_ path: String) throws(SystemError) {
        // Safe: reads the paths.
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .system(errno) }
        for ending in logs + ["-shm"] { _ = unsafe unlink(path + ending) }
    }
}
