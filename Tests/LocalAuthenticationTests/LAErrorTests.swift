// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Security
import Testing

@testable import LocalAuthentication

/// What one refusal is called by a context's evaluation, and by the item calls.
private struct Row: Sendable, CustomTestStringConvertible {
    let refusal: Refusal
    let code: LAError.Code
    let status: OSStatus
    var testDescription: String { "\(refusal)" }

    init(_ refusal: Refusal, _ code: LAError.Code, _ status: OSStatus) {
        (self.refusal, self.code, self.status) = (refusal, code, status)
    }
}

private let table = [
    // Asked, and not proven; or it never could be.
    Row(.authenticationFailed, .authenticationFailed, errSecAuthFailed),
    Row(.wrongPassword, .authenticationFailed, errSecAuthFailed),
    Row(.forbidden, .authenticationFailed, errSecAuthFailed),
    Row(.tooManyRequests, .systemCancel, errSecAuthFailed),
    // The user said no.
    Row(.cancelled, .userCancel, errSecUserCanceled),
    // Nobody may be asked.
    Row(.interactionNotAllowed, .notInteractive, errSecInteractionNotAllowed),
    Row(.locked, .notInteractive, errSecInteractionNotAllowed),
    Row(.noSession, .notInteractive, errSecInteractionNotAllowed),
    // There is nothing to prove oneself by.
    Row(.passcodeNotSet, .passcodeNotSet, errSecNotAvailable),
    Row(.notAvailable, .systemCancel, errSecNotAvailable),
    // What no evaluation meets, but for a service that is newer than this library.
    Row(.badRequest, .authenticationFailed, errSecParam),
    Row(.badKeychainName, .authenticationFailed, errSecParam),
    Row(.noSuchAttribute, .authenticationFailed, errSecNoSuchAttr),
    Row(.noSuchClass, .authenticationFailed, errSecNoSuchClass),
    Row(.dataTooLarge, .authenticationFailed, errSecDataTooLarge),
    Row(.notImplemented, .authenticationFailed, errSecUnimplemented),
    Row(.notFound, .authenticationFailed, errSecItemNotFound),
    Row(.duplicate, .authenticationFailed, errSecDuplicateItem),
    Row(.needsProofOfEach, .authenticationFailed, errSecParam),
    Row(.notEntitled, .authenticationFailed, errSecMissingEntitlement),
    Row(.noSuchKeychain, .authenticationFailed, errSecNoSuchKeychain),
    Row(.duplicateKeychain, .authenticationFailed, errSecDuplicateKeychain),
    Row(.noDefaultKeychain, .authenticationFailed, errSecNoDefaultKeychain),
    Row(.damaged, .authenticationFailed, errSecInvalidKeychain),
    Row(.damagedPolicy, .authenticationFailed, errSecNotAvailable),
    Row(.newerVersion, .authenticationFailed, errSecNotAvailable),
    Row(.belongsToAnother, .authenticationFailed, errSecNotAvailable),
    Row(.noSuchProtector, .authenticationFailed, errSecItemNotFound),
    Row(.lastProtector, .authenticationFailed, errSecParam),
    Row(.wrongRecoveryKey, .authenticationFailed, errSecAuthFailed),
    Row(.protectorNotAvailable, .authenticationFailed, errSecNotAvailable),
    Row(.measurementsDiffer, .authenticationFailed, errSecNotAvailable),
    Row(.protectorChanged, .authenticationFailed, errSecNotAvailable),
    Row(.protectorFailed, .authenticationFailed, errSecNotAvailable),
    Row(.wrongPIN, .authenticationFailed, errSecAuthFailed),
    Row(.wrongApplicationPassword, .authenticationFailed, errSecAuthFailed),
    Row(.notOpenedHere, .authenticationFailed, errSecNotAvailable),
    Row(.keychainGone, .authenticationFailed, errSecInvalidKeychain),
    Row(.derivationTooCostly, .authenticationFailed, errSecNotAvailable),
    Row(.olderService, .authenticationFailed, errSecNotAvailable),
    Row(.olderProgram, .authenticationFailed, errSecNotAvailable),
    Row(.readOnly, .authenticationFailed, errSecReadOnly),
    Row(.diskFull, .authenticationFailed, errSecDiskFull),
    Row(.inputOutput, .authenticationFailed, errSecIO),
    Row(.outOfMemory, .authenticationFailed, errSecAllocate),
    Row(.internalError, .authenticationFailed, errSecInternal),
]

