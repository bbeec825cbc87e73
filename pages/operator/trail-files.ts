// Formats events of the trail as JSON lines or CSV.

const COLUMNS = [
  ...(['id', 'event', 'occurredAt', 'requestId', 'clientRequestId', 'subjectUserId', 'actorUserId'] as const),
  'payload',
] as const;

export function jsonLinesOf(events: readonly object[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

/** RFC 4180. A cell that a spreadsheet would treat as a formula begins with an apostrophe. */
export function csvOf(
  events: readonly Readonly<Partial<Record<(typeof COLUMNS)[number], unknown>>>[],
): string {
  const cell = (value: unknown) => {
    const text = typeof value === 'string' ? value : (value ?? null) === null ? '' : JSON.stringify(value);
    return `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  };
  const lines = events.map((event) => COLUMNS.map((column) => cell(event[column])).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}
