// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension FileStatus {
    /// Says why nothing can be told: `PrivateFile.notFound` where there is nothing.
    package init(of path: String) throws(SystemError) {
        guard let status = FileStatus(path) else { throw .system(errno) }
        self = status
    }
}
