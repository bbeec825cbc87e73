// The checks of a request whose tokens are good by themselves, in the order in which they are made.
import type { Party } from '../refusals/rejection.js';
import type { CheckKind, MadeCheck, RequestFacts, TokenFacts } from './check-kinds.js';
import {
  CONSUMPTION,
  LOGOUT,
  OF_THE_LOGIN,
  OF_THE_PARTIES,
  OF_THE_TERMS,
  REVOCATION,
} from './request-checks.js';
import { OF_THE_USER } from './user-checks.js';

/** @param users whose user is found in which order */
export function checksOf(request: RequestFacts, users: readonly Party[]): MadeCheck[] {
  const { flow, subject, actor } = request;
  const tokens = actor === undefined ? [subject] : [subject, actor];
  const of = (token: TokenFacts, kinds: readonly CheckKind[], party: Party | null = token.party) =>
    kinds
      .filter(({ applies = always }) => applies(token, request))
      .map(({ check, about, reasons, compared }) => ({
        ...{ check, about, reasons, party },
        compared: () => compared(token, request),
      }));
  return [
    ...of(subject, flow === 'embed' ? OF_THE_LOGIN : OF_THE_PARTIES, null),
    ...tokens.flatMap((token) => of(token, [REVOCATION, LOGOUT])),
    ...(flow === 'embed' ? [] : of(subject, OF_THE_TERMS, null)),
    ...of(subject, [CONSUMPTION], null),
    ...users.flatMap((party) => of(party === 'actor' ? (actor ?? subject) : subject, OF_THE_USER)),
  ];
}

function always(): boolean {
  return true;
}