/// The numbers that programs compare with.
private let numbers: [(LAError.Code, Int)] = [
    (.authenticationFailed, -1), (.userCancel, -2), (.userFallback, -3), (.systemCancel, -4),
    (.passcodeNotSet, -5), (.biometryNotAvailable, -6), (.biometryNotEnrolled, -7),
    (.biometryLockout, -8), (.appCancel, -9), (.invalidContext, -10),
    (.companionNotAvailable, -11), (.biometryNotPaired, -12), (.biometryDisconnected, -13),
    (.invalidDimensions, -14), (.notInteractive, -1004),
]

@Suite struct LAErrorTests {
    @Test(arguments: table)
    fileprivate func `each refusal has one code and one status`(_ row: Row) {
        #expect(LAError(refusal: row.refusal).code == row.code)
        #expect(row.refusal.status == row.status)
    }

    @Test func `the table is whole`() {
        #expect(Set(table.map(\.refusal)) == Set(Refusal.allCases))
        #expect(table.count == Refusal.allCases.count)
    }

    @Test(arguments: numbers)
    func `codes have Apple's numbers, as values and as objects`(_ code: LAError.Code, _ number: Int)
    {
        #expect(code.rawValue == number)
        let object = LAError(code) as NSError
        #expect(object.code == number && object.domain == LAErrorDomain)
        #expect(object.localizedDescription == LAError(code).localizedDescription)
        #expect((object as any Error as? LAError)?.code == code)
    }

    @Test func `a thrown one is caught as a value, as an object and by its code`() {
        func fail() throws { throw LAError(.userCancel) }
        do { try fail() } catch let error as NSError {
            #expect(error.code == LAError.userCancel.rawValue)
        } catch { Issue.record("not caught as an object") }
        do { try fail() } catch let error as LAError {
            #expect(error.code == .userCancel)
        } catch { Issue.record("not caught as a value") }
        do { try fail() } catch let error as LAError where error.code == .userCancel {
        } catch { Issue.record("not caught by its code") }
        do { try fail() } catch LAError.userCancel {
        } catch { Issue.record("not caught by its name") }
        do { try fail() } catch LAError.appCancel {
            Issue.record("caught as another")
        } catch { #expect((error as NSError).code == -2) }
    }

    @Test func `an error object that a call filled in is one as well`() {
        let context = LAContext()
        context.invalidate()
        var error: NSError?
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        #expect((error as? LAError)?.code == .invalidContext)
        switch error {
        case let known as LAError: #expect(known.code == .invalidContext)
        default: Issue.record("it is no LAError")
        }
    }

    @Test func `an error object that a program made is one too`() {
        func fail() throws {
            throw NSError(domain: LAErrorDomain, code: LAError.userCancel.rawValue)
        }
        do { try fail() } catch let error as LAError {
            #expect(error.code == .userCancel)
        } catch { Issue.record("not caught as a value") }
        do { try fail() } catch LAError.userCancel {
        } catch { Issue.record("not caught by its name") }
        let made: NSError? = NSError(domain: LAErrorDomain, code: -8)
        switch made {
        case LAError.biometryLockout?: break
        default: Issue.record("not matched by its name")
        }
        #expect((made as? LAError)?.code == .biometryLockout)
    }

    @Test func `what others throw is no LAError`() {
        let other = NSError(domain: "other", code: -2)
        #expect(other as any Error as? LAError == nil)
        let unknown = NSError(domain: LAErrorDomain, code: 99)
        #expect(unknown as any Error as? LAError == nil)
    }

    @Test func `one is made of any error object, of what is not known here a failure`() {
        let known: LAError = LAError(_nsError: NSError(domain: LAErrorDomain, code: -9))
        #expect(known.code == .appCancel)
        let unknown = NSError(domain: LAErrorDomain, code: 99)
        #expect(LAError(_nsError: unknown).code == .authenticationFailed)
        let other = NSError(domain: "other", code: -2)
        #expect(LAError(_nsError: other).code == .authenticationFailed)
    }
}
