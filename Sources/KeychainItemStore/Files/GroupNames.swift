// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import Synchronization

/// Remembers the access groups of a file's items from one request to the next. Groups are
/// attributes, which must not reach the swap, so they are held in the same memory as secrets.
final class GroupNames: Sendable {
    /// Longer lists are not remembered, and are read each time.
    private static let mostBytes = 65_536

    /// The classes whose items could be read.
    struct Open: Equatable {
        private let isUnlocked: Bool
        private let wasUnlockedSinceBoot: Bool

        init(_ keys: borrowing ClassKeys) {
            isUnlocked = keys.isUnlocked
            wasUnlockedSinceBoot = keys.wasUnlockedSinceBoot
        }
    }

    private struct State {
        var kept: (open: Open, names: HeldSecret)?
        /// Counts writes that brought a new group.
        var changes = 0
    }
    private let state = Mutex(State())

    func known(_ open: Open) -> (names: [String]?, changes: Int) {
        state.withLock { state in
            // Groups that were read while more classes were open are forgotten as soon as fewer
            // are.
            if state.kept?.open != open { state.kept = nil }
            return (state.kept.map { Self.split($0.names) }, state.changes)
        }
    }

    func keep(_ names: [String], _ open: Open, asOf changes: Int) {
        let bytes = names.reduce(into: [UInt8]()) { $0 += Array($1.utf8) + [0] }
        let isPlain = names.allSatisfy { !$0.utf8.contains(0) }
        guard isPlain, bytes.count <= Self.mostBytes else { return }
        let held = HeldSecret(SecretBytes(copying: bytes))
        state.withLock { state in
            if state.changes == changes { state.kept = (open, held) }
        }
    }

    /// Notes that an item of the group is in the file.
    func note(_ group: String) {
        state.withLock { state in
            let isKnown = state.kept.map { kept in
                Self.split(kept.names).firstSame(as: group) != nil
            }
            if isKnown == true { return }
            state.kept = nil
            state.changes += 1
        }
    }

    private static func split(_ names: HeldSecret) -> [String] {
        names.bytes.releasedFromLockedMemory().split(separator: 0, omittingEmptySubsequences: false)
            .dropLast().map { String(decoding: $0, as: UTF8.self) }
    }
}
