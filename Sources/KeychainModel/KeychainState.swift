// SPDX-License-Identifier: Apache-2.0

/// In which state the keychain, the item or the machine is, where that is why a request has no answer.
/// The numbers are those of `RequestError`.
public enum KeychainState: UInt32, Sendable, CaseIterable {
    // The item.
    case notFound = 10
    case duplicate = 11
    // The keychain.
    /// A key of the class is not there: the keychain is locked.
    case locked = 24
    /// An operation that needs a password protector, on a keychain without one.
    case passcodeNotSet = 26
    /// The daemon knows no login to which an unlock could belong.
    case noSession = 28
    case noSuchKeychain = 40
    case duplicateKeychain = 41
    case newerVersion = 44
    case readOnly = 45
    /// The user has said that new items go nowhere.
    case noDefaultKeychain = 49
    // What opens it.
    case noSuchProtector = 50
    /// Without it nothing would open the keychain any more.
    case lastProtector = 51
    /// The machine has no TPM, or the service was given no such credential.
    case protectorNotAvailable = 53
    /// The machine was started in another way than the TPM demands.
    case measurementsDiffer = 54
    /// The TPM was cleared or is another one; the credential is another one.
    case protectorChanged = 55
    /// Nothing that this machine has opens it: a copy from another one.
    case notOpenedHere = 58
    // The service.
    /// The service that runs is older than the program that asks it, or the program is older than the
    /// service: what one of them says means nothing to the other.
    case olderService = 64
    case olderProgram = 65
}
