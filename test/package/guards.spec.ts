// A guard of the host's for all routes, which asks for a login of its own.
import { randomBytes } from 'node:crypto';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import type { Answer } from './support/host-process.js';
import { HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const sealingKey = randomBytes(32).toString('base64');
  const answersUnder = async (guard: 'without-exemption' | 'with-exemption'): Promise<Answer[]> => {
    const wishes = { ...kind, databaseUrl: database().url, sealingKey, guard };
    const host = await HostProcess.start(optionsOf(partner, wishes));
    try {
      return [await host.exchange(partner.sign()), await host.login(partner.sign())];
    } finally {
      await host.stop();
    }
  };

  it('refuses what it asks a login of, in the bodies of both flows', async () => {
    const [exchange, login] = await answersUnder('without-exemption');
    expect([exchange?.status, exchange?.body]).toEqual([
      401,
      { error: 'unauthorized', error_description: 'Sign in first' },
    ]);
    expect([login?.status, login?.body]).toEqual([401, { error: 'unauthorized', message: 'Sign in first' }]);
  });

  it('lets both flows pass that the host has marked as public', async () => {
    const answers = await answersUnder('with-exemption');
    expect(answers.map(({ status }) => status)).toEqual([200, 303]);
  });
});
