// SPDX-License-Identifier: Apache-2.0
import Foundation
import PolicyLanguage
import PolicyTools
import Testing

/// The policies that are shipped.
struct ShippedPolicyTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Policies")

    @Test func `are the baseline and ten examples`() throws {
        let examples = try FileManager.default.contentsOfDirectory(
            atPath: Self.folder.appending(path: "examples").path)
        #expect(examples.sorted().map { String($0.prefix(2)) } == (1...9).map { "0\($0)" } + ["10"])
    }

    @Test(arguments: [
        "10-baseline", "20-desktop-families",
        "examples/01-laptop", "examples/02-bastion", "examples/03-ci-runner",
        "examples/04-shared-workstation", "examples/05-kiosk", "examples/06-developer",
        "examples/07-database-server", "examples/08-payment-cards", "examples/09-health",
        "examples/10-open-desktop",
    ])
    func `are covered by their own tests, rule by rule and field by field`(_ name: String) {
        let path = Self.folder.appending(path: name + ".yaml").path
        let loaded = LoadedPolicies(reading: [path], today: testDay)
        #expect(loaded.diagnostics.isEmpty)
        let run = PolicyTestRun(loaded)
        #expect(run.diagnostics.isEmpty)
        #expect(!run.outcomes.isEmpty)
        let coverage = PolicyCoverage(loaded)
        #expect(coverage.rules.filter { !$0.isCovered }.map(\.id) == [])
        #expect(coverage.coveredConditions == coverage.conditionCount)
    }
}
