// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import GRDB

/// How long a call waits for another process that has the file, before it is told that the keychain
/// is busy.
public struct Patience: Sendable {
    private let seconds: Double

    init(seconds: Double) { self.seconds = seconds }

    /// A service that has its files to itself meets others by accident only, and serves many.
    public static let ofOwner = Patience(seconds: 5)
    /// Programs that share a file are in each other's way all the time, and machines may be slow.
    public static let amongEquals = Patience(seconds: 30)

    private static let pause = 0.003

    /// SQLite's own pauses grow to a tenth of a second: who has waited longest would come last, and
    /// may not come at all, as long as others who have just arrived try again after a millisecond.
    var busyMode: Database.BusyMode {
        // Safe: one of the two constants above.
        let most = Int(seconds / Self.pause)
        return .callback { tries in
            guard tries < most else { return false }
            // Never in step with somebody else.
            Thread.sleep(forTimeInterval: Self.pause * .random(in: 0.5...1.5))
            return true
        }
    }
}
