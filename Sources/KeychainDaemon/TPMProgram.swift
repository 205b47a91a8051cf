// SPDX-License-Identifier: Apache-2.0
internal import KeychainVaults
internal import KeychainModel
internal import KeychainSecrets
internal import ProgramHandoff

/// The machine's TPM, through `keychain-tpm`.
struct TPMProgram: TPMSealer {
    /// In seconds. A slow TPM takes two for its storage key.
    private static let deadlineSeconds = 10.0

    private let program: ProtectorProgram

    init(starter: any ProgramStarter) { program = ProtectorProgram(starter: starter) }

    func seal(
        _ key: HeldSecret, registers: [UInt8], for user: UInt32
    ) throws(RequestError) -> [UInt8] {
        try ask(.seal(registers: registers), key, user).bytes.releasedFromLockedMemory()
    }

    func open(_ sealed: [UInt8], for user: UInt32) throws(RequestError) -> HeldSecret {
        try ask(.open, HeldSecret(SecretBytes(copying: sealed)), user)
    }

    private func ask(
        _ task: TPMTask, _ question: HeldSecret, _ user: UInt32
    ) throws(RequestError) -> HeldSecret {
        try program.ask(
            .tpm(task, user: user), question, deadlineSeconds: Self.deadlineSeconds)
    }
}
