// SPDX-License-Identifier: Apache-2.0
internal import CYAML

/// The events that libyaml reads from a text. The library does not recurse; the reader of the
/// events must limit the depth.
@safe package final class YAMLEvents {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// The bytes must be UTF-8.
    package init(_ bytes: [UInt8]) throws(YAMLFault) {
        // Safe: both pieces of memory are this object's, and are there as long as the parser, which
        // reads the text where it lies.
        unsafe text = .allocate(capacity: bytes.count)
        _ = unsafe text.initialize(fromContentsOf: bytes)
        unsafe parser = .allocate(capacity: 1)
        unsafe parser.initialize(to: yaml_parser_t())
        guard unsafe yaml_parser_initialize(parser) == 1 else { throw YAMLFault() }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    deinit {
        // Safe: nothing of the parser is used afterwards; it is deleted before its text.
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe text.deallocate()
    }

    /// Must not be called after `.streamEnd`.
    package func next() throws(YAMLFault) -> YAMLEvent {
        var event = unsafe yaml_event_t()
        // Safe: the parser fills the event in where it says 1; what is in it is copied before it is
        // deleted.
        guard unsafe yaml_parser_parse(parser, &event) == 1 else {
            throw unsafe YAMLFault(parser.pointee)
        }
        defer { unsafe yaml_event_delete(&event) }
        return unsafe YAMLEvent(event)
    }
}

/// A part of a document, with the line and column, counted from 1, where it begins.
package struct YAMLEvent {
    package enum Kind: Equatable {
        case streamStart, streamEnd, documentStart, documentEnd
        case scalar(String), alias
        case sequenceStart, sequenceEnd
        case mappingStart, mappingEnd
    }

    package let kind: Kind
    package let line: Int
    package let column: Int
    package let hasAnchor: Bool

    fileprivate init(_ event: yaml_event_t) {
        // Safe: the type says which member of the union the parser filled in; a scalar has as many
        // bytes as its length says.
        line = unsafe Int(event.start_mark.line) + 1
        column = unsafe Int(event.start_mark.column) + 1
        var anchor = false
        switch unsafe event.type {
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            kind = unsafe .scalar(String(decoding: bytes, as: UTF8.self))
            anchor = unsafe scalar.anchor != nil
        case YAML_SEQUENCE_START_EVENT:
            kind = .sequenceStart
            anchor = unsafe event.data.sequence_start.anchor != nil
        case YAML_MAPPING_START_EVENT:
            kind = .mappingStart
            anchor = unsafe event.data.mapping_start.anchor != nil
        case YAML_SEQUENCE_END_EVENT: kind = .sequenceEnd
        case YAML_MAPPING_END_EVENT: kind = .mappingEnd
        case YAML_ALIAS_EVENT: kind = .alias
        case YAML_DOCUMENT_START_EVENT: kind = .documentStart
        case YAML_DOCUMENT_END_EVENT: kind = .documentEnd
        case YAML_STREAM_START_EVENT: kind = .streamStart
        default: kind = .streamEnd
        }
        hasAnchor = anchor
    }
}
