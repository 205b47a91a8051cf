// SPDX-License-Identifier: Apache-2.0
public import KeychainModel

/// A way of proving that the user is there, and that it is he.
public enum Factor: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// Whatever the machine's `keychain-presence` PAM service accepts.
    case presence = 1
    /// A password typed now.
    case passcode = 2

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The PAM service that proves it.
    public var service: String {
        switch self {
        case .presence: "keychain-presence"
        case .passcode: "keychain-passcode"
        }
    }
}

/// What has been proven for this request. Facts only; a decision is never kept.
public struct Evidence: Sendable, Equatable {
    public private(set) var factors: Set<Factor>

    public init(_ factors: Set<Factor> = []) { self.factors = factors }

    public func adding(_ factor: Factor) -> Evidence { Evidence(factors.union([factor])) }

    /// Whether it meets the constraint. A passcode proves presence as well.
    public func meets(_ constraint: Constraint) -> Bool {
        switch constraint {
        case .always: true
        case .never, .biometryAny, .biometryCurrentSet, .companion: false
        case .userPresence: !factors.isEmpty
        case .devicePasscode: factors.contains(.passcode)
        case .atLeast(let required, let members):
            members.count { meets($0) } >= required
        }
    }
}
