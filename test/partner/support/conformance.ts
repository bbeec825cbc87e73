// What each program of examples/partners has to do, held against the real service and a real browser.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { freePort } from '../../../demo/free-port.js';
import { SignOutService } from '../../../src/token-exchange/login/sign-out.service.js';
import type { TestBrowser } from '../../support/browser.js';
import { describeInBrowser, openBrowser } from '../../support/browser.js';
import { describeOnAnyDatabase } from '../../support/databases.js';
import { describeUnless } from '../../support/describe-unless.js';
import { createUser, createWorkflow } from '../../support/local-users.js';
import { TestService } from '../../support/test-service.js';
import { until } from '../../support/until.js';
import { OddEndpoint } from './odd-endpoint.js';
import type { RunnableProgram } from './partner-program.js';
import { ISSUER, KEY_ID, PartnerProgram } from './partner-program.js';

/** A program, or why it cannot run here. */
export type ProgramState = RunnableProgram | { readonly reason: string };

const PATIENCE_MS = 300_000;
const WORKFLOW = 'Orders of the day';
const ADA = { email: 'ada@partner.example' };
const BOB = { email: 'bob@partner.example' };

interface Overview {
  readonly me: {
    readonly user: { readonly email: string };
    readonly onBehalfOf: { readonly email: string } | null;
  };
  readonly workflows: { readonly data: readonly { readonly name: string }[] };
  readonly exchanges: number;
}

/** Declares the tests of one program. If it cannot run, declares one skipped test that says why. */
export function describeProgram(name: string, state: ProgramState): void {
  if ('reason' in state) return describeUnless(state.reason, name, () => undefined);
  describeAtOddInstance(name, state);
  describeOnAnyDatabase(`the partner in ${name}`, (database) => {
    let program: PartnerProgram;
    let service: TestService;
    let instance: string;
    let adaId: string;

    beforeAll(async () => {
      const port = await freePort();
      instance = `http://localhost:${port}`;
      program = await PartnerProgram.start(state, instance);
      service = await TestService.start(database, {
        trustedKeys: [entryFor(program, instance)],
        environment: {
          SVC_PORT: String(port),
          SVC_BASE_URL: instance,
          SVC_TOKEN_EXCHANGE_STRICT: 'true',
          SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
          // So that the test does not have to wait long for a renewal.
          SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL: '20',
        },
      });
      adaId = await createUser(service, ADA);
      await createWorkflow(service, adaId, WORKFLOW);
    }, PATIENCE_MS);
    afterAll(async () => {
      await program?.stop();
      await service?.stop();
    });

    it('creates a key that only its owner can read, and publishes its public part as JWKS and as PEM', async () => {
      expect(statSync(program.keyFile).mode & 0o077).toBe(0);
      const made = createPublicKey(createPrivateKey(readFileSync(program.keyFile))).export({ format: 'jwk' });
      const { keys } = await program.json<{ keys: object[] }>('/.well-known/jwks.json');
      const alg = made.kty === 'RSA' ? 'RS256' : 'ES256';
      expect(keys).toEqual([{ ...made, kid: KEY_ID, alg, use: 'sig' }]);
      const pem = await (await program.fetch('/partner.pem')).text();
      expect(createPublicKey(pem).export({ format: 'jwk' })).toEqual(made);
    });

    it(
      'exchanges, calls the API, and keeps its token',
      async () => {
        let last: Overview | undefined;
        for (let call = 0; call < 5; call += 1) {
          last = await program.json<Overview>('/workflows');
          expect(last.me).toMatchObject({ user: ADA, onBehalfOf: null });
          expect(last.workflows.data.map((workflow) => workflow.name)).toEqual([WORKFLOW]);
        }
        // Each overview needs a token twice.
        expect(last?.exchanges).toBeLessThan(10);
      },
      PATIENCE_MS,
    );

    it("[D134] puts its user into the customer's project", async () => {
      await program.json<Overview>('/workflows');
      const members = await service.rows(
        `SELECT user_id AS id, role, member.issuer FROM project_member member
         JOIN project_external_key external USING (project_id) WHERE key = 'castell'`,
      );
      expect(members).toEqual([{ id: adaId, role: 'project:editor', issuer: ISSUER }]);
    });

    it('exchanges with an actor', async () => {
      const { me, workflows } = await program.json<Overview>('/support/workflows');
      expect(me).toMatchObject({ user: BOB, onBehalfOf: ADA });
      expect(workflows.data).toEqual([]);
    });

    it(
      'renews its token before it expires',
      async () => {
        const before = await program.json<Overview>('/workflows');
        await until('it has exchanged again', PATIENCE_MS, async () => {
          const { me, exchanges } = await program.json<Overview>('/workflows');
          expect(me).toMatchObject({ user: ADA });
          return exchanges > before.exchanges;
        });
      },
      PATIENCE_MS,
    );

    it(
      'requests a new token if the stored one was ended',
      async () => {
        const before = await program.json<Overview>('/workflows');
        await service.part(SignOutService).signOutEverywhere(adaId, 'conformance');
        await until('it is let in again', PATIENCE_MS, async () => {
          const { me, exchanges } = await program.json<Partial<Overview>>('/workflows');
          return me?.user?.email === ADA.email && (exchanges ?? 0) > before.exchanges;
        });
      },
      PATIENCE_MS,
    );

    describeInBrowser('in a browser', () => {
      let browser: TestBrowser;
      beforeAll(async () => {
        browser = await openBrowser();
      }, PATIENCE_MS);
      afterAll(() => browser?.close());

      it("shows the page with the frame, signed in by the instance's script, and renews the session", async () => {
        const page = await browser.context.newPage();
        await page.goto(program.baseUrl);
        const state = (text: string) => page.locator('#state', { hasText: text }).waitFor();
        await state('session 1');
        await page.frameLocator('iframe:visible').getByText(WORKFLOW).first().waitFor();
        await page.getByRole('button', { name: 'Renew the session' }).click();
        await state('session 2');
        await page.getByRole('button', { name: 'Sign out' }).click();
        await state('ended: signed-out-by-provider');
        await page.close();
      });

      it('shows the frame with a form alone', async () => {
        const page = await browser.context.newPage();
        await page.goto(`${program.baseUrl}/plain`);
        await page.frameLocator('iframe').getByText(WORKFLOW).first().waitFor();
        await page.close();
      });
    });
  });
}

