// Reads the header by which a caller says which trace a request belongs to (W3C Trace Context).
import type { TraceIds } from '../log/request-traces.js';

/** Version, trace id, parent id, flags; what a later version adds follows a hyphen. */
const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-[0-9a-f]{2}(?<rest>-.*)?$/;
const ONLY_ZEROS = /^0+$/;

/**
 * The ids of a `traceparent`; undefined where it is missing or malformed, which is no reason to refuse anything (W3C Trace
 * Context §3.2.2.3, the same in level 2). Malformed are: version `ff`, an id of zeros, capital letters, more than version `00` has. Flags are
 * not looked at: a caller's wish that a trace be recorded costs nothing here.
 */
export function readTraceparent(field: string | string[] | undefined): TraceIds | undefined {
  const { version, traceId, spanId, rest } = TRACEPARENT.exec(String(field ?? ''))?.groups ?? {};
  if (traceId === undefined || spanId === undefined || version === 'ff') return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return ONLY_ZEROS.test(traceId) || ONLY_ZEROS.test(spanId) ? undefined : { traceId, spanId };
}
