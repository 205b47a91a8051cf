// SPDX-License-Identifier: Apache-2.0

public struct Secret: Sendable, Equatable {
    public let text: String

    public init(_ text: String) { self.text = text }
}
