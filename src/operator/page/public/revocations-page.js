// Every revocation of a key or an issuer: those that hold, and those that were undone.
import { confirm } from './dialog.js';
import { code, h, isolated, mark } from './dom.js';
import { post, read } from './instance-api.js';
import { pageHead } from './shell.js';
import { empty, filled } from './states.js';
import { table } from './table.js';
import { time } from './wording.js';

export function revocationsPage(context) {
  return [
    pageHead('Revocations', {
      back: { href: '#/entries', text: 'Trusted entries' },
      lead: 'Keys that are no longer trusted; all that came from their tokens has ended. A key is revoked on the page of its entry.',
    }),
    filled(
      () => read('/revocations', context),
      ({ data }) => (data.length === 0 ? nothing() : list(data, context)),
    ),
  ];
}

function nothing() {
  return empty(
    'Nothing is revoked',
    'Keys, or all keys of an issuer, are listed here once they are revoked.',
  );
}

function list(all, context) {
  return table(
    'Revocations',
    [
      { title: 'Key', cell: ({ kid }) => (kid === null ? 'All keys of the issuer' : code(kid)) },
      { title: 'Issuer', cell: ({ issuer }) => isolated(issuer) },
      {
        title: 'State',
        cell: ({ restoredAt }) => (restoredAt === null ? mark('bad', 'Revoked') : mark('', 'Restored')),
      },
      { title: 'Revoked', cell: ({ revokedAt }) => time(revokedAt) },
      { title: 'Restored', cell: ({ restoredAt }) => time(restoredAt, '—') },
      {
        title: 'Action',
        class: 'action',
        cell: (one) => one.restoredAt === null && restoreButton(one, context),
      },
    ],
    all.toSorted((one, other) => other.revokedAt.localeCompare(one.revokedAt)),
  );
}

/** @param {object} context of the page, which is read anew afterwards */
export function restoreButton({ issuer, kid }, context) {
  const what = kid === null ? `all keys of ${issuer}` : `the key ${kid}`;
  const restore = async () => {
    const done = await confirm({
      title: `Restore ${what}?`,
      text: 'Restore it only if the revocation was a mistake: tokens that it has signed are accepted again. Never restore a key that has leaked.',
      action: 'Restore',
      run: () => post('/revocations/restore', { issuer, kid }, context),
    });
    if (!done) return;
    const still = (done.result.stillRevoked ?? []).map((one) => one ?? 'all keys of the issuer');
    const rest = still.length === 0 ? '' : ` Still revoked: ${still.join(', ')}.`;
    context.reload(`Restored: ${what}.${rest}`);
  };
  return h(
    'button',
    { type: 'button', class: 'small', 'aria-label': `Restore ${what}`, onclick: restore },
    'Restore',
  );
}
