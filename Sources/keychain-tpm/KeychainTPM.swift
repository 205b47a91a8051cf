// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainSecrets
internal import LibCrypto
internal import TrustedPlatform

/// `keychain-tpm seal [REGISTER…]`, `keychain-tpm open`: one exchange with the machine's TPM, the
/// key and what was sealed on descriptor 3. A process of its own, which may be ended when a TPM
/// doesn't answer, and whose memory never holds a keychain. Its exit code is a refusal's.
@main
struct KeychainTPM {
    /// A backstop: the process that started this ends it sooner.
    private static let longestLife: UInt32 = 60

    static func main() {
        let task = Task(CommandLine.arguments)
        ChildExchange.answer(within: longestLife) { given throws(ChildFailure) in
            do throws(RequestError) {
                guard let task else { throw .invalid(.badRequest) }
                return try task.run(given)
            } catch { throw ChildFailure(code: Int32(error.rawValue)) }
        }
    }
}

private enum Task {
    /// Of the processor's time.
    private static let seconds: UInt32 = 20

    case seal([UInt8])
    case open

    init?(_ arguments: [String]) {
        let rest = arguments.dropFirst(2)
        switch arguments.dropFirst().first {
        case "seal":
            let registers = rest.compactMap { UInt8($0) }.filter { $0 < 24 }
            guard registers.count == rest.count else { return nil }
            self = .seal(registers)
        case "open" where rest.isEmpty: self = .open
        default: return nil
        }
    }

    func run(_ given: HeldSecret) throws(RequestError) -> HeldSecret {
        let address = try TPMAddress.ofThisMachine()
        do throws(TPMError) {
            Privileges.takeGroup(of: TPMAddress.device(at: address))
            let tpm = try TPM(at: address)
            LibCryptoConfiguration.load()
            // The device is open now. What its bus says is not for root to read.
            do throws(SystemError) {
                try Confinement.enterWithDevice(as: "_keychain-tpm", seconds: Self.seconds)
            } catch { throw TPMError.unreachable }
            return try answer(to: given, tpm)
        } catch { throw RequestError(error) }
    }

    private func answer(to given: HeldSecret, _ tpm: TPM) throws(TPMError) -> HeldSecret {
        switch self {
        case .seal(let registers):
            let sealed = try tpm.seal(given.bytes, registers: registers)
            return HeldSecret(SecretBytes(copying: sealed.bytes))
        case .open:
            let sealed = try SealedKey(bytes: given.bytes.releasedFromLockedMemory())
            return HeldSecret(try tpm.open(sealed))
        }
    }
}

extension RequestError {
    init(_ error: TPMError) {
        self =
            switch error {
            case .unreachable, .refused: .failed(.protectorFailed)
            case .registersDiffer: .state(.measurementsDiffer)
            case .otherTPM: .state(.protectorChanged)
            case .damaged: .failed(.damaged)
            }
    }
}
