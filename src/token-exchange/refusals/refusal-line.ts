// Writes the log's sentences about refusals: cause, values and the link to the documentation.
import type { BearerReason } from '../tokens/bearer-refusals.js';
import { BEARER_REFUSALS } from '../tokens/bearer-refusals.js';
import type { RefusalContext } from './oauth-refusal.js';
import type { Explanation } from './refusal.js';
import type { NoticeKind, RequestRefusalReason } from './refusals.js';
import { NOTICES, REQUEST_REFUSALS } from './refusals.js';
import type { TokenRefusalReason } from './token-refusals.js';
import { TOKEN_REFUSALS } from './token-refusals.js';

/** The page with a row and an anchor for each reason. */
export const REFUSALS_PAGE = 'docs/refusals.md';

/** The values of a line after the cause. */
export type Values = Pick<RefusalContext, 'party' | 'detail' | 'expected' | 'found'>;

/** @param work what was refused, such as `a token exchange` */
export function tokenRefusalLine(work: string, reason: TokenRefusalReason, values: Values): string {
  const whose = values.party === undefined ? '' : ` for its ${values.party} token`;
  return `${work} was refused${whose}: ${line(TOKEN_REFUSALS[reason], values, reason)}`;
}

export function requestRefusalLine(work: string, kind: RequestRefusalReason, values: Values): string {
  return `${work} was refused: ${line(REQUEST_REFUSALS[kind], values, kind)}`;
}

export function bearerLine(reason: BearerReason, values: Values): string {
  return `an API call was refused: ${line(BEARER_REFUSALS[reason], values, bearerAnchor(reason))}`;
}

export function noticeLine(kind: NoticeKind, values: Values): string {
  return line(NOTICES[kind], values, kind);
}

/** Access tokens and external tokens share some names of reasons, so the anchors differ. */
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
