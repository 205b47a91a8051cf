// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainLinuxSystem
package import KeychainModel
internal import KeychainPolicyEngine
package import KeychainPolicyModel
internal import KeychainSecrets
internal import Synchronization

/// The facts learnt of a request on its way, for the audit and for the explanation of a refusal:
/// the refusal itself is one code.
package final class RequestNotes: Sendable {
    private static let mostRules = 16

    private struct Noted {
        var rules: [String] = []
        var place: String?
        /// The first items; the other places are nil.
        var items = InlineArray<8, ItemReference?>(repeating: nil)
        var itemCount = 0
        var wantsFullAudit = false
        var trust: String?
        var proven = Evidence()
        var steps: [Step] = []
        var hasChanged = false
        var unlookedUI: ItemQuery.AuthenticationUI?
        var judged: Judged?
        var stranger: (request: PolicyRequest, judge: Judge)?
        var recordedElsewhere: [RequestError?] = []

        /// Keeps the judgement in place of one that weighs less, which is handed back.
        mutating func keep(_ new: inout Judged?) {
            let known = judged?.isDenied
            if known == nil || known == false && new?.isDenied == true { swap(&judged, &new) }
        }
    }
    /// The first request that was judged, or the first that was refused.
    private struct Judged: Sendable {
        let subject: Subject
        let isDenied: Bool
        let judge: Judge
    }
    private enum Subject {
        case item(AccessRequest, Evidence)
        case login(LoginUnlock)
    }
    /// Another operation that was done on the way.
    package struct Step: Sendable {
        package let operation: AuditLog.Operation
        package let refusal: RequestError?
    }
    let began = BootTime.now
    private let noted = Mutex(Noted())

    /// Where a caller's question would be shown: a display, or one terminal.
    package typealias PromptPlaces = @Sendable (Caller) -> String

    private let asker: (caller: Caller, places: PromptPlaces)?

    /// Without an asker no question can be shown.
    package init(of asker: (caller: Caller, places: PromptPlaces)? = nil) { self.asker = asker }

    /// Where a question about the request would be shown. Looked up only where a question would be
    /// asked.
    package var promptPlace: String { asker.map { $0.places($0.caller) } ?? "" }

    /// The ids of the rules that decided.
    package var rules: [String] { noted.withLock { $0.rules } }

    /// The rules for people: the first of them with its place.
    package var words: [String] {
        noted.withLock { noted in
            guard let first = noted.rules.first, let place = noted.place else { return noted.rules }
            return ["\(first) (\(place))"] + noted.rules.dropFirst()
        }
    }

    /// The revision of the policies that judged it.
    package var revision: PolicyRevision? {
        noted.withLock { $0.judged?.judge.revision ?? $0.stranger?.judge.revision }
    }

    /// The part that an item's list of programs played: `listed`, the user's choice, or the change
    /// of the list.
    package var trust: String? { noted.withLock { $0.trust } }

    package func note(trust word: String) { noted.withLock { $0.trust = word } }

    /// The proofs that the user gave to the request's questions, each method once.
    package var proven: Evidence { noted.withLock { $0.proven } }

    package func note(proven evidence: Evidence) {
        noted.withLock { noted in
            let known = noted.proven.proofs.map(\.method)
            let new = evidence.proofs.filter { !known.contains($0.method) }
            noted.proven = noted.proven.adding(Evidence(new))
        }
    }

    package func note(step operation: AuditLog.Operation, _ error: RequestError?) {
        noted.withLock { $0.steps.append(Step(operation: operation, refusal: error)) }
    }

    /// The steps noted since the last call.
    package func takeSteps() -> [Step] {
        noted.withLock { noted in
            guard !noted.steps.isEmpty else { return [] }
            defer { noted.steps = [] }
            return noted.steps
        }
    }

    /// Whether items were changed: a refusal of the rest of the request does not undo that.
    package var hasChanged: Bool { noted.withLock { $0.hasChanged } }

    package func noteChange() { noted.withLock { $0.hasChanged = true } }

    /// Notes that the process that has the machine's keychain open keeps a record of the request
    /// with this outcome: it has judged the request, and alone can tell why.
    package func noteRecordElsewhere(of outcome: RequestError?) {
        noted.withLock { noted in
            if !noted.recordedElsewhere.contains(outcome) {
                noted.recordedElsewhere.append(outcome)
            }
        }
    }

    package func isRecordedElsewhere(_ outcome: RequestError?) -> Bool {
        noted.withLock { $0.recordedElsewhere.contains(outcome) }
    }

    /// Set where the request was judged without looking up whether the user can be asked. A record
    /// tells that too, and looks it up then.
    package var unlookedUI: ItemQuery.AuthenticationUI? { noted.withLock { $0.unlookedUI } }

    package func note(unlooked ui: ItemQuery.AuthenticationUI) {
        noted.withLock { $0.unlookedUI = ui }
    }

    /// Fingerprints of the first items concerned.
    package var items: [String] {
        let items = noted.withLock { $0.items }
        return items.indices.compactMap { place in
            items[place].map {
                KeyedHash.fingerprint($0.bytes, count: 16).prefix(8).hexadecimal
            }
        }
    }
    /// Whether a rule wants a record for each request.
    package var wantsFullAudit: Bool { noted.withLock { $0.wantsFullAudit } }

    package func note(rules: [String], first place: String? = nil) {
        noted.withLock { noted in
            if noted.place == nil { noted.place = place }
            for rule in rules
            where !noted.rules.contains(rule) && noted.rules.count < Self.mostRules {
                noted.rules.append(rule)
            }
        }
    }

    package func note(
        _ request: consuming AccessRequest, _ evidence: consuming Evidence, _ isDenied: Bool,
        _ judge: Judge
    ) {
        var judged: Judged? = Judged(
            subject: .item(request, evidence), isDenied: isDenied, judge: judge)
        noted.withLock { $0.keep(&judged) }
    }

    package func note(_ login: LoginUnlock, isDenied: Bool, _ judge: Judge) {
        var judged: Judged? = Judged(subject: .login(login), isDenied: isDenied, judge: judge)
        noted.withLock { $0.keep(&judged) }
    }

    /// Notes that the caller asked for items of a group that is closed to it, so that no item was
    /// judged.
    package func note(stranger item: PolicyFacts, _ operation: PolicyOperation, _ judge: Judge) {
        guard !judge.policy.isEmpty else { return }
        var facts = item
        facts[.member] = .known(false)
        let request = PolicyRequest(operation, facts: facts, day: LocalTime.now.day)
        noted.withLock { $0.stranger = (request, judge) }
    }

    /// The policy's decision on the request, with the facts that it rests on. Names of items are
    /// included only where a rule wants a full record.
    ///
    /// `facts` are those that the policy did not ask for: readers of the record may need them.
    package func account(
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

    /// Whether a permissive rule would have decided otherwise.
    var isComplainedOf: Bool {
        guard noted.withLock({ $0.judged?.judge.hasPermissiveRules }) == true else { return false }
        return account()?.decision.wouldDecide != nil
    }

    /// Notes a grant, and the rule that allowed it, if there was one.
    package func note(_ grant: borrowing Grant) {
        if let rule = grant.because { note(rules: [rule]) }
        let (item, wantsFullAudit) = (grant.reference, grant.wantsFullAudit)
        noted.withLock { noted in
            if wantsFullAudit { noted.wantsFullAudit = true }
            guard noted.itemCount < noted.items.count else { return }
            noted.items[noted.itemCount] = item
            noted.itemCount += 1
        }
    }
}
