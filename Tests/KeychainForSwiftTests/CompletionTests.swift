// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainForSwift
import Testing

@Suite struct KeychainCompletions {
    private let keychain = Keychain(service: freshService())
    private let data = Data("secret".utf8)

    private struct Report: Equatable {
        let success: Bool
        let data: Data?
        let status: OSStatus
    }

    private func report(
        of call: (@escaping Keychain.Completion) -> Void
    ) async -> Report {
        await withCheckedContinuation { continuation in
            call { success, data, status in
                continuation.resume(
                    returning: Report(success: success, data: data, status: status))
            }
        }
    }

    private let done = Report(success: true, data: nil, status: errSecSuccess)
    private func failed(_ status: OSStatus) -> Report {
        Report(success: false, data: nil, status: status)
    }

    @Test func `handlers hear of success, data and status`() async {
        #expect(
            await report { keychain.find("joe", completion: $0) } == failed(errSecItemNotFound))
        #expect(await report { keychain.insert(data, for: "joe", completion: $0) } == done)
        #expect(
            await report { keychain.insert(data, for: "joe", completion: $0) }
                == failed(errSecDuplicateItem))
        #expect(
            await report { keychain.find("joe", completion: $0) }
                == Report(success: true, data: data, status: errSecSuccess))
        #expect(await report { keychain.set(Data([1]), for: "joe", completion: $0) } == done)
        #expect(await report { keychain.update(Data([2]), for: "joe", completion: $0) } == done)
        #expect(
            await report { keychain.find("joe", completion: $0) }
                == Report(success: true, data: Data([2]), status: errSecSuccess))
        #expect(
            await report { keychain.update(data, for: "jane", completion: $0) }
                == failed(errSecItemNotFound))
        #expect(await report { keychain.remove("joe", completion: $0) } == done)
        #expect(
            await report { keychain.remove("joe", completion: $0) }
                == failed(errSecItemNotFound))
    }
}
