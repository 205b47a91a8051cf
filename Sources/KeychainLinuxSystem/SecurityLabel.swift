// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The label that the machine's Linux security module gives a process.
package enum SecurityLabel: Sendable, Equatable {
    /// No module labels processes here.
    case none
    /// `user:role:type:level`.
    case selinux(String)
    /// `unconfined`, or a profile and its mode: `/usr/sbin/cupsd (enforce)`.
    case appArmor(String)
    /// A module may label processes, but this one's label can't be read.
    case unreadable
}

extension PinnedProcess {
    private static let ofAppArmor = "attr/apparmor/current"
    private static let ofAnyModule = "attr/current"
    private static let longestLabel = 4096

    /// The process's present label, read of its first thread.
    package func securityLabel() -> SecurityLabel {
        switch label(Self.ofAppArmor) {
        case .text(let text): return .appArmor(text)
        case .hidden: return .unreadable
        case .none: break
        }
        return switch label(Self.ofAnyModule) {
        case .text(let text): .selinux(text)
        case .hidden: .unreadable
        case .none: .none
        }
    }

    /// The file with AppArmor's label, for frequent reading.
    package func openAppArmorLabel() -> ProcessFile? { openToLookAt(Self.ofAppArmor) }

    private enum Label {
        case text(String)
        case hidden
        case none
    }

    /// `none` where the file's module is not enabled, or the kernel has no such file.
    private func label(_ name: String) -> Label {
        // Safe: opens below the pinned folder; the descriptor has an owner at once.
        let number = unsafe openat(folderNumber, name, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return errno == ENOENT ? .none : .hidden }
        let file = Descriptor(owning: number)
        var bytes = [UInt8](repeating: 0, count: Self.longestLabel)
        // Safe: the kernel writes at most the array's length.
        let count = unsafe pread(file.number, &bytes, bytes.count, 0)
        guard count >= 0 else { return errno == EINVAL ? .none : .hidden }
        // A truncated label would be another label.
        guard count < Self.longestLabel else { return .hidden }
        let text = bytes.prefix(count).prefix { $0 != 0 && $0 != UInt8(ascii: "\n") }
        return text.isEmpty ? .hidden : .text(String(decoding: text, as: UTF8.self))
    }
}
