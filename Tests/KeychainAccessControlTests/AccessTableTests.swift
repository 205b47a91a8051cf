// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainModel
import Testing

@testable import KeychainAccessControl
@testable import KeychainPolicyEngine
@testable import KeychainPolicyModel

/// Every combination of flags, states of the keychain, proofs and calls, against what the
/// specification says of it in plain words (docs/secitem.md, Interaction with the item calls).
@Suite struct AccessTableTests {
    /// What the user proved before, and how it relates to this request.
    enum Proven: CaseIterable {
        case nothing, presence, passcode, biometry, biometryAndPasscode, companion
        case passcodeLongAgo, passcodeInOtherProcess, passcodeInOtherContext

        var evidence: Evidence {
            switch self {
            case .nothing: Evidence()
            case .presence: proven(.presence)
            case .passcode: proven(.passcode)
            case .biometry: proven(.biometry)
            case .biometryAndPasscode: proven(.biometry, .passcode)
            case .companion: proven(.companion)
            case .passcodeLongAgo: Self.passcode(.minutes(10), .operation)
            // Another process of the session; another context of the same process.
            case .passcodeInOtherProcess: Self.passcode(.zero, .session)
            case .passcodeInOtherContext: Self.passcode(.zero, .process)
            }
        }

        private static func passcode(_ age: PolicyDuration, _ scope: Freshness) -> Evidence {
            Evidence([PolicyProof(.factor(.passcode), age: age, scope: scope)])
        }

        /// The factors that count here and now.
        var fresh: Set<PolicyFactor> {
            switch self {
            case .presence: [.presence]
            case .passcode: [.passcode]
            case .biometry: [.biometry]
            case .biometryAndPasscode: [.biometry, .passcode]
            case .companion: [.companion]
            default: []
            }
        }
    }

    /// What the machine and its user have.
    enum Machine: CaseIterable {
        case passwordOnly, withReader, withReaderEnrolledAnew, withEverything

        var provable: Set<PolicyFactor> {
            switch self {
            case .passwordOnly: [.presence, .passcode]
            case .withReader, .withReaderEnrolledAnew: [.presence, .passcode, .biometry]
            case .withEverything: [.presence, .passcode, .biometry, .companion]
            }
        }
        var biometryIsCurrent: Bool { self != .withReaderEnrolledAnew }
    }

    struct Row {
        let flags: AccessControlFlags
        let protection: Accessibility
        let state: KeychainState
        let proven: Proven
        let machine: Machine
        let operation: ItemOperation
        let mayAsk: Bool

        enum Word: Equatable {
            case allow, challenge, interactionNotAllowed, impossible, locked, gone
        }

        /// In the order of the specification: the class, what the flags ask for, whether the user
        /// may be asked.
        var expected: Word {
            if operation == .delete { return .allow }
            if protection == .whenPasscodeSetThisDeviceOnly, state.facts.isPasscodeSet != true {
                return .gone
            }
            if !isOpen { return .locked }
            if flags.contains(.privateKeyUsage) { return .impossible }
            if operation == .encrypt {
                return members.isEmpty || canBeMet([]) ? .allow : .impossible
            }
            if members.isEmpty || isMet(proven.fresh) { return .allow }
            if !canBeMet(proven.fresh) { return .impossible }
            return mayAsk ? .challenge : .interactionNotAllowed
        }

        private var isOpen: Bool {
            switch protection.availability {
            case .always: true
            case .afterFirstUnlock: state.facts.wasUnlockedSinceBoot
            case .whileUnlocked: state.facts.isUnlocked
            }
        }
        private var members: [AccessControlFlags] {
            [.userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet, .companion]
                .filter(flags.contains)
        }
        /// With what was proven, and what could be.
        private func canBeMet(_ proven: Set<PolicyFactor>) -> Bool {
            state.facts.isPasscodeSet == true && isMet(machine.provable.union(proven))
        }

        private func isMet(_ factors: Set<PolicyFactor>) -> Bool {
            let met = members.map { member in
                switch member {
                case .userPresence: !factors.isEmpty
                case .devicePasscode: factors.contains(.passcode)
                case .biometryAny: factors.contains(.biometry)
                case .biometryCurrentSet: machine.biometryIsCurrent && factors.contains(.biometry)
                default: factors.contains(.companion)
                }
            }
            return flags.contains(.or) ? met.contains(true) : !met.contains(false)
        }
    }

    private static let allFlags: [AccessControlFlags] = {
        let bits: [AccessControlFlags] = [
            .userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet, .companion, .or,
            .and,
            .privateKeyUsage, .applicationPassword,
        ]
        return (0..<(1 << bits.count)).map { mask in
            bits.enumerated().reduce(into: []) { flags, bit in
                if mask & (1 << bit.offset) != 0 { flags.formUnion(bit.element) }
            }
        }
    }()

    private static let reference = ItemReference(
        itemClass: .genericPassword, identifier: [UInt8](repeating: 3, count: 16))!

    private static func judged(
        _ row: Row, _ rights: ItemAccessControl, _ judge: Judge
    ) -> Row.Word? {
        let request = AccessRequest(
            AccessRequest.Circumstances(
                row.operation, as: .readSecret, callerGroups: ["mine"], keychain: row.state.facts,
                mayAsk: row.mayAsk, provable: Set(row.machine.provable.map { .factor($0) })),
            on: AccessRequest.Item(
                reference: reference, accessGroup: "mine", accessControl: rights,
                biometryIsCurrent: row.machine.biometryIsCurrent))
        switch judge.judge(request, row.proven.evidence) {
        case .allow: return .allow
        case .allowAfter: return .challenge
        case .deny(.interactionNotAllowed): return .interactionNotAllowed
        case .deny(.impossible): return .impossible
        case .deny(.locked): return .locked
        case .deny(.passcodeNotSet): return .gone
        case .deny(.unknownItem): return nil
        case .deny(.forbidden(_, _)): return nil
        }
    }

    @Test(arguments: [
        Accessibility.whenUnlocked, .afterFirstUnlock, .always, .whenPasscodeSetThisDeviceOnly,
    ])
    func `every row of the table is as the specification says`(
        _ protection: Accessibility
    ) throws {
        // A policy that concerns no item here changes nothing.
        let elsewhere = try CompiledPolicy(
            PolicySet(rules: [
                PolicyRule(
                    id: "elsewhere",
                    origin: PolicyOrigin(file: "x.yaml", line: 1, column: 1, level: 0),
                    effect: .forbid("not here"),
                    match: PolicyMatch(
                        PolicyBox([.text(.service, [.literal("no such service")])])))
            ]))
        let (plain, ruled) = (Judge(), Judge(elsewhere))
        var rows = 0
        for flags in Self.allFlags {
            guard let rights = flags.accessControl(protecting: protection) else { continue }
            for state in KeychainState.allCases {
                for proven in Proven.allCases {
                    for machine in Machine.allCases {
                        for operation in [ItemOperation.decrypt, .encrypt, .delete] {
                            for mayAsk in [true, false] {
                                let row = Row(
                                    flags: flags, protection: protection, state: state,
                                    proven: proven, machine: machine, operation: operation,
                                    mayAsk: mayAsk)
                                rows += 1
                                // Some rows under that policy: it costs more.
                                let judge = rows % 211 == 0 ? ruled : plain
                                let said = Self.judged(row, rights, judge)
                                if said != row.expected {
                                    Issue.record(
                                        "\(row): \(String(describing: said)), not \(row.expected)")
                                }
                            }
                        }
                    }
                }
            }
        }
        #expect(rows > 50_000)
    }
}
