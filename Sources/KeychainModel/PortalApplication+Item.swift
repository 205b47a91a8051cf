// SPDX-License-Identifier: Apache-2.0

extension PortalApplication {
    /// Bytes of the secret that each application has.
    package static let secretBytes = 64
    package static let schema = "org.freedesktop.portal.Secret"
    package static let nameOfApplication = AttributeName.pair("app_id")

    /// The application whose secret an item of another service is; nil for other items. gnome-keyring's
    /// have the application's name and nothing else, others' a schema besides.
    package init?(ofItem attributes: Attributes, secretBytes: Int) {
        guard secretBytes == Self.secretBytes, attributes.tellingPairs.count == 1,
            case .string(let name)? = attributes[Self.nameOfApplication],
            attributes.tellingSchema.map({ $0 == .string(Self.schema) }) ?? true
        else { return nil }
        self.init(name)
    }
}
