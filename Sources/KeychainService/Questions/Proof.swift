// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import KeychainModel

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

    /// The narrowest place that it shares with an asker; nil where there is none. The terminal is
    /// looked for only where that decides.
    func scope(
        _ process: EvidencePlaces.Process?, _ context: [UInt8]?,
        _ terminal: @autoclosure () -> EvidencePlaces.Terminal?, _ session: SessionID?
    ) -> Freshness? {
        if let own = places.process, own == process {
            return context != nil && self.context == context ? .context : .process
        }
        if let own = places.terminal, own == terminal() { return .tty }
        if let own = places.session, own == session?.rawValue { return .session }
        return nil
    }
}
