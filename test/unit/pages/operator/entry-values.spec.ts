// The fields of a trusted entry, as its form sends them, and the problems at them.
import type { PolicyField } from '../../../../pages/operator/entry-values.js';
import { leftOutInWords, policyIn, sortProblems } from '../../../../pages/operator/entry-values.js';

const field = (more: Partial<PolicyField> & Pick<PolicyField, 'name' | 'kind'>): PolicyField => ({
  ...{ label: more.name, hint: '', isRequired: false, isExpected: false, leftOut: undefined },
  ...more,
});

const FIELDS = [
  field({ name: 'expectedAudience', kind: 'text' }),
  field({ name: 'perMinute', kind: 'number' }),
  field({ name: 'provisionUsers', kind: 'flag' }),
  field({ name: 'flows', kind: 'list', values: ['embed', 'exchange'] }),
  field({ name: 'origins', kind: 'list', isExpected: true }),
  field({
    name: 'projects',
    kind: 'structure',
    members: [field({ name: 'claim', kind: 'text' }), field({ name: 'allowed', kind: 'list' })],
  }),
];

function sent(values: [name: string, value: string][]): FormData {
  const data = new FormData();
  for (const [name, value] of values) data.append(name, value);
  return data;
}

describe('the entry form', () => {
  it('omits empty values and missing limits', () => {
    const data = sent([
      ['expectedAudience', ' '],
      ['provisionUsers', ''],
      ['origins', 'https://a.test'],
    ]);
    expect(policyIn(data, FIELDS)).toEqual({});
  });

  it('keeps numbers, flags, lists and structures unchanged', () => {
    const data = sent([
      ['expectedAudience', ' https://instance.test '],
      ['perMinute', '60'],
      ['provisionUsers', 'false'],
      ['limit flows', 'on'],
      ['flows', 'embed'],
      ['limit origins', 'on'],
      ['origins', 'https://a.test\n\n https://b.test '],
      ['limit projects', 'on'],
      ['projects.claim', 'customers'],
      ['limit projects.allowed', 'on'],
      ['projects.allowed', 'acme-*'],
    ]);
    expect(policyIn(data, FIELDS)).toEqual({
      expectedAudience: 'https://instance.test',
      perMinute: 60,
      provisionUsers: false,
      flows: ['embed'],
      origins: ['https://a.test', 'https://b.test'],
      projects: { claim: 'customers', allowed: ['acme-*'] },
    });
  });

  it('allows nothing if a list has no selection or line', () => {
    const data = sent([
      ['limit flows', 'on'],
      ['limit origins', 'on'],
      ['origins', ''],
    ]);
    expect(policyIn(data, FIELDS)).toEqual({ flows: [], origins: [] });
  });

  it('shows the default for an omitted field', () => {
    expect(leftOutInWords(field({ name: 'a', kind: 'flag', leftOut: false }))).toBe('no');
    expect(leftOutInWords(field({ name: 'a', kind: 'list', leftOut: ['embed'] }))).toBe('Embedded login');
    expect(leftOutInWords(field({ name: 'a', kind: 'list', leftOut: [] }))).toBe('none');
    expect(leftOutInWords(field({ name: 'a', kind: 'text', isRequired: true }))).toBe('not possible');
  });

  it('finds the fields of reported problems', () => {
    const problems = ['flows: must be known', 'origins: must not be empty', 'the entry: must be an object'];
    const inProjects = ['projects.roles: must be known', 'projects.mayAssign: must not be empty'];
    const names = ['flows', 'origins', 'projects', 'projects.mayAssign'];
    expect(sortProblems([...problems, ...inProjects], names)).toEqual({
      atFields: {
        flows: 'Must be known.',
        origins: 'Must not be empty.',
        projects: 'In roles: must be known.',
        'projects.mayAssign': 'Must not be empty.',
      },
      others: ['the entry: must be an object'],
    });
  });
});
