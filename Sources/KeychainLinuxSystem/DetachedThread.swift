// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A thread that no other thread waits for.
package enum DetachedThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Returns false where the machine has no room for another thread.
    package static func start(
        stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        var attributes = pthread_attr_t()
        // Safe: the structures are this function's own; the work is released once, by the thread,
        // or here where there is none.
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackBytes { unsafe pthread_attr_setstacksize(&attributes, stackBytes) }
        let work = unsafe Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, &attributes,
            { work in
                unsafe Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        if result != 0 { unsafe work.release() }
        return result == 0
    }
}
