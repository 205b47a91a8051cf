// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Security
import Testing

@testable import LocalAuthentication

/// What one refusal is called by a context's evaluation, and by the item calls.
private struct Row: Sendable, CustomTestStringConvertible {
    let refusal: RequestError
    let code: LAError.Code
    let status: OSStatus
    var testDescription: String { "\(refusal)" }

    init(_ error: RequestError, _ code: LAError.Code, _ status: OSStatus) {
        (self.refusal, self.code, self.status) = (error, code, status)
    }
}

private let table = [
    // Asked, and not proven; or it never could be.
    Row(.refused(.authenticationFailed), .authenticationFailed, errSecAuthFailed),
    Row(.refused(.wrongPassword), .authenticationFailed, errSecAuthFailed),
    Row(.refused(.forbidden), .authenticationFailed, errSecAuthFailed),
    Row(.refused(.tooManyRequests), .systemCancel, errSecAuthFailed),
    // The user said no.
    Row(.refused(.cancelled), .userCancel, errSecUserCanceled),
    // No question may be asked.
    Row(.refused(.interactionNotAllowed), .notInteractive, errSecInteractionNotAllowed),
    Row(.state(.locked), .notInteractive, errSecInteractionNotAllowed),
    Row(.state(.noSession), .notInteractive, errSecInteractionNotAllowed),
    // There is nothing to prove oneself by.
    Row(.state(.passcodeNotSet), .passcodeNotSet, errSecNotAvailable),
    Row(.failed(.notAvailable), .systemCancel, errSecNotAvailable),
    Row(.failed(.outOfMemory), .systemCancel, errSecAllocate),
    // What no evaluation meets, but for a service that is newer than this library.
    Row(.invalid(.badRequest), .authenticationFailed, errSecParam),
    Row(.invalid(.badKeychainName), .authenticationFailed, errSecParam),
    Row(.invalid(.noSuchAttribute), .authenticationFailed, errSecNoSuchAttr),
    Row(.invalid(.noSuchClass), .authenticationFailed, errSecNoSuchClass),
    Row(.invalid(.dataTooLarge), .authenticationFailed, errSecDataTooLarge),
    Row(.invalid(.notImplemented), .authenticationFailed, errSecUnimplemented),
    Row(.state(.notFound), .authenticationFailed, errSecItemNotFound),
    Row(.state(.duplicate), .authenticationFailed, errSecDuplicateItem),
    Row(.invalid(.needsProofOfEach), .authenticationFailed, errSecParam),
    Row(.refused(.notEntitled), .authenticationFailed, errSecMissingEntitlement),
    Row(.state(.noSuchKeychain), .authenticationFailed, errSecNoSuchKeychain),
    Row(.state(.duplicateKeychain), .authenticationFailed, errSecDuplicateKeychain),
    Row(.state(.noDefaultKeychain), .authenticationFailed, errSecNoDefaultKeychain),
    Row(.failed(.damaged), .authenticationFailed, errSecInvalidKeychain),
    Row(.failed(.damagedPolicy), .authenticationFailed, errSecNotAvailable),
    Row(.state(.newerVersion), .authenticationFailed, errSecNotAvailable),
    Row(.refused(.belongsToAnother), .authenticationFailed, errSecNotAvailable),
    Row(.state(.noSuchProtector), .authenticationFailed, errSecItemNotFound),
    Row(.state(.lastProtector), .authenticationFailed, errSecParam),
    Row(.refused(.wrongRecoveryKey), .authenticationFailed, errSecAuthFailed),
    Row(.state(.protectorNotAvailable), .authenticationFailed, errSecNotAvailable),
    Row(.state(.measurementsDiffer), .authenticationFailed, errSecNotAvailable),
    Row(.state(.protectorChanged), .authenticationFailed, errSecNotAvailable),
    Row(.failed(.protectorFailed), .authenticationFailed, errSecNotAvailable),
    Row(.refused(.wrongPIN), .authenticationFailed, errSecAuthFailed),
    Row(.refused(.wrongApplicationPassword), .authenticationFailed, errSecAuthFailed),
    Row(.state(.notOpenedHere), .authenticationFailed, errSecNotAvailable),
    Row(.failed(.keychainGone), .authenticationFailed, errSecInvalidKeychain),
    Row(.failed(.derivationTooCostly), .authenticationFailed, errSecNotAvailable),
    Row(.failed(.noAuthentication), .authenticationFailed, errSecNotAvailable),
    Row(.state(.olderService), .authenticationFailed, errSecNotAvailable),
    Row(.state(.olderProgram), .authenticationFailed, errSecNotAvailable),
    Row(.state(.noSuchPeer), .authenticationFailed, errSecNotAvailable),
    Row(.state(.readOnly), .authenticationFailed, errSecReadOnly),
    Row(.failed(.diskFull), .authenticationFailed, errSecDiskFull),
    Row(.failed(.inputOutput), .authenticationFailed, errSecIO),
    Row(.failed(.internalError), .authenticationFailed, errSecInternal),
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
        #expect(LAError(of: row.refusal).code == row.code)
        #expect(row.refusal.status == row.status)
    }

    @Test func `the table is whole`() {
        #expect(Set(table.map(\.refusal)) == Set(RequestError.allCases))
        #expect(table.count == RequestError.allCases.count)
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

    @Test func `what an error was made with survives the way to an object and back`() throws {
        let cause = NSError(domain: "cause", code: 7)
        let info: [String: Any] = [
            NSLocalizedDescriptionKey: "The reader is dirty.", NSUnderlyingErrorKey: cause,
        ]
        let error = LAError(.authenticationFailed, userInfo: info)
        let object = error as NSError
        #expect(object.localizedDescription == "The reader is dirty.")
        #expect(object.userInfo[NSUnderlyingErrorKey] as? NSError == cause)
        let back = try #require(object as any Error as? LAError)
        #expect(back == error && back.hashValue == error.hashValue)
        #expect(back.localizedDescription == "The reader is dirty.")
        #expect(back.userInfo[NSUnderlyingErrorKey] as? NSError == cause)
        #expect(back != LAError(.authenticationFailed))
        let plain = LAError(.userCancel)
        #expect(plain as NSError as any Error as? LAError == plain)
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
