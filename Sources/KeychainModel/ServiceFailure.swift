// SPDX-License-Identifier: Apache-2.0

/// What is broken or full, or does not answer. The numbers are those of `RequestError`.
public enum ServiceFailure: UInt32, Sendable, CaseIterable {
    /// The policies can't be used as they are; those in force stay.
    case damagedPolicy = 30
    /// The file is not whole, or not ours.
    case damaged = 43
    case diskFull = 46
    case inputOutput = 47
    /// The TPM or security key did not answer in time, or not as it should.
    case protectorFailed = 56
    /// The keychain's file is not there, and something of an earlier one is.
    case keychainGone = 59
    case notAvailable = 60
    case outOfMemory = 61
    case internalError = 62
    /// A copy whose password takes more work than this software ever asks for: it was altered.
    case derivationTooCostly = 63
}
