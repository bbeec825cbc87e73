// Forms about a stored entry: its policy, and another key under the same policy.
import { h, isolated } from './dom.js';
import { identityFields, policyFields } from './entry-fields.js';
import { form } from './form.js';
import { RefusedError, address, post, put, read } from './instance-api.js';
import { pageHead } from './shell.js';
import { filled } from './states.js';
import { byLabels } from './wording.js';

export function changeEntryPage(context) {
  const { signal } = context;
  const { name, back } = placeOf(context);
  return [
    pageHead(['Change ', isolated(back.text)], {
      back,
      lead: 'What its tokens may do. To change issuer or keys, add another entry and remove this one.',
    }),
    filled(
      () => Promise.all([read(address('/entries/?', name), { signal }), read('/overview', { signal })]),
      ([entry, { entryForm }]) => changeForm({ name, entry, entryForm, back }, context),
    ),
  ];
}

function placeOf({ params: { entry } }) {
  const back = { href: address('#/entries/?', entry), text: entry };
  return { name: entry.replace(/^stored:/, ''), back };
}

function cancel({ href }) {
  return h('a', { class: 'button', href }, 'Cancel');
}

function changeForm({ name, entry, entryForm, back }, context) {
  const { definition, revision } = entry;
  const policy = policyFields(entryForm, definition);
  return form(policy.fields, {
    button: 'Save changes',
    asksToLeave: true,
    besides: [cancel(back)],
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
    done: () => context.goTo(back.href),
  });
}

/** The key of the entry still counts meanwhile. */
export function anotherKeyPage(context) {
  const { name: like, back } = placeOf(context);
  const { places, read: readFields } = identityFields([], 'static');
  return [
    pageHead(['Another key like ', isolated(back.text)], {
      back,
      lead: 'A new entry with the same issuer, algorithms and policy. Both keys count until you remove the former entry: do that once the partner signs with the new key.',
    }),
    form([places.name, places.kid, places.key], {
      button: 'Add key',
      asksToLeave: true,
      besides: [cancel(back)],
      send: () => {
        const { name, kid, key } = readFields();
        return post('/entries', { like, entry: { name, kid, key } }, context);
      },
      done: ({ name }) => context.goTo(address('#/entries/?', `stored:${name}`)),
    }),
  ];
}
