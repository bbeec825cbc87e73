// Who may act for whom, and what an access token then grants.
import type { AskedGrants } from '../../../../src/token-exchange/exchange/issuance.planner.js';
import { askedOf, checkGrants } from '../../../../src/token-exchange/exchange/issuance.planner.js';
import type { OAuthRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import type { TrustPolicy } from '../../../../src/token-exchange/trust/trusted-key.js';
import type { PriorActor } from '../../../../src/token-exchange/verify/external-claims.js';
import type { Tokens, VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { checkActor, priorActorsOf } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const ISSUER = 'https://a.example';
const READ = 'workflow:read';
const WRITE = 'workflow:write';
const API = 'https://api.example';

/** Builds a token from its content. In production only the verifier does. */
function token(members: Partial<TrustPolicy>, claims: object = {}): VerifiedToken {
  const policy = { entryIndex: 0, label: 'entry-0', issuer: ISSUER, ...members };
  return { claims: { iss: policy.issuer, sub: 's', ...claims }, key: { kid: 'k', policy } } as VerifiedToken;
}
const set = (...values: string[]) => new Set(values);
const alone = (members: Partial<TrustPolicy>): Tokens => ({ subject: token(members) });
const both = (subject: Partial<TrustPolicy>, actor: Partial<TrustPolicy>): Tokens => ({
  subject: token(subject),
  actor: token(actor),
});
const asserted = (assertion: object, members: Partial<TrustPolicy> = {}): Tokens => ({
  subject: { ...token(members), assertion: { clientId: 'c', ...assertion } },
});

/** What is logged of a refusal. */
function refusalOf(work: () => unknown): object | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    const { reason, context } = error as OAuthRefusal;
    return { reason, ...context };
  }
}

describe('scopes', () => {
  it.each<[Tokens, AskedGrants, readonly string[] | undefined]>([
    [alone({}), { scope: READ }, undefined],
    [both({}, {}), {}, undefined],
    [alone({ scopes: set(READ, WRITE) }), { scope: READ }, [READ]],
    [alone({ scopes: set(READ, WRITE) }), { scope: `${WRITE} ${READ} ${WRITE}  other` }, [WRITE, READ]],
    [alone({ scopes: set(READ, WRITE) }), {}, [READ, WRITE]],
    [both({ scopes: set(READ) }, {}), {}, [READ]],
    [both({}, { scopes: set(READ) }), { scope: `${READ} ${WRITE}` }, [READ]],
    [both({ scopes: set(READ, WRITE) }, { scopes: set(WRITE) }), {}, [WRITE]],
    [asserted({ scope: READ }), { scope: `${READ} ${WRITE}` }, [READ]],
    [asserted({ scope: `${READ} ${WRITE}` }, { scopes: set(WRITE) }), {}, [WRITE]],
  ])('[P.scopes] %# are the requested ones that every list contains', (parties, asked, granted) => {
    expect(checkGrants(asked, parties).grantedScopes).toEqual(granted);
  });

  it.each<[Tokens, AskedGrants, string]>([
    [alone({ scopes: set() }), {}, 'subject'],
    [alone({ scopes: set(READ) }), { scope: WRITE }, 'subject'],
    [alone({ scopes: set(READ) }), { scope: '  ' }, 'subject'],
    [both({ scopes: set(READ) }, { scopes: set(WRITE) }), {}, 'subject'],
    [both({ scopes: set(READ) }, { scopes: set() }), { scope: READ }, 'actor'],
    [both({}, { scopes: set(READ) }), { scope: WRITE }, 'actor'],
  ])('[P.scopes] %# are rejected if none is left', (parties, asked, party) => {
    expect(refusalOf(() => checkGrants(asked, parties))).toMatchObject({
      reason: 'scope_not_allowed',
      party,
    });
  });
});

