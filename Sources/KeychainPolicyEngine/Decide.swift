// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

/// A decision in the form that the daemon takes for every request: without lists, and without
/// allocation.
public struct PolicyRuling: Sendable, Hashable {
    public var outcome: PolicyOutcome
    /// The statement that decided, the first by id of several: the first of
    /// `PolicyDecision.because`.
    public var lead: Int?
    public var audit: AuditLevel
    /// The attributes left out, as bits; `CompiledPolicy.attributes` names them.
    public var redactions: UInt64
    public var wouldDecide: PolicyOutcome?
}

extension CompiledPolicy {
    /// Decides without allocating. `decision` also tells the proofs that are needed.
    public func decide(_ request: borrowing AdmittedRequest) -> PolicyRuling {
        // Facts that another policy numbered are invalid here.
        guard request.checksum == checksum else {
            return PolicyRuling(outcome: .deny, audit: .full, redactions: .max)
        }
        let words = image.words.span
        var accumulator = DecisionAccumulator(self, day: request.day, withPermissive: false)
        accumulate(request, words, &accumulator)
        var ruling = accumulator.ruling(request)
        guard accumulator.metPermissive else { return ruling }
        accumulator = DecisionAccumulator(self, day: request.day, withPermissive: true)
        accumulate(request, words, &accumulator)
        let wouldDecide = accumulator.ruling(request).outcome
        if wouldDecide != ruling.outcome {
            ruling.wouldDecide = wouldDecide == .interactionNotAllowed ? .challenge : wouldDecide
        }
        return ruling
    }

    @inline(__always)
    private func accumulate(
        _ request: borrowing AdmittedRequest, _ words: Span<UInt32>,
        _ accumulator: inout DecisionAccumulator
    ) {
        accumulate(request.facts, request.operation, words, &accumulator)
        if request.exports { accumulate(request.facts, .export, words, &accumulator) }
        for before in request.before {
            accumulate(before, request.operation, words, &accumulator)
        }
    }

    private func accumulate(
        _ facts: borrowing AdmittedFacts, _ operation: PolicyOperation, _ words: Span<UInt32>,
        _ accumulator: inout DecisionAccumulator
    ) {
        if facts.words.isSpilled {
            accumulate(facts, operation, words, facts.words.spilled.span, &accumulator)
        } else {
            accumulate(facts, operation, words, facts.words.inline.span, &accumulator)
        }
    }

    private func accumulate(
        _ facts: borrowing AdmittedFacts, _ operation: PolicyOperation, _ words: Span<UInt32>,
        _ numbers: Span<UInt32>, _ accumulator: inout DecisionAccumulator
    ) {
        let view = view(facts, operation, words, numbers)
        accumulator.begin(isMember: view.isMember, isLetIn: facts.isLetIn)
        if let deciding {
            traversal.visit(node: deciding, view, words, numbers, &accumulator)
        }
        if let permitting, accumulator.wantsPermits {
            traversal.visit(node: permitting, view.granting, words, numbers, &accumulator)
        }
        if let sharing, accumulator.wantsShares {
            traversal.visit(node: sharing, view.granting, words, numbers, &accumulator)
        }
        accumulator.end()
    }

    /// The names of the attributes that a ruling redacts, sorted.
    public func attributes(_ redactions: UInt64) -> [PolicyText] {
        if redactions == 0 { return [] }
        return (0..<image.count(.attributes)).filter { redactions & (1 << UInt64($0)) != 0 }
            .map { image.text(.attributes, $0) }.sorted()
    }
}

/// The decision on a request, built up candidate by candidate. Statements are numbered in the order
/// of their ids, so the lowest number is the one to name; `.max` means none.
struct DecisionAccumulator: CandidateSink {
    private let day: Int32
    private let withPermissive: Bool
    private let statements: Int
    private let redactionSets: Int
    private let demands: DemandReader
    private(set) var metPermissive = false
    private var redactions: UInt64 = 0
    private var audit = AuditLevel.decision
    private var forbid = UInt32.max
    private var require = UInt32.max
    private var unmet = false
    private var reaches = true
    private var isOpen = true
    private var closing = UInt32.max
    private var supporting = UInt32.max
    // One operation on one item.
    private var isMember = true
    private var isLetIn = false
    private var closed = UInt32.max
    private var permit = UInt32.max
    private var share = UInt32.max

    init(_ policy: borrowing CompiledPolicy, day: Int32, withPermissive: Bool) {
        self.day = day
        self.withPermissive = withPermissive
        statements = policy.image.start(.statements)
        redactionSets = policy.image.start(.redactions)
        demands = DemandReader(policy.image)
    }

    mutating func begin(isMember: Bool, isLetIn: Bool) {
        self.isMember = isMember
        self.isLetIn = isLetIn
        closed = .max
        permit = .max
        share = .max
    }

    /// Permits matter only in a closed scope, and shares only to strangers.
    var wantsPermits: Bool { closed != .max && forbid == .max }
    var wantsShares: Bool { !isMember && forbid == .max }

    mutating func end() {
        if !isMember {
            reaches = reaches && (isLetIn || share != .max)
            supporting = min(supporting, share)
        }
        guard closed != .max else { return }
        supporting = min(supporting, permit)
        guard permit == .max else { return }
        isOpen = false
        closing = min(closing, closed)
    }

