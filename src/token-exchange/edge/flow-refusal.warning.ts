// Tells the operator of requests that are refused for what they are: nothing else of them is kept but the access line.
import type { Log } from '../../platform/log/log.js';
import type { ThrottledFlow } from '../host/telemetry.js';
import { flowRefusalLine } from '../refusal-line.js';
import type { FlowRefusal, FlowRefusalKind } from './flow-refusal.js';

/** Where a request came to. */
export interface RefusedAt {
  readonly flow: ThrottledFlow;
  /** In the log. */
  readonly work: string;
  readonly requestId: string;
}

/** Judged before the throttle: whoever sends them could fill the log. */
const UNCOUNTED: readonly FlowRefusalKind[] = ['not_available', 'method_not_allowed'];

/** @rule D79 A refused form is a warning with its request id, and no record in the trail. */
export function warnOfFlowRefusal(
  log: Log,
  refusal: FlowRefusal,
  { flow, work, requestId }: RefusedAt,
): void {
  const { kind, message: detail, found } = refusal;
  if (UNCOUNTED.includes(kind)) return;
  log.warn({ requestId, flow, reason: kind, detail, found }, flowRefusalLine(work, kind, { detail, found }));
}
