// The plan of the house: which folder lies on which floor, and what only some kinds of file may import.
import type { Import } from './module-graph.js';

/** Rooms on floors, the lowest first. A room is a folder (with a slash) or a set of files that belong together. */
export type Plan = readonly (readonly (readonly string[])[])[];

/**
 * Imports go to a lower floor, or stay in their room. A file belongs to the lowest room that it lies in: the rooms of token
 * exchange that are named here are those that the rest of the house stands on.
 */
export const HOUSE: Plan = [
  [['src/token-exchange/foundation/']],
  [
    ['src/config/'],
    // The form of addresses and of request ids, which stored rows and log lines are compared by.
    ['src/users/email.ts'],
    ['src/token-exchange/http/request-id.ts'],
    ['src/token-exchange/migrations/'],
    ['src/token-exchange/sealing/'],
    // To which addresses a connection may go: of key sets, and of what the audit trail is posted to.
    ['src/token-exchange/keys/jwks/guarded-connector.ts', 'src/token-exchange/keys/jwks/network-address.ts'],
  ],
  [['src/token-exchange/database/']],
  [['src/database/'], ['src/logging/']],
  [['src/token-exchange/coordination/']],
  [['src/coordination/'], ['src/token-exchange/audit/']],
  [['src/audit/'], ['src/token-exchange/http/'], ['src/token-exchange/throttle/']],
  [['src/token-exchange/revocation/']],
  [
    [
      'src/token-exchange/host/',
      'src/token-exchange/flow.ts',
      'src/token-exchange/rejection.ts',
      'src/token-exchange/refusal-explanations.ts',
      'src/token-exchange/refusal-line.ts',
      'src/token-exchange/edge/flow-refusal.ts',
    ],
  ],
  [['src/users/'], ['src/token-exchange/access-tokens/'], ['src/token-exchange/sessions/']],
  // Whose password opens the operator's page: commands set them, and the page's own room is above those.
  [['src/access/'], ['src/operator/accounts/']],
  [['src/http/']],
  [['src/token-exchange/'], ['src/workspace/'], ['src/health/'], ['src/web/'], ['src/metrics/']],
  [['src/start/'], ['src/host/'], ['src/administration/']],
  [['src/operator/'], ['src/workers/']],
  [['src/app.module.ts', 'src/application.ts', 'ormconfig.ts']],
  [['src/main.ts'], ['src/cli/']],
];

/** The order inside token exchange, by the same rule. What a key is lies below the options, which list the keys. */
export const TOKEN_EXCHANGE: Plan = [
  [['foundation/', 'flow.ts']],
  [
    ['migrations/'],
    ['sealing/'],
    ['keys/algorithms.ts', 'keys/ed25519-point.ts', 'keys/trust-policy.ts', 'keys/trusted-key.ts'],
  ],
  [['database/']],
  [['coordination/'], ['audit/']],
  [['http/'], ['throttle/']],
  [['revocation/'], ['replay/']],
  [
    [
      'rejection.ts',
      'refusal-explanations.ts',
      'refusal-line.ts',
      'edge/flow-refusal.ts',
      'token-exchange.options.ts',
      'host/',
      'silent-telemetry.ts',
    ],
  ],
  [['access-tokens/'], ['sessions/'], ['edge/'], ['keys/']],
  [['verification/'], ['token-exchange.settings.ts']],
  [['identity/'], ['token-exchange.parts.ts']],
  [['consumption/'], ['journey.ts']],
  [['embed-login/'], ['delegation/']],
  [['token-revocation/'], ['explain/']],
  [['token-exchange.module.ts']],
  [['index.ts'], ['short-way.ts']],
].map((floor) => floor.map((room) => room.map((path) => `src/token-exchange/${path}`)));

/** The entries of the package: the only files that may do nothing but pass on what others hold. */
export const PACKAGE_ENTRIES = /^src\/token-exchange\/(index|short-way)\.ts$/;

/** A kind of import that only some files may have. */
export interface Privilege {
  readonly what: string;
  readonly covers: (one: Import) => boolean;
  readonly holders: RegExp;
}

const COMPOSITION = '.*\\.module\\.ts|ormconfig\\.ts';
const EDGE =
  'src/(?!token-exchange/).*\\.(controller|guards?|filter|pipe|interceptor|decorator)\\.ts|src/(http|web|health|metrics|workspace/api)/.*|src/(application|main)\\.ts';

/** Who may know the database mapper, and who may know HTTP. */
export const PRIVILEGES: readonly Privilege[] = [
  {
    what: 'TypeORM',
    covers: ({ to }) => /^(typeorm|@nestjs\/typeorm)(\/|$)/.test(to),
    holders: new RegExp(
      `^(.*\\.repository\\.ts|src/(token-exchange/)?database/.*|src/token-exchange/(migrations/.*|token-exchange\\.parts\\.ts)|${COMPOSITION})$`,
    ),
  },
  {
    what: 'Fastify',
    covers: ({ to }) => /^(fastify|@fastify\/.*|@nestjs\/platform-fastify)(\/|$)/.test(to),
    holders: new RegExp(`^(${EDGE})$`),
  },
  {
    what: 'HTTP exceptions',
    covers: ({ to, names }) => to === '@nestjs/common' && names.some((name) => name.endsWith('Exception')),
    holders: new RegExp(`^(${EDGE}|src/token-exchange/http/.*)$`),
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
