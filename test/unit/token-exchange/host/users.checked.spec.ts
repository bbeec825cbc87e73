// What the users of a host answer that its compiler did not see.
import type { Transaction } from '../../../../src/platform/database/transaction.js';
import type { HostUser, UserDirectory } from '../../../../src/token-exchange/host/users.js';
import { checkedUsers } from '../../../../src/token-exchange/host/users.js';

const USER: HostUser = { id: '1', role: 'member', enabled: true, givenName: '', familyName: '' };
const transaction = {} as Transaction;

const answering = (answer: unknown) => {
  const method = () => Promise.resolve(answer as HostUser | undefined);
  const given = { findById: method, findByEmail: method, create: method, lock: method };
  return { ...given, update: () => Promise.resolve() } satisfies UserDirectory;
};

const checked = (answer: unknown) => checkedUsers(answering(answer));

describe.each<[keyof UserDirectory, (users: UserDirectory) => Promise<HostUser | undefined>]>([
  ['findById', (users) => users.findById(transaction, '1')],
  ['findByEmail', (users) => users.findByEmail(transaction, 'a@b.example')],
  ['create', (users) => users.create(transaction, { ...USER, email: 'a@b.example' })],
  ['lock', (users) => users.lock(transaction, '1', 'share')],
])('%s of a host', (method, ask) => {
  it('returns a user unchanged', async () => {
    const user = { ...USER, accessGeneration: 'one' };
    expect(await ask(checked(user))).toBe(user);
  });

  it.each([undefined, null])('finds no one with %s', async (answer) => {
    expect(await ask(checked(answer))).toBeUndefined();
  });

  it('accepts null as no generation', async () => {
    expect(await ask(checked({ ...USER, accessGeneration: null }))).toEqual(USER);
  });

  it.each([
    [{ enabled: 1 }, 'enabled must be true or false, and is of type number'],
    [{ enabled: undefined }, 'enabled must be true or false, and is of type undefined'],
    [{ accessGeneration: 1 }, 'accessGeneration must be a string, and is of type number'],
  ])('fails on %j, and says what it must be', async (members, fault) => {
    await expect(ask(checked({ ...USER, ...members }))).rejects.toThrow(`users.${method}: ${fault}`);
  });
});

it('ends access only if the host supports it', async () => {
  expect(checked(undefined)).toHaveProperty('endAccess', undefined);
  const endAccess = jest.fn(() => Promise.resolve());
  await checkedUsers({ ...answering(undefined), endAccess }).endAccess?.(transaction, '1');
  expect(endAccess).toHaveBeenCalledWith(transaction, '1');
});
