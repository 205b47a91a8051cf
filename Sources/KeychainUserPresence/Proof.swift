// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel

/// One success of a method: which method, when and where.
struct Proof: Codable, Sendable {
    static let prefix = "evidence:"
    private static let relayedFor: Duration = .seconds(60)

    /// The program and the items that a confirmation counts for.
    struct Consent: Codable {
        let program: String
        let items: [[UInt8]]
    }

    /// The program and the items of a proof given through a deputy. Such programs are short-lived:
    /// one is often started for each password.
    struct Relayed: Codable {
        let program: String
        let strength: UInt8
        let items: [[UInt8]]
    }

    let name: String
    let methodName: String
    let isService: Bool
    let given: ContinuousClock.Instant
    let context: [UInt8]?
    let places: ProofOrigin
    /// The program that the question named.
    var program: String?
    var consent: Consent?
    var relayed: Relayed?
    /// The proof was given to a program that a deputy brought.
    var isRelayed = false

    init(
        method: PolicyMethod, given: ContinuousClock.Instant, context: [UInt8]?,
        places: ProofOrigin
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

    /// A confirmation must name its program and items: without them it would count for all.
    private var isWhole: Bool { method != .factor(.confirm) || consent != nil }

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

    /// The narrowest place that the proof shares with a client; nil where they share none. The
    /// terminal is looked up only where it decides.
    func scope(
        for client: any Client, terminal: @autoclosure () -> ProofOrigin.Terminal?
    ) -> Freshness? {
        // A deputy's word on its programs is a bus's: what was proven to a program itself serves none
        // that is said to be the same.
        let isSameWay = isRelayed == (client.caller.via != nil)
        if isSameWay, let own = places.process, own == client.process {
            // A deputy's programs have no context that would end: `relayedFor` limits their proofs
            // instead.
            let context = client.caller.via == nil ? client.context?.identifier : nil
            return context != nil && self.context == context ? .context : .process
        }
        if isSameWay, isOfProgram(client.caller), sharesTerminal(with: client, terminal()) {
            return .tty
        }
        if let own = places.session, own == client.caller.session?.rawValue { return .session }
        return nil
    }

    /// Whether the proof was given less than `relayedFor` ago to this very program in this session,
    /// through a deputy, in any process: then it serves the items that it was given for.
    func isFresh(for caller: Caller, _ age: Duration) -> Bool {
        guard let relayed, caller.via != nil, age < Self.relayedFor, let strength = caller.strength,
            places.session == caller.session?.rawValue, relayed.strength <= strength.rawValue
        else { return false }
        return caller.identifier?.utf8.elementsEqual(relayed.program.utf8) == true
    }

    /// The question named one program: another program on the same terminal was not meant.
    private func isOfProgram(_ caller: Caller) -> Bool {
        guard let program, let asking = caller.identifier else { return false }
        return program.utf8.elementsEqual(asking.utf8)
    }

    /// Without a terminal, the process that the proof was given in and its children take its place.
    private func sharesTerminal(
        with client: any Client, _ terminal: ProofOrigin.Terminal?
    ) -> Bool {
        if let own = places.terminal { return own == terminal }
        guard terminal == nil, let process = places.process else { return false }
        return client.descends(from: process)
    }
}
