// Refusals in words: when, of what, why, and what to do about it.
import { code, h, isolated, mark, soft } from './dom.js';
import { address } from './instance-api.js';
import { table } from './table.js';
import { eventInWords, reasonInWords, sentence, timeFromNow, wholeTime } from './wording.js';

/** Refusals, a line each. @param {{ isGrouped?: boolean }} how `isGrouped`: reason, cause and remedy stand above all of them */
export function refusalTable(refusals, { isGrouped = false } = {}) {
  const reason = { title: 'Reason', cell: ({ reason: word }) => reasonInWords(word ?? 'refused') };
  const issuer = {
    title: 'Issuer',
    cell: ({ payload }) => (payload.issuer ? isolated(payload.issuer) : '—'),
  };
  return table(
    'Refusals',
    [
      ...(isGrouped ? [] : [reason]),
      { title: 'Time', class: 'when', cell: ({ occurredAt }) => wholeTime(occurredAt) },
      ...(isGrouped ? [] : [issuer]),
      {
        title: 'Found',
        class: 'wide',
        cell: ({ payload: { found, detail } }) => isolated(found ?? detail ?? '—'),
      },
      {
        title: 'Request',
        cell: ({ requestId }) => h('a', { href: address('#/requests/?', requestId) }, code(requestId)),
      },
    ],
    refusals,
    {
      details: (refusal) => h('div', { class: 'refusal' }, refusalContent(refusal, isGrouped)),
      isOpen: isGrouped && refusals.length === 1,
    },
  );
}

/** @param {{ requestId?: string }} refusal with the id of its request where that is not known by the page */
export function refusalContent(refusal, isGrouped = false) {
  const { event, occurredAt, reason, cause, remedy, payload } = refusal;
  const { expected, found, detail } = payload;
  const isCompared = expected !== undefined || found !== undefined;
  return [
    h(
      'div',
      { class: 'refusal-head' },
      !isGrouped && [reasonMark(reason), h('span', {}, eventInWords(event))],
      soft(timeFromNow(occurredAt)),
    ),
    !isGrouped && cause && h('p', { class: 'cause' }, sentence(cause)),
    detail && h('p', {}, sentence(String(detail))),
    isCompared && comparison(expected, found),
    !isGrouped && remedy && remedyLine(remedy),
    marksOf(refusal),
  ];
}

export function remedyLine(remedy) {
  return h('p', { class: 'remedy' }, h('strong', {}, 'What to do: '), sentence(remedy));
}

/** A reason in words, and as logs and the documentation have it. */
export function reasonMark(reason) {
  if (reason === null) return mark('bad', 'Refused');
  return [mark('bad', reasonInWords(reason)), h('code', { class: 'soft' }, reason)];
}

/** What of it can be looked further into. */
function marksOf({ check, subjectUserId, requestId, payload: { issuer, kid, clientId, party, userId } }) {
  const user = subjectUserId ?? userId;
  const toUser = (text) => user && h('a', { href: address('#/users/?', user) }, text);
  const marks = [
    ['Check', check],
    ['Token', party],
    ['Issuer', issuer && isolated(issuer)],
    ['Key', kid && code(kid)],
    ['Client', clientId && h('span', {}, isolated(clientId), user && ', for ', toUser('this user'))],
    ['User', !clientId && toUser('to the user')],
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
