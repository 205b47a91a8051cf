// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The proofs that reading an item requires, under the names that Swift has on Apple's systems.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let userPresence = Self(.userPresence)
    public static let biometryAny = Self(.biometryAny)
    public static let touchIDAny = biometryAny
    public static let biometryCurrentSet = Self(.biometryCurrentSet)
    public static let touchIDCurrentSet = biometryCurrentSet
    public static let devicePasscode = Self(.devicePasscode)
    public static let companion = Self(.companion)
    public static let watch = companion
    public static let or = Self(.or)
    public static let and = Self(.and)
    public static let privateKeyUsage = Self(.privateKeyUsage)
    public static let applicationPassword = Self(.applicationPassword)

    private init(_ flags: AccessControlFlags) { rawValue = flags.rawValue }

    var flags: AccessControlFlags { AccessControlFlags(rawValue: rawValue) }
}
