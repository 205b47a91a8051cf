// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// The unlocks that class keys come from, as they were when a request took the keys.
package struct Unlocks: Sendable {
    package enum Source: Sendable, Equatable {
        /// The keychain opens by itself.
        case device
        /// The unlocks of these logins, alive or not. None: the keychain was locked.
        case logins([SessionID])
        /// The unlock that the user's programs share in embedded mode.
        case user
    }

    package let source: Source
    package let moment: LockGeneration

    package init(source: Source, moment: LockGeneration) {
        self.source = source
        self.moment = moment
    }

    package var isOpen: Bool { source != .logins([]) }
}

/// Tells a request whether the class keys in its hands may still be used. A request may take long,
/// as its reader likes; an unlock ends in many ways, most of which tell no request of it.
package struct UnlockWatch: Sendable {
    /// Items of a long change between two looks at the unlock.
    private static let itemsBetweenLooks = 64

    private let keychain: OpenKeychain
    private let vault: any ClassKeyVault
    private let unlocks: Unlocks
    private var items = 0

    /// To be made before the keys are taken, so that no end of an unlock falls in between.
    package init(_ keychain: OpenKeychain, _ vault: any ClassKeyVault) {
        self.keychain = keychain
        self.vault = vault
        unlocks = vault.unlocks(of: keychain)
    }

    /// For keys that were taken with these unlocks.
    package init(_ keychain: OpenKeychain, _ vault: any KeyVault, _ unlocks: Unlocks) {
        self.keychain = keychain
        self.vault = vault
        self.unlocks = unlocks
    }

    /// Whether there is an unlock that can end.
    package var isOpen: Bool {
        unlocks.isOpen && vault.lasts(unlocks, of: keychain, for: .whileUnlocked)
    }

    /// Throws `.locked` where keys of that availability are not there any more for the same unlocks.
    package func check(_ availability: Accessibility.Availability) throws(RequestError) {
        guard vault.lasts(unlocks, of: keychain, for: availability) else { throw .state(.locked) }
    }

    /// The same for one item of many, of which each 64th looks.
    package mutating func checkNowAndThen(_ availability: Accessibility.Availability)
        throws(RequestError)
    {
        defer { items += 1 }
        guard items.isMultiple(of: Self.itemsBetweenLooks) else { return }
        try check(availability)
    }
}
