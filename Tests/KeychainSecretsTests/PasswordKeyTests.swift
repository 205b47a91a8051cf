// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainSecrets

@Suite struct PasswordKeyTests {
    private let salt = [UInt8](repeating: 5, count: 16)

    private func derive(_ password: String, _ parameters: PasswordParameters) throws -> [UInt8] {
        try PasswordKey.derive(SecretBytes(copying: Array(password.utf8)), parameters)
            .releasedFromLockedMemory()
    }

    @Test func `a key depends on password, salt and cost and on nothing else`() throws {
        let cheap = try PasswordParameters(passes: 1, memoryKiB: 8, salt: salt)
        let key = try derive("password", cheap)
        #expect(key.count == 64)
        #expect(try derive("password", cheap) == key)
        #expect(try derive("passwort", cheap) != key)
        #expect(try derive("", cheap) != key)
        let others = [
            try PasswordParameters(passes: 2, memoryKiB: 8, salt: salt),
            try PasswordParameters(passes: 1, memoryKiB: 16, salt: salt),
            try PasswordParameters(
                passes: 1, memoryKiB: 8, salt: [UInt8](repeating: 6, count: 16)),
        ]
        for other in others { #expect(try derive("password", other) != key) }
    }

    @Test func `the two halves of a key differ`() throws {
        let key = try derive(
            "password", PasswordParameters(passes: 1, memoryKiB: 8, salt: salt))
        #expect(key.prefix(32) != key.suffix(32))
    }

    @Test(
        arguments: [
            (0, 64, 16), (65, 64, 16), (1, 7, 16), (1, 64 * 1024 + 1, 16), (1, 64, 15),
            (1, 64, 17), (1, 64, 0), (16, 256 * 1024, 16), (UInt32.max, UInt32.max, 16),
        ] as [(UInt32, UInt32, Int)])
    func `parameters beyond the limits are refused`(
        _ passes: UInt32, _ memoryKiB: UInt32, _ saltBytes: Int
    ) {
        #expect(throws: SecretsError.parametersOutOfRange) {
            try PasswordParameters(
                passes: passes, memoryKiB: memoryKiB,
                salt: [UInt8](repeating: 0, count: saltBytes))
        }
    }

    @Test func `a calibrated cost is never below three passes of 64 MiB`() throws {
        let parameters = try PasswordCost.calibrated(milliseconds: 1)
        #expect(parameters.passes == 3)
        #expect(parameters.memoryKiB == 64 * 1024)
        #expect(try PasswordCost.calibrated(milliseconds: 1).salt != parameters.salt)
    }

    @Test func `what the fastest machine chooses is within the limits`() throws {
        let parameters = try PasswordCost.calibrated(milliseconds: 1_000_000_000)
        #expect(parameters.passes == PasswordParameters.passes.upperBound)
        #expect(parameters.memoryKiB == PasswordParameters.memoryKiB.upperBound)
    }
}
