// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Replaces this process by another program on the same terminal.
package enum ForegroundProgram {
    /// Returns only where the program can't be started. The program gets this process's
    /// environment, and `name` as its argv[0].
    package static func replaceThisProcess(
        with path: String, as name: String? = nil, arguments: [String]
    ) -> TerminalError {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe ([name ?? path] + arguments).map {
            unsafe strdup($0)
        }
        unsafe pointers.append(nil)
        // Safe: the list ends with nil, and lives until the process is another.
        _ = unsafe execv(path, &pointers)
        let error = errno
        while let pointer = unsafe pointers.popLast() { unsafe free(pointer) }
        return .system(error)
    }
}
