// Form fields are unambiguous, whatever parser has read them.
import { Form } from '../../../../src/token-exchange/endpoint/form.js';
import { isRequestRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';

const read = (sent: unknown) => {
  const form = new Form(sent, { a: {}, b: { max: 5 }, list: { max: 5, isList: true } }).wellFormed();
  return { a: form.get('a'), b: form.get('b'), list: form.get('list') };
};

function refusal(sent: unknown): string {
  try {
    read(sent);
  } catch (error) {
    if (isRequestRefusal(error) && error.reason === 'field_invalid') return error.message;
    throw error;
  }
  return 'it was read';
}

it.each<[unknown, Record<string, string>]>([
  [undefined, {}],
  [null, {}],
  ['a=1', {}],
  [{}, {}],
  [{ a: '' }, { a: '' }],
  [{ a: '1', c: ['2', '3'], 'd[]': '4', e: { f: {} } }, { a: '1' }],
  [Object.assign(Object.create(null), { a: '1' }), { a: '1' }],
  [Object.create({ a: '1' }), {}],
  [{ list: ['x', '', 'y'] }, { list: 'x y' }],
  [
    { b: '12345', list: ['12', '34'] },
    { b: '12345', list: '12 34' },
  ],
])('[4.2] only the known fields of %j are read', (sent, expected) =>
  expect(read(sent)).toEqual({ a: undefined, b: undefined, list: undefined, ...expected }),
);

const NOT_PLAIN = 'must be a plain field, not one of an array or object';

it.each([
  [{ a: ['1', '1'] }, 'a must not be given more than once'],
  [{ a: ['1'] }, 'a must not be given more than once'],
  [{ a: { x: '1' } }, `a ${NOT_PLAIN}`],
  [{ a: true }, `a ${NOT_PLAIN}`],
  [{ list: [['1']] }, `list ${NOT_PLAIN}`],
  [{ 'a[0]': '1' }, `a ${NOT_PLAIN}`],
  [{ 'list[]': ['1'] }, `list ${NOT_PLAIN}`],
])('[D16] %j is rejected with the name of the ambiguous field: %s', (sent, message) =>
  expect(refusal(sent)).toBe(message),
);

it.each([
  [{ a: 'x\0' }, 'a must not contain NUL'],
  [{ list: ['x', '\0'] }, 'list must not contain NUL'],
  [{ b: '123456' }, 'b must have at most 5 characters'],
  [{ list: ['123', '45'] }, 'list must have at most 5 characters'],
])('[D16][D42] %j is rejected', (sent, message) => expect(refusal(sent)).toBe(message));

it.each([
  [
    'different names',
    (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, ''])),
  ],
  ['one name', (count: number) => ({ f: Array.from({ length: count }, () => '') })],
])('[D16] at most a hundred fields are read: %s', (_, fields) => {
  expect(refusal(fields(100))).toBe('it was read');
  expect(refusal(fields(101))).toBe('the form has over 100 fields');
});
