// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The parameters by which a password becomes a key: Argon2id's cost and the salt, as stored in the
/// keybag.
package struct PasswordParameters: Sendable, Equatable {
    package static let saltBytes = 16
    /// Limits on the work that a file may ask of the machine that opens it: the most that
    /// `PasswordCost` chooses on the fastest machine, so that no honest backup is refused, and
    /// nothing more.
    package static let passes: ClosedRange<UInt32> = 1...64
    package static let memoryKiB: ClosedRange<UInt32> = 8...PasswordCost.memoryKiB

    package let passes: UInt32
    package let memoryKiB: UInt32
    package let salt: [UInt8]

    /// Throws for parameters that are invalid or would block the machine.
    package init(passes: UInt32, memoryKiB: UInt32, salt: [UInt8]) throws(SecretsError) {
        guard Self.passes.contains(passes), Self.memoryKiB.contains(memoryKiB),
            salt.count == Self.saltBytes
        else { throw .parametersOutOfRange }
        self.passes = passes
        self.memoryKiB = memoryKiB
        self.salt = salt
    }

    /// Passes × KiB.
    package var work: UInt64 { UInt64(passes) * UInt64(memoryKiB) }
}

/// The work that a password costs on this machine, chosen when a keychain is created.
package enum PasswordCost {
    /// 64 MiB: RFC 9106's second recommendation, for machines with little memory to spare.
    static let memoryKiB: UInt32 = 64 * 1024
    private static let fewestPasses: UInt32 = 3
    /// The least work that `calibrated` chooses.
    package static let leastWork = UInt64(fewestPasses) * UInt64(memoryKiB)

    /// Parameters with a new salt that cost about `milliseconds` here, and never less than three
    /// passes.
    package static func calibrated(
        milliseconds: Double = 250
    ) throws(SecretsError) -> PasswordParameters {
        let salt = RandomBytes.make(PasswordParameters.saltBytes)
        let trial = try PasswordParameters(passes: 1, memoryKiB: memoryKiB, salt: salt)
        let clock = ContinuousClock()
        var failure: SecretsError?
        let elapsed = clock.measure {
            do throws(SecretsError) {
                _ = try PasswordKey.derive(SecretBytes(copying: [0]), trial)
            } catch { failure = error }
        }
        if let failure { throw failure }
        let once =
            max(Double(elapsed.components.attoseconds) / 1e15, 1)
            + Double(elapsed.components.seconds) * 1000
        let passes = min(
            max(UInt32((milliseconds / once).rounded()), fewestPasses),
            PasswordParameters.passes.upperBound)
        return try PasswordParameters(passes: passes, memoryKiB: memoryKiB, salt: salt)
    }
}

/// The processor time of the calling thread, to which a busy machine adds nothing.
package enum ThreadTime {
    package static var now: Duration {
        var time = timespec()
        // Safe: the structure is this function's own.
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// Argon2id. Slow and memory-hungry on purpose: callers derive few keys at a time.
package enum PasswordKey {
    /// 64 bytes: two independent 32-byte keys.
    package static let byteCount = 64

    package static func derive(
        _ password: borrowing SecretBytes, _ parameters: PasswordParameters
    ) throws(SecretsError) -> SecretBytes {
        guard sodium_init() >= 0 else { throw .libraryUnavailable }
        return try password.withBytes { password throws(SecretsError) in
            try SecretBytes(count: byteCount) { (out: inout MutableRawSpan) throws(SecretsError) in
                // Safe: sodium reads the borrowed password and salt, writes `byteCount` bytes.
                let result = unsafe out.withUnsafeMutableBytes { out in
                    unsafe password.withUnsafeBytes { password in
                        unsafe crypto_pwhash_argon2id13(
                            out.assumingMemoryBound(to: UInt8.self).baseAddress!,
                            UInt64(byteCount),
                            password.assumingMemoryBound(to: CChar.self).baseAddress!,
                            UInt64(password.count), parameters.salt,
                            UInt64(parameters.passes), Int(parameters.memoryKiB) * 1024)
                    }
                }
                guard result == 0 else { throw .outOfMemory }
            }
        }
    }
}
