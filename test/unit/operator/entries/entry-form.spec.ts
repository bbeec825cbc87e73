// The form of a trusted entry says what holds of members that it leaves out.
import { Partner } from '../../../../demo/partner.js';
import { entryForm } from '../../../../src/operator/entries/entry-form.js';
import type { PolicyDefaults } from '../../../../src/token-exchange/instance.js';
import { policyInWords, readTrustedKeys } from '../../../../src/token-exchange/instance.js';

const ENTRY = Partner.create({ issuer: 'https://login.partner.example' }).staticEntry();
const STRICT = {
  expectedAudience: 'https://instance.example',
  origins: ['https://product.example'],
  allowedRoles: ['global:member'],
  emailDomains: ['partner.example'],
};

const rulesFor = (defaults: PolicyDefaults) => ({
  ...{ assignableRoles: ['global:member'], projectRoles: ['project:viewer'], allowHttp: false, defaults },
});
const fieldsFor = (defaults: PolicyDefaults) => entryForm(rulesFor(defaults)).flatMap(({ fields }) => fields);

function wordsOf(members: object, defaults: PolicyDefaults) {
  const text = JSON.stringify([{ ...ENTRY, ...members }]);
  const { entries, problems } = readTrustedKeys(text, rulesFor(defaults));
  expect(problems).toEqual([]);
  return policyInWords(entries[0]!, new Date());
}

it.each<['stored' | 'strict', object]>([
  ['stored', {}],
  ['strict', STRICT],
])('[P.strict] %s: an entry with the defaults that the form shows means the same', (defaults, required) => {
  const fields = fieldsFor(defaults === 'strict' ? 'strict' : 'contract');
  const asked = fields.filter(({ leftOut }) => String(leftOut).startsWith('an error, unless '));
  expect(asked.map(({ name }) => name)).toEqual(Object.keys(required));
  // Each of them may be left out somewhere, so none stops the form before the instance has looked at the others.
  expect(fields.filter(({ isRequired }) => isRequired)).toEqual([]);
  const inProjects = fields.find(({ name }) => name === 'projects')?.members ?? [];
  expect(inProjects.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual(
    defaults === 'strict' ? ['mayAssign', 'roles'] : [],
  );
  const { flows, ...others } = Object.fromEntries(
    fields.filter(({ leftOut }) => isValue(leftOut)).map(({ name, leftOut }) => [name, leftOut]),
  );
  expect(wordsOf({ ...others, ...required }, defaults)).toEqual(wordsOf(required, defaults));
  expect(wordsOf({ ...required, flows }, defaults).join()).toContain(
    `${new Intl.ListFormat('en-GB').format(flows as string[])} only`,
  );
});

it('offers the possible choices, without links and without JSON-only properties', () => {
  const fields = fieldsFor('contract');
  const named = (wanted: string) => fields.find(({ name }) => name === wanted);
  expect(named('allowedRoles')).toMatchObject({ kind: 'list', values: ['global:member'] });
  expect(named('projects')?.members).toContainEqual(
    expect.objectContaining({ name: 'roles', values: ['project:viewer'] }),
  );
  expect(named('perMinute')).toMatchObject({ range: [1, 1_000_000] });
  expect(named('logoutAudience')?.hint).not.toMatch(/[[\]]/);
  expect(named('clients')).toBeUndefined();
});

/** Other strings are descriptions, which the form shows unchanged. They mean that there is no value. */
function isValue(leftOut: unknown): boolean {
  return typeof leftOut === 'boolean' || Array.isArray(leftOut) || leftOut === 'both' || leftOut === 'actor';
}
