// SPDX-License-Identifier: Apache-2.0
internal import KeychainVaults
internal import KeychainModel
internal import KeychainSecrets

/// The machine's TPM, through `keychain-tpm`.
struct TPMProgram: TPMSealer {
    /// In seconds. A slow TPM takes two for its storage key.
    private static let deadlineSeconds = 10.0

    private let program: ProtectorProgram

    init(path: String) { program = ProtectorProgram(path: path) }

    func seal(_ key: HeldSecret, registers: [UInt8]) throws(RequestError) -> [UInt8] {
        try ask(["seal"] + registers.map { String($0) }, key).bytes.releasedFromLockedMemory()
    }

    func open(_ sealed: [UInt8]) throws(RequestError) -> HeldSecret {
        try ask(["open"], HeldSecret(SecretBytes(copying: sealed)))
    }

    private func ask(_ arguments: [String], _ question: HeldSecret) throws(RequestError)
        -> HeldSecret
    {
        try program.ask(arguments, question, deadlineSeconds: Self.deadlineSeconds)
    }
}
