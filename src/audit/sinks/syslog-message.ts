// How an audit event looks as a syslog message (RFC 5424), and how messages follow one another on a connection.
import type { StreamedEvent } from './audit-sink.js';

/** "log audit" (RFC 5424 §6.2.1). */
const FACILITY = 13;
const WARNING = 4;
const INFORMATIONAL = 6;
const APP_NAME = 'embedded-token-exchange';
const MOST_HOSTNAME = 255;
const MOST_MSGID = 32;
const NIL = '-';

/**
 * A frame by octet counting (RFC 6587 §3.4.1, RFC 5425 §4.3), with the event as JSON in its MSG. The event's own time and id are
 * in it, so a message that is sent again is the same, octet by octet.
 * @param hostname of the instance, by its public address: whichever of its processes sends, it is the same
 */
export function syslogFrame({ name, occurredAt, json }: StreamedEvent, hostname: string): string {
  const priority = FACILITY * 8 + (/(failed|refused)$/.test(name) ? WARNING : INFORMATIONAL);
  const header = `<${priority}>1 ${occurredAt} ${printable(hostname, MOST_HOSTNAME)} ${APP_NAME} ${NIL} ${messageId(name)} ${NIL}`;
  const message = `${header} ${json}`;
  return `${Buffer.byteLength(message)} ${message}`;
}

/** The event's name without what all share: `succeeded`, `api.called`. */
function messageId(name: string): string {
  return printable(name.replace(/^svc\.audit\.(token-exchange\.)?/, ''), MOST_MSGID);
}

/** PRINTUSASCII, without which it is NIL. */
function printable(text: string, most: number): string {
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, most) || NIL;
}
