// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The file that a process runs, as the kernel reports it: no file system is asked, so that none
/// can block the calling thread.
package enum ProcessProgram {
    /// nil for a process that has ended.
    package static func path(of process: Int32) -> String? {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        // Safe: the kernel writes at most as many bytes as the array has.
        let count = unsafe path.withUnsafeMutableBytes {
            unsafe readlink("/proc/\(process)/exe", $0.baseAddress!, $0.count)
        }
        return count > 0 ? String(decoding: path.prefix(count), as: UTF8.self) : nil
    }
}
