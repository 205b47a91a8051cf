// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import Terminal

/// One of the program's names, and its work under that name.
protocol Helper: SendableMetatype {
    static var name: String { get }
    static var usage: String { get }

    init(session: HelperSession)
    func run(_ arguments: [String]) throws(HelperFailure)
    /// Reports the failure in the tool's own protocol; false where the protocol has no word for it,
    /// so that a line on standard error reports it.
    func tell(_ failure: HelperFailure) -> Bool
}

extension Helper {
    func tell(_ failure: HelperFailure) -> Bool { false }
}

/// `keychain-credential`: lets git, docker and others store their passwords in the keychain.
///
/// It is one program, installed once for each tool, and the service knows it by the name of that
/// file: so each tool has items of its own.
package enum HelperProgram {
    private static let programName = "keychain-credential"
    private static let helpers: [any Helper.Type] = [
        GitHelper.self, DockerHelper.self, CargoHelper.self, AWSHelper.self, KeyringHelper.self,
        AskpassHelper.self,
    ]

    /// The helper that is called: by the program's name, or as the first argument of its plain
    /// name.
    package struct Call {
        fileprivate let helper: any Helper.Type
        /// The arguments after the helper's name.
        fileprivate let arguments: [String]

        package var name: String { helper.name }

        /// nil where no helper has that name.
        package init?(_ words: [String]) {
            guard let path = words.first else { return nil }
            let name = path.split(separator: "/").last.map(String.init) ?? path
            if let helper = HelperProgram.helpers.first(where: { $0.name == name }) {
                self.helper = helper
                arguments = Array(words.dropFirst())
                return
            }
            guard words.count > 1,
                let helper = HelperProgram.helpers.first(where: { $0.name == words[1] })
            else { return nil }
            self.helper = helper
            arguments = Array(words.dropFirst(2))
        }
    }

    /// Runs the helper, and exits.
    package static func run(_ call: Call, asking endpoint: @escaping HelperSession.Endpoint)
        -> Never
    {
        // The process has passwords in memory. On a kernel without such protection it goes on.
        try? ProcessHardening.apply()
        // A tool that has gone becomes an error of writing.
        signal(SIGPIPE, SIG_IGN)
        exit(status(of: call, HelperSession(call.name, asking: endpoint)))
    }

    private static func status(of call: Call, _ session: HelperSession) -> Int32 {
        if call.arguments.first == "--help" {
            session.showUsage(call.helper.usage, to: .output)
            return 0
        }
        let helper = call.helper.init(session: session)
        do throws(HelperFailure) {
            try helper.run(call.arguments)
            return 0
        } catch {
            guard !helper.tell(error) else { return 1 }
            if error == .usage {
                session.showUsage(call.helper.usage)
                return 2
            }
            session.complain(error.sentence)
            return 1
        }
    }

    package static func endWithUsage() -> Never {
        let names = helpers.map { $0.name }.joined(separator: "\n    ")
        StandardStream.error.write(
            "Usage: \(programName) HELPER [ARGUMENT...]\nHELPER is one of\n    \(names)\n")
        exit(2)
    }

    /// Replaces this process by the program with an embedded service.
    package static func becomeEmbedded(_ call: Call) -> Never {
        if let path = InstalledProgram.companion("keychain-embedded") {
            _ = ForegroundProgram.replaceThisProcess(
                with: path, as: call.name, arguments: call.arguments)
        }
        StandardStream.error.write("\(call.name): keychain-embedded can't be started\n")
        exit(1)
    }
}
