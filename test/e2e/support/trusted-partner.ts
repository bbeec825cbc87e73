// A partner whose trusted key entry has a policy, and the refusals that its tokens meet.
import type { Members, StaticKeyEntry } from '../../../demo/partner.js';
import { Partner } from '../../../demo/partner.js';
import { embedWordOf } from '../../support/attacks.js';
import { eventsOf } from '../../support/audit.js';
import type { Census } from '../../support/census.js';
import { census } from '../../support/census.js';
import type { EntryPath } from '../../support/entry-paths.js';
import { ENTRY_PATHS, INVALID_GRANT } from '../../support/entry-paths.js';
import type { TestService } from '../../support/test-service.js';
import { BASE_URL } from '../../support/test-service.js';

let partners = 0;
let people = 0;

/** A sub that no other test of the file uses. */
export const newSub = () => `person-${++people}`;

export class TrustedPartner {
  readonly entry: StaticKeyEntry;
  readonly partner = Partner.create({
    issuer: `https://issuer-${++partners}.example`,
    audience: BASE_URL,
  });

  /** @param policy members of the entry; `undefined` leaves one out */
  constructor(policy: Members = {}) {
    this.entry = this.partner.staticEntry(policy);
  }

  get issuer(): string {
    return this.partner.issuer;
  }

  /** Without names, so that a user who is known stays as they are. */
  token(claims: Members = {}): string {
    const names = { given_name: undefined, family_name: undefined };
    return this.partner.sign(this.partner.claims({ ...names, ...claims }));
  }

  emailOf(sub: string): string {
    return String(this.partner.claims({ sub })['email']);
  }
}

/** A subject token with an acceptable actor token. Each token is checked by its own entry. */
export const subjectBesideActor: EntryPath = {
  name: 'exchange subject beside an actor',
  flow: 'exchange',
  party: 'subject',
  send: (service, token, companion) => service.exchange({ subject_token: token, actor_token: companion() }),
};

/** The entry paths without the login by GET, which decides on the user like the login by POST. */
export const WAYS: readonly EntryPath[] = [
  ...ENTRY_PATHS.filter(({ name }) => name !== 'embed GET'),
  subjectBesideActor,
];

export const FAILURES = {
  embed: 'svc.audit.token-exchange.embed-login-failed',
  exchange: 'svc.audit.token-exchange.failed',
};

/** An answer to a refused token, and the one trace of it: the audit row with the reason. */
export async function expectRefusal(
  service: TestService,
  answer: Response,
  { flow, party }: Pick<EntryPath, 'flow' | 'party'>,
  reason: string,
): Promise<void> {
  expect(answer.headers.get('set-cookie')).toBeNull();
  const body = await answer.text();
  if (flow === 'exchange') expect([answer.status, body]).toEqual([400, INVALID_GRANT]);
  else {
    expect([answer.status, JSON.parse(body)]).toEqual([
      401,
      { error: embedWordOf(reason), message: expect.any(String) },
    ]);
  }
  const ofParty = party === undefined ? {} : { party };
  expect(await eventsOf(service, answer)).toMatchObject([
    { name: FAILURES[flow], payload: { reason, ...ofParty } },
  ]);
}

/** Expects only the refusal's audit row and the ids of used-up tokens as new data. */
export async function expectUnchanged(service: TestService, before: Census, consumed: number): Promise<void> {
  const { usedJtis, auditEvents, ...rest } = before;
  const more = { usedJtis: usedJtis + consumed, auditEvents: auditEvents + 1 };
  expect(await census(service)).toEqual({ ...rest, ...more });
}
