// The text of `token explain`.
import { CommandError } from '../administration/command-error.js';
import type { Explained } from '../administration/explain/explain-token.operation.js';
import type { ExplainedEvent, ExplainedRequest } from '../administration/explain/explained-request.js';
import { printable, renderTable } from '../administration/table.js';
import type {
  ExplainedCheck,
  ExplainedToken,
  ExplainedUser,
  TokenExplanation,
} from '../token-exchange/instance.js';
import { FLOWS } from '../token-exchange/instance.js';

/** @throws CommandError if the request is unknown */
export function explainedText(explained: Explained): string {
  return 'token' in explained ? explanationText(explained.token) : requestText(explained.request);
}

const HEADINGS = ['STATE', 'TOKEN', 'CHECK', 'OF', 'EXPECTED', 'FOUND'];

function explanationText(explanation: TokenExplanation): string {
  const { checks, notes, asOf } = explanation;
  const inState = (state: ExplainedCheck['state']) => checks.filter((check) => check.state === state);
  const [passed, failed, unreached] = [inState('passed'), inState('failed'), inState('not-reached')];
  // If a check failed, it comes first.
  const shown = failed.length > 0 ? failed : passed;
  const lines = [
    ...outcomeLines(explanation),
    ...notes.map((note) => `Note: ${note}`),
    ...explanation.tokens.flatMap(tokenLines),
  ];
  const rest = [
    ...(failed.length > 0 ? placesLine('Passed', passed, failed) : []),
    ...placesLine('Not reached', unreached, failed),
  ];
  return [
    `${lines.map(printable).join('\n')}\n`,
    `\nChecks, as of ${asOf}:\n${renderTable(HEADINGS, shown.map(rowOf))}`,
    ...rest,
  ].join('');
}

function outcomeLines(explanation: TokenExplanation): string[] {
  const { refusal, flow, checks, issued } = explanation;
  const work = FLOWS[flow].work.replace(/^a/, 'A');
  if (refusal === null) return issuedLines(work, issued);
  const { reason, check, party, detail, cause, remedy } = refusal;
  const failed = checks.find(({ state }) => state === 'failed');
  const place = `${check}${party === null ? '' : `, of the ${party} token`}`;
  const { expected, found } = failed ?? {};
  return [
    `${work} would be refused: ${reason}`,
    ...refusalLines({ check: place, cause, remedy, detail, expected, found }),
  ];
}

/** Omits missing properties. A payload's properties may be of any type. */
function refusalLines(said: {
  readonly check: string | null;
  readonly cause: string | null;
  readonly remedy: string | null;
  readonly detail?: unknown;
  readonly expected?: unknown;
  readonly found?: unknown;
}): string[] {
  const { check, cause, remedy, detail, expected, found } = said;
  const lines = {
    'Check:   ': check,
    'Cause:   ': `${cause ?? 'this release has no such reason'}${typeof detail === 'string' ? ` (${detail})` : ''}`,
    'Remedy:  ': remedy,
    'Expected:': expected,
    'Found:   ': found,
  };
  return Object.entries(lines).flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' ? [`${name} ${text}`] : [],
  );
}

function issuedLines(work: string, issued: TokenExplanation['issued']): string[] {
  if (issued?.kind !== 'access-token') {
    const seconds = issued?.lifetimeSeconds ?? null;
    return [`${work} would succeed: a session${seconds === null ? '' : ` of ${seconds} s`} is opened.`];
  }
  const { lifetimeSeconds, expiresAt, scopes, audience, rights, keyThumbprint } = issued;
  return [
    `${work} would succeed: an access token of ${lifetimeSeconds} s, until ${expiresAt}.`,
    `Scopes: ${scopes === null ? 'not limited' : scopes.join(' ')}`,
    `Audience: ${audience ?? 'this instance'}`,
    `Rights: ${rights === 'both' ? 'what actor and subject both have' : "the acting user's"}`,
    `Bound to: ${keyThumbprint === null ? 'no key' : `the key ${keyThumbprint}`}`,
  ];
}

