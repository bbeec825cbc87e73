// Clients and verifiers of Python, Go and Java, by discovery and their ordinary calls. Unavailable ones are skipped.
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Partner } from '../../../demo/partner.js';
import { StoredEntryService } from '../../../src/token-exchange/trust/stored/stored-entry.service.js';
import { eventsOf } from '../../support/audit.js';
import { describeOnAnyDatabase } from '../../support/databases.js';
import { createUser } from '../../support/local-users.js';
import type { TestService } from '../../support/test-service.js';
import type { Command } from './support/foreign-programs.js';
import { describePrepared, outputOf, prepared } from './support/foreign-programs.js';
import { startReachable } from './support/reachable-service.js';

const PATIENCE_MS = 300_000;

interface Program {
  readonly command: (folder: string) => Command;
  readonly says: readonly string[];
}

interface Language extends Program {
  readonly name: string;
  readonly title: string;
  readonly fetching: readonly Command[];
  /** Sends JWTs of its own by the grant of RFC 7523. */
  readonly ofAssertions: Program & { readonly title: string; readonly refused: readonly string[] };
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'python',
    title: 'Authlib and PyJWT',
    fetching: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '--quiet', '--requirement', 'requirements.txt'],
    ],
    command: () => ['venv/bin/python', 'client.py'],
    says: ['Authlib exchanges without authentication', 'Authlib exchanges with a secret', 'PyJWT verifies'],
    ofAssertions: {
      title: 'Authlib and requests-oauthlib',
      command: () => ['venv/bin/python', 'assertion.py'],
      says: [
        'Authlib gets a token, and another',
        'Authlib with claims of the job gets another token by new claims alone',
        'oauthlib alone is refused',
        'oauthlib sends a JWT of PyJWT',
      ],
      refused: ['token_replayed', 'kid_missing'],
    },
  },
  {
    name: 'go',
    title: 'x/oauth2 and go-oidc',
    fetching: [['go', 'build', '-o', 'bin/', './...']],
    command: (folder) => [join(folder, 'bin', 'clients')],
    says: [
      'go-oidc discovers',
      'x/oauth2 exchanges with a secret in the form',
      'x/oauth2 exchanges with a secret in the header',
      'x/oauth2 calls the API',
      'go-oidc verifies',
    ],
    ofAssertions: {
      title: 'x/oauth2/jwt',
      command: (folder) => [join(folder, 'bin', 'assertion')],
      says: [
        'x/oauth2 without a jti is refused',
        'x/oauth2 with a jti calls the API',
        'x/oauth2 with the same jti is refused',
        'x/oauth2 with a jti for each gets a token',
        'x/oauth2 with a jti for each gets another',
      ],
      refused: ['claims_invalid', 'token_replayed'],
    },
  },
  java('Nimbus and Spring Security 6.5', { 'spring-security': '6.5.0', spring: '6.2.7' }),
  java('Nimbus and Spring Security 7.0', { 'spring-security': '7.0.0', spring: '7.0.1' }),
];

function java(title: string, versions: Readonly<Record<string, string>>): Language {
  const chosen = Object.entries(versions).map(([name, version]) => `-D${name}.version=${version}`);
  const classpath = ['dependency:build-classpath', '-Dmdep.outputFile=classpath.txt'];
  const program =
    (file: string) =>
    (folder: string): Command => [
      'java',
      '-cp',
      readFileSync(join(folder, 'classpath.txt'), 'utf8').trim(),
      file,
    ];
  return {
    name: 'java',
    title,
    fetching: [
      ['java', '--version'],
      ['mvn', '--quiet', '--batch-mode', ...classpath, ...chosen],
    ],
    command: program('Clients.java'),
    says: [
      'Nimbus discovers by RFC 8414',
      'Nimbus discovers by OpenID Connect',
      'Nimbus exchanges',
      'the API takes the token',
      'Nimbus verifies',
      'Spring Security verifies',
      'Nimbus exchanges with a DPoP proof, and a nonce',
      'the API takes the bound token with a proof',
    ],
    ofAssertions: {
      title: 'Spring Security',
      command: program('Assertion.java'),
      says: ['Spring Security gets a token', 'Spring Security gets another'],
      refused: [],
    },
  };
}

describeOnAnyDatabase('[D58] clients of other languages', (database) => {
  let service: TestService;
  let partner: Partner;
  let baseUrl: string;
  let endpoint: string;
  /** A job that signs its JWTs itself; x/oauth2 and oauthlib know no other algorithm. */
  const job = Partner.create({ issuer: 'https://ci.example', algorithm: 'RS256' });
  const subject = 'deployer';

  beforeAll(async () => {
    ({ service, partner, baseUrl } = await startReachable(database, { SVC_DPOP_NONCE: 'true' }));
    endpoint = `${baseUrl}/rest/auth/oauth/token`;
    const policy = { flows: ['jwt-bearer'], subjects: [subject], scopes: ['workflow:read'] };
    const signInAs = await createUser(service, { email: 'deployer@acme.example' });
    const entry = job.staticEntry({ ...policy, name: 'ci', expectedAudience: endpoint, signInAs });
    await service.part(StoredEntryService).add(entry);
  });
  afterAll(() => service?.stop());

  for (const { name, title, fetching, command, says, ofAssertions } of LANGUAGES)
    describePrepared(title, prepared(name, fetching), (folder) => {
      it(
        `[D58] ${title} exchange, call the API and verify`,
        async () => {
          // Authlib takes a token of less than a minute for expired.
          const exp = Math.floor(Date.now() / 1000) + 600;
          const tokens = [1, 2].map(() => partner.sign(partner.claims({ exp })));
          const printed = await outputOf([...command(folder), baseUrl, ...tokens, partner.issuer], folder);
          expect(printed.trim().split('\n')).toEqual(says.map((what) => `ok: ${what}`));
        },
        PATIENCE_MS,
      );

      it(
        `[D133] ${ofAssertions.title} send a job's JWTs, and call the API`,
        async () => {
          const before = (await eventsOf(service)).length;
          const key = job.privateKeyPem();
          const jwk = { ...createPrivateKey(key).export({ format: 'jwk' }), kid: job.kid };
          const environment = { KEY: key, KEY_AS_JWK: JSON.stringify(jwk) };
          const command = ofAssertions.command(folder);
          const rest = [baseUrl, endpoint, job.issuer, job.kid, subject];
          const printed = await outputOf([...command, ...rest], folder, environment);
          expect(printed.trim().split('\n')).toEqual(ofAssertions.says.map((what) => `ok: ${what}`));
          const reasons = (await eventsOf(service)).slice(before).map(({ payload }) => payload['reason']);
          expect(reasons.filter(Boolean)).toEqual(ofAssertions.refused);
        },
        PATIENCE_MS,
      );
    });
});
