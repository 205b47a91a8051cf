// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Testing

@testable import Security

private func make(
    _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags
) -> (rights: SecAccessControl?, code: Int?) {
    var error: Unmanaged<CFError>?
    let rights = SecAccessControlCreateWithFlags(nil, protection, flags, &error)
    return (rights, error?.takeRetainedValue().code)
}

@Suite struct AccessControls {
    // (docs/secitem.md, Validation)
    @Test(
        arguments: [
            ([.or, .and], false), ([.biometryAny, .biometryCurrentSet], false),
            ([.userPresence, .or], false), ([.userPresence, .and], false),
            ([.userPresence, .devicePasscode], false), ([.userPresence, .biometryAny], false),
            ([.userPresence, .companion], false),
            ([.userPresence, .init(rawValue: 1 << 20)], false),
            ([.userPresence, .applicationPassword, .privateKeyUsage], true), ([], true),
            ([.or], true), ([.and], true), ([.devicePasscode, .biometryAny], true),
            ([.init(rawValue: 1 << 20)], true), ([.devicePasscode, .companion, .or], true),
        ] as [(SecAccessControlCreateFlags, Bool)])
    func `flags that contradict each other make nothing`(
        _ flags: SecAccessControlCreateFlags, _ isLegal: Bool
    ) {
        let (rights, code) = make(kSecAttrAccessibleWhenUnlocked, flags)
        #expect((rights != nil) == isLegal)
        #expect(code == (isLegal ? nil : Int(errSecParam)))
    }

    @Test(
        arguments: [
            ("ak", true), ("ck", true), ("dk", true), ("aku", true), ("cku", true), ("dku", true),
            ("akpu", true), ("f", true), ("", false), ("AK", false), ("x", false),
        ])
    func `a protection is a class`(_ protection: String, _ isLegal: Bool) {
        let (rights, code) = make(protection as NSString, .userPresence)
        #expect((rights != nil) == isLegal)
        #expect(code == (isLegal ? nil : Int(errSecParam)))
    }

    @Test func `a protection is no number, and a dictionary is not looked into`() {
        #expect(make(NSNumber(value: 1), []).code == Int(errSecParam))
        #expect(make(["x": "y"] as NSDictionary, []).rights != nil)
        #expect(make(["x": "y"] as NSDictionary, []).rights?.itemRights == nil)
        #expect(make("f" as NSString, []).rights?.itemRights == nil)
    }

    @Test func `an error tells its domain and what it means`() throws {
        var error: Unmanaged<CFError>?
        _ = SecAccessControlCreateWithFlags(nil, "x" as NSString, [], &error)
        let told = try #require(error).takeRetainedValue()
        #expect(CFErrorGetCode(told) == -50)
        #expect(CFErrorGetDomain(told) as String == NSOSStatusErrorDomain)
        #expect(
            told.localizedDescription
                == "One or more parameters passed to a function were not valid.")
    }

    // Decrypting, encrypting and deleting, then signing (docs/secitem.md, Resulting object).
    @Test(
        arguments: [
            ([], .always, .always, .always, .always),
            ([.or], .always, .always, .always, .always),
            ([.applicationPassword], .always, .always, .always, .always),
            ([.userPresence], .userPresence, .always, .always, .never),
            ([.devicePasscode], .devicePasscode, .always, .always, .never),
            ([.biometryAny], .biometryAny, .always, .always, .never),
            ([.touchIDCurrentSet], .biometryCurrentSet, .always, .always, .never),
            ([.watch], .companion, .always, .always, .never),
            (
                [.devicePasscode, .biometryAny],
                .atLeast(required: 2, of: [.devicePasscode, .biometryAny]), .always, .always,
                .never
            ),
            (
                [.devicePasscode, .biometryAny, .or],
                .atLeast(required: 1, of: [.devicePasscode, .biometryAny]), .always, .always,
                .never
            ),
            ([.privateKeyUsage], .never, .never, .always, .always),
            ([.privateKeyUsage, .userPresence], .never, .never, .always, .userPresence),
        ] as [(SecAccessControlCreateFlags, Constraint, Constraint, Constraint, Constraint)])
    func `flags become what each operation asks for`(
        _ flags: SecAccessControlCreateFlags, _ decrypt: Constraint, _ encrypt: Constraint,
        _ delete: Constraint, _ sign: Constraint
    ) throws {
        let rights = try #require(make("cku" as NSString, flags).rights?.itemRights)
        #expect(rights.protection == .afterFirstUnlockThisDeviceOnly)
        #expect(rights.constraint(for: .decrypt) == decrypt)
        #expect(rights.constraint(for: .encrypt) == encrypt)
        #expect(rights.constraint(for: .delete) == delete)
        #expect(rights.constraint(for: .sign) == sign)
        #expect(rights.needsApplicationPassword == flags.contains(.applicationPassword))
    }

    @Test func `rights are equal by what they say`() {
        let first = make("ak" as NSString, .userPresence).rights
        #expect(first == make("ak" as NSString, .userPresence).rights)
        #expect(first?.hash == make("ak" as NSString, .userPresence).rights?.hash)
        #expect(first != make("ck" as NSString, .userPresence).rights)
        #expect(first != make("ak" as NSString, .devicePasscode).rights)
        #expect(make("f" as NSString, []).rights != make("ak" as NSString, []).rights)
    }

    @Test(
        arguments: [
            ([], "<SecAccessControlRef: ak;dacl(true)>"),
            (
                [.userPresence, .applicationPassword],
                "<SecAccessControlRef: ak;od(cpol(DeviceOwnerAuthentication));odel(true);"
                    + "oe(true);prp(true)>"
            ),
            (
                [.devicePasscode, .watch, .or],
                "<SecAccessControlRef: ak;od(pkofn(1)cup(true)cwtch(true));odel(true);oe(true)>"
            ),
        ] as [(SecAccessControlCreateFlags, String)])
    func `rights describe themselves`(_ flags: SecAccessControlCreateFlags, _ text: String) {
        #expect(make("ak" as NSString, flags).rights?.description == text)
    }

    @Test func `flags have Apple's values`() {
        let values: [(SecAccessControlCreateFlags, UInt)] = [
            (.userPresence, 0x1), (.biometryAny, 0x2), (.touchIDAny, 0x2),
            (.biometryCurrentSet, 0x8), (.touchIDCurrentSet, 0x8), (.devicePasscode, 0x10),
            (.companion, 0x20), (.watch, 0x20), (.or, 0x4000), (.and, 0x8000),
            (.privateKeyUsage, 0x4000_0000), (.applicationPassword, 0x8000_0000),
        ]
        for (flag, value) in values { #expect(flag.rawValue == value) }
    }
}
