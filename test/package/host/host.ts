// Starts a host on the server that a test chooses, and prints its address.
import 'reflect-metadata';
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StoredEntryService } from '@embedded-token-exchange/nestjs/advanced';
import type { INestApplication } from '@nestjs/common';
import { VersioningType } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { ProductUsers } from '../../../examples/own-product/src/users/product-users.js';
import { furnish } from './furniture.js';
import { HostModule } from './host.module.js';
import type { HostOptions } from './options.js';
import { givenOptions } from './options.js';

/** What is used of a Fastify instance. */
interface Startable {
  ready(): PromiseLike<unknown>;
}

/** Finds the same user for everyone. */
class DisabledUsers extends ProductUsers {
  private readonly user = { id: '1', role: 'member', enabled: false, givenName: '', familyName: '' };

  override findById = () => Promise.resolve(this.user);
  override findByEmail = () => Promise.resolve(this.user);
  override lock = () => Promise.resolve(this.user);
}

const options = givenOptions();
const app = await created(options);
app.enableShutdownHooks();
if (options.forms === 'querystring')
  (app as NestExpressApplication).useBodyParser('urlencoded', { extended: false, limit: '256kb' });
if (options.takesEvents === true) parseEvents(app, options);
if (options.isFurnished === true) furnish(app);
if (options.globalPrefix !== undefined)
  app.setGlobalPrefix(options.globalPrefix.name, { exclude: options.globalPrefix.exclude });
if (options.isVersioned === true) app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
const address = await listening(app, options);
// First, since who waits for the address takes the host for started.
console.log(`instances ${JSON.stringify(instancesIn(app))}`);
console.log(`listening ${address}`);
if (options.storedEntries !== undefined) await administer(app, options.storedEntries);
if (options.injected !== undefined) console.log(`injected ${await inject(app, options.injected)}`);

async function created({ server, isMadeForTests, forms }: HostOptions): Promise<INestApplication> {
  const adapter = server === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  if (isMadeForTests === true) {
    const module = Test.createTestingModule({ imports: [HostModule.with(options)] });
    if (options.overridden === 'users') module.overrideProvider(ProductUsers).useValue(new DisabledUsers());
    return (await module.compile()).createNestApplication(adapter);
  }
  return NestFactory.create(HostModule.with(options), adapter, { bodyParser: forms !== 'unread' });
}

/** As the guide says. */
function parseEvents(host: INestApplication, { server }: HostOptions): void {
  const type = 'application/secevent+jwt';
  if (server === 'express') (host as NestExpressApplication).useBodyParser('text', { type });
  else
    (host as NestFastifyApplication).useBodyParser(type, {}, (_request, body, done) =>
      done(null, body.toString()),
    );
}

/** An application for tests is not told to listen: its server is. */
async function listening(
  host: INestApplication,
  { isMadeForTests, isFunction = false }: HostOptions,
): Promise<string> {
  if (isMadeForTests !== true && !isFunction) {
    await host.listen(0, '127.0.0.1');
    return host.getUrl();
  }
  await host.init();
  const adapter = host.getHttpAdapter();
  if (adapter.getType() === 'fastify') await (adapter.getInstance() as Startable).ready();
  const server = isFunction
    ? createServer(adapter.getInstance() as RequestListener)
    : (host.getHttpServer() as Server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** How many there are of what must exist once. */
function instancesIn(host: INestApplication): Record<string, number> {
  const modules = [...host.get(ModulesContainer).values()];
  const all = modules.flatMap(({ providers }) => [...providers.values()]);
  const instances = [
    ...new Set(all.map(({ instance }) => instance as { constructor?: { name: string } } | null | undefined)),
  ];
  const countOf = (name: string) => instances.filter((one) => one?.constructor?.name === name).length;
  const names = ['AdvisoryLockLeader', 'PostgresNotifications', 'Revocations', 'AccessTokenService'];
  return Object.fromEntries(names.map((name) => [name, countOf(name)]));
}

async function administer(
  host: INestApplication,
  { add, suspend }: NonNullable<HostOptions['storedEntries']>,
): Promise<void> {
  const entries = host.get(StoredEntryService, { strict: false });
  if (add !== undefined) await entries.add(add);
  if (suspend !== undefined) await entries.change(suspend, (entry) => ({ ...entry, suspended: true }));
  const states = (await entries.list()).map(({ name, state }) => [name, state]);
  console.log(`stored ${JSON.stringify(states)}`);
}

/** @returns the status of an exchange that no connection carries */
async function inject(host: INestApplication, subjectToken: string): Promise<number> {
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: subjectToken,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  };
  const answer = await (host as NestFastifyApplication).inject({
    method: 'POST',
    url: '/rest/auth/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
  });
  return answer.statusCode;
}
