// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import Testing

@testable import TrustedPlatform

/// With a software TPM behind tpm2-tss's own channel to it.
@Suite(.serialized) struct TPMTests {
    private let held = HeldSecret(SecretBytes(random: 32))

    private func opens(_ sealed: SealedKey, _ machine: SoftwareTPM) throws -> Bool {
        let opened = try TPM(at: machine.address).open(sealed)
        return opened.matches(held.bytes)
    }

    private func failure(_ sealed: SealedKey, _ machine: SoftwareTPM) -> TPMError? {
        do throws(TPMError) {
            _ = try TPM(at: machine.address).open(sealed)
            return nil
        } catch { return error }
    }

    @Test func `what a TPM sealed it opens, after a restart too`() throws {
        let machine = try SoftwareTPM()
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [])
        #expect(try opens(sealed, machine))
        try machine.restart()
        #expect(try opens(SealedKey(bytes: sealed.bytes), machine))
    }

    @Test func `what was sealed shows nothing of the key`() throws {
        let machine = try SoftwareTPM()
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [7])
        let bytes = held.bytes.releasedFromLockedMemory()
        let starts = sealed.bytes.indices.dropLast(7)
        #expect(!starts.contains { Array(sealed.bytes[$0..<$0 + 8]) == Array(bytes[0..<8]) })
    }

    @Test func `another TPM does not open it`() throws {
        let (machine, other) = (try SoftwareTPM(), try SoftwareTPM())
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [])
        #expect(failure(sealed, other) == .otherTPM)
    }

    @Test func `a TPM that was cleared does not open it`() throws {
        let machine = try SoftwareTPM()
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [])
        try machine.clear()
        #expect(failure(sealed, machine) == .otherTPM)
    }

    @Test func `registers that changed keep it closed until they are as they were`() throws {
        let machine = try SoftwareTPM()
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [7, 14])
        #expect(try opens(sealed, machine))
        try machine.extend(register: 8)
        #expect(try opens(sealed, machine))
        try machine.extend(register: 7)
        #expect(failure(sealed, machine) == .registersDiffer)
        try machine.restart()
        #expect(try opens(sealed, machine))
    }

    @Test func `a demand for registers can't be edited away`() throws {
        let machine = try SoftwareTPM()
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [7])
        try machine.extend(register: 7)
        let edited = SealedKey(
            registers: [0, 0, 0], parent: sealed.parent, publicPart: sealed.publicPart,
            privatePart: sealed.privatePart)
        let refused = failure(edited, machine)
        #expect(refused != nil)
    }

    @Test func `a byte that was changed is noticed`() throws {
        let machine = try SoftwareTPM()
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [])
        for place in stride(from: 0, to: sealed.privatePart.count, by: 37) {
            var part = sealed.privatePart
            part[place] ^= 1
            let edited = SealedKey(
                registers: sealed.registers, parent: sealed.parent,
                publicPart: sealed.publicPart, privatePart: part)
            let refused = failure(edited, machine)
            #expect(refused != nil, "byte \(place)")
        }
    }

    @Test func `many exchanges, and failed ones, leave nothing behind in the TPM`() throws {
        let (machine, other) = (try SoftwareTPM(), try SoftwareTPM())
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [7])
        for _ in 0..<8 {
            #expect(try opens(sealed, machine))
            #expect(failure(sealed, other) == .otherTPM)
        }
        try machine.extend(register: 7)
        for _ in 0..<8 { #expect(failure(sealed, machine) == .registersDiffer) }
    }

    @Test func `where no TPM answers that is told`() throws {
        let machine = try SoftwareTPM()
        let sealed = try TPM(at: machine.address).seal(held.bytes, registers: [])
        machine.stop()
        #expect(failure(sealed, machine) == .unreachable)
        #expect(throws: TPMError.unreachable) { _ = try TPM(at: "nonsense:/nowhere") }
    }

    @Test func `what this type did not write is damaged`() throws {
        let machine = try SoftwareTPM()
        let whole = try TPM(at: machine.address).seal(held.bytes, registers: []).bytes
        for count in 0..<whole.count {
            #expect(throws: TPMError.damaged) { try SealedKey(bytes: Array(whole[..<count])) }
        }
        #expect(throws: TPMError.damaged) { try SealedKey(bytes: whole + [0]) }
        #expect(throws: TPMError.damaged) { try SealedKey(bytes: [2] + whole.dropFirst()) }
    }
}
