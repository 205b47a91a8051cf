// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import SystemTestSupport

extension ScratchFolder {
    /// A script for `/bin/sh`, ready to run.
    func script(_ name: String, _ words: String) throws -> String {
        try program(name, copying: write(name + ".txt", "#!/bin/sh\n\(words)\n", mode: 0o755))
    }

    /// A copy that another process makes: no file is run while a descriptor writes to it, and one of
    /// this process's could live on in a child that another test has just started.
    func program(_ name: String, copying original: String) throws -> String {
        let copying = try ChildProcess(
            executable: "/bin/cp", arguments: ["--remove-destination", original, self(name)],
            environment: [], passing: [], newSession: true)
        guard copying.wait(deadlineSeconds: 20)?.isSuccess == true else {
            throw SystemError.timedOut
        }
        return self(name)
    }
}
