// Writes the sentences of the log about what is refused: cause, values and where to read on.
import type { FlowRefusalKind } from './edge/flow-refusal.js';
import type { Explanation, NoticeKind } from './refusal-explanations.js';
import {
  BEARER_EXPLANATIONS,
  FLOW_REFUSAL_EXPLANATIONS,
  NOTICE_EXPLANATIONS,
  REJECTION_EXPLANATIONS,
} from './refusal-explanations.js';
import type { BearerReason, RejectionContext, RejectionReason } from './rejection.js';

/** The page of the documentation that has a row, with an anchor, for each word. */
export const REFUSALS_PAGE = 'docs/refusals.md';

/** What a line tells beyond the cause. */
export type Values = Pick<RejectionContext, 'party' | 'detail' | 'expected' | 'found'>;

/** @param work what was refused, such as `a token exchange` */
export function rejectionLine(work: string, reason: RejectionReason, values: Values): string {
  const whose = values.party === undefined ? '' : ` for its ${values.party} token`;
  return `${work} was refused${whose}: ${line(REJECTION_EXPLANATIONS[reason], values, reason)}`;
}

export function flowRefusalLine(work: string, kind: FlowRefusalKind, values: Values): string {
  return `${work} was refused: ${line(FLOW_REFUSAL_EXPLANATIONS[kind], values, kind)}`;
}

export function bearerLine(reason: BearerReason, values: Values): string {
  return `an API call was refused: ${line(BEARER_EXPLANATIONS[reason], values, bearerAnchor(reason))}`;
}

export function noticeLine(kind: NoticeKind, values: Values): string {
  return line(NOTICE_EXPLANATIONS[kind], values, kind);
}

/** One word may refuse an access token and an external one, for different reasons. */
export function bearerAnchor(reason: BearerReason): string {
  return `bearer-${reason}`;
}

function line({ cause }: Explanation, { detail, expected, found }: Values, anchor: string): string {
  const values = [
    detail,
    expected === undefined ? undefined : `expected ${expected}`,
    found === undefined ? undefined : `found ${found}`,
  ];
  const told = [cause, ...values.filter((value) => value !== undefined)].join('; ');
  return `${told}; see ${REFUSALS_PAGE}#${anchor}`;
}
