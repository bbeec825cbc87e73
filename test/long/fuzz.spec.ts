// Random requests with a seed to a running service: no internal error, no second use, no foreign redirect, no informative refusal.
import fc from 'fast-check';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { fuzzParameters, isFuzzRun, patienceOf } from '../fuzz/support/fuzz-budget.js';
import { inputsOf } from '../fuzz/support/fuzz-target.js';
import { ApiClient } from '../support/api-client.js';
import { RECIPES, requestFor } from '../support/api-recipes.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { EMBED_PATH, EXCHANGE_PATH, INVALID_GRANT, isAccepted } from '../support/entry-paths.js';
import { REDIRECTS, TRICKS } from '../support/redirect-targets.js';
import { sizeOf } from '../support/series.js';
import { BASE_URL, GRANT_TYPE, TestService } from '../support/test-service.js';

/** The share of the time of `npm run fuzz` for each test. The rest goes to starts. */
const SHARE = 0.28;
const REQUESTS = sizeOf({ small: 150, whole: 20_000 });
const AT_ONCE = 3;

/** The parts of random form fields. Names stand for tokens, which are signed later because they expire after a minute. */
const PIECES = [
  ...['&', '=', 'grant_type=', 'scope=a', 'resource=urn:x', '%zz'],
  ...[
    'subject_token=',
    'actor_token=',
    'token=',
    'redirectTo=',
    'answer=session',
    'FRESH',
    'USED',
    'FORGED',
    'BROKEN',
  ],
];
const GRANT = `grant_type=${encodeURIComponent(GRANT_TYPE)}&`;
/** Most forms have the right grant type, because without it no other field is read. */
const EXCHANGE_FORMS = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: fc.constant(GRANT) }, { weight: 1, arbitrary: fc.constant('') }),
    inputsOf({
      seeds: [
        'subject_token=FRESH',
        'subject_token=FRESH&actor_token=COMPANION&scope=a&resource=urn:x',
        'subject_token=USED&subject_token_type=x',
        'subject_token=FORGED',
      ],
      pieces: PIECES,
    }),
  )
  .map(([grant, rest]) => Buffer.concat([Buffer.from(grant), rest]));
const TARGETS = [...REDIRECTS.map(([target = '/']) => target), ...TRICKS];
const LOGIN_FORMS = inputsOf({
  seeds: [
    ...TARGETS.map((target) => `token=FRESH&redirectTo=${encodeURIComponent(target)}`),
    'token=USED',
    'token=FORGED&answer=session',
  ],
  pieces: [...PIECES, ...TARGETS.map(encodeURIComponent)],
});
const ODD_CLAIMS = fc.record(
  {
    sub: fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.string({ unit: 'binary', maxLength: 300 })),
    email: fc.oneof(fc.emailAddress(), fc.string({ unit: 'binary', maxLength: 300 })),
    email_verified: fc.constantFrom(true, 'true', false, 'False', null, 0),
    given_name: fc.string({ unit: 'binary', maxLength: 60 }),
    role: fc.constantFrom('global:member', 'global:admin', 'global:owner', 'x', ''),
    exp: fc.oneof(fc.constant(Math.floor(Date.now() / 1000) + 3_600), fc.double()),
    act: fc.anything({ maxDepth: 3 }),
    other: fc.anything({ maxDepth: 4, withNullPrototype: false }),
  },
  { requiredKeys: [] },
);

/** Additional claims that a partner might sign: none, or odd ones. */
const CLAIMS = fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 3, arbitrary: ODD_CLAIMS });

