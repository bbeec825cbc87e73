// The table of stored entries: changes run one after the other, and each changes its state.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import type {
  StoredEntryChange,
  StoredEntryWork,
} from '../../src/token-exchange/trust/stored/stored-entry.changes.js';
import { StoredEntryChanges } from '../../src/token-exchange/trust/stored/stored-entry.changes.js';
import { shownEntry } from '../../src/token-exchange/trust/stored/stored-entry.js';
import { StoredEntryRepository } from '../../src/token-exchange/trust/stored/stored-entry.repository.js';
import { readTrustedKeys } from '../../src/token-exchange/trust/trusted-key-entry.js';
import { untilOneIsBlocked } from '../support/blocked-transactions.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { resumed, setting, suspended } from '../support/entry-edits.js';

const RULES = {
  configured: [],
  rules: { assignableRoles: ['global:member'], allowHttp: false, defaults: 'contract' as const },
};
const partner = Partner.create({ issuer: 'https://acme.example', kid: 'k' });
const leaked = partner.staticEntry({ name: 'leaked', kid: 'leaked', perMinute: 7 });
const given = [
  { ...leaked, suspended: true },
  { type: 'jwks', name: 'set', issuer: 'https://acme.example', url: 'https://acme.example/jwks' },
];
const CONFIGURED = readTrustedKeys(JSON.stringify(given), RULES.rules).entries;
const entryOf = (name: string, kid = name) => partner.staticEntry({ name, kid });

/** The changes, each in its own transaction unless it gets one. */
class Instance {
  private constructor(
    readonly repository: StoredEntryRepository,
    readonly changes: StoredEntryChanges,
    readonly transactions: Transactions,
  ) {}

  static async on(testDatabase: TestDatabase): Promise<Instance> {
    const database = new Database((await testDatabase.open()).dataSource);
    const repository = new StoredEntryRepository(database);
    return new Instance(
      repository,
      new StoredEntryChanges(repository, () => RULES),
      new Transactions(database),
    );
  }

  make(
    change: (changes: StoredEntryChanges, work: StoredEntryWork) => Promise<StoredEntryChange>,
    isOwners = true,
  ) {
    return this.transactions.run((transaction) => {
      return change(this.changes, {
        transaction,
        context: { occurredAt: new Date(), requestId: randomUUID() },
        isOwners,
      });
    });
  }

  async names(): Promise<string[]> {
    return (await this.repository.all()).map(({ name }) => name);
  }
}

