// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
@testable internal import SecretService
internal import Testing

@Suite struct ServiceErrorTests {
    @Test(
        arguments: [
            RequestError.invalid(.dataTooLarge), .refused(.tooManyRequests), .failed(.outOfMemory),
        ])
    func `what is more than is taken exceeds a limit, of bytes, of requests or of memory`(
        _ error: RequestError
    ) {
        #expect(ServiceError(error).name == ServiceError.limitsExceeded.name)
    }
}
