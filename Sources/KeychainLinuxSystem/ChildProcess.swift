// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
internal import Synchronization

/// How a child ended.
package struct ExitStatus: Sendable, Equatable {
    /// nil when a signal ended it.
    package let code: Int32?
    package var isSuccess: Bool { code == 0 }

    package init(code: Int32?) { self.code = code }
}

/// A program that was started with exactly the descriptors it was given, and ends with its parent.
/// It has the rights of the user who started its parent, not those of a setgid parent.
///
/// "Parent" is the thread that started it: the kernel ends the child when that thread ends.
package final class ChildProcess: Sendable {
    package let id: Int32
    private let pidfd: Descriptor
    /// Locked, as one thread may wait for the child while another ends it.
    private let status = Mutex<ExitStatus?>(nil)

    /// Each `source` becomes the child's `target`. With `newSession` the child has no terminal, and
    /// /dev/null for each standard descriptor that is not among the targets.
    package init(
        executable: String, arguments: [String], environment: [String],
        passing: [(source: Int32, target: Int32)], newSession: Bool
    ) throws(SystemError) {
        var child: pid_t = 0
        let sources = passing.map(\.source)
        let targets = passing.map(\.target)
        // Safe: the strings and arrays live until the call returns, the child has copies.
        let error = unsafe withCStrings([executable] + arguments) { arguments in
            unsafe withCStrings(environment) { environment in
                unsafe kc_spawn(
                    executable, arguments, environment, sources, targets, passing.count,
                    newSession ? 1 : 0, newSession ? 1 : 0, &child)
            }
        }
        guard error == 0 else { throw .system(error) }
        id = child
        let made = kc_pidfd_open(child)
        guard made >= 0 else {
            Glibc.kill(child, SIGKILL)
            _ = waitpid(child, nil, 0)
            throw .system(EMFILE)
        }
        pidfd = Descriptor(owning: made)
    }

    deinit { kill() }

    /// Waits for the end; nil when the child still runs at the deadline.
    package func wait(deadlineSeconds: Double) -> ExitStatus? {
        if Wait.isReady(POLLIN, pidfd.number) { return reap() }
        let deadline = BootTime.now + .seconds(deadlineSeconds)
        guard (try? Wait.until(POLLIN, pidfd.number, deadline: deadline)) != nil else {
            return nil
        }
        return reap()
    }

    /// Waits for the end; nil when the child still runs at the deadline, or once the other
    /// descriptor is readable.
    package func wait(deadlineSeconds: Double, unless other: Int32) -> ExitStatus? {
        let deadline = BootTime.now + .seconds(deadlineSeconds)
        _ = try? Wait.until(POLLIN, pidfd.number, or: other, deadline: deadline)
        return Wait.isReady(POLLIN, pidfd.number) ? reap() : nil
    }

    /// Ends the child at once, by its descriptor: never another process that got its number.
    /// A child that has taken another user's number is not this process's to end, where that has no rights:
    /// it is not waited for.
    package func kill() {
        guard kc_pidfd_kill(pidfd.number, SIGKILL) == 0 || errno == ESRCH else { return }
        _ = reap()
    }

    private func reap() -> ExitStatus {
        status.withLock { status in
            if let status { return status }
            var code: Int32 = -1
            // Safe: by descriptor, so it is this child that is waited for, and once.
            _ = unsafe kc_reap(pidfd.number, &code)
            let ended = ExitStatus(code: code < 0 ? nil : code)
            status = ended
            return ended
        }
    }
}

private func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    // Safe: copies, freed after the call; the list ends with a null pointer.
    var copies = unsafe strings.map { unsafe strdup($0) }
    unsafe copies.append(nil)
    defer {
        for index in unsafe copies.indices { unsafe free(copies[index]) }
    }
    return unsafe copies.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
}
