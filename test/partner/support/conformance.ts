// What each program of examples/partners has to do, held against the real service and a real browser.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { freePort } from '../../../demo/free-port.js';
import { SignOutService } from '../../../src/token-exchange/sessions/sign-out.service.js';
import type { TestBrowser } from '../../support/browser.js';
import { describeInBrowser, openBrowser } from '../../support/browser.js';
import { describeOnAnyDatabase } from '../../support/databases.js';
import { createUser, createWorkflow } from '../../support/local-users.js';
import { TestService } from '../../support/test-service.js';
import { until } from '../../support/until.js';
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

/** Declares the tests of one program; where it cannot run, one that is skipped and says why. */
export function describeProgram(name: string, state: ProgramState): void {
  if ('reason' in state) {
    describe(name, () => it.skip(`skipped: ${state.reason}`, () => undefined));
    return;
  }
  describeOnAnyDatabase(`[D119] the partner in ${name}`, (database) => {
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

    it('makes a key that nobody else may read, and publishes its public half as JWKS and as PEM', async () => {
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
      'takes a new token where the one that it keeps has ended',
      async () => {
        const before = await program.json<Overview>('/workflows');
        await service.part(SignOutService).signOutEverywhere(adaId, 'conformance');
        // What is issued in the second of the sign-out has ended with it.
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

      it('shows the page with the frame, signed in by the script of the instance, and renews the session', async () => {
        const page = await browser.context.newPage();
        await page.goto(program.baseUrl);
        const state = (text: string) => page.locator('#state', { hasText: text }).waitFor();
        await state('session 1');
        await page.frameLocator('iframe:visible').getByText(WORKFLOW).first().waitFor();
        await page.getByRole('button', { name: 'Renew the session' }).click();
        await state('session 2');
        await page.close();
      });

      it('shows the frame by a form alone', async () => {
        const page = await browser.context.newPage();
        await page.goto(`${program.baseUrl}/plain`);
        await page.frameLocator('iframe').getByText(WORKFLOW).first().waitFor();
        await page.close();
      });
    });
  });
}

/** Under the strict policy: the keys are fetched from the program, and it may do what it does. */
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
    actFor: [ISSUER],
    rights: 'actor',
  };
}
