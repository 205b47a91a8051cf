// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import KeychainModel
package import KeychainPolicyEngine
internal import KeychainPolicyModel

/// A process taken as the subject of a request that it does not make: the facts that rules would
/// ask about it, and the reasons why some are unknown (`keychainctl policy facts`).
///
/// The facts come from the same sources as for programs that make requests.
package struct ProcessSubject {
    private let process: PinnedProcess
    private let parts: ProcessFacts
    private let caller: Caller
    private let callerFacts: CallerFacts
    private let session: SessionAttributes
    private let label: SecurityLabel
    /// nil where the control group can't be read.
    private let controlGroup: ControlGroup?

    /// A user may ask about their own processes, which have no more rights than the user; root
    /// about all. For another user's process the answer is the same as for none.
    package init(
        _ id: UInt32, for user: UInt32, _ resolver: CallerResolver,
        _ directory: CallerFacts.Directory
    ) throws(RequestError) {
        guard let id = Int32(exactly: id), let process = PinnedProcess(pid: id, pidfd: nil),
            let credentials = process.credentials(),
            user == 0 || (credentials.effectiveUser == user && !credentials.hasForeignRights),
            // Looked at before the name is resolved, as for a connection.
            let parts = ProcessFacts(process, resolver.looks)
        else { throw .state(.notFound) }
        self.process = process
        self.parts = parts
        label = process.securityLabel()
        caller = resolver.resolve(
            process, id, running: parts.program, of: credentials.effectiveUser, label: label)
        callerFacts = CallerFacts(
            process, running: parts.program, in: process.groups(), label: label, directory)
        session = resolver.sessionAttributes(
            caller, process, runsRootsFile: parts.runsRootsFile)
        controlGroup = process.cgroup().flatMap(ControlGroup.init)
    }

    /// Lines with the facts of subject and circumstances as requests have them, the program's own
    /// access groups, and the reasons for unknown facts.
    package func words(askedBy policy: CompiledPolicy) throws(RequestError) -> String {
        let asked = AskedFacts.told.union(policy.asked)
        var facts = callerFacts.facts(of: caller, asked)
        session.add(asked, to: &facts)
        // The process may run another program by now.
        guard parts.hold() else { throw .state(.notFound) }
        var lines = [PolicyBlock.subject, .environment].compactMap { block in
            facts.json(block).map { "\(block.rawValue) \($0)" }
        }
        let groups = callerFacts.atHome(caller, policy).accessGroups
        lines += groups.map { "access-group \(JSONText($0))" }
        lines += unknown(facts).map { "unknown \($0.name) \($0.reason)" }
        return lines.joined(separator: "\n")
    }

    // MARK: Reasons

    private func unknown(_ facts: PolicyFacts) -> [(name: String, reason: String)] {
        let texts = TextField.ofSubject.filter { facts[$0] == .unknown }.map {
            (path($0), reason($0))
        }
        let choices = ChoiceField.allCases.filter { facts[$0] == .unknown }.map {
            (path($0), ofLogin)
        }
        let booleans = BooleanField.allCases.filter { facts[$0] == .unknown }.map {
            (path($0), $0 == .trustedExe ? ofProgram : ofLogin)
        }
        let ages = AgeField.allCases.filter { facts[$0] == .unknown }.map { (path($0), ofLogin) }
        return texts + choices + booleans + ages
    }

    private func path(_ field: some PolicyField) -> String {
        "\(field.block.rawValue).\(field.name)"
    }

    private func reason(_ field: TextField) -> String {
        switch field {
        case .user: "the account database has no name for the user's number"
        case .group: "the account database does not tell all of its groups"
        case .exe: ofProgram
        case .digest: "no rule in force asks for it, or the program's file can't be read"
        case .unit where controlGroup != nil:
            "other programs of its user could take over the unit's name"
        case .unit, .slice, .userUnit: "its control group can't be read"
        case .label where label != .unreadable:
            "its AppArmor profile is not enforced, and confines nothing"
        default: "it could not be established"
        }
    }

    private var ofProgram: String {
        let program = parts.program
        guard program.executable != nil else {
            return "the program's file was deleted or replaced, or can't be read"
        }
        if !program.isAtItsPath { return "its path leads to another file now" }
        if !program.isInOurNamespaces {
            return "it is in a container or sandbox, where paths mean other files"
        }
        return "it is known by another name"
    }

    private var ofLogin: String {
        if caller.session != nil { return "the login manager does not tell" }
        if let lines = process.cgroup(), ServiceManager.ran(lines, for: caller.user) {
            return
                "its user's service manager started it, and the user's logins differ or there is none"
        }
        return "it belongs to no login that the keychain service knows, and to no system service"
    }
}
