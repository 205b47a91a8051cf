// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import MessageBus

/// What the desktop's portal asks for in an application's name.
struct PortalRequest: Sendable {
    /// Of the one connection whose descriptors are taken.
    static let owner = "org.freedesktop.portal.Desktop"
    static let path = "/org/freedesktop/portal/desktop"
    static let handles = path + "/request/"
    static let version: UInt32 = 1
    /// The call that brings a descriptor.
    static let member = "RetrieveSecret"

    /// The path of the object by which the portal takes the request back.
    let handle: String
    let application: PortalApplication
    /// Where the secret is to be written; nil where it was not taken.
    let output: Descriptor?
}

extension ServiceMember {
    /// The options have nothing that counts here, and are not read.
    static let retrieveSecret = ServiceMember(
        PortalRequest.member, ["handle": "o", "app_id": "s", "fd": "h", "options": "a{sv}"],
        gives: ["response": "u", "results": "a{sv}"]
    ) { message, _ throws(ReadingError) in
        do throws(BusReadError) {
            let handle = try message.path(atMost: ObjectPath.longest)
            let name = try message.text(atMost: PortalApplication.longest)
            guard handle.hasPrefix(PortalRequest.handles),
                let application = PortalApplication(name)
            else { throw .mismatch }
            return .retrieveSecret(
                PortalRequest(
                    handle: handle, application: application,
                    output: try message.descriptor()))
        } catch { throw .read(error) }
    }
}
