// The order of the audit trail in a copy of the database, whose transactions are counted anew.

/** The source's cursors in the order of their positions, before one of them or an event. */
const cursorsBefore = (eventId: string) =>
  `(SELECT count(*) FROM audit_sink_cursor AS other
    WHERE (other.transaction_id, other.event_id) < (source.transaction_id, source.${eventId}))`;

/**
 * In place of its transaction an event gets the number of sinks that have not had it: 0 for none. What no sink has had gets the
 * transaction of the copy, whose number is always larger. So each sink has had what comes up to its own number, and goes on behind that.
 * In a copy each sink goes on behind the event that it had last (D137).
 */
export const POSITIONS_IN_COPY = {
  audit_event: {
    transaction_id: `nullif(${cursorsBefore('id')}, (SELECT count(*) FROM audit_sink_cursor))`,
  },
  audit_sink_cursor: {
    transaction_id: cursorsBefore('event_id'),
    event_id: '9223372036854775807',
  },
} as const;