describeOnAnyDatabase('[D42] random requests', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
  const impostor = Partner.create({ issuer: partner.issuer, kid: partner.kid, audience: BASE_URL });
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  let used: string;
  let sent = 0;
  let succeeded = 0;

  beforeAll(async () => {
    used = partner.sign();
    await service.sessionCookie(used);
  });
  afterAll(async () => {
    if (isFuzzRun) process.stdout.write(`requests to a running service: ${sent}\n`);
  });
  beforeEach(() => {
    succeeded = 0;
  });
  afterEach(() => {
    // If no request succeeded, the test has only tried refusals.
    expect(succeeded).toBeGreaterThan(0);
    expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });

  /** Sends the same request several times at once, and then again. */
  const sendAgain = async (send: () => Promise<Response>): Promise<Response[]> => {
    sent += AT_ONCE + 1;
    return [...(await Promise.all(Array.from({ length: AT_ONCE }, send))), await send()];
  };
  const expectOneAtMost = (answers: readonly Response[]) => {
    const accepted = answers.filter(isAccepted).length;
    succeeded += accepted;
    expect(accepted).toBeLessThanOrEqual(1);
  };
  const withTokens = (form: Buffer, claims: Members): Buffer => {
    const tokens: Record<string, string> = {
      FRESH: partner.sign(partner.claims(claims)),
      COMPANION: partner.sign(),
      FORGED: impostor.sign(impostor.claims(claims)),
      BROKEN: used.slice(0, -5),
      USED: used,
    };
    // Latin-1 keeps bytes that are not UTF-8.
    const text = form
      .toString('latin1')
      .replaceAll(/FRESH|COMPANION|FORGED|BROKEN|USED/g, (name) => tokens[name] ?? '');
    return Buffer.from(text, 'latin1');
  };
  const post = (path: string, body: Buffer) => () =>
    service.fetch(path, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  it(
    '[D42][5.2.5][D14] exchanges: at most one success, identical answers for rejected tokens, and only documented answers',
    async () => {
      const property = fc.asyncProperty(EXCHANGE_FORMS, CLAIMS, async (form, claims) => {
        const answers = await sendAgain(post(EXCHANGE_PATH, withTokens(form, claims)));
        expectOneAtMost(answers);
        for (const answer of answers) {
          const body = await answer.text();
          expect([200, 400]).toContain(answer.status);
          if (answer.status === 400 && body.includes('invalid_grant')) {
            expect([body, refusalHeaders(answer)]).toEqual([INVALID_GRANT, await usualRefusal()]);
          }
        }
      });
      await fc.assert(property, fuzzParameters(REQUESTS, SHARE));
    },
    patienceOf(SHARE) + sizeOf({ small: 0, whole: 3_600_000 }),
  );

  /** The headers of an answer, without those that differ for each request. */
  function refusalHeaders({ headers }: Response): Record<string, string> {
    const own = [
      'date',
      'x-request-id',
      'ratelimit',
      'x-ratelimit-remaining',
      'ratelimit-remaining',
      'ratelimit-reset',
    ];
    return Object.fromEntries([...headers].filter(([name]) => !own.includes(name)));
  }

  let known: Record<string, string> | undefined;
  async function usualRefusal(): Promise<Record<string, string>> {
    known ??= refusalHeaders(await service.exchange({ subject_token: 'no token' }));
    return known;
  }

  it(
    '[D42][5.2.5][D24] logins: at most one success, and no redirect away from the instance',
    async () => {
      const property = fc.asyncProperty(LOGIN_FORMS, CLAIMS, fc.boolean(), async (form, claims, byGet) => {
        const body = withTokens(form, claims);
        const query = `${EMBED_PATH}?${encodedQuery(body)}`;
        const answers = await sendAgain(byGet ? () => service.fetch(query) : post(EMBED_PATH, body));
        expectOneAtMost(answers);
        for (const answer of answers) await judgeLogin(answer);
      });
      await fc.assert(property, fuzzParameters(REQUESTS, SHARE));
    },
    patienceOf(SHARE) + sizeOf({ small: 0, whole: 3_600_000 }),
  );

  async function judgeLogin(answer: Response): Promise<void> {
    const body = await answer.text();
    // A 500 is the contract's answer to claims that cannot be read (7.8).
    const isInvalidClaims = answer.status === 500 && body.includes('claims_invalid');
    expect([
      answer.status,
      [303, 400, 401, 413, 414, 431].includes(answer.status) || isInvalidClaims,
    ]).toEqual([answer.status, true]);
    if (answer.status !== 303) return expect(answer.headers.get('set-cookie')).toBeNull();
    const location = answer.headers.get('location') ?? '';
    expect(new URL(location, `${BASE_URL}${EMBED_PATH}`).origin).toBe(BASE_URL);
  }

  /** Escapes bytes that a request target must not contain. */
  function encodedQuery(form: Buffer): string {
    return form.toString('latin1').replaceAll(/[^\x21-\x22\x24-\x7e]/g, (letter) => {
      return `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
    });
  }

  it(
    '[D42] API calls: any body and query gets a documented answer',
    async () => {
      const api = await ApiClient.connect(service);
      const world = new ApiWorld(service, 'random');
      await world.createParties();
      const token = () => world.tokenOf('administrator');
      const requests = await Promise.all(
        api.operations.map(async (operation) => ({
          operation,
          ...(await requestFor(RECIPES, operation, world)),
        })),
      );
      const calls = fc.constantFrom(...requests).chain(({ operation, path, body }) =>
        fc.record({
          method: fc.constant(operation.method),
          path: fc
            .tuple(fc.constant(path), operation.isList ? QUERIES : fc.constant(''))
            .map((parts) => parts.join('')),
          body: operation.hasBody ? bodiesLike(body) : fc.constant(undefined),
        }),
      );
      const property = fc.asyncProperty(calls, async (call) => {
        sent += 1;
        // It throws if the description lacks the status or a property of the body.
        const { status } = await api.call({ ...call, token: await token() });
        expect(status).toBeLessThan(500);
        if (status < 300) succeeded += 1;
      });
      await fc.assert(property, fuzzParameters(REQUESTS, SHARE));
    },
    patienceOf(SHARE) + sizeOf({ small: 0, whole: 3_600_000 }),
  );
});

const QUERIES = fc
  .dictionary(
    fc.constantFrom('limit', 'cursor', 'search', 'sort', 'active', 'projectId', 'x'),
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('1', '250', 'name', 'desc', 'true', '%', '\0'),
    ),
  )
  .map((parameters) => `?${new URLSearchParams(parameters).toString()}`);

/** Damaged copies of a good body, and bodies with members of any kind. */
function bodiesLike(body: unknown): fc.Arbitrary<Buffer> {
  const text = JSON.stringify(body);
  const damaged = inputsOf({
    seeds: [text],
    pieces: ['{', '}', '[', ']', '"', ',', ':', '\\ud800', 'null', '1e999'],
  });
  const names = Object.keys(body as object);
  const changed = fc
    .dictionary(fc.constantFrom(...names, '__proto__', 'x'), fc.jsonValue({ maxDepth: 3 }))
    .map((members) => Buffer.from(JSON.stringify({ ...(body as object), ...members })));
  return fc.oneof(damaged, changed);
}
