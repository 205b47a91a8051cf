// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import Testing

@testable import CredentialHelpers
@testable import SecretJSON

func held(_ text: String) -> HeldSecret { HeldSecret(text: text) }

func text(_ secret: HeldSecret?) -> String? {
    secret.map { String(decoding: $0.bytes.releasedFromLockedMemory(), as: UTF8.self) }
}

@Suite struct JSONReading {
    private func object(_ json: String) throws -> SecretJSONValue {
        try SecretJSONReader.value(of: held(json), .request)
    }

    @Test func `texts come back without their escapes`() throws {
        let value = try object(#"{"a":"x\"\\\/\b\f\n\r\té\uD83D\uDE00","b":"ü\u00fc"}"#)
        #expect(text(value.secret("a")) == "x\"\\/\u{8}\u{C}\n\r\té😀")
        #expect(text(value.secret("b")) == "üü")
    }

    @Test func `numbers, flags, lists and what is null are told apart`() throws {
        let value = try object(
            #" { "n" : -12 , "f" : 1.5e3, "t":true, "l":[1,"x",null,{}], "z":null } "#)
        #expect(value.number("n") == -12)
        #expect(value.number("f") == nil)
        #expect(value["z"] == nil)
        guard case .list(let list)? = value["l"]?.content else {
            Issue.record("no list")
            return
        }
        #expect(list.count == 4)
    }

    @Test(arguments: [
        "", " ", "{", "}", "{}{}", "{},", "[1,]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{'a':1}",
        "{\"a\":1,\"a\":2}", "\"x", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\\udc00\"", "\"\u{1}\"", "\"a\nb\"", "01", "1.", "-", "1e", "+1", "tru", "nul",
        "// x\n1",
        "[1 2]", "\u{FEFF}{}", "{\"\\u0000\":1}",
    ])
    func `anything else than one value is refused`(json: String) {
        #expect(throws: SecretJSONReader.Malformed.self) {
            try SecretJSONReader.value(of: held(json), .request)
        }
    }

    @Test func `bytes that are no text are refused`() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xC3, 0x22]] {
            let input = HeldSecret(SecretBytes(copying: bytes))
            #expect(throws: SecretJSONReader.Malformed.self) {
                try SecretJSONReader.value(of: input, .request)
            }
        }
    }

    @Test func `what is nested deeply or has many values is refused, and does no harm`() {
        for json in [
            String(repeating: "[", count: 1_000_000),
            String(repeating: "{\"a\":", count: 100_000),
            "[" + String(repeating: "1,", count: 100_000) + "1]",
            String(repeating: "9", count: 100_000),
        ] {
            #expect(throws: SecretJSONReader.Malformed.self) {
                try SecretJSONReader.value(of: held(json), .request)
            }
        }
    }

    @Test func `a number that is too large is none`() throws {
        #expect(try object(#"{"v":9223372036854775808}"#).number("v") == nil)
        #expect(try object(#"{"v":9223372036854775807}"#).number("v") == .max)
    }

    @Test func `what was written is read again`() throws {
        let all = String(String.UnicodeScalarView((1...0x2FF).compactMap(Unicode.Scalar.init)))
        let written = SecretText(object: [("name", held(all)), ("\"", held(""))]).joined()
        let value = try SecretJSONReader.value(of: written, .request)
        #expect(text(value.secret("name")) == all)
        #expect(text(value.secret("\"")) == "")
        #expect(!written.contains(0x0A))
    }

    @Test func `members keep their order, and each value knows its line`() throws {
        let value = try object("\n{\n\"b\": [1,\n 2],\r\n\"a\": {}}")
        #expect(value.line == 2)
        #expect(value.members.map(\.name) == ["b", "a"])
        #expect(value.members.map(\.value.line) == [3, 5])
        #expect(value["b"]?.elements.map(\.line) == [3, 4])
        #expect(throws: SecretJSONReader.Malformed(place: 10, line: 4)) {
            try object("{\"a\":\n1,\n\n}")
        }
    }

    @Test func `a mistake tells the place and nothing of the text`() {
        #expect(throws: SecretJSONReader.Malformed(place: 8, line: 1)) {
            try SecretJSONReader.value(of: held(#"{"a":"s"x"}"#), .request)
        }
        #expect(throws: HelperFailure.badInput("the request is no JSON (at byte 0)")) {
            try SecretJSONValue(request: held("hunter2"))
        }
        #expect(throws: HelperFailure.badInput("the request is no JSON object")) {
            try SecretJSONValue(request: held("\"hunter2\""))
        }
    }
}
