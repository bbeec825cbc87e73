// Finds the problems that an operator should see: licence, trusted entries, key sets, sinks, configuration.
import type { AnswerOf, ItemOf } from './api.js';
import { address } from './navigation.js';
import { duration, fromNow, keySetInWords, momentInWords, sentenceOf } from './words.js';

type Overview = AnswerOf<'GET /overview'>;
type Entry = ItemOf<'GET /entries'>;

/** A title, a sentence, and a link. */
export interface Problem {
  isSevere: boolean;
  title: string;
  text: string;
  href: string;
  link: string;
}

/** A licence or entry gets a notice this long before its end, in milliseconds: a month is enough to renew it. */
const NOTICE_MS = 30 * 86_400_000;
/** A sink lags behind from this number of seconds on, as in the alert of deploy/observability. */
const LAG_SECONDS = 600;

/** Severe problems first. */
export function problemsOf(overview: Overview, entries: readonly Entry[]): Problem[] {
  const found = [
    ...availabilityProblems(overview),
    ...licenseProblems(overview),
    ...entries.flatMap(entryProblems),
    ...entries.flatMap((entry) => endProblems(entry, overview.now)),
    ...overview.sinks.flatMap(sinkProblems),
    ...overview.warnings.map((text) => notice('Configuration:', sentenceOf(text), '#/instance', 'Settings')),
  ];
  return found.sort((one, other) => Number(other.isSevere) - Number(one.isSevere));
}

/** A disabled flow may be intended, so it is a notice. It is a problem if no flow is on. */
function availabilityProblems({ tokenExchange }: Overview): Problem[] {
  const { available, explanation, embedLogin, exchange, idAssertion } = tokenExchange;
  if (!available) return [problem('Token exchange is off:', `${explanation}.`, '#/instance', 'Instance')];
  const tell = embedLogin || exchange || idAssertion ? notice : problem;
  const off = (flow: string, result: string, variable: string) =>
    tell(
      `${flow} is off:`,
      `its endpoint ${result}. ${variable}=true turns it on.`,
      '#/instance',
      'Instance',
    );
  const exchanges = idAssertion ? 'accepts only identity assertions' : 'answers 501';
  return [
    ...(exchange ? [] : [off('Token exchange', exchanges, 'SVC_TOKEN_EXCHANGE_ENABLED')]),
    ...(embedLogin ? [] : [off('Embedded login', 'answers 501', 'SVC_EMBED_LOGIN_ENABLED')]),
  ];
}

function licenseProblems({ license, now }: Overview): Problem[] {
  if (license === null || license.ended) return [];
  const leftMs = Date.parse(license.until) - Date.parse(now);
  // Without a valid date, the remaining time is unknown.
  if (!(leftMs <= NOTICE_MS)) return [];
  const text = `${fromNow(license.until)}, on ${momentInWords(license.until)}. Put a new one in its place before that.`;
  return [notice('The licence ends', text, '#/instance', 'Licence')];
}

function entryProblems({ entry, state, problems, keySet, type }: Entry): Problem[] {
  const href = address('#/entries/?', entry);
  if (state === 'refused') return [problem(`${entry} is refused:`, problems.join('; '), href, 'Look')];
  if (state === 'suspended')
    return [notice(`${entry} is suspended:`, 'its tokens are refused.', href, 'Look')];
  if (type !== 'jwks' || keySet === null || keySet.state === 'held') return [];
  const tell = keySet.state === 'never_held' && keySet.reason === null ? notice : problem;
  return [tell(`The key set of ${entry}`, keySetInWords(keySet), href, 'Look')];
}

function endProblems({ entry, state, until }: Entry, now: string): Problem[] {
  if (until === null || !['trusted', 'suspended', 'ended'].includes(state)) return [];
  const leftMs = Date.parse(until) - Date.parse(now);
  if (leftMs > NOTICE_MS) return [];
  const href = address('#/entries/?', entry);
  const when = `${fromNow(until)}, on ${momentInWords(until)}`;
  if (leftMs <= 0)
    return [problem(`Trust in ${entry} has ended`, `${when}: its tokens are refused.`, href, 'Look')];
  return [
    notice(`Trust in ${entry} ends`, `${when}. Set a later end of trust if the partner stays.`, href, 'Look'),
  ];
}

function sinkProblems({ name, lagSeconds }: Overview['sinks'][number]): Problem[] {
  if (lagSeconds === null || lagSeconds < LAG_SECONDS) return [];
  const text = `by ${duration(lagSeconds)}: the log says why it does not take events.`;
  return [problem(`The sink ${name} lags behind`, text, '#/instance', 'Sinks')];
}

function problem(title: string, text: string, href: string, link: string): Problem {
  return { isSevere: true, title, text, href, link };
}

function notice(title: string, text: string, href: string, link: string): Problem {
  return { isSevere: false, title, text, href, link };
}
