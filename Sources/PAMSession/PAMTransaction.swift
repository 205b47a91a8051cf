// SPDX-License-Identifier: Apache-2.0
internal import CPAM
internal import Glibc

/// One authentication by PAM, from start to end. Opens no session and changes no credentials.
package enum PAMTransaction {
    private static let folders = ["/etc/pam.d/", "/usr/lib/pam.d/"]

    /// Returns when the service's modules have authenticated the account's user and the account may
    /// be used. The modules see the asker as PAM_RUSER.
    package static func authenticate(
        service: String, account: String, asker: String? = nil,
        conversation: any PAMConversation
    ) throws(PAMError) {
        // Without a file of its own PAM would use the service `other`.
        guard folders.contains(where: { unsafe access($0 + service, F_OK) == 0 }) else {
            throw .serviceMissing
        }
        let bridge = ConversationBridge(conversation)
        // Safe: the bridge outlives the transaction, which alone calls back into it.
        var callbacks = unsafe pam_conv(
            conv: { count, messages, responses, context in
                let bridge = unsafe Unmanaged<ConversationBridge>.fromOpaque(context!)
                    .takeUnretainedValue()
                return unsafe bridge.answer(count, messages, responses)
            }, appdata_ptr: Unmanaged.passUnretained(bridge).toOpaque())
        var handle: OpaquePointer?
        let started = unsafe pam_start(service, account, &callbacks, &handle)
        guard started == PAM_SUCCESS, let handle = unsafe handle else { throw .system(started) }
        var result = PAM_SUCCESS
        defer { _ = unsafe pam_end(handle, result) }
        if let asker {
            // Safe: PAM copies the text.
            result = unsafe asker.withCString { unsafe pam_set_item(handle, PAM_RUSER, $0) }
            guard result == PAM_SUCCESS else { throw .system(result) }
        }
        result = unsafe pam_authenticate(handle, Int32(bitPattern: PAM_DISALLOW_NULL_AUTHTOK))
        withExtendedLifetime(bridge) {}
        guard bridge.rounds <= ConversationBridge.mostRounds else { throw .tooManyRounds }
        guard result == PAM_SUCCESS else {
            throw bridge.wasCancelled ? .cancelled : PAMError(authentication: result)
        }
        guard unsafe user(of: handle) == account else { throw .userChanged }
        result = unsafe pam_acct_mgmt(handle, 0)
        guard result == PAM_SUCCESS else { throw .accountRefused }
    }

    private static func user(of handle: OpaquePointer) -> String? {
        var item: UnsafeRawPointer?
        // Safe: PAM owns the text, which is copied here.
        guard unsafe pam_get_item(handle, PAM_USER, &item) == PAM_SUCCESS,
            let text = unsafe item
        else { return nil }
        return unsafe String(cString: text.assumingMemoryBound(to: CChar.self))
    }
}
