// Adds another key of a partner under the policy of an entry, while the key of that one still counts.
import { h, isolated } from './dom.js';
import { identityFields } from './entry-fields.js';
import { form } from './form.js';
import { address, post } from './instance-api.js';
import { pageHead } from './shell.js';

export function anotherKeyPage(context) {
  const { params } = context;
  const like = params.entry.replace(/^stored:/, '');
  const back = { href: address('#/entries/?', params.entry), text: params.entry };
  const { places, read } = identityFields([], 'static');
  return [
    pageHead(['Another key like ', isolated(params.entry)], {
      back,
      lead: 'A new entry with the same issuer, algorithms and policy. Both keys count until you remove the former entry: do that once the partner signs with the new key.',
    }),
    form([places.name, places.kid, places.key], {
      button: 'Add key',
      asksToLeave: true,
      besides: [h('a', { class: 'button', href: back.href }, 'Cancel')],
      send: () => {
        const { name, kid, key } = read();
        return post('/entries', { like, entry: { name, kid, key } }, context);
      },
      done: ({ name }) => context.goTo(address('#/entries/?', `stored:${name}`)),
    }),
  ];
}
