// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import KeychainLinuxSystem

struct CrashReportTests {
    private func words(_ result: ExitTest.Result?) -> String {
        guard let result else { return "" }
        return String(
            decoding: result.standardErrorContent + result.standardOutputContent, as: UTF8.self)
    }

    @Test func `a crash says where it was, and nothing of what was there`() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            try CrashReport.begin("tested")
            struct Unexpected: Error { let row = "a row with s3cret" }
            func read() throws { throw Unexpected() }
            try! read()
        }
        let words = words(result)
        #expect(words.contains("tested: crashed by signal "))
        #expect(words.contains(", at +0x"))
        #expect(!words.contains("s3cret"))
    }

    @Test func `what is logged is still seen`() async {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            try CrashReport.begin("tested")
            print("all is well")
            FileHandle.standardError.write(Data("a library's word".utf8))
        }
        let words = words(result)
        #expect(words.contains("all is well"))
        #expect(!words.contains("a library's word"))
    }
}
