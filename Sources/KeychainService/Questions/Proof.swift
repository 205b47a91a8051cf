// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation

/// One success of a method: what, when and where.
struct Proof: Codable, Sendable {
    static let prefix = "evidence:"

    /// What a yes was said to.
    struct Consent: Codable {
        let program: String
        let items: [[UInt8]]
    }

    let name: String
    let methodName: String
    let isService: Bool
    let given: ContinuousClock.Instant
    let context: [UInt8]?
    let places: EvidencePlaces
    var consent: Consent?

    init(
        method: PolicyMethod, given: ContinuousClock.Instant, context: [UInt8]?,
        places: EvidencePlaces
    ) {
        name = Self.prefix + String(UInt64.random(in: .min ... .max), radix: 16)
        switch method {
        case .factor(let factor): (methodName, isService) = (factor.rawValue, false)
        case .pam(let service): (methodName, isService) = (service.string, true)
        }
        self.given = given
        self.context = context
        self.places = places
    }

    /// A yes that does not say to what was recorded by nobody.
    private var isWhole: Bool { consent != nil || method != .factor(.confirm) }

    init?(_ record: [UInt8]) {
        guard let proof = try? JSONDecoder().decode(Self.self, from: Data(record)),
            proof.isWhole
        else { return nil }
        self = proof
    }

    var record: [UInt8]? { (try? JSONEncoder().encode(self)).map { [UInt8]($0) } }

    var method: PolicyMethod {
        isService
            ? .pam(PolicyText(methodName))
            : .factor(PolicyFactor(rawValue: methodName) ?? .appPassword)
    }

    /// nil where it shares nothing with them.
    func scope(shared other: EvidencePlaces, _ context: [UInt8]?) -> Freshness? {
        let isOwnProcess = places.process != nil && places.process == other.process
        if isOwnProcess, let context, self.context == context { return .context }
        if isOwnProcess { return .process }
        if let terminal = places.terminal, terminal == other.terminal { return .tty }
        if let session = places.session, session == other.session { return .session }
        return nil
    }
}
