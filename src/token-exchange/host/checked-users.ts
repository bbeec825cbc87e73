// Checks the host's users at run time, because rows and untyped code may differ from their types.
import type { HostUser, UserDirectory } from './users.js';

type Answered = HostUser | null | undefined;

/** Null, TypeORM's result for nobody, becomes undefined. An invalid user is an error that names the method. */
export function checkedUsers(given: UserDirectory): UserDirectory {
  return {
    findById: async (transaction, id) => checked('findById', await given.findById(transaction, id)),
    findByEmail: async (transaction, email) =>
      checked('findByEmail', await given.findByEmail(transaction, email)),
    create: async (transaction, user) => checked('create', await given.create(transaction, user)),
    lock: async (transaction, id, lock) => checked('lock', await given.lock(transaction, id, lock)),
    update: (transaction, id, update) => given.update(transaction, id, update),
    endAccess: given.endAccess && (async (transaction, id) => given.endAccess?.(transaction, id)),
    disable: given.disable?.bind(given),
    enable: given.enable?.bind(given),
  };
}

/** @throws TypeError */
function checked(method: string, answer: Answered): HostUser | undefined {
  const user = answer ?? undefined;
  if (user === undefined) return undefined;
  // Null and undefined both mean that there is none.
  const { enabled, accessGeneration: generation } = user;
  const accessGeneration = generation ?? undefined;
  if (typeof enabled !== 'boolean') throw unmeant(method, 'enabled must be true or false', enabled);
  if (accessGeneration !== undefined && typeof accessGeneration !== 'string')
    throw unmeant(method, 'accessGeneration must be a string', accessGeneration);
  return generation === accessGeneration ? user : { ...user, accessGeneration };
}

function unmeant(method: string, rule: string, found: unknown): TypeError {
  return new TypeError(`users.${method}: ${rule}, and is of type ${typeof found}`);
}
