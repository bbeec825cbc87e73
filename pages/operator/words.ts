// Formats times, durations, numbers and the instance's names in English.
import type { ItemOf } from './api.js';

const LANGUAGE = 'en-GB';
/** Units with their length in seconds, the longest first; months and years are averages. */
const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

type Words = Readonly<Record<string, string>>;

const ROLES: Words = {
  'global:owner': 'Owner',
  'global:admin': 'Administrator',
  'global:member': 'Member',
};
const FLOWS: Words = {
  embed: 'Embedded login',
  exchange: 'Token exchange',
  'id-jag': 'Identity assertion',
  'jwt-bearer': 'JWT assertion',
  logout: 'Logout by the provider',
};
/** Words for values of a trusted entry. */
const VALUES: Words = {
  ...ROLES,
  ...FLOWS,
  'project:viewer': 'Viewer',
  'project:editor': 'Editor',
  'project:admin': 'Project administrator',
  actor: 'Those of the actor',
  both: 'What both may do',
};
const EVENTS: Words = {
  'svc.audit.token-exchange.failed': 'Token exchange',
  'svc.audit.token-exchange.embed-login-failed': 'Embedded login',
  'svc.audit.token-exchange.succeeded': 'Token exchange',
  'svc.audit.token-exchange.embed-login': 'Embedded login',
  'svc.audit.token-exchange.logout': 'Logout by the provider',
  'svc.audit.token-exchange.logout-failed': 'Logout by the provider',
  'svc.audit.token-exchange.signal': 'Security event',
  'svc.audit.token-exchange.signal-refused': 'Security event',
  'svc.audit.api.called': 'API call',
  'svc.audit.api.refused': 'API call',
};
/** Words in reasons that need another spelling. */
const REASON_TERMS: Words = {
  ...{ kid: 'key id', jti: 'token id', sub: 'subject', iat: 'issue time', exp: 'expiry' },
  ...{ dpop: 'DPoP', email: 'e-mail' },
};
/** Names of event properties that are not plain words. */
const PAYLOAD_TERMS: Words = {
  ...{ kid: 'Key id', iss: 'Issuer', sub: 'Subject', way: 'Done', targets: 'About' },
  ...{ from: 'Before', to: 'After', entry: 'Entry' },
};

const numbers = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 1 });
const moments = new Intl.DateTimeFormat(LANGUAGE, {
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset' },
});
const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'always', style: 'short' });

export function number(count: number): string {
  return numbers.format(count);
}

/** `1 session`, `2 sessions`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** A time in the reader's zone. */
export function partsOf(moment: string | Date): { text: string; zone: string } {
  const parts = moments.formatToParts(new Date(moment)).map(({ type, value }) => [type, value]);
  const { day, month, year, hour, minute, second, timeZoneName = '' } = Object.fromEntries(parts) as Words;
  const zone = timeZoneName === 'GMT' ? 'UTC' : timeZoneName.replace('GMT', 'UTC');
  return { text: `${day} ${month} ${year}, ${hour}:${minute}:${second}`, zone };
}

/** A time with its offset from UTC. */
export function momentInWords(moment: string): string {
  const { text, zone } = partsOf(moment);
  return `${text} ${zone}`;
}

/** A licence's end may be an invalid date. */
export function isMoment(moment: string | null | undefined): moment is string {
  return !Number.isNaN(Date.parse(moment ?? ''));
}

/** `3 min ago`, `in 2 days`. */
export function fromNow(moment: string): string {
  const seconds = (Date.parse(moment) - Date.now()) / 1000;
  const found = UNITS.find(([, unitSeconds]) => Math.abs(seconds) >= unitSeconds);
  const [unit, length] = found ?? ['second', 1];
  return relative.format(Math.trunc(seconds / length), unit);
}

/** A duration in the largest unit of which it has at least one: `90 s` are `1.5 minutes`. */
export function duration(seconds: number): string {
  const found = UNITS.slice(2).find(([, unitSeconds]) => seconds >= unitSeconds);
  const [unit, length] = found ?? ['second', 1];
  return counted(Math.round((seconds / length) * 10) / 10, unit);
}

export function roleInWords(role: string): string {
  return ROLES[role] ?? role;
}

export function flowInWords(flow: string): string {
  return FLOWS[flow] ?? flow;
}

/** A value of a trusted entry. */
export function valueInWords(value: string): string {
  return VALUES[value] ?? value;
}

/** An event's name in words. */
export function eventInWords(event: string): string {
  return EVENTS[event] ?? capital(event.replace(/^svc\.audit\./, '').replaceAll(/[.-]/g, ' '));
}

export function isRefused(event: string): boolean {
  return /(failed|refused)$/.test(event);
}

/** Like `eventInWords`, for places without a mark of the outcome. */
export function kindOfEvent(event: string): string {
  return `${eventInWords(event)}${EVENTS[event] !== undefined && isRefused(event) ? ', refused' : ''}`;
}

/** `token_expired` as `Token expired`. */
export function reasonInWords(reason: string): string {
  const words = reason.split('_').map((word) => REASON_TERMS[word] ?? word);
  return capital(words.join(' '));
}

/** `sessionFamilyId` as `Session family id`. */
export function termInWords(name: string): string {
  return PAYLOAD_TERMS[name] ?? capital(name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

/** A clause without a full stop, as a sentence. */
export function sentenceOf(clause: string): string {
  const text = capital(clause);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** A user's name, or the e-mail address if there is no name. */
export function nameOf({
  givenName,
  familyName,
  email,
}: Record<'givenName' | 'familyName' | 'email', string>) {
  return `${givenName} ${familyName}`.trim() || email;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

type KeySet = NonNullable<ItemOf<'GET /entries'>['keySet']>;

/** The state of an entry's key set, as the end of a sentence. */
export function keySetInWords({ state, servesUntil, reason }: KeySet): string {
  const until = servesUntil ?? '';
  switch (state) {
    case 'never_held':
      return reason === null
        ? 'was not fetched yet.'
        : `was never fetched, so its tokens are refused: ${reason}.`;
    case 'held':
      return `used until ${momentInWords(until)}, unless it is fetched again.`;
    case 'stale':
      return `cannot be fetched: ${reason}. Its keys are used until ${momentInWords(until)}.`;
    case 'lapsed':
      return `has lapsed ${fromNow(until)}, so its tokens are refused: ${reason}.`;
    case 'no_usable_key':
      return `has no usable key, so its tokens are refused: ${reason}.`;
  }
}
