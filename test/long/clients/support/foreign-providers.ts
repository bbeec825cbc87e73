// OpenID providers that run on this machine as they come, and a person who signs in at their pages.
import { randomUUID } from 'node:crypto';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as oidc from 'openid-client';
import type { Page } from 'playwright-core';
import { freePort } from '../../../../demo/free-port.js';
import { RunningProgram } from '../../../support/system-program.js';
import type { Command, Prepared } from './foreign-programs.js';
import { NPM_INSTALL, prepared } from './foreign-programs.js';

const KEYCLOAK = 'keycloak-26.7.0';
const KEYCLOAK_ZIP = 'org.keycloak:keycloak-quarkus-dist:26.7.0:zip';
/** Keycloak builds itself anew at its first start. */
const START_LIMIT_MS = 300_000;
const ADMINISTRATOR = { username: 'admin', password: 'admin' };

/** What is particular to a provider. */
export interface ProviderKind {
  readonly name: string;
  prepare(): Prepared;
  command(folder: string, port: number): Command;
  /** Path of its issuer, and of its key set below that. */
  readonly issuerPath: string;
  readonly keysPath: string;
  /** What a person does on its pages to sign in. */
  signIn(page: Page): Promise<void>;
  /** How a person is signed out: by the person, or by an administrator. */
  signOut(page: Page, issuer: string, sub: string): Promise<void>;
}

export const OIDC_PROVIDER: ProviderKind = {
  name: 'oidc-provider',
  prepare: () => prepared('oidc-provider', [NPM_INSTALL]),
  command: (folder) => [process.execPath, join(folder, 'provider.mjs')],
  issuerPath: '',
  keysPath: '/jwks',
  signIn: async (page) => {
    await page.getByPlaceholder('Enter any login').fill('ada');
    await page.getByPlaceholder('and password').fill('ada');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  },
  signOut: async (page, issuer) => {
    await page.goto(`${issuer}/session/end`);
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('heading', { name: 'Sign-out Success' }).waitFor();
  },
};

export const KEYCLOAK_PROVIDER: ProviderKind = {
  name: 'Keycloak',
  prepare: () => {
    const unpack = ['dependency:unpack', `-Dartifact=${KEYCLOAK_ZIP}`, '-DoutputDirectory=.'];
    const state = prepared('keycloak', [
      ['java', '--version'],
      ['mvn', '--quiet', '--batch-mode', ...unpack],
    ]);
    if ('folder' in state)
      cpSync(join(state.folder, 'realm.json'), join(state.folder, KEYCLOAK, 'data', 'import', 'realm.json'));
    return state;
  },
  command: (folder, port) => [
    join(folder, KEYCLOAK, 'bin', 'kc.sh'),
    ...['start-dev', '--import-realm', '--http-host=127.0.0.1', `--http-port=${port}`],
  ],
  issuerPath: '/realms/product',
  keysPath: '/protocol/openid-connect/certs',
  signIn: async (page) => {
    await page.locator('#username').fill('ada');
    await page.locator('#password').fill('ada');
    await page.locator('#kc-login').click();
  },
  signOut: async (page, issuer, sub) => {
    const { origin } = new URL(issuer);
    const form = { ...ADMINISTRATOR, client_id: 'admin-cli', grant_type: 'password' };
    const signedIn = await page.request.post(`${origin}/realms/master/protocol/openid-connect/token`, {
      form,
    });
    const { access_token: token } = (await signedIn.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${token}` };
    const answer = await page.request.post(`${origin}/admin/realms/product/users/${sub}/logout`, { headers });
    if (!answer.ok()) throw new Error(`Keycloak answered ${answer.status()}: ${await answer.text()}`);
  },
};

export interface IdToken {
  readonly text: string;
  readonly sub: string;
  /** The session of the provider. */
  readonly sid: unknown;
}

/** A provider with a client, which is the partner's product or an agent. */
export class ForeignProvider {
  static readonly CLIENT_ID = 'product';
  readonly clientSecret = randomUUID();
  /** Where the client has the person sent back to: it reads the address, and nothing has to answer there. */
  private readonly redirectUri = 'http://127.0.0.1:9/signed-in';
  private program: RunningProgram | undefined;

  private constructor(
    private readonly kind: ProviderKind,
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async of(kind: ProviderKind, folder: string): Promise<ForeignProvider> {
    return new ForeignProvider(kind, folder, await freePort());
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}${this.kind.issuerPath}`;
  }

  get keysUrl(): string {
    return this.issuer + this.kind.keysPath;
  }

  /**
   * @param environment the program's variables, in addition to those that describe the client
   * @param certificate in PEM that it trusts
   */
  async start(environment: Record<string, string>, certificate = ''): Promise<void> {
    const trusted = join(this.folder, 'trusted.pem');
    writeFileSync(trusted, certificate);
    const [path, ...args] = this.kind.command(this.folder, this.port);
    const env = {
      ...process.env,
      PORT: String(this.port),
      CLIENT_ID: ForeignProvider.CLIENT_ID,
      CLIENT_SECRET: this.clientSecret,
      REDIRECT_URI: this.redirectUri,
      NODE_EXTRA_CA_CERTS: trusted,
      KC_TRUSTSTORE_PATHS: trusted,
      KC_BOOTSTRAP_ADMIN_USERNAME: ADMINISTRATOR.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: ADMINISTRATOR.password,
      ...environment,
    };
    this.program = new RunningProgram(this.folder, path, { args, env });
    await this.program.becomes(`${this.kind.name} answers`, () => this.answers(), START_LIMIT_MS);
  }

  /** A person signs in at its pages. @returns the ID token that the client gets */
  async signIn(page: Page): Promise<IdToken> {
    const options = { execute: [oidc.allowInsecureRequests] };
    const config = await oidc.discovery(
      new URL(this.issuer),
      ForeignProvider.CLIENT_ID,
      this.clientSecret,
      undefined,
      options,
    );
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.redirectUri,
      scope: 'openid',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const sentBack = page.waitForRequest((request) => request.url().startsWith(this.redirectUri));
    await page.goto(url.href);
    await this.kind.signIn(page);
    const answered = new URL((await sentBack).url());
    const tokens = await oidc.authorizationCodeGrant(config, answered, { pkceCodeVerifier });
    return { text: tokens.id_token ?? '', sub: tokens.claims()?.sub ?? '', sid: tokens.claims()?.['sid'] };
  }

  signOut(page: Page, sub: string): Promise<void> {
    return this.kind.signOut(page, this.issuer, sub);
  }

  async stop(): Promise<void> {
    await this.program?.stop();
  }

  private async answers(): Promise<boolean> {
    const answer = await fetch(`${this.issuer}/.well-known/openid-configuration`).catch(() => undefined);
    return answer?.ok === true;
  }
}
