// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainCommands
internal import KeychainDaemonClient
internal import KeychainMessages
internal import KeychainPolicyModel
internal import PolicyTools
internal import Terminal

struct PolicyFactsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "facts",
        abstract: "Show what the keychain service knows of a process, as a request has it.",
        discussion: """
            The service answers as if the process had asked for something now. Users may ask about \
            their own processes, root about all. Behind a fact that is unknown stands why.
            """)

    @Flag(help: "Write JSON, a request that explain and decide take.")
    var json = false
    @Option(help: "The operation of the request that --json writes.")
    var operation = "read-secret"
    @Argument(help: ArgumentHelp("The process's number.", valueName: "pid"))
    var process: UInt32

    func run() throws {
        let operation = try RequestOperation.named(operation)
        let report = try ServiceFacts.of(process)
        let text = json ? PlainText.json(report.json(operation)) + "\n" : report.yaml
        StandardStream.output.write(json ? text : PlainText.escaped(text))
    }
}

/// The running service's facts for policies.
enum ServiceFacts {
    static func of(_ process: UInt32) throws(CommandFailure) -> SubjectReport {
        let keychain = try service()
        let text: String
        do throws(CommandFailure) {
            text = try keychain.ask(
                Policies(.facts, of: process), to: "learn the facts of process \(process)")
        } catch {
            guard error.isOfAbsence else { throw error }
            throw CommandFailure(
                .notFound, name: "noSuchProcess", "there is no process \(process) of yours",
                advice: "Users may ask about processes with their own rights, root about all.")
        }
        guard let report = SubjectReport(text) else { throw notUnderstood }
        return report
    }

    /// The last request that the service refused to this user; for root, to any user.
    static func lastDenied() throws(CommandFailure) -> AuditRecord {
        let keychain = try service()
        let line: String
        do throws(CommandFailure) {
            line = try keychain.ask(Policies(.lastDenied), to: "learn what was refused")
        } catch {
            guard error.isOfAbsence else { throw error }
            throw CommandFailure(
                .notFound, name: "noRefusal",
                "no request was refused by a policy since the keychain service began",
                advice: "As root, keychainctl audit --denied shows older ones.")
        }
        guard let record = AuditRecord(Array(line.utf8)) else { throw notUnderstood }
        return record
    }

    private static func service() throws(CommandFailure) -> Keychain {
        guard DaemonSocket.ofThisProcess != nil else {
            throw CommandFailure(
                .failure, name: "noService", "the keychain service does not run here",
                advice: "Only the service knows what rules are asked about a program.")
        }
        return Keychain(name: nil, asJSON: false)
    }

    private static var notUnderstood: CommandFailure {
        CommandFailure(
            .failure, name: "notUnderstood", "the keychain service's answer is not understood",
            advice: "Is it of the same version as keychainctl?")
    }
}

enum RequestOperation {
    static func named(_ word: String) throws -> PolicyOperation {
        guard let operation = PolicyOperation(rawValue: word) else {
            throw ValidationError(
                "The operation is one of: "
                    + PolicyOperation.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return operation
    }
}
