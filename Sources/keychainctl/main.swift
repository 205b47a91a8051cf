// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import Glibc
internal import KeychainLinuxSystem

// Passwords pass through here. Where the kernel doesn't know how to protect them, go on.
try? ProcessHardening.apply()
do {
    var command = try KeychainCommand.parseAsRoot()
    try command.run()
} catch let failure as CommandFailure {
    failure.report()
    exit(failure.code.rawValue)
} catch let code as ExitCode {
    // What was wrong has been told.
    exit(code.rawValue)
} catch {
    exit(UsageReport.show(error))
}
