// SPDX-License-Identifier: Apache-2.0

/// A program that an item lets in although it is in none of the item's groups.
public struct TrustedApplication: Sendable, Hashable {
    /// The program's application identifier.
    public let identity: String
    /// How well the name was guarded when it was listed: a bearer that is guarded less is another.
    public let strength: ProgramStrength
    /// The application identifier of the program that listed it; nil: the user, when asked.
    public let listedBy: String?
    /// Seconds since 2001.
    public let listedAt: Double

    /// Bytes of an identity: a path, and the word before it.
    public static let longestIdentity = 4200

    public init(
        _ identity: String, strength: ProgramStrength, listedBy: String?, listedAt: Double
    ) {
        self.identity = identity
        self.strength = strength
        self.listedBy = listedBy
        self.listedAt = listedAt
    }
}

/// The trusted applications of an item (`SecAccess`). An item that has a list, be it an empty one,
/// is one that its user lets programs ask for.
public struct TrustList: Sendable, Hashable {
    /// In the order of their identities, each once.
    public private(set) var applications: [TrustedApplication]

    public static let mostApplications = 32

    /// Of two with one identity the later counts.
    public init(_ applications: some Sequence<TrustedApplication> = []) {
        self.applications = []
        for application in applications { add(application) }
    }

    public mutating func add(_ application: TrustedApplication) {
        remove(application.identity)
        let place = applications.firstIndex {
            application.identity.utf8.lexicographicallyPrecedes($0.identity.utf8)
        }
        applications.insert(application, at: place ?? applications.endIndex)
    }

    public mutating func remove(_ identity: String) {
        applications.removeAll { $0.identity.utf8.elementsEqual(identity.utf8) }
    }

    /// Whether it names that program, guarded as well as it was then.
    public func names(_ program: Caller.Identity) -> Bool {
        guard let identity = program.identifier, let strength = program.strength else {
            return false
        }
        return applications.contains {
            $0.identity.utf8.elementsEqual(identity.utf8) && $0.strength <= strength
        }
    }
}

/// A program as it is named by the one that wants it listed.
public enum NamedProgram: Sendable, Hashable {
    /// The program that says so.
    case own
    case identity(String)
}

/// What becomes of an item's list.
public enum TrustChange: Sendable, Hashable {
    case replace([NamedProgram])
    case add([NamedProgram])
    case remove([String])
    /// No list at all: no other program is let in, and none may ask.
    case reset
}
