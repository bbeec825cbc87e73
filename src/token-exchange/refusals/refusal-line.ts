// Writes the sentences of the log about what is refused: cause, values and where to read on.
import type { BearerReason, Explanation, FlowRefusalKind, NoticeKind } from './refusals.js';
import { BEARER_REFUSALS, NOTICES, REQUEST_REFUSALS } from './refusals.js';
import type { RejectionContext } from './rejection.js';
import type { RejectionReason } from './token-refusals.js';
import { TOKEN_REFUSALS } from './token-refusals.js';

/** The page of the documentation that has a row, with an anchor, for each word. */
export const REFUSALS_PAGE = 'docs/refusals.md';

/** The values of a line beyond the cause. */
export type Values = Pick<RejectionContext, 'party' | 'detail' | 'expected' | 'found'>;

/** @param work what was refused, such as `a token exchange` */
export function rejectionLine(work: string, reason: RejectionReason, values: Values): string {
  const whose = values.party === undefined ? '' : ` for its ${values.party} token`;
  return `${work} was refused${whose}: ${line(TOKEN_REFUSALS[reason], values, reason)}`;
}

export function flowRefusalLine(work: string, kind: FlowRefusalKind, values: Values): string {
  return `${work} was refused: ${line(REQUEST_REFUSALS[kind], values, kind)}`;
}

export function bearerLine(reason: BearerReason, values: Values): string {
  return `an API call was refused: ${line(BEARER_REFUSALS[reason], values, bearerAnchor(reason))}`;
}

export function noticeLine(kind: NoticeKind, values: Values): string {
  return line(NOTICES[kind], values, kind);
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
  const explained = [cause, ...values.filter((value) => value !== undefined)].join('; ');
  return `${explained}; see ${REFUSALS_PAGE}#${anchor}`;
}
