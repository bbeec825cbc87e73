// Checks what an operator should look at now: licence, trusted entries, key sets, sinks, configuration.
import { keySetInWords } from './entries-page.js';
import { address } from './instance-api.js';
import { duration, fromNow, momentInWords } from './wording.js';

/** So long before its end a licence or an entry is worth a notice, in milliseconds: a month, in which a new one can be had. */
const NOTICE_MS = 30 * 86_400_000;
/** From so many seconds on a sink lags behind: as the alert of deploy/observability has it. */
const LAG_SECONDS = 600;

/**
 * The severe ones first. Each has a title, a sentence, and where there is more to see an address with the text of its link.
 * @param {object} overview of GET /overview
 * @param {object[]} entries of GET /entries
 */
export function problemsOf(overview, entries) {
  const found = [
    ...availabilityProblems(overview),
    ...licenseProblems(overview),
    ...entries.flatMap(entryProblems),
    ...entries.flatMap((entry) => endProblems(entry, overview.now)),
    ...overview.sinks.flatMap(sinkProblems),
    ...overview.warnings.map((text) => notice('Configuration:', text, '#/instance', 'Settings')),
  ];
  return found.sort((one, other) => Number(other.isSevere) - Number(one.isSevere));
}

/** A flow that is off may be meant to be, so it is a notice; both are not. */
function availabilityProblems({ tokenExchange: { available, explanation, embedLogin, exchange } }) {
  if (!available) return [problem('Token exchange is off:', `${explanation}.`, '#/instance', 'Instance')];
  const off = [
    !exchange && ['Token exchange', 'SVC_TOKEN_EXCHANGE_ENABLED'],
    !embedLogin && ['Embedded login', 'SVC_EMBED_LOGIN_ENABLED'],
  ].filter(Boolean);
  const tell = off.length === 2 ? problem : notice;
  return off.map(([flow, variable]) =>
    tell(
      `${flow} is off:`,
      `its endpoint answers 501. ${variable}=true turns it on.`,
      '#/instance',
      'Instance',
    ),
  );
}

function licenseProblems({ license, now }) {
  if (license === null || license.ended) return [];
  const leftMs = new Date(license.until) - new Date(now);
  // An end that is no date is none that could be counted to.
  if (!(leftMs <= NOTICE_MS)) return [];
  const text = `${fromNow(license.until)}, on ${momentInWords(license.until)}. Put a new one in its place before that.`;
  return [notice('The licence ends', text, '#/instance', 'Licence')];
}

function entryProblems({ entry, state, problems, keySet, type }) {
  const href = address('#/entries/?', entry);
  if (state === 'refused') return [problem(`${entry} is refused:`, problems.join('; '), href, 'Look')];
  if (state === 'suspended')
    return [notice(`${entry} is suspended:`, 'its tokens are refused.', href, 'Look')];
  if (type !== 'jwks' || keySet === null || keySet.state === 'held') return [];
  const tell = keySet.state === 'never_held' && keySet.reason === null ? notice : problem;
  return [tell(`The key set of ${entry}`, keySetInWords(keySet), href, 'Look')];
}

function endProblems({ entry, state, until }, now) {
  if (until === null || !['trusted', 'suspended', 'ended'].includes(state)) return [];
  const leftMs = new Date(until) - new Date(now);
  if (leftMs > NOTICE_MS) return [];
  const href = address('#/entries/?', entry);
  const when = `${fromNow(until)}, on ${momentInWords(until)}`;
  if (leftMs <= 0)
    return [problem(`Trust in ${entry} has ended`, `${when}: its tokens are refused.`, href, 'Look')];
  return [notice(`Trust in ${entry} ends`, `${when}. Move its notAfter if the partner stays.`, href, 'Look')];
}

function sinkProblems({ name, lagSeconds }) {
  if (lagSeconds === null || lagSeconds < LAG_SECONDS) return [];
  const text = `by ${duration(lagSeconds)}: the log says why it does not take events.`;
  return [problem(`The sink ${name} lags behind`, text, '#/instance', 'Sinks')];
}

function problem(title, text, href, link) {
  return { isSevere: true, title, text, href, link };
}

function notice(title, text, href, link) {
  return { isSevere: false, title, text, href, link };
}
