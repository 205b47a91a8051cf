// SPDX-License-Identifier: Apache-2.0

extension PortalApplication {
    /// Bytes of each application's secret.
    package static let secretBytes = 64
    package static let schema = "org.freedesktop.portal.Secret"
    package static let nameOfApplication = AttributeName.pair("app_id")

    /// The application whose portal secret the item of another service is; nil for other items.
    /// gnome-keyring's items have only the application's name, other services' also a schema.
    package init?(ofItem attributes: Attributes, secretBytes: Int) {
        guard secretBytes == Self.secretBytes, attributes.tellingPairs.count == 1,
            case .string(let name)? = attributes[Self.nameOfApplication],
            attributes.tellingSchema.map({ $0 == .string(Self.schema) }) ?? true
        else { return nil }
        self.init(name)
    }
}
