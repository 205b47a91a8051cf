// SPDX-License-Identifier: Apache-2.0

/// Why a request was not answered with what it asked for. `Security` makes status codes of it, the
/// command line advice.
public enum Refusal: UInt32, Error, Sendable, CaseIterable {
    // The request.
    case badRequest = 1
    case noSuchAttribute = 2
    case noSuchClass = 3
    case dataTooLarge = 4
    case notImplemented = 5
    // The item.
    case notFound = 10
    case duplicate = 11
    /// The secrets of all passwords were asked for, and one of them needs a proof: references are
    /// to be asked for, then the secrets of those that are wanted.
    case needsProofOfEach = 12
    // The caller.
    /// The caller has no access group, or not the one it named.
    case notEntitled = 20
    case authenticationFailed = 21
    case cancelled = 22
    /// The question could not be asked: no user there, or not allowed to ask.
    case interactionNotAllowed = 23
    /// A key of the class is not there: the keychain is locked.
    case locked = 24
    case tooManyRequests = 25
    /// An operation that needs a password protector, on a keychain without one.
    case passcodeNotSet = 26
    case wrongPassword = 27
    /// The daemon knows no login to which an unlock could belong.
    case noSession = 28
    /// A rule of the administrator's policy does not allow it.
    case forbidden = 29
    /// The policies can't be used as they are; those in force stay.
    case damagedPolicy = 30
    /// Of an item that was made with another application password.
    case wrongApplicationPassword = 35
    // The keychain.
    case noSuchKeychain = 40
    case duplicateKeychain = 41
    case badKeychainName = 42
    /// The file is not whole, or not ours.
    case damaged = 43
    case newerVersion = 44
    case readOnly = 45
    case diskFull = 46
    case inputOutput = 47
    case belongsToAnother = 48
    /// The user has said that new items go nowhere.
    case noDefaultKeychain = 49
    // What opens it.
    case noSuchProtector = 50
    /// Without it nothing would open the keychain any more.
    case lastProtector = 51
    case wrongRecoveryKey = 52
    /// The machine has no TPM, or the service was given no such credential.
    case protectorNotAvailable = 53
    /// The machine was started in another way than the TPM demands.
    case measurementsDiffer = 54
    /// The TPM was cleared or is another one; the credential is another one.
    case protectorChanged = 55
    /// The TPM or security key did not answer in time, or not as it should.
    case protectorFailed = 56
    /// The security key wants a PIN, or got another.
    case wrongPIN = 57
    /// Nothing that this machine has opens it: a copy from another one.
    case notOpenedHere = 58
    /// The keychain's file is not there, and something of an earlier one is.
    case keychainGone = 59
    // The service.
    case notAvailable = 60
    case outOfMemory = 61
    case internalError = 62
    /// A copy whose password takes more work than this software ever asks for.
    case derivationTooCostly = 63
    /// The service that runs is older than the program that asks it, or the program is older than the
    /// service: what one of them says means nothing to the other.
    case olderService = 64
    case olderProgram = 65
}
