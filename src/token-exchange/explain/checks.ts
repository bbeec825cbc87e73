// The checks of both flows in the order in which they are made: which reason belongs to which, and what each compares.
import type { Party } from '../rejection.js';
import type { CheckKind, MadeCheck, RequestFacts, TokenFacts } from './check-kinds.js';
import { CONSUMPTION, OF_THE_LOGIN, OF_THE_PARTIES, OF_THE_TERMS, REVOCATION } from './request-checks.js';
import { OF_A_TOKEN } from './token-checks.js';
import { OF_THE_USER } from './user-checks.js';

/**
 * All checks of a request, in the order in which they are made.
 * @param users whose user is found in which order
 */
export function checksOf(request: RequestFacts, users: readonly Party[]): MadeCheck[] {
  const { flow, subject, actor } = request;
  const tokens = actor === undefined ? [subject] : [subject, actor];
  const of = (token: TokenFacts, kinds: readonly CheckKind[], party: Party | null = token.party) =>
    kinds
      .filter(({ applies = always }) => applies(token, request))
      .map(({ check, about, reasons, isFailing = always, compared }) => ({
        ...{ check, about, reasons, party },
        isFailing: () => isFailing(token, request),
        compared: () => compared(token, request),
      }));
  return [
    ...tokens.flatMap((token) => of(token, OF_A_TOKEN)),
    ...of(subject, OF_THE_PARTIES, null),
    ...(flow === 'embed' ? of(subject, OF_THE_LOGIN, null) : []),
    ...tokens.flatMap((token) => of(token, [REVOCATION])),
    ...(flow === 'exchange' ? of(subject, OF_THE_TERMS, null) : []),
    ...of(subject, [CONSUMPTION], null),
    ...users.flatMap((party) => of(party === 'actor' ? (actor ?? subject) : subject, OF_THE_USER)),
  ];
}

function always(): boolean {
  return true;
}
