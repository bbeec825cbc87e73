// A revocation reaches every process, with and without a notification, and so does the end of one access token.
import { Partner } from '../../demo/partner.js';
import { cookieOf } from '../support/logins.js';
import { CommandLine } from '../support/run-cli.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { describeWithProcesses, ServiceCluster } from '../support/service-cluster.js';
import { until } from '../support/until.js';

const ISSUER = 'https://partner.example';
const WITHIN_MS = 60_000;

describeWithProcesses('three processes', (database) => {
  const stolen = Partner.create({ issuer: ISSUER, kid: 'stolen' });
  const next = Partner.create({ issuer: ISSUER, kid: 'next' });
  const trustedKeys = [stolen, next].map((partner) => partner.staticEntry());
  const command = CommandLine.beside(database, () => trustedKeys);
  let cluster: ServiceCluster;

  const onEach = <T>(ask: (instance: ServiceInstance) => Promise<T>) =>
    Promise.all(cluster.instances.map(ask));
  const issued = async (instance: ServiceInstance, partner: Partner) => {
    const answer = await instance.exchange(partner.sign());
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  const opens = async (instance: ServiceInstance, partner: Partner) =>
    cookieOf(await instance.embed(partner.sign()));
  const me = async (instance: ServiceInstance, headers: Record<string, string>) => {
    const answer = await instance.fetch('/rest/me', { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  const meOnEach = (headers: Record<string, string>) => onEach((instance) => me(instance, headers));
  const untilAllAnswer = (status: number, headers: Record<string, string>) =>
    until(`all answer ${status}`, WITHIN_MS, async () =>
      (await meOnEach(headers)).every((each) => each === status),
    );

  beforeAll(async () => {
    cluster = await ServiceCluster.start(3, database, { trustedKeys });
  });
  afterAll(() => cluster?.stop());

  it("[D59] end a stolen key's tokens and sessions everywhere with one revocation, including remembered ones", async () => {
    const tokens = await onEach((instance) => issued(instance, stolen));
    const sessions = await onEach((instance) => opens(instance, stolen));
    const good = { authorization: `Bearer ${await issued(cluster.instance(0), next)}` };
    const credentials = [
      ...tokens.map((token) => ({ authorization: `Bearer ${token}` })),
      ...sessions.map((cookie) => ({ cookie })),
    ];
    for (const headers of [...credentials, good]) expect(await meOnEach(headers)).toEqual([200, 200, 200]);
    await command.output(['keys', 'revoke', '--issuer', ISSUER, '--kid', 'stolen']);
    for (const headers of credentials) await untilAllAnswer(401, headers);
    expect(await meOnEach(good)).toEqual([200, 200, 200]);
    expect(await onEach((instance) => instance.exchangeStatus(stolen.sign()))).toEqual([400, 400, 400]);
    expect(await onEach((instance) => instance.exchangeStatus(next.sign()))).toEqual([200, 200, 200]);
  });
});
