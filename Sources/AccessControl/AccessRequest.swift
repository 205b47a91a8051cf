// SPDX-License-Identifier: Apache-2.0
public import KeychainModel

/// One operation on one item, with every fact that its judgement may rest on.
public struct AccessRequest: Sendable {
    /// What the store authenticates about the item.
    public struct Item: Sendable, Equatable {
        public let reference: ItemReference
        public let accessGroup: String
        public let accessControl: ItemAccessControl
        /// Whether the enrolled biometry is the one that the item was bound to; true where it is
        /// bound to none.
        public let biometryIsCurrent: Bool

        public init(
            reference: ItemReference, accessGroup: String, accessControl: ItemAccessControl,
            biometryIsCurrent: Bool = true
        ) {
            self.reference = reference
            self.accessGroup = accessGroup
            self.accessControl = accessControl
            self.biometryIsCurrent = biometryIsCurrent
        }
    }

    /// How the keychain stands when the request is judged.
    public struct Keychain: Sendable, Equatable {
        public let isUnlocked: Bool
        public let wasUnlockedSinceBoot: Bool
        /// It has a password protector.
        public let isPasscodeSet: Bool

        public init(isUnlocked: Bool, wasUnlockedSinceBoot: Bool, isPasscodeSet: Bool) {
            self.isUnlocked = isUnlocked
            self.wasUnlockedSinceBoot = wasUnlockedSinceBoot
            self.isPasscodeSet = isPasscodeSet
        }

        func holds(_ accessible: Accessibility) -> Bool {
            switch accessible.availability {
            case .always: true
            case .afterFirstUnlock: wasUnlockedSinceBoot
            case .whileUnlocked: isUnlocked
            }
        }
    }

    public let operation: ItemOperation
    public let item: Item
    public let callerGroups: [String]
    public let keychain: Keychain
    /// Whether a question may be put to the user, and somebody is there to answer it.
    public let mayAsk: Bool
    /// What a person could be asked to prove on this machine.
    public let provable: Set<PolicyMethod>

    public init(
        _ operation: ItemOperation, on item: Item, callerGroups: [String], keychain: Keychain,
        mayAsk: Bool, provable: Set<PolicyMethod>
    ) {
        self.operation = operation
        self.item = item
        self.callerGroups = callerGroups
        self.keychain = keychain
        self.mayAsk = mayAsk
        self.provable = provable
    }
}
