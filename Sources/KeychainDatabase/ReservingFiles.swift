// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite
internal import Glibc
internal import Synchronization

/// SQLite's usual file system, except that disk space for the index of a log is reserved before
/// anything is written to the index.
///
/// The index is mapped memory: a write to it without a block on the disk raises a signal, which
/// ends the process with everything it does for other users. SQLite itself allocates one block for
/// each page of memory, which is not enough where blocks are smaller than pages.
enum ReservingFiles {
    static let name = "keychain-reserving"
    /// The same, where the log is a `GatheredLog`.
    static let gatheringName = "keychain-gathering"

    /// Registers both file systems with SQLite once, for the life of the process.
    static let isRegistered = register()

    // Safe: SQLite's own, for as long as the process lives.
    nonisolated(unsafe) static let system = unsafe sqlite3_vfs_find("unix")

    private static func register() -> Bool {
        guard let system = unsafe system else { return false }
        // Safe: SQLite keeps the structures for good; they are never freed, nor changed once it has
        // them.
        let ours = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 2)
        let gathering = unsafe ours + 1
        for unsafe(each, name) in unsafe [(ours, name), (gathering, gatheringName)] {
            unsafe each.initialize(to: system.pointee)
            unsafe each.pointee.pNext = nil
            unsafe each.pointee.zName = UnsafePointer(strdup(name))
        }
        unsafe ours.pointee.xOpen = { _, path, file, flags, opened in
            unsafe ReservingFiles.open(path, file, flags, opened)
        }
        unsafe gathering.pointee.szOsFile = GatheredLog.bytes(behind: system.pointee.szOsFile)
        unsafe gathering.pointee.xOpen = { _, path, file, flags, opened in
            let code = unsafe ReservingFiles.open(path, file, flags, opened)
            if code == SQLITE_OK, flags & SQLITE_OPEN_WAL != 0, let file = unsafe file {
                unsafe GatheredLog.begin(file)
            }
            return code
        }
        let codes = unsafe [sqlite3_vfs_register(ours, 0), sqlite3_vfs_register(gathering, 0)]
        return codes.allSatisfy { $0 == SQLITE_OK }
    }

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ flags: Int32, _ opened: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        // Safe: the system's own function, with what SQLite gave for it.
        guard let system = unsafe system, let file = unsafe file,
            let result = unsafe system.pointee.xOpen?(system, path, file, flags, opened)
        else { return SQLITE_CANTOPEN }
        if result == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0,
            let own = unsafe file.pointee.pMethods
        {
            unsafe file.pointee.pMethods = Methods.reserving(own)
        }
        return result
    }

    /// The system's methods with another `xShmMap`, and the original ones. SQLite has a few tables
    /// of methods, one for each kind of lock that the file system supports.
    // Safe: both are never freed, and written before they are shared.
    @safe private struct Methods: @unchecked Sendable {
        let system: UnsafePointer<sqlite3_io_methods>
        let ours: UnsafePointer<sqlite3_io_methods>

        private static let known = Mutex<[Methods]>([])

        static func reserving(
            _ system: UnsafePointer<sqlite3_io_methods>
        ) -> UnsafePointer<sqlite3_io_methods> {
            // Safe: only pointers are compared, and the new table is filled before it is known.
            unsafe known.withLock { known in
                if let made = known.first(where: { unsafe $0.system == system }) {
                    return unsafe made.ours
                }
                let ours = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
                unsafe ours.initialize(to: system.pointee)
                unsafe ours.pointee.xShmMap = { file, region, bytes, extends, mapped in
                    unsafe ReservingFiles.map(file, region, bytes, extends, mapped)
                }
                let made = unsafe Methods(system: system, ours: UnsafePointer(ours))
                known.append(made)
                return unsafe made.ours
            }
        }

        static func system(
            of ours: UnsafePointer<sqlite3_io_methods>?
        ) -> UnsafePointer<sqlite3_io_methods>? {
            // Safe: only pointers are compared.
            unsafe known.withLock { known in
                unsafe known.first { unsafe $0.ours == ours }?.system
            }
        }
    }

    private static func map(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ region: Int32, _ bytes: Int32,
        _ extends: Int32, _ mapped: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        // Safe: SQLite calls this with a file that `open` has filled, and room for a pointer.
        guard let file = unsafe file,
            let system = unsafe Methods.system(of: file.pointee.pMethods),
            let result = unsafe system.pointee.xShmMap?(file, region, bytes, extends, mapped)
        else { return SQLITE_IOERR }
        // SQLite makes the file longer first, and calls each failure of that one of the disk.
        if result == sizeOfSharedMemory, [ENOSPC, EDQUOT].contains(errno) { return SQLITE_FULL }
        guard result == SQLITE_OK, let start = unsafe mapped?.pointee else { return result }
        // Safe: the pages are SQLite's, and stay as they are.
        let isReserved = unsafe madvise(start, Int(bytes), populateForWriting) == 0
        // Other errors mean an older kernel, or memory that is only read.
        guard !isReserved, errno == EFAULT else { return result }
        // SQLite would use the mapped memory, whatever the result says.
        unsafe mapped?.pointee = nil
        return SQLITE_FULL
    }

    /// SQLITE_IOERR_SHMSIZE, whose macro Swift does not import.
    private static let sizeOfSharedMemory: Int32 = SQLITE_IOERR | 19 << 8

    /// MADV_POPULATE_WRITE (madvise(2), Linux 5.14): fails with EFAULT where a write would end the
    /// process.
    private static let populateForWriting: Int32 = 23
}
