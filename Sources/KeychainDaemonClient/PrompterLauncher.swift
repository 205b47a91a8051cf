// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainLinuxSystem

/// Starts `keychain-prompter` on this program's own terminal, where no prompter is registered.
///
/// The program never sees the typed text, but it owns the terminal and could watch it; the
/// desktop's prompter is better.
struct PrompterLauncher {
    private let child: ChildProcess

    /// Looked up once: the daemon notices a process that leaves its terminal later.
    static let hasControllingTerminal = ControllingTerminal.exists

    init?(program: String, challenge: [UInt8], socket: String) {
        // Only a program that no user but root could have put there.
        guard InstalledProgram.isTrusted(program) else { return nil }
        do {
            child = try ChildProcess(
                executable: program,
                arguments: ["--challenge", challenge.hexadecimal, "--socket", socket],
                environment: [], passing: [], newSession: false)
        } catch { return nil }
    }

    func end() {
        if child.wait(deadlineSeconds: 1) == nil { child.kill() }
    }
}
