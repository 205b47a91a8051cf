// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

extension ItemQuery: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.append(itemClass)
        message.append(keychain)
        message.append(attributes)
        message.append(accessible != nil)
        if let accessible { message.append(accessible) }
        message.append(accessGroup)
        message.append(synchronizable)
        message.append(references != nil)
        if let references { message.append(references) }
        message.append(hostOrSubdomain)
        message.append(folding)
        message.append(limit != nil)
        if let limit { message.bytes.append(number: UInt64(bitPattern: Int64(clamping: limit))) }
        message.append(parts)
        message.append(authenticationUI)
        message.append(reason)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init(try message.raw())
        keychain = try message.optionalText()
        attributes = try message.attributes()
        accessible = try message.flag() ? try message.raw() : nil
        accessGroup = try message.optionalText()
        synchronizable = try message.raw()
        references = try message.flag() ? try message.values(ofAtLeast: 17) : nil
        hostOrSubdomain = try message.optionalText()
        folding = Folding(rawValue: try message.bytes.byte())
        limit = try message.flag() ? try Self.limit(&message) : nil
        returnFields = ReturnFields(rawValue: try message.bytes.byte())
        authenticationUI = try message.raw()
        reason = try message.optionalText()
    }

    private static func limit(_ message: inout MessageReader) throws(MalformedBytes) -> Int {
        let number = Int64(bitPattern: try message.bytes.number(UInt64.self))
        guard number >= 0 else { throw MalformedBytes() }
        return Int(clamping: number)
    }
}

extension NewItem: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.append(itemClass)
        message.append(keychain)
        message.append(attributes)
        message.append(accessGroup)
        message.append(isSynchronizable)
        message.append(accessible)
        message.append(accessControl)
        message.append(trusted != nil)
        if let trusted { message.append(trusted) }
        message.append(authenticationUI)
        message.append(reason)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init(try message.raw())
        keychain = try message.optionalText()
        attributes = try message.attributes()
        accessGroup = try message.optionalText()
        isSynchronizable = try message.flag()
        accessible = try message.raw()
        accessControl = try message.optional()
        trusted = try message.flag() ? try message.programs() : nil
        authenticationUI = try message.raw()
        reason = try message.optionalText()
    }
}

extension ItemChange: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.append(attributes)
        message.append(accessGroup)
        message.append(isSynchronizable != nil)
        if let isSynchronizable { message.append(isSynchronizable) }
        message.append(accessible != nil)
        if let accessible { message.append(accessible) }
        message.append(accessControl)
        message.append(trust)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init()
        attributes = try message.attributes()
        accessGroup = try message.optionalText()
        isSynchronizable = try message.flag() ? try message.flag() : nil
        accessible = try message.flag() ? try message.raw() : nil
        accessControl = try message.optional()
        trust = try message.optional()
    }
}
