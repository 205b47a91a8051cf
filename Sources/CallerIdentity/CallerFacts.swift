// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainModel
package import KeychainPolicyEngine
package import KeychainPolicyModel
internal import Synchronization

/// What policies ask about the program on a connection (docs/policies.md, Subject: who asks). Each
/// fact is taken from the kernel when a policy first asks for it; that the program is still the same
/// is checked before each answer.
package final class CallerFacts: Sendable {
    private let process: PinnedProcess?
    private let label: String?
    private let directory: Directory
    private let known = Mutex((facts: CallerFacts.unread, asked: AskedFacts.none))
    /// The digest is unknown until it is asked for, and the program read.
    private static let unread: PolicyFacts = {
        var facts = PolicyFacts()
        facts[.digest] = .unknown
        return facts
    }()
    /// What one policy lets the caller know of.
    private let reached = Mutex<(checksum: UInt64, reach: [Reaching: VisibleGroups])>((0, [:]))

    /// The texts among the facts in the numbers of the policy that judged last.
    private let numbered = Mutex<NumberedTexts?>(nil)

    private struct Reaching: Hashable {
        let operation: PolicyOperation
        let byNameAlone: Bool
    }

    /// Whom the machine knows.
    package struct Directory: Sendable {
        package let accounts: AccountNames
        /// Names of all groups of an account, and of one group; nil where it can't be told.
        package let groups: @Sendable (String) -> [String]?
        package let group: @Sendable (UInt32) -> String?
        package let names: NameGuard
        let digests = ExecutableDigests()

        package init(
            accounts: AccountNames, groups: @escaping @Sendable (String) -> [String]?,
            group: @escaping @Sendable (UInt32) -> String?, names: NameGuard
        ) {
            self.accounts = accounts
            self.groups = groups
            self.group = group
            self.names = names
        }
    }

    package init(_ process: PinnedProcess?, label: String?, _ directory: Directory) {
        self.process = process
        self.label = label
        self.directory = directory
    }

    package func facts(of caller: Caller, _ asked: AskedFacts) -> PolicyFacts {
        var (facts, known) = known.withLock { $0 }
        let missing = asked.subtracting(known)
        if missing != .none {
            add(missing, of: caller, to: &facts)
            self.known.withLock { $0 = (facts, known.union(asked)) }
        }
        return facts
    }

    /// The texts among the facts in the policy's numbers, which stay the same for a connection.
    package func numbered(_ facts: PolicyFacts, under policy: CompiledPolicy) -> NumberedTexts {
        if let kept = numbered.withLock({ $0 }), kept.hold(for: facts, under: policy) {
            return kept
        }
        let new = policy.number(facts)
        numbered.withLock { $0 = new }
        return new
    }

    /// The names of the groups that the program has now. The account database, which tells them, is
    /// asked when they are called for.
    package func groupsToTell(of caller: Caller) -> @Sendable () -> Fact<[PolicyText]> {
        let known = known.withLock { $0.asked.contains(.group) ? $0.facts[.group] : nil }
        if let known { return { known } }
        let numbers = process?.groups()
        return { [self] in
            let groups = groups(of: caller, numbers)
            self.known.withLock { known in
                guard !known.asked.contains(.group) else { return }
                known.facts[.group] = groups
                known.asked = known.asked.union(.groups)
            }
            return groups
        }
    }

    private func add(_ asked: AskedFacts, of caller: Caller, to facts: inout PolicyFacts) {
        facts.uid = .known(caller.user)
        facts[.tty] = .known(caller.terminal != nil)
        facts[.label] = SecurityLabel.domain(label).map { .known([PolicyText($0)]) } ?? .absent
        if asked.contains(.user) {
            facts[.user] = fact(directory.accounts.name(of: caller.user))
        }
        if asked.contains(.group) { facts[.group] = groups(of: caller, process?.groups()) }
        if asked.contains(.exe) || asked.contains(.app) || asked.contains(.trustedExe) {
            addProgram(to: &facts, caller)
        }
        if [TextField.unit, .slice, .userUnit].contains(where: asked.contains) {
            addControlGroup(to: &facts, caller)
        }
        // Reading a program costs more than all the rest.
        if asked.contains(.digest) {
            facts[.digest] = fact(process.flatMap(directory.digests.digest))
        }
    }

    package func reach(
        _ policy: CompiledPolicy, _ caller: Caller, for operation: PolicyOperation,
        byNameAlone: Bool
    ) -> VisibleGroups {
        if policy.isEmpty { return VisibleGroups() }
        let reaching = Reaching(operation: operation, byNameAlone: byNameAlone)
        let kept = reached.withLock { kept in
            kept.checksum == policy.checksum ? kept.reach[reaching] : nil
        }
        if let kept { return kept }
        let reach = policy.reach(
            facts(of: caller, policy.asked), for: operation, byNameAlone: byNameAlone)
        reached.withLock { kept in
            if kept.checksum != policy.checksum { kept = (policy.checksum, [:]) }
            kept.reach[reaching] = reach
        }
        return reach
    }

    private func fact(_ text: String?) -> Fact<[PolicyText]> {
        text.map { .known([PolicyText($0)]) } ?? .unknown
    }

    private func groups(of caller: Caller, _ own: [UInt32]?) -> Fact<[PolicyText]> {
        guard let account = directory.accounts.name(of: caller.user),
            let named = directory.groups(account), let own
        else { return .unknown }
        var names = Set(named)
        for group in own {
            guard let name = directory.group(group) else { return .unknown }
            names.insert(name)
        }
        return .known(names.map { PolicyText($0) })
    }

    private func addProgram(to facts: inout PolicyFacts, _ caller: Caller) {
        switch caller.identity {
        case .trustedExecutable(let path), .executable(let path):
            facts[.exe] = .known([PolicyText(path)])
        case .label(let name) where name.hasPrefix("snap:"):
            facts[.app] = .known([PolicyText(name)])
            facts[.exe] = .unknown
        default:
            let path = process?.executable().flatMap { TrustedPath.namesSameFile($0) ? $0 : nil }
            let mayTell = process?.sharesOurNamespaces() ?? false
            facts[.exe] = mayTell ? fact(path?.path) : .unknown
        }
        if case .trustedExecutable = caller.identity {
            facts[.trustedExe] = .known(true)
        } else if facts[.exe] == .unknown {
            facts[.trustedExe] = .unknown
        } else {
            let executable = process?.executable()
            facts[.trustedExe] = executable.map { .known(TrustedPath.isTrusted($0)) } ?? .unknown
        }
    }

    private func addControlGroup(to facts: inout PolicyFacts, _ caller: Caller) {
        guard let process, let group = process.cgroup().flatMap(ControlGroup.init) else {
            for field in [TextField.unit, .slice, .userUnit] { facts[field] = .unknown }
            return
        }
        facts[.unit] = .absent
        if let unit = group.unit {
            let isGuarded = directory.names.guards(unit: unit, of: caller.user) {
                CallerResolver.runsRootsFile(process)
            }
            facts[.unit] = isGuarded ? .known([PolicyText(unit)]) : .unknown
        }
        facts[.slice] = group.slice.map { .known([PolicyText($0)]) } ?? .absent
        facts[.userUnit] = group.userUnit.map { .known([PolicyText($0)]) } ?? .absent
    }
}

/// The systemd units and the slice in the path of a control group.
struct ControlGroup {
    /// Of the system's own manager; nil for what starts other people's programs.
    var unit: String? { SystemUnit.name(lines) }
    /// The system's own: below the first unit every user can make a name.
    var slice: String? { slices.last }
    /// Of a user's manager, where every program of the user's can make a name.
    let userUnit: String?

    /// From the top.
    let slices: [String]
    let unitBelowSlices: String?
    private let lines: [UInt8]

    /// nil where the lines name no unified hierarchy.
    init?(_ lines: [UInt8]) {
        let text = String(decoding: lines, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return nil }
        let parts = line.dropFirst("0::/".count).split(separator: "/").map(String.init)
        self.lines = lines
        slices = Array(parts.prefix { $0.hasSuffix(".slice") })
        unitBelowSlices = parts.dropFirst(slices.count).first
        let manager = parts.firstIndex { $0.hasPrefix("user@") && $0.hasSuffix(".service") }
        userUnit = manager.flatMap { place in
            // Safe: the place is one of the parts.
            parts[(place + 1)...].last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
        }
    }
}
