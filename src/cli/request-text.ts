// Writes what the trail holds of one request for people at a terminal.
import type { ExplainedEvent, ExplainedRequest } from '../administration/explained-request.js';
import { printable } from './table.js';

/** What stands in lines of its own, or is said by them. */
const TOLD = ['reason', 'detail', 'expected', 'found'];
/** The database keeps no order of members. */
const FIRST = ['flow', 'party', 'issuer', 'kid'];

export function requestText({ requestId, events }: ExplainedRequest): string {
  const lines = [`Request ${requestId}`, ...events.flatMap((event) => ['', ...eventLines(event)])];
  return `${lines.map(printable).join('\n')}\n`;
}

function eventLines(event: ExplainedEvent): string[] {
  const { reason, check, cause, remedy, payload } = event;
  const head = `${event.occurredAt} ${event.event}`;
  if (reason === null) return [head, ...valueLines(event)];
  const { detail, expected, found } = payload;
  return [
    `${head}: ${reason}`,
    ...(check === null ? [] : [`Check:    ${check}`]),
    `Cause:    ${cause ?? 'this release has no such reason'}${typeof detail === 'string' ? ` (${detail})` : ''}`,
    ...(remedy === null ? [] : [`Remedy:   ${remedy}`]),
    ...(typeof expected === 'string' ? [`Expected: ${expected}`] : []),
    ...(typeof found === 'string' ? [`Found:    ${found}`] : []),
    ...valueLines(event),
  ];
}

/** Whom and what it is about besides. */
function valueLines({ subjectUserId, actorUserId, payload }: ExplainedEvent): string[] {
  const first = Object.fromEntries(FIRST.flatMap((name) => (name in payload ? [[name, payload[name]]] : [])));
  const values = Object.entries({ ...first, subjectUserId, actorUserId, ...payload }).filter(
    ([name, value]) => value !== null && !TOLD.includes(name),
  );
  if (values.length === 0) return [];
  return [`Of:       ${values.map(([name, value]) => `${name} ${shown(value)}`).join(', ')}`];
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
