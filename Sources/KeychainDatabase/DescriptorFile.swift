// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite
internal import Glibc

/// SQLite's file system for one file that is read through a descriptor: no path, log, journal or
/// lock is looked up, and nothing is written. SQLite takes the file for one that never changes, and
/// reads it as it is.
///
/// A connection's path is the number of the descriptor.
enum DescriptorFile {
    static let name = "keychain-descriptor"

    /// Registers the file system with SQLite once, for the life of the process.
    static let isRegistered = register()

    private static func register() -> Bool {
        // Safe: SQLite keeps the structure, and the texts and functions in it, for good; none of
        // them is ever freed or changed.
        let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        unsafe system.initialize(to: sqlite3_vfs())
        unsafe system.pointee.iVersion = 1
        unsafe system.pointee.szOsFile = Int32(MemoryLayout<OpenedFile>.size)
        unsafe system.pointee.mxPathname = 16
        unsafe system.pointee.zName = UnsafePointer(strdup(name))
        unsafe system.pointee.xOpen = { _, path, file, flags, opened in
            unsafe DescriptorFile.open(path, file, flags, opened)
        }
        unsafe system.pointee.xDelete = { _, _, _ in Code.delete }
        unsafe system.pointee.xAccess = { _, _, _, isThere in
            unsafe isThere?.pointee = 0
            return SQLITE_OK
        }
        unsafe system.pointee.xFullPathname = { _, path, count, full in
            guard let path = unsafe path, let full = unsafe full,
                unsafe strlen(path) < Int(count)
            else { return SQLITE_CANTOPEN }
            unsafe strcpy(full, path)
            return SQLITE_OK
        }
        // Random numbers and the time serve temporary names and functions that no statement here
        // uses.
        unsafe system.pointee.xRandomness = { _, _, _ in 0 }
        unsafe system.pointee.xSleep = { _, _ in 0 }
        unsafe system.pointee.xCurrentTime = { _, _ in SQLITE_ERROR }
        unsafe system.pointee.xGetLastError = { _, _, _ in 0 }
        return unsafe sqlite3_vfs_register(system, 0) == SQLITE_OK
    }

    /// SQLite's codes whose macros Swift does not import.
    private enum Code {
        static let read = SQLITE_IOERR | 1 << 8
        static let shortRead = SQLITE_IOERR | 2 << 8
        static let size = SQLITE_IOERR | 7 << 8
        static let delete = SQLITE_IOERR | 10 << 8
    }

    /// SQLite's structure for an open file.
    // Safe: the pointer within is to `methods`, which are never freed.
    @safe private struct OpenedFile {
        var base: sqlite3_file
        var descriptor: Int32
    }

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ flags: Int32, _ opened: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        // Safe: SQLite gives a path that ends with a zero, and `szOsFile` bytes for the file. An
        // error leaves no methods, so SQLite does not close it.
        guard let file = unsafe file else { return SQLITE_CANTOPEN }
        unsafe file.pointee.pMethods = nil
        guard let path = unsafe path, flags & SQLITE_OPEN_MAIN_DB != 0,
            flags & SQLITE_OPEN_READONLY != 0,
            let descriptor = unsafe Int32(String(cString: path))
        else { return SQLITE_CANTOPEN }
        unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenedFile.self).pointee
            .descriptor = descriptor
        unsafe file.pointee.pMethods = unsafe methods
        unsafe opened?.pointee = flags
        return SQLITE_OK
    }

    private static func descriptor(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        // Safe: SQLite calls methods only with a file that `open` has filled.
        unsafe UnsafeMutableRawPointer(file!).assumingMemoryBound(to: OpenedFile.self).pointee
            .descriptor
    }

    // Safe: written once, before SQLite sees it, and never freed.
    nonisolated(unsafe) private static let methods = unsafe makeMethods()

    private static func makeMethods() -> UnsafePointer<sqlite3_io_methods> {
        // Safe: as above; SQLite calls methods with a file that `open` has filled, and with room for
        // what they answer.
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        unsafe methods.initialize(to: sqlite3_io_methods())
        unsafe methods.pointee.iVersion = 1
        // The owner closes the descriptor.
        unsafe methods.pointee.xClose = { _ in SQLITE_OK }
        unsafe methods.pointee.xRead = { file, buffer, count, offset in
            guard let buffer = unsafe buffer, count >= 0 else { return Code.read }
            return unsafe DescriptorFile.read(
                DescriptorFile.descriptor(file),
                UnsafeMutableRawBufferPointer(
                    start: buffer, count: Int(count)), offset)
        }
        unsafe methods.pointee.xWrite = { _, _, _, _ in SQLITE_READONLY }
        unsafe methods.pointee.xTruncate = { _, _ in SQLITE_READONLY }
        unsafe methods.pointee.xSync = { _, _ in SQLITE_OK }
        unsafe methods.pointee.xFileSize = { file, size in
            let end = unsafe lseek(DescriptorFile.descriptor(file), 0, SEEK_END)
            guard end >= 0 else { return Code.size }
            unsafe size?.pointee = sqlite3_int64(end)
            return SQLITE_OK
        }
        unsafe methods.pointee.xLock = { _, _ in SQLITE_OK }
        unsafe methods.pointee.xUnlock = { _, _ in SQLITE_OK }
        unsafe methods.pointee.xCheckReservedLock = { _, isHeld in
            unsafe isHeld?.pointee = 0
            return SQLITE_OK
        }
        unsafe methods.pointee.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        unsafe methods.pointee.xSectorSize = { _ in 4096 }
        unsafe methods.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_IMMUTABLE }
        return unsafe UnsafePointer(methods)
    }

    /// SQLite expects zeros after the end of the file, and a code that says so.
    private static func read(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, _ offset: sqlite3_int64
    ) -> Int32 {
        var done = 0
        while done < buffer.count {
            // Safe: at most what is left of SQLite's buffer.
            let count = unsafe pread(
                descriptor, buffer.baseAddress! + done, buffer.count - done,
                off_t(offset) + done)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return Code.read }
            if count == 0 { break }
            done += count
        }
        guard done < buffer.count else { return SQLITE_OK }
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).initializeMemory(
            as: UInt8.self, repeating: 0)
        return Code.shortRead
    }
}