    @inline(__always)
    func wants(_ head: EntryHead) -> Bool {
        let number = head.statement
        return switch StatementKind(rawValue: head.kind) {
        case .forbid: number < forbid
        case .closed: number < closed && forbid == .max
        case .require: (number < require || !unmet) && forbid == .max
        case .permit: number < permit && forbid == .max
        case .share: number < share && !isMember && forbid == .max
        case .redact: true
        case .audit: audit == .decision
        case .limit, .membership, nil: false
        }
    }

    @inline(__always)
    mutating func take(
        _ head: EntryHead, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) {
        let number = head.statement
        let record = statements + 4 * Int(number)
        if head.isPermissive, !withPermissive, day < Int32(bitPattern: words[record + 2]) {
            metPermissive = true
            return
        }
        switch StatementKind(rawValue: head.kind) {
        case .forbid: forbid = number
        case .closed: closed = number
        case .permit: permit = number
        case .share: share = number
        case .require:
            require = min(require, number)
            unmet = unmet || !demands.isMet(words[record + 1], view.operation, words, facts)
        case .redact:
            let place = redactionSets + 2 * Int(words[record + 1])
            redactions |= UInt64(words[place]) | UInt64(words[place + 1]) << 32
        case .audit: audit = .full
        case .limit, .membership, nil: break
        }
    }

    func ruling(_ request: borrowing AdmittedRequest) -> PolicyRuling {
        var ruling = PolicyRuling(outcome: .deny, audit: audit, redactions: redactions)
        if forbid != .max {
            ruling.lead = Int(forbid)
        } else if !reaches {
            ruling.lead = nil
        } else if !isOpen {
            ruling.lead = Int(closing)
        } else if request.item != .never {
            let needs = unmet || request.item == .unmet
            let asking: PolicyOutcome = request.mayAsk ? .challenge : .interactionNotAllowed
            ruling.outcome = needs ? asking : .allow
            let lead = min(supporting, require)
            ruling.lead = lead == .max ? nil : Int(lead)
        }
        return ruling
    }
}

/// Checks a demand of an image against the evidence of a request.
struct DemandReader {
    private let demands: Int
    private let trees: Int

    init(_ image: PolicyImage) {
        demands = image.start(.demands)
        trees = image.start(.trees)
    }

    func isMet(
        _ number: UInt32, _ operation: PolicyOperation, _ words: Span<UInt32>,
        _ facts: Span<UInt32>
    ) -> Bool {
        let record = demands + 4 * Int(number)
        let scope = words[record + 1]
        let within = Self.wide(record + 2, words)
        let bound =
            Freshness(rawValue: UInt8(truncatingIfNeeded: scope))
            .map { PolicyDemand.bound(operation, $0).milliseconds } ?? 0
        var place = trees + Int(words[record])
        let terms = Terms(scope: scope, within: within, bound: bound)
        return isMet(&place, terms, words, facts)
    }

    /// How recent proofs must be.
    private struct Terms {
        let scope: UInt32
        let within: Int64
        let bound: Int64
    }

    private func isMet(
        _ place: inout Int, _ terms: Terms, _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) -> Bool {
        let head = words[place]
        let value = head >> 3
        place += 1
        switch TreeKind(rawValue: head & 7) {
        case .factor:
            let methods = Self.methods(proving: value)
            return Self.hasProof(terms, terms.within, facts) { method in
                method < ProofMethod.firstService && methods & (1 << method) != 0
            }
        case .pam:
            return Self.hasProof(terms, terms.within, facts) {
                $0 == ProofMethod.firstService + value
            }
        case .pamWithin:
            let own = Self.wide(place, words)
            place += 2
            return Self.hasProof(terms, own, facts) { $0 == ProofMethod.firstService + value }
        case .any: return count(value, &place, terms, words, facts) > 0
        case .all: return count(value, &place, terms, words, facts) == value
        case .atLeast:
            let needed = words[place]
            place += 1
            return count(value, &place, terms, words, facts) >= needed
        case nil: return false
        }
    }

    /// The number of the next trees that are met.
    private func count(
        _ trees: UInt32, _ place: inout Int, _ terms: Terms, _ words: Span<UInt32>,
        _ facts: Span<UInt32>
    ) -> UInt32 {
        var met: UInt32 = 0
        for _ in 0..<trees where isMet(&place, terms, words, facts) { met += 1 }
        return met
    }

    /// The factors, as bits, that prove the factor of that number.
    private static func methods(proving factor: UInt32) -> UInt32 {
        switch factor {
        case 0: 0b10_1111
        case 2: 0b00_1100
        default: 1 << factor
        }
    }

    /// Whether a proof within the scope is by such a method and no older than both limits. The
    /// proofs come after the last dimension's facts.
    @inline(__always)
    private static func hasProof(
        _ terms: Terms, _ within: Int64, _ facts: Span<UInt32>, by method: (UInt32) -> Bool
    ) -> Bool {
        var place = Int(facts[Dimension.count])
        let end = Int(facts[AdmittedFacts.proofEnd])
        while place < end {
            if facts[place + 3] <= terms.scope, method(facts[place]),
                wide(place + 1, facts) <= min(within, terms.bound)
            {
                return true
            }
            place += AdmittedFacts.proofLength
        }
        return false
    }

    private static func wide(_ place: Int, _ words: Span<UInt32>) -> Int64 {
        Int64(bitPattern: UInt64(words[place]) | UInt64(words[place + 1]) << 32)
    }
}
