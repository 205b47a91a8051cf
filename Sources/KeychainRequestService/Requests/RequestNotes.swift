// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainAccessControl
internal import KeychainLocalSocket
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainSecrets
internal import Synchronization

/// What is learnt of a request on its way, for the audit and for the explanation of a refusal: that
/// is one word, and this is the rest.
package final class RequestNotes: Sendable {
    private static let mostRules = 16
    private static let mostItems = 8

    private struct Noted {
        var rules: [String] = []
        var place: String?
        var items: [String] = []
        var wantsFullAudit = false
        var trust: String?
        var judged: Judged?
        var stranger: (request: PolicyRequest, judge: Judge)?
    }
    /// The first of what was judged, or the first that was refused.
    private struct Judged {
        let subject: Subject
        let isDenied: Bool
        let judge: Judge
    }
    private enum Subject {
        case item(AccessRequest, Evidence)
        case login(LoginUnlock)
    }
    let began = ContinuousClock.now
    private let noted = Mutex(Noted())

    package init() {}

    /// The ids of the rules that made it so.
    package var rules: [String] { noted.withLock { $0.rules } }

    /// The same for people: the first of them with its place.
    package var words: [String] {
        noted.withLock { noted in
            guard let first = noted.rules.first, let place = noted.place else { return noted.rules }
            return ["\(first) (\(place))"] + noted.rules.dropFirst()
        }
    }

    /// What an item's list of programs had to do with it: `listed`, what the user chose, or how the
    /// list was changed.
    var trust: String? { noted.withLock { $0.trust } }

    func note(trust word: String) { noted.withLock { $0.trust = word } }

    /// Fingerprints of the first items that were concerned.
    var items: [String] { noted.withLock { $0.items } }
    /// A rule wants a line for each request.
    var wantsFullAudit: Bool { noted.withLock { $0.wantsFullAudit } }

    func note(rules: [String], first place: String? = nil) {
        noted.withLock { noted in
            if noted.place == nil { noted.place = place }
            for rule in rules
            where !noted.rules.contains(rule) && noted.rules.count < Self.mostRules {
                noted.rules.append(rule)
            }
        }
    }

    func note(
        _ request: AccessRequest, _ evidence: Evidence, _ isDenied: Bool, _ judge: Judge
    ) {
        note(Judged(subject: .item(request, evidence), isDenied: isDenied, judge: judge))
    }

    func note(_ login: LoginUnlock, isDenied: Bool, _ judge: Judge) {
        note(Judged(subject: .login(login), isDenied: isDenied, judge: judge))
    }

    private func note(_ judged: Judged) {
        noted.withLock { noted in
            guard noted.judged.map({ judged.isDenied && !$0.isDenied }) ?? true else { return }
            noted.judged = judged
        }
    }

    /// The caller asked for items of a group that it is not let into, so that none was judged.
    func note(stranger item: PolicyFacts, _ operation: PolicyOperation, _ judge: Judge) {
        guard !judge.policy.isEmpty else { return }
        var facts = item
        facts[.member] = .known(false)
        let request = PolicyRequest(operation, facts: facts, day: LocalTime.now.day)
        noted.withLock { $0.stranger = (request, judge) }
    }

    /// What the policy made of it, with the facts that it rests on. Names of items are in it only
    /// where a rule wants all to be told.
    ///
    /// `facts` are those that the policy did not ask for: who reads the record may.
    func account(
        completedBy facts: () -> PolicyFacts = { PolicyFacts() }
    ) -> (request: PolicyRequest, decision: PolicyDecision)? {
        let (judged, stranger, isFull) = noted.withLock {
            ($0.judged, $0.stranger, $0.wantsFullAudit)
        }
        if judged == nil, case (var request, let judge)? = stranger {
            request.facts = request.facts.completed(by: facts())
            return (request.withoutNames, judge.policy.decision(on: request))
        }
        guard let judged else { return nil }
        let known =
            switch judged.subject {
            case .item(let request, let evidence): judged.judge.account(of: request, evidence)
            case .login(let login): judged.judge.account(of: login)
            }
        guard let account = known else { return nil }
        var request = account.request
        request.facts = request.facts.completed(by: facts())
        let isTold = isFull || account.decision.audit == .full
        return (isTold ? request : request.withoutNames, account.decision)
    }

    /// A rule on trial would have had it otherwise.
    var isComplainedOf: Bool {
        guard noted.withLock({ $0.judged?.judge.hasPermissiveRules }) == true else { return false }
        return account()?.decision.wouldDecide != nil
    }

    /// What was granted, and by which rule where it was one.
    func note(_ grant: borrowing Grant) {
        if let rule = grant.because { note(rules: [rule]) }
        let (item, wantsFullAudit) = (grant.reference, grant.wantsFullAudit)
        noted.withLock { noted in
            if wantsFullAudit { noted.wantsFullAudit = true }
            guard noted.items.count < Self.mostItems else { return }
            let hash = KeyedHash.fingerprint(item.bytes, count: 16).prefix(8)
            noted.items.append(hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
    }
}
