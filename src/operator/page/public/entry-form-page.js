// The page on which the policy of a stored entry is changed.
import { h, isolated } from './dom.js';
import { policyFields } from './entry-fields.js';
import { form } from './form.js';
import { address, put, read } from './instance-api.js';
import { pageHead } from './shell.js';
import { filled, problemOf } from './states.js';

export function changeEntryPage(context) {
  const { params, signal } = context;
  const name = params.entry.replace(/^stored:/, '');
  const back = { href: address('#/entries/?', params.entry), text: params.entry };
  return [
    pageHead(['Change ', isolated(params.entry)], {
      back,
      lead: 'What its tokens may do. To change issuer or keys, add another entry and remove this one.',
    }),
    filled(
      () => Promise.all([read(address('/entries/?', name), { signal }), read('/overview', { signal })]),
      ([{ definition }, { entryForm }]) =>
        changeForm({ name, definition, entryForm, backHref: back.href }, context),
    ),
  ];
}

function changeForm({ name, definition, entryForm, backHref }, context) {
  const policy = policyFields(entryForm, definition);
  return form(policy.fields, {
    button: 'Save changes',
    asksToLeave: true,
    besides: [h('a', { class: 'button', href: backHref }, 'Cancel')],
    send: async () => {
      const change = changeOf(Object.keys(policy.places), definition, policy.read());
      if (Object.keys(change.set).length + change.unset.length === 0)
        throw problemOf('Nothing is changed yet.');
      return put(address('/entries/?/policy', name), change, context);
    },
    done: () => context.goTo(backHref),
  });
}

/** What of a policy is to be set and what left out, so that it becomes another. */
function changeOf(names, before, after) {
  const isChanged = (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const changed = names.filter(isChanged);
  return {
    set: Object.fromEntries(
      changed.filter((name) => after[name] !== undefined).map((name) => [name, after[name]]),
    ),
    unset: changed.filter((name) => after[name] === undefined),
  };
}
