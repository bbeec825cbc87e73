// What an operator reads when a connection to PostgreSQL fails.
import { connectionFailure } from '../../../../src/platform/database/data-source.js';

describe('connectionFailure', () => {
  it.each([
    [{ code: '28P01' }, 'wrong password, or no such role (28P01)'],
    [{ code: '28000' }, 'no such role, or pg_hba.conf does not let it connect (28000)'],
    [{ code: '3D000' }, 'no such database (3D000)'],
    [{ code: 'ENOTFOUND' }, 'no such host (ENOTFOUND)'],
    [new Error('timeout expired'), 'timeout expired'],
  ])('describes %p in words', (cause, words) => {
    expect(connectionFailure(cause)).toBe(words);
  });

  it('reports only the code or the name of an unknown error, and never the message', () => {
    expect(connectionFailure({ code: 'XX000', message: 'postgres://user:secret@host' })).toBe('XX000');
    expect(connectionFailure(new TypeError('postgres://user:secret@host'))).toBe('TypeError');
  });
});
