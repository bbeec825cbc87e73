// Compares the catalogue of audit events with the schema and the page that tell of them.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import ts from 'typescript';
import { AUDIT_EVENT_NAMES } from '../../src/audit/event-names.js';
import { faultsOf } from '../support/audit-events.js';
import { REPOSITORY, repositoryFile } from '../support/source-files.js';

interface Described {
  readonly description: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

interface Schema extends Described {
  readonly properties: Readonly<Record<string, object>> & {
    readonly event: { readonly enum: readonly string[] };
  };
  readonly allOf: readonly object[];
  readonly $defs: Readonly<Record<string, Described>>;
}

const schema = JSON.parse(repositoryFile('docs/audit-events.schema.json').text) as Schema;

/** The members of each payload, as the compiler knows them, with `?` behind those that may be missing. */
function catalogue(): Map<string, string[]> {
  const files = ['src/token-exchange/audit/audit-event.ts', 'src/audit/instance-events.ts'];
  const paths = files.map((path) => join(REPOSITORY, path));
  const program = ts.createProgram(paths, {
    strict: true,
    noEmit: true,
    module: ts.ModuleKind.NodeNext,
    types: [],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(paths[0] ?? '');
  const payloads = source?.statements.find(
    (node): node is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(node) && node.name.text === 'AuditPayloads',
  );
  if (payloads === undefined) throw new Error('there is no catalogue');
  const members = checker.getTypeAtLocation(payloads).getProperties();
  return new Map(
    members.map((member) => {
      const payload = checker.getTypeOfSymbolAtLocation(member, payloads).getProperties();
      return [member.name, payload.map((one) => `${one.name}${isOptional(one) ? '?' : ''}`).sort()];
    }),
  );
}

function isOptional({ flags }: ts.Symbol): boolean {
  return (flags & ts.SymbolFlags.Optional) !== 0;
}

function membersOf({ properties, required }: Described): string[] {
  return Object.keys(properties)
    .map((name) => `${name}${required.includes(name) ? '' : '?'}`)
    .sort();
}

describe('[D86] docs/audit-events.schema.json', () => {
  const types = catalogue();

  it('[D86] has the events of the catalogue, and no others', () => {
    expect(types.size).toBeGreaterThan(15);
    expect([...schema.properties.event.enum].sort()).toEqual([...types.keys()].sort());
    expect([...AUDIT_EVENT_NAMES].sort()).toEqual([...types.keys()].sort());
    expect(schema.allOf).toHaveLength(types.size);
  });

  it.each([...types])('[D86] %s: its members, as its type has them, each described', (name, members) => {
    const described = schema.$defs[name];
    expect(described && membersOf(described)).toEqual(members);
    for (const [member, { description }] of Object.entries(described?.properties ?? {}) as [
      string,
      Described,
    ][])
      expect([member, description]).toEqual([member, expect.stringMatching(/\.$/)]);
  });

  const event = {
    id: '1',
    event: 'svc.audit.token-exchange.token-revoked',
    occurredAt: '2031-05-01T09:00:00.000Z',
    requestId: 'request-1',
    subjectUserId: 'somebody',
    actorUserId: null,
    payload: { accessTokenId: '0190163d-8694-739b-aea5-966c26f8ad95' },
  };

  it.each([
    ['as it is', {}, true],
    ['a payload of another event', { payload: { sessions: 1 } }, false],
    ['one member more', { payload: { ...event.payload, email: 'a@b.example' } }, false],
    ['an event that nobody knows', { event: 'svc.audit.nothing' }, false],
    ['no time', { occurredAt: 'now' }, false],
  ])('[D86] judges an event: %s', (_, change, isGood) =>
    expect(faultsOf({ ...event, ...change }).length === 0).toBe(isGood),
  );

  it('[D86] is what the tables of docs/audit-events.md say', () => {
    const script = join(REPOSITORY, 'scripts', 'audit-event-tables.mjs');
    const printed = execFileSync(process.execPath, [script, '--print'], { encoding: 'utf8' });
    expect(repositoryFile('docs/audit-events.md').text).toBe(printed);
  });
});
