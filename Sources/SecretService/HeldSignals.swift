// SPDX-License-Identifier: Apache-2.0

/// How many signals wait for the end of a prompt, of all programs: each is a message in memory for as
/// long as its program's user takes.
struct HeldSignals {
    private var count = 0

    /// Counts one more of a program that has `own` already; false where there is no room for it.
    mutating func take(besides own: Int) -> Bool {
        guard count < Limits.heldSignals, own < Limits.heldSignalsOfPeer else { return false }
        count += 1
        return true
    }

    mutating func release(_ count: Int) { self.count -= count }
}