function tokenLines({ party, content, entry, user }: ExplainedToken): string[] {
  const said = Object.entries(content).filter(([, value]) => value !== null);
  return [
    '',
    `The ${party} token: ${said.map(([name, value]) => `${name} ${value}`).join(', ') || 'nothing that can be read'}`,
    ...(entry === null
      ? ['  Entry: none']
      : [
          `  Entry: ${entry.label} (${placeOf(entry)}, ${entry.type})${entry.isSuspended ? ', suspended' : ''}`,
          `  Policy: ${entry.policy.join('; ')}`,
        ]),
    ...(user === null ? [] : [`  User: ${userLine(user)}`]),
  ];
}

function placeOf({ index }: { readonly index: number | null }): string {
  return index === null ? 'stored' : `configured, index ${index}`;
}

const FOUND_BY: Readonly<Record<ExplainedUser['by'], string>> = {
  link: 'known by the link of an earlier login',
  email: 'found by the e-mail address, to be linked',
  entry: 'named by the entry',
  provisioning: 'to be created',
};

function userLine(user: ExplainedUser): string {
  const { id, by, roleBefore, roleAfter, changedNames, ignoresRoleClaim, projects } = user;
  const roles = [roleBefore, roleAfter].filter((role) => role !== null);
  return [
    `${id ?? 'a new one'}, ${FOUND_BY[by]}`,
    `role ${[...new Set(roles)].join(', then ')}`,
    ...(ignoresRoleClaim ? ['the role claim is ignored: it does not name an assignable role'] : []),
    ...(changedNames.length === 0 ? [] : [`changed: ${changedNames.join(', ')}`]),
    ...projects,
  ].join('; ');
}

function rowOf({ state, party, check, about, expected, found }: ExplainedCheck): string[] {
  return [state, party ?? '-', check, about ?? '', expected ?? '', found ?? ''];
}

/** Names each check once for each token. Omits a check that also failed. */
function placesLine(
  state: string,
  checks: readonly ExplainedCheck[],
  failed: readonly ExplainedCheck[],
): string[] {
  const places = new Set(checks.map(placeOfCheck));
  for (const check of failed) places.delete(placeOfCheck(check));
  return places.size === 0 ? [] : [`${state}: ${[...places].join(', ')}.\n`];
}

function placeOfCheck({ check, party }: ExplainedCheck): string {
  return party === null ? check : `${check} (${party})`;
}

/** Properties with lines of their own. */
const SHOWN = ['reason', 'detail', 'expected', 'found'];
/** The database does not keep the order of properties. */
const FIRST = ['flow', 'party', 'issuer', 'kid'];

/** @throws CommandError if nothing is recorded about the request */
function requestText({ requestId, events }: ExplainedRequest): string {
  if (events.length === 0)
    throw new CommandError(
      'The audit trail has no event of this request. Requests that are refused before their token is read, such as a form with ' +
        'an error or a request above a limit, are in the log only.',
    );
  const lines = [`Request ${requestId}`, ...events.flatMap((event) => ['', ...eventLines(event)])];
  return `${lines.map(printable).join('\n')}\n`;
}

function eventLines(event: ExplainedEvent): string[] {
  const { reason, payload } = event;
  const head = `${event.occurredAt} ${event.event}`;
  if (reason === null) return [head, ...event.notices.flatMap(noticeLines), ...valueLines(event)];
  return [`${head}: ${reason}`, ...refusalLines({ ...payload, ...event }), ...valueLines(event)];
}

function noticeLines({ cause, remedy, detail }: ExplainedEvent['notices'][number]): string[] {
  return [`Notice:   ${cause} (${detail})`, `Remedy:   ${remedy}`];
}

/** Returns one line with all properties that have no line of their own. */
function valueLines({ subjectUserId, actorUserId, payload }: ExplainedEvent): string[] {
  const first = Object.fromEntries(FIRST.flatMap((name) => (name in payload ? [[name, payload[name]]] : [])));
  const values = Object.entries({ ...first, subjectUserId, actorUserId, ...payload }).filter(
    ([name, value]) => value !== null && !SHOWN.includes(name),
  );
  if (values.length === 0) return [];
  return [`Of:       ${values.map(([name, value]) => `${name} ${shown(value)}`).join(', ')}`];
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
