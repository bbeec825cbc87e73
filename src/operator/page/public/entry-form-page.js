// The page on which the policy of a stored entry is changed.
import { h, isolated } from './dom.js';
import { policyFields } from './entry-fields.js';
import { form } from './form.js';
import { RefusedError, address, put, read } from './instance-api.js';
import { pageHead } from './shell.js';
import { filled } from './states.js';
import { byLabels } from './wording.js';

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
      ([entry, { entryForm }]) => changeForm({ name, entry, entryForm, backHref: back.href }, context),
    ),
  ];
}

function changeForm({ name, entry, entryForm, backHref }, context) {
  const { definition, revision } = entry;
  const policy = policyFields(entryForm, definition);
  return form(policy.fields, {
    button: 'Save changes',
    asksToLeave: true,
    besides: [h('a', { class: 'button', href: backHref }, 'Cancel')],
    send: async () => {
      const shown = Object.keys(policy.places);
      const others = Object.entries(definition).filter(([member]) => !shown.includes(member));
      const whole = { ...Object.fromEntries(others), ...policy.read() };
      try {
        return await put(address('/entries/?', name), whole, { ...context, ifMatch: `"${revision}"` });
      } catch (error) {
        if (error instanceof RefusedError) error.message = byLabels(error.message, policy.labels);
        throw error;
      }
    },
    done: () => context.goTo(backHref),
  });
}
