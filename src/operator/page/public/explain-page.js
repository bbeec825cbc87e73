// What the instance would make of a token, without using it up. The token stays in the form and the body of one request.
import { code, facts, h, isolated, list, mark, soft } from './dom.js';
import { field, form, select, textArea, textInput } from './form.js';
import { address, post } from './instance-api.js';
import { comparison, reasonMark, remedyLine } from './refusal-card.js';
import { pageHead, section, tellNews } from './shell.js';
import { counted, duration, flowInWords, roleInWords, sentence, wholeTime, withCode } from './wording.js';

const CHECK_STATES = {
  passed: ['good', 'Passed'],
  failed: ['bad', 'Failed'],
  'not-reached': ['', 'Not reached'],
};
const WAYS_TO_USERS = {
  link: 'by a link of an earlier token',
  email: 'by the e-mail address',
  entry: 'by name in the entry',
  provisioning: 'new: would be created',
};

export function explainPage({ signal }) {
  const place = h('div', { tabindex: '-1' });
  const flow = select(
    [
      { value: 'embed', text: 'Embedded login' },
      { value: 'exchange', text: 'Token exchange' },
      { value: 'id-jag', text: 'Identity assertion' },
      { value: 'jwt-bearer', text: 'JWT assertion' },
    ],
    'embed',
  );
  const token = textArea({ required: true });
  const actorToken = textArea();
  const proof = textArea();
  const origin = textInput('', { type: 'url', placeholder: 'https://product.example' });
  const scope = textInput();
  const resource = textInput();
  const ofEmbed = h(
    'div',
    { class: 'fields' },
    field('Origin of the product page', origin, 'Leave it empty if the form is not sent by a browser.'),
  );
  const ofActor = field('Actor token', actorToken, 'If another user acts on behalf of the subject.');
  const ofAccessToken = h(
    'div',
    { class: 'fields' },
    ofActor,
    field('DPoP proof', proof, 'If the client sends a proof of possession with the token.'),
    field('Scope', scope, 'The requested scopes, separated by spaces.'),
    field('Resource', resource, 'The URIs of other services, separated by spaces.'),
  );
  const choose = () => {
    ofEmbed.hidden = flow.value !== 'embed';
    ofAccessToken.hidden = flow.value === 'embed';
    ofActor.hidden = flow.value !== 'exchange';
  };
  flow.addEventListener('change', choose);
  choose();
  const given = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));
  const clear = h('button', { type: 'reset' }, 'Clear');
  const whole = form(
    [
      field('Sign-in method', flow),
      field(
        'Token',
        token,
        'The token is only read: it is not used up, stored or logged. It stays valid, so take care where you paste it.',
      ),
      ofEmbed,
      ofAccessToken,
    ],
    {
      button: 'Explain',
      besides: [clear],
      send: () => {
        const besides =
          flow.value === 'embed'
            ? { origin: origin.value.trim() }
            : {
                actorToken: flow.value === 'exchange' ? actorToken.value.trim() : '',
                proof: proof.value.trim(),
                scope: scope.value.trim(),
                resource: resource.value.trim(),
              };
        return post(
          '/explain',
          { flow: flow.value, token: token.value.trim(), ...given(besides) },
          { signal },
        );
      },
      done: (explanation) => {
        place.replaceChildren(...explained(explanation));
        tellNews(
          explanation.outcome === 'accepted' ? 'The token would be accepted.' : 'The token would be refused.',
        );
        place.querySelector('h2').focus();
      },
    },
  );
  whole.addEventListener('reset', () => {
    place.replaceChildren();
    // The choice is reset after this event.
    queueMicrotask(choose);
  });
  whole.classList.add('card', 'padded');
  return [
    pageHead('Explain a token', {
      lead: 'What the instance would do with a token now, check by check.',
    }),
    whole,
    place,
  ];
}

/** What became of a token, for whoever shows it. */
export function explained(explanation) {
  const { outcome, refusal, checks, tokens, issued, notes, asOf, flow } = explanation;
  return [
    h(
      'section',
      { class: `card padded outcome ${outcome === 'accepted' ? 'good' : 'bad'}` },
      h('h2', { tabindex: '-1' }, outcome === 'accepted' ? 'It would be accepted' : 'It would be refused'),
      h('p', { class: 'soft' }, `${flowInWords(flow)}, checked as of `, wholeTime(asOf)),
      refusal && refusalOf(refusal, checks),
      issued && issuedOf(issued),
      notes.length > 0 && list(notes.map(sentence), ''),
    ),
    section('Checks', ...checkLists(checks)),
    section('What the token says', tokens.map(tokenOf)),
  ];
}

