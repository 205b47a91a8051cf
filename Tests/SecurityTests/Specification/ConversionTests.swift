// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Testing

@testable import Security

/// One value of a dictionary and what each kind of attribute makes of it; nil is a refusal.
private struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let given: @Sendable () -> Any
    let converted: [AttributeKind: AttributeValue]

    init(
        _ name: String, _ given: @autoclosure @escaping @Sendable () -> Any,
        blob: AttributeValue? = nil, data: AttributeValue? = nil, string: AttributeValue? = nil,
        number: AttributeValue? = nil, date: AttributeValue? = nil, uuid: AttributeValue? = nil
    ) {
        testDescription = name
        self.given = given
        var converted: [AttributeKind: AttributeValue] = [:]
        converted[.blob] = blob
        converted[.data] = data
        converted[.string] = string
        converted[.number] = number
        converted[.date] = date
        converted[.uuid] = uuid
        self.converted = converted
    }
}

private let identifier = UUID()
private let identifierBytes = withUnsafeBytes(of: identifier.uuid) { Array($0) }

@Suite struct Conversion {
    @Test(
        arguments: [
            Row(
                "text", "x", blob: .string("x"), data: .data([0x78]), string: .string("x"),
                number: .string("x")),
            Row(
                "text of Foundation", "x" as NSString, blob: .string("x"), data: .data([0x78]),
                string: .string("x"), number: .string("x")),
            Row(
                "digits", "42", blob: .string("42"), data: .data([0x34, 0x32]),
                string: .string("42"), number: .number(42)),
            Row(
                "digits below zero", "-7", blob: .string("-7"), data: .data([0x2D, 0x37]),
                string: .string("-7"), number: .number(-7)),
            Row(
                "digits behind a zero", "042", blob: .string("042"),
                data: .data(Array("042".utf8)), string: .string("042"), number: .string("042")),
            Row(
                "digits behind a plus", "+1", blob: .string("+1"), data: .data(Array("+1".utf8)),
                string: .string("+1"), number: .string("+1")),
            Row(
                "digits beyond 32 bits", "2147483678", blob: .string("2147483678"),
                data: .data(Array("2147483678".utf8)), string: .string("2147483678"),
                number: .string("2147483678")),
            Row(
                "no text", "", blob: .string(""), data: .data([]), string: .string(""),
                number: .string("")),
            Row(
                "a protocol", kSecAttrProtocolHTTPS, blob: .string("htps"),
                data: .data(Array("htps".utf8)), string: .string("htps"), number: .string("htps")),
            Row(
                "data of text", Data("x".utf8), blob: .data([0x78]), data: .data([0x78]),
                string: .string("x")),
            Row(
                "data of no text", Data([0xFF]), blob: .data([0xFF]), data: .data([0xFF])),
            Row(
                "no data", Data(), blob: .data([]), data: .data([]), string: .string(""),
                uuid: .data([])),
            Row(
                "sixteen bytes", Data(repeating: 0xFF, count: 16),
                blob: .data(.init(repeating: 0xFF, count: 16)),
                data: .data(.init(repeating: 0xFF, count: 16)),
                uuid: .data(.init(repeating: 0xFF, count: 16))),
            Row(
                "a number", 5, blob: .number(5), data: .data([5, 0, 0, 0]), number: .number(5)),
            Row(
                "a number of a byte", UInt8(5), blob: .number(5), data: .data([5, 0, 0, 0]),
                number: .number(5)),
            Row(
                "a number below zero", -1, blob: .number(-1),
                data: .data([0xFF, 0xFF, 0xFF, 0xFF]), number: .number(-1)),
            Row(
                "a whole real", 5.0, blob: .number(5), data: .data([5, 0, 0, 0]), number: .number(5)
            ),
            Row(
                "a real", 1.5, blob: .real(1.5), data: .data([1, 0, 0, 0]), number: .real(1.5)),
            Row(
                "a huge number", UInt64.max, blob: .real(Double(UInt64.max)),
                number: .real(Double(UInt64.max))),
            Row("not a number", Double.nan),
            Row("infinity", Double.infinity),
            Row("true", true, number: .number(1)),
            Row("true of Core Foundation", kCFBooleanTrue as Any, number: .number(1)),
            Row("a boolean in its other spelling", true as CFBoolean, number: .number(1)),
            Row("false", false, number: .number(0)),
            Row("one", 1, blob: .number(1), data: .data([1, 0, 0, 0]), number: .number(1)),
            Row("a date", Date(timeIntervalSinceReferenceDate: 7), date: .date(7)),
            Row("a far date", Date(timeIntervalSinceReferenceDate: 1e300), date: .date(1e300)),
            Row("no date", Date(timeIntervalSinceReferenceDate: .infinity)),
            Row(
                "an identifier", identifier, string: .string(identifier.uuidString),
                uuid: .data(identifierBytes)),
            Row("null", NSNull(), uuid: .data([])),
            Row("a list", ["x"]),
            Row("a dictionary", ["x": "y"]),
            Row("an object", NSObject()),
            Row("an address", URL(string: "http://example.com")!),
            Row("nothing", Int?.none as Any, uuid: .data([])),
        ])
    private func `a value becomes what its attribute holds, or is refused`(_ row: Row) throws {
        for kind in [AttributeKind.blob, .data, .string, .number, .date, .uuid] {
            // Through a dictionary, as calls get it.
            let dictionary: NSDictionary = ["key": row.given()] as NSDictionary
            let given = dictionary.map { QueryValue($0.value as AnyObject) }
            if let converted = row.converted[kind] {
                #expect(try kind.value(given[0]) == converted, "\(kind)")
            } else {
                #expect(throws: RequestError.invalid(.badRequest), "\(kind)") {
                    try kind.value(given[0])
                }
            }
        }
    }

    @Test(
        arguments: [
            ("1", ItemQuery.Synchronizable.yes), (1, .yes), (true, .yes), ("0", .no), (0, .no),
            (false, .no), ("syna", .any),
        ] as [(any Sendable, ItemQuery.Synchronizable)])
    func `synchronisation is said in many ways`(
        _ value: any Sendable, _ expected: ItemQuery.Synchronizable
    ) throws {
        let dictionary = ["class": "genp", "sync": value] as CFDictionary
        guard case .items(let query) = try Selection(dictionary, for: .delete).target else {
            Issue.record("not a query for items")
            return
        }
        #expect(query.synchronizable == expected)
    }
}
