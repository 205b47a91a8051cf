// SPDX-License-Identifier: Apache-2.0
public import KeychainModel
public import KeychainPolicyEngine
public import KeychainPolicyModel

/// One operation on one item, with every fact that its judgement may rest on.
public struct AccessRequest: Sendable {
    /// What the store authenticates about the item.
    public struct Item: Sendable {
        public let reference: ItemReference
        public let accessGroup: String
        public let accessControl: ItemAccessControl
        /// Whether the enrolled biometry is the one that the item was bound to; true where it is
        /// bound to none.
        public let biometryIsCurrent: Bool
        /// As it is, or as it would be.
        public let attributes: Attributes
        /// The name of the keychain that it lies in.
        public let keychain: String
        /// How the caller comes to know of it, where it is not by its group or a rule.
        public var admission: Admission

        public init(
            reference: ItemReference, accessGroup: String, accessControl: ItemAccessControl,
            biometryIsCurrent: Bool = true, attributes: Attributes = [:], keychain: String = "",
            admission: Admission = .none
        ) {
            self.admission = admission
            self.reference = reference
            self.accessGroup = accessGroup
            self.accessControl = accessControl
            self.biometryIsCurrent = biometryIsCurrent
            self.attributes = attributes
            self.keychain = keychain
        }

        /// The item as policies see it.
        var described: PolicyItem {
            PolicyItem(
                reference.itemClass, attributes, accessGroup: accessGroup, rights: accessControl,
                keychain: keychain)
        }

        /// What policies can know of the item.
        public var facts: PolicyFacts { described.facts }
    }

    /// What lets a caller know of an item beside its group and the policy.
    public enum Admission: Sendable, Hashable {
        case none
        /// The item's user trusts the program with it: it may read, and do nothing else.
        case trusted
        /// The caller may change the item. That says nothing of its list of programs, except that
        /// the caller may ask to have it changed.
        case mayChange

        func covers(_ operation: PolicyOperation) -> Bool {
            switch self {
            case .none: false
            case .trusted: PolicyOperations.read.contains(operation)
            case .mayChange: operation == .changeACL
            }
        }
    }

    /// How the keychain stands when the request is judged.
    public struct Keychain: Sendable, Equatable {
        public let isUnlocked: Bool
        public let wasUnlockedSinceBoot: Bool
        /// It has a password protector; nil where this was not looked up, which allows nothing that
        /// either answer would not.
        public let isPasscodeSet: Bool?

        public init(isUnlocked: Bool, wasUnlockedSinceBoot: Bool, isPasscodeSet: Bool?) {
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

    /// Who asks, for what, and when: the same for all items of a call.
    public struct Circumstances: Sendable {
        /// The entry of items' access control that counts, and what its grant is for.
        public let operation: ItemOperation
        /// The same in the words of policies.
        public let policyOperation: PolicyOperation
        public let callerGroups: [String]
        public let keychain: Keychain
        /// Whether a question may be put to the user, and the user is there to answer it; nil where
        /// this was not looked up, which allows nothing that either answer would not.
        public let mayAsk: Bool?
        /// What a person could be asked to prove on this machine.
        public let provable: Set<PolicyMethod>
        /// What policies ask about the caller and the moment; empty where there are none.
        public let facts: PolicyFacts
        /// The texts among those facts in the policy's numbers, where they were made before.
        public let numbered: NumberedTexts?
        /// Today's local date in days since 1970-01-01.
        public let day: Int32

        public init(
            _ operation: ItemOperation, as policyOperation: PolicyOperation,
            callerGroups: [String], keychain: Keychain, mayAsk: Bool?,
            provable: Set<PolicyMethod>, facts: PolicyFacts = PolicyFacts(),
            numbered: NumberedTexts? = nil, day: Int32 = 0
        ) {
            self.operation = operation
            self.policyOperation = policyOperation
            self.callerGroups = callerGroups
            self.keychain = keychain
            self.mayAsk = mayAsk
            self.provable = provable
            self.facts = facts
            self.numbered = numbered
            self.day = day
        }

        /// The same moment and caller, for something else that a call does.
        public func of(
            _ operation: ItemOperation, as policyOperation: PolicyOperation,
            callerGroups: [String]? = nil
        ) -> Self {
            Self(
                operation, as: policyOperation, callerGroups: callerGroups ?? self.callerGroups,
                keychain: keychain, mayAsk: mayAsk, provable: provable, facts: facts,
                numbered: numbered, day: day)
        }
    }

    public let circumstances: Circumstances
    public let item: Item

    public init(_ circumstances: Circumstances, on item: Item) {
        self.circumstances = circumstances
        self.item = item
    }
}
