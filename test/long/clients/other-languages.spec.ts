// Clients and verifiers of Python, Go and Java, by discovery and their own ordinary calls; each is skipped where it cannot be had.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Partner } from '../../../demo/partner.js';
import { describeOnAnyDatabase } from '../../support/databases.js';
import type { TestService } from '../../support/test-service.js';
import type { Command } from './support/foreign-programs.js';
import { describePrepared, outputOf, prepared } from './support/foreign-programs.js';
import { startReachable } from './support/reachable-service.js';

const PATIENCE_MS = 300_000;

interface Language {
  readonly name: string;
  readonly title: string;
  readonly fetching: readonly Command[];
  readonly command: (folder: string) => Command;
  readonly says: readonly string[];
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
  },
  {
    name: 'go',
    title: 'x/oauth2 and go-oidc',
    fetching: [['go', 'build', '-o', 'client', '.']],
    command: (folder) => [join(folder, 'client')],
    says: [
      'go-oidc discovers',
      'x/oauth2 exchanges with a secret in the form',
      'x/oauth2 exchanges with a secret in the header',
      'x/oauth2 calls the API',
      'go-oidc verifies',
    ],
  },
  java('Nimbus and Spring Security 6.5', { 'spring-security': '6.5.0', spring: '6.2.7' }),
  java('Nimbus and Spring Security 7.0', { 'spring-security': '7.0.0', spring: '7.0.1' }),
];

function java(title: string, versions: Readonly<Record<string, string>>): Language {
  const chosen = Object.entries(versions).map(([name, version]) => `-D${name}.version=${version}`);
  const classpath = ['dependency:build-classpath', '-Dmdep.outputFile=classpath.txt'];
  return {
    name: 'java',
    title,
    fetching: [
      ['java', '--version'],
      ['mvn', '--quiet', '--batch-mode', ...classpath, ...chosen],
    ],
    command: (folder) => [
      'java',
      '-cp',
      readFileSync(join(folder, 'classpath.txt'), 'utf8').trim(),
      'Clients.java',
    ],
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
  };
}

describeOnAnyDatabase('[D58] clients of other languages', (database) => {
  let service: TestService;
  let partner: Partner;
  let baseUrl: string;

  beforeAll(async () => {
    ({ service, partner, baseUrl } = await startReachable(database, { SVC_DPOP_NONCE: 'true' }));
  });
  afterAll(() => service?.stop());

  for (const { name, title, fetching, command, says } of LANGUAGES)
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
    });
});
