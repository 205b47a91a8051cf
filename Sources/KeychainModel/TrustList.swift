// SPDX-License-Identifier: Apache-2.0

/// A program that may use an item although it is in none of the item's groups.
public struct TrustedApplication: Sendable, Hashable {
    /// The program's application identifier.
    public let identity: String
    /// The strength of the name when it was listed: a program with a weaker one does not match.
    public let strength: ProgramStrength
    /// The application identifier of the program that listed it; nil where the user did, when
    /// asked.
    public let listedBy: String?
    /// Seconds since 2001.
    public let listedAt: Double

    /// The most bytes of an identity: a path, and the word before it.
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

/// The trusted applications of an item (`SecAccess`). An item with a list, even an empty one, lets
/// other programs ask its user for it.
public struct TrustList: Sendable, Hashable {
    /// In the order of their identities, each once.
    public private(set) var applications: [TrustedApplication]

    public static let mostApplications = 32

    /// Of two entries with one identity the later counts.
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

    /// Whether the list has that program, with at least the strength that it was listed with.
    public func names(_ program: Caller.Identity) -> Bool {
        guard let identity = program.identifier, let strength = program.strength else {
            return false
        }
        return applications.contains {
            $0.identity.utf8.elementsEqual(identity.utf8) && $0.strength <= strength
        }
    }
}

/// A program, as the program that wants it listed names it.
public enum NamedProgram: Sendable, Hashable {
    /// The program that makes the request.
    case own
    case identity(String)
}

/// A change of an item's list.
public enum TrustChange: Sendable, Hashable {
    case replace([NamedProgram])
    case add([NamedProgram])
    case remove([String])
    /// Removes the list: no other program may use the item, and none may ask.
    case reset
}
