// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
internal import Glibc
internal import KeychainLinuxSystem
package import KeychainMessages
package import KeychainModel
internal import Synchronization
internal import Terminal

/// The program that the commands are run by: `keychainctl`, or one that it has become.
package enum CommandProgram {
    package typealias Endpoint = @Sendable () -> Result<any KeychainEndpoint, RequestError>

    private struct Choice {
        var open: Endpoint = { .failure(.failed(.notAvailable)) }
        var opened: (any KeychainEndpoint)?
    }

    private static let choice = Mutex(Choice())

    /// The keychain that this program's commands ask; opened once.
    static func endpoint() throws(RequestError) -> any KeychainEndpoint {
        try choice.withLock { choice throws(RequestError) in
            if let opened = choice.opened { return opened }
            let opened = try choice.open().get()
            choice.opened = opened
            return opened
        }
    }

    /// Does what the arguments say, and ends.
    package static func run<Root: ParsableCommand>(
        _ root: Root.Type, asking endpoint: @escaping Endpoint
    ) -> Never {
        // Passwords pass through here. Where the kernel doesn't know how to protect them, go on.
        try? ProcessHardening.apply()
        choice.withLock { $0.open = endpoint }
        let words = GeneratedSecret.spelledOut(Array(CommandLine.arguments.dropFirst()))
        var running: (any ParsableCommand.Type)?
        do {
            if let get = PlainGet(CommandLine.arguments.dropFirst()) {
                try get.run()
            } else {
                var command = try root.parseAsRoot(words)
                running = type(of: command)
                try command.run()
            }
            exit(ResultCode.done.rawValue)
        } catch let failure as CommandFailure {
            failure.report()
            exit(failure.code.rawValue)
        } catch let code as ExitCode {
            // What was wrong has been told.
            exit(code.rawValue)
        } catch {
            exit(UsageReport.show(error, of: root, running: running, arguments: words))
        }
    }

    /// Becomes a program of the same installation, which does what the arguments say.
    package static func become(_ program: String) -> Never {
        if let path = InstalledProgram.companion(program) {
            let arguments = Array(CommandLine.arguments.dropFirst())
            _ = ForegroundProgram.replaceThisProcess(with: path, arguments: arguments)
        }
        let failure = CommandFailure(
            .failure, name: "programMissing", "\(program) can't be started",
            advice: "It is installed together with keychainctl.")
        failure.report()
        exit(failure.code.rawValue)
    }
}
