// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMessageSamples
import KeychainMessages
import KeychainModel
import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainPolicyGenerators
import KeychainPolicyModel
import KeychainSecrets

@testable import KeychainItemStore

/// What each reader takes, as it is written now: where the fuzzers begin.
enum Seeds {
    /// A file each, in a folder of the target's name.
    static func write(to folder: String) throws {
        for target in FuzzTarget.allCases {
            let place = folder + "/" + target.rawValue
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: true)
            for (number, input) in try inputs(target).enumerated() {
                try Data(input).write(to: URL(filePath: "\(place)/seed-\(number)"))
            }
        }
    }

    static func inputs(_ target: FuzzTarget) throws -> [[UInt8]] {
        switch target {
        case .clientMessages:
            Samples.clientMessages.map { $0.encoded() }.map { Messages.input($0.0, $0.1) }
        case .serverMessages:
            Samples.serverMessages.map { $0.encoded() }.map { Messages.input($0.0, $0.1) }
        case .frames:
            [
                Frames.input([([], [])]), Frames.input([([1, 2, 3], [])]),
                Frames.input([([1], [2, 3]), ([], [4]), ([5], [])]),
                Frames.input([
                    ([UInt8](repeating: 1, count: 2048), [UInt8](repeating: 2, count: 64))
                ]),
            ]
        case .loginFrames: loginFrames
        case .keychainRecords: try keychainRecords()
        case .keychainFile:
            // Whole; whole and restored; a byte of one sealed record changed.
            [[0], [1], [0, 0x00, 0x7F, 0x00, 1, 0xFF], [1, 0x00, 0x7F, 0x00, 1, 0xFF]]
        case .keychainRows: [try ForeignRows.seed()]
        case .policyImage: try policyImages()
        case .yaml, .policies: policies.map { Array($0.utf8) }
        case .editors: Editors.seeds
        case .helperRequests: HelperRequests.seeds
        case .imports: Imports.seeds
        case .busCalls: BusCalls.seeds
        }
    }

    /// As in pam-module/frame: a header, and what a request is made of.
    private static var loginFrames: [[UInt8]] {
        (UInt8(1)...5).map { verb in
            let texts = ["alice", "sshd", "ssh", "c1"].map { Array($0.utf8) }
            let passwords: [[UInt8]] =
                verb == 4 ? [[1, 2], [3]] : verb == 3 ? [[1, 2], []] : [[], []]
            let flags: UInt8 = verb == 4 ? 6 : verb == 3 ? 2 : 0
            var body = [UInt8](repeating: 1, count: 16) + [flags, 0]
            for field in texts + passwords { body += [UInt8(field.count), 0] + field }
            return [0x4B, 0x43, 0x46, 0x4C, 1, 0, verb, 0, UInt8(body.count), 0, 0, 0] + body
        }
    }

    private static func keychainRecords() throws -> [[UInt8]] {
        func input(_ kind: KeychainRecords.Kind, _ bytes: [UInt8]) -> [UInt8] {
            [kind.rawValue] + bytes
        }
        let item = Samples.item
        let record = AttributeRecord(
            attributes: [
                .service: .string("mail"), .account: .data([0, 255]), .port: .number(-1),
                .label: .string(""), AttributeName(rawValue: "date"): .date(1.5),
                AttributeName(rawValue: "real"): .real(0.5),
            ],
            group: "exe:/usr/bin/mail", isSynchronizable: true, hasSecret: true, created: 1,
            modified: 2, accessControl: Samples.rights, trusted: item.trusted)
        let plain = ItemAccessControl.plain(.whenUnlocked)
        let wrap = [UInt8](repeating: 1, count: SealingKey.byteCount + SealingKey.overhead)
        var protector: [UInt8] = [1, 1] + [UInt8](repeating: 0, count: 8)
        for block in [[], wrap, wrap] { protector.append(block: block) }
        let parameters: [UInt8] = [1, 1, 0, 0, 0, 8, 0, 0, 0] + [UInt8](repeating: 7, count: 16)
        let secret = SecretBytes(copying: Array("s3cret".utf8))
        var joined = JoinedGroups()
        for group in ["desktop-accounts", "exe:/usr/bin/old"] {
            joined.add(
                TrustedApplication(
                    "exe:/usr/bin/new", strength: .weak, listedBy: nil, listedAt: 1.5),
                to: group)
        }
        return [
            input(.attributes, try record.encoded()), input(.rights, try Samples.rights.encoded()),
            input(.rights, try plain.encoded()),
            input(.applications, try (item.trusted ?? TrustList([])).encoded()),
            input(.protector, Array("protector:tpm2:0123abcd".utf8) + [0] + protector),
            input(.passwordParameters, parameters), input(.owner, [1, 0, 0, 0, 0x7A]),
            input(.settings, KeychainSettings(lockAfterIdle: 5, lockAfter: 6).bytes),
            input(.padding, try SecretPadding.pad(secret).releasedFromLockedMemory()),
            input(.tokens, TokenList.bytes([1, 2, -1])),
            input(.passwordKeys, parameters + [UInt8](repeating: 1, count: 64)),
            input(.bundle, [UInt8](repeating: 1, count: 97)),
            input(.joined, try joined.encoded()),
        ]
    }

    private static func policyImages() throws -> [[UInt8]] {
        var inputs = try [1, 2, 3, 6].map { rules in
            var world = PolicyGenerator(seed: 7, fields: [.exe, .service])
            return try CompiledPolicy(world.policy(rules: rules)).snapshot
        }
        let source = PolicyBundle.Source(level: 0, name: "10-a.yaml", bytes: [1])
        inputs.append(
            try PolicyBundle(PolicySet(), summary: "none", sources: [source]).bytes)
        return inputs
    }

    private static let policies = [
        "policy: v1\nname: n\n",
        """
        policy: v1
        name: n
        define:
          git: {exe: [/usr/bin/git, /usr/lib/**], trusted-exe: true}
        closed:
          - id: a.closed
            operations: read-secret
            resource: {class: internet-password, server: ["*.example"]}
        rules:
          - id: a.git # a comment
            permit: >
              git reads
              forge tokens.
            operations: [read-secret, export]
            subject: {use: git}
          - id: a.sign
            require: {all: [passcode, {pam: keychain-otp}, {k: 1, of: [presence, confirm]}]}
            within: 15m
            scope: session
            unless:
              - subject: {group: break-glass}

        """,
        """
        policy: v1
        name: n
        rules:
          - id: a.rate
            limit: {rate: 30/1m, by: [user, exe], then: require, require: presence}
            operations: sign
          - id: a.trial
            mode: complain
            expires: "2027-01-31"
            forbid: 'Not here.'
            operations: export
          - {id: a.seen, audit: full, subject: {uid: 1000-2000}}
        assert:
          - id: a.never
            never: {operations: [export], resource: {class: key}}
        tests:
          - name: t
            request: {operation: export, subject: {user: op}, resource: {class: key}}
            each:
              operation: [export, sign]
            expect: {decision: allow, because: []}

        """,
    ]
}
