// One trusted entry: what its tokens may do, its keys, and how trust in it is changed or taken back.
import { confirm } from './dialog.js';
import { card, code, facts, h, isolated, list, mark, soft } from './dom.js';
import { keySetInWords, originOf, stateOf } from './entries-page.js';
import { address, post, read, remove } from './instance-api.js';
import { restoreButton } from './revocations-page.js';
import { pageHead, section } from './shell.js';
import { empty, filled } from './states.js';
import { table } from './table.js';
import { sentence, timeFromNow } from './wording.js';

export function entryPage(context) {
  const { params, query, signal } = context;
  return filled(
    async () => {
      const isNew = query.has('added');
      const [{ data }, overview] = await Promise.all([
        read('/entries', { signal }),
        isNew ? read('/overview', { signal }) : null,
      ]);
      return { entry: data.find(({ entry }) => entry === params.entry), overview };
    },
    ({ entry, overview }) =>
      entry === undefined
        ? missing(params.entry)
        : [overview !== null && forPartner(entry, overview), ...shown(entry, context)].filter(Boolean),
  );
}

/** What the partner has to know, once an entry was added. */
function forPartner({ issuer, keys, type, audience }, { baseUrl, tokenExchange: { exchange, embedLogin } }) {
  return h(
    'section',
    { class: 'card padded outcome good' },
    h('h2', {}, 'The entry was added. Send this to the partner'),
    facts([
      ['iss of its tokens', issuer && isolated(issuer)],
      ['aud of its tokens', isolated(audience ?? baseUrl)],
      [
        'kid of its tokens',
        type === 'static' ? code(keys.kid) : ['that of a key at ', isolated(keys?.url ?? '')],
      ],
      ['Token exchange', exchange && isolated(`POST ${baseUrl}/rest/auth/oauth/token`)],
      ['Embedded login', embedLogin && isolated(`POST ${baseUrl}/rest/auth/embed`)],
      ['Life of a token', '60 s at most for an embedded login; each is good once, with a jti of its own'],
      ['Requests and answers', h('a', { href: `${baseUrl}/api/v1/docs` }, `${baseUrl}/api/v1/docs`)],
    ]),
  );
}

function missing(name) {
  return [
    pageHead(isolated(name), { back: { href: '#/entries', text: 'Trusted entries' } }),
    empty(
      'This entry is not there',
      'It was removed, or it was renamed.',
      h('a', { class: 'button', href: '#/entries' }, 'All trusted entries'),
    ),
  ];
}

function shown(entry, context) {
  return [
    pageHead(isolated(entry.entry), {
      back: { href: '#/entries', text: 'Trusted entries' },
      actions: actionsFor(entry, context),
    }),
    entry.problems.length > 0 && problemsOf(entry),
    card(entryFacts(entry)),
    entry.policy.length > 0 && section('What its tokens may do', list(entry.policy.map(sentence))),
    entry.keys !== null && section('Keys', keySetFacts(entry, context), keyTable(entry, context)),
    entry.from === 'configuration' &&
      h(
        'p',
        { class: 'soft' },
        'This entry stands in the configuration (',
        code('SVC_TOKEN_EXCHANGE_TRUSTED_KEYS'),
        '). Change it there; the instance reads it when it starts. Its keys can be revoked here.',
      ),
  ].filter(Boolean);
}

function problemsOf({ problems }) {
  return h(
    'div',
    { class: 'card padded flash bad' },
    h('strong', {}, 'None of its tokens is accepted:'),
    list(problems, ''),
  );
}

function entryFacts(entry) {
  const { keys, type, issuer, changedAt } = entry;
  return facts([
    ['State', stateOf(entry)],
    ['Issuer', issuer === null ? null : isolated(issuer)],
    ['Until', timeFromNow(entry.until, 'no end')],
    ['From', originOf(entry)],
    ['Last change', changedAt === null ? null : timeFromNow(changedAt)],
    ['Keys', type === null ? null : type === 'jwks' ? ['Key set at ', isolated(keys.url)] : 'One public key'],
  ]);
}

