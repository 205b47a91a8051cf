// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

/// Which items of other services are secrets of applications.
@Suite struct PortalApplicationItemTests {
    private func application(
        _ pairs: [String: String], bytes: Int = 64, label: String = ""
    ) -> String? {
        var attributes: Attributes = [.label: .string(label)]
        for (name, value) in pairs { attributes[.pair(name)] = .string(value) }
        return PortalApplication(ofItem: attributes, secretBytes: bytes)?.name
    }

    @Test(arguments: [
        [:], ["xdg:schema": "org.freedesktop.portal.Secret"],
        ["xdg:schema": "org.freedesktop.Secret.Generic"],
    ])
    func `an item of an application's name alone is that application's`(more: [String: String]) {
        let pairs = ["app_id": "org.example.App"].merging(more) { first, _ in first }
        #expect(application(pairs) == "org.example.App")
        #expect(application(pairs, label: "Any") == "org.example.App")
    }

    @Test func `any other item is none`() {
        #expect(application(["app_id": "org.example.App"], bytes: 32) == nil)
        #expect(application(["app_id": "org.example.App"], bytes: 65) == nil)
        #expect(application(["app_id": "org.example.App", "more": ""]) == nil)
        #expect(application(["app_id": "org.example.App", "xdg:schema": "other"]) == nil)
        #expect(application(["app_id": ""]) == nil)
        #expect(application(["app_id": "../etc"]) == nil)
        #expect(application(["name": "org.example.App"]) == nil)
    }
}
