// One refusal in words: when, of what, why, and what to do about it.
import { code, h, isolated } from './dom.js';
import { address } from './instance-api.js';
import { eventInWords, sentence, timeFromNow } from './wording.js';

/** A list of refusals. */
export function refusalCards(refusals) {
  return h(
    'ul',
    { class: 'cards', role: 'list', 'aria-label': 'Refusals' },
    refusals.map((refusal) => h('li', { class: 'card padded' }, refusalContent(refusal))),
  );
}

/** @param {{ requestId?: string }} refusal with the id of its request where that is not known by the page */
export function refusalContent(refusal) {
  const { event, occurredAt, reason, cause, remedy, payload } = refusal;
  const { expected, found, detail } = payload;
  const isCompared = expected !== undefined || found !== undefined;
  return [
    h(
      'div',
      { class: 'refusal-head' },
      h('span', { class: 'state bad' }, reason ?? 'refused'),
      h('span', {}, eventInWords(event)),
      h('span', { class: 'soft' }, timeFromNow(occurredAt)),
    ),
    cause && h('p', { class: 'cause' }, sentence(cause)),
    detail && h('p', {}, sentence(String(detail))),
    isCompared && comparison(expected, found),
    remedy && h('p', { class: 'remedy' }, h('strong', {}, 'What to do: '), sentence(remedy)),
    marksOf(refusal),
  ];
}

/** What of it can be looked further into. */
function marksOf({ check, subjectUserId, requestId, payload: { issuer, kid, party, userId } }) {
  const user = subjectUserId ?? userId;
  const marks = [
    ['Check', check],
    ['Token', party],
    ['Issuer', issuer && isolated(issuer)],
    ['Key', kid && code(kid)],
    ['User', user && h('a', { href: address('#/users/?', user) }, 'to the user')],
    ['Request', requestId && h('a', { href: address('#/requests/?', requestId) }, code(requestId))],
  ];
  const known = marks.filter(([, value]) => value);
  return h(
    'p',
    { class: 'soft marks' },
    known.map(([term, value]) => h('span', {}, `${term}: `, value)),
  );
}

/** What there had to be, and what there was. */
export function comparison(expected, found) {
  return h(
    'dl',
    { class: 'comparison' },
    h('div', {}, h('dt', {}, 'Expected'), h('dd', {}, isolated(expected ?? '—'))),
    h('div', {}, h('dt', {}, 'Found'), h('dd', {}, isolated(found ?? '—'))),
  );
}
