// Which checks the tokens of a request pass together, and whose they are.
import { Partner } from '../../../../demo/partner.js';
import { verifyLogin } from '../../../../src/token-exchange/login/login-checks.js';
import type { OAuthRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import type {
  Tokens,
  VerifiedRequest,
} from '../../../../src/token-exchange/verify/external-token.verifier.js';
import {
  ExternalTokenVerifier,
  listOf,
  personOf,
  verifyAssertion,
  verifyExchange,
} from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { BASE_URL } from '../../../support/base-url.js';
import { IdJagClient } from '../../../support/id-jag-client.js';
import { knownRevocations } from '../../../support/known-revocations.js';
import { TestClock } from '../../../support/test-clock.js';
import { trustedKeysOf } from '../../../support/trusted-keys.js';

const PRODUCT = 'https://product.example';
const partnerOf = (kid: string) => Partner.create({ issuer: `https://${kid}.example`, kid });
const [subject, actor, robot, revoked] = [partnerOf('s'), partnerOf('a'), partnerOf('robot'), partnerOf('r')];
const desktop = new IdJagClient('desktop');
const leaked = new IdJagClient('leaked');

const clock = new TestClock();
const entries = [
  subject.staticEntry({ origins: [PRODUCT] }),
  actor.staticEntry({ flows: ['exchange'] }),
  robot.staticEntry({ actFor: [robot.issuer] }),
  ...[revoked.staticEntry(), desktop.entry(), leaked.entry()],
];
const at = { revokedAt: new Date(), restoredAt: null };
const verification = {
  verifier: new ExternalTokenVerifier(trustedKeysOf(entries, clock), clock, {
    clockToleranceSeconds: 5,
    ownIssuer: BASE_URL,
    strict: false,
    idAssertion: { enabled: true, maxLifetimeSeconds: 300 },
  }),
  revocations: knownRevocations({
    trust: [revoked, leaked.idp].map(({ issuer, kid }) => ({ issuer, kid, ...at })),
  }),
};

let request: VerifiedRequest;
beforeEach(() => {
  request = {};
});
const signed = (partner: Partner) => partner.sign(partner.claims());

function exchange(one: Partner, other?: Partner): Promise<Tokens> {
  const sent = { subjectToken: signed(one), actorToken: other && signed(other) };
  return verifyExchange(verification, sent, request);
}

function login(partner: Partner, origin?: string): Promise<Tokens> {
  const source = { method: 'POST', origin, fetchSite: undefined } as const;
  return verifyLogin(verification, { token: signed(partner), source }, request);
}

/** For a bound session: the page of the instance, or another one, says which page contains it. */
function boundLogin(origin: string, hostOrigin: string): Promise<Tokens> {
  const source = { method: 'POST', origin, fetchSite: 'same-origin' } as const;
  const page = { ownOrigin: BASE_URL, hostOrigin };
  return verifyLogin(verification, { token: signed(subject), source, page }, request);
}

function redeem(by: IdJagClient): Promise<Tokens> {
  const client = { id: by.id, issuers: new Set([by.idp.issuer]) };
  return verifyAssertion(verification, { flow: 'id-jag', assertion: by.assertion(), client }, request);
}

it('[D127] a token that is bound to a key is accepted only for a bound session', async () => {
  const token = subject.sign(subject.claims({ cnf: { jkt: 'x'.repeat(43) } }));
  const source = { method: 'POST', origin: PRODUCT, fetchSite: undefined } as const;
  await expect(verifyLogin(verification, { token, source })).rejects.toMatchObject({
    reason: 'confirmation_not_supported',
  });
  const page = { ownOrigin: PRODUCT, hostOrigin: PRODUCT };
  const { boundTo } = (await verifyLogin(verification, { token, source, page })).subject;
  expect(boundTo).toBe('x'.repeat(43));
});

it.each<[string, () => Promise<Tokens>, readonly Partner[] | undefined, string?, string?]>([
  ['exchange of a subject alone', () => exchange(actor), [actor]],
  ['exchange of both', () => exchange(subject, actor), [subject, actor]],
  ['actor for others', () => exchange(subject, robot), [subject, robot], 'act_for_not_allowed', 'actor'],
  ['revoked actor', () => exchange(subject, revoked), [subject, revoked], 'trust_revoked', 'actor'],
  ['subject of another flow', () => exchange(desktop.idp), undefined, 'flow_not_allowed', 'subject'],
  ['actor of another flow', () => exchange(subject, desktop.idp), undefined, 'flow_not_allowed', 'actor'],
  ['login from its origin', () => login(subject, PRODUCT), [subject]],
  ['bound login from its origin', () => boundLogin(BASE_URL, PRODUCT), [subject]],
  ['bound login from another', () => boundLogin(BASE_URL, BASE_URL), [subject], 'origin_not_allowed'],
  ['bound login by a foreign page', () => boundLogin(PRODUCT, PRODUCT), [subject], 'origin_not_allowed'],
  ['login from another origin', () => login(subject, BASE_URL), [subject], 'origin_not_allowed'],
  ['login by a revoked key', () => login(revoked), [revoked], 'trust_revoked', 'subject'],
  ['login of another flow', () => login(actor), undefined, 'flow_not_allowed'],
  ['assertion', () => redeem(desktop), [desktop.idp]],
  ['assertion by a revoked key', () => redeem(leaked), [leaked.idp], 'trust_revoked', 'subject'],
])('[D3][D21][D59] %s: its users are recorded once its tokens are valid', async (_, verify, ...expected) => {
  const [signers, reason, party] = expected;
  const kidsOf = (tokens: Tokens | undefined) => tokens && listOf(tokens).map(({ key }) => key.kid);
  const outcome = await verify().then(kidsOf, (error: OAuthRefusal) => [error.reason, error.context.party]);
  const kids = signers?.map(({ kid }) => kid);
  expect([outcome, kidsOf(request.tokens)]).toEqual([reason === undefined ? kids : [reason, party], kids]);
});

it('an error contains the person of the rejected token, or else the subject', async () => {
  const tokens = await exchange(subject, actor);
  const [ofSubject, ofActor] = listOf(tokens).map(({ claims: { iss: issuer, sub, email } }) => {
    return { issuer, subject: sub, email };
  });
  expect([personOf(tokens, 'subject'), personOf(tokens, undefined)]).toEqual([ofSubject, ofSubject]);
  expect(personOf(tokens, 'actor')).toEqual(ofActor);
  expect(personOf({ subject: tokens.subject }, 'actor')).toBeUndefined();
  expect(personOf(undefined, 'subject')).toBeUndefined();
});