describe('resources', () => {
  it.each<[Tokens, readonly string[] | undefined, string | undefined]>([
    [alone({}), ['https://anything.example', 'no uri'], undefined],
    [alone({ resources: set(API) }), undefined, undefined],
    [alone({ resources: set(API) }), [API], API],
    [alone({ resources: set(API) }), [`${API}/`], API],
    [alone({ resources: set(API) }), ['HTTPS://API.example:443', API], API],
    [alone({ resources: set(`${API}:443/`) }), [API], `${API}:443/`],
    [both({ resources: set(API) }, { resources: set(`${API}/`) }), [`${API}:443`], API],
    [asserted({ resource: [`${API}/`] }, { resources: set(API) }), ['HTTPS://api.example'], API],
    [both({ resources: set(API, ISSUER) }, { resources: set(API) }), [API], API],
    [asserted({ resource: [ISSUER, API] }, { resources: set(API) }), [API], API],
    [asserted({}, { resources: set(API), clientChoosesResource: true }), [API], API],
  ])(
    '[P.resources][D53] %# become the audience if a requested one is listed',
    (parties, resource, audience) => {
      expect(checkGrants({ resource }, parties).audience).toBe(audience);
    },
  );

  it.each<[Tokens, readonly string[], string]>([
    [alone({ resources: set() }), [API], 'subject'],
    [alone({ resources: set(API) }), [`${API}//`], 'subject'],
    [asserted({ resource: [`${API}/A`] }, { resources: set(`${API}/a`) }), [`${API}/a`], 'subject'],
    [alone({ resources: set(API, ISSUER) }), [API, ISSUER], 'subject'],
    [alone({ resources: set(API) }), [API, ISSUER], 'subject'],
    [both({ resources: set(API) }, { resources: set(ISSUER) }), [API], 'actor'],
    [asserted({}), [API], 'subject'],
    [asserted({}, { resources: set(API) }), [API], 'subject'],
    [asserted({}, { resources: set(API), clientChoosesResource: true }), [ISSUER], 'subject'],
    [asserted({ resource: [ISSUER] }, { resources: set(API) }), [API], 'subject'],
  ])('[P.resources] %# are rejected if there are several or others', (parties, resource, party) => {
    const refusal = refusalOf(() => checkGrants({ resource }, parties));
    expect(refusal).toMatchObject({ reason: 'resource_not_allowed', party });
  });
});

it.each([
  ['none', set()],
  [`some of ${READ}`, set(READ)],
])('[P.scopes] an error expects %s', (expected, scopes) => {
  expect(refusalOf(() => checkGrants({ scope: WRITE }, alone({ scopes })))).toMatchObject({ expected });
});

it('[D133] a client that requests nothing requests what its assertion grants', () => {
  const said = { scope: READ, resource: [API] };
  expect(askedOf({}, asserted(said))).toEqual(said);
  const other = { scope: WRITE, resource: [ISSUER] };
  expect(askedOf(other, asserted(said))).toEqual(other);
});

it('[P.resources][D58] the host itself, as its metadata name it, is not another service', () => {
  const parties = alone({ resources: set() });
  const audienceOf = (...resource: string[]) =>
    checkGrants({ resource }, parties, 'https://host.example').audience;
  expect([audienceOf('https://host.example'), audienceOf('https://host.example/')]).toEqual([
    undefined,
    undefined,
  ]);
  for (const resource of [['https://host.example/a'], ['https://host.example', API], ['no uri']])
    expect(() => audienceOf(...resource)).toThrow('resource_not_allowed');
});

describe('rights', () => {
  it.each<[Tokens, string | undefined]>([
    [both({}, {}), undefined],
    [both({ rights: 'both' }, { rights: 'actor' }), 'both'],
    [both({}, { rights: 'both' }), 'both'],
    [alone({ rights: 'both' }), undefined],
  ])('[P.rights] %# are the stricter of both entries', (parties, rights) => {
    expect(checkGrants({}, parties).rights).toBe(rights);
  });
});

