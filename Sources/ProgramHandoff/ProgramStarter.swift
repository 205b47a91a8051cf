// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// Starts programs that have rights, or an account, which the asking process lacks.
package protocol ProgramStarter: Sendable {
    /// The program gets copies of the descriptors, in the order of its request.
    func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram
}

/// Why a program was not started.
package enum StarterError: Error, Equatable, Sendable {
    /// PAM has no file for the service.
    case noService
    /// As many of these programs run as may, for this user or for all.
    case busy
    /// The program is not installed.
    case notInstalled
    /// The program is not installed as it should be, or there is no room for a process.
    case failed
    /// The request is longer than a record, or makes no sense.
    case badRequest
    /// The starter is absent, does not answer in time, or has another version.
    case notAnswering
}

/// A program that was started. It ends with this value.
package protocol RunningProgram: Sendable {
    func state(withinSeconds seconds: Double) -> ProgramState
    /// Ends it at once.
    func end()
}

package enum ProgramState: Sendable, Equatable {
    case running
    case ended(ExitStatus)
    /// The process that started it has gone, and it ended too.
    case lost
}
