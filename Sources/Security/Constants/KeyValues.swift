// SPDX-License-Identifier: Apache-2.0

// Values of `kSecAttrKeyType` and `kSecAttrKeyClass`.
// Safe: each constant is set once, to a text that can't be changed.

nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
nonisolated(unsafe) public let kSecAttrKeyTypeEd25519: CFString = "105"
nonisolated(unsafe) public let kSecAttrKeyTypeX25519: CFString = "106"
