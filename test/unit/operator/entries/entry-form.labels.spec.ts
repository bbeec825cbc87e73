// Findings about entries in the words of the operator's form.
import { inLabels, withLabels } from '../../../../src/operator/entries/entry-form.js';

describe('a finding of an entry', () => {
  it.each([
    ['maxUsers: must be a number', 'Users at most (maxUsers): must be a number'],
    [
      'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: entry 0, maxUsers: must be a number',
      'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: entry 0, Users at most (maxUsers): must be a number',
    ],
    ['projects.roles: must be known', 'Projects (projects.roles): must be known'],
    ['kid: must be a string', 'kid: must be a string'],
  ])('begins with the label of its property: %s', (finding, expected) => {
    expect(withLabels([finding])).toEqual([expected]);
  });

  it('is labelled in causes and remedies, where a claim of one word stays', () => {
    const cause = 'the `typ` is another';
    expect(inLabels({ cause, remedy: 'raise `maxUsers`' })).toEqual({
      cause,
      remedy: 'raise “Users at most” (`maxUsers`)',
    });
    expect(inLabels({ cause: null, remedy: null })).toEqual({ cause: null, remedy: null });
  });
});