/** With a key that was made elsewhere, for an instance behind a proxy that answers by itself now and then. */
function describeAtOddInstance(name: string, state: RunnableProgram): void {
  describe(`the partner in ${name}, with an instance that answers unusually`, () => {
    const pem = (state.foreignKey ?? ecKey)();
    let endpoint: OddEndpoint;
    let program: PartnerProgram;

    beforeAll(async () => {
      endpoint = await OddEndpoint.open();
      program = await PartnerProgram.start(state, endpoint.baseUrl, pem);
    }, PATIENCE_MS);
    afterAll(async () => {
      await program?.stop();
      await endpoint?.close();
    });

    it('publishes and keeps an existing key', async () => {
      const { keys } = await program.json<{ keys: object[] }>('/.well-known/jwks.json');
      const known = createPublicKey(createPrivateKey(pem)).export({ format: 'jwk' });
      expect(keys).toEqual([expect.objectContaining(known)]);
      expect(readFileSync(program.keyFile, 'utf8')).toBe(pem);
    });

    it(
      'retries after the moment in Retry-After, follows no redirect, and shares a new token between two calls',
      async () => {
        const parallel = state.isSequential === true ? 1 : 2;
        let issued = 0;
        const refused: ServerResponse[] = [];
        const asked: (string | undefined)[] = [];
        endpoint.answer((request, response) => {
          asked.push(request.url);
          response.setHeader('content-type', 'application/json');
          if (request.url === '/rest/auth/oauth/token') {
            const isFirst = asked.filter((url) => url === request.url).length === 1;
            const token = { access_token: `token-${issued + 1}`, token_type: 'Bearer', expires_in: 600 };
            if (isFirst) response.writeHead(503, { 'retry-after': new Date().toUTCString() }).end('<h1>');
            else response.end(JSON.stringify(token));
            issued += isFirst ? 0 : 1;
          } else if (request.url === '/rest/me') {
            response.writeHead(302, { location: '/stolen' }).end();
          } else if (request.headers.authorization !== 'Bearer token-1') {
            response.end('{"data":[]}');
          } else {
            // Where both can be on their way, both have the first token before either hears that it is refused.
            refused.push(response.writeHead(401));
            if (refused.length === parallel) for (const each of refused) each.end('{}');
          }
        });
        const calls = await Promise.all([1, 2].map(() => program.json<Overview>('/workflows')));
        expect(calls.map(({ workflows }) => workflows)).toEqual([{ data: [] }, { data: [] }]);
        expect([issued, refused.length]).toEqual([2, parallel]);
        expect(asked).not.toContain('/stolen');
      },
      PATIENCE_MS,
    );
  });
}

/** As `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256` makes it. */
export function ecKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** An entry under the strict policy. The keys are fetched from the program. */
function entryFor(program: PartnerProgram, instance: string): object {
  return {
    type: 'jwks',
    url: `${program.baseUrl}/.well-known/jwks.json`,
    issuer: ISSUER,
    expectedAudience: instance,
    origins: [program.baseUrl],
    allowedRoles: ['global:member'],
    emailDomains: ['partner.example'],
    scopes: ['workflow:read'],
    projects: { mayAssign: ['castell'], roles: ['project:editor'], create: true },
    actFor: [ISSUER],
    rights: 'actor',
    flows: ['embed', 'exchange', 'logout'],
  };
}
