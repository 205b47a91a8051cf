// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// What the kernel says when it does not do what it was asked.
package enum KeyringError: Error, Equatable, Sendable {
    case notFound
    case expired
    case revoked
    case quotaExceeded
    case refused
    /// No keyrings here: an old kernel, or a container's filter.
    case unsupported
    case tooLarge
    case system(Int32)

    init(_ code: Int32) {
        switch code {
        case ENOKEY, ENOENT: self = .notFound
        case EKEYEXPIRED: self = .expired
        case EKEYREVOKED: self = .revoked
        case EDQUOT: self = .quotaExceeded
        case EACCES, EPERM: self = .refused
        case ENOSYS, EOPNOTSUPP: self = .unsupported
        default: self = .system(code)
        }
    }
}