function actionsFor(entry, context) {
  if (entry.from !== 'command') return [];
  const { name, state } = entry;
  const act = (what) => async () => {
    const done = await confirm(what);
    if (!done) return;
    if (what.isGone) context.goTo('#/entries');
    else context.reload([what.said, ...(done.result?.warnings ?? [])].join(' '));
  };
  const suspend = act({
    title: `Suspend ${name}?`,
    text: 'From now on, all instances refuse every token that the keys of this entry have signed. Existing sessions and access tokens stay valid. Resuming the entry ends this.',
    action: 'Suspend',
    isDanger: true,
    run: () => post(address('/entries/?/suspend', name), undefined, context),
    said: 'The entry was suspended: its tokens are refused.',
  });
  const resume = act({
    title: `Resume ${name}?`,
    text: 'From now on its tokens are accepted again, under the policy of the entry.',
    action: 'Resume',
    run: () => post(address('/entries/?/resume', name), undefined, context),
    said: 'The entry is trusted again.',
  });
  const drop = act({
    title: `Remove ${name}?`,
    text: 'Its tokens are refused, and its issuer, keys and policy are deleted. Existing sessions stay valid, and users stay. To undo this, add the entry again.',
    action: 'Remove',
    isDanger: true,
    isGone: true,
    run: () => remove(address('/entries/?', name), context),
  });
  return [
    h('a', { class: 'button', href: address('#/entries/?/change', entry.entry) }, 'Change'),
    entry.type === 'static' &&
      h('a', { class: 'button', href: address('#/entries/?/another-key', entry.entry) }, 'Add another key'),
    state === 'suspended' && h('button', { type: 'button', onclick: resume }, 'Resume'),
    ['trusted', 'revoked', 'ended'].includes(state) &&
      h('button', { type: 'button', onclick: suspend }, 'Suspend'),
    h('button', { type: 'button', class: 'danger', onclick: drop }, 'Remove'),
  ].filter(Boolean);
}

function keySetFacts({ type, keys, keySet }, context) {
  if (type !== 'jwks') return null;
  const refresh = async () => {
    const done = await confirm({
      title: 'Fetch the keys now?',
      text: 'The leading instance fetches the key set within seconds, instead of at the next refresh. The fetched keys replace those that are held.',
      action: 'Fetch now',
      run: () => post(address('/key-sets/?/refresh', keys.urlHash), undefined, context),
    });
    if (done) context.reload(`The key set ${keySetInWords(done.result)}`);
  };
  return card(
    facts([
      ['State', keySet && sentence(keySetInWords(keySet))],
      ['Last fetched', timeFromNow(keySet?.lastSuccess)],
      ['Next refresh', timeFromNow(keySet?.nextRefresh, 'not known')],
      [
        'Last failure',
        keySet?.lastFailure
          ? [timeFromNow(keySet.lastFailure.at), ': ', isolated(keySet.lastFailure.reason)]
          : 'none',
      ],
    ]),
    h('button', { type: 'button', onclick: refresh }, 'Fetch now'),
  );
}

function keyTable(entry, context) {
  const { issuer, keys, keySet, revoked } = entry;
  const held = entry.type === 'static' ? [keys.kid] : (keySet?.kids ?? []);
  const kids = [...new Set([...held, ...revoked.map(({ kid }) => kid).filter((kid) => kid !== null)])];
  const whole = revoked.find(({ kid }) => kid === null);
  const thumbprints = entry.type === 'static' ? { [keys.kid]: keys.thumbprint } : thumbprintsOf(keySet);
  const named = kids.map((kid) => ({ kid, isHeld: held.includes(kid), thumbprint: thumbprints[kid] }));
  const rows = [...named, { kid: null, isHeld: held.length > 0 }];
  const revocationOf = (kid) => revoked.find((one) => one.kid === kid);
  return table(
    'Keys',
    [
      { title: 'Key', cell: ({ kid }) => (kid === null ? 'All keys of the issuer' : code(kid)) },
      { title: 'Thumbprint', cell: ({ thumbprint }) => (thumbprint ? code(thumbprint) : '—') },
      { title: 'State', cell: ({ kid, isHeld }) => keyState(revocationOf(kid), whole, kid, isHeld) },
      {
        title: 'Action',
        class: 'action',
        cell: ({ kid }) => keyAction(issuer, kid, revocationOf(kid) !== undefined, context),
      },
    ],
    rows,
  );
}

function thumbprintsOf(keySet) {
  const { kids = [], thumbprints = [] } = keySet ?? {};
  return Object.fromEntries(kids.map((kid, index) => [kid, thumbprints[index]]));
}

function keyState(revocation, whole, kid, isHeld) {
  if (revocation !== undefined) return [mark('bad', 'Revoked'), ' ', timeFromNow(revocation.revokedAt)];
  if (whole !== undefined && kid !== null) return mark('bad', 'Revoked with its issuer');
  if (kid === null) return soft(isHeld ? 'Not revoked' : 'No key is held');
  return isHeld ? mark('good', 'Held') : soft('Not held');
}

function keyAction(issuer, kid, isRevoked, context) {
  const what = kid === null ? `all keys of ${issuer}` : `the key ${kid}`;
  const body = { issuer, kid };
  const revoke = async () => {
    const done = await confirm({
      title: `Revoke ${what}?`,
      text: 'All instances refuse the tokens that this key has signed, whatever entry trusts it. Sessions and access tokens that came from them end at once. Restoring it lets new tokens in again; what has ended is not restored.',
      action: 'Revoke',
      isDanger: true,
      run: () => post('/revocations', body, context),
    });
    if (done) context.reload(`Revoked: ${what}.`);
  };
  if (isRevoked) return restoreButton(body, context);
  return h(
    'button',
    { type: 'button', class: 'danger small', 'aria-label': `Revoke ${what}`, onclick: revoke },
    'Revoke',
  );
}