describeOnEachDatabase('stored entries', (database) => {
  let instance: Instance;
  beforeAll(async () => {
    instance = await Instance.on(database);
  });

  it('[D70] can add a key to a configured entry, with all its properties', async () => {
    const beside = new StoredEntryChanges(instance.repository, () => ({
      ...RULES,
      configured: CONFIGURED,
    }));
    const { key } = partner.staticEntry();
    const add = (like: string) =>
      instance.make((_changes, work) => beside.add({ name: `${like}-2`, kid: 'new', key }, work, like));
    await add('leaked');
    const shown = shownEntry(await beside.show('leaked-2'));
    expect(shown).toEqual({ ...leaked, name: 'leaked-2', kid: 'new', key });
    await expect(add('set')).rejects.toThrow(
      'The entry has a key set: its partner publishes the new key there.',
    );
    await expect(add('nobody')).rejects.toThrow('There is no entry with this name.');
    await instance.make((_changes, work) => beside.remove('leaked-2', work));
  });

  it('[D72] have a new state after each change, and otherwise the same state', async () => {
    const states = [await instance.repository.state()];
    const note = async () => states.push(await instance.repository.state());
    for (const name of ['a', 'b', 'c'])
      await instance.make((changes, work) => changes.add(entryOf(name), work)).then(note);
    await instance.make((changes, work) => changes.change('a', suspended, work)).then(note);
    await instance.make((changes, work) => changes.change('a', resumed, work)).then(note);
    const sevenAMinute = setting({ perMinute: 7 });
    await instance.make((changes, work) => changes.change('b', sevenAMinute, work)).then(note);
    await instance.make((changes, work) => changes.remove('b', work)).then(note);
    await instance.make((changes, work) => changes.add(entryOf('b'), work)).then(note);
    await instance.make((changes, work) => changes.remove('a', work)).then(note);
    expect(new Set(states).size).toBe(states.length);
    const nothing = await instance.make((changes, work) => changes.change('c', resumed, work));
    expect(nothing.events).toEqual([]);
    expect(await instance.repository.state()).toBe(states.at(-1));
    expect(await instance.names()).toEqual(['c', 'b']);
  });

  it('[D70] are changed only in the revision that the author has read, and can be suspended even if they are refused', async () => {
    await instance.make((changes, work) => changes.add(entryOf('seen'), work));
    const { revision } = await instance.changes.show('seen');
    const put = (perMinute: number) =>
      instance.make((changes, work) => changes.change('seen', setting({ perMinute }), work, revision));
    const outcomes = await Promise.allSettled([put(1), put(2)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(put(3)).rejects.toThrow('The entry was changed meanwhile');

    const strictly = { ...RULES, rules: { ...RULES.rules, defaults: 'strict' as const } };
    const stricter = new StoredEntryChanges(instance.repository, () => strictly);
    await expect(
      instance.make((_changes, work) => stricter.change('seen', setting({ perMinute: 4 }), work)),
    ).rejects.toThrow('The entry has problems');
    const stopped = await instance.make((_changes, work) => stricter.change('seen', suspended, work));
    expect(stopped.events).toMatchObject([{ payload: { change: 'suspended' } }]);
    await instance.make((changes, work) => changes.remove('seen', work));
  });

  it("[D70] keep a URL's query if an author sends it back as shown", async () => {
    const url = 'https://acme.example/jwks.json?token=marker-5150';
    const set = { type: 'jwks', name: 'set', url, issuer: 'https://acme.example' };
    await instance.make((changes, work) => changes.add(set, work));
    const shown = () => instance.changes.show('set').then(shownEntry);
    const { url: address } = await shown();
    expect(address).toBe('https://acme.example/jwks.json');
    const edited = { ...set, url: address, perMinute: 7 };
    const { events } = await instance.make((changes, work) => changes.change('set', () => edited, work));
    expect(JSON.stringify(events)).not.toContain('marker-5150');
    expect(JSON.parse((await instance.changes.show('set')).text)).toEqual({ ...set, perMinute: 7 });
    await instance.make((changes, work) => changes.remove('set', work));
  });

  it('[P.origins] together have at most the origins that fit into a header', async () => {
    const origins = (first: string, characters: number) => [
      `https://${first}.${'a'.repeat(characters - 10)}`,
    ];
    const add = (name: string, members: object) =>
      instance.make((changes, work) => changes.add({ ...entryOf(name), ...members }, work));
    const tooMany = {
      problems: [
        expect.stringMatching(/^origins: must have at most 8000 characters with those of all other entries/),
      ],
    };
    await add('half', { origins: origins('h', 4_000) });
    await add('shared', { origins: origins('h', 4_000) });
    await expect(add('more', { origins: origins('m', 4_000) })).rejects.toMatchObject(tooMany);
    expect(
      await instance.changes.check({ ...entryOf('more'), origins: origins('m', 4_000) }, new Date()),
    ).toMatchObject(tooMany);
    await add('rest', { origins: origins('r', 3_999) });
    await add('none', {});
    const lengthen = () =>
      instance.make((changes, work) =>
        changes.change('rest', setting({ origins: origins('r', 4_000) }), work),
      );
    await expect(lengthen()).rejects.toMatchObject(tooMany);
    for (const name of ['half', 'shared', 'none'])
      await instance.make((changes, work) => changes.remove(name, work));
    expect((await lengthen()).events).toHaveLength(1);

    // Another version may have stored such rows.
    const long = [...origins('x', 6_000), ...origins('y', 6_000)];
    const stored = await instance.changes.show('rest');
    const text = JSON.stringify({ ...entryOf('rest'), origins: long });
    await instance.transactions.run((transaction) =>
      instance.repository.put(transaction, { ...stored, text }),
    );
    const set = (members: object) =>
      instance.make((changes, work) => changes.change('rest', setting(members), work));
    expect((await set({ perMinute: 7 })).events).toHaveLength(1);
    await expect(set({ origins: [...long, 'https://z.example'] })).rejects.toMatchObject(tooMany);
    expect((await set({ origins: long.slice(1) })).events).toHaveLength(1);
    await instance.make((changes, work) => changes.remove('rest', work));
  });

  it("[P.maxUsers] have one user limit per issuer, which any entry's change keeps", async () => {
    const add = (name: string, members: object) =>
      instance.make((changes, work) => changes.add({ ...entryOf(name), ...members }, work));
    const set = (name: string, ...edit: Parameters<typeof setting>) =>
      instance.make((changes, work) => changes.change(name, setting(...edit), work));
    const contradicting = (name: string) => ({
      problems: [
        expect.stringContaining(
          `maxUsers: must be as in the entry "stored:${name}", which has the same issuer`,
        ),
      ],
    });
    await add('seats-1', { maxUsers: 50 });
    await add('seats-2', { maxUsers: 50 });
    await expect(add('seats-3', { maxUsers: 51 })).rejects.toMatchObject(contradicting('seats-1'));
    expect(await instance.changes.check({ ...entryOf('seats-3'), maxUsers: 51 }, new Date())).toMatchObject(
      contradicting('seats-1'),
    );
    // Otherwise the later entry would accept no tokens.
    await expect(set('seats-1', { maxUsers: 51 })).rejects.toMatchObject(contradicting('seats-2'));
    await set('seats-2', {}, 'maxUsers');
    await set('seats-1', { maxUsers: 51 });
    for (const name of ['seats-1', 'seats-2'])
      await instance.make((changes, work) => changes.remove(name, work));
  });

  it('[D144] belong to the owner only once the owner has replaced them completely', async () => {
    const owned: boolean[] = [];
    const note = async () => owned.push((await instance.changes.show('whose')).isOwners);
    const edit = (change: Parameters<StoredEntryChanges['change']>[1], isOwners: boolean) =>
      instance.make((changes, work) => changes.change('whose', change, work), isOwners).then(note);
    const put = async (members: object, isOwners: boolean) => {
      const { revision } = await instance.changes.show('whose');
      const change = setting(members);
      await instance.make((changes, work) => changes.change('whose', change, work, revision), isOwners);
      await note();
    };
    await instance.make((changes, work) => changes.add(entryOf('whose'), work), false).then(note);
    // None of these changes by an owner makes the entry an owner's: resuming an active entry, a client, the next key.
    for (const change of [resumed, suspended, resumed, setting({ clients: [] })]) await edit(change, true);
    const next = { name: 'next', kid: 'next' };
    await instance.make((changes, work) => changes.add(next, work, 'whose'));
    owned.push((await instance.changes.show('next')).isOwners);
    expect(owned).toEqual([false, false, false, false, false, false]);

    owned.length = 0;
    await put({}, true);
    for (const change of [suspended, resumed]) await edit(change, false);
    await put({ suspended: true }, false);
    await edit(setting({ clients: [] }), true);
    expect(owned).toEqual([true, true, true, true, true]);

    owned.length = 0;
    await put({ perMinute: 7 }, false);
    await put({ perMinute: 8 }, true);
    await edit(setting({}, 'clients'), false);
    expect(owned).toEqual([false, true, false]);
    for (const name of ['whose', 'next']) await instance.make((changes, work) => changes.remove(name, work));
  });

  it('[D73] stay unchanged if a change is rolled back', async () => {
    const [before, names] = [await instance.repository.state(), await instance.names()];
    const attempt = instance.make(async (changes, work) => {
      await changes.add(entryOf('rolled back'), work);
      throw new Error('the trail could not be written');
    });
    await expect(attempt).rejects.toThrow('the trail could not be written');
    expect([await instance.repository.state(), await instance.names()]).toEqual([before, names]);
  });
});

describeOnPostgresql('two instances that change stored entries', (database) => {
  let [one, other]: Instance[] = [];
  beforeAll(async () => {
    [one, other] = [await Instance.on(database), await Instance.on(database)];
  });

  it('[D70] of one key that are added at the same time: only one is stored, in twenty rounds', async () => {
    for (let round = 0; round < 20; round++) {
      const attempts = [one, other].map((instance, index) =>
        instance!.make((changes, work) => changes.add(entryOf(`${round}-${index}`, `kid-${round}`), work)),
      );
      const outcomes = await Promise.allSettled(attempts);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
    expect(await one!.names()).toHaveLength(20);
  });

  it('[D72] run one after the other, so that no state hides a change', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let isLaterDone = false;
    const [first = ''] = await one!.names();
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const earlier = one!.make(async (changes, work) => {
      const change = await changes.change(first, suspended, work);
      begin();
      await released;
      return change;
    });
    await begun;
    const later = other!.make((changes, work) => changes.add(entryOf('later'), work));
    void later.then(() => (isLaterDone = true));
    const { dataSource } = await database.open();
    await untilOneIsBlocked((sql) => dataSource.query(sql));
    expect(isLaterDone).toBe(false);
    const before = await one!.repository.state();
    release();
    await Promise.all([earlier, later]);
    expect(await one!.repository.state()).not.toBe(before);
  });
});
