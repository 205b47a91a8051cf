// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import ProgramHandoff

/// Stands for `keychain-starter`: starts a script in the place of each program, with the words and
/// the descriptors that the program would get.
struct ScriptStarter: ProgramStarter {
    let path: String

    func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram {
        do {
            return RunningScript(
                child: try ChildProcess(
                    executable: path, arguments: request.words, environment: [],
                    passing: zip(descriptors, request.targets).map {
                        (source: $0.number, target: $1)
                    },
                    newSession: true))
        } catch { throw .notInstalled }
    }

    private struct RunningScript: RunningProgram {
        let child: ChildProcess

        func state(withinSeconds seconds: Double) -> ProgramState {
            child.wait(deadlineSeconds: seconds).map { .ended($0) } ?? .running
        }

        func end() { child.kill() }
    }
}

/// A starter that starts nothing.
struct RefusingStarter: ProgramStarter {
    let error: StarterError

    func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram { throw error }
}

/// A starter that is gone as soon as its program runs.
struct LostStarter: ProgramStarter {
    func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram { LostProgram() }

    private struct LostProgram: RunningProgram {
        func state(withinSeconds seconds: Double) -> ProgramState { .lost }
        func end() {}
    }
}

extension ProgramRequest {
    fileprivate var words: [String] {
        switch self {
        case .authentication(let request):
            [request.service, String(request.user), request.account]
                + [request.asker].compactMap(\.self)
        case .keychainFile(let seconds, _): [String(seconds)]
        case .policies(let folders):
            ["policy", "compile"] + folders.flatMap { ["--policies", $0] }
        case .tpm(.seal(let registers), _): ["seal"] + registers.map { String($0) }
        case .tpm(.open, _), .securityKey(.open, _): ["open"]
        case .securityKey(.make, _): ["make"]
        }
    }

    fileprivate var targets: [Int32] {
        if case .keychainFile = self { [0, 1] } else { [3] }
    }
}
