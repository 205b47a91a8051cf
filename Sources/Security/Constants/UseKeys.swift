// SPDX-License-Identifier: Apache-2.0

// Keys for the way in which a call works, and their values.
// Safe: each constant is set once, to a text that can't be changed.

nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// The one keychain that a call uses; on Apple's systems for SecItemAdd alone.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
nonisolated(unsafe) public let kSecUseUserIndependentKeychain: CFString =
    "u_UserIndependentKeychain"
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
