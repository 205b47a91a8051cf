// SPDX-License-Identifier: Apache-2.0

/// Looks at processes of other users, for which the kernel asks for rights.
package protocol ProcessLooks: Sendable {
    /// nil where the process has ended, or can't be looked at now.
    func program(of process: PinnedProcess) -> ProgramLook?
    /// The path of the file that the process runs, as the kernel reports it: no file system is asked, so
    /// that none can block the calling thread. nil for a process that has ended.
    func path(of process: Int32) -> String?
    /// The program's file, opened for reading; nil where its path leads to another file.
    func openExecutable(of process: PinnedProcess) -> OpenedExecutable?
    /// nil where there is none.
    func sandboxFile(of process: PinnedProcess) -> SandboxFile?
    /// Who besides the session could read what is typed on the terminal.
    func otherReader(of terminal: SharedTerminal) -> SharedTerminal.Finding
}

/// Looks with the rights of this process.
package struct OwnLooks: ProcessLooks {
    package init() {}

    package func program(of process: PinnedProcess) -> ProgramLook? { ProgramLook(at: process) }

    package func path(of process: Int32) -> String? { ProcessProgram.path(of: process) }

    package func openExecutable(of process: PinnedProcess) -> OpenedExecutable? {
        process.openExecutable()
    }

    package func sandboxFile(of process: PinnedProcess) -> SandboxFile? {
        process.openSandboxFile()
    }

    package func otherReader(of terminal: SharedTerminal) -> SharedTerminal.Finding {
        terminal.otherReader()
    }
}
