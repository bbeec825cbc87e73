// Which refused requests the operator is warned of.
import { FlowRefusal } from '../../../../src/token-exchange/edge/flow-refusal.js';
import type { FlowRefusalKind } from '../../../../src/token-exchange/edge/flow-refusal.js';
import { warnOfFlowRefusal } from '../../../../src/token-exchange/edge/flow-refusal.warning.js';
import { SILENT } from '../../../../src/platform/log/log.js';
import { FLOW_REFUSAL_EXPLANATIONS } from '../../../../src/token-exchange/refusal-explanations.js';

function warned(kind: FlowRefusalKind, found?: string): [object, string][] {
  const lines: [object, string][] = [];
  const log = { ...SILENT, warn: (fields: object, message: string) => void lines.push([fields, message]) };
  const refusal = new FlowRefusal(kind, 'the rule', undefined, found);
  warnOfFlowRefusal(log, refusal, { flow: 'exchange', work: 'a token exchange', requestId: 'r1' });
  return lines;
}

const KINDS = Object.keys(FLOW_REFUSAL_EXPLANATIONS) as FlowRefusalKind[];
const UNCOUNTED = ['not_available', 'method_not_allowed'];

it.each(KINDS.filter((kind) => !UNCOUNTED.includes(kind)))(
  '[D79] %s is a warning with its request id, its cause and where to read on',
  (kind) => {
    expect(warned(kind)).toEqual([
      [
        { requestId: 'r1', flow: 'exchange', reason: kind, detail: 'the rule', found: undefined },
        `a token exchange was refused: ${FLOW_REFUSAL_EXPLANATIONS[kind].cause}; the rule; see docs/refusals.md#${kind}`,
      ],
    ]);
  },
);

it.each(UNCOUNTED as FlowRefusalKind[])('[D79] %s, which no throttle bounds, is not', (kind) => {
  expect(warned(kind)).toEqual([]);
});

it('[D79] what came instead is told', () => {
  expect(warned('not_a_form', 'application/json')[0]?.[1]).toContain('; found application/json; see ');
});
