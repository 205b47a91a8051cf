// SPDX-License-Identifier: Apache-2.0

/// What is wrong with what was asked. The numbers are those of `RequestError`.
public enum InvalidRequest: UInt32, Sendable, CaseIterable {
    case badRequest = 1
    case noSuchAttribute = 2
    case noSuchClass = 3
    case dataTooLarge = 4
    case notImplemented = 5
    /// The secrets of all passwords were asked for, and one of them needs a proof: references are
    /// to be asked for, then the secrets of those that are wanted.
    case needsProofOfEach = 12
    case badKeychainName = 42
}
