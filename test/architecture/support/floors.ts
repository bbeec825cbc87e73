// The plan of the house: which folder lies on which floor, and what only some kinds of file may import.
import type { Import } from './module-graph.js';

/** Rooms on floors, the lowest first. A room is a folder (with a slash) or a set of files that belong together. */
export type Plan = readonly (readonly (readonly string[])[])[];

/** Imports go to a lower floor, or stay in their room. */
export const HOUSE: Plan = [
  [['src/foundation/']],
  [['src/config/']],
  [['src/database/'], ['src/sealing/'], ['src/logging/']],
  [['src/coordination/']],
  [['src/audit/']],
  [['src/users/']],
  [['src/access/']],
  [['src/http/']],
  [['src/token-exchange/'], ['src/workspace/'], ['src/health/'], ['src/web/'], ['src/metrics/']],
  [['src/start/'], ['src/host/']],
  [['src/app.module.ts', 'src/application.ts', 'ormconfig.ts']],
  [['src/main.ts'], ['src/cli/']],
];

/** The order inside token exchange, by the same rule. What a key is lies below the options, which list the keys. */
export const TOKEN_EXCHANGE: Plan = [
  [['keys/algorithms.ts', 'keys/ed25519-point.ts', 'keys/trusted-key.ts']],
  [['rejection.ts', 'token-exchange.options.ts', 'host.ts']],
  [['edge/'], ['keys/']],
  [['verification/']],
  [['identity/']],
  [['consumption/'], ['journey.ts']],
  [['embed-login/'], ['delegation/']],
  [['token-exchange.module.ts']],
].map((floor) => floor.map((room) => room.map((path) => `src/token-exchange/${path}`)));

/**
 * All that token exchange knows of the rest of the repository, beside what implements its ports. Another folder in this list
 * is one more that a product would have to take along with it.
 */
export const BELOW_TOKEN_EXCHANGE = [
  'src/audit/',
  'src/coordination/',
  'src/database/',
  'src/foundation/',
  'src/http/',
  'src/http/throttle/',
  'src/logging/',
];

/** A kind of import that only some files may have. */
export interface Privilege {
  readonly what: string;
  readonly covers: (one: Import) => boolean;
  readonly holders: RegExp;
}

const COMPOSITION = '.*\\.module\\.ts|ormconfig\\.ts';
const EDGE =
  '.*\\.(controller|guards?|filter|pipe|interceptor|decorator)\\.ts|src/(http|web|health|metrics|workspace/api)/.*|src/(application|main)\\.ts';

/** Who may know the database mapper, and who may know HTTP. */
export const PRIVILEGES: readonly Privilege[] = [
  {
    what: 'TypeORM',
    covers: ({ to }) => /^(typeorm|@nestjs\/typeorm)(\/|$)/.test(to),
    holders: new RegExp(`^(.*\\.repository\\.ts|src/database/.*|${COMPOSITION})$`),
  },
  {
    what: 'Fastify',
    covers: ({ to }) => /^(fastify|@fastify\/.*|@nestjs\/platform-fastify)(\/|$)/.test(to),
    holders: new RegExp(`^(${EDGE})$`),
  },
  {
    what: 'HTTP exceptions',
    covers: ({ to, names }) => to === '@nestjs/common' && names.some((name) => name.endsWith('Exception')),
    holders: new RegExp(`^(${EDGE})$`),
  },
];

/** The files that may read the environment, demo and scripts aside. */
export const ENVIRONMENT_READERS = /^(src\/main\.ts|src\/cli\/main\.ts|ormconfig\.ts)$/;

/** Imports that break a plan, and files that have no place in it though they lie where it rules. */
export function violations(plan: Plan, imports: readonly Import[], paths: readonly string[]): string[] {
  const homeless = paths.filter((path) => placeOf(plan, path) === undefined);
  const broken = imports.filter(({ from, to }) => !isAllowed(placeOf(plan, from), placeOf(plan, to)));
  return [
    ...homeless.map((path) => `${path} has no place in the plan`),
    ...broken.map(({ from, to }) => `${from} may not import ${to}`),
  ];
}

/** Imports by files that lack the privilege for them. */
export function unprivileged(privileges: readonly Privilege[], imports: readonly Import[]): string[] {
  return privileges.flatMap(({ what, covers, holders }) =>
    imports
      .filter((one) => covers(one) && !holders.test(one.from))
      .map(({ from, to }) => `${from} may not know ${what} (${to})`),
  );
}

/** Imports that lead from one set of files into another that must be strange to it. */
export function crossings(imports: readonly Import[], inside: RegExp, forbidden: RegExp): string[] {
  return imports
    .filter(({ from, to }) => inside.test(from) && forbidden.test(to))
    .map(({ from, to }) => `${from} may not import ${to}`);
}

/** The folders of the repository from which the files of one folder import, itself and what lies in it aside. */
export function foldersReached(imports: readonly Import[], from: string): string[] {
  const reached = imports
    .filter((one) => one.from.startsWith(from) && one.to.startsWith('src/') && !one.to.startsWith(from))
    .map(({ to }) => to.replace(/[^/]*$/, ''));
  return [...new Set(reached)].sort();
}

interface Place {
  readonly floor: number;
  readonly room: readonly string[];
}

function placeOf(plan: Plan, path: string): Place | undefined {
  for (const [floor, rooms] of plan.entries()) {
    const room = rooms.find((members) => members.some((member) => isWithin(path, member)));
    if (room !== undefined) return { floor, room };
  }
  return undefined;
}

function isWithin(path: string, member: string): boolean {
  return member.endsWith('/') ? path.startsWith(member) : path === member;
}

/** What the plan does not know, packages for example, is not its business. */
function isAllowed(from: Place | undefined, to: Place | undefined): boolean {
  return from === undefined || to === undefined || from.room === to.room || to.floor < from.floor;
}