describe('subject and actor', () => {
  const subjectOf = (issuer: string) => token({ issuer });

  it.each<[ReadonlySet<string> | undefined, string?]>([
    [undefined],
    [set(ISSUER)],
    [set(`${ISSUER}/`), `${ISSUER}/`],
    [set('https://b.example'), 'https://b.example'],
    [set(), 'none'],
  ])('[P.actFor] are checked with actFor %p', (actFor, ...[expected]) => {
    const issuer = 'https://actor.example';
    const context = { party: 'actor', issuer, kid: 'k', expected, found: ISSUER };
    expect(
      refusalOf(() => checkActor({ subject: subjectOf(ISSUER), actor: token({ issuer, actFor }) })),
    ).toEqual(expected && { reason: 'act_for_not_allowed', ...context });
  });

  it('[P.actFor] are not restricted by the subject’s actFor', () => {
    const parties = { subject: token({ actFor: set() }), actor: token({}) };
    expect(() => checkActor(parties)).not.toThrow();
  });

  it.each<[object | undefined, string, string?, string?]>([
    [undefined, 'https://b.example'],
    [{ sub: 's' }, ISSUER],
    [{ sub: 's', iss: ISSUER }, ISSUER],
    [{ sub: 's', iss: 'https://b.example' }, 'https://b.example'],
    [{ sub: 'other' }, ISSUER, ISSUER, 'another of its actors'],
    [{ sub: 's' }, 'https://b.example', ISSUER, 'an actor of https://b.example'],
    [{ sub: 's', iss: 'https://b.example' }, ISSUER, 'https://b.example', `an actor of ${ISSUER}`],
  ])('[P.mayAct] are checked with may_act %j and an actor of %s', (mayAct, issuer, ...[named, found]) => {
    const parties = { subject: token({}, { mayAct }), actor: token({ issuer }) };
    const expected = `the actor of ${named} whom may_act names`;
    const context = { party: 'actor', issuer, kid: 'k', expected, found };
    expect(refusalOf(() => checkActor(parties))).toEqual(
      found && { reason: 'actor_not_allowed', ...context },
    );
    expect(refusalOf(() => checkActor({ subject: parties.subject }))).toBeUndefined();
  });

  it('[P.requireActor] need an actor only if the subject’s entry requires one', () => {
    expect(refusalOf(() => checkActor(alone({ requireActor: true })))).toEqual({
      ...{ reason: 'actor_required', party: 'subject', issuer: ISSUER, kid: 'k' },
      ...{ expected: 'an actor', found: 'a subject alone' },
    });
    expect(() => checkActor(both({ requireActor: true }, { requireActor: true }))).not.toThrow();
  });
});

describe('prior actors', () => {
  const party = (sub: string): PriorActor => ({ iss: ISSUER, sub });
  const chain = (length: number, name: string) =>
    Array.from({ length }, (_, index) => party(`${name}-${index}`));

  it('[P.priorActors] are the actor’s, then the subject’s', () => {
    const subject = token({}, { priorActors: chain(2, 's') });
    const actor = token({}, { priorActors: chain(3, 'a') });
    expect(priorActorsOf({ subject, actor }).map(({ sub }) => sub)).toEqual([
      'a-0',
      'a-1',
      'a-2',
      's-0',
      's-1',
    ]);
    expect(priorActorsOf({ subject: token({}), actor: token({}) })).toEqual([]);
  });

  it('[P.priorActors] are at most five in total', () => {
    const subject = token({}, { priorActors: chain(3, 's') });
    const actor = token({}, { priorActors: chain(3, 'a') });
    const detail = 'act of both tokens has over 5 actors';
    expect(refusalOf(() => priorActorsOf({ subject, actor }))).toEqual({
      ...{ reason: 'claims_invalid', party: 'actor', issuer: ISSUER, kid: 'k', detail },
    });
  });
});