function refusalOf({ reason, detail, cause, remedy }, checks) {
  const failed = checks.find(({ state }) => state === 'failed');
  return [
    h('p', { class: 'reason' }, reasonMark(reason)),
    h('p', { class: 'cause' }, sentence(cause)),
    detail && h('p', {}, sentence(detail)),
    failed && compared(failed),
    remedyLine(remedy),
  ];
}

function compared({ expected, found }) {
  return (expected ?? found) !== null && comparison(expected, found);
}

function issuedOf(issued) {
  if (issued.kind === 'session')
    return h(
      'p',
      {},
      issued.lifetimeSeconds === null
        ? 'A session would be opened.'
        : `A session of ${duration(issued.lifetimeSeconds)} would be opened.`,
    );
  return facts([
    ['Access token for', duration(issued.lifetimeSeconds)],
    ['Would end', wholeTime(issued.expiresAt)],
    ['Scopes', issued.scopes === null ? 'not limited' : issued.scopes.join(' ')],
    ['Audience', issued.audience ?? 'this instance'],
    ['Bound to the key', issued.keyThumbprint ?? 'none'],
  ]);
}

/** What failed stands open; what passed, and what was not reached, is folded where something failed. */
function checkLists(checks) {
  const inState = (wanted) => checks.filter(({ state }) => state === wanted);
  const failed = inState('failed');
  if (failed.length === 0) return [checkList(checks)];
  const folded = [
    ['passed', 'passed'],
    ['not-reached', 'not reached'],
  ].map(([state, word]) => [inState(state), word]);
  return [
    checkList(failed),
    ...folded
      .filter(([some]) => some.length > 0)
      .map(([some, word]) =>
        h(
          'details',
          { class: 'folded' },
          h('summary', {}, `${counted(some.length, 'check')} ${word}`),
          checkList(some),
        ),
      ),
  ];
}

function checkList(checks) {
  return h(
    'ol',
    { class: 'checks card', role: 'list' },
    checks.map(({ check, about, party, state, expected, found }) => {
      const [kind, word] = CHECK_STATES[state];
      return h(
        'li',
        { class: state },
        mark(kind, word),
        h(
          'div',
          {},
          h('strong', {}, check),
          party && ` · ${party}`,
          ' ',
          about && soft(withCode(about)),
          compared({ expected, found }),
        ),
      );
    }),
  );
}

function tokenOf({ party, content, entry, user }) {
  return h(
    'div',
    { class: 'card padded party' },
    h('h3', {}, party === 'actor' ? 'Actor' : 'Subject'),
    facts([
      ['Issuer', content.issuer === null ? 'not readable' : isolated(content.issuer)],
      ['Key id', content.kid === null ? 'none' : code(content.kid)],
      ['Algorithm', content.algorithm],
      ['Subject (masked)', content.subject === null ? null : isolated(content.subject)],
      ['E-mail address (masked)', content.email === null ? null : isolated(content.email)],
      ['Role claim', content.role],
      [
        'Trusted entry',
        entry === null
          ? 'none'
          : h('a', { href: address('#/entries/?', entry.label) }, isolated(entry.label)),
      ],
      ['User', user === null ? null : userOf(user)],
      ['Projects', user === null ? null : user.projects.join('; ')],
    ]),
    entry !== null && [
      h('p', { class: 'soft' }, `${counted(entry.policy.length, 'rule')} of the entry:`),
      list(entry.policy.map(sentence), 'phrases'),
    ],
  );
}

function userOf({ id, by, roleBefore, roleAfter }) {
  const role =
    roleAfter === null
      ? 'does not sign in'
      : roleBefore === roleAfter || roleBefore === null
        ? roleInWords(roleAfter)
        : `${roleInWords(roleBefore)}, then ${roleInWords(roleAfter)}`;
  const how = WAYS_TO_USERS[by];
  return [
    id === null ? how : [h('a', { href: address('#/users/?', id) }, 'to the user'), `, found ${how}`],
    ` (${role})`,
  ];
}
