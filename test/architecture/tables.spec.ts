// Only the owning room writes a table. docs/internals/architecture.md lists the files that read tables of other rooms.
import { repositoryFile, typescriptFiles } from '../support/source-files.js';

/** Which folder owns each table. */
const ROOMS: Readonly<Record<string, string>> = {
  user_account: 'src/users',
  project: 'src/workspace/projects',
  project_external_key: 'src/workspace/projects',
  project_member: 'src/workspace/projects',
  workflow: 'src/workspace/workflows',
  credential: 'src/workspace/credentials',
  audit_event: 'src/audit',
  audit_sink_cursor: 'src/audit/sinks',
  active_user: 'src/audit/usage',
  operator_password: 'src/administration/accounts',
  operator_session: 'src/administration/accounts',
  operator_sign_in_failure: 'src/administration/accounts',
  throttle_counter: 'src/platform/http/throttle',
  token_exchange_used_jti: 'src/token-exchange/replay',
  token_exchange_identity_link: 'src/token-exchange/identity',
  token_exchange_jwks_snapshot: 'src/token-exchange/trust/jwks',
  token_exchange_stored_entry: 'src/token-exchange/trust/stored',
  token_exchange_trust_revocation: 'src/token-exchange/revocation',
  token_exchange_ended_token: 'src/token-exchange/revocation',
  token_exchange_logout: 'src/token-exchange/revocation',
  token_exchange_session: 'src/token-exchange/login',
  token_exchange_signing_key: 'src/token-exchange/tokens',
  token_exchange_audit_event: 'src/token-exchange/audit',
};

const ENTITIES: Readonly<Record<string, string>> = {
  User: 'user_account',
  Project: 'project',
  ProjectMember: 'project_member',
  Workflow: 'workflow',
  Credential: 'credential',
};

/** With a comma behind the table it is a message. */
const WRITES = /\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+([a-z_]+)\b(?!,)/g;
const ENTITY_WRITES = /\.(?:insert|update|delete|save)\((User|Project|ProjectMember|Workflow|Credential)\b/g;
const READS = /(?<!DELETE )\b(?:FROM|JOIN|USING)\s+([a-z_]+)\b/g;

interface Crossing {
  readonly writes: readonly string[];
  readonly reads: readonly string[];
}

function crossingOf(path: string, text: string): Crossing {
  const foreign = (tables: readonly string[]) =>
    [...new Set(tables)]
      .filter((table) => Object.hasOwn(ROOMS, table) && !path.startsWith(`${ROOMS[table]}/`))
      .sort();
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
  const written = [...found(WRITES), ...found(ENTITY_WRITES).map((name) => ENTITIES[name] ?? '')];
  return { writes: foreign(written), reads: foreign(found(READS)) };
}

const files = typescriptFiles('src');
const statements = files.filter(({ path }) => !path.includes('/migrations/'));

/** The rows of the table in the document, by file. */
function documented(): Record<string, readonly string[]> {
  const { text } = repositoryFile('docs/internals/architecture.md');
  const [, section = ''] = text.split('## Tables of other rooms\n');
  const rows = [...section.split('\n## ')[0]!.matchAll(/^\| `([^`]+)` \|([^|]*)\|$/gm)];
  return Object.fromEntries(
    rows.map(([, file = '', cell = '']) => [
      `src/${file}`,
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).sort(),
    ]),
  );
}

const crossings = statements.map(({ path, text }) => ({ path, ...crossingOf(path, text) }));

it('a statement writes only tables of its own room', () => {
  expect(crossings.filter(({ writes }) => writes.length > 0)).toEqual([]);
});

it("a statement reads other rooms' tables only as architecture.md says", () => {
  const reading = crossings.filter(({ reads }) => reads.length > 0);
  expect(Object.fromEntries(reading.map(({ path, reads }) => [path, reads]))).toEqual(documented());
});

it.each([
  ['a statement', '`DELETE FROM token_exchange_session WHERE true`', 'token_exchange_session'],
  ['an entity', 'manager.update(User, { id }, { role })', 'user_account'],
])("a write to another room's table is found in %s", (_, text, table) => {
  expect(crossingOf('src/operator/a.ts', text).writes).toEqual([table]);
  expect(crossingOf(`${ROOMS[table]}/a.ts`, text).writes).toEqual([]);
});

it('each table belongs to a room', () => {
  const made = files
    .filter(({ path }) => path.includes('/migrations/'))
    .flatMap(({ text }) => [...text.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+)/g)].map(([, name]) => name));
  expect(made.sort()).toEqual(Object.keys(ROOMS).sort());
});
